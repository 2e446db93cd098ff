//! `study ladder` with the engines of this machine: every task that was handed out ran, what is far apart is found so, and nothing stays.

use crate::support::needs::{Need, given, needs, ray, root, tool};
use crate::support::{Ran, Sandbox, children, eventually, kill, list, number};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// What `make setup-ladder` gives, by engine: from Debian, from PyPI, and what runs for root only.
const PREPARED: &str =
    "pool,fork,spawn,pipe,xargs,make,split,parallel,ssh,ssh-shared,gearman,celery,postgres";
const FROM_PYPI: &str = "dask,ray";
const AS_ROOT: &str = "slurm-step";

fn ladder(place: &Sandbox, options: &[&str]) -> Ran {
    place.run(&[&["study", "ladder", "--quick", "--seed=1"], options].concat())
}

fn slurm() -> Need {
    root().and_then(|()| tool("slurmctld"))
}

/// Nanoseconds a task; none where it was not measured.
fn price(record: &Value, name: &str, variant: &str) -> Option<f64> {
    let found = list(&record["prices"]).iter().find(|it| it["name"] == name && it["variant"] == variant);
    found.and_then(|price| price["median_ns"].as_f64())
}

/// What ran says its version, whether its programs print it as output or as an error, or are modules.
fn assert_versions(record: &Value) {
    for engine in list(&record["handing"]["engines"]) {
        let begins = match engine["name"].as_str().unwrap_or_default() {
            "xargs" => "xargs (GNU findutils) ",
            "ssh" => "OpenSSH_",
            "celery" => "Redis server v=",
            "ray" => "ray ",
            _ => continue,
        };
        let first = engine["versions"][0].as_str().unwrap_or_default();
        assert!(first.starts_with(begins), "{engine:#}");
    }
}

/// Where a machine is so slow that starting some of them takes all of a time, the rest has none.
fn once_all_started(place: &Sandbox, engines: &[&str]) -> Ran {
    let engines = format!("--engines={}", engines.join(","));
    let within = |time| {
        let ran = ladder(place, &[&engines, "--load=1,4", time, "--record=r.json", "-v"]);
        ran.expect(0, &[]);
        place.assert_clean();
        ran
    };
    let all_started = |ran: &Ran| !ran.flowing().contains("starting the others took all of --max-time");
    let mut runs = ["--max-time=36s", "--max-time=72s", "--max-time=144s"].into_iter().map(within);
    runs.find(all_started).expect("all started within one of these times")
}

#[test]
fn every_prepared_engine_hands_out_tasks() {
    for program in ["parallel", "gearman", "gearmand", "redis-server", "ssh", "make"] {
        needs!(tool(program));
    }
    let mut prepared: Vec<&str> = PREPARED.split(',').collect();
    for (more, need) in [(FROM_PYPI, ray()), (AS_ROOT, slurm())] {
        if given(need) {
            prepared.extend(more.split(','));
        }
    }
    let place = Sandbox::new();
    let ran = once_all_started(&place, &prepared);
    let record = place.record("r.json");
    let measured = |name: &str| price(&record, name, "n=1");
    let missing: Vec<_> = prepared.iter().filter(|name| measured(name).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}: {}", ran.out);
    assert_versions(&record);
    // Every burst of 4 has the latencies of 4 tasks.
    let row = |name: &str, variant: &str| {
        list(&record["rows"]).iter().position(|it| it["name"] == name && it["variant"] == variant).unwrap()
    };
    for name in ["pool", "xargs", "gearman"] {
        let of = |variant: &str| {
            let row = row(name, variant);
            let series = list(&record["samples"]).iter().filter(move |it| it["row"] == row);
            series.map(|it| list(&it["ops"]).len()).collect::<Vec<_>>()
        };
        assert!(
            of("n=4,latency").iter().zip(of("n=4")).all(|(tasks, bursts)| *tasks == 4 * bursts),
            "{name}"
        );
    }
    // Far above what noise does: orders of magnitude.
    let ssh = measured("ssh").unwrap();
    for name in ["pool", "pipe", "fork"] {
        assert!(measured(name).unwrap() * 5.0 < ssh, "{name}: {:?} against {ssh}", measured(name));
    }
    assert!(measured("pool").unwrap() < measured("parallel").unwrap());
    let [fork, ssh] = ["fork", "ssh"].map(|name| price(&record, name, "n=1,client_cpu").unwrap());
    assert!(fork * 2.0 < ssh, "{fork} against {ssh}");
    // What ended is known in ticks: few of them are no number, and never 0.
    for name in ["ssh", "gearman", "postgres"] {
        let counted = price(&record, name, "n=1,worker_cpu");
        let reason =
            format!("CPU time of the workers of {name} with 1 at once: all of them together are too few");
        assert!(counted != Some(0.0), "{name}");
        assert_eq!(counted.is_none(), ran.flowing().contains(&reason), "{name}: {counted:?}: {}", ran.out);
    }
    assert!(price(&record, "postgres", "n=1,worker_cpu").is_some(), "nothing ends there: {}", ran.out);
    // Whoever cannot be told apart has no number, and a reason.
    assert_eq!(price(&record, "ssh-shared", "n=1,client_cpu"), None);
    assert!(ran.flowing().contains("CPU time of ssh-shared: the connection that all share"), "{}", ran.out);
    // The record alone gives the same tables.
    let shown = place.run(&["show", "-v", "r.json"]).ok();
    let tables = |text: &str| text.split("tasks a second").nth(1).unwrap().to_owned();
    assert_eq!(tables(&shown.out), tables(&ran.out));
}

