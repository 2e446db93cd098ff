//! What many records share, by the numbers that the store has given to it: machines, facts, rows of price lists, questions.

use std::collections::HashMap;

use super::entry::{Answered, Entry, MachineKey, RowKey};
use super::sql::{Sql, Value, number};
use super::trouble::Trouble;

/// The numbers that the store has given to what many records share. Nothing of it is ever removed.
#[derive(Debug, Default)]
pub(super) struct Known {
    machines: HashMap<MachineKey, i64>,
    facts: HashMap<String, i64>,
    rows: HashMap<RowKey, i64>,
    questions: HashMap<String, i64>,
}

/// An entry, and the numbers of what it shares with others.
pub(super) struct Numbered<'a> {
    pub(super) entry: &'a Entry,
    pub(super) machine: i64,
    pub(super) facts: i64,
    pub(super) rows: Vec<i64>,
    pub(super) questions: Vec<i64>,
}

impl Known {
    pub(super) fn numbered<'a>(
        &mut self,
        sql: &mut dyn Sql,
        entry: &'a Entry,
    ) -> Result<Numbered<'a>, Trouble> {
        let machine = match self.machines.get(&entry.machine) {
            Some(id) => *id,
            None => {
                let key = [Value::from(&entry.machine.name), Value::from(&entry.machine.id)];
                let id = shared(sql, "machine", &["name", "machine_id"], &key, 2)?;
                self.machines.insert(entry.machine.clone(), id);
                id
            }
        };
        let facts = self.facts(sql, entry)?;
        let rows = entry.prices.iter().map(|(row, _)| self.row(sql, row)).collect::<Result<_, _>>()?;
        let questions = entry.answers.iter().map(|it| self.question(sql, it));
        let questions = questions.collect::<Result<_, _>>()?;
        Ok(Numbered { entry, machine, facts, rows, questions })
    }

    /// Whether nothing has to be written for these numbers.
    pub(super) fn knows(&self, entry: &Entry) -> bool {
        self.machines.contains_key(&entry.machine)
            && self.facts.contains_key(&entry.facts_digest)
            && entry.prices.iter().all(|(row, _)| self.rows.contains_key(row))
            && entry.answers.iter().all(|it| self.questions.contains_key(&it.digest))
    }

    fn facts(&mut self, sql: &mut dyn Sql, entry: &Entry) -> Result<i64, Trouble> {
        let digest = &entry.facts_digest;
        if let Some(id) = self.facts.get(digest) {
            return Ok(*id);
        }
        let id = shared(sql, "facts", &["digest"], &[digest.into()], 1)?;
        for (fact, value) in entry.facts.iter() {
            let insert = "INSERT INTO fact (facts, name, value) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
            sql.run(insert, &[id.into(), fact.name().into(), value.into()])?;
        }
        self.facts.insert(digest.clone(), id);
        Ok(id)
    }

    fn row(&mut self, sql: &mut dyn Sql, row: &RowKey) -> Result<i64, Trouble> {
        if let Some(id) = self.rows.get(row) {
            return Ok(*id);
        }
        let (group, name, variant) = row;
        let id = shared(
            sql,
            "price_row",
            &["family", "name", "variant"],
            &[group, name, variant].map(Value::from),
            3,
        )?;
        self.rows.insert(row.clone(), id);
        Ok(id)
    }

    fn question(&mut self, sql: &mut dyn Sql, it: &Answered) -> Result<i64, Trouble> {
        if let Some(id) = self.questions.get(&it.digest) {
            return Ok(*id);
        }
        let question = &it.question;
        let texts =
            [&question.alternative, &question.command, &question.baseline, &question.baseline_command];
        let columns = ["digest", "alternative", "command", "baseline", "baseline_command", "load"];
        let mut values = vec![Value::from(&it.digest)];
        values.extend(texts.map(Value::from));
        values.push(question.load.into());
        let id = shared(sql, "question", &columns, &values, 1)?;
        self.questions.insert(it.digest.clone(), id);
        Ok(id)
    }
}

/// The number of a row of a table that records share, which is made where there is none. The first columns, as many as `key`, say which
/// row it is.
fn shared(
    sql: &mut dyn Sql,
    table: &str,
    columns: &[&str],
    values: &[Value],
    key: usize,
) -> Result<i64, Trouble> {
    let places: Vec<String> = (1..=columns.len()).map(|at| format!("${at}")).collect();
    let (names, places) = (columns.join(", "), places.join(", "));
    sql.run(&format!("INSERT INTO {table} ({names}) VALUES ({places}) ON CONFLICT DO NOTHING"), values)?;
    let of_key: Vec<String> =
        columns[..key].iter().enumerate().map(|(at, column)| format!("{column} = ${}", at + 1)).collect();
    let select = format!("SELECT id FROM {table} WHERE {}", of_key.join(" AND "));
    let found = number(sql, &select, &values[..key])?;
    found.ok_or_else(|| Trouble::Other(format!("{table} lost a row that was just written")))
}
