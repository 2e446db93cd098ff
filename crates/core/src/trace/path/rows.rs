//! The critical path as rows of the report.

use std::collections::BTreeMap;

use super::super::command::CommandName;
use super::super::labels::{Label, Labels};
use super::super::ledger::{Avoided, seconds};
use super::super::report::{Cause, PathKind, PathRow, SharerKind, WorkKind};
use super::super::work::{Command, split};
use super::parts::{Key, Part, RUNS, Run, wait};
use super::{Holder, Path};
use whyfaster_stats::order::largest_first;

/// What the rows need beside the path.
pub(in super::super) struct Accounts<'a> {
    pub(in super::super) labels: &'a Labels,
    pub(in super::super) commands: &'a BTreeMap<Label, Command>,
    pub(in super::super) avoided: Avoided,
    /// The name and kind of a holder.
    pub(in super::super) holder: &'a dyn Fn(Holder) -> (SharerKind, &'a str),
}

/// What makes one row.
type Name<'a> = (&'a CommandName, PathKind, Option<&'a str>, Option<SharerKind>, Option<Cause>);

#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    ns: u64,
    count: u64,
    /// By the numbers of [`wait`].
    beside: [u64; 6],
}

/// Rows in the making.
struct Rows<'a> {
    with: &'a Accounts<'a>,
    sums: BTreeMap<Name<'a>, Amount>,
}

impl Path {
    /// The critical path, the longest parts first.
    pub(in super::super) fn rows<'a>(&self, with: &'a Accounts<'a>) -> Vec<PathRow> {
        let Some((.., leaf)) = self.last else { return Vec::new() };
        let mut rows = Rows { with, sums: BTreeMap::new() };
        for part in self.nodes.collect(leaf) {
            match self.keys.what(part.kind) {
                (Key::Run(label), number) => self.ran(&mut rows, label, number, &part),
                (Key::Wait { by, holder, after }, number) => rows.waited(by, holder, after, number, &part),
                (Key::Blocked { by, kind, what }, _) => {
                    let what = what.map(|label| with.labels.name(label));
                    rows.add((with.labels.command(by), kind, what, None, None), part.ns, part.count);
                }
            }
        }
        rows.finish()
    }

    fn ran(&self, rows: &mut Rows<'_>, label: Label, number: u32, part: &Part) {
        let run = usize::try_from(number).ok().and_then(|at| RUNS.get(at)).copied().unwrap_or(Run::Untold);
        let sure = match run {
            Run::EarlyUser => Run::User,
            Run::EarlyKernel => Run::Kernel,
            Run::EarlyUntold => Run::Untold,
            other => return rows.ran(label, other, part.ns, part.count),
        };
        // It went into the path before its program had started up: so much of it was start-up, over all of this command.
        let known = self.startups.get(&label).copied().unwrap_or_default();
        let (startup, rest) = split(part.ns, known.early_startup, known.early);
        rows.ran(label, Run::Startup, startup, part.count);
        rows.ran(label, sure, rest, part.count);
    }
}

impl<'a> Rows<'a> {
    fn add(&mut self, name: Name<'a>, ns: u64, count: u32) {
        if ns > 0 {
            let sum = self.sums.entry(name).or_default();
            sum.ns += ns;
            sum.count += u64::from(count);
        }
    }

    fn ran(&mut self, label: Label, run: Run, ns: u64, count: u32) {
        let name = self.with.labels.command(label);
        let kind = match run {
            Run::User | Run::EarlyUser => PathKind::User,
            Run::Startup => {
                let (of, all) = self.with.commands.get(&label).map_or((0, 1), Command::exec_share);
                let (exec, rest) = split(ns, of, all);
                self.add((name, PathKind::Kernel, Some(WorkKind::Exec.name()), None, None), exec, count);
                return self.add((name, PathKind::Startup, None, None, None), rest, count);
            }
            Run::Forked => PathKind::Forked,
            Run::Kernel | Run::EarlyKernel => return self.in_kernel(label, ns, count),
            Run::Untold | Run::EarlyUntold => {
                let (of, all) = self.with.commands.get(&label).map_or((0, 1), Command::kernel_share);
                let (kernel, user) = split(ns, of, all);
                self.in_kernel(label, kernel, count);
                return self.add((name, PathKind::User, None, None, None), user, count);
            }
        };
        self.add((name, kind, None, None, None), ns, count);
    }

    /// Time in the kernel is divided as the command's system calls are.
    fn in_kernel(&mut self, label: Label, ns: u64, count: u32) {
        let name = self.with.labels.command(label);
        let groups = self.with.commands.get(&label).map(|it| it.groups()).unwrap_or_default();
        let mut all: u64 = groups.iter().map(|(_, weight)| weight).sum();
        let mut left = ns;
        for (kind, weight) in groups {
            let (part, rest) = split(left, weight, all);
            all -= weight;
            left = rest;
            self.add((name, PathKind::Kernel, Some(kind.name()), None, None), part, count);
        }
        self.add((name, PathKind::Kernel, Some(WorkKind::Rest.name()), None, None), left, count);
    }

    fn waited(&mut self, by: Label, holder: Holder, after: Option<Cause>, number: u32, part: &Part) {
        let (kind, what) = (self.with.holder)(holder);
        let name = (self.with.labels.command(by), PathKind::CpuWait, Some(what), Some(kind), after);
        match usize::try_from(number) {
            _ if number == wait::TIME => self.add(name, part.ns, part.count),
            Ok(at) if at < 6 => self.sums.entry(name).or_default().beside[at] += part.ns,
            _ => {}
        }
    }

    fn finish(self) -> Vec<PathRow> {
        let avoided = self.with.avoided;
        let row = |((command, kind, what, holder, after), sum): (Name<'_>, Amount)| {
            let beside = |number: u32| usize::try_from(number).map_or(0, |at| sum.beside[at]);
            let (any, alone) = (beside(wait::ANY), beside(wait::ALONE));
            let (pinned, pinned_alone) = (beside(wait::PINNED), beside(wait::PINNED_ALONE));
            let (avoidable, pinned, elsewhere) = match avoided {
                Avoided::All => (any, pinned, beside(wait::ELSEWHERE)),
                // A quota that was used up looks the same as a task that may run on one CPU.
                Avoided::NotThrottled => (any.saturating_sub(alone), pinned.saturating_sub(pinned_alone), 0),
            };
            let avoidable = avoidable.min(sum.ns);
            PathRow {
                command: command.clone(),
                kind,
                what: what.map(str::to_owned),
                holder,
                after,
                seconds: seconds(sum.ns),
                avoidable_s: seconds(avoidable),
                by_pinning_s: seconds(pinned.min(avoidable)),
                but_for_affinity_s: seconds(elsewhere.min(sum.ns)),
                calls: Vec::new(),
                count: sum.count,
            }
        };
        let mut rows: Vec<PathRow> = self.sums.into_iter().map(row).collect();
        largest_first(&mut rows, |it| it.seconds);
        rows
    }
}
