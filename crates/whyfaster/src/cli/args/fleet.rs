//! Options of `fleet`: measuring on many machines, and reading their records.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand, ValueHint};
use whyfaster_core::fleet::gate::Limit;
use whyfaster_run::elsewhere::Place;

use super::super::{fleet, numbers};
use super::detail::SaveArgs;
use super::elsewhere::{AlongArgs, kinds};
use super::prices::ViewArgs;
use super::store::{ChosenArgs, WhichStoreArgs};

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
    /// Compare commands on every machine of the places, and say where which is faster
    Compare(FleetRunArgs),
    /// Price the operations of every machine of the places, and say how they differ
    Prices(FleetRunArgs),
    /// Trace a command on every machine of the places
    Trace(FleetRunArgs),
    /// Say what every machine of the places allows, and how noisy it is
    Doctor(FleetRunArgs),
    /// Measure on the machines whose records a run lacks
    Resume(FleetResumeArgs),
    /// Say how machines differ, which facts explain it, and which machines stand out
    Report(FleetReportArgs),
    /// Say what an update changed: every machine beside itself, before and after
    Diff(FleetDiffArgs),
}

/// `whyfaster fleet compare`, `prices`, `trace` and `doctor`.
#[derive(Clone, Debug, Args)]
pub struct FleetRunArgs {
    /// Where: ssh:HOST, slurm:PARTITION, k8s:SELECTOR, ray:ADDRESS, or a file with a host or a place a line
    #[arg(value_name = "PLACE", required = true, long_help = places())]
    pub places: Vec<Place>,

    /// What stands behind the verb, as on one machine
    #[arg(value_name = "ARGS", last = true, allow_hyphen_values = true)]
    pub args: Vec<String>,

    /// Bring the records home into DIR [default: a new directory fleet-DATE-TIME]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub to: Option<PathBuf>,

    /// Let at most NUM machines measure at once
    ///
    /// Use fewer if they share a disk or licences. A machine that waits in the queue of its engine counts. No machine is measured twice at
    /// once, even if it is named twice or another run measures on it.
    #[arg(long, value_name = "NUM", value_parser = numbers::count, default_value_t = 64, help_heading = "Elsewhere")]
    pub at_once: u32,

    /// Give a machine up when nothing came from it for TIME
    ///
    /// Both sides send a sign of life every quarter of TIME. A machine that hears nothing ends what it runs.
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, default_value = "60s", help_heading = "Elsewhere")]
    pub silence: f64,

    /// Give a machine up when it is not done after TIME
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, default_value = "1h", help_heading = "Elsewhere")]
    pub limit: f64,

    /// What goes along.
    #[command(flatten)]
    pub along: AlongArgs,

    /// The store that records are added to as they come home.
    #[command(flatten)]
    pub save: SaveArgs,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}

fn places() -> String {
    format!(
        "Where, each of these or a file with a host, or one of these, a line\n\n{}\nThe program goes there by itself, runs as the user who logs in, and leaves nothing.",
        kinds()
    )
}

/// `whyfaster fleet resume`.
#[derive(Clone, Debug, Args)]
pub struct FleetResumeArgs {
    /// The directory of the run that was interrupted, or in which machines failed
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,

    /// Resume a run that somebody else may have written
    ///
    /// The run reaches its machines and sends its files as you. Without this, a run is refused that is another user's, that others may write to, or
    /// that was copied; the message says what it asks for.
    #[arg(long, help_heading = "Elsewhere")]
    pub trust: bool,

    /// The store that records are added to as they come home.
    #[command(flatten)]
    pub save: SaveArgs,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}

/// A file of bytes that nothing else may stand before or behind.
fn file_of_its_own(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => Err("on standard output the report would stand in it: name a file".to_owned()),
        path => Ok(path.into()),
    }
}

