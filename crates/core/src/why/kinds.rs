//! Names of the kinds of work on the path, and of commands.

use crate::trace::report::WorkKind;

/// Stands behind the name of a command between fork and exec.
const FORKED: &str = " (forked)";

/// All kinds of work.
const ALL: [WorkKind; 13] = [
    WorkKind::User,
    WorkKind::Startup,
    WorkKind::Process,
    WorkKind::Exec,
    WorkKind::PageFaults,
    WorkKind::Pipe,
    WorkKind::FileMetadata,
    WorkKind::FileData,
    WorkKind::Socket,
    WorkKind::Memory,
    WorkKind::Lock,
    WorkKind::Scheduling,
    WorkKind::Rest,
];

/// The group of calls that a row of the path names, in snake case as it is stored.
pub(super) fn work_kind(name: &str) -> Option<WorkKind> {
    ALL.into_iter().find(|kind| kind.name() == name)
}

/// Whether its count is a number of system calls.
pub(super) fn is_calls(kind: WorkKind) -> bool {
    use WorkKind::*;
    matches!(kind, Pipe | FileMetadata | FileData | Socket | Memory | Lock | Scheduling | Rest)
}

/// In words.
pub(super) fn words(kind: WorkKind) -> &'static str {
    match kind {
        WorkKind::User => "the programs' own code",
        WorkKind::Startup => "starting programs up",
        WorkKind::Process => "making and ending processes",
        WorkKind::Exec => "loading programs",
        WorkKind::PageFaults => "first use of memory",
        WorkKind::Pipe => "pipes",
        WorkKind::FileMetadata => "names and attributes of files",
        WorkKind::FileData => "reading and writing files",
        WorkKind::Socket => "sockets",
        WorkKind::Memory => "mapping memory",
        WorkKind::Lock => "locks",
        WorkKind::Scheduling => "sleeping and polling",
        WorkKind::Rest => "other system calls",
    }
}

/// The command without the mark of a child between fork and exec.
pub(super) fn base(command: &str) -> &str {
    command.strip_suffix(FORKED).unwrap_or(command)
}

/// Whether the label is that of a child between fork and exec.
pub(super) fn is_forked(command: &str) -> bool {
    command.ends_with(FORKED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_stored_document() {
        for kind in ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(work_kind(kind.name()), Some(kind));
        }
        assert_eq!(base("sh (forked)"), "sh");
    }
}
