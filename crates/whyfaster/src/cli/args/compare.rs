//! The options of `compare` that are our own: load, statistics, placement, output.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgAction, Args, ValueEnum, ValueHint};
use whyfaster_core::metric::Limit;
use whyfaster_core::plan::Loads;
use whyfaster_render::export::Exporter;
use whyfaster_words::display::Hyperfine;
use whyfaster_words::metric;
use whyfaster_words::metric::Chosen;

use super::detail::KeepArgs;
use super::elsewhere::OnArgs;
use super::files::FileArgs;
use super::hyperfine::{DisplayArgs, ExportFormatArgs, HyperfineArgs};
use super::report::PageArgs;
use super::why::WhyArgs;
use crate::cli::numbers;

/// `whyfaster compare`.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// The commands that do the same work, each quoted as one word
    #[arg(value_name = "COMMAND", required = true, value_parser = NonEmptyStringValueParser::new())]
    #[arg(value_hint = ValueHint::CommandString)]
    pub commands: Vec<String>,

    /// By whose name we are called, if not our own.
    #[arg(skip)]
    pub called: Option<Hyperfine>,

    /// hyperfine's hidden `--debug-mode`.
    #[arg(skip)]
    pub pretend: bool,

    /// As in hyperfine.
    #[command(flatten)]
    pub hyperfine: HyperfineArgs,
    /// What is measured beside the time.
    #[command(flatten)]
    pub metrics: MetricArgs,
    /// The screen, as in hyperfine.
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Exports, as in hyperfine.
    #[command(flatten, next_help_heading = "Exports, as in hyperfine ('-' is standard output)")]
    pub export: FileArgs<Exporter>,
    /// Whose formats exports have.
    #[command(flatten)]
    pub export_format: ExportFormatArgs,
    /// How many copies, and how they arrive.
    #[command(flatten)]
    pub load: LoadArgs,
    /// How sure, and how long.
    #[command(flatten)]
    pub statistics: StatisticsArgs,
    /// Where the copies run.
    #[command(flatten)]
    pub placement: PlacementArgs,
    /// As whom the copies run.
    #[command(flatten)]
    pub user: UserArgs,
    /// Why they differ.
    #[command(flatten)]
    pub why: WhyArgs,
    /// On which machine.
    #[command(flatten)]
    pub elsewhere: OnArgs,
    /// Gates and records.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What is measured beside the time.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "As in hyperfine")]
pub struct MetricArgs {
    /// Compare metrics: default, time, all, or a list
    ///
    /// Metrics are time_wall_clock, time_cpu, time_user, time_system, memory_peak_resident, cpu_cycles, instructions,
    /// cache_references, cache_misses and branch_misses; a unit may stand behind each, such as memory_peak_resident:MiB. All are
    /// of the whole process tree. 'default' is wall time and memory, 'time' the four times. (From hyperfine 2.0.)
    #[arg(long, value_name = "LIST", value_parser = |s: &str| metric::list(s).map(MetricList))]
    pub metrics: Option<MetricList>,
}

/// A list of metrics as one value (clap takes a bare `Vec` for a repeated option).
#[derive(Clone, Debug, PartialEq)]
pub struct MetricList(
    /// The metrics, each once, in the order in which they were given.
    pub Vec<Chosen>,
);

/// How copies arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeWord {
    /// N copies are released together; the time until the last one ends counts.
    Batch,
    /// N workers; each starts a copy as soon as its last one ended.
    Closed,
    /// Copies start at --rate, whatever became of the earlier ones.
    Open,
}

/// Where copies are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlacementWord {
    /// Each copy in a session of its own.
    Session,
    /// All copies of a batch in one session.
    Shared,
}

/// When alternatives run at once with the baseline, and whether times in turns are corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaceWord {
    /// Where --load asks for copies at once.
    Auto,
    /// Also for one copy alone.
    On,
    /// Neither.
    Off,
}

/// How many copies, and how they arrive.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    /// Copies at once, such as 1,10,100, or auto [default: 1]
    ///
    /// Each level runs that many copies of one alternative, never mixed with another. 'auto' takes 1, half, all, twice
    /// and four times the CPUs, 10, 100 and 1000, and then searches between the levels where the answer changes.
    #[arg(long, value_name = "LIST", value_parser = numbers::loads)]
    pub load: Option<Loads>,

    /// How copies arrive: batch, closed or open [default: batch]
    ///
    /// 'batch' releases all copies together and counts the time until the last one ends. 'closed' keeps that many
    /// copies running for --duration. 'open' starts copies at --rate for --duration, and counts each copy's time from
    /// when it should have started.
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    pub mode: Option<ModeWord>,

    /// Copies started a second, for --mode open
    #[arg(long, value_name = "PER_SECOND", value_parser = numbers::rate, hide_short_help = true)]
    pub rate: Option<f64>,

    /// How long copies are started, for --mode closed and open [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, hide_short_help = true)]
    pub duration: Option<f64>,
}

/// How sure, and how long.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Statistics")]
pub struct StatisticsArgs {
    /// Begin nothing that would end after TIME
    ///
    /// Such as 90s or 5m. It is then a hard limit that also cuts --min-runs short. Without it, rounds go on until each verdict is clear or
    /// about ten seconds have passed, or the time of ten runs of each command if that is longer, up to a minute (with --load always a
    /// minute), but at the lowest load never fewer than --min-runs and than an interval needs.
    #[arg(long, value_name = "TIME", value_parser = numbers::duration)]
    pub max_time: Option<f64>,

    /// Call a smaller difference none [default: 2%]
    ///
    /// Two alternatives that differ by less than SHARE are the same.
    #[arg(long, value_name = "SHARE", value_parser = numbers::delta)]
    pub delta: Option<f64>,

