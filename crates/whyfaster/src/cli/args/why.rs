//! The options of `compare` and `study` about why alternatives differ.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use whyfaster_core::plan::Explain;

/// Why alternatives differ.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Why")]
pub struct WhyArgs {
    /// Explain the difference, and say so where that cannot be done
    ///
    /// After the verdicts every alternative runs some more times, observed by programs in the kernel ('whyfaster
    /// doctor' says what that needs here). Done by itself where that is allowed and the alternatives differ when they run alone.
    #[arg(long, overrides_with = "no_why")]
    pub why: bool,

    /// Do not explain the difference
    #[arg(long)]
    pub no_why: bool,

    /// Confirm the explanation by experiments: remove a cause, and measure again (the default)
    #[arg(long, overrides_with = "no_confirm", conflicts_with = "no_why")]
    pub confirm: bool,

    /// Make no experiments
    #[arg(long)]
    pub no_confirm: bool,

    /// Observe every alternative this many times [default: 7 to 15, as time allows]
    ///
    /// Numbers have an interval from 6 rounds on.
    #[arg(long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "no_why")]
    pub why_rounds: Option<u32>,

    /// Take prices of operations from this price list instead of measuring them
    ///
    /// A list that 'whyfaster prices --record FILE' wrote on this machine.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "no_why")]
    pub prices: Option<PathBuf>,
}

impl WhyArgs {
    /// What a plan holds of it.
    pub(crate) fn plan(&self) -> Option<Explain> {
        (!self.no_why).then(|| Explain {
            asked: self.why,
            rounds: self.why_rounds,
            confirm: !self.no_confirm,
            prices: self.prices.clone(),
        })
    }
}
