//! What the end-to-end tests need of the machine and of the user.

use std::path::PathBuf;
use std::process::{Command, Stdio};

pub(crate) use super::skip::{Missing, Need, given, machine, needs, on_path, provided, root, tool};

/// The full level of `trace`.
pub(crate) fn full() -> Need {
    let missing = whyfaster_trace::support().missing;
    let what = missing.iter().map(|it| it.what.as_str()).collect::<Vec<_>>().join(", ");
    provided(missing.is_empty(), &format!("the full level: {what}"))
}

/// The right to mount a file system: in many containers not even root has it.
pub(crate) fn mounts() -> Need {
    let mut command = Command::new("unshare");
    command.args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).stderr(Stdio::null());
    provided(command.status().is_ok_and(|status| status.success()), "the right to mount a file system")
}

/// Gives a program capabilities, for whoever runs it: in the words of setcap(8).
pub(crate) fn capabilities(which: &str, program: &str) -> Need {
    tool("setcap")?;
    let set = Command::new("setcap").args([which, program]).status();
    machine(set.is_ok_and(|status| status.success()), "file system that keeps capabilities of programs")
}

/// Where modules of Python are that Python does not find by itself: `scripts/setup.sh` or `study ladder --install` has put them there.
pub(crate) fn modules() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("whyfaster/ladder/python")).filter(|it| it.is_dir())
}

/// Ray, as a module of Python, with its API for jobs.
pub(crate) fn ray() -> Need {
    let mut python = Command::new("python3");
    python
        .args(["-c", "import ray, aiohttp_cors"])
        .envs(modules().map(|it| ("PYTHONPATH", it)))
        .stderr(Stdio::null());
    provided(python.status().is_ok_and(|it| it.success()), "Ray")
}

/// Samples of their own user code and switch records for users without privileges: perf_event_open(2).
pub(crate) fn perf_events() -> Need {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    let allowed = paranoid.trim().parse::<i32>().is_ok_and(|level| level <= 2);
    // SAFETY: without attributes the kernel that lets the call through says EFAULT; a filter says EPERM or ENOSYS.
    let through = unsafe { libc::syscall(libc::SYS_perf_event_open, 0, 0, -1, -1, 0) } == -1
        && std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT);
    provided(allowed && through, "perf_event_open for users (kernel.perf_event_paranoid of at most 2)")
}
