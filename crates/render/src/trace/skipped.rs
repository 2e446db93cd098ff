//! What was not observed because it is not the caller's.

use whyfaster_core::trace::event::NotOurs;
use whyfaster_core::trace::report::SkippedRow;
use whyfaster_words::look::Look;
use whyfaster_words::text::{for_look, wrap};

use super::sentence::thousands;

/// One line: how many processes, why, and what they are called.
pub(super) fn skipped(rows: &[SkippedRow], look: &Look) -> Vec<String> {
    let parts: Vec<String> = EACH.iter().filter_map(|(why, what)| part(rows, *why, what, look)).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    wrap(&format!("skipped: {}; root observes them", parts.join("; ")), look.width, 2)
}

/// So many commands are named; `skipped[]` of `--json` has all.
const NAMES: usize = 8;

/// Each reason, as it is said of one process and of several.
const EACH: [(NotOurs, [&str; 2]); 5] = [
    (NotOurs::OtherUser, ["of another user", "of other users"]),
    (
        NotOurs::Capabilities,
        ["with capabilities that you do not have", "with capabilities that you do not have"],
    ),
    (NotOurs::NotDumpable, ["whose memory is closed to its user", "whose memory is closed to their user"]),
    (NotOurs::UserNamespace, ["in a user namespace of others", "in user namespaces of others"]),
    (NotOurs::Refused, ["that you may not trace", "that you may not trace"]),
];

fn part(rows: &[SkippedRow], why: NotOurs, what: &[&str; 2], look: &Look) -> Option<String> {
    let rows: Vec<&SkippedRow> = rows.iter().filter(|row| row.why == why).collect();
    let name = |row: &&SkippedRow| match row.processes {
        1 => for_look(&row.command, look),
        n => format!("{} ({})", for_look(&row.command, look), thousands(n)),
    };
    let mut list: Vec<String> = rows.iter().take(NAMES).map(name).collect();
    if rows.len() > NAMES {
        list.push(format!("{} more", rows.len() - NAMES));
    }
    let list = list.join(", ");
    match rows.iter().map(|row| row.processes).sum() {
        0 => None,
        1 => Some(format!("1 process {}: {list}", what[0])),
        n => Some(format!("{} processes {}: {list}", thousands(n), what[1])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::look;

    #[test]
    fn the_line_says_how_many_and_why() {
        let row = |command: &str, why, processes| SkippedRow { command: command.to_owned(), why, processes };
        let rows = [
            row("ssh-agent", NotOurs::NotDumpable, 1),
            row("su", NotOurs::OtherUser, 1),
            row("sudo", NotOurs::OtherUser, 2),
        ];
        let look = look(500, false);
        assert_eq!(
            skipped(&rows, &look),
            [
                "skipped: 3 processes of other users: su, sudo (2); 1 process whose memory is closed to its user: ssh-agent; \
              root observes them"
            ]
        );
        assert!(skipped(&[], &look).is_empty());
    }
}
