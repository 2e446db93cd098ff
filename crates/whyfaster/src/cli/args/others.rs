//! The options of `show`, `study` and `doctor`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use whyfaster_core::plan::Loads;

use super::compare::UserArgs;
use super::hyperfine::{DisplayArgs, ExportArgs};
use super::trace::{TraceFilesArgs, TraceRowsArgs};
use super::why::WhyArgs;
use crate::cli::numbers;
use crate::display::{CallSort, Style};

/// `whyfaster show`.
#[derive(Clone, Debug, Args)]
pub struct ShowArgs {
    /// The record, or the price list ('-' is standard input)
    #[arg(value_name = "RECORD", value_hint = ValueHint::FilePath)]
    pub record: PathBuf,

    /// Print it as JSON, with the analysis redone
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// The rows of a trace.
    #[command(flatten)]
    pub rows: TraceRowsArgs,
    /// The files of a trace.
    #[command(flatten, next_help_heading = "Files of a trace")]
    pub files: TraceFilesArgs,

    /// Order of the table of system calls of a trace: time, calls, errors or name [default: time]
    #[arg(long, value_name = "ORDER", hide_possible_values = true, help_heading = "Report of a trace")]
    pub sort_calls: Option<CallSort>,

    /// The screen, as in hyperfine.
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Exports, as in hyperfine.
    #[command(flatten)]
    pub export: ExportArgs,
}

/// `whyfaster study`.
#[derive(Clone, Debug, Args)]
pub struct StudyArgs {
    /// The study to run; without it the studies are listed
    #[arg(value_name = "STUDY")]
    pub name: Option<String>,

    /// Take the article's own sizes, or of a study of prices more repetitions: takes much longer
    #[arg(long, help_heading = "Load")]
    pub full: bool,

    /// Take a smaller size (study dispatch, study placement)
    #[arg(long, conflicts_with = "full", help_heading = "Load")]
    pub quick: bool,

    /// Copies at once instead of the study's own levels: a list such as 1,10
    #[arg(long, value_name = "LIST", value_parser = numbers::loads, help_heading = "Load")]
    pub load: Option<Loads>,

    /// Set these price lists beside the article's, each in a column of its own (study threads, study syscalls)
    ///
    /// Lists that 'whyfaster prices --inside KIND --record FILE' wrote, those of a bare worker, and built-in ones.
    #[arg(long = "with", value_name = "LIST", value_delimiter = ',', value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub with: Vec<PathBuf>,

    /// Begin nothing that would end after this time, such as 90s or 5m
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, help_heading = "Statistics")]
    pub max_time: Option<f64>,

    /// Seed of the input and of the random order
    #[arg(long, value_name = "NUM", value_parser = numbers::seed, help_heading = "Statistics")]
    pub seed: Option<u64>,

    /// Write a flame graph of each of the two alternatives in question into DIR (study placement)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub flamegraphs: Option<PathBuf>,

    /// As whom the study's commands run.
    #[command(flatten)]
    pub user: UserArgs,
    /// Why the alternatives differ.
    #[command(flatten)]
    pub why: WhyArgs,

    /// Write the record, with every raw sample, to FILE ('-' is standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub record: Option<PathBuf>,

    /// Print the record as JSON on standard output instead of the report
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// The screen, as in hyperfine.
    #[command(flatten)]
    pub display: DisplayArgs,
}

/// `whyfaster doctor`.
#[derive(Clone, Debug, Args)]
pub struct DoctorArgs {
    /// Print the facts as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Colour: auto, basic, full, nocolor, color or none [default: auto]
    #[arg(long, value_name = "TYPE", hide_possible_values = true, help_heading = "Output")]
    pub style: Option<Style>,
}
