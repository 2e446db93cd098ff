//! Which round comes next, and when to stop. A state machine without a clock: time comes in as seconds.
//!
//! Levels are measured in rising order, because the low ones are cheap and their span and work tell what the high ones
//! will cost. For every level the time of its least number of rounds (those that a verdict needs at all) is reserved; what
//! is left beyond that is shared equally among the levels, and what an early verdict saves goes to the levels after it.
//! When not all reserves fit, the lower levels have theirs, and the first that does not fit gets what is left. Of many alternatives
//! only those run on whose verdicts are not clear, and the hidden copy runs as often as it tells more than it costs.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use whyfaster_stats::random::Random;

use crate::bounds::Alone;
use crate::missing::NoTime;
use crate::plan::{Mode, Plan, Rounds};
use crate::sample::{Arm, Batch};
use crate::verdict::Verdict;
use whyfaster_stats::eprocess::{self, MOST};
use whyfaster_stats::quantile::median;

/// Creating and reaping one copy costs about this much beside its own run, in seconds: planning only.
const PER_COPY_S: f64 = 0.0003;

/// A single alternative is measured for at least this long, as in hyperfine.
const SINGLE_S: f64 = 3.0;

/// A comparison goes on for at least this long, whatever it says: so little time is better spent on a narrower interval.
const COMPARED_S: f64 = 0.5;

/// The first block has one round more than a verdict needs where it ends within so many seconds. By chance alone three runs are all
/// slower, or all faster, than six equal ones once in 42 times, and four than eight once in 248: most false alarms are these.
const FIRST_S: f64 = 3.0;

/// Blocks behind the first are about so long: one may stop after each.
const BLOCK_S: f64 = 0.25;

/// Of the rounds behind those that the floor's interval takes, one in so many has a hidden copy, where a single alternative is open.
const HIDDEN_EVERY: u32 = 4;

/// Most rounds of a block.
const MOST_RUNS: u32 = MOST as u32;

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
        why: NoTime,
    },
    /// Nothing is left to do.
    Done,
}

/// One round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// Its load.
    pub load: u32,
    /// Its number at this load, from 0.
    pub number: u32,
    /// Rounds of the block that begins with it.
    pub runs: u32,
    /// Place of the level among the known ones, from 0, and their number.
    pub level: (usize, usize),
    /// The runs of the block in their order: of which arm, and in which round it counts. They stand in one random order; where each
    /// alternative makes its own state, the arms do, each with all of its runs.
    pub order: Vec<(Arm, u32)>,
    /// Rounds expected at this load.
    pub expected: u32,
    /// Seconds that one batch will about take.
    pub batch_s: f64,
    /// Seconds until everything is done, about.
    pub left_s: f64,
}

impl Round {
    /// Rounds of the block of which everything is among what ran.
    pub fn complete(&self, ran: &[(Arm, u32)]) -> u32 {
        let whole = |number: &u32| self.order.iter().all(|it| it.1 != *number || ran.contains(it));
        let numbers = self.number..self.number + self.runs;
        u32::try_from(numbers.filter(whole).count()).unwrap_or(self.runs)
    }

    /// The round of the block of which most has run.
    pub fn furthest(&self, ran: &[(Arm, u32)]) -> Option<u32> {
        let of = |number: &u32| ran.iter().filter(|it| it.1 == *number).count();
        (self.number..self.number + self.runs).rev().max_by_key(of)
    }
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
    baseline: usize,
    comparing: bool,
    arms: Vec<ArmCost>,
    /// Rounds with a hidden copy that the floor's interval takes.
    floor_rounds: u32,
    /// Rounds between two setups, where each alternative makes its own state: blocks are then of this length.
    per_setup: Option<u32>,
    /// What a level runs beside its rounds, in rounds: every alternative once more, for its scheduling account.
    account_rounds: f64,
    levels: Vec<LevelState>,
    current: usize,
    /// Seconds of the time that are kept for an explanation.
    kept_s: f64,
    /// Seconds that are kept for duets, behind the lowest level.
    duets_s: f64,
}

/// What one copy of an arm costs when it runs alone.
#[derive(Clone, Copy, Debug)]
struct ArmCost {
    arm: Arm,
    alone: Alone,
}

#[derive(Clone, Debug)]
struct LevelState {
    load: u32,
    /// Rounds without which there is no verdict.
    least: u32,
    rounds: u32,
    /// Those of them that had a hidden copy.
    hidden: u32,
    /// All of them, where a round of fewer arms counts as the part of the time that they need of all.
    whole_rounds: f64,
    spent_s: f64,
    standing: Standing,
    over: bool,
}

