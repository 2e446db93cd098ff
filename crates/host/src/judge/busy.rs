//! Who else uses the machine now, and how noisy it is.

use whyfaster_core::host::HostFacts;

use super::super::noise::Spread;
use super::finding::{Finding, Mark, READ_IT, grade, percent};

const WAIT: &str =
    "stop other work (top shows it) or wait until it is done; or keep the copies apart from it with --pin";

/// CPUs that a measurement can really use.
fn usable(facts: &HostFacts) -> Option<f64> {
    let cpus = facts.cpus_allowed.as_ref().map(|cpus| cpus.len() as f64);
    match (cpus.or(facts.cpus_online.map(f64::from)), facts.cgroup_cpus) {
        (Some(cpus), Some(quota)) => Some(cpus.min(quota)),
        (cpus, quota) => cpus.or(quota),
    }
}

pub(super) fn load(facts: &HostFacts) -> Finding {
    let name = "load";
    let (Some([one, five, fifteen]), Some(runnable)) = (facts.load_average, facts.runnable) else {
        return Finding::unknown(name, facts, "load", READ_IT);
    };
    let cpus = usable(facts).unwrap_or(1.0);
    let mark = grade(one, 0.25 * cpus, cpus).max(grade(f64::from(runnable), 1.0, cpus.max(2.0)));
    let value =
        format!("{one:.2} {five:.2} {fifteen:.2} on {cpus} CPUs, {runnable} runnable beside whyfaster");
    Finding::graded(mark, name, value, WAIT)
}

pub(super) fn others(before: &HostFacts, after: &HostFacts) -> Finding {
    let name = "other processes";
    match after.others_since(before) {
        Some(share) => {
            let value = format!("{} of all CPU time during the self-test", percent(share));
            Finding::graded(grade(share, 0.05, 0.2), name, value, WAIT)
        }
        None => Finding::unknown(name, before, "CPU time and steal", READ_IT),
    }
}

pub(super) fn pressure(facts: &HostFacts) -> Finding {
    let name = "CPU pressure";
    match facts.cpu_pressure {
        Some(pressure) => {
            let value = format!("tasks waited for a CPU in {pressure:.1}% of the last 10 s");
            Finding::graded(grade(pressure, 2.0, 20.0), name, value, WAIT)
        }
        None => Finding::unknown(name, facts, name, "the load average above says nearly the same"),
    }
}

pub(super) fn steal(before: &HostFacts, after: &HostFacts) -> Finding {
    let name = "steal";
    let Some(boot) = before.steal else {
        return Finding::unknown(name, before, "CPU time and steal", READ_IT);
    };
    let now = after.clone().since(before).steal;
    let during = now.map_or(String::new(), |share| format!(", {} during the self-test", percent(share)));
    let value = format!("{} since boot{during}", percent(boot));
    // What happened since boot is a hint; what happens now is what a measurement would meet.
    let mark = grade(boot, 0.01, 0.1).max(grade(now.unwrap_or(0.0), 0.01, 0.05));
    let remedy =
        "the host gives this CPU time to other guests: use a quieter host or dedicated CPUs, or more rounds";
    Finding::graded(mark, name, value, remedy)
}

const QUIETER: &str =
    "make the machine quieter (see the lines above), or take more rounds: four times as many halve it";

pub(super) fn compute(spread: &Spread) -> Finding {
    Finding::graded(grade(spread.ratio, 1.05, 1.5), "noise, computing", noise(spread), QUIETER)
}

pub(super) fn launch(spread: Result<&Spread, &String>) -> Finding {
    let name = "noise, launching";
    match spread {
        // Starting a process goes through much more of the kernel than computing, and scatters more on any machine.
        Ok(spread) => Finding::graded(grade(spread.ratio, 1.5, 4.0), name, noise(spread), QUIETER),
        Err(why) => {
            let value = format!("not measured: {why}");
            Finding::with(Mark::Note, name, value, "install a program named true (coreutils, busybox)")
        }
    }
}

fn noise(spread: &Spread) -> String {
    let Spread { repeats, median_s, ratio, smallest_difference } = spread;
    let median = median_s * 1e3;
    let smallest = 100.0 * smallest_difference;
    let digits = if smallest < 9.95 { 1 } else { 0 };
    format!(
        "p95/p5 {ratio:.2} (median {median:.2} ms, {repeats} repeats); 20 rounds as short as this show differences \
         from about {smallest:.digits$}%"
    )
}
