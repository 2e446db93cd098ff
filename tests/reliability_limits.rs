//! Limits on processes and files: what multiplies without end is ended, and a level that cannot run is reported while the
//! others go on.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

#[path = "support/group.rs"]
mod group;
#[path = "support/process.rs"]
mod process;

use std::fs;
use std::os::unix::process::CommandExt;

use group::Group;
use process::{Sandbox, root_or_skip};

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
    if !root_or_skip("a limit on processes for another user") {
        return;
    }
    let place = Sandbox::new();
    let m = &place.marker;
    place.script("bomb", &bomb(m));
    fs::create_dir(place.path("open")).unwrap();
    for path in [place.path(""), place.path("open"), place.path("tmp")] {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    }
    let record = place.file("open/r.json");
    // A user of this test's own: the limit counts all processes of a user.
    let user = format!("{}", 3_000_000 + std::process::id());
    let mut command = place.command("setpriv", &[]);
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups", "prlimit", "--nproc=150"]);
    command.args([
        process::PROGRAM,
        "compare",
        "-N",
        "--timeout",
        "1s",
        "--runs",
        "2",
        "--record",
        &record,
        "./bomb",
    ]);
    let ran = place.begin(command).wait();
    assert_bomb_ended(&place, &ran);
}

/// The time-out ended it, or its trial showed that it takes all that the limit allows; nothing is left in either case.
fn assert_bomb_ended(place: &Sandbox, ran: &process::Ran) {
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
    if !root_or_skip("a control group with a limit on processes") {
        return;
    }
    let Some(group) = pids_group(120) else {
        process::skipped("no pids controller is mounted here that can be written");
        return;
    };
    let place = Sandbox::new();
    let m = &place.marker;
    place.script("bomb", &bomb(m));
    let record = place.file("r.json");
    let mut command = place.command(
        process::PROGRAM,
        &["compare", "-N", "--timeout", "1s", "--runs", "2", "--record", &record, "./bomb"],
    );
    let procs = group.procs();
    // SAFETY: writes "0" (this process) to a file; the path was made before the fork, allocation is fine in this test.
    unsafe { command.pre_exec(move || fs::write(&procs, "0")) };
    let ran = place.begin(command).wait();
    assert_bomb_ended(&place, &ran);
}

/// A control group with a limit on processes.
fn pids_group(limit: u32) -> Option<Group> {
    let settings = [("pids.max", &*limit.to_string())];
    Group::make("pids", &settings, &settings)
}

#[test]
fn a_level_that_cannot_run_is_reported_and_the_others_go_on() {
    if !root_or_skip("limits on processes for another user, in a control group") {
        return;
    }
    let place = Sandbox::new();
    fs::create_dir(place.path("open")).unwrap();
    for path in [place.path(""), place.path("open"), place.path("tmp")] {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    }
    let record = place.file("open/r.json");
    let limited = |limits: &[&str], args: &[&str]| {
        let _ = fs::remove_file(&record);
        let user = format!("{}", 3_100_000 + std::process::id());
        let mut command =
            place.command("setpriv", &["--reuid", &user, "--regid", &user, "--clear-groups", "prlimit"]);
        command.args(limits).args([process::PROGRAM, "compare", "--record", &record, "--load", "1,3,100"]);
        place
            .begin({
                command.args(args);
                command
            })
            .wait()
    };
    // Known beforehand, by processes and by open files.
    let cases: [(&[&str], &[&str], &str); 2] = [
        (&["--nproc=40"], &["-N", "--runs", "2", "sleep 0.02"], "processes"),
        (&["--nofile=100"], &["-N", "--runs", "2", "--output", "pipe", "sleep 0.02"], "open files"),
    ];
    for (limits, args, what) in cases {
        let ran = limited(limits, args);
        ran.expect(0, &[]);
        let record = place.record("open/r.json");
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
    if !root_or_skip("a control group with a limit on processes") {
        return;
    }
    let Some(group) = pids_group(64) else {
        process::skipped("no pids controller is mounted here that can be written");
        return;
    };
    let place = Sandbox::new();
    let m = &place.marker;
    // Once the trial is over, the first prepare of the highest level fills the group, which no look beforehand can know.
    let procs = group.procs();
    let fill = format!(
        "test -e filled || test \"$HYPERFINE_ITERATION\" != 1 || {{ touch filled; for i in $(seq 45); do sleep {m} & done; }}"
    );
    let record = place.file("r.json");
    let mut command = place.command(
        process::PROGRAM,
        &["compare", "-N", "--runs", "3", "--load", "2,20", "--prepare", &fill, "--record", &record, "true"],
    );
    // SAFETY: as above.
    unsafe { command.pre_exec(move || fs::write(&procs, "0")) };
    let ran = place.begin(command).wait();
    ran.expect(0, &[]);
    let record = place.record("r.json");
    let why = record["not_measured"].to_string();
    assert!(why.contains("20"), "{why}");
    assert!(record["levels"].as_array().unwrap().iter().any(|level| level["load"] == 2), "{record}");
    // What a hook leaves running stays: end it.
    place.end_sleepers();
    place.assert_clean();
}
