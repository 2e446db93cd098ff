//! A study of engines that hand out tasks. An engine is a file `engines/NAME.json` in the study's directory, with the small programs that
//! it needs beside it: to add one is to add its files. `studies/ladder/README.md` says what each of its commands has to do.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Deserialize;
use whyfaster_core::claims::Claim;
use whyfaster_host::said::said_within;

use super::needs::is_on;

/// Where the engines lie in the study's directory.
const ENGINES: &str = "engines/";
const ENDING: &str = ".json";

/// Of what a program says of its version so many characters are kept.
const LONGEST: usize = 120;

/// What a study of engines measures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ladder {
    /// The engine that the others are measured against.
    pub reference: String,
    /// The share of the time that is next to nothing.
    pub share: f64,
    /// How large a run is.
    pub sizes: Sizes,
}

/// The sizes of a ladder.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// What runs without options.
    pub default: Size,
    /// What runs with `--quick`.
    pub quick: Size,
    /// What runs with `--full`.
    pub full: Size,
}

/// How large a run of a ladder is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Tasks at once, rising; they compute nothing.
    pub tasks: Vec<u32>,
    /// Lengths of tasks, milliseconds, rising.
    pub lengths_ms: Vec<u32>,
    /// Tasks at once where their length is varied, for each worker.
    pub tasks_a_worker: u32,
    /// Repetitions at most.
    pub repetitions: u32,
    /// Seconds to aim at.
    pub budget_s: f64,
    /// The longest that one burst may take, seconds; what would take longer is not measured.
    pub burst_s: f64,
}

/// A mechanism or a program that hands out tasks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// Its name: that of its file.
    #[serde(skip)]
    pub name: String,
    /// What it is.
    pub title: String,
    /// What it needs.
    #[serde(default)]
    pub needs: Vec<Wants>,
    /// The command of its servers and workers, if it has any: they run from before the first round to the end.
    #[serde(default)]
    pub start: Option<String>,
    /// The mechanism that the program has itself, of this name.
    #[serde(default)]
    pub mechanism: Option<String>,
    /// The command that hands out all tasks of a burst and waits for them.
    #[serde(default)]
    pub submit: Option<String>,
    /// The command of a client that is told of every burst on its standard input.
    #[serde(default)]
    pub client: Option<String>,
    /// Why the CPU time of both sides cannot be told apart, where it cannot.
    #[serde(default)]
    pub cpu_unseen: Option<String>,
}

/// A program or a Python module that an engine needs, and the package that brings it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wants {
    /// Its name on the search path.
    #[serde(default)]
    pub program: Option<String>,
    /// Its name in Python.
    #[serde(default)]
    pub module: Option<String>,
    /// The Debian package.
    #[serde(default)]
    pub debian: Option<String>,
    /// The package of PyPI.
    #[serde(default)]
    pub pypi: Option<String>,
    /// The option with which the program says its version, if it is not `--version`; empty if it has none.
    #[serde(default)]
    pub version: Option<String>,
}

impl Ladder {
    /// The size that is asked for.
    pub fn size(&self, quick: bool, full: bool) -> &Size {
        match (quick, full) {
            (true, _) => &self.sizes.quick,
            (_, true) => &self.sizes.full,
            _ => &self.sizes.default,
        }
    }

    /// What the types cannot tell.
    pub(super) fn check(&self, engines: &[Engine], claims: &[Claim]) -> anyhow::Result<()> {
        ensure!(self.share > 0.0 && self.share < 1.0, "share {} is not between 0 and 1", self.share);
        let there = |name: &str| engines.iter().any(|engine| engine.name == name);
        ensure!(there(&self.reference), "the reference '{}' is no engine", self.reference);
        for row in claims.iter().flat_map(|claim| claim.rows()) {
            let name = row.split('/').next().unwrap_or_default();
            ensure!(there(name), "a claim is about '{name}', which is no engine");
        }
        for size in [&self.sizes.default, &self.sizes.quick, &self.sizes.full] {
            let rises = |values: &[u32]| values.is_sorted() && values.iter().all(|value| *value > 0);
            ensure!(
                rises(&size.tasks) && rises(&size.lengths_ms),
                "tasks and lengths must rise from above 0"
            );
        }
        Ok(())
    }
}

/// The engines among the files of a study.
pub(super) fn engines(files: &[(&'static str, &'static str)]) -> anyhow::Result<Vec<Engine>> {
    let name = |file: &'static str| file.strip_prefix(ENGINES)?.strip_suffix(ENDING);
    let all = files.iter().filter_map(|(file, text)| Some((name(file)?, *text)));
    let mut engines: Vec<Engine> =
        all.map(|(name, text)| Engine::read(name, text)).collect::<anyhow::Result<_>>()?;
    // Those that need nothing, then those that need no server, come first.
    engines.sort_by_key(|engine| (engine.start.is_some(), !engine.needs.is_empty()));
    Ok(engines)
}

