//! Why the kernel refused to load the programs, as libbpf and the kernel's verifier say it.

use std::sync::{Mutex, PoisonError};

use libbpf_rs::PrintLevel;

use super::error::refused;
use crate::support::Unsupported;

/// The beginning of what libbpf said.
static SAID: Mutex<String> = Mutex::new(String::new());

/// The first complaint names the cause; what follows is its consequence.
const FIRST_BYTES: usize = 2000;

/// Around what the verifier says of one program.
const LOG_BEGINS: &str = "-- BEGIN PROG LOAD LOG --";
/// What it says last is not why: print_verification_stats(), kernel/bpf/verifier.c.
const STATISTICS: [&str; 2] = ["verification time ", "processed "];

/// Takes what libbpf says.
pub(super) fn remember(_: PrintLevel, text: String) {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.len() < FIRST_BYTES {
        said.push_str(text.trim_end());
        said.push('\n');
    }
}

/// This step failed.
pub(super) fn of(step: &str, e: &libbpf_rs::Error) -> Unsupported {
    let said = std::mem::take(&mut *SAID.lock().unwrap_or_else(PoisonError::into_inner));
    refused("BPF programs", &format!("the kernel refused to {step} them: {e} ({})", reason(&said)))
}

/// Which program, and the verifier's last word on it; else what was said first.
fn reason(said: &str) -> String {
    // The advice to raise RLIMIT_MEMLOCK is wrong since Linux 5.11: memory of programs is charged to the cgroup.
    let lines: Vec<&str> =
        said.lines().map(str::trim).filter(|line| !line.contains("RLIMIT_MEMLOCK")).collect();
    let log = lines.iter().position(|line| line.ends_with(LOG_BEGINS));
    let end = lines.iter().position(|line| STATISTICS.iter().any(|begins| line.starts_with(begins)));
    match log.zip(end).filter(|(log, end)| log + 1 < *end) {
        Some((log, end)) => [&lines[..log], &lines[end - 1..end]].concat().join(" / "),
        None => lines.into_iter().take(6).collect::<Vec<_>>().join(" / "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verifiers_last_word_is_the_reason() {
        let said = "libbpf: prog 'task_made': BPF program load failed: -EINVAL\n\
                    libbpf: prog 'task_made': -- BEGIN PROG LOAD LOG --\n\
                    0: R1=ctx() R10=fp0\n\
                    375: (79) r1 = *(u64 *)(r1 +0)\n\
                    same insn cannot be used with different pointers\n\
                    verification time 4784 usec\n\
                    stack depth 120+0\n\
                    processed 346 insns (limit 1000000)\n\
                    -- END PROG LOAD LOG --\n\
                    libbpf: failed to load object\n";
        assert_eq!(
            reason(said),
            "libbpf: prog 'task_made': BPF program load failed: -EINVAL / same insn cannot be used with different pointers"
        );
        let denied = "libbpf: Error in bpf_object__probe_loading(): EPERM\n\
                      libbpf: maybe raise RLIMIT_MEMLOCK\n\
                      libbpf: failed to load object\n";
        assert_eq!(
            reason(denied),
            "libbpf: Error in bpf_object__probe_loading(): EPERM / libbpf: failed to load object"
        );
    }
}
