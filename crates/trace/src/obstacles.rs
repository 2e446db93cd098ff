//! What stands in the way of the full level, as far as that is known without loading anything.

use std::{fmt, fs, io};

use crate::caller::{BPF, PERFMON, SYS_ADMIN, capabilities};
use crate::remedy::remedy;
use crate::ring::possible_cpus;

/// The first user namespace has a fixed number (`USER_NS_INIT_INO` in the kernel's include/uapi/linux/nsfs.h).
const FIRST_USER_NAMESPACE: &str = "user:[4026531837]";

/// The oldest kernel that has all that is used: `__state` of a task came with 5.14.
const OLDEST: (u32, u32) = (5, 14);

/// Something that the full level needs and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What.
    pub what: String,
    /// Why it is needed, or how its lack was seen.
    pub why: String,
    /// What would give it; what stands before the command where there is one.
    pub remedy: String,
    /// The line of a shell that gives it.
    pub command: Option<String>,
}

impl Missing {
    /// What would give it, in one line.
    pub fn advice(&self) -> String {
        self.command.as_ref().map_or_else(|| self.remedy.clone(), |line| format!("{}: {line}", self.remedy))
    }
}

/// The full level is not to be had here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Everything that is missing; never empty.
    pub missing: Vec<Missing>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.what, self.why, self.advice())
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, missing) in self.missing.iter().enumerate() {
            write!(f, "{}{missing}", if i == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl std::error::Error for Unsupported {}

/// What is known to stand in the way without loading anything. Everything that is missing is found at once, so that it can be mended
/// at once.
pub(crate) fn obstacles() -> Vec<Missing> {
    let mut missing: Vec<Missing> =
        [kernel(), btf(), cpus(), privileges(), lockdown()].into_iter().flatten().collect();
    if missing.is_empty() {
        missing.extend(refusal());
    }
    missing
}

pub(crate) fn missing(what: &str, why: impl Into<String>, remedy: &str) -> Missing {
    Missing { what: what.to_owned(), why: why.into(), remedy: remedy.to_owned(), command: None }
}

/// Major and minor number of the running kernel; `None`: its release does not begin with two numbers.
pub(crate) fn kernel_version() -> Option<(u32, u32)> {
    version(&rustix::system::uname().release().to_string_lossy())
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn kernel() -> Option<Missing> {
    if kernel_version() >= Some(OLDEST) {
        return None;
    }
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let why = format!("this is Linux {release}; the programs need {}.{}", OLDEST.0, OLDEST.1);
    Some(missing("a newer kernel", why, "a newer kernel gives it"))
}

fn btf() -> Option<Missing> {
    if fs::exists("/sys/kernel/btf/vmlinux").unwrap_or(false) {
        return None;
    }
    let why = "there is no /sys/kernel/btf/vmlinux, so the programs cannot find their way in this kernel";
    Some(missing("BTF", why, "a kernel with CONFIG_DEBUG_INFO_BTF=y and a mounted /sys give it"))
}

/// Counters that each CPU has for itself are read for as many CPUs as the kernel may ever have, and only this file tells.
fn cpus() -> Option<Missing> {
    let error = possible_cpus().err()?;
    let why = format!("/sys/devices/system/cpu/possible cannot be read ({error})");
    Some(missing("the number of CPUs", why, "a mounted /sys gives it"))
}

fn privileges() -> Option<Missing> {
    let Some(effective) = capabilities("CapEff:") else {
        let why = "/proc/self/status could not be read";
        return Some(missing("CAP_BPF and CAP_PERFMON", why, "a mounted /proc tells"));
    };
    let has = |capability: u32| effective & (1 << capability) != 0;
    let first =
        fs::read_link("/proc/self/ns/user").map_or(true, |n| n.to_string_lossy() == FIRST_USER_NAMESPACE);
    let missing_here = |what: &str, why: &str| {
        let remedy = remedy(first);
        Missing { command: remedy.command(), ..missing(what, why, &remedy.to_string()) }
    };
    if !first {
        let why = "this is a user namespace of its own (a container without privileges, say), and the kernel asks for the \
                   capabilities of the first one";
        return Some(missing_here("CAP_BPF and CAP_PERFMON", why));
    }
    let lacking: Vec<&str> = [(BPF, "CAP_BPF"), (PERFMON, "CAP_PERFMON")]
        .into_iter()
        .filter(|(capability, _)| !has(*capability) && !has(SYS_ADMIN))
        .map(|(_, name)| name)
        .collect();
    (!lacking.is_empty()).then(|| missing_here(&lacking.join(" and "), "this process does not have it"))
}

/// In confidentiality mode the kernel lets nobody read its memory (`LOCKDOWN_BPF_READ_KERNEL`); integrity mode does.
fn lockdown() -> Option<Missing> {
    let modes = fs::read_to_string("/sys/kernel/security/lockdown").ok()?;
    modes.contains("[confidentiality]").then(|| {
        let why = "the kernel is locked down (confidentiality), so programs may not read it";
        missing("reading the kernel", why, "booting with lockdown=integrity or without it gives it")
    })
}

/// Asks for the smallest map: a seccomp filter (of a container, say) refuses `bpf()` whatever the capabilities.
fn refusal() -> Option<Missing> {
    let mut attributes = [0u32; 32];
    attributes[..4].copy_from_slice(&[2, 4, 4, 1]); // BPF_MAP_TYPE_ARRAY, key, value, entries
    const BPF_MAP_CREATE: libc::c_int = 0;
    // SAFETY: the attributes are readable and as long as said.
    let fd = unsafe {
        libc::syscall(libc::SYS_bpf, BPF_MAP_CREATE, attributes.as_ptr(), size_of_val(&attributes))
    };
    if fd >= 0 {
        // SAFETY: the kernel just gave us this descriptor, and nobody else knows it.
        unsafe { libc::close(i32::try_from(fd).unwrap_or(-1)) };
        return None;
    }
    let e = io::Error::last_os_error();
    let (why, remedy) = match e.raw_os_error() {
        Some(libc::ENOSYS) => ("this kernel was built without it".to_owned(), "CONFIG_BPF_SYSCALL=y gives it"),
        Some(libc::EPERM) => (
            "it is refused although the capabilities are there: a seccomp filter (of a container, say) forbids it".to_owned(),
            "a container started with --security-opt seccomp=unconfined, or running outside of it, gives it",
        ),
        _ => (format!("it fails: {e}"), "look into the kernel's log"),
    };
    Some(missing("the system call bpf()", why, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_two_numbers_and_anything() {
        assert_eq!(version("6.18.44-fc"), Some((6, 18)));
        assert_eq!(version("5.15.0-91-generic"), Some((5, 15)));
        assert_eq!(version("6.1"), Some((6, 1)));
        assert_eq!(version("weird"), None);
    }
}
