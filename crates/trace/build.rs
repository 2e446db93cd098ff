//! Compiles the BPF programs with clang and generates their Rust side: the maps, the programs, and the structs that both
//! sides share.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use libbpf_cargo::SkeletonBuilder;

const SOURCE: &str = "bpf/whyfaster.bpf.c";

/// Where clang goes by another name than `clang`: Debian's versioned packages.
const NAMES: [&str; 8] =
    ["clang", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14", "clang-13"];

fn main() {
    println!("cargo::rerun-if-env-changed=CLANG");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=bpf");
    for entry in fs::read_dir("bpf").expect("the directory bpf is part of this crate").flatten() {
        println!("cargo::rerun-if-changed={}", entry.path().display());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("programs.rs");
    // -mcpu=v3: atomic additions that return the old value.
    let arguments =
        ["-mcpu=v3", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unknown-warning-option"];
    let built =
        SkeletonBuilder::new().source(SOURCE).clang(clang()).clang_args(arguments).build_and_generate(&out);
    if let Err(e) = built {
        panic!("the BPF programs could not be built from {SOURCE}: {e:#}");
    }
}

/// The compiler: `CLANG`, else the first that runs.
fn clang() -> String {
    let runs = |name: &str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    match env::var("CLANG") {
        Ok(named) if !named.is_empty() && runs(&named) => named,
        Ok(named) if !named.is_empty() => panic!("CLANG={named} does not run; install clang (Debian: clang), or unset it"),
        _ => NAMES.into_iter().find(|name| runs(name)).map(str::to_owned).unwrap_or_else(|| {
            panic!(
                "no clang: it compiles the programs that observe system calls and scheduling in the kernel; \
                 install it (Debian, Ubuntu: apt-get install clang; Fedora: dnf install clang), or name it in CLANG"
            )
        }),
    }
}
