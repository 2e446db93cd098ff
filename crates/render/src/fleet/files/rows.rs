//! What tables consist of. They are written row by row, so that one of a million rows is never held as a whole beside the file that is made of it.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Real,
    Count,
    Flag,
}

/// A column: its name, and what it holds.
pub(super) type Column = (&'static str, Kind);

/// What stands in a row of a column. A text is always known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    Text(&'a str),
    Real(Option<f64>),
    Count(Option<usize>),
    Flag(Option<bool>),
}

/// A file that takes rows.
pub(super) trait Rows {
    /// One more, with a cell for every column.
    fn row(&mut self, cells: &[Cell<'_>]) -> anyhow::Result<()>;

    /// The bytes of the file.
    fn finish(self: Box<Self>) -> anyhow::Result<Vec<u8>>;
}
