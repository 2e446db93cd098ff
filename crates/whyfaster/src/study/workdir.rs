//! The directory that a study runs in: made for one run, gone after it.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use rustix::fs::{Access, FlockOperation, access};
use tempfile::TempDir;
use whyfaster_core::plan::{Because, User};

use crate::exit::{Exit, Failure};

use super::article::Need;

/// A temporary directory with the study's files and its input. Dropping it removes it.
#[derive(Debug)]
pub struct WorkDir {
    dir: TempDir,
    /// Held as long as this lives, so that no later run takes the directory for one of a dead run.
    _held: fs::File,
    /// Where the work is done: the directory itself or one below it.
    below: PathBuf,
}

impl WorkDir {
    /// Makes the directory of the study of this name.
    pub fn make(study: &str) -> Result<Self, Failure> {
        let prefix = format!("whyfaster-{study}-");
        sweep(&env::temp_dir(), &prefix);
        let dir = tempfile::Builder::new()
            .prefix(&prefix)
            .tempdir()
            .map_err(|error| unwritable(&env::temp_dir(), &error))?;
        let held = held(dir.path()).map_err(|error| unwritable(dir.path(), &error))?;
        Ok(Self { below: dir.path().to_owned(), dir, _held: held })
    }

    /// The work is done in this directory below it from now on.
    pub fn work_in(&mut self, below: &Path) {
        self.below = below.to_owned();
    }

    /// Writes files that the study's commands read: name and content.
    pub fn fill<'a>(&self, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), Failure> {
        for (name, content) in files {
            let path = self.path().join(name);
            fs::write(&path, content).map_err(|error| unwritable(&path, &error))?;
        }
        Ok(())
    }

    /// Gives it, with all that is in it, to the user as whom the commands run, if that is another one.
    pub fn give_to(&self, user: &User) -> Result<(), Failure> {
        if user.because != Because::Sudo {
            return Ok(());
        }
        let give = |path: &Path| {
            std::os::unix::fs::chown(path, Some(user.uid), Some(user.gid))
                .map_err(|error| unwritable(path, &error))
        };
        for file in fs::read_dir(self.path()).map_err(|error| unwritable(self.path(), &error))?.flatten() {
            give(&file.path())?;
        }
        give(self.path())?;
        // The way to it must be open too.
        if self.path() == self.dir.path() { Ok(()) } else { give(self.dir.path()) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.below
    }

    /// Makes it the working directory until the guard is dropped.
    pub fn enter(&self) -> Result<Entered, Failure> {
        let left = env::current_dir().map_err(|error| {
            Failure::new(
                Exit::Error,
                format!("cannot read the working directory: {error}"),
                "start whyfaster in a directory that exists",
            )
        })?;
        env::set_current_dir(self.path()).map_err(|error| unwritable(self.path(), &error))?;
        Ok(Entered { left })
    }
}

/// An empty directory younger than this may be one that a run has just made and not locked yet.
const JUST_MADE: Duration = Duration::from_secs(60);

/// Takes a directory for this process, until the file is closed or the process dies.
fn held(directory: &Path) -> io::Result<fs::File> {
    let file = fs::File::open(directory)?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

/// Removes empty directories of runs that were killed. One that looks empty may be in use: a run mounts over it where
/// only it sees that. Its lock says so, whatever namespace it lives in.
fn sweep(below: &Path, prefix: &str) {
    let mine = rustix::process::geteuid().as_raw();
    let dead = |entry: &fs::DirEntry| {
        let about = entry.metadata().ok().filter(|it| it.is_dir() && it.uid() == mine)?;
        let age = about.modified().ok()?.elapsed().ok()?;
        let ours = entry.file_name().to_string_lossy().starts_with(prefix);
        if ours && age > JUST_MADE { held(&entry.path()).ok() } else { None }
    };
    for entry in fs::read_dir(below).into_iter().flatten().flatten() {
        if let Some(_held) = dead(&entry) {
            // One with files in it stays: this removes empty ones only.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(
        Exit::Error,
        format!("cannot write {}: {error}", path.display()),
        "free some space there, or set TMPDIR to another directory",
    )
}

/// The working directory is the study's as long as this lives.
#[derive(Debug)]
#[must_use = "dropping it leaves the directory at once"]
pub struct Entered {
    left: PathBuf,
}

impl Drop for Entered {
    fn drop(&mut self) {
        // Nothing to do about a directory that was removed meanwhile: the study is over, and nobody needs it now.
        let _ = env::set_current_dir(&self.left);
    }
}

/// Fails when a program that the study needs is not on the search path.
pub fn check_needs(study: &str, needs: &[Need], search_path: &OsStr) -> Result<(), Failure> {
    for need in needs {
        if !is_on(search_path, &need.program) {
            return Err(Failure::new(
                Exit::Unfit,
                format!("study {study} needs {}, which is not on the search path", need.program),
                need.install.clone(),
            ));
        }
    }
    Ok(())
}

/// Whether a program is on the search path.
pub(super) fn is_on(search_path: &OsStr, program: &str) -> bool {
    env::split_paths(search_path)
        .map(|directory| directory.join(program))
        .any(|file| file.is_file() && access(&file, Access::EXEC_OK).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_dead_runs_go_and_those_in_use_stay() {
        let below = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * JUST_MADE;
        let make = |name: &str, aged: bool| {
            let path = below.path().join(name);
            fs::create_dir(&path).unwrap();
            if aged {
                fs::File::open(&path).unwrap().set_modified(old).unwrap();
            }
            path
        };
        let (dead, used) = (make("whyfaster-x-dead", true), make("whyfaster-x-used", true));
        let (young, foreign) = (make("whyfaster-x-young", false), make("other", true));
        let full = make("whyfaster-x-full", false);
        fs::write(full.join("file"), "text").unwrap();
        fs::File::open(&full).unwrap().set_modified(old).unwrap();
        let lock = held(&used).unwrap();
        sweep(below.path(), "whyfaster-x-");
        assert_eq!(
            [&dead, &used, &young, &foreign, &full].map(|it| it.exists()),
            [false, true, true, true, true]
        );
        drop(lock);
        sweep(below.path(), "whyfaster-x-");
        assert!(!used.exists());
    }
}
