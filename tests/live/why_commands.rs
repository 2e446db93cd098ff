//! What a trace and an explanation say of everyday commands: counts and kinds, not times.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::process::Child;

use crate::support::needs::{full, needs, tool};
use crate::support::trace::{SPIN, assert_whole, compile, rows, traced};
use crate::support::{Sandbox, list, number};
use serde_json::Value;

/// The comparison with its explanation, as JSON.
fn explained(place: &Sandbox, options: &[&str], slow: &str, fast: &str) -> Value {
    let words = [&["compare", "--why", "--json", "--no-check-output"], options, &[slow, fast]].concat();
    place.undisturbed(&words).json()
}

/// The first cause of the slower one, which is given first.
#[track_caller]
fn first_cause(record: &Value) -> &str {
    let found = &record["findings"][0];
    let name = &record["plan"]["alternatives"][0]["name"];
    assert_eq!(&found["alternative"], name, "{:#} {:#}", record["findings"], record["refused"]);
    found["cause"].as_str().unwrap()
}

fn row<'a>(trace: &'a Value, list: &str, wanted: impl Fn(&Value) -> bool) -> &'a Value {
    rows(trace, list).iter().find(|row| wanted(row)).unwrap_or_else(|| panic!("{:#}", trace[list]))
}

/// So many lines of eight bytes.
fn lines(place: &Sandbox, count: usize) -> u64 {
    let text = "1234567\n".repeat(count);
    place.write("lines", &text);
    text.len() as u64
}

/// Sixty thousand turns of a shell's loop.
fn turns(body: &str) -> String {
    format!("i=0; while [ $i -lt 60000 ]; do {body}; i=$((i+1)); done")
}

#[test]
fn looks_at_the_systems_files_are_no_start_up() {
    needs!(full());
    let place = Sandbox::open();
    let record = explained(&place, &[], &turns("[ -e /etc/passwd ]"), &turns(":"));
    // The builtin computes about as long as the kernel looks: either may come first.
    first_cause(&record);
    let found = record["findings"].as_array().unwrap();
    assert!(found.iter().all(|it| it["cause"] != "startup"), "{found:#?}");
    let files = found.iter().find(|it| it["cause"] == "files").unwrap_or_else(|| panic!("{found:#?}"));
    let calls = number(&files["fact"]["names"]["here"]);
    assert!((60_000.0..61_000.0).contains(&calls), "{calls}");
}

#[test]
fn a_million_calls_that_fail_are_named_with_their_error_and_their_function() {
    needs!(full().and(tool("cc")));
    let place = Sandbox::open();
    let source = r"
        #include <stdlib.h>
        #include <unistd.h>
        int main(int n, char **v) { for (int i = 3; i < atoi(v[1]); i++) close(i); return n == 9; }";
    let program = compile(&place, "closefds", source);
    let [slow, fast] = ["1000000", "1024"].map(|number| format!("{program} {number}"));
    let record = explained(&place, &[], &slow, &fast);
    assert_eq!(first_cause(&record), "calls", "{:#}", record["findings"]);
    let fact = &record["findings"][0]["fact"];
    assert_eq!((&fact["call"], &fact["error"]), (&"close".into(), &"EBADF".into()));
    assert_eq!(number(&fact["number"]["here"]) - number(&fact["number"]["there"]), 998_976.0);
}

#[test]
fn a_file_that_the_kernel_makes_while_it_is_read_is_named() {
    needs!(full());
    let place = Sandbox::open();
    place.write("k", std::fs::read_to_string("/proc/kallsyms").unwrap());
    let record = explained(&place, &[], "cat /proc/kallsyms", "cat k");
    assert_eq!(first_cause(&record), "files", "{:#}", record["findings"]);
    let found = &record["findings"][0];
    let file = &found["fact"]["file"];
    assert_eq!((&file["direction"], &file["path"]), (&"read".into(), &"/proc/kallsyms".into()), "{found:#}");
    assert!(number(&file["share"]) > 0.8, "{file:#}");
    assert!(
        found["sentence"].as_str().unwrap().contains("of that in reads of '/proc/kallsyms'"),
        "{found:#}"
    );
    let remedy = found["remedy"].as_str().unwrap();
    assert!(remedy.starts_with("Read that file less often"), "{remedy}");
}

