//! One batch: create the copies, release them, wait for their ends, end what is left.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::unix::net::UnixStream;

use whyfaster_core::sample::{Copies, Orphans};

use super::super::protocol::{
    Account, Arrivals, Ended, Identity, LaunchError, Needs, NoAccount, Purpose, Request, Who,
};
use super::account;
use super::copy::Blueprint;
use super::counting::{self, Counted, Opened};
use super::gate::{Gate, Used, now_ns};
use super::reap::{NoChild, Reaped, Signals, Woken, microseconds, next, seconds};
use super::spawn::Spawner;
use super::tree;

/// How often a trial is looked at.
const LOOK_NS: u64 = 2_000_000;

/// A copy between its creation and its end.
struct Live {
    /// Its row once it was released.
    row: Option<usize>,
    /// Its place at the gate.
    slot: usize,
    counters: Opened,
}

/// A batch under way.
pub(super) struct Run<'a> {
    pub(super) request: &'a Request,
    blueprint: &'a Blueprint,
    pub(super) signals: &'a Signals,
    gate: Gate,
    spawner: Spawner<'a>,
    /// Processes of ours that are no copies.
    pub(super) helpers: Vec<Identity>,
    live: HashMap<i32, Live>,
    free_slots: Vec<usize>,
    /// Copies that stand at the gate, oldest first.
    pub(super) prepared: VecDeque<i32>,
    created: usize,
    /// Released copies in the order of their release; those that ended are taken off the front lazily.
    released: VecDeque<(i32, usize, u64)>,
    /// Copies that were killed because they ran out of time: which row, and when to wait for its end no longer.
    killed: VecDeque<(usize, u64)>,
    outstanding: usize,
    rows: Vec<Row>,
    pub(super) orphans: Orphans,
    pub(super) needs: Needs,
    pub(super) account: Option<Result<Account, NoAccount>>,
    pub(super) released_ns: u64,
    exec_errno: Option<i32>,
    /// Some counter leaves the kernel out.
    user_only: bool,
}

/// What is known of a released copy.
struct Row {
    intended_ns: u64,
    started_ns: Option<u64>,
    used: Used,
    end: Option<End>,
    timed_out: bool,
}

struct End {
    at_ns: u64,
    status: i32,
    usage: libc::rusage,
    counted: Counted,
}

/// Why a copy does not stand at the gate.
enum NotCreated {
    /// We were told to stop.
    Stopped,
    Failed(LaunchError),
}

impl NotCreated {
    /// What that means for a batch under way.
    fn ended(self) -> Ended {
        match self {
            NotCreated::Stopped => Ended::Aborted,
            NotCreated::Failed(LaunchError::Prepare { errno, .. }) => Ended::ExecFailed { errno },
            NotCreated::Failed(LaunchError::Fork { .. }) => Ended::Overloaded,
        }
    }
}

/// How many copies a batch needs at the gate at most.
pub(super) fn slots(arrivals: Arrivals) -> usize {
    match arrivals {
        Arrivals::Together { copies } => copies as usize,
        // The two, and whichever goes on in place of the one that ended.
        Arrivals::Duet => 3,
        Arrivals::Workers { workers, .. } => workers as usize + spares(workers as usize),
        // Pipes for more copies than there will be would take what pipes of the commands may hold (`pipe-user-pages-soft`, pipe(7)).
        Arrivals::Rate { rate_per_s, duration_s, most } => {
            starts(rate_per_s, duration_s).min(most as usize + spares(most as usize))
        }
    }
}

/// Copies that start at a rate.
fn starts(rate_per_s: f64, duration_s: f64) -> usize {
    (rate_per_s * duration_s).round().max(1.0) as usize
}

/// Copies created ahead of need, where copies go on arriving while time is taken.
fn spares(copies: usize) -> usize {
    copies.clamp(4, 64)
}

