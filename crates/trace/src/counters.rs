//! Counters of the CPU for one process and all that it starts, from its exec on.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use libbpf_rs::libbpf_sys::{self, perf_event_attr};
use whyfaster_core::metric::Metric;

use crate::ring;

/// What is counted: kind and number of a perf event (`perf_event_open(2)`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    kind: u32,
    number: u32,
}

impl Event {
    /// Of a metric that the CPU counts; of the others `None`.
    pub fn of(metric: Metric) -> Option<Self> {
        let number = match metric {
            Metric::CpuCycles => libbpf_sys::PERF_COUNT_HW_CPU_CYCLES,
            Metric::Instructions => libbpf_sys::PERF_COUNT_HW_INSTRUCTIONS,
            Metric::CacheReferences => libbpf_sys::PERF_COUNT_HW_CACHE_REFERENCES,
            Metric::CacheMisses => libbpf_sys::PERF_COUNT_HW_CACHE_MISSES,
            Metric::BranchMisses => libbpf_sys::PERF_COUNT_HW_BRANCH_MISSES,
            Metric::TimeWallClock
            | Metric::TimeCpu
            | Metric::TimeUser
            | Metric::TimeSystem
            | Metric::MemoryPeakResident => return None,
        };
        Some(Self { kind: libbpf_sys::PERF_TYPE_HARDWARE, number })
    }
}

/// Where the kernel lists its counting units.
const UNITS: &str = "/sys/bus/event_source/devices";

/// The units of CPUs, where there are several: cores of different kinds have one each. Each says on which CPUs it counts, and other
/// units do not (arch/x86/events/intel/core.c, drivers/perf/arm_pmu.c).
fn units(directory: &Path) -> Vec<u64> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let of_cpus = entries.map(|entry| entry.path()).filter(|unit| unit.join("cpus").exists());
    let kind = |unit: &Path| fs::read_to_string(unit.join("type")).ok()?.trim().parse().ok();
    of_cpus.filter_map(|unit| kind(&unit)).collect()
}

/// A counter of a process tree.
#[derive(Debug)]
pub struct Counter {
    /// One, or one for each kind of cores: an event counts on those of one kind alone.
    events: Vec<File>,
    /// Only user code is counted.
    pub user_only: bool,
}

impl Counter {
    /// Begins to count at the next exec of this process; with it count all threads and processes that come from it. Where
    /// this user may not count the kernel's part (`kernel.perf_event_paranoid`), user code alone is counted.
    pub fn open(event: Event, process: i32) -> io::Result<Self> {
        let hardware = event.kind == libbpf_sys::PERF_TYPE_HARDWARE;
        static FOUND: OnceLock<Vec<u64>> = OnceLock::new();
        let mut counter = Self { events: Vec::new(), user_only: false };
        match &FOUND.get_or_init(|| units(Path::new(UNITS)))[..] {
            kinds @ [_, _, ..] if hardware => {
                kinds.iter().try_for_each(|unit| counter.add(event, *unit, process))?;
            }
            _ => counter.add(event, 0, process)?,
        }
        Ok(counter)
    }

    /// Opens it for a kind of cores; 0: there is one.
    fn add(&mut self, event: Event, unit: u64, process: i32) -> io::Result<()> {
        let mut attributes = perf_event_attr {
            type_: event.kind,
            // linux/perf_event.h: PERF_PMU_TYPE_SHIFT
            config: unit << 32 | u64::from(event.number),
            read_format: u64::from(
                libbpf_sys::PERF_FORMAT_TOTAL_TIME_ENABLED | libbpf_sys::PERF_FORMAT_TOTAL_TIME_RUNNING,
            ),
            ..perf_event_attr::default()
        };
        attributes.set_disabled(1);
        attributes.set_enable_on_exec(1);
        attributes.set_inherit(1);
        attributes.set_exclude_hv(1);
        let opened = match ring::open(&attributes, process, -1) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM)) => {
                attributes.set_exclude_kernel(1);
                self.user_only = true;
                ring::open(&attributes, process, -1)
            }
            opened => opened,
        };
        self.events.push(opened?.into());
        Ok(())
    }

    /// What was counted so far, of processes that live and of those that ended. Where the CPU had fewer counters than events
    /// were asked for, they took turns, and the count is scaled to the whole time. `None` if this one never had a turn.
    pub fn read(&mut self) -> io::Result<Option<u64>> {
        let mut parts = Vec::new();
        for event in &mut self.events {
            // struct read_format in linux/perf_event.h, with the two times.
            let mut numbers = [0; 3 * size_of::<u64>()];
            event.read_exact(&mut numbers)?;
            parts.push([0, 8, 16].map(|at| ring::number(&numbers, at).unwrap_or(0)));
        }
        let [count, enabled, running] = together(&parts);
        Ok(scaled(count, enabled, running))
    }
}

