//! Files that somebody else may exchange meanwhile, such as the libraries of a process that is observed.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file to read it, and nothing else that has taken its name: opening a FIFO waits, and opening a device acts.
/// The file may change at any time, so the caller must not map it.
pub fn open(path: &Path) -> io::Result<File> {
    reopen(&File::options().read(true).custom_flags(libc::O_PATH).open(path)?)
}

/// The same, unless the name is a link.
pub(crate) fn open_no_link(path: &Path) -> io::Result<File> {
    reopen(&File::options().read(true).custom_flags(libc::O_PATH | libc::O_NOFOLLOW).open(path)?)
}

/// The file that a name led to, seen before it is opened (open(2), `O_PATH`). A lease of another process makes nobody wait.
fn reopen(found: &File) -> io::Result<File> {
    if !found.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let path = format!("/proc/self/fd/{}", found.as_raw_fd());
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("file"), "x").unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("fifo"), rustix::fs::Mode::RUSR).unwrap();
        assert!(open(&path("file")).is_ok() && open(&path("link")).is_ok());
        assert!(open_no_link(&path("file")).is_ok() && open_no_link(&path("link")).is_err());
        for other in [path("fifo"), directory.path().to_owned(), "/dev/zero".into(), path("none")] {
            assert!(open(&other).is_err(), "{}", other.display());
        }
    }
}
