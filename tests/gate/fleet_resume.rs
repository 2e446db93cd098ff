//! `fleet resume` in a directory that somebody else wrote reaches no machine unless the user confirms, and never another directory.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::needs::{needs, root};
use crate::support::user::{NOBODY, as_user, program_for_all};
use crate::support::{Ran, Sandbox};

/// A place whose `ssh` notes whom it was to reach, and reaches nobody.
fn place() -> Sandbox {
    let place = Sandbox::open();
    place.script("ssh", "#!/bin/sh\necho \"$*\" >>reached\nexit 7\n");
    place
}

/// A place with a run that lacks the record of its machine.
fn with_run() -> Sandbox {
    let place = place();
    begun(run(&place, &["fleet", "doctor", "ssh:alpha", "--to=runs"]));
    fs::remove_file(place.path("reached")).unwrap();
    place
}

fn begun(ran: Ran) {
    ran.expect(1, &["alpha: it could not be reached (exit status 7)"]);
}

fn run(place: &Sandbox, args: &[&str]) -> Ran {
    place.finish(finding_ssh(place, place.whyfaster(args)))
}

fn finding_ssh(place: &Sandbox, mut command: std::process::Command) -> std::process::Command {
    command.env("PATH", format!("{}:{}", place.file(""), std::env::var("PATH").unwrap()));
    command
}

/// The run is refused with these words, and nobody was reached.
#[track_caller]
fn refused(place: &Sandbox, args: &[&str], said: &[&str]) {
    run(place, &[&["fleet", "resume"], args].concat()).expect_error(2, said);
    assert_eq!(place.lines("reached"), [""; 0], "a machine was reached");
}

/// Changes what the run asks for, in the file that the run began with.
fn change(place: &Sandbox, from: &str, to: &str) {
    let before = place.read("runs/fleet.run");
    assert!(before.contains(from), "{before}");
    place.write("runs/fleet.run", before.replacen(from, to, 1));
}

#[test]
fn no_name_of_a_machine_leads_out_of_the_directory() {
    let place = with_run();
    let outside = place.file("outside");
    let mut before = "\"alpha\"".to_owned();
    for name in ["../outside", &outside, ".hidden", "", "a/b", ".."] {
        let after = format!("\"{name}\"");
        change(&place, &before, &after);
        refused(&place, &["runs"], &[&format!("calls a machine '{name}'")]);
        // The user confirms the work that the run asks for, and not the places of its records.
        refused(&place, &["runs", "--trust"], &[&format!("calls a machine '{name}'")]);
        before = after;
    }
    // Two machines, one file.
    change(&place, "[[\"..\",\"ssh:alpha\"]]", "[[\"a\",\"ssh:alpha\"],[\"a\",\"ssh:beta\"]]");
    refused(&place, &["runs"], &["calls a machine 'a'"]);
}

#[test]
fn no_link_leads_a_record_out_of_the_directory() {
    let place = with_run();
    symlink("../outside", place.path("runs/alpha.json")).unwrap();
    refused(&place, &["runs"], &["runs/alpha.json' is not a plain file"]);
    refused(&place, &["runs", "--trust"], &["runs/alpha.json' is not a plain file"]);
    // Nor does a link that exists before the run begins.
    fs::create_dir(place.path("new")).unwrap();
    symlink("../outside", place.path("new/alpha.json")).unwrap();
    run(&place, &["fleet", "doctor", "ssh:alpha", "--to=new"])
        .expect_error(2, &["new/alpha.json' stands there already"]);
    // And none leads to the run of another directory.
    fs::create_dir(place.path("link")).unwrap();
    symlink("../runs/fleet.run", place.path("link/fleet.run")).unwrap();
    refused(&place, &["link", "--trust"], &["cannot open 'link/fleet.run'"]);
}

#[test]
fn a_time_that_is_none_is_damage() {
    let place = with_run();
    for (from, to) in [("\"limit_s\":3600.0", "\"limit_s\":-1"), ("\"limit_s\":-1", "\"limit_s\":1e18")] {
        change(&place, from, to);
        run(&place, &["fleet", "resume", "runs"]).expect_error(1, &["is no time to wait"]);
    }
}

#[test]
fn a_copied_run_or_one_that_others_may_write_is_confirmed_first() {
    let place = with_run();
    place.shell("cp -a runs copy").ok();
    let asks = ["it asks for: whyfaster doctor", "on alpha: ssh:alpha", "fleet resume --trust 'copy'"];
    refused(&place, &["copy"], &[&["not the file that the run began with"][..], &asks].concat());
    for (path, mode) in
        [("runs", 0o777), ("runs", 0o775), ("runs/fleet.run", 0o666), ("runs/fleet.run", 0o664)]
    {
        let before = fs::metadata(place.path(path)).unwrap().permissions();
        fs::set_permissions(place.path(path), Permissions::from_mode(mode)).unwrap();
        refused(&place, &["runs"], &["others may write to", "it asks for: whyfaster doctor"]);
        fs::set_permissions(place.path(path), before).unwrap();
    }
    let confirmed = run(&place, &["fleet", "resume", "copy", "--trust"]);
    assert!(confirmed.err.contains(asks[1]), "{}", confirmed.err);
    begun(confirmed);
    assert_eq!(place.lines("reached").len(), 1);
    // The user's own run, where it began, asks for nothing; no umask makes it another's.
    begun(run(&place, &["fleet", "resume", "runs"]));
    let line = "umask 0; $whyfaster fleet doctor ssh:alpha --to=wide; $whyfaster fleet resume wide";
    begun(place.finish(finding_ssh(
        &place,
        place.command("sh", &["-c", &line.replace("$whyfaster", crate::support::PROGRAM)]),
    )));
}

#[test]
fn a_run_of_another_user_is_confirmed_first_and_that_of_the_caller_of_sudo_is_not() {
    needs!(root());
    let place = place();
    let program = program_for_all(&place);
    let hostile = as_user(&place, NOBODY, &program, &["fleet", "doctor", "ssh:alpha", "--to=runs"]);
    begun(place.finish(finding_ssh(&place, hostile)));
    fs::remove_file(place.path("reached")).unwrap();
    refused(&place, &["runs"], &["belongs to another user (uid 65534)", "on alpha: ssh:alpha"]);
    // The file alone is enough.
    fs::create_dir(place.path("mine")).unwrap();
    fs::rename(place.path("runs/fleet.run"), place.path("mine/fleet.run")).unwrap();
    refused(&place, &["mine"], &["fleet.run belongs to another user (uid 65534)"]);
    fs::rename(place.path("mine/fleet.run"), place.path("runs/fleet.run")).unwrap();
    let mut command = finding_ssh(&place, place.whyfaster(&["fleet", "resume", "runs"]));
    command.env("SUDO_UID", NOBODY).env("SUDO_GID", NOBODY).env("SUDO_USER", "nobody");
    begun(place.finish(command));
}
