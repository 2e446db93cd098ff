//! The errors when a command did not run or end as it should.

use whyfaster_core::plan::{Input, Output};
use whyfaster_words::exit::{Exit, Failure, files_or};

use super::protocol::{Step, Who};

/// The error when a program cannot be executed.
pub(super) fn cannot_execute(program: &str, errno: i32) -> Failure {
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
    Failure::new(Exit::CommandFailed, format!("cannot execute '{program}': {}", error_text(errno)), hint)
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
                Output::Auto | Output::Null | Output::Pipe | Output::Inherit => {
                    "opening its output".to_owned()
                }
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
pub(super) fn ended(status: i32) -> String {
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
