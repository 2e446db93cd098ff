//! Limits on processes and files: what multiplies without end is ended, and a level that cannot run is reported while the
//! others go on.

use std::fs;
use std::os::unix::process::CommandExt;

use crate::support::group::Group;
use crate::support::needs::{Need, capabilities, needs, root, tool};
use crate::support::user::{USER, as_user, place_of_user, run_without_privileges, start_as_user};
use crate::support::{PROGRAM, Ran, Sandbox};

/// A script whose children multiply without end. It waits itself, because a shell that cannot fork ends.
fn bomb(marker: &str) -> String {
    let multiply = "\"$0\" x & \"$0\" x & setsid \"$0\" x & wait; exec \"$0\" x";
    format!(
        "#!/bin/sh\n# {marker}\nif [ \"$1\" = x ]; then {multiply}; fi\n\"$0\" x &\nexec sleep {marker}\n"
    )
}

/// A command that multiplies until it may not any more, under a limit that is not ours.
#[test]
fn a_command_that_forks_without_end_is_ended() {
    needs!(root());
    let place = Sandbox::open();
    let m = &place.marker;
    place.script("bomb", &bomb(m));
    let record = place.file("r.json");
    // A user of this test's own: the limit counts all processes of a user.
    let user = format!("{}", 3_000_000 + std::process::id());
    let words = ["compare", "-N", "--timeout", "1s", "--runs", "2", "--record", &record, "./bomb"];
    let words = [&["--nproc=150", PROGRAM], &words[..]].concat();
    let ran = place.finish(as_user(&place, &user, "prlimit", &words));
    assert_bomb_ended(&place, &ran);
}

/// The time-out ended it, or its trial showed that it takes all that the limit allows; nothing is left in either case.
fn assert_bomb_ended(place: &Sandbox, ran: &Ran) {
    match ran.code() {
        6 => ran.expect_error(6, &["no level could be measured", "processes", "raise it"]),
        _ => {
            ran.expect(0, &[]);
            assert!(ran.out.contains("time-out of 1.0 s; raise --timeout"), "{}", ran.out);
        }
    }
    place.assert_clean();
}

/// The same under a limit of a control group, which is how containers are limited.
#[test]
fn a_command_that_forks_without_end_in_a_container_is_ended() {
    needs!(root());
    let group = needs!(pids_group(120));
    let place = Sandbox::new();
    let m = &place.marker;
    place.script("bomb", &bomb(m));
    let record = place.file("r.json");
    let mut command =
        place.whyfaster(&["compare", "-N", "--timeout", "1s", "--runs", "2", "--record", &record, "./bomb"]);
    let procs = group.procs();
    // SAFETY: writes "0" (this process) to a file; the path was made before the fork, allocation is fine in this test.
    unsafe { command.pre_exec(move || fs::write(&procs, "0")) };
    let ran = place.finish(command);
    assert_bomb_ended(&place, &ran);
}

/// A control group with a limit on processes.
fn pids_group(limit: u32) -> Need<Group> {
    let settings = [("pids.max", &*limit.to_string())];
    Group::make("pids", &settings, &settings)
}

#[test]
fn a_level_that_cannot_run_is_reported_and_the_others_go_on() {
    needs!(root());
    let place = Sandbox::open();
    let record = place.file("r.json");
    let limited = |limits: &[&str], args: &[&str]| {
        let _ = fs::remove_file(&record);
        let user = format!("{}", 3_100_000 + std::process::id());
        let compare = [PROGRAM, "compare", "--record", &record, "--load", "1,3,100"];
        place.finish(as_user(&place, &user, "prlimit", &[limits, &compare, args].concat()))
    };
    // Known beforehand, by processes and by open files.
    let cases: [(&[&str], &[&str], &str); 2] = [
        (&["--nproc=40"], &["-N", "--runs", "2", "sleep 0.02"], "processes"),
        (&["--nofile=100"], &["-N", "--runs", "2", "--output", "pipe", "sleep 0.02"], "open files"),
    ];
    for (limits, args, what) in cases {
        let ran = limited(limits, args).ok();
        let record = place.record("r.json");
        let loads: Vec<u64> =
            record["levels"].as_array().unwrap().iter().map(|l| l["load"].as_u64().unwrap()).collect();
        assert_eq!(loads, [1, 3], "{what}");
        let why = record["not_measured"].to_string();
        assert!(why.contains("100") && why.contains(what) && why.contains("--load up to"), "{why}");
        assert!(ran.out.contains("not measured") && ran.out.contains(what), "{}", ran.out);
    }
    place.assert_clean();
}

