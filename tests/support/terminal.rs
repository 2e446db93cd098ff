//! A terminal of our own: the master's end, and the slave as a file.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use super::Sandbox;

/// Starts a command as the leader of a session on a new terminal; the terminal is open as long as the first part lives.
pub(crate) fn start(mut command: Command) -> (File, Child) {
    // SAFETY: plain system calls; the descriptors are owned by nobody else; ptsname fills a buffer of ours.
    let (master, slave) = unsafe {
        let master = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
        assert!(master >= 0 && libc::grantpt(master) == 0 && libc::unlockpt(master) == 0);
        let mut name = [0; 64];
        assert_eq!(libc::ptsname_r(master, name.as_mut_ptr(), name.len()), 0);
        let name = CStr::from_ptr(name.as_ptr()).to_str().unwrap().to_owned();
        (OwnedFd::from_raw_fd(master), File::options().read(true).write(true).open(name).unwrap())
    };
    command.env("NO_COLOR", "1");
    command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
    // SAFETY: plain system calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            if libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        })
    };
    let child = command.spawn().unwrap();
    (File::from(master), child)
}

/// Adds to `shown` until these words stand in it from there on: where they end.
pub(crate) fn show_until(terminal: &mut File, shown: &mut String, from: usize, words: &str) -> usize {
    let mut part = [0; 4096];
    loop {
        if let Some(at) = shown[from..].find(words) {
            return from + at + words.len();
        }
        let mut ready = libc::pollfd { fd: terminal.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, which is open. What is not shown within half a minute never is.
        assert!(unsafe { libc::poll(&raw mut ready, 1, 30_000) } > 0, "no '{words}': {shown}");
        let n = terminal.read(&mut part).unwrap();
        shown.push_str(&String::from_utf8_lossy(&part[..n]));
    }
}

/// Types Ctrl-C and waits for the end: the exit status, and what was printed from then on.
pub(crate) fn press_ctrl_c(mut terminal: File, child: Child) -> (Option<i32>, String) {
    terminal.write_all(b"\x03").unwrap();
    end(terminal, child)
}

/// Waits for the end: the exit status, and what was printed until then.
pub(crate) fn end(mut terminal: File, mut child: Child) -> (Option<i32>, String) {
    // What it prints must be taken, or it waits for us. The end of a terminal without a writer is EIO.
    let mut shown = Vec::new();
    let mut part = [0; 4096];
    while let Ok(n) = terminal.read(&mut part) {
        shown.extend(&part[..n]);
    }
    (child.wait().unwrap().code(), String::from_utf8_lossy(&shown).into_owned())
}

/// What a terminal of so many columns showed, drawing by drawing: the text between two movements of the cursor.
pub(crate) fn frames(
    place: &Sandbox,
    columns: u16,
    words: &[&str],
    variables: &[(&str, &str)],
) -> Vec<String> {
    let mut command = place.whyfaster(words);
    command.env("TERM", "xterm").envs(variables.iter().copied());
    let (master, child) = start(command);
    resize(&master, columns);
    let (code, shown) = end(master, child);
    assert_eq!(code, Some(0), "{shown}");
    let plain = anstream::adapter::strip_str(&shown).to_string();
    let parts = plain.split(['\r', '\n']).map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

pub(crate) fn resize(terminal: &File, columns: u16) {
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: a plain system call on a descriptor that lives as long as the call.
    assert_eq!(unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &size) }, 0);
}
