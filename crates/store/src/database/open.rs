//! Opening a store, of either kind.

use std::fmt;
use std::path::{Path, PathBuf};

use whyfaster_words::exit::Failure;

use super::super::atomic::OutputFile;
use super::address::Address;
use super::known::Known;
use super::sql::Sql;
use super::sqlite::Absent;
use super::trouble::Trouble;
use super::{schema, server, sqlite};

/// A store that is open.
pub struct Database {
    pub(super) sql: Box<dyn Sql>,
    address: Address,
    pub(super) known: Known,
    /// The label that was asked for last of the state that is read, and between which numbers its records lie, if no others do.
    pub(super) label: Option<(String, Option<[i64; 2]>)>,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Database {
    /// Opens a store to read it. One that is not there is an error.
    pub fn open(address: &Address) -> Result<Self, Failure> {
        let sql = match address {
            Address::File(path) => match sqlite::is_absent(path) {
                Ok(true) => Err(Trouble::Absent),
                absent => absent.and_then(|_| sqlite::open(path)),
            },
            Address::Server(named) => server::open(named),
        };
        Self::of(address, sql, false)
    }

    /// Opens a store to write to it, and makes it if there is none.
    ///
    /// # Errors
    /// Records cannot be added to it, with the reason and the next step.
    pub fn open_or_make(address: &Address) -> Result<Self, Failure> {
        HeldStore::of(address)?.open(address)
    }

    fn of(address: &Address, opened: Result<Box<dyn Sql>, Trouble>, make: bool) -> Result<Self, Failure> {
        let ready = opened.and_then(|mut sql| {
            schema::bring_up(sql.as_mut(), make)?;
            if make {
                may_write(sql.as_mut())?;
            }
            Ok(sql)
        });
        let sql = ready.map_err(|trouble| trouble.told(address))?;
        Ok(Self { sql, address: address.clone(), known: Known::default(), label: None })
    }

    /// Connections that write many records sooner than one of them does.
    pub fn writers(&self) -> usize {
        self.sql.dialect().writers
    }

    /// Reads one state of the store, whoever writes meanwhile.
    pub(super) fn reading<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Trouble>,
    ) -> Result<T, Failure> {
        self.label = None;
        let read = self.sql.begin_reading().and_then(|()| {
            let read = work(self).and_then(|read| self.sql.commit().map(|()| read));
            if read.is_err() {
                self.sql.roll_back();
            }
            read
        });
        self.told(read)
    }

    pub(super) fn told<T>(&self, result: Result<T, Trouble>) -> Result<T, Failure> {
        result.map_err(|trouble| trouble.told(&self.address))
    }
}

/// A store that records will be added to.
#[derive(Debug)]
pub enum HeldStore {
    /// It is open.
    Open(Box<Database>),
    /// It is made when the first record is added.
    Absent(Absent),
}

impl HeldStore {
    /// Finds out whether records can be added, and holds the store or its place. Makes nothing.
    ///
    /// # Errors
    /// Records cannot be added, with the reason and the next step.
    pub fn of(address: &Address) -> Result<Self, Failure> {
        let told = |trouble: Trouble| trouble.told(address);
        let sql = match address {
            Address::File(path) if sqlite::is_absent(path).map_err(told)? => {
                OutputFile::new(nearest(path)).hold()?;
                let absent = Absent::hold(path).map_err(|error| Trouble::Other(error.to_string()));
                return absent.map(Self::Absent).map_err(told);
            }
            Address::File(path) => sqlite::open(path),
            Address::Server(named) => server::open(named),
        };
        Ok(Self::Open(Box::new(Database::of(address, sql, true)?)))
    }

    /// Opens it to write to it.
    ///
    /// # Errors
    /// Records cannot be added, with the reason and the next step.
    pub fn open(self, address: &Address) -> Result<Database, Failure> {
        match self {
            Self::Open(database) => Ok(*database),
            Self::Absent(absent) => Database::of(address, absent.make(), true),
        }
    }
}

/// The file, as if it were in the nearest of its directories that is there.
fn nearest(path: &Path) -> PathBuf {
    let there = |it: &&Path| it.as_os_str().is_empty() || it.exists();
    let directory = path.ancestors().skip(1).find(there).unwrap_or(Path::new("."));
    directory.join(path.file_name().unwrap_or_default())
}

/// Adds nothing, with all the rights that it takes to add something.
fn may_write(sql: &mut dyn Sql) -> Result<(), Trouble> {
    sql.begin()?;
    let columns = "name, machine_id";
    let done =
        sql.run(&format!("INSERT INTO machine ({columns}) SELECT {columns} FROM machine WHERE 1 = 0"), &[]);
    sql.roll_back();
    done.map(drop)
}
