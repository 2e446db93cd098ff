//! How busy the machine is: load average, runnable processes, pressure.

use super::root::{Root, Unreadable};

/// `/proc/loadavg` (kernel: fs/proc/loadavg.c).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    /// Averages over 1, 5 and 15 minutes.
    pub(super) average: [f64; 3],
    /// Tasks running or runnable, without the one that reads this.
    pub(super) runnable: u32,
    /// Tasks (processes and their threads) that exist on the whole machine.
    pub(super) tasks: u64,
}

pub(super) fn load(root: &Root) -> Result<Load, Unreadable> {
    let path = "/proc/loadavg";
    let text = root.text(path)?;
    parse_load(&text)
        .ok_or_else(|| Unreadable::line(path, 1, &text, "three averages and runnable/existing tasks"))
}

fn parse_load(text: &str) -> Option<Load> {
    let mut words = text.split_ascii_whitespace();
    let mut average = || words.next()?.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    let average = [average()?, average()?, average()?];
    let (runnable, tasks) = words.next()?.split_once('/')?;
    let runnable = runnable.parse::<u32>().ok()?.saturating_sub(1);
    Some(Load { average, runnable, tasks: tasks.parse().ok()? })
}

/// CPU pressure: percent over the last 10 seconds, and seconds since boot, in which some task waited for a CPU.
pub(super) fn cpu_pressure(root: &Root) -> Result<(f64, f64), Unreadable> {
    let path = "/proc/pressure/cpu";
    let Some(text) = root.optional(path)? else {
        return Err(Unreadable::Other(format!(
            "{path}: no such file (it needs CONFIG_PSI, on some kernels also psi=1 at boot)"
        )));
    };
    parse_pressure(&text).ok_or_else(|| Unreadable::line(path, 1, &text, "\"some avg10=... total=...\""))
}

fn parse_pressure(text: &str) -> Option<(f64, f64)> {
    let line = text.lines().next()?.strip_prefix("some ")?;
    let value = |key: &str| line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let avg10 = value("avg10")?.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent))?;
    let total_us = value("total")?.parse::<u64>().ok()?;
    Some((avg10, total_us as f64 / 1e6))
}

/// Seconds since boot.
pub(super) fn uptime(root: &Root) -> Result<f64, Unreadable> {
    let path = "/proc/uptime";
    let text = root.text(path)?;
    let seconds = text.split_ascii_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    seconds
        .filter(|s| s.is_finite() && *s >= 0.0)
        .ok_or_else(|| Unreadable::line(path, 1, &text, "seconds since boot"))
}

/// Whether sessions are scheduled as groups; `at_top` is whether we are in the top group of CPU shares.
pub(super) fn autogroup(root: &Root, at_top: Result<bool, Unreadable>) -> Result<bool, Unreadable> {
    let path = "/proc/sys/kernel/sched_autogroup_enabled";
    match root.optional(path)?.as_deref().map(str::trim) {
        Some("0") => Ok(false),
        Some("1") => at_top,
        Some(other) => Err(Unreadable::line(path, 1, other, "0 or 1")),
        None => Err(Unreadable::Other(format!(
            "{path}: no such file (a kernel without CONFIG_SCHED_AUTOGROUP has none)"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loadavg_leaves_the_reader_out() {
        let load = parse_load("0.82 0.35 12.18 3/91 8332\n").expect("good");
        assert_eq!(load, Load { average: [0.82, 0.35, 12.18], runnable: 2, tasks: 91 });
        for bad in ["", "0.1 0.2 0.3", "0.1 0.2 NaN 1/2 3", "a b c 1/2 3", "0.1 0.2 0.3 1-2 3"] {
            assert_eq!(parse_load(bad), None, "{bad}");
        }
    }

    #[test]
    fn pressure_of_the_first_line() {
        let text = "some avg10=1.82 avg60=0.95 avg300=0.62 total=7220557\nfull avg10=9.00 avg60=0 total=1\n";
        assert_eq!(parse_pressure(text), Some((1.82, 7.220557)));
        for bad in
            ["", "full avg10=1.0 total=1", "some avg10=x total=1", "some avg10=1.0", "some avg10=101 total=1"]
        {
            assert_eq!(parse_pressure(bad), None, "{bad}");
        }
    }
}
