//! Command lines to plans: every option, every conflict, every refusal.

use whyfaster_core::plan::{
    Alternative, Explain, FailurePolicy, Input, Loads, Mode, Output, Placement, Plan, Rounds, Shell, defaults,
};
use whyfaster_store::OutputFile;
use whyfaster_words::display::{Registered, Sort, Style, TimeUnit};
use whyfaster_words::exit::{Exit, Failure};

use super::{Args, HostSeed, Outputs, Target, Verb, resolve};

fn host() -> HostSeed {
    HostSeed {
        euid: 1000,
        cpus_allowed: Some(vec![0, 1]),
        seed: 7,
        caller: whyfaster_host::Caller::default(),
    }
}

/// Splits a line as a shell would, so that tests read like use.
fn parse(line: &str) -> Result<super::args::CompareArgs, clap::Error> {
    let words = shell_words::split(line).unwrap();
    match super::parse(["whyfaster".to_owned(), "compare".to_owned()].into_iter().chain(words))?.verb {
        Some(Verb::Compare(args)) => Ok(*args),
        other => panic!("{other:?}"),
    }
}

fn both(line: &str) -> Result<(Plan, Outputs), Failure> {
    resolve(&parse(line).unwrap_or_else(|e| panic!("{line}: {e}")), &host())
}

fn plan(line: &str) -> Plan {
    both(line).unwrap_or_else(|e| panic!("{line}: {e}")).0
}

/// The message of a line that is refused after clap accepted it, with the next step.
fn refused(line: &str) -> String {
    let failure = both(line).expect_err(line);
    assert_eq!(failure.exit, Exit::Usage, "{line}");
    format!("{} | {}", failure.message, failure.hint.expect("every failure has a next step"))
}

/// The message of a line that clap refuses.
fn unread(line: &str) -> String {
    let error = parse(line).map(|args| panic!("{line} was read as {args:?}")).unwrap_err();
    assert_eq!(error.exit_code(), 2, "{line}");
    error.to_string()
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.alternatives.iter().map(|a| a.name.as_str()).collect()
}

#[test]
fn a_bare_command_gives_the_defaults_of_the_plan() {
    let (plan, outputs) = both("true").unwrap();
    let user = host().user(false).unwrap();
    assert_eq!((user.uid, user.because), (1000, whyfaster_core::plan::Because::Own));
    // Differences are explained, and the explanation is put to the test, unless told otherwise.
    let explain = Some(Explain { confirm: true, ..Explain::default() });
    let usual = Plan::new(vec![Alternative::new("true")], 7);
    // One copy alone is told within seconds.
    let rounds = Rounds { max_time_s: defaults::MAX_TIME_ALONE_S, ..usual.rounds };
    assert_eq!(plan, Plan { user: Some(user), explain, rounds, ..usual });
    assert_eq!(outputs, Outputs { keep: true, ..Outputs::default() });
}

#[test]
fn the_help_states_the_defaults_of_the_plan() {
    use whyfaster_core::plan::defaults;
    let help = <Args as clap::CommandFactory>::command()
        .find_subcommand_mut("compare")
        .expect("compare")
        .render_long_help()
        .to_string();
    assert!(help.contains(&format!("of a single command {}]", defaults::MIN_ROUNDS)));
    assert!(help.contains(&format!("[default: {}%]", defaults::DELTA * 100.0)));
    assert!(help.contains(&format!("[default: {}%]", defaults::CONFIDENCE * 100.0)));
    assert!(help.contains(&format!("[default: {}s]", defaults::DURATION_S)));
}

#[test]
fn rounds_follow_hyperfine() {
    let of = |line: &str| {
        let rounds = plan(line).rounds;
        (rounds.min, rounds.max, rounds.fixed)
    };
    assert_eq!(of("-r 7 true"), (7, 7, true));
    assert_eq!(of("--runs=1 true"), (1, 1, true));
    assert_eq!(of("-m 3 true"), (3, u32::MAX, false));
    assert_eq!(of("-M 5 true"), (5, 5, false));
    assert_eq!(of("--max-runs 50 true"), (10, 50, false));
    assert_eq!(of("-m 20 -M 30 true"), (20, 30, false));
    assert!(refused("-m 5 -M 4 true").contains("--min-runs 5 is above --max-runs 4"));
    assert!(unread("-r 5 -m 3 true").contains("cannot be used with"));
    assert!(unread("-r 5 -M 3 true").contains("cannot be used with"));
    for line in ["-r 0 true", "-m 0 true", "-M 0 true", "-r -1 true", "-r 1.5 true", "-r 99999999999 true"] {
        assert!(unread(line).contains("whole number") || unread(line).contains("unexpected"), "{line}");
    }
}

