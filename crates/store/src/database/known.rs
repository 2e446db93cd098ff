//! What many records share, by the numbers that the store has given to it: machines, facts, rows of price lists, questions.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::iter;

use whyfaster_core::fleet::questions::Arrivals;

use super::entry::{Entry, MachineKey, QuestionKey, RowKey};
use super::schema::{COMPARISON, PRICE};
use super::sql::{Sql, Value, places};
use super::trouble::Trouble;

/// Rows of one statement: a database takes some ten thousand parameters.
const AT_ONCE: usize = 1000;

/// The numbers that the store has given to what many records share. Nothing of it is ever removed.
#[derive(Debug)]
pub(super) struct Known {
    machines: Shared<MachineKey>,
    facts: Shared<String>,
    rows: Shared<RowKey>,
    questions: Shared<String>,
}

/// The rows of a table that records share.
#[derive(Debug)]
struct Shared<Key> {
    table: &'static str,
    columns: &'static [&'static str],
    /// The first columns, as many as this, say which row it is. They are texts.
    of_key: usize,
    numbers: HashMap<Key, i64>,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            machines: Shared::of("machine", &["name", "machine_id"], 2),
            facts: Shared::of("facts", &["digest"], 1),
            rows: Shared::of("price_row", &["family", "name", "variant"], 3),
            questions: Shared::of(
                "question",
                &[
                    "digest",
                    "alternative",
                    "command",
                    "baseline",
                    "baseline_command",
                    "load",
                    "arrivals",
                    "starts_per_1000_s",
                ],
                1,
            ),
        }
    }
}

impl Known {
    /// Makes the rows that these entries share where there are none, and learns their numbers.
    pub(super) fn learn(&mut self, sql: &mut dyn Sql, entries: &[Entry]) -> Result<(), Trouble> {
        let machine = |it: &MachineKey| vec![(&it.name).into(), (&it.id).into()];
        self.machines.learn(sql, entries.iter().map(|entry| (&entry.machine, &entry.machine)), machine)?;
        let facts = entries.iter().map(|entry| (&entry.facts_digest, entry));
        let new = self.facts.learn(sql, facts, |entry| vec![(&entry.facts_digest).into()])?;
        let mut values = Vec::new();
        for entry in new {
            let number = self.facts.numbers[&entry.facts_digest];
            values.extend(
                entry
                    .facts
                    .iter()
                    .flat_map(|(fact, value)| [number.into(), fact.name().into(), value.into()]),
            );
        }
        insert(sql, "fact", &["facts", "name", "value"], &values)?;
        let row = |row: &RowKey| row.parts().map(Value::from).collect();
        let rows = entries.iter().flat_map(|entry| entry.priced.iter().map(|row| (row, row)));
        self.rows.learn(sql, rows, row)?;
        let questions = entries.iter().flat_map(|entry| &entry.asked).map(|it| (&it.digest, it));
        self.questions.learn(sql, questions, question)?;
        Ok(())
    }

    /// Writes the numbers of what entries share into their rows; whether all of them are known.
    pub(super) fn number(&self, entries: &mut [Entry]) -> bool {
        entries.iter_mut().all(|entry| self.number_one(entry).is_some())
    }

    fn number_one(&self, entry: &mut Entry) -> Option<()> {
        let rows: Vec<i64> = entry.priced.iter().map(|row| self.rows.number(row)).collect::<Option<_>>()?;
        let questions = entry.asked.iter().map(|it| self.questions.number(&it.digest));
        let questions: Vec<i64> = questions.collect::<Option<_>>()?;
        let machine = self.machines.number(&entry.machine)?;
        entry.machine_number = Some(machine);
        entry.facts_number = Some(self.facts.number(&entry.facts_digest)?);
        entry.number(&PRICE, "row", rows.into_iter());
        entry.number(&COMPARISON, "question", questions.into_iter());
        entry.number(&COMPARISON, "machine", iter::repeat(machine));
        Some(())
    }
}

fn question(it: &QuestionKey) -> Vec<Value> {
    let question = &it.question;
    vec![
        (&it.digest).into(),
        (&question.alternative).into(),
        (&question.command).into(),
        (&question.baseline).into(),
        (&question.baseline_command).into(),
        question.load.into(),
        question.arrivals.map(Arrivals::mode).into(),
        question.arrivals.and_then(Arrivals::starts_per_1000_s).into(),
    ]
}

impl<Key: Clone + Eq + Hash> Shared<Key> {
    fn of(table: &'static str, columns: &'static [&'static str], of_key: usize) -> Self {
        Self { table, columns, of_key, numbers: HashMap::new() }
    }

    fn number(&self, key: &Key) -> Option<i64> {
        self.numbers.get(key).copied()
    }

    /// Those that were not known, after their rows were made and their numbers learnt.
    fn learn<'a, T>(
        &mut self,
        sql: &mut dyn Sql,
        all: impl Iterator<Item = (&'a Key, &'a T)>,
        row: impl Fn(&T) -> Vec<Value>,
    ) -> Result<Vec<&'a T>, Trouble>
    where
        Key: 'a,
    {
        let mut seen = HashSet::new();
        let new: Vec<(&Key, &T)> =
            all.filter(|(key, _)| !self.numbers.contains_key(key) && seen.insert(*key)).collect();
        if new.is_empty() {
            return Ok(Vec::new());
        }
        for new in new.chunks(AT_ONCE) {
            let rows: Vec<Vec<Value>> = new.iter().map(|(_, it)| row(it)).collect();
            insert(sql, self.table, self.columns, &rows.concat())?;
            let found = self.find(sql, &rows)?;
            for ((key, _), row) in new.iter().zip(&rows) {
                let number = found.get(&texts(&row[..self.of_key])).copied();
                let lost = || Trouble::Other(format!("{} lost a row that was just written", self.table));
                self.numbers.insert((*key).clone(), number.ok_or_else(lost)?);
            }
        }
        Ok(new.into_iter().map(|(_, it)| it).collect())
    }

    /// The numbers of rows by their keys, in the letters of the store: it holds no NUL.
    fn find(&self, sql: &mut dyn Sql, rows: &[Vec<Value>]) -> Result<HashMap<Vec<String>, i64>, Trouble> {
        let keys: Vec<Value> = rows.iter().flat_map(|row| row[..self.of_key].iter().cloned()).collect();
        let names = self.columns[..self.of_key].join(", ");
        let places = places(self.of_key, rows.len());
        let select = format!("SELECT id, {names} FROM {} WHERE ({names}) IN (VALUES {places})", self.table);
        let mut found = HashMap::new();
        sql.each(&select, &keys, &mut |row| {
            found.insert(texts(&row[1..]), row[0].int().unwrap_or_default());
        })?;
        Ok(found)
    }
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().map(|value| value.text().unwrap_or_default().to_owned()).collect()
}

/// Adds rows where there are none by their key.
fn insert(sql: &mut dyn Sql, table: &str, columns: &[&str], values: &[Value]) -> Result<(), Trouble> {
    let names = columns.join(", ");
    for values in values.chunks(columns.len() * AT_ONCE) {
        let places = places(columns.len(), values.len() / columns.len());
        sql.run(&format!("INSERT INTO {table} ({names}) VALUES {places} ON CONFLICT DO NOTHING"), values)?;
    }
    Ok(())
}
