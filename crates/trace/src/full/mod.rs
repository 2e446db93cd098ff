//! The full level: BPF programs in the kernel follow the tree, count its calls and stream the scheduling.

mod calibrate;
mod decode;
mod elf;
mod error;
pub(crate) mod follow;
pub(crate) mod found;
mod hold;
mod images;
mod inbox;
mod load;
pub(crate) mod offered;
mod perf_map;
mod profile;
mod programs;
mod refusal;
mod samples;
mod startup;
pub(crate) mod symbols;
pub(crate) mod tables;
mod tally;
mod totals;
pub(crate) mod trial;
mod unwind;
pub(crate) mod watch;

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;

use libbpf_rs::RingBuffer;
use rustix::event::{Timespec, epoll};
use whyfaster_core::trace::counts::{CallGroup, Counts, CpuLost, Lost, OwnCost};
use whyfaster_core::trace::event::{Event, Pid, What};
use whyfaster_core::trace::stacks::Stacks;

use self::decode::Decoder;
pub use self::error::TraceError;
use self::error::{opening, refused};
use self::hold::Hold;
use self::load::Loaded;
use self::profile::Profile;
pub use self::samples::samples_allowed;
use self::tally::Tally;
use self::watch::Watch;
use crate::caller::Caller;
use crate::clock::{now_ns, own_cpu_ns};
use crate::obstacles::{Missing, Unsupported, obstacles};
use crate::wanted::{CallsBy, Wanted};

/// Records are handed on when they are this old: none that belongs before them comes later. A record is stamped a few
/// microseconds before it gets its place in the ring; a switch that was not seen is put where it must have been, up to
/// 20 ms earlier (`MOST_BACK_NS`).
const SORTED_AFTER_NS: u64 = 30_000_000;

/// Records taken out of the ring before those that are old enough are handed on.
const AT_ONCE: usize = 1 << 14;
/// One poll takes things in for this long at most.
pub(crate) const POLL_NS: u64 = 50_000_000;

/// With counting by process: so many ended processes are taken out of the kernel's maps at once.
const ENDED_AT_ONCE: usize = 512;

/// Looks for tasks that are still there, at most, while new ones may be made.
const LOOKS: usize = 8;

/// Programs in the kernel, and what they said so far. Nothing stays behind when this is dropped or the process is killed:
/// the kernel detaches the programs with the last descriptor.
pub struct Full {
    // In this order: the ring and the sampling refer to the programs.
    ring: RingBuffer<'static>,
    samples: Vec<OwnedFd>,
    watch: Watch,
    /// Readable when a ring is half full.
    wakes: OwnedFd,
    loaded: Loaded,
    decoder: Rc<RefCell<Decoder>>,
    tally: Tally,
    wanted: Wanted,
    own: OwnCost,
    /// CPU time of this process when the first task was followed.
    cpu_before: Option<u64>,
    /// What was lost before that was not of the trace.
    lost_before: Lost,
    /// Samples that were taken before, and how long that took.
    sampled_before: (u64, u64),
    /// Lost records that the stream has told.
    lost_told: u64,
    /// A trace has ended, and what came since is to be thrown away.
    anew: bool,
    hold: Hold,
}

impl Full {
    /// Loads and attaches the programs. Nothing is followed yet.
    pub fn open(wanted: &Wanted) -> Result<Self, Unsupported> {
        let mut missing = obstacles();
        missing.extend(wanted.samples_per_s.and_then(samples::too_many));
        if !missing.is_empty() {
            return Err(Unsupported { missing });
        }
        let caller = Caller::here();
        let mut loaded = load::load(wanted, &caller)?;
        let decoder = Rc::new(RefCell::new(Decoder::of(&caller)));
        let ring = load::ring(&loaded, &decoder).map_err(|e| refused("the ring of records", &e))?;
        decoder.borrow_mut().profile = wanted.count_samples.then(Profile::default);
        let own = i32::try_from(std::process::id()).expect("a process number is positive and small");
        follow::tool(&loaded, own).map_err(|e| refused("labelling this process", &e))?;
        loaded.attach().map_err(|e| refused("attaching the programs", &e))?;
        loaded.note_running();
        let stacks = wanted.samples_per_s.is_some() || wanted.blocking_stacks || wanted.count_locks;
        let watch = if stacks { Watch::start() } else { Ok(Watch::default()) };
        let watch = watch.map_err(|e| opening("watching what is mapped", &e))?;
        let wakes = wakes(&loaded, &watch).map_err(|e| opening("waiting for the rings of records", &e))?;
        let samples = match wanted.samples_per_s {
            Some(rate) => samples::start(&loaded, rate).map_err(|e| opening("sampling stacks", &e))?,
            None => Vec::new(),
        };
        Ok(Self {
            ring,
            samples,
            watch,
            wakes,
            loaded,
            decoder,
            tally: Tally::default(),
            wanted: wanted.clone(),
            own: OwnCost::default(),
            cpu_before: None,
            lost_before: Lost::default(),
            sampled_before: (0, 0),
            lost_told: 0,
            anew: false,
            hold: Hold::default(),
        })
    }

