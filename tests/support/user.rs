//! Running the program as an ordinary user, in a place of that user's.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::process::{PROGRAM, Running, Sandbox};

/// An ordinary user that nobody else is.
pub(crate) const USER: &str = "64321";

/// A place of that user, with a `setpriv` that becomes root for whoever runs it, as `sudo` does.
pub(crate) fn place_of_user() -> Sandbox {
    let place = Sandbox::new();
    for dir in [".", "tmp"] {
        fs::set_permissions(place.path(dir), Permissions::from_mode(0o777)).unwrap();
    }
    let setpriv = Command::new("sh").args(["-c", "command -v setpriv"]).output().unwrap().stdout;
    fs::copy(String::from_utf8(setpriv).unwrap().trim(), place.path("rise")).unwrap();
    fs::set_permissions(place.path("rise"), Permissions::from_mode(0o4755)).unwrap();
    place
}

/// Starts the program as that user.
pub(crate) fn start_as_user(place: &Sandbox, args: &[&str]) -> Running {
    let setpriv = ["--reuid", USER, "--regid", USER, "--clear-groups", PROGRAM];
    place.begin(place.command("setpriv", &[&setpriv, args].concat()))
}
