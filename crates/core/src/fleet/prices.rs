//! What the prices of a fleet say.

use serde::{Deserialize, Serialize};

use super::outliers::{Found, LEAST_MACHINES, Outlier, outliers};
use super::split::{Group, Split, split};
use super::{Fleet, Row};
use crate::price::fingerprint::Fact;
use crate::verdict::Ratio;
use whyfaster_stats::quantile;

/// The prices of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PriceReport {
    /// Names of the machines.
    pub machines: Vec<String>,
    /// How far each of them is off its group over all rows; null where that cannot be told.
    #[serde(default)]
    pub distances: Vec<Option<Ratio>>,
    /// Every row over the machines, in the order of the lists.
    pub rows: Vec<RowSpread>,
    /// The facts that explain how prices vary, the one that explains most first.
    pub splits: Vec<Split>,
    /// Machines that are alike in all of these.
    pub groups: Vec<GroupPrices>,
    /// Machines that stand out of their group, the most striking first.
    pub outliers: Vec<Outlier>,
    /// Machines whose group is too small for one of them to stand out.
    pub alone: Vec<String>,
    /// The share of the machines named that may be wrong.
    pub rate: f64,
}

impl PriceReport {
    /// Machines of groups that are large enough, which have too few of the rows that the others have for it to be told how far they are off.
    pub fn not_told(&self) -> impl Iterator<Item = &str> {
        let any = self.distances.iter().any(Option::is_some);
        let each =
            self.machines.iter().zip(&self.distances).filter(move |(_, distance)| any && distance.is_none());
        each.map(|(name, _)| name.as_str()).filter(|name| !self.alone.iter().any(|it| it == name))
    }
}

/// A group and what it charges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupPrices {
    /// The machines.
    #[serde(flatten)]
    pub group: Group,
    /// Its prices over those of the fleet: the median of the rows.
    pub factor: Option<f64>,
}

/// One row over the machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowSpread {
    /// The row.
    #[serde(flatten)]
    pub row: Row,
    /// Machines that have a price.
    pub machines: usize,
    /// The cheapest machine, nanoseconds.
    pub least_ns: f64,
    /// 5th percentile of the machines.
    pub p5_ns: f64,
    /// Median of the machines.
    pub median_ns: f64,
    /// 95th percentile of the machines.
    pub p95_ns: f64,
    /// The dearest machine.
    pub most_ns: f64,
    /// The fact that explains most of its variance between machines, if one does, and that share.
    pub explained_by: Option<(Fact, f64)>,
}

/// Reads a fleet.
pub fn report(fleet: &Fleet) -> PriceReport {
    let splits = split(&fleet.machines, &fleet.costs);
    let names: Vec<&str> = fleet.machines.iter().map(|it| it.name.as_str()).collect();
    let Found { outliers, distances } =
        outliers(&fleet.machines, &fleet.rows, &fleet.costs, &splits.group_of);
    let rows = (0..fleet.rows.len()).filter_map(|at| spread(fleet, &splits.facts, at)).collect();
    let small = splits.groups.iter().filter(|group| group.machines.len() < LEAST_MACHINES);
    let alone = small.flat_map(|group| &group.machines).map(|at| names[*at].to_owned()).collect();
    let groups = splits.groups.into_iter();
    let groups = groups.map(|group| GroupPrices { factor: factor(fleet, &group), group }).collect();
    PriceReport {
        machines: names.into_iter().map(str::to_owned).collect(),
        distances,
        rows,
        splits: splits.facts,
        groups,
        outliers,
        alone,
        rate: super::RATE,
    }
}

fn factor(fleet: &Fleet, group: &Group) -> Option<f64> {
    let off = fleet.costs.iter().filter_map(|row| {
        let here: Vec<f64> = group.machines.iter().filter_map(|at| row[*at]).collect();
        let all: Vec<f64> = row.iter().flatten().copied().collect();
        Some(quantile::median(&here)? - quantile::median(&all)?)
    });
    Some(quantile::median(&off.collect::<Vec<_>>())?.exp())
}

fn spread(fleet: &Fleet, splits: &[Split], at: usize) -> Option<RowSpread> {
    let sorted = quantile::sorted(fleet.costs[at].iter().flatten().map(|ln| ln.exp()));
    let of = |q| quantile::of_sorted(&sorted, q);
    let shares = splits.iter().map(|split| (split.fact, split.shares[at])).filter(|(_, share)| *share > 0.0);
    Some(RowSpread {
        row: fleet.rows[at].clone(),
        machines: sorted.len(),
        least_ns: of(0.0)?,
        p5_ns: of(0.05)?,
        median_ns: of(0.5)?,
        p95_ns: of(0.95)?,
        most_ns: of(1.0)?,
        explained_by: shares.reduce(|a, b| if b.1 > a.1 { b } else { a }),
    })
}
