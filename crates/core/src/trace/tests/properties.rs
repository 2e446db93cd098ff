//! Random schedules against a second, slow and simple account of them; and random streams that no kernel would send.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::fixture::*;
use crate::trace::check::CheckKind;
use crate::trace::event::{Context, Event, FileKind, Left, Tid, What};
use crate::trace::report::TraceReport;

pub(super) const CPUS: usize = 3;
pub(super) const TASKS: usize = 5;
/// Number of the first task of the tree; those that hold CPUs beside the tree begin at 500.
pub(super) const FIRST: Tid = 100;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Now {
    Runs,
    /// On which CPU, since when.
    Waits(usize, u64),
    Blocked,
}

/// The slow account: every waiting task is looked at between any two events.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Expected {
    run: u64,
    wait: u64,
    blocked: u64,
    avoidable: u64,
    pinned: u64,
    forbidden: u64,
}

pub(super) struct Model {
    pub(super) script: Script,
    pub(super) at: u64,
    pub(super) current: [Tid; CPUS],
    pub(super) tasks: Vec<Now>,
    masks: Vec<u64>,
    expected: Vec<Expected>,
    /// Avoidable part of the present wait, and the longest of all.
    present: Vec<u64>,
    longest: u64,
    holders: BTreeMap<Tid, u64>,
}

impl Model {
    fn new(masks: &[u64]) -> Self {
        let mut script = Script::began(0, FIRST, "tree");
        for cpu in 1..CPUS as u16 {
            script.switch(0, cpu, 0, 0, Left::Runnable);
        }
        script.add(0, 0, What::Allowed { task: FIRST, cpus: vec![masks[0]] });
        let mut current = [0; CPUS];
        current[0] = FIRST;
        let mut tasks = vec![Now::Runs];
        for (index, mask) in masks.iter().enumerate().skip(1) {
            script.fork(0, 0, FIRST, FIRST + index as Tid, *mask);
            tasks.push(Now::Waits(0, 0));
        }
        let empty = vec![Expected::default(); TASKS];
        Self {
            script,
            at: 0,
            current,
            tasks,
            masks: masks.to_vec(),
            expected: empty,
            present: vec![0; TASKS],
            longest: 0,
            holders: BTreeMap::new(),
        }
    }

    /// Lets time pass.
    fn pass(&mut self, us: u64) {
        let (from, to) = (self.at, self.at + us);
        let idle = (0..CPUS).filter(|cpu| self.current[*cpu] == 0).fold(0_u64, |mask, cpu| mask | 1 << cpu);
        for (index, now) in self.tasks.iter().enumerate() {
            let it = &mut self.expected[index];
            match now {
                Now::Runs => it.run += us,
                Now::Blocked => it.blocked += us,
                Now::Waits(cpu, since) => {
                    it.wait += us;
                    *self.holders.entry(self.current[*cpu]).or_default() += us;
                    let counts = to.saturating_sub(from.max(since + 50));
                    let open = self.script.setting.open.first().copied().unwrap_or(0);
                    if self.current[*cpu] != 0 && idle & (self.masks[index] | open) != 0 {
                        it.pinned += if idle & self.masks[index] == 0 { counts } else { 0 };
                        it.avoidable += counts;
                        self.present[index] += counts;
                    } else if self.current[*cpu] != 0 && idle != 0 {
                        it.forbidden += counts;
                    }
                }
            }
        }
        self.at = to;
    }

    fn task(tid: Tid) -> Option<usize> {
        let index = (tid as usize).checked_sub(FIRST as usize)?;
        (index < TASKS).then_some(index)
    }

    fn switch(&mut self, cpu: usize, pick: usize, left: Left) {
        let prev = self.current[cpu];
        let queued = |index: &usize| matches!(self.tasks[*index], Now::Waits(on, _) if on == cpu);
        let mut next: Vec<Tid> = (0..TASKS).filter(queued).map(|index| FIRST + index as Tid).collect();
        next.extend([0, 500 + cpu as Tid, 510 + cpu as Tid].into_iter().filter(|tid| *tid != prev));
        let next = next[pick % next.len()];
        let block = (left != Left::Runnable).then(|| block(READ, FileKind::Pipe, 1 + u64::from(prev % 2)));
        self.script.add(self.at, cpu as u16, What::Switch { prev, next, left, block });
        if let Some(index) = Self::task(prev) {
            self.tasks[index] = if left == Left::Runnable { Now::Waits(cpu, self.at) } else { Now::Blocked };
        }
        if let Some(index) = Self::task(next) {
            self.tasks[index] = Now::Runs;
            self.longest = self.longest.max(std::mem::take(&mut self.present[index]));
        }
        self.current[cpu] = next;
    }

