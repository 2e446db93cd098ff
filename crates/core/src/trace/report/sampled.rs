//! Where the clock found the code of the commands.

use serde::{Deserialize, Serialize};

use super::super::command::CommandName;
use super::WorkKind;

/// Samples of a clock that runs while a CPU does, by the function in which it found a command. What ran in the kernel for a call is not
/// among them: the calls tell more. Waits for locks are, one for every tick that they last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sampled {
    /// Samples a second, on every CPU.
    pub per_s: u32,
    /// The functions, those with the most samples first.
    pub functions: Vec<SampledRow>,
}

/// Samples that found a command at the same place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampledRow {
    /// The command.
    #[serde(flatten)]
    pub command: CommandName,
    /// What it did there: user code, page faults, its start-up, or waiting for a lock.
    pub kind: WorkKind,
    /// Where.
    #[serde(flatten)]
    pub code: Code,
    /// How many.
    pub samples: u64,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Code {
    /// Its name. Null: its file has no symbol there, or the code was made at run time and nobody said what it is.
    pub symbol: Option<String>,
    /// The file that has its code: a program, a library, or a script. Null: the code was made at run time.
    pub file: Option<String>,
    /// What called it: a function, or a file without symbols. Null: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_from: Option<String>,
}
