//! `whyfaster`: which of two commands is faster, why, and from what load on does the answer flip?

use std::process::ExitCode;

use clap::Parser;
use whyfaster::cli::{Args, Verb};
use whyfaster::exit::Exit;
use whyfaster::{cmd, exit, host, run, store};

fn main() -> ExitCode {
    if let Err(failure) = host::before::check() {
        return exit::report(Err(failure.into())).into();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == run::launcher::VERB) {
        return run::launcher::main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == run::launcher::keeper::VERB) {
        return run::launcher::keeper::main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == run::stage::VERB) {
        return run::stage::main();
    }
    exit::report(work()).into()
}

/// The verb. Apart from `main`, so that the look at the stack needs little of it.
#[inline(never)]
fn work() -> anyhow::Result<Exit> {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(answer) => return answered(&answer),
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

/// What the command line was not: an error of usage, or the text that `--help` and `--version` ask for.
fn answered(answer: &clap::Error) -> anyhow::Result<Exit> {
    if answer.use_stderr() {
        // The words in it are the caller's, who may have them from somebody else; so it has no colours either.
        exit::say(answer.render().to_string().trim_end_matches('\n'));
        return Ok(Exit::Usage);
    }
    store::check_stdout()?;
    answer.print().map_err(store::stdout_error)?;
    Ok(Exit::Ok)
}
