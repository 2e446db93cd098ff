//! The terminal, which a traced command shares and a hook that asks for something borrows: left as it was found. A shell of root's
//! reads its terminal again after us, so no process of another user may type there.

use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;

use rustix::process::{Pid, Signal, getpgrp, kill_process_group};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcgetsid, tcsetattr, tcsetpgrp};

use super::launcher::parent_and_session;

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
        let file = opened().ok()?;
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

/// Returns true if another user reads the terminal of this process after whyfaster exits, such as root in the shell of `sudo -i`.
/// The first process above us that is not `sudo` itself decides. If the terminal's session has no such process, `sudo` made the
/// terminal for us alone.
pub fn is_of_another(uid: u32) -> bool {
    let Some(session) = opened().ok().and_then(|file| tcgetsid(file).ok()).map(Pid::as_raw_pid) else {
        return false;
    };
    let mut above = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
    loop {
        let Some((parent, _)) = parent_and_session(above).filter(|(_, of)| *of == session) else {
            return false;
        };
        let owner = fs::metadata(format!("/proc/{above}")).map_or(0, |it| it.uid());
        let name = fs::read(format!("/proc/{above}/comm")).unwrap_or_default();
        if owner == uid || name != b"sudo\n" {
            return owner != uid;
        }
        above = parent;
    }
}

/// Gives the terminal up for this process and for all that it starts. The kernel then lets none of them put input into it
/// (ioctl_tty(2), TIOCSTI) or take its foreground. Signals from the keyboard still come: they go to the process group.
///
/// # Errors
/// The terminal cannot be given up.
pub fn leave() -> io::Result<()> {
    let file = match opened() {
        // There is none.
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => return Ok(()),
        opened => opened?,
    };
    // SAFETY: a plain system call on a descriptor that is open.
    match unsafe { libc::ioctl(file.as_raw_fd(), libc::TIOCNOTTY) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The terminal that controls this process.
fn opened() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/tty")
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
