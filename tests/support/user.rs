//! Running the program as another user.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{PROGRAM, Ran, Running, Sandbox};

pub(crate) const NOBODY: &str = "65534";

/// An ordinary user that nobody else is.
pub(crate) const USER: &str = "64321";

/// The program where any user can execute it, in a sandbox of that test, with which it goes: a home directory may be closed to
/// others.
pub(crate) fn program_for_all(place: &Sandbox) -> String {
    let program = place.path("whyfaster");
    if !program.exists() {
        fs::copy(PROGRAM, &program).unwrap();
    }
    place.file("whyfaster")
}

/// The program as sudo of the user 65534 would start it.
pub(crate) fn under_sudo(place: &Sandbox, args: &[&str]) -> Command {
    let mut command = place.whyfaster(args);
    command.env("SUDO_UID", NOBODY).env("SUDO_GID", NOBODY).env("SUDO_USER", "nobody");
    command.env("SUDO_COMMAND", "whyfaster").env("HOME", "/root").env("USER", "root");
    command
}

/// A command as this user and no group besides.
pub(crate) fn as_user(place: &Sandbox, user: &str, program: &str, args: &[&str]) -> Command {
    let words = ["--reuid", user, "--regid", user, "--clear-groups", "--", program];
    place.command("setpriv", &[&words, args].concat())
}

/// A command as the user 65534 without any privilege. Whoever is not root already has none.
pub(crate) fn without_privileges(place: &Sandbox, program: &str, args: &[&str]) -> Command {
    if rustix::process::geteuid().is_root() {
        as_user(place, NOBODY, program, args)
    } else {
        place.command(program, args)
    }
}

/// The program as that user.
pub(crate) fn run_without_privileges(place: &Sandbox, args: &[&str]) -> Ran {
    place.finish(without_privileges(place, &program_for_all(place), args))
}

/// A sandbox open to [`USER`], with a `setpriv` that becomes root for whoever runs it, as `sudo` does.
pub(crate) fn place_of_user() -> Sandbox {
    let place = Sandbox::open();
    let setpriv = Command::new("sh").args(["-c", "command -v setpriv"]).output().unwrap().stdout;
    fs::copy(String::from_utf8(setpriv).unwrap().trim(), place.path("rise")).unwrap();
    fs::set_permissions(place.path("rise"), Permissions::from_mode(0o4755)).unwrap();
    place
}

/// Starts the program as that user.
pub(crate) fn start_as_user(place: &Sandbox, args: &[&str]) -> Running {
    place.begin(as_user(place, USER, PROGRAM, args))
}
