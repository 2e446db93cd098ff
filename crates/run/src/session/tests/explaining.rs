//! Explanations on a simulated machine, which replays stored streams.

use whyfaster_core::plan::Explain;
use whyfaster_core::trace::counts::Lost;
use whyfaster_core::trace::event::{Event as Seen, Left, TaskKind, What};
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_core::trace::stored::{Recorder, Stored};
use whyfaster_core::why::report::{Experiment, Outcome as Decided};
use whyfaster_core::why::statement::{LeftOut, Refusal};

use super::ends::Trouble;
use super::*;

/// The stream of a command, recorded once.
fn stored() -> Stored {
    let text = include_str!("../../../../../tests/records/0.1.0-trace.json");
    let record: TraceRecord = serde_json::from_str(text).unwrap();
    record.schedule.expect("it was recorded with its schedule")
}

/// Two commands, whose observed runs look like that one.
fn observable(plan: &Plan, seconds: [f64; 2]) -> Simulated<'_> {
    let observed = Some(stored());
    let of = |seconds| Behaviour { observed: observed.clone(), ..Behaviour::taking(seconds, seconds) };
    Simulated::new(plan, two_cpus(), seconds.map(of).to_vec())
}

fn explaining(rounds: Option<u32>) -> Plan {
    Plan { explain: Some(Explain { asked: true, rounds, confirm: false }), ..plan_of(2) }
}

#[test]
fn a_difference_is_observed_in_rounds_of_both_commands() {
    for (rounds, expected) in [(Some(2), 2), (Some(5), 5), (None, 7)] {
        let plan = explaining(rounds);
        let (Finished { record, failure }, _) = measured(&observable(&plan, [0.2, 0.3]), &plan);
        assert!(failure.is_none());
        // Observed, both look alike. That explains no difference.
        assert!(matches!(record.why.refusals[..], [Refusal::OtherOrder { .. }]), "{:?}", record.why.refusals);
        for alternative in 0..2 {
            let of_it = || record.why.traced.iter().filter(|it| it.alternative == alternative);
            assert!(of_it().map(|it| it.round).eq(0..expected), "{rounds:?}");
            assert!(
                of_it().all(|it| it.report.processes.forks == stored().analyse().unwrap().processes.forks)
            );
        }
        let mut kept: Vec<usize> = record.why.schedules.iter().map(|it| it.alternative).collect();
        kept.sort_unstable();
        assert_eq!(kept, [0, 1], "one typical run of each");
    }
}

/// hyperfine runs each command ten times at least, and for three seconds.
#[test]
fn each_difference_is_observed_in_hyperfines_time_and_ten_seconds() {
    for [a, b] in [
        [0.002, 0.004],
        [0.05, 0.1],
        [0.1, 0.4],
        [0.1, 0.8],
        [0.5, 0.4],
        [0.6, 0.5],
        [1.0, 1.5],
        [4.0, 1.0],
        [8.0, 9.0],
    ] {
        let plan = Plan { explain: Some(Explain { confirm: true, ..Explain::default() }), ..plan_of(2) };
        let (Finished { record, failure }, _) = measured(&observable(&plan, [a, b]), &plan);
        assert!(failure.is_none());
        assert!(record.why.traced.len() >= 6, "{a} s and {b} s: {:?}", record.why.refusals);
        let most_s = [a, b].iter().map(|seconds| f64::max(10.0 * seconds, 3.0)).sum::<f64>() + 10.0;
        assert!(record.took_s <= most_s, "{a} s and {b} s took {} s of {most_s} s", record.took_s);
    }
}

#[test]
fn what_keeps_an_explanation_from_being_made_is_told() {
    let refusals = |plan: &Plan, seconds| {
        let record = measured(&observable(plan, seconds), plan).0.record;
        assert!(record.why.traced.is_empty());
        record.why.refusals
    };
    let asked = explaining(None);
    assert_eq!(refusals(&asked, [0.2, 0.2]), [Refusal::NothingDiffers]);
    let open = Plan { mode: Mode::Open { rate_per_s: 3.0, duration_s: 2.0 }, ..asked.clone() };
    assert_eq!(refusals(&open, [0.2, 0.3]), [Refusal::OpenMode]);
    let many = Plan { loads: Loads::Fixed(vec![2, 4]), ..asked.clone() };
    assert_eq!(refusals(&many, [0.2, 0.3]), [Refusal::NoLevelOfOne]);
    // The trials take a second, and the three rounds of a verdict 4.2.
    let rounds = Rounds { max_time_s: 5.3, max_time_hard: true, ..asked.rounds };
    let hurried = refusals(&Plan { rounds, ..asked }, [0.4, 0.6]);
    assert!(matches!(hurried[..], [Refusal::NotObserved { .. }]), "{hurried:?}");
}

