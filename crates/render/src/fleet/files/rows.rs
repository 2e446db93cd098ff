//! The files that a table can be written as: comma-separated values for spreadsheets, and Parquet for databases, whose columns have types.
//!
//! A table is written row by row, so that one of a million rows is never held as a whole beside the file that is made of it.

use ::csv::Writer;

use super::parquet::Parquet;

/// What a table is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line a row. What is not known is empty.
    Csv,
    /// Columns with types. What is not known is null.
    Parquet,
}

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

impl Format {
    /// An empty table with these columns.
    pub(super) fn table(self, columns: &'static [Column]) -> anyhow::Result<Box<dyn Rows>> {
        Ok(match self {
            Self::Csv => Box::new(Csv::new(columns)?),
            Self::Parquet => Box::new(Parquet::new(columns)),
        })
    }
}

struct Csv(Writer<Vec<u8>>);

impl Csv {
    fn new(columns: &[Column]) -> anyhow::Result<Self> {
        let mut writer = Writer::from_writer(Vec::new());
        writer.write_record(columns.iter().map(|(name, _)| name))?;
        Ok(Self(writer))
    }
}

impl Rows for Csv {
    fn row(&mut self, cells: &[Cell<'_>]) -> anyhow::Result<()> {
        fn known<T: ToString>(value: Option<T>) -> String {
            value.map_or_else(String::new, |it| it.to_string())
        }
        for cell in cells {
            match *cell {
                Cell::Text(text) => self.0.write_field(text)?,
                Cell::Real(real) => self.0.write_field(known(real))?,
                Cell::Count(count) => self.0.write_field(known(count))?,
                Cell::Flag(flag) => self.0.write_field(known(flag))?,
            }
        }
        Ok(self.0.write_record(None::<&[u8]>)?)
    }

    fn finish(self: Box<Self>) -> anyhow::Result<Vec<u8>> {
        Ok(self.0.into_inner()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_a_row() {
        let mut table =
            Format::Csv.table(&[("name", Kind::Text), ("ns", Kind::Real), ("changed", Kind::Flag)]).unwrap();
        table.row(&[Cell::Text("row, 0"), Cell::Real(None), Cell::Flag(None)]).unwrap();
        table.row(&[Cell::Text("row, 1"), Cell::Real(Some(0.125)), Cell::Flag(Some(false))]).unwrap();
        let text = String::from_utf8(table.finish().unwrap()).unwrap();
        assert_eq!(text, "name,ns,changed\n\"row, 0\",,\n\"row, 1\",0.125,false\n");
    }
}
