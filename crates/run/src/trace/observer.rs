//! One face for the levels: follow, take in what arrived, end.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use whyfaster_core::trace::counts::Counts;
use whyfaster_core::trace::event::{Event, Pid};
use whyfaster_core::trace::report::Level;
use whyfaster_core::warning::{Caution, Warning};
use whyfaster_trace::unprivileged::{Seized, Tracing};
use whyfaster_trace::{Full, TraceError, Wanted, samples_allowed};
use whyfaster_words::exit::{Exit, Failure, files_or};

/// Samples of the code in an explanation, on every CPU. One takes a few microseconds: half a percent of the time. Not a thousand, so that
/// nothing that happens every millisecond is found each time. Fewer where the kernel allows fewer.
const SAMPLES_PER_S: u32 = 997;

/// What observes.
#[derive(Debug)]
pub(crate) enum Observer {
    /// BPF programs.
    Full(Box<Full>),
    /// ptrace.
    Seized(Box<Seized>),
    /// Only what `wait4` says in the end, of this process.
    Nothing(Option<Pid>),
    /// A simulated machine, which has handed on all events of a run. These are its counts.
    Replayed(Box<Counts>),
}

/// Takes an event.
pub(crate) type Take<'a> = &'a mut dyn FnMut(Event);

impl Observer {
    /// What explains at this level. At the full one the programs are loaded and attached, and measure what they cost; the program behind
    /// `launcher` is one of ours.
    pub(crate) fn attached(level: Level, launcher: i32) -> Result<Self, Failure> {
        if level != Level::Full {
            let tracing = if level == Level::Ptrace { Tracing::Calls } else { Tracing::Events };
            return Seized::open(tracing, &Wanted::default()).map(|it| Self::Seized(Box::new(it))).map_err(
                |error| {
                    let why = format!("cannot watch for the ends of processes: {error}");
                    Failure::new(Exit::Error, why, files_or(&error, "signalfd(2) must be allowed"))
                },
            );
        }
        let wanted = Wanted {
            samples_per_s: Some(SAMPLES_PER_S.min(samples_allowed())),
            count_samples: true,
            count_locks: true,
            ..Wanted::default()
        };
        let full = Full::open(&wanted).map_err(|missing| {
            Failure::new(Exit::Unfit, missing.to_string(), "'whyfaster doctor' lists the levels")
        })?;
        let mut observer = Self::Full(Box::new(full));
        observer.calibrate().map_err(observing)?;
        observer.mark_tool(launcher).map_err(observing)?;
        Ok(observer)
    }

    /// Measures its own cost, where that can be done beforehand.
    pub(crate) fn calibrate(&mut self) -> Result<(), TraceError> {
        match self {
            Self::Full(full) => full.calibrate().map(drop),
            Self::Seized(_) | Self::Nothing(_) | Self::Replayed(_) => Ok(()),
        }
    }

    /// Labels a process as one of ours.
    pub(crate) fn mark_tool(&mut self, pid: i32) -> Result<(), TraceError> {
        match self {
            Self::Full(full) => full.mark_tool(pid as u32),
            Self::Seized(_) | Self::Nothing(_) | Self::Replayed(_) => Ok(()),
        }
    }

    /// Follows a command that is held at the gate.
    pub(crate) fn follow(&mut self, pid: i32) -> Result<(), TraceError> {
        match self {
            Self::Full(full) => full.follow(pid),
            Self::Seized(seized) => seized.follow(pid),
            Self::Nothing(of) => {
                *of = Some(pid as Pid);
                Ok(())
            }
            Self::Replayed(_) => Ok(()),
        }
    }

    /// Follows a tree that runs already.
    pub(crate) fn follow_running(&mut self, pid: i32) -> Result<usize, TraceError> {
        match self {
            Self::Full(full) => full.follow_running(pid),
            Self::Seized(seized) => seized.follow_running(pid),
            Self::Nothing(_) | Self::Replayed(_) => Ok(0),
        }
    }

