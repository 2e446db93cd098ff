//! `whyfaster demo`: a small pair of commands that change places between one copy and many, compared here and now. A quick measurement chooses
//! the pair and its sizes, so that both answers are clear on this machine.

use std::env;
use std::fmt::Write;
use std::ops::Range;

use whyfaster_core::bounds::{Alone, capacity};
use whyfaster_core::claims::{Claim, Judgement, Measured, Needs, Pair, Rule, Runs, judge};
use whyfaster_core::host::Host;
use whyfaster_core::plan::{Alternative, Loads, Plan, Rounds, User};
use whyfaster_core::record::Record;
use whyfaster_core::status::Status;
use whyfaster_core::verdict::Verdict;
use whyfaster_host::{Root, facts};
use whyfaster_render::demo::{Told, introduction, outcome};
use whyfaster_run::interrupts::Interrupts;
use whyfaster_run::session::Finished;
use whyfaster_store as store;
use whyfaster_words::display::Detail;
use whyfaster_words::exit::{Exit, say};

use super::compare::{finish, measured};
use super::{results, rights};
use crate::cli::args::DemoArgs;
use crate::cli::compare::user_note;
use crate::cli::{HostSeed, Outputs};
use crate::study::{Need, PlaceKind, WorkDir, check_needs};

/// One process makes all replacements, or each of two makes half of them: they run side by side where two CPUs are free, and every line is
/// read and written once more.
const PAIR: Pair<'static> = Pair { alternative: "piped", baseline: "one" };

/// Replacements that each of the two can make. With few, a pipeline costs much and gains little alone; with many, it is the other way round.
const REPLACEMENTS: [usize; 3] = [1, 2, 4];

const FILE: &str = "numbers.txt";
/// Lines of the input on which the pairs are tried.
const TRIED: u32 = 200_000;
/// The number of these trials.
const ROUNDS: u32 = 3;
/// The part of the time that this may take.
const TRYING: f64 = 0.1;

/// Seconds that one process alone is to take: long beside its start, and short enough for many rounds of all copies.
const ALONE_S: f64 = 0.15;
/// The input has whole steps of so many lines, up to so many steps.
const STEP: u32 = 100_000;
const MOST_STEPS: f64 = 50.0;

/// Copies at once for every CPU. Two would keep all CPUs busy; with more, the beginning and the end of a batch matter less.
const COPIES_A_CPU: f64 = 4.0;
/// No level has more copies than this, however many CPUs there are.
const MOST_COPIES: f64 = 256.0;

/// Seconds for all of it unless options say otherwise: with the start and the report, less than a minute.
const MAX_TIME_S: f64 = 50.0;
/// Seconds that the comparison has left if the trials took all of the time.
const LEAST_S: f64 = 0.001;

