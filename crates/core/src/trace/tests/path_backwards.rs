//! Random schedules: the path found forwards against one found by going backwards over a record of everything; and that
//! streams which no kernel would send still sum up, in bounded memory.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;

use super::fixture::*;
use super::properties::{CPUS, FIRST, Model, Now, TASKS, any_event, steps};
use crate::trace::event::{Context, Event, Left, Tid, What};
use crate::trace::report::{PathKind, TraceReport};
use crate::trace::stored::{Recorder, tells_order};
use crate::trace::{Analysis, Step};

/// What a task did from this event on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Did {
    Made(Tid),
    Ran,
    Waited,
    /// Blocked.
    Slept,
}

/// A change of state: at which event, when.
#[derive(Clone, Copy, Debug)]
struct Change {
    event: usize,
    at: u64,
    did: Did,
    /// Who of the tree ended the sleep before.
    woken_by: Option<Tid>,
}

fn changes(events: &[Event]) -> HashMap<Tid, Vec<Change>> {
    let mut tasks: HashMap<Tid, Vec<Change>> = HashMap::new();
    for (event, Event { at, what, .. }) in events.iter().enumerate() {
        let mut to = |task: Tid, did, woken_by| {
            if let Some(changes) = tasks.get_mut(&task) {
                changes.push(Change { event, at: *at, did, woken_by });
            }
        };
        match what {
            What::Switch { prev, next, left, .. } => {
                match left {
                    Left::Dead => {}
                    Left::Runnable => to(*prev, Did::Waited, None),
                    _ => to(*prev, Did::Slept, None),
                }
                to(*next, Did::Ran, None);
            }
            What::Wake { wakee, waker, context } => {
                let by = (*context == Context::Task).then_some(*waker);
                to(*wakee, Did::Waited, by);
            }
            What::Fork { parent, child, .. } => {
                let made = Change { event, at: *at, did: Did::Made(*parent), woken_by: None };
                tasks.insert(*child, vec![made, Change { did: Did::Waited, ..made }]);
            }
            _ => {}
        }
    }
    tasks
}

/// Where somebody was last before this event.
fn before(changes: &[Change], event: usize) -> usize {
    changes.iter().rposition(|change| change.event < event).unwrap()
}

