//! Records into the tables, each whole or not at all, and never twice.

use std::collections::HashMap;

use whyfaster_words::exit::Failure;

use super::entry::{self, Answered, Entry};
use super::known::{Known, Numbered};
use super::open::Database;
use super::schema::{ALTERNATIVE, COMPARISON, DOCUMENT, LEVEL, OF_RECORDS, PRICE, ROUND};
use super::sql::{Sql, Value, places};
use super::trouble::{Trouble, Unconnected};

/// What became of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Those that are new.
    pub new: usize,
    /// Those that were in the store already.
    pub there: usize,
}

/// How often one transaction is done again after the connection broke.
const TRIES: usize = 5;

impl Database {
    /// Adds records under a label. What comes back is in the store for good.
    pub fn add(&mut self, entries: &[Entry], label: &str) -> Result<Added, Failure> {
        let learnt = self.surely(|it| it.learn(entries));
        self.told(learnt)?;
        let mut added = Added::default();
        for entries in entries.chunks(self.sql.dialect().at_once) {
            let result = self.surely(|it| it.add_together(entries, label));
            let now = self.told(result)?;
            added = Added { new: added.new + now.new, there: added.there + now.there };
        }
        Ok(added)
    }

    /// Does it again where the connection broke. What the server had done by then is found done.
    fn surely<T>(&mut self, work: impl Fn(&mut Self) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let mut done = work(self);
        for _ in 0..TRIES {
            if !matches!(done, Err(Trouble::Unconnected(Unconnected::Cut(_)))) {
                break;
            }
            self.sql.connect_again()?;
            done = work(self);
        }
        done
    }

    /// Writes what records share before them, by itself: two writers that held it until their records are written could wait for each
    /// other. It is no record, and many of them cost one transaction.
    fn learn(&mut self, entries: &[Entry]) -> Result<(), Trouble> {
        if entries.iter().all(|entry| self.known.knows(entry)) {
            return Ok(());
        }
        let (sql, known) = (self.sql.as_mut(), &mut self.known);
        let learnt = sql.begin_shared().and_then(|()| finish(sql, |sql| known.learn(sql, entries)));
        if learnt.is_err() {
            // Some of these numbers went with the transaction.
            self.known = Known::default();
        }
        learnt
    }

    fn add_together(&mut self, entries: &[Entry], label: &str) -> Result<Added, Trouble> {
        let mut numbered: Vec<Numbered<'_>> =
            entries.iter().map(|entry| self.known.numbered(entry)).collect();
        // In one order for all writers: else two could wait for each other.
        numbered.sort_by(|a, b| a.entry.digest.cmp(&b.entry.digest));
        within(self.sql.as_mut(), |sql| write(sql, &numbered, label))
    }

    /// Removes a record; whether there was one.
    pub fn remove(&mut self, record: i64) -> Result<bool, Failure> {
        let result = within(self.sql.as_mut(), |sql| {
            for table in OF_RECORDS {
                sql.run(&format!("DELETE FROM {} WHERE record = $1", table.name), &[record.into()])?;
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

fn write(sql: &mut dyn Sql, all: &[Numbered<'_>], label: &str) -> Result<Added, Trouble> {
    let mut rows: [Vec<Value>; OF_RECORDS.len()] = Default::default();
    let mut added = Added::default();
    let mut new = heads(sql, all, label)?;
    for it in all {
        // One record may come twice at once.
        let Some(record) = new.remove(&it.entry.digest) else {
            added.there += 1;
            continue;
        };
        added.new += 1;
        let of_entry = rows_of(it, record);
        rows.iter_mut().zip(of_entry).for_each(|(all, new)| all.extend(new));
    }
    for (table, rows) in OF_RECORDS.into_iter().zip(rows) {
        if !rows.is_empty() {
            sql.load(table, &rows)?;
        }
    }
    Ok(added)
}

/// The rows of the records themselves: by the digests of those that are new, their numbers.
fn heads(sql: &mut dyn Sql, all: &[Numbered<'_>], label: &str) -> Result<HashMap<String, i64>, Trouble> {
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
    let values = all.iter().flat_map(|it| {
        let entry = it.entry;
        [
            (&entry.digest).into(),
            entry.kind.into(),
            it.machine.into(),
            it.facts.into(),
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

/// Its rows in the tables of `OF_RECORDS`, in that order.
fn rows_of(it: &Numbered<'_>, record: i64) -> [Vec<Value>; OF_RECORDS.len()] {
    let entry = it.entry;
    let of = |rows: &[Vec<Value>]| {
        let each = rows.iter().flat_map(|row| [record.into()].into_iter().chain(row.iter().cloned()));
        each.collect::<Vec<Value>>()
    };
    let prices = entry.prices.iter().zip(&it.rows).flat_map(|((_, figures), row)| {
        [record.into(), (*row).into()].into_iter().chain(figures.iter().cloned())
    });
    let answers =
        entry.answers.iter().zip(&it.questions).flat_map(|(Answered { answer, rounds, .. }, question)| {
            [
                (*question).into(),
                it.machine.into(),
                entry.started_us.into(),
                record.into(),
                answer.ratio.ratio.into(),
                answer.ratio.low.into(),
                answer.ratio.high.into(),
                answer.confidence.into(),
                entry::word(answer.verdict).into(),
                (*rounds).into(),
            ]
        });
    debug_assert_eq!(
        OF_RECORDS.map(|table| table.name),
        [&DOCUMENT, &PRICE, &ALTERNATIVE, &LEVEL, &ROUND, &COMPARISON].map(|table| table.name)
    );
    [
        vec![record.into(), Value::Bytes(entry.packed.clone())],
        prices.collect(),
        of(&entry.alternatives),
        of(&entry.levels),
        of(&entry.rounds),
        answers.collect(),
    ]
}
