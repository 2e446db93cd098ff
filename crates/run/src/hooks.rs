//! The commands around the measured ones: setup, prepare, conclude, cleanup.
//!
//! They run through a shell as children of this program and not of the launcher: what they leave running (a server that
//! `--prepare` starts, say) is meant to stay.

use std::io;
use std::mem;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpgrp, getpid, kill_process, kill_process_group,
    pidfd_open, waitid,
};
use whyfaster_core::plan::{Alternative, Shell};
use whyfaster_core::run::Run;
use whyfaster_host::said::unblock_signals;
use whyfaster_host::user::STORE;
use whyfaster_words::exit::{Exit, Failure};

use super::client::Launcher;
use super::failures::cannot_end;
use super::interrupts::Interrupts;
use super::launcher::{end_tree, identity, who};
use super::protocol::{Identity, RunAs, Who};
use super::terminal::Terminal;

/// How often to look whether a hook has ended where the kernel does not tell.
const LOOK: Duration = Duration::from_millis(5);

/// How often to look whether a hook is stopped, or a process that an earlier one left running has ended. Nothing is timed meanwhile.
const LOOK_AROUND: Duration = Duration::from_millis(50);

/// A hook of an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    /// Once before.
    Setup,
    /// Before every batch.
    Prepare,
    /// After every batch.
    Conclude,
    /// Once after.
    Cleanup,
}

impl Hook {
    /// Its option's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Hook::Setup => "setup",
            Hook::Prepare => "prepare",
            Hook::Conclude => "conclude",
            Hook::Cleanup => "cleanup",
        }
    }

    /// What hyperfine calls it.
    fn noun(self) -> &'static str {
        match self {
            Hook::Setup => "setup",
            Hook::Prepare => "preparation",
            Hook::Conclude => "conclusion",
            Hook::Cleanup => "cleanup",
        }
    }

    /// Its command line, if the alternative has one.
    pub(crate) fn of(self, alternative: &Alternative) -> Option<&str> {
        match self {
            Hook::Setup => alternative.setup.as_deref(),
            Hook::Prepare => alternative.prepare.as_deref(),
            Hook::Conclude => alternative.conclude.as_deref(),
            Hook::Cleanup => alternative.cleanup.as_deref(),
        }
    }
}

/// What a run is told of itself. The number is one in every run, as scripts calculate with it.
pub(crate) fn told(run: Run) -> [(String, String); 2] {
    let set = |name: &str, value: String| (name.to_owned(), value);
    [set("HYPERFINE_ITERATION", run.number.to_string()), set("WHYFASTER_RUN", run.kind.name().to_owned())]
}

/// How a hook ended.
enum Ending {
    /// By itself, or because we ended it.
    Status(ExitStatus),
    /// It asks on a terminal that is not ours either, and was ended.
    Asks,
    /// We may not end this of it.
    Left(Vec<Who>),
}

/// Runs hooks.
#[derive(Debug)]
pub(crate) struct Hooks<'a> {
    pub(crate) shell: &'a Shell,
    pub(crate) interrupts: &'a Interrupts,
    /// Show what hooks print (as `--show-output` does).
    pub(crate) show: bool,
    /// Whom hooks are to become: the same user as the commands, who must be able to use what a hook makes.
    pub(crate) run_as: Option<RunAs>,
}

