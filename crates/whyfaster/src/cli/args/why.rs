//! The options of `compare` and `study` about why alternatives differ.

use clap::{Args, ValueEnum};
use whyfaster_core::plan::Explain;
use whyfaster_words::exit::Failure;

use super::super::numbers;

/// How far a difference is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhyWord {
    /// By observation and experiments.
    Yes,
    /// By observation alone.
    Observe,
    /// Not at all.
    No,
}

/// Why alternatives differ.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Why")]
pub struct WhyArgs {
    /// Explain the difference: yes, observe (no experiments) or no
    ///
    /// After the verdicts every alternative runs some more times, observed by programs in the kernel ('whyfaster
    /// doctor' says what that needs here). Experiments then remove a cause and measure again. Without this option that is
    /// done where it is allowed and the alternatives differ when they run alone; 'yes', which --why alone means, also says why
    /// it cannot be done.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "yes", overrides_with = "why")]
    #[arg(hide_possible_values = true)]
    pub why: Option<WhyWord>,

    /// Observe every alternative this many times [default: 3 to 22, until the causes are known]
    ///
    /// Numbers have an interval from 3 rounds on.
    #[arg(long, value_name = "NUM", value_parser = numbers::rounds, hide_short_help = true)]
    pub why_rounds: Option<u32>,
}

impl WhyArgs {
    /// What a plan holds of it.
    pub(crate) fn plan(&self) -> Result<Option<Explain>, Failure> {
        if self.why != Some(WhyWord::No) {
            let confirm = self.why != Some(WhyWord::Observe);
            return Ok(Some(Explain { asked: self.why.is_some(), rounds: self.why_rounds, confirm }));
        }
        if self.why_rounds.is_some() {
            let message = "--why-rounds and --why=no exclude each other: nothing is observed";
            return Err(Failure::usage(message, "leave one of them out"));
        }
        Ok(None)
    }
}
