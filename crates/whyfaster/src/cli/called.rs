//! Called by hyperfine's name, as by a link to the program: its command line, and its defaults where they differ from ours.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Arg, ArgAction, Args as _, Command, FromArgMatches};
use whyfaster_words::display::Hyperfine;
use whyfaster_words::metric;

use super::args::{CompareArgs, MetricList, WhyWord};
use super::shell;

/// Which hyperfine we are called as: by the name of the program, and for `hyperfine` by `HYPERFINE_COMPAT`.
pub fn called(program: &OsStr, version: Option<&OsStr>) -> Option<Hyperfine> {
    match Path::new(program).file_name()?.to_str()? {
        "hyperfine" if version.is_some_and(|version| version == "2") => Some(Hyperfine::Two),
        "hyperfine" => Some(Hyperfine::One),
        "hyperfine2" => Some(Hyperfine::Two),
        _ => None,
    }
}

/// hyperfine's command line. What it would not do unasked is not done: no output is compared or read, no difference is explained, and no record is kept.
pub fn parse_as(
    hyperfine: Hyperfine,
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<CompareArgs, clap::Error> {
    let version = match hyperfine {
        Hyperfine::One => concat!("1.20.0 (whyfaster ", env!("CARGO_PKG_VERSION"), ")"),
        Hyperfine::Two => concat!("2.0.0 (whyfaster ", env!("CARGO_PKG_VERSION"), ")"),
    };
    let command = Command::new("hyperfine").version(version).max_term_width(100);
    let pretend = Arg::new("debug-mode").long("debug-mode").hide(true).action(ArgAction::SetTrue);
    let matches = CompareArgs::augment_args(command).arg(pretend).try_get_matches_from(words)?;
    let mut args = CompareArgs::from_arg_matches(&matches)?;
    args.called = Some(hyperfine);
    args.pretend = matches.get_flag("debug-mode");
    args.statistics.no_check_output = true;
    args.output.keep.no_keep = true;
    args.why.why = args.why.why.or(Some(WhyWord::No).filter(|_| args.why.why_rounds.is_none()));
    if args.hyperfine.output.is_empty() && !args.hyperfine.show_output {
        args.hyperfine.output.push("null".to_owned());
    }
    let start = &mut args.hyperfine.start;
    match hyperfine {
        Hyperfine::One => shell::named_behind_s(start, &mut args.commands, "commands", &matches),
        Hyperfine::Two => {
            args.export_format.export_format.get_or_insert(hyperfine);
            args.metrics.metrics.get_or_insert_with(|| MetricList(metric::usual()));
        }
    }
    Ok(args)
}

#[cfg(test)]
mod tests {
    use whyfaster_core::plan::{Output, Shell};
    use whyfaster_words::exit::Failure;

    use super::*;
    use crate::cli::{HostSeed, Outputs, resolve};

    #[test]
    fn the_name_decides() {
        let of = |program: &str, version: Option<&str>| called(OsStr::new(program), version.map(OsStr::new));
        assert_eq!(of("/usr/bin/hyperfine", None), Some(Hyperfine::One));
        assert_eq!(of("hyperfine", Some("2")), Some(Hyperfine::Two));
        assert_eq!(of("./hyperfine2", Some("1")), Some(Hyperfine::Two));
        assert_eq!(of("/opt/hyperfine/whyfaster", Some("2")), None);
    }

    fn read(hyperfine: Hyperfine, line: &str) -> Result<(whyfaster_core::plan::Plan, Outputs), Failure> {
        let host = HostSeed { euid: 1000, cpus_allowed: None, seed: 7, caller: Default::default() };
        let words = ["hyperfine".to_owned()].into_iter().chain(shell_words::split(line).unwrap());
        resolve(&parse_as(hyperfine, words).unwrap_or_else(|error| panic!("{line}: {error}")), &host)
    }

    #[test]
    fn each_version_has_its_defaults() {
        let (plan, outputs) = read(Hyperfine::One, "f").unwrap();
        assert!(!plan.check_output && plan.explain.is_none() && plan.metrics.is_empty());
        assert_eq!(plan.alternatives[0].output, Output::Null);
        assert_eq!(
            read(Hyperfine::One, "--show-output f").unwrap().0.alternatives[0].output,
            Output::Inherit
        );
        assert_eq!(plan.shell, Shell::Command(vec!["sh".into()]));
        assert_eq!((outputs.called, outputs.hyperfine), (Some(Hyperfine::One), Hyperfine::One));
        let (plan, outputs) = read(Hyperfine::Two, "f").unwrap();
        assert_eq!((plan.shell, plan.metrics.len()), (Shell::None, 2));
        assert_eq!((outputs.called, outputs.hyperfine), (Some(Hyperfine::Two), Hyperfine::Two));
        assert_eq!(read(Hyperfine::Two, "-S f").unwrap().0.shell, Shell::Command(vec!["sh".into()]));
        assert_eq!(
            read(Hyperfine::Two, "-S bash f").unwrap().0.alternatives.len(),
            2,
            "a flag and nothing else"
        );
        assert_eq!(read(Hyperfine::One, "-S bash f").unwrap().0.alternatives.len(), 1);
    }

    #[test]
    fn operators_are_words_where_that_was_asked_for() {
        assert!(read(Hyperfine::One, "-N 'a && b'").is_ok());
        assert!(read(Hyperfine::Two, "-N 'a && b'").is_ok());
        let error = read(Hyperfine::Two, "'a && b'").unwrap_err();
        assert!(error.message.contains("unquoted shell syntax ('&&')"), "{}", error.message);
        assert!(read(Hyperfine::Two, "'A=1 b'").unwrap_err().message.contains("variable assignment"));
    }
}
