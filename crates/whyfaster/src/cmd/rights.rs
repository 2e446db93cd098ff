//! Chooses the rights of a verb. Under sudo it uses files with its caller's rights, and keeps root's other rights while it observes.

use std::env;

use whyfaster_core::plan::{Because, User};
use whyfaster_host::Root;
use whyfaster_host::user::{SECRETS, environment};
use whyfaster_rights::{self as rights, FileRights};
use whyfaster_run::terminal;
use whyfaster_words::exit::{self, Exit, Failure};

use crate::cli::HostSeed;

/// If it holds 1, other processes of a user may look into the memory of a process that became this user.
const SUID_DUMPABLE: &str = "/proc/sys/fs/suid_dumpable";

/// Uses files with the rights of whoever called sudo, and finds the files of that user. The process must have one thread.
///
/// # Errors
/// sudo's variables are unclear, or this process may not change its user.
pub fn of_caller(as_root: bool) -> Result<(), Failure> {
    let Some(user) = caller(as_root)? else { return Ok(()) };
    // Between becoming the caller and closing its memory a process of ours could be looked into (proc_sys_fs(5)).
    if Root::real().number(SUID_DUMPABLE).is_ok_and(|how| how == 1) {
        return Err(Failure::unfit(
            "fs.suid_dumpable is 1: programs of the user who called sudo could look into whyfaster",
            "set it to 0 or 2 (sysctl fs.suid_dumpable=0), or add --as-root to run the commands as root",
        ));
    }
    of(&user).take().map_err(|error| refused(&error))?;
    let (set, taken) = environment(&user);
    // sudo's own variables stay, because they hold its caller. Those of the store stay, because only commands must not get them.
    let taken = taken.into_iter().filter(|name| !name.starts_with("SUDO_") && !SECRETS.contains(name));
    // SAFETY: the process has one thread, which reads no variable meanwhile.
    unsafe {
        taken.for_each(|name| env::remove_var(name));
        set.iter().for_each(|(name, value)| env::set_var(name, value));
    }
    Ok(())
}

/// Becomes whoever called sudo, and gives up the capabilities, both for good: nothing is observed from here on.
///
/// # Errors
/// sudo's variables are unclear, or this process may not change its user.
pub fn give_up(as_root: bool) -> Result<(), Failure> {
    of_caller(as_root)?;
    if let Some(user) = caller(as_root)? {
        // Programs that are started from here on are the caller's, and root may read this terminal after us.
        if terminal::is_of_another(user.uid) {
            terminal::leave().map_err(|error| refused(&error))?;
        }
        of(&user).become_for_good().map_err(|error| refused(&error))?;
    }
    rights::give_up_capabilities().map_err(|error| {
        Failure::unfit(
            format!("cannot give up the capabilities of whyfaster: {error}"),
            "allow the system call capset(2)",
        )
    })
}

/// The same after observing. It only reports a failure, so that the results are written: files are the caller's already.
pub fn after_observing(as_root: bool) {
    if let Err(failure) = give_up(as_root) {
        exit::report(Err(failure.into()));
    }
}

/// The user who called sudo, if that user's rights are to be used.
fn caller(as_root: bool) -> Result<Option<User>, Failure> {
    let user = HostSeed::here().user(as_root)?;
    Ok(Some(user).filter(|user| user.because == Because::Sudo))
}

fn of(user: &User) -> FileRights<'_> {
    FileRights { uid: user.uid, gid: user.gid, groups: &user.groups }
}

fn refused(error: &std::io::Error) -> Failure {
    Failure::new(
        Exit::Error,
        format!("becoming the user who called sudo failed: {error}"),
        "that needs CAP_SETUID and CAP_SETGID, which a container or a filter of system calls may withhold; --as-root runs commands as root",
    )
}
