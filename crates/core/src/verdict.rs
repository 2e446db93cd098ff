//! From the runs of two alternatives to one of four verdicts. The step between statistics and the record.
//!
//! The rule, in this order. Ratios are alternative over baseline in time, on the log scale; "the interval" is the one for the
//! ratio, at the error probability that the family of comparisons leaves to this one.
//!
//! 1. Without an interval (too few rounds): **undecided**.
//! 2. The whole interval lies from 1/(1 + delta) to 1 + delta: **same**. This comes first: a difference that is surely too small
//!    to matter is "same", even when it surely is not zero. The band is symmetric on the log scale, so swapping the two
//!    alternatives mirrors the verdict.
//! 3. The whole interval lies below 1: **faster**. Likewise above 1: **slower**. Where the number of rounds was fixed, the baseline's own
//!    runs give a floor, each over the one before: the ratio must then be farther from 1 than that surely is (the nearer end of its interval).
//!    The ratio's own interval holds the noise of runs already, so what a floor of few pairs may be is not held against it once more.
//!    Else the runs of the hidden copy are among those that the alternative is ranked against, which is more than any floor.
//! 4. When all is over and the whole interval lies within a second, wider band around 1: **same**. How far it reaches is told.
//! 5. Otherwise **undecided**, with an estimate of further rounds.
//!
//! The estimate takes the rounds to come for ones like those seen; if ten thousand of them would not do, there is none.

use serde::{Deserialize, Serialize};

use whyfaster_stats::eprocess::{self, Block, Evidence};
use whyfaster_stats::{Observation, quantile, sign, student};

/// What the ratios of an alternative to the baseline say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval is below 1; where the number of rounds was fixed, the effect is above the floor as well.
    Faster,
    /// The whole interval is above 1; where the number of rounds was fixed, the effect is above the floor as well.
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
    /// The same with both ends farther off by this logarithm.
    #[must_use]
    pub fn widened(self, by: f64) -> Self {
        Self {
            low: self.low.map(|low| low * (-by).exp()),
            high: self.high.map(|high| high * by.exp()),
            ..self
        }
    }

    /// The logarithm of the factor between the nearest ends of two intervals; 0 where they have a ratio in common, or an end is open.
    pub fn apart(self, other: Self) -> f64 {
        let gap =
            |high: Option<f64>, low: Option<f64>| high.zip(low).map_or(0.0, |(high, low)| (low / high).ln());
        gap(self.high, other.low).max(gap(other.high, self.low)).max(0.0)
    }

    /// The ratio the other way round.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { ratio: self.ratio.recip(), low: self.high.map(f64::recip), high: self.low.map(f64::recip) }
    }

    /// How many times wider than another one the interval is, both on the log scale. `None` where an end is open or there is no width.
    pub fn wider_than(self, other: Self) -> Option<f64> {
        let width = |it: Self| {
            let width = (it.high? / it.low?).ln();
            (width.is_finite() && width > 0.0).then_some(width)
        };
        Some(width(self)? / width(other)?)
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

/// The interval that can be had where there are too few rounds for the one asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LessSure {
    /// Its confidence, less than was asked for.
    pub confidence: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Order statistics by the sign test: the number of rounds was fixed beforehand.
    Sign,
    /// Student's t on the logarithms of the ratios, taken for normally distributed: the number of rounds was fixed beforehand, and is
    /// too small for the sign test.
    StudentT,
    /// Order statistics by the beta-binomial sign e-process: valid whenever one stops. In records of versions before the rank e-process.
    SignEProcess,
    /// Ranks within blocks of runs in random order: valid whenever one stops.
    RankEProcess,
}

/// By what rule ratios become a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Half-width of the band of "same", as a fraction.
    pub delta: f64,
    /// The same where nothing more will be measured.
    pub delta_at_end: Option<f64>,
    /// Error probability of the interval of one comparison.
    pub alpha: f64,
    /// Error probability of the floor's interval.
    pub floor_alpha: f64,
    /// The number of rounds, if it was fixed beforehand. Only with exactly so many is the fixed-sample interval valid; with
    /// fewer (time ran out, someone pressed Ctrl-C) the e-process is used.
    pub fixed: Option<u32>,
    /// Runs of the baseline beside each of an alternative.
    pub base: usize,
    /// Whether rounds that follow one another may share one random order; else each is a block of its own.
    pub shuffled: bool,
}

