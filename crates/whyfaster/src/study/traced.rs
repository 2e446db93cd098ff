//! A study whose commands are timed untraced and then traced once each: what it is, its plan, its rows and claims.

use std::ffi::OsStr;

use serde::{Deserialize, Serialize};
use whyfaster_core::claims::{Judgement, Pair};
use whyfaster_core::plan::{Alternative, Loads, Plan, Shell, defaults};
use whyfaster_core::record::Record;
use whyfaster_core::sample::Arm;
use whyfaster_core::trace::claims::{Claim, Tally, judge};
use whyfaster_core::trace::report::Untraced;
use whyfaster_core::verdict::{Ratio, Verdict};

use super::article::{Article, Need, Size};
use super::workdir::check_needs;
use crate::exit::Failure;

/// What stands for the amount of input in a command line.
const AMOUNT: &str = "@AMOUNT@";

/// The study as its file describes it. `F` is what its article measured of one command.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracedStudy<F> {
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
    pub commands: Vec<Command>,
    /// Programs that must be installed.
    pub needs: Vec<Need>,
    /// What runs without options.
    pub default: Size,
    /// What runs with `--quick`.
    pub quick: Size,
    /// Under which name a record keeps the amount.
    pub parameter: String,
    /// What the article measured.
    pub article: Article<F>,
    /// What it claims.
    pub claims: Vec<Claim>,
}

/// A command of such a study.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Its name.
    pub name: String,
    /// The kernel's name of the process that the article looked at.
    pub process: String,
    /// The command line, for a shell.
    pub command: String,
    /// The file that its output goes to; else it goes nowhere.
    #[serde(default)]
    pub output: Option<String>,
}

/// A figure of an article is about one command.
pub trait About {
    /// The command's name.
    fn about(&self) -> &str;
}

/// A command as it was found here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row<F> {
    /// Which.
    pub alternative: String,
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
    /// The range of that ratio, and whether it can be told from 1.
    pub untraced: Option<Untraced>,
    /// The article's figures.
    pub article: Option<F>,
}

/// Commands that cannot run here, with why.
pub type LeftOut = Vec<(String, String)>;

/// What the study found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TracedFindings<F> {
    /// The study's name.
    pub name: String,
    /// Lines or items of input.
    pub amount: u32,
    /// A row for each command that ran.
    pub rows: Vec<Row<F>>,
    /// Those that did not, with why.
    pub left_out: LeftOut,
    /// What the traces could not see, and why.
    pub not_traced: Vec<String>,
    /// What became of the claims.
    pub claims: Vec<Judgement>,
}

impl<F: About + Clone> TracedStudy<F> {
    /// The pair that the claims are about.
    pub fn pair(&self) -> Pair<'_> {
        Pair { alternative: &self.alternative, baseline: &self.baseline }
    }

    /// The size that is asked for.
    pub fn size(&self, quick: bool) -> &Size {
        if quick { &self.quick } else { &self.default }
    }

    /// Fails when a program that it cannot do without is not installed.
    pub fn check(&self, path: &OsStr) -> Result<(), Failure> {
        check_needs(&format!("study {}", self.name), &self.needs, path)
    }

    /// What is compared, untraced.
    pub fn plan(&self, commands: &[Command], size: &Size, seed: u64, max_time_s: Option<f64>) -> Plan {
        let alternatives =
            commands.iter().map(|command| command.alternative(&self.parameter, size.amount)).collect();
        let mut plan = Plan {
            baseline: commands.iter().position(|command| command.name == self.baseline).unwrap_or(0),
            shell: Shell::Command(vec![defaults::SHELL.to_owned()]),
            loads: Loads::Fixed(size.loads.clone()),
            rounds: size.rounds,
            ..Plan::new(alternatives, seed)
        };
        if let Some(seconds) = max_time_s {
            (plan.rounds.max_time_s, plan.rounds.max_time_hard) = (seconds, true);
        }
        plan
    }

    /// Sets times and counts beside the article. `tallies` are what the traces counted, by
    /// command; more than one of a command are its runs, in order.
    pub fn findings(
        &self,
        record: &Record,
        tallies: &[(String, Tally)],
        left_out: LeftOut,
        not_traced: Vec<String>,
    ) -> TracedFindings<F> {
        let tally = |name: &str| tallies.iter().find(|(known, _)| known == name).map(|(_, tally)| tally);
        let row = |alternative: &Alternative| {
            let level = record.analysis.levels.iter().find(|level| level.load == 1);
            let name = &alternative.name;
            let result = level.and_then(|level| level.results.iter().find(|r| r.alternative == *name));
            let compared = level.and_then(|level| level.comparisons.iter().find(|c| c.alternative == *name));
            let median_s = result.map(|result| result.makespan_s.median);
            let counted = tally(name).cloned();
            Row {
                alternative: name.clone(),
                median_s,
                ratio: compared.map(|c| Ratio { ratio: c.ratio, low: c.low, high: c.high }),
                verdict: compared.map(|c| c.verdict),
                traced_over_untraced: counted
                    .as_ref()
                    .zip(median_s)
                    .map(|(tally, median)| tally.traced_s / median),
                untraced: counted
                    .as_ref()
                    .and_then(|tally| Untraced::of(tally.traced_s, &alone(record, name))),
                counted,
                article: self.article.figures.iter().find(|figure| figure.about() == name).cloned(),
            }
        };
        let parameters = record.plan.alternatives.first().map(|alternative| &alternative.parameters);
        let amount = parameters.and_then(|parameters| parameters.get(&self.parameter)?.parse().ok());
        TracedFindings {
            name: self.name.clone(),
            amount: amount.unwrap_or(0),
            rows: record.plan.alternatives.iter().map(row).collect(),
            left_out,
            not_traced,
            claims: self.claims.iter().map(|claim| judge(claim, self.pair(), record, tallies)).collect(),
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

impl<F> TracedFindings<F> {
    /// The row of this command.
    pub fn row(&self, name: &str) -> Option<&Row<F>> {
        self.rows.iter().find(|row| row.alternative == name)
    }
}

impl Command {
    fn alternative(&self, parameter: &str, amount: u32) -> Alternative {
        Alternative {
            name: self.name.clone(),
            given_name: Some(self.name.clone()),
            parameters: [(parameter.to_owned(), amount.to_string())].into(),
            output: self.output(),
            ..Alternative::new(self.line(amount))
        }
    }

    /// Where its output goes.
    pub fn output(&self) -> whyfaster_core::plan::Output {
        use whyfaster_core::plan::Output;
        self.output.as_ref().map_or(Output::Null, |file| Output::File(file.into()))
    }

    /// The command line for this amount.
    pub fn line(&self, amount: u32) -> String {
        self.command.replace(AMOUNT, &amount.to_string())
    }
}