#[test]
fn a_signal_during_an_explanation_keeps_the_rounds_that_are_whole() {
    let plan = explaining(Some(3));
    let whole = Troubled::new(observable(&plan, [0.2, 0.3]));
    let all = measured(&whole, &plan).0.record;
    let (mut refused, mut rest) = (0, 0);
    for at in 1..=whole.calls.get() {
        let cut = Troubled { signal_at: Some(at), ..Troubled::new(observable(&plan, [0.2, 0.3])) };
        let record = measured(&cut, &plan).0.record;
        assert_eq!((record.status, cut.late.take()), (Status::Interrupted, vec![]), "at call {at}");
        let traced = record.why.traced.len();
        assert!(traced.is_multiple_of(2) && record.why.traced == all.why.traced[..traced], "at call {at}");
        refused += u32::from(record.why.refusals == [Refusal::Interrupted]);
        rest += u32::from(record.why.left_out.contains(&LeftOut::Rest));
        let observed = cut.machine.done().iter().filter(|it| is_observed(it)).count();
        assert!(observed == 0 || !record.why.refusals.is_empty() || traced > 0, "at call {at}");
    }
    assert!(refused > 0 && rest > 0, "{refused} {rest}");
}

fn is_observed(one: &Rehearsed) -> bool {
    matches!(one, Rehearsed::Run { run: Run { kind: RunKind::Observed, .. }, .. })
}

/// The stream of the same command with a hundredth of its longest pause, and the seconds that this saves.
fn without_pause(stored: &Stored) -> (Stored, f64) {
    let mut events = Vec::new();
    stored.each(&mut |event| events.push(event.clone())).unwrap();
    let of_tree = |event: &Seen| match event.what {
        What::Name { task, kind: TaskKind::Tree, .. } => Some(task),
        _ => None,
    };
    let tree: Vec<_> = events.iter().filter_map(of_tree).collect();
    let pause = |(at, event): (usize, &Seen)| match event.what {
        What::Switch { prev, left: Left::Sleeping, .. } if tree.contains(&prev) => {
            let wakes = |it: &&Seen| matches!(it.what, What::Wake { wakee, .. } if wakee == prev);
            Some((event.at, events[at..].iter().find(wakes)?.at))
        }
        _ => None,
    };
    let (from, to) = events.iter().enumerate().filter_map(pause).max_by_key(|(from, to)| to - from).unwrap();
    let saved = (to - from) - (to - from) / 100;
    for event in &mut events {
        event.at = if event.at < to {
            event.at.min(from + event.at.saturating_sub(from) / 100)
        } else {
            event.at - saved
        };
    }
    let mut recorder = Recorder::new(1 << 20);
    events.iter().for_each(|event| recorder.push(event));
    let Stored { setting, counts, facts, .. } = stored.clone();
    (recorder.finish(setting, counts, facts).unwrap(), saved as f64 * 1e-9)
}

/// Two commands that differ by a sleep, with experiments.
fn sleeping() -> Plan {
    let mut plan = explaining(None);
    plan.explain = Some(Explain { asked: true, rounds: None, confirm: true });
    for (alternative, line) in plan.alternatives.iter_mut().zip(["sleep 0.01", "true"]) {
        *alternative = Alternative::new(line.to_owned());
    }
    plan
}

/// The seconds of `sleep 0.01` and of `true` in that stream.
const SLEPT: [f64; 2] = [0.0112, 0.0011];

/// The machine of these two commands.
fn sleeper(plan: &Plan) -> Simulated<'_> {
    let (with, (without, _)) = (stored(), without_pause(&stored()));
    let of =
        |(observed, seconds)| Behaviour { observed: Some(observed), ..Behaviour::taking(seconds, 0.001) };
    let behaviours = [with, without].into_iter().zip(SLEPT).map(of).collect();
    Simulated::new(plan, two_cpus(), behaviours)
}

/// A run of the experiment that replaces the sleep.
fn is_changed(launch: &Launch, request: &Request) -> bool {
    launch.run.kind == RunKind::Experiment && request.argv == ["sleep 0"]
}

/// The same outcome, as if the command had not slept.
fn awake(mut outcome: Outcome) -> Outcome {
    outcome.makespan_s = SLEPT[1];
    outcome.copies.wall_s.fill(SLEPT[1]);
    outcome
}

