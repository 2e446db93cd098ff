//! The functions behind a finding, from hand-made samples.

use proptest::prelude::*;

use super::fixture::{Scene, Trace};
use crate::trace::report::{Code, PathKind, Sampled, SampledRow, WorkKind};
use crate::why::Located;
use crate::why::cause::Cause;
use crate::why::report::{Finding, Function};

fn row(symbol: Option<&str>, file: &str, from: Option<&str>, samples: u64) -> SampledRow {
    let code = Code {
        symbol: symbol.map(str::to_owned),
        file: Some(file.to_owned()),
        called_from: from.map(str::to_owned),
    };
    SampledRow { command: "sort".into(), kind: WorkKind::User, code, samples }
}

fn computes(seconds: f64, functions: Vec<SampledRow>) -> Trace {
    let mut trace = Trace::new().runs("sort", WorkKind::User, seconds, 0);
    trace.0.sampled = Some(Sampled { per_s: 1000, functions });
    trace
}

fn first(a: &Trace, b: &Trace) -> Finding {
    Scene::of(&a.0, &b.0).explain().findings.remove(0)
}

#[test]
fn what_the_slower_one_has_more_of_is_where_it_computes() {
    const LIBC: &str = "/lib/libc.so.6";
    let fast = computes(0.1, vec![row(None, "/bin/sort", None, 60), row(Some("memcmp"), LIBC, None, 40)]);
    let slow = computes(
        0.3,
        vec![
            row(Some("__strcoll_l"), LIBC, Some("compare"), 120),
            row(None, "/bin/sort", None, 100),
            row(Some("__strcoll_l"), LIBC, Some("0xdead"), 40),
            row(Some("memcmp"), LIBC, None, 20),
        ],
    );
    let finding = first(&fast, &slow);
    assert_eq!(finding.cause, Cause::Compute);
    let of = |it: &Function| (it.symbol.clone(), it.called_from.clone(), it.samples.here, it.samples.there);
    let all: Vec<_> = finding.functions.iter().map(of).collect();
    let name = |it: &str| Some(it.to_owned());
    // Over seven rounds. What was found at different callers is one function.
    let expected = [
        (name("__strcoll_l"), name("compare"), 1120.0, 0.0),
        (None, None, 700.0, 420.0),
        (name("memcmp"), None, 140.0, 280.0),
    ];
    assert_eq!(all, expected);
    let shares: Vec<f64> = finding.functions.iter().map(|it| it.share).collect();
    assert!(
        (shares[0] - 0.8).abs() < 1e-9 && (shares[1] - 0.2).abs() < 1e-9 && (shares[2] + 0.1).abs() < 1e-9,
        "{shares:?}"
    );
    assert!((finding.functions[0].seconds - 0.8 * finding.seconds).abs() < 1e-12);
    let Some(Located::In(named)) = finding.located() else { panic!("{finding:#?}") };
    assert_eq!(named.len(), 2, "what the other one has more of is not where it is: {named:?}");
}

#[test]
fn waits_for_locks_are_told_apart_by_who_asks_for_them() {
    const LIBC: &str = "/lib/libc.so.6";
    let waits = |seconds: f64, from: &[(&str, u64)]| {
        let mut trace = Trace::new().waits("prog", PathKind::Lock, Some("prog"), seconds);
        let asks = |(from, samples): &(&str, u64)| {
            let asks = row(None, LIBC, Some(*from), *samples);
            SampledRow { command: "prog".into(), kind: WorkKind::Lock, ..asks }
        };
        trace.0.sampled = Some(Sampled { per_s: 1000, functions: from.iter().map(asks).collect() });
        trace
    };
    let slow = waits(0.3, &[("insert", 200), ("remove", 100), ("join", 50)]);
    let finding = first(&waits(0.1, &[("join", 50)]), &slow);
    assert_eq!(finding.cause, Cause::Lock);
    let Some(Located::In(named)) = finding.located() else { panic!("{finding:#?}") };
    let asking: Vec<_> = named.iter().map(|it| it.called_from.as_deref().unwrap()).collect();
    assert_eq!(asking, ["insert", "remove"]);
    assert!((named[0].share - 2.0 / 3.0).abs() < 1e-9, "{named:?}");
}

#[test]
fn kinds_of_other_causes_are_not_among_them() {
    let mut faults = row(Some("memset"), "/lib/libc.so.6", None, 50);
    faults.kind = WorkKind::PageFaults;
    let slow = computes(0.3, vec![faults.clone(), row(Some("f"), "/bin/sort", None, 50)]);
    let finding = first(&computes(0.1, Vec::new()), &slow);
    assert_eq!(finding.functions.len(), 1, "{:#?}", finding.functions);
    assert_eq!(finding.functions[0].symbol.as_deref(), Some("f"));
    let mut touches = Trace::new().runs("sort", WorkKind::PageFaults, 0.3, 1000);
    touches.0.sampled = Some(Sampled { per_s: 1000, functions: vec![faults] });
    let finding = first(&computes(0.1, Vec::new()), &touches);
    assert_eq!(finding.cause, Cause::PageFaults);
    assert_eq!(finding.functions[0].symbol.as_deref(), Some("memset"));
}

#[test]
fn few_samples_and_none_say_so() {
    let fast = computes(0.1, Vec::new());
    let few = first(&fast, &computes(0.3, vec![row(Some("f"), "/bin/sort", None, 7)]));
    assert_eq!(few.located(), Some(Located::Few { samples: 49.0 }));
    let enough = first(&fast, &computes(0.3, vec![row(Some("f"), "/bin/sort", None, 8)]));
    assert!(matches!(enough.located(), Some(Located::In(_))), "{:?}", enough.located());
    let many = (0..30).map(|i| row(Some(&format!("f{i}")), "/bin/sort", None, 8)).collect();
    assert_eq!(first(&fast, &computes(0.3, many)).located(), Some(Located::Spread));
    let not = Trace::new().runs("sort", WorkKind::User, 0.3, 0);
    assert_eq!(first(&fast, &not).located(), Some(Located::NotSampled));
    let sleeps = Trace::new().runs("sort", WorkKind::User, 0.1, 0).waits(
        "sort",
        crate::trace::report::PathKind::Sleep,
        None,
        0.3,
    );
    assert_eq!(first(&fast, &sleeps).located(), None);
}

proptest! {
    #[test]
    fn shares_of_any_samples_sum_to_at_most_one(
        here in prop::collection::vec((0..9_usize, 0..5_usize, 0..1000_u64), 0..40),
        there in prop::collection::vec((0..9_usize, 0..5_usize, 0..1000_u64), 0..40),
    ) {
        let rows = |of: &[(usize, usize, u64)]| of
            .iter()
            .map(|(symbol, file, n)| {
                let name = format!("f{symbol}");
                row((*symbol > 0).then_some(name.as_str()), &format!("/bin/{file}"), None, *n)
            })
            .collect();
        let finding = first(&computes(0.1, rows(&there)), &computes(0.3, rows(&here)));
        let above: f64 = finding.functions.iter().map(|it| it.share).filter(|share| *share > 0.0).sum();
        prop_assert!(above <= 1.0 + 1e-9, "{above}");
        prop_assert!(finding.functions.is_sorted_by(|a, b| a.share >= b.share));
        for it in &finding.functions {
            prop_assert!((it.seconds - it.share * finding.seconds).abs() < 1e-12);
            prop_assert_eq!(it.share > 0.0, it.samples.here > it.samples.there);
        }
    }
}
