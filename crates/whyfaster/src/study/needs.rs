//! What a study needs of the machine, and what goes without it.

use std::env;
use std::ffi::OsStr;

use rustix::fs::{Access, access};
use serde::Deserialize;
use whyfaster_words::exit::Failure;

/// A program that a study needs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// Its name on the search path.
    pub program: String,
    /// How to get it.
    pub install: String,
}

/// Fails when a program that something (`who`: "study pipes") needs is not on the search path.
pub fn check_needs(who: &str, needs: &[Need], search_path: &OsStr) -> Result<(), Failure> {
    for need in needs {
        if !is_on(search_path, &need.program) {
            return Err(Failure::unfit(
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
