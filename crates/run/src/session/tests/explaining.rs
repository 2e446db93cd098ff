//! Explanations of what a simulated machine replays.

use whyfaster_core::plan::Explain;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_core::trace::stored::Stored;
use whyfaster_core::why::statement::{LeftOut, Refusal};

use super::*;

/// What was observed of a command once.
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
