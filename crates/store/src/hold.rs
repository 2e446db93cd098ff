//! A lock on a file, which the kernel takes back with the process.

use std::fs::File;
use std::io;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Whose the lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// This process's, until the file is closed.
    Ours,
    /// Another one's.
    Others,
    /// Nobody's: the file system has none, as some of networks.
    NoLocks,
}

/// Takes the lock, if nobody has it.
pub fn hold(file: &File) -> io::Result<Held> {
    told(flock(file, FlockOperation::NonBlockingLockExclusive))
}

/// Gives it back, also for a process that is about to be another program and has the file open until then.
pub fn release(file: &File) {
    // At the latest it goes with the file.
    let _ = flock(file, FlockOperation::Unlock);
}

fn told(locked: rustix::io::Result<()>) -> io::Result<Held> {
    match locked {
        Ok(()) => Ok(Held::Ours),
        Err(Errno::WOULDBLOCK) => Ok(Held::Others),
        Err(Errno::NOSYS | Errno::NOLCK | Errno::OPNOTSUPP) => Ok(Held::NoLocks),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_is_no_other_process() {
        let of = |error| told(Err(error)).map_err(|error| error.raw_os_error());
        assert_eq!(of(Errno::WOULDBLOCK), Ok(Held::Others));
        for error in [Errno::NOSYS, Errno::NOLCK, Errno::OPNOTSUPP] {
            assert_eq!(of(error), Ok(Held::NoLocks));
        }
        assert_eq!(of(Errno::PERM), Err(Some(Errno::PERM.raw_os_error())));
    }
}
