//! Loading and attaching the programs, set up for what is wanted.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::rc::Rc;
use std::time::{Duration, Instant};

use libbpf_rs::btf::Btf;
use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use libbpf_rs::{Link, MapCore, MapType, PrintLevel, ProgramInput, RingBuffer, RingBufferBuilder};

use whyfaster_core::trace::counts::Lives;

use super::decode::Decoder;
use super::programs::{OpenWhyfasterSkel, Plain, WhyfasterSkel, WhyfasterSkelBuilder, types};
use super::{offered, refusal, startup, tables};
use crate::caller::Caller;
use crate::obstacles::{Missing, Unsupported, kernel_version};
use crate::wanted::{CallsBy, Wanted};

/// Numbers of calls that the table of one architecture needs, as in the header.
const SYSCALLS: usize = 512;

/// Frames of a stack at most, as in the header; and of user code where samples are counted by function: enough to see what called it.
const STACK_FRAMES: u8 = 127;
const COUNTED_FRAMES: u8 = 32;

/// With counting by process: cells and groups at once. Ended processes are taken out while the trace runs.
const CELLS_BY_PROCESS: u32 = 1 << 17;
const GROUPS_BY_PROCESS: u32 = 1 << 15;

/// The programs in the kernel.
pub(crate) struct Loaded {
    /// Their maps.
    pub(crate) skel: WhyfasterSkel<'static>,
    /// While these live the programs run. The last one is that of new tasks.
    pub(crate) links: Vec<Link>,
    /// What this kernel does not let them see.
    pub(crate) left_out: Vec<Missing>,
}

/// Loads what is wanted, without attaching it.
pub(crate) fn load(wanted: &Wanted, caller: &Caller) -> Result<Loaded, Unsupported> {
    libbpf_rs::set_print(Some((PrintLevel::Warn, refusal::remember)));
    // The skeleton borrows the place of its object for as long as it lives. The place is a pointer's width; the object
    // itself is closed with the skeleton.
    let place = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open =
        WhyfasterSkelBuilder::default().open(place).map_err(|e| refusal::of("open", &e, caller))?;
    settle(&mut open, wanted, caller);
    resize(&mut open, wanted).map_err(|e| refusal::of("set up", &e, caller))?;
    let types = offered::types();
    choose(&mut open, types.as_ref(), wanted);
    let left_out = offered::left_out(types.as_ref(), wanted);
    let skel = open.load().map_err(|e| refusal::of("load", &e, caller))?;
    Ok(Loaded { skel, links: Vec::new(), left_out })
}

/// The ring of records; whatever is taken out of it goes to the decoder.
pub(crate) fn ring(
    loaded: &Loaded,
    decoder: &Rc<RefCell<Decoder>>,
) -> libbpf_rs::Result<RingBuffer<'static>> {
    let decoder = Rc::clone(decoder);
    let mut builder = RingBufferBuilder::new();
    builder.add(&loaded.skel.maps.ring, move |record: &[u8]| {
        decoder.borrow_mut().take(record);
        0
    })?;
    builder.build()
}

/// CPUs that there may ever be, in words of 64.
fn mask_words() -> u16 {
    let cpus = libbpf_rs::num_possible_cpus().unwrap_or(1024);
    u16::try_from(cpus.div_ceil(64)).unwrap_or(u16::MAX).min(128)
}

fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).expect("numbers of calls are small and positive")
}

fn settle(open: &mut OpenWhyfasterSkel<'_>, wanted: &Wanted, caller: &Caller) {
    let rodata = open.maps.rodata_data.as_deref_mut().expect("the programs have constants");
    rodata.settings = types::settings {
        by_process: (wanted.calls_by == CallsBy::Process).into(),
        // What a call waited for is part of its times, and each call has its own.
        call_times: (wanted.call_times || wanted.each_call).into(),
        each_call: wanted.each_call.into(),
        scheduling: wanted.scheduling.into(),
        blocking_stacks: match (wanted.blocking_stacks, wanted.count_locks) {
            (true, _) => types::blocking_stacks::STACKS_OF_ALL,
            (false, true) => types::blocking_stacks::STACKS_OF_LOCKS,
            (false, false) => types::blocking_stacks::STACKS_OF_NONE,
        }
        .0 as u8,
        state_argument: (kernel_version() >= Some((5, 18))).into(),
        mask_words: mask_words(),
        restricted: caller.restricted.into(),
        uid: caller.uid,
        gid: caller.gid,
        kernel_frames: if wanted.count_samples { 1 } else { STACK_FRAMES },
        user_frames: if wanted.count_samples { COUNTED_FRAMES } else { STACK_FRAMES },
        // Whoever streams stacks has all of them, of which the top says little.
        user_memory: wanted.count_samples.into(),
        lacks: caller.lacks,
        execve: number(libc::SYS_execve),
        execveat: number(libc::SYS_execveat),
        setaffinity: number(libc::SYS_sched_setaffinity),
        futex: number(libc::SYS_futex),
        cells: cells(wanted).unwrap_or(open.maps.cells.max_entries()),
        wake_at: ring_bytes(wanted) / 2,
        descriptor: tables::descriptors::<SYSCALLS>(),
        compat: tables::compat::<SYSCALLS>(),
        path: tables::paths::<SYSCALLS>(),
        transfer: tables::transfers::<SYSCALLS>(),
        renumbers: tables::renumbering::<SYSCALLS>(),
        startup: startup::calls::<SYSCALLS>(),
    };
}