impl<'a> Run<'a> {
    pub(super) fn new(
        request: &'a Request,
        blueprint: &'a Blueprint,
        signals: &'a Signals,
        helpers: Vec<Identity>,
    ) -> io::Result<Self> {
        let slots = slots(request.arrivals);
        Ok(Self {
            request,
            blueprint,
            signals,
            gate: Gate::new(slots)?,
            spawner: Spawner::new(slots)?,
            helpers,
            live: HashMap::with_capacity(slots),
            free_slots: (0..slots).rev().collect(),
            prepared: VecDeque::with_capacity(slots),
            created: 0,
            released: VecDeque::with_capacity(slots),
            killed: VecDeque::new(),
            outstanding: 0,
            rows: Vec::with_capacity(slots),
            orphans: Orphans::default(),
            needs: Needs::default(),
            account: (request.purpose == Purpose::Account).then(|| Ok(Account::default())),
            released_ns: 0,
            exec_errno: None,
            user_only: false,
        })
    }

    /// Creates the first copies. Says whether they stand at the gate, or we were told to stop.
    pub(super) fn create(&mut self) -> Result<bool, LaunchError> {
        let duet = matches!(self.request.arrivals, Arrivals::Duet);
        let first = match self.request.arrivals {
            Arrivals::Rate { rate_per_s, duration_s, most } => {
                starts(rate_per_s, duration_s).min(spares(most as usize))
            }
            Arrivals::Duet => 2,
            other => slots(other),
        };
        for copy in 0..first {
            match self.create_one(if duet { copy } else { 0 }) {
                Ok(()) => {}
                Err(NotCreated::Stopped) => return Ok(false),
                Err(NotCreated::Failed(error)) => return Err(error),
            }
        }
        if self.lost_one(None) {
            return Err(LaunchError::Fork { copy: self.created as u32, errno: libc::ENOMEM });
        }
        Ok(true)
    }

    /// Creates a copy of a command and waits until it stands at the gate.
    fn create_one(&mut self, command: usize) -> Result<(), NotCreated> {
        let copy = self.created as u32 + 1;
        let not_forked = |errno| NotCreated::Failed(LaunchError::Fork { copy, errno });
        let index = self.free_slots.pop().ok_or(not_forked(libc::EAGAIN))?;
        let slot = self.gate.slot(index);
        slot.reset();
        let pid = self
            .spawner
            .create(&self.gate, self.blueprint, index, (self.created, command))
            .map_err(|error| not_forked(error.raw_os_error().unwrap_or(libc::EAGAIN)))?;
        self.created += 1;
        // There is room for it, and nothing may be allocated until the copy stands at the gate.
        self.live.insert(pid, Live { row: None, slot: index, counters: Opened::new() });
        while !self.gate.arrived(self.created) {
            if self.lost_one(Some(pid)) {
                return Err(not_forked(libc::ENOMEM));
            }
            // A copy can be held up for ever on its way: opening a file may wait for a network or a device.
            if self.signals.told_to_stop() {
                // SAFETY: takes no pointer; the child was not reaped. It must not go on in our memory.
                unsafe { libc::kill(pid, libc::SIGKILL) };
                return Err(NotCreated::Stopped);
            }
        }
        if let Some((step, errno)) = slot.failure() {
            return Err(NotCreated::Failed(LaunchError::Prepare { step, errno }));
        }
        let counters = counting::open(&self.request.counters, pid);
        self.user_only |= counters.values().flatten().any(|counter| counter.user_only);
        if let Some(copy) = self.live.get_mut(&pid) {
            copy.counters = counters;
        }
        self.prepared.push_back(pid);
        if let Some(Ok(_)) = self.account
            && let Err(error) = account::seize(pid)
        {
            let errno = error.raw_os_error().unwrap_or(libc::EPERM);
            self.account = Some(Err(NoAccount::Forbidden { errno }));
        }
        Ok(())
    }

    /// Whether a copy on its way to the gate or there died without saying why (the kernel ran out of memory, say).
    fn lost_one(&self, on_its_way: Option<i32>) -> bool {
        on_its_way.into_iter().chain(self.prepared.iter().copied()).any(|pid| {
            let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
            let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            // SAFETY: the pointer is to memory of ours; WNOWAIT leaves the child to be reaped in its turn.
            unsafe {
                libc::waitid(libc::P_PID, pid as u32, info.as_mut_ptr(), flags) == 0
                    && info.assume_init().si_pid() == pid
            }
        })
    }

