//! What stands below the tables: crossover, noise, less work or more share, how it was run, warnings, what is missing.

use whyfaster_core::analysis::{Comparison, Floor, Level};
use whyfaster_core::crossover::Crossover;
use whyfaster_core::plan::{Loads, Mode, Placement};
use whyfaster_core::record::Record;
use whyfaster_core::verdict::{Ratio, Verdict};

use super::look::Look;
use super::sentence::at;
use super::text::{Names, Tone, capitalise, for_look, tone, wrap};
use super::units::{self, deviation, digits, duration, factor, percent};
use crate::words;

/// Alternatives for which crossovers and causes are written out; the others stand in the tables.
const WRITTEN_OUT: usize = 3;

/// The line or two about every crossover.
pub fn crossovers(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let crossovers = &record.analysis.crossovers;
    let several = crossovers.len() > 1;
    let mut lines = Vec::new();
    for crossover in crossovers.iter().take(WRITTEN_OUT) {
        let who = if several { format!("{}: ", names.show(&crossover.alternative)) } else { String::new() };
        if let Some(text) = flip(record, crossover) {
            lines.extend(wrap(&format!("{who}{text}"), look.width, 2));
        }
        if crossover.ranges.len() > 1 {
            lines.extend(wrap(&format!("{who}{}", ranges(record, crossover, names)), look.width, 2));
        }
    }
    if crossovers.len() > WRITTEN_OUT {
        lines.push(format!("crossovers of {} more: --json", crossovers.len() - WRITTEN_OUT));
    }
    lines
}

fn flip(record: &Record, crossover: &Crossover) -> Option<String> {
    let loads = || record.analysis.levels.iter().map(|level| level.load);
    let (lowest, highest) = (loads().min()?, loads().max()?);
    let several = lowest < highest;
    let unit = if matches!(record.plan.mode, Mode::Closed { .. }) { "workers" } else { "copies" };
    let measured = match (crossover.measured_from, crossover.measured_to) {
        (Some(from), Some(to)) if from == to => format!("measured: at {to}"),
        (Some(from), Some(to)) => {
            let gap = to.saturating_sub(from) > 1 && record.plan.loads != Loads::Auto;
            let hint = if gap { " (--load auto narrows it)" } else { "" };
            format!("measured: between {from} and {to}{hint}")
        }
        (None, Some(to)) => format!("measured: below {to}"),
        _ if several && crossover.ranges.iter().all(|range| range.verdict == Verdict::Undecided) => {
            format!("measured: undecided from {lowest} to {highest} {unit}")
        }
        _ if several => format!("measured: no flip from {lowest} to {highest} {unit}"),
        _ => "not measured (--load auto looks for it)".to_owned(),
    };
    match crossover.predicted_load {
        Some(load) => Some(format!("predicted crossover: {} {unit}; {measured}", digits(load))),
        // One level without a prediction: there is nothing to say about a flip.
        None => crossover
            .not_predicted
            .filter(|_| several)
            .map(|why| format!("predicted crossover: {}; {measured}", words::reason::not_predicted(why))),
    }
}

/// "use-pipe wins up to 3, same 4 to 7, no-pipe wins from 8".
fn ranges(record: &Record, crossover: &Crossover, names: &Names) -> String {
    let last = crossover.ranges.len().saturating_sub(1);
    let part = |(index, range): (usize, &whyfaster_core::crossover::VerdictRange)| {
        let place = match (index, range.from == range.to) {
            (0, true) if range.to == 1 => at(record, 1),
            (0, _) => format!("up to {}", range.to),
            (i, _) if i == last => format!("from {}", range.from),
            (_, true) => format!("at {}", range.from),
            _ => format!("{} to {}", range.from, range.to),
        };
        match range.verdict {
            Verdict::Faster => format!("{} wins {place}", names.show(&crossover.alternative)),
            Verdict::Slower => format!("{} wins {place}", names.show(&crossover.baseline)),
            Verdict::Same => format!("same {place}"),
            Verdict::Undecided => format!("undecided {place}"),
        }
    };
    crossover.ranges.iter().enumerate().map(part).collect::<Vec<_>>().join(", ")
}

