//! Takes the prebuilt BPF programs only if they were made from the sources beside them. Making them needs clang, using them does not.

mod fingerprint;

use std::fs;
use std::path::Path;

fn main() {
    for path in ["build.rs", "fingerprint.rs", "bpf", "prebuilt"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let sources =
        fingerprint::fingerprint(Path::new("bpf")).expect("the directory bpf is part of this crate");
    let made_from =
        fs::read_to_string("prebuilt/made-from").expect("the directory prebuilt is part of this crate");
    assert!(
        made_from.lines().any(|line| line == format!("sources {sources}")),
        "crates/trace/prebuilt was made from other sources than those in crates/trace/bpf; \
         make it anew: `make programs` (needs clang)"
    );
}
