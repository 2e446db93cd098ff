//! What changed on the machine between two readings of its facts: each change is a warning with its remedy.

use super::{CPU_QUOTA, HostFacts, Warning};

/// Percent of the time before the first run in which tasks waited for a CPU.
const PRESSURE: f64 = 10.0;
/// Relative change of the fastest clock.
const CLOCK: f64 = 0.10;

impl HostFacts {
    /// These facts with steal and pressure counted from `before` and not since boot or over the last 10 seconds.
    #[must_use]
    pub fn since(mut self, before: &HostFacts) -> HostFacts {
        self.steal = between(before, &self).and_then(|t| t.share(t.steal));
        self.cpu_pressure = pressure(before, &self);
        self
    }

    /// Clock of the fastest allowed CPU, kHz. Idle CPUs clock down at once, so only the fastest one tells what a run would get.
    pub fn fastest_khz(&self) -> Option<u64> {
        self.clock_khz.as_ref()?.iter().max().copied().filter(|khz| *khz > 0)
    }

    /// Share of all CPU time since `before` that was used neither by whyfaster nor by processes reaped below it.
    /// A process of ours that ended without being waited for counts as another's.
    pub fn others_since(&self, before: &HostFacts) -> Option<f64> {
        let time = between(before, self)?;
        let own = self.own_cpu_s? - before.own_cpu_s?;
        time.share((time.busy - own).max(0.0))
    }
}

/// What moved between the facts before the first run and those after the last one. Stolen time and other programs' CPU
/// time are not among it: they are read around every batch, which tells more.
pub fn moved(before: &HostFacts, after: &HostFacts) -> Vec<Warning> {
    let checks = [
        changed_text("frequency governor", &before.governor, &after.governor, GOVERNOR),
        clock(before, after),
        changed_text("clock source", &before.clocksource, &after.clocksource, CLOCKSOURCE),
        changed_cpus(before, after),
        changed_quota(before, after),
        changed_autogroup(before, after),
        changed_text("huge pages setting", &before.huge_pages, &after.huge_pages, REPEAT),
        throttled(before, after),
        runnable(before, after),
        waiting(before),
    ];
    checks.into_iter().flatten().collect()
}

const GOVERNOR: &str = "fix it for the measurement (cpupower frequency-set -g performance) and measure again";
const CLOCKSOURCE: &str =
    "the kernel found its clock unreliable (see dmesg): measure again after it has settled";
const REPEAT: &str = "measure again without changing it meanwhile";
const OTHER_LOAD: &str =
    "stop other work on this machine, or leave it CPUs of its own with --pin, and measure again";

/// CPU seconds between two readings.
struct Interval {
    busy: f64,
    idle: f64,
    steal: f64,
}

impl Interval {
    fn share(&self, part: f64) -> Option<f64> {
        let total = self.busy + self.idle + self.steal;
        (total > 0.0).then_some(part / total)
    }
}

/// The interval, or nothing where a counter is missing or went back (the kernel says that idle time may).
fn between(before: &HostFacts, after: &HostFacts) -> Option<Interval> {
    let interval = Interval {
        busy: after.cpu_busy_s? - before.cpu_busy_s?,
        idle: after.cpu_idle_s? - before.cpu_idle_s?,
        steal: after.cpu_steal_s? - before.cpu_steal_s?,
    };
    (interval.busy >= 0.0 && interval.idle >= 0.0 && interval.steal >= 0.0).then_some(interval)
}

fn pressure(before: &HostFacts, after: &HostFacts) -> Option<f64> {
    let waited = after.cpu_pressure_s? - before.cpu_pressure_s?;
    let elapsed = after.uptime_s? - before.uptime_s?;
    (waited >= 0.0 && elapsed > 0.0).then_some(100.0 * waited / elapsed)
}

fn warning(what: String, remedy: &str) -> Option<Warning> {
    Some(Warning { what, remedy: remedy.to_owned() })
}

fn changed_text(
    name: &str,
    before: &Option<String>,
    after: &Option<String>,
    remedy: &str,
) -> Option<Warning> {
    let (before, after) = (before.as_ref()?, after.as_ref()?);
    if before == after {
        return None;
    }
    warning(format!("the {name} changed from {before} to {after} during the measurement"), remedy)
}

