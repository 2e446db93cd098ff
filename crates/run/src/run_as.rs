//! Becoming the user who called sudo: in the child, after all that needs privileges, before the exec.
//!
//! Until its exec that child is a copy of ours, and other processes of that user may be there already. What we hold must not
//! be theirs to take.

use std::fs;
use std::io;
use std::process::Command;

use whyfaster_core::plan::{Because, User};
use whyfaster_host::user::environment;

use super::protocol::RunAs;

impl RunAs {
    /// What there is to become, if the plan asks for another user than ours.
    pub(crate) fn of(user: Option<&User>) -> Option<Self> {
        let user = user.filter(|user| user.because == Because::Sudo)?;
        let (set, unset) = environment(user);
        let unset = unset.into_iter().map(str::to_owned).collect();
        Some(Self { uid: user.uid, gid: user.gid, groups: user.groups.clone(), set, unset })
    }

    /// Opens a file as this user could, who then owns what is made.
    pub(crate) fn opens<T>(&self, open: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let groups: Vec<u32> = rustix::process::getgroups()?.iter().map(|group| group.as_raw()).collect();
        let own = Rights { uid, gid, groups: &groups };
        let theirs = Rights { uid: self.uid, gid: self.gid, groups: &self.groups };
        let opened = theirs.take().and_then(|()| open());
        own.take().and(opened)
    }

    /// Gives a command the environment that is this user's.
    pub(crate) fn dress(&self, command: &mut Command) {
        for name in &self.unset {
            command.env_remove(name);
        }
        command.envs(self.set.iter().map(|(name, value)| (name, value)));
    }

    /// Becomes this user for good: groups first, because only root may set them. Nobody of that user may look into this process
    /// until its exec makes it another program.
    pub(crate) fn become_it(&self) -> io::Result<()> {
        let checked = |result: libc::c_int| match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        };
        // SAFETY: plain system calls on this process, which has one thread; the list of groups is alive and as long as said.
        unsafe {
            checked(libc::setgroups(self.groups.len(), self.groups.as_ptr()))?;
            checked(libc::setresgid(self.gid, self.gid, self.gid))?;
            checked(libc::setresuid(self.uid, self.uid, self.uid))?;
            // The kernel has done so unless fs.suid_dumpable says otherwise: proc_sys_fs(5). ptrace(2) and pidfd_getfd(2)
            // are then for root alone.
            checked(libc::prctl(libc::PR_SET_DUMPABLE, 0))
        }
    }
}

/// Rights of this process to files.
struct Rights<'a> {
    uid: u32,
    gid: u32,
    groups: &'a [u32],
}

impl Rights<'_> {
    /// Takes them on: those to other processes, and theirs to us, stay.
    fn take(&self) -> io::Result<()> {
        // SAFETY: plain system calls on this process, which has one thread; the list of groups is alive and as long as said.
        // Neither call for an id fails: each returns the former one, so that a second one tells whether it was done
        // (setfsuid(2)). No longer being user 0 there takes away the capabilities over files: capabilities(7).
        let done = unsafe {
            if libc::setgroups(self.groups.len(), self.groups.as_ptr()) != 0 {
                return Err(io::Error::last_os_error());
            }
            libc::setfsgid(self.gid);
            libc::setfsuid(self.uid);
            let none = u32::MAX;
            libc::setfsgid(none) == self.gid as libc::c_int && libc::setfsuid(none) == self.uid as libc::c_int
        };
        if done { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EPERM)) }
    }
}

/// Closes all but the standard streams. Without this, who may look into this process may take what it has open.
pub(crate) fn close_all_else() -> io::Result<()> {
    const FIRST: libc::c_uint = 3;
    // SAFETY: the caller uses no descriptor from here on.
    if unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, 0) } == 0 {
        return Ok(());
    }
    // Before Linux 5.9, or forbidden by a filter. Listed first: the list has a descriptor of its own.
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for fd in open.into_iter().filter(|fd| *fd >= FIRST as i32) {
        // SAFETY: as above; that of the list is closed already, which is an error without a consequence.
        unsafe { libc::close(fd) };
    }
    Ok(())
}