/// What a rule makes of the ratios so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// The ratio; `None` before the first round.
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
    /// The same if the effect is as large as it looks: when to look again.
    pub soonest: Option<u32>,
    /// How the interval was made.
    pub method: Method,
}

/// Runs of things that are equal: what they differ by is noise.
#[derive(Clone, Debug, PartialEq)]
pub struct FloorBlocks {
    /// As for an alternative.
    pub blocks: Vec<Block>,
    /// How many there are to be, if that was fixed beforehand.
    pub fixed: Option<u32>,
}

impl FloorBlocks {
    /// The interval for their ratio, made as the rule says.
    pub fn interval(&self, rule: &Rule, alpha: f64) -> Option<Interval> {
        Rule { fixed: self.fixed, alpha, ..*rule }.interval(&self.blocks, alpha)
    }
}

/// An interval on the log scale.
pub type Interval = (f64, f64);

/// The estimate of further rounds looks no farther than this.
const FARTHEST: usize = 10_000;

impl Rule {
    /// How an interval over so many blocks has to be made.
    pub fn method(&self, blocks: usize) -> Method {
        match self.fixed {
            Some(fixed) if fixed as usize == blocks && blocks < sign::min_rounds(self.alpha) => {
                Method::StudentT
            }
            Some(fixed) if fixed as usize == blocks => Method::Sign,
            _ => Method::RankEProcess,
        }
    }

    /// The interval for the ratio at `alpha`, if there are enough blocks for one. An end that is not known is infinite.
    pub fn interval(&self, blocks: &[Block], alpha: f64) -> Option<Interval> {
        match self.method(blocks.len()) {
            Method::Sign => sign::median_interval(&ln_ratios(blocks), alpha),
            Method::StudentT => student::mean_interval(&ln_ratios(blocks), alpha),
            Method::SignEProcess | Method::RankEProcess => Evidence::of(blocks).interval(alpha),
        }
    }

    /// The logarithm of the ratio.
    pub fn estimate(&self, blocks: &[Block]) -> Option<f64> {
        match self.method(blocks.len()) {
            Method::Sign | Method::StudentT => whyfaster_stats::median_of(&ln_ratios(blocks)),
            Method::SignEProcess | Method::RankEProcess => eprocess::estimate(blocks),
        }
    }

    /// The surest interval that these blocks give, where they give none at the error probability asked for. `None` where it would be wrong
    /// as often as right, or an end is open.
    pub fn less_sure(&self, blocks: &[Block]) -> Option<LessSure> {
        let evidence = Evidence::of(blocks);
        let alpha = evidence.least_alpha();
        if self.method(blocks.len()) != Method::RankEProcess || !(self.alpha..0.5).contains(&alpha) {
            return None;
        }
        let (low, high) = evidence.interval(alpha)?;
        Some(LessSure { confidence: 1.0 - alpha, low: ratio(low)?, high: ratio(high)? })
    }

    /// The ratio with its interval; `None` before the first round.
    pub fn ratio(&self, blocks: &[Block]) -> Option<Ratio> {
        let interval = self.interval(blocks, self.alpha);
        Some(Ratio {
            ratio: ratio(self.estimate(blocks)?)?,
            low: interval.and_then(|interval| ratio(interval.0)),
            high: interval.and_then(|interval| ratio(interval.1)),
        })
    }

    /// The least number of rounds that gives a comparison its interval, made by this method.
    pub fn min_rounds(&self, method: Method) -> usize {
        match method {
            Method::Sign => sign::min_rounds(self.alpha),
            Method::StudentT => student::MIN_ROUNDS,
            Method::SignEProcess | Method::RankEProcess if self.shuffled => {
                eprocess::min_rounds(self.alpha, self.base)
            }
            Method::SignEProcess | Method::RankEProcess => eprocess::min_blocks(self.alpha, self.base),
        }
    }

