//! What changes with load: who wins, what a copy costs, what was predicted.

use whyfaster_core::why::report::Growth;
use whyfaster_core::why::statement::{
    CopyCost, Deciding, FlipLoad, GrowsIn, KindsUnknown, PredictedFrom, Trend, WorkTold,
};

use super::called::Called;
use super::numbers::{percent, time, upper};

/// Who wins alone, and who once the CPUs are full.
pub(super) fn deciding(it: &Deciding, called: &Called) -> String {
    let quicker = called.of(&it.quicker);
    let (spans, works) = ((time(it.spans_s.0), time(it.spans_s.1)), (time(it.works_s.0), time(it.works_s.1)));
    let kinds = kinds(it);
    let alone = format!(
        "Alone, {quicker} wins, because a copy needs {} from beginning to end against {}.",
        spans.0, spans.1
    );
    match it.work {
        WorkTold::StaysAhead => format!(
            "{} takes less time alone ({} against {}) and less CPU time ({} against {}{kinds}), so it stays ahead when many copies run.",
            upper(&quicker),
            spans.0,
            spans.1,
            works.0,
            works.1
        ),
        WorkTold::Undecided => format!(
            "{alone} Which of them costs less CPU time cannot be told ({} and {}), nor which wins when the {} full.",
            works.0,
            works.1,
            cpus(it.cpus)
        ),
        WorkTold::Same => format!("{alone} {}", when_full(it, called)),
        WorkTold::Flips => {
            format!("{alone} {} Then the CPU time decides{kinds}.", when_full(it, called))
        }
    }
}

/// Who wins once the CPUs are full.
pub(super) fn when_full(it: &Deciding, called: &Called) -> String {
    let (quick, slow) = (time(it.works_s.0), time(it.works_s.1));
    let full = format!("Once the {} full", cpus(it.cpus));
    match it.work {
        WorkTold::Same => {
            format!(
                "{full}, only the CPU time counts, and neither wins: both need about the same ({quick} and {slow})."
            )
        }
        _ => {
            let from = it.from.map(|it| format!(" ({})", flip(it))).unwrap_or_default();
            let winner = called.of(&it.slower);
            format!("{full}{from}, {winner} wins: it needs {slow} of CPU time against {quick}.")
        }
    }
}

fn flip(load: FlipLoad) -> String {
    match load {
        FlipLoad::Measured { from, to } => format!("somewhere from {from} to {to} copies at once"),
        FlipLoad::Predicted { load, low, high } => {
            // Whole copies, on the safe side of each end.
            let within =
                low.zip(high).map(|(low, high)| format!(": {:.0} to {:.0}", low.floor(), high.ceil()));
            format!("from about {load:.0} copies at once on, predicted{}", within.unwrap_or_default())
        }
    }
}

fn cpus(capacity: f64) -> String {
    if (capacity - 1.0).abs() < 1e-9 { "CPU is".to_owned() } else { format!("{capacity} CPUs are") }
}

/// ", most of the difference in moving data through pipes".
fn kinds(it: &Deciding) -> String {
    let names: Vec<&str> = it.kinds.iter().map(|kind| kind.words()).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(", most of the difference in {}", names.join(" and "))
    }
}

/// From what a makespan was predicted.
pub(super) fn based_on(it: PredictedFrom) -> String {
    let from = match it.level {
        Some(load) => format!("span, work and the level of {load} copies"),
        None => "span and work, a lower bound".to_owned(),
    };
    if it.few_rounds { from + "; too few rounds for an interval" } else { from }
}

/// How the CPU time of a copy changes.
pub(super) fn growth(of: &Growth, cost: CopyCost, called: &Called) -> String {
    let (low, high) = cost.seconds;
    let between = format!("({} to {})", time(low), time(high));
    let change = match cost.trend {
        Trend::Grows => {
            let most = cost.most.map(|it| format!(", most of that {}", grows_in(it))).unwrap_or_default();
            format!("grows by {} {between}{most}", percent(high / low - 1.0))
        }
        Trend::Falls => format!("falls by {} {between}", percent(1.0 - high / low)),
        Trend::Stays => format!("stays about the same ({} and {})", time(low), time(high)),
    };
    let waits = cost
        .waits_s
        .map(|(low, high)| format!("; a copy waits for a CPU for {} instead of {}", time(high), time(low)));
    format!(
        "{}: from {} to {} copies at once, the CPU time of a copy {change}{}.",
        called.of(&of.alternative),
        of.lowest,
        of.highest,
        waits.unwrap_or_default()
    )
}

fn grows_in(it: GrowsIn) -> String {
    match it {
        GrowsIn::User => "in its own code".to_owned(),
        GrowsIn::Startup => "in the start-up of its programs".to_owned(),
        GrowsIn::Kernel { on: None, .. } => "in the kernel".to_owned(),
        GrowsIn::Kernel { on: Some(on), also: None } => format!("in the kernel, for {}", on.words()),
        GrowsIn::Kernel { on: Some(on), also: Some(also) } => {
            format!("in the kernel, for {} and {}", on.words(), also.words())
        }
    }
}

/// Why the kernel's time is not told by kind.
pub(super) fn kinds_unknown(it: KindsUnknown) -> String {
    match it {
        KindsUnknown::Lossy => {
            "the observed batch made records faster than they could be read, and some were lost".to_owned()
        }
        KindsUnknown::NotAlone => "no run of one copy alone could be observed".to_owned(),
        KindsUnknown::NoCpuTime => "the kernel counted no CPU time of the untraced runs".to_owned(),
        KindsUnknown::Uncertain { unsure_s, differ_s } => format!(
            "of a copy's CPU time {} are uncertain, by observing beyond what the calibration explains and from run to run, and \
             the kinds of its work differ by {} only",
            time(unsure_s),
            time(differ_s)
        ),
    }
}