#[test]
fn the_loop_behind_a_pipe_is_a_subshell_that_reads_byte_by_byte() {
    needs!(full());
    let place = Sandbox::new();
    let bytes = lines(&place, 5_000);
    let trace = traced(&place, &["sh", "-c", "cat lines | while read x; do :; done"]);
    assert_whole(&trace);
    let is_subshell = |row: &Value| row["subshell"] == true;
    let of = row(&trace, "commands", is_subshell);
    assert_eq!((&of["command"], of.get("forked")), (&"sh (subshell)".into(), None), "{of:#}");
    let read = row(&trace, "transfers", |row| is_subshell(row) && row["direction"] == "read");
    assert_eq!((&read["file"], &read["bytes"]), (&"pipe".into(), &bytes.into()), "{read:#}");
    // The last one meets the end.
    assert_eq!(read["calls"], bytes + 1, "{read:#}");
    let cat = row(&trace, "commands", |row| row["command"] == "cat");
    assert!(cat.get("subshell").is_none(), "{cat:#}");
    let forked = row(&trace, "commands", |row| row["forked"] == true);
    assert_eq!(forked["command"], "sh (forked)", "{forked:#}");
}

#[test]
fn children_that_only_begin_programs_are_no_subshells() {
    needs!(full());
    let place = Sandbox::new();
    lines(&place, 1);
    let all =
        "for i in 1 2 3; do /bin/true; done; cat lines | wc -c; x=$(wc lines); nosuchprogram 2>&3; true";
    let trace = traced(&place, &["sh", "-c", &format!("exec 3>/dev/null; {all}")]);
    for list in ["commands", "syscalls", "tree", "work"] {
        let subshell = rows(&trace, list).iter().find(|row| row["subshell"] == true);
        assert!(subshell.is_none(), "{subshell:?}");
    }
    row(&trace, "commands", |row| row["forked"] == true);
}

#[test]
fn one_byte_reads_of_a_pipe_are_small_pieces_and_no_processes() {
    needs!(full());
    let place = Sandbox::new();
    let bytes = lines(&place, 20_000);
    let slow = "cat lines | while read x; do :; done";
    let record = explained(&place, &["--why=observe", "--why-rounds", "7"], slow, "sed -n '$=' lines");
    assert_eq!(first_cause(&record), "small_io", "{:#}", record["findings"]);
    let found = &record["findings"][0];
    let (sentence, remedy) = (found["sentence"].as_str().unwrap(), found["remedy"].as_str().unwrap());
    let (whole, one) = (bytes / 1000, "reads from pipes of 1 B each");
    assert!(sentence.contains(&format!("{whole},")) && sentence.contains(one), "{sentence}");
    assert!(remedy.contains("larger pieces"), "{remedy}");
    let causes: Vec<&str> =
        record["findings"].as_array().unwrap().iter().map(|it| it["cause"].as_str().unwrap()).collect();
    assert!(!causes.contains(&"processes"), "{causes:?}");
}

/// The functions of the first cause, whose positive shares are parts of one whole.
#[track_caller]
fn functions(record: &Value) -> &[Value] {
    let functions = rows(&record["findings"][0], "functions");
    let above = functions.iter().map(|it| number(&it["share"])).filter(|share| *share > 0.0).sum::<f64>();
    assert!(above <= 1.0 + 1e-9, "{functions:#?}");
    functions
}

/// The files that runs of a script left in /tmp.
fn remove_perf_maps(script: &str) {
    for file in std::fs::read_dir("/tmp").unwrap().map(|it| it.unwrap().path()) {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let of_script = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains(script));
        if name.starts_with("perf-") && name.ends_with(".map") && of_script() {
            std::fs::remove_file(&file).unwrap();
        }
    }
}

#[test]
fn the_function_that_computes_is_said_with_its_file_and_the_record_keeps_it() {
    needs!(full());
    needs!(tool("gzip"));
    let place = Sandbox::new();
    let text: String =
        (0..40_000_u32).map(|i| format!("line {} of a text\n", i.wrapping_mul(2_654_435_761))).collect();
    place.write("text", &text);
    let options = ["--why=observe", "--why-rounds", "7", "--record", "kept.json"];
    let record = explained(&place, &options, "gzip -9 -c text", "gzip -1 -c text");
    assert_eq!(first_cause(&record), "compute", "{:#}", record["findings"]);
    let first = &functions(&record)[0];
    // Debian's has no symbols.
    assert!(first["file"].as_str().is_some_and(|file| file.ends_with("/gzip")), "{first:#}");
    assert!(number(&first["share"]) > 0.5 && number(&first["samples"]["here"]) >= 50.0, "{first:#}");
    let sentence = record["findings"][0]["sentence"].as_str().unwrap();
    let said = "(gzip has no symbols to name its functions)";
    assert!(first["symbol"].is_null() && sentence.contains(said), "{sentence}");
    let again = place.run(&["show", "--json", "kept.json"]).json();
    assert_eq!(again["findings"][0]["functions"], record["findings"][0]["functions"]);
    assert_eq!(again["findings"][0]["samples"], record["findings"][0]["samples"]);
}

