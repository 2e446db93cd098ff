//! Whether copies ended as they should, and the errors when they did not.

use whyfaster_core::plan::{FailurePolicy, Input, Output};
use whyfaster_core::sample::{Copies, Trial};

use super::output_check::Difference;
use super::protocol::{Step, Who};
use super::resolve::Command;
use super::rig::Rig;
use crate::exit::{Exit, Failure, files_or};

impl Rig<'_> {
    /// The status that all further runs of an alternative must have: that of its trial, which must be that of the first
    /// alternative with the same parameters. A trial that ran into the time-out was ended by us: it tells nothing.
    pub(super) fn expected_status(
        &self,
        index: usize,
        trial: &Trial,
        before: &[Trial],
    ) -> Result<Option<i32>, Failure> {
        // Without the check, or cut short by the time-out, a trial has no digest.
        let whole = |trial: &Trial| trial.stdout_sha256.is_some();
        if !whole(trial) {
            return Ok(None);
        }
        let parameters = |index: usize| &self.plan.alternatives[index].parameters;
        let first =
            before.iter().find(|other| whole(other) && parameters(other.alternative) == parameters(index));
        match first {
            Some(first) if first.status != trial.status => Err(Failure::new(
                Exit::CommandFailed,
                format!(
                    "the alternatives do not end alike: '{}' {}, '{}' {}",
                    self.name(first.alternative),
                    ended(first.status),
                    self.name(index),
                    ended(trial.status)
                ),
                "make them do the same work, or allow it with --no-check-output",
            )),
            _ => Ok(Some(trial.status)),
        }
    }

    /// Checks the exit statuses of a batch. `said` is what the command last wrote to its standard error, if known.
    pub(super) fn check_statuses(
        &self,
        index: usize,
        copies: &Copies,
        run: &str,
        said: &[String],
    ) -> Result<(), Failure> {
        let expected = self.expected[index];
        let bad = copies.status.iter().zip(&copies.timed_out).position(|(&status, &late)| {
            !late && (!self.allowed(status) || expected.is_some_and(|expected| expected != status))
        });
        let Some(copy) = bad else { return Ok(()) };
        let status = copies.status[copy];
        let which = if copies.len() > 1 {
            format!(" (copy {} of {})", copy + 1, copies.len())
        } else {
            String::new()
        };
        let mut message = format!("'{}' {} in {run}{which}", self.name(index), ended(status));
        if self.allowed(status)
            && let Some(expected) = expected
        {
            message.push_str(&format!("; in its trial run it {}", ended(expected)));
            return Err(Failure::new(
                Exit::CommandFailed,
                message,
                "make it end alike every time, or allow it with --no-check-output",
            ));
        }
        for line in said {
            message.push_str(&format!("\n  it said: {line}"));
        }
        let hint = match status {
            127 => "127 means that the shell did not find a command: check the spelling and PATH",
            -9 => "SIGKILL often means that memory ran out: see dmesg; lower --load or give it more memory",
            _ => {
                "mend the command, allow failures with -i (--ignore-failure), or see what it says with --show-output"
            }
        };
        Err(Failure::new(Exit::CommandFailed, message, hint))
    }

    fn allowed(&self, status: i32) -> bool {
        status == 0
            || match &self.plan.failures {
                FailurePolicy::Raise => false,
                FailurePolicy::IgnoreAll => true,
                FailurePolicy::IgnoreCodes(codes) => codes.contains(&status),
            }
    }

    /// The error when two alternatives write different things.
    pub(super) fn outputs_differ(&self, first: usize, other: usize, difference: &Difference) -> Failure {
        let mut message =
            "the alternatives do not do the same work: their standard output differs".to_owned();
        match difference.place {
            Some((byte, line)) => {
                message.push_str(&format!(", first at byte {byte}, line {line}"));
                for (index, text) in [(first, &difference.first), (other, &difference.other)] {
                    message.push_str(&format!("\n  '{}': {text}", self.name(index)));
                }
            }
            None => message.push_str(&format!(
                " ('{}' and '{}'), beyond the part that is kept to show it",
                self.name(first),
                self.name(other)
            )),
        }
        Failure::new(
            Exit::CommandFailed,
            message,
            "make them write the same, or allow the difference with --no-check-output",
        )
    }

    pub(super) fn name(&self, index: usize) -> &str {
        &self.plan.alternatives[index].name
    }
}

