//! What the tests of places share that an engine gives out: the engine's own servers, and words that measure little.

use std::fs::File;
use std::process::{Child, Command};

use super::Sandbox;

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
