//! From the words of a command to the file that is executed: PATH is searched once, before any copy is created.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use whyfaster_core::plan::{Alternative, Shell};
use whyfaster_words::exit::{Exit, Failure};

/// A command, ready to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// The file.
    pub(crate) program: String,
    /// The words, the program's name first.
    pub(crate) argv: Vec<String>,
}

/// How to get a shell where a comparison was asked for none.
pub(crate) const WITHOUT_N: &str = "leave out -N";
/// How to get a shell where several words were given, or none was asked for.
pub(crate) const SHELL_IN_WORDS: &str = "sh -c 'COMMAND LINE'";

/// How an alternative's command line is executed. `remedy` is how whoever asked gets a shell.
pub(crate) fn command(alternative: &Alternative, shell: &Shell, remedy: &str) -> Result<Command, Failure> {
    let argv = match shell {
        Shell::None => words(&alternative.command, remedy)?,
        Shell::Command(shell) => {
            shell.iter().cloned().chain(["-c".to_owned(), alternative.command.clone()]).collect()
        }
    };
    let name = argv.first().ok_or_else(|| {
        Failure::usage("the command is empty", "give the command line to measure as one argument")
    })?;
    let remedy = match shell {
        Shell::None => format!("check the spelling; shell built-ins and pipelines need a shell: {remedy}"),
        Shell::Command(_) => "check the spelling, or leave out --shell".to_owned(),
    };
    // As the program itself would search for it. A shell is ours.
    let path = alternative.env.get("PATH").filter(|_| *shell == Shell::None);
    let path = path.map_or_else(|| env::var_os("PATH").unwrap_or_default(), OsString::from);
    let program = program(name, &path, &remedy).map_err(|failure| {
        failure.in_hyperfine(format!("Failed to run command '{}'", alternative.command))
    })?;
    Ok(Command { program, argv })
}

fn words(line: &str, remedy: &str) -> Result<Vec<String>, Failure> {
    shell_words::split(line).map_err(|error| {
        Failure::usage(
            format!("cannot split '{line}' into words: {error}"),
            format!("close the quote, or let a shell read the command: {remedy}"),
        )
    })
}

/// The file that a program name stands for.
fn program(name: &str, path: &OsStr, remedy: &str) -> Result<String, Failure> {
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
    let found = among(path, name);
    found.and_then(|file| file.into_os_string().into_string().ok()).ok_or_else(|| {
        Failure::new(
            Exit::CommandFailed,
            format!("'{name}' was not found in PATH ({})", path.to_string_lossy()),
            remedy,
        )
    })
}

/// Where a program is found in PATH.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    among(&env::var_os("PATH").unwrap_or_default(), name)
}

fn among(path: &OsStr, name: &str) -> Option<PathBuf> {
    let plain = !name.is_empty() && !name.contains('/');
    env::split_paths(path).filter(|_| plain).map(|dir| dir.join(name)).find(|file| executable(file))
}

fn executable(file: &Path) -> bool {
    let file: PathBuf = file.into();
    file.is_file() && access(&file, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_names_only_what_was_given() {
        let hint = |shell: &Shell, remedy| {
            let failure = command(&Alternative::new("no-such-program x"), shell, remedy).unwrap_err();
            failure.hint.unwrap_or_default()
        };
        assert!(hint(&Shell::None, WITHOUT_N).contains("leave out -N"));
        let of_words = hint(&Shell::None, SHELL_IN_WORDS);
        assert!(of_words.contains("sh -c") && !of_words.contains("-N"), "{of_words}");
        let of_shell = hint(&Shell::Command(vec!["no-such-shell".to_owned()]), WITHOUT_N);
        assert!(of_shell.contains("--shell") && !of_shell.contains("-N"), "{of_shell}");
    }
}