/// Cells in which calls are counted; `None`: as many as the programs have by themselves.
fn cells(wanted: &Wanted) -> Option<u32> {
    (wanted.calls_by == CallsBy::Process).then_some(CELLS_BY_PROCESS)
}

/// A ring is a power of two and at least a page.
pub(crate) fn ring_bytes(wanted: &Wanted) -> u32 {
    let page = u32::try_from(rustix::param::page_size()).unwrap_or(65536);
    wanted.ring_bytes.clamp(page, 1 << 30).next_power_of_two()
}

fn resize(open: &mut OpenWhyfasterSkel<'_>, wanted: &Wanted) -> libbpf_rs::Result<()> {
    open.maps.ring.set_max_entries(ring_bytes(wanted))?;
    if let Some(cells) = cells(wanted) {
        open.maps.cells.set_type(MapType::Array)?;
        open.maps.cells.set_max_entries(cells)?;
        open.maps.cell_indices.set_max_entries(cells)?;
        open.maps.free_cells.set_max_entries(cells)?;
        open.maps.errors.set_max_entries(GROUPS_BY_PROCESS)?;
        open.maps.groups.set_max_entries(GROUPS_BY_PROCESS)?;
    }
    Ok(())
}

/// Only programs that are wanted and whose tracepoint this kernel has are loaded.
fn choose(open: &mut OpenWhyfasterSkel<'_>, types: Option<&Btf<'_>>, wanted: &Wanted) {
    offered::choose(open, types, wanted);
    let times = wanted.call_times || wanted.each_call || wanted.scheduling;
    let progs = &mut open.progs;
    progs.task_wakes.set_autoload(times);
    progs.task_queued.set_autoload(times);
    progs.new_task_queued.set_autoload(times);
    progs.who_runs_here.set_autoload(wanted.scheduling);
    progs.clock_ticks.set_autoload(wanted.samples_per_s.is_some());
    // Attached one by one below: a perf event, a test run and iterators are no tracepoints.
    for program in [
        &mut progs.who_runs_here,
        &mut progs.clock_ticks,
        &mut progs.who_is_alive,
        &mut progs.who_was_taken_up,
        &mut progs.threads_join,
    ] {
        program.set_autoattach(false);
    }
}

/// How long a link that is going may still be there.
const GOING: Duration = Duration::from_secs(2);

/// Attaches a program whose last link was closed. A process that was just started may hold that link a moment longer: its parent goes
/// on when the exec has replaced the memory, and descriptors are closed after that (`begin_new_exec`, fs/exec.c). Meanwhile
/// a tracepoint takes the same program no second time (`func_add`, kernel/tracepoint.c; since Linux 6.10 it does).
fn attach_alone(program: &mut libbpf_rs::ProgramMut<'_>) -> libbpf_rs::Result<libbpf_rs::Link> {
    let until = Instant::now() + GOING;
    loop {
        match program.attach_trace() {
            Err(error) if error.kind() == libbpf_rs::ErrorKind::AlreadyExists && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(1));
            }
            attached => return attached,
        }
    }
}

impl Loaded {
    /// Lets the programs run. Those that only set a state come first, so that whoever reads it finds it set.
    pub(crate) fn attach(&mut self) -> libbpf_rs::Result<()> {
        let p = &mut self.skel.progs;
        let mut links = Vec::new();
        for program in [
            &mut p.softirq_begins,
            &mut p.softirq_ends,
            &mut p.hardirq_begins,
            &mut p.hardirq_ends,
            &mut p.timer_begins,
            &mut p.timer_ends,
            &mut p.work_begins,
            &mut p.work_ends,
            &mut p.cpu_switches,
            &mut p.task_wakes,
            &mut p.task_queued,
            &mut p.new_task_queued,
            &mut p.task_migrates,
            &mut p.program_begins,
            &mut p.task_exits,
            &mut p.task_renamed,
            &mut p.signal_sent,
            &mut p.call_begins,
            &mut p.call_ends,
            &mut p.task_made,
        ] {
            if program.autoload() {
                links.push(attach_alone(program)?);
            }
        }
        self.links = links;
        Ok(())
    }

    /// Notes who runs on each CPU that is online.
    pub(crate) fn note_running(&mut self) {
        if !self.skel.progs.who_runs_here.autoload() {
            return;
        }
        for cpu in 0..libbpf_rs::num_possible_cpus().unwrap_or(1) {
            // One that is offline refuses; nobody runs there.
            let _ = self.skel.progs.who_runs_here.test_run(ProgramInput {
                cpu: u32::try_from(cpu).unwrap_or(0),
                flags: 1, // BPF_F_TEST_RUN_ON_CPU
                ..ProgramInput::default()
            });
        }
    }

