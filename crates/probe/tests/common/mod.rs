//! Starts the worker and reads its records.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// One line of the worker's output.
#[derive(Debug, Clone)]
pub struct Record {
    pub kind: String,
    pub fields: BTreeMap<String, String>,
}

impl Record {
    pub fn get(&self, key: &str) -> &str {
        self.fields.get(key).map_or("", String::as_str)
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key).parse().ok()
    }
}

/// What a worker wrote, and how it ended.
#[derive(Debug)]
pub struct Output {
    pub status: Option<i32>,
    pub records: Vec<Record>,
    pub errors: String,
}

impl Output {
    pub fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Record> {
        self.records.iter().filter(move |r| r.kind == kind)
    }
}

/// The worker as a file of its own.
pub fn install(directory: &Path) -> PathBuf {
    let path = directory.join("worker");
    std::fs::write(&path, whyfaster_probe::worker()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path
}

pub fn parse(text: &str) -> Vec<Record> {
    text.lines()
        .map(|line| {
            let mut parts = line.split('\t');
            let kind = parts.next().unwrap().to_owned();
            let fields = parts.filter_map(|p| p.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned()));
            Record { kind, fields: fields.collect() }
        })
        .collect()
}

/// Starts a program that has just been written. Another test's fork may hold the file open for writing for an instant.
pub fn start(command: &mut Command) -> Child {
    for _ in 0..100 {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(20));
            }
            started => return started.unwrap(),
        }
    }
    panic!("the program stays busy: {command:?}");
}

/// Runs a worker with these arguments and this plan.
pub fn run(worker: &Path, arguments: &[&str], plan: &str) -> Output {
    let mut command = Command::new(worker);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The sanitizers' build: leaks do not matter in a process of one line, and their search needs ptrace for itself.
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    let mut child = start(&mut command);
    // A worker that refuses its plan may be gone before it has read all of it.
    let _ = child.stdin.take().unwrap().write_all(plan.as_bytes());
    let output = child.wait_with_output().unwrap();
    Output {
        status: output.status.code(),
        records: parse(&String::from_utf8_lossy(&output.stdout)),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Every line of the plan came to an end that says something: verified, or unavailable with a reason.
pub fn assert_all_ended(output: &Output) {
    assert_eq!(output.status, Some(0), "{output:?}");
    assert_eq!(output.of("verify").find(|r| r.get("ok") != "1").map(|r| format!("{r:?}")), None);
    assert_eq!(output.of("unavailable").find(|r| r.get("why").is_empty()).map(|r| format!("{r:?}")), None);
    for probe in whyfaster_probe::descriptions().iter().filter(|p| p.group != "selftest") {
        for variant in &probe.variants {
            let ends = output.records.iter().filter(|r| {
                (r.kind == "verify" || r.kind == "unavailable")
                    && r.get("name") == probe.name
                    && r.get("variant") == variant
            });
            assert_eq!(ends.count(), 1, "{} {variant}", probe.name);
        }
    }
}
