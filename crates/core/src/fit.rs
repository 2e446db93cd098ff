//! Whether N copies fit on the machine. Asked before a level; what is not known does not block it.

use crate::host::HostFacts;

/// What a level takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Most processes of one copy at once.
    pub processes: u32,
    /// Most memory of one copy at once, bytes.
    pub memory_bytes: u64,
    /// Descriptors that the launcher holds for one copy: 1 when its output goes through a pipe, else 0.
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

/// Whether this many copies fit; the error names the limit that allows the fewest copies, and what to do.
pub fn fits(facts: &HostFacts, need: &Need, copies: u32) -> Result<(), String> {
    let short = limits(facts, need).into_iter().filter(|limit| limit.most_copies() < u64::from(copies));
    match short.min_by_key(Limit::most_copies) {
        None => Ok(()),
        Some(limit) => Err(limit.reason(copies)),
    }
}

/// One limit: what a copy takes of it and what there is.
struct Limit {
    per_copy: u64,
    fixed: u64,
    there_is: u64,
    /// What is limited, with its amount put in.
    unit: fn(u64) -> String,
    /// The limit and a verb: "ulimit -u leaves".
    name: String,
    remedy: &'static str,
}

impl Limit {
    /// The number of copies that still fit; what a copy does not take never limits.
    fn most_copies(&self) -> u64 {
        match self.per_copy {
            0 => u64::MAX,
            each => self.there_is.saturating_sub(self.fixed) / each,
        }
    }

    fn reason(&self, copies: u32) -> String {
        let need = self.per_copy.saturating_mul(u64::from(copies)).saturating_add(self.fixed);
        let what_to_do = match self.most_copies() {
            0 => format!("not even one copy fits, {}", self.remedy),
            most => format!("{} or use --load up to {most}", self.remedy),
        };
        let plural = if copies == 1 { "copy needs" } else { "copies need" };
        let (need, there_is) = ((self.unit)(need), (self.unit)(self.there_is));
        format!("{copies} {plural} about {need}; {} {there_is}: {what_to_do}", self.name)
    }
}

/// The limits that are known.
fn limits(facts: &HostFacts, need: &Need) -> Vec<Limit> {
    let mut limits = Vec::new();
    if let Some(pids) = facts.pids_available {
        let name = facts.pids_limit.as_deref().unwrap_or("the limit of processes");
        limits.push(Limit {
            per_copy: need.processes.into(),
            fixed: need.fixed_processes.into(),
            there_is: pids,
            unit: |n| format!("{} processes", grouped(n)),
            name: format!("{name} leaves"),
            remedy: "raise it",
        });
    }
    if let Some(memory) = facts.memory_available {
        let name = facts.memory_limit.as_deref().unwrap_or("the machine");
        limits.push(Limit {
            per_copy: need.memory_bytes,
            fixed: need.fixed_memory_bytes,
            there_is: (memory as f64 * MEMORY_USABLE) as u64,
            unit: |n| format!("{} of memory", bytes(n)),
            name: format!("{name}, less a tenth, leaves"),
            remedy: "free or add memory",
        });
    }
    if let Some(files) = facts.files_limit {
        limits.push(Limit {
            per_copy: need.fds.into(),
            fixed: need.fixed_fds.into(),
            there_is: files,
            unit: |n| format!("{} open files", grouped(n)),
            name: "ulimit -Hn allows".to_owned(),
            remedy: "raise it, choose --output null",
        });
    }
    limits
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
    fn the_reason_names_limit_need_and_remedy() {
        let need = Need { processes: 5, ..Need::default() };
        assert_eq!(
            fits(&machine(), &need, 1000),
            Err("1000 copies need about 5,000 processes; ulimit -u leaves 812 processes: \
                 raise it or use --load up to 162"
                .into())
        );
        assert_eq!(fits(&machine(), &need, 162), Ok(()));
        assert!(fits(&machine(), &need, 163).is_err());
    }

    #[test]
    fn a_tenth_of_the_memory_is_kept() {
        let need = Need { memory_bytes: 1 << 30, ..Need::default() };
        assert_eq!(fits(&machine(), &need, 9), Ok(()));
        let reason = fits(&machine(), &need, 10).expect_err("ten gibibytes are all there is");
        assert_eq!(
            reason,
            "10 copies need about 10.0 GiB of memory; MemAvailable, less a tenth, leaves 9.0 GiB of memory: \
             free or add memory or use --load up to 9"
        );
    }

    #[test]
    fn fixed_needs_count_once() {
        let need = Need { fds: 1, fixed_fds: 24, ..Need::default() };
        assert_eq!(fits(&machine(), &need, 1000), Ok(()));
        let reason = fits(&machine(), &need, 1001).expect_err("1025 of 1024");
        assert!(reason.contains("1,025 open files") && reason.contains("--load up to 1000"), "{reason}");
    }

    #[test]
    fn the_tightest_limit_is_the_one_named() {
        let need = Need { processes: 1, memory_bytes: 1 << 30, fds: 1, ..Need::default() };
        let reason = fits(&machine(), &need, 5000).expect_err("all three are short");
        assert!(reason.contains("--load up to 9") && reason.contains("memory"), "{reason}");
    }

    #[test]
    fn not_even_one() {
        let need = Need { memory_bytes: 1 << 40, ..Need::default() };
        let reason = fits(&machine(), &need, 1).expect_err("a tebibyte is too much");
        assert!(reason.starts_with("1 copy needs") && reason.contains("not even one copy fits"), "{reason}");
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
        /// The number that the reason offers fits, and one more does not.
        #[test]
        fn the_offered_load_is_the_largest_that_fits(
            processes in 0_u32..20, memory_bytes in 0_u64..(1 << 32), fds in 0_u32..3,
            fixed_processes in 0_u32..100, fixed_fds in 0_u32..100, copies in 1_u32..100_000,
        ) {
            let need = Need { processes, memory_bytes, fds, fixed_processes, fixed_fds, ..Need::default() };
            if let Err(reason) = fits(&machine(), &need, copies) {
                let offered = reason.rsplit_once("--load up to ").map(|(_, most)| most.parse::<u32>());
                let most = offered.transpose().expect("a number stands last").unwrap_or(0);
                prop_assert!(most < copies, "{}", reason);
                prop_assert!(most == 0 || fits(&machine(), &need, most).is_ok(), "{}", reason);
                prop_assert!(fits(&machine(), &need, most + 1).is_err(), "{}", reason);
            }
        }
    }
}
