//! Processes, and the tree of them folded by command.
//!
//! A process stands in the tree under the program that it ran last, below the command that its parent ran when it made
//! it. Processes with the same chain of commands above them are one row.

use rustc_hash::FxHashMap;

use super::event::Pid;
use super::labels::{Label, Labels};
use super::ledger::seconds;
use super::report::TreeRow;

/// Rows of the tree. Beyond, a process is counted in the row of its parent.
const MOST: usize = 1 << 14;

/// How many came and went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) forks: u64,
    pub(super) threads: u64,
    pub(super) execs: u64,
    pub(super) exits: u64,
    pub(super) alive: u64,
}

/// A process while any of its tasks lives.
#[derive(Debug)]
pub(super) struct Process {
    tasks: u64,
    /// Row of the parent when it made this.
    above: Option<usize>,
    label: Label,
    from: u64,
    run: u64,
    /// Still there when observing ended.
    alive: bool,
}

/// What is left of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone {
    pub(super) label: Label,
    pub(super) life: u64,
}

#[derive(Debug)]
struct Row {
    parent: Option<usize>,
    label: Label,
    processes: u64,
    run: u64,
    life: u64,
}

/// All processes.
#[derive(Debug, Default)]
pub(super) struct Processes {
    live: FxHashMap<Pid, Process>,
    rows: Vec<Row>,
    by_chain: FxHashMap<(Option<usize>, Label), usize>,
    /// By the command that made them.
    made: FxHashMap<Label, Made>,
    pub(super) counted: Counted,
    /// Processes that nobody of the tree made.
    pub(super) first: u64,
}

/// What a command made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Made {
    pub(super) processes: u64,
    pub(super) threads: u64,
}

impl Processes {
    /// A task was made: a process, or a thread of one that is there. `parent` is `None` for what was there before.
    pub(super) fn forked(&mut self, parent: Option<Pid>, process: Pid, label: Label, at: u64) {
        if let Some(process) = self.live.get_mut(&process) {
            process.tasks += 1;
            if parent.is_some() {
                self.made.entry(label).or_default().threads += 1;
            }
            self.counted.threads += u64::from(parent.is_some());
            return;
        }
        if let Some(by) = parent.and_then(|parent| self.live.get(&parent)).map(|by| by.label) {
            self.made.entry(by).or_default().processes += 1;
        }
        let above = parent.and_then(|parent| self.row_of(parent));
        let new = Process { tasks: 1, above, label, from: at, run: 0, alive: false };
        self.live.insert(process, new);
        // What was there before, or held, was not made by a task of the tree.
        self.counted.forks += u64::from(parent.is_some());
    }

    /// A process that was there before was made by this one.
    pub(super) fn found_below(&mut self, process: Pid, parent: Pid) {
        let above = self.row_of(parent);
        if let Some(process) = self.live.get_mut(&process) {
            process.above = above;
        }
    }

    /// What this command made.
    pub(super) fn made(&self, by: Label) -> Made {
        self.made.get(&by).copied().unwrap_or_default()
    }

    /// A process runs another program. Its time may begin here.
    pub(super) fn renamed(&mut self, process: Pid, label: Label, begins: Option<u64>) {
        if let Some(process) = self.live.get_mut(&process) {
            process.label = label;
            process.from = begins.unwrap_or(process.from);
        }
    }

    /// A task is gone, having run for so long. The process, if that was its last task.
    pub(super) fn ended(&mut self, process: Pid, run: u64, at: u64, alive: bool) -> Option<Gone> {
        let it = self.live.get_mut(&process)?;
        it.run += run;
        it.alive |= alive;
        it.tasks = it.tasks.saturating_sub(1);
        if it.tasks > 0 {
            return None;
        }
        let row = self.row_of(process);
        let it = self.live.remove(&process)?;
        if it.alive {
            self.counted.alive += 1;
        } else {
            self.counted.exits += 1;
        }
        let life = at.saturating_sub(it.from);
        if let Some(row) = row.and_then(|row| self.rows.get_mut(row)) {
            row.processes += 1;
            row.run += it.run;
            row.life += life;
        }
        Some(Gone { label: it.label, life })
    }

    /// The row in which a process stands now.
    fn row_of(&mut self, process: Pid) -> Option<usize> {
        let it = self.live.get(&process)?;
        // A fork of a fork that runs the same program stands with it: a chain of them is not a tree of a thousand levels.
        if let Some(above) = it.above.filter(|above| self.rows[*above].label == it.label) {
            return Some(above);
        }
        let chain = (it.above, it.label);
        if let Some(row) = self.by_chain.get(&chain) {
            return Some(*row);
        }
        if self.rows.len() >= MOST {
            return it.above;
        }
        self.rows.push(Row { parent: it.above, label: it.label, processes: 0, run: 0, life: 0 });
        self.by_chain.insert(chain, self.rows.len() - 1);
        Some(self.rows.len() - 1)
    }

    /// The tree, parents before children, siblings by their processes' CPU time.
    pub(super) fn rows(&self, labels: &Labels) -> Vec<TreeRow> {
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.rows.len()];
        let mut open: Vec<(usize, Option<usize>)> = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            match row.parent {
                Some(parent) => below[parent].push(index),
                None => open.push((index, None)),
            }
        }
        let order =
            |rows: &mut Vec<usize>| rows.sort_by_key(|row| (self.rows[*row].run, std::cmp::Reverse(*row)));
        below.iter_mut().for_each(order);
        open.reverse();
        let mut tree = Vec::new();
        while let Some((index, parent)) = open.pop() {
            let row = &self.rows[index];
            tree.push(TreeRow {
                parent,
                command: labels.command(row.label).clone(),
                processes: row.processes,
                cpu_s: seconds(row.run),
                life_s: seconds(row.life),
            });
            let at = tree.len() - 1;
            open.extend(below[index].iter().map(|child| (*child, Some(at))));
        }
        tree
    }
}
