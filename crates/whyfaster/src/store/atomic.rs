//! Writing a file whole or not at all.
//!
//! The bytes go to a file without a name in the same directory (`O_TMPFILE`), are forced to disk, and only then get
//! their name. A crash at any moment therefore leaves either the old file or the new one, and no temporary file. Where
//! the file system knows no nameless files, a named one is used and removed on every error.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};
use whyfaster_core::plan::Because;

use super::trouble;
use crate::exit::Failure;

/// Rights of a new file before the umask is taken off.
const NEW_FILE: u32 = 0o666;

/// Where bytes go.
#[derive(Debug)]
enum Destination {
    /// A device, a pipe, or a stream of this process: bytes are passed on.
    Stream,
    /// A file in this directory.
    File { directory: PathBuf, target: PathBuf },
}

/// Writes the file whole, or leaves everything as it was and says why.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|error| trouble::writing(path, &error))?;
    file.commit()
}

/// A file that is written piece by piece and stands under its name only once it is whole. Dropped before that, it leaves
/// everything as it was. What goes to a stream is passed on at once.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    made: Made,
}

#[derive(Debug)]
enum Made {
    Stream(File),
    Unnamed { file: File, directory: PathBuf, target: PathBuf },
    Named { file: tempfile::NamedTempFile, directory: PathBuf, target: PathBuf },
}

impl AtomicFile {
    /// Begins the file.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let made = begin(path).map_err(|error| trouble::writing(path, &error))?;
        Ok(Self { path: path.to_owned(), made })
    }

    /// Forces the bytes to disk and gives them their name.
    pub fn commit(self) -> Result<(), Failure> {
        let path = self.path;
        let ended = match self.made {
            Made::Stream(mut file) => file.flush(),
            Made::Unnamed { mut file, directory, target } => {
                settle(&mut file, &target).and_then(|()| give_name(&file, &directory, &target))
            }
            Made::Named { mut file, directory, target } => {
                settle(file.as_file_mut(), &target).and_then(|()| {
                    file.persist(&target).map_err(|error| error.error)?;
                    sync_directory(&directory);
                    Ok(())
                })
            }
        };
        ended.map_err(|error| trouble::writing(&path, &error))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.made {
            Made::Stream(file) | Made::Unnamed { file, .. } => file.write(bytes),
            Made::Named { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // The files are not buffered; commit waits for the disk.
        Ok(())
    }
}

fn begin(path: &Path) -> io::Result<Made> {
    let (directory, target) = match destination(path)? {
        // Appending: a stream that is a file already holds something.
        Destination::Stream => return Ok(Made::Stream(OpenOptions::new().append(true).open(path)?)),
        Destination::File { directory, target } => (directory, target),
    };
    match nameless(&directory) {
        // Without /proc there is no way to give it a name.
        Ok(file) if handle(&file).exists() => Ok(Made::Unnamed { file, directory, target }),
        Err(error) if !unsupported(&error) => Err(error),
        _ => Ok(Made::Named { file: temporary(&directory)?, directory, target }),
    }
}

/// Finds out, before anything is measured, whether [`write_atomic`] can work. Changes nothing.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    let possible = match destination(path) {
        Ok(Destination::Stream) => rustix::fs::access(path, Access::WRITE_OK).map_err(io::Error::from),
        Ok(Destination::File { directory, .. }) => match nameless(&directory) {
            Err(error) if unsupported(&error) => temporary(&directory).map(drop),
            other => other.map(drop),
        },
        Err(error) => Err(error),
    };
    possible.map_err(|error| trouble::writing(path, &error))
}

