//! What a study knows beside its timed runs: what its traces counted, where its commands ran, and what could not be done. A record keeps it, so
//! that the study's report can be made again.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::missing::NotMeasured;
use crate::trace::occupancy::CpuRow;
use crate::trace::record::report;
use crate::trace::report::{Avoidable, SharerRow, TraceReport};
use crate::trace::tally::Tally;
use crate::validate::{Invalid, MAX_COUNT, amount, ensure};

/// What stands beside the timed runs: it was seen by traces, or is known from before the runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Studied {
    /// What the traces counted, by command; more than one of a command are its runs, in order.
    pub tallies: Vec<(String, Tally)>,
    /// What the level could not see, and why.
    pub missing: Vec<NotMeasured>,
    /// Where the commands ran.
    pub placed: Vec<Placed>,
    /// The commands that could not run.
    pub left_out: Vec<LeftOut>,
    /// The file system that they read from.
    pub file_system: Option<Made>,
}

/// Where one command ran, from its traces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// Time at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hot {
    /// "running", or what it waited for.
    pub state: String,
    /// The command.
    pub command: String,
    /// The innermost frames, the outermost of them first; those of the kernel end in `_[k]`.
    pub frames: Vec<String>,
    /// How long, over all tasks.
    pub seconds: f64,
}

/// A command that cannot run here, with why.
pub type LeftOut = (String, Unfit);

/// Why a command cannot run here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unfit {
    /// A program is not installed.
    NotInstalled(String),
    /// It is to run on one CPU of several, and there is only one.
    OneCpu,
}

/// The file system that a study made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Made {
    /// Which file system.
    pub kind: Kind,
    /// Why it is none of the better ones.
    pub why_not: Vec<String>,
}

/// Which file system it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// ext4 with an encrypted directory.
    Encrypted,
    /// btrfs with compression.
    Compressed,
    /// What was there: nothing works for its reads but the disk.
    Plain,
}

impl Studied {
    /// Checks what the claims and the renderers rely on.
    pub(crate) fn validate(&self) -> Result<(), Invalid> {
        for (i, (_, tally)) in self.tallies.iter().enumerate() {
            let place = || format!("studied.tallies[{i}]");
            let counts = [tally.forks, tally.execs, tally.failed_execs, tally.waits, tally.own_forks];
            let counts = counts.into_iter().chain([tally.own_waits]).flatten();
            ensure(counts.max().unwrap_or(0) <= MAX_COUNT, place, "a count is absurd")?;
            let waits = [tally.own_fork_wait_cpu_s, tally.avoidable_s, tally.behind_kernel_s];
            amounts(
                waits.into_iter().chain([tally.strangers, Some(tally.traced_s), Some(tally.work_s)]),
                place,
            )?;
        }
        for (i, placed) in self.placed.iter().enumerate() {
            let place = || format!("studied.placed[{i}]");
            let run = |it: &TracedRun| {
                [Some(it.wall_s), it.kernel_s, it.behind_kernel_s, it.avoidable_s, it.strangers]
            };
            amounts(placed.runs.iter().flat_map(run), place)?;
            amounts([Some(placed.wall_s), placed.avoidable_s, placed.avoidable_longest_s], place)?;
            amounts(placed.cpus.iter().map(|row| Some(row.seconds)), place)?;
            amounts(placed.behind.iter().map(|row| Some(row.seconds)), place)?;
            amounts(placed.hottest.iter().map(|hot| Some(hot.seconds)), place)?;
            report(&placed.report, &format!("studied.placed[{i}].report."))?;
        }
        Ok(())
    }
}

fn amounts(values: impl IntoIterator<Item = Option<f64>>, place: impl Fn() -> String) -> Result<(), Invalid> {
    values.into_iter().flatten().try_for_each(|value| amount(value, &place))
}