    fn wake(&mut self, index: usize, cpu: usize, context: Context) {
        if self.tasks[index] == Now::Blocked {
            let waker = self.current[cpu];
            self.script.wake_by(self.at, cpu as u16, FIRST + index as Tid, waker, cpu as u16, context);
            self.tasks[index] = Now::Waits(cpu, self.at);
        }
    }

    fn migrate(&mut self, index: usize, to: usize) {
        if let Now::Waits(from, since) = self.tasks[index] {
            let task = FIRST + index as Tid;
            self.script.add(self.at, to as u16, What::Migrate { task, from: from as u16, to: to as u16 });
            self.tasks[index] = Now::Waits(to, since);
        }
    }

    /// All end at once: those that run by a switch, the others as they are.
    pub(super) fn of(masks: &[u64], open: u64, steps: Vec<Step>) -> Self {
        let mut model = Self::new(masks);
        model.script.setting.open = if open == 0 { Vec::new() } else { vec![open] };
        for step in steps {
            match step {
                Step::Pass(us) => model.pass(us),
                Step::Switch(cpu, pick, left) => model.switch(cpu, pick, left),
                Step::Wake(task, cpu, context) => model.wake(task, cpu, context),
                Step::Migrate(task, cpu) => model.migrate(task, cpu),
            }
        }
        model
    }

