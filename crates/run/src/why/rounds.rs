//! The observed rounds: every alternative once in each, in random order. They end when they have told enough, when more of them tell nothing
//! more, or when the time is over.

use whyfaster_core::event::Event;
use whyfaster_core::plan::Explain;
use whyfaster_core::why::report::{RoundSchedule, Traced};
use whyfaster_core::why::statement::{LeftOut, Refusal, RoundsLeftOut};
use whyfaster_core::why::{self, Settling, Why};
use whyfaster_stats::looks;
use whyfaster_words::exit::Failure;

use super::super::rig::{Ran, Rig};
use super::super::round::{Series, make, order};
use super::confirm;
use super::sampled::SampledRuns;
use super::so_far::{Ends, SoFar, alone_s};
use super::tracer::{Observing, Seen, Wanted};

/// Rounds below which there is no interval. They go before experiments.
const LEAST: u32 = looks::FIRST as u32;
/// Rounds at most unless asked for more: each is kept in the record.
const MOST: u32 = 22;
/// Rounds that are suggested at most.
const SUGGESTED: f64 = 100.0;

/// Seconds that an observed run takes beside the command.
const PER_RUN_S: f64 = 0.05;

/// What is made of it.
struct Aim {
    /// Rounds that were asked for.
    asked: Option<u32>,
    settling: Settling,
}

impl Aim {
    /// Of so many rounds, at how many one looks next, or ends.
    fn next(&self, made: u32) -> u32 {
        let look = u32::try_from(looks::next(made as usize)).unwrap_or(MOST);
        self.asked.unwrap_or(look.min(MOST))
    }

    /// Whether more rounds are of any use after so many, as the runs so far are explained.
    fn goes_on(&mut self, made: u32, explain: impl FnOnce() -> Why) -> bool {
        if self.asked.is_some() || self.next(made - 1) != made {
            return true;
        }
        self.settling.look(&explain());
        !self.settling.settled() && !self.settling.stuck()
    }
}

/// Runs them; what was seen is in `explained.why.traced`, also when it ends early.
pub(super) fn run(
    rig: &mut Rig<'_>,
    so_far: &SoFar<'_>,
    observing: &mut Observing,
    (wanted, ends): (&Explain, Ends),
    explained: &mut Why,
    on: &mut dyn FnMut(Event),
) -> Result<(), Failure> {
    let alone_s: Vec<f64> =
        observing.alternatives.iter().map(|index| alone_s(so_far.batches, *index)).collect();
    let mut observed = Observed {
        rig,
        so_far,
        explained,
        on,
        wanted,
        ends,
        round_s: alone_s.iter().map(|seconds| seconds + PER_RUN_S).sum(),
        experiments_s: if wanted.confirm { confirm::expected_s(alone_s.iter().copied()) } else { 0.0 },
        alone_s,
        observing,
        aim: Aim { asked: wanted.rounds, settling: Settling::default() },
        sampled: SampledRuns::default(),
        longest_s: 0.0,
        made: 0,
        began_s: 0.0,
        left_s: 0.0,
        out_of_time: false,
    };
    let ended = make(so_far.machine, &mut observed)?;
    observed.end(ended);
    Ok(())
}

/// Observed rounds so far.
struct Observed<'a, 'b> {
    rig: &'a mut Rig<'b>,
    so_far: &'a SoFar<'a>,
    observing: &'a mut Observing,
    explained: &'a mut Why,
    on: &'a mut dyn FnMut(Event),
    wanted: &'a Explain,
    ends: Ends,
    /// Seconds that a copy of each alternative takes alone.
    alone_s: Vec<f64>,
    /// Seconds that a round takes, by what its commands take alone.
    round_s: f64,
    /// Seconds of the longest round so far.
    longest_s: f64,
    /// Seconds that experiments will take.
    experiments_s: f64,
    aim: Aim,
    sampled: SampledRuns,
    made: u32,
    /// When the last round began, and how many seconds were left then.
    began_s: f64,
    left_s: f64,
    out_of_time: bool,
}

impl Series for Observed<'_, '_> {
    type Run = usize;
    type Made = (usize, u32, Seen);

    fn next(&mut self) -> Result<Option<Vec<usize>>, Failure> {
        let (round, asked) = (self.made, self.wanted.rounds);
        let enough =
            round > 0 && !self.aim.goes_on(round, || why::explain(&self.so_far.given(self.explained)));
        if enough || round >= asked.unwrap_or(MOST) {
            return Ok(None);
        }
        let round_s = self.longest_s.max(self.round_s);
        self.began_s = self.so_far.now_s();
        self.left_s = f64::from(self.aim.next(round) - round) * round_s;
        // The first one is made whatever it takes, unless a limit was asked for. Behind the least, rounds that do not reach the next look
        // tell nothing.
        let limited = self.so_far.plan.rounds.max_time_hard || round > 0 && asked.is_none();
        let (takes_s, until_s) = match round < LEAST || asked.is_some() {
            true => (round_s, self.ends.last_s),
            false => (self.left_s, self.ends.usual_s),
        };
        self.out_of_time = limited && self.began_s + takes_s > until_s;
        let order = || order(self.so_far.plan.seed, round, self.observing.alternatives.len());
        Ok((!self.out_of_time).then(order))
    }

