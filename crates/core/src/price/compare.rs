//! Price lists side by side: for every row a ratio, an interval, a verdict, and what about the machines may explain it.
//!
//! The first list is the baseline; a ratio is another list over it, so below 1 is cheaper. The rule, in this order:
//!
//! 1. Every row has an exact test of "the prices are equal", and one of "they differ by delta or more"
//!    (`evidence`). Of the rows that are called different, and of those that are called the same, a share of at most
//!    `alpha` is expected to be wrong by noise ([`whyfaster_stats::benjamini_hochberg`]: the false discovery rate). Where no row differs
//!    in truth, that is the probability that any is called different. The interval of a row is at the error probability at
//!    which its kind was decided.
//! 2. Wholly within the band from 1/(1 + delta) to 1 + delta: **same**.
//! 3. Wholly on one side of 1, and both the median and the floor differ by more than the noise: **slower** or **faster**.
//!    The noise of a row is delta, or the drift that either list shows by itself if that is more: the second half of its
//!    repetitions against the first half, its own and that of nine in ten rows of its group. An interval knows only the noise
//!    within a list; two lists were measured at different times, and drift is what a list tells of that.
//!    Likewise for what the CPU's own speed may explain, by the time of plain user code in both lists ([`super::pace`]).
//! 4. A row that does more than enter the kernel is not called dearer by a list that was measured in a crowd (other processes,
//!    or steal) larger than that of the cheaper list: its tasks then wait for a CPU and share caches, and that is no property
//!    of the machine.
//! 5. Otherwise **undecided**, with the reason, or with the number of repetitions that would about decide it.
//!
//! A row that steps 3 and 4 keep from being called different takes part in step 1 with a p-value of 1, so that what they take
//! away is not counted as found.
//!
//! Numbers of a source have no repetitions. Against them, the interval is that of the measured side alone; between two
//! of them there is a ratio and no verdict. Where a source gives means, means are compared.

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::fingerprint::{Difference, Fact, Facts, differences};
use super::inside::Unit;
use super::list::{Price, PriceList};
use super::pace::Pace;
use super::paired::more;
use super::pairing::{Other, Pairing};
use super::side::Side;
use crate::missing::Obstacle;
use crate::verdict::Verdict;

/// By what rule rows are told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Differences up to this fraction do not matter.
    pub delta: f64,
    /// Share of the rows called different, and of those called the same, that noise may have made so (false discovery rate).
    pub alpha: f64,
}

impl Default for Rule {
    fn default() -> Self {
        Self { delta: 0.05, alpha: 0.05 }
    }
}

/// Lists side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Names of the lists; the first is the baseline.
    pub lists: Vec<String>,
    /// What differs between the baseline's machine and each other one.
    pub machines: Vec<Vec<Difference>>,
    /// How much slower or quicker the CPU itself was for each other list than for the baseline; null where that cannot be told, or
    /// where the machines have CPUs of two kinds.
    #[serde(default)]
    pub paces: Vec<Option<Pace>>,
    /// The rows, the worst first: dearer, then cheaper, each by its ratio; then undecided, the same, not measured.
    pub rows: Vec<Beside>,
    /// Share of the verdicts that may be wrong by noise: of those on different rows, and of those on rows that are the same.
    pub alpha: f64,
    /// What the prices are. Lists of another unit than the baseline are not in here.
    #[serde(default, skip_serializing_if = "Unit::is_usual")]
    pub unit: Unit,
}

/// One row in all lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beside {
    /// Group.
    pub group: String,
    /// Name.
    pub name: String,
    /// Variant.
    pub variant: String,
    /// The baseline's typical price.
    pub ns: Option<f64>,
    /// The same where the lists are in guest instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<f64>,
    /// Why the baseline has none; absent if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Obstacle>,
    /// The same, in English; null if it has one.
    pub not_measured: Option<String>,
    /// The other lists, in their order.
    pub others: Vec<Other>,
}

/// Sets lists beside each other: each unit by itself, in the order in which the units come. The first list of a unit is
/// its baseline.
pub fn compare_by_unit(lists: &[PriceList], rule: &Rule) -> Vec<Comparison> {
    let mut units: Vec<Unit> = Vec::new();
    for list in lists {
        if !units.contains(&list.unit) {
            units.push(list.unit);
        }
    }
    let of = |unit: &Unit| lists.iter().filter(|list| list.unit == *unit).cloned().collect::<Vec<_>>();
    units.iter().map(|unit| compare(&of(unit), rule)).collect()
}

