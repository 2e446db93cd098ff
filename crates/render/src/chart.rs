//! A small chart for the terminal: makespan against load, both logarithmic, bounds as lines.
//!
//! Own code because no library draws log axes with intervals and bounds and also has an ASCII form.

use whyfaster_words::display::TimeUnit;
use whyfaster_words::look::Look;
use whyfaster_words::text::{width, wrap};
use whyfaster_words::units::tick;

/// One alternative in a chart.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its shown name.
    pub name: String,
    /// What was measured, by rising load.
    pub points: Vec<Point>,
}

/// A measured value and its lower bound at one load.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The load.
    pub load: u32,
    /// The value, seconds.
    pub value: f64,
    /// A time-out cut it: it would have been longer.
    pub at_least: bool,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// The two parts of the bound, span and N * work / C, seconds.
    pub bound: Option<(f64, f64)>,
}

const HEIGHT: usize = 14;
const WIDTH: usize = 60;
/// Narrower than this, a chart shows nothing that the table does not.
const LEAST_WIDTH: usize = 24;
const UNICODE_MARKS: [char; 10] = ['●', '▲', '■', '◆', '○', '△', '□', '◇', '▼', '▽'];
const ASCII_MARKS: [char; 10] = ['o', 'x', '#', '+', '@', '%', '&', '$', '=', '?'];
/// Loads and seconds outside of this come from no clock; a record from elsewhere may hold anything.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 1e-12..=1e12;
/// Several marks in one place.
const SEVERAL: char = '*';

/// What stands above a mark whose value is higher by an amount that nobody knows.
fn at_least(unicode: bool) -> char {
    if unicode { '↑' } else { '^' }
}

/// The lines of the chart; none if there are fewer than two loads, or no room.
pub fn chart(title: &str, series: &[Series], look: &Look) -> Vec<String> {
    let points = || series.iter().flat_map(|s| &s.points).filter(|p| p.load > 0 && p.value > 0.0);
    let loads = Axis::over(points().map(|p| f64::from(p.load)));
    let values = points().flat_map(|p| {
        let bound = p.bound.map(|(span, work)| span.max(work)).filter(|b| *b > 0.0);
        [Some(p.value), bound, p.interval.map(|i| i.0).filter(|low| *low > 0.0), p.interval.map(|i| i.1)]
    });
    let values = Axis::over(values.flatten());
    let (Some(loads), Some(values)) = (loads.filter(|l| l.low < l.high), values) else { return Vec::new() };
    let values = values.with_air();
    let labels = labels(&values, look.time_unit);
    let margin = labels.iter().map(|(_, label)| width(label)).max().unwrap_or(0) + 3;
    let columns = WIDTH.min(look.width.saturating_sub(margin + 4));
    if columns < LEAST_WIDTH {
        return Vec::new();
    }
    let mut canvas = Canvas::new(columns, HEIGHT, look.unicode);
    for series in series {
        canvas.bound(&series.points, &loads, &values);
    }
    for series in series {
        canvas.intervals(&series.points, &loads, &values);
    }
    for (index, series) in series.iter().enumerate() {
        canvas.marks(mark(index, look.unicode), &series.points, &loads, &values);
    }
    frame(title, &canvas, series, &labels, margin, &loads, look)
}

/// What stands for the series of this place.
pub(super) fn mark(index: usize, unicode: bool) -> char {
    let marks = if unicode { UNICODE_MARKS } else { ASCII_MARKS };
    marks[index % marks.len()]
}

/// A logarithmic axis.
#[derive(Clone, Copy, Debug)]
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = values
            .filter(|value| PLAUSIBLE.contains(value))
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        (low <= high).then_some(Self { low, high })
    }

    /// Room above and below, so that marks do not lie on the frame, and some height if all values are one.
    fn with_air(self) -> Self {
        let air = (self.high / self.low).powf(0.06).max(1.1);
        Self { low: self.low / air, high: self.high * air }
    }

    /// Place on the axis, 0 to 1.
    fn place(&self, value: f64) -> f64 {
        ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }

    /// The cell of `cells` in which the value lies.
    fn cell(&self, value: f64, cells: usize) -> usize {
        (self.place(value) * (cells - 1) as f64).round() as usize
    }

    fn value(&self, place: f64) -> f64 {
        self.low * (self.high / self.low).powf(place)
    }
}