#[test]
fn hooks_are_given_once_or_for_each() {
    let p = plan("-s S -p P -C X -c Z a b");
    for a in &p.alternatives {
        let hooks = [&a.setup, &a.prepare, &a.conclude, &a.cleanup].map(|h| h.as_deref());
        assert_eq!(hooks, [Some("S"), Some("P"), Some("X"), Some("Z")]);
    }
    let p = plan("--prepare 1 --prepare 2 --conclude 3 --conclude 4 a b");
    assert_eq!(p.alternatives[0].prepare.as_deref(), Some("1"));
    assert_eq!(p.alternatives[1].prepare.as_deref(), Some("2"));
    assert_eq!(p.alternatives[1].conclude.as_deref(), Some("4"));
    assert!(refused("-p 1 -p 2 a b c").contains("--prepare is given 2 times for 3 alternative(s)"));
    assert!(refused("-C 1 -C 2 a").contains("--conclude is given 2 times for 1 alternative(s)"));
    // The reference counts, and stands first.
    let p = plan("--reference r -p 0 -p 1 a");
    assert_eq!(p.alternatives[1].prepare.as_deref(), Some("1"));
}

#[test]
fn the_reference_is_the_first_and_a_named_baseline() {
    let p = plan("--reference 'r x' --reference-name old a b");
    assert_eq!(names(&p), ["old", "a", "b"]);
    assert_eq!((p.baseline, p.baseline_named), (0, true));
    assert_eq!(p.alternatives[0].command, "r x");
    assert!(unread("--reference-name old a").contains("--reference <CMD>"));
}

#[test]
fn names_are_unique_and_hyperfine_s_name_is_kept() {
    assert_eq!(names(&plan("a a a")), ["a", "a (2)", "a (3)"]);
    assert_eq!(names(&plan("-n x -n 'x (2)' -n x a b c")), ["x", "x (2)", "x (3)"]);
    let p = plan("-n one a b");
    assert_eq!(names(&p), ["one", "b"]);
    assert_eq!(p.alternatives[0].given_name.as_deref(), Some("one"));
    assert_eq!(p.alternatives[1].given_name, None);
    assert!(refused("-n a -n b -n c x y").contains("--command-name is given 3 times"));
}

#[test]
fn a_scan_makes_one_alternative_for_each_value() {
    let p = plan("-P t 1 3 -s 'make {t}' 'sleep {t}'");
    assert_eq!(names(&p), ["sleep 1", "sleep 2", "sleep 3"]);
    assert_eq!(p.alternatives[2].setup.as_deref(), Some("make 3"));
    assert_eq!(p.alternatives[2].parameters["t"], "3");
    assert_eq!(names(&plan("-P t -1 0 'f {t}'")), ["f -1", "f 0"]);
    assert_eq!(
        names(&plan("-P t 0.5 1.5 -D 0.5 'f {t}' 'g {t}'")),
        ["f 0.5", "g 0.5", "f 1.0", "g 1.0", "f 1.5", "g 1.5"]
    );
    assert_eq!(names(&plan("-P t 1 2 true")), ["true (t = 1)", "true (t = 2)"]);
    assert_eq!(names(&plan("-n 'run {t}' -P t 1 2 'f {t}'")), ["run 1", "run 2"]);
    assert!(unread("-D 1 true").contains("--parameter-scan"));
    assert!(unread("-P t 1 2 -L x 1 true").contains("cannot be used with"));
    assert!(refused("-n a -n b -P t 1 3 'f {t}'").contains("2 times for 3 alternatives"));
    assert!(refused("-P t 1 99999999 true").contains("more than"));
}

#[test]
fn lists_make_every_combination_in_hyperfine_s_order() {
    let p = plan("-L a 1,2 -L b x,y 'f {a} {b}' 'g {a} {b}'");
    let expected = ["f 1 x", "g 1 x", "f 2 x", "g 2 x", "f 1 y", "g 1 y", "f 2 y", "g 2 y"];
    assert_eq!(names(&p), expected);
    assert_eq!(names(&plan(r"-L a '1\,2,3' 'f {a}'")), ["f 1,2", "f 3"]);
    assert!(refused("-L a 1 -L a 2 'f {a}'").contains("given twice"));
    assert!(refused("-L a '' '{a}'").contains("command 1 is empty"));
    let many = vec!["x"; 400].join(",");
    assert!(refused(&format!("-L a {many} -L b {many} 'f'")).contains("more than"));
}

