//! Helpers for the tests of engines: the choice of the engine, its servers, and words that measure little.

use std::env;
use std::env::consts::ARCH;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

use serde_json::{Value, json};

use super::{PROGRAM, Sandbox};

/// The engine that a test has: `WHYFASTER_ENGINES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// A stand-in, which answers as the real one did when it was recorded.
    Recorded,
    Real,
    /// The real one, whose answers are written down for the stand-in.
    Record,
}

impl Engine {
    /// No other place reads the variable.
    pub(crate) fn chosen() -> Self {
        match env::var("WHYFASTER_ENGINES").as_deref() {
            Err(_) | Ok("recorded") => Self::Recorded,
            Ok("real") => Self::Real,
            Ok("record") => Self::Record,
            Ok(other) => panic!("WHYFASTER_ENGINES is '{other}', and neither recorded, real nor record"),
        }
    }

    pub(crate) fn is_real(self) -> bool {
        self != Self::Recorded
    }
}

/// The file of the recorded answers of an engine.
pub(crate) fn records_of(engine: &str) -> PathBuf {
    let file = format!("../../tests/records/engines/{engine}.json");
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// The output of an engine as a record has it. A real engine prints lines in any order, so they are sorted.
pub(crate) fn printed(when: &str, asked: &[&str], names: Value, output: &Output) -> Value {
    let sorted = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines.sort_unstable();
        lines.concat()
    };
    let (out, errors) = (sorted(&output.stdout), sorted(&output.stderr));
    json!({ "when": when, "asked": asked, "names": names, "out": out, "errors": errors, "status": output.status.code() })
}

/// Compares answers with those that are kept, or keeps them. The record names the version of the engine and the test that records.
pub(crate) fn hold_against_records(engine: &str, version: &str, answers: &[Value]) {
    if Engine::chosen() == Engine::Record {
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        let how = format!("WHYFASTER_ENGINES=record cargo test --test end_to_end {test}");
        let record = json!({ "engine": engine, "version": version, "how": how, "answers": answers });
        fs::write(records_of(engine), format!("{record:#}\n")).unwrap();
    }
    let kept: Value = serde_json::from_slice(&fs::read(records_of(engine)).unwrap()).unwrap();
    let kept = kept["answers"].as_array().unwrap();
    for (kept, answer) in kept.iter().zip(answers) {
        assert_eq!(kept, answer, "{engine} answers otherwise than is recorded");
    }
    assert_eq!(kept.len(), answers.len());
}

/// Servers of a test, each with a log in its directory; ended when dropped, the last one first.
pub(crate) struct Daemons {
    running: Vec<Child>,
    started: usize,
}

impl Daemons {
    pub(crate) fn new() -> Self {
        Self { running: Vec::new(), started: 0 }
    }

    /// Starts one, and tells its number.
    pub(crate) fn start(&mut self, place: &Sandbox, mut command: Command) -> u32 {
        let log = File::create(place.path(&format!("log.{}", self.started))).unwrap();
        command.stdout(log.try_clone().unwrap()).stderr(log);
        let daemon = command.spawn().unwrap();
        let number = daemon.id();
        self.running.push(daemon);
        self.started += 1;
        number
    }

    /// Ends the one of this number, as a crash does.
    pub(crate) fn crash(&mut self, number: u32) {
        let at = self.running.iter().position(|it| it.id() == number).unwrap();
        end(self.running.remove(at));
    }

    /// Ends the last ones, so many.
    pub(crate) fn end(&mut self, count: usize) {
        self.running.split_off(self.running.len() - count).into_iter().rev().for_each(end);
    }
}

fn end(mut daemon: Child) {
    let _ = daemon.kill();
    let _ = daemon.wait();
}

impl Drop for Daemons {
    fn drop(&mut self) {
        self.end(self.running.len());
    }
}

/// Lines for a shell that make the certificate of a server of that name, as `subjectAltName` writes it: server.crt, server.key and, for its clients, ca.pem.
pub(crate) fn certificate(name: &str) -> String {
    format!(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem; \
         openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=server -keyout server.key -out server.csr; \
         echo subjectAltName={name} > names; \
         openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt; "
    )
}

/// Words behind `fleet compare PLACE` that run a command and itself a few times, and ask nothing more of it.
pub(crate) fn few_runs(command: &str) -> [&str; 7] {
    ["--", "--runs=3", "--why=no", "--no-check-output", "-N", command, command]
}

/// Words that begin a visit, with a script in place of the program that is sent: the script begins the built program, which is on the same machine.
/// A debug program has 80 MB and more, and the tests send it dozens of times.
pub(crate) fn with_small_program(place: &Sandbox, words: &[&str]) -> Vec<String> {
    let mut words: Vec<String> = words.iter().map(|&it| it.to_owned()).collect();
    if let ["fleet", verb, ..] | [verb, ..] = words.iter().map(String::as_str).collect::<Vec<_>>()[..]
        && ["compare", "prices"].contains(&verb)
    {
        let script = place.file("small-program");
        if !Path::new(&script).exists() {
            place.script("small-program", &format!("#!/bin/sh\nexec {PROGRAM} \"$@\"\n"));
        }
        let at = if words[0] == "fleet" { 2 } else { 1 };
        words.insert(at, format!("--binary={ARCH}={script}"));
    }
    words
}
