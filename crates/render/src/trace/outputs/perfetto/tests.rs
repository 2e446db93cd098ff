//! What is written is read again: by the same messages, and by Perfetto's own where its Python package is installed.

use std::path::Path;
use std::process::Command;

use prost::Message;
use whyfaster_core::trace::counts::{CpuLost, Lost};
use whyfaster_core::trace::event::{
    Block, Call, CallNumber, Context, Event, FileKind, Left, Softirq, TaskKind, Tid, Totals, What,
};
use whyfaster_store::OutputFile;

use super::proto::{Kernel, Packet, Trace};
use super::{Clock, HARDIRQ, Perfetto};
use crate::skip::{machine, needs, tool};

const CLOCK: Clock =
    Clock { monotonic_ns: 1_000, boottime_ns: 501_000, realtime_ns: 1_700_000_000_000_000_000 };

fn at(at: u64, cpu: u16, what: What) -> Event {
    Event { at, cpu, what }
}

fn switch(prev: Tid, next: Tid, left: Left, block: Option<Block>) -> What {
    What::Switch { prev, next, left, block }
}

fn end(task: Tid) -> What {
    What::End { task, process: task, status: Some(0), totals: Totals::default() }
}

/// A reader blocks on a pipe, its writer wakes it, a timer wakes it, it ends; a stranger runs between.
fn story() -> Vec<Event> {
    let pipe = Block {
        call: Some(CallNumber { number: 0, compat: false }),
        fault: false,
        io: false,
        file: FileKind::Pipe,
        inode: 7,
        bitset: false,
    };
    let fork = |parent, child| What::Fork { parent, child, process: child, allowed: vec![3] };
    let exec = |task, name: &str| What::Exec {
        task,
        former: task,
        name: name.to_owned(),
        path: Some(format!("/usr/bin/{name}")),
        so_far: Totals::default(),
    };
    let wake = |wakee, waker, context| What::Wake { wakee, waker, context };
    let first = vec![
        at(
            1_000,
            0,
            What::Name { task: 99, process: 99, name: "stranger".to_owned(), kind: TaskKind::Other },
        ),
        at(1_001, 0, fork(0, 10)),
        at(1_002, 0, exec(10, "sh")),
        at(1_010, 0, fork(10, 11)),
        at(1_011, 0, wake(11, 10, Context::Task)),
        at(1_012, 0, What::Queued { task: 11, on: 1 }),
        at(1_020, 1, switch(0, 11, Left::Runnable, None)),
        at(1_021, 1, exec(11, "cat")),
        at(1_030, 1, switch(11, 99, Left::Sleeping, Some(pipe))),
        at(1_060, 0, wake(11, 10, Context::Task)),
        at(1_061, 0, What::Queued { task: 11, on: 1 }),
        at(1_062, 1, What::Migrate { task: 11, from: 1, to: 0 }),
        at(1_070, 0, switch(10, 11, Left::Runnable, None)),
        at(
            1_075,
            0,
            What::Call(Call {
                task: 11,
                call: CallNumber { number: 0, compat: false },
                began: 1_025,
                args: [0, 0, 65536, 0, 0, 0],
                result: Some(512),
                path: None,
                run_ns: 10,
                runnable_ns: 10,
            }),
        ),
    ];
    first.into_iter().chain(second(pipe)).collect()
}

/// It waits for a disk, sleeps, and ends.
fn second(pipe: Block) -> Vec<Event> {
    // nanosleep on x86-64; without a name the timer that wakes it says enough.
    let sleep = Block { call: Some(CallNumber { number: 35, compat: false }), file: FileKind::None, ..pipe };
    let wake = |wakee, waker, context| What::Wake { wakee, waker, context };
    vec![
        at(
            1_080,
            0,
            switch(11, 10, Left::Uninterruptible, Some(Block { file: FileKind::File, io: true, ..pipe })),
        ),
        at(1_090, 1, wake(11, 0, Context::Softirq(Softirq::Block))),
        at(1_095, 0, switch(10, 11, Left::Runnable, None)),
        at(1_096, 0, switch(11, 10, Left::Sleeping, Some(sleep))),
        at(1_097, 0, wake(11, 0, Context::Timer)),
        at(1_098, 0, switch(10, 11, Left::Sleeping, None)),
        at(1_100, 0, switch(11, 0, Left::Dead, None)),
        at(1_100, 0, end(11)),
        at(1_101, 0, What::End { task: 10, process: 10, status: None, totals: Totals::default() }),
    ]
}

fn write(path: &Path, lost: &Lost) {
    let mut perfetto = Perfetto::begin(OutputFile::new(path).begin().unwrap(), CLOCK).unwrap();
    for event in story() {
        perfetto.push(&event).unwrap();
    }
    assert!(!path.exists(), "half a file has a name");
    perfetto.finish(lost).unwrap().commit().unwrap();
}

fn lost() -> Lost {
    Lost {
        ring: 5,
        gaps: 2,
        by_cpu: vec![CpuLost { cpu: 1, ring: 5, ..CpuLost::default() }],
        ..Lost::default()
    }
}

fn written() -> Vec<Packet> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.pftrace");
    write(&path, &lost());
    Trace::decode(std::fs::read(&path).unwrap().as_slice()).unwrap().packets
}

