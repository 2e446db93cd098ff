//! One comparison of two commands on many machines: where which one wins, what separates these machines, and the effect over all.
//!
//! The combined effect is that of a random-effects meta-analysis: machines differ in truth, and each was measured with an error.
//! The variance between machines is that of DerSimonian and Laird, "Meta-analysis in clinical trials", 1986; the interval that of Hartung
//! and Knapp, "A refined method for the meta-analysis of controlled clinical trials", 2001, which holds also for few machines, and is
//! never narrower than without it. An interval of a machine is read as one of a normal logarithm at the confidence at which
//! its record makes it.
//!
//! The range for the next machine is that of Higgins, Thompson and Spiegelhalter, "A re-evaluation of random-effects meta-analysis", 2009.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

use super::Machine;
use super::split::{Group, Split, split};
use crate::verdict::{Ratio, Verdict};

/// What a record says of the comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Alternative over baseline, in time.
    pub ratio: Ratio,
    /// Confidence of its interval: that of the record is shared over all intervals that it has.
    pub confidence: f64,
    /// The verdict.
    pub verdict: Verdict,
}

/// The comparison on one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct OnMachine {
    /// The machine.
    pub machine: Machine,
    /// What its record says.
    pub answer: Answer,
}

/// What the machines say together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EffectReport {
    /// Every machine.
    pub machines: Vec<Effect>,
    /// The effect over all; null with fewer than two machines that have an interval.
    pub combined: Option<Combined>,
    /// The facts that separate the machines.
    pub splits: Vec<Split>,
    /// Machines that are alike in these, each group with its own effect.
    pub groups: Vec<GroupEffect>,
}

/// The effect on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effect {
    /// Its name.
    pub machine: String,
    /// Alternative over baseline, in time.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// What its record says.
    pub verdict: Verdict,
}

/// The effect in a group of machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupEffect {
    /// The machines.
    #[serde(flatten)]
    pub group: Group,
    /// What they say.
    #[serde(flatten)]
    pub tally: Tally,
}

/// What some machines say together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tally {
    /// Their effect; null with fewer than two machines that have an interval.
    pub combined: Option<Combined>,
    /// Machines on which the alternative is faster.
    pub faster: usize,
    /// Machines on which it is slower.
    pub slower: usize,
    /// Machines on which both are the same.
    pub same: usize,
    /// Machines on which that is undecided.
    pub undecided: usize,
}

impl Tally {
    /// Of these answers.
    pub fn of<'a>(answers: impl Iterator<Item = &'a Answer> + Clone) -> Self {
        let mut tally =
            Self { combined: combine(answers.clone()), faster: 0, slower: 0, same: 0, undecided: 0 };
        for it in answers {
            *match it.verdict {
                Verdict::Faster => &mut tally.faster,
                Verdict::Slower => &mut tally.slower,
                Verdict::Same => &mut tally.same,
                Verdict::Undecided => &mut tally.undecided,
            } += 1;
        }
        tally
    }
}

/// An effect over machines.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Combined {
    /// The mean effect, as a ratio, with its 95% interval.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// Where the next machine's ratio lies with 95% probability; null with fewer than three machines.
    pub next: Option<(f64, f64)>,
    /// Standard deviation of the true effects between machines, of the logarithm.
    pub between: f64,
    /// Share of the variance that is between machines, and not an error of measuring (I squared).
    pub heterogeneity: f64,
    /// Probability of such differences between machines, if all had the same effect (Cochran's Q).
    pub p_value: f64,
    /// Machines behind it.
    pub machines: usize,
}

/// Confidence of what is combined.
const CONFIDENCE: f64 = 0.95;

/// Reads a comparison over machines.
pub fn effects(all: &[OnMachine]) -> EffectReport {
    let machines: Vec<Machine> = all.iter().map(|it| it.machine.clone()).collect();
    let answers: Vec<Option<f64>> = all.iter().map(|it| finite(it.answer.ratio.ratio.ln())).collect();
    let splits = split(&machines, &[answers]);
    let groups = splits.groups.into_iter().map(|group| {
        let here = group.machines.iter().map(|at| &all[*at].answer);
        GroupEffect { tally: Tally::of(here), group }
    });
    let effect = |it: &OnMachine| {
        let Answer { ratio, verdict, .. } = it.answer;
        Effect { machine: it.machine.name.clone(), ratio, verdict }
    };
    EffectReport {
        machines: all.iter().map(effect).collect(),
        combined: combine(all.iter().map(|it| &it.answer)),
        groups: groups.collect(),
        splits: splits.facts,
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// How many standard errors an interval of this confidence reaches to each side.
fn reach(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 + confidence / 2.0)
}

/// The logarithm of a machine's ratio, and the variance of its error.
fn measured(it: &Answer, reach: f64) -> Option<(f64, f64)> {
    let (low, high) = it.ratio.low.zip(it.ratio.high)?;
    let error = finite((high / low).ln() / (2.0 * reach))?;
    // An interval without a width would count for everything: a clock has a resolution.
    Some((finite(it.ratio.ratio.ln())?, error.max(1e-4).powi(2)))
}

fn combine<'a>(all: impl Iterator<Item = &'a Answer>) -> Option<Combined> {
    // Most records make their intervals at the same confidence, and there may be millions.
    let (mut known, mut reached) = (CONFIDENCE, reach(CONFIDENCE));
    let each = all.filter_map(|it| {
        if it.confidence != known {
            (known, reached) = (it.confidence, reach(it.confidence));
        }
        measured(it, reached)
    });
    let each: Vec<(f64, f64)> = each.collect();
    if each.len() < 2 {
        return None;
    }
    let freedom = (each.len() - 1) as f64;
    let (fixed, weights) = mean(&each, 0.0);
    let q: f64 = each.iter().map(|(y, v)| (y - fixed).powi(2) / v).sum();
    let squares: f64 = each.iter().map(|(_, v)| v.powi(-2)).sum();
    let between = ((q - freedom) / (weights - squares / weights)).max(0.0);
    let (middle, weights) = mean(&each, between);
    let refined =
        each.iter().map(|(y, v)| (y - middle).powi(2) / (v + between)).sum::<f64>() / (freedom * weights);
    let variance = refined.max(weights.recip());
    let t =
        |freedom: f64| StudentsT::new(0.0, 1.0, freedom).ok().map(|t| t.inverse_cdf(0.5 + CONFIDENCE / 2.0));
    let half = t(freedom)? * variance.sqrt();
    let next = (freedom >= 2.0).then(|| t(freedom - 1.0)).flatten().map(|t| t * (between + variance).sqrt());
    Some(Combined {
        ratio: Ratio {
            ratio: middle.exp(),
            low: Some((middle - half).exp()),
            high: Some((middle + half).exp()),
        },
        next: next.map(|half| ((middle - half).exp(), (middle + half).exp())),
        between: between.sqrt(),
        heterogeneity: if q > 0.0 { ((q - freedom) / q).max(0.0) } else { 0.0 },
        p_value: ChiSquared::new(freedom).map_or(1.0, |law| law.sf(q)),
        machines: each.len(),
    })
}

