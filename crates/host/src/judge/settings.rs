//! How the machine is set up: CPUs, clock, groups, memory pages.

use whyfaster_core::host::{CPU_QUOTA, HYPERVISOR, HostFacts};

use super::finding::{Finding, Mark, READ_IT, grade};

pub(super) fn virtualisation(facts: &HostFacts) -> Finding {
    let name = "virtualisation";
    if facts.missing.iter().any(|missing| missing.what == HYPERVISOR) {
        let remedy =
            "ask who set up this machine: on a virtual one neighbours and the host's clock are out of sight";
        return Finding::unknown(name, facts, HYPERVISOR, remedy);
    }
    match &facts.hypervisor {
        None => Finding::ok(name, "no hypervisor reported"),
        Some(hypervisor) => Finding::with(
            Mark::Note,
            name,
            format!("hypervisor {hypervisor}"),
            "neighbours and the host's clock are out of sight: for differences of a few percent use a machine of your own",
        ),
    }
}

pub(super) fn cpus(facts: &HostFacts) -> Finding {
    let name = "CPUs";
    match (&facts.cpus_allowed, facts.cpus_online) {
        (Some(allowed), Some(online)) if allowed.len() < online as usize => Finding::with(
            Mark::Note,
            name,
            format!("{} of {online} online CPUs allowed", allowed.len()),
            "loads count from the allowed CPUs; to use all: taskset -c, or the cpuset of the cgroup or container",
        ),
        (Some(allowed), Some(online)) => {
            Finding::ok(name, format!("{} of {online} online CPUs allowed", allowed.len()))
        }
        (None, _) => Finding::unknown(name, facts, "CPUs allowed", READ_IT),
        (_, None) => Finding::unknown(name, facts, "CPUs online", READ_IT),
    }
}

pub(super) fn quota(facts: &HostFacts) -> Finding {
    let name = "CPU quota";
    if facts.missing.iter().any(|missing| missing.what == CPU_QUOTA) {
        return Finding::unknown(name, facts, CPU_QUOTA, READ_IT);
    }
    let Some(quota) = facts.cgroup_cpus else {
        // Facts that could not be read at all have no entry for it either; then the CPUs are missing too.
        return match facts.cpus_allowed {
            Some(_) => Finding::ok(name, "none"),
            None => Finding::unknown(name, facts, CPU_QUOTA, READ_IT),
        };
    };
    let allowed = facts.cpus_allowed.as_ref().map_or(f64::INFINITY, |cpus| cpus.len() as f64);
    let mark = if quota < allowed { Mark::Note } else { Mark::Ok };
    let remedy = "copies are stopped when the quota of a period is used up: raise cpu.max (docker --cpus) or stay below it";
    Finding::graded(mark, name, format!("the cgroup may use {quota:.2} CPUs"), remedy)
}

pub(super) fn throttling(before: &HostFacts, after: &HostFacts) -> Finding {
    let name = "throttling";
    let Some(times) = before.cgroup_throttled else {
        return Finding::unknown(name, before, "cgroup throttling", "without a quota there is none");
    };
    let during = after.cgroup_throttled.map_or(0, |after| after.saturating_sub(times));
    let mark = match (during, times) {
        (0, 0) => Mark::Ok,
        (0, _) => Mark::Note,
        _ => Mark::Problem,
    };
    let value = format!("{times} times since the cgroup was made, {during} during the self-test");
    Finding::graded(mark, name, value, "raise the CPU quota (cpu.max), or measure at loads below it")
}

pub(super) fn governor(facts: &HostFacts) -> Finding {
    let name = "governor";
    match facts.governor.as_deref() {
        Some("performance") => Finding::ok(name, "performance"),
        Some(governor) => Finding::with(
            Mark::Note,
            name,
            governor,
            "the clock follows the load, so short commands may run slower: \
             sudo cpupower frequency-set -g performance (Debian: linux-cpupower; Ubuntu: linux-tools-$(uname -r))",
        ),
        None => Finding::unknown(
            name,
            facts,
            name,
            "nothing to set from here; the line on the clock shows if it moves",
        ),
    }
}

pub(super) fn clock(before: &HostFacts, after: &HostFacts) -> Finding {
    let name = "clock";
    let (Some(from), Some(to)) = (before.fastest_khz(), after.fastest_khz()) else {
        return Finding::unknown(
            name,
            before,
            "CPU clock",
            "compare alternatives in one run only, never across runs",
        );
    };
    let (from, to) = (from as f64 / 1e6, to as f64 / 1e6);
    let value = format!("{from:.2} GHz before the self-test, {to:.2} GHz after (fastest CPU)");
    let mark = grade((to / from - 1.0).abs(), 0.05, f64::INFINITY);
    Finding::graded(
        mark,
        name,
        value,
        "fix the clock (governor performance, no turbo), or use --warmup and more rounds",
    )
}

/// Clock sources that are read from a slow device or move only with the timer tick (kernel: drivers/clocksource).
const SLOW: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];

pub(super) fn clocksource(facts: &HostFacts) -> Finding {
    let name = "clock source";
    match facts.clocksource.as_deref() {
        Some(source) if SLOW.contains(&source) => Finding::with(
            Mark::Problem,
            name,
            format!("{source}, which is slow to read"),
            "dmesg tells why the kernel gave up the CPU's own counter; programs that read the time often are slower here",
        ),
        Some(source) => Finding::ok(name, source),
        None => Finding::unknown(name, facts, name, READ_IT),
    }
}

pub(super) fn autogroup(facts: &HostFacts) -> Finding {
    let name = "autogroup";
    match facts.autogroup {
        Some(true) => Finding::ok(
            name,
            "on: a session is a scheduling group, so every copy gets one (--placement session)",
        ),
        Some(false) => Finding::ok(
            name,
            "without effect, as it is off or the cgroup has CPU shares of its own: sessions do not matter to the scheduler",
        ),
        None => {
            Finding::unknown(name, facts, name, "without autogroups, sessions do not matter to the scheduler")
        }
    }
}

pub(super) fn huge_pages(facts: &HostFacts) -> Finding {
    let name = "huge pages";
    match facts.huge_pages.as_deref() {
        Some("always") => Finding::with(
            Mark::Note,
            name,
            "always",
            "programs with much memory get huge pages by luck, and times follow; to rule it out, as root: \
             echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        Some(setting) => Finding::ok(name, setting),
        None => Finding::unknown(name, facts, name, "without huge pages they cannot disturb"),
    }
}
