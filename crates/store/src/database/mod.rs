//! The store: records of many machines in a database, each whole and in tables.
//!
//! The way of a record in: `entry` makes rows of a document that was read and checked; `load` writes them, each record in one
//! transaction and never twice. The way out: `choose` says which records are meant, `list` tells them, `fleet` reads the prices of
//! the chosen ones and `answers` their comparisons, `hosts` says what their machines are called, so that a report over millions of rows opens no document.
//!
//! All that is written in SQL is written once. What is the database's own is behind `sql::Sql`; `sqlite` is a file of
//! SQLite, `server` a database of a PostgreSQL server.

mod address;
mod answer_form;
mod answers;
mod choose;
mod entry;
mod fleet;
mod hosts;
mod known;
mod list;
mod load;
mod open;
mod schema;
mod server;
mod sql;
mod sqlite;
mod trouble;

pub use address::Address;
pub use answers::Asked;
pub use choose::{Chosen, Moment, label};
pub use entry::Entry;
pub use list::Listed;
pub use load::Added;
pub use open::{Database, HeldStore};
