//! Where the time went: per command by state, and blocked time by cause.
//!
//! A task's time belongs to the command that it ran then: what passes between fork and exec is the forked child's, not
//! that of the program that it becomes.

use rustc_hash::FxHashMap;

use super::command::CommandName;
use super::event::Totals;
use super::idle::{self, ALONE, ANY, ByKind, PINNED, PINNED_ALONE};
use super::labels::{Label, Labels};
use super::report::{Cause, CommandRow, WaitRow};
use super::task::{Segment, Times};

/// Nanoseconds in a second.
pub(super) const NS: f64 = 1e9;

/// Seconds of nanoseconds.
#[allow(clippy::cast_precision_loss, reason = "2^53 nanoseconds are 104 days")]
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / NS
}

/// Whole nanoseconds of seconds that are not below zero.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a time, not below zero and below 2^63"
)]
pub(super) fn nanoseconds(seconds: f64) -> u64 {
    (seconds * NS).round() as u64
}

/// Rows of waits in which peers are told apart; further peers of a command are not named.
const MOST_WAITS: usize = 1 << 16;

/// A sum that is known only if all its parts are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    sum: u64,
    missing: bool,
}

impl Sum {
    pub(super) fn add(&mut self, part: Option<u64>) {
        match part {
            Some(part) => self.sum += part,
            None => self.missing = true,
        }
    }

    pub(super) fn known(self) -> Option<u64> {
        (!self.missing).then_some(self.sum)
    }
}

/// Kernel side and counters of a segment, where they are known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Details {
    pub(super) kernel: Option<u64>,
    pub(super) stolen: Option<u64>,
    pub(super) faults: Option<u64>,
    pub(super) voluntary: Option<u64>,
    pub(super) involuntary: Option<u64>,
    pub(super) migrations: Option<u64>,
}

impl Details {
    /// What the kernel counted between two readings.
    pub(super) fn between(from: &Totals, to: &Totals) -> Self {
        let less = |a: Option<u64>, b: Option<u64>| a.map(|a| a.saturating_sub(b.unwrap_or(0)));
        Self {
            stolen: to.stolen_ns.map(|ns| (ns - from.stolen_ns.unwrap_or(0)).max(0).cast_unsigned()),
            kernel: less(to.call_run_ns, from.call_run_ns),
            faults: less(to.faults, from.faults),
            voluntary: less(to.voluntary, from.voluntary),
            involuntary: less(to.involuntary, from.involuntary),
            migrations: less(to.migrations, from.migrations),
        }
    }
}

/// What of the waiting beside an idle CPU counts as avoidable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Avoided {
    /// All of it.
    All,
    /// What came while the tree ran somewhere: otherwise its cgroup's quota was used up.
    NotThrottled,
}

impl Avoided {
    pub(super) fn of(self, avoidable: &ByKind) -> u64 {
        match self {
            Self::All => avoidable[ANY],
            Self::NotThrottled => avoidable[ANY] - avoidable[ALONE],
        }
    }

    /// The part of it that only the tasks' own sets of CPUs made.
    pub(super) fn by_pinning(self, avoidable: &ByKind) -> u64 {
        match self {
            Self::All => avoidable[PINNED],
            Self::NotThrottled => avoidable[PINNED] - avoidable[PINNED_ALONE],
        }
    }
}

/// The time of one command's tasks.
#[derive(Debug, Default)]
struct Account {
    tasks: u64,
    times: Times,
    avoidable: ByKind,
    kernel: Sum,
    stolen: Sum,
    waits_unknown: bool,
    faults: Sum,
    voluntary: Sum,
    involuntary: Sum,
    migrations: Sum,
    cpus: Vec<u64>,
}

/// Blocked time of one cause.
#[derive(Clone, Copy, Debug, Default)]
struct Blocked {
    ns: u64,
    count: u64,
    unfinished: u64,
}

/// What a command spent on CPUs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    pub(super) run: u64,
    /// Within system calls, if all its tasks told.
    pub(super) kernel: Option<u64>,
    pub(super) faults: Option<u64>,
}

/// All accounts.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    commands: FxHashMap<Label, Account>,
    waits: FxHashMap<(Label, Cause, Option<Label>), Blocked>,
    /// Times of all tasks whose time is known.
    pub(super) all: Times,
    pub(super) avoidable: ByKind,
    pub(super) avoidable_waits: u64,
    /// The longest avoidable part of one wait; and what is left of one without the time in which nothing of the tree ran.
    pub(super) avoidable_longest: u64,
    pub(super) avoidable_longest_beside: u64,
}

impl Ledger {
    /// A task of this command ran on this CPU.
    pub(super) fn ran_on(&mut self, label: Label, cpu: u16) {
        let cpus = &mut self.commands.entry(label).or_default().cpus;
        let word = usize::from(cpu / 64);
        if word >= cpus.len() {
            cpus.resize(word + 1, 0);
        }
        cpus[word] |= 1 << (cpu % 64);
    }