/// Rows (from the bottom) with a label: powers of ten, or 1-2-5 steps where the range is small.
fn labels(values: &Axis, unit: Option<TimeUnit>) -> Vec<(usize, String)> {
    let steps = |steps: &'static [f64]| {
        let first = values.low.log10().floor() as i32;
        let last = values.high.log10().ceil() as i32;
        let inside = move |value: &f64| *value >= values.low && *value <= values.high;
        (first..=last)
            .flat_map(move |decade| steps.iter().map(move |s| s * 10f64.powi(decade)))
            .filter(inside)
    };
    let few: Vec<f64> = steps(&[1.0]).collect();
    let chosen = match few.len() {
        3.. => few,
        _ => {
            let more: Vec<f64> = steps(&[1.0, 2.0, 5.0]).collect();
            // Within a factor of two there may be no round number at all: then the ends are labelled.
            if more.len() >= 2 { more } else { vec![values.value(0.04), values.value(0.96)] }
        }
    };
    let step = chosen.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    chosen.into_iter().map(|value| (values.cell(value, HEIGHT), tick(value, step, unit))).collect()
}

struct Canvas {
    columns: usize,
    rows: usize,
    unicode: bool,
    /// Marks and bars, row 0 at the bottom.
    cells: Vec<Option<char>>,
    /// Braille dots of the lines, two columns and four rows a cell.
    dots: Vec<u8>,
}

impl Canvas {
    fn new(columns: usize, rows: usize, unicode: bool) -> Self {
        let cells = columns * rows;
        Self { columns, rows, unicode, cells: vec![None; cells], dots: vec![0; cells] }
    }

    /// Draws max(span, work) between the loads. Work grows in proportion to the load, so that its value between two
    /// levels lies on the straight line between them.
    fn bound(&mut self, points: &[Point], loads: &Axis, values: &Axis) {
        let known: Vec<(f64, f64, f64)> = points
            .iter()
            .filter_map(|p| p.bound.map(|(span, work)| (f64::from(p.load), span, work)))
            .collect();
        let (Some(first), Some(last)) = (known.first(), known.last()) else { return };
        let (fine_columns, fine_rows) = if self.unicode { (2, 4) } else { (1, 1) };
        let (wide, tall) = (self.columns * fine_columns, self.rows * fine_rows);
        for x in 0..wide {
            let load = loads.value(x as f64 / (wide - 1) as f64);
            // The ends of the axis are computed too; rounding must not cost them their dot.
            if load < first.0 * 0.999 || load > last.0 * 1.001 {
                continue;
            }
            let bound = first.1.max(first.2 * load / first.0);
            if bound > 0.0 {
                self.dot(x, values.cell(bound, tall));
            }
        }
    }

    fn dot(&mut self, x: usize, y: usize) {
        if !self.unicode {
            self.cells[y * self.columns + x].get_or_insert('.');
            return;
        }
        // Bits of U+2800: rows from the top, left column 0 1 2 6, right column 3 4 5 7.
        const BITS: [[u8; 4]; 2] = [[6, 2, 1, 0], [7, 5, 4, 3]];
        self.dots[y / 4 * self.columns + x / 2] |= 1 << BITS[x % 2][y % 4];
    }

    /// Bars for intervals that are higher than their mark.
    fn intervals(&mut self, points: &[Point], loads: &Axis, values: &Axis) {
        let bar = if self.unicode { '│' } else { '|' };
        for point in points {
            let Some((low, high)) = point.interval.filter(|(low, _)| *low > 0.0) else { continue };
            let x = loads.cell(f64::from(point.load), self.columns);
            for y in values.cell(low, self.rows)..=values.cell(high, self.rows) {
                self.cells[y * self.columns + x] = Some(bar);
            }
        }
    }