#[test]
fn environment_is_given_once_or_for_each() {
    let p = plan("-P n 1 2 --env 'T={n} L=C' 'f'");
    assert_eq!(p.alternatives[1].env["T"], "2");
    assert_eq!(p.alternatives[1].env["L"], "C");
    let p = plan("--env A=1 --env '' f g");
    assert_eq!((p.alternatives[0].env.len(), p.alternatives[1].env.len()), (1, 0));
    assert!(refused("--env A f").contains("'A' is no assignment"));
    assert!(refused("--env A=1 --env A=2 f").contains("2 times for 1"));
}

#[test]
fn shells_and_words() {
    assert_eq!(plan("-N true").shell, Shell::None);
    assert_eq!(
        plan("--shell bash --shell='dash -e' f").shell,
        Shell::Command(vec!["dash".into(), "-e".into()])
    );
    for line in ["-N -S true", "-S --shell bash true", "-N --shell bash true"] {
        assert!(unread(line).contains("cannot be used with"), "{line}");
    }
    assert!(refused("-N \"echo 'x\"").contains("cannot be started without a shell"));
    assert!(refused("-N \"''\"").contains("names no program"));
    let both_ways_out = refused("-N 'a | b'");
    for part in ["'|'", "Quote", "leave out -N"] {
        assert!(both_ways_out.contains(part), "{both_ways_out}");
    }
    assert_eq!(
        plan("-N -p 'a | b' true").alternatives[0].prepare.as_deref(),
        Some("a | b"),
        "hooks have a shell"
    );
    assert!(refused("' '").contains("command 1 is empty"));
    assert!(unread("").contains("required"));
    assert!(unread("''").contains("value is required") || unread("''").contains("invalid value"));
}

#[test]
fn a_word_behind_s_is_the_shell_only_where_it_can_be_nothing_else() {
    let commands = |line: &str| {
        let (plan, outputs) = both(line).unwrap();
        let commands: Vec<String> = plan.alternatives.iter().map(|it| it.command.clone()).collect();
        (plan.shell, commands, outputs.notes)
    };
    let sh = || Shell::Command(vec!["sh".into()]);
    let none = Vec::<String>::new;
    assert_eq!(
        commands("-S 'echo a | cat' 'sleep 0.3'"),
        (sh(), vec!["echo a | cat".into(), "sleep 0.3".into()], none())
    );
    assert_eq!(commands("-S f"), (sh(), vec!["f".into()], none()));
    assert_eq!(commands("-S bash"), (sh(), vec!["bash".into()], none()), "no command would remain");
    assert_eq!(commands("-S -r 3 bash f").1, ["bash", "f"], "it does not stand behind -S");
    assert_eq!(commands("-S 'bash run.sh' f").1, ["bash run.sh", "f"]);
    let (shell, left, notes) = commands("-r 3 -S 'bash --norc' -w 1 f g");
    assert_eq!(
        (shell, left),
        (Shell::Command(vec!["bash".into(), "--norc".into()]), vec!["f".into(), "g".into()])
    );
    assert!(notes.len() == 1 && notes[0].contains("--shell 'bash --norc'"), "{notes:?}");
    let (shell, left, _) = commands("f -S none g");
    assert_eq!((shell, left), (Shell::None, vec!["f".into(), "g".into()]));
}

#[test]
fn failures_input_and_output() {
    assert_eq!(plan("-i true").failures, FailurePolicy::IgnoreAll);
    assert_eq!(plan("--ignore-failure=1,2 true").failures, FailurePolicy::IgnoreCodes(vec![1, 2]));
    assert_eq!(plan("-i=3 true").failures, FailurePolicy::IgnoreCodes(vec![3]));
    assert_eq!(names(&plan("-i false")), ["false"], "-i takes no value without '='");
    assert_eq!(plan("--input /dev/null true").input, Input::File("/dev/null".into()));
    assert_eq!(plan("--show-output true").alternatives[0].output, Output::Inherit);
    let p = plan("--output null --output ./x a b");
    assert_eq!(p.alternatives[1].output, Output::File("./x".into()));
    assert_eq!(plan("--output pipe a b").alternatives[1].output, Output::Pipe);
    assert!(refused("--output x a").contains("./x"));
    assert!(refused("--output null --output pipe a b c").contains("2 times for 3"));
    assert!(unread("--output null --show-output a").contains("cannot be used with"));
    assert!(unread("--style full --show-output a").contains("cannot be used with"));
}

