//! Files that cannot be written or read, and streams that are closed or full: a clear error, and nothing lost.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::support::needs::{given, mounts, needs, root};
use crate::support::user::{NOBODY, as_user};
use crate::support::{PROGRAM, Ran, Sandbox, eventually};
use rustix::process::Signal;

/// A short measurement with a record.
const SHORT: &str = "compare -N --runs 3 true";

/// A gate that fails whatever time anything takes: no process has less memory.
const FAILED_GATE: &str = "compare -N --runs 8 --fail-if 'memory_peak_resident>1KiB' true";

fn quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}

/// Lines of a shell run with mounts of their own, which are gone with it.
fn with_mounts(place: &Sandbox, lines: &str) -> Ran {
    place.shell(&format!("exec unshare -m sh -c {}", quoted(lines)))
}

#[test]
fn a_full_disk_keeps_what_stood_there_and_prints_the_report() {
    let place = Sandbox::new();
    needs!(mounts());
    // One page for the old record; none for the new one.
    let fill = "mount -t tmpfs -o size=64k none /mnt && echo old > /mnt/r.json && ! head -c 100000 /dev/zero > /mnt/fill";
    for (option, file) in [("--record", "r.json"), ("--export-json", "r.json"), ("--record", "new.json")] {
        let check = format!(
            "{fill} 2> /dev/null; \"$whyfaster\" {SHORT} {option} /mnt/{file}; code=$?; cat /mnt/r.json; ls -A /mnt; exit $code"
        );
        let ran = with_mounts(&place, &check);
        ran.expect_error(1, &[&format!("/mnt/{file}"), "No space left", "Free some space"]);
        assert!(ran.out.ends_with("old\nfill\nr.json\n"), "something was lost or left: {}", ran.out);
        assert!(ran.out.contains("true"), "the report is missing: {}", ran.out);
    }
    place.assert_clean();
}

#[test]
fn a_full_disk_for_temporary_files_does_not_hinder_the_comparison() {
    let place = Sandbox::new();
    needs!(mounts());
    let line = "mount -t tmpfs -o size=64k none /mnt && TMPDIR=/mnt exec \"$whyfaster\" compare --check-output=strict --runs 2 -w 1";
    let same = format!("{line} 'seq 100000' 'seq 100000 | cat'");
    with_mounts(&place, &same).ok();
    let other = format!("{line} 'seq 100000' 'seq 99999; echo'");
    with_mounts(&place, &other).expect_error(5, &["standard output differs", "--no-check-output"]);
    with_mounts(
        &place,
        "mount -t tmpfs -o size=64k none /mnt && TMPDIR=/mnt exec \"$whyfaster\" study pipes",
    )
    .expect_error(1, &["/mnt/", "No space left", "TMPDIR"]);
}

#[test]
fn a_read_only_file_system_is_found_before_anything_is_measured() {
    let place = Sandbox::new();
    needs!(mounts());
    let line = "mount -t tmpfs -o ro none /mnt && exec \"$whyfaster\" compare --record /mnt/r.json 'touch \"$TMPDIR\"/ran'";
    with_mounts(&place, line).expect_error(1, &["/mnt/r.json", "Read-only", "elsewhere"]);
    place.assert_clean();
}

