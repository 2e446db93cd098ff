//! Experiments: what an explanation says is put to the test. Each runs an alternative as it is and with one thing changed,
//! untraced, in turns.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use whyfaster_core::event::Event;
use whyfaster_core::why::report::{Experiment, Outcome};
use whyfaster_core::why::statement::LeftOut;
use whyfaster_core::why::{self, Machine, Planned, Shown, Test, Untestable, Why};
use whyfaster_stats::looks;
use whyfaster_words::exit::Failure;

use super::super::realtime;
use super::super::resolve;
use super::super::rig::{Ran, Rig};
use super::super::round::{Series, make, order};
use super::super::stage;
use super::elf;
use super::so_far::{SoFar, alone_s};

/// Rounds of an experiment at most.
const MOST: u32 = 11;
/// Rounds below which an experiment tells nothing.
const LEAST: u32 = looks::FIRST as u32;

/// Seconds by which one run exceeds the command it runs, about.
const PER_RUN_S: f64 = 0.01;

/// Makes the experiments that the explanation asks for, in its order, as far as time allows.
pub(super) fn confirm(
    rig: &mut Rig<'_>,
    so_far: &SoFar<'_>,
    explained: &mut Why,
    on: &mut dyn FnMut(Event),
) -> Result<(), Failure> {
    let why = &*explained;
    let planned = why::experiments(why, &so_far.given(why), &machine(so_far, why));
    let (of, mut finished, mut made) = (planned.len(), 0, Vec::new());
    let testable = |planned: &[Planned]| planned.iter().filter(|one| one.test.is_ok()).count();
    for (index, mut one) in planned.clone().into_iter().enumerate() {
        if so_far.machine.interrupted() {
            break;
        }
        let (ends, now_s) = (so_far.ends(), so_far.now_s());
        let share = |until_s: f64| (until_s - now_s).max(0.0) / testable(&planned[index..]).max(1) as f64;
        let first = testable(&planned[..index]) == 0;
        let left = Left {
            usual_s: share(ends.usual_s),
            least_s: if first { share(ends.last_s) } else { share(ends.usual_s) },
        };
        let mut measured = Measured::default();
        if let Ok(test) = one.test.clone() {
            // What is expected is said before anybody can know what comes out.
            on(Event::Predicted { number: index + 1, of, planned: Box::new(one.clone()) });
            let says = |measured: &Measured| {
                why::judge(&one, explained, &measured.control_s, &measured.changed_s).outcome
            };
            let mut experiment = Experimenting {
                rig,
                so_far,
                on,
                number: (index + 1, of),
                left,
                alternative: one.alternative,
                test: &test,
                says: &says,
                began_s: now_s,
                made: 0,
                measured: &mut measured,
                no_time: None,
            };
            let ended = experiment.make();
            // A run that a signal ended says nothing of what can be tested.
            if let (Err(why), false) = (ended, so_far.machine.interrupted()) {
                one.test = Err(why);
            }
        }
        let judged = why::judge(&one, explained, &measured.control_s, &measured.changed_s);
        if so_far.machine.interrupted() {
            made.push(cut_short(judged));
            break;
        }
        made.push(judged);
        finished += 1;
    }
    if finished < of {
        explained.left_out.push(LeftOut::Experiments { made: finished, of });
    }
    why::conclude(explained, made);
    Ok(())
}

/// Experiments that an explanation usually asks for.
const USUAL: f64 = 2.0;

/// Seconds that experiments about take, by what a copy of each alternative takes alone.
pub(super) fn expected_s(alone: impl Iterator<Item = f64>) -> f64 {
    // Both ways, of the slowest.
    USUAL * f64::from(MOST) * 2.0 * (alone.fold(0.0, f64::max) + PER_RUN_S)
}

/// An experiment that a signal ended: what was predicted and measured is kept, and decides nothing.
fn cut_short(mut experiment: Experiment) -> Experiment {
    if experiment.outcome != Outcome::NotTestable {
        experiment.outcome = Outcome::Undecided;
        experiment.shown = Some(Shown::Interrupted);
        experiment.pace = None;
    }
    experiment
}

/// Seconds of each round.
#[derive(Debug, Default)]
struct Measured {
    control_s: Vec<f64>,
    changed_s: Vec<f64>,
}

impl Measured {
    fn add(&mut self, (changed, seconds): (bool, f64)) {
        let of_its_way = if changed { &mut self.changed_s } else { &mut self.control_s };
        of_its_way.push(seconds);
    }
}

/// Seconds for an experiment.
#[derive(Clone, Copy, Debug)]
struct Left {
    /// For all of its rounds.
    usual_s: f64,
    /// For those without which it tells nothing.
    least_s: f64,
}

/// Rounds of one experiment: each has a run as it is, and one that is changed.
struct Experimenting<'a, 'b> {
    rig: &'a mut Rig<'b>,
    so_far: &'a SoFar<'a>,
    on: &'a mut dyn FnMut(Event),
    /// Its number, and how many there are.
    number: (usize, usize),
    left: Left,
    alternative: usize,
    test: &'a Test,
    /// The outcome by the rounds so far.
    says: &'a dyn Fn(&Measured) -> Outcome,
    began_s: f64,
    made: u32,
    measured: &'a mut Measured,
    /// The reason why there is too little time.
    no_time: Option<Untestable>,
}