/// Files of a report.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct FleetFileArgs {
    /// Write every price of every machine to FILE as CSV; of a diff, every row
    ///
    /// '-' is standard output.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub export_csv: Option<PathBuf>,

    /// Write the same to FILE as Parquet
    ///
    /// Columns have types, and what is not known is null.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = file_of_its_own)]
    pub export_parquet: Option<PathBuf>,

    /// Write a file a machine into DIR for Prometheus' textfile collector
    ///
    /// whyfaster_MACHINE.prom: prices in seconds, ratios, whether it stands out; of a diff, by how much each price changed.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub export_prometheus: Option<PathBuf>,

    /// Write a page with pictures to FILE
    ///
    /// One file of HTML that loads nothing: every row over the machines, who stands out, every comparison on its machines.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,

    /// Open the page in the browser (xdg-open)
    #[arg(long)]
    pub open: bool,
}

/// `whyfaster fleet report`.
#[derive(Clone, Debug, Default, Args)]
pub struct FleetReportArgs {
    /// Price lists and records of comparisons: files, or directories with such files
    ///
    /// A price list names its machine. A comparison is called by its file, or by its directory where every machine has one of its own.
    /// Without files the store is read, and of each machine the latest record counts.
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath, conflicts_with_all = ["store", "since", "until", "label", "hosts"])]
    pub files: Vec<PathBuf>,

    /// Take only comparisons in which a command, or its name, holds this text
    #[arg(long, value_name = "TEXT", help_heading = "Records")]
    pub only: Option<String>,

    /// Which records of the store.
    #[command(flatten)]
    pub chosen: ChosenArgs,

    /// Where the store is.
    #[command(flatten)]
    pub store: WhichStoreArgs,

    /// Exit with 3 if something in the fleet is above a limit
    ///
    /// CONDITION is 'outlier>20%' (a machine is farther off its group than that), 'time_wall_clock>5%' (an alternative takes more than that
    /// over the baseline on any machine; below 0 it has to take less), 'combined>5%' (the same of the effect over all machines), 'slower>10%'
    /// or 'not_faster>0' (on more machines than that an alternative is slower, or is not faster). The whole interval must lie above. May be
    /// given more than once.
    #[arg(long, value_name = "CONDITION", value_parser = fleet::report_limit, action = ArgAction::Append)]
    #[arg(group = "gate", help_heading = "Output")]
    pub fail_if: Vec<Limit>,

    /// Exit with 4 if a gate could not be decided
    #[arg(long, requires = "gate", help_heading = "Output")]
    pub fail_on_inconclusive: bool,

    /// Write what every machine says to every comparison to FILE as CSV
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub export_comparisons_csv: Option<PathBuf>,

    /// Write the same to FILE as Parquet
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = file_of_its_own, help_heading = "Output")]
    pub export_comparisons_parquet: Option<PathBuf>,

    /// Other files.
    #[command(flatten)]
    pub outputs: FleetFileArgs,

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
    /// Price lists before: a file, or a directory with files; in the store a label, or a date
    ///
    /// A date means the latest list of each machine before it.
    #[arg(value_name = "BEFORE", value_hint = ValueHint::AnyPath)]
    pub before: PathBuf,

    /// Price lists after: machines are paired by name
    #[arg(value_name = "AFTER", value_hint = ValueHint::AnyPath)]
    pub after: PathBuf,

    /// Where the store is, if both are in it.
    #[command(flatten)]
    pub store: WhichStoreArgs,

    /// Call a price unchanged when it changed by less than this
    #[arg(long, value_name = "SHARE", value_parser = numbers::delta, default_value = "5%", help_heading = "Statistics")]
    pub delta: f64,

    /// Exit with 3 if a price became dearer than allowed
    ///
    /// CONDITION is 'price>10%'. The whole interval must lie above; up to --delta a price is unchanged.
    #[arg(long, value_name = "CONDITION", value_parser = fleet::diff_limit, group = "gate", help_heading = "Output")]
    pub fail_if: Option<f64>,

    /// Exit with 4 if a gate could not be decided
    #[arg(long, requires = "gate", help_heading = "Output")]
    pub fail_on_inconclusive: bool,

    /// Files.
    #[command(flatten)]
    pub outputs: FleetFileArgs,

    /// Print everything as JSON on standard output instead of the report
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}
