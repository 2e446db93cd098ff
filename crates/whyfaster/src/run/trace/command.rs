//! A command of our own: created, held, followed, released, watched to the end of all that it started.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use whyfaster_core::plan::{Alternative, Input, Output};
use whyfaster_core::trace::plan::TracePlan;
use whyfaster_core::trace::record::Runs;
use whyfaster_core::trace::report::Level;
use whyfaster_trace::unprivileged::{Bare, bare};

use super::super::client::{Launcher, NoOutcome};
use super::super::held::News;
use super::super::interrupts::{Interrupts, Source};
use super::super::protocol::{Arrivals, Ended, LaunchError, Outcome, Purpose, Request, RunAs};
use super::super::resolve::{self, Command};
use super::super::status_check::{cannot_create, cannot_execute, cannot_prepare};
use super::level::Chosen;
use super::observer::{Observer, Take};
use super::terminal::Terminal;
use super::{Say, Watched, around, untraced};
use crate::exit::{Exit, Failure};

/// How often what arrived is taken in. The ring holds what comes in between, and says so when it is half full.
const POLL: Duration = Duration::from_millis(20);

/// So many Ctrl-C within two seconds end the command whatever it makes of them.
const PATIENCE: usize = 3;

/// Starts the command and watches it.
pub(super) fn watch(
    plan: &TracePlan,
    line: &str,
    chosen: Chosen,
    interrupts: &Interrupts,
    say: Say<'_>,
    take: Take<'_>,
) -> Result<Watched, Failure> {
    let command = resolve::command(&Alternative::new(line), &plan.shell)?;
    let launcher = Launcher::start_attached().map_err(no_launcher)?;
    let terminal = Terminal::note();
    let around = around::Around::begin();
    let mut watch = Watch { plan, command: &command, launcher, interrupts, pressed: Vec::new(), stop: None };
    let level = chosen.level;
    let (outcome, counts) = watch.traced(chosen.observer, say, take)?;
    let mut watched = Watched { counts, ..Watched::default() };
    around.end(&mut watched.facts);
    let Some(outcome) = outcome else {
        terminal.restore(true);
        return Ok(Watched { interrupted: true, ..watched });
    };
    watched.exit_status = outcome.copies.status.first().copied();
    let killed = watched.exit_status.is_none_or(|status| status < 0);
    terminal.restore(killed || watch.stop.is_some());
    if level == Level::Rusage {
        watch.bare(&outcome, take);
    }
    if watch.stop.is_some() {
        watched.facts.ended = Some(around::now_ns());
    }
    watched.interrupted = watch.stop == Some(Stop::Asked) || killed && !watch.pressed.is_empty();
    watched.runs =
        Runs { traced_s: watch.stop.is_none().then_some(outcome.makespan_s), untraced_s: Vec::new() };
    if !watched.interrupted {
        untraced::compare(&mut watch, &mut watched, say)?;
    }
    Ok(watched)
}

/// Why a command was ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// A signal.
    Asked,
    /// `--duration`.
    Time,
}

/// A command being watched.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    pub(super) plan: &'a TracePlan,
    pub(super) command: &'a Command,
    pub(super) launcher: Launcher,
    pub(super) interrupts: &'a Interrupts,
    /// When Ctrl-C was pressed.
    pressed: Vec<Instant>,
    stop: Option<Stop>,
}

type Seen = (Option<Box<Outcome>>, whyfaster_core::trace::counts::Counts);

