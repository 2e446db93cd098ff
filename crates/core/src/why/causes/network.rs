//! It waits for whoever is at the other end of a socket.

use super::definition::{BASE, Definition, Seen, in_kernel};
use crate::trace::report::{PathKind, WorkKind};
use crate::why::categories::Category;
use crate::why::experiments::Untestable;
use crate::why::statement::{Fact, Measure};

pub(super) const DEFINITION: Definition = Definition {
    categories: &[Category::Network],
    on_path: |row, _| {
        matches!(row.kind, PathKind::Network | PathKind::Outside) || in_kernel(row, &[WorkKind::Socket])
    },
    in_work: |row, _| row.kind == WorkKind::Socket,
    seen: Seen::Wait,
    counted: &[(Measure::SocketCalls, |it| it.sockets.calls), (Measure::SocketData, |it| it.sockets.bytes)],
    fact: |it| Fact::Network {
        waits_s: it.waits_s(WorkKind::Socket),
        local: it.slow.local_sockets.calls * 2.0 > it.slow.sockets.calls,
        command: it.command(),
    },
    change: |_| Err(Untestable::Network),
    ..BASE
};
