//! The words of `--output`, `--input`, `--ignore-failure` and `--env`. A step of the command line.

use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use whyfaster_core::plan::{FailurePolicy, Input, Output};
use whyfaster_words::exit::Failure;

/// What leads to the descriptors of whoever opens it.
const DESCRIPTORS: [&str; 3] = ["/dev/stdin", "/dev/fd", "/proc/self/fd"];

/// `--output WHERE`. A bare word is taken for a misspelt policy, not for a file, as in hyperfine.
pub(super) fn output(word: &str) -> Result<Output, Failure> {
    Ok(match word {
        "auto" => Output::Auto,
        "null" => Output::Null,
        "pipe" => Output::Pipe,
        "inherit" => Output::Inherit,
        file if file.contains('/') => Output::File(PathBuf::from(file)),
        other => {
            return Err(Failure::usage(
                format!("--output: '{other}' is none of auto, null, pipe, inherit or a file with a slash"),
                format!("Write './{other}' if you mean a file of that name."),
            ));
        }
    })
}

/// `--input WHERE`.
pub(super) fn input(path: Option<&Path>) -> Result<Input, Failure> {
    let Some(path) = path.filter(|path| *path != Path::new("null")) else {
        return Ok(Input::Null);
    };
    let unusable = |why: String| {
        Failure::usage(
            format!("--input: '{}' {why}", path.display()),
            "Name a file that can be read, or 'null'.",
        )
    };
    if path.to_str().is_none() {
        return Err(unusable("has a name that is not UTF-8: give it by a link".to_owned()));
    }
    match path.metadata() {
        // Of a copy it would be another one.
        Ok(file) if file.is_file() && DESCRIPTORS.iter().any(|directory| path.starts_with(directory)) => path
            .canonicalize()
            .map(Input::File)
            .map_err(|error| unusable(format!("cannot be found again: {error}"))),
        Ok(file) if file.is_dir() => Err(unusable("is a directory".to_owned())),
        // Every copy opens it for itself and would wait for a writer of its own.
        Ok(file) if file.file_type().is_fifo() || file.file_type().is_socket() => {
            Err(unusable("is a named pipe or a socket, which copies cannot share".to_owned()))
        }
        Ok(_) => Ok(Input::File(path.to_owned())),
        Err(error) => Err(unusable(format!("cannot be read: {error}"))
            .in_hyperfine(format!("The file '{}' specified as '--input' does not exist", path.display()))),
    }
}

/// `--ignore-failure[=MODE]`.
pub(super) fn failures(word: Option<&str>) -> Result<FailurePolicy, Failure> {
    match word {
        None => Ok(FailurePolicy::Raise),
        Some("" | "all-non-zero") => Ok(FailurePolicy::IgnoreAll),
        Some(codes) => codes
            .split(',')
            .map(|code| code.trim().parse::<i32>())
            .collect::<Result<Vec<i32>, _>>()
            .map(FailurePolicy::IgnoreCodes)
            .map_err(|_| {
                Failure::usage(
                    format!("--ignore-failure: '{codes}' is no list of exit statuses"),
                    "Give numbers separated by commas, such as --ignore-failure=1,2, or nothing for all.",
                )
            }),
    }
}

/// `--env ASSIGNMENTS`, before parameters are put in. Of one name the last value holds.
pub(super) fn environment(text: &str) -> Result<BTreeMap<String, String>, Failure> {
    let hint = "Write NAME=VALUE, several separated by spaces, such as: --env 'LC_ALL=C OPT=\"-O2 -g\"'";
    let words = shell_words::split(text)
        .map_err(|error| Failure::usage(format!("--env: '{text}' cannot be split: {error}"), hint))?;
    let mut variables = BTreeMap::new();
    for word in words {
        let (name, value) = word
            .split_once('=')
            .filter(|(name, _)| is_variable_name(name))
            .ok_or_else(|| {
                let words = format!("Invalid value '{word}' for '--env': expected an assignment like NAME=value or NAME=\"quoted value\".");
                Failure::usage(format!("--env: '{word}' is no assignment"), hint).in_hyperfine(words)
            })?;
        variables.insert(name.to_owned(), value.to_owned());
    }
    Ok(variables)
}

fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_file_needs_a_slash() {
        assert_eq!(output("auto").unwrap(), Output::Auto);
        assert_eq!(output("null").unwrap(), Output::Null);
        assert_eq!(output("pipe").unwrap(), Output::Pipe);
        assert_eq!(output("inherit").unwrap(), Output::Inherit);
        assert_eq!(output("./nul").unwrap(), Output::File("./nul".into()));
        let error = output("nul").unwrap_err();
        assert!(error.message.contains("'nul'") && error.hint.unwrap().contains("./nul"));
    }

    #[test]
    fn an_input_must_be_there() {
        assert_eq!(input(None).unwrap(), Input::Null);
        assert_eq!(input(Some(Path::new("null"))).unwrap(), Input::Null);
        assert!(input(Some(Path::new("/"))).unwrap_err().message.contains("is a directory"));
        assert!(input(Some(Path::new("/no/such"))).unwrap_err().message.contains("/no/such"));
    }

    #[test]
    fn failures_may_be_ignored_by_status() {
        assert_eq!(failures(None).unwrap(), FailurePolicy::Raise);
        assert_eq!(failures(Some("all-non-zero")).unwrap(), FailurePolicy::IgnoreAll);
        assert_eq!(failures(Some("1, 2")).unwrap(), FailurePolicy::IgnoreCodes(vec![1, 2]));
        assert!(failures(Some("1,x")).unwrap_err().message.contains("1,x"));
    }

    #[test]
    fn an_environment_is_quoted_as_in_a_shell() {
        let read = environment("A=1 B='x y' A=2").unwrap();
        assert_eq!(read, [("A", "2"), ("B", "x y")].map(|(k, v)| (k.to_owned(), v.to_owned())).into());
        assert!(environment("").unwrap().is_empty());
        for text in ["A", "1A=2", "=1", "A-B=1", "A='x"] {
            assert!(environment(text).is_err(), "{text} was accepted");
        }
    }
}
