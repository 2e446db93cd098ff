//! A row of another list against the same row of the baseline: everything that [`super::compare`] needs to judge it, and no
//! judgement.

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::fingerprint::Fact;
use super::inside::Unit;
use super::list::{Price, PriceList};
use super::pace::Pace;
use super::side::Side;
use crate::missing::{Crowd, Noise, Obstacle};
use crate::verdict::Verdict;
use whyfaster_stats::{quantile, ranks};

/// One row of another list against the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Other {
    /// Its typical price.
    pub ns: Option<f64>,
    /// The same where the lists are in guest instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<f64>,
    /// Its price over the baseline's.
    pub ratio: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// The verdict; null where neither side tells its spread.
    pub verdict: Option<Verdict>,
    /// The scheduler was free to choose the CPUs and chose otherwise for the baseline: the price holds that choice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub placed_otherwise: bool,
    /// What about the machines may explain the difference of this row in particular.
    pub explained_by: Vec<Fact>,
    /// Why there is no ratio, or no verdict; absent if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Obstacle>,
    /// The same, in English; null if there is one.
    pub not_measured: Option<String>,
    /// Repetitions behind the ratio, on the side that has fewer.
    pub repetitions: Option<u32>,
    /// Repetitions with which an undecided row would about be decided; null where more of them would hardly help.
    pub repetitions_needed: Option<u32>,
}

impl Other {
    /// By what rows are ordered, the worst having the most: dearer (decided, or a source's), cheaper, undecided, the same,
    /// not measured; within each, what the scheduler chose comes last; then the distance of the ratio from 1.
    pub fn severity(&self) -> (u8, bool, f64) {
        let Some(ratio) = self.ratio else { return (0, false, 0.0) };
        let rank = match self.verdict {
            Some(Verdict::Same) => 1,
            Some(Verdict::Undecided) => 2,
            Some(Verdict::Faster) => 3,
            Some(Verdict::Slower) => 4,
            None => 3 + u8::from(ratio >= 1.0),
        };
        (rank, !self.placed_otherwise, ratio.ln().abs())
    }
}

/// Two shares of samples in which two tasks ran on different CPUs are another choice from this difference on.
const OTHERWISE: f64 = 0.2;

/// Whether the scheduler chose other CPUs for the one than for the other.
pub(super) fn placed_otherwise(one: &Price, other: &Price) -> bool {
    let apart = one.receipt.apart.zip(other.receipt.apart);
    apart.is_some_and(|(here, there)| (here - there).abs() >= OTHERWISE)
}

/// A row of a list against the same row of the baseline.
pub(super) struct Pairing {
    /// Prices and ratio, and why there is none.
    pub other: Other,
    /// What the repetitions say; `None` where no side has any, or a price is missing.
    pub evidence: Option<Evidence>,
    /// ln ratio of the floors, if both sides have them.
    pub floor: Option<f64>,
    /// How far the lists drift by themselves, on the log scale.
    pub drift: f64,
    /// How far the steps of the clocks may move the two apart, on the log scale.
    pub clock_steps: f64,
    /// How much slower or quicker the CPU itself was.
    pub pace: Option<Pace>,
    /// Why the row cannot be called dearer, and why not cheaper: the dearer one waited in a crowd.
    pub crowds: [Option<Crowd>; 2],
}

