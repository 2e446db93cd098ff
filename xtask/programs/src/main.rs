//! The BPF programs of `crates/trace`, compiled for every supported architecture, and their Rust side: committed, so that whoever builds
//! whyfaster needs no clang.
//!
//! `cargo run -p xtask-programs -- generate` writes them, `cargo run -p xtask-programs -- check` fails if the committed ones differ. This is
//! not part of `xtask`, which is built from the very files that are made here.

#[path = "../../../crates/trace/fingerprint.rs"]
mod fingerprint;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use libbpf_cargo::SkeletonBuilder;
use sha2::{Digest, Sha256};

/// Compile the BPF programs, or check that the committed ones are current.
#[derive(Debug, Parser)]
struct Args {
    /// What to do
    #[arg(value_enum, default_value = "generate")]
    task: Task,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Task {
    /// Write crates/trace/prebuilt/
    Generate,
    /// Fail if what is committed differs from what would be written
    Check,
}

const SOURCE: &str = "bpf/whyfaster.bpf.c";
const OUTPUT: &str = "prebuilt";
/// What the compiler is told to write. The maps of global variables are named after it.
const OBJECT: &str = "whyfaster.o";
/// Which sources and which compiler, and the digest of each other file.
const MADE_FROM: &str = "made-from";

/// As Rust and as libbpf's headers name the architectures: the layout of registers differs.
const ARCHITECTURES: [(&str, &str); 2] = [("x86_64", "x86"), ("aarch64", "arm64")];

/// -mcpu=v3: atomic additions that return the old value.
const FLAGS: [&str; 6] =
    ["-mcpu=v3", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unknown-warning-option"];

/// Where clang goes by another name than `clang`: Debian's versioned packages.
const NAMES: [&str; 8] =
    ["clang", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14", "clang-13"];

/// Contents by name below the output directory.
type Files = BTreeMap<String, Vec<u8>>;

fn main() -> Result<ExitCode> {
    let task = Args::parse().task;
    // The objects name their sources by these relative paths, wherever the clone lies.
    let member = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/trace");
    env::set_current_dir(&member).with_context(|| format!("cannot go to {}", member.display()))?;
    match task {
        Task::Generate => generate(),
        Task::Check => check(),
    }
}

fn generate() -> Result<ExitCode> {
    let files = build(&Clang::find()?)?;
    fs::create_dir_all(OUTPUT).with_context(|| format!("cannot make {OUTPUT}"))?;
    for (name, contents) in &files {
        let path = Path::new(OUTPUT).join(name);
        fs::write(&path, contents).with_context(|| format!("cannot write {}", path.display()))?;
    }
    println!("{} files written", files.len());
    Ok(ExitCode::SUCCESS)
}

fn check() -> Result<ExitCode> {
    let made_from = fs::read_to_string(Path::new(OUTPUT).join(MADE_FROM)).unwrap_or_default();
    let sources = fingerprint::fingerprint(Path::new("bpf"))?;
    if !made_from.lines().any(|line| line == format!("sources {sources}")) {
        return Ok(stale(&["the sources in crates/trace/bpf"]));
    }
    let altered = altered(Path::new(OUTPUT), &made_from);
    if !altered.is_empty() {
        return Ok(stale(&altered.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    // Another compiler's bytes differ, so there is nothing else to compare them with.
    let clang = Clang::find()?;
    if !made_from.lines().any(|line| line == format!("clang {}", clang.version)) {
        println!(
            "the BPF programs are as {OUTPUT}/{MADE_FROM} has them, of the current sources; not compiled again: clang here is {}",
            clang.version
        );
        return Ok(ExitCode::SUCCESS);
    }
    let wanted = build(&clang)?;
    let differs = |(name, contents): &(&String, &Vec<u8>)| {
        fs::read(Path::new(OUTPUT).join(name)).ok().as_ref() != Some(*contents)
    };
    let wrong: Vec<&str> = wanted.iter().filter(differs).map(|(name, _)| name.as_str()).collect();
    if !wrong.is_empty() {
        return Ok(stale(&wrong));
    }
    println!("{} files of the BPF programs are current", wanted.len());
    Ok(ExitCode::SUCCESS)
}

/// The files of that directory that are not the ones whose digests were noted.
fn altered(directory: &Path, made_from: &str) -> Vec<String> {
    let is_noted = |name: &String| {
        let noted = fs::read(directory.join(name)).map(|contents| digest(name, &contents));
        noted.is_ok_and(|noted| made_from.lines().any(|line| line == noted))
    };
    let names = ARCHITECTURES.iter().flat_map(|(name, _)| [object_of(name), rust_of(name)]);
    names.filter(|name| !is_noted(name)).collect()
}

/// The line of a file.
fn digest(name: &str, contents: &[u8]) -> String {
    let digest: String = Sha256::digest(contents).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256 {digest} {name}")
}

fn object_of(architecture: &str) -> String {
    format!("{architecture}.bpf.o")
}

fn rust_of(architecture: &str) -> String {
    format!("{architecture}.rs")
}

fn stale(what: &[&str]) -> ExitCode {
    eprintln!(
        "crates/trace/prebuilt is not current: {} changed\nRun 'make programs' and commit what it writes.",
        what.join(", ")
    );
    ExitCode::FAILURE
}

/// Everything that belongs into the output directory.
fn build(clang: &Clang) -> Result<Files> {
    let mut files = Files::new();
    for (name, define) in ARCHITECTURES {
        let (object, skeleton) = compile(clang, define).with_context(|| format!("for {name}"))?;
        files.insert(object_of(name), object);
        files.insert(rust_of(name), skeleton.replace(OBJECT, &object_of(name)).into_bytes());
    }
    let mut lines = vec![
        format!("sources {}", fingerprint::fingerprint(Path::new("bpf"))?),
        format!("clang {}", clang.version),
    ];
    lines.extend(files.iter().map(|(name, contents)| digest(name, contents)));
    files.insert(MADE_FROM.to_owned(), (lines.join("\n") + "\n").into_bytes());
    Ok(files)
}

/// The object of one architecture and its Rust side, which includes the file `OBJECT` from its own directory.
fn compile(clang: &Clang, define: &str) -> Result<(Vec<u8>, String)> {
    let directory = tempfile::tempdir().context("cannot make a temporary directory")?;
    let object_path = directory.path().join(OBJECT);
    let skeleton = directory.path().join("programs.rs");
    let target = format!("-D__TARGET_ARCH_{define}");
    // The object's lines of source are named by paths, which are to be the same in every clone.
    let here = env::current_dir().context("cannot tell the current directory")?;
    let prefix = format!("-fdebug-prefix-map={}=.", here.display());
    SkeletonBuilder::new()
        .source(SOURCE)
        .obj(&object_path)
        .reference_obj(true)
        .clang(&clang.name)
        .clang_args(FLAGS.iter().copied().chain([target.as_str(), prefix.as_str()]))
        .build_and_generate(&skeleton)
        .with_context(|| format!("the BPF programs could not be built from {SOURCE}"))?;
    let object = fs::read(&object_path).context("cannot read the object")?;
    let temporary = directory.path().to_string_lossy();
    for directory in [&*temporary, &*here.to_string_lossy()] {
        ensure!(!contains(&object, directory.as_bytes()), "the object names the directory {directory}");
    }
    let text = fs::read_to_string(&skeleton).context("cannot read the generated Rust")?;
    let skeleton = text.replace(&*object_path.to_string_lossy(), OBJECT);
    ensure!(!skeleton.contains(&*temporary), "the generated Rust names the directory {temporary}");
    Ok((object, skeleton))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// The compiler.
struct Clang {
    name: String,
    /// The first number of its version that stands alone: "14.0.6".
    version: String,
}

impl Clang {
    /// `CLANG`, else the first that runs.
    fn find() -> Result<Self> {
        if let Some(named) = env::var("CLANG").ok().filter(|named| !named.is_empty()) {
            return Self::named(&named).with_context(|| {
                format!("CLANG={named} does not run; install clang (Debian: clang), or unset it")
            });
        }
        NAMES.into_iter().find_map(Self::named).context(
            "no clang: it compiles the programs that observe system calls and scheduling in the kernel; \
             install it (Debian, Ubuntu: apt-get install clang; Fedora: dnf install clang), or name it in CLANG",
        )
    }

    fn named(name: &str) -> Option<Self> {
        let output =
            Command::new(name).arg("--version").output().ok().filter(|output| output.status.success())?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = said.split_whitespace().skip_while(|word| *word != "version").nth(1)?;
        Some(Self { name: name.to_owned(), version: version.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_altered_file_is_found_without_the_compiler() {
        let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/trace").join(OUTPUT);
        let made_from = fs::read_to_string(committed.join(MADE_FROM)).unwrap();
        let copy = tempfile::tempdir().unwrap();
        for (name, _) in ARCHITECTURES {
            for file in [object_of(name), rust_of(name)] {
                fs::copy(committed.join(&file), copy.path().join(file)).unwrap();
            }
        }
        assert_eq!(altered(copy.path(), &made_from), [""; 0]);
        let object = object_of(ARCHITECTURES[0].0);
        let mut bytes = fs::read(copy.path().join(&object)).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(copy.path().join(&object), bytes).unwrap();
        fs::remove_file(copy.path().join(rust_of(ARCHITECTURES[1].0))).unwrap();
        assert_eq!(altered(copy.path(), &made_from), [object, rust_of(ARCHITECTURES[1].0)]);
    }
}
