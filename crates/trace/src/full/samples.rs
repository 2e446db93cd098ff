//! Stacks by the clock: a timer on each CPU runs the program that takes the stack of a followed task.

use std::os::fd::{AsRawFd, IntoRawFd};

use libbpf_rs::Link;
use libbpf_rs::libbpf_sys::{self, perf_event_attr};

use super::load::Loaded;
use crate::ring::on_every_cpu;

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
    for event in on_every_cpu(&attributes, -1)? {
        let link = loaded.skel.progs.clock_ticks.attach_perf_event(event.as_raw_fd());
        links.push(link.map_err(std::io::Error::other)?);
        // The link closes it.
        let _ = event.into_raw_fd();
    }
    Ok(links)
}
