//! `whyfaster man` and `whyfaster completions`: what is usually installed beside a program, from the program itself.

use std::fs::File;
use std::io::{self, IsTerminal, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;
use rustix::fs::{MemfdFlags, memfd_create};
use whyfaster_store as store;
use whyfaster_words::exit::{Exit, Failure, nearest};

use crate::cli::args::{CompletionsArgs, ManArgs};
use crate::cli::manual::{self, Page};

/// Shows a page: in `man` on a terminal, as its source elsewhere.
pub fn page(args: &ManArgs) -> anyhow::Result<Exit> {
    let page = find(args.verb.as_deref())?;
    let roff = page.roff()?;
    if !io::stdout().is_terminal() {
        store::to_stdout(&roff)?;
        return Ok(Exit::Ok);
    }
    let error = become_man(&roff)?;
    if error.kind() != io::ErrorKind::NotFound {
        return Err(error).context("cannot start 'man'");
    }
    store::to_stdout(page.text().as_bytes())?;
    Ok(Exit::Ok)
}

/// Prints the completions.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    store::to_stdout(&manual::completions(args.shell))?;
    Ok(Exit::Ok)
}

fn find(verb: Option<&str>) -> Result<Page, Failure> {
    let pages = manual::pages();
    let known: Vec<String> = pages.iter().filter_map(|page| page.verb.clone()).collect();
    pages.into_iter().find(|page| page.verb.as_deref() == verb).ok_or_else(|| {
        let verb = verb.unwrap_or_default();
        let hint = match nearest(verb, known.iter().map(String::as_str)) {
            Some(like) => format!("did you mean '{like}'? The verbs are: {}", known.join(", ")),
            None => format!("the verbs are: {}", known.join(", ")),
        };
        Failure::usage(format!("there is no page about '{verb}'"), hint)
    })
}

/// Replaces this program by `man`, so that the keyboard and Ctrl-C are its own. Returns only when that fails, with the error.
fn become_man(roff: &[u8]) -> io::Result<io::Error> {
    // A file and no pipe: nobody is left to fill one.
    let mut input = File::from(memfd_create("whyfaster-man", MemfdFlags::CLOEXEC)?);
    input.write_all(roff)?;
    input.rewind()?;
    Ok(Command::new("man").args(["-l", "-"]).stdin(input).exec())
}