fn clock(before: &HostFacts, after: &HostFacts) -> Option<Warning> {
    let (from, to) = (before.fastest_khz()? as f64, after.fastest_khz()? as f64);
    if (to / from - 1.0).abs() <= CLOCK {
        return None;
    }
    let what =
        format!("the fastest CPU clock moved from {:.2} GHz before to {:.2} GHz after", from / 1e6, to / 1e6);
    warning(
        what,
        "fix the clock for the measurement (governor performance, no turbo), or let the machine cool between runs",
    )
}

fn changed_cpus(before: &HostFacts, after: &HostFacts) -> Option<Warning> {
    let (from, to) = (before.cpus_allowed.as_ref()?, after.cpus_allowed.as_ref()?);
    if from == to {
        return None;
    }
    let what = format!("the allowed CPUs changed from {} to {} during the measurement", list(from), list(to));
    warning(
        what,
        "find who changes the CPU set (cgroup cpuset, taskset, CPUs taken offline) and measure again",
    )
}

fn changed_quota(before: &HostFacts, after: &HostFacts) -> Option<Warning> {
    let unread = |facts: &HostFacts| facts.missing.iter().any(|missing| missing.what == CPU_QUOTA);
    if before.cgroup_cpus == after.cgroup_cpus || unread(before) || unread(after) {
        return None;
    }
    let words = |quota: Option<f64>| quota.map_or("none".to_owned(), |cpus| format!("{cpus:.2} CPUs"));
    let what = format!(
        "the cgroup's CPU quota changed from {} to {} during the measurement",
        words(before.cgroup_cpus),
        words(after.cgroup_cpus)
    );
    warning(what, REPEAT)
}

fn changed_autogroup(before: &HostFacts, after: &HostFacts) -> Option<Warning> {
    let (from, to) = (before.autogroup?, after.autogroup?);
    let word = |on: bool| if on { "on" } else { "off" };
    if from == to {
        return None;
    }
    let what = format!("autogroup was switched from {} to {} during the measurement", word(from), word(to));
    warning(
        what,
        "leave kernel.sched_autogroup_enabled alone while measuring: it decides who shares with whom",
    )
}

fn throttled(before: &HostFacts, after: &HostFacts) -> Option<Warning> {
    let times = after.cgroup_throttled?.checked_sub(before.cgroup_throttled?)?;
    if times == 0 {
        return None;
    }
    let quota = after.cgroup_cpus.map_or(String::new(), |cpus| format!(" (quota {cpus:.2} CPUs)"));
    let what = format!("the cgroup was throttled {times} times during the measurement{quota}");
    warning(what, "raise or remove the CPU quota (cpu.max, docker --cpus), or stay at loads below it")
}

/// One reading each, so a single process that happened to run is no news.
fn runnable(before: &HostFacts, after: &HostFacts) -> Option<Warning> {
    let (from, to) = (before.runnable?, after.runnable?);
    let enough = after.cpus_online.map_or(2, |cpus| (cpus / 2).max(2));
    if to < from.saturating_add(enough) {
        return None;
    }
    let what = format!("the load by others rose: {from} of their processes were runnable before, {to} after");
    warning(what, OTHER_LOAD)
}

/// Pressure during the measurement is mostly our own copies'; only what was there before the first run is others'.
fn waiting(before: &HostFacts) -> Option<Warning> {
    let pressure = before.cpu_pressure?;
    if pressure < PRESSURE {
        return None;
    }
    let what = format!(
        "before the first run, tasks of others waited for a CPU {pressure:.0}% of the time (CPU pressure)"
    );
    warning(what, OTHER_LOAD)
}

