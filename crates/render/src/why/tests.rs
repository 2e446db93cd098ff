//! Explanations on the screen: each is to be read as a person would.

use whyfaster_core::plan::{Explain, Loads};
use whyfaster_core::record::Record;
use whyfaster_core::trace::report::{PathAlternative, PathKind, PathRow, SharerKind, WorkKind};
use whyfaster_core::verdict::Verdict;
use whyfaster_core::why::report::{
    Account, Difference, Evidence, Experiment, Finding, Growth, Outcome, PathDelta, Prediction, ShareDelta,
    WorkDelta,
};
use whyfaster_core::why::statement::{
    Answer, Because, Fact, LeftOut, Measure, Missing, Pair, Refusal, RoundsLeftOut,
};
use whyfaster_core::why::{Cause, Why};
use whyfaster_stats::Estimate;
use whyfaster_words::Tell;
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;
use whyfaster_words::text::width;

use crate::fixture::{level, look, record, row};
use crate::screen::screen;

const SLOW: &str = "cat log | cat | wc -l";
const FAST: &str = "wc -l < log";

fn about(median: f64) -> Estimate {
    Estimate { median, low: Some(median - 0.001), high: Some(median + 0.001) }
}

fn finding(cause: Cause, alternative: &str, seconds: f64, confirmed: Option<bool>) -> Finding {
    let against = if alternative == SLOW { FAST } else { SLOW };
    Finding {
        by_counts: false,
        cause,
        alternative: alternative.to_owned(),
        against: against.to_owned(),
        seconds,
        low: Some(seconds - 0.001),
        high: Some(seconds + 0.001),
        share: if alternative == SLOW { seconds / 0.02 } else { -seconds / 0.02 },
        confirmed,
        fact: None,
        functions: Vec::new(),
        samples: None,
        sentence: format!("'{alternative}' copies 20.1 MiB through pipes, '{against}' none."),
        remedy: "Leave out stages that only pass data on.".to_owned(),
        page: "docs/src/causes/pipe_copy.md".to_owned(),
        evidence: evidence(),
    }
}

/// Two that differ, and one that says nothing.
fn evidence() -> Vec<Evidence> {
    let entry = |what: &str, unit: &str, here, there| Evidence {
        measure: None,
        what: what.to_owned(),
        here,
        there,
        unit: unit.to_owned(),
    };
    vec![
        entry("stages", "", 3.0, 3.0),
        entry("data through pipes", "B", 21_076_377.0, 0.0),
        entry("reads from pipes", "", 1322.0, 1.0),
        entry("critical path: cat in the kernel", "s", 0.016, 0.0),
    ]
}

fn account(name: &str, untraced_s: f64, own_cost_s: f64) -> Account {
    Account {
        alternative: name.to_owned(),
        label: format!("'{name}'"),
        rounds: 15,
        traced_s: untraced_s + own_cost_s,
        untraced_s,
        critical_path: Vec::new(),
        critical_alternatives: vec![PathAlternative {
            command: "wc".into(),
            slack_s: 0.02 * untraced_s,
            seconds: 0.5 * untraced_s,
        }],
        work: Vec::new(),
        own_cost_s,
        samples: 230.0,
        sampling_s: 0.0009,
        parallelism: Some(1.8),
    }
}

fn difference() -> Difference {
    let path = |kind, what: Option<&str>, seconds| PathDelta {
        kind,
        what: what.map(str::to_owned),
        waking_up: false,
        seconds: about(seconds),
    };
    Difference {
        undecided: false,
        by_counts: false,
        alternative: FAST.to_owned(),
        baseline: SLOW.to_owned(),
        ratio: None,
        ratio_low: None,
        ratio_high: None,
        span_s: about(-0.02),
        path: vec![
            path(PathKind::Kernel, Some("pipe"), -0.016),
            path(PathKind::CpuWait, Some("cat"), -0.005),
            path(PathKind::User, None, 0.0011),
            path(PathKind::Sleep, None, 0.000_001),
        ],
        user_s: None,
        work_s: about(-0.03),
        dearer: Some(SLOW.to_owned()),
        work: vec![
            WorkDelta { kind: WorkKind::Pipe, seconds: about(-0.026) },
            WorkDelta { kind: WorkKind::Startup, seconds: about(-0.004) },
        ],
        share: vec![ShareDelta { holder: SharerKind::Tree, avoidable: true, seconds: about(-0.005) }],
        unexplained_s: about(-0.002),
        noise_s: None,
        others: None,
        dearer_to_observe_s: None,
        decides: None,
        deciding: format!("At every load '{FAST}' has the shorter time."),
    }
}

