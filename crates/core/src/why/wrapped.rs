//! Scripts that stand before the real program, and their part of an alternative's time.

use std::collections::BTreeSet;

use super::account::Alternative;
use super::report::Wrapper;
use crate::trace::report::WrapperRow;

/// The wrappers of an alternative, medians over its observed runs, brought to its untraced time.
pub(super) fn wrappers(alternative: &Alternative<'_>) -> Vec<Wrapper> {
    let rows = alternative.runs.iter().flat_map(|run| &run.report.wrappers);
    let keys: BTreeSet<_> = rows.map(|row| (&row.script, &row.interpreter, &row.program)).collect();
    let brought =
        if alternative.traced_s > 0.0 { alternative.untraced_s / alternative.traced_s } else { 1.0 };
    let of = |key: (&String, &String, &String)| {
        let number = |number: fn(&WrapperRow) -> f64| {
            alternative.median(|run| {
                let mut rows = run.report.wrappers.iter();
                let row = rows.find(|row| (&row.script, &row.interpreter, &row.program) == key);
                row.map_or(0.0, number)
            })
        };
        Wrapper {
            alternative: alternative.name.to_owned(),
            script: key.0.clone(),
            interpreter: key.1.clone(),
            program: key.2.clone(),
            times: number(|row| row.times as f64),
            seconds: brought * number(|row| row.seconds),
            of_s: alternative.untraced_s,
        }
    };
    keys.into_iter().map(of).filter(|it| it.times > 0.0).collect()
}
