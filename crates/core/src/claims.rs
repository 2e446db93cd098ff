//! A study's figures and claims beside a record: what an article measured, what it says, and whether that holds here.
//!
//! The rules are data, so that a study is a file and not a program. All ratios are alternative over baseline in time:
//! below 1 is faster. The intervals of a record hold together at the record's confidence, so two of them that do not
//! touch order the two ratios at that confidence.

use serde::{Deserialize, Serialize};

use crate::analysis::{Comparison, Level};
use crate::record::Record;
use crate::verdict::{Ratio, Verdict};

/// The two alternatives that a study is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    /// Name of the alternative.
    pub alternative: &'a str,
    /// Name of the baseline.
    pub baseline: &'a str,
}

/// What an article measured for one alternative at one load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Mean elapsed time, seconds.
    pub mean_s: f64,
    /// Standard deviation of the elapsed time, seconds.
    pub sd_s: f64,
    /// User CPU time of all copies, seconds.
    pub user_s: f64,
    /// System CPU time of all copies, seconds.
    pub system_s: f64,
}

/// An article's two timings at one load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Copies at once.
    pub load: u32,
    /// The baseline.
    pub baseline: Timing,
    /// The alternative.
    pub alternative: Timing,
}

impl Figure {
    /// Elapsed time, alternative over baseline.
    pub fn ratio(&self) -> f64 {
        self.alternative.mean_s / self.baseline.mean_s
    }

    /// CPU time, alternative over baseline.
    pub fn work_ratio(&self) -> f64 {
        (self.alternative.user_s + self.alternative.system_s)
            / (self.baseline.user_s + self.baseline.system_s)
    }
}

/// A claim of an article, in our words, and the rule that decides it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its number within the study.
    pub number: u32,
    /// What is claimed.
    pub text: String,
    /// What decides it.
    pub rule: Rule,
}

/// How a claim is decided from a record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Rule {
    /// The comparison at this load has this verdict.
    Verdict {
        /// The load.
        load: u32,
        /// The verdict that the claim needs.
        verdict: Verdict,
    },
    /// At `to` the alternative is slower, and its ratio is above the one at `from`: the intervals do not touch.
    SlowerStill {
        /// The lower load.
        from: u32,
        /// The higher load.
        to: u32,
    },
    /// Over all measured levels the ratio rises from each to the next: no two neighbouring intervals touch.
    RisesThroughout {
        /// Fewer levels than this decide nothing.
        least_levels: usize,
    },
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It holds here.
    Holds,
    /// It does not hold here.
    DoesNotHold,
    /// This record does not decide it.
    Undecided,
}

/// A claim as this record sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judgement {
    /// The claim's number.
    pub number: u32,
    /// What is claimed.
    pub text: String,
    /// Whether it holds here.
    pub outcome: Outcome,
    /// Why, in few words.
    pub why: String,
}

/// One load: the article's ratio beside this record's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beside {
    /// Copies at once.
    pub load: u32,
    /// The article's ratio of elapsed times, where it gives one.
    pub article_ratio: Option<f64>,
    /// The article's ratio of CPU times, where it gives one.
    pub article_work: Option<f64>,
    /// This record's ratio of elapsed times.
    pub ratio: Option<Ratio>,
    /// This record's verdict.
    pub verdict: Option<Verdict>,
    /// This record's ratio of CPU times.
    pub work: Option<Ratio>,
    /// Why there is no ratio here.
    pub missing: Option<String>,
}

/// The article's figures and this record's levels, by load: every load that either of them has.
pub fn beside(figures: &[Figure], pair: Pair<'_>, record: &Record) -> Vec<Beside> {
    let mut loads: Vec<u32> =
        figures.iter().map(|f| f.load).chain(record.analysis.levels.iter().map(|l| l.load)).collect();
    loads.sort_unstable();
    loads.dedup();
    loads
        .into_iter()
        .map(|load| {
            let figure = figures.iter().find(|f| f.load == load);
            let (here, missing) = match comparison(record, pair, load) {
                Ok(found) => (Some(found), None),
                Err(why) => (None, Some(why)),
            };
            Beside {
                load,
                article_ratio: figure.map(Figure::ratio),
                article_work: figure.map(Figure::work_ratio),
                ratio: here.map(|c| Ratio { ratio: c.ratio, low: c.low, high: c.high }),
                verdict: here.map(|c| c.verdict),
                work: here.and_then(|c| c.work),
                missing,
            }
        })
        .collect()
}

/// Judges every claim.
pub fn judge(claims: &[Claim], pair: Pair<'_>, record: &Record) -> Vec<Judgement> {
    claims
        .iter()
        .map(|claim| {
            let (outcome, why) = match claim.rule {
                Rule::Verdict { load, verdict } => by_verdict(record, pair, load, verdict),
                Rule::SlowerStill { from, to } => by_slower_still(record, pair, from, to),
                Rule::RisesThroughout { least_levels } => by_rising(record, pair, least_levels),
            };
            Judgement { number: claim.number, text: claim.text.clone(), outcome, why }
        })
        .collect()
}

