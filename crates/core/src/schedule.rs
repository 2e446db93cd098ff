//! Which round comes next, and when to stop. A state machine without a clock: time comes in as seconds.
//!
//! Levels are measured in rising order, because the low ones are cheap and their span and work tell what the high ones
//! will cost. For every level the time of its least number of rounds (those that a verdict needs at all) is reserved; what
//! is left beyond that is shared equally among the levels, and what an early verdict saves goes to the levels after it.
//! When not all reserves fit, the lower levels have theirs, and the first that does not fit gets what is left.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::plan::{Mode, Plan, Rounds};
use crate::sample::{Arm, Batch};
use crate::stats::quantile::median;
use crate::verdict::Verdict;

/// Creating and reaping one copy costs about this much beside its own run, in seconds: planning only.
const PER_COPY_S: f64 = 0.0003;

/// Beside its rounds a level runs every alternative once more for its scheduling account: about one round.
const ACCOUNT_ROUNDS: f64 = 1.0;

/// A single alternative is measured for at least this long, as in hyperfine.
const SINGLE_S: f64 = 3.0;

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Run a round: these arms in this order.
    Round(Round),
    /// The level at this load is done.
    EndLevel {
        /// Its load.
        load: u32,
        /// Rounds it got.
        rounds: u32,
    },
    /// The level at this load is not measured.
    Skip {
        /// Its load.
        load: u32,
        /// Why.
        why: String,
    },
    /// Nothing is left to do.
    Done,
}

/// One round.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Its load.
    pub load: u32,
    /// Its number at this load, from 0.
    pub number: u32,
    /// Place of the level among the known ones, from 0, and their number.
    pub level: (usize, usize),
    /// The arms, in the order in which they run.
    pub order: Vec<Arm>,
    /// Rounds expected at this load.
    pub expected: u32,
    /// Seconds that one batch will about take.
    pub batch_s: f64,
    /// Seconds until everything is done, about.
    pub left_s: f64,
}

/// How the verdicts of a level stand after a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// One per alternative other than the baseline.
    pub verdicts: Vec<Verdict>,
    /// Further rounds that the slowest of them needs, if that can be told.
    pub needed: Option<u32>,
}

impl Standing {
    fn decided(&self) -> bool {
        !self.verdicts.is_empty() && self.verdicts.iter().all(|verdict| *verdict != Verdict::Undecided)
    }

    /// Whether one of them is known to differ from the baseline.
    fn differs(&self) -> bool {
        self.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Faster | Verdict::Slower))
    }
}

/// The state of a measurement.
#[derive(Clone, Debug)]
pub struct Scheduler {
    rounds: Rounds,
    mode: Mode,
    seed: u64,
    capacity: f64,
    comparing: bool,
    arms: Vec<ArmCost>,
    levels: Vec<LevelState>,
    current: usize,
    /// Seconds of the time that are kept for an explanation.
    kept_s: f64,
}

/// What one copy of an arm costs when it runs alone.
#[derive(Clone, Copy, Debug)]
struct ArmCost {
    arm: Arm,
    span_s: f64,
    work_s: f64,
}

#[derive(Clone, Debug)]
struct LevelState {
    load: u32,
    /// Rounds without which there is no verdict.
    least: u32,
    rounds: u32,
    spent_s: f64,
    standing: Standing,
    over: bool,
}

impl Scheduler {
    /// A measurement of these levels: loads, and the rounds without which there is no verdict. `alone` is what a copy of each alternative cost in an untimed run (span and work,
    /// seconds): good enough to plan with until there are samples.
    pub fn new(plan: &Plan, levels: &[(u32, u32)], alone: &[(f64, f64)], capacity: f64) -> Self {
        let mut arms: Vec<ArmCost> = (alone.iter().enumerate())
            .map(|(index, &(span_s, work_s))| ArmCost { arm: Arm::Alternative(index), span_s, work_s })
            .collect();
        let comparing = arms.len() > 1;
        if comparing {
            arms.push(ArmCost { arm: Arm::HiddenCopy, ..arms[plan.baseline] });
        }
        let levels = levels.iter().map(|&(load, least)| LevelState::new(load, least)).collect();
        Self {
            rounds: plan.rounds,
            mode: plan.mode,
            seed: plan.seed,
            capacity,
            comparing,
            arms,
            levels,
            current: 0,
            kept_s: 0.0,
        }
    }

