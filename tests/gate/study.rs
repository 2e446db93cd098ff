//! `study pipes` with a measurement made by hand: everything but the clock.
//!
//! A file of its own, so a process of its own, and one test only that runs a study: it changes the working directory.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use sha2::{Digest, Sha256};
use whyfaster::cli::args::{Args, StudyArgs, Verb};
use whyfaster::cli::{HostSeed, Outputs};
use whyfaster::cmd::results;
use whyfaster::cmd::study::commands::{Machine, run};
use whyfaster::cmd::study::list;
use whyfaster::study::{self, Measures};
use whyfaster_core::analysis::{Analysis, Comparison, Level};
use whyfaster_core::host::Host;
use whyfaster_core::plan::{Loads, Plan};
use whyfaster_core::record::{Record, SCHEMA};
use whyfaster_core::sample::{Arm, Batch, Copies, Orphans, Trial};
use whyfaster_core::status::Status;
use whyfaster_core::verdict::{Method, Verdict};
use whyfaster_run::session::Finished;
use whyfaster_words::display::{Detail, Style};
use whyfaster_words::exit::{Exit, Failure};
use whyfaster_words::look::{Environment, Look};

/// What a run of the study left behind.
struct Ran {
    result: anyhow::Result<Exit>,
    stdout: String,
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
        less_sure: None,
        corrected: None,
        verdict,
        rounds: 9,
        rounds_needed: None,
        method: Method::SignEProcess,
        ratio_of_totals: None,
        work: None,
        share: None,
        reason: None,
        metrics: Vec::new(),
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
        io: None,
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
                max_rss_bytes: Some(1 << 20),
                wall_s: 0.1,
                cpu_s: 0.1,
                io: None,
                differs: None,
                varies: false,
                destinations: None,
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
        studied: None,
        plan: plan.clone(),
        host: Host::default(),
        trials,
        batches: vec![batch()],
        sched_accounts: Vec::new(),
        duets: Vec::new(),
        why: whyfaster_core::why::Why::default(),
        skipped: Vec::new(),
        analysis: Analysis { levels, ..Analysis::default() },
    }
}

fn arguments(words: &[&str]) -> StudyArgs {
    let words = ["whyfaster", "study", "pipes", "-v", "--no-keep", "--style", "basic"].iter().chain(words);
    match Args::try_parse_from(words).unwrap().verb {
        Some(Verb::Study(args)) => args,
        other => panic!("{other:?}"),
    }
}

fn ran(words: &[&str], measured: &mut dyn FnMut(&Plan) -> anyhow::Result<Finished>) -> Ran {
    let args = arguments(words);
    let (mut dir, mut seen) = (PathBuf::new(), None);
    let mut stdout = Vec::new();
    let study = study::find("pipes").unwrap();
    let Measures::Commands(commands) = &study.measures else { panic!("pipes compares commands") };
    let mut machine = Machine {
        time: &mut |plan| {
            dir = env::current_dir().unwrap();
            seen = Some(plan.clone());
            assert!(Path::new("list.txt").is_file(), "the input is where the scripts look for it");
            measured(plan)
        },
        trace: &mut |_, _| panic!("this study traces nothing"),
        done: &mut || {},
        here: &HostSeed { seed: 11, ..HostSeed::here() },
    };
    let outputs = Outputs::of_study(&args).unwrap();
    results::check(&outputs).unwrap();
    let result = run(&study, commands, &args, &outputs, &mut machine, &mut stdout);
    Ran { result, stdout: String::from_utf8(stdout).unwrap(), dir, plan: seen }
}

fn finished(record: Record) -> anyhow::Result<Finished> {
    Ok(Finished { record, failure: None })
}

#[test]
fn the_study_runs_reports_and_cleans_up() {
    let home = env::current_dir().unwrap();
    lists_the_studies();
    reports_on_a_complete_record(&home);
    writes_json();
    keeps_what_an_interrupted_run_has();
    keeps_what_a_failed_run_has();
    refuses_a_run_that_did_other_work();
    cleans_up_after_an_error_and_a_panic(&home);
}

/// How a list looks with all that it has.
fn look() -> Look {
    Look { detail: Detail::Tables, ..Look::detect(Style::Basic, false, &Environment::default()) }
}

fn lists_the_studies() {
    let text = list(&look()).unwrap();
    for name in study::names() {
        assert!(text.contains(&format!("`whyfaster study {name}`")), "{text}");
    }
}

