//! The C behind a price, as it was compiled: the probe's file, its headers, and every file with something that they use,
//! and that those use in turn.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

/// The text of a probe's file and of what it is made of, each under its path. `None` if the file is not in this program.
pub fn source_of(path: &str) -> Option<String> {
    let main = whyfaster_probe::source(path)?;
    let mut text = format!("// {path}\n{main}");
    for (other, content) in parts(path, main) {
        let _ = write!(text, "\n// {other}\n{content}");
    }
    Some(text)
}

/// Something that a file defines at its left margin: a function, a variable, or a macro; and the text of it.
#[derive(Debug, PartialEq, Eq)]
struct Item<'a> {
    name: &'a str,
    /// Other files cannot name it.
    own: bool,
    text: &'a str,
}

/// The headers that a file includes, and the other files that it comes to, the nearest first.
fn parts(path: &str, main: &str) -> Vec<(&'static str, &'static str)> {
    let sources = whyfaster_probe::sources();
    let items: BTreeMap<&str, Vec<Item<'_>>> =
        sources.iter().map(|(name, content)| (*name, items(content))).collect();
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    // Everything in the probe's own file is what was measured.
    let mut waiting: VecDeque<(&str, &str)> = VecDeque::from([(path, main)]);
    while let Some((file, text)) = waiting.pop_front() {
        for word in words(text) {
            let Some((found, item)) = resolve(&items, file, word) else { continue };
            if !seen.insert((found, item.name)) {
                continue;
            }
            waiting.push_back((found, item.text));
            if found != path && !files.contains(&found) {
                files.push(found);
            }
        }
    }
    let include = |name: &&str| name.ends_with(".h") && (includes(main, name) || files.contains(name));
    let headers = sources.iter().map(|(name, _)| *name).filter(include);
    let programs = files.iter().copied().filter(|name| !name.ends_with(".h"));
    let both: Vec<&str> = headers.chain(programs).collect();
    both.iter().filter_map(|name| sources.iter().find(|(other, _)| other == name).copied()).collect()
}

/// What a word means in a file: what the file itself defines, else what any file shows to all.
fn resolve<'a, 'b>(
    items: &'b BTreeMap<&'a str, Vec<Item<'a>>>,
    file: &str,
    word: &str,
) -> Option<(&'a str, &'b Item<'a>)> {
    let here = items.get_key_value(file);
    let own =
        here.and_then(|(name, all)| all.iter().find(|item| item.name == word).map(|item| (*name, item)));
    own.or_else(|| {
        items.iter().find_map(|(name, all)| {
            all.iter().find(|item| !item.own && item.name == word).map(|item| (*name, item))
        })
    })
}

fn includes(main: &str, name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    main.contains(&format!("#include \"{file}\""))
}

/// The words of C, without those in comments and strings and without the members behind a dot or an arrow: such a word names
/// nothing of another file.
fn words(text: &str) -> BTreeSet<&str> {
    let code = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = BTreeSet::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| code(c) || c == '"' || c == '/') {
        let (before, here) = rest.split_at(at);
        let skip = if here.starts_with("/*") {
            here.find("*/").map_or(here.len(), |end| end + 2)
        } else if here.starts_with("//") {
            here.find('\n').unwrap_or(here.len())
        } else if let Some(inside) = here.strip_prefix('"') {
            inside.find('"').map_or(here.len(), |end| end + 2)
        } else {
            let end = here.find(|c: char| !code(c)).unwrap_or(here.len());
            if end > 0 && !before.ends_with("->") && !before.ends_with('.') {
                found.insert(&here[..end]);
            }
            end.max(1)
        };
        rest = &here[skip..];
    }
    found
}

/// What a file defines, in the order in which it stands there. A declaration defines nothing.
fn items(content: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut at = 0;
    for line in content.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some((name, end)) = defined(&content[start..]) else { continue };
        let own = content[start..].starts_with("static");
        items.push(Item { name, own, text: &content[start..start + end] });
    }
    items
}

/// The name that the text begins to define, if it does, and how long the definition is.
fn defined(text: &str) -> Option<(&str, usize)> {
    let line = text.lines().next()?;
    let word =
        |text: &str| text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    if let Some(name) = line.strip_prefix("#define ") {
        let lines = text.split_inclusive('\n');
        let mut goes_on = true;
        let part = lines.take_while(|line| std::mem::replace(&mut goes_on, line.trim_end().ends_with('\\')));
        return Some((&name[..word(name)], part.map(str::len).sum()));
    }
    if !line.starts_with(|c: char| c.is_ascii_alphabetic()) || line.starts_with("extern ") {
        return None;
    }
    let head = line.split(['(', '=', '[', ';']).next()?.trim_end();
    let name = head.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()?;
    let function = line[head.len()..].trim_start().starts_with('(');
    // A remark behind a declaration makes no definition of it.
    let code = line.split("/*").next().unwrap_or(line).trim_end();
    let whole = code.ends_with(';');
    if name.is_empty() || head.len() == name.len() || (function && whole) || head.ends_with('{') {
        return None;
    }
    let end = if whole { line.len() } else { text.find("\n}").map_or(text.len(), |end| end + 2) };
    Some((name, end))
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
