//! The terminal, which a traced command shares and a hook that asks for something borrows: left as it was found.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::process::{Pid, Signal, getpgrp, kill_process_group};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp};

/// What the terminal was like before.
#[derive(Debug)]
pub(crate) struct Terminal {
    file: File,
    modes: Termios,
    group: Pid,
}

impl Terminal {
    /// Notes it, if there is one and this process is in its foreground.
    pub(crate) fn note() -> Option<Self> {
        let file = File::options().read(true).write(true).open("/dev/tty").ok()?;
        let modes = tcgetattr(&file).ok()?;
        let group = tcgetpgrp(&file).ok()?;
        (group == getpgrp()).then_some(Self { file, modes, group })
    }

    /// Puts a process group in the foreground that was stopped because it was not there, and lets it go on.
    pub(crate) fn lend(group: Pid) -> Option<Self> {
        let before = Self::note()?;
        tcsetpgrp(&before.file, group).ok()?;
        // Who is gone needs no terminal.
        let _ = kill_process_group(group, Signal::CONT);
        Some(before)
    }

    /// Takes the foreground back, from a shell that died with it or from who borrowed it. `broken`: the command was cut short, so it could
    /// not put back the modes that it had changed (an editor, a prompt for a password); one that ended by itself meant them.
    pub(crate) fn restore(self, broken: bool) {
        let now = tcgetpgrp(self.file.as_fd());
        without_stops(|| {
            if now.is_ok_and(|group| group != self.group) {
                let _ = tcsetpgrp(&self.file, self.group);
            }
            if broken {
                // A terminal that has gone away needs no modes.
                let _ = tcsetattr(&self.file, OptionalActions::Drain, &self.modes);
            }
        });
    }
}

/// Who sets a terminal from the background is stopped for it (SIGTTOU), unless the signal is blocked: tcsetpgrp(3).
fn without_stops(act: impl FnOnce()) {
    let (mut set, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: sigemptyset initialises the set; the first sigprocmask fills the former mask, which the second puts back.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGTTOU);
        libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr());
    }
    act();
    // SAFETY: as above.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
}
