//! What a study found: the article's figures beside this machine's, and what became of its claims.

use serde::Serialize;
use whyfaster_core::claims::{self, Evidence, Judgement, Measured, NotCompared, Runs, compared, judge};
use whyfaster_core::missing::NotMeasured;
use whyfaster_core::plan::Alternative;
use whyfaster_core::price::project::{Projection, project};
use whyfaster_core::price::sum::{SumCheck, fork_execve};
use whyfaster_core::price::{Price, PriceList};
use whyfaster_core::record::Record;
use whyfaster_core::sample::Arm;
use whyfaster_core::studied::{LeftOut, Made, Placed, Studied, TracedRun};
use whyfaster_core::trace::occupancy::CpuRow;
use whyfaster_core::trace::report::{SharerKind, TraceReport, Untraced};
use whyfaster_core::trace::tally::Tally;
use whyfaster_core::verdict::{Ratio, Verdict};
use whyfaster_words as words;
use whyfaster_words::Tell;

use super::ladder_findings::OfLadder;
use crate::study::{Commands, Figure, INPUT_SEED, Study};
use whyfaster_stats::order::largest_first;

/// A study beside what was measured.
#[derive(Debug, Serialize)]
pub struct Findings {
    /// The study's name.
    pub name: String,
    /// The article's figures beside this machine's.
    #[serde(flatten)]
    pub figures: Figures,
    /// What became of the claims.
    #[serde(serialize_with = "words::claims::judgements")]
    pub claims: Vec<Judgement>,
}

/// Figures of commands or of prices.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Figures {
    /// Of commands.
    Commands(Box<OfCommands>),
    /// Of prices.
    Prices(OfPrices),
    /// Of engines.
    Ladder(OfLadder),
}

/// What was found about commands.
#[derive(Debug, Serialize)]
pub struct OfCommands {
    /// Lines or items of input.
    pub amount: u32,
    /// The input, if the record tells of it.
    pub input: Option<InputFacts>,
    /// The article's ratios beside this machine's, by load.
    pub levels: Vec<AtLoad>,
    /// A row for each command that ran, alone.
    pub rows: Vec<Row>,
    /// Those that did not, with why.
    #[serde(serialize_with = "crate::study::words::left_out")]
    pub left_out: Vec<LeftOut>,
    /// What the traces could not see, and why.
    #[serde(serialize_with = "crate::study::words::not_traced")]
    pub not_traced: Vec<NotMeasured>,
    /// The file system that the commands read from, where the study asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_system: Option<Made>,
    /// Whether the page cache was dropped before each run, where the study asks for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caches_dropped: Option<bool>,
    /// Where the commands ran, where the study asks for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placed: Option<Vec<Placed>>,
}

/// What was made as input. A record keeps it as parameters of its alternatives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputFacts {
    /// Its lines.
    pub lines: String,
    /// Its seed.
    pub seed: String,
}

/// One load: the article's ratio beside this machine's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtLoad {
    /// Copies at once.
    pub load: u32,
    /// The article's ratio of elapsed times, where it gives one.
    pub article_ratio: Option<f64>,
    /// The article's ratio of CPU times, where it gives one.
    pub article_work: Option<f64>,
    /// This machine's ratio of elapsed times.
    pub ratio: Option<Ratio>,
    /// Its verdict.
    pub verdict: Option<Verdict>,
    /// Its ratio of CPU times.
    pub work: Option<Ratio>,
    /// Why there is no ratio here.
    #[serde(serialize_with = "crate::study::words::not_compared")]
    pub missing: Option<NotCompared>,
}

/// A command alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Which.
    pub alternative: String,
    /// Median time of untraced runs, seconds.
    pub median_s: Option<f64>,
    /// Its time over the baseline's.
    pub ratio: Option<Ratio>,
    /// The verdict.
    pub verdict: Option<Verdict>,
    /// What its first trace counted.
    pub counted: Option<Tally>,
    /// Time of the traced run over the median of untraced ones.
    pub traced_over_untraced: Option<f64>,
    /// The range of that ratio, and whether it can be told from 1.
    pub untraced: Option<Untraced>,
    /// The article's figures.
    pub article: Option<Figure>,
}

/// What was found about prices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfPrices {
    /// The article's prices beside this machine's.
    pub rows: Vec<PriceRow>,
    /// What the study's counts cost on every machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projection: Option<Projection>,
    /// Whether fork and execve together cost what they cost alone, on every machine that has all three.
    #[serde(serialize_with = "words::claims::sums")]
    pub checks: Vec<SumCheck>,
}

