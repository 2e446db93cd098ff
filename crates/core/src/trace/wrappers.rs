//! Scripts that begin another program in their own process: what a search of PATH finds may be such a one, put before the real program by
//! a version manager.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::event::Pid;
use super::ledger::seconds;
use super::report::WrapperRow;
use whyfaster_stats::order::largest_first;

/// Rows at most. What comes beyond is left out: nobody writes so many wrappers.
const MOST: usize = 1 << 10;

/// What looks a script's interpreter up in PATH, and executes it in its place.
const LOOKS_UP: &str = "env";

/// A process that runs a script, or what that began.
#[derive(Debug)]
struct Open {
    script: String,
    interpreter: String,
    since: u64,
    /// The next exec is the one of the interpreter.
    looks_up: bool,
    /// What it began last in its place, and when.
    began: Option<(u64, String)>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Wrappers {
    open: FxHashMap<Pid, Open>,
    /// By script, interpreter and program: how many, and how long until the program began.
    closed: BTreeMap<(String, String, String), (u64, u64)>,
}

impl Wrappers {
    /// A process begins a program.
    pub(super) fn execs(&mut self, process: Pid, name: &str, now: u64) {
        let Some(open) = self.open.get_mut(&process) else { return };
        match std::mem::take(&mut open.looks_up) {
            true if open.began.is_none() => name.clone_into(&mut open.interpreter),
            // That of a script which the first one began.
            true => {}
            false => open.began = Some((now, name.to_owned())),
        }
    }

    /// What it has just begun is a script.
    pub(super) fn is_script(&mut self, process: Pid, script: &str, interpreter: &str, now: u64) {
        let interpreter = base(interpreter);
        let open = self.open.entry(process).or_insert_with(|| Open {
            script: script.to_owned(),
            interpreter: interpreter.to_owned(),
            since: now,
            looks_up: false,
            began: None,
        });
        open.looks_up = interpreter == LOOKS_UP;
    }

    /// A process is gone, or its number is about to be used again.
    pub(super) fn ended(&mut self, process: Pid) {
        let Some(Open { script, interpreter, since, began, .. }) = self.open.remove(&process) else { return };
        let Some((at, program)) = began else { return };
        let key = (script, interpreter, program);
        if self.closed.len() < MOST || self.closed.contains_key(&key) {
            let sum = self.closed.entry(key).or_default();
            *sum = (sum.0 + 1, sum.1 + (at - since));
        }
    }

    /// The rows, those that took longest first.
    pub(super) fn rows(&self) -> Vec<WrapperRow> {
        let row =
            |((script, interpreter, program), (times, ns)): (&(String, String, String), &(u64, u64))| {
                let (script, interpreter, program) = (script.clone(), interpreter.clone(), program.clone());
                WrapperRow { script, interpreter, program, times: *times, seconds: seconds(*ns) }
            };
        let mut rows: Vec<WrapperRow> = self.closed.iter().map(row).collect();
        largest_first(&mut rows, |it| it.seconds);
        rows
    }

    /// The trace is over.
    pub(super) fn close(&mut self) {
        let open: Vec<Pid> = self.open.keys().copied().collect();
        open.into_iter().for_each(|process| self.ended(process));
    }
}

/// A path without its directories.
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(wrappers: &mut Wrappers) -> Vec<(String, u64, f64)> {
        wrappers.close();
        let row = |it: WrapperRow| {
            (format!("{} {} {}", it.script, it.interpreter, it.program), it.times, it.seconds)
        };
        wrappers.rows().into_iter().map(row).collect()
    }

    #[test]
    fn the_way_from_a_script_to_the_program_that_takes_its_place_is_its_own() {
        let mut wrappers = Wrappers::default();
        for process in [7, 8] {
            wrappers.execs(process, "python3", 1_000_000);
            wrappers.is_script(process, "/shims/python3", "/usr/bin/env", 1_000_000);
            wrappers.execs(process, "bash", 2_000_000);
            // Another script on the way.
            wrappers.execs(process, "pyenv", 3_000_000);
            wrappers.is_script(process, "/libexec/pyenv", "/usr/bin/env", 3_000_000);
            wrappers.execs(process, "bash", 4_000_000);
            wrappers.execs(process, "python3.11", 11_000_000);
            wrappers.ended(process);
        }
        assert_eq!(told(&mut wrappers), [("/shims/python3 bash python3.11".to_owned(), 2, 0.02)]);
    }

    #[test]
    fn a_script_that_does_its_work_itself_is_no_wrapper() {
        let mut wrappers = Wrappers::default();
        wrappers.execs(7, "npm", 1);
        wrappers.is_script(7, "/usr/bin/npm", "/usr/bin/env", 1);
        wrappers.execs(7, "node", 2);
        // A child has a number of its own, and so has a program without a script before it.
        wrappers.execs(8, "git", 3);
        wrappers.ended(8);
        assert!(told(&mut wrappers).is_empty());
    }
}
