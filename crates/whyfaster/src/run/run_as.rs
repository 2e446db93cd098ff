//! Becoming the user who called sudo: in the child, after all that needs privileges, before the exec.

use std::io;

use whyfaster_core::plan::{Because, User};

use super::protocol::RunAs;
use crate::host::user::environment;

impl RunAs {
    /// What there is to become, if the plan asks for another user than ours.
    pub(crate) fn of(user: Option<&User>) -> Option<Self> {
        let user = user.filter(|user| user.because == Because::Sudo)?;
        let (set, unset) = environment(user);
        let unset = unset.into_iter().map(str::to_owned).collect();
        Some(Self { uid: user.uid, gid: user.gid, groups: user.groups.clone(), set, unset })
    }

    /// Becomes this user for good: groups first, because only root may set them.
    pub(crate) fn become_it(&self) -> io::Result<()> {
        let checked = |result: libc::c_int| match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        };
        // SAFETY: plain system calls on this process, which has one thread; the list of groups is alive and as long as said.
        unsafe {
            checked(libc::setgroups(self.groups.len(), self.groups.as_ptr()))?;
            checked(libc::setresgid(self.gid, self.gid, self.gid))?;
            checked(libc::setresuid(self.uid, self.uid, self.uid))
        }
    }
}
