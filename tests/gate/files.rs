//! Files from outside: records that are missing, damaged or hostile, outputs that cannot be written, readers that go away.
//! Through the built program, because exit statuses and messages are what a user meets.

use std::fs::{self, OpenOptions};
use std::process::Stdio;

use crate::support::needs::{mounts, needs};
use crate::support::{PROGRAM, Ran, Sandbox};

/// A sandbox with a record as the program itself writes it: `r.json`.
fn with_record() -> Sandbox {
    let place = Sandbox::new();
    place.compare(&["-N", "-r", "2", "--style", "none", "--record", "r.json", "true", "sleep 0.01"]).ok();
    place
}

#[test]
fn a_record_is_shown_and_exported_again() {
    let place = with_record();
    let shown = place.run(&["show", "r.json"]).ok();
    assert!(shown.out.contains("sleep 0.01"), "{}", shown.out);

    let once = place.run(&["show", "--json", "r.json"]).ok().out;
    place.write("again.json", &once);
    assert_eq!(once, place.run(&["show", "--json", "again.json"]).out, "showing changes a record");

    let csv = place.run(&["show", "--style", "none", "--export-csv", "-", "r.json"]).ok().out;
    assert_eq!(csv.lines().next(), Some("command,mean,stddev,median,user,system,min,max"));
    assert_eq!(csv.lines().count(), 3);

    assert_eq!(place.shell("\"$whyfaster\" show - < r.json").out, shown.out);
}

#[test]
fn what_is_no_record_is_refused_with_the_next_step() {
    let place = with_record();
    let whole = place.read("r.json");
    let deep = ["{\"x\":".repeat(100_000), "}".repeat(100_000)].concat();
    for (name, text, said) in [
        ("empty", "", "it is empty"),
        ("cut", &whole[..whole.len() / 3], "ends in the middle"),
        ("text", "not a record", "not JSON"),
        ("new", r#"{"schema":"whyfaster/99"}"#, "newer whyfaster"),
        ("deep", &deep, ""),
    ] {
        place.write(name, text);
        place.run(&["show", name]).expect_error(1, &[said]);
    }
    place.run(&["show", "missing.json"]).expect_error(1, &["missing.json", "No such file"]);
    place.run(&["show", "."]).expect_error(1, &["directory"]);
    place.run(&["show", "/dev/zero"]).expect_error(1, &["larger than"]);
}

#[test]
fn an_output_that_cannot_be_written_is_known_before_anything_runs() {
    let place = Sandbox::new();
    place
        .run(&["compare", "--record", "none/r.json", "touch ran"])
        .expect_error(1, &["none/r.json", "mkdir -p"]);
    place.run(&["compare", "--export-json", "/proc/x.json", "touch ran"]).expect_error(1, &["/proc/x.json"]);
    assert!(!place.path("ran").exists(), "the command ran although its record could not be kept");
}

#[test]
fn a_full_disk_is_an_error_and_the_old_file_stays() {
    let place = with_record();
    let no_room = ["No space left", "Free some space"];
    place.run(&["show", "--style", "none", "--export-json", "/dev/full", "r.json"]).expect_error(1, &no_room);
    place.shell("\"$whyfaster\" show r.json > /dev/full").expect_error(1, &["standard output"]);

    // A real file system of two pages, both taken, in a mount namespace of its own.
    needs!(mounts());
    fs::create_dir(place.path("small")).unwrap();
    let script = format!(
        "cd small && mount -t tmpfs -o size=8k none . && cd . && cd \"$PWD\" && echo old > out && echo full > rest && \
         $0 show --style none --export-json out {}; status=$?; ls -A; cat out; exit $status",
        place.file("r.json"),
    );
    let ran = place.finish(place.command("unshare", &["-m", "sh", "-c", &script, PROGRAM]));
    ran.expect_error(1, &no_room);
    assert_eq!(ran.out, "out\nrest\nold\n", "the old file is gone or a temporary one is left");
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let place = with_record();
    for words in [&["show", "r.json"][..], &["show", "--json", "r.json"], &["doctor"], &["study"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = place.whyfaster(words).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(Ran::from(output).ok().err, "", "{words:?}");
    }
}

#[test]
fn dev_stdout_that_is_a_file_keeps_what_it_held() {
    let place = with_record();
    place.write("out", "before\n");
    let out = OpenOptions::new().append(true).open(place.path("out")).unwrap();
    let words = ["show", "--style", "none", "--export-csv", "/dev/stdout", "r.json"];
    assert!(place.whyfaster(&words).stdout(out).status().unwrap().success());
    assert!(place.read("out").starts_with("before\ncommand,mean"), "{}", place.read("out"));
}
