//! `study pipes` with a measurement made by hand: everything but the clock.
//!
//! A file of its own, so a process of its own, and one test only: the study changes the working directory.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use whyfaster::cmd::study::{Outcome, Tools, list, run};
use whyfaster::exit::{Exit, Failure};
use whyfaster::study::Options;
use whyfaster_core::analysis::{Analysis, Comparison, Level};
use whyfaster_core::event::Status;
use whyfaster_core::host::Host;
use whyfaster_core::plan::{Loads, Plan};
use whyfaster_core::record::{Record, SCHEMA};
use whyfaster_core::sample::{Arm, Batch, Copies, Orphans, Trial};
use whyfaster_core::verdict::{Method, Verdict};

/// What a run of the study left behind.
struct Ran {
    result: anyhow::Result<Exit>,
    stdout: String,
    saved: BTreeMap<Option<PathBuf>, Record>,
    /// The directory in which it measured.
    dir: PathBuf,
    plan: Option<Plan>,
}

fn level(load: u32, low: f64, ratio: f64, high: f64, verdict: Verdict) -> Level {
    let comparison = Comparison {
        alternative: "use-pipe".into(),
        baseline: "no-pipe".into(),
        ratio,
        low: Some(low),
        high: Some(high),
        verdict,
        rounds: 9,
        rounds_needed: None,
        method: Method::SignEProcess,
        ratio_of_totals: None,
        work: None,
        share: None,
        reason: None,
    };
    Level { load, results: Vec::new(), comparisons: vec![comparison], floor: None }
}

fn batch() -> Batch {
    Batch {
        load: 1,
        arm: Arm::Alternative(0),
        round: 0,
        position: 0,
        released_s: 0.0,
        makespan_s: 0.1,
        copies: Copies::default(),
        orphans: Orphans::default(),
        machine_busy_s: None,
        steal_s: None,
    }
}

/// A record as a runner would make it: the scripts run here and now, the times are made up.
fn record(plan: &Plan, status: Status) -> Record {
    let trials = (0..plan.alternatives.len())
        .map(|index| {
            let words = shell_words::split(&plan.alternatives[index].command).unwrap();
            let output = std::process::Command::new(&words[0]).args(&words[1..]).output().unwrap();
            let digest = Sha256::digest(&output.stdout);
            Trial {
                alternative: index,
                stdout_sha256: Some(digest.iter().map(|byte| format!("{byte:02x}")).collect()),
                stdout_bytes: output.stdout.len() as u64,
                status: output.status.code().unwrap(),
                peak_processes: 6,
                peak_memory_bytes: 1 << 22,
                peak_private_bytes: 1 << 20,
                wall_s: 0.1,
                cpu_s: 0.1,
            }
        })
        .collect();
    let levels = vec![
        level(1, 0.7, 0.75, 0.8, Verdict::Faster),
        level(10, 1.25, 1.31, 1.38, Verdict::Slower),
        level(100, 1.35, 1.4, 1.45, Verdict::Slower),
    ];
    Record {
        schema: SCHEMA.into(),
        tool_version: "0.0.0".into(),
        started: "2026-01-01T00:00:00Z".into(),
        took_s: 1.0,
        status,
        study: None,
        plan: plan.clone(),
        host: Host::default(),
        trials,
        batches: vec![batch()],
        sched_accounts: Vec::new(),
        why: whyfaster_core::why::Why::default(),
        skipped: Vec::new(),
        analysis: Analysis { levels, ..Analysis::default() },
    }
}

fn ran(options: &Options, measured: &mut dyn FnMut(&Plan) -> Outcome) -> Ran {
    let (mut dir, mut seen) = (PathBuf::new(), None);
    let (mut stdout, mut saved) = (Vec::new(), BTreeMap::new());
    let result = run(
        "pipes",
        options,
        Tools {
            measure: &mut |plan| {
                dir = env::current_dir().unwrap();
                seen = Some(plan.clone());
                assert!(Path::new("list.txt").is_file(), "the input is where the scripts look for it");
                measured(plan)
            },
            save: &mut |record, file| {
                saved.insert(file.map(Path::to_owned), record.clone());
                Ok(())
            },
            screen: &|record| format!("[screen of {}]", record.study.as_deref().unwrap()),
            out: &mut stdout,
            order_seed: 11,
        },
    );
    Ran { result, stdout: String::from_utf8(stdout).unwrap(), saved, dir, plan: seen }
}

