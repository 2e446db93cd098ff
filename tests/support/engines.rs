//! What the tests of places share that an engine gives out: the engine's own servers, and words that measure little.

use std::fs::File;
use std::process::{Child, Command};

use super::Sandbox;

/// Servers of a test, each with a log in its directory; ended when dropped, the last one first.
pub(crate) struct Daemons(Vec<Child>);

impl Daemons {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    /// Starts one, and tells its number.
    pub(crate) fn start(&mut self, place: &Sandbox, mut command: Command) -> u32 {
        let log = File::create(place.path(&format!("log.{}", self.0.len()))).unwrap();
        command.stdout(log.try_clone().unwrap()).stderr(log);
        self.0.push(command.spawn().unwrap());
        self.0[self.0.len() - 1].id()
    }

    /// Ends the last ones, so many.
    pub(crate) fn end(&mut self, count: usize) {
        for mut daemon in self.0.split_off(self.0.len() - count).into_iter().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        self.end(self.0.len());
    }
}

/// Words behind `fleet compare PLACE` that run a command and itself a few times, and ask nothing more of it.
pub(crate) fn few_runs(command: &str) -> [&str; 7] {
    ["--", "--runs=3", "--why=no", "--no-check-output", "-N", command, command]
}
