//! `prices` and `machines` from outside: planted costs and lies, one machine twice, interrupts, tight limits, bad lists.
//!
//! Times are compared only with times of the same run, and one test measures at a time.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Two measurements at once would disturb each other.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn whyfaster(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyfaster"));
    command.args(words).stdin(Stdio::null());
    command
}

fn run(words: &[&str]) -> Output {
    whyfaster(words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The price list that these words measure.
fn list(words: &[&str]) -> Value {
    let output = run(&[&["prices", "--json"], words].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn price<'a>(list: &'a Value, name: &str, variant: &str) -> &'a Value {
    let all = list["prices"].as_array().unwrap();
    let found = all.iter().find(|price| price["name"] == name && price["variant"] == variant);
    found.unwrap_or_else(|| {
        panic!("no {name}/{variant} in {:?}", all.iter().map(|p| &p["variant"]).collect::<Vec<_>>())
    })
}

fn floor(list: &Value, name: &str, variant: &str) -> f64 {
    let price = price(list, name, variant);
    price["floor_ns"].as_f64().unwrap_or_else(|| panic!("{price}"))
}

/// Tries again where a noisy machine spoilt one try; what is wrong stays wrong.
fn within_tries(tries: u32, what: &str, mut holds: impl FnMut() -> Result<(), String>) {
    let mut last = String::new();
    for _ in 0..tries {
        match holds() {
            Ok(()) => return,
            Err(why) => last = why,
        }
    }
    panic!("{what}: {last}");
}

fn close(found: f64, wanted: f64, tolerance: f64) -> Result<(), String> {
    let off = (found / wanted - 1.0).abs();
    if off <= tolerance { Ok(()) } else { Err(format!("{found} where {wanted} was planted")) }
}

#[test]
fn planted_costs_are_priced_within_five_percent() {
    let _alone = alone();
    within_tries(5, "planted costs", || {
        let list = list(&["burn", "getpid_k", "--sweep", "--quick"]);
        if let Some(hz) = list["clock"]["tsc_hz"].as_f64() {
            let ns = |cycles: f64| cycles / hz * 1e9;
            close(floor(&list, "burn", "loop,cycles=10000"), ns(10_000.0), 0.05)?;
        }
        let one = floor(&list, "getpid_k", "libc");
        for k in [2.0, 4.0, 8.0] {
            close(floor(&list, "getpid_k", &format!("libc,k={k}")), k * one, 0.05)?;
        }
        Ok(())
    });
}

#[test]
fn planted_lies_are_refused_with_the_reason() {
    let _alone = alone();
    let list = list(&["lie_switch", "lie_syscall", "lie_zero", "--quick"]);
    for (name, reason) in [
        ("lie_switch", "a switch that did not happen"),
        ("lie_syscall", "a call that never entered the kernel"),
        ("lie_zero", "steps of the clock"),
    ] {
        let lie = price(&list, name, "loop");
        let why = lie["not_measured"].as_str().unwrap_or_else(|| panic!("{name} was believed: {lie}"));
        assert!(why.contains(reason), "{why}");
        assert!(lie["median_ns"].is_null() && lie["floor_ns"].is_null() && lie["low_ns"].is_null());
        assert!(lie["receipt"].is_object());
    }
}

#[test]
fn one_machine_twice_differs_in_no_row() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let files = ["one.json", "two.json"].map(|name| directory.path().join(name).to_str().unwrap().to_owned());
    let names: [&str; 2] = [&files[0], &files[1]];
    // The rate is 5% a pair; three pairs in a row go wrong by chance once in 8000.
    within_tries(3, "rows that differ", || {
        for name in names {
            let output =
                run(&["prices", "getpid", "umask", "fstat", "vfork", "pipe", "--quick", "--record", name]);
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        let output = run(&["machines", "--json", names[0], names[1]]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = found["rows"].as_array().unwrap();
        assert!(rows.len() > 10 && rows.iter().all(|row| row["others"][0]["ratio"].is_f64()));
        let differ: Vec<&Value> = rows
            .iter()
            .filter(|row| ["faster", "slower"].contains(&row["others"][0]["verdict"].as_str().unwrap()))
            .collect();
        if differ.is_empty() { Ok(()) } else { Err(format!("{differ:#?}")) }
    });
}

#[test]
fn a_noisy_neighbour_does_not_move_the_floor_of_fast_rows() {
    let _alone = alone();
    let rows = [("getpid", "raw"), ("umask", "raw"), ("fstat", "raw")];
    let words = ["getpid", "umask", "fstat", "--quick"];
    within_tries(5, "the floor moved", || {
        let quiet = list(&words);
        let stop = AtomicBool::new(false);
        let noisy = std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().unwrap().get() {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::black_box((0..1000u64).sum::<u64>());
                    }
                });
            }
            let noisy = list(&words);
            stop.store(true, Ordering::Relaxed);
            noisy
        });
        rows.iter().try_for_each(|(name, variant)| {
            close(floor(&noisy, name, variant), floor(&quiet, name, variant), 0.10)
        })
    });
}