#[test]
fn what_cannot_be_written_is_said_before_anything_is_measured() {
    let place = Sandbox::new();
    let touch = "touch \"$TMPDIR\"/ran";
    fs::create_dir(place.path("dir")).unwrap();
    place.write("file", "kept");
    for (option, path, said) in [
        ("--record", "./dir", "Is a directory"),
        ("--export-csv", "./none/x.csv", "mkdir -p './none'"),
        ("--record", "./file/x.json", "Not a directory"),
    ] {
        place.compare(&[option, path, touch]).expect_error(1, &[path, said]);
    }
    if given(root()) {
        for path in [place.path(""), place.path("tmp")] {
            fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let ran = place.finish(as_user(&place, NOBODY, PROGRAM, &["compare", "--record", "./r.json", touch]));
        ran.expect_error(1, &["./r.json", "Permission denied", "may write to"]);
    }
    assert_eq!(place.read("file"), "kept");
    // Nothing ran, so nothing was touched.
    place.assert_clean();
}

/// Every option that names a file to write, with the verb that has it.
const OUTPUTS: [(&str, &str); 11] = [
    ("compare --runs 2", "--record"),
    ("compare --runs 2", "--export-json"),
    ("compare --runs 2", "--export-csv"),
    ("compare --runs 2", "--export-markdown"),
    ("compare --runs 2", "--export-asciidoc"),
    ("compare --runs 2", "--export-orgmode"),
    ("trace", "--record"),
    ("trace", "--perfetto"),
    ("trace", "--flamegraph"),
    ("prices getpid", "--record"),
    ("prices getpid", "--export-csv"),
];

/// A verb, an output and a command that leaves a trace when it runs.
fn writing(place: &Sandbox, verb: &str, option: &str, path: &str) -> Ran {
    let mut words: Vec<&str> = verb.split(' ').chain([option, path]).collect();
    if !verb.starts_with("prices") {
        words.push("touch \"$TMPDIR\"/ran");
    }
    place.run(&words)
}

/// In a directory in which anybody may make files, what another user put there is no place for ours, whatever the machine's
/// settings (`fs.protected_symlinks` and the like).
#[test]
fn an_output_does_not_follow_what_others_laid_out() {
    needs!(root());
    let place = Sandbox::new();
    let mine = place.path("mine");
    fs::write(&mine, "mine").unwrap();
    fs::create_dir(place.path("shared")).unwrap();
    let [link, file, pipe] = ["./shared/link", "./shared/file", "./shared/pipe"];
    symlink(&mine, place.path(link)).unwrap();
    place.write(file, "theirs");
    assert!(Command::new("mkfifo").arg(place.path(pipe)).status().unwrap().success());
    fs::set_permissions(place.path("shared"), PermissionsExt::from_mode(0o1777)).unwrap();
    for path in [link, file, pipe] {
        lchown(place.path(path), Some(65_534), Some(65_534)).unwrap();
        for (verb, option) in OUTPUTS {
            writing(&place, verb, option, path).expect_error(1, &[path, "uid 65534", "only you may write"]);
        }
    }
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    assert_eq!(place.read(file), "theirs");
    // Nothing ran, so nothing was touched.
    place.assert_clean();
    // One's own link is followed and stays, there too.
    lchown(place.path(link), Some(0), Some(0)).unwrap();
    place.compare(&["-N", "--runs", "2", "--record", link, "true"]).ok();
    assert!(fs::symlink_metadata(place.path(link)).unwrap().is_symlink());
    assert_eq!(place.record("mine")["status"], "complete");
    assert_eq!(fs::metadata(&mine).unwrap().uid(), 0);
}

/// Opening a pipe waits for a reader: that would be after the measurement, and deaf to signals.
#[test]
fn a_pipe_without_a_reader_is_found_before_anything_is_measured() {
    let place = Sandbox::new();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    for (verb, option) in OUTPUTS {
        writing(&place, verb, option, "./pipe").expect_error(1, &["./pipe", "Start the reader of the pipe"]);
    }
    place.assert_clean();
    // A reader that waits from the beginning gets all of it.
    place.shell(&format!("cat pipe > r.json & exec \"$whyfaster\" {SHORT} --record pipe")).ok();
    eventually("the record", || fs::metadata(place.path("r.json")).is_ok_and(|it| it.len() > 0));
    let ran =
        place.shell(&format!("\"$whyfaster\" {SHORT} --record /dev/stdout --style none | cat > s.json"));
    ran.ok();
    assert_eq!(place.record("s.json")["status"], "complete");
}

/// What a message quotes, whoever wrote it, moves no cursor, sets no title and turns no text around.
#[test]
fn messages_steer_no_terminal() {
    let place = Sandbox::new();
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{200b}\r\u{85}";
    place.compare(&["-N", "--runs", "3", "--record", "./r.json", "true"]).ok();
    let whole = place.read("r.json");
    let text = serde_json::to_string(hostile).unwrap();
    let word = whole.replacen("\"status\":\"complete\"", &format!("\"status\":{text}"), 1);
    assert_ne!(word, whole);
    place.write("word.json", word);
    let schema = whole.replacen("\"whyfaster/1\"", &text, 1);
    place.write("schema.json", schema);
    let place_of_prices = format!("command:printf {}", hostile.escape_default());
    let script = place
        .script("babble", &format!("#!/bin/sh\nprintf '%s\\nerror: forged\\n' '{hostile}' >&2; exit 3\n"));
    let inside = format!("command:{script}");
    let name = format!("./no{hostile}ne");
    let option = format!("--no-{hostile}such");
    let cases: [&[&str]; 12] = [
        &["show", "./word.json"],
        &["show", "./schema.json"],
        &["show", &name],
        &["machines", &name, "macosx-10.7"],
        &["compare", &option, "true"],
        &["compare", "--load", hostile, "true"],
        &["compare", "--record", &format!("{name}/r"), "true"],
        &["compare", "-N", &name],
        &[hostile],
        &["prices", hostile],
        &["prices", "getpid", "--inside", &place_of_prices],
        &["prices", "getpid", "--quick", "--inside", &inside],
    ];
    for words in cases {
        let ran = place.run(words);
        assert_ne!(ran.code(), 0, "{words:?}");
        assert_steers_nothing(&ran.err);
        let forged = ran.err.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(forged, 1, "a line of another passes for ours: {}", ran.err);
    }
    // The calls of a program whose name and whose files are hostile.
    let file = place.path("\u{202e}\u{9b}\u{7}");
    fs::copy("/bin/cat", &file).unwrap();
    let ran = place.run(&["trace", "--calls", "--output", "null", "./\u{202e}* ./\u{202e}*"]);
    ran.expect(0, &["openat("]);
    assert_steers_nothing(&ran.err);
    assert_steers_nothing(&ran.out);
}

/// Nobody can tidy up after SIGKILL: the next run does.
#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one() {
    let left = |place: &Sandbox| -> Vec<PathBuf> {
        fs::read_dir(place.path("tmp")).unwrap().flatten().map(|entry| entry.path()).collect()
    };
    let full =
        |directory: &PathBuf| fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some());
    let wait = "command:sh -c 'sleep 1000'";
    for words in
        [&["study", "pipes", "--load", "1"][..], &["prices", "getpid", "--inside", wait], &["prices"]]
    {
        let place = Sandbox::new();
        let running = place.start(words);
        let has_files = words != ["prices"];
        eventually("its directory", || {
            let found = left(&place);
            !found.is_empty() && (!has_files || found.iter().all(full))
        });
        running.signal(Signal::KILL);
        let _ = running.wait();
        eventually("its processes end", || place.alive().is_empty());
        let directories = left(&place);
        assert!(!directories.is_empty(), "{words:?}: it has gone already");
        // A young one may be that of a run that has just begun.
        for directory in &directories {
            let old = SystemTime::now() - Duration::from_secs(600);
            fs::File::open(directory).unwrap().set_modified(old).unwrap();
        }
        place.run(&["prices", "getpid", "--inside", "command:false"]).expect_error(1, &["'false'"]);
        place.assert_clean();
    }
}

