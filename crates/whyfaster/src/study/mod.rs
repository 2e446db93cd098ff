//! The articles as data: what a study runs, what its article measured, what it claims.
//!
//! A study is a directory of `studies/` with a `study.json`, which is read as a [`Study`]. All of them are part of the program
//! (see `build.rs`), so that it works outside its source tree. What is code and no data has a name in the file: the
//! generators of `input`, the places of `place`.

mod input;
pub mod install;
pub mod ladder;
mod needs;
mod place;
pub mod words;
mod workdir;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use whyfaster_core::claims::{Claim, Pair, least_repetitions};
use whyfaster_core::plan::{Alternative, Loads, Output, Plan, Rounds, Shell, defaults};
use whyfaster_core::price::PriceList;
use whyfaster_core::price::project::{Term, parse};
use whyfaster_core::studied::{LeftOut, Unfit};
use whyfaster_store::reference;
use whyfaster_words::exit::Failure;

pub use self::ladder::{Engine, Ladder};
pub use input::{Generated, Generator, hexadecimal};
pub use needs::{Need, check_needs};
pub use place::{Place, PlaceKind};
pub use workdir::WorkDir;

include!(concat!(env!("OUT_DIR"), "/studies.rs"));

/// The file of a directory that describes its study.
const DESCRIPTION: &str = "study.json";
/// What stands in a command line for the amount of input, for the last CPU that may be used, and for this program.
const AMOUNT: &str = "@AMOUNT@";
const CPU: &str = "@CPU@";
const PROGRAM: &str = "@WHYFASTER@";
/// The parameter under which a record keeps the input's seed.
pub const INPUT_SEED: &str = "input_seed";

/// A study as its file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// The word that selects it: the name of its directory.
    #[serde(skip)]
    pub name: String,
    /// The other files of its directory, which the commands may read: name and content.
    #[serde(skip)]
    pub files: Vec<(&'static str, &'static str)>,
    /// One line for the list.
    pub title: String,
    /// What the article asks.
    pub question: String,
    /// Programs that must be installed.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// What is measured.
    pub measures: Measures,
    /// What the article measured, and where.
    pub article: Article,
    /// What the article claims.
    pub claims: Vec<Claim>,
}

/// What a study measures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measures {
    /// Commands against each other, timed untraced and perhaps traced.
    Commands(Box<Commands>),
    /// Prices of single operations.
    Prices(Prices),
    /// What it costs to hand tasks to workers, by engine.
    Ladder(Ladder),
}

/// Commands that do the same work.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// The commands.
    pub run: Vec<Command>,
    /// Name of the baseline.
    pub baseline: String,
    /// Name of the alternative that the claims are about unless they name another.
    pub alternative: String,
    /// Whether a shell runs the command lines.
    #[serde(default = "yes")]
    pub shell: bool,
    /// What the amount counts ("lines"); a record keeps the amount under this name.
    pub unit: String,
    /// The input file that the study makes.
    #[serde(default)]
    pub input: Option<InputFile>,
    /// Where the commands work.
    #[serde(default)]
    pub place: PlaceKind,
    /// Whether the page cache is dropped before each run, where that is allowed.
    #[serde(default)]
    pub drop_caches: bool,
    /// How large a run is.
    pub sizes: Sizes,
    /// Untimed runs of every command before the first round.
    #[serde(default)]
    pub warmup: u32,
    /// The tables of the report, in their order; they say what has to be observed.
    pub tables: Vec<Table>,
}

fn yes() -> bool {
    true
}

/// A command of a study.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Its name.
    pub name: String,
    /// The command line.
    pub command: String,
    /// The kernel's name of the process that the article looked at.
    #[serde(default)]
    pub process: String,
    /// The file that its output goes to; else it goes nowhere.
    #[serde(default)]
    pub output: Option<String>,
    /// Programs without which this command alone is left out.
    #[serde(default)]
    pub programs: Vec<String>,
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

/// The sizes of a study.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// What runs without options.
    pub default: Size,
    /// What runs with `--quick`.
    pub quick: Size,
    /// What runs with `--full`, where the default is not the article's own size.
    #[serde(default)]
    pub full: Option<Size>,
}