/// A part of the way back: whose time it is, spent how, in the life of which task, from when to when.
type Stretch = ((Tid, &'static str), Step);

/// Goes back from the end of a task to the first exec, at 0. What a child waits before it first runs is nobody's.
fn backwards(events: &[Event], last: Tid, end: u64) -> Vec<Stretch> {
    let tasks = changes(events);
    let mut way = Vec::new();
    let (mut task, mut at) = (last, end);
    let mut here = tasks[&task].len() - 1;
    loop {
        let change = tasks[&task][here];
        let ns = at - change.at;
        let woken_by = tasks[&task].get(here + 1).filter(|_| ns > 0).and_then(|next| next.woken_by);
        let waker = woken_by.filter(|waker| tasks.contains_key(waker));
        let (whose, kind) = match (change.did, waker) {
            (Did::Made(0), _) => break,
            (Did::Made(parent), _) => {
                (task, here) = (parent, before(&tasks[&parent], change.event));
                continue;
            }
            (Did::Slept, Some(waker)) => {
                let event = tasks[&task][here + 1].event;
                (task, here) = (waker, before(&tasks[&waker], event));
                continue;
            }
            (Did::Slept, None) => (task, "slept"),
            (Did::Ran, _) => (task, "ran"),
            (Did::Waited, _) if here == 1 => (0, "waited"),
            (Did::Waited, _) => (task, "waited"),
        };
        if ns > 0 {
            way.push(((whose, kind), Step { task, from_ns: change.at, to_ns: at }));
        }
        (here, at) = (here - 1, change.at);
    }
    way
}

/// What of the way was spent how, by whom, nanoseconds.
fn summed(way: &[Stretch]) -> BTreeMap<(Tid, &'static str), u64> {
    let mut sums = BTreeMap::new();
    for (whose, step) in way {
        *sums.entry(*whose).or_insert(0) += step.to_ns - step.from_ns;
    }
    sums
}

/// The way from its beginning, through which task from when to when.
fn steps_of(way: &[Stretch]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (_, step) in way.iter().rev() {
        match steps.last_mut().filter(|last| last.task == step.task) {
            Some(last) => last.to_ns = step.to_ns,
            None => steps.push(*step),
        }
    }
    steps
}

/// The same as the analysis of a stream tells it of which no more is kept than that takes.
fn steps_kept(script: &Script) -> Vec<Step> {
    let mut recorder = Recorder::new(usize::MAX);
    script.events.iter().filter(|event| tells_order(event)).for_each(|event| recorder.push(event));
    let stored = recorder.finish(script.setting.clone(), script.counts.clone(), script.facts.clone());
    stored.unwrap().critical_path().unwrap()
}

/// The same from the rows of a report; every task runs a program with its number for a name.
fn forwards(report: &TraceReport) -> BTreeMap<(Tid, &'static str), u64> {
    let mut sums = BTreeMap::new();
    for row in &report.critical_path {
        let kind = match row.kind {
            PathKind::User | PathKind::Kernel | PathKind::Startup | PathKind::Forked => "ran",
            PathKind::CpuWait => "waited",
            _ => "slept",
        };
        *sums.entry((row.command.parse().unwrap_or(0), kind)).or_insert(0) += ns(row.seconds);
    }
    sums
}

/// Every task begins a program that has its number for a name as soon as it runs.
fn named(events: &[Event]) -> Vec<Event> {
    let mut all = Vec::new();
    let mut begun = Vec::new();
    for event in events.iter().filter(|event| !matches!(event.what, What::Exec { .. })) {
        all.push(event.clone());
        if let What::Switch { next, .. } = event.what
            && (FIRST..FIRST + TASKS as Tid).contains(&next)
            && !begun.contains(&next)
        {
            begun.push(next);
            let name = next.to_string();
            let what = What::Exec { task: next, former: next, name, path: None, so_far: totals(0) };
            all.push(Event { what, ..event.clone() });
        }
    }
    all
}

/// Whose path is the longest when all end at once: who ran, on the first CPU; else who waited for one; else the first.
fn last(model: &Model) -> Tid {
    let of_tree = |tid: &&Tid| (FIRST..FIRST + TASKS as Tid).contains(*tid);
    let waits = || model.tasks.iter().position(|now| matches!(now, Now::Waits(..)));
    let waits = waits().map(|index| FIRST + index as Tid);
    model.current.iter().find(of_tree).copied().or(waits).unwrap_or(FIRST)
}

/// Streams that no kernel would send cannot be kept, and are analysed alike.
fn steps_of_analysis(script: &Script) -> Vec<Step> {
    let mut analysis = Analysis::with_steps(script.setting.clone());
    script.events.iter().for_each(|event| analysis.push(event));
    analysis.steps(&script.counts, &script.facts)
}

fn analysed(events: &[Event]) -> Analysis {
    let mut analysis = Analysis::new(Script::new().setting);
    events.iter().for_each(|event| analysis.push(event));
    analysis
}

/// Forks, many at a time, that wake each other and end; numbers are used again.
fn families() -> impl Strategy<Value = Vec<Event>> {
    let tid = 1_u32..40;
    let left = prop_oneof![3 => Just(Left::Runnable), 3 => Just(Left::Sleeping), 1 => Just(Left::Dead)];
    let what = prop_oneof![
        4 => (tid.clone(), tid.clone(), left)
            .prop_map(|(prev, next, left)| What::Switch { prev, next, left, block: None }),
        4 => (tid.clone(), tid.clone())
            .prop_map(|(wakee, waker)| What::Wake { wakee, waker, context: Context::Task }),
        3 => (tid.clone(), tid.clone()).prop_map(|(parent, child)| What::Fork {
            parent, child, process: child, allowed: vec![0b11],
        }),
        1 => (tid.clone(), 0_u64..1000).prop_map(|(task, call_run_ns)| What::Spent { task, call_run_ns }),
        1 => tid.prop_map(|task| What::End { task, process: task, status: Some(0), totals: totals(1) }),
    ];
    let event = (1_u64..100, 0_u16..4, what);
    prop::collection::vec(event, 0..600).prop_map(|all| {
        let mut at = 0;
        all.into_iter()
            .map(|(passed, cpu, what)| {
                at += passed;
                Event { at, cpu, what }
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn forwards_and_backwards_find_the_same_path(
        steps in steps(),
        masks in prop::collection::vec(1_u64..1 << CPUS, TASKS),
        open in 0_u64..1 << CPUS,
    ) {
        let model = Model::of(&masks, open, steps);
        let (last, end) = (last(&model), model.at * 1000);
        let (_, model) = model.finish();
        let events = named(&model.script.events);
        let script = Script { events, ..Script::new() };
        let report = script.report();
        prop_assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
        let way = backwards(&script.events, last, end);
        prop_assert_eq!(forwards(&report), summed(&way));
        prop_assert_eq!(steps_kept(&script), steps_of(&way));
    }

    #[test]
    fn any_stream_sums_to_its_wall_time(events in prop::collection::vec(any_event(), 0..300)) {
        let mut script = Script::began(0, 1, "tree");
        script.events.extend(events);
        let report = script.report();
        let sum: u64 = report.critical_path.iter().map(|row| ns(row.seconds)).sum();
        prop_assert_eq!(sum, ns(report.wall_s));
        let steps = steps_of_analysis(&script);
        let sum: u64 = steps.iter().map(|step| step.to_ns - step.from_ns).sum();
        prop_assert_eq!(sum, ns(report.wall_s));
        prop_assert!(steps.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns), "{:?}", steps);
        for row in &report.critical_path {
            prop_assert!(row.seconds > 0.0 && row.avoidable_s + row.but_for_affinity_s <= 2.0 * row.seconds, "{:?}", row);
            prop_assert!(row.by_pinning_s <= row.avoidable_s, "{:?}", row);
        }
        for row in &report.work {
            prop_assert!(row.seconds >= 0.0, "{:?}", row);
        }
    }

    #[test]
    fn there_are_fewer_nodes_than_twice_the_paths(events in families()) {
        let mut analysis = analysed(&Script::began(0, 1, "tree").events);
        for event in &events {
            analysis.push(event);
            let lives = analysis.line.known.tree.len();
            let (nodes, messages) = analysis.line.path.size();
            // One path more is kept: that of the task that ended last.
            prop_assert!(nodes <= 2 * (lives + messages + 1), "{nodes} for {lives} and {messages}");
        }
        let report = analysis.finish(&Script::new().counts, &Script::new().facts);
        let sum: u64 = report.critical_path.iter().map(|row| ns(row.seconds)).sum();
        prop_assert_eq!(sum, ns(report.wall_s));
    }
}
