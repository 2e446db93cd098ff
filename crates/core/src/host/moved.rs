//! What changed on the machine between two readings of its facts: each change is a warning.

use super::{CPU_QUOTA, HostFacts};
use crate::warning::{Caution, Setting};

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
pub fn moved(before: &HostFacts, after: &HostFacts) -> Vec<Caution> {
    let checks = [
        changed(Setting::Governor, &before.governor, &after.governor),
        clock(before, after),
        changed(Setting::ClockSource, &before.clocksource, &after.clocksource),
        changed_cpus(before, after),
        changed_quota(before, after),
        changed_autogroup(before, after),
        changed(Setting::HugePages, &before.huge_pages, &after.huge_pages),
        throttled(before, after),
        runnable(before, after),
        waiting(before),
    ];
    checks.into_iter().flatten().collect()
}

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

fn changed(setting: Setting, before: &Option<String>, after: &Option<String>) -> Option<Caution> {
    let (before, after) = (before.as_ref()?, after.as_ref()?);
    (before != after).then(|| Caution::SettingChanged {
        setting,
        before: before.clone(),
        after: after.clone(),
    })
}

fn clock(before: &HostFacts, after: &HostFacts) -> Option<Caution> {
    let (before_khz, after_khz) = (before.fastest_khz()?, after.fastest_khz()?);
    let moved = (after_khz as f64 / before_khz as f64 - 1.0).abs() > CLOCK;
    moved.then_some(Caution::ClockMoved { before_khz, after_khz })
}

fn changed_cpus(before: &HostFacts, after: &HostFacts) -> Option<Caution> {
    let (before, after) = (before.cpus_allowed.as_ref()?, after.cpus_allowed.as_ref()?);
    (before != after).then(|| Caution::CpusChanged { before: before.clone(), after: after.clone() })
}

fn changed_quota(before: &HostFacts, after: &HostFacts) -> Option<Caution> {
    let unread = |facts: &HostFacts| facts.missing.iter().any(|missing| missing.what == CPU_QUOTA);
    let changed = before.cgroup_cpus != after.cgroup_cpus && !unread(before) && !unread(after);
    changed.then_some(Caution::QuotaChanged { before: before.cgroup_cpus, after: after.cgroup_cpus })
}

fn changed_autogroup(before: &HostFacts, after: &HostFacts) -> Option<Caution> {
    let (from, on) = (before.autogroup?, after.autogroup?);
    (from != on).then_some(Caution::AutogroupSwitched { on })
}

fn throttled(before: &HostFacts, after: &HostFacts) -> Option<Caution> {
    let times = after.cgroup_throttled?.checked_sub(before.cgroup_throttled?)?;
    (times > 0).then_some(Caution::Throttled { times, quota_cpus: after.cgroup_cpus })
}

/// One reading each, so a single process that happened to run is no news.
fn runnable(before: &HostFacts, after: &HostFacts) -> Option<Caution> {
    let enough = after.cpus_online.map_or(2, |cpus| (cpus / 2).max(2));
    let (before, after) = (before.runnable?, after.runnable?);
    (after >= before.saturating_add(enough)).then_some(Caution::LoadRose { before, after })
}

/// Pressure during the measurement is mostly our own copies'; only what was there before the first run is others'. It is a mean of
/// the last 10 seconds, in which the copies of an earlier measurement may have run: somebody must still be waiting.
fn waiting(before: &HostFacts) -> Option<Caution> {
    let over = before.runnable.zip(before.cpus_online).is_some_and(|(tasks, cpus)| tasks <= cpus);
    let percent = before.cpu_pressure.filter(|&percent| percent >= PRESSURE && !over)?;
    Some(Caution::Pressure { percent })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::missing::NotMeasured;

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
    fn warned(change: impl FnOnce(&mut HostFacts)) -> Caution {
        let mut after = quiet(100.0);
        change(&mut after);
        let mut warnings = moved(&quiet(0.0), &after);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        warnings.remove(0)
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
        let text = |setting, before: &str, after: &str| Caution::SettingChanged {
            setting,
            before: before.to_owned(),
            after: after.to_owned(),
        };
        assert_eq!(
            warned(|f| f.governor = Some("powersave".into())),
            text(Setting::Governor, "performance", "powersave")
        );
        assert_eq!(
            warned(|f| f.clocksource = Some("hpet".into())),
            text(Setting::ClockSource, "tsc", "hpet")
        );
        assert_eq!(
            warned(|f| f.huge_pages = Some("always".into())),
            text(Setting::HugePages, "madvise", "always")
        );
        assert_eq!(warned(|f| f.autogroup = Some(false)), Caution::AutogroupSwitched { on: false });
        assert_eq!(
            warned(|f| f.cpus_allowed = Some(vec![0, 1, 2, 5])),
            Caution::CpusChanged { before: vec![0, 1], after: vec![0, 1, 2, 5] }
        );
        assert_eq!(
            warned(|f| f.cgroup_cpus = Some(1.5)),
            Caution::QuotaChanged { before: None, after: Some(1.5) }
        );
    }

    #[test]
    fn a_quota_that_could_not_be_read_once_did_not_change() {
        let mut after = quiet(100.0);
        after.cgroup_cpus = Some(1.5);
        let mut before = quiet(0.0);
        before.missing = vec![NotMeasured::told(CPU_QUOTA, "no /proc")];
        assert_eq!(moved(&before, &after), vec![]);
    }

    #[test]
    fn the_fastest_clock_decides() {
        assert_eq!(
            warned(|f| f.clock_khz = Some(vec![1_500_000, 1_200_000])),
            Caution::ClockMoved { before_khz: 2_000_000, after_khz: 1_500_000 }
        );
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
        let throttled = Caution::Throttled { times: 2, quota_cpus: None };
        assert_eq!(warned(|f| f.cgroup_throttled = Some(9)), throttled);
        assert_eq!(warned(|f| f.runnable = Some(3)), Caution::LoadRose { before: 1, after: 3 });
        let mut before = quiet(0.0);
        before.cpu_pressure = Some(40.0);
        before.runnable = Some(9);
        assert_eq!(moved(&before, &quiet(100.0)), [Caution::Pressure { percent: 40.0 }]);
        // An earlier measurement of our own is over.
        before.runnable = Some(2);
        assert_eq!(moved(&before, &quiet(100.0)), []);
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
