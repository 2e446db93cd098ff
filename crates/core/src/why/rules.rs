//! From categories to causes: what a part of the difference is called depends on what both sides did.
//!
//! Every second of a category goes to exactly one cause, so the causes sum to the categories. All rules are odd: with the sides
//! changed, every cause changes its sign and nothing else.

use std::collections::BTreeMap;

use super::categories::Category;
use super::cause::Cause;
use super::causes::misplacement::{confined, confined_alike, taking_turns};
use super::causes::{self, calls, files, processes, small_io};
use super::difference::{Attribution, Attributions};
use super::facts::Side;

/// Seconds by cause: what the alternative takes longer than the baseline.
pub(super) type Causes = BTreeMap<Cause, f64>;

/// Both sides of a difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub alternative: &'a Side,
    pub baseline: &'a Side,
}

impl<'a> Pair<'a> {
    /// The slower side and the other one, for a part of this sign.
    pub(super) fn by(self, seconds: f64) -> (&'a Side, &'a Side) {
        if seconds >= 0.0 { (self.alternative, self.baseline) } else { (self.baseline, self.alternative) }
    }
}

/// A system call costs about so much outside of what a tracer sees of it: the way into the kernel and out of it, and the
/// instructions around it (measured: 190 to 270 ns for a call that does nothing, of which the tracer sees some tens).
pub(super) const AROUND_A_CALL_S: f64 = 250e-9;

/// A call costs about so much in user code: its arguments, and the function of the C library.
const BEFORE_A_CALL_S: f64 = 50e-9;

/// A process costs its parent user code too, at most this part of what it costs in the kernel.
const OWN_CODE: f64 = 0.25;

/// Gives every category to its cause.
pub(super) fn causes(attributed: &Attributions, pair: Pair<'_>) -> Causes {
    let mut attributed = attributed.clone();
    forbidden_alike(&mut attributed, pair);
    behind_own_work(&mut attributed, pair);
    by_rules(&attributed, pair)
}

/// The same without the waiting for CPUs that comes with what runs.
pub(super) fn alone(attributed: &Attributions, pair: Pair<'_>) -> Causes {
    let mut attributed = attributed.clone();
    forbidden_alike(&mut attributed, pair);
    by_rules(&attributed, pair)
}

/// Where both sides confine themselves alike, this is no difference between them: who waits longer for its own processes there waits
/// for what these have more to do. Else the CPUs that are forbidden are what it waits for.
fn forbidden_alike(attributed: &mut Attributions, pair: Pair<'_>) {
    let seconds = caused(attributed, Category::OwnForbidden);
    let (slow, fast) = pair.by(seconds);
    let to = if confined_alike(slow, fast) { Category::Own } else { Category::OwnMisplaced };
    attributed.entry(to).or_default().caused += seconds;
    attributed.entry(Category::OwnForbidden).or_default().caused -= seconds;
}

fn by_rules(attributed: &Attributions, pair: Pair<'_>) -> Causes {
    let mut rules = Rules { attributed, pair, causes: Causes::new() };
    rules.processes();
    rules.search_and_startup();
    rules.data();
    rules.computing();
    rules.waits();
    rules.overlap();
    rules.causes
}

/// Gives the seconds of a wait to the categories that cause it, in proportion to their weights: at most `each` seconds for every
/// second of weight. What the faster side has more of does not make the slower one wait.
fn hand_over(
    attributed: &mut Attributions,
    wait: Category,
    each: f64,
    weight: impl Fn(Category, &Attribution) -> f64,
) {
    let waited = caused(attributed, wait);
    let weights = attributed.iter().map(|(category, it)| (*category, weight(*category, it)));
    let weights: BTreeMap<Category, f64> = weights.filter(|(_, weight)| weight * waited > 0.0).collect();
    let all: f64 = weights.values().sum();
    if all == 0.0 {
        return;
    }
    let moved = within(waited, all * each);
    for (category, it) in attributed {
        it.caused += moved * weights.get(category).copied().unwrap_or(0.0) / all;
        if *category == wait {
            it.caused -= moved;
        }
    }
}

