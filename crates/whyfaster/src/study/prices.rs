//! Studies of prices: an article's rows and claims as data, judged by a price list of this machine.

use anyhow::Context;
use comfy_table::{CellAlignment, Table, presets};
use serde::{Deserialize, Serialize};
use whyfaster_core::claims::{Judgement, Outcome};
use whyfaster_core::price::claims::{Claim, judge, least_repetitions};
use whyfaster_core::price::project::{Term, parse};
use whyfaster_core::price::sum::{SumCheck, fork_execve};
use whyfaster_core::price::{Price, PriceList, Unit};

use super::claims::{claim_lines, tally};
use crate::reference;
use crate::render::units::{count, duration, time};

/// A study of prices as its file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceStudy {
    /// The word that selects it.
    pub name: String,
    /// One line for the list.
    pub title: String,
    /// What the article asks.
    pub question: String,
    /// The article.
    pub source: String,
    /// What it measured with.
    pub tool: String,
    /// What one operation is.
    pub unit: String,
    /// Probes to measure.
    pub words: Vec<String>,
    /// Built-in lists with the article's figures.
    pub references: Vec<String>,
    /// The rows of the table, `name/variant`.
    pub rows: Vec<String>,
    /// Counts to price on every machine.
    #[serde(default)]
    pub project: Option<String>,
    /// What the article claims.
    pub claims: Vec<Claim>,
}

const EMBEDDED: [&str; 2] = [
    include_str!("../../shared/studies/threads/study.json"),
    include_str!("../../shared/studies/syscalls/study.json"),
];

/// Every study of prices.
pub(super) fn all() -> anyhow::Result<Vec<PriceStudy>> {
    let read = |text: &&str| {
        serde_json::from_str(text).context("a study in this program cannot be read; please report it")
    };
    EMBEDDED.iter().map(read).collect()
}

/// The study of this name, if it is one of prices.
pub(super) fn find(name: &str) -> anyhow::Result<Option<PriceStudy>> {
    Ok(all()?.into_iter().find(|study| study.name == name))
}

/// A study beside a price list of this machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriceFindings {
    /// The study's name.
    pub name: String,
    /// The article's prices beside this machine's.
    pub rows: Vec<PriceRow>,
    /// What became of the claims.
    pub claims: Vec<Judgement>,
    /// The lists that stand beside as well, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<With>,
    /// Whether fork and execve together cost what they cost alone, on every machine that has all three.
    pub checks: Vec<SumCheck>,
}

/// A list that was set beside the article's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct With {
    /// Its name.
    pub name: String,
    /// What its prices are: a column holds one unit.
    pub unit: Unit,
    /// Its prices, by the rows of the table; null where it has none.
    pub typical: Vec<Option<f64>>,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriceRow {
    /// `name/variant`.
    pub row: String,
    /// The article's prices, by its lists; null where it gives none.
    pub article_ns: Vec<Option<f64>>,
    /// This machine's.
    pub here_ns: Option<f64>,
    /// Lower end of the interval.
    pub low_ns: Option<f64>,
    /// Upper end of the interval.
    pub high_ns: Option<f64>,
    /// Why there is none here.
    pub not_measured: Option<String>,
}

impl PriceStudy {
    /// The article's lists, with their names.
    pub fn lists(&self) -> anyhow::Result<Vec<(String, PriceList)>> {
        let open = |name: &String| {
            let list =
                reference::find(name)?.with_context(|| format!("there is no built-in list '{name}'"))?;
            Ok((name.clone(), list))
        };
        self.references.iter().map(open).collect()
    }

    /// The counts to price.
    pub fn terms(&self) -> anyhow::Result<Vec<Term>> {
        self.project.as_deref().map_or(Ok(Vec::new()), |text| parse(text).map_err(anyhow::Error::msg))
    }

    /// The rows that the study shows, and those that its claims and counts rest on: nothing else is measured.
    pub fn measured_rows(&self) -> Vec<String> {
        let mut rows = self.rows.clone();
        rows.extend(self.claims.iter().flat_map(|claim| claim.rows().map(str::to_owned)));
        rows.extend(self.terms().into_iter().flatten().map(|term| term.id()));
        rows
    }

