//! Whether N copies fit on the machine. Asked before a level; what is not known does not block it.

use crate::host::HostFacts;
use crate::missing::{Resource, Shortage};

/// What a level takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Most processes of one copy at once.
    pub processes: u32,
    /// Most memory of one copy at once, bytes.
    pub memory_bytes: u64,
    /// Descriptors that the launcher holds for one copy: 2 when its output goes through a pipe, and one for each count of the CPU.
    pub fds: u32,
    /// Processes that are needed whatever the number of copies.
    pub fixed_processes: u32,
    /// Memory that is needed whatever the number of copies, bytes.
    pub fixed_memory_bytes: u64,
    /// Descriptors that the launcher holds whatever the number of copies.
    pub fixed_fds: u32,
}

/// Part of the available memory that may be used: peaks are sampled, page tables and the kernel's own need come on top,
/// and below about this the machine begins to reclaim and the copies measure that.
const MEMORY_USABLE: f64 = 0.9;

/// Whether this many copies fit; the error is the limit that allows the fewest copies.
pub fn fits(facts: &HostFacts, need: &Need, copies: u32) -> Result<(), Shortage> {
    let short = limits(facts, need).into_iter().filter(|limit| limit.most_copies() < u64::from(copies));
    match short.min_by_key(Limit::most_copies) {
        None => Ok(()),
        Some(limit) => Err(limit.shortage(copies)),
    }
}

/// One limit: what a copy takes of it and what there is.
struct Limit {
    resource: Resource,
    name: Option<String>,
    per_copy: u64,
    fixed: u64,
    there_is: u64,
}

impl Limit {
    /// The number of copies that still fit; what a copy does not take never limits.
    fn most_copies(&self) -> u64 {
        match self.per_copy {
            0 => u64::MAX,
            each => self.there_is.saturating_sub(self.fixed) / each,
        }
    }

    fn shortage(self, copies: u32) -> Shortage {
        Shortage {
            resource: self.resource,
            copies,
            needed: self.per_copy.saturating_mul(u64::from(copies)).saturating_add(self.fixed),
            there_is: self.there_is,
            most_copies: self.most_copies(),
            limit: self.name,
        }
    }
}

/// The limits that are known.
fn limits(facts: &HostFacts, need: &Need) -> Vec<Limit> {
    let processes = facts.pids_available.map(|pids| Limit {
        resource: Resource::Processes,
        name: facts.pids_limit.clone(),
        per_copy: need.processes.into(),
        fixed: need.fixed_processes.into(),
        there_is: pids,
    });
    let memory = facts.memory_available.map(|memory| Limit {
        resource: Resource::Memory,
        name: facts.memory_limit.clone(),
        per_copy: need.memory_bytes,
        fixed: need.fixed_memory_bytes,
        there_is: (memory as f64 * MEMORY_USABLE) as u64,
    });
    let files = facts.files_limit.map(|files| Limit {
        resource: Resource::Files,
        name: None,
        per_copy: need.fds.into(),
        fixed: need.fixed_fds.into(),
        there_is: files,
    });
    [processes, memory, files].into_iter().flatten().collect()
}

/// A whole number with commas: 5,000.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An amount of memory with a binary unit: 1.5 GiB.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would be printed as 1024.0.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn machine() -> HostFacts {
        HostFacts {
            pids_available: Some(812),
            pids_limit: Some("ulimit -u".into()),
            memory_available: Some(10 << 30),
            memory_limit: Some("MemAvailable".into()),
            files_limit: Some(1024),
            ..HostFacts::default()
        }
    }

    #[test]
    fn the_shortage_names_limit_and_need() {
        let need = Need { processes: 5, ..Need::default() };
        let short = Shortage {
            resource: Resource::Processes,
            limit: Some("ulimit -u".to_owned()),
            copies: 1000,
            needed: 5000,
            there_is: 812,
            most_copies: 162,
        };
        assert_eq!(fits(&machine(), &need, 1000), Err(short));
        assert_eq!(fits(&machine(), &need, 162), Ok(()));
        assert!(fits(&machine(), &need, 163).is_err());
    }

    #[test]
    fn a_tenth_of_the_memory_is_kept() {
        let need = Need { memory_bytes: 1 << 30, ..Need::default() };
        assert_eq!(fits(&machine(), &need, 9), Ok(()));
        let short = fits(&machine(), &need, 10).expect_err("ten gibibytes are all there is");
        assert_eq!((short.resource, short.there_is, short.most_copies), (Resource::Memory, 9 << 30, 9));
    }

    #[test]
    fn fixed_needs_count_once() {
        let need = Need { fds: 1, fixed_fds: 24, ..Need::default() };
        assert_eq!(fits(&machine(), &need, 1000), Ok(()));
        let short = fits(&machine(), &need, 1001).expect_err("1025 of 1024");
        assert_eq!((short.needed, short.most_copies), (1025, 1000));
    }

    #[test]
    fn the_tightest_limit_is_the_one_named() {
        let need = Need { processes: 1, memory_bytes: 1 << 30, fds: 1, ..Need::default() };
        let short = fits(&machine(), &need, 5000).expect_err("all three are short");
        assert_eq!((short.resource, short.most_copies), (Resource::Memory, 9));
    }

    #[test]
    fn not_even_one() {
        let need = Need { memory_bytes: 1 << 40, ..Need::default() };
        let short = fits(&machine(), &need, 1).expect_err("a tebibyte is too much");
        assert_eq!((short.copies, short.most_copies), (1, 0));
    }

    #[test]
    fn what_is_unknown_or_not_needed_does_not_block() {
        let need = Need { processes: 50, memory_bytes: u64::MAX, fds: 9, ..Need::default() };
        assert_eq!(fits(&HostFacts::default(), &need, u32::MAX), Ok(()));
        assert_eq!(fits(&machine(), &Need::default(), u32::MAX), Ok(()));
        assert!(fits(&machine(), &need, u32::MAX).is_err(), "saturates and does not overflow");
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0, 1023, 1536, (1 << 20) - 1, u64::MAX].map(bytes),
            ["0 B", "1023 B", "1.5 KiB", "1.0 MiB", "16384.0 PiB"]
        );
    }

    proptest! {
        /// The number that the shortage offers fits, and one more does not.
        #[test]
        fn the_offered_load_is_the_largest_that_fits(
            processes in 0_u32..20, memory_bytes in 0_u64..(1 << 32), fds in 0_u32..3,
            fixed_processes in 0_u32..100, fixed_fds in 0_u32..100, copies in 1_u32..100_000,
        ) {
            let need = Need { processes, memory_bytes, fds, fixed_processes, fixed_fds, ..Need::default() };
            if let Err(short) = fits(&machine(), &need, copies) {
                let most = u32::try_from(short.most_copies).expect("fewer than were asked for");
                prop_assert!(most < copies, "{short:?}");
                prop_assert!(most == 0 || fits(&machine(), &need, most).is_ok(), "{short:?}");
                prop_assert!(fits(&machine(), &need, most + 1).is_err(), "{short:?}");
            }
        }
    }
}
