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
    ALL.into_iter().find(|kind| snake_case(*kind) == name)
}

/// How a kind is stored.
pub(super) fn snake_case(kind: WorkKind) -> &'static str {
    match kind {
        WorkKind::User => "user",
        WorkKind::Startup => "startup",
        WorkKind::Process => "process",
        WorkKind::Exec => "exec",
        WorkKind::PageFaults => "page_faults",
        WorkKind::Pipe => "pipe",
        WorkKind::FileMetadata => "file_metadata",
        WorkKind::FileData => "file_data",
        WorkKind::Socket => "socket",
        WorkKind::Memory => "memory",
        WorkKind::Lock => "lock",
        WorkKind::Scheduling => "scheduling",
        WorkKind::Rest => "rest",
    }
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
            assert_eq!(serde_json::to_value(kind).unwrap(), snake_case(kind));
            assert_eq!(work_kind(snake_case(kind)), Some(kind));
        }
        assert_eq!(base("sh (forked)"), "sh");
    }
}