/// How large a run of a study is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Lines or items of input.
    pub amount: u32,
    /// Levels of load, rising.
    #[serde(default = "alone")]
    pub loads: Vec<u32>,
    /// Rounds and time of the untraced runs.
    pub rounds: Rounds,
    /// How often every command is traced afterwards.
    #[serde(default)]
    pub traced: Option<TracedRounds>,
}

fn alone() -> Vec<u32> {
    vec![1]
}

/// How often every command is traced.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracedRounds {
    /// At least so often, however long it takes.
    pub least: u32,
    /// At most so often.
    pub most: u32,
    /// No further round once it would end later than this part of the time that the untraced runs may take.
    pub part_of_time: f64,
}

impl TracedRounds {
    /// Once.
    pub const ONCE: Self = Self { least: 1, most: 1, part_of_time: 0.0 };

    /// Whether there is another round after so many, which took so long, where untraced runs may take so many seconds.
    pub fn another(self, done: u32, took: Duration, max_time_s: f64) -> bool {
        let with_next = took * (done + 1) / done.max(1);
        done < self.least || (done < self.most && with_next.as_secs_f64() <= max_time_s * self.part_of_time)
    }
}

/// A table of the report about commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Table {
    /// The ratios of time and CPU time at each load.
    Loads,
    /// The times alone.
    Times,
    /// What the whole tree did, traced.
    Tree,
    /// Forks and waits of the process that the article looked at.
    Process,
    /// How long tasks waited for a CPU, and for whom.
    Waits,
    /// Who ran on which CPU, and what tasks were blocked for.
    Cpus,
    /// Where the most time went, by stack, with flame graphs.
    Stacks,
}

/// Prices of single operations.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// What one operation is.
    pub unit: String,
    /// Probes to measure.
    pub probes: Vec<String>,
    /// The rows of the table, `name/variant`.
    pub rows: Vec<String>,
    /// Counts to price on every machine.
    #[serde(default)]
    pub project: Option<String>,
}

/// What an article measured, and where.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Article {
    /// The article.
    pub source: String,
    /// What it measured with.
    pub tool: String,
    /// Its machine, as far as it says.
    #[serde(default)]
    pub machine: Option<String>,
    /// Its input.
    #[serde(default)]
    pub input: Option<String>,
    /// Its figures of commands.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// Its figures of prices: names of built-in lists.
    #[serde(default)]
    pub lists: Vec<String>,
}

/// What an article measured of one command at one load, seconds. Calls are those of the process that it looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Which.
    pub command: String,
    /// Copies at once.
    #[serde(default = "one")]
    pub load: u32,
    /// Elapsed time, the mean where there were several runs.
    pub real_s: f64,
    /// Its standard deviation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd_s: Option<f64>,
    /// User CPU time of all copies.
    pub user_s: f64,
    /// System CPU time of all copies.
    pub system_s: f64,
    /// Calls of clone, failed ones among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_forks: Option<u64>,
    /// How many of them failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_failed_forks: Option<u64>,
    /// Calls of wait4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_waits: Option<u64>,
    /// System CPU time within both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_fork_wait_cpu_s: Option<f64>,
}

fn one() -> u32 {
    1
}

/// The names of all studies.
pub fn names() -> impl Iterator<Item = &'static str> {
    STUDIES.iter().map(|(name, _)| *name)
}

/// Every study of this program.
pub fn all() -> anyhow::Result<Vec<Study>> {
    names().map(find).collect()
}

/// The study of this name.
pub fn find(name: &str) -> anyhow::Result<Study> {
    let files = STUDIES.iter().find(|(known, _)| *known == name).map(|(_, files)| *files);
    let files = files.ok_or_else(|| {
        let hint = format!("the studies are: {}", names().collect::<Vec<_>>().join(", "));
        Failure::usage(format!("there is no study '{name}'"), hint)
    })?;
    let description = files.iter().find(|(file, _)| *file == DESCRIPTION).map(|(_, text)| *text);
    let description = description.with_context(|| format!("study {name} has no {DESCRIPTION}"))?;
    let mut study = Study::read(name, description)?;
    study.files = files.iter().copied().filter(|(file, _)| *file != DESCRIPTION).collect();
    if let Measures::Ladder(ladder) = &study.measures {
        ladder
            .check(&study.engines()?, &study.claims)
            .with_context(|| format!("studies/{name}/{DESCRIPTION}"))?;
    }
    Ok(study)
}

