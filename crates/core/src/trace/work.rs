//! What CPU time was spent on, by command: user code, start-ups, making processes, and the kernel by groups of calls.
//!
//! The sum over the rows of a command is its time on a CPU. What a task ran within system calls is known by task; how it
//! divides into groups, from the table of calls. Two parts have no end that the kernel shows and are estimated: page
//! faults (count times price, out of user code), and the calls of a start-up (out of the groups that a loader uses).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::class;
use super::command::CommandName;
use super::counts::{CallCell, Counts};
use super::event::FileKind;
use super::labels::{Label, Labels};
use super::ledger::{Ledger, nanoseconds, seconds};
use super::names::Abi;
use super::path::Startup;
use super::processes::{Made, Processes};
use super::report::{Direction, TransferRow, WorkKind, WorkRow};
use super::setting::{Facts, Operation};
use whyfaster_stats::order::largest_first;

/// Calls of one group.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    ns: u64,
    calls: u64,
    /// Calls that did what they were to do.
    worked: u64,
    bytes: u64,
}

/// What one command spent CPU time on.
#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    forked: bool,
    run: u64,
    /// Within system calls. Where no task told, as the table of calls has it.
    kernel: u64,
    faults: Option<u64>,
    startup: Startup,
    /// Of the start-ups: within system calls, as far as that was found among the groups, without the execs' own.
    startup_calls: u64,
    /// Of the start-ups: the rest of the execs that began the programs.
    begun: u64,
    groups: BTreeMap<WorkKind, Group>,
    made: Made,
}

/// What was counted of one command, before its CPU time is known.
#[derive(Debug, Default)]
struct Table {
    groups: BTreeMap<WorkKind, Group>,
    not_returned: u64,
    timed: bool,
}

/// Where the parts come from.
pub(super) struct Sources<'a> {
    pub(super) ledger: &'a Ledger,
    pub(super) labels: &'a Labels,
    pub(super) startups: &'a FxHashMap<Label, Startup>,
    pub(super) processes: &'a Processes,
    pub(super) counts: &'a Counts,
    pub(super) abi: Abi,
}

/// All commands that have spent time.
pub(super) fn commands(from: &Sources<'_>) -> BTreeMap<Label, Command> {
    let mut tables: BTreeMap<CommandName, Table> = BTreeMap::new();
    for cell in &from.counts.calls {
        tables.entry(cell.by.command()).or_default().add(cell, from.abi);
    }
    let mut all = BTreeMap::new();
    for (label, spent) in from.ledger.spent() {
        let name = from.labels.command(label);
        let table = tables.remove(name).unwrap_or_default();
        let command = Command {
            forked: name.is_forked(),
            run: spent.run,
            kernel: spent.kernel.unwrap_or(table.ns()).min(spent.run),
            faults: spent.faults,
            startup: from.startups.get(&label).copied().unwrap_or_default(),
            made: from.processes.made(label),
            ..Command::default()
        };
        all.insert(label, (command, table));
    }
    give_execs_to_callers(&mut all);
    let whole = |(label, (mut command, table)): (Label, (Command, Table))| {
        command.fill(table);
        command.take_out_startup();
        (label, command)
    };
    all.into_iter().map(whole).collect()
}

/// The time of an exec up to the beginning of its program is that of the forked child, but the call counts for the
/// program. So much of the calls is taken out there as the children have time without a call that returned.
fn give_execs_to_callers(all: &mut BTreeMap<Label, (Command, Table)>) {
    let forked = all.values().filter(|(command, _)| command.forked);
    let mut before: u64 = forked.map(|(command, table)| command.kernel.saturating_sub(table.ns())).sum();
    let begun = |table: &Table| table.groups.get(&WorkKind::Exec).map_or(0, |exec| exec.worked);
    let mut programs: u64 = all.values().map(|(_, table)| begun(table)).sum();
    for (_, table) in all.values_mut() {
        let (part, rest) = split(before, begun(table), programs);
        programs -= begun(table);
        before = rest;
        if let Some(exec) = table.groups.get_mut(&WorkKind::Exec) {
            exec.ns = exec.ns.saturating_sub(part);
        }
    }
}

