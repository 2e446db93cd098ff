//! Options of measuring on another machine.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use whyfaster_run::elsewhere::{Binary, PLACES, Place};

/// What goes along to another machine.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Elsewhere")]
pub struct AlongArgs {
    /// Copy FILE into the directory over there in which the commands run
    ///
    /// May be given more than once. Everything that was copied is removed afterwards.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub send: Vec<PathBuf>,

    /// Use this whyfaster on machines of another instruction set
    ///
    /// ARCH is what 'uname -m' says there, such as aarch64. May be given more than once.
    #[arg(long, value_name = "ARCH=FILE", hide_short_help = true)]
    pub binary: Vec<Binary>,
}

/// A measurement on another machine.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Elsewhere")]
pub struct OnArgs {
    /// Measure on another machine, such as ssh:HOST
    #[arg(long, value_name = "PLACE", hide_short_help = true, long_help = place())]
    pub on: Option<Place>,

    /// What goes along.
    #[command(flatten)]
    pub along: AlongArgs,
}

/// Every kind of place, as long helps say it.
pub(super) fn kinds() -> String {
    PLACES.map(|kind| format!("{}:{}: {}.", kind.word, kind.form, kind.help)).join("\n")
}

fn place() -> String {
    format!(
        "Measure on another machine, such as ssh:HOST\n\n{}\nwhyfaster goes there by itself, runs as the user who logs in, and leaves nothing. The record comes home and \
         is shown, written and exported here. 'whyfaster fleet' measures on many.",
        kinds()
    )
}