#[test]
fn the_list_has_the_paths_that_other_tools_read() {
    let _alone = alone();
    let list = list(&["getpid", "fork", "--quick"]);
    assert_eq!(list["schema"], "whyfaster-prices/1");
    assert_eq!(list["status"], "complete");
    let raw = price(&list, "getpid", "raw");
    for path in ["floor_ns", "median_ns", "p99_ns", "low_ns", "high_ns"] {
        assert!(raw[path].as_f64().is_some_and(|ns| ns > 0.0), "{path}: {raw}");
    }
    assert_eq!(raw["group"], "kernel");
    // Counted where the machine lets us trace; never a made-up 0.
    assert!(raw["receipt"]["syscalls"].as_f64().is_none_or(|calls| (calls - 1.0).abs() < 0.01));
    for variant in ["parent", "child", "reaped"] {
        price(&list, "fork", variant);
    }
    for fact in ["kernel", "cpus_allowed", "steal_during", "seccomp", "libc"] {
        assert!(!list["fingerprint"][fact].is_null(), "{fact}");
    }
    assert!(!list["samples"].as_array().unwrap().is_empty());
}

/// Processes below this one, from /proc: number and name.
fn descendants(of: u32) -> Vec<u32> {
    let parent = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
    };
    let all: Vec<u32> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    let mut found = vec![of];
    loop {
        let more: Vec<u32> = all
            .iter()
            .copied()
            .filter(|pid| !found.contains(pid) && parent(*pid).is_some_and(|parent| found.contains(&parent)))
            .collect();
        if more.is_empty() {
            return found.split_off(1);
        }
        found.extend(more);
    }
}

#[test]
fn an_interrupt_ends_every_process_and_keeps_a_partial_list() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("partial.json");
    let child = whyfaster(&["prices", "kernel", "process", "--record", file.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while descendants(child.id()).len() < 2 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Some repetitions, so that there is something to keep.
    std::thread::sleep(Duration::from_secs(3));
    let below = descendants(child.id());
    assert!(!below.is_empty(), "it has ended by itself");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("interrupted: "), "{}", text(&output.stderr));
    for pid in below {
        assert!(!Path::new(&format!("/proc/{pid}/root")).exists(), "process {pid} is still there");
    }
    let list: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(list["status"], "interrupted");
    let shown = run(&["machines", file.to_str().unwrap(), "debian-2.6.32"]);
    assert!(shown.status.success(), "a partial list is a list: {}", text(&shown.stderr));
}

#[test]
fn one_cpu_leaves_the_other_column_out() {
    let _alone = alone();
    let allowed =
        list(&["getpid", "--quick"])["fingerprint"]["cpus_allowed"][0].as_u64().unwrap().to_string();
    let list = list(&["pipe", "--quick", "--pin", &allowed]);
    let other = price(&list, "pipe", "asleep,other_cpu");
    assert_eq!(other["not_measured"], format!("needs two CPUs, and only CPU {allowed} may be used"));
    assert!(price(&list, "pipe", "asleep,same_cpu")["median_ns"].is_f64());
}

