//! The tables as a fleet: of every machine, the latest record that is meant.

use std::collections::HashMap;
use std::sync::Arc;

use whyfaster_core::fleet::effects::{Answer, OnMachine};
use whyfaster_core::fleet::questions::Question;
use whyfaster_core::fleet::{Fleet, Machine, Row};
use whyfaster_core::price::fingerprint::{Fact, Facts};
use whyfaster_core::verdict::{Ratio, Verdict};
use whyfaster_words::exit::Failure;

use super::choose::{Chosen, Of};
use super::entry;
use super::open::Database;
use super::sql::Value;
use super::trouble::Trouble;

/// A question that records of the store answer, and its number there.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub(super) id: i64,
    /// The question.
    pub question: Question,
}

fn verdict(word: Option<&str>) -> Verdict {
    let all = [Verdict::Faster, Verdict::Slower, Verdict::Same];
    all.into_iter().find(|it| word == Some(entry::word(*it))).unwrap_or(Verdict::Undecided)
}

impl Database {
    /// The prices of the machines: of each, the latest list in time that is meant.
    pub fn prices(&mut self, chosen: &Chosen) -> Result<Fleet, Failure> {
        let fleet = self.fleet(chosen);
        self.told(fleet)
    }

    fn fleet(&mut self, chosen: &Chosen) -> Result<Fleet, Trouble> {
        let (names, facts) = (self.names()?, self.facts()?);
        let mut with = Vec::new();
        let conditions = chosen.conditions(Of::Records, &mut with);
        let latest = format!(
            "WITH latest AS (SELECT id, machine, facts FROM (SELECT r.id, r.machine, r.facts, row_number() OVER \
             (PARTITION BY r.machine ORDER BY r.started_us DESC, r.id DESC) AS nth FROM record r \
             WHERE r.kind = 'prices' AND r.unit = 'ns'{conditions}) AS each_list WHERE nth = 1)"
        );
        let mut fleet = Fleet::default();
        let sql = self.sql.as_mut();
        let mut machines: Vec<(Machine, i64)> = Vec::new();
        sql.each(&format!("{latest} SELECT id, machine, facts FROM latest"), &with, &mut |row| {
            if let [Value::Int(record), Value::Int(machine), Value::Int(of)] = row {
                let facts = facts.get(of).cloned().unwrap_or_default();
                let name = names.get(machine).cloned().unwrap_or_default();
                machines.push((Machine { name, facts }, *record));
            }
        })?;
        machines.sort_by(|a, b| a.0.name.cmp(&b.0.name));
        let place: HashMap<i64, usize> =
            machines.iter().enumerate().map(|(place, (_, record))| (*record, place)).collect();
        fleet.machines = machines.into_iter().map(|(machine, _)| machine).collect();
        let mut of_row: HashMap<i64, usize> = HashMap::new();
        sql.each("SELECT id, family, name, variant FROM price_row ORDER BY id", &[], &mut |row| {
            let text = |at: usize| row[at].text().unwrap_or_default().to_owned();
            of_row.insert(row[0].int().unwrap_or_default(), fleet.rows.len());
            fleet.rows.push(Row { group: text(1), name: text(2), variant: text(3) });
        })?;
        fleet.costs = vec![vec![None; fleet.machines.len()]; fleet.rows.len()];
        let select = format!(
            "{latest} SELECT p.record, p.row, coalesce(p.median, p.mean) FROM latest \
             CROSS JOIN price p WHERE p.record = latest.id AND p.not_measured IS NULL"
        );
        sql.each(&select, &with, &mut |row| {
            if let [Value::Int(record), Value::Int(of), Value::Real(ns)] = row
                && let (Some(machine), Some(row)) = (place.get(record), of_row.get(of))
                && *ns > 0.0
            {
                fleet.costs[*row][*machine] = Some(ns.ln());
            }
        })?;
        // Rows of which these machines have no price are none of theirs.
        let priced: Vec<bool> = fleet.costs.iter().map(|row| row.iter().any(Option::is_some)).collect();
        let mut keep = priced.iter().copied();
        fleet.rows.retain(|_| keep.next().unwrap_or_default());
        let mut keep = priced.iter().copied();
        fleet.costs.retain(|_| keep.next().unwrap_or_default());
        Ok(fleet)
    }

    /// Every question whose commands, or their names, hold this text, in the order in which they came.
    pub fn questions(&mut self, only: Option<&str>) -> Result<Vec<Asked>, Failure> {
        let mut found = Vec::new();
        let select =
            "SELECT id, alternative, command, baseline, baseline_command, load FROM question ORDER BY id";
        let read = self.sql.each(select, &[], &mut |row| {
            let text = |at: usize| row[at].text().unwrap_or_default().to_owned();
            let question = Question {
                alternative: text(1),
                command: text(2),
                baseline: text(3),
                baseline_command: text(4),
                load: row[5].int().and_then(|load| load.try_into().ok()).unwrap_or_default(),
            };
            if only.is_none_or(|only| question.holds(only)) {
                found.push(Asked { id: row[0].int().unwrap_or_default(), question });
            }
        });
        self.told(read).map(|()| found)
    }