/// Less work or more share, at the lowest and at the highest level.
pub fn causes(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let levels: Vec<&Level> = record.analysis.levels.iter().filter(|l| !l.comparisons.is_empty()).collect();
    let mut ends: Vec<&Level> = [levels.first(), levels.last()].into_iter().flatten().copied().collect();
    ends.dedup_by_key(|level| level.load);
    let lines = |level: &&Level| {
        let shown = level.comparisons.iter().take(if level.comparisons.len() > WRITTEN_OUT { 0 } else { 3 });
        shown.filter_map(|c| cause(record, level.load, c, names)).collect::<Vec<_>>()
    };
    ends.iter().flat_map(lines).flat_map(|line| wrap(&line, look.width, 2)).collect()
}

fn cause(record: &Record, load: u32, c: &Comparison, names: &Names) -> Option<String> {
    let (alternative, baseline) = (names.show(&c.alternative), names.show(&c.baseline));
    let part = |what: &str, ratio: Option<Ratio>| {
        ratio.map(|r| format!("{} the {what}{}", factor(r.ratio), range(r)))
    };
    let parts: Vec<String> = [part("work", c.work), part("share", c.share)].into_iter().flatten().collect();
    if parts.is_empty() {
        return None;
    }
    let why = c.reason.map(|why| format!(", so it is {}", words::reason::reason(c.verdict, why)));
    let why = why.unwrap_or_default();
    Some(format!("{}: {alternative} has {} of {baseline}{why}", at(record, load), parts.join(" and ")))
}

fn range(ratio: Ratio) -> String {
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", digits(low), digits(high)),
        (Some(low), None) => format!(" (from {})", digits(low)),
        _ => String::new(),
    }
}

/// The noise floor in one line.
pub fn floor(floor: &Floor) -> String {
    let ends = match (floor.low, floor.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", deviation(low), deviation(high)),
        _ => String::new(),
    };
    let rounds = rounds(floor.rounds, floor.rounds);
    format!("noise floor: the baseline against itself {}{ends}, {rounds}", deviation(floor.ratio))
}

fn rounds(least: u32, most: u32) -> String {
    match (least, most) {
        (least, most) if least == most => units::rounds(least),
        (least, most) => format!("{least} to {most} rounds"),
    }
}

/// How it was run, in one line.
pub fn meta(record: &Record) -> String {
    let plan = &record.plan;
    let all = || record.analysis.levels.iter().flat_map(|level| &level.results).map(|result| result.rounds);
    let cpus = plan.cpus.as_ref().or(record.host.before.cpus_allowed.as_ref()).map(Vec::len);
    let cpus = cpus.map(|n| if n == 1 { "1 CPU".to_owned() } else { format!("{n} CPUs") });
    let placement = match plan.placement {
        Placement::Session => "each copy in a session of its own",
        Placement::Shared => "all copies in one session",
    };
    let mode = match plan.mode {
        Mode::Batch => None,
        Mode::Closed { duration_s } => Some(format!("closed loop for {}", duration(duration_s))),
        Mode::Open { rate_per_s, duration_s } => {
            Some(format!("{} starts a second for {}", digits(rate_per_s), duration(duration_s)))
        }
    };
    let several = record.analysis.levels.len() > 1;
    let measured = all().min().zip(all().max());
    let measured = measured.map(|(least, most)| rounds(least, most) + if several { " a level" } else { "" });
    let confidence = format!("{} confidence", percent(plan.confidence));
    let (seed, took) = (format!("seed {}", plan.seed), format!("took {}", duration(record.took_s)));
    let parts = [cpus, Some(placement.to_owned()), mode, measured, Some(confidence), Some(seed), Some(took)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The warnings, each with its remedy, then what was not measured, with the reason.
pub fn warnings(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let safe = |text: &str| for_look(&names.within(text), look);
    let warning = |warning: &whyfaster_core::host::Warning| {
        let (what, remedy) = (safe(&warning.what), safe(&warning.remedy));
        let (what, remedy) = (what.trim_end_matches('.'), capitalise(&remedy));
        wrap(&format!("{} {what}. {remedy}", tone(Tone::Unsure, "warning:")), look.width, 2)
    };
    let mut lines: Vec<String> = record.analysis.warnings.iter().flat_map(warning).collect();
    // One line per reason: ten quantities that one missing privilege costs are one fact.
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for missing in &record.analysis.not_measured {
        match reasons.iter_mut().find(|(why, _)| *why == missing.why) {
            Some((_, whats)) => whats.push(&missing.what),
            None => reasons.push((&missing.why, vec![&missing.what])),
        }
    }
    for (why, whats) in reasons {
        let text = format!("{}: {}", safe(&whats.join(", ")), safe(why));
        lines.extend(wrap(&format!("{} {text}", tone(Tone::Unsure, "not measured:")), look.width, 2));
    }
    lines
}