/// Neither control characters nor what is invisible or turns the direction of writing.
fn assert_steers_nothing(text: &str) {
    let invisible =
        |c| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    let steers = |c: char| c != '\n' && (c.is_control() || invisible(c));
    assert!(!text.contains(steers), "{text:?}");
}

/// The directory goes away while it measures: the report is printed all the same. Another directory of its name is not taken for it.
#[test]
fn a_directory_that_vanishes_loses_the_file_only() {
    let place = Sandbox::new();
    fs::create_dir(place.path("dir")).unwrap();
    let remove = "rm -rf dir; mkdir dir";
    let ran = place.compare(&["--runs", "2", "--record", "./dir/r.json", "--export-csv", "./t.csv", remove]);
    ran.expect_error(1, &["./dir/r.json", "was removed", "leave alone", "'whyfaster show'"]);
    assert!(ran.out.contains(remove) && !place.path("dir/r.json").exists(), "{}", ran.out);
    assert!(place.read("t.csv").starts_with("command,mean"));
    place.assert_clean();
}

#[test]
fn records_that_cannot_be_used_are_refused_with_the_reason() {
    let place = Sandbox::new();
    place.compare(&["-N", "--runs", "3", "--record", "./r.json", "true"]).ok();
    let whole = place.read("r.json");
    let write = |name: &str, text: &str| {
        place.write(name, text);
        place.file(name)
    };
    let depth = 100_000;
    let deep = format!("{{\"schema\":\"whyfaster/1\",\"later\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    let cases = [
        (write("cut", &whole[..whole.len() * 2 / 3]), "ends in the middle", "Measure again"),
        (write("empty", ""), "it is empty", "--record FILE"),
        (write("text", "\u{1b}[2Jhello"), "not JSON", "--record FILE"),
        (write("deep", &deep), "recursion limit", ""),
        (write("newer", &whole.replacen("whyfaster/1", "whyfaster/2", 1)), "newer whyfaster", "Update"),
        (write("other", "{\"schema\": \"\\u001b[31mother\"}"), "its schema is", "--record FILE"),
        (write("negative", &whole.replacen("\"took_s\":", "\"took_s\":-", 1)), "took_s", "easure again"),
        (
            write("baseline", &whole.replacen("\"baseline\":0", "\"baseline\":7", 1)),
            "baseline",
            "easure again",
        ),
        (place.file("none"), "No such file", "--record FILE"),
        (place.file("tmp"), "directory", "Name a record in it"),
    ];
    for (path, why, next) in cases {
        let ran = place.run(&["show", &path]);
        ran.expect_error(1, &[&path, why]);
        let hint = ran.err.split("hint: ").nth(1).unwrap().to_lowercase();
        assert!(hint.contains(&next.to_lowercase()), "{}", ran.err);
        assert!(!ran.err.contains('\u{1b}'), "control characters reach the terminal: {:?}", ran.err);
        assert!(ran.out.is_empty(), "{}", ran.out);
    }
    // Control characters in a record that is otherwise whole.
    let name =
        write("hostile", &whole.replacen("\"name\":\"true\"", "\"name\":\"\\u001b]0;owned\\u0007x\"", 1));
    let ran = place.run(&["show", &name]).ok();
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains('\u{7}'), "{:?}", ran.out);
    if given(root()) {
        fs::set_permissions(place.path(""), PermissionsExt::from_mode(0o755)).unwrap();
        fs::set_permissions(place.path("r.json"), PermissionsExt::from_mode(0o600)).unwrap();
        let ran = place.finish(as_user(&place, NOBODY, PROGRAM, &["show", "./r.json"]));
        ran.expect_error(1, &["./r.json", "Permission denied", "right to read"]);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Sandbox::new();
    let line =
        format!("{{ \"$whyfaster\" {SHORT} --record r.json --json; echo $? > code; }} | head -n 1; cat code");
    let ran = place.shell(&line).ok();
    assert_eq!(ran.out, "{\n0\n", "{}", ran.err);
    place.record("r.json");
    // Gone before the first byte.
    let gone = "{ sleep 0.3; \"$whyfaster\" show r.json; echo $? > code; } | true; cat code";
    eventually("the code", || {
        let _ = fs::remove_file(place.path("code"));
        place.shell(&format!("{gone}; sleep 0.1")).code();
        fs::read_to_string(place.path("code")).is_ok_and(|code| code == "0\n")
    });
    // The gate's answer is not lost with the reader.
    let gate = format!("{{ \"$whyfaster\" {FAILED_GATE}; echo $? > code; }} | true; cat code");
    assert_eq!(place.shell(&gate).out, "3\n");
    place.assert_clean();
}

