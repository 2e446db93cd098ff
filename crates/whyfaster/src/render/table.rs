//! Tables: columns packed into blocks that fit the width, the most important first; and the tables of a record.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use whyfaster_core::plan::Mode;
use whyfaster_core::record::{Bound, Estimate, Level, LevelResult, Record};
use whyfaster_core::verdict::{Comparison, Verdict};

use super::look::{Look, Sort};
use super::text::{Names, Tone, tone, width};
use super::units::{Scale, count, digits, factor, memory_scale};

/// What stands for a value that is not there. A note below the tables explains it.
pub const ABSENT: &str = "-";
/// Spaces between columns.
const GAP: usize = 2;
/// Spaces before the first column.
const MARGIN: usize = 2;

/// A column: its header and one cell per row.
#[derive(Clone, Debug)]
pub struct Column {
    header: String,
    cells: Vec<String>,
}

impl Column {
    /// A column of these cells.
    pub fn new(header: impl Into<String>, cells: Vec<String>) -> Self {
        Self { header: header.into(), cells }
    }

    fn width(&self) -> usize {
        self.cells.iter().map(|cell| width(cell)).chain([width(&self.header)]).max().unwrap_or(0)
    }
}

/// Columns that make sense only together, under the name by which they are called when there is no room for them.
#[derive(Clone, Debug)]
pub struct Group {
    name: &'static str,
    columns: Vec<Column>,
}

impl Group {
    /// Columns that are shown together or not at all.
    pub fn new(name: &'static str, columns: Vec<Column>) -> Self {
        Self { name, columns }
    }

    fn width(&self) -> usize {
        self.columns.iter().map(|column| column.width() + GAP).sum()
    }
}

/// A table that knows which of its columns matter most.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The first column of every block, aligned to the left.
    pub key: Column,
    /// The other columns, the most important first, aligned to the right.
    pub groups: Vec<Group>,
}

/// What a grid became: lines, and the names of the groups that found no room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The lines, without line ends.
    pub lines: Vec<String>,
    /// The groups that were left out.
    pub left_out: Vec<&'static str>,
}

impl Grid {
    /// Draws at most `blocks` tables below each other, each at most `columns` wide and beginning with the key.
    pub fn draw(&self, columns: usize, blocks: usize) -> Drawn {
        let room = columns.saturating_sub(MARGIN + self.key.width());
        let mut used: Vec<(usize, Vec<&Group>)> = vec![(0, Vec::new()); blocks.max(1)];
        let mut drawn = Drawn::default();
        for (index, group) in self.groups.iter().enumerate() {
            let wide = group.width();
            // The most important group is shown even where the lines then are too long.
            let slot = used.iter_mut().find(|(taken, _)| index == 0 || taken.saturating_add(wide) <= room);
            match slot {
                Some((taken, groups)) => {
                    *taken += wide;
                    groups.push(group);
                }
                None => drawn.left_out.push(group.name),
            }
        }
        for (_, groups) in used.iter().filter(|(_, groups)| !groups.is_empty()) {
            let columns: Vec<&Column> = groups.iter().flat_map(|group| &group.columns).collect();
            drawn.lines.extend(self.block(&columns));
        }
        drawn
    }

    fn block(&self, columns: &[&Column]) -> Vec<String> {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let all = || [&self.key].into_iter().chain(columns.iter().copied());
        table.set_header(all().map(|column| tone(Tone::Quiet, &column.header)).collect::<Vec<_>>());
        for row in 0..self.key.cells.len() {
            table.add_row(
                all().map(|column| column.cells.get(row).map_or(ABSENT, String::as_str)).collect::<Vec<_>>(),
            );
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            let left = if index == 0 { MARGIN } else { GAP };
            column.set_padding((u16::try_from(left).unwrap_or(2), 0));
            column.set_cell_alignment(if index == 0 { CellAlignment::Left } else { CellAlignment::Right });
        }
        table.trim_fmt().lines().map(str::to_owned).collect()
    }
}

