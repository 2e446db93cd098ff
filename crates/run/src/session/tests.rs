//! Whole measurements on a simulated machine, on which things go wrong where a test wants it.

mod chance;
mod ends;
mod explaining;
#[path = "../../../../tests/support/identities.rs"]
mod identities;
mod pretending;
mod stopping;

use std::cell::{Cell, RefCell};
use std::path::Path;

use whyfaster_core::plan::{Alternative, Rounds};
use whyfaster_core::run::{Run, RunKind};
use whyfaster_core::trace::report::Level;
use whyfaster_core::trace::setting::{Price, Setting};
use whyfaster_trace::Support;

use super::super::client::NoOutcome;
use super::super::hooks::Hook;
use super::super::machine::{Launch, Streams};
use super::super::protocol::{Ended, Outcome, Request};
use super::super::resolve::Command;
use super::super::simulated::Behaviour;
use super::super::trace::around::Around;
use super::super::trace::observer::{Observer, Take};
use super::*;

/// Changes the outcome of a run, or replaces it by an error.
type Launched<'a> = dyn Fn(&Launch, &Request, Outcome) -> Result<Outcome, NoOutcome> + 'a;

/// Finds the program of an alternative, or does not.
type Resolved<'a> = dyn Fn(&Alternative) -> Result<(), Failure> + 'a;

/// A simulated machine with a signal and with errors.
struct Troubled<'a> {
    machine: Simulated<'a>,
    launched: Box<Launched<'a>>,
    hooked: Box<dyn Fn(Hook) -> Result<(), Failure> + 'a>,
    resolved: Box<Resolved<'a>>,
    dropped: Box<dyn Fn() -> Result<(), Failure> + 'a>,
    /// Calls that do something or look for a signal.
    calls: Cell<u32>,
    /// The signal comes with this one of them, from 1.
    signal_at: Option<u32>,
    /// The measurement knows of the signal.
    known: Cell<bool>,
    /// Runs that began although the signal was known.
    late: RefCell<Vec<RunKind>>,
    /// Hooks in their order. False: the signal ended it.
    hooks: RefCell<Vec<(Hook, usize, bool)>>,
}

impl<'a> Troubled<'a> {
    /// One on which nothing goes wrong.
    fn new(machine: Simulated<'a>) -> Self {
        Self {
            machine,
            launched: Box::new(|_, _, outcome| Ok(outcome)),
            hooked: Box::new(|_| Ok(())),
            resolved: Box::new(|_| Ok(())),
            dropped: Box::new(|| Ok(())),
            calls: Cell::new(0),
            signal_at: None,
            known: Cell::new(false),
            late: RefCell::default(),
            hooks: RefCell::default(),
        }
    }

    /// Counts a call. The answer is whether the signal came with it or before.
    fn call(&self) -> bool {
        self.calls.set(self.calls.get() + 1);
        self.signal_at.is_some_and(|at| self.calls.get() >= at)
    }
}

impl Machine for Troubled<'_> {
    fn started(&self) -> String {
        self.machine.started()
    }

    fn now_s(&self) -> f64 {
        self.machine.now_s()
    }

    fn facts(&self) -> HostFacts {
        self.machine.facts()
    }

    fn interrupts(&self) -> u32 {
        let came = self.call();
        self.known.set(self.known.get() || came);
        u32::from(came)
    }

    fn interrupted_soon(&self) -> bool {
        self.interrupted()
    }

    fn resolve(&self, alternative: &Alternative) -> Result<Command, Failure> {
        self.call();
        (self.resolved)(alternative)?;
        self.machine.resolve(alternative)
    }

    fn hook(&self, hook: Hook, index: usize, run: Option<Run>) -> Result<bool, Failure> {
        if self.known.get() && matches!(hook, Hook::Setup | Hook::Prepare) {
            self.late.borrow_mut().extend(run.map(|it| it.kind));
        }
        self.call();
        // A signal that came before leaves a hook alone.
        let cut = self.signal_at == Some(self.calls.get());
        self.hooks.borrow_mut().push((hook, index, !cut));
        self.machine.hook(hook, index, run)?;
        if !cut {
            (self.hooked)(hook)?;
        }
        Ok(!cut)
    }

    fn launch(
        &self,
        launch: &Launch,
        request: Request,
        streams: Option<Streams<'_>>,
    ) -> Result<Outcome, NoOutcome> {
        if self.known.get() {
            self.late.borrow_mut().push(launch.run.kind);
        }
        let aborted = self.call();
        let outcome = self.machine.launch(launch, request.clone(), streams)?;
        match aborted {
            true => Ok(Outcome { ended: Ended::Aborted, ..outcome }),
            false => (self.launched)(launch, &request, outcome),
        }
    }

    fn drop_caches(&self) -> Result<(), Failure> {
        self.call();
        (self.dropped)()
    }

    fn drop_file(&self, path: &Path) -> Result<(), Failure> {
        self.machine.drop_file(path)
    }

    fn support(&self) -> Support {
        self.machine.support()
    }

    fn setting(&self, level: Level) -> Setting {
        self.machine.setting(level)
    }

    fn around(&self) -> Around {
        self.machine.around()
    }

    fn observer(&self, level: Level) -> Result<Observer, Failure> {
        self.machine.observer(level)
    }

    fn observe(
        &self,
        launch: &Launch,
        request: Request,
        observer: &mut Observer,
        until_s: Option<f64>,
        take: Take<'_>,
    ) -> Result<Option<Outcome>, NoOutcome> {
        if self.known.get() {
            self.late.borrow_mut().push(launch.run.kind);
        }
        let aborted = self.call();
        let Some(outcome) = self.machine.observe(launch, request.clone(), observer, until_s, take)? else {
            return Ok(None);
        };
        match aborted {
            true => Ok(Some(Outcome { ended: Ended::Aborted, ..outcome })),
            false => (self.launched)(launch, &request, outcome).map(Some),
        }
    }

    fn prices(&self, cpus: &[u32], left_s: f64) -> Result<Vec<Price>, String> {
        self.machine.prices(cpus, left_s)
    }

    fn fault_price(&self, bytes: u64, available: Option<u64>) -> Option<Price> {
        self.machine.fault_price(bytes, available)
    }
}