/// A row of the table of prices.
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

impl Findings {
    /// Sets a record and what was observed beside the article.
    pub fn of_commands(study: &Study, commands: &Commands, record: &Record, observed: &Studied) -> Self {
        let runs = Runs {
            pair: commands.pair(),
            plan: &record.plan,
            host: &record.host,
            batches: &record.batches,
            analysis: &record.analysis,
            tallies: &observed.tallies,
            left_out: &observed.left_out,
            reads: observed.file_system.as_ref().map(|made| made.kind),
        };
        let parameters = record.plan.alternatives.first().map(|alternative| &alternative.parameters);
        let parameter = |name: &str| parameters.and_then(|parameters| parameters.get(name)).cloned();
        let amount = parameter(&commands.unit);
        let row = |alternative: &Alternative| {
            let of_it = observed.tallies.iter().find(|(name, _)| *name == alternative.name);
            Row::of(record, &alternative.name, of_it.map(|(_, tally)| tally), study)
        };
        let figures = OfCommands {
            amount: amount.as_ref().and_then(|amount| amount.parse().ok()).unwrap_or(0),
            input: amount.zip(parameter(INPUT_SEED)).map(|(lines, seed)| InputFacts { lines, seed }),
            levels: levels(study, &runs),
            rows: record.plan.alternatives.iter().map(row).collect(),
            left_out: observed.left_out.clone(),
            not_traced: observed.missing.clone(),
            file_system: observed.file_system.clone(),
            caches_dropped: commands.drop_caches.then_some(record.plan.drop_caches),
            placed: commands.shows_cpus().then(|| observed.placed.clone()),
        };
        Self {
            name: study.name.clone(),
            figures: Figures::Commands(Box::new(figures)),
            claims: judge(&study.claims, &Measured { runs: Some(runs), prices: None }),
        }
    }

    /// Sets a price list of this machine beside the article.
    pub fn of_prices(study: &Study, list: &PriceList) -> anyhow::Result<Self> {
        let references = study.lists()?;
        let rows = study.rows();
        let prices = claims::Prices { list, references: &references };
        let lists = references.iter().map(|(_, list)| list);
        let terms = study.terms()?;
        let machines: Vec<PriceList> = lists.clone().chain([list]).cloned().collect();
        let claims = judge(&study.claims, &Measured { runs: None, prices: Some(prices) });
        // A sum that is claimed has one interval and one verdict.
        let claimed = claims.iter().find_map(|claim| match &claim.evidence {
            Evidence::Sum(check) => Some(check.clone()),
            _ => None,
        });
        let here = claimed.or_else(|| fork_execve(list));
        let figures = OfPrices {
            rows: rows.iter().map(|id| PriceRow::of(id, list, lists.clone())).collect(),
            projection: (!terms.is_empty()).then(|| project(&machines, &terms).told()),
            checks: lists.filter_map(fork_execve).chain(here).collect(),
        };
        Ok(Self { name: study.name.clone(), figures: Figures::Prices(figures), claims })
    }

    /// What a price list of engines says.
    pub fn of_ladder(study: &Study, list: &PriceList) -> Self {
        let prices = claims::Prices { list, references: &[] };
        Self {
            name: study.name.clone(),
            figures: Figures::Ladder(OfLadder::of(list)),
            claims: judge(&study.claims, &Measured { runs: None, prices: Some(prices) }),
        }
    }
}

/// The article's figures and this machine's levels, by load: every load that either of them has.
fn levels(study: &Study, runs: &Runs<'_>) -> Vec<AtLoad> {
    let figures = study.article.figures.iter().map(|figure| figure.load);
    let mut loads: Vec<u32> = figures.chain(runs.analysis.levels.iter().map(|level| level.load)).collect();
    loads.sort_unstable();
    loads.dedup();
    let level = |load| {
        let figure = |command| study.figure(command, load);
        let both = figure(runs.pair.alternative).zip(figure(runs.pair.baseline));
        let found = compared(runs, load);
        let here = found.as_ref().ok();
        AtLoad {
            load,
            article_ratio: both.map(|(alternative, baseline)| alternative.real_s / baseline.real_s),
            article_work: both.map(|(alternative, baseline)| alternative.work_s() / baseline.work_s()),
            ratio: here.map(|c| Ratio { ratio: c.ratio, low: c.low, high: c.high }),
            verdict: here.map(|c| c.verdict),
            work: here.and_then(|c| c.work),
            missing: found.err(),
        }
    };
    loads.into_iter().map(level).collect()
}