    /// Follows the processes of a cgroup.
    pub(crate) fn follow_cgroup(&mut self, directory: &Path) -> Result<usize, TraceError> {
        match self {
            Self::Full(full) => full.follow_cgroup(directory),
            Self::Seized(seized) => seized.follow_cgroup(directory),
            Self::Nothing(_) | Self::Replayed(_) => Ok(0),
        }
    }

    /// Tells the stream that we end the tree now.
    pub(crate) fn note_stop(&mut self) {
        match self {
            Self::Full(full) => full.note_stop(),
            // They do not see what a task waits for.
            Self::Seized(_) | Self::Nothing(_) | Self::Replayed(_) => {}
        }
    }

    /// A key of the terminal was the end of the tree. Whether the stream can still say so.
    pub(crate) fn stop_at_interrupt(&mut self) -> bool {
        match self {
            Self::Full(full) => full.stop_at_interrupt(),
            // They do not see what a task waits for.
            Self::Seized(_) | Self::Nothing(_) | Self::Replayed(_) => true,
        }
    }

    /// Tasks of the tree that are alive.
    pub(crate) fn alive(&self) -> u64 {
        match self {
            Self::Full(full) => full.alive(),
            Self::Seized(seized) => seized.alive(),
            Self::Nothing(_) | Self::Replayed(_) => 0,
        }
    }

    /// [`Observer::poll`] is due after this time. Each poll of the full level takes a CPU from the command. Its rings hold what comes in
    /// between, and make [`Observer::fd`] readable when they are half full. The rings without privileges are smaller, and wake nobody.
    pub(crate) fn interval(&self) -> Duration {
        match self {
            Self::Full(_) => Duration::from_millis(100),
            Self::Seized(_) | Self::Nothing(_) | Self::Replayed(_) => Duration::from_millis(20),
        }
    }

    /// Readable when [`Observer::poll`] should come before its time.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Full(full) => Some(full.as_fd()),
            Self::Seized(seized) => Some(seized.as_fd()),
            Self::Nothing(_) | Self::Replayed(_) => None,
        }
    }

    /// Takes in what has arrived.
    pub(crate) fn poll(&mut self, take: Take<'_>) -> Result<(), TraceError> {
        match self {
            Self::Full(full) => full.poll(take),
            Self::Seized(seized) => seized.poll(take),
            Self::Nothing(_) | Self::Replayed(_) => Ok(()),
        }
    }

    /// Ends observing one command; another one can be followed then.
    pub(crate) fn finish_run(&mut self, take: Take<'_>) -> Result<Counts, TraceError> {
        match self {
            Self::Full(full) => full.finish_run(take),
            Self::Replayed(counts) => Ok(std::mem::take(&mut **counts)),
            // Only the full level is used for more than one command.
            Self::Seized(_) | Self::Nothing(_) => Ok(Counts::default()),
        }
    }

    /// What to know of programs that ran without the rights of their file because they were observed.
    pub(crate) fn without_rights(&self) -> Vec<Warning> {
        let Self::Seized(seized) = self else { return Vec::new() };
        let warning = |program: &PathBuf| {
            Warning::from(Caution::WithoutRights { program: program.display().to_string() })
        };
        seized.without_rights().iter().map(warning).collect()
    }

    /// The process of a command of which only the end is seen.
    pub(crate) fn bare(&self) -> Option<Pid> {
        match self {
            Self::Full(_) | Self::Seized(_) | Self::Replayed(_) => None,
            Self::Nothing(of) => *of,
        }
    }

    /// Ends observing.
    pub(crate) fn finish(self, take: Take<'_>) -> Result<Counts, TraceError> {
        match self {
            Self::Full(full) => full.finish(take),
            Self::Seized(seized) => seized.finish(take),
            Self::Nothing(_) => Ok(Counts::default()),
            Self::Replayed(counts) => Ok(*counts),
        }
    }
}

/// Observing failed.
pub(crate) fn observing(error: TraceError) -> Failure {
    Failure::new(Exit::Error, error.to_string(), "try again; --level unprivileged observes less")
}
