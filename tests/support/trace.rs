//! What the tests of `trace` share: traces as JSON, and small C programs.

use serde_json::Value;

use super::needs::{full, given};
use super::user::run_without_privileges;
use super::{Ran, Sandbox};

/// `whyfaster trace` as that user.
pub(crate) fn nobody_traces(place: &Sandbox, args: &[&str]) -> Ran {
    run_without_privileges(place, &[&["trace"], args].concat())
}

/// `whyfaster trace --json`, which must succeed.
pub(crate) fn traced(place: &Sandbox, args: &[&str]) -> Value {
    place.run(&[&["trace", "--json", "--untraced-runs", "0"], args].concat()).json()
}

/// Turns of a loop that touches no memory: one that counts on its stack takes one cycle a turn, or five, as the CPU guesses.
pub(crate) const SPIN: &str = include_str!("../../bench/planted/spin.c");

const PLANTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/planted");

/// Compiles a C program, which may use what the planted ones share.
pub(crate) fn compile(place: &Sandbox, name: &str, source: &str) -> String {
    let (program, file) = (place.file(name), format!("{name}.c"));
    place.write(&file, source);
    place.finish(place.command("gcc", &["-O1", "-pthread", "-I", PLANTED, "-o", &program, &file])).ok();
    program
}

/// The rows of a list of the report.
pub(crate) fn rows<'a>(trace: &'a Value, list: &str) -> &'a [Value] {
    trace[list].as_array().unwrap_or_else(|| panic!("no list {list}: {trace}"))
}

/// A check holds. Two of them compare the clock with the scheduler's account of the same time. The hypervisor may take the CPU between the
/// readings of the two: 1.3 ms of 12 ms were seen. So these hold up to half of the time and [`BETWEEN_READINGS_S`], which no busy
/// machine reaches, and a turn that is counted twice or not at all does.
fn holds(check: &Value) -> bool {
    let [left, right] = ["left", "right"].map(|key| check[key].as_f64().unwrap());
    let of_two_clocks = ["running", "work"].map(Value::from).contains(&check["kind"]);
    check["holds"] == true || of_two_clocks && (left - right).abs() <= 0.5 * right + BETWEEN_READINGS_S
}

/// The most that the hypervisor takes between the readings of two clocks, all in all, seconds.
const BETWEEN_READINGS_S: f64 = 0.02;

/// Asserts that nothing was lost and that all accounts agree.
#[track_caller]
pub(crate) fn assert_whole(trace: &Value) {
    let lost = &trace["lost"];
    let gaps = lost["gaps"].as_u64().unwrap();
    for check in rows(trace, "checks") {
        // A switch without a record, which virtual machines have now and then, leaves out who ran meanwhile: it is told as a gap.
        let ran = check["what"].as_str().unwrap().starts_with("running time");
        assert!(holds(check) || (ran && gaps > 0), "{check} {lost}");
    }
    assert!(gaps > 0 || trace["complete"] == true, "{lost}");
}

/// Seconds that a command was blocked by a cause.
pub(crate) fn waited(trace: &Value, command: &str, cause: &str) -> f64 {
    rows(trace, "waits")
        .iter()
        .filter(|row| row["command"] == command && row["cause"] == cause)
        .map(|row| row["seconds"].as_f64().unwrap())
        .sum()
}

/// Asserts that a value is within 5% of what was planted.
#[track_caller]
pub(crate) fn within_5_percent(found: f64, planted: f64, trace: &Value) {
    let off = (found - planted).abs() / planted;
    assert!(
        off <= 0.05,
        "{found} instead of {planted}: waits {:#}, commands {:#}",
        trace["waits"],
        trace["commands"]
    );
}

/// What `strace -f -c` counts: calls and errors by the name of the call. Calls without return are not in it.
pub(crate) fn strace(place: &Sandbox, command: &[&str]) -> Vec<(String, u64, u64)> {
    // Where whyfaster runs the command as well: a shell asks for the name of its directory if $PWD is another one.
    let ran = place.finish(place.command("strace", &[&["-f", "-c", "-o", "strace.txt"], command].concat()));
    assert!(place.path("strace.txt").exists(), "{}", ran.err);
    let text = place.read("strace.txt");
    let mut rows: Vec<(String, u64, u64)> = text
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let name = words.last().filter(|name| **name != "total")?;
            let calls = words.get(3)?.parse().ok()?;
            let errors = if words.len() == 6 { words[4].parse().ok()? } else { 0 };
            Some(((*name).to_owned(), calls, errors))
        })
        .collect();
    rows.sort();
    rows
}

/// The same from a trace: calls that returned.
pub(crate) fn returned_calls(trace: &Value) -> Vec<(String, u64, u64)> {
    let mut sums = std::collections::BTreeMap::<String, (u64, u64)>::new();
    for row in rows(trace, "syscalls") {
        let number = |key: &str| row[key].as_u64().unwrap();
        let sum = sums.entry(row["name"].as_str().unwrap().to_owned()).or_default();
        sum.0 += number("calls") - number("not_returned");
        sum.1 += number("errors");
    }
    sums.into_iter()
        .filter(|(_, (calls, _))| *calls > 0)
        .map(|(name, (calls, errors))| (name, calls, errors))
        .collect()
}

/// A number of a row.
pub(crate) fn seconds(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap()
}

/// Asserts that the parts of the path sum to the wall time, and the work to the running time.
#[track_caller]
pub(crate) fn sums_up(trace: &Value) {
    let sum = |list: &str, key: &str| rows(trace, list).iter().map(|row| seconds(row, key)).sum::<f64>();
    let wall = seconds(trace, "wall_s");
    let path = sum("critical_path", "seconds");
    assert!((path - wall).abs() <= 0.005 * wall, "{path} of {wall}: {:#}", trace["critical_path"]);
    let (work, running) = (sum("work", "seconds"), sum("commands", "running_s"));
    assert!((work - running).abs() <= 0.02 * running, "{work} of {running}: {:#}", trace["work"]);
    for name in ["critical path", "running time by what"] {
        let check = rows(trace, "checks").iter().find(|it| it["what"].as_str().unwrap().starts_with(name));
        assert!(holds(check.unwrap()), "{name}: {:#}", trace["checks"]);
    }
}

/// Traces a command at the full level, and asserts that its parts sum up.
pub(crate) fn path_of(place: &Sandbox, command: &str) -> Value {
    let trace = traced(place, &["--level", "full", command]);
    sums_up(&trace);
    trace
}

/// The levels that can be had here.
pub(crate) fn levels() -> Vec<&'static str> {
    let mut levels = vec!["unprivileged", "rusage"];
    if given(full()) {
        levels.push("full");
    }
    levels
}
