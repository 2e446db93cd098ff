//! What stands below the tables: crossover, noise, less work or more share, how it was run, warnings, what is missing.

use whyfaster_core::analysis::{Comparison, Corrected, DuetComparison, Floor, Level};
use whyfaster_core::crossover::{Crossover, VerdictRange};
use whyfaster_core::missing::NotMeasured;
use whyfaster_core::plan::{Loads, Mode, Placement};
use whyfaster_core::record::Record;
use whyfaster_core::verdict::{Ratio, Verdict};
use whyfaster_core::warning::{Caution, Warning};
use whyfaster_words as words;
use whyfaster_words::look::Look;
use whyfaster_words::phrases::{count, list};
use whyfaster_words::text::{Tone, capitalise, for_look, tone, wrap};
use whyfaster_words::units;
use whyfaster_words::units::{Figures, deviation, digits, duration, percent, times};

use super::names::Names;
use super::sentence::at;

/// Alternatives for which crossovers and causes are written out; the others stand in the tables.
const WRITTEN_OUT: usize = 3;

/// The line or two about every crossover.
pub fn crossovers(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let crossovers = &record.analysis.crossovers;
    let several = crossovers.len() > 1;
    let mut lines = Vec::new();
    let written_out = look.detail.most(WRITTEN_OUT);
    for crossover in crossovers.iter().take(written_out) {
        let who = if several { format!("{}: ", names.show(&crossover.alternative)) } else { String::new() };
        if let Some(text) = flip(record, crossover) {
            lines.extend(wrap(&format!("{who}{text}"), look.width, 2));
        }
        if crossover.ranges.len() > 1 {
            lines.extend(wrap(&format!("{who}{}", ranges(record, crossover, names)), look.width, 2));
        }
    }
    if crossovers.len() > written_out {
        lines.push(format!("crossovers of {} more: -vv", crossovers.len() - written_out));
    }
    lines
}