fn by_verdict(record: &Record, pair: Pair<'_>, load: u32, wanted: Verdict) -> (Outcome, String) {
    let found = match comparison(record, pair, load) {
        Ok(found) => found,
        Err(why) => return (Outcome::Undecided, why),
    };
    let outcome = match found.verdict {
        verdict if verdict == wanted => Outcome::Holds,
        Verdict::Undecided => Outcome::Undecided,
        Verdict::Faster | Verdict::Slower | Verdict::Same => Outcome::DoesNotHold,
    };
    (outcome, format!("{} at load {load}: {}", word(found.verdict), ratio_text(found)))
}

fn by_slower_still(record: &Record, pair: Pair<'_>, from: u32, to: u32) -> (Outcome, String) {
    let (lower, higher) = match (comparison(record, pair, from), comparison(record, pair, to)) {
        (Ok(lower), Ok(higher)) => (lower, higher),
        (_, Err(why)) | (Err(why), _) => return (Outcome::Undecided, why),
    };
    if matches!(higher.verdict, Verdict::Faster | Verdict::Same) {
        return (
            Outcome::DoesNotHold,
            format!("{} at load {to}: {}", word(higher.verdict), ratio_text(higher)),
        );
    }
    let (step, why) = step((from, lower), (to, higher), record.plan.delta);
    match step {
        Step::Falls | Step::Flat => (Outcome::DoesNotHold, why),
        Step::Rises if higher.verdict == Verdict::Slower => (Outcome::Holds, why),
        Step::Rises => (Outcome::Undecided, format!("undecided at load {to}: {}", ratio_text(higher))),
        Step::Unclear => (Outcome::Undecided, why),
    }
}

fn by_rising(record: &Record, pair: Pair<'_>, least_levels: usize) -> (Outcome, String) {
    let levels: Vec<(u32, &Comparison)> =
        record.analysis.levels.iter().filter_map(|level| Some((level.load, of_pair(level, pair)?))).collect();
    if levels.len() < least_levels {
        return (Outcome::Undecided, format!("{} levels compared, {least_levels} needed", levels.len()));
    }
    let steps: Vec<(Step, String)> =
        levels.windows(2).map(|two| step(two[0], two[1], record.plan.delta)).collect();
    if let Some((_, why)) = steps.iter().find(|(step, _)| matches!(step, Step::Falls | Step::Flat)) {
        return (Outcome::DoesNotHold, why.clone());
    }
    if let Some((_, why)) = steps.iter().find(|(step, _)| *step == Step::Unclear) {
        return (Outcome::Undecided, why.clone());
    }
    let ratios: Vec<String> = levels.iter().map(|(load, c)| format!("{:.2} at {load}", c.ratio)).collect();
    (Outcome::Holds, ratios.join(", "))
}

/// How the ratio moves from one level to a higher one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Rises,
    Falls,
    /// If it rises at all, then by no more than delta.
    Flat,
    Unclear,
}

fn step(from: (u32, &Comparison), to: (u32, &Comparison), delta: f64) -> (Step, String) {
    let ((from_load, from), (to_load, to)) = (from, to);
    // A missing end is an open one: it can still be below 0 or above everything.
    let low = |c: &Comparison| c.low.unwrap_or(0.0);
    let high = |c: &Comparison| c.high.unwrap_or(f64::INFINITY);
    let why = format!("{} at load {from_load}, {} at load {to_load}", ratio_text(from), ratio_text(to));
    if low(to) > high(from) {
        (Step::Rises, why)
    } else if high(to) < low(from) {
        (Step::Falls, why)
    } else if high(to) <= low(from) * (1.0 + delta) {
        (Step::Flat, format!("{why}: no rise above {:.0}%", delta * 100.0))
    } else {
        (Step::Unclear, format!("{why}: the intervals overlap"))
    }
}

/// The comparison of the pair at a load, or why there is none.
fn comparison<'a>(record: &'a Record, pair: Pair<'_>, load: u32) -> Result<&'a Comparison, String> {
    let level = record.analysis.levels.iter().find(|level| level.load == load);
    if let Some(found) = level.and_then(|level| of_pair(level, pair)) {
        return Ok(found);
    }
    // A level stands there by this name; parts of it ("run-queue delay at load 100") are other entries.
    let name = format!("load {load}");
    let reason = record.analysis.not_measured.iter().find(|missing| missing.what == name);
    Err(match reason {
        Some(missing) => format!("load {load} not measured: {}", missing.why),
        None if level.is_some() => format!("load {load}: no round of both"),
        None => format!("load {load} not measured here"),
    })
}

fn of_pair<'a>(level: &'a Level, pair: Pair<'_>) -> Option<&'a Comparison> {
    level.comparisons.iter().find(|c| c.alternative == pair.alternative && c.baseline == pair.baseline)
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "the same",
        Verdict::Undecided => "undecided",
    }
}

fn ratio_text(found: &Comparison) -> String {
    match (found.low, found.high) {
        (Some(low), Some(high)) => format!("{:.2} ({low:.2} to {high:.2})", found.ratio),
        (Some(low), None) => format!("{:.2} ({low:.2} or more)", found.ratio),
        (None, Some(high)) => format!("{:.2} ({high:.2} or less)", found.ratio),
        (None, None) => format!("{:.2} (too few rounds for an interval)", found.ratio),
    }
}

#[cfg(test)]
mod tests;
