//! How a report names commands.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// Behind the name of a process that was forked and has not begun a program of its own.
const FORKED: &str = " (forked)";

/// Shells by their usual names.
pub const SHELLS: [&str; 14] = [
    "sh", "ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "pwsh", "tcsh", "yash", "zsh",
];

/// Behind the name of a process that goes on without a program of its own.
fn subshell_of(program: &str) -> &'static str {
    if SHELLS.contains(&program) { " (subshell)" } else { " (child)" }
}

/// What the process of a command is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    #[default]
    Program,
    /// A child between its fork and its exec.
    Forked,
    /// A child that goes on without an exec.
    Subshell,
}

/// A program by its name, a child of it between its fork and an exec of its own, or one that goes on without. It reads as the text that
/// is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Stored", into = "Stored")]
pub struct CommandName {
    shown: String,
    kind: Kind,
}

/// A name in a file.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Stored {
    /// The command; with "(forked)" behind it: a child of it between its fork and its exec; with "(subshell)" or "(child)": one that
    /// goes on without an exec.
    command: String,
    /// True: a child between its fork and its exec. Absent: it is none, or an earlier version wrote the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    forked: Option<bool>,
    /// True: a child that goes on without an exec.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    subshell: bool,
}

impl CommandName {
    /// A program, or a child of it that has begun none.
    pub fn new(program: &str, forked: bool) -> Self {
        match forked {
            true => Self { shown: format!("{program}{FORKED}"), kind: Kind::Forked },
            false => Self { shown: program.to_owned(), kind: Kind::Program },
        }
    }

    /// A child of the program that goes on without an exec.
    pub fn subshell(program: &str) -> Self {
        Self { shown: format!("{program}{}", subshell_of(program)), kind: Kind::Subshell }
    }

    /// As an earlier version wrote it: what it was stood in the text alone.
    pub fn read(shown: &str) -> Self {
        let kind = if shown.ends_with(FORKED) { Kind::Forked } else { Kind::Program };
        Self { shown: shown.to_owned(), kind }
    }

    /// Whether it is a child between its fork and its exec.
    pub fn is_forked(&self) -> bool {
        self.kind == Kind::Forked
    }

    /// As it is shown.
    pub fn as_str(&self) -> &str {
        &self.shown
    }

    /// The name of the program that it counts for: a child before its exec for its parent, and one without an exec for itself.
    pub fn program(&self) -> &str {
        let mark = if self.is_forked() { FORKED.len() } else { 0 };
        &self.shown[..self.shown.len() - mark]
    }

    /// The name of the program whose code it runs.
    pub fn code(&self) -> &str {
        match self.kind {
            Kind::Subshell => self.shown.rsplit_once(" (").map_or(&self.shown, |(program, _)| program),
            Kind::Program | Kind::Forked => self.program(),
        }
    }
}

/// Whether a shown name is that of a program, or of its children.
pub(crate) fn names(shown: &str, program: &str) -> bool {
    shown.strip_prefix(program).is_some_and(|mark| mark.is_empty() || mark == FORKED)
}

impl Deref for CommandName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.shown
    }
}

impl fmt::Display for CommandName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.shown)
    }
}

impl PartialEq<str> for CommandName {
    fn eq(&self, shown: &str) -> bool {
        self.shown == shown
    }
}

impl PartialEq<&str> for CommandName {
    fn eq(&self, shown: &&str) -> bool {
        self.shown == *shown
    }
}

/// A program.
impl From<&str> for CommandName {
    fn from(program: &str) -> Self {
        Self::new(program, false)
    }
}

impl From<Stored> for CommandName {
    fn from(Stored { command: shown, forked, subshell }: Stored) -> Self {
        let kind = match forked {
            // Whoever changed the file may have taken the mark away.
            _ if subshell && shown.ends_with(')') => Kind::Subshell,
            Some(true) if shown.ends_with(FORKED) => Kind::Forked,
            Some(_) => Kind::Program,
            None => return Self::read(&shown),
        };
        Self { shown, kind }
    }
}

impl From<CommandName> for Stored {
    fn from(name: CommandName) -> Self {
        // A program may have a name that reads like a child.
        let told = name.is_forked() || name.shown.ends_with(FORKED);
        let subshell = name.kind == Kind::Subshell;
        Self { forked: told.then_some(name.is_forked()), subshell, command: name.shown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(name: &CommandName) -> String {
        serde_json::to_string(name).unwrap()
    }

    #[test]
    fn a_child_is_told_beside_its_name() {
        let (program, child) = (CommandName::from("sh"), CommandName::new("sh", true));
        assert_eq!(json(&program), r#"{"command":"sh"}"#);
        assert_eq!(json(&child), r#"{"command":"sh (forked)","forked":true}"#);
        assert_eq!((child.program(), child.as_str(), child.is_forked()), ("sh", "sh (forked)", true));
        assert_eq!((program.program(), program.is_forked()), ("sh", false));
        let subshell = CommandName::subshell("sh");
        assert_eq!(json(&subshell), r#"{"command":"sh (subshell)","subshell":true}"#);
        assert_eq!(
            (subshell.program(), subshell.code(), subshell.is_forked()),
            ("sh (subshell)", "sh", false)
        );
        assert_eq!(CommandName::subshell("python3").as_str(), "python3 (child)");
        assert!(names(&child, "sh") && names(&program, "sh") && !names("shell", "sh") && !names("s", "sh"));
    }

    #[test]
    fn names_come_back_also_those_of_earlier_versions_and_those_that_read_like_children() {
        for name in [
            CommandName::from("sh"),
            CommandName::new("sh", true),
            CommandName::from("a (forked)"),
            CommandName::subshell("sh"),
            CommandName::from("sh (subshell)"),
        ] {
            assert_eq!(serde_json::from_str::<CommandName>(&json(&name)).unwrap(), name);
        }
        let former = serde_json::from_str::<CommandName>(r#"{"command":"sh (forked)"}"#).unwrap();
        assert_eq!(former, CommandName::new("sh", true));
        let changed = r#"{"command":"sh","forked":true}"#;
        assert_eq!(serde_json::from_str::<CommandName>(changed).unwrap(), CommandName::from("sh"));
        let changed = r#"{"command":"sh","subshell":true}"#;
        assert_eq!(serde_json::from_str::<CommandName>(changed).unwrap(), CommandName::from("sh"));
    }
}
