//! The command line: words to a plan. First step of the flow; nothing right of here sees clap.
//!
//! Words are resolved in two steps. [`args`] is what was typed, one field an option, each value already a number, a
//! list or a word that is known. [`compare::resolve`] then looks at all of them together, puts parameters in, and
//! makes the plan and the list of outputs.

pub mod args;
pub mod called;
pub mod compare;
pub mod fleet;
pub mod manual;
pub mod numbers;
pub mod outputs;
pub mod parameters;
pub mod seed;
pub mod trace;

mod alternatives;
mod output_policy;
mod shell;

#[cfg(test)]
mod tests;

pub use args::{Args, Verb};
pub use compare::resolve;
pub use outputs::{Outputs, Save, Target};
pub use seed::HostSeed;

use std::ffi::OsString;

use clap::{Arg, Command, CommandFactory, FromArgMatches};

/// What was typed; the first word is the program's name.
pub fn parse(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Args, clap::Error> {
    let matches = with_negative_numbers(Args::command()).try_get_matches_from(words)?;
    let mut args = Args::from_arg_matches(&matches)?;
    let verb = matches.subcommand().map(|(_, words)| words);
    match (&mut args.verb, verb) {
        (Some(Verb::Compare(args)), Some(words)) => {
            shell::named_behind_s(&mut args.hyperfine.start, &mut args.commands, "commands", words);
        }
        (Some(Verb::Trace(args)), Some(words)) => {
            shell::named_behind_s(&mut args.start, &mut args.command, "command", words);
        }
        _ => {}
    }
    Ok(args)
}

/// A number below 0 behind an option is its value, which is then told what it may be. clap would take it for another option.
fn with_negative_numbers(command: Command) -> Command {
    let value = |arg: Arg| {
        let takes = !arg.is_positional() && arg.get_action().takes_values();
        if takes { arg.allow_negative_numbers(true) } else { arg }
    };
    command.mut_args(value).mut_subcommands(with_negative_numbers)
}