/// Sets lists of one unit beside each other; those of another unit than the first one are left out.
pub fn compare(lists: &[PriceList], rule: &Rule) -> Comparison {
    let unit = lists.first().map_or_else(Unit::default, |list| list.unit);
    let alike: Vec<PriceList> =
        lists.iter().filter(|list| list.unit == unit).map(PriceList::unlabelled).collect();
    let mut found = alike_compared(&alike, rule);
    found.unit = unit;
    if unit == Unit::GuestInstructions {
        for row in &mut found.rows {
            row.instructions = row.ns.take();
            for other in &mut row.others {
                other.instructions = other.ns.take();
            }
        }
    }
    found
}

fn alike_compared(lists: &[PriceList], rule: &Rule) -> Comparison {
    let names = lists.iter().map(|list| list.name.clone()).collect();
    let Some((base, others)) = lists.split_first() else {
        return Comparison {
            lists: names,
            machines: Vec::new(),
            paces: Vec::new(),
            rows: Vec::new(),
            alpha: rule.alpha,
            unit: Unit::default(),
        };
    };
    let machines: Vec<Vec<Difference>> = others
        .iter()
        .map(|other| differences(&Facts::of(&base.fingerprint), &Facts::of(&other.fingerprint)))
        .collect();
    let sides: Vec<Side<'_>> = lists.iter().map(Side::of).collect();
    let paces: Vec<Option<Pace>> = sides[1..].iter().map(|side| Pace::between(&sides[0], side)).collect();
    let ids = row_ids(lists);
    let against_all = |id| {
        let others = sides[1..].iter().zip(&paces);
        others.map(|(side, pace)| Pairing::of(&sides[0], side, id, *pace)).collect()
    };
    let pairings: Vec<Vec<Pairing>> = ids.iter().map(|id| against_all(*id)).collect();
    let levels = Levels::of(pairings.iter().flatten(), rule);
    let mut rows: Vec<Beside> = ids
        .iter()
        .zip(pairings)
        .map(|((name, variant), pairings)| {
            let (mut beside, price) = beside(base, lists, name, variant);
            for (pairing, machine) in pairings.into_iter().zip(&machines) {
                let mut other = judged(pairing, &levels, rule);
                if matches!(other.verdict, Some(Verdict::Faster | Verdict::Slower) | None)
                    && other.ratio.is_some()
                {
                    let facts = machine.iter().map(|difference| difference.fact);
                    other.explained_by = facts
                        .filter(|fact| !fact.is_general() && price.is_some_and(|p| bears_on(*fact, p)))
                        .collect();
                }
                beside.others.push(other);
            }
            beside
        })
        .collect();
    rows.sort_by(|a, b| severity(b).partial_cmp(&severity(a)).unwrap_or(std::cmp::Ordering::Equal));
    Comparison { lists: names, machines, paces, rows, alpha: rule.alpha, unit: Unit::default() }
}

/// Every name and variant of any list, in the order of the lists.
pub(super) fn row_ids(lists: &[PriceList]) -> Vec<(&str, &str)> {
    let mut seen = std::collections::BTreeSet::new();
    let all = lists.iter().flat_map(|list| &list.prices).map(|p| (p.name.as_str(), p.variant.as_str()));
    all.filter(|id| seen.insert(*id)).collect()
}

fn beside<'a>(
    base: &'a PriceList,
    lists: &'a [PriceList],
    name: &str,
    variant: &str,
) -> (Beside, Option<&'a Price>) {
    let here = base.find(name, Some(variant));
    let any = lists.iter().find_map(|list| list.find(name, Some(variant)));
    let ns = here.and_then(Price::typical_ns);
    let why = || here.map_or(Some(Obstacle::NotInList), Price::why_none);
    let row = Beside {
        group: any.map(|price| price.group.clone()).unwrap_or_default(),
        name: name.to_owned(),
        variant: variant.to_owned(),
        ns,
        instructions: None,
        reason: ns.is_none().then(why).flatten(),
        not_measured: None,
        others: Vec::new(),
    };
    (row, here.or(any))
}

/// The order of a row: that of the machine on which it is worst.
fn severity(row: &Beside) -> (u8, bool, f64) {
    let all = row.others.iter().map(Other::severity);
    all.fold((0, false, 0.0), |worst, one| if one > worst { one } else { worst })
}

/// Error probabilities at which the rows of a comparison are decided.
struct Levels {
    /// For a row that differs.
    different: f64,
    /// For one more row than those that do.
    next: f64,
    /// For a row that is the same.
    same: f64,
}

