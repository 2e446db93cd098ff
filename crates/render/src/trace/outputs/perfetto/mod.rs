//! A trace as Perfetto reads it (`ui.perfetto.dev`, `trace_processor`).
//!
//! Scheduling goes out as the kernel's own events in bundles per CPU (`sched_switch`, `sched_waking`, ...), so that the
//! stock views and the critical-path SQL work; why a task waited, its calls, and who woke whom go out as track events
//! with flow arrows. The file is written while the command runs: memory holds a few hundred events per CPU and what is
//! known of the living tasks.

mod proto;
mod tracks;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

use proto::{
    Bundle, ClockSnapshot, ClockValue, CpuStats, Ftrace, FtraceStats, Kernel, Packet, Process, ProcessTree,
    SystemInfo, Thread, Utsname, Wake,
};
use tracks::{Tracks, pid};
use whyfaster_core::trace::counts::Lost;
use whyfaster_core::trace::event::{Context, Event, Left, TaskKind, Tid, What};
use whyfaster_store::AtomicFile;
use whyfaster_words::display::FileOption;

use super::super::who::Who;
use super::clock::Clock;
use super::trace_file::{Made, Sink, TraceFile};

pub(super) static FILE: TraceFile = TraceFile {
    option: FileOption::new("perfetto", "Write a trace for the Perfetto user interface to FILE").short(),
    made: Made::OfEvents(|file, clock| Ok(Box::new(Perfetto::begin(file, clock)?))),
};

impl Sink for Perfetto<AtomicFile> {
    fn push(&mut self, event: &Event) -> io::Result<()> {
        self.push(event)
    }

    fn finish(self: Box<Self>, lost: &Lost) -> io::Result<AtomicFile> {
        (*self).finish(lost)
    }
}

/// Events of a CPU that are written together.
const BUNDLE: usize = 256;
/// Perfetto's numbers of the clocks (`ClockSnapshot.BuiltinClocks`).
const REALTIME: u32 = 1;
const MONOTONIC: u32 = 3;
const BOOTTIME: u32 = 6;
/// `TRACE_FLAG_HARDIRQ` and `TRACE_FLAG_SOFTIRQ` (include/linux/trace_events.h): Perfetto draws no waker for them.
const HARDIRQ: u32 = 0x08;
const SOFTIRQ: u32 = 0x10;
/// `CLONE_THREAD` (include/uapi/linux/sched.h): tells Perfetto a thread from a process.
const CLONE_THREAD: u64 = 0x10000;
/// Priority of a task without a nice value, as the kernel counts (`DEFAULT_PRIO`). The stream does not carry priorities.
const USUAL_PRIO: i32 = 120;

/// A file that grows with the trace; it is whole after [`Perfetto::finish`].
#[derive(Debug)]
struct Perfetto<W: Write> {
    out: Out<W>,
    clock: Clock,
    who: Who,
    tracks: Tracks,
    cpus: Vec<Cpu>,
    /// Where a task ran last: the CPU that `sched_waking` tells.
    last_cpu: HashMap<Tid, u16>,
}

#[derive(Debug, Default)]
struct Cpu {
    pending: Vec<Ftrace>,
    written: u64,
}

/// Where packets go.
#[derive(Debug)]
struct Out<W: Write> {
    file: BufWriter<W>,
    buffer: Vec<u8>,
}

impl<W: Write> Out<W> {
    fn packet(&mut self, packet: Packet) -> io::Result<()> {
        self.buffer.clear();
        // A file is a `Trace`: every packet is its field 1 with its length before it.
        prost::encoding::message::encode(1, &packet, &mut self.buffer);
        self.file.write_all(&self.buffer)
    }
}

impl<W: Write> Perfetto<W> {
    /// Begins the file.
    fn begin(file: W, clock: Clock) -> io::Result<Self> {
        let mut out = Out { file: BufWriter::with_capacity(1 << 18, file), buffer: Vec::new() };
        let value = |id, timestamp| ClockValue { id: Some(id), timestamp: Some(timestamp) };
        let clocks = vec![
            value(BOOTTIME, clock.boottime_ns),
            value(MONOTONIC, clock.monotonic_ns),
            value(REALTIME, clock.realtime_ns),
        ];
        let snapshot = ClockSnapshot { clocks, primary: i32::try_from(BOOTTIME).ok() };
        out.packet(Packet { clocks: Some(snapshot), ..Packet::default() })?;
        out.packet(Packet { system: Some(system()), ..Packet::default() })?;
        out.packet(tracks::first_packet())?;
        Ok(Self {
            out,
            clock,
            who: Who::default(),
            tracks: Tracks::default(),
            cpus: Vec::new(),
            last_cpu: HashMap::new(),
        })
    }

