//! The rights of this process: those to files, its user, and its capabilities.
//!
//! Under `sudo` the program is root, and the caller controls the directories it works in: a measured command can exchange a
//! directory or plant a link at any time. Root's rights would then reach whatever the link names. So the program takes the
//! caller's rights to files before it opens any ([`FileRights::take`]). From then on it can open only files that the caller
//! could open. [`with_root`] gives root's rights back for one action, on files that only the kernel or root controls.
//!
//! The kernel keeps the user for file access apart from the user for all else (setfsuid(2)): signals, `ptrace`, BPF and
//! counters work as before, and no process of the caller may signal or trace this one. An exec ends it: a program that
//! this one starts has root's rights again, until it becomes the caller ([`FileRights::become_for_good`]).

use std::io;

use rustix::process::{
    getegid, geteuid, getgroups, parent_process_death_signal, set_parent_process_death_signal,
};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// No user has this number: setfsuid(2) then changes nothing and returns the present one.
const NOBODY_AT_ALL: u32 = u32::MAX;

/// Capabilities that root keeps: over files, and to end what it started and became another user.
const OF_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL);

/// A user's rights to files: what the kernel asks for when a path is followed, and whom it gives what is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRights<'a> {
    /// The user.
    pub uid: u32,
    /// The main group.
    pub gid: u32,
    /// All groups.
    pub groups: &'a [u32],
}

impl FileRights<'_> {
    /// Takes them on. Only root can; the process must have one thread.
    ///
    /// # Errors
    /// The groups cannot be set (CAP_SETGID), or the user (CAP_SETUID).
    pub fn take(&self) -> io::Result<()> {
        // SAFETY: a plain system call; the list of groups is alive and as long as said.
        if unsafe { libc::setgroups(self.groups.len(), self.groups.as_ptr()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        use_files_as(self.uid, self.gid);
        // Neither call reports a failure (setfsuid(2), BUGS), so the result is read back.
        let taken = present() == (self.uid, self.gid);
        if taken { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EPERM)) }
    }

    /// Does something with them, and gives the process its own back.
    ///
    /// # Errors
    /// Those of [`FileRights::take`], and those of the action.
    pub fn lend<T>(&self, action: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let groups: Vec<u32> = getgroups()?.iter().map(|group| group.as_raw()).collect();
        let own = FileRights { uid: geteuid().as_raw(), gid: getegid().as_raw(), groups: &groups };
        let done = self.take().and_then(|()| action());
        own.take().and(done)
    }

    /// Becomes this user for good. Groups come first, because only root may set them.
    ///
    /// # Errors
    /// CAP_SETGID or CAP_SETUID is missing.
    pub fn become_for_good(&self) -> io::Result<()> {
        let checked = |result: libc::c_int| match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        };
        // SAFETY: plain system calls on this process; the list of groups is alive and as long as said.
        unsafe {
            checked(libc::setgroups(self.groups.len(), self.groups.as_ptr()))?;
            checked(libc::setresgid(self.gid, self.gid, self.gid))?;
            checked(libc::setresuid(self.uid, self.uid, self.uid))
        }
    }
}

/// The user and the group whose files this thread makes.
fn present() -> (u32, u32) {
    // SAFETY: plain system calls, which change nothing: no user or group has this number.
    unsafe { (libc::setfsuid(NOBODY_AT_ALL) as u32, libc::setfsgid(NOBODY_AT_ALL) as u32) }
}

/// Sets the group first, because a user other than root may not choose it.
fn use_files_as(uid: u32, gid: u32) {
    let death = parent_process_death_signal().ok().flatten();
    // SAFETY: plain system calls on this thread. As long as the user is not 0 the kernel also takes the capabilities over files
    // away, and gives them back with the 0 (capabilities(7), "Effect of user ID changes on capabilities").
    unsafe {
        libc::setfsgid(gid);
        libc::setfsuid(uid);
    }
    // The kernel forgets it with every change of the user: prctl(2), PR_SET_PDEATHSIG.
    if death.is_some() {
        let _ = set_parent_process_death_signal(death);
    }
}

/// The user whose rights to files this process uses, and who owns what it makes.
pub fn file_user() -> u32 {
    present().0
}

/// The rights to files that [`with_root`] lent. Dropped, they are the caller's again, also after a panic.
struct Lent {
    uid: u32,
    gid: u32,
}

impl Drop for Lent {
    fn drop(&mut self) {
        use_files_as(self.uid, self.gid);
    }
}

/// Does something with root's rights to files, if the process took those of the caller. It is for `/proc`, `/sys`, `/dev` and
/// `/run`, whose names the caller cannot exchange. `xtask check` refuses callers that are not on its list.
pub fn with_root<T>(action: impl FnOnce() -> T) -> T {
    let (uid, gid) = present();
    let _lent = Lent { uid, gid };
    use_files_as(geteuid().as_raw(), getegid().as_raw());
    action()
}

/// Gives up every capability for good. Root keeps those over files and processes.
///
/// # Errors
/// A filter of system calls forbids it. Root then keeps its capabilities, and that is no error: it is root in any case.
pub fn give_up_capabilities() -> io::Result<()> {
    let root = geteuid().is_root();
    let left = if root { OF_ROOT } else { CapabilitySet::empty() };
    let given_up = capabilities(None).and_then(|now| {
        let sets = CapabilitySets {
            effective: now.effective & left,
            permitted: now.permitted & left,
            inheritable: CapabilitySet::empty(),
        };
        if sets == now { Ok(()) } else { set_capabilities(None, sets) }
    });
    if root { Ok(()) } else { Ok(given_up?) }
}

#[cfg(test)]
mod tests {
    use rustix::process::Signal;

    use super::*;

    #[test]
    fn without_other_rights_to_files_nothing_is_lent() {
        let before = present();
        assert_eq!(with_root(present), (geteuid().as_raw(), getegid().as_raw()));
        assert_eq!(present(), before);
        assert_eq!(file_user(), before.0);
    }

    #[test]
    fn the_signal_of_a_parents_death_stays() {
        // Its own thread: the signal is of one thread, and so are the rights.
        let kept = std::thread::spawn(|| {
            set_parent_process_death_signal(Some(Signal::CONT)).unwrap();
            let (uid, gid) = present();
            // Root alone can take another user's rights; the others keep their own.
            use_files_as(65_534, 65_534);
            use_files_as(uid, gid);
            parent_process_death_signal().unwrap()
        });
        assert_eq!(kept.join().unwrap(), Some(Signal::CONT));
    }

    #[test]
    fn rights_that_were_lent_are_given_back_after_a_panic() {
        let before = present();
        let panicked = std::panic::catch_unwind(|| with_root(|| panic!("on purpose")));
        assert!(panicked.is_err());
        assert_eq!(present(), before);
    }
}