fn flip(record: &Record, crossover: &Crossover) -> Option<String> {
    let loads = || record.analysis.levels.iter().map(|level| level.load);
    let (lowest, highest) = (loads().min()?, loads().max()?);
    let several = lowest < highest;
    let unit = if matches!(record.plan.mode, Mode::Closed { .. }) { "workers" } else { "copies" };
    let measured = match (crossover.measured_from, crossover.measured_to) {
        (Some(from), Some(to)) => {
            let gap = to.saturating_sub(from) > 1 && record.plan.loads != Loads::Auto;
            let hint = if gap { " (--load auto narrows it)" } else { "" };
            format!("measured: between {from} and {to}{hint}")
        }
        _ if several && crossover.ranges.iter().all(|range| range.verdict == Verdict::Undecided) => {
            format!("measured: undecided from {lowest} to {highest} {unit}")
        }
        _ if several && crossover.ranges.iter().any(|range| range.verdict == Verdict::Undecided) => {
            let undecided = crossover.ranges.iter().filter(|range| range.verdict == Verdict::Undecided);
            let place = |range: &VerdictRange| match range.from == range.to {
                true => range.from.to_string(),
                false => format!("{} to {}", range.from, range.to),
            };
            let places: Vec<String> = undecided.map(place).collect();
            format!("measured: no flip seen; undecided at {} {unit}", list(&places))
        }
        _ if several => format!("measured: no flip from {lowest} to {highest} {unit}"),
        _ => "not measured (--load auto looks for it)".to_owned(),
    };
    match predicted(crossover) {
        Some(load) => Some(format!("predicted crossover: {load} {unit}; {measured}")),
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
    let part = |(index, range): (usize, &VerdictRange)| {
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
        let most = look.detail.most(WRITTEN_OUT);
        let shown = level.comparisons.iter().take(if level.comparisons.len() > most { 0 } else { most });
        shown.filter_map(|c| cause(record, level.load, c, names)).collect::<Vec<_>>()
    };
    ends.iter().flat_map(lines).flat_map(|line| wrap(&line, look.width, 2)).collect()
}

fn cause(record: &Record, load: u32, c: &Comparison, names: &Names) -> Option<String> {
    let (alternative, baseline) = (names.show(&c.alternative), names.show(&c.baseline));
    let part =
        |what: &str, ratio: Option<Ratio>| ratio.map(|r| format!("{} the {what}{}", times(r), range(r)));
    let parts: Vec<String> = [part("work", c.work), part("share", c.share)].into_iter().flatten().collect();
    if parts.is_empty() {
        return None;
    }
    let why = c.reason.map(|why| format!(", so it is {}", words::reason::reason(c.verdict, why)));
    let why = why.unwrap_or_default();
    Some(format!("{}: {alternative} has {} of {baseline}{why}", at(record, load), parts.join(" and ")))
}

/// CPU time against CPU time, where alternatives ran at once with the baseline.
pub fn duets(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let line = |it: &DuetComparison| {
        let (alternative, baseline) = (names.show(&it.alternative), names.show(&it.baseline));
        let bias = match it.bias > 0.0 {
            true => format!(", with {} for what two do to each other's caches", percent(it.bias)),
            false => String::new(),
        };
        let gain = gain(it);
        let (way, how) = match it.in_turns {
            true => ("in turns", format!("; {} pairs at once on one CPU are no surer{bias}", it.rounds)),
            false => ("at once on one CPU", format!(", {} pairs{bias}{gain}", it.rounds)),
        };
        let decides = it
            .decides_from
            .map_or_else(String::new, |load| format!("; from {load} copies on this decides their times"));
        let (times, range) = (times(it.work), range(it.work));
        format!("{way}: {alternative} needs {times} the CPU time of {baseline}{range}{how}{decides}")
    };
    record.analysis.duets.iter().flat_map(|it| wrap(&line(it), look.width, 2)).collect()
}

/// What it brought to run both at once, if that is much.
pub fn gain(it: &DuetComparison) -> String {
    let narrower = it.narrower.filter(|narrower| !it.in_turns && *narrower >= 1.1);
    narrower.map_or_else(String::new, |narrower| {
        format!("; the interval is {} times narrower than from runs in turns", digits(narrower))
    })
}

/// Times at one speed of the CPUs, where that makes an interval narrower.
pub fn corrected(
    record: &Record,
    names: &Names,
    look: &Look,
    of: impl Fn(&Comparison) -> bool,
) -> Vec<String> {
    let line = |load: u32, c: &Comparison, it: Corrected| {
        let stolen = it
            .stolen
            .map(|part| format!("the hypervisor took {} of the CPU time that was wanted", percent(part)));
        let ghz = |hz: f64| digits(hz / 1e9);
        let clock =
            it.clock_hz.map(|(low, high)| format!("their clock was {} to {} GHz", ghz(low), ghz(high)));
        let changes: Vec<String> = stolen.into_iter().chain(clock).collect();
        format!(
            "{}: the CPUs' speed changed ({}); corrected, {} takes {} the time of {}{}, and the interval is {} times narrower",
            at(record, load),
            changes.join(", "),
            names.show(&c.alternative),
            times(it.ratio),
            names.show(&c.baseline),
            range(it.ratio),
            digits(it.narrower)
        )
    };
    let levels = record.analysis.levels.iter();
    let all = levels.flat_map(|level| level.comparisons.iter().map(|c| (level.load, c)));
    let told = all.filter(|(_, c)| of(c)).filter_map(|(load, c)| Some(line(load, c, c.corrected?)));
    told.flat_map(|line| wrap(&line, look.width, 2)).collect()
}

/// The load that is predicted, with its interval: "1.50 (1.42 to 1.61)".
pub fn predicted(crossover: &Crossover) -> Option<String> {
    crossover.predicted().map(|load| format!("{}{}", Figures::of(load).number(load.ratio), range(load)))
}

fn range(ratio: Ratio) -> String {
    let number = |end| Figures::of(ratio).number(end);
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", number(low), number(high)),
        (Some(low), None) => format!(" (from {})", number(low)),
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

/// The warnings that the commands may not do the same work, which stand beside the answer.
pub fn unequal_work(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    statements(record.analysis.warnings.iter().filter(|it| is_of_work(it)), &[], names, look)
}

/// The other warnings, each with its remedy, then what was not measured, with the reason.
pub fn warnings(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let others = record.analysis.warnings.iter().filter(|it| !is_of_work(it));
    statements(others, &record.analysis.not_measured, names, look)
}

/// What makes the answer doubtful, in at most so many lines: those that fit, unequal work first, then what is missing in the table.
pub fn doubts<'a>(
    warnings: &'a [Warning],
    missing: impl IntoIterator<Item = &'a NotMeasured>,
    names: &Names,
    look: &Look,
    room: usize,
) -> Vec<String> {
    let of_work = warnings.iter().filter(|it| is_of_work(it)).map(|it| doubt(it, names, look));
    let missing = missing.into_iter().map(|it| statements([], std::slice::from_ref(it), names, look));
    let others = warnings.iter().filter(|it| !is_of_work(it)).map(|it| doubt(it, names, look));
    let mut lines: Vec<String> = Vec::new();
    let mut left = 0;
    for said in of_work.chain(missing).chain(others) {
        // The first one is said whatever it takes.
        if lines.is_empty() || lines.len() + said.len() < room {
            lines.extend(said);
        } else {
            left += 1;
        }
    }
    if left > 0 {
        let more = count(left, "warning more: -v", "warnings more: -v");
        lines.push(tone(Tone::Unsure, &format!("({more})")));
    }
    lines
}

/// A warning alone, without its remedy where it would take too much of a screen.
fn doubt(warning: &Warning, names: &Names, look: &Look) -> Vec<String> {
    const LONG: usize = 4;
    let whole = statements([warning], &[], names, look);
    if whole.len() <= LONG {
        return whole;
    }
    let (what, _) = words::warning::of(warning, &|name| names.show(name));
    wrap(&format!("{} {}", tone(Tone::Unsure, "warning:"), for_look(&what, look)), look.width, 2)
}

fn is_of_work(warning: &Warning) -> bool {
    warning.caution.as_ref().is_some_and(Caution::is_of_unequal_work)
}

/// Warnings and what was not measured, with the names as they are shown.
pub(super) fn statements<'a>(
    warnings: impl IntoIterator<Item = &'a Warning>,
    not_measured: &[NotMeasured],
    names: &Names,
    look: &Look,
) -> Vec<String> {
    let name = |name: &str| names.show(name);
    let mut lines = Vec::new();
    for warning in warnings {
        let (what, remedy) = words::warning::of(warning, &name);
        let (what, remedy) = (for_look(&what, look), capitalise(&for_look(&remedy, look)));
        let text = format!("{} {}. {remedy}", tone(Tone::Unsure, "warning:"), what.trim_end_matches('.'));
        lines.extend(wrap(&text, look.width, 2));
    }
    // One line per reason: ten quantities that one missing privilege costs are one fact.
    let mut reasons: Vec<(&NotMeasured, Vec<String>)> = Vec::new();
    for missing in not_measured {
        let (what, _) = words::missing::of(missing, &name);
        match reasons.iter_mut().find(|(one, _)| one.has_reason_of(missing)) {
            Some((_, whats)) => whats.push(what),
            None => reasons.push((missing, vec![what])),
        }
    }
    for (one, whats) in reasons {
        let (_, why) = words::missing::of(one, &name);
        let text = format!("{}: {}", for_look(&whats.join(", "), look), for_look(&why, look));
        lines.extend(wrap(&format!("{} {text}", tone(Tone::Unsure, "not measured:")), look.width, 2));
    }
    lines
}
