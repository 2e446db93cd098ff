//! A temporary directory of our own: gone when we are, and swept by a later run if we were killed.
//!
//! Its name is one that nobody else gives, and it is locked as long as its run lives. A later run removes directories of that name
//! that belong to its user and that nobody holds, with all that is in them.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;
use std::{env, fs, io};

use tempfile::TempDir;
use whyfaster_rights as rights;

use super::hold::{Held, hold};

/// A name is `whyfaster-KIND-`, so many letters and digits by chance, and this at the end.
const PREFIX: &str = "whyfaster-";
const SUFFIX: &str = ".tmp";
const CHANCE: usize = 16;

/// A directory younger than this may be one that a run has just made and not locked yet.
const JUST_MADE: Duration = Duration::from_secs(60);

/// The directory. Dropping it removes it.
#[derive(Debug)]
pub struct Scratch {
    dir: TempDir,
    /// Held as long as this lives, so that no later run takes the directory for one of a dead run.
    _held: fs::File,
}

impl Scratch {
    /// Makes one below the directory for temporary files, which only this user may enter.
    ///
    /// # Errors
    /// The directory cannot be made there, or another user could exchange it.
    pub fn make(kind: &str) -> io::Result<Self> {
        Self::make_in(&env::temp_dir(), kind)
    }

    /// Makes one below this directory.
    ///
    /// # Errors
    /// The directory cannot be made there, or another user could exchange it.
    pub fn make_in(below: &Path, kind: &str) -> io::Result<Self> {
        refuse_foreign(below)?;
        sweep(below);
        let prefix = format!("{PREFIX}{kind}-");
        let mut make = tempfile::Builder::new();
        make.prefix(&prefix).suffix(SUFFIX).rand_bytes(CHANCE).permissions(Permissions::from_mode(0o700));
        let dir = make.tempdir_in(below)?;
        // Without locks it is only never swept.
        let (held, _) = held(dir.path())?;
        Ok(Self { dir, _held: held })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// In a directory of another user without the sticky bit (inode(7)) that user can exchange what we make.
fn refuse_foreign(below: &Path) -> io::Result<()> {
    let about = fs::metadata(below)?;
    let own = rights::file_user();
    // Users often have a group of their own, which owns their directories with them.
    let others = if own == 0 { libc::S_IWGRP | libc::S_IWOTH } else { libc::S_IWOTH };
    let safe =
        [0, own].contains(&about.uid()) && (about.mode() & others == 0 || about.mode() & libc::S_ISVTX != 0);
    let why = || format!("users other than {own} could exchange what is in '{}'", below.display());
    if safe { Ok(()) } else { Err(io::Error::new(io::ErrorKind::PermissionDenied, why())) }
}

/// Takes a directory for this process, until the file is closed or the process dies; whose it is.
fn held(directory: &Path) -> io::Result<(fs::File, Held)> {
    let file = fs::File::open(directory)?;
    let held = hold(&file)?;
    Ok((file, held))
}

/// Removes the directories of runs that were killed. One that looks unused may be in use: a run mounts over it where only it
/// sees that. Its lock says so, whatever namespace it lives in.
fn sweep(below: &Path) {
    let mine = rights::file_user();
    let dead = |entry: &fs::DirEntry| {
        // Of the entry itself: a link to a directory is none.
        let about = entry.metadata().ok().filter(|it| it.is_dir() && it.uid() == mine)?;
        let age = about.modified().ok()?.elapsed().ok()?;
        if is_ours(&entry.file_name().to_string_lossy()) && age > JUST_MADE {
            held(&entry.path()).ok().filter(|(_, held)| *held == Held::Ours)
        } else {
            None
        }
    };
    for entry in fs::read_dir(below).into_iter().flatten().flatten() {
        if let Some(_held) = dead(&entry) {
            // What cannot be removed hinders nobody.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a directory has a name that only [`Scratch::make`] gives.
fn is_ours(name: &str) -> bool {
    let chance = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX))
        .and_then(|rest| rest.rsplit_once('-'))
        .map(|(_, chance)| chance);
    chance.is_some_and(|it| it.len() == CHANCE && it.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skip::{needs, root};

    #[test]
    fn directories_of_dead_runs_go_and_those_in_use_stay() {
        let below = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * JUST_MADE;
        let make = |name: &str, aged: bool| {
            let path = below.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("file"), "text").unwrap();
            if aged {
                fs::File::open(&path).unwrap().set_modified(old).unwrap();
            }
            path
        };
        let (dead, used) =
            (make("whyfaster-x-0123456789abcdef.tmp", true), make("whyfaster-y-0123456789abcdeF.tmp", true));
        let young = make("whyfaster-x-0123456789abcdeg.tmp", false);
        let others = [
            "whyfaster-x-backup",
            "whyfaster-0123456789abcdef",
            "other-x-0123456789abcdef.tmp",
            "whyfaster-x-my.own.directory.tmp",
        ];
        let others = others.map(|name| make(name, true));
        let link = below.path().join("whyfaster-x-0123456789abcdel.tmp");
        std::os::unix::fs::symlink(&others[0], &link).unwrap();
        let lock = held(&used).unwrap();
        sweep(below.path());
        assert_eq!([&dead, &used, &young, &link].map(|it| it.exists()), [false, true, true, true]);
        assert!(others.iter().all(|it| it.join("file").exists()), "somebody's own directory is gone");
        drop(lock);
        sweep(below.path());
        assert!(!used.exists() && others[0].join("file").exists());
    }

    #[test]
    fn what_is_made_is_known_again() {
        let scratch = Scratch::make("inside").unwrap();
        let name = scratch.path().file_name().unwrap().to_string_lossy().into_owned();
        assert!(is_ours(&name), "{name}");
        assert_eq!(held(scratch.path()).unwrap().1, Held::Others, "nobody holds it");
        assert_eq!(fs::metadata(scratch.path()).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_directory_that_others_could_exchange_is_refused() {
        needs!(root());
        let below = tempfile::tempdir().unwrap();
        let made = |owner, mode| {
            std::os::unix::fs::chown(below.path(), Some(owner), None).unwrap();
            fs::set_permissions(below.path(), Permissions::from_mode(mode)).unwrap();
            Scratch::make_in(below.path(), "x").map(drop)
        };
        for (owner, mode, allowed) in [
            (0, 0o755, true),
            (0, 0o777, false),
            (0, 0o775, false),
            (0, 0o1777, true),
            (65_534, 0o755, false),
        ] {
            assert_eq!(made(owner, mode).is_ok(), allowed, "{owner} {mode:o}");
        }
        let error = made(65_534, 0o700).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}
