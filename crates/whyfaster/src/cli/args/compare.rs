//! The options of `compare` that are our own: load, statistics, placement, output.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};
use whyfaster_core::plan::Loads;

use super::hyperfine::{DisplayArgs, ExportArgs, HyperfineArgs};
use super::why::WhyArgs;
use crate::cli::numbers;

/// `whyfaster compare`.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// The commands that do the same work, each quoted as one word
    #[arg(value_name = "COMMAND", required = true, value_parser = NonEmptyStringValueParser::new())]
    #[arg(value_hint = ValueHint::CommandString)]
    pub commands: Vec<String>,

    /// As in hyperfine.
    #[command(flatten)]
    pub hyperfine: HyperfineArgs,
    /// The screen, as in hyperfine.
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Exports, as in hyperfine.
    #[command(flatten)]
    pub export: ExportArgs,
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
    /// Gates and records.
    #[command(flatten)]
    pub output: OutputArgs,
}

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

/// How many copies, and how they arrive.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    /// Copies at once: a list such as 1,10,100, or 'auto' [default: 1]
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
    /// about a minute has passed, but never fewer than --min-runs.
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

    /// Seed of the random order [default: a fresh one, kept in the record]
    #[arg(long, value_name = "NUM", value_parser = numbers::seed, hide_short_help = true)]
    pub seed: Option<u64>,

    /// End a copy after TIME; it counts as too slow
    ///
    /// With all the processes that it started.
    #[arg(long, value_name = "TIME", value_parser = numbers::duration)]
    pub timeout: Option<f64>,

    /// Do not compare what the alternatives print
    ///
    /// Otherwise each alternative runs once, untimed, and its standard output must be the same as that of the others.
    /// Exit statuses must agree in every run.
    #[arg(long)]
    pub no_check_output: bool,
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

    /// Empty the page cache before every timed run (needs root)
    #[arg(long, hide_short_help = true)]
    pub drop_caches: bool,
}

/// As whom commands run.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Placement")]
pub struct UserArgs {
    /// Under sudo, run the commands as root too
    ///
    /// Without it, commands and hooks run as the user who called sudo, with that user's groups and HOME. Without sudo it
    /// changes nothing.
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
    #[arg(value_parser = optional_percent)]
    pub fail_if_slower: Option<Allowance>,

    /// Exit with 4 if --fail-if-slower could not be decided
    #[arg(long, requires = "fail_if_slower", hide_short_help = true)]
    pub fail_on_inconclusive: bool,

    /// Write the record to FILE
    ///
    /// With every raw sample; '-' is standard output. 'whyfaster show FILE' prints it again.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub record: Option<PathBuf>,

    /// Print JSON instead of the report
    ///
    /// The record, on standard output.
    #[arg(long)]
    pub json: bool,
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
