//! What the store asks of a database. Statements keep to what both SQLite and PostgreSQL understand. Parameters are `$1`, `$2` in the order in
//! which they first occur; a column of numbers is BIGINT or DOUBLE PRECISION, so that a value tells its own type.

use std::borrow::Cow;

use super::trouble::Trouble;

/// What stands in a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Value {
    pub(super) fn int(&self) -> Option<i64> {
        if let Self::Int(int) = self { Some(*int) } else { None }
    }

    pub(super) fn real(&self) -> Option<f64> {
        if let Self::Real(real) = self { Some(*real) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Takes what a column holds in the place of what it held in the row before: reports read millions of rows.
    pub(super) fn refill(&mut self, cell: Cell<'_>) {
        *self = match (cell, &mut *self) {
            (Cell::Text(text), Self::Text(before)) => {
                before.clear();
                before.push_str(&text);
                return;
            }
            (Cell::Text(text), _) => Self::Text(text.into_owned()),
            (Cell::Null, _) => Self::Null,
            (Cell::Int(int), _) => Self::Int(int),
            (Cell::Real(real), _) => Self::Real(real),
            (Cell::Bytes(bytes), _) => Self::Bytes(bytes.to_vec()),
        };
    }
}

/// The same as the database lends it.
#[derive(Clone, Debug)]
pub(super) enum Cell<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(Cow<'a, str>),
    Bytes(&'a [u8]),
}

impl From<i64> for Value {
    fn from(int: i64) -> Self {
        Self::Int(int)
    }
}

impl From<u32> for Value {
    fn from(int: u32) -> Self {
        Self::Int(int.into())
    }
}

/// Counts that no machine reaches are written as the largest number that there is.
impl From<u64> for Value {
    fn from(int: u64) -> Self {
        Self::Int(i64::try_from(int).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value {
    fn from(int: usize) -> Self {
        Self::from(int as u64)
    }
}

/// What is no number (a ratio of 0 by 0) is nothing that can be compared.
impl From<f64> for Value {
    fn from(real: f64) -> Self {
        if real.is_nan() { Self::Null } else { Self::Real(real) }
    }
}

/// A text of PostgreSQL holds no NUL, and a command holds none either.
pub(super) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(storable(text))
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A table that rows are loaded into, and its columns in their order.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: &'static [&'static str],
}

impl Table {
    /// A column of rows of this table, if it has that one.
    pub(super) fn column_of<'a>(
        &self,
        name: &str,
        rows: &'a mut [Value],
    ) -> impl Iterator<Item = &'a mut Value> {
        let (width, at) = (self.columns.len(), self.columns.iter().position(|it| *it == name));
        rows.chunks_mut(width).filter_map(move |row| row.get_mut(at?))
    }
}

/// What each database calls by a name of its own, and what it gains by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// The type of a number that the database gives every new row.
    pub(super) id: &'static str,
    /// The type of a number by which the rows of a table lie.
    pub(super) key: &'static str,
    pub(super) bytes: &'static str,
    /// A statement behind the table of documents, which are packed.
    pub(super) packed: &'static str,
    /// What stands behind a table whose rows lie in the order of their key.
    pub(super) by_key: &'static str,
    /// Whether many rows come sooner as the bytes of one value: a server sends each row by itself.
    pub(super) one_value: bool,
    /// Records that are written in one transaction: more where each costs a round trip to disk or to a server.
    pub(super) at_once: usize,
    /// Connections that write at once, where there are many records.
    pub(super) writers: usize,
}

/// What a database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    Store,
    /// Tables of somebody else.
    Foreign,
}

/// A connection to a database.
pub(super) trait Sql: Send {
    fn dialect(&self) -> Dialect;

    /// What there is.
    fn found(&mut self) -> Result<Found, Trouble>;

    /// Begins a transaction in which nobody else changes the tables that the store is made of.
    fn begin_alone(&mut self) -> Result<(), Trouble>;

    /// Begins a transaction in which nobody else makes rows that records share.
    fn begin_shared(&mut self) -> Result<(), Trouble>;

    /// Begins a transaction that reads: it sees one state of the store, whoever writes meanwhile.
    fn begin_reading(&mut self) -> Result<(), Trouble>;

    /// Begins a transaction that writes.
    fn begin(&mut self) -> Result<(), Trouble>;

    /// Ends it. What was written is kept from here on, whatever happens to this program.
    fn commit(&mut self) -> Result<(), Trouble>;

    /// Gives it up.
    fn roll_back(&mut self);

    /// Runs several statements.
    fn script(&mut self, statements: &str) -> Result<(), Trouble>;

    /// Runs a statement, and gives the number of rows that it changed.
    fn run(&mut self, statement: &str, with: &[Value]) -> Result<u64, Trouble>;

    /// Gives every row of the answer to `take`.
    fn each(
        &mut self,
        statement: &str,
        with: &[Value],
        take: &mut dyn FnMut(&[Value]),
    ) -> Result<(), Trouble>;

    /// Adds rows to a table: their values, one row after the other, in as many pieces as they come.
    fn load(&mut self, table: &Table, pieces: &[&[Value]]) -> Result<(), Trouble>;

    /// Connects again after the connection broke; waits for a server that is about to be there.
    fn connect_again(&mut self) -> Result<(), Trouble>;
}

/// The places of the values of so many rows in a statement: `($1, $2), ($3, $4)`.
pub(super) fn places(columns: usize, rows: usize) -> String {
    let row = |row: usize| {
        let each: Vec<String> = (1..=columns).map(|at| format!("${}", row * columns + at)).collect();
        format!("({})", each.join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}

/// The first column of the first row of an answer, a number.
pub(super) fn number(sql: &mut dyn Sql, statement: &str, with: &[Value]) -> Result<Option<i64>, Trouble> {
    let mut found = None;
    sql.each(statement, with, &mut |row| found = found.or(row[0].int()))?;
    Ok(found)
}
