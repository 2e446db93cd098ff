//! The directory that a study runs in: made for one run, gone after it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use whyfaster_core::studied::Made;
use whyfaster_store::Scratch;
use whyfaster_words::exit::{Exit, Failure};

use super::place::{Place, PlaceKind};

/// A temporary directory with the study's files and its input. Dropping it removes it.
#[derive(Debug)]
pub struct WorkDir {
    /// Where the work is done. Dropped before the directory that it lies in.
    place: Box<dyn Place>,
    _dir: Scratch,
}

impl WorkDir {
    /// Makes the directory, with these files in it: name and content. It belongs to the user as whom the commands run, with whose rights
    /// it is made.
    pub fn make(name: &str, place: PlaceKind, files: &[(&str, &str)]) -> Result<Self, Failure> {
        let dir = Scratch::make(name).map_err(|error| unwritable(&env::temp_dir(), &error))?;
        let bytes: usize = files.iter().map(|(_, content)| content.len()).sum();
        let made = Self { place: place.make(dir.path(), bytes as u64), _dir: dir };
        for (name, content) in files {
            let path = made.place.path().join(name);
            fs::write(&path, content).map_err(|error| unwritable(&path, &error))?;
        }
        Ok(made)
    }

    /// The file system that was made, where one was asked for.
    pub fn file_system(&self) -> Option<Made> {
        self.place.file_system()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.place.path()
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
