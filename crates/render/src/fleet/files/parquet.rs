//! A table as Parquet: columns with types, compressed by gzip.
//!
//! The crate `parquet` would make the program 0.9 MB larger, which is copied to every machine of a fleet; it reads what is written here in
//! the tests. Of the format this is what a table needs: a group of rows has one page a column, with plain values.
//! The layout of the file is in <https://parquet.apache.org/docs/file-format/>, the numbers of fields, types and encodings in
//! <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use std::io::Write;

use anyhow::Context;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::rows::{Cell, Column, Kind, Rows};

/// Begins and ends every file.
const MAGIC: &[u8] = b"PAR1";

/// Rows that are held until they are written as one group, so many.
const GROUP: usize = 100_000;

/// Or fewer, whose values of a column take so many bytes: the size of a page has 31 bits, and commands may be long.
const PAGE: usize = 16 << 20;

/// A file that is being written, and the rows that are not yet in it.
pub(super) struct Parquet {
    columns: &'static [Column],
    held: Vec<Held>,
    rows: usize,
    bytes: Vec<u8>,
    /// Of the groups that are written: `RowGroup`.
    groups: Vec<Vec<u8>>,
    all_rows: usize,
}

/// The rows of a column that are held.
#[derive(Debug, Default)]
struct Held {
    /// Of each row, whether its value is known. A text always is, and has none.
    known: Bits,
    /// The known values, one behind the other; of flags see below.
    values: Vec<u8>,
    flags: Bits,
}

impl Parquet {
    /// An empty file.
    pub(super) fn new(columns: &'static [Column]) -> Self {
        let held = columns.iter().map(|_| Held::default()).collect();
        Self { columns, held, rows: 0, bytes: MAGIC.to_vec(), groups: Vec::new(), all_rows: 0 }
    }

    /// Writes what is held as one group of rows.
    fn write_group(&mut self) -> anyhow::Result<()> {
        let rows = self.rows;
        let mut chunks = Vec::new();
        let mut sizes = 0;
        for ((name, kind), held) in self.columns.iter().zip(&mut self.held) {
            let page = std::mem::take(held).page(*kind)?;
            let compressed = gzip(&page)?;
            let header = page_header(rows, page.len(), compressed.len());
            let starts = self.bytes.len();
            let chunk = Struct::new()
                .i32(1, kind.physical())
                .list(2, I32, &[zigzag(RLE), zigzag(PLAIN)])
                .list(3, BINARY, &[binary(name)])
                .i32(4, GZIP)
                .i64(5, rows)
                .i64(6, header.len() + page.len())
                .i64(7, header.len() + compressed.len())
                .i64(9, starts);
            chunks.push(Struct::new().i64(2, starts).structure(3, chunk).end());
            sizes += header.len() + page.len();
            self.bytes.extend(header);
            self.bytes.extend(compressed);
        }
        self.groups.push(Struct::new().list(1, STRUCT, &chunks).i64(2, sizes).i64(3, rows).end());
        self.all_rows += rows;
        self.rows = 0;
        Ok(())
    }

    /// `FileMetaData`, the last part of a file.
    fn footer(&self) -> Vec<u8> {
        let root = Struct::new().binary(4, "rows").i32(5, self.columns.len() as i32).end();
        let columns = self.columns.iter().map(|(name, kind)| kind.described_as(name));
        let schema: Vec<Vec<u8>> = std::iter::once(root).chain(columns).collect();
        Struct::new()
            .i32(1, VERSION)
            .list(2, STRUCT, &schema)
            .i64(3, self.all_rows)
            .list(4, STRUCT, &self.groups)
            .binary(6, &format!("whyfaster version {}", env!("CARGO_PKG_VERSION")))
            .end()
    }
}

