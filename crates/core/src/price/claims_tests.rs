//! Claims are decided by pairs, by sums, by receipts and by references, and not by noise.

use super::super::fixture::{list, row, samples};
use super::*;

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

fn judged(rule: Rule) -> (Outcome, String) {
    let claim = Claim { number: 1, text: "a claim".into(), rule };
    let mut old = list(Vec::new());
    old.prices = vec![Price {
        group: "process".into(),
        name: "fork".into(),
        variant: "reaped".into(),
        mean_ns: Some(142_669.0),
        ..Price::default()
    }];
    let found = judge(&[claim], &here(), &[("old".into(), old)]).remove(0);
    (found.outcome, found.why)
}

#[test]
fn cheaper_holds_by_paired_repetitions() {
    let cheaper = |row: &str, than: &[&str]| {
        judged(Rule::Cheaper { row: row.into(), than: than.iter().map(|t| (*t).to_owned()).collect() }).0
    };
    assert_eq!(cheaper("fork/reaped", &["execve/chain", "fork+execve/reaped"]), Outcome::Holds);
    assert_eq!(cheaper("execve/chain", &["fork/reaped"]), Outcome::DoesNotHold);
    assert_eq!(cheaper("fork/reaped", &["fork/reaped"]), Outcome::Undecided);
    assert_eq!(cheaper("fork/reaped", &["vfork/reaped"]), Outcome::Undecided);
    let dearer = |row: &str, than: &str| judged(Rule::Dearer { row: row.into(), than: vec![than.into()] }).0;
    assert_eq!(dearer("execve/chain", "fork/reaped"), Outcome::Holds);
    assert_eq!(dearer("fork/reaped", "execve/chain"), Outcome::DoesNotHold);
}

#[test]
fn the_parts_add_up_or_not() {
    let sum = |within| {
        let parts = vec!["fork/reaped".into(), "execve/chain".into()];
        judged(Rule::AddUp { parts, whole: "fork+execve/reaped".into(), within })
    };
    assert_eq!(sum(0.1).0, Outcome::Holds);
    assert_eq!(sum(0.0).0, Outcome::DoesNotHold, "{}", sum(0.0).1);
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
    let found = judge(&[Claim { number: 1, text: "a claim".into(), rule }], &list, &[]).remove(0);
    assert_eq!(found.outcome, Outcome::Undecided, "{}", found.why);
}

/// The claims of a study share its error: what one claim alone decides, twelve intervals together may not.
#[test]
fn claims_share_the_error_and_say_what_is_missing() {
    let dearer = |rows: usize| Claim {
        number: 1,
        text: "a claim".into(),
        rule: Rule::Dearer { row: "execve/chain".into(), than: vec!["fork/reaped".into(); rows] },
    };
    let mut short = here();
    short.samples.retain(|series| series.repetition < 7);
    short.reprice();
    assert_eq!(judge(&[dearer(1)], &short, &[])[0].outcome, Outcome::Holds);
    let together = judge(&[dearer(12)], &short, &[]).remove(0);
    assert_eq!(together.outcome, Outcome::Undecided);
    assert!(together.why.contains("7 repetitions, 9 are needed"), "{}", together.why);
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
    let rule = Rule::Dearer { row: "fork/reaped".into(), than: vec!["execve/chain".into()] };
    let found = judge(&[Claim { number: 1, text: "a claim".into(), rule }], &list, &[]).remove(0);
    assert!(found.outcome == Outcome::Undecided && found.why.contains("floors"), "{}", found.why);
}

#[test]
fn receipts_and_references_decide() {
    let calls = |most| judged(Rule::Syscalls { row: "getpid/libc".into(), most }).0;
    assert_eq!((calls(0.1), calls(1.0)), (Outcome::DoesNotHold, Outcome::Holds));
    assert_eq!(judged(Rule::Syscalls { row: "fork/reaped".into(), most: 1.0 }).0, Outcome::Undecided);
    let reference = |row: &str, name: &str| {
        judged(Rule::CheaperThanReference { row: row.into(), reference: name.into() })
    };
    assert_eq!(reference("fork/reaped", "old").0, Outcome::Holds);
    assert_eq!(reference("getpid/libc", "old").0, Outcome::Undecided);
    assert_eq!(reference("fork/reaped", "none").0, Outcome::Undecided);
}
