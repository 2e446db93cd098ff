//! The difference by part: of the critical path, of the work, of waiting for a CPU; and the two accounts behind it.

use whyfaster_core::trace::report::{PathKind, SharerKind, WorkKind};
use whyfaster_core::why::report::{Account, PathDelta};
use whyfaster_stats::Estimate;
use whyfaster_words::clean::clean;
use whyfaster_words::grid::{Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::text::wrap_indented;
use whyfaster_words::units::{self, count, digits, time};

use super::super::trace::path::nearly_as_long;
use super::shown::{Shown, ends, labels, shown, signed};

/// Rows of a table at most, and the part of the whole difference below which a row is left out.
const MOST: usize = 8;
const LEAST: f64 = 0.02;

/// The report names time that the observed runs did not have if it is this part of the untraced time or more.
const UNSEEN: f64 = 0.01;

/// The last row where the rows are parts of a whole that was measured.
const WHOLE: &str = "all of it";

type Row = (String, Estimate);

/// The largest rows that matter beside the whole.
fn large(it: &Shown<'_>, mut rows: Vec<Row>, whole: &Estimate) -> Vec<Row> {
    rows.iter_mut().for_each(|(_, estimate)| *estimate = it.told(*estimate));
    rows.retain(|(_, estimate)| estimate.median.abs() >= LEAST * whole.median.abs());
    rows.truncate(MOST);
    rows
}

/// These rows with their last one.
fn table(it: &Shown<'_>, title: &str, what: &str, mut rows: Vec<Row>, last: Row) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    rows.push(last);
    let scale = it.scale(rows.iter().map(|(_, estimate)| estimate.median));
    let grid = Grid {
        key: labels(what, rows.iter().map(|(label, _)| label.clone()), it.look),
        groups: vec![
            Group::in_unit("more", scale.name, &rows, |(_, estimate)| signed(scale, estimate.median)),
            Group::of("interval", &rows, |(_, estimate)| ends(scale, estimate)),
        ],
    };
    it.section(title, grid)
}

/// By what took from the beginning to the end.
pub(super) fn path(it: &Shown<'_>) -> Vec<String> {
    let rows = it.difference.path.iter().map(|delta| (step(delta), delta.seconds)).collect();
    let title = "span: what of the critical path became longer";
    let whole = it.whole();
    table(it, title, "part of the critical path", large(it, rows, &whole), (WHOLE.to_owned(), whole))
}

/// By what the CPUs did.
pub(super) fn work(it: &Shown<'_>) -> Vec<String> {
    let rows =
        it.difference.work.iter().map(|delta| (delta.kind.words().to_owned(), delta.seconds)).collect();
    let whole = it.told(it.difference.work_s);
    let title = "work: what more the CPUs have to do, over all of them";
    let mut lines = table(it, title, "kind of work", large(it, rows, &whole), (WHOLE.to_owned(), whole));
    if !it.difference.deciding.is_empty() && !lines.is_empty() {
        let text = shown(&it.difference.deciding, it.look);
        lines.extend(wrap_indented(&text, it.look.width, 2));
    }
    lines
}

/// By who held the CPU.
pub(super) fn share(it: &Shown<'_>) -> Vec<String> {
    let label = |holder: SharerKind, avoidable: bool| {
        let who = match holder {
            SharerKind::Tree => "behind its own tasks",
            SharerKind::Kernel => "behind kernel threads",
            SharerKind::Other => "behind other programs",
            SharerKind::Tool => "behind whyfaster itself",
            SharerKind::Idle => "until the CPU had woken up",
            SharerKind::Throttled => "the cgroup's quota was used up",
            SharerKind::Steal => "behind the hypervisor",
            SharerKind::Unknown => "behind what was not shown",
        };
        if avoidable { format!("{who}, another CPU was idle") } else { who.to_owned() }
    };
    let share = &it.difference.share;
    let rows: Vec<Row> =
        share.iter().map(|delta| (label(delta.holder, delta.avoidable), delta.seconds)).collect();
    // These are only a part of the difference. Of a sum of medians there is no interval.
    let rows = large(it, rows, &it.whole());
    let sum = Estimate { median: rows.iter().map(|(_, row)| row.median).sum(), low: None, high: None };
    let last = ("sum of these waits".to_owned(), sum);
    table(it, "share: waiting for a CPU on the critical path", "waited", rows, last)
}

/// One line for each of the two: what was observed, and what observing took out.
pub(super) fn accounts(it: &Shown<'_>) -> Vec<String> {
    let (slow, fast) = it.sides();
    let of = |name: &str| it.why.accounts.iter().find(|account| account.alternative == name);
    let line = |account: &Account| {
        let unseen = account.critical_path.iter().filter(|row| row.kind == PathKind::Unobserved);
        let unseen: f64 = unseen.map(|row| row.seconds).sum();
        let cost = match () {
            () if account.own_cost_s > 0.0 => format!(
                "; {} taken out as the cost of observing{}",
                time(account.own_cost_s, it.look.time_unit),
                sampling(account, it.look)
            ),
            // The observed runs met a quieter machine.
            () if unseen >= UNSEEN * account.untraced_s => {
                format!("; where {} of the untraced time went was not seen", time(unseen, it.look.time_unit))
            }
            () => String::new(),
        };
        let cpus = or_absent(account.parallelism, digits);
        let beside = nearly_as_long(&account.critical_alternatives, account.untraced_s, it.look);
        let beside = beside.map(|text| format!("; {text}")).unwrap_or_default();
        let observed = match account.rounds {
            0 => String::new(),
            rounds => {
                let (took, rounds) = (time(account.traced_s, it.look.time_unit), units::rounds(rounds));
                format!(", {took} observed ({rounds}{cost})")
            }
        };
        format!(
            "{}: {} untraced{observed}; CPUs busy on average: {cpus}{beside}",
            it.names.show(&account.alternative),
            time(account.untraced_s, it.look.time_unit),
        )
    };
    let lines = [of(slow), of(fast)].into_iter().flatten().map(line);
    lines.flat_map(|text| wrap_indented(&text, it.look.width, 2)).collect()
}

/// A part of the critical path in words.
fn step(delta: &PathDelta) -> String {
    let what = delta.what.as_deref().map(clean);
    match (delta.kind, what) {
        (PathKind::Kernel, Some(group)) => {
            let kind = WorkKind::from_name(&group).map_or(group, |kind| kind.words().to_owned());
            format!("in the kernel: {kind}")
        }
        (PathKind::CpuWait, _) if delta.waking_up => "until a CPU had woken up".to_owned(),
        (PathKind::Forked, _) => "children before their program begins".to_owned(),
        (PathKind::CpuWait, Some(holder)) => format!("waiting for a CPU behind {holder}"),
        (PathKind::Lock, Some(holder)) => format!("waiting for a lock of {holder}"),
        (PathKind::Outside, Some(other)) => format!("waiting for {other}"),
        (kind, _) => kind.words().to_owned(),
    }
}

/// What of that the samples of the code took.
fn sampling(account: &Account, look: &Look) -> String {
    match account.samples > 0.0 {
        true => {
            let seconds = time(account.sampling_s, look.time_unit);
            format!(", {seconds} of it for {} samples of the code", count(account.samples))
        }
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use whyfaster_stats::Estimate;

    use super::*;

    #[test]
    fn parts_of_the_path_are_called_in_plain_words() {
        let seconds = Estimate { median: 0.1, low: None, high: None };
        let called = |kind, what: Option<&str>| {
            step(&PathDelta { kind, what: what.map(str::to_owned), waking_up: false, seconds })
        };
        let idle = PathDelta { kind: PathKind::CpuWait, what: None, waking_up: true, seconds };
        assert_eq!(step(&idle), "until a CPU had woken up");
        assert_eq!(called(PathKind::CpuWait, Some("awk")), "waiting for a CPU behind awk");
        assert_eq!(called(PathKind::Unobserved, None), "not seen in the observed runs");
        assert_eq!(called(PathKind::Forked, None), "children before their program begins");
    }
}