fn reports_on_a_complete_record(home: &Path) {
    let files = tempfile::tempdir_in(home).unwrap();
    let file = files.path().join("out.json");
    let relative = file.strip_prefix(home).unwrap().to_str().unwrap();
    let ran = ran(&["--record", relative], &mut |plan| finished(record(plan, Status::Complete)));
    assert_eq!(ran.result.unwrap(), Exit::Ok);
    assert_eq!(env::current_dir().unwrap(), home);
    assert!(!ran.dir.exists(), "{} is still there", ran.dir.display());
    assert_eq!(ran.plan.unwrap().seed, 11);
    let kept: Record = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(kept.study.as_deref(), Some("pipes"), "the file lies where whyfaster was started");
    let (report, screen) = ran.stdout.split_once("The article's claims here:").unwrap();
    let flowing = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("article's 5 claims 2 hold, 2 are undecided, 1 was not asked"), "{report}");
    assert!(report.contains("Here: 100000 lines, input seed 4."), "{report}");
    assert!(screen.contains("1. holds          alone, the pipeline is faster"), "{screen}");
}

fn writes_json() {
    let ran = ran(&["--json", "--load", "1"], &mut |plan| finished(record(plan, Status::Complete)));
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["schema"], "whyfaster/1");
    let found = &value["study_findings"];
    assert_eq!(found["claims"][0]["outcome"], "holds");
    assert_eq!(found["claims"][0]["why"], "faster at load 1: 0.750 (0.700 to 0.800)");
    assert_eq!(found["claims"][0]["evidence"]["kind"], "compared");
    assert_eq!(found["levels"][3]["missing"], "load 1000 is not one of this run's (--load, --full)");
    let read_back: Record = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(read_back.plan.loads, Loads::Fixed(vec![1]));
}

fn keeps_what_an_interrupted_run_has() {
    let ran = ran(&[], &mut |plan| finished(record(plan, Status::Interrupted)));
    assert_eq!(ran.result.unwrap(), Exit::Interrupted);
    assert!(ran.stdout.contains("alone, the pipeline is faster"));
}

fn keeps_what_a_failed_run_has() {
    for batches in [vec![batch()], Vec::new()] {
        let nothing = batches.is_empty();
        let ran = ran(&[], &mut |plan| {
            let record = Record { batches: batches.clone(), ..record(plan, Status::Failed) };
            let failure = Failure::new(Exit::CommandFailed, "no-pipe failed", "run it by hand");
            Ok(Finished { record, failure: Some(failure) })
        });
        let error = ran.result.unwrap_err();
        assert_eq!(error.downcast_ref::<Failure>().unwrap().exit, Exit::CommandFailed);
        assert_eq!(ran.stdout.is_empty(), nothing, "{}", ran.stdout);
    }
}

/// Two scripts that do the same wrong thing agree with each other; only the input knows better.
fn refuses_a_run_that_did_other_work() {
    let ran = ran(&[], &mut |plan| {
        fs::write("no-pipe.sh", "true").unwrap();
        fs::write("use-pipe.sh", "true").unwrap();
        finished(record(plan, Status::Complete))
    });
    let error = ran.result.unwrap_err();
    let failure = error.downcast_ref::<Failure>().unwrap();
    assert_eq!(failure.exit, Exit::CommandFailed);
    assert!(failure.message.contains("no-pipe") && failure.message.contains("SHA-256"), "{failure}");
    assert!(ran.stdout.is_empty());
}

fn cleans_up_after_an_error_and_a_panic(home: &Path) {
    let failed = ran(&[], &mut |_| anyhow::bail!("the runner failed"));
    assert_eq!(failed.result.unwrap_err().to_string(), "the runner failed");
    assert!(!failed.dir.exists());

    let mut dir = PathBuf::new();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        ran(&[], &mut |_| {
            dir = env::current_dir().unwrap();
            panic!("on purpose")
        })
    }));
    assert!(panicked.is_err());
    assert!(dir.is_absolute() && !dir.exists());
    assert_eq!(env::current_dir().unwrap(), home);
}

/// Every study has its page of the book, its README, and its place in the list.
#[test]
fn every_study_is_in_the_book_and_in_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let summary = fs::read_to_string(root.join("docs/src/SUMMARY.md")).unwrap();
    let listed = format!("\n{}", list(&look()).unwrap());
    let directories: Vec<String> = fs::read_dir(root.join("studies"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let names: Vec<&str> = study::names().collect();
    assert_eq!(directories.len(), names.len(), "{directories:?} and {names:?}");
    for name in names {
        assert!(directories.iter().any(|directory| directory == name), "{name}");
        assert!(root.join("studies").join(name).join("README.md").is_file(), "{name}");
        assert!(summary.contains(&format!("[study {name}](study-{name}.md)")), "SUMMARY.md lacks {name}");
        let page = fs::read_to_string(root.join(format!("docs/src/study-{name}.md"))).unwrap();
        assert!(page.starts_with(&format!("# study {name}\n")), "{name}");
        assert!(listed.contains(&format!("\n{name}  ")), "{listed}");
        let claims = study::find(name).unwrap().claims.len();
        let rows = page.lines().filter(|line| line.starts_with("| ")).count();
        assert!(rows >= claims, "the page of {name} has {rows} rows for {claims} claims");
    }
}
