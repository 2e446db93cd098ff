//! It waits for the network.

use super::definition::{BASE, Definition, in_kernel};
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
    counted: &[(Measure::SocketCalls, |it| it.sockets.calls), (Measure::SocketData, |it| it.sockets.bytes)],
    fact: |it| Fact::Network { command: it.command() },
    change: |_| Err(Untestable::Network),
    ..BASE
};
