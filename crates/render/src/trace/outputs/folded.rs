//! Folded stacks, as flame graph programs read them: a stack, outermost frame first, a space, microseconds.

use std::collections::BTreeMap;

use whyfaster_words::display::FileOption;

use super::super::flame::{Flames, Place};
use super::trace_file::{Made, TraceFile};

pub(super) static FILE: TraceFile = TraceFile {
    option: FileOption::new("folded", "Write folded stacks, on and off the CPU, to FILE").short(),
    made: Made::OfStacks(|flames, _| Ok(folded(flames).into_bytes())),
};

/// All stacks, sorted; those of less than half a microsecond have no line.
///
/// Two roots stand beside each other, on the CPU and off it, the latter with the cause below.
pub fn folded(flames: &Flames) -> String {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (Place { state, command, frames }, ns) in &flames.0 {
        let mut stack = state.waits().map_or_else(|| "on-CPU".to_owned(), |why| format!("off-CPU;{why}"));
        for part in [command, frames].into_iter().filter(|part| !part.is_empty()) {
            stack = stack + ";" + part;
        }
        *sums.entry(stack).or_default() += ns;
    }
    let line = |(stack, ns): (String, u64)| {
        let us = (ns + 500) / 1000;
        (us > 0).then(|| format!("{stack} {us}\n"))
    };
    sums.into_iter().filter_map(line).collect()
}
