//! A file of SQLite.
//!
//! Writers write ahead into a log (WAL), so that readers and one writer do not wait for each other and a writer that is killed loses no more
//! than what it was writing. The log is flushed to disk when it is brought into the file and not at every commit: a machine that loses power
//! may lose the last records of a load, which can be loaded again, and no more.

use std::ffi::OsString;
use std::ffi::c_int;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::ptr;
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{fs, io};

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, ToSql, ffi, params_from_iter};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::super::place::{Directory, Place};
use super::address::rights;
use super::sql::{Cell, Dialect, Found, Sql, Table, Value};
use super::trouble::Trouble;

/// How long a writer waits for the others.
const PATIENCE: Duration = Duration::from_secs(60);

/// The file may be read, but its log cannot be made.
const READONLY_DIRECTORY: c_int = ffi::SQLITE_READONLY_DIRECTORY;

/// Between two attempts where SQLite does not wait by itself.
const PAUSE: Duration = Duration::from_millis(20);

/// "whyf": tells a store from other files of SQLite (`file` knows it as well).
const APPLICATION: i64 = 0x7768_7966;

/// Rows of one statement: with a statement a row, adding price lists takes 5% longer.
const TOGETHER: usize = 30;

struct Sqlite {
    connection: Connection,
}

/// Returns true if there is no such file. A directory that may not be searched is an error: the file may be there.
pub(super) fn is_absent(path: &Path) -> Result<bool, Trouble> {
    let exists = path.try_exists();
    exists.map(|it| !it).map_err(|error| Trouble::Other(format!("'{}': {error}", path.display())))
}

/// A file that is not there yet, in a directory that is held, or below one.
#[derive(Debug)]
pub struct Absent {
    directory: Directory,
    name: OsString,
    /// Rights of the file and of the directory.
    rights: (u32, u32),
}

impl Absent {
    /// Holds the place of a file. Changes nothing.
    pub(super) fn hold(path: &Path) -> io::Result<Self> {
        let directory = Directory::hold(path.parent().unwrap_or(Path::new("")))?;
        let rights = rights(path);
        if directory.is_there() {
            // The path may be a link.
            let Place { directory, name, .. } = Place::of(path)?;
            return Ok(Self { directory: Directory::of(directory), name, rights });
        }
        Ok(Self { directory, name: path.file_name().unwrap_or_default().to_owned(), rights })
    }

    /// Makes the file, and opens it by the path that its directory has now, on which there is no link.
    pub(super) fn make(&self) -> Result<Box<dyn Sql>, Trouble> {
        let made = || -> io::Result<PathBuf> {
            let directory = self.directory.make(self.rights.1)?;
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            // SQLite gives its log the rights of the file.
            match openat(&directory, &self.name, flags, Mode::from_raw_mode(self.rights.0)) {
                // Another writer made it.
                Err(Errno::EXIST) => {}
                made => drop(made?),
            }
            Ok(fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd()))?.join(&self.name))
        };
        let path = made().map_err(|error| Trouble::Other(error.to_string()))?;
        connect(&path, OpenFlags::SQLITE_OPEN_NOFOLLOW)
    }
}

/// Opens the file that is there.
pub(super) fn open(path: &Path) -> Result<Box<dyn Sql>, Trouble> {
    connect(path, OpenFlags::empty())
}

fn connect(path: &Path, links: OpenFlags) -> Result<Box<dyn Sql>, Trouble> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | links;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    distrust(&connection)?;
    // The log takes whole pages, and a record changes a row here and there: with small pages there is less to write, and the file is a fifth
    // smaller. The cache is what the upper part of a large index needs; all of it is searched whenever a page is split (in SQLite:
    // balance_nonroot, pcache1TruncateUnsafe).
    connection.pragma_update(None, "page_size", 4096)?;
    connection.pragma_update(None, "cache_size", -16_000)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Every 16 MiB the log is brought into the file: one of 256 MiB makes a load slower.
    connection.pragma_update(None, "wal_autocheckpoint", 4096)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(Box::new(Sqlite { connection }))
}

/// Whoever made the file decides what its tables do when they are used: nothing in it may run (<https://sqlite.org/security.html>).
fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    for (config, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(config, on)?;
    }
    connection.pragma_update(None, "cell_size_check", true)
}

/// Finds everything in a file beside the tables and indexes of a store. SQLite goes by the statement and not by the type, and begins each with
/// these words. A trigger that was there and did not run would be missed without a word.
const EXTRA: &str = "
    SELECT type || ' ' || name FROM sqlite_schema WHERE (
        type = 'table' AND sql LIKE 'CREATE TABLE %'
        OR type = 'index' AND (sql IS NULL OR sql LIKE 'CREATE INDEX %' OR sql LIKE 'CREATE UNIQUE INDEX %')
    ) IS NOT TRUE
    UNION ALL
    SELECT 'computed column ' || held.name || '.' || its.name FROM sqlite_schema held, pragma_table_xinfo(held.name) its
    WHERE held.type = 'table' AND its.hidden <> 0
    LIMIT 1";

impl Sqlite {
    /// Returns true if the file that is held no longer has the name under which it was opened: what is written to it would be lost.
    fn moved(&self) -> bool {
        let mut moved: c_int = 0;
        // SAFETY: the connection is open, and SQLite writes one int for this operation.
        let known = unsafe {
            let moved = (&raw mut moved).cast();
            ffi::sqlite3_file_control(
                self.connection.handle(),
                ptr::null(),
                ffi::SQLITE_FCNTL_HAS_MOVED,
                moved,
            )
        };
        known == ffi::SQLITE_OK && moved != 0
    }
}