impl Experimenting<'_, '_> {
    /// Makes its rounds. The error is the reason why it tells nothing.
    fn make(&mut self) -> Result<(), Untestable> {
        match make(self.so_far.machine, self) {
            Ok(Ran::CannotRun(why)) => Err(Untestable::CannotRun { why }),
            Ok(Ran::Done(()) | Ran::Stopped) => self.no_time.take().map_or(Ok(()), Err),
            Err(failure) => Err(Untestable::CannotRun { why: failure.message }),
        }
    }
}

impl Series for Experimenting<'_, '_> {
    /// True: the changed command.
    type Run = bool;
    type Made = (bool, f64);

    fn next(&mut self) -> Result<Option<Vec<bool>>, Failure> {
        let (round, spent_s) = (self.made, self.so_far.now_s() - self.began_s);
        let both_s = 2.0 * alone_s(self.so_far.batches, self.alternative);
        let per_round_s = if round > 0 { spent_s / f64::from(round) } else { both_s };
        let affordable = |left_s: f64| (left_s / (per_round_s + PER_RUN_S)) as u32;
        if affordable(self.left.least_s) < LEAST && round < MOST {
            let seconds = per_round_s * f64::from(LEAST);
            self.no_time = Some(Untestable::NoTime { rounds: LEAST, seconds });
            return Ok(None);
        }
        // Behind the last look, rounds would tell nothing.
        let looks = looks::looks(affordable(self.left.usual_s).clamp(LEAST, MOST) as usize);
        let rounds = looks.last().map_or(LEAST, |last| *last as u32);
        let looked = round >= LEAST && looks::next(round as usize - 1) == round as usize;
        if round >= rounds || looked && (self.says)(self.measured) != Outcome::Undecided {
            return Ok(None);
        }
        let (number, of) = self.number;
        let more = f64::from(rounds - round) + (of - number) as f64 * f64::from(rounds);
        let left_s = more * per_round_s.min(self.left.usual_s / f64::from(LEAST)).max(PER_RUN_S);
        (self.on)(Event::Experiment { number, of, round: round + 1, rounds, left_s });
        // Numbers begin with 1, so no experiment has the orders of the observed rounds.
        let seed = self.so_far.plan.seed ^ number as u64;
        Ok(Some(order(seed, round, 2).into_iter().map(|place| place == 1).collect()))
    }

    fn run(&mut self, changed: bool) -> Result<Ran<Self::Made>, Failure> {
        let variation = if changed { &self.test.changed } else { &self.test.control };
        let ran = self.rig.varied(self.alternative, variation, self.made)?;
        Ok(ran.map(|outcome| (changed, outcome.makespan_s)))
    }

    fn keep(&mut self, round: Vec<Self::Made>) {
        round.into_iter().for_each(|run| self.measured.add(run));
        self.made += 1;
    }
}

/// What this machine allows an experiment to change.
fn machine(so_far: &SoFar<'_>, why: &Why) -> Machine {
    let programs = programs(so_far, why);
    let dynamic = programs.iter().filter(|(_, file)| elf::is_dynamic(file)).map(|(name, _)| name.clone());
    let program = env::current_exe().ok().filter(|file| file.is_file());
    let stage = program.and_then(|file| file.into_os_string().into_string().ok());
    Machine {
        cpus: match &so_far.plan.cpus {
            Some(cpus) => cpus.clone(),
            None => so_far.host.before.cpus_allowed.clone().unwrap_or_default(),
        },
        no_realtime: realtime::denied(),
        left_to_others: realtime::LEFT_TO_OTHERS,
        stage: stage
            .map_or_else(String::new, |file| format!("{} {}", shell_words::quote(&file), stage::VERB)),
        pipe_max: pipe_max(),
        path: env::var("PATH").unwrap_or_default(),
        dynamic: dynamic.collect(),
        programs,
        files: files(so_far),
    }
}

/// The largest pipe that anybody may ask for: pipe(7), /proc/sys/fs/pipe-max-size; 1 MiB unless it was changed.
fn pipe_max() -> u64 {
    let text = fs::read_to_string("/proc/sys/fs/pipe-max-size").unwrap_or_default();
    text.trim().parse().unwrap_or(1 << 20)
}

/// Programs that experiments use by themselves.
const HELPERS: [&str; 4] = ["env", "sh", "stdbuf", "true"];

/// Where the programs are that the traces name: as a command line calls them, else in PATH.
fn programs(so_far: &SoFar<'_>, why: &Why) -> BTreeMap<String, PathBuf> {
    let mut names = BTreeSet::from(HELPERS);
    for traced in &why.traced {
        let report = &traced.report;
        names.extend(report.commands.iter().map(|row| row.command.as_str()));
        names.extend(report.searches.iter().map(|row| row.program.as_str()));
    }
    let found = |name: &str| Some((name.to_owned(), resolve::in_path(name)?));
    let mut programs: BTreeMap<String, PathBuf> = names.iter().filter_map(|name| found(name)).collect();
    for word in paths(so_far).filter(|word| word.starts_with('/')) {
        let name = word.rsplit('/').next().unwrap_or(word);
        if names.contains(name) && Path::new(word).is_file() {
            programs.insert(name.to_owned(), PathBuf::from(word));
        }
    }
    programs
}

/// Words of the command lines that are regular files and that nobody may execute.
fn files(so_far: &SoFar<'_>) -> BTreeSet<String> {
    let data =
        |word: &&str| fs::metadata(word).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 == 0);
    paths(so_far).filter(data).map(str::to_owned).collect()
}

/// What may be paths in the command lines.
fn paths<'a>(so_far: &SoFar<'a>) -> impl Iterator<Item = &'a str> {
    let part_of_path = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    so_far.plan.alternatives.iter().flat_map(move |it| it.command.split(move |c| !part_of_path(c)))
}