impl Scheduler {
    /// A measurement of these levels: loads, and the rounds without which there is no verdict. `alone` is what a copy of each alternative cost in an untimed run (span and work,
    /// seconds): good enough to plan with until there are samples.
    pub fn new(plan: &Plan, levels: &[(u32, u32)], alone: &[(f64, f64)], capacity: f64) -> Self {
        let mut arms: Vec<ArmCost> = (alone.iter().enumerate())
            .map(|(index, &(span_s, work_s))| ArmCost {
                arm: Arm::Alternative(index),
                alone: Alone { span_s, work_s },
            })
            .collect();
        let comparing = arms.len() > 1;
        if comparing && plan.extra_runs() {
            arms.push(ArmCost { arm: Arm::HiddenCopy, ..arms[plan.baseline] });
        }
        let levels = levels.iter().map(|&(load, least)| LevelState::new(load, least)).collect();
        Self {
            rounds: plan.rounds,
            mode: plan.mode,
            seed: plan.seed,
            capacity,
            baseline: plan.baseline,
            comparing,
            arms,
            floor_rounds: eprocess::min_rounds(1.0 - plan.confidence, 1) as u32,
            per_setup: plan.rounds_per_setup.map(|_| plan.block()),
            account_rounds: f64::from(u8::from(plan.extra_runs())),
            levels,
            current: 0,
            kept_s: 0.0,
            duets_s: 0.0,
        }
    }

    /// Keeps so many seconds of the time for explaining a difference of one copy alone, after the levels. Where the level of one
    /// copy ends without a difference, they are not kept any longer.
    pub fn keep(&mut self, seconds: f64) {
        self.kept_s = seconds;
    }

    /// The seconds of the time that are kept for an explanation.
    pub fn kept_s(&self) -> f64 {
        self.kept_s
    }

    /// Keeps so many seconds of the time for duets behind the lowest level.
    pub fn keep_for_duets(&mut self, seconds: f64) {
        self.duets_s = seconds;
    }

    /// Gives slow commands more than the usual time, unless time is left for duets.
    pub fn stretch(&mut self) {
        let alternatives = self.arms.iter().filter(|cost| cost.arm != Arm::HiddenCopy);
        if self.comparing && self.duets_s == 0.0 {
            self.rounds.max_time_s =
                self.rounds.comparing_s(alternatives.map(|cost| cost.alone.span_s).sum());
        }
    }

    /// When a level must be over. Nothing is ever kept from the rounds that a verdict needs.
    fn until_s(&self, level: &LevelState) -> f64 {
        let duets_s = if self.current == 0 { self.duets_s } else { 0.0 };
        let kept_s = if level.rounds < level.least { 0.0 } else { self.kept_s + duets_s };
        self.rounds.max_time_s - kept_s
    }

    /// Seconds that the rounds without which the first level has no verdict will about take, and those that are left for them, if these are
    /// fewer and no more will be given.
    pub fn too_little(&self, now_s: f64) -> Option<(f64, f64)> {
        let level = self.levels.first().filter(|_| self.comparing && self.rounds.max_time_hard)?;
        let (needed_s, left_s) = (self.reserve_s(level), (self.rounds.max_time_s - now_s).max(0.0));
        (needed_s > left_s).then_some((needed_s, left_s))
    }

    /// What to do at this moment.
    pub fn next(&mut self, now_s: f64) -> Step {
        let Some(level) = self.levels.get(self.current) else { return Step::Done };
        let (load, done) = (level.load, level.rounds);
        let (round_s, left_s) = (self.round_s(level), self.until_s(level) - now_s);
        let runs = self.runs(level, now_s);
        let block_s = f64::from(runs) * round_s;
        if done == 0 && self.rounds.max_time_hard && block_s > left_s && self.current > 0 {
            self.close();
            return Step::Skip {
                load,
                why: NoTime { round_s: block_s, left_s: left_s.max(0.0), max_time_s: self.rounds.max_time_s },
            };
        }
        if self.enough(level, now_s, block_s) {
            if self.kept_s > 0.0 && load == 1 && !level.standing.differs() {
                // Nothing will be explained: the time that was kept for that is the verdicts'.
                self.kept_s = 0.0;
                return self.next(now_s);
            }
            self.close();
            return Step::EndLevel { load, rounds: done };
        }
        let expected = self.expected(self.current, now_s);
        let arms: Vec<Arm> = self.open_arms(level).map(|cost| cost.arm).collect();
        Step::Round(Round {
            load,
            number: done,
            runs,
            level: (self.current, self.levels.len()),
            order: self.order(&arms, (load, done), runs),
            expected,
            batch_s: round_s / arms.len() as f64,
            left_s: self.left_s(now_s),
        })
    }

