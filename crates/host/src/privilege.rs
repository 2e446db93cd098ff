//! What this process may observe: effective capabilities to one of three levels.

use super::root::{Root, Unreadable};

const SYS_ADMIN: u32 = 21;
const SYS_RESOURCE: u32 = 24;
const PERFMON: u32 = 38;
const BPF: u32 = 39;

/// The first user namespace has a fixed number (`USER_NS_INIT_INO` in the kernel's include/uapi/linux/nsfs.h).
const FIRST_USER_NAMESPACE: &str = "user:[4026531837]";

/// Effective capabilities (numbers as in the kernel's include/uapi/linux/capability.h).
#[derive(Clone, Copy, Debug)]
pub(super) struct Privilege {
    effective: u64,
    /// Whether this is the first user namespace. In another one capabilities are of that namespace, and the kernel asks for
    /// those of the first one, also from its root.
    first_namespace: bool,
}

impl Privilege {
    pub(super) fn read(root: &Root) -> Result<Self, Unreadable> {
        let path = "/proc/self/status";
        let status = root.text(path)?;
        let found = status.lines().enumerate().find(|(_, line)| line.starts_with("CapEff:"));
        let Some((index, line)) = found else {
            return Err(Unreadable::Other(format!("{path} has no line CapEff")));
        };
        let effective = u64::from_str_radix(line["CapEff:".len()..].trim(), 16)
            .map_err(|_| Unreadable::line(path, index + 1, &status, "a hexadecimal set"))?;
        // Without namespaces in the kernel there is no such link, and all is in the first one.
        let namespace = root.link("/proc/self/ns/user")?;
        let first_namespace = namespace.is_none_or(|name| name == FIRST_USER_NAMESPACE);
        Ok(Self { effective, first_namespace })
    }

    fn has(self, capability: u32) -> bool {
        self.first_namespace && self.effective & (1 << capability) != 0
    }

    /// Whether the kernel lets this process create more processes than `RLIMIT_NPROC` says (`copy_process` in kernel/fork.c;
    /// the user 0 of the first namespace is exempt whatever its capabilities).
    pub(super) fn ignores_process_limit(self, uid: u32) -> bool {
        (self.first_namespace && uid == 0) || self.has(SYS_RESOURCE) || self.has(SYS_ADMIN)
    }

    /// The level of observation that this allows. `CAP_SYS_ADMIN` stands for both newer capabilities
    /// (`perfmon_capable` and `bpf_capable` in include/linux/capability.h).
    pub(super) fn level(self) -> u8 {
        let admin = self.has(SYS_ADMIN);
        match (admin || self.has(PERFMON), admin || self.has(BPF)) {
            (true, true) => 2,
            (true, false) => 1,
            (false, _) => 0,
        }
    }

    /// The level in words.
    pub(super) fn words(self) -> String {
        let words = match self.level() {
            2 if self.has(SYS_ADMIN) => "level 2 (CAP_SYS_ADMIN): everything can be observed",
            2 => "level 2 (CAP_BPF and CAP_PERFMON): everything can be observed",
            1 => "level 1 (CAP_PERFMON): counters of the kernel part too, no BPF",
            _ if !self.first_namespace && self.effective != 0 => {
                "level 0 (privileged only inside a user namespace): times, schedstat, switch records, ptrace"
            }
            _ => "level 0 (no privileges): times, schedstat, switch records, ptrace",
        };
        words.to_owned()
    }
}

/// True if a set has a capability that observing does not need. Before Linux 5.8, which has fewer capabilities, observing needed
/// `CAP_SYS_ADMIN` (include/uapi/linux/capability.h).
pub(super) fn more_than_observing(set: u64, last_capability: u64) -> bool {
    let needed = if last_capability >= u64::from(BPF) { 1 << PERFMON | 1 << BPF } else { 1 << SYS_ADMIN };
    set & !needed != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(capabilities: &[u32]) -> Privilege {
        let effective = capabilities.iter().map(|c| 1 << c).sum();
        Privilege { effective, first_namespace: true }
    }

    #[test]
    fn levels() {
        assert_eq!(with(&[]).level(), 0);
        assert_eq!(with(&[BPF]).level(), 0);
        assert_eq!(with(&[PERFMON]).level(), 1);
        assert_eq!(with(&[PERFMON, BPF]).level(), 2);
        assert_eq!(with(&[SYS_ADMIN]).level(), 2);
    }

    #[test]
    fn what_observing_needs_depends_on_the_kernel() {
        for (capabilities, last, more) in [
            (&[PERFMON, BPF][..], 40, false),
            (&[], 40, false),
            (&[SYS_ADMIN], 40, true),
            (&[BPF, SYS_RESOURCE], 40, true),
            (&[SYS_ADMIN], 37, false),
            (&[SYS_ADMIN, SYS_RESOURCE], 37, true),
        ] {
            let set = with(capabilities).effective;
            assert_eq!(more_than_observing(set, last), more, "{capabilities:?} {last}");
        }
    }

    #[test]
    fn a_namespace_of_ones_own_gives_nothing() {
        let privilege = Privilege { effective: u64::MAX, first_namespace: false };
        assert_eq!(privilege.level(), 0);
        assert!(privilege.words().contains("user namespace"));
        assert!(!privilege.ignores_process_limit(0));
    }

    #[test]
    fn who_is_bound_by_the_process_limit() {
        assert!(with(&[]).ignores_process_limit(0));
        assert!(!with(&[]).ignores_process_limit(1000));
        assert!(!with(&[BPF, PERFMON]).ignores_process_limit(1000));
        assert!(with(&[SYS_RESOURCE]).ignores_process_limit(1000));
        assert!(with(&[SYS_ADMIN]).ignores_process_limit(1000));
    }
}
