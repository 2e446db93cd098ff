//! What is in the store, record by record.

use serde::Serialize;
use whyfaster_words::exit::Failure;

use super::choose::{Chosen, Of};
use super::entry::unpack;
use super::hosts::called;
use super::open::Database;
use super::sql::{Value, number};
use super::trouble::Trouble;

/// A record in a store.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listed {
    /// Its number in this store.
    pub id: i64,
    /// When the measurement began, RFC 3339 in UTC.
    pub started: String,
    /// The machine.
    pub host: String,
    /// comparison, prices or trace.
    pub kind: String,
    /// The label that it was added under.
    pub label: String,
    /// complete, interrupted or failed.
    pub status: String,
    /// What was measured.
    pub about: String,
}

impl Database {
    /// The records that are meant, the latest first, and how many there are in all.
    pub fn list(&mut self, chosen: &Chosen, most: usize) -> Result<(Vec<Listed>, usize), Failure> {
        self.reading(|it| it.listed(chosen, most))
    }

    fn listed(&mut self, chosen: &Chosen, most: usize) -> Result<(Vec<Listed>, usize), Trouble> {
        let hosts = self.hosts()?;
        let names = called(&hosts, &[hosts.keys().copied().collect()]);
        let sql = self.sql.as_mut();
        let mut with = Vec::new();
        let conditions = chosen.conditions(Of::Records, &mut with);
        let all = number(sql, &format!("SELECT count(*) FROM record r WHERE 1 = 1{conditions}"), &with)?;
        let mut found = Vec::new();
        with.push(most.into());
        let select = format!(
            "SELECT r.id, r.started_us, r.machine, r.kind, r.label, r.status, r.about FROM record r \
             WHERE 1 = 1{conditions} ORDER BY r.started_us DESC, r.id DESC LIMIT ${}",
            with.len()
        );
        sql.each(&select, &with, &mut |row| {
            let text = |at: usize| row[at].text().unwrap_or_default().to_owned();
            let started = row[1].int().and_then(|at| jiff::Timestamp::from_microsecond(at).ok());
            found.push(Listed {
                id: row[0].int().unwrap_or_default(),
                started: started.map(|at| at.to_string()).unwrap_or_default(),
                host: row[2].int().and_then(|id| names.get(&id)).cloned().unwrap_or_default(),
                kind: text(3),
                label: text(4),
                status: text(5),
                about: text(6),
            });
        })?;
        Ok((found, all.unwrap_or_default() as usize))
    }

    /// The document of a record, as it was added.
    pub fn document(&mut self, record: i64) -> Result<Option<Vec<u8>>, Failure> {
        let mut packed = None;
        let select = "SELECT packed FROM document WHERE record = $1";
        let read = self.sql.each(select, &[record.into()], &mut |row| {
            if let Value::Bytes(bytes) = &row[0] {
                packed = Some(bytes.clone());
            }
        });
        let unpacked = read.and_then(|()| {
            let damaged =
                |error| Trouble::Other(format!("the document of record {record} is damaged: {error}"));
            packed.map(|bytes| unpack(&bytes).map_err(damaged)).transpose()
        });
        self.told(unpacked)
    }
}
