//! The findings of `doctor` as lines: mark, name, value, and below it the remedy. The first screen has the worst of them.

use whyfaster_core::host::HostFacts;
use whyfaster_host::{Examination, Finding, Mark};
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, finish, for_look, tone, width, wrap};

use super::section::paragraphs;

/// Columns of the widest mark, and the least that are left for a value on a narrow terminal.
const MARK_WIDTH: usize = 7;
const LEAST_ROOM: usize = 20;

/// The examination, in the detail that was asked for.
pub fn doctor(examination: &Examination, look: &Look) -> String {
    match look.detail {
        Detail::Sentence => finish(&format!("{}\n", summary(&examination.findings)), look.color),
        Detail::Screen => screen(examination, look),
        Detail::Tables | Detail::Everything => everything(examination, look),
    }
}

/// Whether numbers can be trusted now, then the worst with what helps, then how many there are beside.
fn screen(examination: &Examination, look: &Look) -> String {
    let mut findings: Vec<&Finding> = examination.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.mark));
    let head = [
        wrap(&tone(Tone::Strong, &summary(&examination.findings)), look.width, 2),
        wrap(&title(&examination.facts, look), look.width, 2),
    ]
    .concat();
    // Two empty lines, and one that counts.
    let room = look.lines.saturating_sub(head.len() + 3);
    let name_width = findings.iter().map(|finding| width(&finding.name)).max().unwrap_or(0);
    let (mut lines, mut shown) = (Vec::new(), 0);
    for (place, finding) in findings.iter().enumerate() {
        let next = findings.get(place + 1).and_then(|next| next.remedy.as_deref());
        let remedy = finding.remedy.as_deref().filter(|remedy| next != Some(*remedy));
        let more = entry(finding, remedy, name_width, look);
        if lines.len() + more.len() > room {
            break;
        }
        lines.extend(more);
        shown = place + 1;
    }
    let rest = &findings[shown..];
    let count = |mark: Mark| rest.iter().filter(|finding| finding.mark == mark).count();
    let counts = [(Mark::Problem, "problems"), (Mark::Note, "notes"), (Mark::Ok, "ok")];
    let counts = counts.map(|(mark, word)| (count(mark), word)).into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| format!("{word} {count}")).collect();
    let more = match counts.as_slice() {
        [] => Vec::new(),
        counts => vec![tone(Tone::Quiet, &format!("more with -v: {}", counts.join(", ")))],
    };
    paragraphs([head, lines, more], look)
}

fn everything(examination: &Examination, look: &Look) -> String {
    let findings = &examination.findings;
    let name_width = findings.iter().map(|finding| width(&finding.name)).max().unwrap_or(0);
    let mut lines = wrap(&title(&examination.facts, look), look.width, 2);
    lines.push(String::new());
    for (place, finding) in findings.iter().enumerate() {
        // Neighbours with the same remedy share it.
        let next = findings.get(place + 1).and_then(|next| next.remedy.as_deref());
        let remedy = finding.remedy.as_deref().filter(|remedy| next != Some(*remedy));
        lines.extend(entry(finding, remedy, name_width, look));
    }
    lines.extend([String::new(), summary(findings), String::new()]);
    finish(&lines.join("\n"), look.color)
}

fn entry(finding: &Finding, remedy: Option<&str>, name_width: usize, look: &Look) -> Vec<String> {
    let left = 2 + MARK_WIDTH + 2 + name_width + 2;
    let room = look.width.saturating_sub(left).max(LEAST_ROOM);
    let (word, of_mark) = mark(finding.mark);
    let head =
        format!("  {}  {:<name_width$}  ", tone(of_mark, &format!("{word:<MARK_WIDTH$}")), finding.name);
    let indent = " ".repeat(left);
    let value = wrap(&for_look(&finding.value, look), room, 0).into_iter().enumerate();
    let mut lines: Vec<String> = value
        .map(|(number, text)| if number == 0 { format!("{head}{text}") } else { format!("{indent}{text}") })
        .collect();
    if let Some(remedy) = remedy {
        let remedy = wrap(&format!("-> {}", for_look(remedy, look)), room, 3);
        lines.extend(remedy.iter().map(|text| format!("{indent}{text}")));
    }
    lines
}

/// The mark as a word, so that it can be read without colour.
fn mark(mark: Mark) -> (&'static str, Tone) {
    match mark {
        Mark::Ok => ("ok", Tone::Good),
        Mark::Note => ("note", Tone::Unsure),
        Mark::Problem => ("PROBLEM", Tone::Bad),
    }
}