/// The name of a program beside the engines; none for another file.
pub(super) fn beside(file: &'static str) -> Option<&'static str> {
    file.strip_prefix(ENGINES).filter(|file| !file.ends_with(ENDING))
}

impl Engine {
    /// Reads an engine's file.
    pub fn read(name: &str, text: &str) -> anyhow::Result<Self> {
        let place = || format!("studies/ladder/{ENGINES}{name}{ENDING}");
        let engine: Self = serde_json::from_str(text).with_context(place)?;
        let ways = [&engine.mechanism, &engine.submit, &engine.client];
        let one = ways.into_iter().flatten().count() == 1;
        ensure!(one, "{}: one of mechanism, submit and client must say how tasks are handed out", place());
        for need in &engine.needs {
            let one = need.program.is_some() != need.module.is_some();
            ensure!(one, "{}: a need names a program or a module", place());
            let package = need.debian.is_some() || need.pypi.is_some();
            ensure!(package, "{}: {} has no package", place(), need.name());
        }
        Ok(Self { name: name.to_owned(), ..engine })
    }

    /// What it needs and what is not there for this user, on this search path and with this environment.
    pub fn look(&self, path: &OsStr, environment: &[(String, OsString)]) -> Found<'_> {
        let modules: Vec<&str> = self.needs.iter().filter_map(|need| need.module.as_deref()).collect();
        let python = python_with(&modules, environment);
        let there = |need: &Wants| match (&need.program, &need.module) {
            (Some(program), _) => is_on(path, program),
            (None, Some(module)) => python.is_some() || python_with(&[module], environment).is_some(),
            (None, None) => true,
        };
        let missing = self.needs.iter().filter(|need| !there(need)).collect();
        Found { python, missing }
    }

    /// What it runs on, in the words of its programs and modules, where it is started with this environment.
    pub fn versions(&self, environment: &[(String, OsString)]) -> Vec<String> {
        let python = environment.iter().find(|(name, _)| name == "LADDER_PYTHON");
        let python = python.and_then(|(_, python)| python.to_str());
        let of = |need: &Wants| match (&need.program, &need.module) {
            (Some(program), _) => {
                let option = need.version.as_deref().unwrap_or("--version");
                (!option.is_empty()).then(|| version(program, &[option], environment))?
            }
            (None, Some(module)) => version(python?, &["-c", MODULES, module], environment),
            (None, None) => None,
        };
        self.needs.iter().filter_map(of).collect()
    }
}

/// What there is of an engine's needs.
#[derive(Debug)]
pub struct Found<'a> {
    /// The interpreter of Python that has all modules.
    pub python: Option<PathBuf>,
    /// What is not there.
    pub missing: Vec<&'a Wants>,
}

/// Whether packages of Debian can be fetched.
pub fn has_apt(path: &OsStr) -> bool {
    is_on(path, "apt-get")
}

impl Wants {
    /// What errors call it.
    pub fn name(&self) -> &str {
        self.program.as_deref().or(self.module.as_deref()).unwrap_or_default()
    }

    /// The package that brings it, and where from; PyPI's where there is no apt to bring Debian's.
    pub fn package(&self, apt: bool) -> String {
        match (&self.debian, &self.pypi) {
            (_, Some(pypi)) if !apt => format!("PyPI: {pypi}"),
            (Some(debian), _) => format!("Debian: {debian}"),
            (None, Some(pypi)) => format!("PyPI: {pypi}"),
            (None, None) => String::new(),
        }
    }

    /// How the script that fetches names it; none where it cannot be fetched.
    pub fn fetched_as(&self, apt: bool) -> Option<String> {
        let debian = self.debian.as_ref().filter(|_| apt).map(|name| format!("debian:{name}"));
        debian.or_else(|| Some(format!("pypi:{}", self.pypi.as_ref()?)))
    }
}

/// Interpreters, in the order in which they are tried: Debian's packages are for Debian's own.
const PYTHONS: [&str; 2] = ["python3", "/usr/bin/python3"];

/// What an engine is asked before it runs is waited for so long. Some programs do not end that ask a server which is not there.
const ASKED: Duration = Duration::from_secs(20);

/// Imports modules and says their versions. Never one that lies where we happen to be.
const MODULES: &str = "import sys; sys.path[:] = [d for d in sys.path if d]; import importlib as i; [print(m, getattr(i.import_module(m), '__version__', '')) for m in sys.argv[1:]]";

/// A program as the user who would run the engine, where it has pipes for what it says.
fn asked(program: &str, words: &[&str], environment: &[(String, OsString)]) -> io::Result<Output> {
    let mut command = Command::new(program);
    command.args(words).envs(environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    said_within(&mut command, ASKED)
}

/// The first line that tells of a version. Some print it as if it were an error.
fn version(program: &str, words: &[&str], environment: &[(String, OsString)]) -> Option<String> {
    let said = asked(program, words, environment).ok().filter(|said| said.status.success())?;
    let lines = [said.stdout, said.stderr].concat();
    let lines = String::from_utf8_lossy(&lines);
    let line = lines.lines().map(str::trim).find(|line| line.contains(|c: char| c.is_ascii_digit()))?;
    Some(line.chars().take(LONGEST).collect())
}

/// The first interpreter of Python that can import these modules.
fn python_with(modules: &[&str], environment: &[(String, OsString)]) -> Option<PathBuf> {
    // A module that is found may be another version's: only its import tells.
    let imports = |python: &&&str| {
        let words = [&["-c", MODULES], modules].concat();
        asked(python, &words, environment).is_ok_and(|said| said.status.success())
    };
    PYTHONS.iter().find(imports).map(PathBuf::from)
}
