//! It spends more time in the kernel. The timed runs tell so, and no count tells what for.

use super::definition::{BASE, Definition, Seen};
use crate::why::categories::Category;
use crate::why::experiments::Untestable;
use crate::why::statement::Fact;

pub(super) const DEFINITION: Definition = Definition {
    categories: &[Category::Kernel],
    seen: Seen::CpuTime,
    timed: true,
    fact: |_| Fact::Kernel,
    change: |_| Err(Untestable::Calls),
    ..BASE
};