impl Table {
    fn add(&mut self, cell: &CallCell, abi: Abi) {
        let group = self.groups.entry(class::class(abi, cell.call).work(cell.file)).or_default();
        group.ns += cpu(cell).unwrap_or(0);
        group.calls += cell.entered;
        let failed = cell.errors.iter().map(|(_, times)| times).sum::<u64>();
        group.worked += cell.entered.saturating_sub(failed.saturating_add(cell.not_returned));
        group.bytes += cell.bytes.unwrap_or(0);
        self.not_returned += cell.not_returned;
        self.timed |= cell.total_ns.is_some();
    }

    fn ns(&self) -> u64 {
        self.groups.values().map(|group| group.ns).sum()
    }
}

/// CPU time within the calls of a cell.
pub(super) fn cpu(cell: &CallCell) -> Option<u64> {
    let off = cell.runnable_ns.unwrap_or(0).saturating_add(cell.blocked_ns.unwrap_or(0));
    cell.total_ns.map(|ns| ns.saturating_sub(off))
}

impl Command {
    /// Brings the groups to the time that the tasks were within calls.
    fn fill(&mut self, table: Table) {
        let counted = table.ns();
        self.groups = table.groups;
        if counted > self.kernel {
            self.take(counted - self.kernel, |_| true);
            return;
        }
        // Time without a call that returned: the end of a process or thread, or an exec, whose call counts for the program
        // that it begins.
        let rest = match () {
            () if !table.timed => WorkKind::Rest,
            () if table.not_returned > 0 && !self.forked => WorkKind::Process,
            () => WorkKind::Exec,
        };
        if counted < self.kernel {
            self.groups.entry(rest).or_default().ns += self.kernel - counted;
        }
    }

    /// Takes time out of some of the groups, from each in proportion. What could not be taken.
    fn take(&mut self, ns: u64, from: impl Fn(WorkKind) -> bool) -> u64 {
        let mut all: u64 =
            self.groups.iter().filter(|(kind, _)| from(**kind)).map(|(_, group)| group.ns).sum();
        let mut left = ns.min(all);
        let over = ns - left;
        for (_, group) in self.groups.iter_mut().filter(|(kind, _)| from(**kind)) {
            let (part, rest) = split(left, group.ns, all);
            all -= group.ns;
            left = rest;
            group.ns -= part;
        }
        over
    }

    /// The calls of a start-up are the rest of its exec, and those that map, open and read libraries.
    fn take_out_startup(&mut self) {
        let calls = self.startup.calls.min(self.kernel);
        self.begun = self.groups.get(&WorkKind::Exec).map_or(0, |exec| exec.ns).min(calls);
        let loading = calls - self.begun;
        let loader = |kind| {
            matches!(kind, WorkKind::Memory | WorkKind::FileMetadata | WorkKind::Descriptor | WorkKind::Rest)
        };
        let mut over = self.take(loading, loader);
        over = self.take(over, |kind| kind == WorkKind::FileData);
        over = self.take(over, |kind| kind != WorkKind::Exec);
        self.startup_calls = loading - over;
    }

    /// Of the time of start-ups: in the execs that began the programs, of all.
    pub(super) fn exec_share(&self) -> (u64, u64) {
        (self.begun.min(self.startup.run), self.startup.run.max(1))
    }

    /// Time in the kernel beside start-ups, of all time beside start-ups.
    pub(super) fn kernel_share(&self) -> (u64, u64) {
        let startup = self.startup.run.min(self.run);
        let (kernel, all) = (self.kernel - self.startup_calls - self.begun, self.run - startup);
        (kernel.min(all), all.max(1))
    }

    /// Time in the kernel beside start-ups, by group.
    pub(super) fn groups(&self) -> Vec<(WorkKind, u64)> {
        let beside = |kind| if kind == WorkKind::Exec { self.begun } else { 0 };
        let groups = self.groups.iter().map(|(kind, group)| (*kind, group.ns - beside(*kind)));
        groups.filter(|(_, ns)| *ns > 0).collect()
    }

