//! An article's claims about prices, decided by a list. Outcomes and their words are those of [`crate::claims`].
//!
//! Two rows of one list are compared repetition by repetition (`paired`), and so are sums of rows
//! ([`super::sum`]). The intervals of one study hold together: they share its error probability. Where the floors say the
//! opposite of what the typical prices say, nothing is decided: noise moves the one, the operation both.

use serde::{Deserialize, Serialize};

use super::compare::{self, compare};
use super::list::{Price, PriceList};
use super::paired::{Paired, missing};
use super::sum::sum_check;
use crate::claims::{Judgement, Outcome};
use crate::stats::{self, sign};
use crate::verdict::Verdict;

/// A claim of an article about prices, in our words, and the rule that decides it.
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

/// How a claim is decided from a list. A row is `name/variant`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Rule {
    /// The row costs less than each of these.
    Cheaper {
        /// The row.
        row: String,
        /// What it is cheaper than.
        than: Vec<String>,
    },
    /// The row costs more than each of these.
    Dearer {
        /// The row.
        row: String,
        /// What it is dearer than.
        than: Vec<String>,
    },
    /// The parts cost together what the whole costs, within this share of the whole.
    AddUp {
        /// The parts.
        parts: Vec<String>,
        /// The whole.
        whole: String,
        /// As a fraction.
        within: f64,
    },
    /// The row's receipt shows at most so many system calls an operation.
    Syscalls {
        /// The row.
        row: String,
        /// At most.
        most: f64,
    },
    /// The row is cheaper here than in this built-in reference list.
    CheaperThanReference {
        /// The row.
        row: String,
        /// Name of the reference list.
        reference: String,
    },
}

impl Claim {
    /// The rows of this machine that the claim rests on.
    pub fn rows(&self) -> impl Iterator<Item = &str> {
        let (row, others): (&String, &[String]) = match &self.rule {
            Rule::Cheaper { row, than } | Rule::Dearer { row, than } => (row, than),
            Rule::AddUp { parts, whole, .. } => (whole, parts),
            Rule::Syscalls { row, .. } | Rule::CheaperThanReference { row, .. } => (row, &[]),
        };
        std::iter::once(row).chain(others).map(String::as_str)
    }

    /// Ratios with an interval that the claim rests on.
    fn intervals(&self) -> usize {
        match &self.rule {
            Rule::Cheaper { than, .. } | Rule::Dearer { than, .. } => than.len(),
            Rule::AddUp { .. } | Rule::Syscalls { .. } | Rule::CheaperThanReference { .. } => 1,
        }
    }
}

/// Error probability of one interval of a study.
fn shared(claims: &[Claim], confidence: f64) -> f64 {
    stats::bonferroni(1.0 - confidence, claims.iter().map(Claim::intervals).sum())
}

/// The least number of repetitions that decides anything of these claims.
pub fn least_repetitions(claims: &[Claim], confidence: f64) -> usize {
    sign::min_rounds(shared(claims, confidence))
}

/// Judges every claim by a list. `references` are the lists that claims name.
pub fn judge(claims: &[Claim], list: &PriceList, references: &[(String, PriceList)]) -> Vec<Judgement> {
    let alpha = shared(claims, list.confidence);
    let judge = |claim: &Claim| {
        let (outcome, why) = match &claim.rule {
            Rule::Cheaper { row, than } => by_order(list, row, than, alpha, Order::Below),
            Rule::Dearer { row, than } => by_order(list, row, than, alpha, Order::Above),
            Rule::AddUp { parts, whole, within } => by_sum(list, parts, whole, *within, alpha),
            Rule::Syscalls { row, most } => by_syscalls(list, row, *most),
            Rule::CheaperThanReference { row, reference } => {
                by_reference(list, references, row, reference, alpha)
            }
        };
        Judgement { number: claim.number, text: claim.text.clone(), outcome, why }
    };
    claims.iter().map(judge).collect()
}

/// The price of a row that is named `name/variant`, or why there is none.
fn priced<'a>(list: &'a PriceList, id: &str) -> Result<&'a Price, String> {
    let (name, variant) = id.split_once('/').map_or((id, None), |(name, variant)| (name, Some(variant)));
    match list.find(name, variant) {
        Some(price) if price.typical_ns().is_some() => Ok(price),
        Some(price) => Err(format!(
            "{id} not measured: {}",
            price.not_measured.as_deref().unwrap_or("no reason is given")
        )),
        None => Err(format!("{id} not measured here")),
    }
}

/// On which side of the others a row is claimed to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Below,
    Above,
}

fn by_order(list: &PriceList, row: &str, than: &[String], alpha: f64, order: Order) -> (Outcome, String) {
    let mut outcome = Outcome::Holds;
    let mut whys = Vec::new();
    for other in than {
        let (one, why) = match (priced(list, row), priced(list, other)) {
            (Ok(a), Ok(b)) => ordered(list, a, b, alpha, order),
            (Err(why), _) | (_, Err(why)) => (Outcome::Undecided, why),
        };
        if one == Outcome::DoesNotHold {
            return (one, why);
        }
        if one == Outcome::Undecided {
            outcome = one;
        }
        whys.push(why);
    }
    (outcome, whys.join(", "))
}

