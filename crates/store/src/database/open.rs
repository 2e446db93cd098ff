//! Opening a store, of either kind.

use std::fmt;
use std::path::{Path, PathBuf};

use whyfaster_words::exit::Failure;

use super::super::atomic::OutputFile;
use super::address::Address;
use super::known::Known;
use super::sql::Sql;
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
        Self::opened(address, false)
    }

    /// Opens a store to write to it, and makes it where there is none. Whether records can be added is known from here on.
    pub fn open_or_make(address: &Address) -> Result<Self, Failure> {
        Self::opened(address, true)
    }

    /// Finds out whether records could be added, and makes nothing: of a file that is not there, whether it could be.
    pub fn check(address: &Address) -> Result<(), Failure> {
        let absent = match address {
            Address::File(path) => {
                sqlite::is_absent(path).map_err(|trouble| trouble.told(address))?.then_some(path)
            }
            Address::Server(_) => None,
        };
        match absent {
            Some(path) => OutputFile::new(nearest(path)).hold(),
            None => Self::open_or_make(address).map(drop),
        }
    }

    fn opened(address: &Address, make: bool) -> Result<Self, Failure> {
        let opened = match address {
            Address::File(path) => sqlite::open(path, make),
            Address::Server(named) => server::open(named),
        };
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

/// The file, as if it stood in the nearest of its directories that is there.
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