/// Counts, and how long each was enabled and running, of the kinds of cores together: a task runs on one of them at a time.
fn together(parts: &[[u64; 3]]) -> [u64; 3] {
    let sum = |at: usize| parts.iter().map(|part| part[at]).sum();
    let enabled = parts.iter().map(|part| part[1]).max().unwrap_or(0);
    [sum(0), enabled, enabled.min(sum(2))]
}

fn scaled(count: u64, enabled: u64, running: u64) -> Option<u64> {
    match (enabled, running) {
        // It never ran at all, so nothing happened.
        (0, _) => Some(count),
        (_, 0) => None,
        (enabled, running) => {
            let whole = u128::from(count) * u128::from(enabled) / u128::from(running);
            Some(u64::try_from(whole).unwrap_or(u64::MAX))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    /// Counted by the kernel itself, so it is there on every machine.
    const PAGE_FAULTS: Event =
        Event { kind: libbpf_sys::PERF_TYPE_SOFTWARE, number: libbpf_sys::PERF_COUNT_SW_PAGE_FAULTS };

    #[test]
    fn cores_of_two_kinds_have_a_unit_each() {
        let directory = tempfile::tempdir().unwrap();
        let unit = |name: &str, kind: &str, cpus: &str| {
            let unit = directory.path().join(name);
            fs::create_dir(&unit).unwrap();
            fs::write(unit.join("type"), format!("{kind}\n")).unwrap();
            fs::write(unit.join(cpus), "0-7\n").unwrap();
        };
        unit("cpu_core", "4", "cpus");
        unit("cpu_atom", "10", "cpus");
        unit("uncore_imc", "20", "cpumask");
        let mut found = units(directory.path());
        found.sort_unstable();
        assert_eq!(found, [4, 10]);
        assert!(units(Path::new("/no/such/directory")).is_empty());
    }

    #[test]
    fn what_a_task_did_on_both_kinds_of_cores_is_not_taken_for_turns() {
        // Three quarters of the time on the one, the rest on the other.
        assert_eq!(together(&[[300, 8, 6], [100, 8, 2]]), [400, 8, 8]);
        assert_eq!(together(&[[0, 8, 0], [100, 9, 9]]), [100, 9, 9]);
        // On each in turns with other counters.
        assert_eq!(together(&[[300, 8, 3], [100, 8, 1]]), [400, 8, 4]);
        assert_eq!(together(&[[7, 8, 8]]), [7, 8, 8]);
    }

    #[test]
    fn counters_that_took_turns_are_scaled() {
        assert_eq!(scaled(100, 7, 7), Some(100));
        assert_eq!(scaled(100, 8, 2), Some(400));
        assert_eq!(scaled(0, 8, 0), None);
        assert_eq!(scaled(0, 0, 0), Some(0));
        assert_eq!(scaled(u64::MAX, 2, 1), Some(u64::MAX));
    }

    /// Page faults of this shell and of all that it starts, counted as the launcher does: opened for a process that waits
    /// before its exec.
    fn faults(line: &str) -> u64 {
        let (gate, opener) = io::pipe().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        let mut waiting = gate.try_clone().unwrap();
        // SAFETY: the child only reads from a pipe before its exec.
        unsafe {
            command.pre_exec(move || waiting.read_exact(&mut [0]));
        }
        // spawn() returns only after the exec, so it waits in a thread of its own.
        let (sender, receiver) = std::sync::mpsc::channel();
        let spawning = std::thread::spawn(move || {
            let mut child = command.spawn().unwrap();
            sender.send(()).unwrap();
            child.wait().unwrap()
        });
        let child = loop {
            let task = std::fs::read_dir("/proc/self/task").unwrap().flatten();
            let children = task.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
            if let Some(child) =
                children.flat_map(|it| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).next()
            {
                break child.parse().unwrap();
            }
            std::thread::yield_now();
        };
        let mut counter = Counter::open(PAGE_FAULTS, child).unwrap();
        assert_eq!(counter.read().unwrap(), Some(0), "nothing is counted before the exec");
        io::Write::write_all(&mut &opener, b"x").unwrap();
        receiver.recv().unwrap();
        assert!(spawning.join().unwrap().success());
        counter.read().unwrap().unwrap()
    }

    #[test]
    fn all_that_a_command_starts_is_counted() {
        let one = faults("true");
        let eleven = faults("for i in 1 2 3 4 5 6 7 8 9 10; do env true; done");
        assert!(one > 20, "{one} page faults of a shell");
        assert!(eleven > one + 10 * 20, "{eleven} page faults of a shell and ten programs, {one} of a shell");
    }
}