/// The limit is met in the middle of a level: the kernel refuses to create a copy.
#[test]
fn a_copy_that_cannot_be_created_skips_its_level() {
    needs!(root());
    let group = needs!(pids_group(64));
    let place = Sandbox::new();
    let m = &place.marker;
    // Once the trial is over, the first prepare of the highest level fills the group, which no look beforehand can know.
    let procs = group.procs();
    let fill = format!(
        "test -e filled || test \"$HYPERFINE_ITERATION\" != 1 || {{ touch filled; for i in $(seq 45); do sleep {m} & done; }}"
    );
    let record = place.file("r.json");
    let mut command = place.whyfaster(&[
        "compare",
        "-N",
        "--runs",
        "3",
        "--load",
        "2,20",
        "--prepare",
        &fill,
        "--record",
        &record,
        "true",
    ]);
    // SAFETY: as above.
    unsafe { command.pre_exec(move || fs::write(&procs, "0")) };
    place.finish(command).ok();
    let record = place.record("r.json");
    let why = record["not_measured"].to_string();
    assert!(why.contains("20"), "{why}");
    assert!(record["levels"].as_array().unwrap().iter().any(|level| level["load"] == 2), "{record}");
    // What a hook leaves running stays: end it.
    place.end_sleepers();
    place.assert_clean();
}

/// Whatever the limit of open files is, what does not fit is said as such.
#[test]
fn few_open_files_are_no_defect() {
    let mut told = 0;
    for limit in (3..=12).chain([16, 20, 24, 31, 32, 40]) {
        for verb in [
            "compare --runs 2 --record r.json true",
            "compare --load 4 --runs 2 --output pipe true",
            "trace --level rusage true",
        ] {
            let place = Sandbox::new();
            let ran = place.shell(&format!("ulimit -n {limit}; exec \"$whyfaster\" {verb}"));
            if limit >= 16 {
                // A load may need more, and then the level says so.
                assert!(ran.code() == 0 || ran.err.contains("open files"), "{}", ran.err);
            } else if ran.err.starts_with("error: ") {
                // Not so if the shell or the loader lacked one already.
                ran.expect_error(6, &["open files are limited to", "ulimit -n 16"]);
                told += 1;
            }
            assert!(!ran.err.contains("defect"), "{}", ran.err);
            place.assert_clean();
        }
    }
    assert!(told > 0, "no limit was low enough to be told");
}

/// A limit of file sizes costs the file that does not fit, and not the report; the commands have the limit as it is.
#[test]
fn a_limit_of_file_sizes_loses_no_report() {
    let place = Sandbox::new();
    let line = "ulimit -f 1; exec \"$whyfaster\" compare --runs 3 --record r.json 'grep SigBlk /proc/self/status >blocked'";
    let ran = place.shell(line);
    ran.expect(1, &["r.json", "File too large"]);
    assert!(ran.out.contains("grep SigBlk"), "no report: {}", ran.out);
    assert!(!place.path("r.json").exists());
    assert!(place.read("blocked").contains("0000000000000000"));
    let large = "head -c 100000 /dev/zero >large";
    let ran = place.shell(&format!("ulimit -f 1; exec \"$whyfaster\" compare -N -M 1 \"sh -c '{large}'\""));
    ran.expect_error(5, &["File size limit exceeded"]);
    place.assert_clean();
}