/// The error when a program cannot be executed.
pub(super) fn cannot_execute(command: &Command, errno: i32) -> Failure {
    let hint = match errno {
        libc::ENOEXEC => "it is no program: a script needs a '#!' line, or a shell to read it (leave out -N)",
        libc::ENOENT => "the file, or the interpreter after its '#!', does not exist",
        libc::EACCES => {
            "check its permissions and those of the directories above it, also for the user who called sudo, and whether its file system is mounted noexec"
        }
        libc::EAGAIN => "a limit on the processes of this user was met (ulimit -u): raise it or lower --load",
        libc::E2BIG => "its words and environment are too long together",
        _ => "run it by hand to see more",
    };
    Failure::new(
        Exit::CommandFailed,
        format!("cannot execute '{}': {}", command.program, error_text(errno)),
        hint,
    )
}

/// The error when something had to be opened or set before a command could run.
pub(super) fn cannot_prepare(
    command: &str,
    (step, errno): (Step, i32),
    input: &Input,
    output: &Output,
) -> Failure {
    let (what, hint) = match step {
        Step::Input => (
            match input {
                Input::File(path) => format!("opening the input '{}'", path.display()),
                Input::Null | Input::Inherit => "opening its standard input".to_owned(),
            },
            "check --input: as whom the commands run must be able to read it",
        ),
        Step::Output => (
            match output {
                Output::File(path) => format!("opening the output '{}'", path.display()),
                Output::Null | Output::Pipe | Output::Inherit => "opening its output".to_owned(),
            },
            "check --output: as whom the commands run must be able to write it",
        ),
        Step::Affinity => ("setting its CPUs".to_owned(), "check --pin; 'whyfaster doctor' shows the CPUs"),
        Step::User => (
            "becoming the user who called sudo".to_owned(),
            "that needs CAP_SETUID and CAP_SETGID, which a container or a filter of system calls may withhold; --as-root runs it as root",
        ),
        Step::Class => ("giving it real-time priority".to_owned(), "that needs CAP_SYS_NICE"),
        Step::Words => {
            ("passing its words".to_owned(), "a word with a NUL byte cannot be passed to a program")
        }
        Step::Memory => ("sharing memory with it".to_owned(), "free memory, or lower --load"),
        Step::Exec => ("executing it".to_owned(), "run it by hand to see more"),
    };
    let error = std::io::Error::from_raw_os_error(errno);
    let hint = if errno == libc::ENOMEM { "free memory, or lower --load" } else { files_or(&error, hint) };
    Failure::new(Exit::Error, format!("cannot run '{command}': {what}: {error}"), hint)
}

/// The error when something of a command could not be ended.
pub(super) fn cannot_end(command: &str, left: &[Who]) -> Failure {
    let pids: Vec<String> = left.iter().map(|it| it.pid.to_string()).collect();
    let names: Vec<String> = left.iter().map(named).collect();
    let what = if left.len() == 1 { "a process" } else { "processes" };
    Failure::new(
        Exit::CommandFailed,
        format!("'{command}' left {what} running that whyfaster cannot end: {}", names.join(", ")),
        format!(
            "end what is left as its user or as root (kill -9 {}); what becomes another user, as under sudo, must end by itself, or whyfaster must run as that user",
            pids.join(" ")
        ),
    )
}

/// The error when somebody else than whyfaster told the launcher to end.
pub(super) fn signalled(command: &str, signal: i32, by: &Who) -> Failure {
    let name = signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned);
    Failure::new(
        Exit::CommandFailed,
        format!(
            "while '{command}' ran, the launcher, which starts the commands, got {name} from {}",
            named(by)
        ),
        "a command must not signal its parent ($PPID), nor its process group (kill 0) with --placement shared; whoever else sent the signal ended the measurement",
    )
}

fn named(who: &Who) -> String {
    match (&who.name, who.pid) {
        (Some(name), 0) => name.clone(),
        (Some(name), pid) => format!("process {pid} ({name})"),
        (None, pid) => format!("process {pid}"),
    }
}

/// Why a copy could not be created.
pub(super) fn cannot_create(copy: u32, errno: i32) -> String {
    format!(
        "copy {copy} could not be created: {}; a limit on processes or memory was met (ulimit -u, pids.max): raise it or lower --load",
        error_text(errno)
    )
}

/// An exit status in words.
fn ended(status: i32) -> String {
    if status >= 0 {
        return format!("ended with exit code {status}");
    }
    match signal_name(-status) {
        Some(name) => format!("was ended by signal {} ({name})", -status),
        None => format!("was ended by signal {}", -status),
    }
}

/// An error number in words.
fn error_text(errno: i32) -> String {
    std::io::Error::from_raw_os_error(errno).to_string()
}

/// The name of a signal that programs are commonly ended by.
fn signal_name(signal: i32) -> Option<&'static str> {
    let names = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGXCPU, "SIGXCPU"),
        (libc::SIGXFSZ, "SIGXFSZ"),
        (libc::SIGSYS, "SIGSYS"),
    ];
    names.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name)
}
