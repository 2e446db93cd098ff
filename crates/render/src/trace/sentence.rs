//! What the command spent its time on, in one sentence.

use whyfaster_core::trace::report::{Cause, CommandRow, Level, PathKind, TraceReport};
use whyfaster_stats::order::largest_first;
use whyfaster_words::look::Look;
use whyfaster_words::text::for_look;
use whyfaster_words::units::{digits, percent, time};

/// Shares below this are not worth a word.
const WORTH: f64 = 0.05;
/// Fewer CPUs than this are none to speak of.
const HARDLY: f64 = 0.01;
/// From this part on, it is most of something.
const MOST: f64 = 0.5;

/// What time went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// Running, where user code and the kernel are not told apart.
    Running,
    /// Running outside of system calls.
    Computing,
    /// Running within them.
    InKernel,
    /// What a task on the critical path did.
    OnPath(PathKind),
    /// What a task was blocked on.
    Blocked(Cause),
}

impl Doing {
    /// Waiting for a CPU.
    pub(super) const WAITING: Self = Self::OnPath(PathKind::CpuWait);

    fn words(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Computing => "computing",
            Self::InKernel => "working in the kernel",
            Self::OnPath(kind) => kind.words(),
            Self::Blocked(cause) => cause_words(cause),
        }
    }
}

/// The sentence.
pub(super) fn sentence(report: &TraceReport, followed: bool, look: &Look) -> String {
    if !followed && never_began(report) {
        return "It was ended before the command began: nothing was observed.".to_owned();
    }
    let wall = time(report.wall_s, look.time_unit);
    let cpus = report.effective_parallelism.map_or_else(String::new, |cpus| match cpus {
        below if below < HARDLY => " with hardly any CPU used".to_owned(),
        one if (0.995..1.005).contains(&one) => " with 1 CPU busy".to_owned(),
        more => format!(" with {} CPUs busy", digits(more)),
    });
    let lost = match report.lost.any() {
        true => "Incomplete: records were lost, so counts may be too low and times wrong. ",
        false => "",
    };
    let mut parts = vec![format!("{lost}{} {wall}{cpus}", if followed { "Observed for" } else { "It took" })];
    parts.extend(spent(report, look));
    let (busiest, share) = busiest(report, look);
    if let Some(who) = list(busiest) {
        parts.push(format!(", {} by {who}", if share >= MOST { "mostly" } else { "among others" }));
    }
    let (forks, threads) = (report.processes.forks.unwrap_or(0), report.processes.threads.unwrap_or(0));
    let made = forks + threads;
    // What this level does not see is not spoken of.
    if made > 0 {
        let failed = report.processes.failed_execs.filter(|failed| *failed > 0);
        let failed = failed.map_or_else(String::new, |failed| format!(" and {} failed", of(failed, "exec")));
        let kinds = [(forks, "process"), (threads, "thread")];
        let kinds = list(kinds.iter().filter(|(n, _)| *n > 0).map(|(n, what)| of(*n, what)));
        let verb = if made == 1 { "was" } else { "were" };
        parts.push(format!("; {} {verb} made{failed}", kinds.unwrap_or_default()));
    }
    parts.push(".".to_owned());
    parts.concat()
}

/// Whether observing ended before there was anything to see.
fn never_began(report: &TraceReport) -> bool {
    let seen = report.tasks_total > 0 || !report.tree.is_empty() || !report.syscalls.is_empty();
    report.wall_s <= 0.0 && !seen && report.commands.is_empty()
}

/// "1 exec", "20 002 processes": thousands apart, so that they can be read.
pub(super) fn of(number: u64, what: &str) -> String {
    let plural = if what.ends_with('s') { "es" } else { "s" };
    format!("{} {what}{}", thousands(number), if number == 1 { "" } else { plural })
}

/// A count with its thousands apart.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

pub(super) fn whole_percent(share: f64) -> String {
    if share > 0.995 && share < 1.0 { percent(0.99) } else { percent((share * 100.0).round() / 100.0) }
}

/// What the time went to, and which time that is: the wall time where the critical path is known, else that of the tasks.
fn spent(report: &TraceReport, look: &Look) -> Option<String> {
    let percents = |shares: &[(Doing, f64)]| {
        list(shares.iter().map(|(what, share)| format!("{} {}", whole_percent(*share), what.words())))
    };
    if let Some(said) = percents(&of_wall(report)) {
        return Some(format!("; along its critical path that was {said}"));
    }
    let (all_s, shares) = of_tasks(report);
    let said = percents(&shares)?;
    Some(match report.tasks_total {
        1 => format!("; that was {said}"),
        _ => format!(
            "; the time of its tasks, {} without waits for one another, was {said}",
            time(all_s, look.time_unit)
        ),
    })
}

/// What stood on the critical path, as shares of the wall time, the largest first.
pub(super) fn of_wall(report: &TraceReport) -> Vec<(Doing, f64)> {
    let mut parts: Vec<(Doing, f64)> = Vec::new();
    for row in &report.critical_path {
        add(&mut parts, Doing::OnPath(row.kind), row.seconds);
    }
    worth(parts, report.wall_s)
}

