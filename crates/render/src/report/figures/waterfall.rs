//! From one time to the other: what each cause adds, and what nothing explains.

use maud::{Markup, html};
use whyfaster_words::look::Look;
use whyfaster_words::units::{percent, time};

use super::super::svg::{Axis, Picture, Px, WIDTH, advance, times_below};

const LEFT: f64 = 250.0;
const RIGHT: f64 = WIDTH - 90.0;
const ROW: f64 = 34.0;
const TOP: f64 = 8.0;

/// What a cause adds.
#[derive(Clone, Debug)]
pub(in super::super) struct Step {
    pub(in super::super) what: String,
    pub(in super::super) seconds: f64,
    pub(in super::super) interval: Option<(f64, f64)>,
    /// An experiment said so, or against it.
    pub(in super::super) confirmed: Option<bool>,
    /// It holds what no cause does.
    pub(in super::super) rest: bool,
}

/// What lies between the sum of the steps, which is the median of the differences, and the slower time, which is a median of its own.
const GAP: &str = "medians do not add up";

/// The steps from the time of the faster one to that of the slower one.
pub(in super::super) fn picture(
    title: String,
    (faster, from_s): (&str, f64),
    (slower, to_s): (&str, f64),
    steps: &[Step],
    look: &Look,
) -> Option<Picture> {
    let whole: f64 = steps.iter().map(|step| step.seconds).sum();
    let gap = Step {
        what: GAP.to_owned(),
        seconds: to_s - (from_s + whole),
        interval: None,
        confirmed: None,
        rest: true,
    };
    let seen = time(from_s + whole, look.time_unit) != time(to_s, look.time_unit);
    let mut sum = from_s;
    let placed: Vec<(f64, &Step)> = steps
        .iter()
        .chain(seen.then_some(&gap))
        .map(|step| (advance(&mut sum, step.seconds), step))
        .collect();
    let values = placed.iter().flat_map(|(at, step)| [*at, at + step.seconds]).chain([from_s, to_s]);
    let axis = Axis::from_zero(values, (LEFT, RIGHT));
    if !(from_s.is_finite() && to_s.is_finite()) || steps.is_empty() {
        return None;
    }
    let bottom = TOP + ROW * (placed.len() + 2) as f64;
    let part = |step: &Step| {
        if whole == 0.0 || step.what == GAP {
            String::new()
        } else {
            format!(" ({})", percent(step.seconds / whole))
        }
    };
    let signed = |seconds: f64| {
        let sign = if seconds > 0.0 { "+" } else { "" };
        format!("{sign}{}", time(seconds, look.time_unit).replace('-', "−"))
    };
    let said: Vec<String> = placed
        .iter()
        .map(|(_, step)| format!("{} {}{}", step.what, signed(step.seconds), part(step)))
        .collect();
    let body = html! {
        (times_below(&axis, TOP, bottom, look.time_unit))
        (end(TOP, faster, from_s, &axis, look))
        @for (row, (from, step)) in placed.iter().enumerate() {
            @let y = TOP + ROW * (row + 1) as f64;
            (bar(y, *from, step, &axis))
            text class="label" x=(Px(axis.at(from.max(from + step.seconds)) + 8.0)) y=(Px(y + 21.0)) { (signed(step.seconds)) }
        }
        (end(TOP + ROW * (placed.len() + 1) as f64, slower, to_s, &axis, look))
    };
    let text = format!(
        "from {} of {faster} to {} of {slower}: {}",
        time(from_s, look.time_unit),
        time(to_s, look.time_unit),
        said.join(", ")
    );
    Some(Picture { title, text, height: bottom + 26.0, body })
}

fn end(y: f64, name: &str, seconds: f64, axis: &Axis, look: &Look) -> Markup {
    html! {
        text class="label end strong" x=(Px(LEFT - 10.0)) y=(Px(y + 21.0)) { (cut(name)) }
        rect class="whole" x=(Px(axis.at(0.0))) width=(Px((axis.at(seconds) - axis.at(0.0)).max(1.0)))
            y=(Px(y + 5.0)) height=(Px(ROW - 12.0)) rx="2" {}
        text class="label strong" x=(Px(axis.at(seconds) + 8.0)) y=(Px(y + 21.0)) { (time(seconds, look.time_unit)) }
    }
}

fn bar(y: f64, from: f64, step: &Step, axis: &Axis) -> Markup {
    let (a, b) = (axis.at(from), axis.at(from + step.seconds));
    let class = match (step.rest, step.seconds < 0.0) {
        (true, _) => "step rest",
        (false, true) => "step less",
        (false, false) => "step more",
    };
    let sure = match step.confirmed {
        Some(true) => " ✓",
        Some(false) => " ✗",
        None => "",
    };
    html! {
        text class="label end" x=(Px(LEFT - 10.0)) y=(Px(y + 21.0)) { (step.what) (sure) }
        line class="link" x1=(Px(a)) x2=(Px(a)) y1=(Px(y - 7.0)) y2=(Px(y + 5.0)) {}
        rect class=(class) x=(Px(a.min(b))) width=(Px((a - b).abs().max(1.5))) y=(Px(y + 5.0)) height=(Px(ROW - 12.0)) rx="2" {}
        @if let Some((low, high)) = step.interval {
            @let (l, h) = (axis.at(from + low), axis.at(from + high));
            line class="sure" x1=(Px(l)) x2=(Px(h)) y1=(Px(y + 16.0)) y2=(Px(y + 16.0)) {}
        }
    }
}

/// A name that fits beside the bars; whole names stand in the legend of the page.
fn cut(name: &str) -> String {
    whyfaster_words::text::shorten(name, 30, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::look;

    #[test]
    fn the_slower_time_is_its_own_and_what_lies_between_is_named() {
        let step = |seconds| Step {
            what: "copying".to_owned(),
            seconds,
            interval: None,
            confirmed: None,
            rest: false,
        };
        let text = |to_s: f64, steps: &[Step]| {
            picture(String::new(), ("B", 0.040), ("A", to_s), steps, &look(80, true)).unwrap().text
        };
        let gap = text(0.0594, &[step(0.0228), step(-0.0039)]);
        assert_eq!(
            gap,
            "from 40.0 ms of B to 59.4 ms of A: copying +22.8 ms (121%), copying −3.90 ms (-20.6%), medians do not add up +500 us"
        );
        assert!(!text(0.0589, &[step(0.0189)]).contains(GAP));
    }
}
