//! From per-round ratios to one of four verdicts. The step between statistics and the record.
//!
//! The rule, in this order. Ratios are alternative over baseline in time, on the log scale; "the interval" is the one for the
//! median of the per-round ln ratios, at the error probability that the family of comparisons leaves to this one.
//!
//! 1. Without an interval (too few rounds): **undecided**.
//! 2. The whole interval lies from 1/(1 + delta) to 1 + delta: **same**. This comes first: a difference that is surely too small
//!    to matter is "same", even when it surely is not zero. The band is symmetric on the log scale, so swapping the two
//!    alternatives mirrors the verdict.
//! 3. The whole interval lies below 1, and the median is farther from 1 than the floor: **faster**. Likewise above 1: **slower**.
//!    The floor is the end, farther from 1, of the interval of the hidden copy of the baseline: what this machine shows
//!    between two equal things. Where a hidden copy ran but has no interval yet, the floor is not known and nothing is above it.
//! 4. Otherwise **undecided**, with an estimate of further rounds.
//!
//! The estimate replays the ratios seen: with n rounds, the interval would lie at certain quantiles of them. The
//! least n at which the rule would decide is the answer; if ten thousand further rounds would not do, there is none.

use serde::{Deserialize, Serialize};

use crate::stats::{self, Observation, eprocess, quantile, sign};

/// What the ratios of an alternative to the baseline say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval is below 1, and the effect is above the floor.
    Faster,
    /// The whole interval is above 1, and the effect is above the floor.
    Slower,
    /// The whole interval lies from 1/(1 + delta) to 1 + delta.
    Same,
    /// None of these yet.
    Undecided,
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ratio {
    /// The ratio.
    pub ratio: f64,
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Ratio {
    /// The ratio the other way round.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { ratio: self.ratio.recip(), low: self.high.map(f64::recip), high: self.low.map(f64::recip) }
    }

    /// Whether the whole interval is below 1.
    pub fn is_below_one(self) -> bool {
        self.high.is_some_and(|high| high < 1.0)
    }

    /// Whether the whole interval is above 1.
    pub fn is_above_one(self) -> bool {
        self.low.is_some_and(|low| low > 1.0)
    }

    /// Whether the interval excludes 1.
    pub fn excludes_one(self) -> bool {
        self.is_below_one() || self.is_above_one()
    }
}

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Order statistics by the sign test: the number of rounds was fixed beforehand.
    Sign,
    /// Order statistics by the beta-binomial sign e-process: valid whenever one stops.
    SignEProcess,
}

/// By what rule ratios become a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Half-width of the band of "same", as a fraction.
    pub delta: f64,
    /// Error probability of the interval of one comparison.
    pub alpha: f64,
    /// Error probability of the floor's interval.
    pub floor_alpha: f64,
    /// The number of rounds, if it was fixed beforehand. Only with exactly so many is the fixed-sample interval valid; with
    /// fewer (time ran out, someone pressed Ctrl-C) the e-process is used.
    pub fixed: Option<u32>,
}

/// What a rule makes of the ratios so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// exp(median of ln ratios); `None` before the first round.
    pub ratio: Option<f64>,
    /// Lower end of the interval of the ratio.
    pub low: Option<f64>,
    /// Upper end of the interval of the ratio.
    pub high: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Rounds behind it.
    pub rounds: u32,
    /// Further rounds that an undecided comparison would about need, if that can be told.
    pub rounds_needed: Option<u32>,
    /// How the interval was made.
    pub method: Method,
    /// The interval excludes 1, but the effect is not above the floor.
    pub below_floor: bool,
}

/// An interval on the log scale.
type Interval = (f64, f64);

/// The estimate of further rounds looks no farther than this.
const FARTHEST: usize = 10_000;

impl Rule {
    /// How an interval over `rounds` rounds has to be made.
    pub fn method(&self, rounds: usize) -> Method {
        if self.fixed.is_some_and(|fixed| fixed as usize == rounds) {
            Method::Sign
        } else {
            Method::SignEProcess
        }
    }

    /// The interval for the median of `observations` at `alpha`, if there are enough for one.
    pub fn interval(&self, observations: &[Observation], alpha: f64) -> Option<Interval> {
        match self.method(observations.len()) {
            Method::Sign => sign::median_interval(observations, alpha),
            Method::SignEProcess => eprocess::median_interval(observations, alpha),
        }
    }

    /// The least number of rounds that gives a comparison its interval, made by this method.
    pub fn min_rounds(&self, method: Method) -> usize {
        match method {
            Method::Sign => sign::min_rounds(self.alpha),
            Method::SignEProcess => eprocess::min_rounds(self.alpha),
        }
    }

    fn verdict(&self, interval: Option<Interval>, median: f64, floor: f64) -> Verdict {
        let Some((low, high)) = interval else { return Verdict::Undecided };
        let band = self.delta.ln_1p();
        if -band <= low && high <= band {
            Verdict::Same
        } else if high < 0.0 && -median > floor {
            Verdict::Faster
        } else if low > 0.0 && median > floor {
            Verdict::Slower
        } else {
            Verdict::Undecided
        }
    }
}

