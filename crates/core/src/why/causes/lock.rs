//! It waits for a lock.

use super::definition::{BASE, Definition, Seen, in_kernel};
use crate::trace::report::{PathKind, WorkKind};
use crate::why::categories::Category;
use crate::why::experiments::Untestable;
use crate::why::statement::{Fact, Measure};

pub(super) const DEFINITION: Definition = Definition {
    categories: &[Category::Lock],
    on_path: |row, _| row.kind == PathKind::Lock || in_kernel(row, &[WorkKind::Lock]),
    in_work: |row, _| row.kind == WorkKind::Lock,
    in_code: true,
    seen: Seen::Wait,
    counted: &[(Measure::LockCalls, |it| it.locks)],
    fact: |it| {
        let most =
            it.slow_path(|row| row.kind == PathKind::Lock).max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        Fact::Lock { waits_s: it.waits_s(WorkKind::Lock), holder: most.and_then(|row| row.what.clone()) }
    },
    change: |_| Err(Untestable::Locks),
    ..BASE
};
