//! `report`, and the options of other verbs that write the same files.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use whyfaster_words::display::TimeUnit;

/// `whyfaster report`.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// A record, a trace, or price lists; traces behind a record are of its commands [default: the last that was kept]
    ///
    /// A file, a name of 'whyfaster show --list', or '-' for standard input. Built-in price lists may be named as with 'machines'.
    #[arg(value_name = "RECORD|TRACE|LIST", value_hint = ValueHint::FilePath)]
    pub records: Vec<PathBuf>,

    /// Write the page to FILE ('-' is standard output) [default: report.html]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// The picture.
    #[command(flatten)]
    pub pictures: PictureArgs,

    /// Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]
    #[arg(short = 'u', long, value_name = "UNIT", hide_possible_values = true, help_heading = "Output")]
    pub time_unit: Option<TimeUnit>,
}

/// The page of a measurement that is made now.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct PageArgs {
    /// Write a page with pictures to FILE
    ///
    /// One file of HTML that loads nothing: every picture, table and number. 'whyfaster report' makes it of a record, too.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,

    /// The picture.
    #[command(flatten)]
    pub pictures: PictureArgs,
}

/// The one picture, and whether the page is opened.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct PictureArgs {
    /// Write the main picture to FILE, as SVG
    ///
    /// Of a comparison every run with its interval, or the time by load where there are several; of prices their bars; of a trace its
    /// critical path.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub svg: Option<PathBuf>,

    /// Write the same picture to FILE, as PNG
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub png: Option<PathBuf>,

    /// Open the page in the browser (xdg-open)
    ///
    /// Without a name for the page it is written to the directory for temporary files.
    #[arg(long, hide_short_help = true)]
    pub open: bool,
}
