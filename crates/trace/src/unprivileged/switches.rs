//! When each task of a tree got a CPU and left it, and stacks of what it ran, by the kernel's perf events: made for users
//! without privileges (Linux 4.3, commit 45ac1403f564), where `kernel.perf_event_paranoid` and containers allow them.
//!
//! Only what user code did may be seen, so stacks hold no frames of the kernel. Events of one CPU come in order.

use std::collections::HashMap;
use std::io;

use libbpf_rs::libbpf_sys::{self, perf_event_attr};
use whyfaster_core::trace::counts::{CpuLost, Lost};
use whyfaster_core::trace::event::{Event, Left, Pid, Stack, Tid, What};

use crate::full::symbols::Symbols;
use crate::full::watch::apply;
use crate::ring::{self, LOST, RECORDS_END_WITH, Record, Ring, SAMPLE, number};

/// A switch, and how it is marked (linux/perf_event.h).
const SWITCH: u32 = 14;
const OUT: u16 = 1 << 13;
const OUT_PREEMPT: u16 = 1 << 14;

/// Entries of a call chain from here on are marks between its parts (`PERF_CONTEXT_MAX`).
const MARKS: u64 = -4095_i64 as u64;

/// The switches of a tree.
#[derive(Debug)]
pub(super) struct Switches {
    rings: Vec<Ring>,
    symbols: Symbols,
    /// Who is on each CPU, as far as it is of the tree, by the number in the kernel's records.
    running: HashMap<u16, (Pid, Tid)>,
    /// Threads that execute a program and have the number of their process's first thread already, which the stream does
    /// not know yet: by that number, the one under which they are known.
    renumbered: HashMap<Tid, Tid>,
    /// Records for which there was no room.
    pub(super) lost: Lost,
}

impl Switches {
    /// Whether such records may be had here, and stacks this many times a second: tried on this process itself, for the
    /// memory that they need may be refused as well.
    pub(super) fn allowed(samples_per_s: Option<u32>) -> io::Result<()> {
        Self::of(0, samples_per_s).map(drop)
    }

    /// Records the switches of a process and of all that will come from it, and stacks this many times a second.
    pub(super) fn of(process: i32, samples_per_s: Option<u32>) -> io::Result<Self> {
        let mut rings = Vec::new();
        let attributes = [Some(switches()), samples_per_s.map(samples)];
        for attributes in attributes.into_iter().flatten() {
            for event in ring::on_every_cpu(&attributes, process)? {
                rings.push(Ring::new(event)?);
            }
        }
        Ok(Self {
            rings,
            symbols: Symbols::default(),
            running: HashMap::new(),
            renumbered: HashMap::new(),
            lost: Lost::default(),
        })
    }

    /// Takes in what has come, in the order of time.
    pub(super) fn take(&mut self, into: &mut Vec<Event>) {
        let mut records = Vec::new();
        self.rings.iter_mut().for_each(|ring| ring.take(&mut records));
        records.sort_by_key(|record| record.at);
        for record in &records {
            match record.kind {
                LOST => {
                    let ring = number(&record.body, 8).unwrap_or(0);
                    self.lost.count(&CpuLost { cpu: record.cpu, ring, ..CpuLost::default() });
                }
                SWITCH => self.switch(record, into),
                SAMPLE => into.extend(self.sample(record)),
                _ => {
                    // What is mapped where, to name frames.
                    let _ = apply(record, &mut self.symbols.images);
                }
            }
        }
        self.symbols.images.forget_ended();
    }

    /// How many records were lost behind the last one.
    pub(super) fn untold(&mut self) -> u64 {
        ring::untold(&mut self.rings)
    }