    /// Releases the next prepared copy; its latency counts from `intended_ns`.
    fn release_one(&mut self, intended_ns: u64) -> Result<(), Ended> {
        if self.prepared.is_empty() {
            self.create_one(0).map_err(NotCreated::ended)?;
        }
        let Some(pid) = self.prepared.pop_front() else { return Ok(()) };
        self.note_release(pid, intended_ns);
        self.gate.open_one(self.live[&pid].slot);
        Ok(())
    }

    fn note_release(&mut self, pid: i32, intended_ns: u64) {
        let row = self.rows.len();
        if let Some(copy) = self.live.get_mut(&pid) {
            copy.row = Some(row);
        }
        self.rows.push(Row {
            intended_ns,
            started_ns: None,
            used: Used::default(),
            end: None,
            timed_out: false,
        });
        self.released.push_back((pid, row, intended_ns));
        self.outstanding += 1;
    }

    /// Releases the copies and waits for all their ends.
    pub(super) fn time(&mut self, socket: &UnixStream) -> Ended {
        self.released_ns = now_ns();
        let released_ns = self.released_ns;
        let until_ns = |duration_s: f64| released_ns + nanoseconds(duration_s);
        let ended = match self.request.arrivals {
            Arrivals::Together { .. } => {
                while let Some(pid) = self.prepared.pop_front() {
                    self.note_release(pid, released_ns);
                }
                self.gate.open_all();
                self.tell_release(socket);
                self.until_done(|_| Ok(None))
            }
            Arrivals::Duet => {
                for _ in 0..2 {
                    if let Err(ended) = self.release_one(now_ns()) {
                        return ended;
                    }
                }
                self.until_done(Self::go_on_beside)
            }
            Arrivals::Workers { workers, duration_s } => {
                let until_ns = until_ns(duration_s);
                self.until_done(|run| {
                    let now = now_ns();
                    while run.outstanding < workers as usize && now < until_ns {
                        run.release_one(now)?;
                    }
                    while run.prepared.len() < spares(workers as usize) && now < until_ns {
                        run.create_one(0).map_err(NotCreated::ended)?;
                    }
                    Ok(None)
                })
            }
            Arrivals::Rate { rate_per_s, duration_s, most } => {
                let copies = starts(rate_per_s, duration_s);
                let intended = |n: usize| released_ns + nanoseconds(n as f64 / rate_per_s);
                self.until_done(|run| {
                    while run.rows.len() < copies && intended(run.rows.len()) <= now_ns() {
                        if run.outstanding >= most as usize {
                            return Err(Ended::Overloaded);
                        }
                        run.release_one(intended(run.rows.len()))?;
                    }
                    while run.prepared.len() < spares(most as usize)
                        && run.rows.len() + run.prepared.len() < copies
                    {
                        run.create_one(0).map_err(NotCreated::ended)?;
                    }
                    Ok((run.rows.len() < copies).then(|| intended(run.rows.len())))
                })
            }
        };
        let ended = match (ended, self.request.purpose) {
            (Ended::Normally, Purpose::Observed) => self.until_alone(socket),
            (ended, _) => ended,
        };
        self.exec_errno.map_or(ended, |errno| Ended::ExecFailed { errno })
    }

    /// Of a duet: whichever has ended is started again, so that the other does not have the CPU to itself.
    fn go_on_beside(&mut self) -> Result<Option<u64>, Ended> {
        match (self.rows[0].end.is_some(), self.rows[1].end.is_some()) {
            (true, true) => Err(Ended::Normally),
            (false, false) => Ok(None),
            (first_ended, _) => {
                if self.outstanding < 2 {
                    self.create_one(usize::from(!first_ended)).map_err(NotCreated::ended)?;
                    self.release_one(now_ns())?;
                }
                Ok(None)
            }
        }
    }

