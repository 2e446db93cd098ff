//! `whyfaster demo`: a small pair of commands that change places between one copy and many, compared here and now.

use std::env;
use std::fmt::Write;

use whyfaster_core::bounds::capacity;
use whyfaster_core::claims::{Claim, Judgement, Measured, Pair, Rule, Runs, judge};
use whyfaster_core::host::Host;
use whyfaster_core::plan::{Alternative, Loads, Plan, User};
use whyfaster_core::record::Record;
use whyfaster_core::verdict::Verdict;
use whyfaster_host::{Root, facts};
use whyfaster_render::demo::{Told, introduction, outcome};
use whyfaster_run::interrupts::Interrupts;
use whyfaster_store as store;
use whyfaster_words::display::Detail;
use whyfaster_words::exit::{Exit, say};

use super::compare::{finish, measured};
use super::{results, rights};
use crate::cli::args::DemoArgs;
use crate::cli::compare::user_note;
use crate::cli::{HostSeed, Outputs};
use crate::study::{Need, PlaceKind, WorkDir, check_needs};

/// One process does both steps. Both command lines can stand between double quotes in a shell, so that the report can show
/// how to run them by hand.
const ONE: &str = "sed 's/1/x/; s/2/y/' numbers.txt";
/// One process for each step: they run side by side where two CPUs are free, and every line is read and written once more.
const PIPED: &str = "sed s/1/x/ numbers.txt | sed s/2/y/";
const PAIR: Pair<'static> = Pair { alternative: "piped", baseline: "one" };

/// The input: this many numbers, one a line. GNU sed takes less than 0.1 s for them on a machine of 2026.
const NUMBERS: u32 = 500_000;
const FILE: &str = "numbers.txt";

/// Copies at once for every CPU. Two would keep all CPUs busy; with more, the beginning and the end of a batch matter less.
const COPIES_A_CPU: f64 = 4.0;
/// No level has more copies than this, however many CPUs there are.
const MOST_COPIES: f64 = 256.0;

/// Seconds for all of it unless options say otherwise.
const MAX_TIME_S: f64 = 20.0;

/// Runs the verb.
pub fn run(args: &DemoArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_demo(args)?;
    results::check(&outputs)?;
    check_needs("the demo", &[sed()], &env::var_os("PATH").unwrap_or_default())?;
    let here = HostSeed::here();
    let user = here.user(args.user.as_root)?;
    user_note(&user).iter().for_each(|note| say(&format!("note: {note}")));
    let (plan, told) = prepare(args, here.seed, user);
    let look = results::look(&outputs);
    let report = !outputs.json && !look.quiet && look.detail > Detail::Sentence;
    if report {
        say(&introduction(&told));
    }
    let interrupts = Interrupts::take_over()?;
    let numbers = numbers();
    let files = [(FILE, numbers.as_str())];
    let dir = WorkDir::make("demo", PlaceKind::Directory, &files)?;
    let entered = dir.enter()?;
    let finished = measured(&plan, &outputs, &interrupts, (0, 1))?;
    drop((entered, dir));
    rights::after_observing(args.user.as_root);
    let said = outcome(&told, &judgements(&finished.record, told.copies), &look);
    // The screen leaves room for what is said below it.
    let outputs = Outputs { around: if report { said.lines().count() } else { 0 }, ..outputs };
    let ended = finish(&finished.record, finished.failure, &outputs)?;
    if report && ended == Exit::Ok {
        store::to_stdout(said.as_bytes())?;
    }
    Ok(ended)
}

fn sed() -> Need {
    Need {
        program: "sed".to_owned(),
        install: "install it (Debian, Ubuntu: sudo apt-get install sed)".to_owned(),
    }
}

/// What to run, and what to tell about it.
fn prepare(args: &DemoArgs, seed: u64, user: User) -> (Plan, Told) {
    let named = |name: &str, command: &str| Alternative {
        name: name.to_owned(),
        given_name: Some(name.to_owned()),
        ..Alternative::new(command)
    };
    let mut plan = Plan::new(vec![named(PAIR.baseline, ONE), named(PAIR.alternative, PIPED)], seed);
    let before = facts(&Root::real());
    let cpus = capacity(&plan, &Host { before, ..Host::default() });
    // At least two, so that there is a second level.
    let copies = (cpus * COPIES_A_CPU).round().clamp(2.0, MOST_COPIES) as u32;
    plan.loads = Loads::Fixed(vec![1, copies]);
    plan.rounds.max_time_s = args.max_time.unwrap_or(MAX_TIME_S);
    plan.rounds.max_time_hard = true;
    plan.user = Some(user);
    let told = Told {
        pair: PAIR,
        commands: [ONE, PIPED],
        numbers: NUMBERS,
        file: FILE,
        copies,
        cpus,
        max_time_s: plan.rounds.max_time_s,
    };
    (plan, told)
}

/// What `seq` prints.
fn numbers() -> String {
    (1..=NUMBERS).fold(String::with_capacity(NUMBERS as usize * 7), |mut text, number| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{number}");
        text
    })
}

/// Both halves of the flip, as this record sees them.
fn judgements(record: &Record, copies: u32) -> Vec<Judgement> {
    let claim = |number, text: String, load, verdict| {
        let rule = Rule::Verdict { load, verdict };
        Claim { number, text, alternative: None, rule }
    };
    let claims = [
        claim(1, format!("{} is faster alone", PAIR.alternative), 1, Verdict::Faster),
        claim(
            2,
            format!("{} is slower with {copies} copies at once", PAIR.alternative),
            copies,
            Verdict::Slower,
        ),
    ];
    let (plan, batches, analysis) = (&record.plan, &record.batches, &record.analysis);
    let runs = Runs { pair: PAIR, plan, batches, analysis, tallies: &[] };
    judge(&claims, &Measured { runs: Some(runs), prices: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_is_what_seq_prints() {
        let text = numbers();
        assert_eq!(text.lines().count(), NUMBERS as usize);
        assert!(text.starts_with("1\n2\n3\n") && text.ends_with("\n500000\n"));
    }

    #[test]
    fn both_commands_can_stand_between_double_quotes() {
        for command in [ONE, PIPED] {
            assert!(!command.contains(['"', '$', '`', '\\', '!']), "{command}");
        }
    }
}
