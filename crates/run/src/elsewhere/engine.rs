//! What the client of an engine says on its standard output before the shell is there, one value a line, told from what a login shell
//! greets with by its first word.

use serde::{Deserialize, Serialize};
use whyfaster_core::fleet::visit::Trouble;

const MARK: &str = "whyfaster-engine/1\t";

/// What it says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Told {
    /// The engine does not give the machine yet, and why, in its words.
    Waits(String),
    /// It has given it: from now on silence means something.
    Given,
    /// It does not give it.
    Out(Trouble),
}

impl Told {
    /// From a line; `None` for anything else.
    pub(super) fn of(line: &str) -> Option<Self> {
        serde_json::from_str(line.strip_prefix(MARK)?).ok()
    }

    /// As a line.
    pub(super) fn line(&self) -> String {
        format!("{MARK}{}\n", serde_json::to_string(self).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_understood_and_greetings_are_not() {
        let down = |reason: &str| Trouble::Down { state: "Evicted".to_owned(), reason: reason.to_owned() };
        for told in [
            Told::Waits("0/3 nodes are available:\n\tInsufficient cpu".to_owned()),
            Told::Given,
            Told::Out(down("no such image")),
            Told::Out(Trouble::NotLinux { system: "windows".to_owned() }),
        ] {
            let line = told.line();
            assert_eq!(line.matches('\n').count(), 1);
            assert_eq!(Told::of(line.trim_end_matches('\n')), Some(told));
        }
        for line in ["Welcome!", "whyfaster-far/1\tLinux", "whyfaster-engine/1\tdown", ""] {
            assert_eq!(Told::of(line), None, "{line}");
        }
    }
}
