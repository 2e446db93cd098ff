//! What must hold before anything is done: enough stack, enough descriptors, and no rights that whoever called us lacks.

use std::mem::MaybeUninit;
use std::ptr;

use rustix::process::{Resource, getegid, geteuid, getgid, getrlimit, getuid};
use whyfaster_words::exit::Failure;

use super::privilege;
use super::root::Root;

/// What the deepest calls use stays far below this, also in a build without optimization (there 256 KiB are too few).
const LEAST_STACK: u64 = 1 << 20;

/// Descriptors that a comparison needs at once (ten), and some to spare. The full level of a trace needs more, and says so.
const LEAST_FILES: u64 = 16;

/// Looks at all of it. No limit is raised: what is measured would inherit that.
pub fn check() -> Result<(), Failure> {
    not_raised()?;
    // A stack that overflows ends a program without a word.
    enough(Resource::Stack, LEAST_STACK, "the stack is", |bytes| format!("{} KiB", bytes >> 10), "-s")?;
    enough(Resource::Nofile, LEAST_FILES, "open files are", |files| files.to_string(), "-n")?;
    errors_for_large_files();
    Ok(())
}

/// `option` of the shell's `ulimit` sets it.
fn enough(
    resource: Resource,
    least: u64,
    what: &str,
    words: impl Fn(u64) -> String,
    option: &str,
) -> Result<(), Failure> {
    match getrlimit(resource).current {
        Some(limit) if limit < least => Err(Failure::unfit(
            format!("{what} limited to {}, and whyfaster needs {}", words(limit), words(least)),
            format!(
                "raise the limit in this shell: ulimit {option} {}",
                words(least).trim_end_matches(" KiB")
            ),
        )),
        _ => Ok(()),
    }
}

/// A file of the program with the set-user-ID bit, or with other capabilities than those for observing, would let everybody run
/// any command with these rights, and write any file.
fn not_raised() -> Result<(), Failure> {
    let raised = if geteuid() != getuid() {
        format!("whyfaster runs with the rights of user {}, and user {} called it", geteuid(), getuid())
    } else if getegid() != getgid() {
        format!(
            "whyfaster runs with the rights of group {}, and one of group {} called it",
            getegid(),
            getgid()
        )
    } else if secure() && !getuid().is_root() && more_than_observing() {
        "the file of whyfaster gives it other capabilities than observing needs".to_owned()
    } else {
        return Ok(());
    };
    Err(Failure::unfit(
        format!("{raised}: whoever may run it could do whatever these rights allow"),
        "take them from the file (chmod ug-s, setcap -r); 'whyfaster doctor' then says how to give it those for observing alone",
    ))
}

/// Returns true if this process may make more capabilities effective than observing needs. It asks the
/// kernel and not `/proc`. If the kernel does not answer, the result is true.
fn more_than_observing() -> bool {
    let last = Root::real().number("/proc/sys/kernel/cap_last_cap").unwrap_or(u64::MAX);
    let sets = rustix::thread::capabilities(None);
    sets.map_or(true, |sets| privilege::more_than_observing(sets.permitted.bits(), last))
}

/// Whether the exec of this program raised rights: getauxval(3), `AT_SECURE`.
fn secure() -> bool {
    // SAFETY: it reads what the kernel gave this process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// A file that grows beyond `ulimit -f` ends a process by SIGXFSZ, and with it what was measured. Where the signal is blocked the write
/// is an error like any other (write(2), EFBIG). Commands do not inherit that: they start with no signal blocked.
fn errors_for_large_files() {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set, the other calls take an initialised one.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGXFSZ);
        libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut());
    }
}
