//! Tables of a fleet, one thing a line: a machine's price, a machine's ratio, the change of a row.

use whyfaster_core::fleet::change::ChangeReport;
use whyfaster_core::fleet::placed::Placing;
use whyfaster_core::fleet::questions::{Answered, Arrivals};
use whyfaster_core::fleet::{Fleet, PriceReport};
use whyfaster_core::verdict::Verdict;

use super::csv::Csv;
use super::parquet::Parquet;
use super::rows::Kind::{Count, Flag, Real, Text};
use super::rows::{Cell, Column, Rows};
use whyfaster_words::fleet as words;

/// What a table is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line a row. What is not known is empty.
    Csv,
    /// Columns with types. What is not known is null.
    Parquet,
}

impl Format {
    /// An empty table with these columns.
    fn table(self, columns: &'static [Column]) -> anyhow::Result<Box<dyn Rows>> {
        Ok(match self {
            Self::Csv => Box::new(Csv::new(columns)?),
            Self::Parquet => Box::new(Parquet::new(columns)),
        })
    }
}

const PRICES: &[Column] = &[
    ("machine", Text),
    ("machines_like_it", Text),
    ("group", Text),
    ("name", Text),
    ("variant", Text),
    ("price_ns", Real),
    ("over_group", Real),
    ("stands_out", Flag),
];

/// Every price of every machine.
pub fn prices(fleet: &Fleet, report: &PriceReport, format: Format) -> anyhow::Result<Vec<u8>> {
    let mut table = format.table(PRICES)?;
    let alike: Vec<String> = report.groups.iter().map(|it| words::group(&it.group)).collect();
    let placing = Placing::of(fleet, report);
    for (at, machine) in fleet.machines.iter().enumerate() {
        let alike = alike.get(placing.group_of[at]).map_or("", String::as_str);
        for it in placing.machine(at) {
            table.row(&[
                Cell::Text(&machine.name),
                Cell::Text(alike),
                Cell::Text(&it.row.group),
                Cell::Text(&it.row.name),
                Cell::Text(&it.row.variant),
                Cell::Real(Some(it.ns)),
                Cell::Real(it.over_group),
                Cell::Flag(Some(it.stands_out)),
            ])?;
        }
    }
    table.finish()
}

const COMPARISONS: &[Column] = &[
    ("alternative", Text),
    ("command", Text),
    ("baseline", Text),
    ("baseline_command", Text),
    ("load", Count),
    ("machine", Text),
    ("machines_like_it", Text),
    ("ratio", Real),
    ("low", Real),
    ("high", Real),
    ("verdict", Text),
    ("mode", Text),
    ("starts_per_s", Real),
];

/// What every machine says to every comparison.
pub fn comparisons(answered: &[Answered], format: Format) -> anyhow::Result<Vec<u8>> {
    let mut table = format.table(COMPARISONS)?;
    for Answered { question, report } in answered {
        let mut alike = vec![String::new(); report.machines.len()];
        for group in &report.groups {
            group.group.machines.iter().for_each(|at| alike[*at] = words::group(&group.group));
        }
        for (it, alike) in report.machines.iter().zip(&alike) {
            table.row(&[
                Cell::Text(&question.alternative),
                Cell::Text(&question.command),
                Cell::Text(&question.baseline),
                Cell::Text(&question.baseline_command),
                Cell::Count(Some(question.load as usize)),
                Cell::Text(&it.machine),
                Cell::Text(alike),
                Cell::Real(Some(it.ratio.ratio)),
                Cell::Real(it.ratio.low),
                Cell::Real(it.ratio.high),
                Cell::Text(verdict(it.verdict)),
                Cell::Text(question.arrivals.map_or("batch", Arrivals::mode)),
                Cell::Real(question.arrivals.and_then(Arrivals::starts_per_s)),
            ])?;
        }
    }
    table.finish()
}

const CHANGES: &[Column] = &[
    ("group", Text),
    ("name", Text),
    ("variant", Text),
    ("machines_like_it", Text),
    ("ratio", Real),
    ("low", Real),
    ("high", Real),
    ("machines", Count),
    ("p_value", Real),
    ("changed", Flag),
];

/// What changed: every row over all machines, then in each group of them.
pub fn changes(report: &ChangeReport, format: Format) -> anyhow::Result<Vec<u8>> {
    let mut table = format.table(CHANGES)?;
    for it in &report.rows {
        let row = [Cell::Text(&it.row.group), Cell::Text(&it.row.name), Cell::Text(&it.row.variant)];
        let all: [Cell<'_>; 7] = [
            Cell::Text(""),
            Cell::Real(Some(it.ratio.ratio)),
            Cell::Real(it.ratio.low),
            Cell::Real(it.ratio.high),
            Cell::Count(Some(it.machines)),
            Cell::Real(Some(it.p_value)),
            Cell::Flag(Some(it.changed)),
        ];
        table.row(&[&row[..], &all].concat())?;
        let several = report.groups.iter().zip(&it.by_group).filter(|_| report.groups.len() > 1);
        for (group, ratio) in several {
            let alike = words::group(group);
            let of_group: [Cell<'_>; 7] = [
                Cell::Text(&alike),
                Cell::Real(*ratio),
                Cell::Real(None),
                Cell::Real(None),
                Cell::Count(None),
                Cell::Real(None),
                Cell::Flag(None),
            ];
            table.row(&[&row[..], &of_group].concat())?;
        }
    }
    table.finish()
}

/// The word that records and the store have for it.
pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    }
}
