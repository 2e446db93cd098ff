//! The causes with their size, what could be done about them, and the experiments.

use whyfaster_core::fit::bytes;
use whyfaster_core::why::report::{Evidence, Experiment, Finding, Outcome};
use whyfaster_core::why::{Cause, Why, agrees};
use whyfaster_stats::Estimate;
use whyfaster_words::grid::{ABSENT, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, tone, wrap_indented};
use whyfaster_words::units::{Scale, count, time};
use whyfaster_words::why::title;

use super::super::section::section;
use super::shown::{Shown, ends, labels, share, shown, signed};

/// Findings whose remedy is written out, and the part of the difference below which there is none.
const WITH_REMEDY: usize = 4;
const WORTH_IT: f64 = 0.05;

/// A row: a finding, or what none holds.
pub(in super::super) struct Row<'a> {
    pub(in super::super) what: &'static str,
    pub(in super::super) seconds: Estimate,
    share: f64,
    pub(in super::super) finding: Option<&'a Finding>,
}

fn of_difference<'a>(it: &Shown<'a>) -> Vec<&'a Finding> {
    let (slow, fast) = it.sides();
    let about = |finding: &&Finding| {
        [slow, fast].contains(&finding.alternative.as_str())
            && [slow, fast].contains(&finding.against.as_str())
    };
    it.why.findings.iter().filter(about).collect()
}

/// The causes, the largest first, and what remains: they sum to the difference.
pub(in super::super) fn rows<'a>(it: &Shown<'a>) -> Vec<Row<'a>> {
    let (slow, _) = it.sides();
    let whole = it.whole();
    let row = |finding: &&'_ Finding| {
        // What makes the faster one slower works against the difference.
        let against = finding.alternative != slow;
        let sign = if against { -1.0 } else { 1.0 };
        let (low, high) = match against {
            true => (finding.high.map(|it| -it), finding.low.map(|it| -it)),
            false => (finding.low, finding.high),
        };
        let seconds = Estimate { median: sign * finding.seconds, low, high };
        (title(finding.cause), seconds)
    };
    let findings = of_difference(it);
    let mut rows: Vec<Row<'_>> = findings
        .iter()
        .map(|finding| {
            let (what, seconds) = row(finding);
            Row { what, seconds, share: finding.share, finding: Some(finding) }
        })
        .collect();
    if !findings.iter().any(|finding| finding.cause == Cause::Unexplained) {
        let rest = it.told(it.difference.unexplained_s);
        rows.push(Row {
            what: title(Cause::Unexplained),
            seconds: rest,
            share: if whole.median == 0.0 { 0.0 } else { rest.median / whole.median },
            finding: None,
        });
    }
    rows
}

/// The same as a table.
pub(super) fn table(it: &Shown<'_>) -> Vec<String> {
    let whole = it.whole();
    let rows = rows(it);
    let scale = it.scale(rows.iter().map(|row| row.seconds.median).chain([whole.median]));
    let confirmed = |row: &Row<'_>| match row.finding.and_then(|finding| finding.confirmed) {
        Some(true) => tone(Tone::Good, "yes"),
        Some(false) => tone(Tone::Bad, "refuted"),
        None => ABSENT.to_owned(),
    };
    let grid = Grid {
        key: labels("cause", rows.iter().map(|row| row.what.to_owned()), it.look),
        groups: vec![
            Group::in_unit("costs it", scale.name, &rows, |row| signed(scale, row.seconds.median)),
            Group::of("share", &rows, |row| share(row.share, 1.0)),
            Group::of("confirmed", &rows, confirmed),
            Group::of("interval", &rows, |row| ends(scale, &row.seconds)),
        ],
    };
    it.section(&heading(it, scale), grid)
}

/// How much longer the one takes than the other.
pub(in super::super) fn heading(it: &Shown<'_>, scale: Scale) -> String {
    let (slow, fast) = it.sides();
    let whole = it.whole();
    let wall = |name: &str| it.why.accounts.iter().find(|account| account.alternative == name);
    let times = wall(slow).zip(wall(fast)).map(|(slow, fast)| (slow.untraced_s, fast.untraced_s));
    // The medians of the two, which stand below, may be another distance apart.
    let how = if times.is_none_or(|times| agrees(whole.median, times)) { "" } else { ", in a typical round" };
    format!(
        "why {} takes {} {} longer than {}, alone{how}",
        it.names.show(slow),
        scale.number(whole.median),
        scale.name,
        it.names.show(fast)
    )
}

/// Numbers that are shown behind a finding.
const NUMBERS: usize = 2;

/// The numbers that speak, those that were counted first, and where to read on.
pub(in super::super) fn evidence(finding: &Finding, look: &Look) -> String {
    let number = |it: &Evidence, value: f64| match it.unit.as_str() {
        "s" => time(value, look.time_unit),
        "B" => bytes(value.max(0.0).round() as u64),
        _ => count(value),
    };
    let one = |it: &Evidence| format!("{} {} against {}", it.what, number(it, it.here), number(it, it.there));
    let all = finding.evidence.iter().filter(|it| it.here != it.there);
    let numbers: Vec<String> = all.take(NUMBERS).map(one).collect();
    let more = format!("more: {}", finding.page);
    if numbers.is_empty() { more } else { format!("{}; {more}", numbers.join(", ")) }
}

/// Each finding in words, with what could be done, its numbers and its page.
pub(super) fn remedies(it: &Shown<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for finding in of_difference(it).into_iter().take(WITH_REMEDY) {
        let small = finding.share.abs() < WORTH_IT;
        if finding.cause == Cause::Unexplained || finding.remedy.is_empty() || small {
            continue;
        }
        let text = format!("{}: {} {}", title(finding.cause), finding.sentence, finding.remedy);
        lines.extend(wrap_indented(&shown(&text, it.look), it.look.width, 2));
        let text = format!("  ({})", shown(&evidence(finding, it.look), it.look));
        lines.extend(wrap_indented(&text, it.look.width, 4));
    }
    lines
}

/// What was tried, what was expected, what came out.
pub(super) fn experiments(why: &Why, look: &Look) -> Vec<String> {
    if why.experiments.is_empty() {
        return Vec::new();
    }
    let scale = Scale::choose(
        why.experiments.iter().map(|it| it.predicted_s.abs()).filter(|seconds| *seconds > 0.0),
        look.time_unit,
    );
    let won = |it: &Experiment| or_absent(it.won_s, |won| scale.number(won.median));
    let between = |it: &Experiment| or_absent(it.won_s, |won| ends(scale, &won));
    let rows = &why.experiments;
    let grid = Grid {
        key: labels("cause", rows.iter().map(|it| title(it.cause).to_owned()), look),
        groups: vec![
            Group::in_unit("predicted", scale.name, rows, |it| scale.number(it.predicted_s)),
            Group::of("won", rows, won),
            Group::of("outcome", rows, |it| outcome(it.outcome)),
            Group::of("interval", rows, between),
        ],
    };
    let mut lines = section(
        "experiments: one thing changed, everything else the same, untraced, in turns",
        grid,
        0,
        look,
    );
    for experiment in rows {
        let text = format!("{}: {}", title(experiment.cause), experiment.sentence);
        lines.extend(wrap_indented(&shown(&text, look), look.width, 2));
    }
    lines
}

pub(in super::super) fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Confirmed => tone(Tone::Good, "confirmed"),
        Outcome::Refuted => tone(Tone::Bad, "refuted"),
        Outcome::Undecided => tone(Tone::Unsure, "undecided"),
        Outcome::NotTestable => "not testable".to_owned(),
    }
}