/// A verdict in one word, with its tone.
pub fn verdict_word(verdict: Verdict) -> String {
    match verdict {
        Verdict::Faster => tone(Tone::Good, "faster"),
        Verdict::Slower => tone(Tone::Bad, "slower"),
        Verdict::Same => "same".to_owned(),
        Verdict::Undecided => tone(Tone::Unsure, "undecided"),
    }
}

/// "405 to 420", in the scale of its column; what is open at one end says so.
pub fn interval(low: Option<f64>, high: Option<f64>, number: impl Fn(f64) -> String) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
        (Some(low), None) => format!("from {}", number(low)),
        (None, Some(high)) => format!("to {}", number(high)),
        (None, None) => ABSENT.to_owned(),
    }
}

fn estimate_interval(estimate: &Estimate, scale: Scale) -> String {
    interval(estimate.low, estimate.high, |value| scale.number(value))
}

/// The table of one level: who, how long, against the baseline, and what it cost.
pub fn level_grid(record: &Record, level: &Level, names: &Names, look: &Look) -> Grid {
    let rows = ordered(record, level, look);
    let column = |header: String, cell: &dyn Fn(&LevelResult) -> String| {
        Column::new(header, rows.iter().map(|row| cell(row)).collect())
    };
    let mut groups = vec![makespan_group(&rows, look)];
    if !level.comparisons.is_empty() {
        groups.extend(comparison_groups(&rows, level));
    }
    groups.extend(work_groups(&rows, look));
    if level.load > 1 || !matches!(record.plan.mode, Mode::Batch) {
        groups.push(latency_group(&rows, look));
        groups.push(Group::new(
            "slowdown",
            vec![column("slowdown".into(), &|row| optional(row.slowdown, factor))],
        ));
    }
    groups.extend(machine_groups(&rows, look));
    Grid { key: column("alternative".into(), &|row| names.show(&row.alternative)), groups }
}

/// The results of a level in the order in which they are shown.
fn ordered<'a>(record: &Record, level: &'a Level, look: &Look) -> Vec<&'a LevelResult> {
    let mut rows: Vec<&LevelResult> = level.results.iter().collect();
    let by_time = match look.sort {
        Sort::Auto => record.analysis.levels.len() == 1,
        Sort::Command => false,
        Sort::MeanTime => true,
    };
    if by_time {
        rows.sort_by(|a, b| a.makespan_s.median.total_cmp(&b.makespan_s.median));
    }
    rows
}

fn optional(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| ABSENT.to_owned(), text)
}

fn makespan_group(rows: &[&LevelResult], look: &Look) -> Group {
    let scale = Scale::choose(rows.iter().map(|row| row.makespan_s.median), look.time_unit);
    // A batch with a timed-out copy lasted at least this long; how long, nobody knows.
    let median = |row: &&LevelResult| {
        let number = scale.number(row.makespan_s.median);
        if row.timed_out > 0 { format!(">= {number}") } else { number }
    };
    let intervals = |row: &&LevelResult| estimate_interval(&row.makespan_s, scale);
    Group::new(
        "makespan",
        vec![
            Column::new(format!("makespan {}", scale.name), rows.iter().map(median).collect()),
            Column::new("interval", rows.iter().map(intervals).collect()),
        ],
    )
}

fn comparison_groups(rows: &[&LevelResult], level: &Level) -> [Group; 2] {
    let of = |row: &LevelResult| level.comparisons.iter().find(|c| c.alternative == row.alternative);
    let cells = |text: &dyn Fn(&Comparison) -> String, baseline: &str| {
        let is_baseline = |row: &LevelResult| level.comparisons.iter().any(|c| c.baseline == row.alternative);
        let missing = |row: &LevelResult| if is_baseline(row) { baseline } else { ABSENT }.to_owned();
        rows.iter().map(|row| of(row).map_or_else(|| missing(row), text)).collect::<Vec<_>>()
    };
    [
        Group::new(
            "ratio",
            vec![
                Column::new("ratio", cells(&|c| digits(c.ratio), "1")),
                Column::new("interval", cells(&|c| interval(c.low, c.high, digits), "")),
            ],
        ),
        Group::new("verdict", vec![Column::new("verdict", cells(&|c| verdict_word(c.verdict), "baseline"))]),
    ]
}

