//! Kinds of work on the path, and of commands.

use crate::trace::report::{PathRow, WorkKind};

/// The group of calls that a row of the path names.
pub(super) fn work_kind(row: &PathRow) -> Option<WorkKind> {
    row.what.as_deref().and_then(WorkKind::from_name)
}

/// Whether its count is a number of system calls.
pub(super) fn is_calls(kind: WorkKind) -> bool {
    use WorkKind::*;
    matches!(kind, Pipe | FileMetadata | Descriptor | FileData | Socket | Memory | Lock | Scheduling | Rest)
}
