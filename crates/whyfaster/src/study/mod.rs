//! The articles as data: what a study runs, what its article measured, what it claims.
//!
//! A study is a folder under `studies/`; its files are part of the program, so that it works outside its source tree.

mod article;
mod claims;
mod dispatch;
mod dispatch_report;
mod encrypted;
mod input;
mod placement;
mod placement_report;
mod prices;
mod report;
mod traced;
mod traced_report;
mod workdir;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use serde::Deserialize;
use whyfaster_core::claims::{Claim, Figure, Pair};
use whyfaster_core::plan::{
    Alternative, Explain, FailurePolicy, Input, Loads, Mode, Output, Placement, Plan, Shell, User,
};

use crate::exit::{Exit, Failure};

pub use article::{Article, Need, Size};
pub use dispatch::{Figure as DispatchFigure, dispatch};
pub use encrypted::FileSystem;
pub use input::{Generated, ifconfig_log, table};
pub use placement::{
    Figure as PlacementFigure, Placed, PlacementFindings, SAMPLE, SEED, TracedRun, check_outputs, placement,
};
pub use prices::{PriceFindings, PriceRow, PriceStudy};
pub use report::{Findings, InputFacts, findings, text};
pub use traced::{About, Command as TracedCommand, LeftOut, Row as TracedRow, TracedFindings, TracedStudy};
pub use workdir::{Entered, WorkDir, check_needs};

/// The parameters under which a record keeps the input's lines and seed.
const LINES: &str = "lines";
const INPUT_SEED: &str = "input_seed";

/// A study as its file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// The word that selects it.
    pub name: String,
    /// One line for the list.
    pub title: String,
    /// What the article asks.
    pub question: String,
    /// Programs that must be installed.
    pub needs: Vec<Need>,
    /// What is compared.
    pub alternatives: Vec<Command>,
    /// Name of the baseline.
    pub baseline: String,
    /// Name of the alternative that the claims are about.
    pub alternative: String,
    /// Files of the study that the commands use: name and content.
    #[serde(skip)]
    pub files: &'static [(&'static str, &'static str)],
    /// The input file.
    pub input: InputFile,
    /// What runs without options.
    pub default: Size,
    /// What runs with `--full`.
    pub full: Size,
    /// What the article measured, and where.
    pub article: Article<Figure>,
    /// What the article claims.
    pub claims: Vec<Claim>,
}

/// A named command of a study.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Its name.
    pub name: String,
    /// The command line, run without a shell in the study's directory.
    pub command: String,
}

/// Which input a study makes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputFile {
    /// Who makes it.
    pub generator: Generator,
    /// Its name in the study's directory.
    pub file: String,
    /// Seed unless another one is given.
    pub seed: u64,
}

/// The generators of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Generator {
    /// [`ifconfig_log`].
    IfconfigLog,
}

/// What a user may change about a study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The article's size instead of the small one.
    pub full: bool,
    /// Seed of the input and of the random order.
    pub seed: Option<u64>,
    /// Levels of load instead of the study's.
    pub loads: Option<Loads>,
    /// Seconds for the whole measurement instead of the study's.
    pub max_time_s: Option<f64>,
    /// File for the record.
    pub record: Option<PathBuf>,
    /// Write the record, with the study's findings in it, to standard output instead of the report.
    pub json: bool,
    /// As whom the commands run.
    pub user: Option<User>,
    /// Why the alternatives differ; `None`: not explained.
    pub explain: Option<Explain>,
}