/// Runs the verb.
pub fn run(args: &DemoArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_demo(args)?;
    results::check(&outputs)?;
    check_needs("the demo", &[sed()], &env::var_os("PATH").unwrap_or_default())?;
    let here = HostSeed::here();
    let user = here.user(args.user.as_root)?;
    user_note(&user).iter().for_each(|note| say(&format!("note: {note}")));
    let mut plan = prepare(args, here.seed, user);
    let look = results::look(&outputs);
    let report = !outputs.json && !look.quiet && look.detail > Detail::Sentence;
    let before = facts(&Root::real());
    let cpus = capacity(&plan, &Host { before, ..Host::default() });
    // At least two, so that there is a second level.
    let copies = (cpus * COPIES_A_CPU).round().clamp(2.0, MOST_COPIES) as u32;
    if report {
        say(&introduction(PAIR, copies, plan.rounds.max_time_s));
    }
    let interrupts = Interrupts::take_over()?;
    let timed = |plan: &Plan, lines: u32, part: usize| -> anyhow::Result<Finished> {
        let numbers = numbers(lines);
        let dir = WorkDir::make("demo", PlaceKind::Directory, &[(FILE, numbers.as_str())])?;
        let entered = dir.enter()?;
        let finished = measured(plan, &outputs, &interrupts, (part, 2))?;
        drop((entered, dir));
        Ok(finished)
    };
    let tried = timed(&trial(&plan), TRIED, 0)?;
    if tried.record.status == Status::Interrupted {
        say("interrupted");
        return Ok(Exit::Interrupted);
    }
    tried.failure.map_or(Ok(()), Err)?;
    let chosen = chosen(&tried.record, copies, cpus);
    plan.alternatives = alternatives(chosen.replacements, "").into();
    plan.loads = Loads::Fixed(vec![1, copies]);
    plan.rounds.max_time_s = (plan.rounds.max_time_s - tried.record.took_s).max(LEAST_S);
    let commands = [0, 1].map(|at| plan.alternatives[at].command.clone());
    let told = Told {
        pair: PAIR,
        commands,
        numbers: chosen.lines,
        file: FILE,
        copies,
        cpus,
        max_time_s: args.max_time.unwrap_or(MAX_TIME_S),
    };
    let finished = timed(&plan, chosen.lines, 1)?;
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

/// The plan without its commands and its loads, which a quick measurement chooses.
fn prepare(args: &DemoArgs, seed: u64, user: User) -> Plan {
    let mut plan = Plan::new(Vec::new(), seed);
    plan.rounds.max_time_s = args.max_time.unwrap_or(MAX_TIME_S);
    plan.rounds.max_time_hard = true;
    plan.user = Some(user);
    plan
}

/// The baseline, then the alternative, with so many replacements a process. Both command lines can stand between double quotes in a shell,
/// so that the report can show how to run them by hand.
fn alternatives(replacements: usize, suffix: &str) -> [Alternative; 2] {
    let script = |digits: Range<usize>| {
        let letters = ('a'..).skip(digits.start);
        let each = digits.zip(letters).map(|(digit, letter)| format!("s/{}/{letter}/", digit + 1));
        each.collect::<Vec<_>>().join("; ")
    };
    let (first, second) = (script(0..replacements), script(replacements..2 * replacements));
    let one = format!("sed '{}' {FILE}", script(0..2 * replacements));
    let piped = format!("sed '{first}' {FILE} | sed '{second}'");
    [(PAIR.baseline, one), (PAIR.alternative, piped)].map(|(name, command)| {
        let name = format!("{name}{suffix}");
        Alternative { name: name.clone(), given_name: Some(name), ..Alternative::new(command) }
    })
}

/// All pairs, each alone, a few times.
fn trial(plan: &Plan) -> Plan {
    let pairs = REPLACEMENTS.iter().flat_map(|each| alternatives(*each, &format!(" {each}")));
    let rounds = Rounds {
        min: ROUNDS,
        max: ROUNDS,
        fixed: true,
        max_time_s: plan.rounds.max_time_s * TRYING,
        ..plan.rounds
    };
    Plan { alternatives: pairs.collect(), rounds, ..plan.clone() }
}

/// The pair that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chosen {
    /// Replacements that each process of the pipeline makes.
    replacements: usize,
    /// Lines of the input.
    lines: u32,
}

/// The pair of which the smaller of both effects is the largest: alone by its span, in a crowd by what bounds it.
fn chosen(tried: &Record, copies: u32, cpus: f64) -> Chosen {
    let alone: Vec<Option<Alone>> = tried
        .analysis
        .alternatives
        .iter()
        .map(|it| Some(Alone { span_s: it.span_s?, work_s: it.work_s? }))
        .collect();
    let pairs = REPLACEMENTS.into_iter().zip(alone.chunks_exact(2));
    let known = pairs.filter_map(|(replacements, pair)| Some((replacements, pair[0]?, pair[1]?)));
    let smaller = |one: Alone, piped: Alone| {
        let in_crowd = |it: Alone| it.makespan_bound_s(f64::from(copies), cpus);
        (one.span_s / piped.span_s).min(in_crowd(piped) / in_crowd(one))
    };
    let best = known.max_by(|a, b| smaller(a.1, a.2).total_cmp(&smaller(b.1, b.2)));
    match best {
        Some((replacements, one, _)) => {
            let steps = ALONE_S / one.span_s * f64::from(TRIED) / f64::from(STEP);
            Chosen { replacements, lines: steps.round().clamp(1.0, MOST_STEPS) as u32 * STEP }
        }
        // Too short for the kernel to count, or cut by a time-out: nothing is known of this machine.
        None => Chosen { replacements: REPLACEMENTS[1], lines: TRIED },
    }
}

