//! When nothing may be explained.

use super::fixture::{Scene, Trace};
use crate::plan::Mode;
use crate::trace::event::FileKind;
use crate::trace::report::{Direction, WorkKind};
use crate::why::cause::Cause;
use crate::why::statement::{Because, Refusal, Then};

fn computes(seconds: f64) -> Trace {
    Trace::new().runs("x", WorkKind::User, seconds, 0)
}

fn refused(scene: &Scene) -> Refusal {
    let why = scene.explain();
    assert!(why.findings.is_empty() || why.differences.iter().all(|it| it.by_counts), "{:#?}", why.findings);
    let [refusal] = &why.refusals[..] else { panic!("{:?}", why.refusals) };
    refusal.clone()
}

#[test]
fn no_copy_alone() {
    let mut scene = Scene::of(&computes(0.1).0, &computes(0.2).0);
    scene.plan.mode = Mode::Open { rate_per_s: 1.0, duration_s: 1.0 };
    assert_eq!(refused(&scene), Refusal::NoCopyAlone);
}

#[test]
fn traces_with_losses() {
    let mut scene = Scene::of(&computes(0.1).0, &computes(0.2).0);
    for it in scene.traced.iter_mut().filter(|it| it.alternative == 1) {
        it.report.lost.ring = 3;
    }
    assert_eq!(refused(&scene), Refusal::Lossy { of: "b".to_owned(), lossy: 7, all: true });
    // A few with losses are left out.
    scene.traced.iter_mut().filter(|it| it.round > 1).for_each(|it| it.report.lost.ring = 0);
    let why = scene.explain();
    assert_eq!((why.refusals, why.accounts[1].rounds), (Vec::new(), 5));
}

#[test]
fn of_several_only_those_that_differ_were_to_be_observed() {
    let of = |third: f64| Scene::of(&computes(0.1).0, &computes(0.2).0).with("c", (third, third));
    let why = of(0.1).explain();
    assert_eq!((why.refusals.len(), why.differences.len(), &*why.differences[0].alternative), (0, 1, "b"));
    assert!(why.findings.iter().all(|it| it.alternative == "b"), "{:#?}", why.findings);
    // Of one that differs it is missed.
    let why = of(0.3).explain();
    assert_eq!(why.refusals, [Refusal::NoTrace { of: "c".to_owned() }]);
}

#[test]
fn observed_in_the_other_order() {
    let scene = Scene::untraced(&computes(0.3).0, &computes(0.25).0, (0.1, 0.1), (0.2, 0.2));
    assert!(matches!(refused(&scene), Refusal::OtherOrder { .. }));
}

#[test]
fn a_cost_of_observing_that_nobody_can_place() {
    // 'b' is 10 ms slower, and becomes 100 ms slower by being observed: its calls are many, and the calibration knows of no cost.
    let calls = |seconds| computes(seconds).runs("x", WorkKind::FileData, 0.001, 10_000);
    let scene = Scene::untraced(&computes(0.1).0, &calls(0.21).0, (0.1, 0.1), (0.11, 0.11));
    assert!(matches!(refused(&scene), Refusal::DearerToObserve { .. }), "{:?}", refused(&scene));
    // Without a call or switch it is the CPU that was slower meanwhile, and the timed runs say what takes longer.
    let why = Scene::untraced(&computes(0.1).0, &computes(0.21).0, (0.1, 0.1), (0.11, 0.11)).explain();
    assert_eq!(why.refusals, []);
    assert!(why.findings.iter().all(|it| it.cause == Cause::Unexplained), "{:#?}", why.findings);
    let Because::MoreWork(work) = why.answer.unwrap().because else { panic!("{:#?}", why.differences) };
    assert!((work.seconds - 0.01).abs() < 0.001, "{work:?}");
}

#[test]
fn counts_name_the_cause_of_a_large_difference_whatever_observing_cost() {
    // 'b' takes ten times as long, all of it CPU time, and fifty times when it is observed, which no calibration tells.
    let reads = |n: u64, seconds: f64| {
        let trace =
            Trace::new().runs("x", WorkKind::User, seconds, 0).runs("x", WorkKind::FileData, seconds, n);
        trace.moves(FileKind::File, Direction::Read, n, 1_000_000)
    };
    let of =
        |cpu: f64| Scene::untraced(&reads(10, 0.005).0, &reads(1_000_000, 0.25).0, (0.01, 0.01), (0.1, cpu));
    let why = of(0.1).explain();
    assert_eq!(why.refusals, []);
    assert_eq!(why.findings[0].cause, Cause::SmallIo, "{:#?}", why.findings);
    assert!(why.findings[0].seconds <= 0.1);
    assert!(why.differences[0].dearer_to_observe_s.is_some_and(|cost_s| cost_s > 0.09));
    assert!(matches!(why.answer.unwrap().then, Some(Then::ByCounts { .. })));
    // CPU time does not show it.
    assert!(matches!(refused(&of(0.02)), Refusal::DearerToObserve { .. }));
}

#[test]
fn no_finding_is_smaller_than_the_cost_that_nobody_can_place() {
    // Of 'b', 30 ms of observing are not placed: more than the 20 ms of sleep, less than the 60 ms of computing.
    let b = computes(0.19).waits("x", crate::trace::report::PathKind::Sleep, None, 0.02);
    let why = Scene::untraced(&computes(0.1).0, &b.0, (0.1, 0.1), (0.18, 0.16)).explain();
    let causes: Vec<_> = why.findings.iter().map(|it| it.cause).collect();
    assert_eq!(causes, [Cause::Compute, Cause::Unexplained], "{why:#?}");
}

#[test]
fn a_cost_that_the_calibration_places_is_taken_out() {
    // The same with 50,000 calls that became 2 us dearer each.
    let calls = |n: u64| {
        Trace::new().runs("x", WorkKind::User, 0.1, 0).runs("x", WorkKind::FileData, 0.1 + 2e-6 * n as f64, n)
    };
    let mut scene = Scene::untraced(&calls(0).0, &calls(50_000).0, (0.2, 0.2), (0.21, 0.21));
    scene.traced.iter_mut().for_each(|it| it.own.call_ns = Some(2000.0));
    assert_eq!(scene.explain().refusals, []);
}

#[test]
fn two_observed_rounds_have_no_interval_and_three_have_one() {
    let mut scene = Scene::of(&computes(0.1).0, &computes(0.2).0);
    scene.traced.retain(|it| it.round < 3);
    let [finding] = &scene.explain().findings[..] else { panic!("one finding") };
    let (low, high) = (finding.low.unwrap(), finding.high.unwrap());
    assert!(low > 0.0 && low <= finding.seconds && finding.seconds <= high, "{low} {high}");
    scene.traced.retain(|it| it.round < 2);
    assert_eq!(scene.explain().findings[0].low, None);
}

#[test]
fn without_traces_there_are_predictions_only() {
    let mut scene = Scene::of(&computes(0.1).0, &computes(0.2).0);
    scene.traced.clear();
    let why = scene.explain();
    assert!(why.refusals.is_empty() && why.accounts.is_empty() && !why.predictions.is_empty());
}