    /// Keeps so many seconds of the time for explaining a difference of one copy alone, after the levels. Where the level of one
    /// copy ends without a difference, they are not kept any longer.
    pub fn keep(&mut self, seconds: f64) {
        self.kept_s = seconds;
    }

    /// When the levels must be over.
    fn until_s(&self) -> f64 {
        self.rounds.max_time_s - self.kept_s
    }

    /// What to do at this moment.
    pub fn next(&mut self, now_s: f64) -> Step {
        let Some(level) = self.levels.get(self.current) else { return Step::Done };
        let (load, done) = (level.load, level.rounds);
        let round_s = self.round_s(level);
        let left_s = self.until_s() - now_s;
        if done == 0 && self.rounds.max_time_hard && round_s > left_s && self.current > 0 {
            self.close();
            return Step::Skip {
                load,
                why: format!(
                    "one round needs about {round_s:.0} s, {:.0} s are left of --max-time {:.0}{}; allow more time",
                    left_s.max(0.0),
                    self.rounds.max_time_s,
                    if self.kept_s > 0.0 {
                        format!(" ({:.0} s are kept for explaining, see --why=no)", self.kept_s)
                    } else {
                        String::new()
                    }
                ),
            };
        }
        if self.enough(level, now_s, round_s) {
            if self.kept_s > 0.0 && load == 1 && !level.standing.differs() {
                // Nothing will be explained: the time that was kept for that is the verdicts'.
                self.kept_s = 0.0;
                return self.next(now_s);
            }
            self.close();
            return Step::EndLevel { load, rounds: done };
        }
        let expected = self.expected(self.current, now_s);
        Step::Round(Round {
            load,
            number: done,
            level: (self.current, self.levels.len()),
            order: self.order(load, done),
            expected,
            batch_s: round_s / self.arms.len() as f64,
            left_s: self.left_s(now_s),
        })
    }

    /// A round ran: these are its batches, this is how long it took with all that belongs to it, and how things stand.
    pub fn observe(&mut self, batches: &[Batch], took_s: f64, standing: Standing) {
        let Some(level) = self.levels.get_mut(self.current) else { return };
        level.rounds += 1;
        level.spent_s += took_s;
        level.standing = standing;
        if self.current == 0 {
            for batch in batches {
                let copies = batch.copies.len().max(1) as f64;
                if let Some(cost) = self.arms.iter_mut().find(|cost| cost.arm == batch.arm) {
                    cost.span_s = median(&batch.copies.wall_s).unwrap_or(cost.span_s);
                    cost.work_s = batch.work_s() / copies;
                }
            }
        }
    }

    /// The current level cannot be measured (any further).
    pub fn give_up(&mut self) {
        self.close();
    }

    /// Verdicts of the levels that are over, by rising load, for one alternative (counted without the baseline).
    pub fn verdicts(&self, comparison: usize) -> Vec<(u32, Verdict)> {
        let over = self.levels.iter().filter(|level| level.over && level.rounds > 0);
        let mut found: Vec<_> =
            over.filter_map(|level| Some((level.load, *level.standing.verdicts.get(comparison)?))).collect();
        found.sort_by_key(|&(load, _)| load);
        found
    }

    /// Adds a level to be measured next. Whether there is time for it is decided as for all.
    pub fn add_level(&mut self, load: u32, least: u32) {
        self.levels.insert(self.current, LevelState::new(load, least));
    }

    /// Whether every level is over.
    pub fn finished(&self) -> bool {
        self.current >= self.levels.len()
    }

    fn close(&mut self) {
        if let Some(level) = self.levels.get_mut(self.current) {
            level.over = true;
            self.current += 1;
        }
    }

    /// Whether the level has what it needs, or all that it can get.
    fn enough(&self, level: &LevelState, now_s: f64, round_s: f64) -> bool {
        let rounds = &self.rounds;
        if level.rounds >= rounds.max {
            return true;
        }
        if level.rounds == 0 || rounds.fixed && !rounds.max_time_hard {
            return false;
        }
        let fits = level.spent_s + round_s <= self.allotment_s(now_s);
        if level.rounds < rounds.min {
            // Only an explicit --max-time cuts --min-runs short, or a soft one at the levels above the lowest.
            return !fits && (rounds.max_time_hard || self.current > 0);
        }
        let satisfied = if self.comparing { level.standing.decided() } else { level.spent_s >= SINGLE_S };
        !rounds.fixed && satisfied || !fits
    }