/// The output of `seq`.
fn numbers(lines: u32) -> String {
    (1..=lines).fold(String::with_capacity(lines as usize * 8), |mut text, number| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{number}");
        text
    })
}

/// Both halves of the flip, as this record sees them.
fn judgements(record: &Record, copies: u32) -> Vec<Judgement> {
    let claim = |number, text: String, load, verdict| {
        let rule = Rule::Verdict { load, verdict };
        Claim { number, text, alternative: None, rule, needs: Needs::default() }
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
    let Record { plan, host, batches, analysis, .. } = record;
    let runs = Runs { pair: PAIR, plan, host, batches, analysis, tallies: &[], left_out: &[], reads: None };
    judge(&claims, &Measured { runs: Some(runs), prices: None })
}

#[cfg(test)]
mod tests {
    use whyfaster_core::analysis::AlternativeSummary;

    use super::*;

    #[test]
    fn the_input_is_what_seq_prints() {
        let text = numbers(200_000);
        assert_eq!(text.lines().count(), 200_000);
        assert!(text.starts_with("1\n2\n3\n") && text.ends_with("\n200000\n"));
    }

    #[test]
    fn both_commands_do_the_same_and_can_stand_between_double_quotes() {
        let commands = |each| alternatives(each, "").map(|it| it.command);
        assert_eq!(
            commands(2),
            [
                "sed 's/1/a/; s/2/b/; s/3/c/; s/4/d/' numbers.txt",
                "sed 's/1/a/; s/2/b/' numbers.txt | sed 's/3/c/; s/4/d/'"
            ]
        );
        for command in REPLACEMENTS.into_iter().flat_map(commands) {
            assert!(!command.contains(['"', '$', '`', '\\', '!']), "{command}");
        }
    }

    /// A record of the trial with these spans and works of `one` and `piped`, pair by pair.
    fn tried(pairs: [[(f64, f64); 2]; 3]) -> Record {
        let mut record = crate::records::record(Vec::new(), vec![1], Vec::new());
        let summary = |(span_s, work_s)| AlternativeSummary {
            name: String::new(),
            command: String::new(),
            span_s: Some(span_s),
            work_s: Some(work_s),
        };
        record.analysis.alternatives = pairs.into_iter().flatten().map(summary).collect();
        record
    }

    #[test]
    fn the_pair_is_chosen_whose_smaller_effect_is_the_largest() {
        // Two CPUs, 8 copies: a pipeline that gains nothing alone, one that gains a third and costs a third, one that costs nearly nothing.
        let pairs = [[(0.05, 0.05), (0.05, 0.09)], [(0.1, 0.1), (0.075, 0.133)], [(0.2, 0.2), (0.11, 0.21)]];
        let Chosen { replacements, lines } = chosen(&tried(pairs), 8, 2.0);
        // 200,000 lines take 0.1 s, so 300,000 take 0.15 s.
        assert_eq!((replacements, lines), (2, 300_000));
        let quick = pairs.map(|pair| pair.map(|(span_s, work_s)| (span_s / 1000.0, work_s / 1000.0)));
        assert_eq!(chosen(&tried(quick), 8, 2.0).lines, 5_000_000);
        let slow = pairs.map(|pair| pair.map(|(span_s, work_s)| (span_s * 100.0, work_s * 100.0)));
        assert_eq!(chosen(&tried(slow), 8, 2.0).lines, 100_000);
        let mut nothing = tried(pairs);
        nothing.analysis.alternatives.iter_mut().for_each(|it| it.work_s = None);
        assert_eq!(chosen(&nothing, 8, 2.0), Chosen { replacements: 2, lines: 200_000 });
    }

    #[test]
    fn the_trial_has_its_number_of_runs_and_a_part_of_the_time() {
        let plan = Plan::new(Vec::new(), 1);
        let trial = trial(&plan);
        assert_eq!(trial.alternatives.len(), 2 * REPLACEMENTS.len());
        assert!(!trial.extra_runs() && trial.rounds.max == ROUNDS);
        assert!(trial.rounds.max_time_s <= 0.2 * plan.rounds.max_time_s);
    }
}
