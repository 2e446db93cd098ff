//! The study of dispatchers: the same small jobs handed out in several ways, timed untraced and counted traced.

use std::ffi::OsStr;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use whyfaster_core::claims::{Judgement, Pair};
use whyfaster_core::plan::{Alternative, Loads, Plan, Rounds, Shell, defaults};
use whyfaster_core::record::Record;
use whyfaster_core::trace::claims::{Claim, Tally, judge};
use whyfaster_core::verdict::{Ratio, Verdict};

use super::Need;
use super::workdir::is_on;
use crate::exit::{Exit, Failure};

/// What stands for the number of items in a command line.
const ITEMS: &str = "@ITEMS@";
/// The parameter under which a record keeps it.
const PARAMETER: &str = "items";

/// The study as its file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DispatchStudy {
    /// The word that selects it.
    pub name: String,
    /// One line for the list.
    pub title: String,
    /// What the article asks.
    pub question: String,
    /// Name of the baseline.
    pub baseline: String,
    /// Name of the alternative that the claims are about.
    pub alternative: String,
    /// What is compared.
    pub dispatchers: Vec<Dispatcher>,
    /// Programs that must be installed.
    pub needs: Vec<Need>,
    /// What runs without options, and with `--full`: it is the article's size already.
    pub default: Size,
    /// What runs with `--quick`.
    pub quick: Size,
    /// What the article measured.
    pub article: Article,
    /// What it claims.
    pub claims: Vec<Claim>,
}

/// A way to hand out jobs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dispatcher {
    /// Its name.
    pub name: String,
    /// The kernel's name of the process that hands out.
    pub process: String,
    /// The command line, for a shell.
    pub command: String,
}

/// How large a run is.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Items to hand out.
    pub items: u32,
    /// Rounds and time.
    pub rounds: Rounds,
}

/// What the article measured, and where.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Article {
    /// The article.
    pub source: String,
    /// What it measured with.
    pub tool: String,
    /// Its machine.
    pub machine: String,
    /// Its items.
    pub items: u32,
    /// Its figures.
    pub figures: Vec<Figure>,
}

/// The article's figures of one dispatcher. Calls are those of the dispatching process alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Which.
    pub dispatcher: String,
    /// Elapsed time, seconds.
    pub real_s: f64,
    /// User CPU time.
    pub user_s: f64,
    /// System CPU time.
    pub system_s: f64,
    /// Calls of clone, failed ones among them.
    pub own_forks: u64,
    /// How many of them failed.
    pub own_failed_forks: u64,
    /// Calls of wait4.
    pub own_waits: u64,
    /// System CPU time within both.
    pub own_fork_wait_cpu_s: f64,
}

/// A dispatcher as it was found here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Which.
    pub dispatcher: String,
    /// Median time of untraced runs, seconds.
    pub median_s: Option<f64>,
    /// Its time over the baseline's.
    pub ratio: Option<Ratio>,
    /// The verdict.
    pub verdict: Option<Verdict>,
    /// What its trace counted.
    pub counted: Option<Tally>,
    /// Time of the traced run over the median of untraced ones.
    pub traced_over_untraced: Option<f64>,
    /// The article's figures.
    pub article: Option<Figure>,
}

/// Dispatchers that are not installed, with what is missing.
pub type LeftOut = Vec<(String, String)>;

/// What the study found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DispatchFindings {
    /// The study's name.
    pub name: String,
    /// Items that were handed out.
    pub items: u32,
    /// A row for each dispatcher that is installed.
    pub rows: Vec<Row>,
    /// Those that are not, with what is missing.
    pub left_out: LeftOut,
    /// What the traces could not see, and why.
    pub not_traced: Vec<String>,
    /// What became of the claims.
    pub claims: Vec<Judgement>,
}

const EMBEDDED: &str = include_str!("../../../../studies/dispatch/study.json");

/// The study.
pub fn dispatch() -> anyhow::Result<DispatchStudy> {
    serde_json::from_str(EMBEDDED).context("a study in this program cannot be read; please report it")
}

