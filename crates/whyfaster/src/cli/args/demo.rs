//! The options of `demo`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::compare::UserArgs;
use super::detail::KeepArgs;
use super::prices::ViewArgs;
use crate::cli::numbers;

/// `whyfaster demo`.
#[derive(Clone, Debug, Args)]
pub struct DemoArgs {
    /// Begin nothing that would end after this time, such as 90s [default: 50s]
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, help_heading = "Statistics")]
    pub max_time: Option<f64>,

    /// As whom the commands run.
    #[command(flatten)]
    pub user: UserArgs,

    /// Write the record, with every raw sample, to FILE ('-' is standard output)
    ///
    /// 'whyfaster show FILE' prints it again.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub record: Option<PathBuf>,

    /// Whether it is kept.
    #[command(flatten)]
    pub keep: KeepArgs,

    /// Print the record as JSON on standard output instead of the report
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}