/// The slower one's kernel time grows with load, in pipes.
fn grows() -> Growth {
    let grows = |measure, what: &str, unit: &str, here, there| Evidence {
        measure: Some(measure),
        what: what.to_owned(),
        here,
        there,
        unit: unit.to_owned(),
    };
    Growth {
        alternative: SLOW.to_owned(),
        contention: Some(0.4),
        coherency: Some(0.001),
        lowest: 1,
        highest: 10,
        grows: vec![
            grows(Measure::CpuWait, "waiting for a CPU", "s", 0.001, 0.15),
            grows(Measure::SystemTime, "system CPU time", "s", 0.01, 0.025),
            grows(
                Measure::CopyWork { on: WorkKind::Pipe },
                "kernel: moving data through pipes",
                "s",
                0.008,
                0.02,
            ),
            grows(Measure::InvoluntarySwitches, "involuntary context switches", "", 3.0, 40.0),
        ],
        kinds_not_measured: None,
        kinds_unknown: None,
        cost: None,
        sentence: format!(
            "'{SLOW}': from 1 to 10 copies at once, the CPU time of a copy grows by 38% (40.0 ms to 55.0 ms), most of \
             that in the kernel, for moving data through pipes."
        ),
    }
}

/// The other one's batch could not be read.
fn unknown() -> Growth {
    Growth {
        alternative: FAST.to_owned(),
        grows: Vec::new(),
        kinds_not_measured: Some("some records of the observed batch were lost".to_owned()),
        sentence: format!("'{FAST}': the CPU time of a copy stays about the same (10.0 ms and 10.1 ms)."),
        ..grows()
    }
}

/// With the stages that only copy left out.
fn experiment(cause: Cause, outcome: Outcome, won: Option<f64>) -> Experiment {
    Experiment {
        cause,
        slower: Some(SLOW.to_owned()),
        faster: Some(FAST.to_owned()),
        alternative: SLOW.to_owned(),
        edit: None,
        put_in: false,
        sure: true,
        pace: None,
        shown: None,
        change: "the stages that only copy are left out".to_owned(),
        command: Some("wc -l < log".to_owned()),
        prediction: format!("'{SLOW}' can win about 16.0 ms"),
        predicted_s: 0.016,
        won_s: won.map(about),
        rounds: 11,
        outcome,
        control_s: vec![0.03; 11],
        changed_s: vec![0.014; 11],
        sentence: "With the change, the difference shrank by 15.1 ms of the 16.0 ms explained.".to_owned(),
    }
}

/// The first alternative is slower, for three reasons, one of which an experiment refutes.
fn explained() -> Record {
    let mut record = record(&[(SLOW, SLOW), (FAST, FAST)], Loads::Fixed(vec![1, 10]));
    level(&mut record, 1, &[row(0.03, 0.04, None), row(0.01, 0.01, Some((0.33, Verdict::Faster)))]);
    level(&mut record, 10, &[row(0.2, 0.04, None), row(0.05, 0.01, Some((0.25, Verdict::Faster)))]);
    record.plan.explain = Some(Explain { confirm: true, ..Explain::default() });
    let predicted = |alternative: &str, load, predicted_s: f64, measured_s| Prediction {
        alternative: alternative.to_owned(),
        load,
        predicted_s,
        low: Some(predicted_s * 0.9),
        high: Some(predicted_s * 1.1),
        measured_s,
        lower_bound: load == 10,
        based_on: None,
        from: "span and work, a lower bound".to_owned(),
    };
    record.why = Why {
        summary: vec![
            format!("'{SLOW}' takes 30.0 ms, 3.00 times the time of '{FAST}'."),
            "Tested: without the copies, the difference shrank by 15.1 ms of the 16.0 ms.".to_owned(),
        ],
        findings: vec![
            finding(Cause::PipeCopy, SLOW, 0.016, Some(true)),
            finding(Cause::Processes, SLOW, 0.004, Some(false)),
            finding(Cause::Overlap, FAST, 0.002, None),
        ],
        accounts: vec![account(SLOW, 0.03, 0.001), account(FAST, 0.01, -0.0001)],
        differences: vec![difference()],
        experiments: vec![
            experiment(Cause::PipeCopy, Outcome::Confirmed, Some(0.0151)),
            experiment(Cause::Processes, Outcome::NotTestable, None),
        ],
        predictions: vec![
            predicted(SLOW, 10, 0.19, Some(0.2)),
            predicted(FAST, 10, 0.05, Some(0.05)),
            predicted(FAST, 100, 0.5, None),
        ],
        growth: vec![grows(), unknown()],
        ..Why::default()
    };
    record
}

fn shown(record: &Record, columns: usize, unicode: bool) -> String {
    let look = look(columns, unicode);
    let text = screen(record, &look);
    for line in text.lines() {
        assert!(width(line) <= look.width, "{} columns: {line}", width(line));
        assert!(look.unicode || line.is_ascii(), "not ASCII: {line}");
        assert_eq!(line, line.trim_end(), "spaces at the end");
    }
    text
}

