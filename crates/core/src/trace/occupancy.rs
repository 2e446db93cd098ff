//! Who ran on which CPU while the tree lived: a fold of its own over the stream, for who asks for it.
//!
//! From the first program of the tree to its last end, every moment of every CPU belongs to one row. What a CPU did before
//! its first record is known from that record: whoever leaves it had been there.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::event::{Event, TaskKind, Tid, What};
use super::labels;
use super::report::SharerKind;

/// How long somebody had a CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuRow {
    /// The CPU.
    pub cpu: u16,
    /// Who: a command, a thread of the kernel with the function that it worked on, "(idle)".
    pub who: String,
    /// What kind. [`SharerKind::Idle`] is nobody.
    pub kind: SharerKind,
    /// How long.
    pub seconds: f64,
}

/// Who a task is.
#[derive(Clone, Debug)]
struct Who {
    kind: SharerKind,
    name: String,
    work: Option<String>,
}

/// What one CPU does.
#[derive(Clone, Copy, Debug)]
struct Cpu {
    current: Tid,
    since: u64,
}

/// By CPU, kind and name.
type Sums = BTreeMap<(u16, SharerKind, String), u64>;

/// The fold.
#[derive(Debug, Default)]
pub struct Occupancy {
    tasks: FxHashMap<Tid, Who>,
    cpus: BTreeMap<u16, Cpu>,
    began: Option<u64>,
    /// Up to the last end of a task of the tree.
    sums: Sums,
    /// Since then: it counts once another one ends.
    since_end: Sums,
}

impl Occupancy {
    /// Takes in the next event.
    pub fn push(&mut self, event: &Event) {
        let now = event.at;
        match &event.what {
            What::Switch { prev, next, .. } => {
                self.cpus
                    .entry(event.cpu)
                    .or_insert(Cpu { current: *prev, since: self.began.unwrap_or(now) });
                self.flush(event.cpu, now);
                if let Some(cpu) = self.cpus.get_mut(&event.cpu) {
                    cpu.current = *next;
                }
            }
            What::Exec { task, name, .. } => {
                self.flush_all(now);
                self.began.get_or_insert(now);
                self.tasks.insert(*task, Who { kind: SharerKind::Tree, name: name.clone(), work: None });
            }
            What::Fork { parent, child, .. } => {
                let name = self.tasks.get(parent).map_or_else(String::new, |who| who.name.clone());
                self.tasks.insert(*child, Who { kind: SharerKind::Tree, name, work: None });
            }
            What::Name { task, name, kind, .. } => self.name(*task, name, *kind),
            What::Work { task, function } => {
                self.flush(event.cpu, now);
                if let Some(who) = self.tasks.get_mut(task) {
                    who.work = Some(function.clone());
                }
            }
            What::End { task, .. } => {
                self.flush_all(now);
                for (key, ns) in std::mem::take(&mut self.since_end) {
                    *self.sums.entry(key).or_default() += ns;
                }
                self.tasks.remove(task);
            }
            _ => {}
        }
    }

    /// The rows: by CPU, the longest first.
    pub fn rows(&self) -> Vec<CpuRow> {
        let row = |((cpu, kind, who), ns): (&(u16, SharerKind, String), &u64)| CpuRow {
            cpu: *cpu,
            who: who.clone(),
            kind: *kind,
            // Nanoseconds of a run are far below 2^53.
            seconds: *ns as f64 / 1e9,
        };
        let mut rows: Vec<CpuRow> = self.sums.iter().map(row).collect();
        rows.sort_by(|a, b| a.cpu.cmp(&b.cpu).then(b.seconds.total_cmp(&a.seconds)));
        rows
    }

    /// The part of the time of these CPUs that other programs, or other machines on this hardware, had.
    pub fn strangers(&self, cpus: &[u32]) -> f64 {
        let these = |cpu: u16| cpus.is_empty() || cpus.contains(&u32::from(cpu));
        let sum = |wanted: &dyn Fn(SharerKind) -> bool| -> u64 {
            self.sums
                .iter()
                .filter(|((cpu, kind, _), _)| these(*cpu) && wanted(*kind))
                .map(|(_, ns)| ns)
                .sum()
        };
        let others = sum(&|kind| matches!(kind, SharerKind::Other | SharerKind::Steal));
        let seen = self.cpus.keys().filter(|cpu| these(**cpu)).count();
        // A CPU without any record stood idle, or one task of somebody else had it all the time: the former is more likely.
        let unseen = cpus.len().saturating_sub(seen);
        let all = sum(&|_| true) as f64;
        let time = if seen > 0 { all * (1.0 + unseen as f64 / seen as f64) } else { 0.0 };
        if time > 0.0 { others as f64 / time } else { 0.0 }
    }

    fn name(&mut self, task: Tid, name: &str, kind: TaskKind) {
        let (kind, name) = match kind {
            // A task of the tree has the name of its exec.
            TaskKind::Tree if self.tasks.contains_key(&task) => return,
            TaskKind::Tree => (SharerKind::Tree, name),
            TaskKind::Tool => (SharerKind::Tool, "whyfaster"),
            TaskKind::Kernel => (SharerKind::Kernel, labels::kernel(name)),
            TaskKind::Other => (SharerKind::Other, name),
        };
        self.tasks.insert(task, Who { kind, name: name.to_owned(), work: None });
    }

