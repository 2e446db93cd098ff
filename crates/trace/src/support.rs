//! Whether this kernel and these privileges allow the full level, and if not, what is missing and what would give it.

use std::fs;
use std::io::Read;

use crate::full::offered::{left_out, types};
use crate::full::trial::trial;
use crate::obstacles::{Missing, missing, obstacles};
use crate::wanted::Wanted;

/// What the full level finds here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Support {
    /// What it cannot do without; empty: the full level is there.
    pub missing: Vec<Missing>,
    /// What it does without, each with what is then not seen.
    pub reduced: Vec<Missing>,
}

impl Support {
    /// Whether the full level is there.
    pub fn full(&self) -> bool {
        self.missing.is_empty()
    }
}

/// What the full level finds here. The programs are loaded and attached for it, once a boot.
pub fn support() -> Support {
    let mut found = Support { missing: obstacles(), reduced: Vec::new() };
    if found.missing.is_empty()
        && let Err(unsupported) = trial()
    {
        found.missing = unsupported.missing;
    }
    found.reduced.extend(left_out(types().as_ref(), &Wanted::default()));
    found.reduced.extend(names());
    found
}

/// Names of kernel functions in stacks.
fn names() -> Option<Missing> {
    // The first lines tell; the whole file is many megabytes.
    let mut beginning = Vec::new();
    let read = fs::File::open("/proc/kallsyms").and_then(|f| f.take(4096).read_to_end(&mut beginning));
    let shown = read.is_ok()
        && String::from_utf8_lossy(&beginning)
            .lines()
            .any(|l| !l.starts_with("0000000000000000") && l.split(' ').count() >= 3);
    (!shown).then(|| {
        let why = "/proc/kallsyms hides the addresses, so kernel frames of stacks stay numbers";
        missing("names of kernel functions", why, "kernel.kptr_restrict=0, or root, gives them")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_to_raise_the_memory_lock_limit() {
        for missing in support().missing {
            assert!(!missing.to_string().to_lowercase().contains("memlock"), "{missing}");
            assert!(!missing.remedy.is_empty());
        }
    }
}
