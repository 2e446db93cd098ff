//! Everything that is set up once and used for every batch: resolved commands, states that hooks made, trials.

use std::collections::{BTreeSet, HashSet};

use rand::{RngExt, SeedableRng};
use whyfaster_core::event::Event;
use whyfaster_core::metric::{Dimension, Metric};
use whyfaster_core::plan::{FailurePolicy, Mode, Placement, Plan};
use whyfaster_core::run::{Run, RunKind};
use whyfaster_core::sample::{Arm, Batch, Copies, Duet, OutputDifference, SchedAccount, Trial};
use whyfaster_stats::random::Random;
use whyfaster_words::exit::{Exit, Failure};

use super::client::NoOutcome;
use super::failures::{cannot_create, cannot_end, cannot_execute, cannot_prepare, ended, signalled};
use super::hooks::{Hook, told};
use super::machine::{Launch, Machine};
use super::output_check::{Kept, OutputCheck, Tail};
use super::protocol::{Arrivals, Beside, Ended, LaunchError, NoAccount, Outcome, Purpose, Request, RunAs};
use super::resolve::Command;

/// In open mode, more copies than this under way at once mean that the rate cannot be sustained.
const MOST_OUTSTANDING: u32 = 4096;

/// What became of a batch.
#[derive(Debug)]
pub(super) enum Ran<T> {
    /// It ran.
    Done(T),
    /// Its level cannot be run here.
    CannotRun(String),
    /// We were told to stop.
    Stopped,
}

impl<T> Ran<T> {
    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> Ran<U> {
        match self {
            Self::Done(done) => Ran::Done(change(done)),
            Self::CannotRun(why) => Ran::CannotRun(why),
            Self::Stopped => Ran::Stopped,
        }
    }
}

/// What runs a request; `None`: an interrupt came before anything began.
type Start<'a> = &'a mut dyn FnMut(&Launch, Request) -> Result<Option<Outcome>, NoOutcome>;

/// The rig of one measurement.
pub(super) struct Rig<'a> {
    pub(super) plan: &'a Plan,
    pub(super) machine: &'a dyn Machine,
    /// Each as soon as its setup ran, which may be what builds it.
    commands: Vec<Option<Command>>,
    rng: Random,
    /// Whom the commands are to become.
    run_as: Option<RunAs>,
    /// Alternatives whose setup was begun, and whose cleanup did not run yet.
    set_up: Vec<usize>,
    /// Untimed runs whose output was taken in.
    pub(super) trials: Vec<Trial>,
    /// Outputs that those of later alternatives are held against.
    kept: Vec<(usize, Kept)>,
}

