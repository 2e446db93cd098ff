//! How much is printed, and whether the rest is kept for later: the same options for every verb with a report.

use clap::{ArgAction, Args, ValueHint};
use whyfaster_store::database::label;
use whyfaster_words::display::Detail;

/// How much is printed.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct DetailArgs {
    /// Print the tables too; -vv prints everything
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,

    /// Print nothing but the answer in one sentence
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
}

impl DetailArgs {
    /// The level that they ask for.
    pub fn detail(self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, _) => Detail::Sentence,
            (false, 0) => Detail::Screen,
            (false, 1) => Detail::Tables,
            (false, 2..) => Detail::Everything,
        }
    }
}

/// Whether what was measured is kept.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct KeepArgs {
    /// Do not keep the record for 'whyfaster show'
    ///
    /// The last 20 records are kept in $XDG_STATE_HOME/whyfaster, else in ~/.local/state/whyfaster, where only their owner may read
    /// them. 'whyfaster show' prints the last one again.
    #[arg(long, hide_short_help = true)]
    pub no_keep: bool,

    /// Whether it is added to a store.
    #[command(flatten)]
    pub saved: SaveArgs,
}

/// Whether what was measured is added to a store.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct SaveArgs {
    /// Add the record to the store, where 'whyfaster fleet' and 'whyfaster store' find it
    #[arg(long, hide_short_help = true)]
    pub save: bool,

    /// The label that it is added under, such as before or after
    #[arg(long, value_name = "LABEL", value_parser = label, requires = "save", hide_short_help = true)]
    pub label: Option<String>,

    /// The store that it is added to: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else in the XDG data directory]
    #[arg(long, value_name = "STORE", value_hint = ValueHint::FilePath, requires = "save", hide_short_help = true)]
    pub store: Option<String>,
}