/// The file of the program gives nobody rights.
#[test]
fn a_program_with_rights_of_its_own_is_refused() {
    needs!(root());
    let place = place_of_user();
    let copy = place.file("copy");
    fs::copy(PROGRAM, &copy).unwrap();
    let run = |words: &[&str]| place.finish(as_user(&place, USER, &copy, words));
    for mode in [0o4755, 0o2755] {
        fs::set_permissions(&copy, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        run(&["compare", "touch ran"]).expect_error(6, &["runs with the rights of", "chmod ug-s"]);
    }
    fs::set_permissions(&copy, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert!(!place.path("ran").exists());
    // The program could make a permitted capability effective.
    for more in ["cap_dac_override,cap_bpf+ep", "cap_dac_override+p"] {
        needs!(capabilities(more, &copy));
        run(&["compare", "touch ran"])
            .expect_error(6, &["other capabilities than observing needs", "setcap -r"]);
    }
    needs!(capabilities("cap_bpf,cap_perfmon+ep", &copy));
    run(&["compare", "--why=no", "-r", "1", "true"]).ok();
    assert!(!place.path("ran").exists());
}

/// A program with rights of its own loses them under ptrace, and then does something else: that is said, and no account is made of it.
#[test]
fn who_loses_rights_by_being_traced_is_told_of() {
    needs!(root());
    let place = place_of_user();
    let rise = "./rise --reuid 0 --regid 0 --clear-groups true";
    // What may only be executed lets nobody look at it.
    fs::copy(place.path("rise"), place.path("closed-rise")).unwrap();
    fs::set_permissions(place.path("closed-rise"), std::os::unix::fs::PermissionsExt::from_mode(0o4111))
        .unwrap();
    let closed = rise.replace("./rise", &place.file("closed-rise"));
    for (level, line) in [("unprivileged", rise), ("ptrace", rise), ("unprivileged", &closed)] {
        let ran = start_as_user(
            &place,
            &["trace", "--level", level, "--untraced-runs", "0", "--", "sh", "-c", line],
        )
        .wait()
        .ok();
        assert!(ran.flowing().contains("rise' ran without its set-user-ID rights"), "{}", ran.out);
    }
    let compare = ["compare", "--max-runs", "2", "--load", "2", "--record", "r.json"];
    start_as_user(&place, &[&compare[..], &[rise]].concat()).wait().ok();
    let why = place.record("r.json")["not_measured"].to_string();
    assert!(why.contains("rights of its own"), "{why}");
    // Where tracing takes nothing, nothing is said.
    start_as_user(&place, &[&compare[..], &["true"]].concat()).wait().ok();
    assert!(!place.record("r.json")["not_measured"].to_string().contains("rights of its own"));
    place.assert_clean();
}

#[test]
fn warm_up_leaves_time_for_rounds() {
    let place = Sandbox::new();
    let args = ["compare", "-w", "1000", "--max-time", "2s", "--record", "r.json", "sleep 0.1"];
    place.run(&args).ok();
    let record = place.record("r.json");
    let why = record["not_measured"].to_string();
    assert!(why.contains("warm-up") && why.contains("of 1000 runs"), "{why}");
    assert!(!record["batches"].as_array().unwrap().is_empty());
    // Without a limit that was asked for, all of them run.
    place.run(&["compare", "-w", "30", "-r", "1", "echo >>warmed"]).ok();
    assert_eq!(place.read("warmed").lines().count(), 31);
}

/// The pipes of many copies take more descriptors than the soft limit has, in every batch: what is measured keeps that limit.
#[test]
fn copies_have_the_limit_that_whyfaster_was_started_with() {
    let place = Sandbox::new();
    let noted = format!("ulimit -n >>{}", place.file("limits"));
    let limit = "--nofile=64:4096";
    let words = ["compare", "--output=pipe", "--load=30", "--runs=3", "--why=no", &noted];
    place.finish(place.command("prlimit", &[&[limit, PROGRAM][..], &words].concat())).ok();
    let limits = place.lines("limits");
    assert!(limits.len() >= 90 && limits.iter().all(|it| it == "64"), "{limits:?}");
    place.assert_clean();
}

/// The kernel gives a user's further pipes two pages where those there are hold much (pipe(7)), as it would behind a pipe for every copy that an
/// open batch could ever have.
#[test]
fn pipes_of_what_is_measured_are_as_large_as_without_us() {
    needs!(tool("python3"));
    let place = Sandbox::open();
    let pipe = "import fcntl, os; print(fcntl.fcntl(os.pipe()[1], 1032), file=open('sizes', 'a'))";
    place.write("pipe.py", pipe);
    let options = ["--mode=open", "--rate=5", "--duration=1", "--output=pipe", "--runs=1", "--why=no"];
    run_without_privileges(&place, &[&["compare"], &options[..], &["python3 pipe.py"]].concat()).ok();
    let sizes = place.lines("sizes");
    assert!(sizes.len() >= 5 && sizes.iter().all(|it| it == "65536"), "{sizes:?}");
    place.assert_clean();
}