/// One task is measured, however long a burst takes; of more there is a reason.
#[test]
fn an_engine_that_takes_long_over_a_burst_has_a_price_of_one_task() {
    needs!(slurm());
    let place = Sandbox::new();
    let ran = ladder(
        &place,
        &["--engines=pool,slurm-array", "--load=1,4", "--max-time=5s", "--record=r.json", "-v"],
    );
    ran.expect(0, &[]);
    place.assert_clean();
    let record = place.record("r.json");
    let [pool, array] = ["pool", "slurm-array"].map(|name| price(&record, name, "n=1").unwrap());
    assert!(pool * 5.0 < array, "{pool} against {array}");
    let too_long = ran.flowing().contains("slurm-array/n=4: one burst would take");
    assert_eq!(price(&record, "slurm-array", "n=4").is_none(), too_long, "{}", ran.out);
}

#[test]
fn the_length_from_which_a_fork_does_not_matter_is_found_and_kept() {
    let place = Sandbox::new();
    // A busy machine may leave a row without a price, and the list says so.
    let measured = |_| {
        let ran = ladder(&place, &["--engines=pool,fork,xargs", "--load=1,100", "--record=r.json"]);
        ran.expect(0, &[]);
        assert!(ran.out.contains("<5% from"), "{}", ran.out);
        place.assert_clean();
        place.record("r.json")
    };
    let priced = |record: &Value| ["pool", "xargs"].iter().all(|name| price(record, name, "n=100").is_some());
    let record = (0..3).map(measured).find(priced).expect("a price of pool and xargs in one list of three");
    let thresholds = list(&record["handing"]["thresholds"]);
    let names: Vec<&str> = thresholds.iter().map(|it| it["engine"].as_str().unwrap()).collect();
    assert_eq!(names, ["fork", "xargs"]);
    for threshold in thresholds {
        let [low, typical, high] = ["low_s", "typical_s", "high_s"].map(|end| number(&threshold[end]));
        assert!(1e-3 <= low && low <= typical && typical <= high, "{threshold}");
    }
    // A task of 10 ms takes no less than its CPU time, shared by the workers.
    let handing = &record["handing"];
    let variant = format!("n={},ms=10", handing["tasks"]);
    let least_ns = 10e6 / number(&handing["workers"]);
    assert!(price(&record, "pool", &variant).unwrap() >= least_ns * 0.999);
    assert!(price(&record, "pool", "n=100").unwrap() * 2.0 < price(&record, "xargs", "n=100").unwrap());
}

