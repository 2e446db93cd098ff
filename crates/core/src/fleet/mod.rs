//! Many machines, each asked the same: how far they differ, which facts of the machines explain it, which machines stand out.
//!
//! A machine's answer to a question (the price of a row, the ratio of two commands) is a logarithm, so that a difference is a factor.
//! The way of an answer: [`split`] finds the facts that explain how the answers vary, and with them groups of machines that are alike;
//! [`outliers`] names who is off within its group, at a stated rate of false names; [`effects`] combines one comparison over all machines;
//! [`change`] sets every machine beside itself, before and after; [`gate`] holds what was found against limits.
//!
//! Medians and quartiles carry it, not means and variances: a fleet is looked at because some of its machines are broken. Only the effect over all
//! machines is a mean, as a meta-analysis has it; what separates the machines is told beside it.

pub mod change;
pub mod effects;
pub mod gate;
pub mod outliers;
pub mod placed;
mod prices;
pub mod questions;
mod robust;
#[cfg(test)]
mod simulated;
pub mod split;
pub mod visit;

pub use prices::{GroupPrices, PriceReport, RowSpread, report};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::price::PriceList;
use crate::price::fingerprint::Facts;
use crate::price::inside::Unit;

/// Share of the machines that are named, and of the rows that are called changed, which may be wrong (false discovery rate).
pub const RATE: f64 = 0.05;

/// A machine of the fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// What it is. Machines of one kind may share it.
    pub facts: Arc<Facts>,
}

/// A row of the price list: what every machine was asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// kernel, process, thread, pipe or cpu.
    pub group: String,
    /// Name of the probe.
    pub name: String,
    /// Variant.
    pub variant: String,
}

impl Row {
    /// Whether the operation wakes or touches another CPU.
    pub fn crosses_cpus(&self) -> bool {
        self.variant.split(',').any(|part| part == "other_cpu")
    }
}

/// The prices of many machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fleet {
    /// The machines.
    pub machines: Vec<Machine>,
    /// The rows that any of them has.
    pub rows: Vec<Row>,
    /// The logarithm of the typical price in nanoseconds: for every row, of every machine. Null where a machine has none.
    pub costs: Vec<Vec<Option<f64>>>,
}

impl Fleet {
    /// Adds a machine. A list in guest instructions has no times and is not taken.
    pub fn add(&mut self, list: &PriceList) -> bool {
        if list.unit != Unit::Nanoseconds {
            return false;
        }
        let at = self.machines.len();
        let facts = Arc::new(Facts::of(&list.fingerprint));
        self.machines.push(Machine { name: list.name.clone(), facts });
        for costs in &mut self.costs {
            costs.push(None);
        }
        for price in &list.prices {
            let Some(ns) = price.typical_ns().filter(|ns| *ns > 0.0 && price.is_measured()) else { continue };
            let row =
                Row { group: price.group.clone(), name: price.name.clone(), variant: price.variant.clone() };
            let index = self.rows.iter().position(|known| *known == row).unwrap_or_else(|| {
                self.rows.push(row);
                self.costs.push(vec![None; at + 1]);
                self.rows.len() - 1
            });
            self.costs[index][at] = Some(ns.ln());
        }
        true
    }

    /// Calls machines of one name by other names, of which there is one for every machine: hosts that were cloned share theirs. Where such a
    /// name is that of another machine, which a list may have made up, it is numbered: no two are ever taken for one.
    pub fn tell_apart(&mut self, others: &[String]) {
        let mut often: BTreeMap<&str, usize> = BTreeMap::new();
        for machine in &self.machines {
            *often.entry(&machine.name).or_default() += 1;
        }
        let alone: BTreeSet<String> =
            often.into_iter().filter(|(_, times)| *times == 1).map(|(name, _)| name.to_owned()).collect();
        let mut taken = alone.clone();
        for (machine, other) in
            self.machines.iter_mut().zip(others).filter(|(it, _)| !alone.contains(&it.name))
        {
            let numbered = (2..).map(|nth| format!("{other} ({nth})"));
            let free = std::iter::once(other.clone()).chain(numbered).find(|name| !taken.contains(name));
            machine.name = free.unwrap_or_default();
            taken.insert(machine.name.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_of_one_name_are_told_apart_whatever_their_files_are_called() {
        let named = |names: &[&str], files: &[&str]| {
            let machine = |name: &&str| Machine { name: (*name).to_owned(), facts: Arc::default() };
            let mut fleet = Fleet { machines: names.iter().map(machine).collect(), ..Fleet::default() };
            fleet.tell_apart(&files.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
            fleet.machines.into_iter().map(|it| it.name).collect::<Vec<_>>()
        };
        assert_eq!(named(&["a", "b"], &["x", "y"]), ["a", "b"]);
        assert_eq!(named(&["debian", "debian"], &["n1", "n2"]), ["n1", "n2"]);
        // One that lies about its name takes nobody's place, and who told the truth keeps it.
        assert_eq!(named(&["n2", "n2", "n1"], &["n1", "n2", "n3"]), ["n1 (2)", "n2", "n1"]);
        assert_eq!(named(&["x"; 3], &["a", "a", "a"]), ["a", "a (2)", "a (3)"]);
    }
}