fn title(facts: &HostFacts, look: &Look) -> String {
    let word = |fact: &Option<String>, unknown: &str| for_look(fact.as_deref().unwrap_or(unknown), look);
    let kernel = word(&facts.kernel, "(release unknown)");
    let machine = word(&facts.machine, "machine unknown");
    let text = format!("This machine: Linux {kernel}, {machine}, {}", word(&facts.cpu_model, "CPU unknown"));
    text
}

fn summary(findings: &[Finding]) -> String {
    let count = |wanted| findings.iter().filter(|finding| finding.mark == wanted).count();
    match (count(Mark::Problem), count(Mark::Note)) {
        (0, 0) => "Fit for measuring.".to_owned(),
        (0, notes) => format!("Fit for measuring; {notes} to keep in mind."),
        (problems, notes) => format!("Numbers measured now may mislead: problems {problems}, notes {notes}."),
    }
}

#[cfg(test)]
mod tests {
    use whyfaster_host::{Noise, Spread};

    use super::*;
    use crate::fixture::look;

    fn first(columns: usize) -> Look {
        Look { detail: Detail::Screen, ..look(columns, true) }
    }

    #[test]
    fn the_first_screen_has_the_worst_with_what_helps_and_counts_the_rest() {
        let long = "word ".repeat(20);
        let one =
            |mark, at: usize| Finding::with(mark, "name", format!("{at} {long}"), format!("remedy of {at}"));
        let mut findings = vec![Finding::ok("first", "all is well")];
        findings.extend((0..9).map(|at| one(Mark::Note, at)));
        findings.push(one(Mark::Problem, 9));
        for columns in [60, 80, 200] {
            let text = doctor(&examination(findings.clone()), &first(columns));
            assert!(text.lines().count() <= 20, "{text}");
            assert!(text.starts_with("Numbers measured now may mislead: problems 1, notes 9."), "{text}");
            assert!(text.find("remedy of 9").unwrap() < text.find("remedy of 0").unwrap(), "{text}");
            assert!(text.contains("more with -v: notes ") && text.contains("ok 1"), "{text}");
        }
        let short = doctor(&examination(vec![Finding::ok("a", "b")]), &first(80));
        assert!(short.contains("ok       a  b") && !short.contains("-v"), "{short}");
    }

    fn examination(findings: Vec<Finding>) -> Examination {
        let spread = Spread { repeats: 20, median_s: 1.0, ratio: 1.0, smallest_difference: 0.0 };
        let facts = HostFacts { kernel: Some("6.1\u{1b}[31m".into()), ..HostFacts::default() };
        Examination { facts, findings, noise: Noise { compute: spread, launch: Ok(spread) } }
    }

    fn text(findings: Vec<Finding>, columns: usize) -> String {
        doctor(&examination(findings), &look(columns, true))
    }

    #[test]
    fn lines_are_aligned_and_wrapped_and_a_shared_remedy_stands_once() {
        let findings = vec![
            Finding::ok("CPUs", "2 of 2"),
            Finding::with(
                Mark::Problem,
                "load",
                "11 on 2 CPUs, which is five times too many",
                "stop other work",
            ),
            Finding::with(Mark::Note, "pressure", "90%", "stop other work"),
        ];
        let expected = "\
This machine: Linux 6.1[31m, machine unknown, CPU
  unknown

  ok       CPUs      2 of 2
  PROBLEM  load      11 on 2 CPUs, which is five
                     times too many
  note     pressure  90%
                     -> stop other work

Numbers measured now may mislead: problems 1, notes 1.
";
        assert_eq!(text(findings, 50), expected);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let long = "word ".repeat(80);
        for columns in [50, 80, 200] {
            let text = text(vec![Finding::with(Mark::Note, "name", long.clone(), long.clone())], columns);
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
        }
    }

    #[test]
    fn marks_are_words_and_colour_is_extra() {
        let plain = look(80, true);
        let colored = Look { color: true, ..plain.clone() };
        let of = |look: &Look| doctor(&examination(vec![Finding::ok("a", "b")]), look);
        assert!(of(&plain).contains("  ok       a  b\n") && !of(&plain).contains('\u{1b}'));
        assert!(of(&colored).contains("\u{1b}[32mok     \u{1b}[0m  a  b\n"), "{:?}", of(&colored));
    }

    #[test]
    fn the_summary_counts() {
        assert!(text(vec![Finding::ok("a", "b")], 80).ends_with("Fit for measuring.\n"));
        let note = Finding::with(Mark::Note, "a", "b", "c");
        assert!(text(vec![note], 80).ends_with("Fit for measuring; 1 to keep in mind.\n"));
    }
}
