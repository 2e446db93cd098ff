//! What the rounds of an experiment say, and what follows for the findings.

use super::experiments::{common, machine, planned};
use super::fixture::Scene;
use crate::trace::report::{PathKind, WorkKind};
use crate::why::cause::Cause;
use crate::why::report::{Experiment, Outcome, Why};
use crate::why::statement::{Because, Fact, MoreCpuTime, Then};
use crate::why::{Shown, conclude, experiments, judge};

/// An experiment with `predicted` 100 ms whose changed runs take so much less.
fn judged(won: &[f64], sure: bool) -> (Why, Experiment) {
    let waits = common().waits("x", PathKind::Sleep, None, 0.1);
    let (why, mut one) = planned((common(), "a"), (waits, "sleep 0.1 && b"));
    (one.predicted_s, one.sure) = (0.1, sure);
    let control: Vec<f64> = vec![0.2; won.len()];
    let changed: Vec<f64> = won.iter().map(|won| 0.2 - won).collect();
    let experiment = judge(&one, &why, &control, &changed);
    (why, experiment)
}

#[test]
fn rounds_decide() {
    let outcome = |won: &[f64], sure| judged(won, sure).1.outcome;
    assert_eq!(outcome(&[0.09, 0.1, 0.11, 0.1, 0.1, 0.1], true), Outcome::Confirmed);
    assert_eq!(outcome(&[0.09, 0.1, 0.11], true), Outcome::Confirmed);
    assert_eq!(outcome(&[0.01, 0.0, 0.02, -0.01, 0.0, 0.01], true), Outcome::Refuted);
    // A change that need not remove the cause refutes nothing.
    assert_eq!(outcome(&[0.01, 0.0, 0.02, -0.01, 0.0, 0.01], false), Outcome::Undecided);
    assert_eq!(outcome(&[0.1, -0.1, 0.1, 0.1, 0.1, 0.1], true), Outcome::Undecided);
    assert_eq!(outcome(&[0.1, 0.1], true), Outcome::Undecided);
    assert_eq!(outcome(&[], true), Outcome::Undecided);
    // More than what was predicted and than the whole difference: something else went too.
    let (_, more) = judged(&[0.15; 7], true);
    assert_eq!(more.outcome, Outcome::Undecided);
    assert_eq!(more.shown, Some(Shown::TooMuch));
    assert_eq!(outcome(&[0.12; 7], true), Outcome::Confirmed);
    let (_, confirmed) = judged(&[0.09, 0.1, 0.11, 0.1, 0.1, 0.1], true);
    assert!(
        (confirmed.won_s.unwrap().median - 0.1).abs() < 1e-9 && confirmed.pace.is_none(),
        "{confirmed:?}"
    );
    let shown = |won: &[f64], sure| judged(won, sure).1.shown.unwrap();
    assert_eq!(shown(&[], true), Shown::NotRun);
    assert_eq!(shown(&[0.1, 0.1], true), Shown::FewRounds);
    assert_eq!(shown(&[0.01, 0.0, 0.02, -0.01, 0.0, 0.01], false), Shown::MayStay);
    assert_eq!(shown(&[0.1, -0.1, 0.1, 0.1, 0.1, 0.1], true), Shown::Unclear);
}

#[test]
fn a_win_of_more_than_this_cause_confirms_nothing() {
    // A tenth of the difference, and the change takes away all of it.
    let both = common().waits("x", PathKind::Sleep, None, 0.01).waits("x", PathKind::Lock, None, 0.09);
    let mut scene = Scene::of(&common().0, &both.0);
    "sleep 0.01; b".clone_into(&mut scene.plan.alternatives[1].command);
    let why = scene.explain();
    let one = experiments(&why, &scene.given(), &machine());
    let one = one.into_iter().find(|it| it.cause == Cause::Sleep).expect("a test of the sleeps");
    let outcome = |won: f64| judge(&one, &why, &[0.2; 7], &[0.2 - won; 7]).outcome;
    assert_eq!(outcome(0.01), Outcome::Confirmed);
    assert_eq!(outcome(0.06), Outcome::Undecided);
    assert_eq!(outcome(0.1), Outcome::Undecided);
    // Nearly the whole difference, and it takes away the whole.
    let (why, mut one) = {
        let waits = common().waits("x", PathKind::Sleep, None, 0.1);
        planned((common(), "a"), (waits, "sleep 0.1 && b"))
    };
    one.predicted_s = 0.085;
    let outcome = |won: f64| judge(&one, &why, &[0.2; 7], &[0.2 - won; 7]).outcome;
    assert_eq!((outcome(0.12), outcome(0.14)), (Outcome::Confirmed, Outcome::Undecided));
    // A part of the cause is not all of it.
    one.predicted_s = 0.045;
    assert_eq!(judge(&one, &why, &[0.2; 7], &[0.155; 7]).outcome, Outcome::Undecided);
    one.predicted_s = 0.05;
    assert_eq!(judge(&one, &why, &[0.2; 7], &[0.1; 7]).outcome, Outcome::Undecided);
}

