//! A table as comma-separated values, a line a row; what is not known is empty.

use ::csv::Writer;
use whyfaster_words::text::no_formula;

use super::rows::{Cell, Column, Rows};

/// A file that is being written.
pub(super) struct Csv(Writer<Vec<u8>>);

impl Csv {
    /// A file with the line of names.
    pub(super) fn new(columns: &[Column]) -> anyhow::Result<Self> {
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
                // Machines and rows are called what somebody else chose.
                Cell::Text(text) => self.0.write_field(no_formula(text))?,
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
    use super::super::rows::Kind;
    use super::*;

    #[test]
    fn a_line_a_row() {
        let columns = [("name", Kind::Text), ("ns", Kind::Real), ("changed", Kind::Flag)];
        let mut table = Box::new(Csv::new(&columns).unwrap());
        table.row(&[Cell::Text("row, 0"), Cell::Real(None), Cell::Flag(None)]).unwrap();
        table.row(&[Cell::Text("row, 1"), Cell::Real(Some(-0.125)), Cell::Flag(Some(false))]).unwrap();
        table.row(&[Cell::Text("=1+1"), Cell::Real(None), Cell::Flag(None)]).unwrap();
        let text = String::from_utf8(table.finish().unwrap()).unwrap();
        assert_eq!(text, "name,ns,changed\n\"row, 0\",,\n\"row, 1\",-0.125,false\n'=1+1,,\n");
    }
}
