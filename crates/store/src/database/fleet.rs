//! Price lists as a fleet: of every machine, the latest one that is meant.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use whyfaster_core::fleet::{Fleet, Machine, Row};
use whyfaster_core::price::fingerprint::{Fact, Facts};
use whyfaster_words::exit::Failure;

use super::choose::{Chosen, Of};
use super::hosts::called;
use super::open::Database;
use super::sql::{Sql, Value};
use super::trouble::Trouble;

/// The latest price list of a machine: its number, that of the machine, and that of its facts.
struct List {
    record: i64,
    machine: i64,
    facts: i64,
}

fn machines(lists: &[List]) -> Vec<i64> {
    lists.iter().map(|list| list.machine).collect()
}

/// Of every machine, the latest price list in time that is meant; a table for the statement behind it.
fn latest(chosen: &Chosen, with: &mut Vec<Value>) -> String {
    let conditions = chosen.conditions(Of::Records, with);
    format!(
        "WITH latest AS (SELECT id, machine, facts FROM (SELECT r.id, r.machine, r.facts, row_number() OVER \
         (PARTITION BY r.machine ORDER BY r.started_us DESC, r.id DESC) AS nth FROM record r \
         WHERE r.kind = 'prices' AND r.unit = 'ns'{conditions}) AS each_list WHERE nth = 1)"
    )
}

/// Gives record, row and nanoseconds of every price of the latest lists to `take`.
fn each_price(
    sql: &mut dyn Sql,
    chosen: &Chosen,
    take: &mut dyn FnMut(i64, i64, f64),
) -> Result<(), Trouble> {
    let mut with = Vec::new();
    let latest = latest(chosen, &mut with);
    let ns = "coalesce(p.median, p.mean)";
    let price = match sql.dialect().one_value {
        true => format!("string_agg(int8send(p.record) || int8send(p.row) || float8send({ns}), '')"),
        false => format!("p.record, p.row, {ns}"),
    };
    let select = format!(
        "{latest} SELECT {price} FROM latest CROSS JOIN price p WHERE p.record = latest.id AND p.not_measured IS NULL"
    );
    sql.each(&select, &with, &mut |row| match row {
        [Value::Bytes(packed)] => {
            for [record, of, ns] in packed.as_chunks::<8>().0.as_chunks::<3>().0 {
                take(i64::from_be_bytes(*record), i64::from_be_bytes(*of), f64::from_be_bytes(*ns));
            }
        }
        [Value::Int(record), Value::Int(of), Value::Real(ns)] => take(*record, *of, *ns),
        _ => {}
    })
}

impl Database {
    /// The prices of the machines: of each, the latest list in time that is meant.
    pub fn prices(&mut self, chosen: &Chosen) -> Result<Fleet, Failure> {
        self.reading(|it| {
            let lists = it.latest(chosen)?;
            let names = called(&it.hosts()?, &[machines(&lists)]);
            it.fleet(chosen, &lists, &names)
        })
    }

    /// The same of two states, the later one without the machines that were not measured again: their lists are those of the earlier one.
    pub fn prices_before_and_after(
        &mut self,
        before: &Chosen,
        after: &Chosen,
    ) -> Result<[Fleet; 2], Failure> {
        self.reading(|it| {
            let (first, mut second) = (it.latest(before)?, it.latest(after)?);
            let records: HashSet<i64> = first.iter().map(|list| list.record).collect();
            second.retain(|list| !records.contains(&list.record));
            let names = called(&it.hosts()?, &[machines(&first), machines(&second)]);
            Ok([it.fleet(before, &first, &names)?, it.fleet(after, &second, &names)?])
        })
    }

    fn latest(&mut self, chosen: &Chosen) -> Result<Vec<List>, Trouble> {
        let mut with = Vec::new();
        let select = format!("{} SELECT id, machine, facts FROM latest", latest(chosen, &mut with));
        let mut found = Vec::new();
        self.sql.each(&select, &with, &mut |row| {
            if let [Value::Int(record), Value::Int(machine), Value::Int(facts)] = *row {
                found.push(List { record, machine, facts });
            }
        })?;
        Ok(found)
    }

    /// The prices in these lists, which are the latest of what is meant.
    fn fleet(
        &mut self,
        chosen: &Chosen,
        lists: &[List],
        names: &HashMap<i64, String>,
    ) -> Result<Fleet, Trouble> {
        let facts = self.facts()?;
        let machine = |list: &List| {
            let name = names.get(&list.machine).cloned().unwrap_or_default();
            (Machine { name, facts: facts.get(&list.facts).cloned().unwrap_or_default() }, list.record)
        };
        let mut fleet = Fleet::default();
        let sql = self.sql.as_mut();
        let mut machines: Vec<(Machine, i64)> = lists.iter().map(machine).collect();
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
        // Rows of which these machines have no price are none of theirs, and take no room for every machine: there may be thousands.
        fleet.costs = vec![Vec::new(); fleet.rows.len()];
        each_price(sql, chosen, &mut |record, of, ns| {
            if let (Some(machine), Some(row)) = (place.get(&record), of_row.get(&of))
                && ns > 0.0
            {
                let costs = &mut fleet.costs[*row];
                costs.resize(fleet.machines.len(), None);
                costs[*machine] = Some(ns.ln());
            }
        })?;
        let mut priced = fleet.costs.iter().map(|row| !row.is_empty());
        fleet.rows.retain(|_| priced.next().unwrap_or_default());
        fleet.costs.retain(|row| !row.is_empty());
        Ok(fleet)
    }

    pub(super) fn facts(&mut self) -> Result<HashMap<i64, Arc<Facts>>, Trouble> {
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