impl Hooks<'_> {
    /// Runs a hook if the alternative has it. The answer is whether it came to its end; false: an interrupt ended it.
    pub(crate) fn run(
        &self,
        hook: Hook,
        alternative: &Alternative,
        run: Option<Run>,
        launcher: &Launcher,
    ) -> Result<bool, Failure> {
        let Some(line) = hook.of(alternative) else { return Ok(true) };
        let fail = |what: String| {
            let option = hook.name();
            Failure::new(
                Exit::CommandFailed,
                format!("the --{option} command '{line}' {what}"),
                format!("run it by hand, or use --show-output to see what it says; --{option} must succeed"),
            )
            .in_hyperfines(
                format!("The {} command terminated with a non-zero exit code.", hook.noun()),
                format!("The {} command failed:", hook.noun()),
            )
        };
        // Counted before it starts: a signal that comes at once must end it too.
        let before = self.interrupts.count();
        let spawned = self.spawn(line, alternative, run, launcher);
        let ended = spawned.map_err(|e| fail(format!("could not be run: {e}"))).map(|mut child| {
            let hook = identity(child.id() as i32);
            self.wait(&mut child, hook, before, launcher)
        });
        launcher.hook_is_over();
        let ended = ended?;
        match ended {
            Ok(Ending::Left(left)) => Err(cannot_end(line, &left)),
            Ok(Ending::Status(status)) if status.success() => Ok(true),
            // We ended it.
            Ok(_) if self.interrupts.count() > before => Ok(false),
            Ok(Ending::Asks) => Err(Failure::new(
                Exit::CommandFailed,
                format!(
                    "the --{} command '{line}' asks on the terminal, and whyfaster runs in the background",
                    hook.name()
                ),
                "run it in the foreground, or answer before: 'sudo -v', or an agent that knows the key",
            )),
            Ok(Ending::Status(status)) => Err(fail(match (status.code(), status.signal()) {
                (Some(code), _) => format!("ended with exit code {code}"),
                (_, Some(signal)) => format!("was ended by signal {signal}"),
                _ => "failed".to_owned(),
            })),
            Err(error) => Err(fail(format!("could not be waited for: {error}"))),
        }
    }

    fn spawn(
        &self,
        line: &str,
        alternative: &Alternative,
        run: Option<Run>,
        launcher: &Launcher,
    ) -> io::Result<Child> {
        let default = ["sh".to_owned()];
        let words = match self.shell {
            Shell::None => &default[..],
            Shell::Command(words) => words,
        };
        let stream = || if self.show { Stdio::inherit() } else { Stdio::null() };
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg("-c").arg(line).stdin(Stdio::null()).stdout(stream()).stderr(stream());
        let run_as = self.run_as.clone();
        command.env_remove(STORE);
        if let Some(user) = &run_as {
            user.dress(&mut command);
        }
        command.envs(&alternative.env);
        command.envs(run.into_iter().flat_map(told));
        // We block the signals that end a measurement, and a child inherits that: a hook could then not be asked to end, nor
        // could `kill` end a server that it starts.
        let announce = launcher.announcer()?;
        // SAFETY: this process has one thread, so between fork and exec the child may use everything, allocation included.
        unsafe {
            command.pre_exec(move || {
                announce()?;
                run_as.iter().try_for_each(RunAs::become_it)?;
                unblock_signals()
            })
        };
        // A group of its own, so that an interrupt can end what the shell started as well.
        command.process_group(0).spawn()
    }

    /// Waits for the end; a signal beyond the `before` ones ends the hook.
    fn wait(
        &self,
        child: &mut Child,
        hook: Option<Identity>,
        before: u32,
        launcher: &Launcher,
    ) -> io::Result<Ending> {
        let pid = Pid::from_raw(child.id() as i32).ok_or_else(|| io::Error::other("no process id"))?;
        // A filter of system calls may forbid it. Nothing is timed while a hook runs, so that we may as well look now and then.
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok();
        let fds: Vec<_> = handle.iter().map(AsFd::as_fd).collect();
        let look = if handle.is_none() { LOOK } else { LOOK_AROUND };
        let mut loan = Loan::default();
        loop {
            self.interrupts.wait(&fds, Some(look))?;
            if let Some(status) = child.try_wait()? {
                loan.end(Some(status));
                return Ok(Ending::Status(status));
            }
            let refused = !loan.look(pid);
            if refused || self.interrupts.count() > before {
                let left = hook.map(end_tree).unwrap_or_default();
                // What became another user may be the hook itself, which would then have to be waited for as long as it likes.
                let status = if left.is_empty() { Some(child.wait()?) } else { child.try_wait()? };
                loan.end(status);
                return Ok(match status {
                    _ if refused => Ending::Asks,
                    Some(status) if left.is_empty() => Ending::Status(status),
                    _ => Ending::Left(left.iter().map(|it| who(it.0)).collect()),
                });
            }
            launcher.reap_orphans(pid);
        }
    }
}

/// The terminal in the hands of a hook. Its process group is one of its own, so the kernel stops it when it asks there for something, as
/// `sudo` does for a password.
#[derive(Default)]
struct Loan {
    /// What it was like before, once it is lent.
    terminal: Option<Terminal>,
    /// The hook stood still when we last looked.
    stood: bool,
}

impl Loan {
    /// Lends the terminal to a hook that stands still for it. False: this program does not have it.
    fn look(&mut self, hook: Pid) -> bool {
        let signal = stopped_by(hook).filter(|signal| match *signal {
            libc::SIGTTIN | libc::SIGTTOU => true,
            // A Ctrl-Z, which went to the hook alone.
            libc::SIGTSTP => self.terminal.is_some(),
            _ => false,
        });
        // `sudo` catches the signal, and stops itself a moment after the others.
        if !mem::replace(&mut self.stood, signal.is_some()) {
            return true;
        }
        let Some(signal) = signal else { return true };
        if let Some(terminal) = self.terminal.take() {
            terminal.restore(false);
            if signal == libc::SIGTSTP {
                // Until whoever started us lets us go on.
                let _ = kill_process_group(getpgrp(), Signal::TSTP);
            }
        }
        (self.terminal, self.stood) = (Terminal::lend(hook), false);
        self.terminal.is_some()
    }

    /// Takes it back from a hook that has ended, or that nobody here can end. A Ctrl-C that ended it was meant for us too.
    fn end(self, status: Option<ExitStatus>) {
        let Some(terminal) = self.terminal else { return };
        terminal.restore(!status.is_some_and(|it| it.success()));
        let Some(status) = status else { return };
        let signal = status.signal().or_else(|| status.code().map(|code| code - 128));
        if signal == Some(libc::SIGINT) || signal == Some(libc::SIGQUIT) {
            let _ = kill_process(getpid(), Signal::INT);
        }
    }
}

/// The signal that stopped it, while it is stopped.
fn stopped_by(hook: Pid) -> Option<i32> {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(hook), options).ok().flatten()?.stopping_signal()
}
