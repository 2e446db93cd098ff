//! Tables of any content: columns packed into blocks that fit the width, the most important first.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::text::{Tone, tone, width};

/// What stands for a value that is not there. A note below the tables explains it.
pub const ABSENT: &str = "-";
/// A value in words, or what stands for one that is not there.
pub fn or_absent<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| ABSENT.to_owned(), text)
}

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

    /// A column of these rows.
    pub fn of<T>(header: impl Into<String>, rows: &[T], cell: impl Fn(&T) -> String) -> Self {
        Self::new(header, rows.iter().map(cell).collect())
    }

    /// What stands above the cells.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The cells, one a row.
    pub fn cells(&self) -> &[String] {
        &self.cells
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

    /// A group of one column of these rows, called by its header.
    pub fn of<T>(header: &'static str, rows: &[T], cell: impl Fn(&T) -> String) -> Self {
        Self::new(header, vec![Column::of(header, rows, cell)])
    }

    /// The same with a unit in the header.
    pub fn in_unit<T>(header: &'static str, unit: &str, rows: &[T], cell: impl Fn(&T) -> String) -> Self {
        Self::new(header, vec![Column::of(format!("{header} {unit}"), rows, cell)])
    }

    /// How it is called.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn width(&self) -> usize {
        self.columns.iter().map(|column| column.width() + GAP).sum()
    }

    fn says_nothing(&self) -> bool {
        self.columns.iter().flat_map(|column| &column.cells).all(|cell| cell == ABSENT)
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
    /// A value of those that were not is not there.
    pub absent: bool,
}

impl Grid {
    /// The grid without groups that hold no value at all: what is missing is explained elsewhere.
    #[must_use]
    pub fn with_values(mut self) -> Self {
        self.groups.retain(|group| !group.says_nothing());
        self
    }

    /// Draws at most `blocks` tables below each other, each at most `columns` wide and beginning with the key.
    pub fn draw(&self, columns: usize, blocks: usize) -> Drawn {
        let room = columns.saturating_sub(MARGIN + self.key.width());
        let mut used: Vec<(usize, Vec<&Column>)> = vec![(0, Vec::new()); blocks.max(1)];
        let mut drawn = Drawn::default();
        for (index, group) in self.groups.iter().enumerate() {
            let wide = group.width();
            let slot = used.iter_mut().find(|(taken, _)| taken.saturating_add(wide) <= room);
            match slot {
                Some((taken, columns)) => {
                    *taken += wide;
                    columns.extend(&group.columns);
                }
                // The first column of the most important group is shown whatever the width.
                None if index == 0 => used[0] = (room, group.columns.iter().take(1).collect()),
                None => drawn.left_out.push(group.name),
            }
        }
        for (_, columns) in used.iter().filter(|(_, columns)| !columns.is_empty()) {
            drawn.absent |= columns.iter().flat_map(|column| &column.cells).any(|cell| cell == ABSENT);
            drawn.lines.extend(self.block(columns));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::finish;

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
        assert_eq!(lines[0], "  who   ms");
        assert_eq!(left_out, ["cost", "rest"]);
    }
}
