//! The difference of two alternatives as rows of the document: path, work and share, by kind, paired by round.

use std::collections::{BTreeMap, BTreeSet};

use super::account::Alternative;
use super::input::Untraced;
use super::kinds::is_calls;
use super::medians::{estimate, of_rounds};
use super::own_cost::Run;
use super::report::{PathDelta, ShareDelta, WorkDelta};
use super::rules::AROUND_A_CALL_S;
use crate::trace::report::{PathKind, SharerKind, WorkKind, WorkRow};
use whyfaster_stats::Estimate;
use whyfaster_stats::looks::Precision;
use whyfaster_stats::order::largest_first;

/// Differences of the sums by key, over the rounds in which both ran; the largest first.
fn deltas<K: Ord + Clone>(
    alternative: &Alternative<'_>,
    baseline: &Alternative<'_>,
    precision: Precision,
    sums: impl Fn(&Run<'_>) -> BTreeMap<K, f64>,
) -> Vec<(K, Estimate)> {
    let by_round = |side: &Alternative<'_>| -> BTreeMap<u32, BTreeMap<K, f64>> {
        side.runs.iter().map(|run| (run.round, sums(run))).collect()
    };
    let (here, there) = (by_round(alternative), by_round(baseline));
    let pairs: Vec<_> = here.iter().filter_map(|(round, sums)| Some((sums, there.get(round)?))).collect();
    let keys: BTreeSet<&K> = pairs.iter().flat_map(|(a, b)| a.keys().chain(b.keys())).collect();
    let get = |sums: &BTreeMap<K, f64>, key: &K| sums.get(key).copied().unwrap_or(0.0);
    let of = |key: &K| pairs.iter().map(|(a, b)| get(a, key) - get(b, key)).collect::<Vec<_>>();
    let mut rows: Vec<(K, Estimate)> =
        keys.into_iter().map(|key| (key.clone(), of_rounds(&of(key), precision))).collect();
    rows.retain(|(_, seconds)| seconds.median != 0.0);
    largest_first(&mut rows, |it| it.1.median.abs());
    rows
}

pub(super) fn path(
    alternative: &Alternative<'_>,
    baseline: &Alternative<'_>,
    precision: Precision,
) -> Vec<PathDelta> {
    let sums = |run: &Run<'_>| {
        let mut sums: BTreeMap<(PathKind, Option<String>, bool), f64> = BTreeMap::new();
        for row in &run.path {
            let waking_up = row.holder == Some(SharerKind::Idle);
            *sums.entry((row.kind, row.what.clone(), waking_up)).or_default() += row.seconds;
        }
        sums
    };
    let row = |((kind, what, waking_up), seconds)| PathDelta { kind, what, waking_up, seconds };
    deltas(alternative, baseline, precision, sums).into_iter().map(row).collect()
}

pub(super) fn work(
    alternative: &Alternative<'_>,
    baseline: &Alternative<'_>,
    precision: Precision,
) -> Vec<WorkDelta> {
    let sums = |run: &Run<'_>| {
        let mut sums: BTreeMap<WorkKind, f64> = BTreeMap::new();
        for row in &run.work {
            *sums.entry(row.kind).or_default() += row.seconds;
        }
        around_calls(&mut sums, &run.work);
        sums
    };
    let row = |(kind, seconds)| WorkDelta { kind, seconds };
    deltas(alternative, baseline, precision, sums).into_iter().map(row).collect()
}

/// The way into system calls and out of them belongs to the kinds of the calls. A tracer sees it as user code, of which it is
/// at most all.
fn around_calls(sums: &mut BTreeMap<WorkKind, f64>, work: &[WorkRow]) {
    let around: Vec<(WorkKind, f64)> = (work.iter())
        .filter(|row| is_calls(row.kind))
        .map(|row| (row.kind, row.count.unwrap_or(0) as f64 * AROUND_A_CALL_S))
        .collect();
    let all: f64 = around.iter().map(|(_, seconds)| seconds).sum();
    let user = sums.get(&WorkKind::User).copied().unwrap_or(0.0).max(0.0);
    if all <= 0.0 || user <= 0.0 {
        return;
    }
    let part = (user / all).min(1.0);
    for (kind, seconds) in around {
        *sums.entry(kind).or_default() += seconds * part;
    }
    *sums.entry(WorkKind::User).or_default() -= all * part;
}

pub(super) fn share(
    alternative: &Alternative<'_>,
    baseline: &Alternative<'_>,
    precision: Precision,
) -> Vec<ShareDelta> {
    let sums = |run: &Run<'_>| {
        let mut sums: BTreeMap<(SharerKind, bool), f64> = BTreeMap::new();
        for row in run.path.iter().filter(|row| row.kind == PathKind::CpuWait) {
            let holder = row.holder.unwrap_or(SharerKind::Unknown);
            let avoidable = (row.avoidable_s + row.but_for_affinity_s).min(row.seconds);
            *sums.entry((holder, true)).or_default() += avoidable;
            *sums.entry((holder, false)).or_default() += row.seconds - avoidable;
        }
        sums
    };
    let row = |((holder, avoidable), seconds)| ShareDelta { holder, avoidable, seconds };
    deltas(alternative, baseline, precision, sums).into_iter().map(row).collect()
}

/// Difference of the untraced runs, paired by round. `None` without a round in which both have the number.
pub(super) fn untraced(
    alternative: &[Untraced],
    baseline: &[Untraced],
    alpha: f64,
    of: impl Fn(&Untraced) -> Option<f64>,
) -> Option<Estimate> {
    let there: BTreeMap<u32, f64> = baseline.iter().filter_map(|it| Some((it.round, of(it)?))).collect();
    let pair = |it: &Untraced| Some(of(it)? - there.get(&it.round)?);
    let values: Vec<f64> = alternative.iter().filter_map(pair).collect();
    (!values.is_empty()).then(|| estimate(&values, alpha))
}

#[cfg(test)]
mod tests {
    use crate::trace::report::WorkKind;
    use crate::why::tests::fixture::{Scene, Trace};

    #[test]
    fn the_way_into_calls_belongs_to_them() {
        let reads = |n: u64, user: f64| {
            Trace::new().runs("dd", WorkKind::User, user, 0).runs("dd", WorkKind::FileData, 0.01, n)
        };
        let rows = |user| {
            let difference =
                Scene::of(&reads(10, 0.1).0, &reads(200_010, user).0).explain().differences.remove(0);
            let of =
                |kind| difference.work.iter().find(|it| it.kind == kind).map_or(0.0, |it| it.seconds.median);
            (of(WorkKind::User), of(WorkKind::FileData))
        };
        // 200,000 calls of 250 ns.
        let (user, file) = rows(0.19);
        assert!((user - 0.04).abs() < 0.004 && (file - 0.05).abs() < 0.004, "{user} {file}");
    }
}
