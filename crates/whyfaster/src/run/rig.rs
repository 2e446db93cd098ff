//! Everything that is set up once and used for every batch: resolved commands, the launcher, the hooks.

use std::fs;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use whyfaster_core::event::Event;
use whyfaster_core::plan::{FailurePolicy, Loads, Mode, Output, Placement, Plan};
use whyfaster_core::sample::{Arm, Batch, Copies, SchedAccount, Trial};
use whyfaster_core::schedule::Round;

use super::client::{Launcher, NoOutcome};
use super::failures::{cannot_create, cannot_end, cannot_execute, cannot_prepare, ended, signalled};
use super::hooks::{Hook, Hooks};
use super::interrupts::Interrupts;
use super::output_check::{Difference, Kept, OutputCheck, Tail};
use super::protocol::{Arrivals, Ended, LaunchError, NoAccount, Outcome, Purpose, Request, RunAs};
use super::resolve::{self, Command};
use crate::exit::{Exit, Failure};

/// In open mode, more copies than this under way at once mean that the rate cannot be sustained.
const MOST_OUTSTANDING: u32 = 4096;

/// What starts a request on the launcher; `None`: it was told to stop before anything began.
type Start<'a, T> = &'a mut dyn FnMut(&mut Launcher, Request) -> Result<Option<T>, NoOutcome>;

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

/// The rig of one measurement.
pub(super) struct Rig<'a> {
    pub(super) plan: &'a Plan,
    pub(super) interrupts: &'a Interrupts,
    hooks: Hooks<'a>,
    commands: Vec<Command>,
    launcher: Launcher,
    rng: ChaCha8Rng,
    /// Whom the commands are to become.
    run_as: Option<RunAs>,
    /// Alternatives whose setup ran.
    set_up: usize,
    /// Exit status that every run must have, by alternative; known after the trials.
    expected: Vec<Option<i32>>,
}

impl<'a> Rig<'a> {
    pub(super) fn new(plan: &'a Plan, interrupts: &'a Interrupts) -> Result<Self, Failure> {
        let show = plan.alternatives.iter().any(|it| it.output == Output::Inherit);
        let launcher = Launcher::start()?;
        Ok(Self {
            plan,
            interrupts,
            hooks: Hooks { shell: &plan.shell, interrupts, show, run_as: RunAs::of(plan.user.as_ref()) },
            commands: Vec::new(),
            launcher,
            rng: ChaCha8Rng::seed_from_u64(plan.seed ^ 0x656e_7673_697a_6573),
            run_as: RunAs::of(plan.user.as_ref()),
            set_up: 0,
            expected: vec![None; plan.alternatives.len()],
        })
    }

    /// Runs every setup, then finds every program: a setup may be what builds it.
    pub(super) fn set_up(&mut self, on: &mut dyn FnMut(Event)) -> Result<(), Failure> {
        for (index, alternative) in self.plan.alternatives.iter().enumerate() {
            self.set_up = index + 1;
            self.hook(Hook::Setup, index, None, on)?;
            if self.interrupts.interrupted() {
                return Ok(());
            }
            self.commands.push(resolve::command(alternative, &self.plan.shell, resolve::WITHOUT_N)?);
        }
        Ok(())
    }

    /// Runs the cleanup of every alternative whose setup was begun. All run, the first failure is told.
    pub(super) fn clean_up(&mut self, on: &mut dyn FnMut(Event)) -> Result<(), Failure> {
        let results: Vec<_> =
            (0..self.set_up).map(|index| self.hook(Hook::Cleanup, index, None, on)).collect();
        results.into_iter().collect()
    }

    /// Runs every alternative once, untimed: what it writes, what it needs, how it ends.
    pub(super) fn try_all(&mut self, on: &mut dyn FnMut(Event)) -> Result<Vec<Trial>, Failure> {
        let plan = self.plan;
        let many = plan.loads != Loads::Fixed(vec![1]);
        if !plan.check_output && !many {
            return Ok(Vec::new());
        }
        let mut trials: Vec<Trial> = Vec::new();
        // Alternatives with the same parameters are to do the same work; the first of each kind is held against.
        let mut kept: Vec<(usize, Kept)> = Vec::new();
        for (index, alternative) in plan.alternatives.iter().enumerate() {
            on(Event::Trial(index));
            let same = |other: &usize| plan.alternatives[*other].parameters == alternative.parameters;
            let Some(trial) = self.try_one(
                index,
                kept.iter().find(|(other, _)| same(other)).map(|(other, kept)| (*other, kept)),
                on,
            )?
            else {
                return Ok(trials);
            };
            let (trial, output) = trial;
            self.expected[index] = self.expected_status(index, &trial, &trials)?;
            trials.push(trial);
            if let Some(output) = output {
                kept.push((index, output));
            }
        }
        Ok(trials)
    }