fn work_groups(rows: &[&LevelResult], look: &Look) -> Vec<Group> {
    let scale = Scale::choose(rows.iter().map(|row| row.work_per_copy_s), look.time_unit);
    let cells = |text: &dyn Fn(&LevelResult) -> String| rows.iter().map(|row| text(row)).collect::<Vec<_>>();
    let parts = |row: &LevelResult| {
        format!("{} + {}", scale.number(row.user_per_copy_s), scale.number(row.system_per_copy_s))
    };
    vec![
        Group::new(
            "work",
            vec![
                Column::new(format!("work {}", scale.name), cells(&|row| scale.number(row.work_per_copy_s))),
                Column::new("user + system", cells(&parts)),
            ],
        ),
        Group::new("share", vec![Column::new("share %", cells(&|row| digits(row.share * 100.0)))]),
        Group::new("throughput", vec![Column::new("copies/s", cells(&|row| count(row.throughput_per_s)))]),
    ]
}

fn latency_group(rows: &[&LevelResult], look: &Look) -> Group {
    let scale = Scale::choose(rows.iter().map(|row| row.latency_s.p50), look.time_unit);
    let column = |name: &str, value: &dyn Fn(&LevelResult) -> f64| {
        Column::new(name, rows.iter().map(|row| scale.number(value(row))).collect())
    };
    Group::new(
        "latency",
        vec![
            column(&format!("latency {} p50", scale.name), &|row| row.latency_s.p50),
            column("p95", &|row| row.latency_s.p95),
            column("p99", &|row| row.latency_s.p99),
        ],
    )
}

fn machine_groups(rows: &[&LevelResult], look: &Look) -> Vec<Group> {
    let cells = |text: &dyn Fn(&LevelResult) -> String| rows.iter().map(|row| text(row)).collect::<Vec<_>>();
    let bounds = rows.iter().filter_map(|row| row.bound).map(|bound| bound.makespan_s);
    let bound_scale = Scale::choose(bounds, look.time_unit);
    let bound =
        |row: &LevelResult, text: &dyn Fn(Bound) -> String| row.bound.map_or_else(|| ABSENT.to_owned(), text);
    let delay_scale = Scale::choose(rows.iter().filter_map(|row| row.run_delay_s), look.time_unit);
    let (memory, bytes) = memory_scale(rows.iter().map(|row| row.max_rss_bytes));
    // Bytes to a float loses digits only beyond 9 PB.
    let rss = |row: &LevelResult| digits(row.max_rss_bytes as f64 / bytes);
    let switches = |row: &LevelResult| {
        format!("{} + {}", count(row.voluntary_switches), count(row.involuntary_switches))
    };
    vec![
        Group::new(
            "bound and gap",
            vec![
                Column::new(
                    format!("bound {}", bound_scale.name),
                    cells(&|row| bound(row, &|b| bound_scale.number(b.makespan_s))),
                ),
                Column::new("gap", cells(&|row| bound(row, &|b| factor(b.gap)))),
            ],
        ),
        Group::new(
            "run-queue delay",
            vec![Column::new(
                format!("run-queue {}", delay_scale.name),
                cells(&|row| optional(row.run_delay_s, |delay| delay_scale.number(delay))),
            )],
        ),
        Group::new("memory", vec![Column::new(format!("max RSS {memory}"), cells(&rss))]),
        Group::new("switches", vec![Column::new("switches vol + invol", cells(&switches))]),
    ]
}