impl Pairing {
    /// A row of another list against the baseline's.
    pub(super) fn of(base: &Side<'_>, other: &Side<'_>, id: (&str, &str), pace: Option<Pace>) -> Self {
        let (mine, theirs) = (base.list.find(id.0, Some(id.1)), other.list.find(id.0, Some(id.1)));
        let mut pairing = Self {
            other: prices(theirs),
            evidence: None,
            floor: None,
            drift: 0.0,
            clock_steps: 0.0,
            pace,
            crowds: [None, None],
        };
        let (Some(mine), Some(theirs)) = (mine, theirs) else { return pairing };
        pairing.other.placed_otherwise = placed_otherwise(mine, theirs);
        // Where one of the two is a mean, means are compared.
        let means = mine.median_ns.is_none() || theirs.median_ns.is_none();
        let value = |price: &Price| if means { price.mean_ns } else { price.median_ns };
        let (Some(a), Some(b)) = (value(mine), value(theirs)) else { return pairing };
        let (here, there) = (base.repetitions.get(&id), other.repetitions.get(&id));
        let evidence = match (here, there) {
            (Some(here), Some(there)) => Some(Evidence::of_two(here.logs(means), there.logs(means))),
            (Some(here), None) => Some(one_number(here.logs(means), |ln| b.ln() - ln)),
            (None, Some(there)) => Some(one_number(there.logs(means), |ln| ln - a.ln())),
            (None, None) => None,
        };
        let middle = evidence.as_ref().and_then(Evidence::estimate).map(f64::exp);
        pairing.other.ratio = middle.or_else(|| (a > 0.0).then_some(b / a));
        if evidence.is_none() {
            pairing.other.reason = Some(Obstacle::NoSpread);
        }
        let noise = [here.map(|r| base.noise(mine, r)), there.map(|r| other.noise(theirs, r))];
        pairing.drift = noise.into_iter().flatten().fold(0.0, f64::max);
        let step = |price: &Price| price.receipt.clock_step().map_or(0.0, f64::ln_1p);
        pairing.clock_steps = step(mine) + step(theirs);
        let floors = here.zip(there).map(|(a, b)| ranks::differences(&a.floors, &b.floors).0);
        pairing.floor = floors.and_then(|differences| quantile::of_sorted(&differences, 0.5));
        if feels_crowd(theirs) {
            pairing.crowds = [crowd_beyond(other.list, base.list), crowd_beyond(base.list, other.list)];
        }
        pairing.evidence = evidence;
        pairing
    }

    /// What equal things may differ by: delta, the drift of a list, steps of the clock, or the pace of the CPU; and which of them it is.
    pub(super) fn noise(&self, ratio: f64, delta: f64) -> (f64, Noise) {
        let pace = self.pace.map_or(0.0, |pace| pace.noise(ratio > 0.0));
        let steps = (self.clock_steps, Noise::ClockSteps);
        let all = [(delta.ln_1p(), Noise::Delta), (self.drift, Noise::Drift), steps, (pace, Noise::Pace)];
        all.into_iter().fold(all[0], |most, one| if one.0 > most.0 { one } else { most })
    }

    /// Why this row cannot be called different, whatever its interval: step 3 and 4 of the rule.
    pub(super) fn hindrance(&self, delta: f64) -> Option<Obstacle> {
        let ratio = self.other.ratio?.ln();
        let (most, noise) = self.noise(ratio, delta);
        let sign = ratio.signum();
        let within = ratio.abs() <= most;
        if within || self.floor.is_some_and(|floor| sign * floor <= most) {
            return Some(Obstacle::WithinNoise { floor: !within, noise });
        }
        let [dearer, cheaper] = self.crowds;
        let crowd = if ratio > 0.0 { dearer } else { cheaper };
        crowd.map(Obstacle::Crowded)
    }
}

fn one_number(logs: &[f64], difference: impl Fn(f64) -> f64) -> Evidence {
    Evidence::of_one(&logs.iter().map(|ln| difference(*ln)).collect::<Vec<_>>())
}

/// The price of the other list, or why it has none.
fn prices(theirs: Option<&Price>) -> Other {
    Other {
        ns: theirs.and_then(Price::typical_ns),
        reason: theirs.map_or(Some(Obstacle::NotInList), Price::why_none),
        ..Other::default()
    }
}

/// Whether a crowd makes the operation dearer in a way that no receipt shows: tasks wait for a CPU, caches and memory are
/// shared. Calls that only enter the kernel are over before that, and those that were hit are left out.
fn feels_crowd(price: &Price) -> bool {
    price.group != "kernel" || price.receipt.switches.is_some_and(|switches| switches > 0.1)
}

/// How crowded a list was, if it was, and more so than another.
fn crowd_beyond(list: &PriceList, other: &PriceList) -> Option<Crowd> {
    if list.unit == Unit::GuestInstructions {
        // Whoever waits for a CPU executes nothing.
        return None;
    }
    let crowd = list.fingerprint.crowd()?;
    (list.fingerprint.crowded() > other.fingerprint.crowded()).then_some(crowd)
}
