//! It has more work with files in the kernel: their names, their attributes, their data.

use super::definition::{About, BASE, Definition, in_kernel};
use crate::trace::report::WorkKind;
use crate::why::experiments::Untestable;
use crate::why::report::Account;
use crate::why::statement::{Fact, Measure, Pair};

const KINDS: [WorkKind; 2] = [WorkKind::FileMetadata, WorkKind::FileData];

pub(super) const DEFINITION: Definition = Definition {
    on_path: |row, _| in_kernel(row, &KINDS),
    in_work: |row, _| KINDS.contains(&row.kind),
    by_work: true,
    counted: &[(Measure::NameCalls, |it| it.names), (Measure::FileData, |it| it.file.bytes)],
    fact,
    change: |_| Err(Untestable::Files),
    ..BASE
};

/// Whether it is the names or the data that cost more.
fn fact(it: &About<'_>) -> Fact {
    let spent = |account: &Account, kind| -> f64 {
        account.work.iter().filter(|row| row.kind == kind).map(|row| row.seconds).sum()
    };
    let more = |kind| spent(it.accounts.0, kind) - spent(it.accounts.1, kind);
    let calls = Pair { here: it.slow.names, there: it.fast.names };
    // Without observed runs there are counts only.
    let names = match it.accounts.0.work.is_empty() {
        true => calls.here > calls.there,
        false => more(WorkKind::FileMetadata) > more(WorkKind::FileData),
    };
    Fact::Files { names: names.then_some(calls), command: it.command() }
}