#[test]
fn the_study_runs_reports_and_cleans_up() {
    let home = env::current_dir().unwrap();
    lists_the_studies();
    reports_on_a_complete_record(&home);
    writes_json();
    keeps_what_an_interrupted_run_has(&home);
    keeps_what_a_failed_run_has();
    refuses_a_run_that_did_other_work();
    cleans_up_after_an_error_and_a_panic(&home);
}

fn lists_the_studies() {
    let mut out = Vec::new();
    assert_eq!(list(&mut out).unwrap(), Exit::Ok);
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("pipes  ") && text.contains("whyfaster study pipes"), "{text}");
}

fn reports_on_a_complete_record(home: &Path) {
    let options = Options { record: Some("out.json".into()), ..Options::default() };
    let ran = ran(&options, &mut |plan| Ok((record(plan, Status::Complete), None)));
    assert_eq!(ran.result.unwrap(), Exit::Ok);
    assert_eq!(env::current_dir().unwrap(), home);
    assert!(!ran.dir.exists(), "{} is still there", ran.dir.display());
    assert_eq!(ran.plan.unwrap().seed, 11);
    assert_eq!(ran.saved[&Some(home.join("out.json"))].study.as_deref(), Some("pipes"));
    assert!(!home.join("out.json").exists(), "the file is the saver's business");
    // The report, word for word. After a change that is meant: put what the failure shows into the file.
    assert_eq!(ran.stdout, include_str!("expected/study-pipes.txt"), "\n{}", ran.stdout);
}

fn writes_json() {
    let options = Options { json: true, loads: Some(Loads::Fixed(vec![1])), ..Options::default() };
    let ran = ran(&options, &mut |plan| Ok((record(plan, Status::Complete), None)));
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["schema"], "whyfaster/1");
    assert_eq!(value["study_findings"]["claims"][0]["outcome"], "holds");
    assert_eq!(value["study_findings"]["levels"][3]["missing"], "load 1000 not measured here");
    let read_back: Record = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(read_back.plan.loads, Loads::Fixed(vec![1]));
}

fn keeps_what_an_interrupted_run_has(home: &Path) {
    let options = Options { record: Some(home.join("x.json")), ..Options::default() };
    let ran = ran(&options, &mut |plan| Ok((record(plan, Status::Interrupted), None)));
    assert_eq!(ran.result.unwrap(), Exit::Interrupted);
    assert_eq!(ran.saved.len(), 1);
    assert!(ran.stdout.contains("alone, the pipeline is faster"));
}

fn keeps_what_a_failed_run_has() {
    for batches in [vec![batch()], Vec::new()] {
        let nothing = batches.is_empty();
        let ran = ran(&Options::default(), &mut |plan| {
            let record = Record { batches: batches.clone(), ..record(plan, Status::Failed) };
            Ok((record, Some(Failure::new(Exit::CommandFailed, "no-pipe failed", "run it by hand"))))
        });
        let error = ran.result.unwrap_err();
        assert_eq!(error.downcast_ref::<Failure>().unwrap().exit, Exit::CommandFailed);
        assert_eq!(ran.saved[&None].status, Status::Failed);
        assert_eq!(ran.stdout.is_empty(), nothing, "{}", ran.stdout);
    }
}

/// Two scripts that do the same wrong thing agree with each other; only the input knows better.
fn refuses_a_run_that_did_other_work() {
    let ran = ran(&Options::default(), &mut |plan| {
        fs::write("no-pipe.sh", "true").unwrap();
        fs::write("use-pipe.sh", "true").unwrap();
        Ok((record(plan, Status::Complete), None))
    });
    let error = ran.result.unwrap_err();
    let failure = error.downcast_ref::<Failure>().unwrap();
    assert_eq!(failure.exit, Exit::CommandFailed);
    assert!(failure.message.contains("no-pipe") && failure.message.contains("SHA-256"), "{failure}");
    assert!(ran.stdout.is_empty());
}

fn cleans_up_after_an_error_and_a_panic(home: &Path) {
    let failed = ran(&Options::default(), &mut |_| anyhow::bail!("the runner failed"));
    assert_eq!(failed.result.unwrap_err().to_string(), "the runner failed");
    assert!(!failed.dir.exists());

    let mut dir = PathBuf::new();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        ran(&Options::default(), &mut |_| {
            dir = env::current_dir().unwrap();
            panic!("on purpose")
        })
    }));
    assert!(panicked.is_err());
    assert!(dir.is_absolute() && !dir.exists());
    assert_eq!(env::current_dir().unwrap(), home);
}