impl Sql for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect {
            // As a server does, it gives no number twice: who repeats a `store remove` removes no other record.
            id: "INTEGER PRIMARY KEY AUTOINCREMENT",
            key: "INTEGER",
            bytes: "BLOB",
            packed: "",
            by_key: "WITHOUT ROWID",
            one_value: false,
            at_once: 1,
            writers: 1,
        }
    }

    fn found(&mut self) -> Result<Found, Trouble> {
        // In this order: another one may be making the tables, and gives them their mark with them.
        let tables: i64 =
            self.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let mark: i64 = self.connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        match (tables, mark) {
            (0, 0 | APPLICATION) => return Ok(Found::Nothing),
            (_, APPLICATION) => {}
            _ => return Ok(Found::Foreign),
        }
        let extra: Option<String> = self.connection.query_row(EXTRA, [], |row| row.get(0)).optional()?;
        extra.map_or(Ok(Found::Store), |it| {
            Err(Trouble::Other(format!("it holds what no whyfaster makes and what could run: {it}")))
        })
    }

    fn begin_alone(&mut self) -> Result<(), Trouble> {
        // Of the file itself, and kept in it; it cannot be set within a transaction. While another one sets it, SQLite does not wait
        // (sqlite3BtreeSetVersion).
        let began = Instant::now();
        while let Err(trouble) =
            self.connection.pragma_update(None, "journal_mode", "WAL").map_err(Trouble::from)
        {
            match trouble {
                Trouble::Busy if began.elapsed() < PATIENCE => sleep(PAUSE),
                other => return Err(other),
            }
        }
        self.begin()?;
        Ok(self.connection.pragma_update(None, "application_id", APPLICATION)?)
    }

    fn begin_shared(&mut self) -> Result<(), Trouble> {
        // Nobody else writes at all.
        self.begin()
    }

    fn begin_reading(&mut self) -> Result<(), Trouble> {
        self.run("BEGIN", &[]).map(drop)
    }

    fn begin(&mut self) -> Result<(), Trouble> {
        if self.moved() {
            return Err(Trouble::Moved);
        }
        // A transaction that begins as a reader could not become a writer once another one has written.
        self.run("BEGIN IMMEDIATE", &[]).map(drop)
    }

    fn commit(&mut self) -> Result<(), Trouble> {
        self.run("COMMIT", &[]).map(drop)
    }

    fn roll_back(&mut self) {
        // Some errors have done it already.
        let _ = self.script("ROLLBACK");
    }

    fn script(&mut self, statements: &str) -> Result<(), Trouble> {
        Ok(self.connection.execute_batch(statements)?)
    }

    fn run(&mut self, statement: &str, with: &[Value]) -> Result<u64, Trouble> {
        let mut prepared = self.connection.prepare_cached(statement)?;
        Ok(prepared.execute(params_from_iter(with))? as u64)
    }

    fn each(
        &mut self,
        statement: &str,
        with: &[Value],
        take: &mut dyn FnMut(&[Value]),
    ) -> Result<(), Trouble> {
        let mut prepared = self.connection.prepare_cached(statement)?;
        let columns = prepared.column_count();
        let mut values = vec![Value::Null; columns];
        let mut rows = prepared.query(params_from_iter(with))?;
        while let Some(row) = rows.next()? {
            for (at, value) in values.iter_mut().enumerate() {
                value.refill(cell(row.get_ref(at)?));
            }
            take(&values);
        }
        Ok(())
    }

    fn load(&mut self, table: &Table, pieces: &[&[Value]]) -> Result<(), Trouble> {
        let of_row = table.columns.len();
        for rows in pieces.iter().flat_map(|rows| rows.chunks(of_row * TOGETHER)) {
            // Two statements are enough for every number of rows, so that both stay prepared.
            let together = if rows.len() == of_row * TOGETHER { TOGETHER } else { 1 };
            let row = format!("({})", vec!["?"; of_row].join(", "));
            let places = vec![row.as_str(); together].join(", ");
            let columns = table.columns.join(", ");
            // What fails ends the transaction: to undo one statement of several rows alone, SQLite would keep a journal of each.
            let statement = format!("INSERT OR ROLLBACK INTO {} ({columns}) VALUES {places}", table.name);
            let mut prepared = self.connection.prepare_cached(&statement)?;
            for rows in rows.chunks(of_row * together) {
                prepared.execute(params_from_iter(rows))?;
            }
        }
        Ok(())
    }

    fn connect_again(&mut self) -> Result<(), Trouble> {
        // A file is not cut off.
        Ok(())
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(int) => ValueRef::Integer(*int),
            Self::Real(real) => ValueRef::Real(*real),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn cell(column: ValueRef<'_>) -> Cell<'_> {
    match column {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(int) => Cell::Int(int),
        ValueRef::Real(real) => Cell::Real(real),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes),
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::ReadOnly) if extended(&error) == Some(READONLY_DIRECTORY) => Self::Forbidden(
                "SQLite keeps its log beside the file, in a directory that you may not write to".to_owned(),
            ),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::Forbidden(error.to_string()),
            Some(ErrorCode::NotADatabase) => Self::Foreign,
            _ => match extended(&error) {
                // The log's index is made larger by other means than a file, and tells a full disk in another way.
                Some(IOERR_SHMSIZE) => Self::Full,
                // Of a full disk SQLite knows (unixWrite in os_unix.c).
                Some(IOERR_WRITE) => Self::Other(format!("{error}: a quota, a limit or a fault of the disk")),
                _ => Self::Other(error.to_string()),
            },
        }
    }
}

const IOERR_WRITE: c_int = rusqlite::ffi::SQLITE_IOERR_WRITE;
const IOERR_SHMSIZE: c_int = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

/// What it is in particular.
fn extended(error: &rusqlite::Error) -> Option<c_int> {
    error.sqlite_error().map(|it| it.extended_code)
}
