//! Claims about what traces counted.

use super::super::*;
use crate::analysis::Analysis;
use crate::host::Host;
use crate::plan::{Alternative, Plan};
use crate::trace::tally::{Quantity, Tally};
use crate::verdict::Ratio;

fn judged(rule: &Rule, tallies: &[(&str, Tally)]) -> Judgement {
    let tallies: Vec<(String, Tally)> =
        tallies.iter().map(|(name, tally)| ((*name).to_owned(), tally.clone())).collect();
    let pair = Pair { alternative: "cat", baseline: "file" };
    let plan = Plan::new(vec![Alternative::new("file"), Alternative::new("cat")], 1);
    let (host, analysis) = (Host::default(), Analysis::default());
    let runs = Runs {
        pair,
        plan: &plan,
        host: &host,
        batches: &[],
        analysis: &analysis,
        tallies: &tallies,
        left_out: &[],
        reads: None,
    };
    let claim = Claim {
        number: 1,
        text: "x".to_owned(),
        alternative: None,
        rule: rule.clone(),
        needs: Needs::default(),
    };
    judge(&[claim], &Measured { runs: Some(runs), prices: None }).remove(0)
}

fn waits(avoidable_s: Option<f64>, strangers: f64) -> Tally {
    Tally { avoidable_s, strangers: Some(strangers), traced_s: 2.0, ..Tally::default() }
}

const OF_TIME: Rule = Rule::OfTime(Share { quantity: Quantity::AvoidableWait, share: 0.05 });
const AT_MOST: Rule = Rule::AtMost(Share { quantity: Quantity::AvoidableWait, share: 0.25 });

fn figure(judgement: &Judgement) -> &Traced {
    match &judgement.evidence {
        Evidence::Traced(figure) => figure,
        other => panic!("{other:?}"),
    }
}

fn silence(judgement: &Judgement) -> (Silence, &str, usize, usize) {
    assert_eq!(judgement.outcome, Outcome::Undecided);
    match &judgement.evidence {
        Evidence::SilentTraces(it) => (it.because, &it.command, it.silent, it.runs),
        other => panic!("{other:?}"),
    }
}

#[test]
fn counts_decide_and_what_is_missing_does_not() {
    let forks = |n| Tally { forks: Some(n), ..Tally::default() };
    let rule = Rule::AtMost(Share { quantity: Quantity::Forks, share: 0.01 });
    let it = judged(&rule, &[("cat", forks(10_004)), ("file", forks(20_000))]);
    assert_eq!(it.outcome, Outcome::DoesNotHold);
    assert_eq!((figure(&it).value, figure(&it).whole), (10_004.0, 20_000.0));
    assert_eq!(judged(&rule, &[("cat", forks(4)), ("file", forks(20_000))]).outcome, Outcome::Holds);
    let one = judged(&rule, &[("file", forks(1))]);
    assert_eq!(one.evidence, Evidence::NotTraced("cat".to_owned()));
    let own = Rule::AtMost(Share { quantity: Quantity::OwnForkWaitCpu, share: 0.5 });
    let it = judged(&own, &[("cat", forks(1)), ("file", forks(1))]);
    assert_eq!(silence(&it), (Silence::NotMeasured, "cat", 1, 1));
}

#[test]
fn waiting_is_judged_against_the_time_of_the_run() {
    let outcome = |seconds| judged(&OF_TIME, &[("cat", waits(seconds, 0.0))]).outcome;
    assert_eq!(outcome(Some(0.2)), Outcome::Holds);
    assert_eq!(outcome(Some(0.05)), Outcome::DoesNotHold);
    assert_eq!(outcome(None), Outcome::Undecided);
    let none = judged(&AT_MOST, &[("cat", waits(Some(0.0), 0.0)), ("file", waits(Some(0.0), 0.0))]);
    assert_eq!(silence(&none), (Silence::TooLittle, "file", 1, 1));
    let little = judged(&AT_MOST, &[("cat", waits(Some(0.008), 0.0)), ("file", waits(Some(0.0004), 0.0))]);
    assert_eq!(silence(&little), (Silence::TooLittle, "file", 1, 1));
}

#[test]
fn several_rounds_have_a_median_and_a_range_and_may_disagree() {
    let rounds = |seconds: &[f64]| {
        judged(&OF_TIME, &seconds.iter().map(|s| ("cat", waits(Some(*s), 0.0))).collect::<Vec<_>>())
    };
    let same = rounds(&[0.2, 0.4, 0.3]);
    assert_eq!(same.outcome, Outcome::Holds);
    let of = figure(&same);
    assert_eq!((of.value, of.whole), (0.3, 2.0));
    assert_eq!(of.part, Ratio { ratio: 0.15, low: Some(0.1), high: Some(0.2) });
    assert_eq!((of.told, of.runs), (3, 3));
    assert_eq!(rounds(&[0.2, 0.05, 0.3]).outcome, Outcome::Undecided);
    // With many rounds one that differs is left out by the interval of the median.
    assert_eq!(rounds(&[0.2, 0.2, 0.3, 0.3, 0.3, 0.3, 0.4, 0.4, 0.01]).outcome, Outcome::Holds);
    let pair =
        |file_s: f64, cat_s: f64| [("file", waits(Some(file_s), 0.0)), ("cat", waits(Some(cat_s), 0.0))];
    let pairs = |all: [(f64, f64); 2]| {
        let all: Vec<_> = all.into_iter().flat_map(|(file, cat)| pair(file, cat)).collect();
        judged(&AT_MOST, &all).outcome
    };
    assert_eq!(pairs([(0.4, 0.01), (0.4, 0.04)]), Outcome::Holds);
    assert_eq!(pairs([(0.4, 0.3), (0.4, 0.4)]), Outcome::DoesNotHold);
    assert_eq!(pairs([(0.4, 0.01), (0.4, 0.4)]), Outcome::Undecided);
}

#[test]
fn where_strangers_have_the_cpus_nothing_is_decided() {
    let busy = judged(&OF_TIME, &[("cat", waits(Some(0.0), 0.68)), ("cat", waits(Some(0.2), 0.68))]);
    assert_eq!(silence(&busy), (Silence::OthersBusy(0.68), "cat", 2, 2));
    // Most of the runs are enough.
    let once = [0.0, 0.68, 0.0].map(|strangers| ("cat", waits(Some(0.2), strangers)));
    let once = judged(&OF_TIME, &once);
    assert_eq!(once.outcome, Outcome::Holds);
    assert_eq!((figure(&once).told, figure(&once).runs), (2, 3));
}