    /// The verdict on a ratio whose interval is already there.
    pub fn says(&self, it: Ratio) -> Verdict {
        self.verdict(it.low.zip(it.high).map(|(low, high)| (low.ln(), high.ln())), it.ratio.ln(), 0.0)
    }

    fn verdict(&self, interval: Option<Interval>, median: f64, floor: f64) -> Verdict {
        let Some((low, high)) = interval else { return Verdict::Undecided };
        let within = |delta: f64| -delta.ln_1p() <= low && high <= delta.ln_1p();
        let contains_one = low <= 0.0 && 0.0 <= high;
        if within(self.delta) {
            Verdict::Same
        } else if high < 0.0 && -median > floor {
            Verdict::Faster
        } else if low > 0.0 && median > floor {
            Verdict::Slower
        } else if contains_one && self.delta_at_end.is_some_and(within) {
            Verdict::Same
        } else {
            Verdict::Undecided
        }
    }
}

/// Judges an alternative against the baseline. Without a floor, differences are not held against noise.
pub fn judge(blocks: &[Block], floor: Option<&FloorBlocks>, rule: &Rule) -> Judgement {
    let (method, estimate) = (rule.method(blocks.len()), rule.estimate(blocks));
    let interval = rule.interval(blocks, rule.alpha);
    let held_against = floor.filter(|_| method != Method::RankEProcess);
    let floor_size = held_against.map_or(0.0, |floor| surely(floor.interval(rule, rule.floor_alpha)));
    let verdict =
        estimate.map_or(Verdict::Undecided, |estimate| rule.verdict(interval, estimate, floor_size));
    let undecided = verdict == Verdict::Undecided;
    let needed = |smaller_by| match rule.fixed {
        _ if !undecided => None,
        Some(_) => rounds_to_fix(&ln_ratios(blocks), held_against, rule, smaller_by),
        None => rounds_to_run(blocks, rule, smaller_by),
    };
    Judgement {
        ratio: estimate.and_then(ratio),
        low: interval.and_then(|interval| ratio(interval.0)),
        high: interval.and_then(|interval| ratio(interval.1)),
        verdict,
        rounds: u32::try_from(runs(blocks)).unwrap_or(u32::MAX),
        rounds_needed: needed(CLOSER),
        soonest: needed(0.0),
        method,
    }
}

/// What the two sides of each block differ by, where each has one run.
fn ln_ratios(blocks: &[Block]) -> Vec<Observation> {
    let of = |block: &Block| Some(block.arm.first()?.minus(*block.base.first()?));
    blocks.iter().filter_map(of).collect()
}

/// Runs of the alternative.
fn runs(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| block.arm.len()).sum()
}

