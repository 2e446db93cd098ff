use super::*;

fn names(content: &str) -> Vec<(&str, bool)> {
    items(content).iter().map(|item| (item.name, item.own)).collect()
}

#[test]
fn a_definition_is_told_from_a_use() {
    assert_eq!(names("int open_pipe(struct run *r)\n{\n    x();\n}\n"), [("open_pipe", false)]);
    assert_eq!(names("static void *reader(void *arg)\n{\n}\n"), [("reader", true)]);
    assert_eq!(names("const struct waiter wait_poll = {a, b};\n"), [("wait_poll", false)]);
    assert_eq!(names("#define LOOP(r) \\\n    lap_begin(r)\nint x;\n"), [("LOOP", false), ("x", false)]);
    for other in [
        "    open_pipe(r);\n",
        "int open_pipe(struct run *r);\n",
        "extern int ends[2];\n",
        "struct x {\n};\n",
        "",
    ] {
        assert_eq!(names(other), [], "{other}");
    }
    assert_eq!(items("#define A \\\n  one\n#define B two\n")[0].text, "#define A \\\n  one\n");
}

#[test]
fn words_are_those_of_code() {
    let found = words("a->send(b.look, \"since\"); /* reap */ relax(); // lap\nend");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "b", "end", "relax"]);
}

#[test]
fn what_is_not_there_has_no_source() {
    assert_eq!(source_of("c/none.c"), None);
    let cond = source_of("c/cond.c").expect("a probe of the article");
    for file in ["c/handoff_oneway.c", "c/handoff_receive.c", "c/handoff_many.c", "c/queue.c", "c/lap.c"] {
        assert!(cond.contains(&format!("\n// {file}\n")), "{file}");
    }
    assert!(!cond.contains("// c/launch.c"), "the worker's own files are none of the price");
}

/// The text of a function or of a macro with arguments, if a text defines it: a line at the left margin that no semicolon ends.
fn body<'a>(text: &'a str, function: &str) -> Option<&'a str> {
    let call = format!("{function}(");
    let mut at = 0;
    if let Some(start) = text.find(&format!("\n#define {call}")) {
        let after = &text[start + 1..];
        return Some(after.replace("\\\n", "  ").find('\n').map_or(after, |end| &after[..end]));
    }
    for line in text.split_inclusive('\n') {
        let before = line.find(&call).map(|end| &line[..end]);
        let defines = before
            .is_some_and(|b| b.ends_with([' ', '*']) && b.starts_with(|c: char| c.is_ascii_alphabetic()));
        if defines && !line.trim_end().ends_with(';') {
            let rest = &text[at..];
            return Some(&rest[..rest.find("\n}").unwrap_or(rest.len())]);
        }
        at += line.len();
    }
    None
}

/// Names that are followed by a parenthesis.
fn called(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices('(') {
        let name = text[..at].rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or("");
        found.insert(name);
    }
    found
}

/// The functions that a probe hands to the worker as its round, and those of its mechanism: all words of its description.
fn roots(probe: &whyfaster_probe::Probe) -> BTreeSet<String> {
    let main = whyfaster_probe::source(&probe.source).expect("every probe has a source");
    let named = main.find(&format!(".name = \"{}\"", probe.name)).expect("its description");
    let start = main[..named].rfind("const struct probe").expect("its begin");
    let mut text = main[start..].split("\n};").next().unwrap_or_default().to_owned();
    // What the macros of the description stand for, three deep.
    for _ in 0..3 {
        for (_, header) in whyfaster_probe::sources().iter().filter(|(name, _)| name.ends_with(".h")) {
            for define in header.replace("\\\n", " ").lines().filter_map(|line| line.strip_prefix("#define "))
            {
                let (name, value) = define.split_once(' ').unwrap_or((define, ""));
                if text.contains(name) && !name.contains('(') && !text.contains(value.trim()) {
                    text = format!("{text} {}", value.trim());
                }
            }
        }
    }
    // A member that is set (`.setup = ...`) is no function.
    words(&text).into_iter().map(str::to_owned).collect()
}

/// The file that defines what a call in this file means: that file itself, else the one that shows it to all.
fn home(file: &str, function: &str) -> Option<&'static str> {
    let sources = whyfaster_probe::sources();
    let defines = |content: &str, all: bool| {
        body(content, function).is_some()
            && !(all
                && content.lines().any(|l| l.starts_with("static") && l.contains(&format!("{function}("))))
    };
    let here = sources.iter().find(|(name, content)| *name == file && defines(content, false));
    here.or_else(|| sources.iter().find(|(_, content)| defines(content, true))).map(|(name, _)| *name)
}

/// Of everything that the printed source calls from its round on, at any depth, nothing is left out.
#[test]
fn every_probe_shows_every_function_that_its_round_calls() {
    let mut checked = 0;
    let mut homes = BTreeMap::new();
    for probe in whyfaster_probe::descriptions() {
        let text = format!("\n{}", source_of(&probe.source).expect("a source"));
        let mut waiting: Vec<(&str, String)> =
            roots(&probe).into_iter().map(|function| (probe.source.as_str(), function)).collect();
        let mut seen = BTreeSet::new();
        while let Some((file, function)) = waiting.pop() {
            // A library's function is defined nowhere.
            let home =
                *homes.entry((file.to_owned(), function.clone())).or_insert_with(|| home(file, &function));
            let Some(home) = home.filter(|_| !function.is_empty()) else { continue };
            if !seen.insert((home, function.clone())) {
                continue;
            }
            let printed = text.split_once(&format!("\n// {home}\n"));
            let found = printed.and_then(|(_, from)| body(from, &function));
            let found = found.unwrap_or_else(|| panic!("{}: {function} of {home} is not shown", probe.name));
            waiting.extend(called(found).into_iter().map(|call| (home, call.to_owned())));
        }
        let timed = ["lap_begin", "receipt_begin", "oneway_round", "now_ns"];
        assert!(
            seen.iter().any(|(_, function)| timed.contains(&function.as_str())),
            "{}: {seen:?}",
            probe.name
        );
        checked += seen.len();
    }
    assert!(checked > 1000, "{checked}");
}