impl Rows for Parquet {
    fn row(&mut self, cells: &[Cell<'_>]) -> anyhow::Result<()> {
        anyhow::ensure!(cells.len() == self.columns.len(), "{} cells in {:?}", cells.len(), self.columns);
        for (((name, kind), held), cell) in self.columns.iter().zip(&mut self.held).zip(cells) {
            held.hold(*kind, *cell).with_context(|| format!("in the column '{name}'"))?;
        }
        self.rows += 1;
        let full = self.rows == GROUP || self.held.iter().any(|it| it.values.len() >= PAGE);
        if full { self.write_group() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> anyhow::Result<Vec<u8>> {
        if self.rows > 0 {
            self.write_group()?;
        }
        let footer = self.footer();
        self.bytes.extend(&footer);
        self.bytes.extend(u32::try_from(footer.len())?.to_le_bytes());
        self.bytes.extend(MAGIC);
        Ok(self.bytes)
    }
}

impl Held {
    fn hold(&mut self, kind: Kind, cell: Cell<'_>) -> anyhow::Result<()> {
        match (kind, cell) {
            (Kind::Text, Cell::Text(text)) => {
                self.values.extend(u32::try_from(text.len())?.to_le_bytes());
                self.values.extend(text.as_bytes());
            }
            (Kind::Real, Cell::Real(real)) => {
                self.known.push(real.is_some());
                self.values.extend(real.into_iter().flat_map(f64::to_le_bytes));
            }
            (Kind::Count, Cell::Count(count)) => {
                self.known.push(count.is_some());
                let count = count.map(i64::try_from).transpose()?;
                self.values.extend(count.into_iter().flat_map(i64::to_le_bytes));
            }
            (Kind::Flag, Cell::Flag(flag)) => {
                self.known.push(flag.is_some());
                flag.into_iter().for_each(|it| self.flags.push(it));
            }
            (kind, cell) => anyhow::bail!("{cell:?} is no {kind:?}"),
        }
        Ok(())
    }

    /// The bytes of a page, before they are compressed: which values are known, then these.
    fn page(self, kind: Kind) -> anyhow::Result<Vec<u8>> {
        let mut page = Vec::new();
        if kind.may_be_unknown() {
            // One run of bits, whose length is told in groups of eight with a last bit that tells it from a run of one value.
            let mut run = varint(((self.known.bytes.len() as u64) << 1) | 1);
            run.extend(&self.known.bytes);
            page.extend(u32::try_from(run.len())?.to_le_bytes());
            page.extend(run);
        }
        page.extend(self.values);
        page.extend(self.flags.bytes);
        Ok(page)
    }
}

/// Bits, the lowest of a byte first.
#[derive(Debug, Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        let at = self.count % 8;
        match self.bytes.last_mut() {
            Some(last) if at > 0 => *last |= u8::from(bit) << at,
            _ => self.bytes.push(bit.into()),
        }
        self.count += 1;
    }
}

fn gzip(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Of the format: what all readers understand.
const VERSION: i32 = 1;
/// `Encoding`: of values.
const PLAIN: i32 = 0;
/// `Encoding`: of what is known.
const RLE: i32 = 3;
/// `CompressionCodec`
const GZIP: i32 = 2;
/// `PageType`
const DATA_PAGE: i32 = 0;
/// `FieldRepetitionType`
const REQUIRED: i32 = 0;
/// `FieldRepetitionType`
const OPTIONAL: i32 = 1;
/// `ConvertedType`, for readers that are older than the logical types.
const UTF8: i32 = 0;

impl Kind {
    fn may_be_unknown(self) -> bool {
        self != Self::Text
    }

    /// `Type`
    fn physical(self) -> i32 {
        match self {
            Self::Flag => 0,
            Self::Count => 2,
            Self::Real => 5,
            Self::Text => 6,
        }
    }

    /// `SchemaElement`
    fn described_as(self, name: &str) -> Vec<u8> {
        let repetition = if self.may_be_unknown() { OPTIONAL } else { REQUIRED };
        let element = Struct::new().i32(1, self.physical()).i32(3, repetition).binary(4, name);
        match self {
            // The logical type is a union, of which the first is the text.
            Self::Text => element.i32(6, UTF8).structure(10, Struct::new().structure(1, Struct::new())),
            Self::Real | Self::Count | Self::Flag => element,
        }
        .end()
    }
}

/// `PageHeader`
fn page_header(rows: usize, size: usize, compressed: usize) -> Vec<u8> {
    let data = Struct::new().i32(1, rows as i32).i32(2, PLAIN).i32(3, RLE).i32(4, RLE);
    Struct::new().i32(1, DATA_PAGE).i32(2, size as i32).i32(3, compressed as i32).structure(5, data).end()
}

/// A structure in Thrift's compact protocol, by which Parquet describes itself; fields come in the order of their numbers.
/// <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>
struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Struct {
    fn new() -> Self {
        Self { bytes: Vec::new(), last: 0 }
    }

    /// A field is told by how much its number is above that of the one before, up to 15, and its type.
    fn field(mut self, number: u8, kind: u8, value: &[u8]) -> Self {
        self.bytes.push(((number - self.last) << 4) | kind);
        self.bytes.extend(value);
        self.last = number;
        self
    }

    fn i32(self, number: u8, value: i32) -> Self {
        self.field(number, I32, &zigzag(value))
    }

    fn i64(self, number: u8, value: usize) -> Self {
        self.field(number, I64, &zigzag(value as i64))
    }

    fn binary(self, number: u8, text: &str) -> Self {
        self.field(number, BINARY, &binary(text))
    }

    fn structure(self, number: u8, inner: Self) -> Self {
        self.field(number, STRUCT, &inner.end())
    }

    fn list(self, number: u8, kind: u8, items: &[Vec<u8>]) -> Self {
        let mut list = match items.len() {
            few @ 0..15 => vec![((few as u8) << 4) | kind],
            many => [vec![0xF0 | kind], varint(many as u64)].concat(),
        };
        list.extend(items.iter().flatten());
        self.field(number, LIST, &list)
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn binary(text: &str) -> Vec<u8> {
    let mut bytes = varint(text.len() as u64);
    bytes.extend(text.as_bytes());
    bytes
}

/// Small numbers of either sign become small ones without.
fn zigzag(value: impl Into<i64>) -> Vec<u8> {
    let value = value.into();
    varint(((value << 1) ^ (value >> 63)) as u64)
}

/// Seven bits a byte, the lowest first; the eighth says that more follow.
fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7F {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    const COLUMNS: &[Column] =
        &[("name", Kind::Text), ("ns", Kind::Real), ("machines", Kind::Count), ("changed", Kind::Flag)];

    /// A table in which of three rows one is not known, and every seventh text the same.
    fn file(rows: usize) -> Vec<u8> {
        let mut table = Box::new(Parquet::new(COLUMNS));
        for at in 0..rows {
            let known = at % 3 != 0;
            let name = format!("Zeile – {}", at % 7);
            let cells = [
                Cell::Text(&name),
                Cell::Real(known.then_some(-0.5 - at as f64)),
                Cell::Count(known.then_some(at)),
                Cell::Flag(known.then_some(at % 2 == 0)),
            ];
            table.row(&cells).unwrap();
        }
        table.finish().unwrap()
    }

    #[test]
    fn another_reader_finds_every_row() {
        for rows in [0, 1, 7, 8, 9, GROUP, GROUP + 4] {
            let reader = SerializedFileReader::new(bytes::Bytes::from(file(rows))).unwrap();
            assert_eq!(reader.num_row_groups(), rows.div_ceil(GROUP), "{rows} rows");
            let read: Vec<String> =
                reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
            assert_eq!(read.len(), rows);
            for (at, read) in read.iter().enumerate() {
                let known = |text: String| if at % 3 == 0 { "null".to_owned() } else { text };
                let expected = format!(
                    "{{name: \"Zeile – {}\", ns: {}, machines: {}, changed: {}}}",
                    at % 7,
                    known(format!("{:E}", -0.5 - at as f64)),
                    known(at.to_string()),
                    known((at % 2 == 0).to_string())
                );
                assert_eq!(*read, expected);
            }
        }
    }

    #[test]
    fn long_texts_make_a_group_full_before_its_rows_do() {
        let mut table = Box::new(Parquet::new(&[("command", Kind::Text)]));
        let long = "x".repeat(PAGE / 2);
        (0..3).for_each(|_| table.row(&[Cell::Text(&long)]).unwrap());
        let reader = SerializedFileReader::new(bytes::Bytes::from(table.finish().unwrap())).unwrap();
        assert_eq!(reader.num_row_groups(), 2);
        let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string());
        assert!(rows.eq([(); 3].map(|()| format!("{{command: \"{long}\"}}"))));
    }

    #[test]
    fn a_list_of_more_than_fourteen_has_its_length_behind_its_type() {
        let columns: Vec<Column> =
            (0..200).map(|at| (&*format!("column {at}").leak(), Kind::Count)).collect();
        let mut table = Box::new(Parquet::new(columns.leak()));
        let cells: Vec<Cell<'_>> = (0..200).map(|at| Cell::Count(Some(at))).collect();
        table.row(&cells).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(table.finish().unwrap())).unwrap();
        let row = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
        let read: Vec<(String, String)> =
            row.get_column_iter().map(|(name, cell)| (name.clone(), cell.to_string())).collect();
        assert!(read.len() == 200 && read[199] == ("column 199".to_owned(), "199".to_owned()), "{read:?}");
    }

    #[test]
    fn the_columns_have_their_types() {
        let reader = SerializedFileReader::new(bytes::Bytes::from(file(1))).unwrap();
        let mut schema = Vec::new();
        parquet::schema::printer::print_schema(&mut schema, reader.metadata().file_metadata().schema());
        assert_eq!(
            String::from_utf8(schema).unwrap(),
            "message rows {\n  REQUIRED BYTE_ARRAY name (STRING);\n  OPTIONAL DOUBLE ns;\n  OPTIONAL INT64 machines;\n  OPTIONAL BOOLEAN changed;\n}\n"
        );
    }

    #[test]
    fn a_cell_of_another_kind_is_refused() {
        let mut table = Parquet::new(COLUMNS);
        assert!(
            table.row(&[Cell::Text(""), Cell::Count(None), Cell::Count(None), Cell::Flag(None)]).is_err()
        );
        assert!(table.row(&[Cell::Text("")]).is_err());
    }
}