    /// A wait for a CPU is over that was avoidable for so long.
    pub(super) fn avoided(&mut self, avoidable: &ByKind) {
        self.avoidable_waits += u64::from(avoidable[ANY] > 0);
        self.avoidable_longest = self.avoidable_longest.max(avoidable[ANY]);
        let beside = avoidable[ANY] - avoidable[ALONE];
        self.avoidable_longest_beside = self.avoidable_longest_beside.max(beside);
    }

    /// A task was blocked for so long.
    pub(super) fn blocked(
        &mut self,
        by: Label,
        cause: Cause,
        peer: Option<Label>,
        ns: u64,
        unfinished: bool,
    ) {
        let full = self.waits.len() >= MOST_WAITS && !self.waits.contains_key(&(by, cause, peer));
        let peer = peer.filter(|_| !full);
        let full = self.waits.len() >= MOST_WAITS && !self.waits.contains_key(&(by, cause, peer));
        let wait = self.waits.entry((by, cause, peer.filter(|_| !full))).or_default();
        wait.ns += ns;
        wait.count += 1;
        wait.unfinished += u64::from(unfinished);
    }

    /// The time of a task under a command is complete. `wait_known`: waiting and being blocked could be told apart.
    pub(super) fn close(&mut self, by: Label, segment: &Segment, details: &Details, wait_known: bool) {
        let account = self.commands.entry(by).or_default();
        account.tasks += 1;
        account.times.add(&segment.times);
        self.all.add(&segment.times);
        // A wait that was mended afterwards may have become shorter than its avoidable part.
        let avoidable = segment.avoidable.map(|ns| ns.min(segment.times.wait));
        idle::add(&mut account.avoidable, &avoidable);
        idle::add(&mut self.avoidable, &avoidable);
        account.waits_unknown |= !wait_known;
        account.kernel.add(details.kernel.map(|ns| ns.min(segment.times.run)));
        account.stolen.add(details.stolen.map(|ns| ns.min(segment.times.run)));
        account.faults.add(details.faults);
        account.voluntary.add(details.voluntary);
        account.involuntary.add(details.involuntary);
        account.migrations.add(details.migrations);
    }

    /// One row a command, the most time on a CPU first. `avoidable` is `None` where the scheduling of the machine was not
    /// seen.
    pub(super) fn rows(&self, labels: &Labels, avoidable: Option<Avoided>) -> Vec<CommandRow> {
        let mut rows: Vec<_> = self.commands.iter().filter(|(_, account)| account.tasks > 0).collect();
        rows.sort_by_key(|(label, account)| (std::cmp::Reverse(account.times.run), labels.name(**label)));
        rows.into_iter().map(|(label, account)| account.row(labels.command(*label), avoidable)).collect()
    }

    /// What each command spent on CPUs.
    pub(super) fn spent(&self) -> impl Iterator<Item = (Label, Spent)> {
        let ran = self.commands.iter().filter(|(_, account)| account.tasks > 0);
        ran.map(|(label, account)| {
            let (kernel, faults) = (account.kernel.known(), account.faults.known());
            (*label, Spent { run: account.times.run, kernel, faults })
        })
    }

    /// One row a command and cause, the longest first.
    pub(super) fn waits(&self, labels: &Labels) -> Vec<WaitRow> {
        let row = |((by, cause, peer), wait): (&(Label, Cause, Option<Label>), &Blocked)| WaitRow {
            command: labels.command(*by).clone(),
            cause: *cause,
            peer: peer.map(|peer| labels.name(peer).to_owned()),
            seconds: seconds(wait.ns),
            count: wait.count,
            unfinished: wait.unfinished,
        };
        let mut rows: Vec<_> = self.waits.iter().map(row).collect();
        rows.sort_by(|a, b| {
            let names = |row: &WaitRow| (row.command.clone(), row.cause, row.peer.clone());
            b.seconds.total_cmp(&a.seconds).then_with(|| names(a).cmp(&names(b)))
        });
        rows
    }

    /// Blocked time over all causes.
    pub(super) fn blocked_ns(&self) -> u64 {
        self.waits.values().map(|wait| wait.ns).sum()
    }
}

impl Account {
    fn row(&self, name: &CommandName, avoidable: Option<Avoided>) -> CommandRow {
        let kernel = self.kernel.known();
        let told = !self.waits_unknown;
        let cpus = self.cpus.iter().enumerate().flat_map(|(word, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
        });
        CommandRow {
            command: name.clone(),
            tasks: self.tasks,
            running_user_s: kernel.map(|kernel| seconds(self.times.run - kernel.min(self.times.run))),
            running_kernel_s: kernel.map(seconds),
            running_s: seconds(self.times.run),
            stolen_s: self.stolen.known().map(seconds),
            runnable_s: told.then(|| seconds(self.times.wait)),
            avoidable_s: avoidable.map(|avoided| seconds(avoided.of(&self.avoidable))),
            blocked_s: told.then(|| seconds(self.times.blocked)),
            unknown_s: seconds(self.times.unknown),
            faults: self.faults.known(),
            voluntary: self.voluntary.known(),
            involuntary: self.involuntary.known(),
            migrations: self.migrations.known(),
            cpus: cpus.filter_map(|cpu| u16::try_from(cpu).ok()).collect(),
        }
    }
}
