//! `whyfaster`: which of two commands is faster, why, and from what load on does the answer flip?

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use whyfaster::cli::{self, Verb, called};
use whyfaster::cmd;
use whyfaster_host as host;
use whyfaster_rights as rights;
use whyfaster_run::{self as run, elsewhere};
use whyfaster_store as store;
use whyfaster_words::display::Hyperfine;
use whyfaster_words::exit::{self, Exit, Failure};

/// The first words of processes that need no capability.
const HELPERS: [&str; 4] =
    [run::launcher::keeper::VERB, run::stage::VERB, elsewhere::far::VERB, elsewhere::k8s::hold::VERB];

fn main() -> ExitCode {
    without_libbpf_variables();
    if let Err(failure) = host::before::check() {
        return exit::report(Err(failure.into())).into();
    }
    // Helpers run programs and read what others send. The launcher alone counts events of its copies.
    let helper = std::env::args_os().nth(1).is_some_and(|word| HELPERS.iter().any(|it| word == *it));
    if let Err(error) = if helper { rights::give_up_capabilities() } else { Ok(()) } {
        exit::say(&format!("whyfaster cannot give up its capabilities: {error}"));
        return ExitCode::FAILURE;
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
    if std::env::args_os().nth(1).is_some_and(|word| word == elsewhere::far::VERB) {
        return elsewhere::far::main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == elsewhere::k8s::hold::VERB) {
        return elsewhere::k8s::hold::main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == elsewhere::far::THERE) {
        return exit::report(cmd::there::run(std::env::args_os().collect())).into();
    }
    let words: Vec<OsString> = std::env::args_os().collect();
    let version = std::env::var_os("HYPERFINE_COMPAT");
    match words.first().and_then(|program| called::called(program, version.as_deref())) {
        Some(hyperfine) => {
            let second = hyperfine == Hyperfine::Two;
            exit::report_as_hyperfine(as_hyperfine(hyperfine, words), second).into()
        }
        None => exit::report(work(words)).into(),
    }
}

/// Removes the variables that libbpf reads (`getenv` in libbpf.c). If the file of this program has capabilities, its caller must not
/// choose them.
fn without_libbpf_variables() {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(b"LIBBPF_")) {
        // SAFETY: the process has one thread, which reads no variable meanwhile.
        unsafe { std::env::remove_var(name) };
    }
}

/// hyperfine's command line, where we are called by its name.
#[inline(never)]
fn as_hyperfine(hyperfine: Hyperfine, words: Vec<OsString>) -> anyhow::Result<Exit> {
    match called::parse_as(hyperfine, words) {
        Ok(args) => {
            cmd::rights::of_caller(args.user.as_root)?;
            cmd::hyperfine::run(&args)
        }
        Err(answer) => answered(&answer),
    }
}

/// The verb. Apart from `main`, so that the look at the stack needs little of it.
#[inline(never)]
fn work(words: Vec<OsString>) -> anyhow::Result<Exit> {
    let args = match cli::parse(words) {
        Ok(args) => args,
        Err(answer) => return answered(&answer),
    };
    let Some(verb) = &args.verb else { return cmd::introduction::run() };
    settle(verb)?;
    match verb {
        Verb::Compare(args) => cmd::compare::run(args),
        Verb::Trace(args) => cmd::trace::run(args),
        Verb::Show(args) => cmd::show::run(args),
        Verb::Report(args) => cmd::report::run(args),
        Verb::Study(args) => cmd::study::run(args),
        Verb::Prices(args) => cmd::prices::run(args),
        Verb::Machines(args) => cmd::machines::run(args),
        Verb::Fleet(args) => cmd::fleet::run(args),
        Verb::Store(args) => cmd::store::run(args),
        Verb::Doctor(args) => cmd::doctor::run(args),
        Verb::Demo(args) => cmd::demo::run(args),
        Verb::Man(args) => cmd::manual::page(args),
        Verb::Completions(args) => cmd::manual::completions(args),
    }
}

/// Takes the rights that the verb needs and no others. Verbs that observe commands give up the rest when they have observed.
fn settle(verb: &Verb) -> Result<(), Failure> {
    match verb {
        Verb::Compare(args) if args.elsewhere.on.is_none() => cmd::rights::of_caller(args.user.as_root),
        Verb::Trace(args) => cmd::rights::of_caller(args.user.as_root),
        Verb::Study(args) => cmd::rights::of_caller(args.user.as_root),
        Verb::Demo(args) => cmd::rights::of_caller(args.user.as_root),
        Verb::Doctor(_) => cmd::rights::of_caller(false),
        Verb::Prices(args) => cmd::rights::give_up(args.user.as_root),
        _ => cmd::rights::give_up(false),
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