    fn marks(&mut self, mark: char, points: &[Point], loads: &Axis, values: &Axis) {
        for point in points.iter().filter(|p| p.load > 0 && p.value > 0.0) {
            let x = loads.cell(f64::from(point.load), self.columns);
            let y = values.cell(point.value, self.rows);
            let taken = |cell: Option<char>| cell.is_some_and(|c| !matches!(c, '.' | '|' | '│'));
            // Marks that would cover each other stand side by side; a load is wider than a column anyway.
            let near = [Some(x), (x + 1 < self.columns).then_some(x + 1), x.checked_sub(1)];
            let free = near.into_iter().flatten().find(|x| !taken(self.cells[y * self.columns + x]));
            match free {
                Some(x) => self.cells[y * self.columns + x] = Some(mark),
                None => self.cells[y * self.columns + x] = Some(SEVERAL),
            }
            if point.at_least && y + 1 < self.rows {
                let above = (y + 1) * self.columns + free.unwrap_or(x);
                self.cells[above] =
                    self.cells[above].filter(|c| taken(Some(*c))).or(Some(at_least(self.unicode)));
            }
        }
    }

    fn row(&self, y: usize) -> String {
        let cell = |x: usize| {
            let index = y * self.columns + x;
            let dots = Some(self.dots[index]).filter(|dots| *dots != 0);
            let line = dots.and_then(|dots| char::from_u32(0x2800 + u32::from(dots)));
            self.cells[index].or(line).unwrap_or(' ')
        };
        (0..self.columns).map(cell).collect()
    }

    fn has(&self, mark: char) -> bool {
        self.cells.contains(&Some(mark))
    }
}

fn frame(
    title: &str,
    canvas: &Canvas,
    series: &[Series],
    labels: &[(usize, String)],
    margin: usize,
    loads: &Axis,
    look: &Look,
) -> Vec<String> {
    let (side, tick, corner, floor) =
        if look.unicode { ('│', '┤', '└', '─') } else { ('|', '+', '+', '-') };
    let mut lines = wrap(&format!("  {title}"), look.width, 2);
    for y in (0..canvas.rows).rev() {
        let label = labels.iter().find(|(row, _)| *row == y).map_or("", |(_, label)| label.as_str());
        let edge = if label.is_empty() { side } else { tick };
        let pad = " ".repeat(margin.saturating_sub(1 + width(label)));
        lines.push(format!("{pad}{label} {edge}{}", canvas.row(y)).trim_end().to_owned());
    }
    let indent = " ".repeat(margin);
    lines.push(format!("{indent}{corner}{}", floor.to_string().repeat(canvas.columns)));
    lines.push(format!("{indent} {}", load_labels(series, loads, canvas.columns)));
    lines.extend(legend(canvas, series, look));
    lines
}

/// The loads below their marks; one that would touch its neighbour on the left is left out, never the last.
fn load_labels(series: &[Series], loads: &Axis, columns: usize) -> String {
    let mut all: Vec<u32> =
        series.iter().flat_map(|s| &s.points).map(|p| p.load).filter(|l| *l > 0).collect();
    all.sort_unstable();
    all.dedup();
    let place = |load: u32| {
        let label = load.to_string();
        let middle = loads.cell(f64::from(load), columns);
        let start = middle.saturating_sub(label.len() / 2).min(columns.saturating_sub(label.len()));
        (start, label)
    };
    let last = all.pop().map(place);
    let mut line = String::new();
    for (start, label) in all.into_iter().map(place) {
        let clear = last.as_ref().is_none_or(|(last, _)| start + label.len() < *last);
        if clear && (line.is_empty() || start > line.len()) {
            line.push_str(&" ".repeat(start - line.len()));
            line.push_str(&label);
        }
    }
    if let Some((start, label)) = last {
        line.push_str(&" ".repeat(start.saturating_sub(line.len())));
        line.push_str(&label);
    }
    line
}

