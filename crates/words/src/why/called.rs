//! How sentences call alternatives.

use whyfaster_core::plan::Alternative;

use super::super::called::labels;
use super::numbers::quoted;

/// The names of alternatives, with how sentences call them.
pub(super) struct Called(Vec<(String, String)>);

impl Called {
    pub(super) fn new(alternatives: &[Alternative]) -> Self {
        // A letter needs no quotes.
        let said = |(it, label): (&Alternative, String)| {
            let said = if label == it.name { format!("'{label}'") } else { label };
            (it.name.clone(), said)
        };
        Self(alternatives.iter().zip(labels(alternatives)).map(said).collect())
    }

    /// How sentences call the alternative of this name.
    pub(super) fn of(&self, name: &str) -> String {
        let known = self.0.iter().find(|(known, _)| known == name);
        known.map_or_else(|| quoted(name), |(_, label)| label.clone())
    }
}