#[test]
fn functions_of_a_program_with_symbols_have_their_names_and_those_of_a_script_theirs() {
    needs!(full());
    needs!(tool("node"));
    let place = Sandbox::new();
    let spin = compile(&place, "spin", SPIN);
    let record = explained(
        &place,
        &["--why=observe", "--why-rounds", "7"],
        &format!("{spin} 100000000"),
        &format!("{spin} 1000000"),
    );
    assert_eq!(first_cause(&record), "compute", "{:#}", record["findings"]);
    let first = &functions(&record)[0];
    // Whether the one is part of the other is for the compiler to say.
    assert!(["main", "compute"].contains(&first["symbol"].as_str().unwrap()), "{first:#}");
    assert_eq!(first["file"], spin, "{first:#}");
    let script = "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }\nfib(+process.argv[2])\n";
    place.write("fib.js", script);
    let [slow, fast] = ["37", "5"].map(|n| format!("node --perf-basic-prof fib.js {n}"));
    let record = explained(&place, &["--why=observe", "--why-rounds", "7"], &slow, &fast);
    for run in rows(&record, "traced") {
        let sampled = run["report"]["sampled"]["functions"].as_array().unwrap();
        assert!(!sampled.is_empty(), "{run:#}");
    }
    let found = record["findings"].as_array().unwrap().iter().find(|it| it["cause"] == "compute");
    let functions = rows(found.unwrap_or_else(|| panic!("{:#}", record["findings"])), "functions");
    let of_script = |it: &&Value| it["file"].as_str().is_some_and(|file| file.ends_with("fib.js"));
    let fib = functions.iter().find(of_script).unwrap_or_else(|| panic!("{functions:#?}"));
    assert_eq!(fib["symbol"], "fib", "{functions:#?}");
    remove_perf_maps(&place.file("fib.js"));
}

#[test]
fn a_script_before_the_program_of_its_name_is_said_with_its_part_of_the_time() {
    needs!(full());
    let place = Sandbox::new();
    lines(&place, 100);
    std::fs::create_dir(place.path("shims")).unwrap();
    let shim = place.script(
        "shims/sort",
        "#!/bin/bash\nfor ((i = 0; i < 20000; i++)); do :; done\nexec /usr/bin/sort \"$@\"\n",
    );
    let slow = format!("PATH={}:$PATH sort lines", place.file("shims"));
    let record = explained(&place, &["--why=observe", "--why-rounds", "7"], &slow, "/usr/bin/sort lines");
    let wrappers = rows(&record, "wrappers");
    assert_eq!(wrappers.len(), 1, "{wrappers:#?}");
    let it = &wrappers[0];
    assert_eq!(it["alternative"], record["plan"]["alternatives"][0]["name"], "{it:#}");
    assert_eq!((&it["script"], &it["interpreter"]), (&shim.as_str().into(), &"bash".into()), "{it:#}");
    assert_eq!((&it["program"], number(&it["times"])), (&"sort".into(), 1.0), "{it:#}");
    let (seconds, of) = (number(&it["seconds"]), number(&it["of_s"]));
    assert!(seconds > 0.5 * of && seconds <= of, "{it:#}");
    let said = rows(&record, "summary").last().unwrap().as_str().unwrap();
    assert!(said.starts_with("'sort' is a bash script here"), "{said}");
}

/// Ended with this.
struct Others(Vec<Child>);

impl Others {
    /// Two that compute on and on.
    fn compute(place: &Sandbox, spin: &str) -> Self {
        Self((0..2).map(|_| place.command(spin, &["999999999999"]).spawn().unwrap()).collect())
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        for it in &mut self.0 {
            it.kill().unwrap();
            it.wait().unwrap();
        }
    }
}

#[test]
fn nobody_computes_for_longer_than_its_cpu_time_and_what_others_took_is_a_line_of_its_own() {
    needs!(full());
    let place = Sandbox::new();
    let spin = compile(&place, "spin", SPIN);
    let _others = Others::compute(&place, &spin);
    let [slow, fast] = ["300000000", "50000000"].map(|turns| format!("{spin} {turns}"));
    let words =
        ["compare", "--json", "--no-check-output", "-N", "--why=observe", "--why-rounds", "7", &slow, &fast];
    let record = place.run(&words).json();
    assert_eq!(first_cause(&record), "compute", "{:#}", record["findings"]);
    let computes = number(&record["findings"][0]["seconds"]);
    let cpu = number(&record["differences"][0]["work_s"]["median"]).abs();
    // The part of a run that is observed has the speed of that moment.
    assert!(computes <= cpu * 1.25, "{computes} s of {cpu} s: {:#}", record["findings"]);
    let taken = record["findings"].as_array().unwrap().iter().find(|it| it["cause"] == "cpu_contention");
    // Whoever else works here may take more from the faster one by chance.
    let taken = taken.filter(|it| it["alternative"] == record["findings"][0]["alternative"]);
    let named = taken.map_or("other programs had", |it| it["sentence"].as_str().unwrap());
    assert!(named.contains("other programs had") || named.contains("others had taken"), "{named}");
    let parts: f64 = computes + taken.map_or(0.0, |it| number(&it["seconds"]));
    let whole = number(&record["differences"][0]["span_s"]["median"]).abs();
    assert!(parts <= whole * 1.25, "{parts} s of {whole} s: {:#}", record["findings"]);
}