    fn rows(&self, name: &CommandName, prices: &Prices<'_>) -> Vec<WorkRow> {
        let user = self.run - self.kernel;
        if self.forked {
            return self.forked_rows(name, user, prices);
        }
        let startup = self.startup.run.saturating_sub(self.startup_calls + self.begun).min(user);
        let (faults, count) = self.page_faults(user, user - startup, prices);
        let mut rows = vec![
            row(name, WorkKind::User, user - startup - faults, None),
            row(name, WorkKind::Startup, startup + self.startup_calls, Some(self.startup.programs)),
        ];
        let mut priced = row(name, WorkKind::PageFaults, faults, Some(count));
        priced.estimated = true;
        prices.put(&mut priced, 0, self.made);
        rows.push(priced);
        for (kind, group) in &self.groups {
            let mut row = row(name, *kind, group.ns, self.operations(*kind, group));
            prices.put(&mut row, group.bytes, self.made);
            rows.push(row);
        }
        rows.retain(|row| row.seconds > 0.0 || row.count.is_some_and(|count| count > 0));
        rows
    }

    /// How many operations: calls, programs begun, processes (or threads) made.
    fn operations(&self, kind: WorkKind, group: &Group) -> Option<u64> {
        let count = match kind {
            WorkKind::Exec => group.worked,
            WorkKind::Process if self.made.processes > 0 => self.made.processes,
            WorkKind::Process => self.made.threads,
            _ => group.calls,
        };
        (count > 0).then_some(count)
    }

    /// A child between fork and exec is the price of a process, but for its exec.
    fn forked_rows(&self, name: &CommandName, user: u64, prices: &Prices<'_>) -> Vec<WorkRow> {
        let exec = self.groups.get(&WorkKind::Exec).copied().unwrap_or_default();
        let others = self.groups.values().map(|group| group.ns).sum::<u64>() - exec.ns;
        let mut begun = row(name, WorkKind::Exec, exec.ns, self.operations(WorkKind::Exec, &exec));
        prices.put(&mut begun, 0, self.made);
        let made = Some(self.made.processes).filter(|made| *made > 0);
        let mut between = row(name, WorkKind::Process, user + others + self.startup_calls, made);
        prices.put(&mut between, 0, self.made);
        let mut rows = vec![between, begun];
        rows.retain(|row| row.seconds > 0.0);
        rows
    }

    /// Faults come as often in a start-up as behind it, so these have their share of the time. Nanoseconds, and how many.
    fn page_faults(&self, user: u64, behind_startup: u64, prices: &Prices<'_>) -> (u64, u64) {
        let Some((faults, price)) = self.faults.zip(prices.ns(Operation::PageFault)) else { return (0, 0) };
        let (count, _) = split(faults, behind_startup, user);
        (nanoseconds(number(count) * price / super::ledger::NS).min(behind_startup), count)
    }
}

/// The table, the most time of a command first. The rows sum to the CPU time.
pub(super) fn rows(commands: &BTreeMap<Label, Command>, labels: &Labels, facts: &Facts) -> Vec<WorkRow> {
    let prices = Prices(facts);
    let mut rows: Vec<WorkRow> =
        commands.iter().flat_map(|(label, command)| command.rows(labels.command(*label), &prices)).collect();
    largest_first(&mut rows, |it| it.seconds);
    rows
}

fn row(command: &CommandName, kind: WorkKind, ns: u64, count: Option<u64>) -> WorkRow {
    WorkRow {
        command: command.clone(),
        kind,
        seconds: seconds(ns),
        count,
        price_s: None,
        priced_s: None,
        estimated: false,
    }
}

/// What operations cost on this machine.
struct Prices<'a>(&'a Facts);