#[test]
fn an_experiment_confirms_the_cause_that_it_removes_and_refutes_another() {
    let plan = sleeping();
    for (obeys, expected) in [(true, Decided::Confirmed), (false, Decided::Refuted)] {
        let launched = |launch: &Launch, request: &Request, outcome| {
            Ok(if obeys && is_changed(launch, request) { awake(outcome) } else { outcome })
        };
        let machine = Troubled { launched: Box::new(launched), ..Troubled::new(sleeper(&plan)) };
        let (Finished { record, failure }, events) = measured(&machine, &plan);
        assert!(failure.is_none() && record.why.refusals.is_empty(), "{:?}", record.why.refusals);
        let [Experiment { outcome, control_s, changed_s, predicted_s, .. }] = &record.why.experiments[..]
        else {
            panic!("{:?}", record.why.experiments);
        };
        assert_eq!(*outcome, expected);
        assert!(control_s.len() == changed_s.len() && control_s.len() >= 3, "{control_s:?} {changed_s:?}");
        let (_, pause_s) = without_pause(&stored());
        assert!((predicted_s - pause_s).abs() < 0.1 * pause_s, "{predicted_s} {pause_s}");
        // The prediction comes before the first run that could decide it.
        let predicted = events.iter().position(|it| matches!(it, Event::Predicted { .. }));
        let tested = events.iter().position(|it| matches!(it, Event::Experiment { .. }));
        assert!(predicted < tested && predicted.is_some(), "{predicted:?} {tested:?}");
    }
}

#[test]
fn a_signal_during_an_experiment_leaves_it_undecided() {
    let plan = sleeping();
    let whole = Troubled::new(sleeper(&plan));
    let mut first = None;
    measure_on(&whole, &plan, &mut |event| {
        if matches!(event, Event::Predicted { .. }) {
            first.get_or_insert(whole.calls.get());
        }
    });
    let mut undecided = 0;
    for at in first.unwrap()..=whole.calls.get() {
        let cut = Troubled { signal_at: Some(at), ..Troubled::new(sleeper(&plan)) };
        let record = measured(&cut, &plan).0.record;
        assert_eq!((record.status, cut.late.take()), (Status::Interrupted, vec![]), "at call {at}");
        for Experiment { outcome, control_s, changed_s, .. } in &record.why.experiments {
            assert_eq!(control_s.len(), changed_s.len(), "at call {at}");
            undecided += u32::from(*outcome == Decided::Undecided);
        }
    }
    assert!(undecided > 5, "{undecided}");
}

#[test]
fn an_error_in_an_explanation_is_told_and_leaves_the_verdicts() {
    let plan = sleeping();
    for kind in [RunKind::Observed, RunKind::Experiment] {
        for trouble in Trouble::ALL {
            let met = Cell::new(false);
            let launched = |launch: &Launch, _: &Request, outcome| {
                met.set(met.get() || launch.run.kind == kind);
                if launch.run.kind == kind { trouble.becomes(outcome) } else { Ok(outcome) }
            };
            let machine = Troubled { launched: Box::new(launched), ..Troubled::new(sleeper(&plan)) };
            let (Finished { record, failure }, _) = measured(&machine, &plan);
            let case = format!("{trouble:?} in {kind:?}");
            assert!(met.get() && failure.is_none(), "{case}: {failure:?}");
            assert_eq!(
                (record.status, verdicts(&record)),
                (Status::Complete, vec![Verdict::Faster]),
                "{case}"
            );
            let untestable = record.why.experiments.iter().any(|it| it.outcome == Decided::NotTestable);
            let told = if kind == RunKind::Observed { !record.why.refusals.is_empty() } else { untestable };
            assert!(told, "{case}: {:#?}", record.why);
        }
    }
}

#[test]
fn observed_runs_that_lost_records_explain_nothing() {
    let plan = explaining(None);
    let mut lossy = stored();
    lossy.counts.lost = Lost { ring: 1, ..Lost::default() };
    let of = |seconds| Behaviour { observed: Some(lossy.clone()), ..Behaviour::taking(seconds, seconds) };
    let machine = Simulated::new(&plan, two_cpus(), [0.2, 0.3].map(of).to_vec());
    let (Finished { record, failure }, _) = measured(&machine, &plan);
    assert!(failure.is_none() && record.status == Status::Complete);
    assert!(
        matches!(record.why.refusals[..], [Refusal::Lossy { all: true, .. }]),
        "{:?}",
        record.why.refusals
    );
}
