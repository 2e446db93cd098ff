//! Writing a file whole or not at all.
//!
//! The bytes go to a file without a name in the same directory (`O_TMPFILE`), are forced to disk, and only then get
//! their name. A crash at any moment therefore leaves either the old file or the new one, and no temporary file. Where
//! the file system knows no nameless files, a named one is used and removed on every error.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

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
    let written = match destination(path) {
        Ok(Destination::Stream) => stream(path, bytes),
        Ok(Destination::File { directory, target }) => match unnamed(&directory, &target, bytes) {
            Err(error) if unsupported(&error) => named(&directory, &target, bytes),
            other => other,
        },
        Err(error) => Err(error),
    };
    written.map_err(|error| trouble::writing(path, &error))
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

fn stream(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Appending: a stream that is a file already holds something.
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(bytes)?;
    file.flush()
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

fn unnamed(directory: &Path, target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = nameless(directory)?;
    fill(&mut file, target, bytes)?;
    let handle = format!("/proc/self/fd/{}", file.as_raw_fd());
    if !Path::new(&handle).exists() {
        return Err(Errno::OPNOTSUPP.into());
    }
    let link = |to: &Path| rustix::fs::linkat(CWD, &handle, CWD, to, AtFlags::SYMLINK_FOLLOW);
    match link(target) {
        Err(Errno::EXIST) => {
            // linkat cannot replace: a second name for an instant, then a rename over the old file.
            let second =
                directory.join(format!(".whyfaster-{}-{handle}.tmp", std::process::id()).replace('/', "-"));
            link(&second)?;
            fs::rename(&second, target).inspect_err(|_| drop(fs::remove_file(&second)))?;
        }
        other => other?,
    }
    sync_directory(directory);
    Ok(())
}

fn named(directory: &Path, target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary(directory)?;
    fill(file.as_file_mut(), target, bytes)?;
    file.persist(target).map_err(|error| error.error)?;
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

/// Writes the bytes, keeps the rights of a file that is replaced, and waits for the disk.
fn fill(file: &mut File, target: &Path, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Ok(old) = fs::metadata(target) {
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()
}

/// Makes the new name durable. Some file systems refuse it for a directory; the contents are safe all the same.
fn sync_directory(directory: &Path) {
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    fn names(directory: &Path) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_made_and_replaced_and_nothing_else_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        check_writable(&path).unwrap();
        assert!(names(directory.path()).is_empty(), "the check left something");
        write_atomic(&path, b"one").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        check_writable(&path).unwrap();
        write_atomic(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640, "rights were not kept");
        assert_eq!(names(directory.path()), ["r.json"]);
    }

    #[test]
    fn the_way_with_a_name_does_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        named(directory.path(), &path, b"one").unwrap();
        named(directory.path(), &path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(directory.path()), ["r.json"]);
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        unnamed(directory.path(), &directory.path().join("s.json"), b"").unwrap();
        let other = fs::metadata(directory.path().join("s.json")).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, other, "both ways give a new file the same rights");
    }

    #[test]
    fn a_link_stays_and_what_it_points_to_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let (link, file) = (directory.path().join("link"), directory.path().join("file"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_atomic(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn devices_and_pipes_are_written_directly() {
        write_atomic(Path::new("/dev/null"), b"x").unwrap();
        check_writable(Path::new("/dev/null")).unwrap();
        check_writable(Path::new("/dev/stdout")).unwrap();
        let failure = write_atomic(Path::new("/dev/full"), b"x").unwrap_err();
        assert!(
            failure.message.contains("/dev/full") && failure.message.contains("No space left"),
            "{failure}"
        );
        assert!(failure.hint.unwrap().contains("Free some space"));

        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        // The check must not wait for a reader.
        check_writable(&pipe).unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write_atomic(&pipe, b"through").unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
    }

    #[test]
    fn what_cannot_be_written_is_said_before_and_after_in_the_same_words() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "kept").unwrap();
        let cases = [
            (directory.path().join("none/r.json"), "mkdir -p"),
            (file.join("r.json"), "A part of the path is a file"),
            (directory.path().to_owned(), "Name a file in it"),
            (PathBuf::from("/proc/nowhere.json"), "Choose another file"),
            (PathBuf::from(""), ""),
            (PathBuf::from("/"), "Name a file in it"),
            (directory.path().join("x".repeat(300)), "Choose another file"),
        ];
        for (path, hint) in cases {
            let before = check_writable(&path).map_err(|f| (f.message, f.hint));
            let after = write_atomic(&path, b"x").map_err(|f| (f.message, f.hint));
            let (message, said) = after.expect_err(&path.display().to_string());
            assert!(message.contains(&format!("'{}'", path.display())), "{message}");
            assert!(said.clone().unwrap().contains(hint), "{said:?}");
            if path.as_os_str().len() < 300 {
                assert_eq!(before, Err((message, said)));
            }
        }
        assert_eq!(fs::read(&file).unwrap(), b"kept");
        assert_eq!(names(directory.path()), ["file"]);
    }
}