fn add(parts: &mut Vec<(Doing, f64)>, what: Doing, seconds: f64) {
    match parts.iter_mut().find(|(known, _)| *known == what) {
        Some((_, sum)) => *sum += seconds,
        None => parts.push((what, seconds)),
    }
}

/// As shares of all, the largest first; what is too little for a word is left out.
fn worth(mut parts: Vec<(Doing, f64)>, all: f64) -> Vec<(Doing, f64)> {
    parts.iter_mut().for_each(|(_, seconds)| *seconds /= all);
    parts.retain(|(_, share)| *share >= WORTH);
    largest_first(&mut parts, |it| it.1);
    parts
}

/// Waits of the tree for itself say nothing about what the time went to: whoever is waited for has the time.
fn for_itself(cause: Cause) -> bool {
    matches!(cause, Cause::Child | Cause::PipeEmpty | Cause::PipeFull | Cause::OtherProcess)
}

/// What the tasks did: their lives without their waits for one another, and shares of them, the largest first. A level
/// that cannot tell waiting for a CPU from being blocked knows no share.
pub(super) fn of_tasks(report: &TraceReport) -> (f64, Vec<(Doing, f64)>) {
    // Where nobody saw what was waited for, the parts that were seen are not the whole.
    if report.level != Level::Full || report.commands.iter().any(|c| c.runnable_s.is_none()) {
        return (0.0, Vec::new());
    }
    let sum = |part: fn(&CommandRow) -> f64| report.commands.iter().map(part).sum::<f64>();
    let mut parts: Vec<(Doing, f64)> = vec![(Doing::WAITING, sum(|c| c.runnable_s.unwrap_or(0.0)))];
    let known = report.commands.iter().all(|c| c.running_user_s.is_some() && c.running_kernel_s.is_some());
    if known {
        parts.push((Doing::Computing, sum(|c| c.running_user_s.unwrap_or(0.0))));
        parts.push((Doing::InKernel, sum(|c| c.running_kernel_s.unwrap_or(0.0))));
    } else {
        parts.push((Doing::Running, sum(|c| c.running_s)));
    }
    for wait in report.waits.iter().filter(|wait| !for_itself(wait.cause)) {
        add(&mut parts, Doing::Blocked(wait.cause), wait.seconds);
    }
    let all: f64 = parts.iter().map(|(_, seconds)| seconds).sum();
    if all > 0.0 { (all, worth(parts, all)) } else { (0.0, Vec::new()) }
}

/// The commands that have the CPU time, at most three; none where there is only one.
fn busiest(report: &TraceReport, look: &Look) -> (Vec<String>, f64) {
    let all: f64 = report.commands.iter().map(|c| c.running_s).sum();
    if report.commands.len() < 2 || all <= 0.0 {
        return (Vec::new(), 0.0);
    }
    let mut rows: Vec<&CommandRow> =
        report.commands.iter().filter(|c| c.running_s / all >= 2.0 * WORTH).collect();
    largest_first(&mut rows, |it| it.running_s);
    rows.truncate(3);
    let words = |c: &&CommandRow| {
        format!("{} ({} of the CPU time)", for_look(&c.command, look), whole_percent(c.running_s / all))
    };
    let mut words: Vec<String> = rows.iter().map(words).collect();
    // Said once is enough.
    words.iter_mut().skip(1).for_each(|word| *word = word.replace(" of the CPU time", ""));
    (words, rows.iter().map(|row| row.running_s).sum::<f64>() / all)
}

fn list(parts: impl IntoIterator<Item = String>) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().collect();
    let (last, others) = parts.split_last()?;
    Some(if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) })
}

/// A cause as what somebody does.
pub(in super::super) fn cause_words(cause: Cause) -> &'static str {
    match cause {
        Cause::PipeEmpty => "waiting for input from a pipe",
        Cause::PipeFull => "waiting for room in a pipe",
        Cause::Child => "waiting for a child",
        Cause::Disk => "waiting for a disk",
        Cause::WriteBack => "waiting until data was on a disk",
        Cause::Lock => "waiting for a lock",
        Cause::Timer => "sleeping until a time",
        Cause::Network => "waiting for the network",
        Cause::Terminal => "waiting for a terminal",
        Cause::Stopped => "being stopped",
        Cause::PageFault => "waiting in a page fault",
        Cause::OtherProcess => "waiting for another process",
        Cause::Other => "waiting for something else",
        Cause::Lost => "blocked, not known on what (records were lost)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_can_be_read() {
        assert_eq!(
            [0, 999, 1000, 20_002, 1_234_567].map(thousands),
            ["0", "999", "1 000", "20 002", "1 234 567"]
        );
        assert_eq!(
            [of(1, "process"), of(2, "process"), of(0, "exec")],
            ["1 process", "2 processes", "0 execs"]
        );
    }

    #[test]
    fn a_list_reads_as_a_sentence() {
        let words = |all: &[&str]| list(all.iter().map(|word| (*word).to_owned()));
        assert_eq!(words(&[]), None);
        assert_eq!(words(&["a"]).as_deref(), Some("a"));
        assert_eq!(words(&["a", "b", "c"]).as_deref(), Some("a, b and c"));
    }
}
