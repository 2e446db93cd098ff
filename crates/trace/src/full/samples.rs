//! Stacks by the clock: a timer on each CPU runs the program that takes the stack of a followed task.

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use libbpf_rs::{Link, libbpf_sys};

use super::TraceError;
use super::load::Loaded;

/// Takes samples this many times a second on every CPU that is online.
pub(crate) fn start(loaded: &Loaded, per_second: u32) -> Result<Vec<Link>, TraceError> {
    let failed = |why: String| TraceError::Read { what: "stacks", why };
    let cpus = libbpf_rs::num_possible_cpus().map_err(|e| failed(e.to_string()))?;
    let mut all = Vec::new();
    for cpu in 0..i32::try_from(cpus).unwrap_or(i32::MAX) {
        let event = match timer(cpu, per_second) {
            Ok(event) => event,
            // This CPU is offline.
            Err(e) if e.raw_os_error() == Some(libc::ENODEV) => continue,
            Err(e) => return Err(failed(format!("perf_event_open: {e}"))),
        };
        let link = loaded.skel.progs.clock_ticks.attach_perf_event(event.as_raw_fd());
        all.push(link.map_err(|e| failed(e.to_string()))?);
        // The link closes it.
        let _ = event.into_raw_fd();
    }
    Ok(all)
}

/// The software clock needs no hardware counter, so it works in virtual machines too.
fn timer(cpu: i32, per_second: u32) -> std::io::Result<OwnedFd> {
    let mut attributes = libbpf_sys::perf_event_attr {
        type_: libbpf_sys::PERF_TYPE_SOFTWARE,
        size: u32::try_from(size_of::<libbpf_sys::perf_event_attr>()).expect("a small struct"),
        config: u64::from(libbpf_sys::PERF_COUNT_SW_CPU_CLOCK),
        ..libbpf_sys::perf_event_attr::default()
    };
    attributes.__bindgen_anon_1.sample_freq = u64::from(per_second);
    attributes.set_freq(1);
    const CLOEXEC: libc::c_ulong = 1 << 3; // PERF_FLAG_FD_CLOEXEC
    // SAFETY: the attributes are readable and say how long they are; the rest are integers.
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, -1, cpu, -1, CLOEXEC) };
    let fd = i32::try_from(fd).unwrap_or(-1);
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