    fn try_one(
        &mut self,
        index: usize,
        against: Option<(usize, &Kept)>,
        on: &mut dyn FnMut(Event),
    ) -> Result<Option<(Trial, Option<Kept>)>, Failure> {
        let comparing = self.plan.check_output && self.plan.alternatives.len() > 1;
        let mut stdout = match against {
            Some((_, kept)) => OutputCheck::new(Some(kept).filter(|_| comparing)),
            None if comparing => OutputCheck::keep(),
            None => OutputCheck::new(None),
        };
        let mut stderr = Tail::default();
        self.hook(Hook::Prepare, index, Some("trial"), on)?;
        let request = self.request(index, Arrivals::Together { copies: 1 }, Purpose::Trial, "trial");
        let outcome = self.launcher.run_into(request, self.interrupts, &mut stdout, &mut stderr);
        self.hook(Hook::Conclude, index, Some("trial"), on)?;
        let outcome = match self.sort_out(index, outcome)? {
            Ran::Done(outcome) => outcome,
            Ran::Stopped => return Ok(None),
            Ran::CannotRun(why) => {
                return Err(Failure::new(Exit::Unfit, why, "free what is short, then try again"));
            }
        };
        let needs = outcome.needs.unwrap_or_default();
        let copies = &outcome.copies;
        let late = copies.timed_out.contains(&true);
        self.check_statuses(index, copies, "its trial run", &stderr.lines(5))?;
        if let (Some((other, _)), Some(difference), false) = (against, stdout.difference(), late) {
            return Err(self.outputs_differ(other, index, &difference));
        }
        let (digest, stdout_bytes, kept) = stdout.finish();
        let max_rss = copies.max_rss_bytes.first().copied().unwrap_or(0);
        let trial = Trial {
            alternative: index,
            stdout_sha256: (self.plan.check_output && !late).then_some(digest),
            stdout_bytes,
            status: copies.status.first().copied().unwrap_or(0),
            peak_processes: needs.processes.max(1),
            peak_memory_bytes: needs.memory_bytes.max(max_rss),
            // A command that ended before the first look has shown only its peak.
            peak_private_bytes: if needs.processes == 0 { max_rss } else { needs.private_bytes },
            wall_s: outcome.makespan_s,
            cpu_s: copies.user_s.iter().chain(&copies.system_s).sum(),
        };
        Ok(Some((trial, kept.filter(|_| !late))))
    }

    /// Untimed runs before the first round, as long as `goes_on` says so. Returns how many runs each alternative had.
    pub(super) fn warm_up(
        &mut self,
        load: u32,
        on: &mut dyn FnMut(Event),
        goes_on: impl Fn() -> bool,
    ) -> Result<u32, Failure> {
        for number in 0..self.plan.warmup {
            if !goes_on() {
                return Ok(number);
            }
            for index in 0..self.plan.alternatives.len() {
                on(Event::Warmup(index));
                if let Ran::Stopped = self.launch(index, load, Purpose::Time, &format!("warmup-{number}"))? {
                    return Ok(number);
                }
            }
        }
        Ok(self.plan.warmup)
    }

    /// A timed batch.
    pub(super) fn batch(&mut self, arm: Arm, round: &Round, position: u32) -> Result<Ran<Batch>, Failure> {
        let index = self.index(arm);
        let outcome = match self.launch(index, round.load, Purpose::Time, &round.number.to_string())? {
            Ran::Done(outcome) => outcome,
            Ran::CannotRun(why) => return Ok(Ran::CannotRun(why)),
            Ran::Stopped => return Ok(Ran::Stopped),
        };
        Ok(Ran::Done(Batch {
            load: round.load,
            arm,
            round: round.number,
            position,
            released_s: outcome.released_ns as f64 / 1e9,
            makespan_s: outcome.makespan_s,
            copies: outcome.copies,
            orphans: outcome.orphans,
            machine_busy_s: outcome.machine_busy_s,
            steal_s: outcome.steal_s,
        }))
    }