#[test]
fn where_times_do_not_tell_who_is_faster_the_cpu_time_is_told_and_who_disturbed() {
    needs!(full());
    needs!(tool("bash"));
    let place = Sandbox::new();
    let spin = compile(&place, "spin", SPIN);
    let _others = Others::compute(&place, &spin);
    // Each run sleeps by chance for much longer than what the one computes more.
    place.script("waits", "#!/bin/bash\nsleep 0.$((RANDOM % 9))\nexec \"$@\"\n");
    let [more, less] = ["150000000", "4000000"].map(|turns| format!("./waits {spin} {turns}"));
    let options = ["-m", "8", "-M", "8", "--why=observe", "--no-check-output", "--record", "record"];
    let screen = place.compare(&[&options[..], &[&more, &less]].concat()).ok().flowing();
    let record = place.record("record");
    assert_eq!(record["levels"][0]["comparisons"][0]["verdict"], "undecided");
    assert_eq!(record["answer"]["because"]["kind"], "cpu_time", "{:#}", record["answer"]);
    assert!(record["findings"].is_null() && record["refused"].is_null(), "{:#}", record["findings"]);
    assert_eq!(
        record["answer"]["slower"], record["plan"]["alternatives"][0]["name"],
        "{:#}",
        record["answer"]
    );
    assert_eq!(record["answer"]["because"]["on"], "user", "{:#}", record["answer"]);
    for said in ["more CPU time", "other programs had"] {
        assert!(screen.contains(said), "no '{said}': {screen}");
    }
    assert!(!screen.contains(" times as long as"), "{screen}");
}

#[test]
fn buffers_of_the_c_library_are_not_tried_on_who_chooses_its_pieces_itself() {
    needs!(full().and_then(|()| tool("stdbuf")));
    let place = Sandbox::new();
    let copy = |bytes: u32| format!("head -c 1600000 /dev/zero | dd obs={bytes} status=none | wc -c");
    let record = explained(&place, &["--why-rounds", "7"], &copy(4), &copy(65_536));
    let tried = list(&record["experiments"]).iter().find(|it| it["cause"] == "small_io");
    let one = tried.unwrap_or_else(|| panic!("{:#}", record["findings"]));
    assert_eq!((&one["outcome"], &one["command"]), (&"not_testable".into(), &Value::Null), "{one:#}");
    assert!(one["sentence"].as_str().unwrap().contains("chooses the size of its pieces itself"), "{one:#}");
}

#[test]
fn a_program_that_a_loop_starts_again_and_again_is_said_to_be_started_so_often() {
    needs!(full());
    needs!(tool("mawk"));
    let place = Sandbox::new();
    let once = "mawk 'BEGIN { for (i = 0; i < 300000; i++) x += i % 7; print x }'";
    let record = explained(&place, &[], &format!("for i in $(seq 12); do {once}; done"), once);
    assert_eq!(first_cause(&record), "compute");
    let fact = &record["findings"][0]["fact"];
    assert_eq!((&fact["command"], number(&fact["starts"]["here"])), (&"mawk".into(), 12.0), "{fact:#}");
    assert_eq!(number(&fact["starts"]["there"]), 1.0, "{fact:#}");
    let sentence = record["findings"][0]["sentence"].as_str().unwrap();
    assert!(sentence.contains("most of it in 'mawk', which it starts 12 times"), "{sentence}");
}

#[test]
fn attributes_of_many_files_are_work_with_files() {
    needs!(full());
    let place = Sandbox::new();
    for file in 0..5_000 {
        std::fs::write(place.path(&format!("f{file}")), "").unwrap();
    }
    // Numbers in the place of names of users, so that nothing but the attributes differs.
    let record = explained(&place, &[], "ls -nU .", "ls -U .");
    let found = list(&record["findings"]).iter().find(|it| it["cause"] == "files");
    let found = found.unwrap_or_else(|| panic!("{:#} {:#}", record["findings"], record["refused"]));
    let calls = &found["fact"]["names"];
    assert!(number(&calls["here"]) >= 5_000.0 && number(&calls["there"]) < 1_000.0, "{found:#}");
}