impl<'a> Rig<'a> {
    pub(super) fn new(plan: &'a Plan, machine: &'a dyn Machine) -> Self {
        Self {
            plan,
            machine,
            commands: vec![None; plan.alternatives.len()],
            rng: Random::seed_from_u64(plan.seed ^ 0x656e_7673_697a_6573),
            run_as: RunAs::of(plan.user.as_ref()),
            set_up: Vec::new(),
            trials: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Untimed runs whose output was taken in.
    pub(super) fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Runs every setup, those that are the same once; unless they differ: then each runs when its state is needed.
    pub(super) fn set_up(&mut self, on: &mut dyn FnMut(Event)) -> Result<(), Failure> {
        if self.plan.rounds_per_setup.is_some() {
            return Ok(());
        }
        let of = |index: usize| &self.plan.alternatives[index];
        for index in 0..self.plan.alternatives.len() {
            if self.set_up.iter().any(|&other| of(other).same_state(of(index))) {
                continue;
            }
            self.set_up_one(index, on)?;
            if self.machine.interrupted() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn set_up_one(&mut self, index: usize, on: &mut dyn FnMut(Event)) -> Result<(), Failure> {
        self.set_up.push(index);
        self.hook(Hook::Setup, index, None, on)?;
        if !self.machine.interrupted() {
            self.find(index)?;
        }
        Ok(())
    }

    /// Finds an alternative's program.
    fn find(&mut self, index: usize) -> Result<Command, Failure> {
        let alternative = &self.plan.alternatives[index];
        let command = self.machine.resolve(alternative)?;
        self.commands[index] = Some(command.clone());
        Ok(command)
    }

    /// Runs the cleanup of every alternative whose setup was begun. All run, and the first failure is returned. The answer is whether all came
    /// to their end.
    pub(super) fn clean_up(&mut self, on: &mut dyn FnMut(Event)) -> Result<bool, Failure> {
        let set_up = std::mem::take(&mut self.set_up);
        let results: Vec<_> =
            set_up.into_iter().map(|index| self.hook(Hook::Cleanup, index, None, on)).collect();
        results.into_iter().try_fold(true, |all, ended| Ok(ended? && all))
    }

    /// Begins a block of runs of one arm: where each alternative makes its own state, it does so now.
    pub(super) fn begin_block(
        &mut self,
        arm: Arm,
        load: u32,
        on: &mut dyn FnMut(Event),
    ) -> Result<(), Failure> {
        if self.plan.rounds_per_setup.is_none() {
            return Ok(());
        }
        if self.leave_state(on)? { self.enter(self.index(arm), load, on) } else { Ok(()) }
    }

    /// Takes the present state away. The answer is whether that was done: a cleanup that a signal ended runs again at the end.
    fn leave_state(&mut self, on: &mut dyn FnMut(Event)) -> Result<bool, Failure> {
        let set_up = self.set_up.clone();
        let left = self.clean_up(on)?;
        if !left {
            self.set_up = set_up;
        }
        Ok(left)
    }

    /// Makes the state that an alternative runs in, where each makes its own and the present one is another's. The warm-up runs
    /// follow, as what they warm may have gone with the state before.
    fn enter(&mut self, index: usize, load: u32, on: &mut dyn FnMut(Event)) -> Result<(), Failure> {
        if self.make_state(index, on)? {
            for number in 0..self.plan.warmup {
                if self.machine.interrupted() {
                    break;
                }
                self.warm_up_once(index, number, load, on)?;
            }
        }
        Ok(())
    }

    /// Says whether a setup ran.
    fn make_state(&mut self, index: usize, on: &mut dyn FnMut(Event)) -> Result<bool, Failure> {
        if self.plan.rounds_per_setup.is_none() {
            return Ok(false);
        }
        let of = |index: usize| &self.plan.alternatives[index];
        if self.machine.interrupted() {
            return Ok(false);
        }
        if self.set_up.last().is_some_and(|&present| of(present).same_state(of(index))) {
            return Ok(false);
        }
        let left = self.leave_state(on)?;
        if left {
            self.set_up_one(index, on)?;
        }
        Ok(left)
    }

    /// Runs every alternative once, untimed: what it writes, what it needs, how it ends.
    pub(super) fn try_all(&mut self, on: &mut dyn FnMut(Event)) -> Result<(), Failure> {
        let plan = self.plan;
        if !plan.tries() {
            return Ok(());
        }
        for index in 0..plan.alternatives.len() {
            on(Event::Trial(index));
            self.make_state(index, on)?;
            if let Ran::Stopped = self.try_one(index, Run { kind: RunKind::Trial, number: 0 }, on)? {
                return Ok(());
            }
            // What prints nothing has no destination.
            let prints = self.trials.iter().any(|it| it.alternative == index && it.stdout_bytes > 0);
            if prints && plan.chooses_output() {
                self.try_destinations(index, on)?;
            }
        }
        self.try_again(on)
    }

    /// Runs alternatives whose outputs differ once more: times, addresses or temporary names differ from run to run of one command, too.
    fn try_again(&mut self, on: &mut dyn FnMut(Event)) -> Result<(), Failure> {
        let differing =
            self.trials.iter().filter_map(|it| Some([it.alternative, it.differs.as_ref()?.before]));
        let again: BTreeSet<usize> = differing.flatten().collect();
        for index in again {
            on(Event::Trial(index));
            self.make_state(index, on)?;
            let mut stdout = OutputCheck::new(None);
            let run = Run { kind: RunKind::Trial, number: 3 };
            let (arrivals, machine) = (Arrivals::Together { copies: 1 }, self.machine);
            let ran =
                self.launch_with((Arm::Alternative(index), 1), arrivals, run, &mut |launch, request| {
                    let request = Request { purpose: Purpose::Trial, ..request };
                    machine.launch(launch, request, Some((&mut stdout, &mut Tail::default()))).map(Some)
                })?;
            let Ran::Done(outcome) = ran else { return Ok(()) };
            let (digest, ..) = stdout.finish();
            let trial = self.trials.iter_mut().find(|it| it.alternative == index);
            if let Some(trial) = trial.filter(|_| outcome.whole()) {
                trial.varies = trial.stdout_sha256.as_ref().is_some_and(|first| *first != digest);
            }
        }
        Ok(())
    }

    /// Runs an alternative once and takes in what it writes.
    fn try_one(&mut self, index: usize, run: Run, on: &mut dyn FnMut(Event)) -> Result<Ran<()>, Failure> {
        if self.machine.interrupted() {
            return Ok(Ran::Stopped);
        }
        self.hook(Hook::Prepare, index, Some(run), on)?;
        if self.machine.interrupted() {
            return Ok(Ran::Stopped);
        }
        let request = self.request(index, Arrivals::Together { copies: 1 }, Purpose::Trial, run)?;
        let comparing = self.plan.check_output && self.plan.alternatives.len() > 1;
        // Alternatives with the same parameters are to do the same work; the first of each kind is held against.
        let parameters = |index: usize| &self.plan.alternatives[index].parameters;
        let against = self.kept.iter().find(|(other, _)| parameters(*other) == parameters(index));
        let mut stdout = match against {
            Some((_, kept)) => OutputCheck::new(Some(kept).filter(|_| comparing)),
            None if comparing => OutputCheck::keep(),
            None => OutputCheck::new(None),
        };
        let mut stderr = Tail::default();
        let launch = Launch { arm: Arm::Alternative(index), beside: None, run };
        let outcome = self.machine.launch(&launch, request, Some((&mut stdout, &mut stderr)));
        let difference = against.and_then(|(before, _)| stdout.difference(*before));
        let (digest, stdout_bytes, kept) = stdout.finish();
        self.hook(Hook::Conclude, index, Some(run), on)?;
        let outcome = match self.sort_out(index, outcome)? {
            Ran::Done(outcome) => outcome,
            Ran::Stopped => return Ok(Ran::Stopped),
            Ran::CannotRun(why) => {
                let message = format!("cannot try '{}': {why}", self.name(index));
                return Err(Failure::unfit(message, "free what is short, then try again"));
            }
        };
        let needs = outcome.needs.unwrap_or_default();
        let copies = &outcome.copies;
        self.check_statuses(index, copies, (run, 1), &stderr.lines(5))?;
        // A run that was cut short or failed, which was allowed, is not held to what it writes.
        let late = copies.timed_out.contains(&true);
        let whole = outcome.whole();
        let differs = difference.filter(|_| whole);
        if let Some(difference) = differs.as_ref().filter(|_| self.plan.outputs_must_match()) {
            return Err(self.outputs_differ(index, difference));
        }
        let max_rss = copies.max_rss_bytes.first().copied().unwrap_or(0);
        self.trials.push(Trial {
            alternative: index,
            stdout_sha256: (self.plan.check_output && !late).then_some(digest),
            stdout_bytes,
            status: copies.status.first().copied().unwrap_or(0),
            peak_processes: needs.processes.max(1),
            peak_memory_bytes: needs.memory_bytes.max(max_rss),
            // A command that ended before the first look has shown only its peak.
            max_rss_bytes: copies.max_rss_bytes.first().copied(),
            peak_private_bytes: if needs.processes == 0 { max_rss } else { needs.private_bytes },
            wall_s: outcome.makespan_s,
            cpu_s: copies.user_s.iter().chain(&copies.system_s).sum(),
            io: outcome.io.filter(|_| whole),
            differs,
            varies: false,
            destinations: None,
        });
        self.kept.extend(kept.filter(|_| whole).map(|kept| (index, kept)));
        self.forget_outputs();
        Ok(Ran::Done(()))
    }

    /// Gives back the disk that the outputs take against which no alternative is left to be held.
    fn forget_outputs(&mut self) {
        let tried: HashSet<usize> = self.trials.iter().map(|trial| trial.alternative).collect();
        let untried =
            || self.plan.alternatives.iter().enumerate().filter(|(index, _)| !tried.contains(index));
        let parameters = |index: usize| &self.plan.alternatives[index].parameters;
        self.kept.retain(|(kept, _)| untried().any(|(_, it)| it.parameters == *parameters(*kept)));
    }

    /// Untimed runs before the first round, as long as `goes_on` says so. Returns how many runs each alternative had.
    pub(super) fn warm_up(
        &mut self,
        load: u32,
        on: &mut dyn FnMut(Event),
        goes_on: impl Fn() -> bool,
    ) -> Result<u32, Failure> {
        if self.plan.rounds_per_setup.is_some() {
            // They follow each setup.
            return Ok(self.plan.warmup);
        }
        for number in 0..self.plan.warmup {
            if !goes_on() {
                return Ok(number);
            }
            for index in 0..self.plan.alternatives.len() {
                if let Ran::Stopped = self.warm_up_once(index, number, load, on)? {
                    return Ok(number);
                }
            }
        }
        Ok(self.plan.warmup)
    }

    fn warm_up_once(
        &mut self,
        index: usize,
        number: u32,
        load: u32,
        on: &mut dyn FnMut(Event),
    ) -> Result<Ran<()>, Failure> {
        on(Event::Warmup(index));
        let run = Run { kind: RunKind::WarmUp, number };
        // Where there is no trial, the first one tells what the trial would.
        let plan = self.plan;
        let tells = !plan.extra_runs() && plan.check_output && plan.mode == Mode::Batch && load == 1;
        if tells && self.trials.iter().all(|trial| trial.alternative != index) {
            return self.try_one(index, run, on);
        }
        Ok(self.launch(Arm::Alternative(index), load, run)?.map(|_| ()))
    }

    /// A timed batch.
    pub(super) fn batch(
        &mut self,
        arm: Arm,
        (load, round): (u32, u32),
        position: u32,
    ) -> Result<Ran<Batch>, Failure> {
        let ran = self.launch(arm, load, Run { kind: RunKind::Timed, number: round })?;
        Ok(ran.map(|outcome| Batch {
            load,
            arm,
            round,
            position,
            released_s: outcome.released_ns as f64 / 1e9,
            makespan_s: outcome.makespan_s,
            copies: outcome.copies,
            orphans: outcome.orphans,
            machine_busy_s: outcome.machine_busy_s,
            steal_s: outcome.steal_s,
            io: outcome.io,
        }))
    }

    /// An alternative and the baseline at once on one of these CPUs.
    pub(super) fn duet(&mut self, index: usize, round: u32, cpus: &[u32]) -> Result<Ran<Duet>, Failure> {
        let run = Run { kind: RunKind::Duet, number: round };
        let baseline = self.plan.baseline;
        let baseline_first = self.rng.random();
        let (first, second) = if baseline_first { (baseline, index) } else { (index, baseline) };
        let other = self.request(second, Arrivals::Duet, Purpose::Time, run)?;
        let cpu = cpus[self.rng.random_range(0..cpus.len())];
        let request = Request {
            beside: Some(Beside { program: other.program, argv: other.argv, env: other.env }),
            cpus: Some(vec![cpu]),
            counters: Vec::new(),
            ..self.request(first, Arrivals::Duet, Purpose::Time, run)?
        };
        let launch = Launch { arm: Arm::Alternative(first), beside: Some(second), run };
        let outcome = self.machine.launch(&launch, request, None);
        let outcome = match self.sort_out(first, outcome)? {
            Ran::Done(outcome) => outcome,
            Ran::CannotRun(why) => return Ok(Ran::CannotRun(why)),
            Ran::Stopped => return Ok(Ran::Stopped),
        };
        for (place, index) in [first, second].into_iter().enumerate() {
            self.check_statuses(index, &outcome.copies.only(place), (run, 1), &[])?;
        }
        let copies = &outcome.copies;
        let cpu_s = |place: usize| Some(copies.user_s.get(place)? + copies.system_s.get(place)?);
        let (of_first, of_second) = (cpu_s(0).unwrap_or(0.0), cpu_s(1).unwrap_or(0.0));
        let (baseline_cpu_s, cpu_s) =
            if baseline_first { (of_first, of_second) } else { (of_second, of_first) };
        let took_s = outcome.makespan_s;
        Ok(Ran::Done(Duet { alternative: index, round, cpu, baseline_first, cpu_s, baseline_cpu_s, took_s }))
    }

    /// An untimed, traced batch.
    pub(super) fn account(&mut self, index: usize, load: u32) -> Result<Ran<SchedAccount>, Failure> {
        let run = Run { kind: RunKind::Account, number: 0 };
        let outcome = match self.launch(Arm::Alternative(index), load, run)? {
            Ran::Done(outcome) => outcome,
            Ran::CannotRun(why) => return Ok(Ran::CannotRun(why)),
            Ran::Stopped => return Ok(Ran::Stopped),
        };
        let failed = outcome.copies.status.iter().find(|status| !self.allowed(**status));
        Ok(match outcome.account {
            Some(Ok(_)) if failed.is_some() => {
                let name = &self.plan.alternatives[index].name;
                Ran::CannotRun(format!("'{name}' fails where it is traced"))
            }
            Some(Ok(account)) => Ran::Done(SchedAccount {
                load,
                alternative: index,
                tasks: account.tasks,
                run_s: account.run_ns as f64 / 1e9,
                delay_s: account.delay_ns as f64 / 1e9,
            }),
            Some(Err(why)) => Ran::CannotRun(no_account(&why)),
            None => Ran::CannotRun("the traced batch gave no account".to_owned()),
        })
    }

    /// Runs copies of an alternative, observed by `observe` and otherwise like a timed batch.
    pub(super) fn traced(
        &mut self,
        (index, copies): (usize, u32),
        number: u32,
        observe: Start<'_>,
    ) -> Result<Ran<Outcome>, Failure> {
        let (arrivals, run) = (Arrivals::Together { copies }, Run { kind: RunKind::Observed, number });
        self.launch_with((Arm::Alternative(index), copies), arrivals, run, observe)
    }

    /// Runs a batch with all that belongs around it.
    fn launch(&mut self, arm: Arm, load: u32, run: Run) -> Result<Ran<Outcome>, Failure> {
        let arrivals = match self.plan.mode {
            _ if run.kind == RunKind::Account => Arrivals::Together { copies: load },
            Mode::Batch => Arrivals::Together { copies: load },
            Mode::Closed { duration_s } => Arrivals::Workers { workers: load, duration_s },
            Mode::Open { rate_per_s, duration_s } => {
                Arrivals::Rate { rate_per_s, duration_s, most: MOST_OUTSTANDING }
            }
        };
        let machine = self.machine;
        self.launch_with((arm, load), arrivals, run, &mut |launch, request| {
            machine.launch(launch, request, None).map(Some)
        })
    }

    /// Runs a batch by `start`, with all that belongs around it.
    pub(super) fn launch_with(
        &mut self,
        (arm, load): (Arm, u32),
        arrivals: Arrivals,
        run: Run,
        start: Start<'_>,
    ) -> Result<Ran<Outcome>, Failure> {
        let index = self.index(arm);
        if run.kind != RunKind::WarmUp && !self.machine.interrupted() {
            self.enter(index, load, &mut |_| {})?;
        }
        if self.machine.interrupted() {
            return Ok(Ran::Stopped);
        }
        self.hook(Hook::Prepare, index, Some(run), &mut |_| {})?;
        if self.machine.interrupted() {
            return Ok(Ran::Stopped);
        }
        if self.plan.drop_caches {
            self.machine.drop_caches()?;
        }
        let request = self.request(index, arrivals, purpose(run.kind), run)?;
        let outcome = start(&Launch { arm, beside: None, run }, request);
        self.hook(Hook::Conclude, index, Some(run), &mut |_| {})?;
        let ran = match outcome.transpose() {
            Some(outcome) => self.sort_out(index, outcome)?,
            None => Ran::Stopped,
        };
        if let Ran::Done(outcome) = &ran
            // Tracing may be what made it fail, and no sample comes of it.
            && run.kind != RunKind::Account
        {
            self.check_statuses(index, &outcome.copies, (run, load), &[])?;
        }
        Ok(ran)
    }

    fn request(
        &mut self,
        index: usize,
        arrivals: Arrivals,
        purpose: Purpose,
        run: Run,
    ) -> Result<Request, Failure> {
        let command = match &self.commands[index] {
            Some(command) => command.clone(),
            // Another alternative's setup made the state that this one runs in.
            None => self.find(index)?,
        };
        let plan = self.plan;
        let alternative = &plan.alternatives[index];
        let mut env: Vec<(String, String)> = alternative.env.clone().into_iter().collect();
        env.extend(told(run));
        // A random length moves the stack: one layout must not decide (Mytkowicz et al., ASPLOS 2009).
        let offset = self.rng.random_range(0..4096);
        env.push(("WHYFASTER_RANDOM_OFFSET".to_owned(), "X".repeat(offset)));
        Ok(Request {
            program: command.program,
            argv: command.argv,
            env,
            beside: None,
            input: plan.input.clone(),
            output: self.output(index),
            show_errors: false,
            own_session: plan.placement == Placement::Session,
            cpus: plan.cpus.clone(),
            realtime: false,
            user: self.run_as.clone(),
            timeout_s: plan.timeout_s,
            keep_daemons: plan.keep_daemons,
            counters: if purpose == Purpose::Time { counted(&plan.metrics) } else { Vec::new() },
            peak_memory: plan.shows_peak_memory(),
            arrivals,
            purpose,
        })
    }

    fn index(&self, arm: Arm) -> usize {
        match arm {
            Arm::Alternative(index) => index,
            Arm::HiddenCopy => self.plan.baseline,
        }
    }

    fn hook(
        &self,
        hook: Hook,
        index: usize,
        run: Option<Run>,
        on: &mut dyn FnMut(Event),
    ) -> Result<bool, Failure> {
        if hook.of(&self.plan.alternatives[index]).is_none() {
            return Ok(true);
        }
        on(Event::Hook(hook.name(), index));
        self.machine.hook(hook, index, run)
    }

    /// What an outcome means for the measurement.
    fn sort_out(&self, index: usize, outcome: Result<Outcome, NoOutcome>) -> Result<Ran<Outcome>, Failure> {
        match outcome {
            Ok(outcome) if !outcome.left.is_empty() => Err(cannot_end(self.name(index), &outcome.left)),
            Ok(outcome) => match outcome.ended {
                Ended::Normally => Ok(Ran::Done(outcome)),
                Ended::Aborted => Ok(Ran::Stopped),
                // A signal to all processes (of a service, say) may come to the launcher first.
                Ended::Signalled { .. } if self.machine.interrupted_soon() => Ok(Ran::Stopped),
                Ended::Signalled { signal, by } => Err(signalled(self.name(index), signal, &by)),
                Ended::Overloaded => Ok(Ran::CannotRun(overloaded(self.plan.mode))),
                Ended::ExecFailed { errno } => {
                    Err(cannot_execute(self.commands[index].as_ref().map_or("", |it| &it.program), errno))
                }
            },
            Err(NoOutcome::Failure(failure)) => Err(failure),
            Err(NoOutcome::Launch(LaunchError::Fork { copy, errno })) => {
                Ok(Ran::CannotRun(cannot_create(copy, errno)))
            }
            Err(NoOutcome::Launch(LaunchError::Prepare { step, errno })) => {
                let alternative = &self.plan.alternatives[index];
                let (input, output) = (&self.plan.input, &alternative.output);
                Err(cannot_prepare(&alternative.command, (step, errno), input, output))
            }
        }
    }

    /// Checks the exit statuses of a batch. `said` is what the command last wrote to its standard error, if known.
    pub(super) fn check_statuses(
        &self,
        index: usize,
        copies: &Copies,
        (run, load): (Run, u32),
        said: &[String],
    ) -> Result<(), Failure> {
        let bad = copies
            .status
            .iter()
            .zip(&copies.timed_out)
            .position(|(&status, &late)| !late && !self.allowed(status));
        let Some(copy) = bad else { return Ok(()) };
        let status = copies.status[copy];
        let which = if copies.len() > 1 {
            format!(" (copy {} of {})", copy + 1, copies.len())
        } else {
            String::new()
        };
        let mut message = format!("'{}' {} in {}{which}", self.name(index), ended(status), called(run, load));
        for line in said {
            message.push_str(&format!("\n  it said: {line}"));
        }
        let hint = match status {
            127 => "127 means that the shell did not find a command: check the spelling and PATH",
            -9 => "SIGKILL often means that memory ran out: see dmesg; lower --load or give it more memory",
            _ => {
                "mend the command, allow failures with -i (--ignore-failure), or see what it says with --show-output"
            }
        };
        let how = format!("terminated with non-zero exit code {status}");
        let two = format!(
            "Command '{}' {how} in {}.",
            self.plan.alternatives[index].command,
            called_by_hyperfine(run)
        );
        Err(Failure::new(Exit::CommandFailed, message, hint).in_hyperfines(format!("Command {how}"), two))
    }

    fn allowed(&self, status: i32) -> bool {
        status == 0
            || match &self.plan.failures {
                FailurePolicy::Raise => false,
                FailurePolicy::IgnoreAll => true,
                // Of a signal, the number that a shell says, and that stands in what is exported.
                FailurePolicy::IgnoreCodes(codes) => {
                    codes.contains(&if status < 0 { 128 - status } else { status })
                }
            }
    }

    /// The error when two alternatives write different things.
    fn outputs_differ(&self, other: usize, difference: &OutputDifference) -> Failure {
        let first = difference.before;
        let mut message = "the alternatives print something else: their standard output differs".to_owned();
        match difference.place {
            Some((byte, line)) => {
                message.push_str(&format!(", first at byte {byte}, line {line}"));
                for (index, text) in [(first, &difference.first), (other, &difference.other)] {
                    message.push_str(&format!("\n  '{}': {text}", self.name(index)));
                }
            }
            None => message.push_str(&format!(
                " ('{}' and '{}'), beyond the part that is kept to show it",
                self.name(first),
                self.name(other)
            )),
        }
        Failure::new(
            Exit::CommandFailed,
            message,
            "make them write the same, or allow the difference with --no-check-output",
        )
    }

    pub(super) fn name(&self, index: usize) -> &str {
        &self.plan.alternatives[index].name
    }
}

/// What the launcher is asked of such a run.
fn purpose(kind: RunKind) -> Purpose {
    match kind {
        RunKind::Trial | RunKind::WarmUp | RunKind::Timed | RunKind::Duet | RunKind::Experiment => {
            Purpose::Time
        }
        RunKind::Account => Purpose::Account,
        RunKind::Observed => Purpose::Traced,
    }
}

/// A run's name in an error.
fn called(Run { kind, number }: Run, load: u32) -> String {
    match kind {
        RunKind::Trial => "its trial run".to_owned(),
        RunKind::WarmUp => format!("warm-up run {number}"),
        RunKind::Timed => format!("run {number} at load {load}"),
        RunKind::Duet => format!("run {number} at once with another"),
        RunKind::Account => format!("the run for the scheduling account at load {load}"),
        RunKind::Observed => format!("observed run {number}"),
        RunKind::Experiment => format!("run {number} of an experiment"),
    }
}

/// Those of these metrics that the CPU counts.
pub(super) fn counted(metrics: &[Metric]) -> Vec<Metric> {
    metrics.iter().copied().filter(|metric| metric.dimension() == Dimension::Count).collect()
}

/// The same in hyperfine 2's words.
fn called_by_hyperfine(Run { kind, number }: Run) -> String {
    match (kind, number) {
        (RunKind::WarmUp, 0) => "the first warmup run".to_owned(),
        (RunKind::WarmUp, number) => format!("warmup iteration {number}"),
        (RunKind::Timed, 0) => "the first benchmark run".to_owned(),
        (RunKind::Timed, number) => format!("benchmark iteration {number}"),
        _ => "a non-benchmark run".to_owned(),
    }
}

/// Why there is no scheduling account.
fn no_account(why: &NoAccount) -> String {
    match why {
        NoAccount::Forbidden { errno } => {
            format!("tracing is not permitted here ({})", std::io::Error::from_raw_os_error(*errno))
        }
        NoAccount::WithoutRights { program } => format!(
            "'{}' has rights of its own (set-user-ID, capabilities), which the kernel takes away from who is traced; as root it keeps them",
            program.display()
        ),
    }
}

/// Why no further copy could be started in the middle of a batch.
fn overloaded(mode: Mode) -> String {
    match mode {
        Mode::Open { .. } => format!(
            "the rate cannot be sustained: {MOST_OUTSTANDING} copies were under way at once, or no more could be created; use a lower --rate"
        ),
        Mode::Batch | Mode::Closed { .. } => {
            "no more copies could be created: a limit on processes or memory was met (ulimit -u, pids.max); raise it or lower --load".to_owned()
        }
    }
}
