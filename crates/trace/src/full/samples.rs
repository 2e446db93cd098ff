//! Stacks by the clock: a timer on each CPU runs the program that takes the stack of a followed task.

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use libbpf_rs::Link;
use libbpf_rs::libbpf_sys::{self, perf_event_attr};

use super::load::Loaded;

/// Takes samples this many times a second on every CPU that is online. The software clock needs no hardware counter, so
/// it works in virtual machines too.
pub(crate) fn start(loaded: &Loaded, per_second: u32) -> std::io::Result<Vec<Link>> {
    let mut attributes = perf_event_attr {
        type_: libbpf_sys::PERF_TYPE_SOFTWARE,
        config: u64::from(libbpf_sys::PERF_COUNT_SW_CPU_CLOCK),
        ..perf_event_attr::default()
    };
    attributes.__bindgen_anon_1.sample_freq = u64::from(per_second);
    attributes.set_freq(1);
    let mut links = Vec::new();
    for event in on_every_cpu(&attributes)? {
        let link = loaded.skel.progs.clock_ticks.attach_perf_event(event.as_raw_fd());
        links.push(link.map_err(std::io::Error::other)?);
        // The link closes it.
        let _ = event.into_raw_fd();
    }
    Ok(links)
}

/// Opens the same event on every CPU that is online.
pub(crate) fn on_every_cpu(attributes: &perf_event_attr) -> std::io::Result<Vec<OwnedFd>> {
    let cpus = libbpf_rs::num_possible_cpus().map_err(std::io::Error::other)?;
    let mut events = Vec::new();
    for cpu in 0..i32::try_from(cpus).unwrap_or(i32::MAX) {
        match open(attributes, cpu) {
            Ok(event) => events.push(event),
            // This CPU is offline.
            Err(e) if e.raw_os_error() == Some(libc::ENODEV) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(events)
}

fn open(attributes: &perf_event_attr, cpu: i32) -> std::io::Result<OwnedFd> {
    const CLOEXEC: libc::c_ulong = 1 << 3; // PERF_FLAG_FD_CLOEXEC
    let size = u32::try_from(size_of::<perf_event_attr>()).expect("a small struct");
    let attributes = perf_event_attr { size, ..*attributes };
    // SAFETY: the attributes are readable and say how long they are; the rest are integers.
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, -1, cpu, -1, CLOEXEC) };
    let fd = i32::try_from(fd).unwrap_or(-1);
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
