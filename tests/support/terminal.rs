//! A terminal of our own: the master's end, and the slave as a file.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

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
