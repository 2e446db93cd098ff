//! An article's claims about prices, decided by a list. Outcomes and their words are those of [`crate::claims`].
//!
//! Two rows of one list are compared repetition by repetition: what disturbs a minute disturbs both, so the interval is
//! that of the paired ratios (sign test). The intervals of one study hold together: they share its error probability.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compare::{self, compare};
use super::list::{Price, PriceList};
use super::project::sum_check;
use crate::claims::{Judgement, Outcome};
use crate::stats::{self, Observation, quantile, sign};
use crate::verdict::Verdict;

/// A claim of an article about prices, in our words, and the rule that decides it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Ratios with an interval that the claim rests on.
    fn intervals(&self) -> usize {
        match &self.rule {
            Rule::Cheaper { than, .. } | Rule::Dearer { than, .. } => than.len(),
            Rule::AddUp { .. } | Rule::Syscalls { .. } | Rule::CheaperThanReference { .. } => 1,
        }
    }
}

/// Judges every claim by a list. `references` are the lists that claims name.
pub fn judge(claims: &[Claim], list: &PriceList, references: &[(String, PriceList)]) -> Vec<Judgement> {
    let alpha = stats::bonferroni(1.0 - list.confidence, claims.iter().map(Claim::intervals).sum());
    let judge = |claim: &Claim| {
        let (outcome, why) = match &claim.rule {
            Rule::Cheaper { row, than } => by_order(list, row, than, alpha, Order::Below),
            Rule::Dearer { row, than } => by_order(list, row, than, alpha, Order::Above),
            Rule::AddUp { parts, whole, within } => by_sum(list, parts, whole, *within),
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

/// One row over another of the same list, repetition by repetition.
struct Paired {
    ratio: f64,
    interval: Option<(f64, f64)>,
}

fn paired(list: &PriceList, row: &Price, than: &Price, alpha: f64) -> Option<Paired> {
    let medians = |price: &Price| -> Vec<f64> {
        list.costs(&price.name, &price.variant).iter().filter_map(|one| quantile::median(one)).collect()
    };
    let (a, b) = (medians(row), medians(than));
    let ratios: Vec<Observation> = a
        .iter()
        .zip(&b)
        .map(|(a, b)| (a / b).ln())
        .filter(|ln| ln.is_finite())
        .map(Observation::from)
        .collect();
    let interval = sign::median_interval(&ratios, alpha).map(|(low, high)| (low.exp(), high.exp()));
    Some(Paired { ratio: stats::median_of(&ratios)?.exp(), interval })
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
        let (a, b) = match (priced(list, row), priced(list, other)) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(why), _) | (_, Err(why)) => return (Outcome::Undecided, why),
        };
        let Some(found) = paired(list, a, b, alpha) else {
            return (Outcome::Undecided, format!("{row} and {other} have no repetition in common"));
        };
        let (one, why) = match found.interval {
            Some((low, high)) => {
                let why = format!("{:.2} of {other} ({low:.2} to {high:.2})", found.ratio);
                let (below, above) = (high < 1.0, low > 1.0);
                let (there, beyond) = if order == Order::Below { (below, above) } else { (above, below) };
                let one = match (there, beyond) {
                    (true, _) => Outcome::Holds,
                    (_, true) => Outcome::DoesNotHold,
                    _ => Outcome::Undecided,
                };
                (one, why)
            }
            None => (Outcome::Undecided, format!("{:.2} of {other} (too few repetitions)", found.ratio)),
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

fn by_sum(list: &PriceList, parts: &[String], whole: &str, within: f64) -> (Outcome, String) {
    for id in parts.iter().map(String::as_str).chain([whole]) {
        if let Err(why) = priced(list, id) {
            return (Outcome::Undecided, why);
        }
    }
    let names: Vec<&str> = parts.iter().map(String::as_str).collect();
    let Some(found) = sum_check(list, &names, whole) else {
        return (Outcome::Undecided, "not measured".to_owned());
    };
    let us = |ns: f64| ns / 1000.0;
    let why = format!(
        "{:.1} us alone, {:.1} us together: {:+.1}% of the whole",
        us(found.sum_ns),
        us(found.whole_ns),
        found.share * 100.0
    );
    // The intervals of the three prices say how far the share may be off.
    let spread = parts.iter().map(String::as_str).chain([whole]).try_fold(0.0, |sum, id| {
        let price = priced(list, id).ok()?;
        Some(sum + price.high_ns? - price.low_ns?)
    });
    let Some(spread) = spread.map(|spread| spread / 2.0 / found.whole_ns) else {
        return (Outcome::Undecided, format!("{why} (too few repetitions)"));
    };
    let outcome = if found.share.abs() + spread <= within {
        Outcome::Holds
    } else if found.share.abs() - spread > within {
        Outcome::DoesNotHold
    } else {
        Outcome::Undecided
    };
    (outcome, format!("{why}, give or take {:.1}%", spread * 100.0))
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
mod tests {
    use super::super::fixture::{list, row, samples};
    use super::*;

    fn here() -> PriceList {
        let mut getpid = row("kernel", "getpid", "libc");
        getpid.syscalls = Some(1.0);
        list(vec![
            (row("process", "fork", "reaped"), samples(16, 6, 3e4)),
            (row("process", "execve", "chain"), samples(16, 6, 7e5)),
            (row("process", "fork+execve", "reaped"), samples(16, 6, 7.35e5)),
            (getpid, samples(16, 6, 90.0)),
        ])
    }

    fn judged(rule: Rule) -> (Outcome, String) {
        let claim = Claim { number: 1, text: "a claim".into(), rule };
        let mut old = list(Vec::new());
        old.prices = vec![Price {
            group: "process".into(),
            name: "fork".into(),
            variant: "reaped".into(),
            mean_ns: Some(142_669.0),
            ..Price::default()
        }];
        let found = judge(&[claim], &here(), &[("old".into(), old)]).remove(0);
        (found.outcome, found.why)
    }

    #[test]
    fn cheaper_holds_by_paired_repetitions() {
        let cheaper = |row: &str, than: &[&str]| {
            judged(Rule::Cheaper { row: row.into(), than: than.iter().map(|t| (*t).to_owned()).collect() }).0
        };
        assert_eq!(cheaper("fork/reaped", &["execve/chain", "fork+execve/reaped"]), Outcome::Holds);
        assert_eq!(cheaper("execve/chain", &["fork/reaped"]), Outcome::DoesNotHold);
        assert_eq!(cheaper("fork/reaped", &["fork/reaped"]), Outcome::Undecided);
        assert_eq!(cheaper("fork/reaped", &["vfork/reaped"]), Outcome::Undecided);
        let dearer =
            |row: &str, than: &str| judged(Rule::Dearer { row: row.into(), than: vec![than.into()] }).0;
        assert_eq!(dearer("execve/chain", "fork/reaped"), Outcome::Holds);
        assert_eq!(dearer("fork/reaped", "execve/chain"), Outcome::DoesNotHold);
    }

    #[test]
    fn the_parts_add_up_or_not() {
        let sum = |within| {
            let parts = vec!["fork/reaped".into(), "execve/chain".into()];
            judged(Rule::AddUp { parts, whole: "fork+execve/reaped".into(), within })
        };
        assert_eq!(sum(0.1).0, Outcome::Holds);
        assert_eq!(sum(0.007).0, Outcome::Undecided, "{}", sum(0.007).1);
        assert_eq!(sum(0.0).0, Outcome::DoesNotHold, "{}", sum(0.0).1);
    }

    #[test]
    fn receipts_and_references_decide() {
        let calls = |most| judged(Rule::Syscalls { row: "getpid/libc".into(), most }).0;
        assert_eq!((calls(0.1), calls(1.0)), (Outcome::DoesNotHold, Outcome::Holds));
        assert_eq!(judged(Rule::Syscalls { row: "fork/reaped".into(), most: 1.0 }).0, Outcome::Undecided);
        let reference = |row: &str, name: &str| {
            judged(Rule::CheaperThanReference { row: row.into(), reference: name.into() })
        };
        assert_eq!(reference("fork/reaped", "old").0, Outcome::Holds);
        assert_eq!(reference("getpid/libc", "old").0, Outcome::Undecided);
        assert_eq!(reference("fork/reaped", "none").0, Outcome::Undecided);
    }
}