/// Load by alternatives: makespan, what the bound says, and the verdict.
pub fn summary_grid(record: &Record, names: &Names, look: &Look) -> Grid {
    let loads = loads(record);
    let level = |load: u32| record.analysis.levels.iter().find(|level| level.load == load);
    let medians = record.analysis.levels.iter().flat_map(|level| &level.results).map(|r| r.makespan_s.median);
    let scale = Scale::choose(medians, look.time_unit);
    let mut groups = Vec::new();
    for alternative in &record.plan.alternatives {
        let name = alternative.name.as_str();
        let result = |load: u32| level(load)?.results.iter().find(|result| result.alternative == name);
        let makespan = |load: &u32| match result(*load) {
            Some(result) if result.timed_out > 0 => format!(">= {}", scale.number(result.makespan_s.median)),
            Some(result) => scale.number(result.makespan_s.median),
            None => "not measured".to_owned(),
        };
        let bound = |load: &u32| {
            optional(result(*load).and_then(|r| r.bound).map(|b| b.makespan_s), |b| scale.number(b))
        };
        let comparison = |load: u32| level(load)?.comparisons.iter().find(|c| c.alternative == name);
        let verdict = |load: &u32| {
            comparison(*load).map_or_else(
                || ABSENT.to_owned(),
                |c| format!("{} {}", digits(c.ratio), verdict_word(c.verdict)),
            )
        };
        let header = format!("{} {}", names.show(name), scale.name);
        let mut columns = vec![
            Column::new(header, loads.iter().map(makespan).collect()),
            Column::new("bound", loads.iter().map(bound).collect()),
        ];
        if loads.iter().any(|load| comparison(*load).is_some()) {
            columns.push(Column::new("ratio, verdict", loads.iter().map(verdict).collect()));
        }
        groups.push(Group::new("more alternatives", columns));
    }
    let key = match record.plan.mode {
        Mode::Closed { .. } => "workers",
        Mode::Batch | Mode::Open { .. } => "copies",
    };
    Grid { key: Column::new(key, loads.iter().map(u32::to_string).collect()), groups }
}

/// The loads that were asked for or measured, rising.
pub fn loads(record: &Record) -> Vec<u32> {
    let asked = match &record.plan.loads {
        whyfaster_core::plan::Loads::Fixed(loads) => loads.as_slice(),
        whyfaster_core::plan::Loads::Auto => &[],
    };
    let mut loads: Vec<u32> =
        record.analysis.levels.iter().map(|level| level.load).chain(asked.iter().copied()).collect();
    loads.sort_unstable();
    loads.dedup();
    loads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::text::finish;

    fn grid() -> Grid {
        let column = |header: &str, cells: &[&str]| {
            Column::new(header, cells.iter().map(|cell| (*cell).to_owned()).collect())
        };
        Grid {
            key: column("who", &["a", "bb"]),
            groups: vec![
                Group::new(
                    "time",
                    vec![column("ms", &["1.5", "10"]), column("interval", &["1 to 2", "9 to 11"])],
                ),
                Group::new("cost", vec![column("cpu", &["100", "2"])]),
                Group::new("rest", vec![column("a very wide column", &["x", "y"])]),
            ],
        }
    }

    fn draw(columns: usize, blocks: usize) -> (Vec<String>, Vec<&'static str>) {
        let drawn = grid().draw(columns, blocks);
        (drawn.lines.iter().map(|line| finish(line, false)).collect(), drawn.left_out)
    }

    #[test]
    fn a_wide_screen_gets_all_in_one_block() {
        let (lines, left_out) = draw(80, 2);
        assert_eq!(
            lines,
            [
                "  who   ms  interval  cpu  a very wide column",
                "  a    1.5    1 to 2  100                   x",
                "  bb    10   9 to 11    2                   y",
            ]
        );
        assert!(left_out.is_empty());
    }

    #[test]
    fn a_narrow_screen_gets_blocks_and_is_told_what_is_left_out() {
        let (lines, left_out) = draw(24, 2);
        assert_eq!(
            lines,
            [
                "  who   ms  interval",
                "  a    1.5    1 to 2",
                "  bb    10   9 to 11",
                "  who  cpu",
                "  a    100",
                "  bb     2",
            ]
        );
        assert_eq!(left_out, ["rest"]);
        assert_eq!(draw(24, 1).1, ["cost", "rest"]);
    }

    #[test]
    fn the_most_important_group_is_shown_whatever_the_width() {
        let (lines, left_out) = draw(5, 2);
        assert_eq!(lines[0], "  who   ms  interval");
        assert_eq!(left_out, ["cost", "rest"]);
    }

    #[test]
    fn intervals_say_what_is_open() {
        assert_eq!(interval(Some(1.0), Some(2.0), digits), "1.00 to 2.00");
        assert_eq!(interval(Some(1.0), None, digits), "from 1.00");
        assert_eq!(interval(None, None, digits), "-");
    }
}
