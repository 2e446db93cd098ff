//! The study is whole, and what it found is set beside the article.

use whyfaster_core::analysis::{Comparison, Level};
use whyfaster_core::claims::Outcome;
use whyfaster_core::plan::Shell;
use whyfaster_core::record::Record;
use whyfaster_core::trace::claims::Rule;
use whyfaster_core::trace::claims::Tally;
use whyfaster_core::verdict::{Method, Verdict};

use super::*;
use crate::exit::Exit;
use crate::render::fixture::look;

fn everything(directory: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    for program in ["seq", "split", "xargs", "sh"] {
        let file = directory.join(program);
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn the_study_names_its_own_dispatchers() {
    let study = dispatch().unwrap();
    let known = |name: &str| study.commands.iter().any(|dispatcher| dispatcher.name == name);
    assert!(known(&study.baseline) && known(&study.alternative));
    assert!(study.article.figures.iter().all(|figure| known(&figure.dispatcher)));
    for claim in &study.claims {
        assert!(claim.alternative.as_deref().is_none_or(known), "claim {}", claim.number);
        if let Rule::AtMost { share, .. } = claim.rule {
            assert!((0.0..1.0).contains(&share));
        }
    }
    for dispatcher in &study.commands {
        let line = dispatcher.line(1000);
        assert!(line.contains("1000") && !line.contains('@'), "{line}");
    }
    assert_eq!((study.size(false).amount, study.size(true).amount), (10_000, 1_000));
    assert_eq!(study.article_ratio_text(), "2.59");
}

impl TracedStudy<Figure> {
    fn article_ratio_text(&self) -> String {
        let real = |i: usize| self.article.figures[i].real_s;
        format!("{:.2}", real(0) / real(1))
    }
}

#[test]
fn what_is_not_installed_is_left_out_and_named() {
    let study = dispatch().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let failure = study.installed(directory.path().as_os_str()).unwrap_err();
    assert_eq!(failure.exit, Exit::Unfit);
    everything(directory.path());
    let (there, missing) = study.installed(directory.path().as_os_str()).unwrap();
    assert_eq!(there.len(), 5);
    assert_eq!(missing, [("parallel".to_owned(), "parallel is not installed".to_owned())]);
    let plan = study.plan(&there, study.size(true), 7, Some(9.0));
    assert_eq!((plan.alternatives.len(), plan.baseline, plan.seed), (5, 0, 7));
    assert!(plan.rounds.max_time_hard && plan.check_output && plan.shell != Shell::None);
}

fn compared(alternative: &str, ratio: f64, verdict: Verdict) -> Comparison {
    Comparison {
        alternative: alternative.to_owned(),
        baseline: "xargs".to_owned(),
        ratio,
        low: Some(ratio * 0.95),
        high: Some(ratio * 1.05),
        verdict,
        rounds: 6,
        rounds_needed: None,
        method: Method::SignEProcess,
        ratio_of_totals: None,
        work: None,
        share: None,
        reason: None,
    }
}

fn record(study: &TracedStudy<Figure>) -> Record {
    let dispatchers: Vec<Command> = study.commands.iter().take(4).cloned().collect();
    let mut record = crate::fixture::record(Vec::new(), vec![1], Vec::new());
    record.plan = study.plan(&dispatchers, study.size(true), 1, None);
    record.analysis.levels = vec![Level {
        load: 1,
        results: Vec::new(),
        comparisons: vec![
            compared("split", 0.39, Verdict::Faster),
            compared("xargs, 100 a process", 0.02, Verdict::Faster),
        ],
        floor: None,
    }];
    record
}

fn tallies() -> Vec<(String, Tally)> {
    let tally = |forks: u64, own_forks, own_waits, cpu| Tally {
        forks: Some(forks),
        execs: Some(forks + 1),
        failed_execs: Some(0),
        waits: Some(forks + own_waits),
        own_forks: Some(own_forks),
        own_waits: Some(own_waits),
        own_fork_wait_cpu_s: Some(cpu),
        avoidable_s: None,
        behind_kernel_s: None,
        strangers: None,
        traced_s: 0.4,
        work_s: 0.5,
    };
    vec![
        ("xargs".to_owned(), tally(2_002, 1_000, 2_800, 0.09)),
        ("split".to_owned(), tally(1_006, 4, 4, 0.001)),
    ]
}

#[test]
fn counts_of_the_whole_tree_contradict_the_article() {
    let study = dispatch().unwrap();
    let found = study.findings(&record(&study), &tallies(), Vec::new(), Vec::new());
    let outcomes: Vec<Outcome> = found.claims.iter().map(|claim| claim.outcome).collect();
    use Outcome::{DoesNotHold, Holds};
    assert_eq!(outcomes, [Holds, Holds, Holds, DoesNotHold, Holds]);
    let text = study.text(&found, &look(80, false));
    for part in [
        "split forks 4 times itself, but the shells that it feeds fork 1002 times",
        "28561",
        "forks of the whole tree: split 1006, xargs 2002",
        "of the article's 5 claims 4 hold, 1 does not hold",
    ] {
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(part), "{part}\n{text}");
    }
}

#[test]
fn without_a_trace_counts_decide_nothing() {
    let study = dispatch().unwrap();
    let why = vec!["system calls: this kernel has no BTF".to_owned()];
    let found = study.findings(&record(&study), &[], Vec::new(), why);
    assert_eq!(found.claims[1].outcome, Outcome::Undecided);
    let text = study.text(&found, &look(80, false));
    assert!(text.contains("could not be counted") && text.contains("no BTF"), "{text}");
}
