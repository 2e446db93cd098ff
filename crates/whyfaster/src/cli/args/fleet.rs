//! Options of `fleet`: records of many machines.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::super::numbers;
use super::ViewArgs;

/// `whyfaster fleet`.
#[derive(Clone, Debug, Args)]
pub struct FleetArgs {
    /// What to do.
    #[command(subcommand)]
    pub task: FleetTask,
}

/// What to ask a fleet.
#[derive(Clone, Debug, Subcommand)]
pub enum FleetTask {
    /// Say how machines differ, which facts explain it, and which machines stand out
    Report(FleetReportArgs),
    /// Say what an update changed: every machine beside itself, before and after
    Diff(FleetDiffArgs),
}

/// `whyfaster fleet report`.
#[derive(Clone, Debug, Args)]
pub struct FleetReportArgs {
    /// Price lists and records of comparisons: files, or directories with such files
    ///
    /// A price list says which machine it is of. A record is called by its file; in a directory that holds one record a
    /// machine in a directory each, by that directory.
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath, required = true)]
    pub files: Vec<PathBuf>,

    /// Print everything as JSON on standard output instead of the report
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}

/// `whyfaster fleet diff`.
#[derive(Clone, Debug, Args)]
pub struct FleetDiffArgs {
    /// Price lists before: a file, or a directory with files
    #[arg(value_name = "BEFORE", value_hint = ValueHint::AnyPath)]
    pub before: PathBuf,

    /// Price lists after: machines are paired by name
    #[arg(value_name = "AFTER", value_hint = ValueHint::AnyPath)]
    pub after: PathBuf,

    /// Call a price unchanged when it changed by less than this
    #[arg(long, value_name = "SHARE", value_parser = numbers::delta, default_value = "5%", help_heading = "Statistics")]
    pub delta: f64,

    /// Print everything as JSON on standard output instead of the report
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}
