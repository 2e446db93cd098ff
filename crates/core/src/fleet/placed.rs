//! Every price of every machine beside its group: what a reader gets who wants the machines one by one.

use super::outliers::middles;
use super::{Fleet, PriceReport, Row};

/// A price of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed<'a> {
    /// The row.
    pub row: &'a Row,
    /// The price, nanoseconds.
    pub ns: f64,
    /// The same over the median of the machine's group; `None` where too few of the group have that price.
    pub over_group: Option<f64>,
    /// Whether the machine stands out in this row by itself.
    pub stands_out: bool,
}

/// A fleet, its report, and the middle of every row in every group.
#[derive(Clone, Debug)]
pub struct Placing<'a> {
    fleet: &'a Fleet,
    report: &'a PriceReport,
    /// The group of every machine.
    pub group_of: Vec<usize>,
    middles: Vec<Vec<Option<f64>>>,
}

impl<'a> Placing<'a> {
    /// Of a fleet and what was reported of it.
    pub fn of(fleet: &'a Fleet, report: &'a PriceReport) -> Self {
        let mut group_of = vec![0; fleet.machines.len()];
        for (at, group) in report.groups.iter().enumerate() {
            group.group.machines.iter().for_each(|machine| group_of[*machine] = at);
        }
        let middles = fleet.costs.iter().map(|row| middles(row, &group_of)).collect();
        Self { fleet, report, group_of, middles }
    }

    /// The prices of a machine, in the order of the rows.
    pub fn machine(&self, at: usize) -> impl Iterator<Item = Placed<'a>> + '_ {
        let (fleet, group) = (self.fleet, self.group_of[at]);
        let name = &fleet.machines[at].name;
        let off = self.report.outliers.iter().find(|it| it.machine == *name).map(|it| &it.rows);
        fleet.rows.iter().enumerate().filter_map(move |(index, row)| {
            let ln = fleet.costs[index][at]?;
            let middle = self.middles[index].get(group).copied().flatten();
            Some(Placed {
                row,
                ns: ln.exp(),
                over_group: middle.map(|middle| (ln - middle).exp()),
                stands_out: off.is_some_and(|rows| rows.iter().any(|it| it.row == *row)),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::super::simulated::{Planted, fleet};
    use super::*;

    #[test]
    fn a_machine_is_beside_its_own_group() {
        let planted = Planted { machines: 40, off: 1, by: 0.7, cpu: 0.5, ..Planted::default() };
        let fleet = fleet(&planted);
        let report = report(&fleet);
        let placing = Placing::of(&fleet, &report);
        for (at, machine) in fleet.machines.iter().enumerate() {
            let placed: Vec<Placed<'_>> = placing.machine(at).collect();
            assert_eq!(placed.len(), fleet.rows.len());
            let middle =
                placed.iter().map(|it| it.over_group.unwrap().ln()).sum::<f64>() / placed.len() as f64;
            let truth = if planted.is_off(&machine.name) { 0.7 } else { 0.0 };
            assert!((middle - truth).abs() < 0.05, "{}: {middle}", machine.name);
            assert_eq!(placed.iter().any(|it| it.stands_out), planted.is_off(&machine.name));
        }
    }
}