#[test]
fn load_and_mode() {
    assert_eq!(plan("--load 10,1 a").loads, Loads::Fixed(vec![1, 10]));
    assert_eq!(plan("--load auto a").loads, Loads::Auto);
    assert_eq!(plan("--mode closed a").mode, Mode::Closed { duration_s: 5.0 });
    assert_eq!(
        plan("--mode open --rate 50 --duration 2m a").mode,
        Mode::Open { rate_per_s: 50.0, duration_s: 120.0 }
    );
    assert!(refused("--mode open a").contains("--rate"));
    assert!(refused("--rate 5 a").contains("--mode open"));
    assert!(refused("--mode closed --rate 5 a").contains("--mode open"));
    assert!(refused("--duration 5 a").contains("--mode closed"));
    assert!(refused("--mode open --rate 5 --load 2 a").contains("exclude each other"));
    for line in
        ["--load 0 a", "--load 1000001 a", "--rate 0 a", "--rate nan a", "--rate inf a", "--mode loud a"]
    {
        assert!(unread(line).contains("invalid value"), "{line}");
    }
}

#[test]
fn statistics_and_placement() {
    let p = plan("--max-time 90s --delta 5% --confidence 0.99 --seed 3 --timeout 500ms --no-check-output a");
    assert_eq!((p.rounds.max_time_s, p.rounds.max_time_hard), (90.0, true));
    assert_eq!((p.delta, p.confidence, p.seed, p.timeout_s), (0.05, 0.99, 3, Some(0.5)));
    assert!(!p.check_output);
    let p = plan("--placement shared --pin 0-1 a");
    assert_eq!((p.placement, p.cpus), (Placement::Shared, Some(vec![0, 1])));
    assert!(refused("--pin 0,5-6 a").contains("CPU 5-6 may not be used here"));
    assert!(unread("--delta 2 a").contains("'2%'"));
    assert!(unread("--timeout 0 a").contains("above 0"));
}

#[test]
fn dropping_caches_needs_root() {
    let args = parse("--drop-caches a").unwrap();
    let failure = resolve(&args, &host()).unwrap_err();
    assert_eq!(failure.exit, Exit::Unfit);
    assert!(failure.message.contains("needs root") && failure.hint.is_some());
    assert!(resolve(&args, &HostSeed { euid: 0, ..host() }).unwrap().0.drop_caches);
}

#[test]
fn the_gate_takes_delta_or_a_percentage() {
    assert_eq!(both("--fail-if-slower a b").unwrap().1.fail_if_slower, Some(0.02));
    assert_eq!(both("--fail-if-slower --delta 5% a b").unwrap().1.fail_if_slower, Some(0.05));
    let (p, o) = both("--fail-if-slower=7 --fail-on-inconclusive a b").unwrap();
    assert_eq!((p.fail_if_slower, o.fail_if_slower, o.fail_on_inconclusive), (Some(0.07), Some(0.07), true));
    assert!(unread("--fail-if-slower=x a").contains("percentage"));
    assert!(refused("--fail-if-slower a").contains("one command"));
    assert!(both("--fail-if-slower --reference a b").is_ok());
    assert!(unread("--fail-on-inconclusive a").contains("--fail-if-slower"));
}

#[test]
fn outputs_are_collected() {
    let line = "--export-json j --export-csv - --export-markdown m --export-asciidoc a --export-orgmode o \
                --record r --style basic --sort mean-time -u ms true";
    let outputs = both(line).unwrap().1;
    let exports = outputs.exports.iter().map(|(it, target)| (it.option().name, target.clone()));
    let file = |name: &str| Target::File(OutputFile::new(name));
    assert_eq!(
        exports.collect::<Vec<_>>(),
        [
            ("export-asciidoc", file("a")),
            ("export-json", file("j")),
            ("export-csv", Target::Stdout),
            ("export-markdown", file("m")),
            ("export-orgmode", file("o")),
        ]
    );
    assert_eq!(outputs.record, Some(OutputFile::new("r")));
    assert_eq!((outputs.style, outputs.sort), (Style::Basic, Sort::MeanTime));
    assert_eq!(outputs.time_unit, Some(TimeUnit::Millisecond));
    assert!(both("--record - true").unwrap().1.json);
    for unit in
        ["microsecond", "millisecond", "second", "minute", "hour", "us", "µs", "ms", "s", "min", "h", "hours"]
    {
        assert!(both(&format!("-u {unit} true")).unwrap().1.time_unit.is_some());
    }
    assert!(unread("-u fortnight true").contains("invalid value"));
    assert!(refused("--json --export-csv - a").contains("standard output"));
    assert!(refused("--json --show-output a").contains("standard output"));
    assert!(refused("--export-csv x --export-json x a").contains("same file 'x'"));
    assert!(both("--export-csv /dev/null --export-json /dev/null a").is_ok());
}

#[test]
fn hyperfine_s_hidden_option_is_accepted_and_said_to_do_nothing() {
    let (p, outputs) = both("--min-benchmarking-time 5 true").unwrap();
    assert_eq!(p, plan("true"));
    assert!(outputs.notes[0].contains("--min-benchmarking-time has no effect"));
}