#[test]
fn wrong_words_say_what_is_meant() {
    let cases: &[(&[&str], &str)] = &[
        (&["prices", "getpdi"], "did you mean 'getpid'"),
        (&["prices", "--source", "getpdi"], "did you mean 'getpid'"),
        (&["prices", "--explain", "fork+exec"], "did you mean 'fork+execve'"),
        (&["prices", "getpid", "--pin", "8000"], "CPU 8000 may not be used here"),
        (&["prices", "--project", "many forks"], "expected a count and a name"),
        (&["machines", "macosx-10.8"], "one list alone"),
        (&["machines", "macosx-10.8", "debian-2.6.32"], "did you mean 'macosx-10.7'"),
        (&["study", "threads", "--load", "10"], "there is no load"),
        (&["study", "nothing"], "pipes, threads, syscalls"),
    ];
    for (words, part) in cases {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(part), "{words:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn sources_and_pages_are_printed_without_measuring() {
    let source = run(&["prices", "--source", "pipe_cached"]);
    assert!(text(&source.stdout).contains("read(") && text(&source.stdout).contains("c/pipe_cached.c"));
    let page = run(&["prices", "--explain", "fork"]);
    assert!(text(&page.stdout).starts_with("# fork\n"));
    let list = text(&run(&["prices", "--list"]).stdout);
    assert!(list.contains("fork+execve") && list.contains("uring_msg") && !list.contains("lie_zero"));
}

#[test]
fn tight_limits_are_told_and_not_a_crash() {
    let _alone = alone();
    for limit in ["ulimit -n 16", "ulimit -f 0", "ulimit -v 4000000"] {
        let words = format!("{limit}; exec \"$0\" prices getpid fork stat --quick --json");
        let output = Command::new("sh")
            .args(["-c", &words, env!("CARGO_BIN_EXE_whyfaster")])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let code = output.status.code();
        assert!(
            code.is_some_and(|code| [0, 1, 6].contains(&code)),
            "{limit}: {code:?} {}",
            text(&output.stderr)
        );
        if code == Some(0) {
            let list: Value = serde_json::from_slice(&output.stdout).unwrap();
            let told = |price: &Value| price["median_ns"].is_f64() != price["not_measured"].is_string();
            assert!(list["prices"].as_array().unwrap().iter().all(told), "{limit}");
        } else {
            assert!(text(&output.stderr).contains("error: "), "{limit}: {}", text(&output.stderr));
        }
    }
}

#[test]
fn references_stand_beside_each_other() {
    let output = run(&["machines", "debian-2.6.32", "macosx-10.7", "--project", "30000 fork+execve"]);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for part in
        ["6.27", "no spread given", "89.2 s", "14.2 s", "+75.0 s", "5.31% of the whole", "1% of the whole"]
    {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let output = run(&["machines", "--json", "debian-2.6.32", "athlon64-x2"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let fork = found["rows"].as_array().unwrap().iter().find(|row| row["name"] == "fork").unwrap();
    assert_eq!(fork["others"][0]["not_measured"], "not in this list");
    assert!(text(&run(&["machines"]).stdout).contains("openindiana-151a2"));
}

#[test]
fn a_hostile_list_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("bad.json");
    let name = file.to_str().unwrap();
    for (content, part) in [
        ("", "it is empty"),
        ("{\"schema\":\"whyfaster-prices/2\"}", "newer whyfaster"),
        ("{\"schema\":\"whyfaster/1\"}", "its schema is 'whyfaster/1'"),
        ("{\"schema\":\"whyfaster-prices/1\"", "ends in the middle"),
        ("{\"schema\":\"whyfaster-prices/1\",\"prices\":3}", "wrong form"),
    ] {
        fs::write(&file, content).unwrap();
        let output = run(&["machines", name, "debian-2.6.32"]);
        assert_eq!(output.status.code(), Some(1), "{content}");
        let said = text(&output.stderr);
        assert!(said.contains(name) && said.contains(part) && said.contains("hint: "), "{content}: {said}");
    }
}
