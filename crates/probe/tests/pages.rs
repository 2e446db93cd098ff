//! The book's pages about probes say what the worker says of itself: unit, needs, parameters, receipts, what is left out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use whyfaster_probe::{Expectation, Parameter, Probe, descriptions};

fn page(probe: &Probe) -> String {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/probes");
    let path = book.join(format!("{}.md", probe.name));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A bound in words: exactly 1 system call, at least 0.5 voluntary switches.
fn bound(expectation: &Expectation) -> String {
    let (one, many) = match expectation.receipt.as_str() {
        "syscalls" => ("system call", "system calls"),
        "voluntary" => ("voluntary switch", "voluntary switches"),
        "switches" => ("switch (voluntary or not)", "switches (voluntary or not)"),
        other => panic!("no page has words for {other}"),
    };
    let (words, last) = match (expectation.least, expectation.most) {
        (Some(least), Some(most)) if least == most => (format!("exactly {most}"), most),
        (Some(least), None) => (format!("at least {least}"), least),
        (None | Some(0.0), Some(most)) => (format!("at most {most}"), most),
        (Some(least), Some(most)) => (format!("{least} to {most}"), most),
        (None, None) => panic!("an expectation without bounds"),
    };
    format!("{words} {}", if last == 1.0 { one } else { many })
}

fn receipt(probe: &Probe) -> Option<String> {
    let of = |e: &Expectation| e.variant.as_ref().map_or("every variant".to_owned(), |v| format!("`{v}`"));
    let parts: Vec<String> = probe.expectations.iter().map(|e| format!("{}: {}", of(e), bound(e))).collect();
    let all = parts.join("; ");
    (!all.is_empty()).then(|| {
        format!("| receipt | {all} an operation, give or take a tenth; otherwise the row is refused |")
    })
}

fn left_out(probe: &Probe) -> String {
    let spoilt = |by: &str| probe.disturbed.iter().any(|word| word == by);
    let wait = if spoilt("delay") {
        "a wait for a CPU"
    } else if spoilt("delay_apart") {
        "a wait for a CPU (an unusual one where both sides may share a CPU)"
    } else {
        "an unusual wait for a CPU"
    };
    let all = [("an involuntary switch", spoilt("inv")), ("a migration", spoilt("mig")), (wait, true)];
    let parts: Vec<&str> = all.into_iter().filter(|(_, is)| *is).map(|(words, _)| words).collect();
    format!("| left out | samples disturbed by {} or steal |", parts.join(", "))
}

/// The end of a parameter's line; what it is, the page says in its own words.
fn values(parameter: &Parameter) -> String {
    let all: Vec<String> = parameter.values.iter().map(|value| format!("`{value}`")).collect();
    format!(": {}; the first is the default |", all.join(", "))
}

#[test]
fn every_page_says_what_the_worker_says() {
    for probe in descriptions().iter().filter(|probe| probe.group != "selftest") {
        let page = page(probe);
        let lines: Vec<&str> = page.lines().collect();
        let system = if probe.portable { "any Unix (POSIX)" } else { "one system only; see its source" };
        let opening = format!(
            "Group **{}**. One operation is {}. It goes through: {}.",
            probe.group, probe.unit, probe.exercises
        );
        let wanted = [
            Some(format!("# {}", probe.name)),
            Some(opening),
            Some(format!("| needs | {} |", probe.needs)),
            Some(format!("| runs on | {system} |")),
            receipt(probe),
            Some(left_out(probe)),
        ];
        for line in wanted.iter().flatten() {
            assert!(lines.contains(&line.as_str()), "{}.md lacks\n{line}", probe.name);
        }
        for parameter in &probe.parameters {
            let start = format!("| parameter `{}` | ", parameter.key);
            let found = lines.iter().find(|line| line.starts_with(&start));
            let line = found.unwrap_or_else(|| panic!("{}.md: {start}", probe.name));
            assert!(line.ends_with(&values(parameter)), "{}.md: {line}", probe.name);
        }
        // Nothing beyond: a line of each kind for what the worker has, and no other.
        let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
        assert_eq!(count("| parameter "), probe.parameters.len(), "{}", probe.name);
        assert_eq!(count("| variant "), probe.variants.len(), "{}", probe.name);
        assert_eq!(
            (count("| receipt "), count("| left out ")),
            (wanted[4].iter().count(), 1),
            "{}",
            probe.name
        );
    }
}