#[test]
fn a_machine_that_changed_is_said_to_have() {
    let waits = common().waits("x", PathKind::Sleep, None, 0.1);
    let (why, one) = planned((common(), "a"), (waits, "sleep 0.1 && b"));
    let judged = |control: f64, won: f64| judge(&one, &why, &[control; 7], &[control - won; 7]);
    let (same, slower, faster) = (judged(0.21, 0.14), judged(0.3, 0.14), judged(0.1, 0.03));
    assert_eq!(same.pace, None);
    assert_eq!(same.outcome, Outcome::Undecided);
    let pace = slower.pace.unwrap();
    assert!((pace.now_s - 0.3).abs() < 1e-9 && (0.19..0.21).contains(&pace.before_s), "{pace:?}");
    assert_eq!((slower.outcome, faster.outcome), (Outcome::Confirmed, Outcome::Confirmed));
}

#[test]
fn conclusions_go_into_findings_and_the_answer() {
    let (mut why, experiment) = judged(&[0.09, 0.1, 0.11, 0.1, 0.1, 0.1], true);
    conclude(&mut why, vec![experiment]);
    assert_eq!(why.findings[0].confirmed, Some(true));
    assert_eq!(why.answer.unwrap().then, Some(Then::Experiment { experiment: 0 }));
    let (mut why, experiment) = judged(&[0.0; 7], true);
    conclude(&mut why, vec![experiment]);
    // What was refuted is no cause: its seconds are unexplained.
    let [rest] = &why.findings[..] else { panic!("{:#?}", why.findings) };
    assert_eq!((rest.cause, rest.alternative.as_str()), (Cause::Unexplained, "b"));
    assert!(
        (rest.seconds - why.differences[0].span_s.median).abs() < 1e-9 && (rest.share - 1.0).abs() < 1e-9
    );
    assert_eq!(rest.fact, Some(Fact::Refuted { cause: Cause::Sleep }));
    assert_eq!(why.experiments[0].outcome, Outcome::Refuted);
    let answer = why.answer.unwrap();
    assert!(matches!(answer.because, Because::Waits { .. }), "{answer:?}");
    assert!(!matches!(answer.then, Some(Then::Experiment { .. })), "{answer:?}");
}

#[test]
fn what_was_refuted_is_not_said_in_other_words() {
    // 'b' needs 0.1 s more CPU time for making processes, and putting as many into 'a' won nothing.
    let makes = |n: u64, s: f64| common().makes(n, 0).runs("sh", WorkKind::Process, s, n);
    let (mut why, one) = planned((makes(1, 0.001), "a"), (makes(100, 0.1), "b"));
    assert_eq!((why.findings[0].cause, one.sure), (Cause::Processes, true), "{why:#?}");
    let experiment = judge(&one, &why, &[0.2; 7], &[0.2; 7]);
    conclude(&mut why, vec![experiment]);
    assert_eq!(why.experiments[0].outcome, Outcome::Refuted);
    assert!(matches!(why.answer.unwrap().because, Because::MoreWork(MoreCpuTime { on: None, .. })));
    let decides = why.differences[0].decides.as_ref().unwrap();
    assert!(!decides.kinds.contains(&WorkKind::Process), "{decides:?}");
}

#[test]
fn of_several_pairs_with_one_cause_the_one_that_was_tested_is_concluded() {
    let (mut why, experiment) = judged(&[0.09, 0.1, 0.11, 0.1, 0.1, 0.1], true);
    // The other pair's seconds are what was predicted, and these are not.
    let mut other = why.findings[0].clone();
    (other.alternative, other.seconds) = ("c".to_owned(), experiment.predicted_s);
    why.findings[0].seconds = 3.0 * experiment.predicted_s;
    why.findings.insert(0, other);
    let confirmed = |why: &Why| why.findings.iter().map(|it| it.confirmed).collect::<Vec<_>>();
    let mut concluded = why.clone();
    conclude(&mut concluded, vec![experiment.clone()]);
    assert_eq!(confirmed(&concluded), [None, Some(true)]);
    // The changed one is the faster one of both.
    let put_in = Experiment { alternative: "a".to_owned(), ..experiment };
    let mut concluded = why.clone();
    conclude(&mut concluded, vec![put_in.clone()]);
    assert_eq!(confirmed(&concluded), [None, Some(true)]);
    // A record of before does not say which pair.
    conclude(&mut why, vec![Experiment { slower: None, faster: None, ..put_in }]);
    assert_eq!(confirmed(&why), [Some(true), None]);
}
