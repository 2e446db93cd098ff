//! The files that a table can be written as: comma-separated values for spreadsheets, and Parquet for databases, whose columns have types.
//!
//! A table is written row by row, so that one of a million rows is never held as a whole beside the file that is made of it.

use ::csv::Writer;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

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
            Self::Parquet => Box::new(Parquet::new(columns)?),
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

/// Rows that are held until they are written, so many.
const GROUP: usize = 100_000;

struct Parquet {
    writer: SerializedFileWriter<Vec<u8>>,
    held: Vec<Held>,
    rows: usize,
}

/// The rows of a column that are not yet written: the values that are known and, of every row, whether it has one.
enum Held {
    Text(Vec<ByteArray>),
    Real(Vec<f64>, Vec<i16>),
    Count(Vec<i64>, Vec<i16>),
    Flag(Vec<bool>, Vec<i16>),
}

impl Parquet {
    fn new(columns: &[Column]) -> anyhow::Result<Self> {
        let fields = columns.iter().map(|(name, kind)| match kind {
            Kind::Text => format!("required binary {name} (STRING);"),
            Kind::Real => format!("optional double {name};"),
            Kind::Count => format!("optional int64 {name};"),
            Kind::Flag => format!("optional boolean {name};"),
        });
        let schema = parse_message_type(&format!("message rows {{ {} }}", fields.collect::<String>()))?;
        let by = format!("whyfaster {}", env!("CARGO_PKG_VERSION"));
        let properties = WriterProperties::builder().set_created_by(by).build();
        let writer = SerializedFileWriter::new(Vec::new(), schema.into(), properties.into())?;
        let held = columns.iter().map(|(_, kind)| match kind {
            Kind::Text => Held::Text(Vec::new()),
            Kind::Real => Held::Real(Vec::new(), Vec::new()),
            Kind::Count => Held::Count(Vec::new(), Vec::new()),
            Kind::Flag => Held::Flag(Vec::new(), Vec::new()),
        });
        Ok(Self { writer, held: held.collect(), rows: 0 })
    }

    /// Writes what is held as one group of rows.
    fn write(&mut self) -> anyhow::Result<()> {
        let mut group = self.writer.next_row_group()?;
        for held in &mut self.held {
            let Some(column) = group.next_column()? else { break };
            held.write(column)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl Rows for Parquet {
    fn row(&mut self, cells: &[Cell<'_>]) -> anyhow::Result<()> {
        fn hold<T>(value: Option<T>, values: &mut Vec<T>, known: &mut Vec<i16>) {
            known.push(value.is_some().into());
            values.extend(value);
        }
        for (held, cell) in self.held.iter_mut().zip(cells) {
            match (held, *cell) {
                (Held::Text(texts), Cell::Text(text)) => texts.push(text.into()),
                (Held::Real(reals, known), Cell::Real(real)) => hold(real, reals, known),
                (Held::Count(counts, known), Cell::Count(count)) => {
                    hold(count.map(i64::try_from).transpose()?, counts, known);
                }
                (Held::Flag(flags, known), Cell::Flag(flag)) => hold(flag, flags, known),
                (_, cell) => anyhow::bail!("{cell:?} stands in a column of another kind"),
            }
        }
        self.rows += 1;
        if self.rows == GROUP { self.write() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> anyhow::Result<Vec<u8>> {
        if self.rows > 0 {
            self.write()?;
        }
        Ok(self.writer.into_inner()?)
    }
}

impl Held {
    /// Writes these rows and forgets them.
    fn write(&mut self, mut column: SerializedColumnWriter<'_>) -> anyhow::Result<()> {
        fn all<T: DataType>(
            column: &mut SerializedColumnWriter<'_>,
            values: &mut Vec<T::T>,
            known: Option<&mut Vec<i16>>,
        ) -> anyhow::Result<()> {
            column.typed::<T>().write_batch(values, known.as_deref().map(Vec::as_slice), None)?;
            values.clear();
            known.into_iter().for_each(Vec::clear);
            Ok(())
        }
        match self {
            Self::Text(texts) => all::<ByteArrayType>(&mut column, texts, None)?,
            Self::Real(reals, known) => all::<DoubleType>(&mut column, reals, Some(known))?,
            Self::Count(counts, known) => all::<Int64Type>(&mut column, counts, Some(known))?,
            Self::Flag(flags, known) => all::<BoolType>(&mut column, flags, Some(known))?,
        }
        Ok(column.close()?)
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    const COLUMNS: &[Column] =
        &[("name", Kind::Text), ("ns", Kind::Real), ("machines", Kind::Count), ("changed", Kind::Flag)];

    fn file(format: Format, rows: usize) -> Vec<u8> {
        let mut table = format.table(COLUMNS).unwrap();
        for at in 0..rows {
            let known = at % 3 != 0;
            let name = format!("row, {}", at % 7);
            let ns = known.then_some(at as f64 / 8.0);
            let cells = [
                Cell::Text(&name),
                Cell::Real(ns),
                Cell::Count(known.then_some(at)),
                Cell::Flag(known.then_some(at % 2 == 0)),
            ];
            table.row(&cells).unwrap();
        }
        table.finish().unwrap()
    }

    #[test]
    fn a_line_a_row() {
        let text = String::from_utf8(file(Format::Csv, 2)).unwrap();
        assert_eq!(text, "name,ns,machines,changed\n\"row, 0\",,,\n\"row, 1\",0.125,1,false\n");
    }

    #[test]
    fn what_is_written_as_parquet_is_read_again() {
        for rows in [0, 1, GROUP, GROUP + 4] {
            let reader = SerializedFileReader::new(bytes::Bytes::from(file(Format::Parquet, rows))).unwrap();
            assert_eq!(reader.num_row_groups(), rows.div_ceil(GROUP), "{rows} rows");
            let read: Vec<String> =
                reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
            assert_eq!(read.len(), rows);
            let last = match rows {
                0 => continue,
                1 => "{name: \"row, 0\", ns: null, machines: null, changed: null}".to_owned(),
                rows => {
                    let at = rows - 1;
                    let known = at % 3 != 0;
                    let or_null = |text: String| if known { text } else { "null".to_owned() };
                    format!(
                        "{{name: \"row, {}\", ns: {}, machines: {}, changed: {}}}",
                        at % 7,
                        or_null(format!("{:?}", at as f64 / 8.0)),
                        or_null(at.to_string()),
                        or_null((at % 2 == 0).to_string())
                    )
                }
            };
            assert_eq!(read[rows - 1], last);
        }
    }

    #[test]
    fn a_cell_of_another_kind_is_refused() {
        let mut table = Format::Parquet.table(COLUMNS).unwrap();
        assert!(table.row(&[Cell::Real(None)]).is_err());
    }
}