/// CPUs as the kernel lists them: `0-3,8`.
fn list(cpus: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match parts.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(cpu) => *end = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let words = parts.iter().map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
    words.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::NotMeasured;

    /// A quiet machine of two CPUs, `seconds` after the first reading, with ten CPU seconds used by us each 100 s.
    fn quiet(seconds: f64) -> HostFacts {
        HostFacts {
            cpus_online: Some(2),
            cpus_allowed: Some(vec![0, 1]),
            cgroup_throttled: Some(7),
            governor: Some("performance".into()),
            clock_khz: Some(vec![2_000_000, 1_200_000]),
            clocksource: Some("tsc".into()),
            autogroup: Some(true),
            huge_pages: Some("madvise".into()),
            runnable: Some(1),
            uptime_s: Some(1000.0 + seconds),
            cpu_busy_s: Some(500.0 + 0.1 * seconds),
            cpu_idle_s: Some(1500.0 + 1.9 * seconds),
            cpu_steal_s: Some(3.0),
            own_cpu_s: Some(0.1 * seconds),
            cpu_pressure: Some(0.5),
            cpu_pressure_s: Some(30.0 + 0.05 * seconds),
            ..HostFacts::default()
        }
    }

    /// The one warning that this change of the later facts gives.
    fn warned(change: impl FnOnce(&mut HostFacts)) -> String {
        let mut after = quiet(100.0);
        change(&mut after);
        let warnings = moved(&quiet(0.0), &after);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(!warnings[0].remedy.is_empty());
        warnings[0].what.clone()
    }

    #[test]
    fn a_quiet_machine_gives_no_warning() {
        assert_eq!(moved(&quiet(0.0), &quiet(100.0)), vec![]);
    }

    #[test]
    fn nothing_known_gives_no_warning() {
        assert_eq!(moved(&HostFacts::default(), &HostFacts::default()), vec![]);
        assert_eq!(moved(&HostFacts::default(), &quiet(100.0)), vec![]);
        assert_eq!(moved(&quiet(0.0), &HostFacts::default()), vec![]);
    }

    #[test]
    fn settings_that_changed_are_named_with_both_values() {
        assert!(warned(|f| f.governor = Some("powersave".into())).contains("from performance to powersave"));
        assert!(warned(|f| f.clocksource = Some("hpet".into())).contains("from tsc to hpet"));
        assert!(warned(|f| f.autogroup = Some(false)).contains("from on to off"));
        assert!(warned(|f| f.cpus_allowed = Some(vec![0, 1, 2, 5])).contains("from 0-1 to 0-2,5"));
        assert!(warned(|f| f.cgroup_cpus = Some(1.5)).contains("from none to 1.50 CPUs"));
        assert!(warned(|f| f.huge_pages = Some("always".into())).contains("from madvise to always"));
    }

    #[test]
    fn a_quota_that_could_not_be_read_once_did_not_change() {
        let mut after = quiet(100.0);
        after.cgroup_cpus = Some(1.5);
        let mut before = quiet(0.0);
        before.missing = vec![NotMeasured { what: CPU_QUOTA.into(), why: "no /proc".into() }];
        assert_eq!(moved(&before, &after), vec![]);
    }

    #[test]
    fn the_fastest_clock_decides() {
        assert!(warned(|f| f.clock_khz = Some(vec![1_500_000, 1_200_000])).contains("2.00 GHz"));
        let mut after = quiet(100.0);
        after.clock_khz = Some(vec![800_000, 2_000_000]);
        assert_eq!(moved(&quiet(0.0), &after), vec![]);
    }

    #[test]
    fn steal_counts_over_the_measurement_only() {
        let mut before = quiet(0.0);
        let mut after = quiet(100.0);
        (before.cpu_steal_s, after.cpu_steal_s) = (Some(900.0), Some(900.5));
        let share = after.since(&before).steal.expect("both readings have counters");
        assert!((share - 0.5 / 200.5).abs() < 1e-12);
    }

    #[test]
    fn what_we_used_ourselves_is_not_others() {
        let mut after = quiet(100.0);
        after.cpu_busy_s = Some(690.0);
        after.own_cpu_s = Some(188.0);
        let share = after.others_since(&quiet(0.0)).expect("both readings have counters");
        assert!(share < 0.02, "{share}");
        after.own_cpu_s = Some(10.0);
        assert!(after.others_since(&quiet(0.0)).is_some_and(|share| share > 0.4));
    }

    #[test]
    fn throttling_load_and_pressure() {
        assert!(warned(|f| f.cgroup_throttled = Some(9)).contains("2 times"));
        assert!(warned(|f| f.runnable = Some(3)).contains("1 of their processes were runnable before, 3"));
        let mut before = quiet(0.0);
        before.cpu_pressure = Some(40.0);
        assert!(moved(&before, &quiet(100.0))[0].what.contains("40%"));
    }

    #[test]
    fn pressure_since_is_the_mean_over_the_interval() {
        let pressure = quiet(100.0).since(&quiet(0.0)).cpu_pressure.expect("both readings have it");
        assert!((pressure - 5.0).abs() < 1e-9);
    }

    #[test]
    fn counters_that_went_back_are_not_measured() {
        let mut after = quiet(100.0);
        after.cpu_idle_s = Some(1.0);
        assert_eq!(after.clone().since(&quiet(0.0)).steal, None);
        assert_eq!(moved(&quiet(0.0), &after), vec![]);
    }
}