#[test]
fn the_kernels_events_stand_in_bundles_of_their_cpu() {
    let packets = written();
    let bundles: Vec<_> = packets.iter().filter_map(|packet| packet.ftrace.as_ref()).collect();
    assert_eq!(bundles.iter().map(|bundle| bundle.cpu).collect::<Vec<_>>(), [Some(0), Some(1)]);
    let all: Vec<_> = bundles.iter().flat_map(|bundle| &bundle.events).collect();
    let switches: Vec<_> = all
        .iter()
        .filter_map(|event| match event.what.as_ref() {
            Some(Kernel::Switch(s)) => {
                Some((event.timestamp, s.prev_comm.as_deref(), s.prev_state, s.next_comm.as_deref()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(switches.len(), 8);
    // Boot time is half a millisecond ahead of the monotonic clock here.
    assert!(switches.contains(&(Some(501_030), Some("cat"), Some(1), Some("stranger"))), "{switches:?}");
    assert!(switches.contains(&(Some(501_100), Some("cat"), Some(0x10), Some("swapper"))), "{switches:?}");
    let wakes: Vec<_> = all.iter().filter(|event| matches!(event.what, Some(Kernel::Waking(_)))).collect();
    assert_eq!(wakes.len(), 3);
    assert_eq!((wakes[0].pid, wakes[0].flags), (Some(10), None));
    assert_eq!(wakes.iter().filter(|wake| wake.flags == Some(HARDIRQ)).count(), 1);
    assert_eq!(all.iter().filter(|event| matches!(event.what, Some(Kernel::WakeupNew(_)))).count(), 1);
    let ended = all.iter().filter(|event| matches!(event.what, Some(Kernel::Free(_)))).count();
    assert_eq!(ended, 1, "a task that was still there has not ended");
}

#[test]
fn waits_are_slices_and_wake_ups_are_arrows() {
    let packets = written();
    let events: Vec<_> = packets.iter().filter_map(|p| Some((p.timestamp?, p.event.as_ref()?))).collect();
    let named =
        |name: &str| events.iter().filter(|(_, e)| e.name.as_deref() == Some(name)).collect::<Vec<_>>();
    let piped = named("waiting for input from a pipe");
    assert_eq!(piped.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [501_030]);
    assert_eq!(named("waiting for a disk").len(), 1);
    assert_eq!(named("sleeping until a time").len(), 1);
    assert_eq!(named("lost").len(), 1);
    let starts: Vec<u64> = events.iter().flat_map(|(_, e)| e.flows.clone()).collect();
    let ends: Vec<u64> = events.iter().flat_map(|(_, e)| e.ending_flows.clone()).collect();
    assert_eq!((starts.clone(), starts.len()), (ends, 2), "an arrow has two ends");
    // On every track as many slices begin as end.
    let mut open = std::collections::HashMap::new();
    for (_, event) in &events {
        *open.entry(event.track).or_insert(0) += match event.kind {
            Some(1) => 1,
            Some(2) => -1,
            _ => 0,
        };
    }
    assert!(open.values().all(|open| *open == 0), "{open:?}");
}

#[test]
fn losses_are_told_per_cpu() {
    let stats: Vec<_> = written().into_iter().filter_map(|packet| packet.stats).collect();
    let dropped = |i: usize| stats[i].cpus.iter().map(|cpu| cpu.dropped.unwrap()).collect::<Vec<_>>();
    assert_eq!((stats[0].phase, dropped(0)), (Some(1), vec![0, 0]));
    assert_eq!((stats[1].phase, dropped(1)), (Some(2), vec![0, 5]));
}

#[test]
fn a_dropped_one_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let file = OutputFile::new(directory.path().join("t.pftrace")).begin().unwrap();
    let mut perfetto = Perfetto::begin(file, CLOCK).unwrap();
    story().iter().for_each(|event| perfetto.push(event).unwrap());
    drop(perfetto);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// Perfetto's own messages read the file: no unknown field, and the fields hold what they are to hold.
#[test]
fn perfettos_own_messages_read_it() {
    const READER: &str = r#"
import sys
try:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
    from google.protobuf.unknown_fields import UnknownFieldSet
except ImportError:
    sys.exit(77)
trace = Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
def known(message):
    assert len(UnknownFieldSet(message)) == 0, message
    for field, value in message.ListFields():
        if field.message_type is not None:
            many = hasattr(value, "add")
            for one in (value if many else [value]):
                known(one)
known(trace)
bundles = [p.ftrace_events for p in trace.packet if p.HasField("ftrace_events")]
kinds = [e.WhichOneof("event") for b in bundles for e in b.event]
tracks = [p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")]
names = sorted({p.track_event.name for p in trace.packet if p.HasField("track_event") and p.track_event.name})
dropped = [s.dropped_events for p in trace.packet if p.HasField("ftrace_stats") for s in p.ftrace_stats.cpu_stats]
print(sorted(set(kinds)), len(tracks), names, dropped, trace.packet[0].clock_snapshot.primary_trace_clock)
"#;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.pftrace");
    write(&path, &lost());
    // The interpreter is chosen by a variable, so that one with the package can be named.
    let python = std::env::var("WHYFASTER_TEST_PERFETTO_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    needs!(tool(&python));
    let output = Command::new(python).args(["-c", READER]).arg(&path).output().unwrap();
    needs!(machine(output.status.code() != Some(77), "Python package 'perfetto'"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    for part in [
        "'sched_migrate_task', 'sched_process_exec', 'sched_process_exit', 'sched_process_fork', 'sched_process_free', \
         'sched_switch', 'sched_wakeup', 'sched_wakeup_new', 'sched_waking', 'task_newtask', 'task_rename'",
        "'exec /usr/bin/cat'",
        "'waiting for a CPU'",
        "[0, 0, 0, 5] 6",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}