    /// The least number of repetitions that decides any of its claims.
    pub fn least_repetitions(&self, confidence: f64) -> u32 {
        u32::try_from(least_repetitions(&self.claims, confidence)).unwrap_or(u32::MAX)
    }

    /// Sets a list of this machine beside the article.
    pub fn findings(&self, list: &PriceList, with: &[PriceList]) -> anyhow::Result<PriceFindings> {
        let references = self.lists()?;
        let price = |list: &PriceList, id: &str| -> Option<Price> {
            let (name, variant) = id.split_once('/')?;
            list.find(name, Some(variant)).cloned()
        };
        let row = |id: &String| {
            let here = price(list, id);
            PriceRow {
                row: id.clone(),
                article_ns: references
                    .iter()
                    .map(|(_, l)| price(l, id).and_then(|p| p.typical_ns()))
                    .collect(),
                here_ns: here.as_ref().and_then(Price::typical_ns),
                low_ns: here.as_ref().and_then(|p| p.low_ns),
                high_ns: here.as_ref().and_then(|p| p.high_ns),
                not_measured: here.map_or_else(|| Some("not measured".to_owned()), |p| p.not_measured),
            }
        };
        let beside = |other: &PriceList| With {
            name: other.name.clone(),
            unit: other.unit,
            typical: self.rows.iter().map(|id| price(other, id).and_then(|p| p.typical())).collect(),
        };
        Ok(PriceFindings {
            with: with.iter().map(beside).collect(),
            name: self.name.clone(),
            rows: self.rows.iter().map(row).collect(),
            claims: judge(&self.claims, list, &references),
            checks: references.iter().map(|(_, l)| l).chain([list]).filter_map(fork_execve).collect(),
        })
    }

    /// The report: a sentence, the table, the claims.
    pub fn text(&self, found: &PriceFindings, list: &PriceList) -> anyhow::Result<String> {
        let claims = tally(&found.claims);
        let mut lines = vec![
            format!("{}: {claims}.", self.title),
            String::new(),
            format!("The typical price of {}:", self.unit),
            String::new(),
            self.table(found)?,
            String::new(),
            format!("Article: {}; {}.", self.source, self.tool),
        ];
        for (name, reference) in self.lists()? {
            lines.push(format!("{name}: {}.", reference.name));
        }
        let clock = list.fingerprint.facts.cpu_model.as_deref().unwrap_or("unknown CPU");
        let kernel = list.fingerprint.facts.kernel.as_deref().unwrap_or("unknown kernel");
        lines.push(format!("here: {clock}, {kernel}."));
        lines.extend([String::new(), "The article's claims here:".into()]);
        lines.extend(claim_lines(&found.claims));
        lines.extend(self.more(found, list));
        lines.push(String::new());
        Ok(lines.join("\n"))
    }

    /// How an undecided claim gets the repetitions that it lacks.
    fn more(&self, found: &PriceFindings, list: &PriceList) -> Option<String> {
        // These words are those of the reasons that the claims carry.
        let lacking =
            |claim: &Judgement| claim.outcome == Outcome::Undecided && claim.why.contains("are needed");
        let has = list.prices.iter().map(|price| price.repetitions).max().unwrap_or(0);
        found.claims.iter().any(lacking).then(|| {
            format!(
                "This run had {has} repetitions in {}; a longer --max-time, or --full, gives more of them. No claim is decided by fewer than {}.",
                duration(list.took_s),
                self.least_repetitions(list.confidence)
            )
        })
    }