    /// What this kernel does not let the programs see.
    pub fn left_out(&self) -> &[Missing] {
        &self.loaded.left_out
    }

    /// Measures, in 100 to 350 ms, what a traced call, switch and process became dearer; call it before anything is
    /// followed. The result is also part of [`Counts::own`].
    pub fn calibrate(&mut self) -> Result<OwnCost, TraceError> {
        let measured = calibrate::measure(&mut self.loaded)?;
        self.own.call_ns = measured.call_ns;
        self.own.switch_ns = measured.switch_ns;
        self.own.process_ns = measured.process_ns;
        self.own.failed_exec_ns = measured.failed_exec_ns;
        self.own.plain_call_ns = measured.plain_call_ns;
        // Its processes have ended, unless somebody else made them live on.
        self.leave_all()?;
        self.consume()?;
        self.decoder.borrow_mut().switches = 0;
        // What was observed of the calibration is no part of the trace, but for the names: nobody is named twice.
        self.decoder.borrow_mut().inbox.discard(|event| matches!(event.what, What::Name { .. }));
        tally::clear(&self.loaded)?;
        self.loaded.forget_tree();
        self.loaded.note_running();
        Ok(self.own)
    }

    /// Follows a process that is held at a gate: it and all that come from it, from its next exec on. What it calls
    /// before that exec is not seen.
    pub fn follow(&mut self, pid: i32) -> Result<(), TraceError> {
        self.begin()?;
        follow::held(&self.loaded, pid)
    }

    /// Follows a process that runs already: its threads, its descendants, and all that come from them, from now on.
    /// Returns how many tasks that are.
    pub fn follow_running(&mut self, pid: i32) -> Result<usize, TraceError> {
        if !std::fs::exists(format!("/proc/{pid}")).unwrap_or(false) {
            return Err(TraceError::Follow { pid, why: "there is no such process".to_owned() });
        }
        let tasks = self.take_up(&|| follow::below(pid))?;
        self.any_of(tasks).map_err(|why| TraceError::Follow { pid, why })
    }

    /// Follows every process of a cgroup (a directory of cgroup v2 with `cgroup.procs`) and below it, from now on.
    pub fn follow_cgroup(&mut self, directory: &Path) -> Result<usize, TraceError> {
        follow::of_cgroup(directory).map_err(|e| TraceError::cgroup(directory, &e))?;
        let tasks = self.take_up(&|| follow::of_cgroup(directory).unwrap_or_default())?;
        self.any_of(tasks).map_err(|why| TraceError::cgroup(directory, &why))
    }

    /// Of so many tasks that were to be followed, how many may be; none: why not.
    fn any_of(&self, tasks: usize) -> Result<usize, String> {
        let skipped = usize::try_from(self.loaded.skipped()).unwrap_or(usize::MAX);
        if skipped > 0 && self.loaded.alive() == 0 {
            let why = "it belongs to another user, has capabilities, or lets nobody look into its memory: without root, whyfaster \
                       shows of others only names and times";
            return Err(why.to_owned());
        }
        Ok(tasks.saturating_sub(skipped))
    }