/// Where all CPUs are busy, off-path work costs time after all: the critical path waits for it. So a wait behind one's own processes
/// goes to the categories with more off-path work, second for second.
fn behind_own_work(attributed: &mut Attributions, pair: Pair<'_>) {
    let (slow, fast) = pair.by(caused(attributed, Category::Own));
    if !queues_by_choice(slow, fast) {
        hand_over(attributed, Category::Own, 1.0, |_, it| it.off_path_work);
    }
}

/// Whether the slower side waits for CPUs by what it did itself: it lowered its priority, or left itself fewer CPUs.
fn queues_by_choice(slow: &Side, fast: &Side) -> bool {
    slow.priorities > 0.0 || confined(slow, fast)
}

struct Rules<'a> {
    attributed: &'a Attributions,
    pair: Pair<'a>,
    causes: Causes,
}

impl Rules<'_> {
    fn category(&self, category: Category) -> f64 {
        caused(self.attributed, category)
    }

    fn give(&mut self, cause: Cause, seconds: f64) {
        *self.causes.entry(cause).or_default() += seconds;
    }

    fn of(&self, cause: Cause) -> f64 {
        self.causes.get(&cause).copied().unwrap_or(0.0)
    }

    /// The slower side of a part makes more processes.
    fn more_processes(&self, seconds: f64) -> bool {
        let (slow, fast) = self.pair.by(seconds);
        slow.forks_more_than(fast) || slow.begins_more_than(fast)
    }

    /// Processes cost their parents too: user code, and memory that both write to after the fork.
    fn processes(&mut self) {
        let (process, forked) = (self.category(Category::Process), self.category(Category::Forked));
        let all = process + forked;
        let (user, faults) = (self.category(Category::ParentUser), self.category(Category::ParentFaults));
        if self.more_processes(all) {
            let own = within(user, OWN_CODE * all);
            let memory = within(faults, all);
            self.give(Cause::Processes, all + own + memory);
            self.give(Cause::Compute, user - own);
            self.give(Cause::PageFaults, faults - memory);
            return;
        }
        // As many processes on both sides: a child that runs no program computes, and an end that takes longer frees what was
        // loaded or touched.
        self.give(Cause::Compute, user + forked);
        self.give(Cause::PageFaults, faults);
        let candidates = [
            (Cause::Startup, self.category(Category::Startup)),
            (Cause::PageFaults, self.category(Category::Faults) + faults),
        ];
        let same = candidates.into_iter().filter(|(_, seconds)| seconds * process > 0.0);
        let largest = same.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        // Freeing is cheaper than using: a part that is larger than the use is no part of it.
        let cause =
            largest.filter(|(_, seconds)| seconds.abs() >= process.abs() / 2.0).map(|(cause, _)| cause);
        self.give(cause.unwrap_or(Cause::Processes), process);
    }

    fn search_and_startup(&mut self) {
        self.give(Cause::PathSearch, self.category(Category::Search));
        let startup = self.category(Category::Startup);
        let more_s = processes::startups_s(self.pair.by(startup));
        let of_processes = within(startup.signum() * more_s, startup);
        self.give(Cause::Processes, of_processes);
        self.give(Cause::Startup, startup - of_processes);
    }

    /// Data: the same in smaller pieces, or more of it.
    fn data(&mut self) {
        let pipe = self.category(Category::Pipe);
        let small = pipe * small_io::part(self.pair.by(pipe), |side| side.pipe);
        self.give(Cause::SmallIo, small);
        self.give(Cause::PipeCopy, pipe - small);
        let file = self.category(Category::FileData);
        let small = file * small_io::part(self.pair.by(file), |side| side.file);
        let most_s = small_io::most_s(self.pair.by(file));
        let small = most_s.map_or(small, |most_s| within(small, small.signum() * most_s));
        self.give(Cause::SmallIo, small);
        // The same data costs more CPU time when it has to be fetched.
        let disk = self.category(Category::Disk);
        let names = self.category(Category::FileMetadata);
        let descriptors = self.category(Category::Descriptor);
        let closes = files::closes_what_it_opens(self.pair.by(descriptors));
        let of_descriptors = if closes { Cause::Files } else { Cause::Calls };
        for (cause, rest) in
            [(Cause::Files, file - small), (Cause::Files, names), (of_descriptors, descriptors)]
        {
            let cold = disk * rest > 0.0 && rest.abs() <= disk.abs();
            self.give(if cold { Cause::Disk } else { cause }, rest);
        }
        self.give(Cause::Calls, self.category(Category::Calls));
    }

    /// User code: what surrounds additional calls belongs to them, the rest is computing.
    fn computing(&mut self) {
        let mut user = self.category(Category::User) + self.of(Cause::Compute);
        self.causes.remove(&Cause::Compute);
        let small = self.of(Cause::SmallIo);
        let around = within(user, small.signum() * self.more_calls(small) * AROUND_A_CALL_S);
        self.give(Cause::SmallIo, if small == 0.0 { 0.0 } else { around });
        user -= if small == 0.0 { 0.0 } else { around };
        let search = self.of(Cause::PathSearch);
        let (slow, fast) = self.pair.by(search);
        let around = (slow.misses() - fast.misses()).max(0.0) * AROUND_A_CALL_S;
        let around = if search == 0.0 { 0.0 } else { within(user, search.signum() * around) };
        self.give(Cause::PathSearch, around);
        user -= around;
        let others = self.of(Cause::Calls);
        let around = others.signum() * calls::more_calls(self.pair.by(others)) * BEFORE_A_CALL_S;
        let around = if others == 0.0 { 0.0 } else { within(user, around) };
        self.give(Cause::Calls, around);
        let (user, faults) = (user - around, self.category(Category::Faults));
        self.give(Cause::Compute, user);
        self.give(Cause::PageFaults, faults);
    }

    fn more_calls(&self, seconds: f64) -> f64 {
        let (slow, fast) = self.pair.by(seconds);
        (slow.pipe.calls + slow.file.calls - fast.pipe.calls - fast.file.calls).max(0.0)
    }

    fn waits(&mut self) {
        for &cause in Cause::ALL {
            for &category in causes::definition(cause).categories {
                self.give(cause, self.category(category));
            }
        }
        let contention = self.category(Category::Contention) + self.category(Category::Others);
        let cause = self.queueing(contention).unwrap_or(Cause::CpuContention);
        self.give(cause, contention);
    }

    /// What the slower side did itself to wait longer for a CPU, whoever had it: lowered its priority, or left itself fewer
    /// CPUs than the other one has.
    fn queueing(&self, seconds: f64) -> Option<Cause> {
        let (slow, fast) = self.pair.by(seconds);
        match () {
            () if slow.priorities > 0.0 => Some(Cause::Share),
            () if confined(slow, fast) => Some(Cause::Misplacement),
            () => None,
        }
    }

    /// What the other side does at the same time. Where one's own processes have to share a CPU although another one is
    /// free, that is the reason why they do not overlap.
    fn overlap(&mut self) {
        let own = self.category(Category::Own);
        let of_own = self.queueing(own).unwrap_or(Cause::Overlap);
        let mut overlap = self.attributed.values().map(|attributed| attributed.overlap).sum::<f64>();
        let mut waits = [(Cause::Misplacement, self.category(Category::OwnMisplaced)), (of_own, own)];
        // Who waits for a process of its own does not run at that time: what runs less on the path for it is the same time
        // seen a second time, and no overlap of the other side.
        for (_, wait) in &mut waits {
            let twice = within(overlap, -*wait);
            *wait += twice;
            overlap -= twice;
        }
        for (cause, wait) in waits {
            self.give(cause, wait);
        }
        let overlap = overlap + self.of(Cause::Overlap);
        self.causes.remove(&Cause::Overlap);
        let misplaced = self.of(Cause::Misplacement);
        let (slow, fast) = self.pair.by(overlap);
        let forbidden =
            misplaced * overlap > 0.0 && misplaced.abs() >= overlap.abs() / 2.0 || taking_turns(slow, fast);
        self.give(if forbidden { Cause::Misplacement } else { Cause::Overlap }, overlap);
    }
}

/// Seconds of wall time that a category costs.
fn caused(attributed: &Attributions, category: Category) -> f64 {
    attributed.get(&category).map_or(0.0, |it| it.caused)
}

/// `seconds`, as far as they have the sign of `limit` and do not exceed it.
fn within(seconds: f64, limit: f64) -> f64 {
    if seconds * limit <= 0.0 { 0.0 } else { seconds.signum() * seconds.abs().min(limit.abs()) }
}
