//! Why the kernel refused to load the programs, as libbpf and the kernel's verifier say it.

use std::sync::{Mutex, PoisonError};

use libbpf_rs::PrintLevel;

use super::error::refused;
use crate::boot;
use crate::caller::Caller;
use crate::obstacles::Unsupported;

/// What libbpf said.
static SAID: Mutex<String> = Mutex::new(String::new());

/// The verifier may say as much of a large program as libbpf lets it; the beginning is left out then.
const MOST_BYTES: usize = 16 << 20;

/// Around what the verifier says of one program.
const LOG_BEGINS: &str = "-- BEGIN PROG LOAD LOG --";
/// What it says last is not why: print_verification_stats(), kernel/bpf/verifier.c.
const STATISTICS: [&str; 2] = ["verification time ", "processed "];

/// Takes what libbpf says.
pub(super) fn remember(_: PrintLevel, text: String) {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.len() < MOST_BYTES {
        said.push_str(text.trim_end());
        said.push('\n');
    }
}

/// Writes the log of a failed step to a file. The sentence names the file and the verifier's reason.
pub(super) fn of(step: &str, e: &libbpf_rs::Error, caller: &Caller) -> Unsupported {
    let said = std::mem::take(&mut *SAID.lock().unwrap_or_else(PoisonError::into_inner));
    let said = if caller.restricted { without_addresses(&said) } else { said };
    let reason = reason(&said).unwrap_or_else(|| e.to_string());
    let log = match boot::write("verifier.log", said.as_bytes()) {
        Ok(path) => format!("the whole log is in '{}'", path.display()),
        Err(error) => format!("the whole log could not be written: {error}"),
    };
    refused("BPF programs", &format!("the kernel refused to {step} them: {reason}; {log}"))
}

/// Removes the addresses of the kernel from a text. The verifier prints those of maps for every user with CAP_PERFMON
/// (`print_bpf_insn`, kernel/bpf/disasm.c). They are in the upper half of the address space, so all of them begin with `f`.
fn without_addresses(text: &str) -> String {
    let digit = |c: char| c.is_ascii_hexdigit();
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(digit) {
        let (before, from) = rest.split_at(at);
        let (number, behind) = from.split_at(from.find(|c| !digit(c)).unwrap_or(from.len()));
        let is_address = number.len() == 16 && number.to_ascii_lowercase().starts_with('f');
        shown.push_str(before);
        shown.push_str(if is_address { "\u{2026}" } else { number });
        rest = behind;
    }
    shown + rest
}

/// Which program, and the verifier's last word on it; else what was said first.
fn reason(said: &str) -> Option<String> {
    // The advice to raise RLIMIT_MEMLOCK is wrong since Linux 5.11: memory of programs is charged to the cgroup.
    let lines: Vec<&str> =
        said.lines().map(str::trim).filter(|line| !line.contains("RLIMIT_MEMLOCK")).collect();
    let first = *lines.first()?;
    let log = lines.iter().position(|line| line.ends_with(LOG_BEGINS));
    let end = lines.iter().position(|line| STATISTICS.iter().any(|begins| line.starts_with(begins)));
    Some(match log.zip(end).filter(|(log, end)| log + 1 < *end) {
        Some((_, end)) => format!("{first}: {}", lines[end - 1]),
        None => first.to_owned(),
    })
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
            reason(said).as_deref(),
            Some(
                "libbpf: prog 'task_made': BPF program load failed: -EINVAL: same insn cannot be used with different pointers"
            )
        );
        let denied = "libbpf: Error in bpf_object__probe_loading(): EPERM\n\
                      libbpf: maybe raise RLIMIT_MEMLOCK\n\
                      libbpf: failed to load object\n";
        assert_eq!(reason(denied).as_deref(), Some("libbpf: Error in bpf_object__probe_loading(): EPERM"));
        assert_eq!(reason(""), None);
    }

    #[test]
    fn the_sentence_names_the_file_that_holds_the_whole_log() {
        const LOG: &str = "libbpf: prog 'a': BPF program load failed: -EACCES\n\
                           libbpf: prog 'a': -- BEGIN PROG LOAD LOG --\n\
                           9: (18) r1 = 0xffff888104a5d000       ; R1_w=map_ptr(ks=4,vs=8)\n\
                           R2 invalid mem access 0xFFF8000123456789\n\
                           processed 346 insns (limit 1000000)\n\
                           -- END PROG LOAD LOG --\n\
                           libbpf: failed to load object\n";
        let error = libbpf_rs::Error::from_raw_os_error(13);
        let caller = Caller { restricted: true, ..Caller::here() };
        remember(PrintLevel::Warn, LOG.to_owned());
        let refused = of("load", &error, &caller).to_string();
        assert!(refused.contains("R2 invalid mem access 0x\u{2026};"), "{refused}");
        assert_eq!(
            log_of(&refused),
            LOG.replace("ffff888104a5d000", "\u{2026}").replace("FFF8000123456789", "\u{2026}")
        );
        // An unrestricted caller may look into the kernel, and sees the addresses of its maps.
        remember(PrintLevel::Warn, LOG.to_owned());
        let refused = of("load", &error, &Caller { restricted: false, ..caller }).to_string();
        assert_eq!(log_of(&refused), LOG);
    }

    /// The log that a sentence names, which is then gone.
    #[track_caller]
    fn log_of(refused: &str) -> String {
        let (_, path) = refused.split_once("the whole log is in '").expect(refused);
        let (path, _) = path.split_once('\'').expect(path);
        let log = std::fs::read_to_string(path).unwrap();
        std::fs::remove_file(path).unwrap();
        log
    }
}