    /// This block ran: these are its batches, this is how long they took with all that belongs to them, and how things
    /// stand, if that was looked at.
    pub fn observe(&mut self, ran: &Round, batches: &[Batch], took_s: f64, standing: Option<Standing>) {
        let Some(level) = self.levels.get(self.current) else { return };
        let part = self.open_part(level);
        let level = &mut self.levels[self.current];
        level.rounds += ran.runs;
        if ran.order.iter().any(|(arm, _)| *arm == Arm::HiddenCopy) {
            level.hidden += ran.runs;
        }
        level.whole_rounds += f64::from(ran.runs) * part;
        level.spent_s += took_s;
        if let Some(standing) = standing {
            level.standing = standing;
        }
        if self.current == 0 {
            for batch in batches {
                let copies = batch.copies.len().max(1) as f64;
                // Of a block the last run stands for all.
                if let Some(cost) = self.arms.iter_mut().find(|cost| cost.arm == batch.arm) {
                    cost.alone.span_s = median(&batch.copies.wall_s).unwrap_or(cost.alone.span_s);
                    cost.alone.work_s = batch.work_s() / copies;
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

    /// Whether the level has what it needs, or all that it can get. `block_s` is what the next block would take.
    fn enough(&self, level: &LevelState, now_s: f64, block_s: f64) -> bool {
        let rounds = &self.rounds;
        if level.rounds >= rounds.max {
            return true;
        }
        if level.rounds == 0 || rounds.fixed && !rounds.max_time_hard {
            return false;
        }
        let fits = level.spent_s + block_s <= self.allotment_s(now_s);
        if level.rounds < self.wanted(level) {
            // Only an explicit --max-time cuts --min-runs short, or a soft one at the levels above the lowest.
            return !fits && (rounds.max_time_hard || self.current > 0);
        }
        let least_s = if self.comparing { COMPARED_S } else { SINGLE_S };
        let satisfied = level.spent_s >= least_s && (!self.comparing || level.standing.decided());
        !rounds.fixed && satisfied || !fits
    }

    /// Rounds that a level is to have, whatever they say.
    fn wanted(&self, level: &LevelState) -> u32 {
        let least = if self.comparing { level.least } else { 0 };
        self.rounds.min.max(least).min(self.rounds.max)
    }

    /// Rounds of a level's next block. The first one has as many as a verdict needs, and one more where that costs little.
    fn runs(&self, level: &LevelState, now_s: f64) -> u32 {
        let most = self.rounds.max.saturating_sub(level.rounds);
        if let Some(block) = self.per_setup {
            return block.min(most);
        }
        if self.rounds.fixed || !self.comparing {
            return most.min(1);
        }
        let round_s = self.round_s(level).max(1e-6);
        // Without a trial and before the first round nothing is known.
        let known = self.arms.iter().all(|arm| arm.alone.span_s > 0.0);
        let usual = if known { ((BLOCK_S / round_s) as u32).clamp(1, MOST_RUNS) } else { 1 };
        let needed = match level.rounds {
            0 if known && f64::from(level.least + 1) * round_s <= FIRST_S => level.least + 1,
            0 => level.least,
            _ => level.standing.needed.unwrap_or(usual).min(2),
        };
        let left_s = match (level.rounds, self.rounds.max_time_hard) {
            (0, false) if self.current == 0 => f64::INFINITY,
            (0, _) => self.until_s(level) - now_s,
            _ => self.allotment_s(now_s) - level.spent_s,
        };
        let affordable = ((left_s / round_s) as u32).max(1);
        needed.max(usual).min(MOST_RUNS).min(affordable).min(most)
    }

    /// Seconds that the current level may take in all.
    fn allotment_s(&self, now_s: f64) -> f64 {
        let Some(level) = self.levels.get(self.current) else { return 0.0 };
        let open = &self.levels[self.current..];
        let left_s = (self.until_s(level) - now_s + level.spent_s).max(0.0);
        let (mut fitting, mut reserved_s, mut accounts_s) = (0, 0.0, 0.0);
        for level in open {
            if reserved_s + self.reserve_s(level) > left_s {
                break;
            }
            fitting += 1;
            reserved_s += self.reserve_s(level);
            accounts_s += self.account_rounds * self.round_s(level);
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
        if level.whole_rounds > 0.0 {
            return level.spent_s / level.whole_rounds * self.open_part(level);
        }
        self.arms.iter().map(|arm| self.batch_s(arm, level.load)).sum()
    }

    /// The arms of a level's next block. No alternative runs any longer whose verdict is clear, once the level has the rounds that it is
    /// to have: what the others are compared with are their own runs and the baseline's, so nothing else changes for them.
    fn open_arms<'a>(&'a self, level: &'a LevelState) -> impl Iterator<Item = &'a ArmCost> {
        let all = self.rounds.fixed || level.rounds < self.wanted(level) || level.spent_s < COMPARED_S;
        let open = move |arm: Arm| match arm {
            Arm::Alternative(index) if index != self.baseline => {
                let place = index - usize::from(index > self.baseline);
                all || level.standing.verdicts.get(place).is_none_or(|it| *it == Verdict::Undecided)
            }
            _ => true,
        };
        let alternatives = self
            .arms
            .iter()
            .filter(|cost| cost.arm != Arm::HiddenCopy && open(cost.arm))
            .count()
            .saturating_sub(1);
        let hidden = self.hidden_runs(level, alternatives);
        self.arms.iter().filter(move |cost| open(cost.arm) && (hidden || cost.arm != Arm::HiddenCopy))
    }

    /// Whether the next block has a hidden copy: as the floor needs it, and always where several alternatives are compared with the
    /// baseline. Of a single one, half of the runs tell most: with a hidden copy in every round it would have a third. The rounds so far decide,
    /// and no time: what is equal stays exchangeable.
    fn hidden_runs(&self, level: &LevelState, alternatives: usize) -> bool {
        let needed = level.hidden < self.floor_rounds || level.hidden * HIDDEN_EVERY <= level.rounds;
        alternatives > 1 || self.per_setup.is_some() || needed
    }

    /// The part of a whole round's time that the arms of the next block need.
    fn open_part(&self, level: &LevelState) -> f64 {
        let cost = |arm: &ArmCost| self.batch_s(arm, level.load);
        let all_s: f64 = self.arms.iter().map(cost).sum();
        if all_s > 0.0 { self.open_arms(level).map(cost).sum::<f64>() / all_s } else { 1.0 }
    }

    fn batch_s(&self, arm: &ArmCost, load: u32) -> f64 {
        let load = f64::from(load);
        let bound_s = arm.alone.makespan_bound_s(load, self.capacity);
        match self.mode {
            Mode::Batch => bound_s + load * PER_COPY_S,
            Mode::Closed { duration_s } | Mode::Open { duration_s, .. } => duration_s + bound_s,
        }
    }

    /// Rounds that a level will probably get.
    fn expected(&self, index: usize, now_s: f64) -> u32 {
        let level = &self.levels[index];
        let rounds = &self.rounds;
        if rounds.fixed {
            return rounds.max;
        }
        let usual = self.wanted(level).max(level.least);
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
        // A block runs whole, also where it takes more than the time that is usual.
        let next = if index == self.current { self.runs(level, now_s) } else { 1 };
        wanted.min(affordable.max(least)).min(rounds.max).max(level.rounds + next)
    }

    /// Seconds until everything is done, as far as one can tell.
    fn left_s(&self, now_s: f64) -> f64 {
        let open = self.levels.iter().enumerate().skip(self.current);
        let wanted_s: f64 = open
            .map(|(index, level)| {
                let rounds = self.expected(index, now_s).saturating_sub(level.rounds);
                (f64::from(rounds) + self.account_rounds) * self.round_s(level)
            })
            .sum();
        if self.rounds.max_time_hard {
            wanted_s.min(self.rounds.max_time_s - self.kept_s - now_s).max(0.0)
        } else {
            wanted_s
        }
    }

    /// A fresh random order of a block's runs; the same seed, arms, load, number and length give the same.
    fn order(&self, arms: &[Arm], (load, number): (u32, u32), runs: u32) -> Vec<(Arm, u32)> {
        let mut rng = Random::seed_from_u64(self.seed);
        rng.set_stream(u64::from(load) << 32 | u64::from(number));
        let together = if self.per_setup.is_some() { runs } else { 1 };
        let mut order = arms.repeat((runs / together) as usize);
        order.shuffle(&mut rng);
        let mut next: BTreeMap<Arm, u32> = BTreeMap::new();
        let mut round = |arm: Arm| {
            let next = next.entry(arm).or_insert(number);
            *next += 1;
            (arm, *next - 1)
        };
        order
            .into_iter()
            .flat_map(|arm| std::iter::repeat_n(arm, together as usize))
            .map(&mut round)
            .collect()
    }
}

impl LevelState {
    fn new(load: u32, least: u32) -> Self {
        Self {
            load,
            least,
            rounds: 0,
            hidden: 0,
            whole_rounds: 0.0,
            spent_s: 0.0,
            standing: Standing::default(),
            over: false,
        }
    }
}

#[cfg(test)]
mod tests;
