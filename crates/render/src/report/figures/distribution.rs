//! How long each run took: every run as a point, and the quantiles of each alternative.

use maud::{Markup, html};
use whyfaster_core::analysis::{Level, time};
use whyfaster_core::plan::Mode;
use whyfaster_core::record::Record;
use whyfaster_core::sample::{Arm, Batch};
use whyfaster_stats::quantile::{of_sorted, sorted};
use whyfaster_words::look::Look;
use whyfaster_words::units::{Scale, supported};

use super::super::super::names::Names;
use super::super::svg::{Axis, LINE, Picture, Px, WIDTH, colour, mark, points, times_below};

/// Points of an alternative that are drawn; of more, every so many-th.
const POINTS: usize = 1500;
/// Height of an alternative's lane.
const LANE: f64 = 74.0;
const LEFT: f64 = 20.0;
const TOP: f64 = 10.0;

/// One alternative.
struct Lane {
    at: usize,
    name: String,
    /// In rising order.
    values: Vec<f64>,
    /// Medians of the analysis, which the first screen shows too.
    median: Option<f64>,
    interval: Option<(f64, f64)>,
    timed_out: bool,
}

/// The times of every run at a level; nothing where there is none.
pub(in super::super) fn picture(
    record: &Record,
    level: &Level,
    names: &Names,
    look: &Look,
) -> Option<Picture> {
    let lanes: Vec<Lane> = record
        .plan
        .alternatives
        .iter()
        .enumerate()
        .filter_map(|(at, it)| lane(record, level, at, names.show(&it.name)).filter(|_| !it.name.is_empty()))
        .collect();
    let all = || lanes.iter().flat_map(|lane| lane.values.iter().copied());
    let axis = Axis::over(all(), (LEFT, WIDTH - LEFT))?;
    let bottom = TOP + LANE * lanes.len() as f64;
    let scale = Scale::choose(lanes.iter().filter_map(|lane| lane.median), look.time_unit);
    let said: Vec<String> = lanes.iter().map(|lane| said(lane, scale)).collect();
    let body = html! {
        (times_below(&axis, TOP, bottom, look.time_unit))
        @for (row, (lane, said)) in lanes.iter().zip(&said).enumerate() {
            (drawn(lane, said, &axis, TOP + LANE * row as f64))
        }
    };
    Some(Picture {
        title: format!(
            "{} of each run, {}",
            quantity(record, level.load),
            super::super::super::sentence::at(record, level.load)
        ),
        text: said.join("; "),
        height: bottom + 26.0,
        body,
    })
}

/// What one point is.
pub(in super::super) fn quantity(record: &Record, load: u32) -> &'static str {
    match (record.plan.mode, load == 1) {
        (Mode::Batch, true) => "Time",
        (Mode::Batch, false) => "Time until the last copy ended",
        // Not how long a copy took: the time that a run took over the copies that ended in it.
        (Mode::Closed { .. }, _) => "Run time per ended copy",
        (Mode::Open { .. }, _) => "Median latency",
    }
}

/// The batches of an arm at a load, in the order of their rounds.
pub(in super::super) fn batches(record: &Record, load: u32, arm: Arm) -> Vec<&Batch> {
    let mut all: Vec<&Batch> =
        record.batches.iter().filter(|batch| batch.load == load && batch.arm == arm).collect();
    all.sort_by_key(|batch| batch.round);
    all
}

fn lane(record: &Record, level: &Level, at: usize, name: String) -> Option<Lane> {
    let batches = batches(record, level.load, Arm::Alternative(at));
    let values =
        sorted(batches.iter().map(|batch| time(batch, record.plan.mode).value).filter(|it| it.is_finite()));
    let of = &record.plan.alternatives.get(at)?.name;
    let result = level.results.iter().find(|result| result.alternative == *of)?;
    let batch = matches!(record.plan.mode, Mode::Batch);
    let median = if batch { Some(result.makespan_s.median) } else { of_sorted(&values, 0.5) };
    let interval = result.makespan_s.low.zip(result.makespan_s.high).filter(|_| batch);
    (!values.is_empty()).then_some(Lane {
        at,
        name,
        values,
        median,
        interval,
        timed_out: result.timed_out > 0,
    })
}

/// "A: median 29.4 ms (29.1 to 30.0), 20 runs".
fn said(lane: &Lane, scale: Scale) -> String {
    let median = lane.median.map_or_else(String::new, |median| {
        let ends = lane.interval.map(|(low, high)| (low / scale.seconds, high / scale.seconds));
        let value = match ends {
            Some((low, high)) => supported(median / scale.seconds, Some(low), Some(high)),
            None => scale.number(median),
        };
        let least = if lane.timed_out { "at least " } else { "" };
        let between = ends.map(|(low, high)| {
            format!(" ({} to {})", scale.number(low * scale.seconds), scale.number(high * scale.seconds))
        });
        format!("median {least}{value} {}{}", scale.name, between.unwrap_or_default())
    });
    let of = |q: f64| of_sorted(&lane.values, q).unwrap_or(f64::NAN);
    let runs = lane.values.len();
    let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
    let (least, most) = (scale.number(of(0.0)), scale.number(of(1.0)));
    format!("{}: {median}, {runs} from {least} to {most} {}", lane.name, scale.name)
}

fn drawn(lane: &Lane, said: &str, axis: &Axis, top: f64) -> Markup {
    let of = |q: f64| of_sorted(&lane.values, q).map_or(f64::NAN, |value| axis.at(value));
    let (middle, half) = (top + LINE + 24.0, 9.0);
    let every = lane.values.len().div_ceil(POINTS).max(1);
    // Spread over the lane without chance, so that the same record makes the same picture.
    let spread = |at: usize| middle + ((at * 7 % 11) as f64 - 5.0) * 3.2;
    let places =
        lane.values.iter().enumerate().step_by(every).map(|(at, value)| (axis.at(*value), spread(at)));
    let colour = colour(lane.at);
    html! {
        g class=(colour) {
            (mark(lane.at, LEFT + 5.0, top + 12.0))
            text class="label" x=(Px(LEFT + 16.0)) y=(Px(top + 16.0)) { (said) }
            @if lane.values.len() > 3 {
                line class="whisker" x1=(Px(of(0.05))) x2=(Px(of(0.95))) y1=(Px(middle)) y2=(Px(middle)) {}
                rect class="box" x=(Px(of(0.25))) width=(Px((of(0.75) - of(0.25)).max(1.0)))
                    y=(Px(middle - half)) height=(Px(2.0 * half)) rx="2" {}
            }
            (points("dots", places))
            @if let Some((low, high)) = lane.interval {
                line class="sure" x1=(Px(axis.at(low))) x2=(Px(axis.at(high))) y1=(Px(middle + 19.0)) y2=(Px(middle + 19.0)) {}
            }
            @if let Some(median) = lane.median {
                line class="median" x1=(Px(axis.at(median))) x2=(Px(axis.at(median)))
                    y1=(Px(middle - 15.0)) y2=(Px(middle + 22.0)) {}
            }
        }
    }
}