impl DispatchStudy {
    /// The pair that the claims are about.
    pub fn pair(&self) -> Pair<'_> {
        Pair { alternative: &self.alternative, baseline: &self.baseline }
    }

    /// The size that is asked for.
    pub fn size(&self, quick: bool) -> &Size {
        if quick { &self.quick } else { &self.default }
    }

    /// The dispatchers whose programs are there, and those left out with what is missing.
    pub fn installed(&self, path: &OsStr) -> Result<(Vec<&Dispatcher>, LeftOut), Failure> {
        if let Some(need) = self.needs.iter().find(|need| !is_on(path, &need.program)) {
            let message =
                format!("study {} needs {}, which is not on the search path", self.name, need.program);
            return Err(Failure::new(Exit::Unfit, message, need.install.clone()));
        }
        let (there, missing): (Vec<_>, Vec<_>) =
            self.dispatchers.iter().partition(|dispatcher| is_on(path, dispatcher.program()));
        let missing =
            missing.into_iter().map(|d| (d.name.clone(), format!("{} is not installed", d.program())));
        Ok((there, missing.collect()))
    }

    /// What is compared, untraced.
    pub fn plan(&self, dispatchers: &[&Dispatcher], size: &Size, seed: u64, max_time_s: Option<f64>) -> Plan {
        let alternatives = dispatchers.iter().map(|dispatcher| dispatcher.alternative(size.items)).collect();
        let mut plan = Plan {
            baseline: dispatchers.iter().position(|d| d.name == self.baseline).unwrap_or(0),
            shell: Shell::Command(vec![defaults::SHELL.to_owned()]),
            loads: Loads::Fixed(vec![1]),
            rounds: size.rounds,
            ..Plan::new(alternatives, seed)
        };
        if let Some(seconds) = max_time_s {
            (plan.rounds.max_time_s, plan.rounds.max_time_hard) = (seconds, true);
        }
        plan
    }

    /// Sets times and counts beside the article. `tallies` are what the traces counted, by dispatcher.
    pub fn findings(
        &self,
        record: &Record,
        tallies: &[(String, Tally)],
        left_out: LeftOut,
        not_traced: Vec<String>,
    ) -> DispatchFindings {
        let tally = |name: &str| tallies.iter().find(|(known, _)| known == name).map(|(_, tally)| tally);
        let row = |alternative: &Alternative| {
            let level = record.analysis.levels.iter().find(|level| level.load == 1);
            let name = &alternative.name;
            let result = level.and_then(|level| level.results.iter().find(|r| r.alternative == *name));
            let compared = level.and_then(|level| level.comparisons.iter().find(|c| c.alternative == *name));
            let median_s = result.map(|result| result.makespan_s.median);
            let counted = tally(name).cloned();
            Row {
                dispatcher: name.clone(),
                median_s,
                ratio: compared.map(|c| Ratio { ratio: c.ratio, low: c.low, high: c.high }),
                verdict: compared.map(|c| c.verdict),
                traced_over_untraced: counted
                    .as_ref()
                    .zip(median_s)
                    .map(|(tally, median)| tally.traced_s / median),
                counted,
                article: self.article.figures.iter().find(|figure| figure.dispatcher == *name).cloned(),
            }
        };
        let items = record.plan.alternatives.first().and_then(|a| a.parameters.get(PARAMETER)?.parse().ok());
        DispatchFindings {
            name: self.name.clone(),
            items: items.unwrap_or(0),
            rows: record.plan.alternatives.iter().map(row).collect(),
            left_out,
            not_traced,
            claims: self.claims.iter().map(|claim| judge(claim, self.pair(), record, tally)).collect(),
        }
    }
}

impl Dispatcher {
    /// The program that hands out: the first word behind the pipe. What a shell has built in is always there.
    fn program(&self) -> &str {
        let behind = self.command.split_once('|').map_or(self.command.as_str(), |(_, behind)| behind);
        match behind.split_whitespace().next() {
            Some("while") | None => "sh",
            Some(word) => word,
        }
    }

    fn alternative(&self, items: u32) -> Alternative {
        Alternative {
            name: self.name.clone(),
            given_name: Some(self.name.clone()),
            parameters: [(PARAMETER.to_owned(), items.to_string())].into(),
            ..Alternative::new(self.line(items))
        }
    }

    /// The command line for this many items.
    pub fn line(&self, items: u32) -> String {
        self.command.replace(ITEMS, &items.to_string())
    }
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
