//! Claims about how work is dispatched and where it runs: judged by the times of untraced runs and by what traces count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::{SharerKind, SyscallRow, TraceReport};
use crate::claims::{self, Judgement, Outcome, Pair};
use crate::record::Record;
use crate::verdict::Verdict;

/// Calls that make a process or a thread.
const FORKS: [&str; 4] = ["fork", "vfork", "clone", "clone3"];
/// Calls that wait for one.
const WAITS: [&str; 2] = ["wait4", "waitid"];

/// A claim and the rule that decides it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its number within the study.
    pub number: u32,
    /// What is claimed, in our words.
    pub text: String,
    /// The alternative that it is about, where that is not the study's.
    #[serde(default)]
    pub alternative: Option<String>,
    /// What decides it.
    pub rule: Rule,
}

/// How a claim is decided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Rule {
    /// The comparison with the baseline has this verdict.
    Time {
        /// The verdict that the claim needs.
        verdict: Verdict,
    },
    /// The alternative has at least this share of its own traced time.
    OfTime {
        /// Of what.
        quantity: Quantity,
        /// The smallest share.
        share: f64,
    },
    /// The alternative has at most this share of what the baseline has.
    AtMost {
        /// Of what.
        quantity: Quantity,
        /// The largest share.
        share: f64,
    },
}

/// What a trace counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Processes that the whole tree made.
    Forks,
    /// Programs that the whole tree began.
    Execs,
    /// Forks of the dispatching process alone.
    OwnForks,
    /// CPU time of the dispatching process in forks and waits.
    OwnForkWaitCpu,
    /// Time that tasks waited for a CPU while another one that they were allowed on stood idle.
    AvoidableWait,
    /// Time that tasks waited for a CPU that a thread of the kernel held.
    BehindKernel,
}

/// What one trace says of a dispatcher. `None` is what the level could not see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// Processes made, over the whole tree.
    pub forks: Option<u64>,
    /// Programs begun.
    pub execs: Option<u64>,
    /// Execs that failed.
    pub failed_execs: Option<u64>,
    /// Calls of wait4 and waitid.
    pub waits: Option<u64>,
    /// Forks of the dispatching process alone: what `strace -c` without `-f` shows.
    pub own_forks: Option<u64>,
    /// Its waits.
    pub own_waits: Option<u64>,
    /// CPU time within both, seconds.
    pub own_fork_wait_cpu_s: Option<f64>,
    /// Time that tasks waited for a CPU while another one that they were allowed on stood idle, seconds.
    #[serde(default)]
    pub avoidable_s: Option<f64>,
    /// Time that tasks waited for a CPU that a thread of the kernel held, seconds.
    #[serde(default)]
    pub behind_kernel_s: Option<f64>,
    /// Wall time of the traced run, seconds.
    pub traced_s: f64,
    /// CPU time of the whole tree, seconds.
    pub work_s: f64,
}

impl Tally {
    /// Counts in a report. `dispatcher` is the kernel's name of the process that hands out the work.
    pub fn of(report: &TraceReport, dispatcher: &str) -> Self {
        let seen = !report.syscalls.is_empty();
        let all = |names: &[&str], own: bool| {
            let wanted = |row: &&SyscallRow| {
                names.contains(&row.name.as_str()) && (!own || row.command.as_deref() == Some(dispatcher))
            };
            report.syscalls.iter().filter(wanted).collect::<Vec<_>>()
        };
        let calls = |rows: Vec<&SyscallRow>| seen.then(|| rows.iter().map(|row| row.calls).sum());
        let both: Vec<&SyscallRow> = all(&FORKS, true).into_iter().chain(all(&WAITS, true)).collect();
        Self {
            forks: report.processes.forks,
            execs: report.processes.execs,
            failed_execs: report.processes.failed_execs,
            waits: calls(all(&WAITS, false)),
            own_forks: calls(all(&FORKS, true)),
            own_waits: calls(all(&WAITS, true)),
            own_fork_wait_cpu_s: if seen { both.iter().map(|row| row.cpu_s).sum() } else { None },
            avoidable_s: report.avoidable_wait_s,
            behind_kernel_s: report.avoidable_wait_s.is_some().then(|| behind_kernel(report)),
            traced_s: report.wall_s,
            work_s: report.commands.iter().map(|row| row.running_s).sum(),
        }
    }

