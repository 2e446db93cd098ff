//! What every picture is drawn with: an axis, marks, labels, and the frame that makes them a figure with a title and a text for
//! whoever does not see it.
//!
//! Colours are classes, so that one picture is light or dark as the page is, and stands alone with the palette of [`super::style`].

use maud::{Markup, PreEscaped, Render, html};
use whyfaster_words::display::TimeUnit;
use whyfaster_words::units::tick;

/// Width of every picture, in its own units. A narrow screen scrolls it sideways.
pub(super) const WIDTH: f64 = 960.0;
/// Height of a line of text.
pub(super) const LINE: f64 = 18.0;
/// Colours for alternatives; those behind them begin again, and are told apart by their marks and names.
pub(super) const COLOURS: usize = 6;

/// A coordinate: one decimal is a tenth of a pixel. What no screen has becomes 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Px(pub(super) f64);

impl Render for Px {
    fn render_to(&self, out: &mut String) {
        let value = if self.0.is_finite() { self.0.clamp(-1e5, 1e5) } else { 0.0 };
        let text = format!("{value:.1}");
        out.push_str(text.strip_suffix(".0").unwrap_or(&text));
    }
}

/// Where the next one begins; the place behind it is then that much farther.
pub(super) fn advance(place: &mut f64, by: f64) -> f64 {
    let here = *place;
    *place += by;
    here
}

/// The class of an alternative's colour.
pub(super) fn colour(at: usize) -> String {
    format!("c{}", at % COLOURS)
}

/// Values on a line of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
}

impl Axis {
    /// An axis from 0 on, for lengths.
    pub(super) fn from_zero(values: impl IntoIterator<Item = f64>, pixels: (f64, f64)) -> Self {
        let all = values.into_iter().filter(|it| it.is_finite());
        let (low, high) = all.fold((0.0_f64, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        let high = if high > low { high } else { low + 1.0 };
        Self { low, high, from: pixels.0, to: pixels.1, log: false }
    }

    /// An axis over these values with some air around them; logarithmic where they reach over more than a factor of 12.
    pub(super) fn over(values: impl IntoIterator<Item = f64>, pixels: (f64, f64)) -> Option<Self> {
        const FAR: f64 = 12.0;
        let values: Vec<f64> = values.into_iter().filter(|it| it.is_finite()).collect();
        let (low, high) = ends(&values)?;
        if low > 0.0 && high / low > FAR {
            return Self::log(values, pixels);
        }
        let air = if high > low { (high - low) * 0.06 } else { high.abs().max(1e-12) * 0.05 };
        let bottom = if low >= 0.0 { (low - air).max(0.0) } else { low - air };
        Some(Self { low: bottom, high: high + air, from: pixels.0, to: pixels.1, log: false })
    }

    /// A logarithmic axis over what of these is above 0.
    pub(super) fn log(values: impl IntoIterator<Item = f64>, pixels: (f64, f64)) -> Option<Self> {
        let above: Vec<f64> = values.into_iter().filter(|it| it.is_finite() && *it > 0.0).collect();
        let (low, high) = ends(&above)?;
        let air = (high / low).powf(0.04).max(1.03);
        Some(Self { low: low / air, high: high * air, from: pixels.0, to: pixels.1, log: true })
    }

    /// Where a value stands; what is off the axis stands at its end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let part = match self.log {
            true => (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        self.from + part.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Whether a value stands on it.
    pub(super) fn has(&self, value: f64) -> bool {
        value >= self.low && value <= self.high
    }

    /// Whether it is logarithmic.
    pub(super) fn is_log(&self) -> bool {
        self.log
    }

    /// Round values on it, about so many.
    pub(super) fn ticks(&self, about: usize) -> Vec<f64> {
        if !self.log {
            return self.linear_ticks(about);
        }
        let decades = (self.low.log10().floor() as i32)..=(self.high.log10().ceil() as i32);
        let of = |steps: &[f64]| -> Vec<f64> {
            let all =
                decades.clone().flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)));
            all.filter(|value| self.has(*value)).collect()
        };
        let sets: [&[f64]; 4] = [&[1.0, 2.0, 3.0, 5.0, 7.0], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
        let fitting = sets.iter().map(|steps| of(steps)).find(|ticks| ticks.len() <= about.max(2));
        let ticks = fitting.unwrap_or_else(|| {
            let ticks = of(&[1.0]);
            let every = ticks.len().div_ceil(about.max(2));
            ticks.into_iter().step_by(every.max(1)).collect()
        });
        // Within one decade there may be no round value of a log scale.
        if ticks.len() < 2 { self.linear_ticks(about) } else { ticks }
    }

    fn linear_ticks(&self, about: usize) -> Vec<f64> {
        let raw = (self.high - self.low) / about.max(1) as f64;
        let unit = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].iter().map(|it| it * unit).find(|it| *it >= raw).unwrap_or(raw);
        if !step.is_finite() || step <= 0.0 {
            return Vec::new();
        }
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last.min(first + 40)).map(|at| at as f64 * step).collect()
    }
}

