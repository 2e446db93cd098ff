//! Claims are decided by pairs, by sums, by receipts and by references, and not by noise.

use super::super::*;
use crate::price::Price;
use crate::price::PriceList;
use crate::price::fixture::{list, row, samples};
use crate::price::paired::Lacking;

fn here() -> PriceList {
    let mut getpid = row("kernel", "getpid", "libc");
    getpid.syscalls = Some(1.0);
    list(vec![
        (row("process", "fork", "reaped"), samples(16, 6, 3e4)),
        (row("process", "execve", "chain"), samples(16, 6, 7e5)),
        (row("process", "fork+execve", "reaped"), samples(16, 6, 7.35e5)),
        (getpid, samples(16, 6, 90.0)),
    ])
}

fn claim(rule: Rule) -> Claim {
    Claim { number: 1, text: "a claim".into(), alternative: None, rule, needs: Needs::default() }
}

fn judged_by(claims: &[Claim], list: &PriceList, references: &[(String, PriceList)]) -> Judgement {
    judge(claims, &Measured { runs: None, prices: Some(Prices { list, references }) }).remove(0)
}

fn judged(rule: Rule) -> Outcome {
    let mut old = list(Vec::new());
    old.prices = vec![Price {
        group: "process".into(),
        name: "fork".into(),
        variant: "reaped".into(),
        mean_ns: Some(142_669.0),
        ..Price::default()
    }];
    judged_by(&[claim(rule)], &here(), &[("old".into(), old)]).outcome
}

#[test]
fn cheaper_holds_by_paired_repetitions() {
    let cheaper = |row: &str, than: &[&str]| {
        judged(Rule::Cheaper(Order { row: row.into(), than: than.iter().map(|t| (*t).to_owned()).collect() }))
    };
    assert_eq!(cheaper("fork/reaped", &["execve/chain", "fork+execve/reaped"]), Outcome::Holds);
    assert_eq!(cheaper("execve/chain", &["fork/reaped"]), Outcome::DoesNotHold);
    assert_eq!(cheaper("fork/reaped", &["fork/reaped"]), Outcome::Undecided);
    assert_eq!(cheaper("fork/reaped", &["vfork/reaped"]), Outcome::Undecided);
    let dearer =
        |row: &str, than: &str| judged(Rule::Dearer(Order { row: row.into(), than: vec![than.into()] }));
    assert_eq!(dearer("execve/chain", "fork/reaped"), Outcome::Holds);
    assert_eq!(dearer("fork/reaped", "execve/chain"), Outcome::DoesNotHold);
}

#[test]
fn the_parts_add_up_or_not() {
    let sum = |within| {
        let parts = vec!["fork/reaped".into(), "execve/chain".into()];
        judged(Rule::AddUp { parts, whole: "fork+execve/reaped".into(), within })
    };
    assert_eq!((sum(0.1), sum(0.0)), (Outcome::Holds, Outcome::DoesNotHold));
}

/// One-sided noise of a busy machine: a part seems to cost four times the whole, with an interval of forty times that.
#[test]
fn noise_decides_no_sum() {
    let mut list = here();
    for series in list.samples.iter_mut().filter(|series| series.row == 1) {
        let factor = if series.repetition % 2 == 0 { 40.0 } else { 4.0 };
        series.elapsed_ns.iter_mut().for_each(|ns| *ns *= factor);
    }
    list.reprice();
    let parts = vec!["fork/reaped".into(), "execve/chain".into()];
    let rule = Rule::AddUp { parts, whole: "fork+execve/reaped".into(), within: 0.1 };
    let found = judged_by(&[claim(rule)], &list, &[]);
    assert_eq!(found.outcome, Outcome::Undecided, "{found:?}");
}

/// The claims of a study share its error: what one claim alone decides, twelve intervals together may not.
#[test]
fn claims_share_the_error_and_say_what_is_missing() {
    let dearer = |rows: usize| {
        claim(Rule::Dearer(Order { row: "execve/chain".into(), than: vec!["fork/reaped".into(); rows] }))
    };
    let mut short = here();
    short.samples.retain(|series| series.repetition < 7);
    short.reprice();
    let alone = judged_by(&[dearer(1)], &short, &[]);
    assert!(alone.outcome == Outcome::Holds && !alone.lacks_repetitions());
    let together = judged_by(&[dearer(12)], &short, &[]);
    assert!(together.outcome == Outcome::Undecided && together.lacks_repetitions(), "{together:?}");
    let Evidence::Ordered(against) = &together.evidence else { panic!("{together:?}") };
    let Against::Ratio(RowRatio { lacking, .. }) = &against[0] else { panic!("{together:?}") };
    assert_eq!(*lacking, Some(Lacking { repetitions: 7, needed: Some(9) }));
    assert_eq!(least_repetitions(&[dearer(12)], 0.95), 9);
}

#[test]
fn floors_that_say_the_opposite_decide_nothing() {
    let mut list = here();
    // Most samples of fork are held up, a few of each repetition are not.
    for series in list.samples.iter_mut().filter(|series| series.row == 0) {
        series.elapsed_ns.iter_mut().skip(1).for_each(|ns| *ns *= 100.0);
    }
    list.reprice();
    let rule = Rule::Dearer(Order { row: "fork/reaped".into(), than: vec!["execve/chain".into()] });
    let found = judged_by(&[claim(rule)], &list, &[]);
    assert_eq!(found.outcome, Outcome::Undecided);
    let Evidence::Ordered(against) = &found.evidence else { panic!("{found:?}") };
    assert!(matches!(against[0], Against::Ratio(RowRatio { floors_disagree: true, .. })), "{found:?}");
}

#[test]
fn receipts_and_references_decide() {
    let calls = |most| judged(Rule::Syscalls { row: "getpid/libc".into(), most });
    assert_eq!((calls(0.1), calls(1.0)), (Outcome::DoesNotHold, Outcome::Holds));
    assert_eq!(judged(Rule::Syscalls { row: "fork/reaped".into(), most: 1.0 }), Outcome::Undecided);
    let reference = |row: &str, name: &str| {
        judged(Rule::CheaperThanReference { row: row.into(), reference: name.into() })
    };
    assert_eq!(reference("fork/reaped", "old"), Outcome::Holds);
    assert_eq!(reference("getpid/libc", "old"), Outcome::Undecided);
    assert_eq!(reference("fork/reaped", "none"), Outcome::Undecided);
}
