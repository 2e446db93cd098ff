//! When things happened: the timeline of a trace, or of the one observed round of an alternative that its comparison keeps, and the critical path
//! along it.

use maud::{Markup, html};
use whyfaster_core::plan::Alternative;
use whyfaster_core::record::Record;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_core::why::report::RoundSchedule;
use whyfaster_words::clean::{clean_lines, quoted};
use whyfaster_words::look::Look;

use super::super::names::Names;
use super::page::{Page, figure, missing};
use super::several;
use super::timeline::{self, Timeline};

/// Where a timeline is from.
#[derive(Debug)]
enum Source<'a> {
    Trace(&'a TraceRecord),
    /// An observed round of so many.
    Round(&'a RoundSchedule, usize),
    /// Nothing holds one, though runs were observed, or none was.
    Nothing {
        observed: bool,
    },
}

/// When things happened in one command.
#[derive(Debug)]
pub(super) struct When<'a> {
    name: String,
    command: String,
    source: Source<'a>,
    timeline: Option<Timeline>,
}

/// Of each alternative of a comparison. What was traced of it beside the record shows more than the record does.
pub(super) fn of_record<'a>(
    record: &'a Record,
    traces: &'a [TraceRecord],
    names: &Names,
) -> anyhow::Result<Vec<When<'a>>> {
    let why = &record.why;
    let of = |(at, it): (usize, &Alternative)| {
        let runs = why.traced.iter().filter(|run| run.alternative == at).count();
        let kept = || why.schedules.iter().find(|kept| kept.alternative == at);
        let source = match traces.iter().find(|trace| is_of(&trace.plan.target.words(), &it.command)) {
            Some(trace) => Source::Trace(trace),
            None => kept().map_or(Source::Nothing { observed: runs > 0 }, |kept| Source::Round(kept, runs)),
        };
        When::new(names.show(&it.name), it.command.clone(), source)
    };
    record.plan.alternatives.iter().enumerate().map(of).collect()
}

/// Of a trace.
pub(super) fn of_trace<'a>(trace: &'a TraceRecord, name: &str) -> anyhow::Result<When<'a>> {
    When::new(name.to_owned(), trace.plan.target.words(), Source::Trace(trace))
}

/// Whether what was traced is this command: the same line, or the words that it has.
fn is_of(traced: &str, command: &str) -> bool {
    traced == command || shell_words::split(command).is_ok_and(|split| shell_words::join(split) == traced)
}

impl<'a> When<'a> {
    fn new(name: String, command: String, source: Source<'a>) -> anyhow::Result<Self> {
        let timeline = match &source {
            Source::Trace(trace) => {
                trace.schedule.as_ref().map_or(Ok(None), |stream| timeline::of(stream, true))?
            }
            Source::Round(kept, _) => timeline::of(&kept.stream, kept.left_out == 0)?,
            Source::Nothing { .. } => None,
        };
        Ok(Self { name, command, source, timeline })
    }

    /// A timeline with the critical path.
    fn with_path(&self) -> Option<&Timeline> {
        self.timeline.as_ref().filter(|timeline| timeline.has_path())
    }

    /// What would show it.
    fn command(&self) -> String {
        let line = self.command.as_str();
        let command = if clean_lines(line) == line { shell_words::quote(line) } else { quoted(line).into() };
        format!("whyfaster trace --keep-schedule --record trace.json {command}")
    }

    /// Why it is not there, and what would show it.
    fn missing(&self, what: &str) -> Markup {
        let (why, command) = match &self.source {
            Source::Trace(TraceRecord { schedule: Some(_), .. }) => (
                "at its level no switch was seen; the full level sees them, which whyfaster doctor explains",
                None,
            ),
            Source::Trace(_) => ("its scheduling records were not kept; trace again:", Some(self.command())),
            Source::Round(kept, _) if kept.left_out > 0 => (
                "only the beginning of an observed round is kept, for it has very many events; trace the command and give both to whyfaster \
                 report:",
                Some(self.command()),
            ),
            Source::Round(..) | Source::Nothing { observed: true } => (
                "no scheduling records of its observed runs are kept; trace the command and give both to whyfaster report:",
                Some(self.command()),
            ),
            Source::Nothing { observed: false } => (
                "no run of it was observed; trace the command and give both to whyfaster report:",
                Some(self.command()),
            ),
        };
        missing(&format!("not in this record: {what} of {}", self.name), why, command.as_deref())
    }

    /// What the timeline was made from.
    fn said(&self, timeline: &Timeline) -> String {
        match &self.source {
            Source::Round(kept, of) => {
                let beginning = match kept.left_out {
                    0 => String::new(),
                    _ => format!(
                        " It is kept from its beginning; {} events behind that are left out.",
                        kept.left_out
                    ),
                };
                format!(
                    "One observed run, round {} of {of}, the one with the middle wall time: {}.{beginning}",
                    kept.round + 1,
                    timeline.said()
                )
            }
            _ => format!("{}.", timeline.said()),
        }
    }

    fn timeline(&self, page: &mut Page, look: &Look) -> anyhow::Result<Markup> {
        let Some(timeline) = &self.timeline else { return Ok(self.missing("the timeline")) };
        let id = format!("timeline-{}", page.blocks.len());
        page.blocks.push(timeline.block(&id)?);
        let title = format!("{}: who ran when", self.name);
        Ok(html! {
            div class="timeline" data-block=(id) data-title=(title) {
                @if let Some(picture) = timeline.picture(title.clone(), look) {
                    (figure(&picture, "The tasks that ran longest. Blue: on a CPU; orange: waiting for one; grey: waiting for something else."))
                }
            }
            p class="quiet" { (self.said(timeline)) }
        })
    }
}

/// The timelines one below the other: all show the same stretch of time.
pub(super) fn timelines(page: &mut Page, all: &[When<'_>], look: &Look) -> anyhow::Result<Markup> {
    let mut parts = Vec::new();
    for it in all {
        let timeline = it.timeline(page, look)?;
        parts.push(html! { @if all.len() > 1 { h3 { (it.name) } } (timeline) });
    }
    Ok(several(parts))
}

/// The critical paths as they came, on one axis.
pub(super) fn paths(all: &[When<'_>], look: &Look) -> Markup {
    let known: Vec<(&str, &Timeline)> =
        all.iter().filter_map(|it| Some((it.name.as_str(), it.with_path()?))).collect();
    let title = match all {
        [_] => "The critical path as it came",
        _ => "The critical paths as they came, side by side",
    };
    let rounds = known.len() > 1 && all.iter().any(|it| matches!(it.source, Source::Round(..)));
    let caption = "Which command the end waited for at each moment. Blue: that was on a CPU; orange: it waited for one; grey: for \
                   something that no other task of the tree did (a time, a disk, a lock).";
    html! {
        @if let Some(picture) = timeline::path_picture(title.to_owned(), &known, look) {
            (figure(&picture, caption))
            @if rounds { p class="quiet" { "Observed runs, each the one with the middle wall time; observing makes a run a little longer." } }
        }
        @for it in all { @if it.with_path().is_none() { (it.missing("the critical path by time")) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_of_the_command_that_it_traced_alone() {
        let command = r#"awk "/7/" words.txt"#;
        assert!(is_of(command, command) && is_of("awk /7/ words.txt", command));
        for other in [r#"LC_ALL=C awk "/7/" words.txt"#, r#"gzip | awk "/7/" words.txt"#, "words.txt"] {
            assert!(!is_of(other, command), "{other}");
        }
    }
}