    fn run(&mut self, place: usize) -> Result<Ran<Self::Made>, Failure> {
        let (alternative, number) = (self.observing.alternatives[place], self.made);
        let (rounds, left_s) = (self.aim.next(number), self.left_s + self.experiments_s);
        (self.on)(Event::Traced { round: number + 1, rounds, alternative, left_s });
        let facts = self.observing.facts[place].clone();
        let wanted = Wanted { alternative, copies: 1, number, facts, untraced_s: self.alone_s[place] };
        Ok(self.observing.tracer.run(self.rig, wanted)?.map(|run| (alternative, number, run)))
    }

    fn keep(&mut self, round: Vec<Self::Made>) {
        for run in round {
            keep(self.explained, &mut self.sampled, run);
        }
        self.longest_s = self.longest_s.max(self.so_far.now_s() - self.began_s);
        self.made += 1;
    }
}

impl Observed<'_, '_> {
    /// Keeps what there is when they have ended so, and the reason why there are no more.
    fn end(self, ended: Ran<()>) {
        let (made, asked, hard) = (self.made, self.wanted.rounds, self.so_far.plan.rounds.max_time_hard);
        let explained = self.explained;
        explained.keep_typical_schedules();
        explained.stacks = self.sampled.finish();
        let why = match ended {
            Ran::Stopped => None,
            Ran::CannotRun(why) => Some(RoundsLeftOut::CannotRun { why }),
            Ran::Done(()) if !self.out_of_time => None,
            Ran::Done(()) if made < asked.unwrap_or(LEAST) => {
                Some(RoundsLeftOut::NoTime { made, asked, hard })
            }
            Ran::Done(()) => Some(unsettled(&self.aim, made, self.longest_s, hard)),
        };
        explained.left_out.extend(why.map(|why| LeftOut::Rounds { why }));
    }
}

/// Keeps an observed run as a record does.
fn keep(explained: &mut Why, sampled: &mut SampledRuns, (alternative, round, seen): (usize, u32, Seen)) {
    if let Some(of) = &seen.report.sampled {
        sampled.add(alternative, of.per_s, seen.stacks);
    }
    let (stream, left_out) = seen.schedule;
    explained.schedules.push(RoundSchedule { alternative, round, left_out, stream });
    explained.traced.push(Traced { alternative, round, report: seen.report, own: seen.own });
}

/// What more rounds would bring: intervals become narrower with the square root of their number.
fn unsettled(aim: &Aim, made: u32, round_s: f64, hard: bool) -> RoundsLeftOut {
    let reach = aim.settling.reach();
    let enough = reach.map_or(0.0, |reach| f64::from(made) * (reach / why::REACH_ENOUGH).powi(2));
    let enough = enough.clamp(f64::from(made + 1), SUGGESTED) as usize;
    let rounds = u32::try_from(looks::next(enough - 1)).unwrap_or(MOST);
    let seconds = f64::from(rounds - made) * round_s;
    RoundsLeftOut::Unsettled { made, reach, rounds, seconds, hard }
}

/// Seconds that they about take, by what a copy of each alternative took alone.
pub(super) fn expected_s(wanted: &Explain, alone: impl Iterator<Item = f64>) -> f64 {
    f64::from(wanted.rounds.unwrap_or(LEAST)) * alone.map(|seconds| seconds + PER_RUN_S).sum::<f64>()
}

/// Why there is no explanation where no round could be made. It is to stand where the explanation would.
pub(super) fn none_made(explained: &Why) -> Option<Refusal> {
    let rounds = |it: &LeftOut| match it {
        LeftOut::Rounds { why } => Some(Refusal::NotObserved { why: why.clone() }),
        _ => None,
    };
    explained.left_out.iter().rev().find_map(rounds).filter(|_| explained.traced.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_looks_at_set_numbers_of_rounds_and_stops_where_nothing_is_gained() {
        let mut aim = Aim { asked: None, settling: Settling::default() };
        let explained_at = std::cell::RefCell::new(Vec::new());
        let made = (1..=MOST).find(|made| {
            !aim.goes_on(*made, || {
                explained_at.borrow_mut().push(*made);
                Why::default()
            })
        });
        // Nothing is explained, and four looks in a row say so.
        assert_eq!((made, explained_at.into_inner()), (Some(7), vec![3, 4, 5, 7]));
        let mut asked = Aim { asked: Some(9), settling: Settling::default() };
        assert!(
            (1..=9).all(|made| asked.goes_on(made, || unreachable!("a number that was asked for is made")))
        );
        assert_eq!((aim.next(0), aim.next(15), aim.next(21), asked.next(3)), (3, 22, 22, 9));
    }

    #[test]
    fn what_more_rounds_would_bring_is_told() {
        let aim = Aim { asked: None, settling: Settling::default() };
        let told = unsettled(&aim, 5, 2.0, false);
        assert_eq!(
            told,
            RoundsLeftOut::Unsettled { made: 5, reach: None, rounds: 7, seconds: 4.0, hard: false }
        );
    }

    #[test]
    fn no_round_is_no_explanation() {
        let mut explained = Why::default();
        assert_eq!(none_made(&explained), None);
        let why = RoundsLeftOut::NoTime { made: 0, asked: None, hard: false };
        explained.left_out.push(LeftOut::Rounds { why: why.clone() });
        assert_eq!(none_made(&explained), Some(Refusal::NotObserved { why }));
    }
}
