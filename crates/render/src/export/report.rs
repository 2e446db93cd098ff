//! hyperfine's own report on the screen, for who calls us by its name: scripts look for its lines.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use whyfaster_core::record::Record;
use whyfaster_words::display::{Hyperfine, Sort, TimeUnit};
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, finish, for_look, tone};

use super::hyperfine::{self, Outcome};
use super::markup::{Relation, fitting, number, reference, relation, symbol};
use super::report_2::{benchmarks, title};

/// The report; it ends with an empty line.
pub fn report(record: &Record, look: &Look) -> String {
    let results = hyperfine::results(record);
    let mut text = String::new();
    match look.hyperfine {
        Hyperfine::One => {
            for (index, result) in results.iter().enumerate() {
                text += &format!("{}: {}\n", title(index), for_look(&result.shown, look));
                text += &times(result, look.time_unit);
            }
            text += &summaries(&results, look);
        }
        Hyperfine::Two => text += &benchmarks(&results, &look.metrics_of(&record.plan), look),
    }
    finish(&text, look.color)
}

fn times(result: &Outcome, unit: Option<TimeUnit>) -> String {
    let unit = unit.unwrap_or_else(|| fitting(result.mean));
    let show = |seconds: f64| format!("{} {}", number(seconds, unit), symbol(unit));
    let parts = format!("[User: {}, System: {}]", show(result.user), show(result.system));
    let Some(stddev) = result.stddev else {
        return format!("  Time (abs ≡):        {:>8}  {:>8}     {parts}\n \n", show(result.mean), "");
    };
    format!(
        "  Time (mean ± σ):     {:>8} ± {:>8}    {parts}\n  Range (min … max):   {:>8} … {:>8}    {} runs\n \n",
        show(result.mean),
        show(stddev),
        show(result.min),
        show(result.max),
        result.times.len()
    )
}

/// How the results of each level relate, where there are several.
fn summaries(results: &[Outcome], look: &Look) -> String {
    let loads: BTreeSet<u32> = results.iter().map(|result| result.load).collect();
    let levels =
        loads.into_iter().map(|load| results.iter().filter(|it| it.load == load).collect::<Vec<_>>());
    levels.filter(|level| level.len() > 1).map(|level| summary(&level, results, look) + "\n").collect()
}

fn summary(level: &[&Outcome], results: &[Outcome], look: &Look) -> String {
    let Some(reference) = level.first().and_then(|first| reference(first, results)) else {
        return String::new();
    };
    let mut rows = level.to_vec();
    if look.sort == Sort::Command {
        let line = |row: &Outcome| {
            let Relation { ratio, deviation, .. } = relation(row, reference);
            let deviation = deviation.filter(|_| !std::ptr::eq(row, reference));
            let deviation =
                deviation.map_or_else(|| " ".repeat(8), |deviation| format!(" ± {deviation:5.2}"));
            format!("  {ratio:10.2}{deviation}  {}\n", for_look(&row.shown, look))
        };
        let lines: String = rows.into_iter().map(line).collect();
        return format!("{}\n{lines}", tone(Tone::Strong, "Relative speed comparison"));
    }
    rows.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    let others = rows.into_iter().filter(|row| !std::ptr::eq(*row, reference));
    let line = |row: &Outcome| {
        let Relation { ratio, deviation, order } = relation(row, reference);
        let deviation = deviation.map(|deviation| format!(" ± {deviation:.2}")).unwrap_or_default();
        let relates = match order {
            Ordering::Less => format!("{ratio:8.2}{deviation} times slower than"),
            Ordering::Greater => format!("{ratio:8.2}{deviation} times faster than"),
            Ordering::Equal => format!("    As fast ({ratio:.2}{deviation}) as"),
        };
        format!("{relates} {}\n", for_look(&row.shown, look))
    };
    let lines: String = others.map(line).collect();
    format!("{}\n  {} ran\n{lines}", tone(Tone::Strong, "Summary"), for_look(&reference.shown, look))
}