    fn table(&self, found: &PriceFindings) -> anyhow::Result<String> {
        let us = |ns: Option<f64>| ns.map_or_else(|| "not measured".to_owned(), |ns| time(ns * 1e-9, None));
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        let mut header = vec!["operation".to_owned()];
        header.extend(self.references.iter().cloned());
        header.extend(["here".to_owned(), "interval".to_owned()]);
        header.extend(found.with.iter().map(|list| list.name.clone()));
        table.set_header(header);
        for (at, row) in found.rows.iter().enumerate() {
            let mut cells = vec![row.row.clone()];
            cells.extend(row.article_ns.iter().map(|ns| us(*ns)));
            cells.push(us(row.here_ns));
            cells.push(match (row.low_ns, row.high_ns) {
                (Some(low), Some(high)) => format!("{} to {}", us(Some(low)), us(Some(high))),
                _ if row.here_ns.is_some() => "too few repetitions".to_owned(),
                _ => row.not_measured.clone().unwrap_or_default(),
            });
            cells.extend(found.with.iter().map(|list| match (list.typical[at], list.unit) {
                (Some(value), Unit::GuestInstructions) => format!("{} instr", count(value)),
                (value, _) => us(value),
            }));
            table.add_row(cells);
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_cell_alignment(if index == 0 { CellAlignment::Left } else { CellAlignment::Right });
        }
        Ok(table.trim_fmt())
    }
}

#[cfg(test)]
mod tests {
    use whyfaster_core::price::sample::row_id;

    use super::*;
    use crate::run::probe::select::{Wanted, select};
    use crate::worker::rows::variant;

    #[test]
    fn every_study_is_whole() {
        for study in all().unwrap() {
            assert!(!study.question.is_empty() && !study.claims.is_empty());
            let lists = study.lists().unwrap();
            study.terms().unwrap();
            for row in &study.rows {
                let (name, variant) = row.split_once('/').unwrap();
                let word = |word: &String| word.rsplit('/').next() == Some(name);
                assert!(study.words.iter().any(word), "{row}");
                assert!(lists.iter().all(|(_, list)| list.find(name, Some(variant)).is_some()), "{row}");
            }
            let numbers: Vec<u32> = study.claims.iter().map(|claim| claim.number).collect();
            assert_eq!(numbers, (1..=u32::try_from(numbers.len()).unwrap()).collect::<Vec<_>>());
        }
    }

    /// The same figures as if they were counts.
    fn instructions(list: &PriceList) -> PriceList {
        let mut list = PriceList { unit: Unit::GuestInstructions, ..list.clone() };
        for price in &mut list.prices {
            let mean = price.mean_ns.take();
            price.instructions = Some(whyfaster_core::price::inside::Figures { mean, ..Default::default() });
        }
        list
    }

    /// The rows of a study, and no others, come out of its words.
    #[test]
    fn a_study_measures_what_it_shows() {
        let probes = whyfaster_probe::descriptions();
        for (study, lines) in all().unwrap().iter().zip([15, 10]) {
            let (words, rows) = (study.words.clone(), study.measured_rows());
            let wanted = Wanted { words, rows: rows.clone(), cpus: vec![0, 1], ..Wanted::default() };
            let selection = select(&probes, &wanted).unwrap();
            assert_eq!(selection.lines.len(), lines, "{}", study.name);
            let ids: Vec<String> = selection
                .lines
                .iter()
                .flat_map(|line| {
                    let probe = probes.iter().find(|probe| probe.name == line.probe).unwrap();
                    probe.measures.iter().map(|m| row_id(&probe.name, &variant(probe, &line.head(), m)))
                })
                .collect();
            assert!(rows.iter().all(|row| ids.contains(row)), "{}: {rows:?} of {ids:?}", study.name);
        }
    }

    /// A reference list in the place of this machine: its claims are undecided for want of a spread, its rows are there.
    #[test]
    fn findings_need_only_a_list() {
        let study = find("syscalls").unwrap().unwrap();
        let debian = reference::find("debian-2.6.32").unwrap().unwrap();
        let found = study.findings(&debian, &[instructions(&debian)]).unwrap();
        assert_eq!(found.rows[0].here_ns, found.rows[0].article_ns[1]);
        assert_eq!(found.checks.len(), 4);
        let text = study.text(&found, &debian).unwrap();
        assert_eq!(found.with[0].unit, Unit::GuestInstructions);
        assert!(text.contains("143k instr"), "{text}");
        for part in ["417 us", "143 us", "not measured", "The article's claims here:", "2.6.32-5"] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(find("pipes").unwrap().is_none());
    }
}