    /// An untimed, traced batch.
    pub(super) fn account(&mut self, index: usize, load: u32) -> Result<Ran<SchedAccount>, Failure> {
        let outcome = match self.launch(index, load, Purpose::Account, "account")? {
            Ran::Done(outcome) => outcome,
            Ran::CannotRun(why) => return Ok(Ran::CannotRun(why)),
            Ran::Stopped => return Ok(Ran::Stopped),
        };
        Ok(match outcome.account {
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
        iteration: &str,
        observe: Start<'_, Box<Outcome>>,
    ) -> Result<Ran<Outcome>, Failure> {
        let arrivals = Arrivals::Together { copies };
        let called = format!("traced run {iteration}");
        self.launch_with(
            index,
            (arrivals, Purpose::Traced),
            (iteration, &called),
            &mut |launcher, request| {
                observe(launcher, request).map(|outcome| outcome.map(|outcome| *outcome))
            },
        )
    }

    /// Process id of what starts the copies.
    pub(super) fn launcher(&self) -> i32 {
        self.launcher.pid()
    }

    /// Runs a batch with all that belongs around it.
    fn launch(
        &mut self,
        index: usize,
        load: u32,
        purpose: Purpose,
        iteration: &str,
    ) -> Result<Ran<Outcome>, Failure> {
        let arrivals = match self.plan.mode {
            _ if purpose == Purpose::Account => Arrivals::Together { copies: load },
            Mode::Batch => Arrivals::Together { copies: load },
            Mode::Closed { duration_s } => Arrivals::Workers { workers: load, duration_s },
            Mode::Open { rate_per_s, duration_s } => {
                Arrivals::Rate { rate_per_s, duration_s, most: MOST_OUTSTANDING }
            }
        };
        let interrupts = self.interrupts;
        let called = format!("run {iteration} at load {load}");
        self.launch_with(index, (arrivals, purpose), (iteration, &called), &mut |launcher, request| {
            launcher.run(request, interrupts).map(Some)
        })
    }

    /// Runs a batch by `run`, with all that belongs around it.
    pub(super) fn launch_with(
        &mut self,
        index: usize,
        (arrivals, purpose): (Arrivals, Purpose),
        (iteration, called): (&str, &str),
        run: Start<'_, Outcome>,
    ) -> Result<Ran<Outcome>, Failure> {
        self.hook(Hook::Prepare, index, Some(iteration), &mut |_| {})?;
        if self.interrupts.interrupted() {
            return Ok(Ran::Stopped);
        }
        if self.plan.drop_caches {
            drop_caches()?;
        }
        let request = self.request(index, arrivals, purpose, iteration);
        let outcome = run(&mut self.launcher, request);
        self.hook(Hook::Conclude, index, Some(iteration), &mut |_| {})?;
        let ran = match outcome.transpose() {
            Some(outcome) => self.sort_out(index, outcome)?,
            None => Ran::Stopped,
        };
        if let Ran::Done(outcome) = &ran
            // Tracing may be what made it fail.
            && !matches!(outcome.account, Some(Err(_)))
        {
            self.check_statuses(index, &outcome.copies, called, &[])?;
        }
        Ok(ran)
    }

    fn request(&mut self, index: usize, arrivals: Arrivals, purpose: Purpose, iteration: &str) -> Request {
        let (plan, command) = (self.plan, &self.commands[index]);
        let alternative = &plan.alternatives[index];
        let mut env: Vec<(String, String)> = alternative.env.clone().into_iter().collect();
        env.push(("HYPERFINE_ITERATION".to_owned(), iteration.to_owned()));
        // A random length moves the stack: one layout must not decide (Mytkowicz et al., ASPLOS 2009).
        let offset = self.rng.random_range(0..4096);
        env.push(("WHYFASTER_RANDOM_OFFSET".to_owned(), "X".repeat(offset)));
        Request {
            program: command.program.clone(),
            argv: command.argv.clone(),
            env,
            input: plan.input.clone(),
            output: alternative.output.clone(),
            show_errors: false,
            own_session: plan.placement == Placement::Session,
            cpus: plan.cpus.clone(),
            realtime: false,
            user: self.run_as.clone(),
            timeout_s: plan.timeout_s,
            arrivals,
            purpose,
        }
    }

    fn index(&self, arm: Arm) -> usize {
        match arm {
            Arm::Alternative(index) => index,
            Arm::HiddenCopy => self.plan.baseline,
        }
    }

    fn hook(
        &mut self,
        hook: Hook,
        index: usize,
        iteration: Option<&str>,
        on: &mut dyn FnMut(Event),
    ) -> Result<(), Failure> {
        let plan = self.plan;
        let alternative = &plan.alternatives[index];
        if hook.of(alternative).is_none() {
            return Ok(());
        }
        on(Event::Hook(hook.name(), index));
        let ended = self.hooks.run(hook, alternative, iteration, &self.launcher);
        self.launcher.spare_what_is_left();
        ended
    }

    /// What an outcome means for the measurement.
    fn sort_out(&self, index: usize, outcome: Result<Outcome, NoOutcome>) -> Result<Ran<Outcome>, Failure> {
        let command = &self.commands[index];
        match outcome {
            Ok(outcome) if !outcome.left.is_empty() => Err(cannot_end(self.name(index), &outcome.left)),
            Ok(outcome) => match outcome.ended {
                Ended::Normally => Ok(Ran::Done(outcome)),
                Ended::Aborted => Ok(Ran::Stopped),
                // A signal to all processes (of a service, say) may come to the launcher first.
                Ended::Signalled { .. } if self.interrupts.soon() => Ok(Ran::Stopped),
                Ended::Signalled { signal, by } => Err(signalled(self.name(index), signal, &by)),
                Ended::Overloaded => Ok(Ran::CannotRun(overloaded(self.plan.mode))),
                Ended::ExecFailed { errno } => Err(cannot_execute(command, errno)),
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

    /// The status that all further runs of an alternative must have: that of its trial, which must be that of the first
    /// alternative with the same parameters. A trial that ran into the time-out was ended by us: it tells nothing.
    pub(super) fn expected_status(
        &self,
        index: usize,
        trial: &Trial,
        before: &[Trial],
    ) -> Result<Option<i32>, Failure> {
        // Without the check, or cut short by the time-out, a trial has no digest.
        let whole = |trial: &Trial| trial.stdout_sha256.is_some();
        if !whole(trial) {
            return Ok(None);
        }
        let parameters = |index: usize| &self.plan.alternatives[index].parameters;
        let first =
            before.iter().find(|other| whole(other) && parameters(other.alternative) == parameters(index));
        match first {
            Some(first) if first.status != trial.status => Err(Failure::new(
                Exit::CommandFailed,
                format!(
                    "the alternatives do not end alike: '{}' {}, '{}' {}",
                    self.name(first.alternative),
                    ended(first.status),
                    self.name(index),
                    ended(trial.status)
                ),
                "make them do the same work, or allow it with --no-check-output",
            )),
            _ => Ok(Some(trial.status)),
        }
    }

    /// Checks the exit statuses of a batch. `said` is what the command last wrote to its standard error, if known.
    pub(super) fn check_statuses(
        &self,
        index: usize,
        copies: &Copies,
        run: &str,
        said: &[String],
    ) -> Result<(), Failure> {
        let expected = self.expected[index];
        let bad = copies.status.iter().zip(&copies.timed_out).position(|(&status, &late)| {
            !late && (!self.allowed(status) || expected.is_some_and(|expected| expected != status))
        });
        let Some(copy) = bad else { return Ok(()) };
        let status = copies.status[copy];
        let which = if copies.len() > 1 {
            format!(" (copy {} of {})", copy + 1, copies.len())
        } else {
            String::new()
        };
        let mut message = format!("'{}' {} in {run}{which}", self.name(index), ended(status));
        if self.allowed(status)
            && let Some(expected) = expected
        {
            message.push_str(&format!("; in its trial run it {}", ended(expected)));
            return Err(Failure::new(
                Exit::CommandFailed,
                message,
                "make it end alike every time, or allow it with --no-check-output",
            ));
        }
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
        Err(Failure::new(Exit::CommandFailed, message, hint))
    }

    fn allowed(&self, status: i32) -> bool {
        status == 0
            || match &self.plan.failures {
                FailurePolicy::Raise => false,
                FailurePolicy::IgnoreAll => true,
                FailurePolicy::IgnoreCodes(codes) => codes.contains(&status),
            }
    }

    /// The error when two alternatives write different things.
    pub(super) fn outputs_differ(&self, first: usize, other: usize, difference: &Difference) -> Failure {
        let mut message =
            "the alternatives do not do the same work: their standard output differs".to_owned();
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

/// Drops the page cache, dentries and inodes; written pages first, because dirty ones cannot be dropped:
/// Documentation/admin-guide/sysctl/vm.rst, drop_caches.
pub(crate) fn drop_caches() -> Result<(), Failure> {
    rustix::fs::sync();
    fs::write("/proc/sys/vm/drop_caches", "3").map_err(|error| {
        Failure::new(
            Exit::Unfit,
            format!("cannot drop caches: /proc/sys/vm/drop_caches: {error}"),
            "run as root, or leave out --drop-caches",
        )
    })
}