    /// Waits until no released copy is left. `pace` releases further copies when it is time and says when it wants to be
    /// called again; it is called after every wake-up.
    fn until_done(&mut self, mut pace: impl FnMut(&mut Self) -> Result<Option<u64>, Ended>) -> Ended {
        loop {
            let wanted_ns = match pace(self) {
                Ok(wanted_ns) => wanted_ns,
                Err(ended) => return ended,
            };
            if self.outstanding == 0 && wanted_ns.is_none() {
                return Ended::Normally;
            }
            let look_ns = (self.request.purpose == Purpose::Trial).then(|| now_ns() + LOOK_NS);
            let give_up_ns = self.give_up_ns();
            if give_up_ns.is_some_and(|at| at <= now_ns()) {
                // It cannot be ended, which the end of the batch will tell.
                return Ended::Normally;
            }
            let wake_ns = [wanted_ns, self.deadline_ns(), look_ns, give_up_ns].into_iter().flatten().min();
            match self.signals.wait(wake_ns) {
                Woken::Stop => return Ended::Aborted,
                Woken::Child => {
                    self.reap();
                }
                Woken::Time => {}
            }
            // Also after a child: a tree that forks without end keeps us busy reaping, and the time would never come.
            self.end_late_ones();
            if look_ns.is_some() {
                self.look();
            }
        }
    }

    /// When the next copy runs out of time.
    fn deadline_ns(&mut self) -> Option<u64> {
        let timeout = self.request.timeout_s?;
        while self
            .released
            .front()
            .is_some_and(|&(_, row, _)| self.rows[row].end.is_some() || self.rows[row].timed_out)
        {
            self.released.pop_front();
        }
        self.released.front().map(|&(_, _, intended_ns)| intended_ns + nanoseconds(timeout))
    }

    /// All that are late at once: each look at all processes takes time, and a thousand looks would keep us from whoever is late next.
    fn end_late_ones(&mut self) {
        let mut late = Vec::new();
        while let (Some(deadline), Some(&(pid, row, _))) = (self.deadline_ns(), self.released.front())
            && deadline <= now_ns()
        {
            self.rows[row].timed_out = true;
            late.push((pid, row));
        }
        if late.is_empty() {
            return;
        }
        let roots: Vec<i32> = late.iter().map(|&(pid, _)| pid).collect();
        let patience = tree::kill_copies(&roots, self.request.own_session);
        let now = now_ns();
        let given_up = patience.iter().map(|patience| now + patience.as_nanos() as u64);
        self.killed.extend(late.iter().map(|&(_, row)| row).zip(given_up));
    }

    /// When to wait no longer for a copy that was killed.
    fn give_up_ns(&mut self) -> Option<u64> {
        let rows = &self.rows;
        self.killed.retain(|&(row, _)| rows[row].end.is_none());
        self.killed.iter().map(|&(_, give_up_ns)| give_up_ns).min()
    }

    fn look(&mut self) {
        let seen = tree::needs(&self.helpers);
        self.needs.processes = self.needs.processes.max(seen.processes);
        self.needs.memory_bytes = self.needs.memory_bytes.max(seen.memory_bytes);
        self.needs.private_bytes = self.needs.private_bytes.max(seen.private_bytes);
    }

    /// Takes in all children that changed. Says whether there is no child at all any more: then nothing below us lives, as orphans become our children.
    pub(super) fn reap(&mut self) -> bool {
        loop {
            match next() {
                Ok(Some(child)) => self.take(&child),
                Ok(None) => return false,
                Err(NoChild) => return true,
            }
        }
    }

    fn take(&mut self, child: &Reaped) {
        if child.stopped() {
            if let Some(account) = &mut self.account {
                account::on_stop(account, child.pid, child.status);
            }
            return;
        }
        // A copy goes first: it may have the number of a daemon that was left running and has ended since.
        let Some(copy) = self.live.remove(&child.pid) else {
            if self.helpers.iter().any(|helper| helper.0 == child.pid) {
                return;
            }
            self.orphans.reaped += 1;
            self.orphans.beside += u32::from(self.outstanding > 0);
            self.orphans.user_s += seconds(child.usage.ru_utime);
            self.orphans.system_s += seconds(child.usage.ru_stime);
            return;
        };
        let slot = self.gate.slot(copy.slot);
        if let Some((_, errno)) = slot.failure() {
            self.exec_errno.get_or_insert(errno);
        }
        if let Some(row) = copy.row {
            let row = &mut self.rows[row];
            row.started_ns = slot.started_ns();
            row.used = slot.used();
            let counted = counting::read(copy.counters);
            let at_ns = self.signals.ended(child.pid).unwrap_or(child.at_ns);
            row.end = Some(End { at_ns, status: child.code(), usage: child.usage, counted });
            self.outstanding -= 1;
        }
        self.free_slots.push(copy.slot);
    }

