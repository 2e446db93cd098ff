//! Files that are written for the user: each is found and opened before anything is measured, and is written whole or not at all.
//!
//! A path is followed once, in [`OutputFile::hold`]. From then on the directory is held by a descriptor, and a stream is held
//! open. A measured command can exchange a directory or plant a link meanwhile; the file still goes to the place that was found. The
//! rights are those that the process has to files: under sudo the caller's (see `whyfaster_rights`).
//!
//! The bytes go to a file without a name in the same directory (`O_TMPFILE`), are forced to disk, and only then get
//! their name. A crash at any moment therefore leaves either the old file or the new one, and no temporary file. Where
//! the file system knows no nameless files, a named one is used and removed on every error.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::ops::Deref;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};
use whyfaster_words::exit::Failure;

use super::place::Place;
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
    /// A device, a pipe, or a stream of this process: it is open, and bytes are passed on.
    Stream(File),
    /// A file, which may be there already.
    File(Place),
}

/// A file that the user named for an output: its path, and from [`OutputFile::hold`] on the place that the path led to. Two are equal if
/// their paths are.
#[derive(Clone, Debug)]
pub struct OutputFile {
    path: PathBuf,
    /// Rights of a new file, before the umask is taken off.
    rights: u32,
    destination: Arc<OnceLock<Destination>>,
}

impl OutputFile {
    /// The file of this path. Nothing is looked at yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), rights: NEW_FILE, destination: Arc::default() }
    }

    /// The file of this name in the directory for temporary files. Nobody can guess the name beforehand.
    pub fn temporary(suffix: &str) -> Self {
        let name = format!("whyfaster-{:016x}{suffix}", chance());
        Self::new(std::env::temp_dir().join(name)).private()
    }

    /// A file in a directory that is held already. The last part of the path is its name there.
    pub fn within(directory: OwnedFd, path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or_default().to_owned();
        let place = Destination::File(Place { directory, name, magic: false });
        Self { path, rights: NEW_FILE, destination: Arc::new(place.into()) }
    }

    /// Lets only the owner read the file where it is new.
    pub(super) fn private(self) -> Self {
        Self { rights: PRIVATE, ..self }
    }

    /// Follows the path, finds out whether the file can be written, and holds the place. Changes nothing. Later calls do nothing.
    ///
    /// # Errors
    /// The file cannot be written, with the reason and the next step.
    pub fn hold(&self) -> Result<(), Failure> {
        self.destination().map(drop)
    }

    /// Writes the file whole, or leaves everything as it was.
    ///
    /// # Errors
    /// The file cannot be written, with the reason and the next step.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut file = self.begin()?;
        file.write_all(bytes).map_err(|error| trouble::writing(&self.path, &error))?;
        file.commit()
    }

    /// Begins a file that is written piece by piece.
    ///
    /// # Errors
    /// The file cannot be written, with the reason and the next step.
    pub fn begin(&self) -> Result<AtomicFile, Failure> {
        let made = begin(self.destination()?, self.rights);
        let made = made.map_err(|error| trouble::writing(&self.path, &error))?;
        Ok(AtomicFile { path: self.path.clone(), made })
    }

    fn destination(&self) -> Result<&Destination, Failure> {
        if let Some(held) = self.destination.get() {
            return Ok(held);
        }
        let found = destination(&self.path).map_err(|error| trouble::writing(&self.path, &error))?;
        Ok(self.destination.get_or_init(|| found))
    }
}

impl Eq for OutputFile {}

impl Deref for OutputFile {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl PartialEq for OutputFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

/// Writes a file whole that was not held before, or leaves everything as it was and says why.
///
/// # Errors
/// The file cannot be written, with the reason and the next step.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    OutputFile::new(path).write(bytes)
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
    /// Forces the bytes to disk and gives them their name.
    pub fn commit(self) -> Result<(), Failure> {
        let path = self.path;
        let ended = match self.made {
            Made::Stream(mut file) => file.flush(),
            Made::Unnamed { file, place } => settle(&file, &place)
                .and_then(|()| give_name(&file, &place))
                .map_err(|error| place.reason(error)),
            Made::Named { file, place, spare } => settle(&file, &place)
                .and_then(|()| spare.replace(&place))
                .map_err(|error| place.reason(error)),
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

fn begin(destination: &Destination, rights: u32) -> io::Result<Made> {
    let place = match destination {
        Destination::Stream(stream) => return Ok(Made::Stream(stream.try_clone()?)),
        Destination::File(place) => place.try_clone()?,
    };
    match nameless(&place, rights) {
        // Without /proc there is no way to give it a name.
        Ok(file) if handle(&file).exists() => Ok(Made::Unnamed { file, place }),
        Err(error) if !unsupported(&error) => Err(place.reason(error)),
        _ => {
            let (file, spare) = named(&place, rights).map_err(|error| place.reason(error))?;
            Ok(Made::Named { file, place, spare })
        }
    }
}

/// Looks where a path leads. A stream is opened here: a pipe has a reader only as long as it has a writer. A link stays, and the file behind
/// it is replaced.
fn destination(path: &Path) -> io::Result<Destination> {
    let place = Place::of(path)?;
    match place.found()?.map(|found| FileType::from_raw_mode(found.st_mode)) {
        Some(FileType::Directory) => return Err(Errno::ISDIR.into()),
        // A socket has a path but cannot be opened.
        Some(FileType::Socket) if !place.magic => return Err(Errno::NXIO.into()),
        Some(FileType::RegularFile) if !place.magic => writable(&place)?,
        None => {}
        // `/dev/stdout` may be a file (`> file`), which the shell opened for us: replacing it by another would lose what has
        // been printed.
        Some(_) => return Ok(Destination::Stream(place.stream()?.into())),
    }
    match nameless(&place, NEW_FILE) {
        Err(error) if unsupported(&error) => drop(named(&place, NEW_FILE)?),
        other => drop(other?),
    }
    Ok(Destination::File(place))
}

/// Fails if the file that is there may not be written to: renaming would replace a write-protected one. It is opened,
/// because access(2) asks for the real user, which is root's under sudo.
fn writable(place: &Place) -> io::Result<()> {
    let opened = place.open(&place.name, OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK, Mode::empty());
    match opened {
        // A program that runs can be replaced.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::TXTBSY) => Ok(()),
        opened => opened.map(drop),
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

/// A number for a name. The keys of the standard library's hash maps come from the operating system's random numbers.
fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
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
            let name = OsString::from(format!(".whyfaster-{:016x}.tmp", chance()));
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

/// Keeps the owner and the rights of a file that is replaced, and waits for the disk.
fn settle(file: &File, place: &Place) -> io::Result<()> {
    // What came there since the beginning and is no file has nothing to pass on.
    let old = place.found()?.filter(|old| FileType::from_raw_mode(old.st_mode) == FileType::RegularFile);
    if let Some(old) = old {
        // Before the rights: a change of the owner may take some away (chown(2)). Only root may give a file to another user; the file
        // is as good without.
        let _ = rustix::fs::fchown(file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
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
