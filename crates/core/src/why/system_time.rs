//! System time is no own code. A tracer sees a call between two points within the kernel. The ways to the first and from the second look like
//! user code, and so does a part of what observing costs; the kernel's account of the timed runs has all of it as system time.

use std::collections::BTreeMap;

use super::input::Untraced;
use super::kinds::is_calls;
use super::own_cost::Run;
use crate::trace::command::CommandName;
use crate::trace::report::{PathKind, PathRow, WorkKind, WorkRow};

/// The kernel says by its ticks what was user code, and a run without a tick in the kernel counts as all user code. Two ticks of the
/// slowest clock that kernels are built with (CONFIG_HZ_100).
pub(super) const TOLD_APART_S: f64 = 0.02;

/// The ways into a call and out of it take less than this together, seconds.
const MOST_AROUND_S: f64 = 1e-6;

/// The part of the CPU time that is user time. `None`: the runs are too short to tell it.
pub(super) fn user_part(untraced: &[Untraced], cpu_s: Option<f64>) -> Option<f64> {
    cpu_s.filter(|cpu_s| *cpu_s >= TOLD_APART_S)?;
    // A run has a few ticks, and all of them together have many.
    let (user_s, all_s) =
        untraced.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.user_s, sum.1 + it.cpu_s.unwrap_or(0.0)));
    (all_s > 0.0).then(|| user_s / all_s)
}

/// Gives user code beyond the user time of the timed runs to the calls, in proportion to their number. `user` is that time's part of all CPU time.
pub(super) fn out_of_own_code(run: &mut Run<'_>, user: f64) {
    let all: f64 = run.work.iter().map(|row| row.seconds).sum();
    let own: f64 = own_code(&run.work).map(|row| row.seconds).sum();
    let beyond = own - user * all;
    if beyond <= 0.0 {
        return;
    }
    let mut moved: BTreeMap<CommandName, (f64, Vec<(WorkKind, f64)>)> = BTreeMap::new();
    for row in own_code(&run.work) {
        let calls: Vec<(WorkKind, f64)> = run
            .work
            .iter()
            .filter(|it| it.command == row.command && is_calls(it.kind))
            .map(|it| (it.kind, it.count.unwrap_or(0) as f64))
            .collect();
        let number: f64 = calls.iter().map(|(_, count)| count).sum();
        let seconds = (beyond * row.seconds / own).min(number * MOST_AROUND_S);
        if seconds > 0.0 {
            let shares = calls.into_iter().map(|(kind, count)| (kind, seconds * count / number)).collect();
            moved.insert(row.command.clone(), (seconds / row.seconds, shares));
        }
    }
    for (command, (part, shares)) in &moved {
        move_work(&mut run.work, command, *part, shares);
        move_path(&mut run.path, command, *part, shares);
    }
}

fn own_code(rows: &[WorkRow]) -> impl Iterator<Item = &WorkRow> {
    rows.iter().filter(|row| row.kind == WorkKind::User && row.seconds > 0.0)
}

fn move_work(rows: &mut [WorkRow], command: &CommandName, part: f64, shares: &[(WorkKind, f64)]) {
    for row in rows.iter_mut().filter(|row| row.command == *command) {
        if row.kind == WorkKind::User {
            row.seconds *= 1.0 - part;
        }
        row.seconds += shares.iter().filter(|(kind, _)| *kind == row.kind).map(|it| it.1).sum::<f64>();
    }
}

/// The same part of what is on the path.
fn move_path(rows: &mut Vec<PathRow>, command: &CommandName, part: f64, shares: &[(WorkKind, f64)]) {
    let mut seconds = 0.0;
    for row in rows.iter_mut().filter(|row| row.command == *command && row.kind == PathKind::User) {
        seconds += row.seconds * part;
        row.seconds *= 1.0 - part;
    }
    let all: f64 = shares.iter().map(|it| it.1).sum();
    for (kind, share) in shares.iter().filter(|it| it.1 > 0.0) {
        let more = seconds * share / all;
        let of_it = |row: &&mut PathRow| {
            row.command == *command
                && row.kind == PathKind::Kernel
                && row.what.as_deref() == Some(kind.name())
        };
        match rows.iter_mut().find(of_it) {
            Some(row) => row.seconds += more,
            None => rows.push(PathRow {
                what: Some(kind.name().to_owned()),
                ..PathRow::of(command.clone(), PathKind::Kernel, more)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::cause::Cause;
    use crate::why::statement::Fact;
    use crate::why::tests::fixture::{Scene, Trace};

    /// 'b' makes a million calls. The tracer sees 60 ms within them and 100 ms of user code; the kernel has 62 ms of user time.
    fn million(name: &str, error: Option<&str>) -> Scene {
        let kind = WorkKind::of_call(name);
        let calls = |n: u64, within: f64, user: f64| {
            let trace = Trace::new().runs("x", WorkKind::User, user, 0).runs("x", kind, within, n);
            if error.is_some() { trace.fails("x", name, n, 0.0) } else { trace.calls("x", name, n) }
        };
        let mut scene = Scene::of(&calls(1_000, 0.0001, 0.001).0, &calls(1_000_000, 0.06, 0.1).0);
        for batch in &mut scene.batches {
            let cpu_s = batch.copies.user_s[0];
            batch.copies.system_s[0] = cpu_s * 0.61;
            batch.copies.user_s[0] = cpu_s * 0.39;
        }
        scene.analyse();
        scene
    }

    #[test]
    fn calls_that_do_little_are_named_and_have_the_kernels_time() {
        for (name, error) in [("close", Some("ENOENT")), ("getppid", None)] {
            let why = million(name, error).explain();
            let found = &why.findings[0];
            assert_eq!(found.cause, Cause::Calls, "{name}: {:#?}", why.findings);
            let Some(Fact::Calls { call, error: told, number }) = &found.fact else { panic!("{found:#?}") };
            assert_eq!((call.as_deref(), told.as_deref()), (Some(name), error));
            assert_eq!(number.here - number.there, 999_000.0);
            // All of the system time, and what is around a call in user code.
            assert!(found.seconds > 0.095 && found.share > 0.6, "{found:#?}");
            // No more is own code than the kernel says.
            let own = why.findings.iter().find(|it| it.cause == Cause::Compute).map_or(0.0, |it| it.seconds);
            assert!(own <= 0.063, "{:#?}", why.findings);
        }
    }

    #[test]
    fn own_code_within_the_user_time_stays_own_code() {
        let mut scene = million("close", None);
        for batch in &mut scene.batches {
            batch.copies.user_s[0] += batch.copies.system_s[0];
            batch.copies.system_s[0] = 0.0;
        }
        scene.analyse();
        let why = scene.explain();
        let of = |cause| why.findings.iter().find(|it| it.cause == cause).map_or(0.0, |it| it.seconds);
        // 50 ns of each call.
        assert!((of(Cause::Compute) - 0.05).abs() < 0.005, "{:#?}", why.findings);
        assert!((of(Cause::Calls) - 0.11).abs() < 0.005, "{:#?}", why.findings);
    }
}
