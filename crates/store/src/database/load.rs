//! Records into the tables, each whole or not at all, and never twice.

use std::collections::HashMap;
use std::ops::AddAssign;

use whyfaster_words::exit::Failure;

use super::entry::Entry;
use super::known::Known;
use super::open::Database;
use super::schema::{COMPARISON, OF_RECORDS};
use super::sql::{Sql, Value, places};
use super::trouble::{Trouble, Unconnected};

/// What became of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Those that are new.
    pub new: usize,
    /// Those that were in the store already.
    pub there: usize,
    /// Those of them that had no label and have this one now.
    pub labelled: usize,
    /// Those of them that keep another label.
    pub otherwise: usize,
}

impl AddAssign for Added {
    fn add_assign(&mut self, more: Self) {
        self.new += more.new;
        self.there += more.there;
        self.labelled += more.labelled;
        self.otherwise += more.otherwise;
    }
}

/// How often one transaction is done again after the connection broke, or the server undid it.
const TRIES: usize = 5;

impl Database {
    /// Adds records under a label. What comes back is in the store for good.
    pub fn add(&mut self, mut entries: Vec<Entry>, label: &str) -> Result<Added, Failure> {
        let numbered = self.surely(|it| it.number(&mut entries));
        self.told(numbered)?;
        let mut added = Added::default();
        for together in entries.chunks_mut(self.sql.dialect().at_once) {
            // In one order for all writers: else two could wait for each other.
            together.sort_by(|a, b| a.digest.cmp(&b.digest));
            let result = self.surely(|it| within(it.sql.as_mut(), |sql| write(sql, together, label)));
            added += self.told(result)?;
        }
        Ok(added)
    }

    /// Does it again where the connection broke, or the server undid it because others stood in its way. What it had done by then is found done.
    fn surely<T>(&mut self, mut work: impl FnMut(&mut Self) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let mut done = work(self);
        for _ in 0..TRIES {
            match &done {
                Err(Trouble::Unconnected(Unconnected::Cut(_))) => self.sql.connect_again()?,
                Err(Trouble::Undone(_)) => {}
                _ => break,
            }
            done = work(self);
        }
        done
    }

    /// Numbers what records share with others. What is new of it is written before them and by itself: two writers that held it until their
    /// records are written could wait for each other. It is no record, and many of them cost one transaction.
    fn number(&mut self, entries: &mut [Entry]) -> Result<(), Trouble> {
        if self.known.number(entries) {
            return Ok(());
        }
        let (sql, known) = (self.sql.as_mut(), &mut self.known);
        let learnt = sql.begin_shared().and_then(|()| finish(sql, |sql| known.learn(sql, entries)));
        if learnt.is_err() {
            // Some of these numbers went with the transaction.
            self.known = Known::default();
            return learnt;
        }
        assert!(self.known.number(entries), "what was learnt is known");
        Ok(())
    }

    /// Removes a record; whether there was one.
    pub fn remove(&mut self, record: i64) -> Result<bool, Failure> {
        let result = within(self.sql.as_mut(), |sql| {
            for table in OF_RECORDS {
                // Its answers by their whole key: there may be ten million of others.
                let by_key = match table.name == COMPARISON.name {
                    true => {
                        " AND question IN (SELECT id FROM question) AND (machine, started_us) = \
                         (SELECT machine, started_us FROM record WHERE id = $1)"
                    }
                    false => "",
                };
                sql.run(&format!("DELETE FROM {} WHERE record = $1{by_key}", table.name), &[record.into()])?;
            }
            sql.run("DELETE FROM record WHERE id = $1", &[record.into()])
        });
        self.told(result).map(|removed| removed > 0)
    }
}

/// One transaction.
fn within<T>(sql: &mut dyn Sql, work: impl FnOnce(&mut dyn Sql) -> Result<T, Trouble>) -> Result<T, Trouble> {
    sql.begin()?;
    finish(sql, work)
}

/// What a transaction that was begun does, and its end.
fn finish<T>(sql: &mut dyn Sql, work: impl FnOnce(&mut dyn Sql) -> Result<T, Trouble>) -> Result<T, Trouble> {
    let done = work(sql).and_then(|done| sql.commit().map(|()| done));
    if done.is_err() {
        sql.roll_back();
    }
    done
}

fn write(sql: &mut dyn Sql, all: &mut [Entry], label: &str) -> Result<Added, Trouble> {
    let mut new = heads(sql, all, label)?;
    let mut rows: [Vec<&[Value]>; OF_RECORDS.len()] = Default::default();
    let mut added = Added::default();
    for entry in all {
        // One record may come twice at once.
        let Some(record) = new.remove(&entry.digest) else {
            added += there(sql, &entry.digest, label)?;
            continue;
        };
        added.new += 1;
        entry.number_all(record);
        for (table, rows) in OF_RECORDS.into_iter().zip(&mut rows) {
            rows.extend(Some(entry.rows_in(table)).filter(|it| !it.is_empty()));
        }
    }
    for (table, rows) in OF_RECORDS.into_iter().zip(rows).filter(|(_, rows)| !rows.is_empty()) {
        sql.load(table, &rows)?;
    }
    Ok(added)
}

/// What becomes of a record that is there already: it gets the label if it has none.
fn there(sql: &mut dyn Sql, digest: &str, label: &str) -> Result<Added, Trouble> {
    let there = Added { there: 1, ..Added::default() };
    if label.is_empty() {
        return Ok(there);
    }
    let mut has = String::new();
    sql.each("SELECT label FROM record WHERE digest = $1", &[digest.into()], &mut |row| {
        has = row[0].text().unwrap_or_default().to_owned();
    })?;
    if !has.is_empty() {
        return Ok(Added { otherwise: usize::from(has != label), ..there });
    }
    let with = [label.into(), digest.into()];
    // Another writer may have been there first.
    let labelled = sql.run("UPDATE record SET label = $1 WHERE digest = $2 AND label = ''", &with)? as usize;
    Ok(Added { labelled, otherwise: 1 - labelled.min(1), ..there })
}

/// The rows of the records themselves: by the digests of those that are new, their numbers.
fn heads(sql: &mut dyn Sql, all: &[Entry], label: &str) -> Result<HashMap<String, i64>, Trouble> {
    let now = jiff::Timestamp::now().as_microsecond();
    let columns = [
        "digest",
        "kind",
        "machine",
        "facts",
        "started_us",
        "took_s",
        "status",
        "label",
        "unit",
        "about",
        "tool_version",
        "added_us",
    ];
    let values = all.iter().flat_map(|entry| {
        [
            (&entry.digest).into(),
            entry.kind.into(),
            entry.machine_number.into(),
            entry.facts_number.into(),
            entry.started_us.into(),
            entry.took_s.into(),
            entry.status.into(),
            label.into(),
            entry.unit.into(),
            (&entry.about).into(),
            (&entry.tool_version).into(),
            now.into(),
        ]
    });
    let values: Vec<Value> = values.collect();
    let insert = format!(
        "INSERT INTO record ({}) VALUES {} ON CONFLICT (digest) DO NOTHING RETURNING digest, id",
        columns.join(", "),
        places(columns.len(), all.len())
    );
    let mut new = HashMap::new();
    sql.each(&insert, &values, &mut |row| {
        if let [Value::Text(digest), Value::Int(id)] = row {
            new.insert(digest.clone(), *id);
        }
    })?;
    Ok(new)
}
