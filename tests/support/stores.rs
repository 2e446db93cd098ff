//! A store of each kind, for tests that hold for every kind.

use std::ops::Deref;

use serde_json::Value;

use super::needs::Need;
use super::postgres::{PASSWORD, Postgres};
use super::{Sandbox, list};

/// A place whose runs use a store of their own where no option names another.
pub(crate) struct Store {
    place: Sandbox,
    pub(crate) server: Option<Postgres>,
    /// What names the store.
    pub(crate) address: String,
}

impl Deref for Store {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.place
    }
}

impl Store {
    /// A file of SQLite, which is not there yet.
    pub(crate) fn file() -> Self {
        Self { place: Sandbox::new(), server: None, address: "data/whyfaster/store.db".to_owned() }
    }

    /// An empty database of a PostgreSQL server of its own, by TCP.
    pub(crate) fn server() -> Need<Self> {
        let server = Postgres::start()?;
        let address = server.database("fleet");
        let place = Sandbox::new().with("WHYFASTER_STORE", &address).with("PGPASSWORD", PASSWORD);
        Ok(Self { place, server: Some(server), address })
    }

    /// Does what somebody does who knows the tables.
    pub(crate) fn execute(&self, statements: &str) {
        match &self.server {
            Some(server) => drop(server.sql("fleet", statements)),
            None => {
                let file = rusqlite::Connection::open(self.path(&self.address)).unwrap();
                file.execute_batch(statements).unwrap();
            }
        }
    }

    /// What `store list` says, the latest first.
    pub(crate) fn listed(&self, more: &[&str]) -> Vec<Value> {
        let args = [&["store", "list", "--json", "--last", "10000"], more].concat();
        list(&self.run(&args).json()["records"]).to_vec()
    }
}
