//! The C behind a price, as it was compiled: the probe's file, and the files that define what it names.

use std::collections::BTreeSet;
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

/// The headers that a file includes, and the files with a function that it, or a macro of these headers, names.
fn parts(path: &str, main: &str) -> Vec<(&'static str, &'static str)> {
    let sources = whyfaster_probe::sources();
    let headers: Vec<&(&str, &str)> = sources.iter().filter(|(name, _)| includes(main, name)).collect();
    let mut names = identifiers(main);
    for (_, header) in &headers {
        // A prototype says what there is, a macro what is used.
        header.lines().filter(|line| line.starts_with("#define") || line.ends_with('\\')).for_each(|line| {
            names.extend(identifiers(line));
        });
    }
    let defines = |content: &str| content.lines().filter_map(definition).any(|name| names.contains(name));
    let programs =
        sources.iter().filter(|(name, content)| name.ends_with(".c") && *name != path && defines(content));
    headers.iter().copied().chain(programs).copied().collect()
}

fn includes(main: &str, name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    name.ends_with(".h") && main.contains(&format!("#include \"{file}\""))
}

fn identifiers(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| word.len() > 2).collect()
}

/// The function that a line of C begins to define: at the left margin, with parentheses, and no semicolon.
fn definition(line: &str) -> Option<&str> {
    let margin = line.starts_with(|c: char| c.is_ascii_alphabetic());
    if !margin || line.starts_with("static") || line.ends_with(';') {
        return None;
    }
    let before = line.split('(').next().filter(|before| before.len() < line.len())?;
    before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_told_from_a_use() {
        assert_eq!(definition("int open_pipe(struct run *r)"), Some("open_pipe"));
        assert_eq!(definition("void *reader(void *arg)"), Some("reader"));
        for other in
            ["    open_pipe(r);", "int open_pipe(struct run *r);", "static int f(void)", "struct x {", ""]
        {
            assert_eq!(definition(other), None, "{other}");
        }
    }

    #[test]
    fn every_probe_shows_its_source_and_what_it_is_made_of() {
        for probe in whyfaster_probe::descriptions() {
            let text = source_of(&probe.source).unwrap_or_else(|| panic!("no source of {}", probe.name));
            assert!(
                text.contains(&format!("\"{}\"", probe.name)) || text.contains(&probe.name),
                "{}",
                probe.name
            );
        }
        let pipe = source_of("c/pipe_cached.c").expect("a probe of the article");
        assert!(pipe.contains("read(") && pipe.contains("pipe("), "{pipe}");
        assert_eq!(source_of("c/none.c"), None);
    }
}