    /// Takes one event of the stream.
    fn push(&mut self, event: &Event) -> io::Result<()> {
        // The names before the event: a task that execs or ends is still who it was.
        let kernel = self.kernel(event);
        let at = self.clock.boottime(event.at);
        for event_of_kernel in kernel {
            self.ftrace(event.cpu, Ftrace { timestamp: Some(at), ..event_of_kernel })?;
        }
        if let What::Name { task, process, name, kind } = &event.what {
            self.name(*task, *process, name, *kind)?;
        }
        for packet in self.tracks.push(event, &self.who, self.clock) {
            self.out.packet(packet)?;
        }
        self.who.see(event);
        match event.what {
            What::Switch { next, .. } if next != 0 => drop(self.last_cpu.insert(next, event.cpu)),
            What::Migrate { task, to, .. } => drop(self.last_cpu.insert(task, to)),
            What::End { task, .. } => drop(self.last_cpu.remove(&task)),
            _ => {}
        }
        Ok(())
    }

    /// Writes what is pending and what was lost, and gives the file back.
    fn finish(mut self, lost: &Lost) -> io::Result<W> {
        for cpu in 0..self.cpus.len() {
            self.flush(cpu)?;
        }
        for packet in self.tracks.finish(lost) {
            self.out.packet(packet)?;
        }
        for (phase, lost) in [(1, &Lost::default()), (2, lost)] {
            let stats = FtraceStats { phase: Some(phase), cpus: self.stats(phase, lost) };
            self.out.packet(Packet { stats: Some(stats), ..Packet::default() })?;
        }
        self.out.file.into_inner().map_err(io::IntoInnerError::into_error)
    }

    /// What was lost per CPU, so that the user interface says so. Losses of unknown place stand at the first CPU.
    fn stats(&self, phase: i32, lost: &Lost) -> Vec<CpuStats> {
        let on = |cpu: usize| lost.by_cpu.iter().find(|it| usize::from(it.cpu) == cpu);
        let known: u64 = lost.by_cpu.iter().map(|it| it.ring).sum();
        let unknown = (lost.ring + lost.recursion).saturating_sub(known);
        let of = |cpu: usize| {
            let dropped = on(cpu).map_or(0, |it| it.ring) + if cpu == 0 { unknown } else { 0 };
            let read = self.cpus.get(cpu).filter(|_| phase == 2).map_or(0, |cpu| cpu.written);
            CpuStats { cpu: Some(cpu as u64), overrun: Some(0), dropped: Some(dropped), read: Some(read) }
        };
        let last = lost.by_cpu.last().map_or(0, |it| usize::from(it.cpu));
        (0..self.cpus.len().max(last + 1)).map(of).collect()
    }

    fn ftrace(&mut self, cpu: u16, event: Ftrace) -> io::Result<()> {
        let cpu = usize::from(cpu);
        if self.cpus.len() <= cpu {
            self.cpus.resize_with(cpu + 1, Cpu::default);
        }
        self.cpus[cpu].pending.push(event);
        if self.cpus[cpu].pending.len() >= BUNDLE { self.flush(cpu) } else { Ok(()) }
    }

    fn flush(&mut self, cpu: usize) -> io::Result<()> {
        let events = std::mem::take(&mut self.cpus[cpu].pending);
        if events.is_empty() {
            return Ok(());
        }
        self.cpus[cpu].written += events.len() as u64;
        let bundle = Bundle { cpu: u32::try_from(cpu).ok(), events };
        self.out.packet(Packet { ftrace: Some(bundle), ..Packet::default() })
    }

    /// Tasks that were there before, and those of others: the scheduling views need their processes.
    fn name(&mut self, task: Tid, process: Tid, name: &str, kind: TaskKind) -> io::Result<()> {
        if kind == TaskKind::Tree && self.who.get(task).is_some() {
            return Ok(());
        }
        let cmdline = if task == process { vec![name.to_owned()] } else { Vec::new() };
        let of_process = Process { pid: pid(process), cmdline, cmdline_is_comm: Some(true) };
        let thread = Thread { tid: pid(task), name: Some(name.to_owned()), tgid: pid(process) };
        let tree = ProcessTree { processes: vec![of_process], threads: vec![thread] };
        self.out.packet(Packet { processes: Some(tree), ..Packet::default() })
    }

