//! What the command line must know of this machine and of chance, read once so that resolving is a pure step.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use whyfaster_core::plan::User;
use whyfaster_host as host;
use whyfaster_host::{Caller, Root};
use whyfaster_words::exit::Failure;

/// Bits of a seed that a JSON reader keeps: numbers above 2^53 are rounded by readers that only know doubles.
const SEED_BITS: u32 = 53;

/// Facts that decide whether a command line can be carried out here, and the seed if none was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSeed {
    /// Effective user id; 0 is root.
    pub euid: u32,
    /// CPUs that whyfaster may use; `None` if that could not be read.
    pub cpus_allowed: Option<Vec<u32>>,
    /// A fresh random seed.
    pub seed: u64,
    /// What sudo says of its caller.
    pub caller: Caller,
}

impl HostSeed {
    /// Reads this machine.
    pub fn here() -> Self {
        Self {
            euid: rustix::process::geteuid().as_raw(),
            cpus_allowed: host::cpus_allowed(&Root::real()),
            seed: fresh_seed(),
            caller: Caller::here(),
        }
    }

    /// As whom commands run.
    pub fn user(&self, as_root: bool) -> Result<User, Failure> {
        host::user(self.euid, &self.caller, as_root)
    }
}

/// The keys of the standard library's hash maps come from the operating system's random numbers.
fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> (u64::BITS - SEED_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn here_has_a_cpu_and_a_seed_that_json_keeps() {
        let seed = HostSeed::here();
        assert!(seed.cpus_allowed.is_some_and(|cpus| !cpus.is_empty()));
        assert!(seed.seed < 1 << SEED_BITS);
        let seeds: std::collections::BTreeSet<u64> = (0..8).map(|_| fresh_seed()).collect();
        assert!(seeds.len() > 1, "the seed never changes");
    }
}
