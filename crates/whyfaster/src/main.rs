//! `whyfaster`: which of two commands is faster, why, and from what load on does the answer flip?

use std::process::ExitCode;

use clap::Parser;
use whyfaster::cli::{Args, Verb};
use whyfaster::{cmd, exit, run};

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == run::launcher::VERB) {
        return run::launcher::main();
    }
    let args = Args::parse();
    let ended = match &args.verb {
        Verb::Compare(args) => cmd::compare::run(args),
        Verb::Trace(args) => cmd::trace::run(args),
        Verb::Show(args) => cmd::show::run(args),
        Verb::Study(args) => cmd::study::run_args(args),
        Verb::Prices(args) => cmd::prices::run(args),
        Verb::Machines(args) => cmd::machines::run(args),
        Verb::Doctor(args) => cmd::doctor::run(args),
    };
    exit::report(ended).into()
}
