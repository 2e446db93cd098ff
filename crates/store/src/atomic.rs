//! Writing a file whole or not at all.
//!
//! The bytes go to a file without a name in the same directory (`O_TMPFILE`), are forced to disk, and only then get
//! their name. A crash at any moment therefore leaves either the old file or the new one, and no temporary file. Where
//! the file system knows no nameless files, a named one is used and removed on every error.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};
use whyfaster_words::exit::Failure;

use super::place::{Place, caller};
use super::trouble;

/// Rights of a new file before the umask is taken off: for everybody, and for its owner alone.
const NEW_FILE: u32 = 0o666;
const PRIVATE: u32 = 0o600;

/// Rights that a replaced file passes on.
const RIGHTS: u32 = 0o7777;

/// How many names are tried where each is taken: they are random, so a second one is needed hardly ever.
const TRIES: u32 = 16;

/// Where bytes go.
#[derive(Debug)]
enum Destination {
    /// A device, a pipe, or a stream of this process: bytes are passed on.
    Stream(Place),
    /// A file, which may be there already.
    File(Place),
}

/// Writes the file whole, or leaves everything as it was and says why.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write(AtomicFile::create(path)?, bytes)
}

/// The same for a file that only its owner may read.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write(AtomicFile::with_rights(path, PRIVATE)?, bytes)
}

fn write(mut file: AtomicFile, bytes: &[u8]) -> Result<(), Failure> {
    let path = file.path.clone();
    file.write_all(bytes).map_err(|error| trouble::writing(&path, &error))?;
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
    Unnamed { file: File, place: Place },
    Named { file: File, place: Place, spare: Spare },
}

impl AtomicFile {
    /// Begins the file.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        Self::with_rights(path, NEW_FILE)
    }

    fn with_rights(path: &Path, rights: u32) -> Result<Self, Failure> {
        let made = begin(path, rights).map_err(|error| trouble::writing(path, &error))?;
        Ok(Self { path: path.to_owned(), made })
    }

    /// Forces the bytes to disk and gives them their name.
    pub fn commit(self) -> Result<(), Failure> {
        let path = self.path;
        let ended = match self.made {
            Made::Stream(mut file) => file.flush(),
            Made::Unnamed { file, place } => settle(&file, &place).and_then(|()| give_name(&file, &place)),
            Made::Named { file, place, spare } => settle(&file, &place).and_then(|()| spare.replace(&place)),
        };
        ended.map_err(|error| trouble::writing(&path, &error))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.made {
            Made::Stream(file) | Made::Unnamed { file, .. } | Made::Named { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // The files are not buffered; commit waits for the disk.
        Ok(())
    }
}

fn begin(path: &Path, rights: u32) -> io::Result<Made> {
    let place = match destination(path)? {
        Destination::Stream(place) => return Ok(Made::Stream(place.stream()?.into())),
        Destination::File(place) => place,
    };
    match nameless(&place, rights) {
        // Without /proc there is no way to give it a name.
        Ok(file) if handle(&file).exists() => Ok(Made::Unnamed { file, place }),
        Err(error) if !unsupported(&error) => Err(error),
        _ => {
            let (file, spare) = named(&place, rights)?;
            Ok(Made::Named { file, place, spare })
        }
    }
}

/// What has to stay open from [`check_writable`] until the file is written.
#[derive(Debug)]
#[must_use = "the reader of a pipe goes away when its only writer does"]
pub struct Kept {
    _pipe: Option<OwnedFd>,
}

/// Finds out, before anything is measured, whether [`write_atomic`] can work. Changes nothing.
pub fn check_writable(path: &Path) -> Result<Kept, Failure> {
    let checked = || match destination(path)? {
        Destination::Stream(place) => {
            place.may_write()?;
            let pipe = place.found()?.is_some_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Fifo);
            // Whether a pipe has a reader is known only once it is open, and closed again the reader would be done.
            Ok(Kept { _pipe: if pipe { Some(place.stream()?) } else { None } })
        }
        Destination::File(place) => {
            match nameless(&place, NEW_FILE) {
                Err(error) if unsupported(&error) => drop(named(&place, NEW_FILE)?),
                other => drop(other?),
            }
            Ok(Kept { _pipe: None })
        }
    };
    checked().map_err(|error| trouble::writing(path, &error))
}

