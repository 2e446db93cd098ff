//! From which length of a task on it costs next to nothing to hand it out, in words.

use whyfaster_core::price::handing::{Reach, Threshold};

use crate::grid::ABSENT;
use crate::phrases::count;
use crate::units::{percent, time};

/// A length with what is known of it: at most the shortest that was tried, or beyond the longest.
pub fn length(threshold: &Threshold) -> String {
    let length = time(threshold.typical_s, None);
    match threshold.place {
        Reach::Below => format!("<= {length}"),
        Reach::Within => length,
        Reach::Beyond => format!("~ {length}"),
    }
}

/// Its interval.
pub fn interval(threshold: &Threshold) -> String {
    match threshold.low_s.zip(threshold.high_s) {
        Some((low, high)) => format!("{} to {}", time(low, None), time(high, None)),
        None => format!("undecided: {} repetitions are too few", threshold.repetitions),
    }
}

/// The same in one cell, for a table with little room: without an interval nothing is claimed.
pub fn briefly(threshold: Option<&Threshold>) -> String {
    match threshold {
        Some(known) if known.low_s.is_some() => length(known),
        Some(_) => "undecided".to_owned(),
        None => ABSENT.to_owned(),
    }
}

/// What an engine ran on.
pub fn ran_on(engine: &str, versions: &[String]) -> String {
    format!("{engine} ran on {}.", versions.join("; "))
}

/// What the threshold is.
pub fn title(share: f64, reference: &str) -> String {
    format!(
        "from which length of a task on it takes less than {} longer than through {reference}",
        percent(share)
    )
}

/// How to read its signs.
pub fn how(workers: u32, reference: &str) -> String {
    format!(
        "Every engine had {}. Each repetition compares an engine with {reference} at the same length of task. '<=': the \
         shortest length that was tried was long enough. '~': the longest was not, and the cost of a task is taken to stay what it \
         was there.",
        count(workers.into(), "worker", "workers")
    )
}
