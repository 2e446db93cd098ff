//! `make install-caps`: who may execute the file that has the capabilities.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Stdio};

use crate::support::needs::{capabilities, needs, root, tool};
use crate::support::user::{NOBODY, USER};
use crate::support::{Ran, Sandbox};

/// The recipe, where `make install` has left a program.
fn install_caps(place: &Sandbox, group: &[&str]) -> Ran {
    let bin = format!("BIN={}", place.file("bin"));
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut command =
        place.command("make", &["--directory", sources, "--old-file=install", "install-caps", &bin]);
    // An outer `make test` leaves its own settings here.
    for name in ["MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "GROUP"] {
        command.env_remove(name);
    }
    command.args(group);
    place.finish(command)
}

/// The program in its directory, as `make install` leaves it.
fn installed(place: &Sandbox) -> String {
    fs::create_dir_all(place.path("bin")).unwrap();
    let done = Command::new("install")
        .args(["-m", "755", "/usr/bin/true"])
        .arg(place.path("bin/whyfaster"))
        .status();
    assert!(done.unwrap().success());
    place.file("bin/whyfaster")
}

fn capabilities_of(program: &str) -> String {
    let said = Command::new("getcap").arg(program).output().unwrap();
    String::from_utf8(said.stdout).unwrap().trim().trim_start_matches(program).trim().to_owned()
}

/// Returns true if a user of this group alone may execute it.
fn runs(place: &Sandbox, group: &str, program: &str) -> bool {
    // setpriv(1) itself keeps root's rights to files up to its exec, a shell behind it has none.
    let words =
        ["--reuid", USER, "--regid", group, "--clear-groups", "--", "sh", "-c", "exec \"$0\"", program];
    place.command("setpriv", &words).stderr(Stdio::null()).status().unwrap().success()
}

#[test]
fn a_group_of_its_own_alone_may_use_the_capabilities() {
    needs!(root());
    needs!(tool("make"));
    let place = Sandbox::open();
    let program = installed(&place);
    needs!(capabilities("cap_bpf,cap_perfmon+ep", &program));
    let program = installed(&place);
    assert_eq!(capabilities_of(&program), "");
    install_caps(&place, &["GROUP=65534"]).ok();
    let about = fs::metadata(&program).unwrap();
    assert_eq!((about.gid(), about.permissions().mode() & 0o7777), (65_534, 0o750));
    assert_eq!(capabilities_of(&program), "cap_perfmon,cap_bpf=ep");
    assert!(runs(&place, NOBODY, &program) && !runs(&place, USER, &program));
    // Without a group everybody may.
    let program = installed(&place);
    install_caps(&place, &[]).ok();
    assert_eq!(fs::metadata(&program).unwrap().permissions().mode() & 0o7777, 0o755);
    assert_eq!(capabilities_of(&program), "cap_perfmon,cap_bpf=ep");
    assert!(runs(&place, USER, &program));
}

#[test]
fn a_group_that_is_not_there_gives_nobody_the_capabilities() {
    needs!(root());
    needs!(tool("make"));
    needs!(tool("setcap"));
    let place = Sandbox::open();
    for group in ["GROUP=no-such-group", "GROUP=-v", "GROUP= ", "GROUP=no such group"] {
        let program = installed(&place);
        let ran = install_caps(&place, &[group]);
        assert_ne!(ran.code(), 0, "{group}: {}", ran.out);
        assert_eq!(capabilities_of(&program), "", "{group}");
        assert!(!ran.out.contains("may observe everything"), "{group}: {}", ran.out);
    }
}