    fn sample(&mut self, record: &Record) -> Option<Event> {
        let count = usize::try_from(number(&record.body, 24)?).ok()?;
        let frames = record.body.get(32..)?.chunks_exact(8).take(count).filter_map(|frame| number(frame, 0));
        let frames: Vec<u64> = frames.filter(|address| *address < MARKS).collect();
        let user = self.symbols.user(record.who.0, record.at, &frames);
        let what = What::Stack(Stack { task: record.who.1, blocking: false, kernel: Vec::new(), user });
        Some(Event { at: record.at, cpu: record.cpu, what })
    }

    /// The stream knows from here on that a thread has the number of its process's first one. Call it when all records
    /// up to then were taken.
    pub(super) fn told_of_exec(&mut self, task: Tid) {
        self.renumbered.remove(&task);
    }

    /// Who else ran is not told: 0 stands for anybody. A task that ends leaves its CPU without a record, because its events
    /// end before it; that it is gone shows when the next one comes.
    fn switch(&mut self, record: &Record, into: &mut Vec<Event>) {
        let ((process, task), out) = (record.who, record.misc & OUT != 0);
        let before = self.running.remove(&record.cpu);
        if out
            && let Some((of, former)) =
                before.filter(|(of, before)| (*of, process) == (task, task) && *before != task)
        {
            // It came as one thread and leaves as the first one of its process: it took over that number to execute a
            // program (de_thread() in the kernel's fs/exec.c), and who had the number is gone.
            let last = self.running.iter().find(|(_, it)| **it == (of, task)).map(|(cpu, _)| *cpu);
            if let Some(cpu) = last {
                self.running.remove(&cpu);
                into.push(switched(record.at, cpu, (task, 0), Left::Dead));
            }
            self.renumbered.insert(task, former);
        } else if let Some((_, gone)) = before.filter(|before| before.1 != task) {
            into.push(switched(record.at, record.cpu, (self.known(gone), 0), Left::Dead));
        }
        let known = self.known(task);
        into.push(if !out {
            self.running.insert(record.cpu, record.who);
            switched(record.at, record.cpu, (0, known), Left::Runnable)
        } else {
            let preempted = record.misc & OUT_PREEMPT != 0;
            let left = if preempted { Left::Runnable } else { Left::Sleeping };
            switched(record.at, record.cpu, (known, 0), left)
        });
    }

    /// The number under which the stream knows a task.
    fn known(&self, task: Tid) -> Tid {
        self.renumbered.get(&task).copied().unwrap_or(task)
    }
}

fn switched(at: u64, cpu: u16, (prev, next): (Tid, Tid), left: Left) -> Event {
    Event { at, cpu, what: What::Switch { prev, next, left, block: None } }
}

/// An event that counts nothing and records switches, and what is mapped.
fn switches() -> perf_event_attr {
    let mut attributes = common(libbpf_sys::PERF_COUNT_SW_DUMMY);
    attributes.set_context_switch(1);
    attributes.set_mmap(1);
    attributes.set_mmap2(1);
    attributes.set_comm(1);
    attributes.set_comm_exec(1);
    attributes.set_task(1);
    attributes
}

/// The CPU's clock of user code.
fn samples(per_second: u32) -> perf_event_attr {
    let mut attributes = common(libbpf_sys::PERF_COUNT_SW_CPU_CLOCK);
    attributes.__bindgen_anon_1.sample_freq = u64::from(per_second);
    attributes.set_freq(1);
    attributes.sample_type |= u64::from(libbpf_sys::PERF_SAMPLE_CALLCHAIN);
    attributes.set_exclude_callchain_kernel(1);
    attributes
}

fn common(config: u32) -> perf_event_attr {
    let mut attributes = perf_event_attr {
        type_: libbpf_sys::PERF_TYPE_SOFTWARE,
        config: u64::from(config),
        sample_type: RECORDS_END_WITH,
        clockid: libc::CLOCK_MONOTONIC,
        ..perf_event_attr::default()
    };
    attributes.set_sample_id_all(1);
    attributes.set_use_clockid(1);
    attributes.set_exclude_kernel(1);
    attributes.set_exclude_hv(1);
    attributes.set_inherit(1);
    attributes
}