    /// Confidence of all intervals together [default: 95%]
    #[arg(long, value_name = "SHARE", value_parser = numbers::confidence, hide_short_help = true)]
    pub confidence: Option<f64>,

    /// Cancel changes of the CPU's speed: auto, on or off [default: auto]
    ///
    /// Runs each alternative at once with the baseline on one CPU, some times, and compares their CPU times: both meet the same changes
    /// of speed. CPU time decides how long many copies take. 'auto' does so where --load asks for copies at once; 'on' also for one copy
    /// alone, if the commands bear to run at once; 'off' never does. What the hypervisor took, and the clock where cycles are counted, also
    /// correct the times of runs in turns, beside the verdict, except with 'off'.
    #[arg(long, value_name = "WHEN", hide_possible_values = true, hide_short_help = true)]
    pub pace: Option<PaceWord>,

    /// Seed of the random order [default: a fresh one, kept in the record]
    #[arg(long, value_name = "NUM", value_parser = numbers::seed, hide_short_help = true)]
    pub seed: Option<u64>,

    /// End a copy after TIME; it counts as too slow
    ///
    /// With all the processes that it started.
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, hide_short_help = true)]
    pub timeout: Option<f64>,

    /// What to do if outputs differ: report or strict [default: report]
    ///
    /// Each alternative runs once, untimed, and its standard output is compared with that of the first. 'report' measures them all the
    /// same, and the first line tells of the difference; 'strict' ends with 5, and so does each --fail-if. With --runs the first warm-up
    /// run is compared; without one, nothing is.
    #[arg(
        long,
        value_name = "HOW",
        conflicts_with = "no_check_output",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub check_output: Option<CheckWord>,

    /// Do not compare what the alternatives print
    ///
    /// The untimed run is made all the same where --output is auto.
    #[arg(long)]
    pub no_check_output: bool,

    /// Print what would run, and run nothing
    ///
    /// Every execution in its order, with its hooks and environment, up to the least number of rounds. With the printed --seed the
    /// measurement runs in that order.
    #[arg(long, conflicts_with_all = ["json", "record"], hide_short_help = true)]
    pub dry_run: bool,
}

/// Reactions to outputs that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckWord {
    /// It is reported with the verdict.
    Report,
    /// It is an error.
    Strict,
}

/// Where the copies run.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Placement")]
pub struct PlacementArgs {
    /// Sessions of the copies: session (each its own) or shared (one for all) [default: session]
    ///
    /// Linux can share out CPU time by session (autogroup), so the answer under load may depend on it.
    #[arg(long, value_name = "HOW", hide_possible_values = true, hide_short_help = true)]
    pub placement: Option<PlacementWord>,

    /// Run the copies on these CPUs only, such as 0-3,5
    #[arg(long, value_name = "CPUS", value_parser = |s: &str| numbers::cpu_list(s).map(CpuList))]
    pub pin: Option<CpuList>,

    /// Leave running what a command started
    ///
    /// Otherwise what outlives the command is ended after each run, so that it cannot disturb the next one. What runs on is in no
    /// number.
    #[arg(long, hide_short_help = true)]
    pub keep_daemons: bool,

    /// Empty the page cache before every timed run (needs root)
    #[arg(long, hide_short_help = true)]
    pub drop_caches: bool,
}

/// As whom commands run.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Placement")]
pub struct UserArgs {
    /// Under sudo, run the commands as root, and write files as root
    ///
    /// Without it, commands and hooks run as the user who called sudo, with that user's groups and HOME. whyfaster itself reads and
    /// writes files with that user's rights. Without sudo the option changes nothing.
    #[arg(long, hide_short_help = true)]
    pub as_root: bool,
}

/// A list of CPUs as one value (clap takes a bare `Vec` for a repeated option).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(
    /// The CPUs, each once, in rising order.
    pub Vec<u32>,
);

/// Gates and records.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Exit with 3 if one is slower
    ///
    /// If an alternative is slower than the baseline by more than PERCENT [default: --delta]. It fails only when the whole interval lies above, never on a middle value alone. Where the interval does not
    /// decide, it passes with a warning, unless --fail-on-inconclusive is given.
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(value_parser = optional_percent, group = "gate")]
    pub fail_if_slower: Option<Allowance>,

    /// Exit with 3 if a metric is above a limit
    ///
    /// CONDITION is one of --metrics and a percentage over the baseline, such as 'memory_peak_resident>5%', or an amount that
    /// no command may exceed, such as 'time_user>200ms'. As with --fail-if-slower the whole interval must lie above. May be given
    /// more than once.
    #[arg(long, value_name = "CONDITION", value_parser = metric::limit, action = ArgAction::Append)]
    #[arg(group = "gate", hide_short_help = true)]
    pub fail_if: Vec<Limit>,

    /// Exit with 4 if a gate could not be decided
    ///
    /// Of --fail-if-slower or --fail-if.
    #[arg(long, requires = "gate", hide_short_help = true)]
    pub fail_on_inconclusive: bool,

    /// Write the record to FILE
    ///
    /// With every raw sample; '-' is standard output. 'whyfaster show FILE' prints it again.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub record: Option<PathBuf>,

    /// Whether it is kept.
    #[command(flatten)]
    pub keep: KeepArgs,

    /// Print JSON instead of the report
    ///
    /// The record, on standard output.
    #[arg(long)]
    pub json: bool,

    /// The page.
    #[command(flatten)]
    pub page: PageArgs,
}

/// How much slower is still allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowance {
    /// As much as counts as the same (`--delta`).
    Delta,
    /// This fraction.
    Fraction(f64),
}

fn optional_percent(text: &str) -> Result<Allowance, String> {
    if text.is_empty() { Ok(Allowance::Delta) } else { numbers::percent(text).map(Allowance::Fraction) }
}