/// What belongs to the explanation, without the tables and the chart of the measurement.
fn why_part(text: &str) -> String {
    let blocks: Vec<&str> = text.split("\n\n").collect();
    let of_why = |block: &&str| {
        [
            "takes",
            "span:",
            "work:",
            "share:",
            "experiments",
            "predicted makespans",
            "from 1 to",
            "untraced",
            "copying",
            "not ",
        ]
        .iter()
        .any(|word| block.lines().next().is_some_and(|line| line.contains(word)))
    };
    blocks.into_iter().filter(of_why).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn an_explanation_on_80_columns() {
    insta::assert_snapshot!(why_part(&shown(&explained(), 80, false)));
}

#[test]
fn an_explanation_on_120_columns() {
    insta::assert_snapshot!(why_part(&shown(&explained(), 120, true)));
}

#[test]
fn two_differences_are_called_what_they_are() {
    let mut record = explained();
    assert!(shown(&record, 120, false).contains("20.0 ms longer than B, alone\n"));
    record.why.accounts[0].untraced_s = 0.034;
    assert!(shown(&record, 120, false).contains("20.0 ms longer than B, alone, in a typical round\n"));
}

#[test]
fn one_level_only_leaves_predictions_to_the_document() {
    let mut record = explained();
    record.analysis.levels.truncate(1);
    assert!(!shown(&record, 120, false).contains("predicted makespans"));
}

#[test]
fn time_that_was_not_seen_is_said() {
    let mut record = explained();
    let unseen = PathRow::of("(not observed)".into(), PathKind::Unobserved, 0.004);
    record.why.accounts[0] = Account { critical_path: vec![unseen], ..account(SLOW, 0.08, -0.004) };
    let text = shown(&record, 200, true);
    assert!(text.contains("where 4.00 ms of the untraced time went was not seen"), "{text}");
}

#[test]
fn every_width_holds() {
    for columns in 40..160 {
        shown(&explained(), columns, columns % 2 == 0);
    }
}

#[test]
fn what_cannot_be_explained_is_said_in_one_line() {
    let mut record = explained();
    record.why =
        Why { refused: Some("needs CAP_BPF and CAP_PERFMON: run it with sudo".to_owned()), ..Why::default() };
    let text = shown(&record, 100, true);
    assert!(text.contains("not explained: needs CAP_BPF and CAP_PERFMON: run it with sudo\n"), "{text}");
    assert!(!text.contains("span: what"), "{text}");
}

#[test]
fn a_command_that_mends_it_can_be_pasted() {
    let mut record = explained();
    let command = "sudo setcap cap_bpf,cap_perfmon+ep \"$(command -v whyfaster)\"".to_owned();
    let missing = Missing {
        what: "CAP_BPF and CAP_PERFMON".to_owned(),
        why: "this process does not have it".to_owned(),
        remedy: "run it with sudo, or once".to_owned(),
        command: Some(command.clone()),
    };
    record.why =
        Why { refusals: vec![Refusal::Needs { missing: vec![missing], asked: false }], ..Why::default() };
    let record = record.told();
    let line = format!("needs CAP_BPF and CAP_PERFMON: run it with sudo, or once: {command}");
    assert_eq!(record.why.refused, Some(line));
    let text = shown(&record, 80, true);
    assert!(text.contains(&format!("sudo, or once:\n    {command}\n")), "{text}");
}

#[test]
fn a_difference_without_a_cause_is_a_result() {
    let mut record = explained();
    record.why.summary.clear();
    record.why.findings.clear();
    let text = shown(&record, 100, true);
    assert!(text.contains("Nothing that was observed explains the difference."), "{text}");
}

#[test]
fn the_first_screen_says_why_and_what_to_do() {
    let mut record = explained();
    record.why.answer = Some(Answer {
        slower: SLOW.to_owned(),
        ratio: None,
        ratio_low: None,
        ratio_high: None,
        faster: FAST.to_owned(),
        seconds: Pair { here: 0.03, there: 0.01 },
        about: false,
        because: Because::Cause { finding: 0, whole_s: 0.02, agrees: true },
        then: None,
        load_decides: false,
    });
    record.why.findings[0].fact =
        Some(Fact::MorePipeData { bytes: Pair { here: f64::from(1 << 24), there: 0.0 } });
    let text = screen(&record, &Look { detail: Detail::Screen, ..look(80, false) });
    insta::assert_snapshot!(text);
}

#[test]
fn more_rounds_are_offered_only_for_an_explanation_that_is_there() {
    let unsettled = RoundsLeftOut::Unsettled { made: 3, reach: None, rounds: 7, seconds: 2.7, hard: false };
    let screen_of = |mut record: Record| {
        record.why.left_out = vec![LeftOut::Rounds { why: unsettled.clone() }];
        screen(&record, &Look { detail: Detail::Screen, ..look(80, false) })
    };
    assert!(screen_of(explained()).contains("--why-rounds 7: surer causes"));
    let mut undecided = explained();
    undecided.why = Why { refusals: vec![Refusal::NothingDiffers], ..Why::default() };
    let text = screen_of(undecided);
    assert!(!text.contains("why-rounds"), "{text}");
}

#[test]
fn hostile_names_stay_on_their_line() {
    let mut record = explained();
    record.why.summary = vec!["a\u{1b}[2Jb\nc".to_owned()];
    record.why.findings[0].remedy = "x\n\u{202e}y".to_owned();
    record.why.differences[0].path[1].what = Some("\u{1b}]0;z\u{7}".to_owned());
    let text = shown(&record, 80, false);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
}