impl Study {
    /// Reads a study's file.
    pub fn read(name: &str, description: &str) -> anyhow::Result<Self> {
        let place = || format!("studies/{name}/{DESCRIPTION}");
        let mut study: Self = serde_json::from_str(description).with_context(place)?;
        name.clone_into(&mut study.name);
        study.check().with_context(place)?;
        Ok(study)
    }

    /// What the types cannot tell: every name that is used is one that is known.
    fn check(&self) -> anyhow::Result<()> {
        for (number, claim) in (1..).zip(&self.claims) {
            ensure!(claim.number == number, "claim {} stands where {number} is expected", claim.number);
        }
        match &self.measures {
            Measures::Commands(commands) => self.check_commands(commands),
            Measures::Prices(_) => self.check_prices(),
            // Its engines are files beside this one, which are not there yet.
            Measures::Ladder(_) => Ok(()),
        }
    }

    fn check_commands(&self, commands: &Commands) -> anyhow::Result<()> {
        let names: Vec<&str> = commands.run.iter().map(|command| command.name.as_str()).collect();
        known("the baseline", &commands.baseline, &names)?;
        known("the alternative", &commands.alternative, &names)?;
        for figure in &self.article.figures {
            known("a figure", &figure.command, &names)?;
        }
        for claim in &self.claims {
            let name = claim.alternative.as_deref().unwrap_or(&commands.alternative);
            known(&format!("claim {}", claim.number), name, &names)?;
            ensure!(claim.rows().next().is_none(), "claim {} is about prices, not commands", claim.number);
        }
        for word in commands.run.iter().flat_map(|command| command.command.split('@').skip(1).step_by(2)) {
            known("a command line", &format!("@{word}@"), &[AMOUNT, CPU, PROGRAM])?;
        }
        for size in commands.sizes.each() {
            ensure!(size.loads.is_sorted() && size.loads.iter().all(|load| *load > 0), "loads must rise");
        }
        Ok(())
    }

    fn check_prices(&self) -> anyhow::Result<()> {
        self.terms()?;
        for (name, list) in self.lists()? {
            for row in self.rows() {
                let found = row.split_once('/').and_then(|(name, variant)| list.find(name, Some(variant)));
                ensure!(found.is_some(), "the list {name} has no row {row}");
            }
        }
        for claim in &self.claims {
            ensure!(claim.rows().next().is_some(), "claim {} is about commands, not prices", claim.number);
        }
        Ok(())
    }

    /// The engines whose files lie in the study's directory.
    pub fn engines(&self) -> anyhow::Result<Vec<Engine>> {
        ladder::engines(&self.files)
    }

    /// The programs beside the engines: name and content.
    pub fn engine_files(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.files.iter().filter_map(|(file, text)| Some((ladder::beside(file)?, *text)))
    }

    /// The rows of a table of prices.
    pub fn rows(&self) -> &[String] {
        match &self.measures {
            Measures::Prices(prices) => &prices.rows,
            Measures::Commands(_) | Measures::Ladder(_) => &[],
        }
    }

    /// The counts to price on every machine.
    pub fn terms(&self) -> anyhow::Result<Vec<Term>> {
        match &self.measures {
            Measures::Prices(Prices { project: Some(text), .. }) => parse(text).map_err(anyhow::Error::msg),
            _ => Ok(Vec::new()),
        }
    }

    /// The article's lists, with their names.
    pub fn lists(&self) -> anyhow::Result<Vec<(String, PriceList)>> {
        let open = |name: &String| match reference::find(name)? {
            Some(list) => Ok((name.clone(), list)),
            None => bail!("there is no built-in list '{name}'"),
        };
        self.article.lists.iter().map(open).collect()
    }

    /// The rows that the study shows, and those that its claims and counts rest on: nothing else is measured.
    pub fn measured_rows(&self) -> anyhow::Result<Vec<String>> {
        let claimed = self.claims.iter().flat_map(|claim| claim.rows().map(str::to_owned));
        let projected = self.terms()?.into_iter().map(|term| term.id());
        Ok(self.rows().iter().cloned().chain(claimed).chain(projected).collect())
    }

    /// The least number of repetitions that decides any of its claims about prices.
    pub fn least_repetitions(&self, confidence: f64) -> u32 {
        u32::try_from(least_repetitions(&self.claims, confidence)).unwrap_or(u32::MAX)
    }