fn ends(values: &[f64]) -> Option<(f64, f64)> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some((low, high))
}

/// Lines and labels of a horizontal axis of times, at the height where it stands.
pub(super) fn times_below(axis: &Axis, top: f64, bottom: f64, unit: Option<TimeUnit>) -> Markup {
    below(axis, top, bottom, |value, step| tick(value, step, unit))
}

/// The same with labels of another kind, made of the value and of how far it is to the next.
pub(super) fn below(axis: &Axis, top: f64, bottom: f64, label: impl Fn(f64, f64) -> String) -> Markup {
    let ticks = axis.ticks(7);
    let step = step(&ticks);
    html! { @for value in ticks { (upright(axis, value, top, bottom, true, &label(value, step))) } }
}

/// The same at these values, rising, each labelled where there is room for it beside the others: the last one always is.
pub(super) fn below_at(
    axis: &Axis,
    values: &[f64],
    top: f64,
    bottom: f64,
    label: impl Fn(f64) -> String,
) -> Markup {
    const ROOM: f64 = 34.0;
    let end = values.last().map_or(f64::NAN, |last| axis.at(*last));
    let mut free = f64::NEG_INFINITY;
    let mut labelled = |place: f64| {
        let labelled = place == end || (place >= free && place + ROOM <= end);
        free = if labelled { place + ROOM } else { free };
        labelled
    };
    html! {
        @for value in values { (upright(axis, *value, top, bottom, labelled(axis.at(*value)), &label(*value))) }
    }
}

fn upright(axis: &Axis, value: f64, top: f64, bottom: f64, labelled: bool, label: &str) -> Markup {
    html! {
        line class="grid" x1=(Px(axis.at(value))) x2=(Px(axis.at(value))) y1=(Px(top)) y2=(Px(bottom)) {}
        @if labelled { text class="tick mid" x=(Px(axis.at(value))) y=(Px(bottom + 16.0)) { (label) } }
    }
}

/// The least from one of these to the next.
fn step(ticks: &[f64]) -> f64 {
    ticks.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(f64::INFINITY, f64::min)
}

/// Lines and labels of a vertical axis.
pub(super) fn beside(axis: &Axis, left: f64, right: f64, label: impl Fn(f64, f64) -> String) -> Markup {
    let ticks = axis.ticks(6);
    let step = step(&ticks);
    html! {
        @for value in ticks {
            line class="grid" x1=(Px(left)) x2=(Px(right)) y1=(Px(axis.at(value))) y2=(Px(axis.at(value))) {}
            text class="tick end" x=(Px(left - 8.0)) y=(Px(axis.at(value) + 4.0)) { (label(value, step)) }
        }
    }
}

/// Many round points as one path: a line of length 0 with round ends is a point.
pub(super) fn points(class: &str, places: impl IntoIterator<Item = (f64, f64)>) -> Markup {
    let mut d = String::new();
    for (x, y) in places {
        d.push('M');
        Px(x).render_to(&mut d);
        d.push(' ');
        Px(y).render_to(&mut d);
        d.push_str("h0");
    }
    html! { @if !d.is_empty() { path class=(class) d=(d) {} } }
}