/// Two CPUs and enough of all else.
fn two_cpus() -> HostFacts {
    HostFacts { cpus_allowed: Some(vec![0, 1]), memory_available: Some(8 << 30), ..HostFacts::default() }
}

/// So many alternatives, called `command 0`, `command 1` and so on; whatever is not set is usual.
fn plan_of(alternatives: usize) -> Plan {
    let commands = (0..alternatives).map(|index| Alternative::new(format!("command {index}"))).collect();
    let plan = Plan::new(commands, 7);
    let rounds = Rounds { min: 1, max_time_s: 10.0, ..plan.rounds };
    Plan { rounds, ..plan }
}

/// The same with every hook.
fn with_hooks(mut plan: Plan) -> Plan {
    for (index, alternative) in plan.alternatives.iter_mut().enumerate() {
        let line = |name: &str| Some(format!("{name} {index}"));
        alternative.setup = line("setup");
        alternative.prepare = line("prepare");
        alternative.conclude = line("conclude");
        alternative.cleanup = line("cleanup");
    }
    plan
}

/// A machine on which the copies of each alternative take so many seconds, all of it CPU time.
fn computing<'a>(plan: &'a Plan, seconds: &[f64]) -> Simulated<'a> {
    let behaviours = seconds.iter().map(|&seconds| Behaviour::taking(seconds, seconds)).collect();
    Simulated::new(plan, two_cpus(), behaviours)
}

/// The factor by which a run is slower than usual, by the alternative and the moment.
type Pace = Box<dyn Fn(usize, f64) -> f64>;

/// The machine at this pace.
fn paced(mut machine: Simulated<'_>, pace: Pace) -> Simulated<'_> {
    machine.pace = pace;
    machine
}

/// Measures. The second part has the events.
fn measured(machine: &dyn Machine, plan: &Plan) -> (Finished, Vec<Event>) {
    let mut events = Vec::new();
    let finished = measure_on(machine, plan, &mut |event| events.push(event));
    finished.record.validate().expect("a record can be read again however the measurement ended");
    identities::assert_identities(&finished.record);
    (finished, events)
}

/// Rounds of which every alternative ran, by load.
fn rounds(record: &Record) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for batch in &record.batches {
        let whole = (0..record.plan.alternatives.len()).all(|index| {
            let is_it = |it: &&Batch| {
                (it.load, it.round, it.arm) == (batch.load, batch.round, Arm::Alternative(index))
            };
            record.batches.iter().any(|it| is_it(&it))
        });
        match found.iter_mut().find(|(load, _)| *load == batch.load) {
            Some((_, rounds)) if whole => *rounds = (*rounds).max(batch.round + 1),
            None => found.push((batch.load, if whole { batch.round + 1 } else { 0 })),
            Some(_) => {}
        }
    }
    found
}

/// The verdict on the second alternative at each load.
fn verdicts(record: &Record) -> Vec<Verdict> {
    let levels = record.analysis.levels.iter();
    levels.filter_map(|level| level.comparisons.first().map(|it| it.verdict)).collect()
}
