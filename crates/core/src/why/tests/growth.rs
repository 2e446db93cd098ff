//! What grows with load, by kind of work: from observed batches beside observed runs of one copy.

use super::fixture::{Scene, Trace, stolen};
use crate::sample::{Arm, Batch};
use crate::trace::TraceReport;
use crate::trace::counts::OwnCost;
use crate::trace::report::WorkKind;
use crate::why::report::{Evidence, Growth, TracedBatch};
use crate::why::statement::{GrowsIn, KindsUnknown, Measure, Trend};
use crate::why::{ExplainInput, explain};

/// One copy: 80 ms of its own code, 10 ms in pipes, 10 ms in processes.
fn alone(pipe_s: f64) -> TraceReport {
    Trace::new()
        .runs("x", WorkKind::User, 0.08, 0)
        .runs("x", WorkKind::Pipe, pipe_s, 1000)
        .runs("x", WorkKind::Process, 0.01, 10)
        .0
}

/// Ten copies, each like this one.
fn ten(one: &TraceReport) -> TraceReport {
    let mut report = one.clone();
    report.work.iter_mut().for_each(|row| row.seconds *= 10.0);
    report
}

/// Two alternatives at 1 and 10 copies; untraced, a copy of 'b' takes `cpu_s` among ten. The observed batch is `batch`.
fn scene(cpu_s: f64, batch: TraceReport) -> Scene {
    let mut scene = Scene::of(&alone(0.01), &alone(0.02));
    let at_ten = |batch: &Batch| {
        let cpu_s = if batch.arm == Arm::Alternative(1) { cpu_s } else { 0.1 };
        let mut batch = Batch { load: 10, makespan_s: 5.0 * cpu_s, ..batch.clone() };
        batch.copies = crate::sample::Copies {
            start_s: vec![0.0; 10],
            wall_s: vec![5.0 * cpu_s; 10],
            user_s: vec![cpu_s; 10],
            system_s: vec![0.0; 10],
            max_rss_bytes: vec![1; 10],
            voluntary_switches: vec![1; 10],
            involuntary_switches: vec![1; 10],
            status: vec![0; 10],
            timed_out: vec![false; 10],
            counters: None,
        };
        batch
    };
    let more: Vec<Batch> = scene.batches.iter().map(at_ten).collect();
    scene.batches.extend(more);
    scene.traced_batches =
        vec![TracedBatch { alternative: 1, load: 10, round: 0, report: batch, own: OwnCost::default() }];
    scene.analyse();
    scene
}

fn of_b(scene: &Scene) -> Growth {
    let why = scene.explain();
    // Batches are no rounds of one copy: all but growth is explained as if there were none.
    let mut without = explain(&ExplainInput { traced_batches: &[], ..scene.given() });
    without.growth.clone_from(&why.growth);
    assert_eq!(without, why);
    why.growth.into_iter().find(|it| it.alternative == "b").unwrap()
}

/// The rows of kinds of work.
fn kinds(growth: &Growth) -> Vec<&Evidence> {
    growth.grows.iter().filter(|it| matches!(it.measure, Some(Measure::CopyWork { .. }))).collect()
}

#[test]
fn the_kind_that_grows_is_named() {
    // From 20 ms in pipes to 70 ms, all else the same.
    let growth = of_b(&scene(0.16, ten(&alone(0.07))));
    assert_eq!((growth.lowest, growth.highest, growth.kinds_unknown), (1, 10, None));
    let [row] = kinds(&growth)[..] else { panic!("{growth:?}") };
    assert_eq!(row.measure, Some(Measure::CopyWork { on: WorkKind::Pipe }));
    assert!((row.here - 0.02).abs() < 1e-3 && (row.there - 0.07).abs() < 1e-3 && row.unit == "s", "{row:?}");
    let most = growth.cost.unwrap().most;
    assert_eq!(most, Some(GrowsIn::Kernel { on: Some(WorkKind::Pipe), also: None }));
}

#[test]
fn what_the_hypervisor_took_from_the_batch_hides_no_kind() {
    let most = |batch| of_b(&scene(0.16, batch)).cost.unwrap().most;
    let batch = stolen(&ten(&alone(0.07)), 0.5);
    assert_eq!(most(batch.clone()), Some(GrowsIn::Kernel { on: Some(WorkKind::Pipe), also: None }));
    // Of which nobody says that it was stolen.
    let unknown = TraceReport { avoidable: None, ..batch };
    assert_ne!(most(unknown), Some(GrowsIn::Kernel { on: Some(WorkKind::Pipe), also: None }));
}

#[test]
fn what_the_observing_may_have_changed_is_not_named() {
    // The observed batch took twice the CPU time, and no calibration says why.
    let growth = of_b(&scene(0.12, ten(&alone(0.15))));
    assert!(kinds(&growth).is_empty(), "{growth:?}");
    assert!(matches!(growth.kinds_unknown, Some(KindsUnknown::Uncertain { .. })), "{growth:?}");
}

#[test]
fn where_nothing_grows_no_kind_is_missed() {
    let growth = of_b(&scene(0.11, ten(&alone(0.15))));
    assert_eq!((growth.cost.unwrap().trend, growth.kinds_unknown), (Trend::Stays, None));
}

#[test]
fn a_batch_that_lost_records_tells_nothing() {
    let mut batch = ten(&alone(0.07));
    batch.lost.ring = 1;
    let growth = of_b(&scene(0.16, batch));
    assert_eq!(growth.kinds_unknown, Some(KindsUnknown::Lossy));
    // A batch of another load than the highest says nothing of the highest.
    let mut scene = scene(0.16, ten(&alone(0.07)));
    scene.traced_batches[0].load = 5;
    assert_eq!(of_b(&scene).kinds_unknown, None);
    assert!(!matches!(of_b(&scene).cost.unwrap().most, Some(GrowsIn::Kernel { on: Some(_), .. })));
}