    /// Takes the wake-ups that have come: what made them is about to be read.
    fn forget_wakes(&self) -> Result<(), TraceError> {
        let mut woken =
            [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }; 64];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        epoll::wait(&self.wakes, &mut woken[..], Some(&now))
            .map(drop)
            .map_err(|e| TraceError::Read { what: "wake-ups", why: e.to_string() })
    }

    fn take_up(&mut self, find: &dyn Fn() -> std::collections::BTreeSet<i32>) -> Result<usize, TraceError> {
        self.begin()?;
        let tasks = follow::running(&self.loaded, now_ns(), find)?;
        let began = now_ns();
        self.loaded.note_taken_up(began);
        let told = programs::read_iterator(&self.loaded.skel.progs.who_was_taken_up)?;
        // What the first ones did while the others were looked for lies before the beginning of all, and comes right behind it.
        while self.consume_some(now_ns())?.0 && self.decoder.borrow().inbox.newest <= began {}
        let mut decoder = self.decoder.borrow_mut();
        decoder.inbox.not_before(began + 1);
        let mut found = found::all(&told, usize::from(self.loaded.mask_words()));
        found::parents_first(&mut found, |it| it.found.process_here);
        found.iter().for_each(|it| decoder.take_up(it));
        Ok(tasks)
    }

    /// Labels a process of whyfaster itself (its launcher, say) as the tool where it holds a CPU, and all that come from
    /// it unless they are followed. This process is labelled from the beginning.
    pub fn mark_tool(&mut self, pid: Pid) -> Result<(), TraceError> {
        let pid = i32::try_from(pid)
            .map_err(|_| TraceError::Follow { pid: -1, why: format!("{pid} is no process") })?;
        follow::tool(&self.loaded, pid)
    }

    /// Tells the stream that the tree is ended from here on: [`What::Stop`].
    pub fn note_stop(&mut self) {
        self.decoder.borrow_mut().inbox.put(Event { at: now_ns(), cpu: 0, what: What::Stop });
    }

    /// The signal of the last key of the terminal has ended the tree: [`What::Stop`] stands where it came. Whether it can:
    /// what came after the key may have been handed on already.
    pub fn stop_at_interrupt(&mut self) -> bool {
        let inbox = &mut self.decoder.borrow_mut().inbox;
        let Some(at) = self.loaded.interrupted() else { return true };
        let in_time = at >= inbox.earliest();
        if in_time {
            inbox.put(Event { at, cpu: 0, what: What::Stop });
        }
        in_time
    }

    /// Tasks of the tree that are alive now.
    pub fn alive(&self) -> u64 {
        self.loaded.alive()
    }

    /// Most bytes of memory that the kernel holds for this trace.
    pub fn memory_bytes(&self) -> u64 {
        self.loaded.memory_bytes()
    }

    /// Hands on what has arrived, sorted by time. Call it every 20 to 100 ms; what the last few milliseconds brought is
    /// kept back until it can be sorted.
    pub fn poll(&mut self, sink: &mut dyn FnMut(Event)) -> Result<(), TraceError> {
        let began = now_ns();
        self.forget_wakes()?;
        loop {
            let now = now_ns();
            let (more, until) = self.consume_some(now)?;
            self.make_room()?;
            let inbox = &mut self.decoder.borrow_mut().inbox;
            let until = until.saturating_sub(SORTED_AFTER_NS);
            // Asked behind the clock: a key of which the kernel has not told yet comes later than all that leaves here.
            let until = self.hold.limit(self.loaded.interrupted(), until, inbox.len());
            inbox.hand_on(until, sink);
            // Who makes records as fast as they are taken must not keep this from returning.
            if !more || now - began > POLL_NS {
                break;
            }
        }
        Ok(())
    }

    /// How many records were lost since this was last asked, but for the last `untold` ones: the next record that says that
    /// some are missing before it tells them.
    fn note_loss(&mut self, untold: u64) {
        let lost = tally::lost_records(&self.loaded).saturating_sub(untold);
        let records = lost.saturating_sub(self.lost_told);
        self.lost_told += records;
        self.decoder.borrow_mut().lost_untold += records;
    }

    /// Tells of lost records behind which none came any more: after the last one that did.
    fn tell_rest_of_loss(&mut self) {
        self.note_loss(0);
        let mut decoder = self.decoder.borrow_mut();
        let records = std::mem::take(&mut decoder.lost_untold);
        if records > 0 {
            let at = decoder.inbox.newest;
            decoder.inbox.push(Event { at, cpu: 0, what: What::Lost { records } });
        }
    }

    /// Detaches the programs, hands on the rest and the tasks that are still alive, and reads the counts.
    pub fn finish(mut self, sink: &mut dyn FnMut(Event)) -> Result<Counts, TraceError> {
        // Taking the programs down is no part of the observing.
        self.own.tool_ns = self.cpu_before.map_or(0, |before| own_cpu_ns().saturating_sub(before));
        self.samples.clear();
        // No new tasks from here on; those that are there end either way, but each once.
        self.loaded.links.pop();
        let told = programs::read_iterator(&self.loaded.skel.progs.who_is_alive)?;
        self.loaded.links.clear();
        self.counted(&told, sink)
    }

    /// Ends observing one command, like [`Full::finish`], and leaves the programs attached: another one can be followed.
    /// Names of tasks outside of the tree are not told again then, except the ones that change.
    pub fn finish_run(&mut self, sink: &mut dyn FnMut(Event)) -> Result<Counts, TraceError> {
        self.own.tool_ns = self.cpu_before.take().map_or(0, |before| own_cpu_ns().saturating_sub(before));
        let told = self.leave_all()?;
        let counts = self.counted(&told, sink);
        self.forget()?;
        counts
    }

    /// Stops tracing all tasks, and returns those that were alive, each once. The next pass finds tasks that are made meanwhile.
    fn leave_all(&self) -> Result<Vec<u8>, TraceError> {
        let mut told = Vec::new();
        for _ in 0..LOOKS {
            let more = programs::read_iterator(&self.loaded.skel.progs.who_is_alive)?;
            if more.is_empty() {
                break;
            }
            told.extend(more);
        }
        Ok(told)
    }

    /// The rest of the records, `told` among them, and what was counted.
    fn counted(&mut self, told: &[u8], sink: &mut dyn FnMut(Event)) -> Result<Counts, TraceError> {
        self.consume()?;
        self.tell_rest_of_loss();
        let mut decoder = self.decoder.borrow_mut();
        let mut lost = tally::since(&mut self.lost_before, &tally::losses(&self.loaded)?);
        for record in told.chunks_exact(size_of::<programs::types::end_record>()) {
            decoder.take(record);
            // Where the task was, not who asked.
            let cpu = decode::cpu_of(record);
            lost.count(&CpuLost { cpu, unfinished: 1, ..CpuLost::default() });
        }
        // Taking the programs down takes its time, and what the machine did meanwhile is no part of the trace.
        if !told.is_empty() {
            decoder.inbox.end_with(
                |event| matches!(event.what, What::End { .. }),
                |event| matches!(event.what, What::Name { .. } | What::Lost { .. }),
            );
        }
        decoder.inbox.hand_on(u64::MAX, sink);
        let here = [&mut decoder.lost, &mut self.watch.lost].map(std::mem::take);
        let late = std::mem::take(&mut decoder.inbox.late);
        here.iter().chain([&late]).flat_map(|lost| &lost.by_cpu).for_each(|more| lost.count(more));
        lost.only_cpus_with_losses();
        lost.string += self.watch.untold();
        self.own.switches = decoder.switches;
        let (samples, sampling_ns) = tally::sampling(&self.loaded)?;
        self.own.samples = samples - self.sampled_before.0;
        self.own.sampling_ns = sampling_ns - self.sampled_before.1;
        // What comes from here on is of another trace.
        let profile = decoder.profile.as_mut().map(std::mem::take);
        let (sampled, stacks) = match (profile, self.wanted.samples_per_s) {
            (Some(profile), Some(per_s)) => {
                let groups = tally::groups(&self.loaded)?;
                let command = |group| groups.get(&group).map(CallGroup::command);
                let (sampled, stacks) = profile.finish(per_s, &mut decoder.symbols, &command);
                (Some(sampled), stacks)
            }
            _ => (None, Stacks::default()),
        };
        drop(decoder);
        lost.map += self.tally.take(&self.loaded, &|_| true)?;
        let timed = self.wanted.call_times || self.wanted.each_call;
        let calls = std::mem::take(&mut self.tally).cells(timed, &tally::paths(&self.loaded)?);
        Ok(Counts { calls, lives: self.loaded.lives(), sampled, stacks, lost, own: self.own })
    }

    /// Forgets what was counted, so that the next trace begins from nothing.
    fn forget(&mut self) -> Result<(), TraceError> {
        tally::clear(&self.loaded)?;
        self.loaded.forget_tree();
        self.decoder.borrow_mut().begin_anew();
        (self.anew, self.hold) = (true, Hold::default());
        Ok(())
    }

    /// The first task is about to be followed.
    fn begin(&mut self) -> Result<(), TraceError> {
        if self.cpu_before.is_none() {
            if std::mem::take(&mut self.anew) {
                // What the machine did between two traces is part of neither.
                self.consume()?;
                self.watch.lost = Lost::default();
                self.watch.untold();
                self.decoder.borrow_mut().inbox.discard(|event| matches!(event.what, What::Name { .. }));
                self.loaded.note_running();
            }
            self.cpu_before = Some(own_cpu_ns());
            self.lost_before = tally::losses(&self.loaded)?;
            self.sampled_before = tally::sampling(&self.loaded)?;
            self.lost_told = self.lost_before.ring;
            self.decoder.borrow_mut().lost_untold = 0;
        }
        Ok(())
    }

    fn consume(&mut self) -> Result<(), TraceError> {
        while self.consume_some(u64::MAX)?.0 {}
        Ok(())
    }

    /// Takes a bounded number of records out of the ring, so that what waits for its order in time stays bounded too. Returns whether there
    /// may be more, and the time up to which all have been taken: `now` at the latest.
    fn consume_some(&mut self, now: u64) -> Result<(bool, u64), TraceError> {
        // Those of which no record tells yet are missing behind all that is in the ring.
        self.note_loss(self.loaded.untold_loss());
        let taken = self.ring.consume_raw_n(AT_ONCE);
        let taken = usize::try_from(taken).map_err(|_| {
            let why = std::io::Error::from_raw_os_error(-taken).to_string();
            TraceError::Read { what: "records", why }
        })?;
        let mut decoder = self.decoder.borrow_mut();
        // Behind the records: what came after it is in time order with it for as long as records are kept back.
        self.loaded.lost_beginning().iter().for_each(|record| decoder.take(record));
        let more = taken >= AT_ONCE;
        // What is still in the ring may be as old as what was taken last.
        let until = if more { decoder.inbox.newest.min(now) } else { now };
        self.watch.tell(until, &mut decoder.symbols.images);
        decoder.name_stacks(until);
        Ok((more, until))
    }

    /// Takes the counts of ended processes out of the kernel before its maps are full.
    fn make_room(&mut self) -> Result<(), TraceError> {
        let mut decoder = self.decoder.borrow_mut();
        if self.wanted.calls_by == CallsBy::Command {
            decoder.ended.clear();
        } else if decoder.ended.len() >= ENDED_AT_ONCE {
            let ended = std::mem::take(&mut decoder.ended);
            drop(decoder);
            self.tally.take_ended(&self.loaded, &ended)?;
        }
        Ok(())
    }
}

/// A descriptor that is readable when a ring is half full. The kernel wakes the reader of a perf event at half of its records unless the event
/// asks for another watermark (ring_buffer_init(), kernel/events/ring_buffer.c).
fn wakes(loaded: &Loaded, watch: &Watch) -> io::Result<OwnedFd> {
    let wakes = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let add = |fd: BorrowedFd<'_>| {
        // By the edge: a ring with any record in it would be readable all the time.
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&wakes, fd, epoll::EventData::new_u64(0), flags)
    };
    add(loaded.skel.maps.ring.as_fd())?;
    watch.fds().try_for_each(add)?;
    Ok(wakes)
}

impl AsFd for Full {
    /// Readable when a ring is half full, before the next poll is due.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wakes.as_fd()
    }
}

impl fmt::Debug for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Full").field("wanted", &self.wanted).field("own", &self.own).finish_non_exhaustive()
    }
}