/// Looks where a path leads, without opening anything (opening a pipe would wait for a reader). A link stays, and what is
/// behind it is replaced.
fn destination(path: &Path) -> io::Result<Destination> {
    let place = Place::of(path)?;
    let Some(found) = place.found()? else { return Ok(Destination::File(place)) };
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => Err(Errno::ISDIR.into()),
        // A socket has a path but cannot be opened.
        FileType::Socket if !place.magic => Err(Errno::NXIO.into()),
        FileType::RegularFile if !place.magic => {
            // Renaming would replace a file that its owner has write-protected.
            place.may_write()?;
            Ok(Destination::File(place))
        }
        // `/dev/stdout` may be a file (`> file`), which the shell opened for us: replacing it by another would lose what has
        // been printed.
        _ => Ok(Destination::Stream(place)),
    }
}

fn nameless(place: &Place, rights: u32) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY;
    Ok(place.open(OsStr::new("."), flags, Mode::from_raw_mode(rights))?.into())
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

fn give_name(file: &File, place: &Place) -> io::Result<()> {
    let handle = handle(file);
    let link =
        |name: &OsStr| rustix::fs::linkat(CWD, &handle, &place.directory, name, AtFlags::SYMLINK_FOLLOW);
    match link(&place.name) {
        // linkat cannot replace: a second name for an instant, then a rename over the old file.
        Err(Errno::EXIST) => Spare::make(place, |name| Ok(link(name)?))?.1.replace(place),
        other => {
            other?;
            sync_directory(place);
            Ok(())
        }
    }
}

/// The way with a name, where the other does not work.
fn named(place: &Place, rights: u32) -> io::Result<(File, Spare)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    Spare::make(place, |name| Ok(place.open(name, flags, Mode::from_raw_mode(rights))?.into()))
}

/// A second name for an instant. Dropped, it is gone.
#[derive(Debug)]
struct Spare {
    directory: OwnedFd,
    name: OsString,
}

impl Spare {
    /// Makes something under a name that nobody has.
    fn make<T>(place: &Place, mut with: impl FnMut(&OsStr) -> io::Result<T>) -> io::Result<(T, Self)> {
        let directory = place.directory.try_clone()?;
        let mut tries = 0;
        loop {
            // The keys of the standard library's hash maps come from the operating system's random numbers.
            let chance = RandomState::new().build_hasher().finish();
            let name = OsString::from(format!(".whyfaster-{chance:016x}.tmp"));
            match with(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => tries += 1,
                made => return Ok((made?, Self { directory, name })),
            }
        }
    }

    /// Puts it in the place of what stands there.
    fn replace(self, place: &Place) -> io::Result<()> {
        rustix::fs::renameat(&self.directory, &self.name, &place.directory, &place.name)?;
        sync_directory(place);
        Ok(())
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        // Renamed, it is gone already.
        let _ = rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty());
    }
}

/// Keeps the owner and the rights of a file that is replaced, gives a new one to whom it is for, and waits for the disk.
fn settle(file: &File, place: &Place) -> io::Result<()> {
    // What came there since the beginning and is no file has nothing to pass on.
    let old = place.found()?.filter(|old| FileType::from_raw_mode(old.st_mode) == FileType::RegularFile);
    let owner = match &old {
        Some(old) => Some((old.st_uid, old.st_gid)),
        None => caller(),
    };
    if let Some((uid, gid)) = owner.filter(|_| rustix::process::geteuid().is_root()) {
        // Before the rights: a change of the owner may take some away (chown(2)). Where the file system knows no owners,
        // the file is as good without.
        let _ = rustix::fs::fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
    }
    if let Some(old) = old {
        rustix::fs::fchmod(file, Mode::from_raw_mode(old.st_mode & RIGHTS))?;
    }
    file.sync_all()
}

/// Makes the new name durable. Some file systems refuse it for a directory; the contents are safe all the same.
fn sync_directory(place: &Place) {
    if let Ok(directory) = place.open(OsStr::new("."), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()) {
        let _ = rustix::fs::fsync(&directory);
    }
}

#[cfg(test)]
#[path = "atomic_tests.rs"]
mod tests;
