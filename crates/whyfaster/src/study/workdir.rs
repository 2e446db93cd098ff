//! The directory that a study runs in: made for one run, gone after it.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use whyfaster_core::plan::{Because, User};

use crate::exit::{Exit, Failure};
use crate::store::Scratch;

use super::article::Need;

/// A temporary directory with the study's files and its input. Dropping it removes it.
#[derive(Debug)]
pub struct WorkDir {
    dir: Scratch,
    /// Where the work is done: the directory itself or one below it.
    below: PathBuf,
}

impl WorkDir {
    /// Makes the directory of the study of this name.
    pub fn make(study: &str) -> Result<Self, Failure> {
        let dir = Scratch::make(study).map_err(|error| unwritable(&env::temp_dir(), &error))?;
        Ok(Self { below: dir.path().to_owned(), dir })
    }

    /// Does work in a directory with these files, which is gone when this returns, however it returns.
    pub fn with<'a, T>(
        name: &str,
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
        user: Option<&User>,
        work: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let dir = Self::make(name)?;
        dir.fill(files)?;
        if let Some(user) = user {
            dir.give_to(user)?;
        }
        let _entered = dir.enter()?;
        work()
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

/// Fails when a program that something (`who`: "study pipes") needs is not on the search path.
pub fn check_needs(who: &str, needs: &[Need], search_path: &OsStr) -> Result<(), Failure> {
    for need in needs {
        if !is_on(search_path, &need.program) {
            return Err(Failure::new(
                Exit::Unfit,
                format!("{who} needs {}, which is not on the search path", need.program),
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
