//! Busy and stolen CPU time of the whole machine, cheap enough to be read before and after every batch.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::root::{Root, Unreadable};

/// CPU seconds of all CPUs together since boot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counters {
    /// Busy with anything: user, nice, system, interrupts. Guests are counted in user already
    /// (kernel: `account_guest_time` in kernel/sched/cputime.c).
    pub busy_s: f64,
    /// Idle, waiting for a disk or not.
    pub idle_s: f64,
    /// Given to others by the hypervisor.
    pub steal_s: f64,
}

/// `/proc/stat`, kept open: one `pread` a reading and no allocation. The kernel makes the whole file for every reading, so
/// that it costs some microseconds, and more with many CPUs and interrupts: read it outside the timed span.
#[derive(Debug)]
pub struct MachineCounters {
    file: File,
    ticks_per_s: f64,
}

impl MachineCounters {
    /// Opens the counters and reads them once, so that a failure shows now and has a reason.
    pub fn open(root: &Root) -> Result<Self, Unreadable> {
        let path = "/proc/stat";
        let file =
            File::open(root.path(path)).map_err(|source| Unreadable::Io { path: path.into(), source })?;
        let counters = Self { file, ticks_per_s: rustix::param::clock_ticks_per_second() as f64 };
        match counters.read() {
            Some(_) => Ok(counters),
            None => {
                Err(Unreadable::line(path, 1, &root.text(path)?, "\"cpu\" and at least eight tick counts"))
            }
        }
    }

    /// The counters now.
    pub fn read(&self) -> Option<Counters> {
        // The first line holds "cpu" and ten numbers of at most 20 digits.
        let mut buffer = [0_u8; 256];
        let length = self.file.read_at(&mut buffer, 0).ok()?;
        parse(&buffer[..length], self.ticks_per_s)
    }
}

/// The first line of `/proc/stat` (kernel: fs/proc/stat.c). A line without the steal column is from before Linux 2.6.11.
fn parse(text: &[u8], ticks_per_s: f64) -> Option<Counters> {
    let line = text.split(|&byte| byte == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    if words.next()? != "cpu" {
        return None;
    }
    let mut ticks = || words.next()?.parse::<u64>().ok();
    let (user, nice, system, idle) = (ticks()?, ticks()?, ticks()?, ticks()?);
    let (iowait, irq, softirq, steal) = (ticks()?, ticks()?, ticks()?, ticks()?);
    let seconds = |parts: &[u64]| parts.iter().map(|ticks| *ticks as f64).sum::<f64>() / ticks_per_s;
    Some(Counters {
        busy_s: seconds(&[user, nice, system, irq, softirq]),
        idle_s: seconds(&[idle, iowait]),
        steal_s: seconds(&[steal]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_read() {
        let text = b"cpu  100 20 30 4000 50 6 7 80 90 9\ncpu0 1 2\n";
        let counters = parse(text, 100.0).expect("a good line");
        assert_eq!(counters, Counters { busy_s: 1.63, idle_s: 40.5, steal_s: 0.8 });
    }

    #[test]
    fn what_is_not_that_line_is_nothing() {
        for bad in ["", "cpu", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 5 6 7", "cpu 1 2 3 x 5 6 7 8"] {
            assert_eq!(parse(bad.as_bytes(), 100.0), None, "{bad}");
        }
    }

    #[test]
    fn real_counters_grow() {
        let Ok(counters) = MachineCounters::open(&Root::real()) else {
            return; // No /proc here: nothing to count.
        };
        let first = counters.read().expect("open has read it");
        // A tick is 10 ms or less: five seconds are far beyond it on any machine.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(5);
        let mut later = first;
        while later == first && std::time::Instant::now() < deadline {
            later = counters.read().expect("still there");
        }
        assert_ne!(later, first);
        assert!(later.busy_s >= first.busy_s && later.steal_s >= first.steal_s);
    }
}