fn legend(canvas: &Canvas, series: &[Series], look: &Look) -> Vec<String> {
    let mut parts: Vec<String> =
        series.iter().enumerate().map(|(i, s)| format!("{} {}", mark(i, look.unicode), s.name)).collect();
    if canvas.has(SEVERAL) {
        parts.push(format!("{SEVERAL} several"));
    }
    if series.iter().flat_map(|s| &s.points).any(|p| p.at_least) {
        parts.push(format!("{} at least: cut by the time-out", at_least(look.unicode)));
    }
    if series.iter().flat_map(|s| &s.points).any(|p| p.bound.is_some()) {
        parts.push(format!("{} bound: max(span, N*work/C)", if look.unicode { "⠒⠒" } else { ".." }));
    }
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if width(line) + 3 + width(&part) <= look.width => {
                line.push_str("   ");
                line.push_str(&part);
            }
            _ => lines.push(format!("  {part}")),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::look;

    fn series(name: &str, points: &[(u32, f64)], bound: Option<(f64, f64)>) -> Series {
        let point = |(load, value): &(u32, f64)| Point {
            load: *load,
            value: *value,
            at_least: false,
            interval: Some((value * 0.5, value * 2.0)),
            bound: bound.map(|(span, work)| (span, work * f64::from(*load))),
        };
        Series { name: name.to_owned(), points: points.iter().map(point).collect() }
    }

    fn two() -> [Series; 2] {
        [
            series("serial", &[(1, 1.0), (10, 6.0), (1000, 700.0)], Some((1.0, 0.5))),
            series("piped", &[(1, 0.5), (10, 9.0), (1000, 900.0)], Some((0.4, 0.8))),
        ]
    }

    #[test]
    fn what_the_time_out_cut_is_open_above() {
        let mut all = two();
        all[0].points[1].at_least = true;
        let text = chart("title", &all, &look(80, false)).join("\n");
        let up = text.lines().position(|line| line.contains('^')).unwrap();
        let column = text.lines().nth(up).unwrap().find('^');
        assert_eq!(text.lines().nth(up + 1).unwrap().find('o'), column, "{text}");
        assert!(text.contains("^ at least: cut by the time-out"), "{text}");
    }

    #[test]
    fn in_ascii() {
        insta::assert_snapshot!(chart("title", &two(), &look(80, false)).join("\n"));
    }

    #[test]
    fn in_unicode() {
        insta::assert_snapshot!(chart("title", &two(), &look(80, true)).join("\n"));
    }

    #[test]
    fn one_load_or_no_room_makes_no_chart() {
        assert!(chart("title", &[series("a", &[(1, 1.0)], None)], &look(80, true)).is_empty());
        assert!(chart("title", &[series("a", &[(0, 1.0), (0, 2.0)], None)], &look(80, true)).is_empty());
        assert!(chart("title", &two(), &look(30, true)).is_empty());
        assert!(chart("title", &[], &look(80, true)).is_empty());
    }

    #[test]
    fn equal_values_still_have_a_height() {
        let lines = chart("title", &[series("a", &[(1, 1.0), (8, 1.0)], None)], &look(60, false));
        assert_eq!(lines.iter().filter(|line| line.contains('o')).count(), 2, "{lines:#?}");
    }

    #[test]
    fn neighbouring_loads_do_not_run_together() {
        let near = series("a", &[(1, 1.0), (1000, 2.0), (1010, 2.0), (1020, 2.0)], None);
        let lines = chart("title", &[near], &look(60, false));
        assert!(
            lines.iter().any(|line| line.trim_start().starts_with('1') && line.ends_with(" 1020")),
            "{lines:#?}"
        );
    }
}
