//! A command of our own: created, held, followed, released, watched to the end of all that it started. Then it runs again
//! without an observer, to see what the observing cost; nothing else is taken from these runs.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use whyfaster_core::event::Event;
use whyfaster_core::missing::{NotMeasured, Quantity};
use whyfaster_core::plan::{Alternative, Input, Output};
use whyfaster_core::trace::event::Pid;
use whyfaster_core::trace::plan::TracePlan;
use whyfaster_core::trace::record::{EndedBy, Runs};
use whyfaster_core::trace::report::Untraced;
use whyfaster_core::warning::{Caution, Warning};
use whyfaster_stats::quantile::median;
use whyfaster_trace::unprivileged::{Bare, bare};
use whyfaster_words::exit::Failure;

use super::super::client::{Launcher, NoOutcome};
use super::super::failures::{cannot_create, cannot_end, cannot_execute, cannot_prepare, signalled};
use super::super::held::News;
use super::super::interrupts::{Interrupts, Source};
use super::super::protocol::{Arrivals, Ended, LaunchError, Outcome, Purpose, Request, RunAs};
use super::super::resolve::{self, Command};
use super::super::terminal::Terminal;
use super::around;
use super::follow::{Follow, Turn};
use super::level::Chosen;
use super::observer::{Observer, Take, observing};
use super::watched::{Said, Say, Watched};

/// So many Ctrl-C within two seconds end the command whatever it makes of them.
const PATIENCE: usize = 3;

/// Seconds for all untraced runs together: whoever traces a long command does not want to wait for it again and again.
const BUDGET_S: f64 = 10.0;

/// Starts the command and watches it.
pub(super) fn watch(
    plan: &TracePlan,
    line: &str,
    chosen: Chosen,
    interrupts: &Interrupts,
    say: Say<'_>,
    take: Take<'_>,
) -> Result<Watched, Failure> {
    let command = resolve::command(&Alternative::new(line), &plan.shell, resolve::SHELL_IN_WORDS)?;
    let launcher = Launcher::start_attached()?;
    let terminal = Terminal::note();
    let around = around::Around::begin();
    let mut watch = Watch {
        plan,
        command: &command,
        launcher,
        interrupts,
        keys: Vec::new(),
        stop: None,
        late: false,
        warnings: Vec::new(),
        bare: None,
    };
    let (outcome, counts) = watch.traced(chosen.observer, say, take)?;
    let mut watched = Watched { counts, ..Watched::default() };
    around.end(&mut watched.facts);
    let Some(outcome) = outcome else {
        terminal.into_iter().for_each(|it| it.restore(true));
        return Ok(Watched { interrupted: true, ended_by: Some(EndedBy::Signal), ..watched });
    };
    watched.exit_status = outcome.copies.status.first().copied();
    watched.memory_bytes = outcome.copies.max_rss_bytes.first().copied();
    let broken = killed(&outcome) || watch.stop.is_some();
    terminal.into_iter().for_each(|it| it.restore(broken));
    if let Some(pid) = watch.bare {
        watch.tell_bare(pid, &outcome, take);
    }
    if watch.stop.is_some() {
        watched.facts.ended = Some(around::now_ns());
    }
    watched.failure = watch.not_ended(&outcome);
    watched.facts.warnings.append(&mut watch.warnings);
    if watch.late {
        // It does not end where the key was pressed that the command died of.
        watched.facts.warnings.push(Caution::InterruptSeenLate.into());
    }
    let died = died_of(&watch.keys, watched.exit_status);
    watched.interrupted = watch.stop == Some(EndedBy::Signal) || died;
    watched.ended_by = watch.stop.or(died.then_some(EndedBy::Signal));
    watched.runs =
        Runs { traced_s: watch.stop.is_none().then_some(outcome.makespan_s), untraced_s: Vec::new() };
    if !watched.interrupted && watched.failure.is_none() {
        run_untraced(&mut watch, &mut watched, say)?;
    }
    Ok(watched)
}

