//! Observed runs: one command of a rig at a time, from its release to a report.

use std::collections::BTreeMap;

use whyfaster_core::trace::Analysis;
use whyfaster_core::trace::counts::OwnCost;
use whyfaster_core::trace::event::{Event, TaskKind, Tid, What};
use whyfaster_core::trace::report::{Level, TraceReport};
use whyfaster_core::trace::setting::{Facts, Setting};
use whyfaster_core::trace::stacks::Stacks;
use whyfaster_core::trace::stored::Stored;
use whyfaster_words::exit::Failure;

use super::super::machine::Machine;
use super::super::rig::{Ran, Rig};
use super::super::trace::observer::{Observer, observing};
use super::keeping::Keeping;

/// The programs in the kernel, loaded once for all runs, and what they told of the machine so far.
#[derive(Debug)]
pub(super) struct Tracer {
    setting: Setting,
    observer: Observer,
    /// Names of tasks outside of the tree: the kernel tells each once.
    names: BTreeMap<Tid, Event>,
}

/// All that observing needs, made once.
#[derive(Debug)]
pub(super) struct Observing {
    pub(super) tracer: Tracer,
    /// The alternatives that are observed.
    pub(super) alternatives: Vec<usize>,
    /// What is known of each of them beside the stream.
    pub(super) facts: Vec<Facts>,
}

/// What is to be observed.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) alternative: usize,
    /// Copies at once.
    pub(super) copies: u32,
    /// Its number among the observed runs.
    pub(super) number: u32,
    /// What is known of it beside the stream.
    pub(super) facts: Facts,
    /// How long it takes otherwise.
    pub(super) untraced_s: f64,
}

/// One observed run.
#[derive(Debug)]
pub(super) struct Seen {
    /// What was seen; without the list of single tasks.
    pub(super) report: TraceReport,
    /// What the observing took.
    pub(super) own: OwnCost,
    /// Who ran when, and how many events behind it were left out.
    pub(super) schedule: (Stored, u64),
    /// Where the clock found its code.
    pub(super) stacks: Stacks,
}

impl Tracer {
    /// Makes ready to observe at the full level.
    pub(super) fn open(machine: &dyn Machine) -> Result<Self, Failure> {
        let observer = machine.observer(Level::Full)?;
        let setting = machine.setting(Level::Full);
        Ok(Self { setting, observer, names: BTreeMap::new() })
    }

    /// Observes one run of an alternative, or one batch: every copy is a root of the tree.
    pub(super) fn run(&mut self, rig: &mut Rig<'_>, wanted: Wanted) -> Result<Ran<Seen>, Failure> {
        let Self { setting, observer, names } = self;
        let mut analysis = Analysis::new(setting.clone());
        let known: Vec<Event> = names.values().cloned().collect();
        let mut first = true;
        let mut keeping = Keeping::default();
        let mut take = |event: Event| {
            if std::mem::take(&mut first) {
                // As if told just now.
                known.iter().for_each(|name| analysis.push(&Event { at: event.at, ..name.clone() }));
            }
            remember(names, &event);
            keeping.push(&event, names);
            analysis.push(&event);
        };
        let (what, machine) = ((wanted.alternative, wanted.copies), rig.machine);
        let around = machine.around();
        let ran = rig.traced(what, wanted.number, &mut |launch, request| {
            machine.observe(launch, request, observer, None, &mut take)
        });
        let Wanted { mut facts, untraced_s, copies, .. } = wanted;
        around.until(machine.around(), &mut facts);
        let mut counts = observer.finish_run(&mut take).map_err(observing)?;
        let stacks = std::mem::take(&mut counts.stacks);
        let outcome = match ran? {
            Ran::Done(outcome) if copies > 1 && outcome.copies.timed_out.contains(&true) => {
                let why = "a copy was ended by the time-out while it was observed".to_owned();
                return Ok(Ran::CannotRun(why));
            }
            Ran::Done(outcome) => outcome,
            Ran::CannotRun(why) => return Ok(Ran::CannotRun(why)),
            Ran::Stopped => return Ok(Ran::Stopped),
        };
        facts.traced_over_untraced = (untraced_s > 0.0).then(|| outcome.makespan_s / untraced_s);
        let mut report = analysis.finish(&counts, &facts);
        // Many times as large as all the rest, and nothing is explained from them.
        report.tasks.clear();
        report.syscalls.iter_mut().for_each(|row| row.histogram_log2_ns.clear());
        Ok(Ran::Done(Seen { report, own: counts.own, schedule: keeping.finish(setting), stacks }))
    }
}

/// Keeps names of tasks that are not of the tree; a later one replaces an earlier one of the same number.
fn remember(names: &mut BTreeMap<Tid, Event>, event: &Event) {
    /// Tasks that are remembered: more than one machine has at a time that matter.
    const MOST: usize = 65_536;
    match &event.what {
        What::Name { task, kind: TaskKind::Tree, .. } => {
            names.remove(task);
        }
        What::Name { task, .. } if names.len() < MOST || names.contains_key(task) => {
            names.insert(*task, event.clone());
        }
        _ => {}
    }
}
