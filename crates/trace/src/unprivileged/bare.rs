//! The last resort: what `wait4(2)` says of a command that has ended.

use whyfaster_core::trace::event::{Event, Pid, Totals, What};

/// What is known of a command whose tree could not be observed: itself and all that was waited for below it.
#[derive(Clone, Debug)]
pub struct Bare {
    /// Its process.
    pub pid: Pid,
    /// The program.
    pub name: String,
    /// Its path.
    pub path: String,
    /// When it began, nanoseconds of `CLOCK_MONOTONIC`.
    pub began: u64,
    /// When it had ended.
    pub ended: u64,
    /// Exit code, or minus a signal.
    pub status: i32,
    /// User and system CPU time, nanoseconds.
    pub cpu_ns: u64,
    /// Voluntary context switches.
    pub voluntary: u64,
    /// Involuntary context switches.
    pub involuntary: u64,
}

/// The events of such a command: one task that stands for the whole tree.
pub fn bare(known: &Bare, sink: &mut dyn FnMut(Event)) {
    let task = known.pid;
    let mut say = |at, what| sink(Event { at, cpu: 0, what });
    say(known.began, What::Fork { parent: 0, child: task, process: task, allowed: Vec::new() });
    say(
        known.began,
        What::Exec {
            task,
            former: task,
            name: known.name.clone(),
            path: Some(known.path.clone()),
            so_far: Totals::default(),
        },
    );
    let totals = Totals {
        run_ns: known.cpu_ns,
        voluntary: Some(known.voluntary),
        involuntary: Some(known.involuntary),
        ..Totals::default()
    };
    say(known.ended, What::End { task, process: task, status: Some(known.status), totals });
}