/// A command being watched.
#[derive(Debug)]
struct Watch<'a> {
    plan: &'a TracePlan,
    command: &'a Command,
    launcher: Launcher,
    interrupts: &'a Interrupts,
    /// Those that were pressed while the command was traced.
    keys: Vec<Key>,
    stop: Option<EndedBy>,
    /// The command died of a key, and the stream could not say so any more.
    late: bool,
    /// What the observer says of the traced run.
    warnings: Vec<Warning>,
    /// The command's process, where nothing but its end is seen.
    bare: Option<Pid>,
}

/// Ctrl-C or Ctrl-\\, whose signal the command got as well.
#[derive(Debug)]
struct Key {
    at: Instant,
    signal: i32,
}

/// What ends the watch before the command does.
#[derive(Debug)]
struct Ends {
    /// Set when the command has been released.
    deadline: Option<Instant>,
    keys: Vec<Key>,
    stop: Option<EndedBy>,
}

impl Ends {
    /// From now on the command has so many seconds.
    fn limit(&mut self, duration_s: Option<f64>) {
        self.deadline = duration_s.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
    }

    fn turn(&mut self, interrupts: &Interrupts) -> Turn {
        self.take_signals(interrupts);
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            self.stop.get_or_insert(EndedBy::Duration);
        }
        match self.stop {
            Some(_) => Turn::Stop,
            None => Turn::GoOn(left.unwrap_or(Duration::MAX)),
        }
    }

    /// A Ctrl-C of the terminal went to the command as well, which may make of it what it likes; any other signal was meant
    /// for us.
    fn take_signals(&mut self, interrupts: &Interrupts) {
        while let Some(source) = interrupts.take() {
            match source {
                Source::Terminal { signal } => {
                    self.keys.push(Key { at: Instant::now(), signal });
                    let recent = |key: &&Key| key.at.elapsed() < Duration::from_secs(2);
                    if self.keys.iter().filter(recent).count() >= PATIENCE {
                        self.stop = Some(EndedBy::Signal);
                    }
                }
                Source::Other => self.stop = Some(EndedBy::Signal),
            }
        }
    }
}

type Seen = (Option<Box<Outcome>>, whyfaster_core::trace::counts::Counts);

