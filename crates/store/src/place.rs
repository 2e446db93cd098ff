//! Where an output goes: a name in a directory that is held open, so that nobody can put another directory there meanwhile.
//!
//! A link is followed here and not by the kernel, because the file behind it is replaced and not opened. What the kernel refuses
//! to open in a directory in which anybody may make files (fs.protected_symlinks, fs.protected_regular and fs.protected_fifos
//! in Documentation/admin-guide/sysctl/fs.rst) is therefore refused here, whether the machine has these settings or not.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, PROC_SUPER_MAGIC, Stat};
use rustix::io::Errno;
use whyfaster_rights as rights;

/// Links that one path may lead through: `MAXSYMLINKS` in include/linux/namei.h.
const MOST_LINKS: usize = 40;

/// The way to a directory, and nothing more: it may be one that cannot be read.
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A name in a directory.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) directory: OwnedFd,
    pub(super) name: OsString,
    /// The directory is one of the kernel's (`/proc`): its links are no paths, and its files are no files.
    pub(super) magic: bool,
}

/// Somebody else made the file, or the link, in a directory in which anybody may.
#[derive(Debug, thiserror::Error)]
#[error("it belongs to another user (uid {owner}), in a directory in which anybody may make files")]
pub(super) struct Foreign {
    owner: u32,
}

/// The directory that the path led to is there no more. Another one under its name is not taken for it.
#[derive(Debug, thiserror::Error)]
#[error("its directory was removed while it was held")]
pub(super) struct Gone;

impl Place {
    /// Follows the path and its links to the name that is to be written.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut place = Self::below(CWD, path)?;
        for _ in 0..MOST_LINKS {
            let Some(target) = place.link()? else { return Ok(place) };
            place = Self::below(place.directory.as_fd(), &target)?;
        }
        Err(Errno::LOOP.into())
    }

    /// The directory that the path names, and its last part.
    fn below(at: BorrowedFd<'_>, path: &Path) -> io::Result<Self> {
        let bytes = path.as_os_str().as_bytes();
        let whole = !bytes.ends_with(b"/") && !bytes.ends_with(b"/.");
        let name = match path.file_name().filter(|_| whole) {
            Some(name) => name.to_owned(),
            None if bytes.is_empty() => return Err(Errno::NOENT.into()),
            None => return Err(Errno::ISDIR.into()),
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = rustix::fs::openat(at, parent.unwrap_or(Path::new(".")), DIRECTORY, Mode::empty())?;
        let magic = rustix::fs::fstatfs(&directory)?.f_type == PROC_SUPER_MAGIC;
        Ok(Self { directory, name, magic })
    }

    /// What the name leads to if it is a link.
    fn link(&self) -> io::Result<Option<PathBuf>> {
        let Some((held, about)) = self.look()?.filter(|_| !self.magic) else { return Ok(None) };
        if FileType::from_raw_mode(about.st_mode) != FileType::Symlink {
            return Ok(None);
        }
        // The link itself is held, so this is the one whose owner has been looked at.
        let target = rustix::fs::readlinkat(&held, "", Vec::new())?;
        Ok(Some(OsString::from_vec(target.into_bytes()).into()))
    }

    /// What stands under the name, if anything does and it may be used.
    pub(super) fn found(&self) -> io::Result<Option<Stat>> {
        Ok(self.look()?.map(|(_, about)| about))
    }

    fn look(&self) -> io::Result<Option<(OwnedFd, Stat)>> {
        let follow = if self.magic { OFlags::empty() } else { OFlags::NOFOLLOW };
        let flags = OFlags::PATH | OFlags::CLOEXEC | follow;
        let held = match rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            held => held?,
        };
        let about = rustix::fs::fstat(&held)?;
        self.refuse_foreign(&about)?;
        Ok(Some((held, about)))
    }

    /// Everybody may make files in `/tmp`, so a file that another user made there may be a trap. The rule is the kernel's
    /// (`may_follow_link` and `may_create_in_sticky` in fs/namei.c).
    fn refuse_foreign(&self, about: &Stat) -> io::Result<()> {
        let shared = Mode::SVTX | Mode::WOTH;
        let directory = rustix::fs::fstat(&self.directory)?;
        let owner = about.st_uid;
        let open = Mode::from_raw_mode(directory.st_mode).contains(shared);
        if open && ![directory.st_uid, rights::file_user()].contains(&owner) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, Foreign { owner }));
        }
        Ok(())
    }

    /// Opens something in the directory.
    pub(super) fn open(&self, name: &OsStr, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        Ok(rustix::fs::openat(&self.directory, name, flags | OFlags::CLOEXEC, mode)?)
    }

    /// Opens for writing what is no file: a pipe without a reader is an error, where a plain open would wait for one.
    pub(super) fn stream(&self) -> io::Result<OwnedFd> {
        let follow = if self.magic { OFlags::empty() } else { OFlags::NOFOLLOW };
        // Appending: a stream of ours that is a file already holds something.
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOCTTY | OFlags::NONBLOCK | follow;
        let fd = self.open(&self.name, flags, Mode::empty())?;
        // A full pipe is to be waited for.
        rustix::fs::fcntl_setfl(&fd, rustix::fs::fcntl_getfl(&fd)? - OFlags::NONBLOCK)?;
        Ok(fd)
    }

    /// The reason for an error: in a directory that was removed the kernel gives several.
    pub(super) fn reason(&self, error: io::Error) -> io::Error {
        match rustix::fs::fstat(&self.directory) {
            Ok(directory) if directory.st_nlink == 0 => io::Error::new(io::ErrorKind::NotFound, Gone),
            _ => error,
        }
    }

    /// The same place once more: a second descriptor of the directory.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { directory: self.directory.try_clone()?, name: self.name.clone(), magic: self.magic })
    }
}

/// A directory, or the nearest one above it that is there. The rest is made below that one, wherever the path leads by then.
#[derive(Debug)]
pub(super) struct Directory {
    there: OwnedFd,
    missing: PathBuf,
}

impl Directory {
    pub(super) fn hold(path: &Path) -> io::Result<Self> {
        let there = path.ancestors().find(|it| it.exists()).unwrap_or(Path::new(""));
        let missing = path.strip_prefix(there).unwrap_or(path).to_owned();
        let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        Ok(Self { there: rustix::fs::open(there, DIRECTORY, Mode::empty())?, missing })
    }

    pub(super) fn of(there: OwnedFd) -> Self {
        Self { there, missing: PathBuf::new() }
    }

    /// Returns true if nothing has to be made.
    pub(super) fn is_there(&self) -> bool {
        self.missing.as_os_str().is_empty()
    }

    /// Makes what is missing, with these rights before the umask is taken off, and opens the directory.
    pub(super) fn make(&self, rights: u32) -> io::Result<OwnedFd> {
        let mut directory = self.there.try_clone()?;
        for name in &self.missing {
            match rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode(rights)) {
                Err(Errno::EXIST) => {}
                made => made?,
            }
            directory = rustix::fs::openat(&directory, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
        }
        Ok(directory)
    }
}