    /// Words of a mask of CPUs in a record.
    pub(crate) fn mask_words(&self) -> u16 {
        self.skel.maps.rodata_data.map_or(1, |rodata| rodata.settings.mask_words)
    }

    /// Notes when all that ran already had been told to be followed.
    pub(crate) fn note_taken_up(&mut self, at: u64) {
        if let Some(bss) = self.skel.maps.bss_data.as_deref_mut() {
            bss.tree.taken_up = at;
        }
    }

    /// Tasks of the tree that are alive.
    pub(crate) fn alive(&self) -> u64 {
        // SAFETY: a counter in memory that is shared with the kernel; it is mapped as long as the skeleton lives.
        self.skel
            .maps
            .bss_data
            .as_deref()
            .map_or(0, |bss| unsafe { (&raw const bss.tree.alive).read_volatile() })
    }

    /// Tasks that the caller may not observe.
    pub(crate) fn skipped(&self) -> u64 {
        // SAFETY: a counter in memory that is shared with the kernel; it is mapped as long as the skeleton lives.
        self.skel
            .maps
            .bss_data
            .as_deref()
            .map_or(0, |bss| unsafe { (&raw const bss.tree.skipped).read_volatile() })
    }

    /// When a key of the terminal last interrupted one of the tree.
    pub(crate) fn interrupted(&self) -> Option<u64> {
        let bss = self.skel.maps.bss_data.as_deref()?;
        // SAFETY: a number in memory that is shared with the kernel; it is mapped as long as the skeleton lives.
        Some(unsafe { (&raw const bss.tree.interrupted).read_volatile() }).filter(|at| *at > 0)
    }

    /// What the kernel counted of the tree's processes and of the calls of tasks that are gone.
    pub(crate) fn lives(&self) -> Lives {
        let Some(bss) = self.skel.maps.bss_data.as_deref() else { return Lives::default() };
        // SAFETY: counters in memory that is shared with the kernel; it is mapped as long as the skeleton lives.
        let tree = unsafe { (&raw const bss.tree).read_volatile() };
        Lives {
            forks: Some(tree.forks),
            threads: Some(tree.threads),
            execs: Some(tree.execs),
            failed_execs: Some(tree.failed_execs),
            exits: Some(tree.exits),
            calls_entered: Some(tree.entered),
            calls_returned: Some(tree.returned),
            throttled: Some(tree.throttled),
            last_end_ns: Some(tree.last_end).filter(|at| *at > 0),
        }
    }

    /// Counts the tree from nothing again. The numbers of groups go on: a task may still have one. Cells that were in use
    /// are handed back by themselves.
    pub(crate) fn forget_tree(&mut self) {
        if let Some(bss) = self.skel.maps.bss_data.as_deref_mut() {
            let (groups, cells) = (bss.tree.groups, bss.tree.cells);
            bss.tree = types::totals_of_tree { groups, cells, ..Default::default() };
            (bss.first.fork_lost, bss.first.exec_lost) = (0, 0);
        }
    }

    /// Lost records that no record in the ring speaks of yet.
    pub(crate) fn untold_loss(&self) -> u64 {
        let Some(bss) = self.skel.maps.bss_data.as_deref() else { return 0 };
        // SAFETY: counters in memory that is shared with the kernel; it is mapped as long as the skeleton lives.
        let tree = unsafe { (&raw const bss.tree).read_volatile() };
        tree.holes.saturating_sub(tree.told)
    }

    /// The records of the first program's beginning for which the ring had no room, each once.
    pub(crate) fn lost_beginning(&mut self) -> Vec<Vec<u8>> {
        const TOLD: u32 = 2;
        let Some(bss) = self.skel.maps.bss_data.as_deref_mut() else { return Vec::new() };
        let first = &raw mut bss.first;
        // SAFETY: memory that is shared with the kernel, mapped as long as the skeleton lives. Behind its flag a record does not
        // change any more.
        let (fork, exec) = unsafe {
            let lost =
                |flag: *mut u32| (flag.read_volatile() == 1).then(|| flag.write_volatile(TOLD)).is_some();
            (
                lost(&raw mut (*first).fork_lost).then(|| (&raw const (*first).fork).read_volatile()),
                lost(&raw mut (*first).exec_lost).then(|| (&raw const (*first).exec).read_volatile()),
            )
        };
        fork.iter().map(Plain::bytes).chain(exec.iter().map(Plain::bytes)).map(<[u8]>::to_vec).collect()
    }

    /// Most bytes that the maps can grow to.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let cpus = libbpf_rs::num_possible_cpus().unwrap_or(1) as u64;
        self.skel
            .object()
            .maps()
            .map(|map| {
                let entries = u64::from(map.max_entries());
                match map.map_type() {
                    MapType::RingBuf => entries,
                    kind if kind.is_percpu() => {
                        entries * (u64::from(map.key_size()) + cpus * u64::from(map.value_size()))
                    }
                    _ => entries * u64::from(map.key_size() + map.value_size()),
                }
            })
            .sum()
    }
}
