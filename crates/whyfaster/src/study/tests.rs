//! The studies of this program are whole, what is wrong in a study's file is named, and plans are what the sizes ask for.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command as Process;

use sha2::{Digest, Sha256};
use whyfaster_core::claims::{Rule, Share};
use whyfaster_core::price::sample::row_id;
use whyfaster_run::probe::select::{Wanted, select};
use whyfaster_store::worker::rows::variant;
use whyfaster_words::exit::Exit;

use super::*;

fn commands(name: &str) -> (Study, Commands) {
    let study = find(name).unwrap();
    match study.measures.clone() {
        Measures::Commands(commands) => (study, *commands),
        Measures::Prices(_) | Measures::Ladder(_) => panic!("{name} is not about commands"),
    }
}

#[test]
fn every_study_is_whole() {
    for study in all().unwrap() {
        assert!(!study.question.is_empty() && !study.claims.is_empty(), "{}", study.name);
        let Measures::Commands(commands) = &study.measures else { continue };
        // Whatever a claim needs is measured with the largest size.
        let size = commands.size(false, true);
        for claim in &study.claims {
            let (loads, traced) = match &claim.rule {
                Rule::Verdict { load, .. } => (vec![*load], false),
                Rule::SlowerStill { from, to } => (vec![*from, *to], false),
                Rule::RisesThroughout { least_levels } => (size.loads[..*least_levels].to_vec(), false),
                Rule::OfTime(Share { share, .. }) | Rule::AtMost(Share { share, .. }) => {
                    assert!((0.0..1.0).contains(share), "{} {}", study.name, claim.number);
                    (vec![1], true)
                }
                _ => (Vec::new(), false),
            };
            assert!(loads.iter().all(|load| size.loads.contains(load)), "{} {}", study.name, claim.number);
            assert!(!traced || size.traced.is_some(), "{} {}", study.name, claim.number);
        }
    }
}

