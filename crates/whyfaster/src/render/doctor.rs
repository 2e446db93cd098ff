//! The findings of `doctor` as lines: mark, name, value, and below it the remedy.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use whyfaster_core::host::HostFacts;

use crate::cmd::doctor::Examination;
use crate::host::{Finding, Mark};

/// Width of output that goes to no terminal, and the least that is still readable.
const DEFAULT_COLUMNS: usize = 100;
const LEAST_COLUMNS: usize = 50;

/// Columns of the terminal behind standard output.
pub fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    size.ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(DEFAULT_COLUMNS)
}

/// Writes the whole examination. Colours are in the text; the stream takes them out where they are not wanted.
pub fn write(out: &mut dyn Write, examination: &Examination, columns: usize) -> io::Result<()> {
    let findings = &examination.findings;
    let indent = 2 + MARK_WIDTH + 2;
    let name_width = findings.iter().map(|finding| finding.name.chars().count()).max().unwrap_or(0);
    let left = indent + name_width + 2;
    let room = columns.max(LEAST_COLUMNS).saturating_sub(left).max(20);
    writeln!(out, "{}\n", title(&examination.facts))?;
    for (place, finding) in findings.iter().enumerate() {
        // Neighbours with the same remedy share it.
        let next = findings.get(place + 1).and_then(|next| next.remedy.as_deref());
        let remedy = finding.remedy.as_deref().filter(|remedy| next != Some(*remedy));
        line(out, finding, name_width, left, room)?;
        for (number, text) in remedy.iter().flat_map(|remedy| wrap(remedy, room - 3)).enumerate() {
            let arrow = if number == 0 { "-> " } else { "   " };
            writeln!(out, "{:left$}{arrow}{text}", "")?;
        }
    }
    writeln!(out, "\n{}", summary(findings))
}

const MARK_WIDTH: usize = 7;

fn line(
    out: &mut dyn Write,
    finding: &Finding,
    name_width: usize,
    left: usize,
    room: usize,
) -> io::Result<()> {
    let (word, style) = mark(finding.mark);
    let mut value = wrap(&finding.value, room).into_iter();
    let first = value.next().unwrap_or_default();
    writeln!(out, "  {style}{word:<MARK_WIDTH$}{style:#}  {:<name_width$}  {first}", finding.name)?;
    for rest in value {
        writeln!(out, "{:left$}{rest}", "")?;
    }
    Ok(())
}

/// The mark as a word, so that it can be read without colour.
fn mark(mark: Mark) -> (&'static str, Style) {
    match mark {
        Mark::Ok => ("ok", AnsiColor::Green.on_default()),
        Mark::Note => ("note", AnsiColor::Yellow.on_default()),
        Mark::Problem => ("PROBLEM", AnsiColor::Red.on_default().bold()),
    }
}

fn title(facts: &HostFacts) -> String {
    let unknown = || "unknown".to_owned();
    let kernel = facts.kernel.as_deref().map_or_else(unknown, printable);
    let machine = facts.machine.as_deref().map_or_else(unknown, printable);
    let cpu = facts.cpu_model.as_deref().map_or_else(|| "CPU unknown".to_owned(), printable);
    format!("This machine: Linux {kernel}, {machine}, {cpu}")
}

fn summary(findings: &[Finding]) -> String {
    let count = |wanted| findings.iter().filter(|finding| finding.mark == wanted).count();
    match (count(Mark::Problem), count(Mark::Note)) {
        (0, 0) => "Fit for measuring.".to_owned(),
        (0, notes) => format!("Fit for measuring; {notes} to keep in mind."),
        (problems, notes) => format!("Numbers measured now may mislead: problems {problems}, notes {notes}."),
    }
}

/// Files may hold anything; control characters would reach the terminal.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Wraps at spaces. A word longer than a line stays whole.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in printable(text).split_ascii_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Noise, Spread};

    fn examination(findings: Vec<Finding>) -> Examination {
        let spread = Spread { repeats: 20, median_s: 1.0, ratio: 1.0, smallest_difference: 0.0 };
        let facts = HostFacts { kernel: Some("6.1\u{1b}[31m".into()), ..HostFacts::default() };
        Examination { facts, findings, noise: Noise { compute: spread, launch: Ok(spread) } }
    }

    fn text(findings: Vec<Finding>, columns: usize) -> String {
        let mut out = Vec::new();
        write(&mut out, &examination(findings), columns).expect("a vector takes everything");
        anstream::adapter::strip_bytes(&out).into_vec().try_into().expect("UTF-8")
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
This machine: Linux 6.1[31m, unknown, CPU unknown

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
    fn the_summary_counts() {
        assert!(text(vec![Finding::ok("a", "b")], 80).ends_with("Fit for measuring.\n"));
        let note = Finding::with(Mark::Note, "a", "b", "c");
        assert!(text(vec![note], 80).ends_with("Fit for measuring; 1 to keep in mind.\n"));
    }

    /// A reader that went away (`doctor | head -1`).
    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_an_error_and_no_panic() {
        let error = write(&mut Gone, &examination(vec![]), 80).expect_err("nothing can be written");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