/// Looks where a path leads, without opening anything (opening a pipe would wait for a reader).
fn destination(path: &Path) -> io::Result<Destination> {
    if is_own_stream(path) {
        return Ok(Destination::Stream);
    }
    // A link is followed, so that it stays and the file behind it is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => Err(Errno::ISDIR.into()),
        Ok(found) if !found.is_file() => {
            // A socket has a path but cannot be opened.
            if found.file_type().is_socket() { Err(Errno::NXIO.into()) } else { Ok(Destination::Stream) }
        }
        Ok(_) => {
            // Renaming would replace a file that its owner has write-protected.
            rustix::fs::access(&target, Access::WRITE_OK)?;
            Ok(in_directory(target))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && target.file_name().is_some() => {
            Ok(in_directory(target))
        }
        Err(error) => Err(error),
    }
}

fn in_directory(target: PathBuf) -> Destination {
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    Destination::File { directory, target }
}

/// `/dev/stdout` may be a regular file (`> file`), which the shell opened for us: replacing it by another would lose
/// what has been printed.
fn is_own_stream(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr"].iter().any(|stream| path == Path::new(stream))
        || path.starts_with("/dev/fd")
        || path.starts_with("/proc/self/fd")
}

fn nameless(directory: &Path) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(directory, flags, Mode::from_raw_mode(NEW_FILE))?.into())
}

/// The kernel, the file system, or a missing `/proc` does not allow the way without a name.
fn unsupported(error: &io::Error) -> bool {
    // EISDIR is what kernels and file systems without O_TMPFILE answer (open(2), NOTES).
    matches!(Errno::from_io_error(error), Some(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS))
}

/// The file as `linkat` can name it.
fn handle(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn give_name(file: &File, directory: &Path, target: &Path) -> io::Result<()> {
    let handle = handle(file);
    let link = |to: &Path| rustix::fs::linkat(CWD, &handle, CWD, to, AtFlags::SYMLINK_FOLLOW);
    match link(target) {
        Err(Errno::EXIST) => {
            // linkat cannot replace: a second name for an instant, then a rename over the old file.
            let own = format!(".whyfaster-{}-{}.tmp", std::process::id(), file.as_raw_fd());
            let second = directory.join(own);
            link(&second)?;
            fs::rename(&second, target).inspect_err(|_| drop(fs::remove_file(&second)))?;
        }
        other => other?,
    }
    sync_directory(directory);
    Ok(())
}

fn temporary(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    // tempfile adds its own path to errors, which nobody asked for; so the number of the error is kept aside.
    let mut number = None;
    let create = |path: &Path| {
        let made = OpenOptions::new().write(true).create_new(true).mode(NEW_FILE).open(path);
        number = made.as_ref().err().and_then(io::Error::raw_os_error);
        made
    };
    let made = tempfile::Builder::new().prefix(".whyfaster-").make_in(directory, create);
    made.map_err(|error| number.map_or(error, io::Error::from_raw_os_error))
}

/// Keeps the owner and the rights of a file that is replaced, gives a new one to whom it is for, and waits for the disk.
fn settle(file: &mut File, target: &Path) -> io::Result<()> {
    let old = fs::metadata(target).ok();
    let owner = match &old {
        Some(old) => Some((old.uid(), old.gid())),
        None => caller(),
    };
    if let Some((uid, gid)) = owner.filter(|_| rustix::process::geteuid().is_root()) {
        // Before the rights: a change of the owner may take some away (chown(2)). Where the file system knows no owners,
        // the file is as good without.
        let _ = rustix::fs::fchown(&*file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
    }
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()
}

/// Who called sudo, if somebody did: what is written is for them, as the measured commands run as them.
fn caller() -> Option<(u32, u32)> {
    let euid = rustix::process::geteuid().as_raw();
    let user = crate::host::user(euid, &crate::host::Caller::here(), false).ok()?;
    (user.because == Because::Sudo).then_some((user.uid, user.gid))
}

/// Makes the new name durable. Some file systems refuse it for a directory; the contents are safe all the same.
fn sync_directory(directory: &Path) {
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
}

#[cfg(test)]
#[path = "atomic_tests.rs"]
mod tests;