impl Levels {
    fn of<'a>(pairings: impl Iterator<Item = &'a Pairing>, rule: &Rule) -> Self {
        let band = rule.delta.ln_1p();
        let (mut different, mut same) = (Vec::new(), Vec::new());
        for pairing in pairings {
            let Some(evidence) = &pairing.evidence else { continue };
            let open = pairing.hindrance(rule.delta).is_some();
            different.push(if open { 1.0 } else { evidence.p_equal() });
            same.push(evidence.p_different(band));
        }
        let level = whyfaster_stats::benjamini_hochberg(&different, rule.alpha);
        let found = different.iter().any(|p| *p <= level);
        let step = rule.alpha / different.len().max(1) as f64;
        Self {
            different: level,
            next: if found { (level + step).min(rule.alpha) } else { level },
            same: whyfaster_stats::benjamini_hochberg(&same, rule.alpha),
        }
    }
}

/// The verdict of a row: the rule of this module.
fn judged(pairing: Pairing, levels: &Levels, rule: &Rule) -> Other {
    let hindrance = pairing.hindrance(rule.delta);
    let noise = |ratio| pairing.noise(ratio, rule.delta).0;
    let noise = pairing.other.ratio.map(|ratio| noise(ratio.ln()));
    let Pairing { mut other, evidence, .. } = pairing;
    let Some((evidence, ratio)) = evidence.zip(other.ratio.map(f64::ln)) else { return other };
    let band = rule.delta.ln_1p();
    let verdict = if evidence.p_different(band) <= levels.same {
        Verdict::Same
    } else if hindrance.is_none() && evidence.p_equal() <= levels.different {
        if ratio > 0.0 { Verdict::Slower } else { Verdict::Faster }
    } else {
        Verdict::Undecided
    };
    let level = if verdict == Verdict::Same { levels.same } else { levels.different };
    (other.low, other.high) = evidence.interval(level).map(|(low, high)| (low.exp(), high.exp())).unzip();
    other.repetitions = whole(evidence.repetitions);
    if verdict == Verdict::Undecided {
        // Where drift, pace or a crowd stands in the way, more repetitions of the same kind do not help.
        let settled = ratio.abs() <= band && noise.is_some_and(|noise| noise <= band);
        other.reason = hindrance.filter(|_| !settled);
        if other.reason.is_none() {
            other.repetitions_needed = needed(&evidence, ratio, band, levels).and_then(whole);
        }
    }
    other.verdict = Some(verdict);
    other
}

fn whole(repetitions: usize) -> Option<u32> {
    u32::try_from(repetitions).ok()
}

/// With how many repetitions an undecided row would about be decided, if all else stayed as it is.
fn needed(evidence: &Evidence, ratio: f64, band: f64, levels: &Levels) -> Option<usize> {
    let Some((low, high)) = evidence.interval(levels.next) else {
        return Some(evidence.least_repetitions(levels.next));
    };
    let (reach, gap) = if ratio.abs() <= band {
        // It is the same if the interval fits into the band.
        ((ratio - low).max(high - ratio), band - ratio.abs())
    } else if ratio > 0.0 {
        (ratio - low, ratio)
    } else {
        (high - ratio, -ratio)
    };
    more(evidence.repetitions, reach, gap)
}

/// Whether a difference in this fact may explain a difference of this row.
fn bears_on(fact: Fact, price: &Price) -> bool {
    let group = price.group.as_str();
    let crowd = matches!(group, "process" | "thread" | "pipe");
    match fact {
        _ if fact.is_general() => true,
        // What is paid at every entry into the kernel.
        Fact::Mitigations | Fact::Seccomp => enters_kernel(price),
        // Exits of a guest: page tables, wake-ups across CPUs, reading some clocks.
        Fact::Hypervisor => crowd || group == "cpu" || reads_clock(price),
        Fact::Clocksource => reads_clock(price),
        Fact::HugePages => group == "process" || price.name.contains("fault"),
        Fact::Quota | Fact::AllowedCpus => crowd || price.variant.contains("other_cpu"),
        Fact::Libc => price.variant.contains("libc") || price.variant.contains("dynamic") || crowd,
        _ => false,
    }
}

fn enters_kernel(price: &Price) -> bool {
    match price.receipt.syscalls {
        Some(calls) => calls > 0.01,
        None => !price.variant.contains("vdso") && price.name != "spin" && price.group != "cpu",
    }
}

fn reads_clock(price: &Price) -> bool {
    ["gettimeofday", "clock_gettime", "time"].iter().any(|name| {
        price.name == *name || price.name.strip_prefix(*name).is_some_and(|rest| rest.starts_with('_'))
    })
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
