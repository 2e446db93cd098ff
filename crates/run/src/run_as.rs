//! Becoming the user who called sudo: in the child, after all that needs privileges, before the exec.
//!
//! Until its exec that child is a copy of ours, and other processes of that user may be there already. What we hold must not
//! be theirs to take.

use std::fs;
use std::io;
use std::process::Command;

use whyfaster_core::plan::{Because, User};
use whyfaster_host::user::environment;
use whyfaster_rights::FileRights;

use super::protocol::RunAs;
use super::terminal;

impl RunAs {
    /// What there is to become, if the plan asks for another user than ours.
    pub(crate) fn of(user: Option<&User>) -> Option<Self> {
        let user = user.filter(|user| user.because == Because::Sudo)?;
        let (set, unset) = environment(user);
        let unset = unset.into_iter().map(str::to_owned).collect();
        let leaves_terminal = terminal::is_of_another(user.uid);
        Some(Self { uid: user.uid, gid: user.gid, groups: user.groups.clone(), set, unset, leaves_terminal })
    }

    /// Opens a file as this user could, who then owns what is made.
    pub(crate) fn opens<T>(&self, open: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.rights().lend(open)
    }

    fn rights(&self) -> FileRights<'_> {
        FileRights { uid: self.uid, gid: self.gid, groups: &self.groups }
    }

    /// Gives a command the environment that is this user's.
    pub(crate) fn dress(&self, command: &mut Command) {
        for name in &self.unset {
            command.env_remove(name);
        }
        command.envs(self.set.iter().map(|(name, value)| (name, value)));
    }

    /// Becomes this user for good. Nobody of that user may look into this process until its exec makes it another program.
    pub(crate) fn become_it(&self) -> io::Result<()> {
        close_all_else_at_exec()?;
        if self.leaves_terminal {
            terminal::leave()?;
        }
        self.rights().become_for_good()?;
        // The kernel has done so unless fs.suid_dumpable is 1: proc_sys_fs(5). Root alone may then use ptrace(2) and
        // pidfd_getfd(2) on this process.
        // SAFETY: a plain system call on this process.
        match unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Closes all but the standard streams. Without this, who may look into this process may take what it has open.
pub(crate) fn close_all_else() -> io::Result<()> {
    of_all_else(0, |fd| {
        // SAFETY: the caller uses no descriptor from here on.
        unsafe { libc::close(fd) };
    })
}

/// The same at the exec, because the open descriptors are root's. Until then this process can still report an error.
fn close_all_else_at_exec() -> io::Result<()> {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 1 << 2;
    of_all_else(CLOSE_RANGE_CLOEXEC, |fd| {
        // SAFETY: a plain system call, which closes nothing now.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    })
}

/// Does it to all descriptors but the standard streams: by close_range(2) with these flags, or to each.
fn of_all_else(flags: libc::c_uint, each: impl Fn(i32)) -> io::Result<()> {
    const FIRST: libc::c_uint = 3;
    // SAFETY: a system call that closes descriptors, which the callers allow, or marks them.
    if unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, flags) } == 0 {
        return Ok(());
    }
    // Before Linux 5.9, or 5.11 with a flag, or forbidden by a filter. Listed first: the list has a descriptor of its own.
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    open.into_iter().filter(|fd| *fd >= FIRST as i32).for_each(each);
    Ok(())
}