    /// The answers to a question without their machines: of each machine the latest that is meant.
    pub fn answers(&mut self, asked: &Asked, chosen: &Chosen) -> Result<Vec<Answer>, Failure> {
        let mut found: Vec<Answer> = Vec::new();
        let read = self.each_answer(asked, chosen, "", &mut |_, _, answer| found.push(answer));
        self.told(read).map(|()| found)
    }

    /// The same with their machines.
    pub fn on_machines(&mut self, asked: &Asked, chosen: &Chosen) -> Result<Vec<OnMachine>, Failure> {
        let found = self.answered(asked, chosen);
        self.told(found)
    }

    fn answered(&mut self, asked: &Asked, chosen: &Chosen) -> Result<Vec<OnMachine>, Trouble> {
        let (names, facts) = (self.names()?, self.facts()?);
        let mut found = Vec::new();
        let of_record = ", (SELECT facts FROM record WHERE id = c.record)";
        self.each_answer(asked, chosen, of_record, &mut |machine, of, answer| {
            let facts = of.and_then(|of| facts.get(&of)).cloned().unwrap_or_default();
            let machine = Machine { name: names.get(&machine).cloned().unwrap_or_default(), facts };
            found.push(OnMachine { machine, answer });
        })?;
        found.sort_by(|a, b| a.machine.name.cmp(&b.machine.name));
        Ok(found)
    }

    /// Gives machine, facts and answer of the latest answer of each machine to `take`. The facts are what the last column is, if there is one:
    /// there may be ten million rows.
    fn each_answer(
        &mut self,
        asked: &Asked,
        chosen: &Chosen,
        facts: &str,
        take: &mut dyn FnMut(i64, Option<i64>, Answer),
    ) -> Result<(), Trouble> {
        let mut with = vec![Value::Int(asked.id)];
        let conditions = chosen.conditions(Of::Comparisons, &mut with);
        // The order of the key, so that nothing is sorted.
        let select = format!(
            "SELECT c.machine, c.ratio, c.low, c.high, c.confidence, c.verdict{facts} FROM comparison c \
             WHERE c.question = $1{conditions} ORDER BY c.machine, c.started_us, c.record"
        );
        let mut last: Option<(i64, Option<i64>, Answer)> = None;
        self.sql.each(&select, &with, &mut |row| {
            let [Value::Int(machine), Value::Real(ratio), low, high, confidence, word, facts @ ..] = row
            else {
                return;
            };
            let ratio = Ratio { ratio: *ratio, low: low.real(), high: high.real() };
            let confidence = confidence.real().unwrap_or_default();
            let answer = Answer { ratio, confidence, verdict: verdict(word.text()) };
            if let Some((before, facts, answer)) = last.take()
                && before != *machine
            {
                take(before, facts, answer);
            }
            last = Some((*machine, facts.first().and_then(Value::int), answer));
        })?;
        if let Some((machine, facts, answer)) = last {
            take(machine, facts, answer);
        }
        Ok(())
    }

    /// What to call every machine: its name, and where several have it, what tells them apart.
    pub(super) fn names(&mut self) -> Result<HashMap<i64, String>, Trouble> {
        let mut machines: Vec<(i64, String, String)> = Vec::new();
        self.sql.each("SELECT id, name, machine_id FROM machine", &[], &mut |row| {
            let text = |at: usize| row[at].text().unwrap_or_default().to_owned();
            machines.push((row[0].int().unwrap_or_default(), text(1), text(2)));
        })?;
        let mut often: HashMap<&str, usize> = HashMap::new();
        machines.iter().for_each(|(_, name, _)| *often.entry(name).or_default() += 1);
        let called = |(id, name, machine_id): &(i64, String, String)| {
            let several = often.get(name.as_str()).is_some_and(|times| *times > 1) && !machine_id.is_empty();
            let short = machine_id.get(..6).unwrap_or(machine_id);
            (*id, if several { format!("{name} ({short})") } else { name.clone() })
        };
        Ok(machines.iter().map(called).collect())
    }

    fn facts(&mut self) -> Result<HashMap<i64, Arc<Facts>>, Trouble> {
        let mut all: HashMap<i64, Vec<(Fact, String)>> = HashMap::new();
        self.sql.each("SELECT facts, name, value FROM fact", &[], &mut |row| {
            // A fact that a later version knows is none to this one.
            if let [Value::Int(facts), Value::Text(name), Value::Text(value)] = row
                && let Some(fact) = Fact::named(name)
            {
                all.entry(*facts).or_default().push((fact, value.clone()));
            }
        })?;
        Ok(all.into_iter().map(|(id, facts)| (id, Arc::new(facts.into_iter().collect()))).collect())
    }
}