impl Prices<'_> {
    fn ns(&self, of: Operation) -> Option<f64> {
        let known = self.0.prices.iter().find(|price| price.of == of).map(|price| price.ns);
        known.filter(|ns| ns.is_finite() && *ns >= 0.0)
    }

    /// Count times price, beside the measured time.
    fn put(&self, row: &mut WorkRow, bytes: u64, made: Made) {
        let Some(count) = row.count.filter(|count| *count > 0) else { return };
        let per_call = match row.kind {
            WorkKind::PageFaults => self.ns(Operation::PageFault),
            WorkKind::Process if made.processes > 0 => self.ns(Operation::Process),
            WorkKind::Process => self.ns(Operation::Thread),
            WorkKind::Exec => self.ns(Operation::Exec),
            WorkKind::FileMetadata => self.ns(Operation::Stat),
            WorkKind::Pipe => self.ns(Operation::Call).zip(self.ns(Operation::PipeKib)).map(|(call, kib)| {
                // The price of a KiB is that of writing and reading it; a row has one of the two.
                call + kib / 2.0 * number(bytes) / 1024.0 / number(count)
            }),
            _ => None,
        };
        row.price_s = per_call.map(|ns| ns / super::ledger::NS);
        row.priced_s = row.price_s.map(|price| price * number(count));
    }
}

/// Calls that moved data, the bytes, and their CPU time.
#[derive(Clone, Copy, Debug)]
struct Moved {
    calls: u64,
    bytes: u64,
    cpu: Option<u64>,
}

/// Data moved, by command, direction and kind of file, the most bytes first.
pub(super) fn transfers(counts: &Counts, abi: Abi) -> Vec<TransferRow> {
    let mut rows = moved(&counts.calls, abi, |_| None);
    rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    rows
}

/// A file has a row of its own if it has this part of the CPU time of all files or more.
const OWN_ROW: f64 = 0.01;

/// Data of files and devices, by file too, the most CPU time first. Without the path of any there is nothing to tell.
pub(super) fn files(counts: &Counts, abi: Abi) -> Vec<TransferRow> {
    let mut times: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    let cells = || counts.calls.iter().filter(|cell| cell.file.has_path());
    for cell in cells() {
        *times.entry(cell.path.as_deref()).or_default() += cpu(cell).unwrap_or(0);
    }
    let least = number(times.values().sum()) * OWN_ROW;
    let large = |path: &&str| times.get(&Some(*path)).is_some_and(|ns| number(*ns) >= least);
    let mut rows = moved(cells(), abi, |cell| cell.path.as_deref().filter(large));
    if rows.iter().all(|row| row.path.is_none()) {
        rows.clear();
    }
    largest_first(&mut rows, |row| row.cpu_s.unwrap_or(0.0));
    rows
}

fn moved<'a>(
    cells: impl IntoIterator<Item = &'a CallCell>,
    abi: Abi,
    path: impl Fn(&'a CallCell) -> Option<&'a str>,
) -> Vec<TransferRow> {
    let mut sums: BTreeMap<(CommandName, Direction, FileKind, Option<&str>), Moved> = BTreeMap::new();
    for cell in cells {
        let Some((bytes, direction)) = cell.bytes.zip(class::direction(abi, cell.call)) else { continue };
        let key = (cell.by.command(), direction, cell.file, path(cell));
        let sum = sums.entry(key).or_insert(Moved { calls: 0, bytes: 0, cpu: Some(0) });
        sum.calls += cell.entered;
        sum.bytes += bytes;
        sum.cpu = sum.cpu.zip(cpu(cell)).map(|(sum, cpu)| sum + cpu);
    }
    let row = |((command, direction, file, path), sum): ((_, _, _, Option<&str>), Moved)| TransferRow {
        command,
        direction,
        file,
        path: path.map(str::to_owned),
        calls: sum.calls,
        bytes: sum.bytes,
        cpu_s: sum.cpu.map(seconds),
    };
    sums.into_iter().map(row).collect()
}

/// Divides a number in proportion, exactly: the part, and the rest. Nothing of it where there is nothing to go by.
pub(super) fn split(all: u64, part: u64, whole: u64) -> (u64, u64) {
    let part = u128::from(all) * u128::from(part.min(whole)) / u128::from(whole.max(1));
    let part = u64::try_from(part).unwrap_or(all);
    (part, all - part)
}

#[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}
