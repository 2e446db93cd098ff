//! A trace of as many scheduling records as one likes, for the test that its page opens and moves: tasks that hand on to each other on a
//! few CPUs. Nothing in it was measured.

use std::path::Path;

use anyhow::Result;
use whyfaster_core::host::Host;
use whyfaster_core::status::Status;
use whyfaster_core::trace::counts::Counts;
use whyfaster_core::trace::event::{Block, Context, Event, FileKind, Left, Totals, What};
use whyfaster_core::trace::names::Abi;
use whyfaster_core::trace::plan::{Target, TracePlan};
use whyfaster_core::trace::record::{Runs, SCHEMA, TraceRecord};
use whyfaster_core::trace::report::Level;
use whyfaster_core::trace::stored::Recorder;
use whyfaster_core::trace::{Facts, Scheduling, Setting, TraceReport};

const CPUS: u16 = 8;
const TASKS: u32 = 240;
const FIRST: u32 = 1000;

/// Writes such a trace of about so many records.
pub(crate) fn write(events: u64, file: &Path) -> Result<()> {
    let mut recorder = Recorder::new(usize::MAX);
    let mut at = 1_000_000_000;
    let mut push = |cpu: u16, what: What| {
        at += 900 + at % 377;
        recorder.push(&Event { at, cpu, what });
    };
    for task in FIRST..FIRST + TASKS {
        let parent = if task == FIRST { 0 } else { FIRST };
        push(0, What::Fork { parent, child: task, process: task, allowed: vec![0xff] });
        let name = format!("worker-{}", task % 7);
        push(0, What::Exec { task, former: task, name, path: None, so_far: Totals::default() });
    }
    let block = Block { call: None, fault: false, io: false, file: FileKind::Pipe, inode: 7, bitset: false };
    let mut running = [0_u32; CPUS as usize];
    for round in 0..events / 2 {
        let cpu = (round % u64::from(CPUS)) as u16;
        // Each CPU has tasks of its own, so that none runs in two places.
        let turn = (round / u64::from(CPUS)) as u32 % (TASKS / u32::from(CPUS));
        let next = FIRST + u32::from(cpu) + turn * u32::from(CPUS);
        let prev = std::mem::replace(&mut running[usize::from(cpu)], next);
        let left = if round % 5 == 0 { Left::Runnable } else { Left::Sleeping };
        push(cpu, What::Wake { wakee: next, waker: prev, context: Context::Task });
        push(cpu, What::Switch { prev, next, left, block: (left == Left::Sleeping).then_some(block) });
    }
    for task in FIRST..FIRST + TASKS {
        push(0, What::End { task, process: task, status: Some(0), totals: Totals::default() });
    }
    let setting = Setting {
        level: Level::Full,
        scheduling: Scheduling::Whole,
        running: false,
        abi: Abi::X86_64,
        cores: Vec::new(),
        open: Vec::new(),
        avoidable_from_ns: 50_000,
    };
    let stored = recorder.finish(setting, Counts::default(), Facts::default())?;
    let record = TraceRecord {
        schema: SCHEMA.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        took_s: 1.0,
        status: Status::Complete,
        ended_by: None,
        plan: TracePlan::new(Target::Command("generated".to_owned())),
        host: Host::default(),
        exit_status: Some(0),
        runs: Runs::default(),
        report: TraceReport::default(),
        schedule: Some(stored),
    };
    std::fs::write(file, serde_json::to_vec(&record)?)?;
    Ok(())
}