/// A line through places.
pub(super) fn line(class: &str, places: impl IntoIterator<Item = (f64, f64)>) -> Markup {
    let mut d = String::new();
    for (x, y) in places {
        d.push(if d.is_empty() { 'M' } else { 'L' });
        Px(x).render_to(&mut d);
        d.push(' ');
        Px(y).render_to(&mut d);
    }
    html! { @if !d.is_empty() { path class=(class) d=(d) {} } }
}

/// The mark of an alternative: a shape as well as a colour.
pub(super) fn mark(at: usize, x: f64, y: f64) -> Markup {
    let class = format!("mark {}", colour(at));
    let r = 5.0;
    let shape = |points: &[(f64, f64)]| {
        let d: String =
            points.iter().map(|(dx, dy)| format!("{:.1},{:.1} ", x + dx * r, y + dy * r)).collect();
        html! { polygon class=(class) points=(d.trim_end()) {} }
    };
    // Another shape with every colour that comes again.
    match (at + at / COLOURS) % COLOURS {
        0 => html! { circle class=(class) cx=(Px(x)) cy=(Px(y)) r=(Px(r)) {} },
        1 => shape(&[(0.0, -1.2), (1.15, 0.9), (-1.15, 0.9)]),
        2 => shape(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        3 => shape(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
        4 => html! { circle class=(format!("{class} open")) cx=(Px(x)) cy=(Px(y)) r=(Px(r)) {} },
        _ => {
            let d =
                format!("{x:.1},{:.1} {:.1},{:.1} {:.1},{:.1}", y - 6.0, x + 5.8, y + 4.5, x - 5.8, y + 4.5);
            html! { polygon class=(format!("{class} open")) points=(d) {} }
        }
    }
}

/// A picture with what it shows, in a few words and in full.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    /// What it shows, above it.
    pub(super) title: String,
    /// The same for whoever does not see it: what stands in it, with the numbers that matter.
    pub(super) text: String,
    /// Its height in its own units.
    pub(super) height: f64,
    /// What is drawn.
    pub(super) body: Markup,
}

impl Picture {
    /// The element, as part of a page or as a file of its own.
    pub(super) fn svg(&self, alone: Option<&str>) -> Markup {
        let view = format!("0 0 {WIDTH:.0} {:.0}", self.height);
        let height = format!("{:.0}", self.height);
        html! {
            svg role="img" class="picture" viewBox=(view) xmlns=[alone.map(|_| "http://www.w3.org/2000/svg")]
                width=[alone.map(|_| "960")] height=[alone.map(|_| height.as_str())] {
                title { (self.title) }
                desc { (self.text) }
                @if let Some(style) = alone {
                    style { (PreEscaped(style)) }
                    rect class="paper" width="100%" height="100%" {}
                }
                (self.body)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_places_round_values() {
        let axis = Axis::over([10.0, 20.0], (0.0, 100.0)).unwrap();
        assert!(!axis.is_log() && (axis.at(15.0) - 50.0).abs() < 1e-9);
        assert_eq!(axis.ticks(5), [10.0, 15.0, 20.0]);
        let far = Axis::over([0.001, 10.0], (0.0, 100.0)).unwrap();
        assert!(far.is_log() && far.ticks(5).len() >= 3, "{:?}", far.ticks(5));
        assert_eq!(far.at(-1.0), 0.0, "what a log axis cannot have stands at its end");
    }

    #[test]
    fn what_is_no_number_becomes_one() {
        let one = Axis::over([3.0], (0.0, 10.0)).unwrap();
        assert!(one.ticks(5).len() < 50);
        assert_eq!(Axis::over([f64::NAN, f64::INFINITY], (0.0, 1.0)), None);
        let mut out = String::new();
        Px(f64::NAN).render_to(&mut out);
        Px(1e300).render_to(&mut out);
        assert_eq!(out, "0100000");
    }
}
