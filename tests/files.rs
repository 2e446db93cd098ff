//! Files from outside: records that are missing, damaged or hostile, outputs that cannot be written, readers that go away.
//! Through the built program, because exit statuses and messages are what a user meets.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn whyfaster(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyfaster"));
    command.args(words).stdin(Stdio::null());
    command
}

fn run(words: &[&str]) -> Output {
    whyfaster(words).output().expect("the program that was just built can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A record as the program itself writes it.
fn record_in(directory: &Path) -> String {
    let path = directory.join("record.json").display().to_string();
    let output =
        run(&["compare", "-N", "-r", "2", "--style", "none", "--record", &path, "true", "sleep 0.01"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    path
}

fn fails(words: &[&str], status: i32, parts: &[&str]) {
    let output = run(words);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{words:?}: {message}");
    for part in parts {
        assert!(message.contains(part), "{words:?}: '{part}' is not in: {message}");
    }
    assert!(!message.contains("panicked"), "{message}");
}

#[test]
fn a_record_is_shown_and_exported_again() {
    let directory = tempfile::tempdir().unwrap();
    let record = record_in(directory.path());
    let shown = run(&["show", &record]);
    assert!(shown.status.success() && text(&shown.stdout).contains("sleep 0.01"), "{}", text(&shown.stdout));

    let once = run(&["show", "--json", &record]).stdout;
    let again = directory.path().join("again.json");
    fs::write(&again, &once).unwrap();
    let twice = run(&["show", "--json", &again.display().to_string()]).stdout;
    assert_eq!(text(&once), text(&twice), "showing changes a record");

    let csv = run(&["show", "--style", "none", "--export-csv", "-", &record]).stdout;
    assert_eq!(text(&csv).lines().next(), Some("command,mean,stddev,median,user,system,min,max"));
    assert_eq!(text(&csv).lines().count(), 3);

    let through_stdin = whyfaster(&["show", "-"]).stdin(fs::File::open(&record).unwrap()).output().unwrap();
    assert_eq!(text(&through_stdin.stdout), text(&shown.stdout));
}

#[test]
fn what_is_no_record_is_refused_with_the_next_step() {
    let directory = tempfile::tempdir().unwrap();
    let whole = fs::read(record_in(directory.path())).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let missing = directory.path().join("missing.json").display().to_string();
    fails(&["show", &missing], 1, &["missing.json", "No such file", "hint:"]);
    fails(&["show", &directory.path().display().to_string()], 1, &["directory", "hint:"]);
    fails(&["show", &file("empty", b"")], 1, &["it is empty", "hint:"]);
    fails(&["show", &file("cut", &whole[..whole.len() / 3])], 1, &["ends in the middle", "hint:"]);
    fails(&["show", &file("text", b"not a record")], 1, &["not JSON", "hint:"]);
    fails(&["show", &file("new", br#"{"schema":"whyfaster/99"}"#)], 1, &["newer whyfaster", "Update"]);
    fails(
        &["show", &file("deep", &[b"{\"x\":".repeat(100_000), b"}".repeat(100_000)].concat())],
        1,
        &["hint:"],
    );
    fails(&["show", "/dev/zero"], 1, &["larger than", "hint:"]);
}

#[test]
fn an_output_that_cannot_be_written_is_known_before_anything_runs() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("it-ran").display().to_string();
    let touch = format!("touch {trace}");
    let nowhere = directory.path().join("none/r.json").display().to_string();
    fails(&["compare", "--record", &nowhere, &touch], 1, &["none/r.json", "mkdir -p"]);
    fails(&["compare", "--export-json", "/proc/x.json", &touch], 1, &["/proc/x.json", "hint:"]);
    assert!(!Path::new(&trace).exists(), "the command ran although its record could not be kept");
}

#[test]
fn a_full_disk_is_an_error_and_the_old_file_stays() {
    let directory = tempfile::tempdir().unwrap();
    let record = record_in(directory.path());
    fails(
        &["show", "--style", "none", "--export-json", "/dev/full", &record],
        1,
        &["No space left", "Free some space"],
    );
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = whyfaster(&["show", &record]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("standard output"), "{}", text(&output.stderr));

    // A real file system of two pages, both taken, in a mount namespace of its own.
    let small = directory.path().join("small");
    fs::create_dir(&small).unwrap();
    let script = format!(
        "cd {} && mount -t tmpfs -o size=8k none . && cd . && cd \"$PWD\" && echo old > out && echo full > rest && \
         {} show --style none --export-json out {record}; status=$?; ls -A; cat out; exit $status",
        small.display(),
        env!("CARGO_BIN_EXE_whyfaster"),
    );
    let Ok(output) = Command::new("unshare").args(["-rm", "sh", "-c", &script]).output() else { return };
    let message = text(&output.stderr);
    if message.contains("unshare:") || message.contains("mount:") {
        eprintln!("a small file system cannot be mounted here, so this part was not tested: {message}");
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("No space left") && message.contains("Free some space"), "{message}");
    assert_eq!(text(&output.stdout), "out\nrest\nold\n", "the old file is gone or a temporary one is left");
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let directory = tempfile::tempdir().unwrap();
    let record = record_in(directory.path());
    for words in [["show", record.as_str()].as_slice(), &["show", "--json", &record], &["doctor"], &["study"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = whyfaster(words).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(text(&output.stderr), "", "{words:?}");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
    }
}

#[test]
fn dev_stdout_that_is_a_file_keeps_what_it_held() {
    let directory = tempfile::tempdir().unwrap();
    let record = record_in(directory.path());
    let path = directory.path().join("out");
    fs::write(&path, "before\n").unwrap();
    let out = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let status =
        whyfaster(&["show", "--style", "none", "--export-csv", "/dev/stdout", &record]).stdout(out).status();
    assert!(status.unwrap().success());
    let written = fs::read_to_string(&path).unwrap();
    assert!(written.starts_with("before\ncommand,mean"), "{written}");
}

#[test]
fn wrong_usage_is_status_2_and_names_what_is_accepted() {
    fails(&["compare", "--load", "0", "true"], 2, &["--load", "'0'", "from 1 to"]);
    fails(&["compare", "--delta", "5", "true"], 2, &["--delta", "'5%'"]);
    fails(&["compare", "--output", "log", "true"], 2, &["--output", "'log'", "./log"]);
    fails(&["compare", "-N", "echo 'x"], 2, &["without a shell", "hint:"]);
    fails(&["compare", "--mode", "open", "true"], 2, &["--rate"]);
    fails(&["compare"], 2, &["COMMAND"]);
    fails(&["frobnicate"], 2, &["frobnicate"]);
    fails(&["show"], 2, &["RECORD"]);
}
