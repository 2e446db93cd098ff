//! What every study has: the size of a run, and the article behind it.

use serde::Deserialize;
use whyfaster_core::plan::Rounds;

/// How large a run of a study is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Lines or items of input.
    pub amount: u32,
    /// Levels of load, rising.
    #[serde(default = "alone")]
    pub loads: Vec<u32>,
    /// Rounds and time.
    pub rounds: Rounds,
}

fn alone() -> Vec<u32> {
    vec![1]
}

/// What an article measured, and where.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Article<F> {
    /// The article.
    pub source: String,
    /// What it measured with.
    pub tool: String,
    /// Its machine, as far as it says.
    pub machine: String,
    /// Its input.
    pub input: String,
    /// Its figures.
    pub figures: Vec<F>,
}

/// A program that a study needs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// Its name on the search path.
    pub program: String,
    /// How to get it.
    pub install: String,
}
