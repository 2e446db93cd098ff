//! Programs of others: where they are, which package gives them, what they call themselves.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use whyfaster_words::exit::Failure;

/// The program of one of these names, the first that PATH has. Where none is there: how to get it.
pub(super) fn find(names: &[&str], package: &str) -> Result<PathBuf, Failure> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = env::split_paths(&path).collect();
    let found = names.iter().find_map(|name| directories.iter().map(|dir| dir.join(name)).find(runs));
    found.ok_or_else(|| {
        Failure::unfit(format!("there is no program '{}' on PATH", names.join("' or '")), package.to_owned())
    })
}

fn runs(file: &PathBuf) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// The first line that a program prints with this option.
pub(super) fn version(program: &PathBuf, option: &str) -> Option<String> {
    let output = Command::new(program).arg(option).stdin(Stdio::null()).output().ok()?;
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let line = String::from_utf8_lossy(&text).lines().next()?.trim().to_owned();
    (!line.is_empty() && line.len() < 200).then_some(line)
}

#[cfg(test)]
mod tests {
    use whyfaster_words::exit::Exit;

    use super::*;

    #[test]
    fn a_missing_program_names_its_package() {
        let failure = find(&["no-such-program", "nor-this-one"], "apt install nothing").unwrap_err();
        assert_eq!(failure.exit, Exit::Unfit);
        assert!(failure.message.contains("'no-such-program' or 'nor-this-one'"), "{failure}");
        assert_eq!(failure.hint.as_deref(), Some("apt install nothing"));
        assert!(find(&["no-such-program", "sh"], "").unwrap().ends_with("sh"));
    }
}
