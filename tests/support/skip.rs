//! A test that cannot be made here says so: with a line in the summary at the end of `make test`. With `WHYFASTER_REQUIRE=full` it
//! fails instead. All crates' tests use this file.

use std::fs::OpenOptions;
use std::io::Write;

/// Evaluates to what was found, or ends the test as skipped: `needs!(root());`.
macro_rules! needs {
    ($found:expr) => {
        match $found {
            Ok(found) => found,
            Err(missing) => return missing.skip(),
        }
    };
}
pub(crate) use needs;

/// What is not there.
#[derive(Debug)]
pub(crate) enum Missing {
    /// Another user or an installed package would provide it. Where everything is required this is a failure.
    Provided(String),
    /// Neither this hardware, this kernel, this file system nor a Debian package provides it.
    Machine(String),
}

pub(crate) type Need<T = ()> = Result<T, Missing>;

impl Missing {
    /// Writes down that this test, or this part of it, is skipped.
    #[track_caller]
    pub(crate) fn skip(self) {
        let (why, required) = match self {
            Self::Provided(why) => {
                (why, std::env::var_os("WHYFASTER_REQUIRE").is_some_and(|it| it == "full"))
            }
            Self::Machine(why) => (format!("this machine has no {why}"), false),
        };
        assert!(!required, "WHYFASTER_REQUIRE=full, and this test {why}");
        let program = std::env::current_exe().unwrap_or_default();
        let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = program.rsplit_once('-').map_or(program.as_str(), |(file, _)| file);
        // The runner names the test; without it the thread has its name.
        let thread = std::thread::current();
        let test = std::env::var("NEXTEST_TEST_NAME").ok();
        let test = test.as_deref().or(thread.name()).unwrap_or("?");
        let line = format!("skipped: {file}::{test}: {why}\n");
        // Not by the macro: the test runner swallows what a passing test prints with it.
        let _ = std::io::stderr().write_all(line.as_bytes());
        if let Some(file) = std::env::var_os("WHYFASTER_SKIPPED") {
            // One write, at the end of the file: the test programs share it.
            let file = OpenOptions::new().append(true).create(true).open(file);
            file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the list of skipped tests");
        }
    }
}

pub(crate) fn provided(there: bool, what: &str) -> Need {
    if there { Ok(()) } else { Err(Missing::Provided(format!("needs {what}"))) }
}

/// Something that only the machine can have.
pub(crate) fn machine(there: bool, what: &str) -> Need {
    if there { Ok(()) } else { Err(Missing::Machine(what.to_owned())) }
}

/// Whether it is there; what is left out is written down, and the test goes on with its other parts.
#[track_caller]
pub(crate) fn given(need: Need) -> bool {
    need.map_err(Missing::skip).is_ok()
}

pub(crate) fn root() -> Need {
    // SAFETY: a plain system call without arguments.
    provided(unsafe { libc::geteuid() } == 0, "root")
}

/// A program of those that scripts/setup.sh installs; elsewhere than on x86-64 it leaves some out.
pub(crate) fn tool(name: &str) -> Need {
    let need = if cfg!(target_arch = "x86_64") { provided } else { machine };
    need(on_path(name), name)
}

pub(crate) fn on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
}
