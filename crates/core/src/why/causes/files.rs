//! It has more work with files in the kernel: their names, their attributes, their data.

use super::definition::{About, BASE, Definition, Seen, in_kernel};
use crate::trace::report::WorkKind;
use crate::why::experiments::Untestable;
use crate::why::facts::Side;
use crate::why::report::Account;
use crate::why::statement::{Fact, Measure, OneFile, Pair};

const KINDS: [WorkKind; 3] = [WorkKind::FileMetadata, WorkKind::Descriptor, WorkKind::FileData];

pub(super) const DEFINITION: Definition = Definition {
    on_path: |row, _| in_kernel(row, &KINDS),
    in_work: |row, _| KINDS.contains(&row.kind),
    by_work: true,
    seen: Seen::CpuTime,
    counted: &[(Measure::NameCalls, |it| it.names), (Measure::FileData, |it| it.file.bytes)],
    fact,
    change: |_| Err(Untestable::Files),
    ..BASE
};

/// A file that was opened is closed: calls on descriptors belong to it, unless there are more of them than calls for names.
pub(in crate::why) fn closes_what_it_opens((slow, fast): (&Side, &Side)) -> bool {
    slow.descriptors - fast.descriptors <= slow.names - fast.names
}

/// It is the names or the data that cost more.
fn fact(it: &About<'_>) -> Fact {
    let spent = |account: &Account, kind| -> f64 {
        account.work.iter().filter(|row| row.kind == kind).map(|row| row.seconds).sum()
    };
    let more = |kind| spent(it.accounts.0, kind) - spent(it.accounts.1, kind);
    let calls = Pair { here: it.slow.names, there: it.fast.names };
    // Without observed runs there are counts only.
    let names = match it.accounts.0.work.is_empty() {
        true => calls.here > calls.there,
        false => more(WorkKind::FileMetadata) + more(WorkKind::Descriptor) > more(WorkKind::FileData),
    };
    let parts = KINDS.map(|kind| more(kind).max(0.0));
    let data = parts[2] / parts.iter().sum::<f64>();
    let file = if names { None } else { most(it, data) };
    Fact::Files { names: names.then_some(calls), command: it.command(), file }
}

/// A file with this part of a cause is named.
const HALF: f64 = 0.5;

/// The file that takes most of the additional time. `data`: the part of the cause that the data of all files is.
fn most(it: &About<'_>, data: f64) -> Option<OneFile> {
    let (slow, fast) = (&it.slow.files, &it.fast.files);
    let more = |(place, seconds): (&_, &f64)| seconds - fast.get(place).copied().unwrap_or(0.0);
    let all: f64 = slow.iter().map(|file| more(file).max(0.0)).sum();
    let most = slow.iter().max_by(|a, b| more(*a).total_cmp(&more(*b))).filter(|_| it.observed)?;
    let share = data * more(most) / all;
    let (direction, path) = most.0;
    let path = path.as_ref().filter(|_| share >= HALF)?.clone();
    Some(OneFile { direction: *direction, path, share })
}