/// The files of a study as they stand in the program.
struct Embedded {
    description: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const EMBEDDED: &[Embedded] = &[Embedded {
    description: include_str!("../../shared/studies/pipes/study.json"),
    files: &[
        ("no-pipe.sh", include_str!("../../shared/studies/pipes/no-pipe.sh")),
        ("use-pipe.sh", include_str!("../../shared/studies/pipes/use-pipe.sh")),
    ],
}];

/// Every study of this program.
pub fn all() -> anyhow::Result<Vec<Study>> {
    EMBEDDED.iter().map(Embedded::read).collect()
}

/// Every study of prices of this program.
pub fn all_of_prices() -> anyhow::Result<Vec<PriceStudy>> {
    prices::all()
}

/// The study of this name, if it is one of prices.
pub fn find_of_prices(name: &str) -> anyhow::Result<Option<PriceStudy>> {
    prices::find(name)
}

/// The study of this name that compares commands.
pub fn find(name: &str) -> anyhow::Result<Study> {
    let studies = all()?;
    let prices = prices::all()?;
    let names: Vec<String> = studies
        .iter()
        .map(|study| &study.name)
        .chain(prices.iter().map(|study| &study.name))
        .cloned()
        .chain([dispatch()?.name, placement()?.name])
        .collect();
    studies.into_iter().find(|study| study.name == name).ok_or_else(|| {
        let hint = format!("the studies are: {}", names.join(", "));
        Failure::new(Exit::Usage, format!("there is no study '{name}'"), hint).into()
    })
}

impl Embedded {
    fn read(&self) -> anyhow::Result<Study> {
        let mut study: Study = serde_json::from_str(self.description)
            .context("a study in this program cannot be read; please report it")?;
        study.files = self.files;
        Ok(study)
    }
}

impl Study {
    /// The pair that the claims are about.
    pub fn pair(&self) -> Pair<'_> {
        Pair { alternative: &self.alternative, baseline: &self.baseline }
    }

    /// The size that the options ask for.
    pub fn size(&self, options: &Options) -> &Size {
        if options.full { &self.full } else { &self.default }
    }

    /// Seed of the input.
    pub fn input_seed(&self, options: &Options) -> u64 {
        options.seed.unwrap_or(self.input.seed)
    }

    /// Makes the input.
    pub fn generate(&self, options: &Options) -> Generated {
        match self.input.generator {
            Generator::IfconfigLog => ifconfig_log(self.input_seed(options), self.size(options).amount),
        }
    }

    /// Name and content of every file that the commands read.
    pub fn all_files<'a>(&'a self, input: &'a Generated) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files.iter().copied().chain([(self.input.file.as_str(), input.text.as_str())])
    }

    /// What to run. `order_seed` seeds the random order unless the options hold a seed.
    pub fn plan(&self, options: &Options, order_seed: u64) -> Plan {
        let size = self.size(options);
        let mut rounds = size.rounds;
        if let Some(seconds) = options.max_time_s {
            rounds.max_time_s = seconds;
        }
        // So that the record tells which input it was.
        let parameters = BTreeMap::from([
            (LINES.to_owned(), size.amount.to_string()),
            (INPUT_SEED.to_owned(), self.input_seed(options).to_string()),
        ]);
        Plan {
            alternatives: self.alternatives.iter().map(|command| command.alternative(&parameters)).collect(),
            baseline: self.alternatives.iter().position(|a| a.name == self.baseline).unwrap_or(0),
            baseline_named: false,
            shell: Shell::None,
            input: Input::Null,
            loads: options.loads.clone().unwrap_or_else(|| Loads::Fixed(size.loads.clone())),
            mode: Mode::Batch,
            rounds,
            warmup: 1,
            delta: 0.02,
            confidence: 0.95,
            seed: options.seed.unwrap_or(order_seed),
            timeout_s: None,
            placement: Placement::Session,
            cpus: None,
            drop_caches: false,
            check_output: true,
            failures: FailurePolicy::Raise,
            fail_if_slower: None,
            user: options.user.clone(),
            explain: options.explain.clone(),
        }
    }
}

impl Command {
    fn alternative(&self, parameters: &BTreeMap<String, String>) -> Alternative {
        Alternative {
            name: self.name.clone(),
            given_name: Some(self.name.clone()),
            command: self.command.clone(),
            parameters: parameters.clone(),
            env: BTreeMap::new(),
            setup: None,
            prepare: None,
            conclude: None,
            cleanup: None,
            output: Output::Null,
        }
    }
}

#[cfg(test)]
mod tests;