#[test]
fn a_full_standard_output_is_an_error() {
    let place = Sandbox::new();
    for line in [
        format!("exec \"$whyfaster\" {SHORT} > /dev/full"),
        format!("exec \"$whyfaster\" {SHORT} --json > /dev/full"),
        format!("exec \"$whyfaster\" {SHORT} --export-csv - > /dev/full"),
    ] {
        place.shell(&line).expect_error(1, &["standard output", "No space left"]);
    }
    // The file is written all the same.
    place.shell(&format!("exec \"$whyfaster\" {SHORT} --record r.json > /dev/full")).expect(1, &[]);
    assert_eq!(place.record("r.json")["status"], "complete");
    place.shell("exec \"$whyfaster\" show r.json > /dev/full").expect_error(1, &["standard output"]);
    place.shell("exec \"$whyfaster\" doctor > /dev/full").expect_error(1, &["standard output"]);
    place.shell("exec \"$whyfaster\" study > /dev/full").expect_error(1, &["standard output"]);
    place.assert_clean();
}

#[test]
fn a_closed_or_full_standard_error_changes_nothing() {
    let place = Sandbox::new();
    for stream in ["2>&-", "2> /dev/full", "2> /dev/null", "<&- 2>&-"] {
        let ran = place.shell(&format!("exec \"$whyfaster\" {SHORT} {stream}")).ok();
        assert!(ran.out.contains("true"), "{stream}: {}", ran.out);
        for (code, line) in [
            (5, "compare -N no-such-program"),
            (5, "compare --runs 2 'exit 3'"),
            (1, "show none"),
            (2, "compare --load x true"),
            (3, FAILED_GATE),
        ] {
            assert_eq!(
                place.shell(&format!("exec \"$whyfaster\" {line} {stream}")).code(),
                code,
                "{line} {stream}"
            );
        }
    }
    // Closed altogether: what is opened later must not land in the place of a standard stream.
    let ran = place.shell(&format!("exec \"$whyfaster\" {SHORT} --record r.json <&- >&- 2>&-"));
    assert_eq!(ran.code(), 1, "the report went nowhere");
    assert_eq!(place.record("r.json")["status"], "complete");
    place.assert_clean();
}