/// The mean, weighted by the variances of the errors and that between machines; and the sum of the weights.
fn mean(each: &[(f64, f64)], between: f64) -> (f64, f64) {
    let (sum, weights) = each.iter().fold((0.0, 0.0), |(sum, weights), (y, v)| {
        let weight = (v + between).recip();
        (sum + weight * y, weights + weight)
    });
    (sum / weights, weights)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use whyfaster_stats::random::Random;

    use super::super::simulated::{Planted, fleet};
    use super::*;
    use crate::price::fingerprint::Fact;

    fn on(machine: &Machine, ln: f64, error: f64) -> OnMachine {
        let (low, high) = ((ln - 1.96 * error).exp(), (ln + 1.96 * error).exp());
        let verdict = match (low > 1.0, high < 1.0) {
            (true, _) => Verdict::Slower,
            (_, true) => Verdict::Faster,
            _ => Verdict::Undecided,
        };
        let ratio = Ratio { ratio: ln.exp(), low: Some(low), high: Some(high) };
        OnMachine { machine: machine.clone(), answer: Answer { ratio, confidence: 0.95, verdict } }
    }

    /// Twenty machines: each with this effect by its CPU, true differences of `between` and an error of `error`.
    fn planted(effects: [f64; 2], between: f64, error: f64, seed: u64) -> Vec<OnMachine> {
        let mut rng = Random::seed_from_u64(seed);
        let mut normal = || (0..12).map(|_| rng.random_range(-0.5..0.5)).sum::<f64>();
        let machines = fleet(&Planted { machines: 20, seed, ..Planted::default() }).machines;
        let each = machines
            .iter()
            .enumerate()
            .map(|(at, machine)| on(machine, effects[at % 2] + between * normal() + error * normal(), error));
        each.collect()
    }

    #[test]
    fn the_example_of_two_machines() {
        // Equal errors: the mean is the plain one, Q = (0.2)^2 / (2 * 0.05^2) = 8, between = (8 - 1) * 0.05^2.
        let machines = fleet(&Planted { machines: 2, ..Planted::default() }).machines;
        let found =
            combine([on(&machines[0], 0.1, 0.05).answer, on(&machines[1], 0.3, 0.05).answer].iter()).unwrap();
        assert!((found.ratio.ratio.ln() - 0.2).abs() < 1e-9);
        assert!((found.between - (7.0f64 * 0.0025).sqrt()).abs() < 1e-3, "{found:?}");
        assert!((found.heterogeneity - 7.0 / 8.0).abs() < 1e-3);
        assert_eq!(found.next, None);
    }

    #[test]
    fn a_comparison_that_flips_by_cpu_names_the_cpu() {
        let report = effects(&planted([-0.2, 0.25], 0.03, 0.02, 3));
        assert_eq!(report.splits.iter().map(|it| it.fact).collect::<Vec<_>>(), [Fact::Cpu]);
        let ends: Vec<(usize, usize)> =
            report.groups.iter().map(|it| (it.tally.faster, it.tally.slower)).collect();
        assert_eq!(ends, [(10, 0), (0, 10)]);
        assert!(report.combined.unwrap().heterogeneity > 0.9);
        assert!(report.groups.iter().all(|it| it.tally.combined.unwrap().ratio.excludes_one()));
    }

    #[test]
    fn the_interval_covers_as_often_as_it_says() {
        for between in [0.0, 0.05] {
            let fleets = 400;
            let truth = 0.1;
            let missed = (0..fleets).filter(|seed| {
                let all = planted([truth, truth], between, 0.05, *seed);
                let ratio = combine(all[..6].iter().map(|it| &it.answer)).unwrap().ratio;
                ratio.low.unwrap().ln() > truth || ratio.high.unwrap().ln() < truth
            });
            // 5% of 400 are 20; 36 are four standard deviations more.
            let missed = missed.count();
            assert!(missed <= 36, "{missed} of {fleets} missed with {between} between machines");
        }
    }

    #[test]
    fn one_machine_has_nothing_to_combine() {
        let all = planted([0.1, 0.1], 0.0, 0.05, 1);
        let all: Vec<Answer> = all.iter().map(|it| it.answer).collect();
        assert_eq!(combine(all[..1].iter()), None);
        let open = Answer { ratio: Ratio { ratio: 1.1, low: None, high: None }, ..all[1] };
        assert_eq!(combine([all[0], open].iter()), None);
    }
}
