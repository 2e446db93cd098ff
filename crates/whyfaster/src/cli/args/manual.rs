//! The options of `man` and `completions`.

use clap::Args;
use clap_complete::Shell;

/// `whyfaster man`.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// The verb whose page is shown; without it, the page of whyfaster itself
    #[arg(value_name = "VERB")]
    pub verb: Option<String>,
}

/// `whyfaster completions`.
#[derive(Clone, Copy, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}
