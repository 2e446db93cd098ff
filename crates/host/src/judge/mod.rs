//! From facts to findings: what each fact means for a measurement, and what to do about it. Pure.

mod busy;
mod finding;
mod limits;
mod settings;

use whyfaster_core::host::HostFacts;

use super::noise::Noise;

pub use finding::{Finding, Mark};

/// Everything `doctor` says: facts read before and after the self-test, and what the self-test showed.
pub(super) fn judge(before: &HostFacts, after: &HostFacts, noise: &Noise) -> Vec<Finding> {
    vec![
        busy::load(before),
        busy::others(before, after),
        busy::pressure(before),
        busy::steal(before, after),
        settings::virtualisation(before),
        settings::cpus(before),
        settings::quota(before),
        settings::throttling(before, after),
        settings::governor(before),
        settings::clock(before, after),
        settings::clocksource(before),
        settings::autogroup(before),
        settings::huge_pages(before),
        limits::memory(before),
        limits::processes(before),
        limits::files(before),
        limits::privilege(before),
        busy::compute(&noise.compute),
        busy::launch(noise.launch.as_ref()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Spread;

    pub(super) fn quiet() -> HostFacts {
        HostFacts {
            cpus_online: Some(4),
            cpus_allowed: Some(vec![0, 1, 2, 3]),
            cgroup_throttled: Some(0),
            governor: Some("performance".into()),
            clock_khz: Some(vec![3_000_000; 4]),
            clocksource: Some("tsc".into()),
            autogroup: Some(true),
            huge_pages: Some("madvise".into()),
            load_average: Some([0.1, 0.1, 0.1]),
            runnable: Some(0),
            cpu_busy_s: Some(10.0),
            cpu_idle_s: Some(1000.0),
            cpu_steal_s: Some(0.0),
            own_cpu_s: Some(1.0),
            steal: Some(0.0),
            cpu_pressure: Some(0.0),
            memory_total: Some(8 << 30),
            memory_available: Some(7 << 30),
            memory_limit: Some("MemAvailable".into()),
            pids_available: Some(30_000),
            pids_limit: Some("kernel.pid_max".into()),
            files_limit: Some(1 << 20),
            privilege_level: Some(2),
            privilege: Some("level 2".into()),
            ..HostFacts::default()
        }
    }

    fn still() -> Noise {
        let spread = Spread { repeats: 100, median_s: 1e-3, ratio: 1.01, smallest_difference: 0.002 };
        Noise { compute: spread, launch: Ok(spread) }
    }

    /// The finding of this name when the facts are changed so.
    fn found(name: &str, change: impl Fn(&mut HostFacts)) -> Finding {
        let mut facts = quiet();
        change(&mut facts);
        let mut findings = judge(&facts, &facts, &still());
        let place = findings.iter().position(|f| f.name == name).expect("every finding is always there");
        findings.swap_remove(place)
    }

    #[test]
    fn a_quiet_machine_is_ok_in_every_line() {
        for finding in judge(&quiet(), &quiet(), &still()) {
            // Nothing was used between two equal readings, so those two lines have nothing to say.
            let measured = !finding.value.starts_with("not measured");
            assert_eq!(finding.mark == Mark::Ok, measured, "{finding:?}");
        }
    }

    #[test]
    fn every_line_that_is_not_ok_has_a_remedy_and_nothing_is_zero() {
        let findings = judge(&HostFacts::default(), &HostFacts::default(), &still());
        for finding in &findings {
            assert_eq!(finding.remedy.is_none(), finding.mark == Mark::Ok, "{finding:?}");
            assert!(!finding.value.is_empty());
        }
        let unknown = findings.iter().filter(|f| f.value.starts_with("not measured")).count();
        assert!(unknown >= 13, "{findings:#?}");
    }

    #[test]
    fn the_reason_for_not_measured_is_shown() {
        let finding = found("governor", |f| {
            f.governor = None;
            f.missing.push(whyfaster_core::missing::NotMeasured::told("governor", "gone"));
        });
        assert_eq!(finding.value, "not measured: gone");
    }

    #[test]
    fn problems_are_marked() {
        assert_eq!(found("load", |f| f.load_average = Some([9.0, 1.0, 1.0])).mark, Mark::Problem);
        assert_eq!(found("load", |f| f.runnable = Some(4)).mark, Mark::Problem);
        assert_eq!(found("load", |f| f.runnable = Some(1)).mark, Mark::Note);
        assert_eq!(found("CPU pressure", |f| f.cpu_pressure = Some(30.0)).mark, Mark::Problem);
        assert_eq!(found("clock source", |f| f.clocksource = Some("hpet".into())).mark, Mark::Problem);
        assert_eq!(found("steal", |f| f.steal = Some(0.2)).mark, Mark::Problem);
        assert_eq!(found("huge pages", |f| f.huge_pages = Some("always".into())).mark, Mark::Note);
        assert_eq!(found("governor", |f| f.governor = Some("powersave".into())).mark, Mark::Note);
        assert_eq!(found("processes", |f| f.pids_available = Some(50)).mark, Mark::Problem);
        assert_eq!(found("open files", |f| f.files_limit = Some(256)).mark, Mark::Note);
        assert_eq!(found("memory", |f| f.memory_available = Some(1 << 28)).mark, Mark::Note);
        assert_eq!(found("privileges", |f| f.privilege_level = Some(0)).mark, Mark::Note);
        assert_eq!(found("CPU quota", |f| f.cgroup_cpus = Some(0.5)).mark, Mark::Note);
        assert_eq!(found("CPUs", |f| f.cpus_allowed = Some(vec![1])).mark, Mark::Note);
        assert_eq!(found("virtualisation", |f| f.hypervisor = Some("KVM".into())).mark, Mark::Note);
        assert_eq!(found("throttling", |f| f.cgroup_throttled = Some(3)).mark, Mark::Note);
    }

    #[test]
    fn what_happens_during_the_self_test_counts() {
        let mut after = quiet();
        after.cpu_busy_s = Some(12.0);
        after.cpu_idle_s = Some(1002.0);
        after.own_cpu_s = Some(1.5);
        after.cpu_steal_s = Some(1.0);
        after.cgroup_throttled = Some(2);
        after.clock_khz = Some(vec![2_000_000; 4]);
        let findings = judge(&quiet(), &after, &still());
        let of = |name: &str| findings.iter().find(|f| f.name == name).expect("there");
        assert_eq!(of("other processes").mark, Mark::Problem);
        assert!(of("other processes").value.starts_with("30.0%"), "{:?}", of("other processes"));
        assert_eq!(of("steal").mark, Mark::Problem);
        assert!(of("steal").value.contains("20.0% during the self-test"));
        assert_eq!(of("throttling").mark, Mark::Problem);
        assert_eq!(of("clock").mark, Mark::Note);
    }

    #[test]
    fn noise_is_graded() {
        let noisy = Spread { repeats: 100, median_s: 1e-3, ratio: 4.0, smallest_difference: 0.35 };
        let noise = Noise { compute: noisy, launch: Err("true: not found".into()) };
        let findings = judge(&quiet(), &quiet(), &noise);
        let compute = findings.iter().find(|f| f.name == "noise, computing").expect("there");
        assert_eq!(compute.mark, Mark::Problem);
        assert!(compute.value.contains("p95/p5 4.00") && compute.value.contains("35%"), "{compute:?}");
        let launch = findings.iter().find(|f| f.name == "noise, launching").expect("there");
        assert!(launch.value.contains("true: not found"));
    }
}
