//! From the words of a command to the file that is executed: PATH is searched once, before any copy is created.

use std::env;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use whyfaster_core::plan::{Alternative, Shell};

use crate::exit::{Exit, Failure};

/// A command, ready to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// The file.
    pub(crate) program: String,
    /// The words, the program's name first.
    pub(crate) argv: Vec<String>,
}

/// How an alternative's command line is executed.
pub(crate) fn command(alternative: &Alternative, shell: &Shell) -> Result<Command, Failure> {
    let argv = match shell {
        Shell::None => words(&alternative.command)?,
        Shell::Command(shell) => {
            shell.iter().cloned().chain(["-c".to_owned(), alternative.command.clone()]).collect()
        }
    };
    let name = argv.first().ok_or_else(|| {
        Failure::new(Exit::Usage, "the command is empty", "give the command line to measure as one argument")
    })?;
    Ok(Command { program: program(name)?, argv })
}

fn words(line: &str) -> Result<Vec<String>, Failure> {
    shell_words::split(line).map_err(|error| {
        Failure::new(
            Exit::Usage,
            format!("cannot split '{line}' into words: {error}"),
            "close the quote, or let a shell read the command: leave out -N",
        )
    })
}

/// The file that a program name stands for.
fn program(name: &str) -> Result<String, Failure> {
    if name.contains('/') {
        return executable(Path::new(name)).then(|| name.to_owned()).ok_or_else(|| {
            let what = if Path::new(name).exists() { "is not executable" } else { "does not exist" };
            Failure::new(
                Exit::CommandFailed,
                format!("'{name}' {what}"),
                "check the path and its permissions",
            )
        });
    }
    let found = in_path(name);
    found.and_then(|file| file.into_os_string().into_string().ok()).ok_or_else(|| {
        let path = env::var_os("PATH").unwrap_or_default();
        Failure::new(
            Exit::CommandFailed,
            format!("'{name}' was not found in PATH ({})", path.to_string_lossy()),
            "check the spelling; shell built-ins and pipelines need a shell: leave out -N",
        )
    })
}

/// Where a program is found in PATH.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let plain = !name.is_empty() && !name.contains('/');
    env::split_paths(&path).filter(|_| plain).map(|dir| dir.join(name)).find(|file| executable(file))
}

fn executable(file: &Path) -> bool {
    let file: PathBuf = file.into();
    file.is_file() && access(&file, Access::EXEC_OK).is_ok()
}
