//! It computes more in user code.

use super::definition::{About, BASE, Definition, Seen};
use crate::trace::report::{PathKind, WorkKind};
use crate::why::experiments::Untestable;
use crate::why::facts::Side;
use crate::why::report::Account;
use crate::why::statement::{Fact, Measure, Pair};

/// So many times as many starts of one program are a loop around it, and no second stage of a pipeline.
const MORE_STARTS: f64 = 3.0;

/// Part of the computing that must be what each start repeats.
const REPEATED: f64 = 0.5;

pub(super) const DEFINITION: Definition = Definition {
    on_path: |row, children| row.kind == PathKind::User || children && row.kind == PathKind::Forked,
    in_work: |row, children| if row.command.is_forked() { children } else { row.kind == WorkKind::User },
    by_work: true,
    in_code: true,
    seen: Seen::CpuTime,
    timed: true,
    counted: &[(Measure::CpuTime, |it| it.cpu_s)],
    fact,
    change: |_| Err(Untestable::Computes),
    ..BASE
};

fn fact(it: &About<'_>) -> Fact {
    let command = it.command();
    let starts = command.as_deref().and_then(|command| repeated(it, command));
    Fact::Compute { command, starts }
}

/// How often each side starts this program, where the slower one does so more often, and each start computes about what one of the
/// other side does: a loop around a program that would do all in one go.
fn repeated(it: &About<'_>, command: &str) -> Option<Pair> {
    let starts = |side: &Side| side.starts.get(command).map_or(0.0, |it| it.0);
    let (here, there) = (starts(it.slow), starts(it.fast));
    let computes = |account: &Account| -> f64 {
        let rows =
            account.work.iter().filter(|row| row.kind == WorkKind::User && row.command.program() == command);
        rows.map(|row| row.seconds).sum()
    };
    let each_s = (computes(it.accounts.0) / here).min(computes(it.accounts.1) / there);
    let more = there >= 1.0 && here >= MORE_STARTS * there;
    (more && each_s * (here - there) >= REPEATED * it.seconds).then_some(Pair { here, there })
}
