//! The functions behind a finding: where the clock found the slower alternative's code more often than the other one's.

use std::collections::BTreeMap;

use super::account::Alternative;
use super::causes::{About, definition};
use super::report::{Finding, Function};
use super::statement::Pair;
use crate::trace::report::{Code, WorkKind};
use whyfaster_stats::order::largest_first;

/// Samples of the slower one below which nothing is said of their shares: half of 50 is between 36% and 64%.
const ENOUGH: f64 = 50.0;

/// Functions with this share are named, so many at most.
const NAMED: f64 = 0.1;
const MOST_NAMED: usize = 3;

/// A function has more samples than the other side's if it has this many times the standard error more.
const CLEAR: f64 = 2.0;

/// Functions with a smaller share are left out, and those beyond so many.
const LEAST_SHARE: f64 = 0.01;
const MOST: usize = 20;

/// A caller is named if it called in this part of the samples: without frame pointers a walk goes astray, each time elsewhere.
const MOSTLY: f64 = 0.5;

/// What samples say of the code behind a finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Located<'a> {
    /// Nobody looked.
    NotSampled,
    /// There are too few for a share.
    Few {
        /// So many.
        samples: f64,
    },
    /// No function has a tenth of it.
    Spread,
    /// These functions have most of it.
    In(Vec<&'a Function>),
}

impl Finding {
    /// In which functions it is; `None`: it is not of a kind that code takes.
    pub fn located(&self) -> Option<Located<'_>> {
        if !definition(self.cause).in_code {
            return None;
        }
        let Some(samples) = self.samples else { return Some(Located::NotSampled) };
        if samples.here < ENOUGH {
            return Some(Located::Few { samples: samples.here });
        }
        let clear = |it: &&Function| {
            let Pair { here, there } = it.samples;
            it.share >= NAMED && here - there > CLEAR * (here + there).sqrt()
        };
        let named: Vec<&Function> = self.functions.iter().filter(clear).take(MOST_NAMED).collect();
        Some(if named.is_empty() { Located::Spread } else { Located::In(named) })
    }
}

/// What was found of one function.
#[derive(Default)]
struct Found<'a> {
    samples: f64,
    callers: BTreeMap<&'a str, f64>,
    commands: BTreeMap<&'a str, f64>,
}

/// A function and its file. All waits for locks are in the same few functions of a library, so that who called these tells them apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place<'a> {
    symbol: Option<&'a str>,
    file: Option<&'a str>,
    waits_for: Option<&'a str>,
}

/// The samples of one side that a cause is made of, by function, summed over its runs.
struct Profile<'a> {
    functions: BTreeMap<Place<'a>, Found<'a>>,
    /// Seconds of observed runs that one sample stands for.
    each_s: f64,
}

impl<'a> Profile<'a> {
    /// `None`: its runs were not sampled.
    fn of(about: &About<'_>, alternative: &'a Alternative<'_>) -> Option<Self> {
        let sampled: Vec<_> = alternative.runs.iter().filter_map(|run| run.report.sampled.as_ref()).collect();
        let per_s = f64::from(sampled.first()?.per_s.max(1));
        let mut functions: BTreeMap<_, Found<'a>> = BTreeMap::new();
        for row in sampled.iter().flat_map(|it| &it.functions) {
            if !about.has_work(&row.command, row.kind) {
                continue;
            }
            let (samples, Code { symbol, file, called_from }) = (row.samples as f64, &row.code);
            let waits_for = called_from.as_deref().filter(|_| row.kind == WorkKind::Lock);
            let place = Place { symbol: symbol.as_deref(), file: file.as_deref(), waits_for };
            let found = functions.entry(place).or_default();
            found.samples += samples;
            *found.commands.entry(row.command.program()).or_default() += samples;
            if let Some(caller) = called_from {
                *found.callers.entry(caller).or_default() += samples;
            }
        }
        Some(Self { functions, each_s: 1.0 / per_s / sampled.len() as f64 })
    }

    fn samples(&self) -> f64 {
        self.functions.values().map(|it| it.samples).sum()
    }
}

/// The functions of a finding, those that make most of it first, and how many samples both sides have of what it is made of, the other
/// one's brought to as many seconds of observing. The shares are of all that the slower one has more of anywhere: those above zero sum to
/// at most 1.
pub(super) fn functions(
    about: &About<'_>,
    slow: &Alternative<'_>,
    fast: &Alternative<'_>,
) -> (Vec<Function>, Option<Pair>) {
    if !about.definition.in_code {
        return (Vec::new(), None);
    }
    let (Some(here), Some(there)) = (Profile::of(about, slow), Profile::of(about, fast)) else {
        return (Vec::new(), None);
    };
    let brought = there.each_s / here.each_s;
    let pair = |key: &_| {
        let of = |it: &Profile<'_>| it.functions.get(key).map_or(0.0, |it| it.samples);
        Pair { here: of(&here), there: of(&there) * brought }
    };
    let keys = here.functions.keys().chain(there.functions.keys());
    let pairs: BTreeMap<_, Pair> = keys.map(|key| (*key, pair(key))).collect();
    let more: f64 = pairs.values().map(|it| (it.here - it.there).max(0.0)).sum();
    let mut all: Vec<Function> = pairs
        .into_iter()
        .filter(|_| more > 0.0)
        .filter_map(|(key, samples)| {
            let found = here.functions.get(&key).or_else(|| there.functions.get(&key))?;
            let share = (samples.here - samples.there) / more;
            Some(Function {
                symbol: key.symbol.map(str::to_owned),
                file: key.file.map(str::to_owned),
                called_from: most(&found.callers, found.samples * MOSTLY),
                command: most(&found.commands, 0.0).unwrap_or_default(),
                share,
                seconds: share * about.seconds,
                samples,
            })
        })
        .filter(|it| it.share.abs() >= LEAST_SHARE)
        .collect();
    largest_first(&mut all, |it| it.share.abs());
    all.truncate(MOST);
    largest_first(&mut all, |it| it.share);
    (all, Some(Pair { here: here.samples(), there: there.samples() * brought }))
}

/// The one with the most samples, if that are so many.
fn most(of: &BTreeMap<&str, f64>, least: f64) -> Option<String> {
    let most = of.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
    (*most.1 >= least).then(|| (*most.0).to_owned())
}
