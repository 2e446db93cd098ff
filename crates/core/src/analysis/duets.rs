//! CPU time against CPU time, from runs of two alternatives at once on one CPU.
//!
//! Duets: Bulej and others, "Duet benchmarking: improving measurement accuracy in the cloud", ICPE 2020; here on one CPU, because the
//! CPUs of a machine may change their speed independently, and filled, because who runs on alone would have another speed. Where the
//! two are equal, either is as likely to need more: so the sign test holds, and its interval assumes no distribution.

use super::context::{Context, alpha, others, rule};
use super::results::{DuetComparison, Level};
use crate::bounds::Alone;
use crate::sample::Duet;
use crate::stats::eprocess::Block;
use crate::stats::{self};
use crate::verdict::{Ratio, Rule, judge};

/// All comparisons by duets. `lowest` is the level that tells the same from runs in turns.
pub(super) fn comparisons(context: &Context<'_>, lowest: Option<&Level>) -> Vec<DuetComparison> {
    context.others().filter_map(|index| comparison(context, lowest, index)).collect()
}

fn comparison(context: &Context<'_>, lowest: Option<&Level>, index: usize) -> Option<DuetComparison> {
    let (plan, name) = (context.measured.plan, context.name(index));
    let of_it = context.measured.duets.iter().filter(|duet| duet.alternative == index);
    let blocks: Vec<Block> = of_it.filter_map(block).collect();
    let rounds = u32::try_from(blocks.len()).ok()?;
    let alpha = stats::bonferroni(alpha(plan), others(plan).count());
    let rule = Rule { fixed: Some(rounds), delta_at_end: plan.delta_at_end, ..rule(plan, alpha) };
    let judgement = judge(&blocks, None, &rule);
    let work = Ratio { ratio: judgement.ratio?, low: judgement.low, high: judgement.high };
    let in_turns = lowest?.comparisons.iter().find(|it| it.alternative == name).and_then(|it| it.work);
    Some(DuetComparison {
        alternative: name.to_owned(),
        baseline: context.name(context.baseline()).to_owned(),
        work,
        change: judgement.verdict.into(),
        rounds,
        decides_from: context
            .alone(index)
            .zip(context.alone(context.baseline()))
            .map(|(one, other)| saturating(one, context.capacity).max(saturating(other, context.capacity))),
        narrower: in_turns.and_then(width).zip(width(work)).map(|(turns, duets)| turns / duets),
    })
}

/// What a duet says. A run of which the kernel counted no CPU time says nothing.
fn block(duet: &Duet) -> Option<Block> {
    let counted = duet.cpu_s > 0.0 && duet.baseline_cpu_s > 0.0;
    let of = |seconds: f64| vec![stats::Observation::from(seconds).ln()];
    counted.then(|| Block { arm: of(duet.cpu_s), base: of(duet.baseline_cpu_s) })
}

/// The load from which on the work of all copies takes longer than one copy alone.
fn saturating(alone: Alone, capacity: f64) -> u32 {
    (capacity * alone.span_s / alone.work_s).ceil().clamp(1.0, f64::from(u32::MAX)) as u32
}

/// How wide an interval is, on the log scale.
fn width(ratio: Ratio) -> Option<f64> {
    let width = (ratio.high? / ratio.low?).ln();
    (width.is_finite() && width > 0.0).then_some(width)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::analysis::{Change, Measured, analyse};
    use crate::host::Host;
    use crate::plan::{Alternative, Loads, Plan};
    use crate::sample::{Arm, Batch, Copies, Orphans};

    fn batch(index: usize, wall_s: f64, cpu_s: f64) -> Batch {
        let copies = Copies {
            start_s: vec![0.0],
            wall_s: vec![wall_s],
            user_s: vec![cpu_s],
            system_s: vec![0.0],
            max_rss_bytes: vec![0],
            voluntary_switches: vec![0],
            involuntary_switches: vec![0],
            status: vec![0],
            timed_out: vec![false],
            counters: None,
        };
        Batch {
            load: 1,
            arm: Arm::Alternative(index),
            round: 0,
            position: 0,
            released_s: 0.0,
            makespan_s: wall_s,
            copies,
            orphans: Orphans::default(),
            machine_busy_s: None,
            steal_s: None,
            io: None,
        }
    }

    fn found(duets: &[Duet]) -> Option<DuetComparison> {
        let plan = Plan {
            loads: Loads::Fixed(vec![1, 100]),
            cpus: Some(vec![0, 1]),
            ..Plan::new(vec![Alternative::new("a"), Alternative::new("b")], 1)
        };
        let batches = [batch(0, 1.0, 1.0), batch(1, 0.6, 1.1)];
        let analysis = analyse(Measured {
            plan: &plan,
            host: &Host::default(),
            trials: &[],
            batches: &batches,
            accounts: &[],
            duets,
            not_measured: &[],
        });
        analysis.duets.into_iter().next()
    }

    /// Duets on a CPU whose speed changes by 1.9x, and with 1% of noise of their own.
    fn duets(rounds: u32, work: f64, rng: &mut ChaCha8Rng) -> Vec<Duet> {
        let duet = |round| {
            let pace = if rng.random_bool(0.5) { 1.9 } else { 1.0 };
            let mut noise = || rng.random_range(-0.01..0.01f64).exp();
            let (cpu_s, baseline_cpu_s) = (work * pace * noise(), pace * noise());
            Duet {
                alternative: 1,
                round,
                cpu: 0,
                baseline_first: false,
                cpu_s,
                baseline_cpu_s,
                took_s: 2.0 * pace,
            }
        };
        (0..rounds).map(duet).collect()
    }

    #[test]
    fn a_change_of_speed_that_both_meet_is_no_noise() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let found = found(&duets(12, 1.1, &mut rng)).expect("there are duets");
        assert_eq!((found.rounds, found.change), (12, Change::More));
        let (low, high) = found.work.low.zip(found.work.high).expect("twelve have an interval");
        assert!(1.08 < low && low < 1.1 && 1.1 < high && high < 1.12, "{low} to {high}");
    }

    #[test]
    fn equal_commands_differ_as_rarely_as_promised() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let trials = 2000;
        let wrong = (0..trials)
            .filter(|_| found(&duets(12, 1.0, &mut rng)).is_some_and(|it| it.work.excludes_one()))
            .count();
        assert!(wrong as f64 / f64::from(trials) <= 0.05 + 0.015, "{wrong} of {trials}");
    }

    #[test]
    fn it_decides_where_both_keep_all_cpus_busy() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let found = found(&duets(6, 1.1, &mut rng)).expect("there are duets");
        // One needs two copies for two CPUs, the other 2 * 0.6 / 1.1.
        assert_eq!(found.decides_from, Some(2));
    }

    #[test]
    fn what_was_not_counted_says_nothing() {
        let none = Duet {
            alternative: 1,
            round: 0,
            cpu: 0,
            baseline_first: true,
            cpu_s: 0.0,
            baseline_cpu_s: 0.1,
            took_s: 0.1,
        };
        assert_eq!(found(&[none]), None);
        assert_eq!(found(&[]), None);
    }
}
