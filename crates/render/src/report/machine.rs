//! The machine that measured, and what of it moved meanwhile.

use maud::{Markup, html};
use whyfaster_core::cpu_list;
use whyfaster_core::host::{Host, HostFacts};
use whyfaster_words as words;
use whyfaster_words::clean::clean;
use whyfaster_words::units::{count, digits, percent};

use super::table;

/// Facts before the first run, what moved until after the last, and what could not be read.
pub(super) fn machine(host: &Host) -> Markup {
    let (before, after) = (facts(&host.before), facts(&host.after));
    let value = |(name, value): &(&'static str, String)| {
        let later = after.iter().find(|(other, _)| other == name).map(|(_, later)| later);
        let moved = later.filter(|later| *later != value).map(|later| format!(" (after: {later})"));
        ((*name).to_owned(), format!("{value}{}", moved.unwrap_or_default()))
    };
    html! {
        (table::facts(before.iter().map(value)))
        @for it in &host.before.missing { p class="missing" { b { "not measured" } ": " (clean(&words::missing::line(it))) } }
    }
}

fn facts(it: &HostFacts) -> Vec<(&'static str, String)> {
    let number = |value: Option<u32>| value.map(|it| it.to_string());
    let gib =
        |bytes: Option<u64>| bytes.map(|it| format!("{} GiB", digits(it as f64 / f64::from(1u32 << 30))));
    let clocks = it.clock_khz.as_ref().and_then(|all| Some((*all.iter().min()?, *all.iter().max()?)));
    let clocks = clocks.map(|(low, high)| {
        let mhz = |khz: u64| format!("{} MHz", khz / 1000);
        if low / 1000 == high / 1000 { mhz(low) } else { format!("{} to {}", mhz(low), mhz(high)) }
    });
    let all = [
        ("CPU", it.cpu_model.clone()),
        ("CPUs online", number(it.cpus_online)),
        ("CPUs allowed", it.cpus_allowed.as_deref().map(cpu_list::show)),
        ("CPU quota of the cgroup", it.cgroup_cpus.map(digits)),
        ("clock of the CPUs", clocks),
        ("governor", it.governor.clone()),
        ("kernel", it.kernel.clone()),
        ("architecture", it.machine.clone()),
        ("hypervisor", it.hypervisor.clone()),
        ("steal", it.steal.map(percent)),
        ("clock source", it.clocksource.clone()),
        ("autogroup", it.autogroup.map(|on| if on { "on" } else { "off" }.to_owned())),
        ("huge pages", it.huge_pages.clone()),
        ("load average", it.load_average.map(|all| all.map(digits).join(", "))),
        ("runnable processes", number(it.runnable)),
        ("waiting for a CPU (PSI)", it.cpu_pressure.map(|part| format!("{}%", digits(part)))),
        ("memory", gib(it.memory_total)),
        ("memory available", gib(it.memory_available)),
        ("processes that may be made", it.pids_available.map(|it| count(it as f64))),
        ("privilege", it.privilege.clone()),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