/// The ratio of a logarithm. `None` for an open end, and for what no floating-point number holds.
pub fn ratio(ln: f64) -> Option<f64> {
    let ratio = ln.exp();
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

/// How far from 0 all of an interval surely is; nothing is sure without one.
fn surely(interval: Option<Interval>) -> f64 {
    interval.map_or(0.0, |(low, high)| low.max(-high).max(0.0))
}

/// At this "error probability" the interval ends where the bets have won nothing: about two standard errors from the estimate.
const NOTHING_WON: f64 = 2.0;
/// An effect may well be smaller than it looks by this part of that: by about one standard error.
const CLOSER: f64 = 0.5;

/// Further rounds after which the rule has decided, if those to come are like those so far and the effect is smaller than it looks by this
/// part of what is not known of it. With none, every second time needs more.
fn rounds_to_run(blocks: &[Block], rule: &Rule, smaller_by: f64) -> Option<u32> {
    let (now, least) = (runs(blocks), rule.min_rounds(Method::RankEProcess));
    let Some(estimate) = eprocess::estimate(blocks) else { return u32::try_from(least).ok() };
    let (evidence, band) = (Evidence::of(blocks), rule.delta.ln_1p());
    let (low, high) = evidence.interval(NOTHING_WON).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let smaller = if estimate > 0.0 { estimate - low } else { estimate - high };
    let decides = |n: usize| {
        let times = n as f64 / now as f64;
        let refuses = |candidate, slower| evidence.refuses(candidate, slower, times, rule.alpha);
        // An open end lies at infinity, and zero times that is not a number.
        let candidate = if smaller_by > 0.0 { smaller * smaller_by } else { 0.0 };
        refuses(candidate, estimate > 0.0) || refuses(-band, true) && refuses(band, false)
    };
    further(now, least, decides)
}

/// Further rounds that whoever fixes a larger number would about need, where the effect is smaller than it looks by this part of what is not
/// known of it.
fn rounds_to_fix(
    ln_ratios: &[Observation],
    floor: Option<&FloorBlocks>,
    rule: &Rule,
    smaller_by: f64,
) -> Option<u32> {
    let (now, least) = (ln_ratios.len(), rule.min_rounds(Method::Sign));
    let Some(median) = whyfaster_stats::median_of(ln_ratios) else { return u32::try_from(least).ok() };
    let seen = Ends::of(ln_ratios);
    let near = |(low, high): Interval| if median > 0.0 { low } else { high };
    let unsure = seen.at(now, sign::skip(now, rule.alpha)).map(near).filter(|end| end.is_finite());
    let smaller = unsure.map_or(0.0, |end| smaller_by * (median - end));
    let floor =
        floor.map(|floor| self::ln_ratios(&floor.blocks)).map(|pairs| (pairs.len(), Ends::of(&pairs)));
    let floor_at = |n: usize| {
        let (pairs, ends) = floor.as_ref()?;
        let then = n * pairs / now;
        ends.at(then, sign::skip(then, rule.floor_alpha))
    };
    let decides = |n: usize| {
        let interval = seen.at(n, sign::skip(n, rule.alpha));
        let interval = interval.map(|(low, high)| (low - smaller, high - smaller));
        rule.verdict(interval, median - smaller, surely(floor_at(n))) != Verdict::Undecided
    };
    further(now, least, decides)
}

/// How many more than `now` it takes to decide. More rounds narrow the interval, so what decides once decides ever after, and
/// halving finds the least.
fn further(now: usize, least: usize, decides: impl Fn(usize) -> bool) -> Option<u32> {
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
    use rand::{RngExt, SeedableRng};
    use whyfaster_stats::random::Random;

    use super::*;

    const RULE: Rule = Rule {
        delta: 0.02,
        delta_at_end: None,
        alpha: 0.05,
        floor_alpha: 0.05,
        fixed: None,
        base: 1,
        shuffled: false,
    };
    const FIXED: Rule = Rule { fixed: Some(20), ..RULE };

    /// Blocks of one run each, of which only the difference counts.
    fn blocks(differences: impl IntoIterator<Item = impl Into<Observation>>) -> Vec<Block> {
        let of = |it: Observation| Block { arm: vec![it], base: vec![0.0.into()] };
        differences.into_iter().map(|it| of(it.into())).collect()
    }

    fn around(centre: f64, spread: f64, n: usize) -> Vec<Block> {
        // Evenly spread and symmetric, in an order that does not matter.
        blocks((0..n).map(|i| centre + spread * (2.0 * i as f64 / (n - 1) as f64 - 1.0)))
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
    fn when_all_is_over_a_wider_band_is_an_answer_too() {
        let over = Rule { delta_at_end: Some(0.05), ..RULE };
        let (near, beside) = (around(0.0, 0.04, 20), around(0.03, 0.015, 20));
        assert_eq!(judge(&near, None, &RULE).verdict, Verdict::Undecided);
        assert_eq!(judge(&near, None, &over).verdict, Verdict::Same);
        // What surely differs is not the same, however little.
        assert_eq!(judge(&beside, None, &over).verdict, Verdict::Slower);
        assert_eq!(judge(&around(0.0, 0.1, 20), None, &over).verdict, Verdict::Undecided);
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
        let effect = around(0.05, 0.02, 20);
        let floor = |of| FloorBlocks { blocks: around(of, 0.02, 10), fixed: Some(10) };
        assert_eq!(judge(&effect, None, &FIXED).verdict, Verdict::Slower);
        // Each run of the baseline surely takes longer than the one before, and by more than the alternative does.
        let noise = floor(0.2);
        let judgement = judge(&effect, Some(&noise), &FIXED);
        assert_eq!((judgement.verdict, judgement.rounds_needed), (Verdict::Undecided, None));
        assert!(judgement.low.is_some_and(|low| low > 1.0));
        // What a floor may be is in the ratio's interval as well.
        let noisy = FloorBlocks { blocks: around(0.0, 0.2, 10), fixed: Some(10) };
        assert_eq!(judge(&effect, Some(&noisy), &FIXED).verdict, Verdict::Slower);
        // Where a hidden copy runs, the alternative is ranked against its runs as well: there is nothing else to hold it against.
        assert_eq!(judge(&effect, Some(&noise), &RULE).verdict, Verdict::Slower);
    }

    #[test]
    fn too_few_rounds_have_a_less_sure_interval() {
        let few = [Block { arm: vec![0.3.into(); 2], base: vec![0.0.into(); 4] }];
        let shuffled = Rule { base: 2, shuffled: true, ..RULE };
        assert_eq!(shuffled.interval(&few, 0.05), None);
        // One of C(6, 2) = 15 orders, at either side, with half of the stake: 1 - 4 / 15, and a little for the tilts.
        let less = shuffled.less_sure(&few).unwrap();
        assert!(less.confidence > 1.0 - 4.0 / 15.0 && less.confidence < 0.8, "{less:?}");
        assert!((less.low - 0.3f64.exp()).abs() < 1e-9 && (less.high - 0.3f64.exp()).abs() < 1e-9);
        // Where there is an interval nothing else is needed, and of one round nothing can be said.
        assert_eq!(shuffled.less_sure(&around(0.3, 0.01, 20)), None);
        assert_eq!(shuffled.less_sure(&blocks([0.3])), None);
    }

    #[test]
    fn a_clear_difference_needs_three_rounds_with_a_hidden_copy() {
        let shuffled = Rule { base: 2, shuffled: true, ..RULE };
        let side = |values: &[f64]| values.iter().map(|&x| x.into()).collect::<Vec<Observation>>();
        let block = Block { arm: side(&[0.3, 0.28, 0.33]), base: side(&[0.0, 0.03, -0.02, 0.01, 0.02, 0.0]) };
        let judgement = judge(&[block], None, &shuffled);
        assert_eq!((judgement.verdict, judgement.method), (Verdict::Slower, Method::RankEProcess));
        assert_eq!(shuffled.min_rounds(Method::RankEProcess), 3);
    }

    #[test]
    fn a_fixed_number_of_rounds_needs_one_less() {
        let fixed = Rule { fixed: Some(6), ..RULE };
        let judgement = judge(&around(0.5, 0.01, 6), None, &fixed);
        assert_eq!((judgement.verdict, judgement.method), (Verdict::Slower, Method::Sign));
        // Cut short, the number was not fixed after all.
        let cut = Rule { fixed: Some(20), ..RULE };
        assert_eq!(judge(&around(0.5, 0.01, 6), None, &cut).verdict, Verdict::Undecided);
        assert_eq!(judge(&around(0.5, 0.01, 7), None, &cut).method, Method::RankEProcess);
    }

    #[test]
    fn time_outs_decide_without_a_number() {
        // The alternative always ran into the time-out at ten times the baseline.
        let judgement = judge(&blocks([Observation::at_least(10f64.ln()); 8]), None, &RULE);
        assert_eq!(judgement.verdict, Verdict::Slower);
        assert!((judgement.low.unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(judgement.high, None);
        // Both always did: nothing is known, least of all that they are the same.
        let both = Observation { low: f64::NEG_INFINITY, value: 0.0, high: f64::INFINITY };
        let judgement = judge(&blocks([both; 50]), None, &RULE);
        assert_eq!((judgement.verdict, judgement.low, judgement.high), (Verdict::Undecided, None, None));
        assert_eq!((judgement.rounds_needed, judgement.soonest), (None, None));
    }

    /// From 12 runs on the baseline's own make a floor, which must not take away what they decide.
    #[test]
    fn more_fixed_runs_decide_no_less_often() {
        let decided = |runs: usize| {
            let rule = Rule { fixed: Some(runs as u32), ..RULE };
            let decides = |seed: &u64| {
                let mut rng = Random::seed_from_u64(*seed);
                let mut noise = || 0.05 * (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 0.3;
                let base: Vec<f64> = (0..runs).map(|_| noise()).collect();
                let own = base.chunks_exact(2).map(|pair| pair[1] - pair[0]);
                let floor = FloorBlocks { blocks: blocks(own), fixed: Some(runs as u32 / 2) };
                let differences =
                    blocks(base.iter().map(|of_base| 0.1 + noise() - of_base).collect::<Vec<_>>());
                judge(&differences, Some(&floor).filter(|_| runs >= 12), &rule).verdict != Verdict::Undecided
            };
            (0..200).filter(decides).count()
        };
        let [eleven, twelve, twenty] = [11, 12, 20].map(decided);
        assert!(eleven > 130 && twelve >= eleven && twenty >= twelve, "{eleven} {twelve} {twenty} of 200");
    }

    /// Who runs as many more rounds as were named has a verdict more often than not, however few there were before.
    #[test]
    fn so_many_more_rounds_mostly_tell() {
        for (before, effect) in [(8, 0.05), (8, 0.1), (16, 0.05), (40, 0.03)] {
            let (mut told, mut decided) = (0, 0);
            for seed in 0..150 {
                let mut rng = Random::seed_from_u64(seed);
                let mut one = || effect + 0.06 * (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 0.36;
                let mut all: Vec<f64> = (0..before).map(|_| one()).collect();
                let Some(more) =
                    judge(&blocks(all.clone()), None, &RULE).rounds_needed.filter(|it| *it < 400)
                else {
                    continue;
                };
                all.extend((0..more).map(|_| one()));
                told += 1;
                decided += u32::from(judge(&blocks(all), None, &RULE).verdict != Verdict::Undecided);
            }
            assert!(told >= 20 && decided * 10 >= told * 7, "{before} {effect}: {decided} of {told}");
        }
    }

    #[test]
    fn the_estimate_of_rounds_holds() {
        // A centre of 4% in a spread of 15%: undecided at 20 rounds, decided at the number that the estimate names.
        let judgement = judge(&around(0.04, 0.15, 20), None, &RULE);
        assert_eq!(judgement.verdict, Verdict::Undecided);
        let needed = judgement.rounds_needed.unwrap() as usize;
        assert!(needed < 2000, "{needed}");
        assert_eq!(judge(&around(0.04, 0.15, 20 + needed), None, &RULE).verdict, Verdict::Slower);
        // Exactly on the edge of the band no number of rounds helps.
        assert_eq!(judge(&around(RULE.delta.ln_1p(), 3.0, 20), None, &RULE).rounds_needed, None);
    }

    proptest! {
        #[test]
        fn swapping_mirrors(xs in prop::collection::vec(-0.5..0.5f64, 1..60), ys in prop::collection::vec(-0.1..0.1f64, 1..60), shift in -0.6..0.6f64, fixed: bool) {
            let rule = if fixed { Rule { fixed: u32::try_from(xs.len()).ok(), ..RULE } } else { RULE };
            let (there, back) = (blocks(xs.iter().map(|x| x + shift)), blocks(xs.iter().map(|x| -(x + shift))));
            let floor = FloorBlocks { fixed: fixed.then_some(ys.len() as u32), blocks: blocks(ys) };
            let (there, back) = (judge(&there, Some(&floor), &rule), judge(&back, Some(&floor), &rule));
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
            let forth = judge(&blocks(xs.iter().copied()), None, &RULE);
            xs.reverse();
            prop_assert_eq!(forth, judge(&blocks(xs.iter().copied()), None, &RULE));
        }
    }
}