    pub(super) fn finish(mut self) -> (TraceReport, Self) {
        for cpu in 0..CPUS {
            if let Some(index) = Self::task(self.current[cpu]) {
                let run = self.expected[index].run;
                self.script.end(self.at, cpu as u16, FIRST + index as Tid, 0, run);
            }
        }
        for index in 0..TASKS {
            self.longest = self.longest.max(self.present[index]);
            if self.tasks[index] != Now::Runs {
                let run = self.expected[index].run;
                self.script.ended(self.at, FIRST + index as Tid, totals(run));
            }
        }
        (self.script.report(), self)
    }
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Pass(u64),
    Switch(usize, usize, Left),
    Wake(usize, usize, Context),
    Migrate(usize, usize),
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let left =
        prop_oneof![3 => Just(Left::Runnable), 2 => Just(Left::Sleeping), 1 => Just(Left::Uninterruptible)];
    let context =
        prop_oneof![Just(Context::Task), Just(Context::Timer), Just(Context::Work("work".to_owned()))];
    let step = prop_oneof![
        4 => (1_u64..200).prop_map(Step::Pass),
        4 => (0..CPUS, 0_usize..8, left).prop_map(|(cpu, pick, left)| Step::Switch(cpu, pick, left)),
        2 => (0..TASKS, 0..CPUS, context).prop_map(|(task, cpu, context)| Step::Wake(task, cpu, context)),
        1 => (0..TASKS, 0..CPUS).prop_map(|(task, cpu)| Step::Migrate(task, cpu)),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_random_schedule_comes_out_as_the_slow_account_says(
        steps in steps(),
        masks in prop::collection::vec(1_u64..1 << CPUS, TASKS),
        open in 0_u64..1 << CPUS,
    ) {
        let (report, model) = Model::of(&masks, open, steps).finish();
        for (index, expected) in model.expected.iter().enumerate() {
            let seen = task(&report, FIRST + index as Tid);
            prop_assert_eq!(seen, (expected.run, expected.wait, expected.blocked), "task {}", index);
        }
        prop_assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
        let avoidable = model.expected.iter().map(|it| it.avoidable).sum::<u64>();
        prop_assert_eq!(us(report.avoidable_wait_s.unwrap()), avoidable);
        let pinned = model.expected.iter().map(|it| it.pinned).sum::<u64>();
        prop_assert_eq!(report.avoidable.unwrap().by_pinning_s.map(us), (open != 0).then_some(pinned));
        let forbidden = model.expected.iter().map(|it| it.forbidden).sum::<u64>();
        prop_assert_eq!(us(report.avoidable.unwrap().but_for_affinity_s.unwrap()), forbidden);
        prop_assert_eq!(us(report.avoidable_longest_s.unwrap()), model.longest);
        let waited = model.expected.iter().map(|it| it.wait).sum::<u64>();
        prop_assert!(avoidable <= waited);
        let sharers = report.cpu_sharers.iter().map(|row| ns(row.seconds)).sum::<u64>();
        prop_assert_eq!(sharers, waited * 1000);
        let idle = report.cpu_sharers.iter().filter(|row| row.sharer.starts_with("(idle")).map(|row| us(row.seconds));
        prop_assert_eq!(idle.sum::<u64>(), model.holders.get(&0).copied().unwrap_or(0));
        let outside = report.cpu_sharers.iter().filter(|row| row.sharer == "(unnamed)").map(|row| us(row.seconds));
        prop_assert_eq!(outside.sum::<u64>(), model.holders.range(500..).map(|(_, us)| us).sum::<u64>());
    }

    #[test]
    fn a_stream_that_no_kernel_would_send_is_taken_and_still_adds_up(events in prop::collection::vec(any_event(), 0..300)) {
        let mut script = Script::began(0, 1, "tree");
        script.events.extend(events);
        let report = script.report();
        for check in report.checks.iter().filter(|check| !matches!(check.kind, Some(CheckKind::Running | CheckKind::Work))) {
            prop_assert!(check.holds, "{:?}", check);
        }
        prop_assert!(report.avoidable_wait_s.unwrap() <= report.commands.iter().filter_map(|row| row.runnable_s).sum::<f64>() + 1e-9);
        for row in &report.tasks {
            let parts = row.running_s + row.runnable_s.unwrap() + row.blocked_s.unwrap();
            prop_assert!((parts - (row.to_s - row.from_s)).abs() < 1e-9, "{:?}", row);
        }
    }
}

/// Any event with small numbers, so that they meet.
pub(in crate::trace) fn any_event() -> impl Strategy<Value = Event> {
    let tid = 0_u32..6;
    let cpu = 0_u16..3;
    let left = prop_oneof![
        Just(Left::Runnable),
        Just(Left::Sleeping),
        Just(Left::Uninterruptible),
        Just(Left::Stopped),
        Just(Left::Dead)
    ];
    let at_block = (0_u32..400, any::<(bool, bool)>(), 0_u64..3).prop_map(|(number, (io, bitset), inode)| {
        Some(crate::trace::event::Block { io, bitset, ..block(number, FileKind::Pipe, inode) })
    });
    let at_block = prop_oneof![Just(None), at_block, Just(Some(block(READ, FileKind::Terminal, 0)))];
    let allowed = prop::collection::vec(0_u64..8, 0..2);
    let context = prop_oneof![
        Just(Context::Task),
        Just(Context::Hardirq),
        Just(Context::Sent),
        Just(Context::Work("flush_to_ldisc".to_owned()))
    ];
    let path =
        prop_oneof![Just(None), Just(Some("/bin/true".to_owned())), Just(Some("/sbin/false".to_owned()))];
    let used = (0_u64..5000).prop_map(totals);
    let what = prop_oneof![
        6 => (tid.clone(), tid.clone(), left, at_block)
            .prop_map(|(prev, next, left, block)| What::Switch { prev, next, left, block }),
        4 => (tid.clone(), tid.clone(), context).prop_map(|(wakee, waker, context)| What::Wake { wakee, waker, context }),
        2 => (tid.clone(), cpu.clone()).prop_map(|(task, on)| What::Queued { task, on }),
        2 => (tid.clone(), cpu.clone(), cpu.clone()).prop_map(|(task, from, to)| What::Migrate { task, from, to }),
        3 => (tid.clone(), tid.clone(), tid.clone(), allowed.clone())
            .prop_map(|(parent, child, process, allowed)| What::Fork { parent, child, process, allowed }),
        1 => (tid.clone(), tid.clone(), path.clone(), used.clone()).prop_map(|(task, former, path, so_far)| {
            What::Exec { task, former, name: "prog".to_owned(), path, so_far }
        }),
        1 => (tid.clone(), 0_u64..3, 0_u64..3)
            .prop_map(|(task, input, output)| What::Pipes { task, input, output }),
        1 => (tid.clone(), path, -1_i32..20).prop_map(|(task, path, errno)| What::ExecFailed { task, path, errno }),
        1 => (tid.clone(), allowed).prop_map(|(task, cpus)| What::Allowed { task, cpus }),
        2 => (tid.clone(), tid.clone(), prop::option::of(-9_i32..9), used.clone())
            .prop_map(|(task, process, status, totals)| What::End { task, process, status, totals }),
        1 => (tid.clone(), tid.clone()).prop_map(|(task, process)| What::Name {
            task,
            process,
            name: "kworker/1:2".to_owned(),
            kind: crate::trace::event::TaskKind::Kernel,
        }),
        2 => (tid.clone(), 0_u64..500_000).prop_map(|(task, call_run_ns)| What::Spent { task, call_run_ns }),
        1 => (tid.clone(), 0_u64..500_000, 0_u64..500_000)
            .prop_map(|(task, run_ns, call_run_ns)| What::Started { task, run_ns, call_run_ns }),
        1 => (tid.clone(), used.clone()).prop_map(|(task, so_far)| What::LivesOn { task, so_far }),
        1 => (tid.clone(), tid.clone()).prop_map(|(task, parent)| What::Below { task, parent }),
        1 => (tid.clone(), 0_u32..400, 0_u64..3).prop_map(|(task, number, inode)| What::Waits {
            task,
            left: Left::Sleeping,
            block: block(number, FileKind::Pipe, inode),
        }),
        1 => Just(What::Stop),
        1 => tid.prop_map(|task| What::Work { task, function: "flush_to_ldisc".to_owned() }),
    ];
    (0_u64..1_000_000, cpu, what).prop_map(|(at, cpu, what)| Event { at, cpu, what })
}
