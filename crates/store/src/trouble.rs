//! What to say when a file cannot be read or written: the path, the reason, the next step.

use std::io;
use std::path::Path;

use rustix::io::Errno;
use whyfaster_rights as rights;
use whyfaster_words::exit::{Exit, Failure};

use super::place::{Foreign, Gone};

/// The user who called sudo, if that user's rights to files are used.
fn caller() -> Option<u32> {
    let uid = rights::file_user();
    let of_sudo = std::env::var("SUDO_UID").ok()?;
    (uid != 0 && of_sudo.parse() == Ok(uid)).then_some(uid)
}

/// A file that cannot be written.
pub fn writing(path: &Path, error: &io::Error) -> Failure {
    let gone = error.get_ref().is_some_and(|why| why.is::<Gone>());
    let hint = match Errno::from_io_error(error) {
        _ if gone => {
            "Name a file in a directory that the commands leave alone. 'whyfaster show' prints what was kept of the measurement."
                .to_owned()
        }
        Some(Errno::NOSPC | Errno::DQUOT) => {
            "Free some space, or write to another disk. What stood there before is untouched.".to_owned()
        }
        Some(Errno::ROFS) => "This file system cannot be written. Choose a file elsewhere.".to_owned(),
        Some(Errno::ACCESS | Errno::PERM) => match caller() {
            Some(uid) => format!(
                "Choose a directory of the user who called sudo (uid {uid}): files are written with that user's rights. \
                 Where commands run, --as-root writes them as root."
            ),
            None => "Choose a file in a directory that you may write to.".to_owned(),
        },
        Some(Errno::NOENT) => match path.parent().filter(|directory| !directory.exists()) {
            Some(directory) if !directory.as_os_str().is_empty() => {
                format!("Make the directory first: mkdir -p '{}'", directory.display())
            }
            _ => "Choose another file.".to_owned(),
        },
        Some(Errno::NOTDIR) => "A part of the path is a file. Choose a path through directories.".to_owned(),
        Some(Errno::ISDIR) => format!("Name a file in it, such as '{}'.", path.join("record.json").display()),
        Some(Errno::FBIG) => {
            "Raise the limit of file sizes (ulimit -f), or write to another disk.".to_owned()
        }
        Some(Errno::NXIO) => {
            "Nothing reads there. Start the reader of the pipe first, or write to a file instead.".to_owned()
        }
        Some(Errno::PIPE) => "The reader of the pipe has gone. Write to a file instead.".to_owned(),
        _ if error.get_ref().is_some_and(|why| why.is::<Foreign>()) => {
            "It may be a trap. Choose a file in a directory that only you may write to.".to_owned()
        }
        _ => "Choose another file.".to_owned(),
    };
    Failure::new(Exit::Error, format!("cannot write '{}': {error}", path.display()), hint)
}

/// Standard output that cannot be written to. A reader that has gone is no failure and does not come here.
pub(super) fn printing(error: &io::Error) -> Failure {
    let hint = match Errno::from_io_error(error) {
        Some(Errno::NOSPC | Errno::DQUOT) => {
            "Free some space where it leads, or lead it elsewhere: whyfaster ... > FILE."
        }
        Some(Errno::FBIG) => "Raise the limit of file sizes (ulimit -f), or lead it elsewhere.",
        _ => "Lead it to a terminal, a file or another program.",
    };
    Failure::new(Exit::Error, format!("cannot write to standard output: {error}"), hint)
}

/// A file that cannot be read.
pub(super) fn reading(path: &Path, error: &io::Error) -> Failure {
    let hint = match Errno::from_io_error(error) {
        Some(Errno::NOENT | Errno::NOTDIR) => {
            "Check the path. 'whyfaster compare --record FILE' writes a record, 'whyfaster prices --record FILE' a price list."
        }
        Some(Errno::ACCESS | Errno::PERM) => "Ask its owner for the right to read it.",
        Some(Errno::ISDIR) => "Name a record in it.",
        _ => "Check the disk, or copy the record elsewhere.",
    };
    Failure::new(Exit::Error, format!("cannot read '{}': {error}", path.display()), hint)
}