    /// Copies whose end was not told yet.
    pub(super) fn alive(&self) -> usize {
        self.live.len()
    }

    /// What the copies left running, where that is to stay. What the time-out cut short leaves nothing behind.
    pub(super) fn daemons(&mut self) -> Vec<Identity> {
        self.reap();
        let cut = self.rows.iter().any(|row| row.timed_out);
        if !self.request.keep_daemons || cut || !self.live.is_empty() {
            return Vec::new();
        }
        let daemons: Vec<Identity> =
            tree::below_this().into_iter().filter(|process| !self.helpers.contains(process)).collect();
        self.orphans.left_running = daemons.len() as u32;
        daemons
    }

    /// Ends all that is left of the batch: copies never released, copies cut short, and what outlived its copy. Returns what
    /// could not be ended.
    pub(super) fn end(&mut self, gentle: bool) -> Vec<Who> {
        self.reap();
        match next() {
            Err(NoChild) => return Vec::new(),
            Ok(Some(child)) => self.take(&child),
            Ok(None) => {}
        }
        let helpers = self.helpers.clone();
        let unreleased: Vec<i32> = self.prepared.drain(..).collect();
        let before = self.alive();
        let (killed, left) = tree::end_all(&helpers, gentle, || self.reap());
        self.reap_ended();
        let copies_ended = before.saturating_sub(self.alive()).max(unreleased.len());
        self.orphans.killed += killed.saturating_sub(copies_ended as u32);
        // A copy may be hidden from the look at all processes (hidepid, proc(5)); it is our child all the same.
        let mut left: Vec<i32> = left.into_iter().map(|(pid, _)| pid).collect();
        left.extend(self.live.keys().filter(|pid| !tree::has_ended(**pid)));
        left.sort_unstable();
        left.dedup();
        left.into_iter().map(tree::who).collect()
    }

    /// The columns of the record. Copies that did not end are left out: a batch that was cut short is no sample.
    pub(super) fn copies(&self) -> (Copies, f64) {
        let mut copies = Copies::default();
        let counted_from_intended = matches!(self.request.arrivals, Arrivals::Rate { .. });
        let (mut first_ns, mut last_ns) = (u64::MAX, 0);
        let mut counted = Vec::new();
        // What went on in a duet is not counted.
        let counted_rows = if matches!(self.request.arrivals, Arrivals::Duet) { 2 } else { self.rows.len() };
        for row in self.rows.iter().take(counted_rows) {
            let (Some(end), Some(started_ns)) = (&row.end, row.started_ns) else { continue };
            let start_ns = if counted_from_intended { row.intended_ns } else { started_ns };
            first_ns = first_ns.min(start_ns);
            last_ns = last_ns.max(end.at_ns);
            copies.start_s.push(start_ns.saturating_sub(self.released_ns) as f64 / 1e9);
            copies.wall_s.push(end.at_ns.saturating_sub(start_ns) as f64 / 1e9);
            let cpu_s = |time, used_us| microseconds(time).saturating_sub(used_us) as f64 / 1e6;
            copies.user_s.push(cpu_s(end.usage.ru_utime, row.used.user_us));
            copies.system_s.push(cpu_s(end.usage.ru_stime, row.used.system_us));
            copies.max_rss_bytes.push(end.usage.ru_maxrss as u64 * 1024);
            copies.voluntary_switches.push((end.usage.ru_nvcsw as u64).saturating_sub(row.used.voluntary));
            copies
                .involuntary_switches
                .push((end.usage.ru_nivcsw as u64).saturating_sub(row.used.involuntary));
            copies.status.push(end.status);
            copies.timed_out.push(row.timed_out);
            counted.push(&end.counted);
        }
        copies.counters = counting::columns(&counted, self.user_only);
        (copies, last_ns.saturating_sub(first_ns) as f64 / 1e9)
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_slots_than_copies() {
        let at = |rate_per_s, duration_s| slots(Arrivals::Rate { rate_per_s, duration_s, most: 4096 });
        assert_eq!((at(5.0, 2.0), at(0.1, 2.0), at(1000.0, 5.0)), (10, 1, 4160));
    }
}