#[test]
fn an_interrupt_and_a_kill_leave_nothing() {
    needs!(tool("gearmand"));
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::KILL, None)] {
        let place = Sandbox::new();
        let options = ["study", "ladder", "--engines=pool,gearman,ssh", "--max-time=60s", "--record=r.json"];
        let running = place.start(&options);
        // All engines run once the first burst of the last one was done.
        eventually("the engines", || children(running.pid()).len() >= 6);
        std::thread::sleep(std::time::Duration::from_millis(500));
        kill(running.pid(), signal);
        let ran = running.wait();
        assert!(code.is_none_or(|code| ran.code() == code), "{signal:?}: {} {}", ran.code(), ran.err);
        place.assert_clean();
    }
}

/// Whoever reaches these servers has them run programs as this user.
#[test]
fn servers_that_trust_everybody_are_reached_by_nobody_else() {
    needs!(tool("postgres"));
    needs!(ray());
    let place = Sandbox::new();
    let options = ["study", "ladder", "--engines=pool,dask,postgres", "--record=r.json"];
    let running = place.start(&options);
    let directory = |engine: &str| {
        let made = fs::read_dir(place.path("tmp")).unwrap().flatten();
        made.map(|it| it.path().join(format!("{engine}.d"))).find(|it| it.is_dir())
    };
    eventually("PostgreSQL's socket", || {
        directory("postgres").is_some_and(|it| it.join(".s.PGSQL.5432").exists())
    });
    let mode = fs::metadata(directory("postgres").unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    let network = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    let ours = network("self");
    eventually("Dask's servers and client in a network of their own", || {
        let programs = |it: &String| it.contains("/dask_") && !it.contains("__keeper");
        let dask: Vec<_> = place.alive().into_iter().filter(programs).collect();
        let apart = |it: &String| network(it.split(':').next().unwrap()).is_some_and(|it| Some(it) != ours);
        dask.iter().any(|it| it.contains("client")) && dask.iter().all(apart)
    });
    kill(running.pid(), Signal::INT);
    running.wait();
    place.assert_clean();
}

#[test]
fn what_is_missing_is_not_measured_with_the_package_that_brings_it() {
    let place = Sandbox::new();
    let options =
        ["study", "ladder", "--quick", "--engines=pool,parallel", "--max-time=1s", "--load=1", "-v"];
    let mut command = place.whyfaster(&options);
    fs::create_dir(place.path("bin")).unwrap();
    place.write("bin/apt-get", "");
    fs::set_permissions(place.path("bin/apt-get"), fs::Permissions::from_mode(0o755)).unwrap();
    command.env("PATH", place.path("bin"));
    let ran = place.finish(command);
    ran.expect(0, &[]);
    let said = ran.flowing();
    assert!(
        said.contains("parallel/n=1: parallel is not installed (Debian: parallel); --install fetches it"),
        "{said}"
    );
    place.assert_clean();
    ladder(&place, &["--engines=pool", "--install", "--max-time=1s", "--load=1"])
        .expect(0, &["nothing is missing"]);
    let ran = ladder(&place, &["--engines=pool", "--max-time=1us", "--load=1", "-v"]);
    ran.expect(6, &["no row has a price"]);
    assert!(ran.flowing().contains("pool/n=1: not started: "), "{}", ran.out);
}

#[test]
fn wrong_options_are_named() {
    let place = Sandbox::new();
    ladder(&place, &["--engines=pol"]).expect_error(2, &["no engine 'pol'", "did you mean 'pool'", "xargs"]);
    ladder(&place, &["--flamegraphs=x"]).expect_error(2, &["--flamegraphs"]);
    place
        .run(&["study", "pipes", "--engines=pool"])
        .expect_error(2, &["--engines: study pipes has no engines"]);
    place.run(&["study", "pipes", "--install"]).expect_error(2, &["--install"]);
    for words in [["study", "ladder", "--why"], ["study", "syscalls", "--why=no"]] {
        place.run(&words).expect_error(2, &["leave --"]);
    }
    ladder(&place, &["--load=auto"]).expect_error(2, &["--load", "1,10,100"]);
}
