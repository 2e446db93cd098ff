//! It touches more memory for the first time.

use super::definition::{BASE, Definition, Seen, in_kernel};
use crate::trace::report::WorkKind;
use crate::why::experiments::Untestable;
use crate::why::statement::{Fact, Measure, Pair};

const KINDS: [WorkKind; 2] = [WorkKind::PageFaults, WorkKind::Memory];

pub(super) const DEFINITION: Definition = Definition {
    on_path: |row, _| in_kernel(row, &KINDS),
    in_work: |row, _| KINDS.contains(&row.kind),
    in_code: true,
    seen: Seen::CpuTime,
    counted: &[(Measure::PageFaults, |it| it.faults)],
    fact: |it| Fact::PageFaults { pages: Pair { here: it.slow.faults, there: it.fast.faults } },
    change: |_| Err(Untestable::UsesMemory),
    ..BASE
};