    // Counts beyond 2^53 do not occur.
    fn get(&self, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::Forks => self.forks.map(|n| n as f64),
            Quantity::Execs => self.execs.map(|n| n as f64),
            Quantity::OwnForks => self.own_forks.map(|n| n as f64),
            Quantity::OwnForkWaitCpu => self.own_fork_wait_cpu_s,
            Quantity::AvoidableWait => self.avoidable_s,
            Quantity::BehindKernel => self.behind_kernel_s,
        }
    }
}

/// Time that tasks of the tree waited for a CPU that a thread of the kernel held.
fn behind_kernel(report: &TraceReport) -> f64 {
    let kernel = report.cpu_sharers.iter().filter(|row| row.kind == SharerKind::Kernel);
    kernel.map(|row| row.seconds).sum()
}

/// Judges a claim. `tally` finds what the trace of an alternative says.
pub fn judge<'a>(
    claim: &Claim,
    pair: Pair<'_>,
    record: &Record,
    tally: impl Fn(&str) -> Option<&'a Tally>,
) -> Judgement {
    let alternative = claim.alternative.as_deref().unwrap_or(pair.alternative);
    let pair = Pair { alternative, baseline: pair.baseline };
    let of = |name: &str, quantity: Quantity| match tally(name) {
        None => Err(format!("{name} was not traced")),
        Some(tally) => tally.get(quantity).ok_or_else(|| format!("{} not measured", word(quantity))),
    };
    let judgement = |outcome, why| Judgement { number: claim.number, text: claim.text.clone(), outcome, why };
    match claim.rule {
        Rule::Time { verdict } => {
            let rule = claims::Rule::Verdict { load: 1, verdict };
            let by_time = claims::Claim { number: claim.number, text: claim.text.clone(), rule };
            let mut judged = claims::judge(&[by_time], pair, record);
            judged.pop().unwrap_or_else(|| judgement(Outcome::Undecided, "not compared".to_owned()))
        }
        Rule::OfTime { quantity, share } => {
            let time = tally(alternative).map_or(0.0, |tally| tally.traced_s);
            let (outcome, why) = match of(alternative, quantity) {
                Ok(mine) => {
                    let outcome = if mine >= time * share { Outcome::Holds } else { Outcome::DoesNotHold };
                    let (is, of) = (amount(quantity, mine), amount(quantity, time));
                    (outcome, format!("{} of {alternative}: {is} of {of}", word(quantity)))
                }
                Err(why) => (Outcome::Undecided, why),
            };
            judgement(outcome, why)
        }
        Rule::AtMost { quantity, share } => {
            let (outcome, why) = match (of(alternative, quantity), of(pair.baseline, quantity)) {
                // What the baseline does not have, nobody can have less of.
                (Ok(_), Ok(theirs)) if theirs <= 0.0 => {
                    (Outcome::Undecided, format!("{}: {} has none", word(quantity), pair.baseline))
                }
                (Ok(mine), Ok(theirs)) => {
                    let holds = mine <= theirs * share;
                    let outcome = if holds { Outcome::Holds } else { Outcome::DoesNotHold };
                    let number = |value: f64| amount(quantity, value);
                    let (a, b) = (number(mine), number(theirs));
                    (outcome, format!("{}: {alternative} {a}, {} {b}", word(quantity), pair.baseline))
                }
                (Err(why), _) | (_, Err(why)) => (Outcome::Undecided, why),
            };
            judgement(outcome, why)
        }
    }
}

fn amount(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::OwnForkWaitCpu | Quantity::AvoidableWait | Quantity::BehindKernel => {
            format!("{value:.3} s")
        }
        Quantity::Forks | Quantity::Execs | Quantity::OwnForks => format!("{value:.0}"),
    }
}