/// Whether one row is on the claimed side of another.
fn ordered(list: &PriceList, a: &Price, b: &Price, alpha: f64, order: Order) -> (Outcome, String) {
    let ratios = Paired::of(list, &[a, b], |ns| (ns[0] / ns[1]).ln());
    let Some(found) = ratios.estimate(alpha) else {
        return (Outcome::Undecided, format!("{} and {} have no repetition in common", a.id(), b.id()));
    };
    let ratio = format!("{:.2} of {}", found.value.exp(), b.id());
    let undecided = || missing(found.repetitions, found.needed(0.0, alpha));
    let Some((low, high)) = found.interval else {
        return (Outcome::Undecided, format!("{ratio} ({})", undecided()));
    };
    let why = format!("{ratio} ({:.2} to {:.2})", low.exp(), high.exp());
    let side = match (low > 0.0, high < 0.0) {
        (true, _) => Order::Above,
        (_, true) => Order::Below,
        _ => return (Outcome::Undecided, format!("{why}; {}", undecided())),
    };
    let floors = a.floor_ns.zip(b.floor_ns).filter(|(a, b)| a != b);
    if floors.is_some_and(|(a, b)| (a > b) != (side == Order::Above)) {
        return (Outcome::Undecided, format!("{why}; the floors say the opposite"));
    }
    (if side == order { Outcome::Holds } else { Outcome::DoesNotHold }, why)
}

fn by_sum(list: &PriceList, parts: &[String], whole: &str, within: f64, alpha: f64) -> (Outcome, String) {
    for id in parts.iter().map(String::as_str).chain([whole]) {
        if let Err(why) = priced(list, id) {
            return (Outcome::Undecided, why);
        }
    }
    let names: Vec<&str> = parts.iter().map(String::as_str).collect();
    let Some(found) = sum_check(list, &names, whole, within, alpha) else {
        return (Outcome::Undecided, "not measured".to_owned());
    };
    let us = |ns: f64| ns / 1000.0;
    let mut why = format!(
        "{:.1} us alone, {:.1} us together: {:+.1}% of the whole",
        us(found.sum_ns),
        us(found.whole_ns),
        found.share * 100.0
    );
    if let Some((low, high)) = found.low.zip(found.high) {
        why.push_str(&format!(" ({:+.1}% to {:+.1}%)", low * 100.0, high * 100.0));
    }
    if let Some(doubt) = &found.doubt {
        why.push_str(&format!("; {doubt}"));
    }
    let outcome = if found.verdict == Some(Verdict::Same) {
        Outcome::Holds
    } else if found.beyond(within) {
        Outcome::DoesNotHold
    } else {
        Outcome::Undecided
    };
    (outcome, why)
}

fn by_syscalls(list: &PriceList, row: &str, most: f64) -> (Outcome, String) {
    let (name, variant) = row.split_once('/').map_or((row, None), |(name, variant)| (name, Some(variant)));
    // A refused price has its receipt all the same, and the receipt is what is asked for.
    match list.find(name, variant).and_then(|price| price.receipt.syscalls) {
        Some(calls) if calls <= most => (Outcome::Holds, format!("{calls:.2} system calls an operation")),
        Some(calls) => (Outcome::DoesNotHold, format!("{calls:.2} system calls an operation")),
        None => (Outcome::Undecided, format!("the system calls of {row} were not counted here")),
    }
}

fn by_reference(
    list: &PriceList,
    references: &[(String, PriceList)],
    row: &str,
    reference: &str,
    alpha: f64,
) -> (Outcome, String) {
    let price = match priced(list, row) {
        Ok(price) => price,
        Err(why) => return (Outcome::Undecided, why),
    };
    let Some((_, other)) = references.iter().find(|(name, _)| name == reference) else {
        return (Outcome::Undecided, format!("there is no list '{reference}'"));
    };
    // One row of a list: its part of the study's error is its own.
    let rule = compare::Rule { alpha, ..compare::Rule::default() };
    let only = |list: &PriceList| {
        let mut list = list.clone();
        list.prices.retain(|one| one.name == price.name && one.variant == price.variant);
        list
    };
    let found = compare(&[only(other), only(list)], &rule);
    let Some(beside) = found.rows.first().and_then(|row| row.others.first()) else {
        return (Outcome::Undecided, format!("{row} is not in '{reference}'"));
    };
    let Some(ratio) = beside.ratio else {
        return (Outcome::Undecided, format!("{row} is not in '{reference}'"));
    };
    let why = match (beside.low, beside.high) {
        (Some(low), Some(high)) => format!("{ratio:.3} of '{}' ({low:.3} to {high:.3})", other.name),
        _ => format!("{ratio:.3} of '{}' (too few repetitions)", other.name),
    };
    let outcome = match beside.verdict {
        Some(Verdict::Faster) => Outcome::Holds,
        Some(Verdict::Slower | Verdict::Same) => Outcome::DoesNotHold,
        Some(Verdict::Undecided) | None => Outcome::Undecided,
    };
    (outcome, why)
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
