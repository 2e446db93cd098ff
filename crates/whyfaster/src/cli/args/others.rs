//! The options of `show`, `study` and `doctor`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use whyfaster_core::plan::Loads;
use whyfaster_render::export::Exporter;
use whyfaster_render::trace::outputs::TraceFile;
use whyfaster_words::display::{CallSort, Registered, Style};

use super::compare::UserArgs;
use super::detail::{DetailArgs, KeepArgs};
use super::files::FileArgs;
use super::hyperfine::{DisplayArgs, ExportFormatArgs};
use super::report::PageArgs;
use super::trace::TraceRowsArgs;
use super::why::WhyArgs;
use crate::cli::numbers;

/// `whyfaster show`.
#[derive(Clone, Debug, Args)]
pub struct ShowArgs {
    /// The record, or the price list ('-' is standard input) [default: the last that was kept]
    ///
    /// A file, or the name of one that --list has.
    #[arg(value_name = "RECORD", value_hint = ValueHint::FilePath)]
    pub record: Option<PathBuf>,

    /// List the records that were kept, the last first
    #[arg(long, conflicts_with_all = of_one_record(), help_heading = "Output")]
    pub list: bool,

    /// Print it as JSON, with the analysis redone
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// The rows of a trace.
    #[command(flatten)]
    pub rows: TraceRowsArgs,
    /// The files of a trace.
    #[command(flatten, next_help_heading = "Files of a trace")]
    pub files: FileArgs<TraceFile>,

    /// Order of the table of system calls of a trace: time, calls, errors or name [default: time]
    #[arg(long, value_name = "ORDER", hide_possible_values = true, help_heading = "Report of a trace")]
    pub sort_calls: Option<CallSort>,

    /// The screen, as in hyperfine.
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Exports, as in hyperfine.
    #[command(flatten, next_help_heading = "Exports, as in hyperfine ('-' is standard output)")]
    pub export: FileArgs<Exporter>,
    /// Whose formats exports have.
    #[command(flatten)]
    pub export_format: ExportFormatArgs,
}

/// The options of `show` that are about one record.
fn of_one_record() -> impl Iterator<Item = &'static str> {
    let files = TraceFile::all().iter().map(|it| it.option().name);
    let exports = Exporter::all().iter().map(|it| it.option().name);
    ["record", "json", "by", "top", "sort_calls", "export_format"].into_iter().chain(files).chain(exports)
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

    /// Take a smaller size, or of a study of prices less time
    #[arg(long, conflicts_with = "full", help_heading = "Load")]
    pub quick: bool,

    /// Copies at once instead of the study's own levels, where it has several: a list such as 1,10
    #[arg(long, value_name = "LIST", value_parser = numbers::loads, help_heading = "Load")]
    pub load: Option<Loads>,

    /// Only these engines of a study of engines: a list such as pool,xargs
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Engines")]
    pub engines: Vec<String>,

    /// Fetch what the engines need and this machine lacks into a directory of the user's cache; as an ordinary user
    #[arg(long, help_heading = "Engines")]
    pub install: bool,

    /// Begin nothing that would end after this time, such as 90s or 5m
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, help_heading = "Statistics")]
    pub max_time: Option<f64>,

    /// Seed of the input and of the random order
    #[arg(long, value_name = "NUM", value_parser = numbers::seed, help_heading = "Statistics")]
    pub seed: Option<u64>,

    /// Write a flame graph of each of the two commands in question into DIR
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

    /// Whether it is kept.
    #[command(flatten)]
    pub keep: KeepArgs,

    /// Print the record as JSON on standard output instead of the report
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// The page.
    #[command(flatten)]
    pub page: PageArgs,

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

    /// How much is printed.
    #[command(flatten)]
    pub detail: DetailArgs,
}