/// As a full one: what cannot be printed is an error, and said before anything is measured if it is all there is.
#[test]
fn a_closed_standard_output_is_an_error() {
    let place = Sandbox::new();
    for line in [
        "compare --runs 2 'touch \"$TMPDIR\"/ran'",
        "doctor",
        "study",
        "--help",
        "--version",
        "prices --list",
    ] {
        place
            .shell(&format!("exec \"$whyfaster\" {line} >&-"))
            .expect_error(1, &["standard output", "Bad file descriptor"]);
    }
    // Nothing ran.
    place.assert_clean();
    let kept = place.shell(&format!("exec \"$whyfaster\" {SHORT} --record r.json >&-"));
    kept.expect_error(1, &["standard output"]);
    assert_eq!(place.record("r.json")["status"], "complete");
    // Nobody wanted a report.
    place.shell(&format!("exec \"$whyfaster\" {SHORT} --record r.json --style none >&-")).ok();
    // An empty place is no closed one.
    place.shell(&format!("exec \"$whyfaster\" {SHORT} > /dev/null")).ok();
    place.shell(&format!("exec \"$whyfaster\" {SHORT} 1<> /dev/null")).ok();
}

/// The first output is kept while the second is held against it, and takes no disk while runs are timed.
#[test]
fn kept_outputs_are_given_back_before_runs_are_timed() {
    let place = Sandbox::new();
    let notes = "echo $WHYFASTER_RUN $(ls -l /proc/$PPID/fd | grep -c deleted) >> log";
    place.compare(&["--max-time=1s", "--why=no", "--prepare", notes, "seq 9", "seq 1 9"]).ok();
    let log = fs::read_to_string(place.path("log")).unwrap();
    for (line, stands) in [("trial 1\n", true), ("timed 0\n", true), ("timed 1\n", false)] {
        assert_eq!(log.contains(line), stands, "{log}");
    }
}