impl Row {
    fn of(record: &Record, name: &str, tally: Option<&Tally>, study: &Study) -> Self {
        let level = record.analysis.levels.iter().find(|level| level.load == 1);
        let result = level.and_then(|level| level.results.iter().find(|it| it.alternative == name));
        let compared = level.and_then(|level| level.comparisons.iter().find(|it| it.alternative == name));
        let median_s = result.map(|result| result.makespan_s.median);
        Self {
            alternative: name.to_owned(),
            median_s,
            ratio: compared.map(|c| Ratio { ratio: c.ratio, low: c.low, high: c.high }),
            verdict: compared.map(|c| c.verdict),
            counted: tally.cloned(),
            traced_over_untraced: tally.zip(median_s).map(|(tally, median)| tally.traced_s / median),
            untraced: tally.and_then(|tally| Untraced::of(tally.traced_s, &alone(record, name))),
            article: study.figure(name, 1).cloned(),
        }
    }
}

/// Seconds of each untraced run of one copy alone.
fn alone(record: &Record, name: &str) -> Vec<f64> {
    let is_it = |arm: Arm| match arm {
        Arm::Alternative(index) => record.plan.alternatives.get(index).is_some_and(|it| it.name == name),
        _ => false,
    };
    let batches = record.batches.iter().filter(|batch| batch.load == 1 && is_it(batch.arm));
    batches.filter(|batch| !batch.timed_out()).map(|batch| batch.makespan_s).collect()
}

impl OfCommands {
    /// The row of this command.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.alternative == name)
    }
}

/// What the first traced run of a command shows.
pub fn placed(alternative: &str, report: &TraceReport, tally: &Tally, cpus: Vec<CpuRow>) -> Placed {
    Placed {
        alternative: alternative.to_owned(),
        wall_s: report.wall_s,
        runs: vec![traced_run(tally, &cpus)],
        cpus,
        behind: report.cpu_sharers.clone(),
        avoidable_s: report.avoidable_wait_s,
        avoidable_longest_s: report.avoidable_longest_s,
        avoidable: report.avoidable,
        report: report.clone(),
        hottest: Vec::new(),
        flamegraph: None,
    }
}

/// The numbers of a traced run, from what was counted and from who had the CPUs.
pub fn traced_run(tally: &Tally, cpus: &[CpuRow]) -> TracedRun {
    TracedRun {
        wall_s: tally.traced_s,
        kernel_s: (!cpus.is_empty()).then(|| kernel(cpus).iter().map(|(_, s)| s).sum()),
        behind_kernel_s: tally.behind_kernel_s,
        avoidable_s: tally.avoidable_s,
        strangers: tally.strangers,
    }
}

/// Seconds that threads of the kernel ran, by name, the longest first.
pub fn kernel(cpus: &[CpuRow]) -> Vec<(String, f64)> {
    sums(cpus.iter().filter(|row| row.kind == SharerKind::Kernel))
}

/// Seconds by name, the longest first.
pub fn sums<'a>(rows: impl Iterator<Item = &'a CpuRow>) -> Vec<(String, f64)> {
    let mut sums: Vec<(String, f64)> = Vec::new();
    for row in rows {
        match sums.iter_mut().find(|(name, _)| *name == row.who) {
            Some((_, seconds)) => *seconds += row.seconds,
            None => sums.push((row.who.clone(), row.seconds)),
        }
    }
    largest_first(&mut sums, |it| it.1);
    sums
}

fn price<'a>(list: &'a PriceList, id: &str) -> Option<&'a Price> {
    let (name, variant) = id.split_once('/')?;
    list.find(name, Some(variant))
}

impl PriceRow {
    fn of<'a>(id: &str, list: &PriceList, article: impl Iterator<Item = &'a PriceList>) -> Self {
        let here = price(list, id);
        Self {
            row: id.to_owned(),
            article_ns: article.map(|list| price(list, id).and_then(Price::typical_ns)).collect(),
            here_ns: here.and_then(Price::typical_ns),
            low_ns: here.and_then(|price| price.low_ns),
            high_ns: here.and_then(|price| price.high_ns),
            not_measured: here
                .map_or_else(|| Some("not measured".to_owned()), |price| price.not_measured.clone()),
        }
    }
}
