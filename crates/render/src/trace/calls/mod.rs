//! The calls of the tree as they happened, like `strace -Tttf`: when, who, the call with the arguments that matter, its
//! result, and how long it took. Times are seconds after
//! the first exec has worked, as everywhere in the report (of a tree that ran already: after its first call); the call of
//! that exec begins before.
//!
//! A call is streamed when it ends. Lines are printed in the order in which calls began, so a line waits until no call
//! that began before it can still end: for `WINDOW_NS`, or until `HELD` lines wait. A call that ended later than
//! that is printed where it ends and marked.

mod args;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use whyfaster_core::trace::event::{Call, Event, Tid, What};
use whyfaster_core::trace::filter::CallFilter;
use whyfaster_core::trace::names::{call_name, errno_name};
use whyfaster_words::look::Look;
use whyfaster_words::text::for_look;

use super::who::Who;

/// How long a line waits for calls that began before it.
const WINDOW_NS: u64 = 1_000_000_000;
/// Lines that wait at most. A line takes a few hundred bytes.
const HELD: usize = 65_536;
/// Errors that only the kernel sees (`ERESTARTSYS` and its relatives): the call is made again or ends with `EINTR`.
const RESTARTS: [(i64, &str); 4] =
    [(512, "ERESTARTSYS"), (513, "ERESTARTNOINTR"), (514, "ERESTARTNOHAND"), (516, "ERESTART_RESTARTBLOCK")];

/// Prints the calls of a stream.
#[derive(Debug)]
pub struct Calls {
    filter: CallFilter,
    look: Look,
    who: Who,
    /// Lines by the beginning of their call; the second number keeps the order of the stream.
    waiting: BTreeMap<(u64, u64), String>,
    /// Calls whose beginning was not yet passed by the printing, for tasks whose number changes by an exec.
    renamed: HashMap<Tid, Tid>,
    first: Option<u64>,
    printed_to: u64,
    seen: u64,
}

impl Calls {
    /// Prints what passes the filter.
    pub fn new(filter: CallFilter, look: &Look) -> Self {
        Self {
            filter,
            look: look.clone(),
            who: Who::default(),
            waiting: BTreeMap::new(),
            renamed: HashMap::new(),
            first: None,
            printed_to: 0,
            seen: 0,
        }
    }

    /// Takes one event of the stream, and prints what may be printed.
    pub fn push(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<()> {
        match &event.what {
            What::Call(call) => {
                self.first.get_or_insert(call.began);
                self.call(call, event.at);
            }
            What::Exec { task, former, .. } => {
                self.first.get_or_insert(event.at);
                if task != former {
                    self.renamed.insert(*former, *task);
                }
            }
            What::Fork { child, .. } => drop(self.renamed.remove(child)),
            // Told with another place.
            What::Lost { records: 0 } => {}
            What::Lost { records } => {
                let line =
                    format!("... {records} records lost about here: there was no room for them in the ring");
                self.seen += 1;
                self.waiting.insert((event.at.max(self.printed_to), self.seen), line);
            }
            _ => {}
        }
        self.who.see(event);
        let certain = event.at.saturating_sub(WINDOW_NS);
        while let Some(line) = self.waiting.first_entry()
            && line.key().0 <= certain
        {
            self.printed_to = line.key().0;
            writeln!(out, "{}", line.remove())?;
        }
        while self.waiting.len() > HELD
            && let Some(((began, _), line)) = self.waiting.pop_first()
        {
            self.printed_to = began;
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Prints what still waits.
    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        while let Some((_, line)) = self.waiting.pop_first() {
            writeln!(out, "{line}")?;
        }
        out.flush()
    }

    fn call(&mut self, call: &Call, ended: u64) {
        let task = self.renamed.get(&call.task).copied().unwrap_or(call.task);
        let name = call_name(call.call);
        let command = self.who.command(task);
        if !self.filter.passes(&name, &command) {
            return;
        }
        let late = if call.began < self.printed_to { "  (began before the lines above)" } else { "" };
        let line = self.line(call, &name, &command, ended);
        self.seen += 1;
        self.waiting.insert((call.began.max(self.printed_to), self.seen), format!("{line}{late}"));
    }

    fn line(&self, call: &Call, name: &str, command: &str, ended: u64) -> String {
        // The exec that the time counts from begins before it: its own line has a time below zero.
        let zero = self.first.unwrap_or(call.began);
        let sign = if call.began < zero { "-" } else { "" };
        let after = call.began.abs_diff(zero);
        let arguments: Vec<String> =
            args::arguments(name, call).iter().map(|argument| for_look(argument, &self.look)).collect();
        let result = result(name, call.result);
        let took = if call.result.is_some() {
            format!(" <{}>", seconds(ended.saturating_sub(call.began), 6))
        } else {
            String::new()
        };
        let compat = if call.call.compat { " [32 bit]" } else { "" };
        format!(
            "{sign}{} {} {} {name}({}){compat} = {result}{took}",
            seconds(after, 6),
            call.task,
            for_look(command, &self.look),
            arguments.join(", ")
        )
    }
}

/// Nanoseconds as seconds with this many decimals, cut and not rounded: a time may not run ahead.
fn seconds(ns: u64, decimals: usize) -> String {
    let whole = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    whole[..whole.len() - (9 - decimals)].to_owned()
}

/// The result as strace prints it.
fn result(name: &str, result: Option<i64>) -> String {
    let Some(result) = result else { return "?".to_owned() };
    if let Some((_, restart)) = RESTARTS.iter().find(|(number, _)| -number == result) {
        return format!("? {restart}");
    }
    // Results from -4095 to -1 are errors (include/linux/err.h, MAX_ERRNO).
    match result {
        -4095..=-1 => {
            let errno = i32::try_from(-result).unwrap_or(0);
            format!("-1 {}", errno_name(errno))
        }
        _ if args::returns_address(name) => format!("{result:#x}"),
        _ => result.to_string(),
    }
}

#[cfg(test)]
mod tests;