    /// The article's figure of a command at a load.
    pub fn figure(&self, command: &str, load: u32) -> Option<&Figure> {
        self.article.figures.iter().find(|figure| figure.command == command && figure.load == load)
    }
}

/// Fails where a name is none of those that are known.
fn known(who: &str, name: &str, names: &[&str]) -> anyhow::Result<()> {
    ensure!(names.contains(&name), "{who} names '{name}', which is none of: {}", names.join(", "));
    Ok(())
}

impl Figure {
    /// CPU time, seconds.
    pub fn work_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

impl Sizes {
    fn each(&self) -> impl Iterator<Item = &Size> {
        [&self.default, &self.quick].into_iter().chain(&self.full)
    }
}

impl Commands {
    /// The pair that the claims are about.
    pub fn pair(&self) -> Pair<'_> {
        Pair { alternative: &self.alternative, baseline: &self.baseline }
    }

    /// The size that is asked for.
    pub fn size(&self, quick: bool, full: bool) -> &Size {
        let Sizes { default, quick: smaller, full: larger } = &self.sizes;
        match (quick, full) {
            (true, _) => smaller,
            (_, true) => larger.as_ref().unwrap_or(default),
            _ => default,
        }
    }

    /// Whether the report has this table.
    pub fn shows(&self, table: Table) -> bool {
        self.tables.contains(&table)
    }

    /// Whether somebody has to look who runs on which CPU.
    pub fn shows_cpus(&self) -> bool {
        [Table::Waits, Table::Cpus, Table::Stacks].into_iter().any(|table| self.shows(table))
    }

    /// The commands that can run here, for this amount, these CPUs and this program, and those left out with why.
    pub fn fitting(
        &self,
        amount: u32,
        path: &OsStr,
        cpus: &[u32],
        program: &Path,
    ) -> (Vec<Command>, Vec<LeftOut>) {
        let (mut there, mut left_out) = (Vec::new(), Vec::new());
        let program = shell_words::quote(&program.to_string_lossy()).into_owned();
        let cpu = cpus.last().map_or_else(String::new, u32::to_string);
        for command in &self.run {
            let missing = command.programs.iter().find(|program| !needs::is_on(path, program));
            let why = match missing {
                _ if cpus.len() < 2 && command.command.contains(CPU) => Some(Unfit::OneCpu),
                missing => missing.cloned().map(Unfit::NotInstalled),
            };
            if let Some(why) = why {
                left_out.push((command.name.clone(), why));
                continue;
            }
            let words = [(AMOUNT, amount.to_string()), (CPU, cpu.clone()), (PROGRAM, program.clone())];
            let line =
                words.iter().fold(command.command.clone(), |line, (word, text)| line.replace(word, text));
            there.push(Command { command: line, ..command.clone() });
        }
        (there, left_out)
    }

    /// What to run untraced.
    pub fn plan(&self, commands: &[Command], size: &Size, seed: u64, input_seed: Option<u64>) -> Plan {
        // So that the record tells which input it was.
        let seed_of_input = input_seed.map(|seed| (INPUT_SEED.to_owned(), seed.to_string()));
        let amount = (self.unit.clone(), size.amount.to_string());
        let parameters: BTreeMap<String, String> = seed_of_input.into_iter().chain([amount]).collect();
        let alternative = |command: &Command| Alternative {
            name: command.name.clone(),
            given_name: Some(command.name.clone()),
            parameters: parameters.clone(),
            output: command.output(),
            ..Alternative::new(&command.command)
        };
        Plan {
            baseline: commands.iter().position(|command| command.name == self.baseline).unwrap_or(0),
            shell: match self.shell {
                true => Shell::Command(vec![defaults::SHELL.to_owned()]),
                false => Shell::None,
            },
            loads: Loads::Fixed(size.loads.clone()),
            rounds: size.rounds,
            warmup: self.warmup,
            // Outputs that go to files are compared by what the files hold, and what stands beside them need not be the same.
            check_output: commands.iter().all(|command| command.output.is_none()),
            strict_output: true,
            ..Plan::new(commands.iter().map(alternative).collect(), seed)
        }
    }
}

impl Command {
    /// Where its output goes.
    pub fn output(&self) -> Output {
        self.output.as_ref().map_or(Output::Null, |file| Output::File(file.into()))
    }
}

#[cfg(test)]
mod tests;