fn word(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Forks => "forks of the whole tree",
        Quantity::Execs => "execs of the whole tree",
        Quantity::OwnForks => "forks of the dispatcher alone",
        Quantity::OwnForkWaitCpu => "CPU time of the dispatcher in forks and waits",
        Quantity::AvoidableWait => "waiting for a CPU while another one stood idle",
        Quantity::BehindKernel => "waiting for a CPU behind threads of the kernel",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::report::Processes;

    fn row(command: &str, name: &str, calls: u64, cpu: Option<f64>) -> SyscallRow {
        SyscallRow {
            command: Some(command.to_owned()),
            pid: None,
            name: name.to_owned(),
            calls,
            not_returned: 0,
            begun_before: 0,
            going_on: 0,
            errors: 0,
            errnos: Vec::new(),
            total_s: cpu,
            max_s: None,
            cpu_s: cpu,
            runnable_s: None,
            blocked_s: None,
            failed_s: None,
            histogram_log2_ns: Vec::new(),
        }
    }

    fn report(rows: Vec<SyscallRow>, forks: u64) -> TraceReport {
        TraceReport {
            syscalls: rows,
            processes: Processes {
                forks: Some(forks),
                execs: Some(forks),
                failed_execs: Some(3),
                ..Processes::default()
            },
            ..TraceReport::default()
        }
    }

    fn split() -> TraceReport {
        report(
            vec![
                row("split", "clone", 4, Some(0.001)),
                row("split", "wait4", 4, Some(0.002)),
                row("sh", "vfork", 10_000, Some(0.5)),
                row("sh", "wait4", 10_000, Some(0.5)),
            ],
            10_004,
        )
    }

    #[test]
    fn the_dispatcher_is_told_from_its_tree() {
        let tally = Tally::of(&split(), "split");
        assert_eq!(
            (tally.forks, tally.own_forks, tally.own_waits, tally.waits),
            (Some(10_004), Some(4), Some(4), Some(10_004))
        );
        assert_eq!(tally.own_fork_wait_cpu_s, Some(0.003));
        let blind = Tally::of(&report(Vec::new(), 5), "split");
        assert_eq!(
            (blind.forks, blind.own_forks, blind.waits, blind.own_fork_wait_cpu_s),
            (Some(5), None, None, None)
        );
    }

    #[test]
    fn counts_decide_and_what_is_missing_does_not() {
        let xargs =
            report(vec![row("xargs", "clone", 10_000, None), row("xargs", "wait4", 28_561, None)], 20_000);
        let tallies = [("split", Tally::of(&split(), "split")), ("xargs", Tally::of(&xargs, "xargs"))];
        let find = |name: &str| tallies.iter().find(|(known, _)| *known == name).map(|(_, tally)| tally);
        let judged = |alternative: Option<&str>, quantity, share| {
            let claim = Claim {
                number: 1,
                text: "x".to_owned(),
                alternative: alternative.map(str::to_owned),
                rule: Rule::AtMost { quantity, share },
            };
            let record: Record =
                serde_json::from_str(include_str!("../../../../tests/records/0.1.0-batch.json")).unwrap();
            let pair = Pair { alternative: "split", baseline: "xargs" };
            judge(&claim, pair, &record, find)
        };
        assert_eq!(judged(None, Quantity::OwnForks, 0.01).outcome, Outcome::Holds);
        let forks = judged(None, Quantity::Forks, 0.01);
        assert_eq!(
            (forks.outcome, forks.why.contains("split 10004, xargs 20000")),
            (Outcome::DoesNotHold, true)
        );
        assert_eq!(judged(None, Quantity::OwnForkWaitCpu, 0.5).outcome, Outcome::Undecided);
        assert_eq!(judged(Some("loop"), Quantity::Forks, 0.5).why, "loop was not traced");
    }

    #[test]
    fn waiting_is_judged_against_the_time_of_the_run() {
        let waits =
            |seconds| TraceReport { wall_s: 2.0, avoidable_wait_s: seconds, ..TraceReport::default() };
        let outcome = |seconds, rule| {
            let tally = Tally::of(&waits(seconds), "");
            let record: Record =
                serde_json::from_str(include_str!("../../../../tests/records/0.1.0-batch.json")).unwrap();
            let claim = Claim { number: 1, text: String::new(), alternative: None, rule };
            judge(&claim, Pair { alternative: "a", baseline: "b" }, &record, |_| Some(&tally)).outcome
        };
        let of_time = Rule::OfTime { quantity: Quantity::AvoidableWait, share: 0.05 };
        assert_eq!(outcome(Some(0.2), of_time), Outcome::Holds);
        assert_eq!(outcome(Some(0.05), of_time), Outcome::DoesNotHold);
        assert_eq!(outcome(None, of_time), Outcome::Undecided);
        let at_most = Rule::AtMost { quantity: Quantity::AvoidableWait, share: 0.1 };
        assert_eq!(outcome(Some(0.0), at_most), Outcome::Undecided);
    }
}
