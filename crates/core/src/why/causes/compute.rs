//! It computes more in user code.

use super::definition::{BASE, Definition};
use crate::trace::report::{PathKind, WorkKind};
use crate::why::experiments::Untestable;
use crate::why::kinds::is_forked;
use crate::why::statement::{Fact, Measure};

pub(super) const DEFINITION: Definition = Definition {
    on_path: |row, children| row.kind == PathKind::User || children && row.kind == PathKind::Forked,
    in_work: |row, children| if is_forked(&row.command) { children } else { row.kind == WorkKind::User },
    by_work: true,
    counted: &[(Measure::CpuTime, |it| it.cpu_s)],
    fact: |it| Fact::Compute { command: it.command() },
    change: |_| Err(Untestable::Computes),
    ..BASE
};
