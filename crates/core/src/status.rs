//! How measurements end.

use serde::{Deserialize, Serialize};

/// How a measurement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All that was planned was run or reported as not measured.
    Complete,
    /// A signal ended it; what had been measured is here.
    Interrupted,
    /// An error ended it; what had been measured is here.
    Failed,
}