impl Watch<'_> {
    fn traced(&mut self, mut observer: Observer, say: Say<'_>, take: Take<'_>) -> Result<Seen, Failure> {
        observer.calibrate().map_err(observing)?;
        observer.mark_tool(self.launcher.pid()).map_err(observing)?;
        let request = self.request(Purpose::Observed, self.plan.output.clone(), self.plan.input.clone());
        let stdin = io::stdin();
        let stdin = (self.plan.input == Input::Inherit).then(|| stdin.as_fd());
        let mut ends = Ends { deadline: None, keys: Vec::new(), stop: None };
        let (interrupts, duration_s) = (self.interrupts, self.plan.duration_s);
        // What the command writes has the terminal for itself.
        let shows = self.plan.output == Output::Inherit || self.plan.show_errors;
        let began = Instant::now();
        let mut turn = |news: Option<News>| {
            match news {
                Some(News::Released) => ends.limit(duration_s),
                Some(News::Alone) => say(Said::Note(
                    "the command has ended and what it started runs on: observing until that ends too (Ctrl-C ends it)",
                )),
                Some(News::Done(_)) | None => {}
            }
            if !shows {
                let passed_s = began.elapsed().as_secs_f64();
                let left_s = duration_s.map(|seconds| seconds - passed_s);
                say(Said::Progress(Event::Observing { passed_s, left_s }));
            }
            ends.turn(interrupts)
        };
        let mut follow = Follow { launcher: &mut self.launcher, observer: &mut observer, interrupts };
        let outcome = follow.run(request, stdin, &mut turn, take);
        // It may be over before we were told of the key that ended it.
        ends.take_signals(interrupts);
        (self.keys, self.stop) = (ends.keys, ends.stop);
        let outcome = outcome.map_err(|error| self.failed(error))?;
        let status = outcome.as_ref().and_then(|outcome| outcome.copies.status.first().copied());
        if self.stop.is_none() && died_of(&self.keys, status) {
            self.late = !observer.stop_at_interrupt();
        }
        self.warnings = observer.without_rights();
        self.bare = observer.bare();
        let counts = observer.finish(take).map_err(observing)?;
        if let Some(Ended::ExecFailed { errno }) = outcome.as_ref().map(|outcome| &outcome.ended) {
            return Err(cannot_execute(&self.command.program, *errno));
        }
        Ok((outcome, counts))
    }

    /// What went wrong at the end: something else ended the launcher's watch, or something of the command could not be ended.
    fn not_ended(&mut self, outcome: &Outcome) -> Option<Failure> {
        let command = self.plan.target.words();
        let signalled = match &outcome.ended {
            Ended::Signalled { signal, by } if self.stop.is_none() && !self.interrupts.soon() => {
                Some(signalled(&command, *signal, by))
            }
            _ => None,
        };
        let left = || (!outcome.left.is_empty()).then(|| cannot_end(&command, &outcome.left));
        signalled.or_else(left)
    }

    /// Whether a key was pressed while the command was traced.
    fn pressed(&self) -> bool {
        !self.keys.is_empty()
    }

    /// What the launcher is asked for.
    fn request(&self, purpose: Purpose, output: Output, input: Input) -> Request {
        Request {
            program: self.command.program.clone(),
            argv: self.command.argv.clone(),
            env: self.plan.env.clone().into_iter().collect(),
            beside: None,
            input,
            output,
            show_errors: self.plan.show_errors && purpose == Purpose::Observed,
            own_session: false,
            cpus: self.plan.cpus.clone(),
            realtime: false,
            user: RunAs::of(self.plan.user.as_ref()),
            timeout_s: None,
            keep_daemons: false,
            counters: Vec::new(),
            peak_memory: false,
            arrivals: Arrivals::Together { copies: 1 },
            purpose,
        }
    }

    /// The error when the launcher could not do it.
    fn failed(&self, error: NoOutcome) -> Failure {
        match error {
            NoOutcome::Failure(failure) => failure,
            NoOutcome::Launch(LaunchError::Fork { copy, errno }) => {
                Failure::unfit(cannot_create(copy, errno), "free what is short, then try again")
            }
            NoOutcome::Launch(LaunchError::Prepare { step, errno }) => {
                let (input, output) = (&self.plan.input, &self.plan.output);
                cannot_prepare(&self.plan.target.words(), (step, errno), input, output)
            }
        }
    }

    /// The events of the level that sees only the end.
    fn tell_bare(&self, pid: Pid, outcome: &Outcome, take: Take<'_>) {
        let copies = &outcome.copies;
        let first = |column: &[f64]| column.first().copied().unwrap_or(0.0);
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        let began = outcome.released_ns + ns(first(&copies.start_s));
        let name = Path::new(&self.command.program).file_name().unwrap_or_default().to_string_lossy();
        let known = Bare {
            pid,
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

/// Whether a signal ended the command.
fn killed(outcome: &Outcome) -> bool {
    outcome.copies.status.first().is_none_or(|status| *status < 0)
}

/// Whether the command died of the signal of one of these keys. It may as well survive them, and end in another way.
fn died_of(keys: &[Key], status: Option<i32>) -> bool {
    keys.iter().any(|key| status == Some(-key.signal))
}

/// Runs the command untraced as often as the plan and the time allow.
fn run_untraced(watch: &mut Watch<'_>, watched: &mut Watched, say: Say<'_>) -> Result<(), Failure> {
    let why = match reason_against(watch, watched) {
        Some(why) => Err(why),
        None => {
            // Before it runs again: what it does, it does once more.
            say(Said::Note(&announced(watch.plan)));
            untraced_ratio(watch, watched, say)?
        }
    };
    match why {
        Ok(ratio) => watched.facts.traced_over_untraced = Some(ratio),
        Err(why) => watched.facts.not_measured.push(NotMeasured::new(Quantity::MeasuredOverhead, why)),
    }
    Ok(())
}

/// What is said before the command runs again.
fn announced(plan: &TracePlan) -> String {
    let times = match plan.untraced_runs {
        1 => "once more".to_owned(),
        runs => format!("up to {runs} times more"),
    };
    let output = if plan.output == Output::Inherit { ", its output thrown away" } else { "" };
    format!("the command runs {times}, untraced{output}, to see what tracing cost (--untraced-runs 0: never)")
}

/// Why it makes no sense to run it again.
fn reason_against(watch: &Watch<'_>, watched: &Watched) -> Option<String> {
    let plan = watch.plan;
    let Some(traced_s) = watched.runs.traced_s else {
        return Some("the traced run did not come to its end".to_owned());
    };
    if plan.untraced_runs == 0 {
        return Some("--untraced-runs 0".to_owned());
    }
    if watch.pressed() {
        return Some(
            "Ctrl-C was pressed while it was traced: a run without that is none to compare it with"
                .to_owned(),
        );
    }
    if plan.input == Input::Inherit && !rustix::termios::isatty(std::io::stdin()) && !is_null() {
        return Some(
            "the command's standard input can be read only once; with --input FILE it can be run again"
                .to_owned(),
        );
    }
    (traced_s > BUDGET_S).then(|| {
        format!("the command takes longer than the {BUDGET_S} s that are spent on this; 'whyfaster compare' times it")
    })
}

/// Whether our standard input is `/dev/null`, which every run finds the same.
fn is_null() -> bool {
    let id = |stat: rustix::fs::Stat| stat.st_rdev;
    let own = rustix::fs::fstat(std::io::stdin()).map(id);
    own.is_ok() && own == rustix::fs::stat("/dev/null").map(id)
}

/// The traced time over that of the untraced runs, or why there is none.
fn untraced_ratio(
    watch: &mut Watch<'_>,
    watched: &mut Watched,
    say: Say<'_>,
) -> Result<Result<f64, String>, Failure> {
    let plan = watch.plan;
    let clock = Instant::now();
    let traced_s = watched.runs.traced_s.unwrap_or(0.0);
    // What the command prints was on the terminal once; nobody wants it there again.
    let output = match &plan.output {
        Output::Inherit => Output::Null,
        other => other.clone(),
    };
    let input = match &plan.input {
        Input::Inherit => Input::Null,
        other => other.clone(),
    };
    for run in 0..plan.untraced_runs {
        if clock.elapsed().as_secs_f64() + traced_s > BUDGET_S || watch.interrupts.interrupted() {
            break;
        }
        let left_s = (f64::from(plan.untraced_runs - run) * traced_s).min(BUDGET_S);
        say(Said::Progress(Event::Untraced { run: run + 1, runs: plan.untraced_runs, left_s }));
        let request = watch.request(Purpose::Time, output.clone(), input.clone());
        let outcome = watch.launcher.run(request, watch.interrupts).map_err(|error| watch.failed(error))?;
        if outcome.ended != Ended::Normally {
            break;
        }
        let status = outcome.copies.status.first().copied();
        if status != watched.exit_status {
            let ends =
                |status: Option<i32>| status.map_or("not at all".to_owned(), |status| status.to_string());
            return Ok(Err(format!(
                "the command does not end alike when it runs again ({}, then {}): it may have changed what it reads",
                ends(watched.exit_status),
                ends(status)
            )));
        }
        watched.runs.untraced_s.push(outcome.makespan_s);
    }
    watched.facts.untraced = Untraced::of(traced_s, &watched.runs.untraced_s);
    Ok(match median(&watched.runs.untraced_s) {
        Some(untraced_s) if untraced_s > 0.0 => Ok(traced_s / untraced_s),
        _ => Err("no untraced run came to its end".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_dies_of_a_key_by_its_signal_alone() {
        let key = |signal| Key { at: Instant::now(), signal };
        let (none, both) = (vec![], vec![key(libc::SIGINT), key(libc::SIGQUIT)]);
        let died = |keys: &[Key], signal: i32| died_of(keys, Some(-signal));
        assert!(died(&both[..1], libc::SIGINT) && died(&both, libc::SIGINT) && died(&both, libc::SIGQUIT));
        assert!(
            !died(&both[..1], libc::SIGQUIT) && !died(&both, libc::SIGSEGV) && !died(&none, libc::SIGINT)
        );
        assert!(!died_of(&both, Some(128 + libc::SIGINT)) && !died_of(&both, None));
    }
}