    /// Seconds that the current level may take in all.
    fn allotment_s(&self, now_s: f64) -> f64 {
        let Some(level) = self.levels.get(self.current) else { return 0.0 };
        let open = &self.levels[self.current..];
        let left_s = (self.until_s() - now_s + level.spent_s).max(0.0);
        let (mut fitting, mut reserved_s, mut accounts_s) = (0, 0.0, 0.0);
        for level in open {
            if reserved_s + self.reserve_s(level) > left_s {
                break;
            }
            fitting += 1;
            reserved_s += self.reserve_s(level);
            accounts_s += ACCOUNT_ROUNDS * self.round_s(level);
        }
        if fitting == 0 {
            return left_s;
        }
        // Verdicts go before accounts, which are left out when no time is left for them. The levels that do not fit get one
        // share together: enough for a look at the next of them, perhaps.
        let shares = fitting + usize::from(fitting < open.len());
        self.reserve_s(level) + (left_s - reserved_s - accounts_s).max(0.0) / shares as f64
    }

    /// Seconds without which a level gives no verdict.
    fn reserve_s(&self, level: &LevelState) -> f64 {
        let least = if self.rounds.fixed { self.rounds.max } else { level.least.min(self.rounds.max) };
        f64::from(least) * self.round_s(level)
    }

    /// Seconds that one round of a level takes: as seen, else as the bounds say.
    fn round_s(&self, level: &LevelState) -> f64 {
        if level.rounds > 0 {
            return level.spent_s / f64::from(level.rounds);
        }
        self.arms.iter().map(|arm| self.batch_s(arm, level.load)).sum()
    }

    fn batch_s(&self, arm: &ArmCost, load: u32) -> f64 {
        let load = f64::from(load);
        match self.mode {
            Mode::Batch => arm.span_s.max(load * arm.work_s / self.capacity) + load * PER_COPY_S,
            Mode::Closed { duration_s } | Mode::Open { duration_s, .. } => {
                duration_s + arm.span_s.max(load * arm.work_s / self.capacity)
            }
        }
    }

    /// Rounds that a level will probably get.
    fn expected(&self, index: usize, now_s: f64) -> u32 {
        let level = &self.levels[index];
        let rounds = &self.rounds;
        if rounds.fixed {
            return rounds.max;
        }
        let usual = level.least.max(rounds.min);
        let wanted = match level.standing.needed {
            Some(needed) if level.rounds > 0 => usual.max(level.rounds.saturating_add(needed)),
            _ => usual,
        };
        let affordable = match index == self.current {
            true => (self.allotment_s(now_s) / self.round_s(level).max(1e-6)) as u32,
            // What the levels before it will save is not known: the reserve is what it gets for sure.
            false => usual,
        };
        let least = if index == 0 && !rounds.max_time_hard { rounds.min } else { 1 };
        wanted.min(affordable.max(least)).min(rounds.max).max(level.rounds + 1)
    }

    /// Seconds until everything is done, as far as one can tell.
    fn left_s(&self, now_s: f64) -> f64 {
        let open = self.levels.iter().enumerate().skip(self.current);
        let wanted_s: f64 = open
            .map(|(index, level)| {
                let rounds = self.expected(index, now_s).saturating_sub(level.rounds);
                (f64::from(rounds) + ACCOUNT_ROUNDS) * self.round_s(level)
            })
            .sum();
        if self.rounds.max_time_hard { wanted_s.min(self.until_s() - now_s).max(0.0) } else { wanted_s }
    }

    /// A fresh random order of the arms; the same seed, load and number give the same.
    fn order(&self, load: u32, number: u32) -> Vec<Arm> {
        let mut order: Vec<Arm> = self.arms.iter().map(|cost| cost.arm).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(u64::from(load) << 32 | u64::from(number));
        order.shuffle(&mut rng);
        order
    }
}

impl LevelState {
    fn new(load: u32, least: u32) -> Self {
        Self { load, least, rounds: 0, spent_s: 0.0, standing: Standing::default(), over: false }
    }
}

#[cfg(test)]
mod tests;
