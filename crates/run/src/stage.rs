//! `whyfaster stage`: what an experiment puts before a command of a pipeline: its CPUs, the size of its pipes, programs to
//! run first. Then it becomes the command. Both sides of an experiment go through it, so that its own cost cancels.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use rustix::fs::{Advice, FileType};
use whyfaster_core::cpu_list;
use whyfaster_words::exit::say;

/// The first word after the program's name.
pub const VERB: &str = "stage";

/// What can be told about how a file is going to be read.
const ADVICE: [(&str, Advice); 3] =
    [("normal", Advice::Normal), ("sequential", Advice::Sequential), ("random", Advice::Random)];

/// What shells say when a command cannot be executed.
const CANNOT: u8 = 126;

/// What is to be done before the command.
#[derive(Debug, Default, PartialEq, Eq)]
struct Stage {
    cpus: Option<Vec<u32>>,
    pipe_bytes: Option<usize>,
    /// What the kernel is told of the file at standard input.
    advice: Option<Advice>,
    /// How often, and the words.
    first: Option<(u32, Vec<String>)>,
    command: Vec<OsString>,
}

/// Does what the words after the verb say, and becomes the command.
pub fn main() -> ExitCode {
    let done: Result<(), String> = parse(std::env::args_os().skip(2)).and_then(|stage| {
        prepare(&stage)?;
        Err(become_it(&stage.command))
    });
    // The command is there in our place unless something went wrong.
    if let Err(why) = done {
        say(&format!("whyfaster stage: {why}"));
    }
    ExitCode::from(CANNOT)
}

fn parse(mut words: impl Iterator<Item = OsString>) -> Result<Stage, String> {
    let mut stage = Stage::default();
    loop {
        let word = words.next().ok_or("there is no '--' and no command")?;
        let mut value = || -> Result<String, String> {
            let value = words.next().ok_or_else(|| format!("{} needs a value", word.display()))?;
            value.into_string().map_err(|_| format!("the value of {} is no text", word.display()))
        };
        match word.to_str() {
            Some("--") => break,
            Some("--cpu") => {
                let cpus = value()?;
                stage.cpus =
                    Some(cpu_list::parse(&cpus).ok_or_else(|| format!("'{cpus}' is no list of CPUs"))?);
            }
            Some("--pipe-size") => {
                let bytes = value()?;
                stage.pipe_bytes = Some(bytes.parse().map_err(|_| format!("'{bytes}' is no size"))?);
            }
            Some("--advise") => {
                let advice = value()?;
                let known = ADVICE.iter().find(|(word, _)| *word == advice);
                stage.advice = Some(known.ok_or_else(|| format!("'{advice}' is no advice"))?.1);
            }
            Some("--first") => {
                let (times, line) = (value()?, value()?);
                let times = times.parse().map_err(|_| format!("'{times}' is no number"))?;
                let words = shell_words::split(&line).map_err(|error| format!("'{line}': {error}"))?;
                stage.first = Some((times, words));
            }
            _ => return Err(format!("'{}' is no option", word.display())),
        }
    }
    stage.command = words.collect();
    if stage.command.is_empty() { Err("there is no command after '--'".to_owned()) } else { Ok(stage) }
}

fn prepare(stage: &Stage) -> Result<(), String> {
    if let Some(cpus) = &stage.cpus {
        let mut set = rustix::thread::CpuSet::new();
        cpus.iter().for_each(|cpu| set.set(*cpu as usize));
        rustix::thread::sched_setaffinity(None, &set).map_err(|error| format!("CPUs {cpus:?}: {error}"))?;
    }
    if let Some(bytes) = stage.pipe_bytes {
        resize(std::io::stdin().as_fd(), bytes)?;
        resize(std::io::stdout().as_fd(), bytes)?;
    }
    if let Some(advice) = stage.advice {
        // The kernel keeps it with the open file, which the command goes on reading.
        rustix::fs::fadvise(std::io::stdin(), 0, None, advice)
            .map_err(|error| format!("posix_fadvise of standard input: {error}"))?;
    }
    if let Some((times, words)) = &stage.first {
        let (program, arguments) = words.split_first().ok_or("--first names no program")?;
        for _ in 0..*times {
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
            command.status().map_err(|error| format!("'{program}': {error}"))?;
        }
    }
    Ok(())
}

/// Gives a pipe this size; what is no pipe stays as it is.
fn resize(end: BorrowedFd<'_>, bytes: usize) -> Result<(), String> {
    let pipe = rustix::fs::fstat(end).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_fifo());
    // The command at the other end may have done it already, and a pipe with data in it cannot be made smaller.
    if !pipe || rustix::pipe::fcntl_getpipe_size(end).is_ok_and(|now| now == bytes) {
        return Ok(());
    }
    rustix::pipe::fcntl_setpipe_size(end, bytes)
        .map(drop)
        .map_err(|error| format!("a pipe of {bytes} bytes: {error}"))
}

fn become_it(command: &[OsString]) -> String {
    let Some((program, arguments)) = command.split_first() else { return "there is no command".to_owned() };
    let program: &OsStr = program;
    format!("'{}': {}", program.display(), Command::new(program).args(arguments).exec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Stage, String> {
        parse(shell_words::split(line).unwrap().into_iter().map(OsString::from))
    }

    #[test]
    fn options_end_at_two_dashes() {
        let stage = parsed(
            "--cpu 0-1,3 --pipe-size 4096 --advise sequential --first 3 'echo \"a b\"' -- cat --cpu x",
        )
        .unwrap();
        assert_eq!(stage.cpus, Some(vec![0, 1, 3]));
        assert_eq!(stage.pipe_bytes, Some(4096));
        assert_eq!(stage.advice, Some(Advice::Sequential));
        assert_eq!(stage.first, Some((3, vec!["echo".to_owned(), "a b".to_owned()])));
        assert_eq!(stage.command, ["cat", "--cpu", "x"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, said) in [
            ("cat x", "'cat' is no option"),
            ("--cpu", "--cpu needs a value"),
            ("--advise well -- true", "'well' is no advice"),
            ("--cpu x -- true", "x"),
            ("--pipe-size big -- true", "'big'"),
            ("--first 2 \"'\" -- true", "'"),
            ("--", "no command"),
            ("--cpu 0", "no '--'"),
        ] {
            let why = parsed(line).unwrap_err();
            assert!(why.contains(said), "{line}: {why}");
        }
    }
}