/// A file with one word changed is refused, and the error names that word and those that are known.
#[test]
fn an_unknown_word_is_named_with_those_that_are_known() {
    let text = |name: &str| {
        let (_, files) = STUDIES.iter().find(|(known, _)| *known == name).unwrap();
        files.iter().find(|(file, _)| *file == DESCRIPTION).unwrap().1
    };
    let cases = [
        ("placement", "\"question\"", "\"questions\"", ["`questions`", "`question`"]),
        ("placement", "\"commands\":", "\"programs\":", ["`programs`", "`prices`"]),
        ("placement", "\"drop_caches\"", "\"drop\"", ["`drop`", "`drop_caches`"]),
        ("placement", "\"of_time\"", "\"of_times\"", ["`of_times`", "`at_most`"]),
        ("placement", "\"behind_kernel\"", "\"behind\"", ["`behind`", "`avoidable_wait`"]),
        ("placement", "\"stacks\"", "\"flames\"", ["`flames`", "`stacks`"]),
        ("placement", "\"table\"", "\"grid\"", ["`grid`", "`ifconfig_log`"]),
        ("placement", "\"kernel_decrypts\"", "\"zfs\"", ["`zfs`", "`directory`"]),
        (
            "placement",
            "\"baseline\": \"file\"",
            "\"baseline\": \"fil\"",
            ["baseline names 'fil'", "file, cat"],
        ),
        (
            "placement",
            "\"alternative\": \"pinned\"",
            "\"alternative\": \"pin\"",
            ["claim 5 names 'pin'", "pinned"],
        ),
        ("placement", "{ \"command\": \"cat\"", "{ \"command\": \"dog\"", ["a figure names 'dog'", "cat"]),
        ("placement", "@CPU@", "@CORE@", ["'@CORE@'", "@CPU@"]),
        ("placement", "\"number\": 2", "\"number\": 3", ["claim 3", "2 is expected"]),
        ("syscalls", "\"macosx-10.7\", ", "\"macosx-10.8\", ", ["built-in list", "'macosx-10.8'"]),
        ("syscalls", "\"fstat/libc\"", "\"fstat/glibc\"", ["no row", "fstat/glibc"]),
    ];
    for (name, from, to, parts) in cases {
        assert!(text(name).contains(from), "{from}");
        let error = Study::read(name, &text(name).replacen(from, to, 1)).unwrap_err();
        let said = format!("{error:#}");
        for part in parts.into_iter().chain([format!("studies/{name}/study.json").as_str()]) {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    assert!(format!("{:#}", find("pipe").unwrap_err()).contains("'pipe'"));
}

#[test]
fn sizes_become_plans() {
    let (_, pipes) = commands("pipes");
    let plan = |size: &Size| pipes.plan(&pipes.run, size, 77, Some(4));
    let small = plan(pipes.size(false, false));
    assert_eq!((small.loads, small.seed, small.baseline), (Loads::Fixed(vec![1, 10, 100]), 77, 0));
    assert!(small.rounds.max_time_hard && small.rounds.max_time_s <= 165.0 && small.check_output);
    assert_eq!((small.shell, small.warmup), (Shell::None, 1));
    let full = pipes.size(false, true);
    assert_eq!((plan(full).loads, full.amount), (Loads::Fixed(vec![1, 10, 100, 1000]), 1_000_000));
    let parameters = &plan(full).alternatives[1].parameters;
    assert_eq!((parameters["lines"].as_str(), parameters["input_seed"].as_str()), ("1000000", "4"));

    let (_, dispatch) = commands("dispatch");
    let amounts =
        [(false, false), (true, false), (false, true)].map(|(quick, full)| dispatch.size(quick, full).amount);
    assert_eq!(amounts, [10_000, 1_000, 10_000]);
    let plan = dispatch.plan(&dispatch.run, dispatch.size(true, false), 7, None);
    assert!(plan.check_output && plan.shell != Shell::None && plan.alternatives[0].parameters.len() == 1);

    let (_, placement) = commands("placement");
    let plan = placement.plan(&placement.run, placement.size(true, false), 7, Some(2));
    // What goes to a file is compared there.
    assert!(!plan.check_output && plan.alternatives[0].output == Output::File("file.txt".into()));
}

#[test]
fn rounds_of_traces_go_on_as_long_as_there_is_time() {
    let rounds = TracedRounds { least: 3, most: 9, part_of_time: 0.25 };
    let after = |done, s| rounds.another(done, Duration::from_secs(s), 40.0);
    assert!(after(0, 0) && after(2, 60), "the least is kept");
    assert!(after(3, 7) && !after(3, 8), "a fourth as long as the others ends after 9.3 s, or too late");
    assert!(!after(9, 1), "and there is a most");
    let once = TracedRounds { least: 1, most: 1, part_of_time: 0.0 };
    assert!(once.another(0, Duration::ZERO, 40.0) && !once.another(1, Duration::ZERO, 40.0));
}

#[test]
fn a_missing_program_is_said_with_the_next_step() {
    let empty = tempfile::tempdir().unwrap();
    let check = |path: &OsStr| check_needs("study pipes", &find("pipes").unwrap().needs, path);
    let failure = check(empty.path().as_os_str()).unwrap_err();
    assert_eq!(failure.exit, Exit::Unfit);
    assert!(failure.message.contains("mawk"), "{}", failure.message);
    assert!(failure.hint.unwrap().contains("apt-get install mawk"));

    // A file that cannot be run, and an empty search path, do not count either.
    fs::write(empty.path().join("mawk"), "no program").unwrap();
    assert!(check(empty.path().as_os_str()).is_err());
    assert!(check(OsStr::new("")).is_err());
}

#[test]
fn a_command_that_cannot_run_is_left_out_and_named() {
    let programs = tempfile::tempdir().unwrap();
    let path = programs.path().as_os_str();
    let (_, dispatch) = commands("dispatch");
    let (there, left_out) = dispatch.fitting(1000, path, &[0, 1], Path::new("whyfaster"));
    assert_eq!(there.len(), 5);
    assert!(there.iter().all(|command| command.command.contains("1000") && !command.command.contains('@')));
    assert_eq!(left_out, [("parallel".to_owned(), Unfit::NotInstalled("parallel".to_owned()))]);

    let (_, placement) = commands("placement");
    let fitting = |cpus: &[u32]| placement.fitting(9, path, cpus, Path::new("/a b/whyfaster"));
    assert_eq!(fitting(&[5]).1, [("pinned".to_owned(), Unfit::OneCpu)]);
    assert_eq!(fitting(&[0, 3]).1, [("pinned".to_owned(), Unfit::NotInstalled("taskset".to_owned()))]);
    let taskset = programs.path().join("taskset");
    fs::write(&taskset, "").unwrap();
    fs::set_permissions(&taskset, fs::Permissions::from_mode(0o755)).unwrap();
    let (there, left_out) = fitting(&[0, 3]);
    assert!(left_out.is_empty());
    let line = |name: &str| there.iter().find(|it| it.name == name).unwrap().command.clone();
    assert!(line("pinned").starts_with("taskset -c 3 "));
    assert!(line("advised").starts_with("'/a b/whyfaster' stage"));
}

/// Every command whose output is checked prints what the generator of its input expects.
#[test]
fn commands_do_the_work_that_the_input_asks_for() {
    for (name, of) in [("pipes", 2), ("placement", 3)] {
        let (study, commands) = commands(name);
        let input = commands.input.as_ref().unwrap();
        let made = input.generator.generate(input.seed, 5_000);
        let files: Vec<_> =
            study.files.iter().copied().chain([(input.file.as_str(), made.text.as_str())]).collect();
        let dir = WorkDir::make(name, PlaceKind::Directory, &files).unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let (there, _) = commands.fitting(5_000, &path, &[0, 1], Path::new("whyfaster"));
        // The advice is the program's own, which a unit test is not; CPU 1 may not be ours.
        let checked = there.iter().filter(|it| name == "pipes" || it.output.is_some());
        let checked: Vec<_> =
            checked.filter(|it| it.name != "advised").map(|it| it.command.replace("-c 1", "-c 0")).collect();
        assert!(checked.len() == of || name == "placement" && checked.len() == of - 1, "{checked:?}");
        for command in &checked {
            let output = Process::new("sh").args(["-c", command]).current_dir(dir.path()).output().unwrap();
            assert!(output.status.success() && output.stderr.is_empty(), "{command}");
            assert_eq!(hexadecimal(&Sha256::digest(&output.stdout)), made.expected_sha256, "{command}");
        }
    }
}

#[test]
fn the_directory_is_removed_with_everything_in_it() {
    let dir = WorkDir::make("pipes", PlaceKind::Directory, &[("a", "text")]).unwrap();
    let path = dir.path().to_owned();
    assert!(path.join("a").is_file() && dir.file_system().is_none());
    drop(dir);
    assert!(!path.exists());
}

/// The rows of a study, and no others, come out of its probes.
#[test]
fn a_study_measures_what_it_shows() {
    let probes = whyfaster_probe::descriptions();
    for (name, lines) in [("threads", 15), ("syscalls", 10)] {
        let study = find(name).unwrap();
        let Measures::Prices(prices) = &study.measures else { panic!("{name}") };
        let (words, rows) = (prices.probes.clone(), study.measured_rows().unwrap());
        let wanted = Wanted { words, rows: rows.clone(), cpus: vec![0, 1], ..Wanted::default() };
        let selection = select(&probes, &wanted).unwrap();
        assert_eq!(selection.lines.len(), lines, "{name}");
        let ids: Vec<String> = selection
            .lines
            .iter()
            .flat_map(|line| {
                let probe = probes.iter().find(|probe| probe.name == line.probe).unwrap();
                probe.measures.iter().map(|m| row_id(&probe.name, &variant(probe, &line.head(), m)))
            })
            .collect();
        assert!(rows.iter().all(|row| ids.contains(row)), "{name}: {rows:?} of {ids:?}");
    }
}

/// What is wrong in the file of an engine is named, with the file.
#[test]
fn an_engine_that_is_wrong_is_named() {
    let read = |text: &str| format!("{:#}", Engine::read("mine", text).unwrap_err());
    for (text, why) in [
        ("{", "EOF"),
        (r#"{ "title": "t" }"#, "one of mechanism, submit and client"),
        (r#"{ "title": "t", "submit": "a", "client": "b" }"#, "one of mechanism, submit and client"),
        (r#"{ "title": "t", "submits": "a" }"#, "unknown field `submits`"),
        (r#"{ "title": "t", "submit": "a", "needs": [{ "program": "p" }] }"#, "p has no package"),
        (r#"{ "title": "t", "submit": "a", "needs": [{ "debian": "p" }] }"#, "a program or a module"),
    ] {
        let said = read(text);
        assert!(said.contains("studies/ladder/engines/mine.json") && said.contains(why), "{said}");
    }
}

/// The files of all engines are read, and every program that they name lies beside them.
#[test]
fn every_engine_is_whole() {
    let study = find("ladder").unwrap();
    let engines = study.engines().unwrap();
    let files: Vec<&str> = study.engine_files().map(|(name, _)| name).collect();
    assert!(engines.len() >= 17 && engines[0].needs.is_empty(), "{}", engines.len());
    for engine in &engines {
        let lines = [&engine.start, &engine.submit, &engine.client];
        for line in lines.into_iter().flatten() {
            for named in line.split("$LADDER_FILES/").skip(1) {
                let name = named.split('"').next().unwrap();
                assert!(files.contains(&name), "{}: {name}", engine.name);
            }
        }
    }
}

#[test]
fn what_nothing_here_can_fetch_is_not_promised() {
    let engine =
        |name: &str| find("ladder").unwrap().engines().unwrap().into_iter().find(|it| it.name == name);
    let celery = engine("celery").unwrap();
    let fetched = |apt: bool| celery.needs.iter().map(|need| need.fetched_as(apt)).collect::<Vec<_>>();
    let named = |names: [Option<&str>; 3]| names.map(|name| name.map(str::to_owned)).to_vec();
    let debian = ["debian:redis-server", "debian:python3-celery", "debian:python3-redis"].map(Some);
    assert_eq!(fetched(true), named(debian));
    assert_eq!(fetched(false), named([None, Some("pypi:celery"), Some("pypi:redis")]));
    let needs: Vec<_> = celery.needs.iter().collect();
    let said = |apt: bool| words::lacks(&needs, apt);
    assert!(said(true).ends_with("--install fetches it") && said(true).contains("(Debian: python3-celery)"));
    assert!(!said(false).contains("--install") && said(false).contains("(PyPI: celery)"), "{}", said(false));
}

/// A module that lies there for another version of Python is found by its name, and cannot be used.
#[test]
fn a_module_that_cannot_be_imported_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("distributed.py"), "raise ImportError('of another version')").unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let environment = [("PYTHONPATH".to_owned(), directory.path().into())];
    let dask = find("ladder").unwrap().engines().unwrap().into_iter().find(|it| it.name == "dask").unwrap();
    let found = dask.look(&path, &environment);
    assert!(found.python.is_none() && found.missing.len() == 1, "{found:?}");
}
