//! What the client of an engine says on its standard output before the shell is there: that it waits, that its turn has come, or that the
//! machine is not to be had. One line each, told from what a login shell greets with by its first field.

use whyfaster_core::fleet::visit::Trouble;

const WAITS: &str = "whyfaster-waits/1";
const GIVEN: &str = "whyfaster-given/1";
const OUT: &str = "whyfaster-out/1";

/// What it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The engine does not give the machine yet, and why, in its words.
    Waits { reason: String },
    /// It has given it: from now on silence means something.
    Given,
    /// It does not give it.
    Out { state: String, reason: String },
}

impl Told {
    /// From a line; `None` for anything else.
    pub(super) fn of(line: &str) -> Option<Self> {
        let mut fields = line.splitn(3, '\t').map(|field| field.trim().to_owned());
        match fields.next()?.as_str() {
            WAITS => Some(Self::Waits { reason: fields.next()? }),
            GIVEN => Some(Self::Given),
            OUT => Some(Self::Out { state: fields.next()?, reason: fields.next()? }),
            _ => None,
        }
    }

    /// As a line.
    pub(super) fn line(&self) -> String {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        match self {
            Self::Waits { reason } => format!("{WAITS}\t{}\n", plain(reason)),
            Self::Given => format!("{GIVEN}\n"),
            Self::Out { state, reason } => format!("{OUT}\t{}\t{}\n", plain(state), plain(reason)),
        }
    }
}

impl From<Trouble> for Told {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Down { state, reason } => Self::Out { state, reason },
            Trouble::NotLinux { system } => Self::Out { state: system, reason: String::new() },
            other => Self::Out { state: "lost".to_owned(), reason: format!("{other:?}") },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_understood_and_greetings_are_not() {
        for told in [
            Told::Waits { reason: "0/3 nodes are available: Insufficient cpu".to_owned() },
            Told::Waits { reason: String::new() },
            Told::Given,
            Told::Out { state: "ImagePullBackOff".to_owned(), reason: "no such image".to_owned() },
        ] {
            assert_eq!(Told::of(told.line().trim_end_matches('\n')), Some(told));
        }
        let broken = Told::Out { state: "a\tb".to_owned(), reason: "c\n\td".to_owned() };
        assert_eq!(
            Told::of(broken.line().trim_end()),
            Some(Told::Out { state: "a b".to_owned(), reason: "c d".to_owned() })
        );
        for line in ["Welcome!", "whyfaster-far/1\tLinux", "whyfaster-out/1\tdown", ""] {
            assert_eq!(Told::of(line), None, "{line}");
        }
    }
}