    fn flush_all(&mut self, now: u64) {
        let cpus: Vec<u16> = self.cpus.keys().copied().collect();
        cpus.into_iter().for_each(|cpu| self.flush(cpu, now));
    }

    /// Gives the time up to now to who has the CPU.
    fn flush(&mut self, number: u16, now: u64) {
        let Some(cpu) = self.cpus.get_mut(&number) else { return };
        let (task, since) = (cpu.current, std::mem::replace(&mut cpu.since, now));
        let Some(began) = self.began else { return };
        let passed = now.saturating_sub(since.max(began));
        if passed > 0 {
            let (kind, name) = self.who(task);
            *self.since_end.entry((number, kind, name)).or_default() += passed;
        }
    }

    fn who(&self, task: Tid) -> (SharerKind, String) {
        match self.tasks.get(&task) {
            _ if task == 0 => (SharerKind::Idle, "(idle)".to_owned()),
            None => (SharerKind::Other, "(unnamed)".to_owned()),
            Some(Who { kind, name, work: Some(function) }) => (*kind, format!("{name} {function}")),
            Some(who) => (who.kind, who.name.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{Left, Totals};
    use super::*;

    fn at(at: u64, cpu: u16, what: What) -> Event {
        Event { at, cpu, what }
    }

    fn switch(prev: Tid, next: Tid) -> What {
        What::Switch { prev, next, left: Left::Sleeping, block: None }
    }

    fn name(task: Tid, name: &str, kind: TaskKind) -> What {
        What::Name { task, process: task, name: name.to_owned(), kind }
    }

    fn exec(task: Tid, name: &str) -> What {
        What::Exec { task, former: task, name: name.to_owned(), path: None, so_far: Totals::default() }
    }

    fn end(task: Tid) -> What {
        What::End { task, process: task, status: Some(0), totals: Totals::default() }
    }

    fn pushed(events: Vec<Event>) -> Vec<(u16, String, u64)> {
        let mut occupancy = Occupancy::default();
        events.iter().for_each(|event| occupancy.push(event));
        occupancy
            .rows()
            .into_iter()
            .map(|row| (row.cpu, row.who, (row.seconds * 1e9).round() as u64))
            .collect()
    }

    #[test]
    fn every_moment_of_a_cpu_has_an_owner_between_exec_and_last_end() {
        let rows = pushed(vec![
            at(10, 0, switch(0, 5)),
            at(100, 0, exec(5, "awk")),
            at(100, 1, name(7, "kworker/1:2", TaskKind::Kernel)),
            // The first record of this CPU says who was there: nobody, since the exec.
            at(150, 1, switch(0, 7)),
            at(150, 1, What::Work { task: 7, function: "decrypt".to_owned() }),
            at(250, 1, switch(7, 0)),
            at(300, 0, end(5)),
            // After the last end nothing counts.
            at(900, 0, switch(5, 0)),
            at(950, 1, switch(0, 7)),
        ]);
        let kernel = rows.iter().find(|(_, who, _)| who.contains("decrypt")).unwrap();
        assert_eq!((kernel.0, kernel.2), (1, 100));
        assert!(rows.contains(&(0, "awk".to_owned(), 200)), "{rows:?}");
        let of = |cpu| rows.iter().filter(|row| row.0 == cpu).map(|row| row.2).sum::<u64>();
        assert_eq!((of(0), of(1)), (200, 200), "{rows:?}");
    }

    #[test]
    fn what_others_have_is_a_part_of_all_cpus() {
        let mut occupancy = Occupancy::default();
        for event in [
            at(0, 0, switch(0, 5)),
            at(0, 0, exec(5, "awk")),
            at(0, 1, name(7, "make", TaskKind::Other)),
            at(0, 1, switch(0, 7)),
            at(50, 1, switch(7, 0)),
            at(100, 0, end(5)),
        ] {
            occupancy.push(&event);
        }
        assert!((occupancy.strangers(&[0, 1]) - 0.25).abs() < 1e-9);
        assert!((occupancy.strangers(&[0, 1, 2, 3]) - 0.125).abs() < 1e-9, "two that did nothing");
        assert!((occupancy.strangers(&[]) - 0.25).abs() < 1e-9);
        assert_eq!((occupancy.strangers(&[0]), Occupancy::default().strangers(&[0])), (0.0, 0.0));
    }

    #[test]
    fn an_exec_changes_the_name_from_there_on() {
        let rows = pushed(vec![
            at(0, 0, exec(5, "sh")),
            at(0, 0, switch(0, 5)),
            at(40, 0, exec(5, "awk")),
            at(100, 0, end(5)),
        ]);
        assert_eq!(rows, [(0, "awk".to_owned(), 60), (0, "sh".to_owned(), 40)]);
    }
}