/// Judges the ln ratios of an alternative against the baseline. `floor` holds the ln ratios of the hidden copy over the
/// baseline, or nothing if no hidden copy was run.
pub fn judge(ln_ratios: &[Observation], floor: Option<&[Observation]>, rule: &Rule) -> Judgement {
    let rounds = ln_ratios.len();
    let median = stats::median_of(ln_ratios);
    let interval = rule.interval(ln_ratios, rule.alpha);
    let floor_size = floor.map_or(0.0, |floor| size(rule.interval(floor, rule.floor_alpha)));
    let verdict = median.map_or(Verdict::Undecided, |median| rule.verdict(interval, median, floor_size));
    let excludes_one = interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    let rounds_needed =
        if verdict == Verdict::Undecided { rounds_needed(ln_ratios, floor, rule) } else { None };
    Judgement {
        ratio: median.and_then(ratio),
        low: interval.and_then(|interval| ratio(interval.0)),
        high: interval.and_then(|interval| ratio(interval.1)),
        verdict,
        rounds: u32::try_from(rounds).unwrap_or(u32::MAX),
        rounds_needed,
        method: rule.method(rounds),
        below_floor: verdict == Verdict::Undecided && excludes_one,
    }
}

/// The ratio of a logarithm. `None` for an open end, and for what no floating-point number holds.
pub fn ratio(ln: f64) -> Option<f64> {
    let ratio = ln.exp();
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

/// How far from 0 an interval reaches; without bound if there is none.
fn size(interval: Option<Interval>) -> f64 {
    interval.map_or(f64::INFINITY, |(low, high)| low.abs().max(high.abs()))
}

/// Further rounds until the rule would decide, if the coming rounds are like those so far. Where the number of rounds was
/// fixed, whoever needs more fixes a larger one: so the estimate takes the method of the plan.
fn rounds_needed(ln_ratios: &[Observation], floor: Option<&[Observation]>, rule: &Rule) -> Option<u32> {
    let now = ln_ratios.len();
    let method = if rule.fixed.is_some() { Method::Sign } else { Method::SignEProcess };
    let least = rule.min_rounds(method);
    let Some(median) = stats::median_of(ln_ratios) else { return u32::try_from(least).ok() };
    let (seen, floor_seen) = (Ends::of(ln_ratios), floor.map(Ends::of));
    let decides = |n: usize| {
        let skip = |alpha| match method {
            Method::Sign => sign::skip(n, alpha),
            Method::SignEProcess => eprocess::skip(n, alpha),
        };
        let floor_size = floor_seen.as_ref().map_or(0.0, |ends| size(ends.at(n, skip(rule.floor_alpha))));
        rule.verdict(seen.at(n, skip(rule.alpha)), median, floor_size) != Verdict::Undecided
    };
    // More rounds narrow the interval, so what decides once decides ever after, and halving finds the least.
    let (mut short, mut enough) = (least.max(now + 1) - 1, now + FARTHEST);
    if !decides(enough) {
        // Before the first interval one can at least say when there will be one.
        return least.checked_sub(now).filter(|&n| n > 0).and_then(|n| u32::try_from(n).ok());
    }
    while enough - short > 1 {
        let middle = short + (enough - short) / 2;
        if decides(middle) { enough = middle } else { short = middle }
    }
    u32::try_from(enough - now).ok()
}

/// The low and the high ends of observations, each in rising order.
struct Ends {
    lows: Vec<f64>,
    highs: Vec<f64>,
}

impl Ends {
    fn of(observations: &[Observation]) -> Self {
        Self {
            lows: quantile::sorted(observations.iter().map(|o| o.low)),
            highs: quantile::sorted(observations.iter().map(|o| o.high)),
        }
    }

    /// Where the interval of `n` rounds would lie, were they all like these.
    fn at(&self, n: usize, skip: Option<usize>) -> Option<Interval> {
        let q = skip? as f64 / (n - 1).max(1) as f64;
        Some((quantile::of_sorted(&self.lows, q)?, quantile::of_sorted(&self.highs, 1.0 - q)?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RULE: Rule = Rule { delta: 0.02, alpha: 0.05, floor_alpha: 0.05, fixed: None };

    fn around(centre: f64, spread: f64, n: usize) -> Vec<Observation> {
        // Evenly spread and symmetric, in an order that does not matter.
        (0..n).map(|i| (centre + spread * (2.0 * i as f64 / (n - 1) as f64 - 1.0)).into()).collect()
    }

    #[test]
    fn the_four_verdicts() {
        let of = |centre, spread| judge(&around(centre, spread, 20), None, &RULE).verdict;
        assert_eq!(of(-0.3, 0.1), Verdict::Faster);
        assert_eq!(of(0.3, 0.1), Verdict::Slower);
        assert_eq!(of(0.0, 0.01), Verdict::Same);
        assert_eq!(of(0.0, 0.1), Verdict::Undecided);
    }

    #[test]
    fn a_surely_tiny_difference_is_same() {
        let judgement = judge(&around(0.01, 0.005, 20), None, &RULE);
        assert!(judgement.low.unwrap() > 1.0);
        assert_eq!(judgement.verdict, Verdict::Same);
    }

    #[test]
    fn too_few_rounds_have_no_interval() {
        let judgement = judge(&around(0.5, 0.01, 6), None, &RULE);
        assert_eq!((judgement.low, judgement.high, judgement.verdict), (None, None, Verdict::Undecided));
        assert_eq!(judgement.rounds_needed, Some(1));
        let nothing = judge(&[], None, &RULE);
        assert_eq!((nothing.ratio, nothing.rounds_needed), (None, Some(7)));
    }

    #[test]
    fn an_effect_below_the_floor_is_no_verdict() {
        let (effect, noise) = (around(0.05, 0.02, 20), around(0.0, 0.2, 20));
        assert_eq!(judge(&effect, None, &RULE).verdict, Verdict::Slower);
        let judgement = judge(&effect, Some(&noise), &RULE);
        assert_eq!(judgement.verdict, Verdict::Undecided);
        assert!(judgement.below_floor);
        // The floor's interval narrows with rounds, so more rounds would do.
        assert!(judgement.rounds_needed.is_some());
        // A hidden copy without an interval leaves the floor unknown.
        assert_eq!(judge(&effect, Some(&noise[..3]), &RULE).verdict, Verdict::Undecided);
    }

    #[test]
    fn a_fixed_number_of_rounds_needs_one_less() {
        let fixed = Rule { fixed: Some(6), ..RULE };
        let judgement = judge(&around(0.5, 0.01, 6), None, &fixed);
        assert_eq!((judgement.verdict, judgement.method), (Verdict::Slower, Method::Sign));
        // Cut short, the number was not fixed after all.
        let cut = Rule { fixed: Some(20), ..RULE };
        assert_eq!(judge(&around(0.5, 0.01, 6), None, &cut).verdict, Verdict::Undecided);
        assert_eq!(judge(&around(0.5, 0.01, 7), None, &cut).method, Method::SignEProcess);
    }

    #[test]
    fn time_outs_decide_without_a_number() {
        // The alternative always ran into the time-out at ten times the baseline.
        let judgement = judge(&[Observation::at_least(10f64.ln()); 8], None, &RULE);
        assert_eq!(judgement.verdict, Verdict::Slower);
        assert!((judgement.low.unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(judgement.high, None);
        // Both always did: nothing is known, least of all that they are the same.
        let both = Observation { low: f64::NEG_INFINITY, value: 0.0, high: f64::INFINITY };
        let judgement = judge(&[both; 50], None, &RULE);
        assert_eq!((judgement.verdict, judgement.low, judgement.high), (Verdict::Undecided, None, None));
        assert_eq!(judgement.rounds_needed, None);
    }

    #[test]
    fn the_estimate_of_rounds_holds() {
        // A centre of 4% in a spread of 15%: undecided at 20 rounds, decided at the number that the estimate names.
        let judgement = judge(&around(0.04, 0.15, 20), None, &RULE);
        assert_eq!(judgement.verdict, Verdict::Undecided);
        let needed = judgement.rounds_needed.unwrap() as usize;
        assert_eq!(judge(&around(0.04, 0.15, 20 + needed), None, &RULE).verdict, Verdict::Slower);
        assert_eq!(judge(&around(0.04, 0.15, (20 + needed) / 2), None, &RULE).verdict, Verdict::Undecided);
        // Exactly on the edge of the band no number of rounds helps.
        assert_eq!(judge(&around(RULE.delta.ln_1p(), 3.0, 20), None, &RULE).rounds_needed, None);
    }

    proptest! {
        #[test]
        fn swapping_mirrors(xs in prop::collection::vec(-0.5..0.5f64, 1..60), ys in prop::collection::vec(-0.1..0.1f64, 1..60), shift in -0.6..0.6f64) {
            let there: Vec<Observation> = xs.iter().map(|x| (x + shift).into()).collect();
            let back: Vec<Observation> = xs.iter().map(|x| (-(x + shift)).into()).collect();
            let floor: Vec<Observation> = ys.iter().map(|&y| y.into()).collect();
            let (there, back) = (judge(&there, Some(&floor), &RULE), judge(&back, Some(&floor), &RULE));
            let mirrored = match there.verdict {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                other => other,
            };
            prop_assert_eq!(back.verdict, mirrored);
            prop_assert!((there.ratio.unwrap() * back.ratio.unwrap() - 1.0).abs() < 1e-9);
            prop_assert_eq!(there.low.is_some(), back.high.is_some());
            if let (Some(low), Some(high)) = (there.low, back.high) {
                prop_assert!((low * high - 1.0).abs() < 1e-9);
            }
        }

        #[test]
        fn order_does_not_matter(mut xs in prop::collection::vec(-0.5..0.5f64, 1..60)) {
            let forth = judge(&xs.iter().map(|&x| x.into()).collect::<Vec<_>>(), None, &RULE);
            xs.reverse();
            prop_assert_eq!(forth, judge(&xs.iter().map(|&x| x.into()).collect::<Vec<_>>(), None, &RULE));
        }
    }
}