impl Watch<'_> {
    fn traced(&mut self, mut observer: Observer, say: Say<'_>, take: Take<'_>) -> Result<Seen, Failure> {
        let observing = |error: whyfaster_trace::TraceError| {
            Failure::new(Exit::Error, error.to_string(), "try again; --level unprivileged observes less")
        };
        observer.calibrate().map_err(observing)?;
        observer.mark_tool(self.launcher.pid()).map_err(observing)?;
        let request = self.request(Purpose::Observed, self.plan.output.clone(), self.plan.input.clone());
        let stdin = io::stdin();
        let stdin = (self.plan.input == Input::Inherit).then(|| stdin.as_fd());
        let held = self.launcher.hold(request, stdin, self.interrupts);
        let Some(pid) = held.map_err(|error| self.failed(error))? else {
            return Ok((None, observer.finish(take).map_err(observing)?));
        };
        let followed = observer.follow(pid);
        let go = followed.is_ok() && !self.interrupts.interrupted();
        self.launcher.go(go).map_err(|error| self.failed(error))?;
        let outcome = self.until_done(&mut observer, say, take)?;
        followed.map_err(observing)?;
        let counts = observer.finish(take).map_err(observing)?;
        if let Ended::ExecFailed { errno } = outcome.ended {
            return Err(cannot_execute(self.command, errno));
        }
        Ok((go.then_some(outcome), counts))
    }

    fn until_done(
        &mut self,
        observer: &mut Observer,
        say: Say<'_>,
        take: Take<'_>,
    ) -> Result<Box<Outcome>, Failure> {
        let deadline = self.plan.duration_s.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        loop {
            let left = deadline.map_or(POLL, |deadline| deadline.saturating_duration_since(Instant::now()));
            let fds: Vec<_> = [Some(self.launcher.as_fd()), observer.fd()].into_iter().flatten().collect();
            let ready = self.interrupts.wait(&fds, Some(left.min(POLL)));
            let news = ready.map_err(|error| self.failed(error.into()))?[0];
            observer.poll(take).map_err(|error| {
                Failure::new(Exit::Error, error.to_string(), "the command was ended; try again")
            })?;
            if news {
                match self.launcher.news().map_err(|error| self.failed(error))? {
                    News::Done(outcome) => return Ok(outcome),
                    News::Alone => say(
                        "the command has ended and what it started runs on: observing until that ends too (Ctrl-C ends it)",
                    ),
                }
            }
            self.take_signals();
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                self.stop.get_or_insert(Stop::Time);
            }
            if self.stop.is_some() {
                // Again and again: one that comes before the launcher listens is lost.
                self.launcher.stop_batch();
            }
        }
    }

    /// A Ctrl-C of the terminal went to the command as well, which may make of it what it likes; any other signal was meant
    /// for us.
    fn take_signals(&mut self) {
        while let Some(source) = self.interrupts.take() {
            match source {
                Source::Terminal => {
                    self.pressed.push(Instant::now());
                    let recent = |at: &&Instant| at.elapsed() < Duration::from_secs(2);
                    if self.pressed.iter().filter(recent).count() >= PATIENCE {
                        self.stop = Some(Stop::Asked);
                    }
                }
                Source::Other => self.stop = Some(Stop::Asked),
            }
        }
    }

    /// What the launcher is asked for.
    pub(super) fn request(&self, purpose: Purpose, output: Output, input: Input) -> Request {
        Request {
            program: self.command.program.clone(),
            argv: self.command.argv.clone(),
            env: self.plan.env.clone().into_iter().collect(),
            input,
            output,
            show_errors: self.plan.show_errors && purpose == Purpose::Observed,
            own_session: false,
            cpus: self.plan.cpus.clone(),
            user: RunAs::of(self.plan.user.as_ref()),
            timeout_s: None,
            arrivals: Arrivals::Together { copies: 1 },
            purpose,
        }
    }

    /// The error when the launcher could not do it.
    pub(super) fn failed(&self, error: NoOutcome) -> Failure {
        match error {
            NoOutcome::Failure(failure) => failure,
            NoOutcome::Launch(LaunchError::Fork { copy, errno }) => {
                Failure::new(Exit::Unfit, cannot_create(copy, errno), "free what is short, then try again")
            }
            NoOutcome::Launch(LaunchError::Prepare { what, errno }) => {
                cannot_prepare(&self.plan.target.words(), &what, errno)
            }
        }
    }

    /// The events of the level that sees only the end.
    fn bare(&self, outcome: &Outcome, take: Take<'_>) {
        let copies = &outcome.copies;
        let first = |column: &[f64]| column.first().copied().unwrap_or(0.0);
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        let began = outcome.released_ns + ns(first(&copies.start_s));
        let name = Path::new(&self.command.program).file_name().unwrap_or_default().to_string_lossy();
        let known = Bare {
            pid: 1,
            name: name.chars().take(15).collect(),
            path: self.command.program.clone(),
            began,
            ended: began + ns(first(&copies.wall_s)),
            status: copies.status.first().copied().unwrap_or(0),
            cpu_ns: ns(first(&copies.user_s) + first(&copies.system_s)),
            voluntary: copies.voluntary_switches.first().copied().unwrap_or(0),
            involuntary: copies.involuntary_switches.first().copied().unwrap_or(0),
        };
        bare(&known, take);
    }
}

fn no_launcher(error: io::Error) -> Failure {
    Failure::new(
        Exit::Error,
        format!("cannot start the launcher: {error}"),
        "is /proc mounted, and may processes be created?",
    )
}
