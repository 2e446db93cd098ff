//! `whyfaster`: which of two commands is faster, why, and from what load on does the answer flip?

use std::process::ExitCode;

use clap::Parser;
use rustix::process::{Resource, getrlimit};
use whyfaster::cli::{Args, Verb};
use whyfaster::exit::{Exit, Failure};
use whyfaster::{cmd, exit, run};

/// What the deepest calls use stays far below this, also in a build without optimization (there 256 KiB are too few).
const LEAST_STACK: u64 = 1 << 20;

fn main() -> ExitCode {
    if let Err(failure) = enough_stack() {
        return exit::report(Err(failure.into())).into();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == run::launcher::VERB) {
        return run::launcher::main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == run::stage::VERB) {
        return run::stage::main();
    }
    exit::report(work()).into()
}

/// A stack that overflows ends a program without a word; so look before. Its limit is not raised: what is measured would inherit that.
fn enough_stack() -> Result<(), Failure> {
    match getrlimit(Resource::Stack).current {
        Some(limit) if limit < LEAST_STACK => Err(Failure::new(
            Exit::Unfit,
            format!(
                "the stack is limited to {} KiB, and whyfaster needs {} KiB",
                limit >> 10,
                LEAST_STACK >> 10
            ),
            format!("raise the limit in this shell: ulimit -s {}", LEAST_STACK >> 10),
        )),
        _ => Ok(()),
    }
}

/// The verb. Apart from `main`, so that the look at the stack needs little of it.
#[inline(never)]
fn work() -> anyhow::Result<Exit> {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(answer) => return exit::command_line(&answer),
    };
    let Some(verb) = &args.verb else { return cmd::introduction::run() };
    match verb {
        Verb::Compare(args) => cmd::compare::run(args),
        Verb::Trace(args) => cmd::trace::run(args),
        Verb::Show(args) => cmd::show::run(args),
        Verb::Study(args) => cmd::study::run_args(args),
        Verb::Prices(args) => cmd::prices::run(args),
        Verb::Machines(args) => cmd::machines::run(args),
        Verb::Doctor(args) => cmd::doctor::run(args),
        Verb::Demo(args) => cmd::demo::run(args),
        Verb::Man(args) => cmd::manual::page(args),
        Verb::Completions(args) => cmd::manual::completions(args),
    }
}
