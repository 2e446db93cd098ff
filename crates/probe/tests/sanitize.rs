//! The worker built with the address and undefined behaviour sanitizers runs all probes, and they find nothing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, unreachable_pub, reason = "shared by several test programs")]
mod common;

use std::path::Path;
use std::process::Command;

/// What a sanitizer complains with. Its warning that it lost sight of a stack (the one that clone3's child ends on) is none.
fn assert_silent(errors: &str) {
    let complaints: Vec<_> =
        errors.lines().filter(|l| l.contains("ERROR: ") || l.contains("runtime error: ")).collect();
    assert!(complaints.is_empty(), "{errors}");
}

/// The worker's sources with the sanitizers, all in one call of the compiler.
fn build(program: &Path) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let system = if cfg!(target_os = "linux") { "linux" } else { "other" };
    let sources = whyfaster_probe::sources().iter().map(|(name, _)| *name).filter(|name| {
        name.starts_with("c/")
            && (name.matches('/').count() == 1 || name.starts_with(&format!("c/{system}/")))
    });
    let output = Command::new("gcc")
        .current_dir(root)
        .args(["-std=gnu11", "-O0", "-g", "-pthread", "-I./include"])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .args(sources)
        .arg("-o")
        .arg(program)
        .output()
        .map_err(|e| format!("gcc: {e}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

#[test]
fn the_sanitizers_find_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("worker");
    build(&program).unwrap_or_else(|e| panic!("{e}"));
    let output = common::run(&program, &["--all", "1"], "");
    assert_silent(&output.errors);
    common::assert_all_ended(&output);
    for record in output.of("unavailable") {
        assert!(!record.get("why").starts_with("killed"), "{record:?}");
    }
    let sweep = common::run(
        &program,
        &[],
        "probe lstat * depth=8 of=symlink\nprobe fork exit rss=64M maps=1000 fds=100\n",
    );
    assert_silent(&sweep.errors);
    assert_eq!(sweep.of("verify").filter(|r| r.get("ok") == "1").count(), 3);
}
