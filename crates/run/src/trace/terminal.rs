//! The terminal, which the traced command shares: left as it was found when the command could not do so itself.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::process::{Pid, getpgrp};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp};

/// What the terminal was like before.
#[derive(Debug)]
pub(super) struct Terminal(Option<Before>);

#[derive(Debug)]
struct Before {
    terminal: File,
    modes: Termios,
    group: Pid,
}

impl Terminal {
    /// Notes it, if there is one and this process is in its foreground.
    pub(super) fn note() -> Self {
        let before = || {
            let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
            let modes = tcgetattr(&terminal).ok()?;
            let group = tcgetpgrp(&terminal).ok()?;
            (group == getpgrp()).then_some(Before { terminal, modes, group })
        };
        Self(before())
    }

    /// Takes the foreground back from a shell that died with it. `broken`: the command was cut short, so it could not put
    /// back the modes that it had changed (an editor, a prompt for a password); one that ended by itself meant them.
    pub(super) fn restore(self, broken: bool) {
        let Some(before) = self.0 else { return };
        let now = tcgetpgrp(before.terminal.as_fd());
        without_stops(|| {
            if now.is_ok_and(|group| group != before.group) {
                let _ = tcsetpgrp(&before.terminal, before.group);
            }
            if broken {
                // A terminal that has gone away needs no modes.
                let _ = tcsetattr(&before.terminal, OptionalActions::Drain, &before.modes);
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
