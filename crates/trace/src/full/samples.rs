//! Stacks by the clock: a timer on each CPU runs the program that takes the stack of a followed task.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use libbpf_rs::libbpf_sys::{self, perf_event_attr};

use super::load::Loaded;
use crate::obstacles::{Missing, missing};
use crate::ring::on_every_cpu;

/// Lets an event run a program whenever it overflows: linux/perf_event.h, `PERF_EVENT_IOC_SET_BPF`.
const SET_PROGRAM: libc::Ioctl = 0x4004_2408;

/// How many samples a second the kernel allows on each CPU. It lowers that by itself where taking them is slow (perf_sample_event_took() in
/// kernel/events/core.c), and some hardened machines set it to 1.
pub fn samples_allowed() -> u32 {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_max_sample_rate");
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(u32::MAX)
}

/// What stands in the way of so many.
pub(crate) fn too_many(per_second: u32) -> Option<Missing> {
    let allowed = samples_allowed();
    (per_second > allowed).then(|| {
        let why = format!("kernel.perf_event_max_sample_rate allows {allowed}");
        let remedy = format!(
            "--sample-rate {allowed} asks for fewer; sudo sysctl kernel.perf_event_max_sample_rate={per_second} allows as many"
        );
        missing(&format!("{per_second} samples a second"), why, &remedy)
    })
}

/// Takes samples this many times a second on every CPU that is online. The software clock needs no hardware counter, so
/// it works in virtual machines too. They end with these descriptors.
pub(crate) fn start(loaded: &Loaded, per_second: u32) -> std::io::Result<Vec<OwnedFd>> {
    let mut attributes = perf_event_attr {
        type_: libbpf_sys::PERF_TYPE_SOFTWARE,
        config: u64::from(libbpf_sys::PERF_COUNT_SW_CPU_CLOCK),
        ..perf_event_attr::default()
    };
    attributes.__bindgen_anon_1.sample_freq = u64::from(per_second);
    attributes.set_freq(1);
    let events = on_every_cpu(&attributes, -1)?;
    let program = loaded.skel.progs.clock_ticks.as_fd().as_raw_fd();
    for event in &events {
        // SAFETY: both descriptors are open, and the kernel reads nothing but the number of the second.
        if unsafe { libc::ioctl(event.as_raw_fd(), SET_PROGRAM, program) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_samples_than_the_kernel_allows_are_refused_by_name() {
        assert_eq!(too_many(samples_allowed()), None);
        let refused = samples_allowed().checked_add(1).and_then(too_many);
        let told = refused.map(|it| it.to_string());
        assert!(told.is_none_or(|told| told.contains("perf_event_max_sample_rate")));
    }
}
