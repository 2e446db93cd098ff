//! Others take the CPUs: planted in another session, found, and tested by keeping them away.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use crate::support::needs::{full, needs, root};
use crate::support::{PROGRAM, Sandbox, trace};
use serde_json::Value;

/// Computes on a CPU for as many milliseconds as it is told through a pipe.
const HOG: &str = include_str!("../../bench/planted/hog.c");

/// Hogs on every CPU, each in a session of its own: the command has a fourth of a CPU beside them. Its own speed moves by half on
/// some machines, and what they cost must be far above that.
const EACH: usize = 3;

/// They are ended with this.
struct Hogs(Vec<Child>);

impl Hogs {
    fn start(place: &Sandbox) -> Self {
        let program = trace::compile(place, "hog", HOG);
        let allowed = rustix::thread::sched_getaffinity(None).unwrap();
        let cpus = (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let hog = |(cpu, nth): (usize, usize)| {
            let pipe = place.file(&format!("told.{cpu}.{nth}"));
            assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            let mut command = place.command(&program, &[&cpu.to_string(), &pipe]);
            // SAFETY: a plain system call between fork and exec.
            unsafe {
                command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?));
            }
            command.spawn().unwrap()
        };
        Self(cpus.flat_map(|cpu| (0..EACH).map(move |nth| (cpu, nth))).map(hog).collect())
    }

    fn ids(&self) -> Vec<u32> {
        self.0.iter().map(Child::id).collect()
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        for hog in &mut self.0 {
            hog.kill().unwrap();
            hog.wait().unwrap();
        }
    }
}

/// The scheduling class of a process: proc_pid_stat(5), the 41st field.
fn class(pid: u32) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let behind_name = &stat[stat.rfind(')').unwrap() + 2..];
    behind_name.split(' ').nth(41 - 3).unwrap().parse().unwrap()
}

/// A command that forks, first while the hogs compute and then while they do not; the record of why the first is slower.
fn explained(place: &Sandbox, before: &[&str]) -> Value {
    let spin = format!("{} 200000000", trace::compile(place, "spin", trace::SPIN));
    let told = place.file("told");
    let line =
        |ms: u32| format!("for p in {told}.*; do echo {ms} > $p; done; ({spin}); sh -c '{spin}; true'");
    let options = ["compare", "--why", "--json", "--no-check-output", "--why-rounds", "7"];
    let (slow, fast) = (line(300), line(0));
    let words = [before, &[PROGRAM], &options, &[slow.as_str(), fast.as_str()]].concat();
    place.finish(place.command(words[0], &words[1..])).json()
}

/// Seconds that the hogs cost at least: in 300 ms the command has a fourth of a CPU.
const PLANTED_S: f64 = 0.2;

/// The experiment on what the hogs cost. A machine whose own noise hides that is asked again, twice.
fn experiment(place: &Sandbox, before: &[&str]) -> Value {
    let mut hidden = Vec::new();
    while hidden.len() < 3 {
        match found(&explained(place, before)) {
            Ok(experiment) => return experiment.clone(),
            Err(noise) => hidden.push(noise),
        }
    }
    panic!("{PLANTED_S} s of contention are hidden by the machine's own noise: {hidden:#?}");
}

/// The same in one record; the noise that hides it.
#[track_caller]
fn found(record: &Value) -> Result<&Value, String> {
    let none = format!("not found: {} {:#} {}", record["refused"], record["findings"], record["differences"]);
    if record["refused"].is_string() {
        // Not even that one is slower was seen: by as much as that the runs of one of both differ.
        let wide = |it: &Value| {
            let [low, high] = ["low", "high"].map(|end| it["makespan_s"][end].as_f64().unwrap());
            high - low > PLANTED_S
        };
        let results = &record["levels"][0]["results"];
        assert!(results.as_array().unwrap().iter().any(wide), "{none} {results:#}");
        return Err(results.to_string());
    }
    let findings = record["findings"].as_array().expect(&none);
    let mine = |it: &&Value| it["cause"] == "cpu_contention" && it["share"].as_f64().unwrap() > 0.0;
    let noise = &record["differences"][0]["noise_s"];
    let hidden = noise.as_f64().is_none_or(|noise| noise > PLANTED_S / 2.0);
    let found = match findings.iter().find(mine) {
        None if hidden => return Err(format!("{noise} s")),
        found => found.expect(&none),
    };
    assert_eq!(found["alternative"], record["plan"]["alternatives"][0]["name"], "{found:#}");
    let experiments = record["experiments"].as_array().unwrap();
    Ok(experiments.iter().find(|it| it["cause"] == "cpu_contention").unwrap())
}

#[test]
fn others_are_kept_away_and_nobody_stays_in_the_real_time_class() {
    needs!(full().and(root()));
    let place = Sandbox::new();
    let hogs = Hogs::start(&place);
    let one = experiment(&place, &[]);
    // Others than the hogs may hide what they cost; that they are the wrong cause must not come out.
    assert!(["confirmed", "undecided"].iter().any(|it| one["outcome"] == *it), "{one:#}");
    assert!(one["prediction"].as_str().unwrap().contains("real-time class"), "{one:#}");
    assert!(one["control_s"].as_array().unwrap().len() >= 3, "{one:#}");
    assert_eq!(place.alive().len(), hogs.0.len(), "{:#?}", place.alive());
    assert!(hogs.ids().into_iter().all(|pid| class(pid) == libc::SCHED_OTHER));
    // Without the privilege nothing is tried, and it is said what is missing.
    let without = ["setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice", "--"];
    let one = experiment(&place, &without);
    assert_eq!(one["outcome"], "not_testable", "{one:#}");
    let said = "needs real-time priority (root or CAP_SYS_NICE)";
    assert!(one["sentence"].as_str().unwrap().contains(said), "{one:#}");
    drop(hogs);
    place.assert_clean();
}