    /// The kernel's events that say the same.
    fn kernel(&self, event: &Event) -> Vec<Ftrace> {
        let comm = |task: Tid| self.comm(task);
        match &event.what {
            What::Switch { prev, next, left, .. } => vec![by(
                *prev,
                0,
                Kernel::Switch(proto::Switch {
                    prev_comm: comm(*prev),
                    prev_pid: pid(*prev),
                    prev_prio: Some(USUAL_PRIO),
                    prev_state: Some(state(*left)),
                    next_comm: comm(*next),
                    next_pid: pid(*next),
                    next_prio: Some(USUAL_PRIO),
                }),
            )],
            What::Wake { wakee, waker, context } => {
                let target = self.last_cpu.get(wakee);
                let wake = self.wake(*wakee, *target.unwrap_or(&event.cpu));
                let new =
                    target.is_none() && self.who.get(*wakee).is_some_and(|known| known.forked && known.tree);
                vec![by(
                    *waker,
                    flags(context),
                    if new { Kernel::WakeupNew(wake) } else { Kernel::Waking(wake) },
                )]
            }
            What::Queued { task, on } => vec![by(0, 0, Kernel::Wakeup(self.wake(*task, *on)))],
            What::Migrate { task, from, to } => vec![by(
                0,
                0,
                Kernel::Migrate(proto::Migrate {
                    comm: comm(*task),
                    pid: pid(*task),
                    orig_cpu: Some(i32::from(*from)),
                    dest_cpu: Some(i32::from(*to)),
                }),
            )],
            what => self.life(what),
        }
    }

    /// Beginnings and ends of tasks and programs.
    fn life(&self, what: &What) -> Vec<Ftrace> {
        let comm = |task: Tid| self.comm(task);
        match what {
            What::Fork { parent, child, process, .. } => {
                let flags = if child == process { 0 } else { CLONE_THREAD };
                let new = proto::NewTask { pid: pid(*child), comm: comm(*parent), clone_flags: Some(flags) };
                let fork = proto::Fork {
                    parent_comm: comm(*parent),
                    parent_pid: pid(*parent),
                    child_comm: comm(*parent),
                    child_pid: pid(*child),
                };
                vec![by(*parent, 0, Kernel::NewTask(new)), by(*parent, 0, Kernel::Fork(fork))]
            }
            What::Exec { task, former, name, path, .. } => {
                let rename = proto::Rename { pid: pid(*task), old: comm(*former), new: Some(name.clone()) };
                let exec = proto::Exec { filename: path.clone(), pid: pid(*task), old_pid: pid(*former) };
                vec![by(*task, 0, Kernel::Rename(rename)), by(*task, 0, Kernel::Exec(exec))]
            }
            // A task that is still there has not ended.
            What::End { task, process, status: Some(_), .. } => {
                let exit = proto::Exit { comm: comm(*task), pid: pid(*task), tgid: pid(*process) };
                let free = proto::Free { comm: comm(*task), pid: pid(*task) };
                vec![by(*task, 0, Kernel::Exit(exit)), by(*task, 0, Kernel::Free(free))]
            }
            _ => Vec::new(),
        }
    }

    fn comm(&self, task: Tid) -> Option<String> {
        Some(if task == 0 { "swapper".to_owned() } else { self.who.name(task) })
    }

    fn wake(&self, task: Tid, cpu: u16) -> Wake {
        Wake {
            comm: Some(self.who.name(task)),
            pid: pid(task),
            prio: Some(USUAL_PRIO),
            success: Some(1),
            target_cpu: Some(i32::from(cpu)),
        }
    }
}

/// An event of the kernel while this task was running.
fn by(pid: Tid, flags: u32, what: Kernel) -> Ftrace {
    Ftrace { timestamp: None, pid: Some(pid), flags: (flags != 0).then_some(flags), what: Some(what) }
}

/// The state as the kernel prints it (`TASK_INTERRUPTIBLE` and so on; `X` is 0x10 since 4.14).
fn state(left: Left) -> i64 {
    match left {
        Left::Runnable | Left::Throttled => 0,
        Left::Sleeping => 1,
        Left::Uninterruptible => 2,
        Left::Stopped => 4,
        Left::Dead => 0x10,
    }
}

fn flags(context: &Context) -> u32 {
    match context {
        Context::Task | Context::Work(_) => 0,
        Context::Softirq(_) | Context::Sent => SOFTIRQ,
        Context::Hardirq | Context::Timer => HARDIRQ,
    }
}

/// The kernel's version decides how Perfetto reads the states.
fn system() -> SystemInfo {
    let name = rustix::system::uname();
    let text = |value: &std::ffi::CStr| Some(value.to_string_lossy().into_owned());
    SystemInfo {
        utsname: Some(Utsname {
            sysname: text(name.sysname()),
            version: text(name.version()),
            release: text(name.release()),
            machine: text(name.machine()),
        }),
    }
}
