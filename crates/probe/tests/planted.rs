//! Parts of the worker that ask the system, on a planted one: the step of a clock, steal, threads of one core, the size of a cache.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

fn planted() -> String {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("planted");
    let built = Command::new("gcc")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .args(["-std=gnu11", "-I./include", "-Dopen=planted_open", "-Dpread=planted_pread"])
        .args(["-Dfopen=planted_fopen", "tests/planted.c", "c/clock_quality.c", "c/linux/steal.c"])
        .args(["c/linux/topology.c", "-lm", "-o"])
        .arg(&program)
        .status()
        .unwrap();
    assert!(built.success());
    String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap()
}

#[test]
fn what_is_planted_is_seen() {
    // A clock of 24 MHz steps by 41 or 42 ns; that these differ by 1 is no step. One CPU's steal of three is not ours.
    assert_eq!(
        planted(),
        "resolution 1\nresolution 10\nresolution 41\nresolution 1000\nsteal 35\nsiblings 1 0 0 1 0\n\
         cache 33554432 0\n"
    );
}
