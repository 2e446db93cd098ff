//! The study is whole, its commands do their work, and what it found is said.

use std::process::Command as Process;

use whyfaster_core::claims::Outcome;
use whyfaster_core::trace::claims::{Rule, Tally};

use super::super::article::Size;
use super::super::encrypted::FileSystem;
use super::super::input::table;
use super::*;
use crate::render::fixture::look;
use crate::render::trace::hottest::hottest;

fn path() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

#[test]
fn the_study_names_its_own_commands() {
    let study = placement().unwrap();
    let known = |name: &str| study.commands.iter().any(|command| command.name == name);
    assert!(known(&study.baseline) && known(&study.alternative));
    assert!(study.commands.iter().all(|c| study.article.figures.iter().any(|f| f.command == c.name)));
    for claim in &study.claims {
        assert!(claim.alternative.as_deref().is_none_or(known), "claim {}", claim.number);
        if let Rule::OfTime { share, .. } | Rule::AtMost { share, .. } = claim.rule {
            assert!((0.0..1.0).contains(&share));
        }
    }
    let Size { amount, loads, .. } = study.size(true);
    assert_eq!((*amount, loads.as_slice()), (200_000, [1].as_slice()));
}

#[test]
fn places_are_put_in_and_one_cpu_is_no_choice() {
    let study = placement().unwrap();
    let (there, left) = study.fitting(&path(), &[0, 3], Path::new("/a b/whyfaster")).unwrap();
    let line = |name: &str| there.iter().find(|c| c.name == name).map(|c| c.command.clone());
    assert!(left.iter().all(|(_, why)| why.contains("taskset")));
    assert!(line("pinned").is_none_or(|line| line.starts_with("taskset -c 3 ")));
    assert!(line("advised").unwrap().starts_with("'/a b/whyfaster' stage"));
    let (there, left) = study.fitting(&path(), &[5], Path::new("whyfaster")).unwrap();
    assert_eq!((there.len(), left[0].1.as_str()), (7, "there is only one CPU"));
    let plan = study.plan(&there, study.size(true), 3, None);
    assert_eq!((plan.baseline, plan.alternatives.len()), (0, 7));
}

#[test]
fn every_command_that_writes_does_the_work_that_the_input_asks_for() {
    let study = placement().unwrap();
    let made = table(SEED, 3_000);
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(SAMPLE), &made.text).unwrap();
    let (there, _) = study.fitting(&path(), &[0], Path::new("whyfaster")).unwrap();
    // The advice is the program's own, which a unit test is not.
    let there: Vec<Command> = there.into_iter().filter(|command| command.name != "advised").collect();
    for command in &there {
        let file = directory.path().join(command.output.as_deref().unwrap_or("nothing"));
        let status = Process::new("sh")
            .args(["-c", &command.command])
            .current_dir(directory.path())
            .stdout(fs::File::create(file).unwrap())
            .status();
        assert!(status.unwrap().success(), "{}", command.command);
    }
    check_outputs(&there, directory.path(), &made.expected_sha256).unwrap();
    let failure = check_outputs(&there, directory.path(), "0").unwrap_err();
    assert!(failure.message.contains("file of study placement"), "{}", failure.message);
}

fn placed(alternative: &str, avoidable: f64) -> (Placed, Tally) {
    let row = |cpu, who: &str, kind, seconds| CpuRow { cpu, who: who.to_owned(), kind, seconds };
    let report = TraceReport {
        wall_s: 2.0,
        avoidable_wait_s: Some(avoidable),
        avoidable_longest_s: Some(0.01),
        cpu_sharers: vec![SharerRow {
            command: "awk".to_owned(),
            sharer: "kworker decrypt".to_owned(),
            kind: SharerKind::Kernel,
            seconds: avoidable,
        }],
        ..TraceReport::default()
    };
    let tally = Tally::of(&report, "awk");
    let cpus = vec![
        row(0, "awk", SharerKind::Tree, 1.5),
        row(0, "kworker decrypt", SharerKind::Kernel, 0.25),
        row(1, "kworker decrypt", SharerKind::Kernel, 0.25),
        row(1, "(idle)", SharerKind::Idle, 1.75),
    ];
    let placed = Placed {
        alternative: alternative.to_owned(),
        wall_s: 2.0,
        runs: vec![TracedRun::of(&tally, &cpus), TracedRun::of(&tally, &cpus)],
        cpus,
        behind: report.cpu_sharers.clone(),
        avoidable_s: report.avoidable_wait_s,
        avoidable_longest_s: report.avoidable_longest_s,
        avoidable: None,
        report,
        hottest: hottest("on-CPU;awk;main;getline;read_[k] 1000\n", 5),
        flamegraph: None,
    };
    (placed, tally)
}

#[test]
fn waits_decide_and_the_report_says_who_ran_where() {
    let study = placement().unwrap();
    let (there, left_out) = study.fitting(&path(), &[0], Path::new("whyfaster")).unwrap();
    let mut record = crate::fixture::record(Vec::new(), vec![1], Vec::new());
    record.plan = study.plan(&there, study.size(true), 1, None);
    let (file, of_file) = placed("file", 0.4);
    let (cat, of_cat) = placed("cat", 0.01);
    let tallies = [("file".to_owned(), of_file), ("cat".to_owned(), of_cat)];
    let common = study.findings(&record, &tallies, left_out, Vec::new());
    let outcomes: Vec<Outcome> = common.claims[1..4].iter().map(|claim| claim.outcome).collect();
    assert_eq!(outcomes, [Outcome::Holds; 3]);
    let again = |file_s, cat_s| {
        let mut tallies = tallies.to_vec();
        tallies.extend([
            ("file".to_owned(), placed("file", file_s).1),
            ("cat".to_owned(), placed("cat", cat_s).1),
        ]);
        let claims = study.findings(&record, &tallies, Vec::new(), Vec::new()).claims;
        claims[1..4].iter().map(|claim| claim.outcome).collect::<Vec<_>>()
    };
    assert_eq!(again(0.4, 0.01), [Outcome::Holds; 3]);
    // What one run says and another one denies is open; next to nothing is no measure.
    assert_eq!(again(0.4, 0.4), [Outcome::Holds, Outcome::Holds, Outcome::Undecided]);
    let tallies = [("file".to_owned(), placed("file", 0.0004).1), ("cat".to_owned(), placed("cat", 0.008).1)];
    let little = &study.findings(&record, &tallies, Vec::new(), Vec::new()).claims[3];
    assert_eq!(little.outcome, Outcome::Undecided, "{}", little.why);
    assert_eq!(kernel(&file.cpus), [("kworker decrypt".to_owned(), 0.5)]);
    let directory = tempfile::tempdir().unwrap();
    let found = PlacementFindings {
        common,
        file_system: FileSystem::plain(directory.path(), vec!["only root can mount one".to_owned()]),
        caches_dropped: false,
        placed: vec![file, cat],
    };
    let text = study.placement_text(&found, &look(100, false));
    for part in [
        "only root can mount one",
        "medians of 2 traced runs",
        "who ran on which CPU",
        "CPU 1",
        "kworker decrypt",
        "main > getline > read_[k]",
        "--flamegraphs",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
