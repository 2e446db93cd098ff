//! The study of placement: awk on a file that a thread of the kernel decrypts, alone and behind cat, and on which CPUs.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use whyfaster_core::trace::claims::Tally;
use whyfaster_core::trace::occupancy::CpuRow;
use whyfaster_core::trace::report::{Avoidable, SharerKind, SharerRow, TraceReport};

use super::encrypted::FileSystem;
use super::input::hexadecimal;
use super::traced::{About, Command, LeftOut, TracedFindings, TracedStudy};
use super::workdir::is_on;
use crate::exit::{Exit, Failure};
use crate::render::trace::hottest::Hot;

/// What stands for a CPU, and for this program, in a command line.
const CPU: &str = "@CPU@";
const PROGRAM: &str = "@WHYFASTER@";
/// The program that pins.
const TASKSET: &str = "taskset";

/// The file that the commands read.
pub const SAMPLE: &str = "sample.txt";
/// Seed of it unless another one is given.
pub const SEED: u64 = 2;

/// What the article measured of one command, seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Which.
    pub command: String,
    /// Elapsed time.
    pub real_s: f64,
    /// User CPU time.
    pub user_s: f64,
    /// System CPU time.
    pub system_s: f64,
}

impl About for Figure {
    fn about(&self) -> &str {
        &self.command
    }
}

/// Where one command ran, from its trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Placed {
    /// Which.
    pub alternative: String,
    /// Wall time of the first traced run. What follows is of this run too, but for `runs`.
    pub wall_s: f64,
    /// The numbers of every traced run.
    pub runs: Vec<TracedRun>,
    /// Who ran on which CPU.
    pub cpus: Vec<CpuRow>,
    /// Who held the CPU while tasks waited for it.
    pub behind: Vec<SharerRow>,
    /// Waiting for a CPU while another one stood idle; null: not measured.
    pub avoidable_s: Option<f64>,
    /// The longest such wait.
    pub avoidable_longest_s: Option<f64>,
    /// What stands beside it.
    pub avoidable: Option<Avoidable>,
    /// The whole trace.
    pub report: TraceReport,
    /// Where the most of its time went, by stack, from a run of its own.
    pub hottest: Vec<Hot>,
    /// Where its flame graph is.
    pub flamegraph: Option<PathBuf>,
}

/// The numbers of one traced run, seconds; null: not measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TracedRun {
    /// Wall time.
    pub wall_s: f64,
    /// How long threads of the kernel ran.
    pub kernel_s: Option<f64>,
    /// How long tasks waited for a CPU that one of them had.
    pub behind_kernel_s: Option<f64>,
    /// How long they waited for any while another one stood idle.
    pub avoidable_s: Option<f64>,
    /// What other programs had of the time of all CPUs, as a part.
    pub strangers: Option<f64>,
}

impl TracedRun {
    /// Of what was counted, and of who had the CPUs.
    pub fn of(tally: &Tally, cpus: &[CpuRow]) -> Self {
        Self {
            wall_s: tally.traced_s,
            kernel_s: (!cpus.is_empty()).then(|| kernel(cpus).iter().map(|(_, s)| s).sum()),
            behind_kernel_s: tally.behind_kernel_s,
            avoidable_s: tally.avoidable_s,
            strangers: tally.strangers,
        }
    }
}

/// Seconds that threads of the kernel ran, by name, the longest first.
pub(super) fn kernel(cpus: &[CpuRow]) -> Vec<(String, f64)> {
    let mut sums: Vec<(String, f64)> = Vec::new();
    for row in cpus.iter().filter(|row| row.kind == SharerKind::Kernel) {
        match sums.iter_mut().find(|(name, _)| *name == row.who) {
            Some((_, seconds)) => *seconds += row.seconds,
            None => sums.push((row.who.clone(), row.seconds)),
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums
}

/// What the study found.
#[derive(Debug, Serialize)]
pub struct PlacementFindings {
    /// Times, counts and claims.
    #[serde(flatten)]
    pub common: TracedFindings<Figure>,
    /// What was read from.
    pub file_system: FileSystem,
    /// Whether the page cache was dropped before each run.
    pub caches_dropped: bool,
    /// Where the commands ran.
    pub placed: Vec<Placed>,
}

const EMBEDDED: &str = include_str!("../../shared/studies/placement/study.json");

/// The study.
pub fn placement() -> anyhow::Result<TracedStudy<Figure>> {
    serde_json::from_str(EMBEDDED).context("a study in this program cannot be read; please report it")
}

impl TracedStudy<Figure> {
    /// The commands that can run here, for these CPUs and this program, and those left out with why.
    pub fn fitting(
        &self,
        path: &OsStr,
        cpus: &[u32],
        program: &Path,
    ) -> Result<(Vec<Command>, LeftOut), Failure> {
        self.check(path)?;
        let mut left_out = LeftOut::new();
        let mut there = Vec::new();
        for command in &self.commands {
            let pins = command.command.contains(CPU);
            match cpus.last().filter(|_| cpus.len() > 1) {
                None if pins => left_out.push((command.name.clone(), "there is only one CPU".to_owned())),
                _ if pins && !is_on(path, TASKSET) => {
                    left_out.push((command.name.clone(), format!("{TASKSET} is not installed")));
                }
                cpu => {
                    let cpu = cpu.map_or_else(String::new, u32::to_string);
                    let program = shell_words::quote(&program.to_string_lossy()).into_owned();
                    let line = command.command.replace(CPU, &cpu).replace(PROGRAM, &program);
                    there.push(Command { command: line, ..command.clone() });
                }
            }
        }
        Ok((there, left_out))
    }
}

/// The receipt: the input says what the output must be, so that all commands doing the same wrong thing is found.
pub fn check_outputs(commands: &[Command], directory: &Path, expected: &str) -> Result<(), Failure> {
    for (command, file) in commands.iter().filter_map(|command| Some((command, command.output.as_ref()?))) {
        let wrong = match fs::read(directory.join(file)).map(|bytes| hexadecimal(&Sha256::digest(bytes))) {
            Err(error) => format!("its output cannot be read: {error}"),
            Ok(digest) if digest == expected => continue,
            Ok(digest) => format!("SHA-256 of its output is {digest}, {expected} was expected"),
        };
        let message = format!("{} of study placement did not do its work: {wrong}", command.name);
        return Err(Failure::new(
            Exit::CommandFailed,
            message,
            "look at the awk that is first on the search path",
        ));
    }
    Ok(())
}

#[cfg(test)]
#[path = "placement_tests.rs"]
mod tests;
