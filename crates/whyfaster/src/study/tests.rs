//! The embedded studies are whole, and their plans are what the options ask for.

use std::ffi::OsStr;
use std::process::Command as Process;

use sha2::{Digest, Sha256};
use whyfaster_core::claims::{Figure, Rule};
use whyfaster_core::plan::Loads;

use super::input::hexadecimal;
use super::{Generated, Options, Study, WorkDir, all, check_needs, find};
use crate::exit::Exit;

fn pipes() -> Study {
    find("pipes").unwrap()
}

#[test]
fn every_study_names_its_own_alternatives_and_files() {
    for study in all().unwrap() {
        let pair = study.pair();
        for name in [pair.alternative, pair.baseline] {
            assert!(study.alternatives.iter().any(|a| a.name == name), "{}: {name}", study.name);
        }
        assert!(!study.files.is_empty() && !study.claims.is_empty(), "{}", study.name);
        let numbers: Vec<u32> = study.claims.iter().map(|claim| claim.number).collect();
        assert_eq!(numbers, (1..=study.claims.len() as u32).collect::<Vec<_>>(), "{}", study.name);
        for size in [&study.default, &study.full] {
            assert!(size.loads.is_sorted() && size.loads[0] >= 1, "{}", study.name);
        }
    }
}

#[test]
fn every_load_that_a_claim_needs_is_measured_with_full() {
    for study in all().unwrap() {
        for claim in &study.claims {
            let loads = match claim.rule {
                Rule::Verdict { load, .. } => vec![load],
                Rule::SlowerStill { from, to } => vec![from, to],
                Rule::RisesThroughout { least_levels } => study.full.loads[..least_levels].to_vec(),
            };
            assert!(loads.iter().all(|load| study.full.loads.contains(load)), "claim {}", claim.number);
        }
    }
}

#[test]
fn the_articles_ratios_are_those_of_its_mean_times() {
    let ratios: Vec<String> = pipes().article.figures.iter().map(|f| format!("{:.2}", f.ratio())).collect();
    assert_eq!(ratios, ["0.58", "1.27", "1.38", "1.73"]);
    let work: Vec<String> =
        pipes().article.figures.iter().map(|f| format!("{:.2}", f.work_ratio())).collect();
    assert_eq!(work, ["1.57", "1.40", "1.38", "1.73"]);
    let busy = |f: &Figure| (f.baseline.user_s + f.baseline.system_s) / f.baseline.mean_s;
    assert!((busy(&pipes().article.figures[2]) - 8.0).abs() < 0.1, "the machine line says 8 CPUs");
}

#[test]
fn an_unknown_study_is_refused_with_the_names_that_exist() {
    let error = find("pipe").unwrap_err();
    let failure = error.downcast_ref::<crate::exit::Failure>().unwrap();
    assert_eq!(failure.exit, Exit::Usage);
    assert!(failure.message.contains("'pipe'"));
    assert!(failure.hint.as_ref().unwrap().contains("pipes"));
}

#[test]
fn options_change_the_plan() {
    let study = pipes();
    let plan = study.plan(&Options::default(), 77);
    assert_eq!(plan.loads, Loads::Fixed(vec![1, 10, 100]));
    assert_eq!((plan.seed, plan.baseline), (77, 0));
    assert!(plan.rounds.max_time_hard && plan.rounds.max_time_s <= 165.0 && plan.check_output);
    assert_eq!(study.generate(&Options::default()).text.lines().count(), 200_000);

    let full = Options { full: true, seed: Some(5), max_time_s: Some(9.0), ..Options::default() };
    let plan = study.plan(&full, 77);
    assert_eq!(plan.loads, Loads::Fixed(vec![1, 10, 100, 1000]));
    assert_eq!((plan.seed, plan.rounds.max_time_s), (5, 9.0));
    assert_eq!((study.size(&full).amount, study.input_seed(&full)), (1_000_000, 5));

    let loads = Options { loads: Some(Loads::Fixed(vec![3])), ..Options::default() };
    assert_eq!(study.plan(&loads, 1).loads, Loads::Fixed(vec![3]));
}

#[test]
fn a_missing_program_is_said_with_the_next_step() {
    let empty = tempfile::tempdir().unwrap();
    let check = |path: &OsStr| check_needs("study pipes", &pipes().needs, path);
    let failure = check(empty.path().as_os_str()).unwrap_err();
    assert_eq!(failure.exit, Exit::Unfit);
    assert!(failure.message.contains("mawk"), "{}", failure.message);
    assert!(failure.hint.unwrap().contains("apt-get install mawk"));

    // A file that cannot be run, and an empty search path, do not count either.
    std::fs::write(empty.path().join("mawk"), "no program").unwrap();
    assert!(check(empty.path().as_os_str()).is_err());
    assert!(check(OsStr::new("")).is_err());
}

fn filled(study: &Study, input: &Generated) -> WorkDir {
    let dir = WorkDir::make(&study.name).unwrap();
    dir.fill(study.all_files(input)).unwrap();
    dir
}

#[test]
fn both_scripts_do_the_work_that_the_input_asks_for() {
    let study = pipes();
    let input = super::ifconfig_log(4, 5_000);
    let dir = filled(&study, &input);
    for alternative in &study.alternatives {
        let words = shell_words::split(&alternative.command).unwrap();
        let output = Process::new(&words[0]).args(&words[1..]).current_dir(dir.path()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", alternative.name);
        assert_eq!(
            hexadecimal(&Sha256::digest(&output.stdout)),
            input.expected_sha256,
            "{}",
            alternative.name
        );
    }
}

#[test]
fn the_directory_is_removed_with_everything_in_it() {
    let dir = filled(&pipes(), &super::ifconfig_log(4, 10));
    let path = dir.path().to_owned();
    assert!(path.join("list.txt").is_file() && path.join("use-pipe.sh").is_file());
    drop(dir);
    assert!(!path.exists());
}
