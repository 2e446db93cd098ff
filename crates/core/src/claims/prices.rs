//! Rules about prices. Two rows of one list are compared repetition by repetition (`paired`), and so are sums of rows
//! (`sum`). Where the floors say the opposite of what the typical prices say, nothing is decided: noise moves the one, the
//! operation both.

use super::evidence::{Against, Decision, Evidence, NoPrice, Outcome, RowRatio};
use super::rule::{Order, Prices, Rule};
use crate::price::compare::{self, compare};
use crate::price::list::{Price, PriceList};
use crate::price::paired::Paired;
use crate::price::sum::sum_check;
use crate::verdict::{Ratio, Verdict};

/// Decides a rule about prices, at error probability `alpha` an interval; `None` for others.
pub(super) fn decide(rule: &Rule, prices: &Prices<'_>, alpha: f64) -> Option<Decision> {
    let list = prices.list;
    Some(match rule {
        Rule::Cheaper(order) => by_order(list, order, alpha, Side::Below),
        Rule::Dearer(order) => by_order(list, order, alpha, Side::Above),
        Rule::AddUp { parts, whole, within } => by_sum(list, parts, whole, *within, alpha),
        Rule::Syscalls { row, most } => by_syscalls(list, row, *most),
        Rule::CheaperThanReference { row, reference } => by_reference(prices, row, reference, alpha),
        _ => return None,
    })
}

/// The row that is named `name/variant`.
fn find<'a>(list: &'a PriceList, id: &str) -> Option<&'a Price> {
    let (name, variant) = id.split_once('/').map_or((id, None), |(name, variant)| (name, Some(variant)));
    list.find(name, variant)
}

/// The price of a row, or why there is none.
fn priced<'a>(list: &'a PriceList, id: &str) -> Result<&'a Price, NoPrice> {
    let found = find(list, id);
    found
        .filter(|price| price.typical_ns().is_some())
        .ok_or_else(|| NoPrice { row: id.to_owned(), reason: found.and_then(Price::why_none) })
}

/// On which side of the others a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Below,
    Above,
}

fn by_order(list: &PriceList, order: &Order, alpha: f64, claimed: Side) -> Decision {
    let mut outcome = Outcome::Holds;
    let mut against = Vec::new();
    for other in &order.than {
        let (one, why) = match (priced(list, &order.row), priced(list, other)) {
            (Ok(a), Ok(b)) => ordered(list, a, b, alpha, claimed),
            (Err(why), _) | (_, Err(why)) => (Outcome::Undecided, Against::NoPrice(why)),
        };
        if one == Outcome::DoesNotHold {
            return (one, Evidence::Ordered(vec![why]));
        }
        if one == Outcome::Undecided {
            outcome = one;
        }
        against.push(why);
    }
    (outcome, Evidence::Ordered(against))
}

/// Decides whether one row is on the claimed side of another.
fn ordered(list: &PriceList, a: &Price, b: &Price, alpha: f64, claimed: Side) -> (Outcome, Against) {
    let ratios = Paired::of(list, &[a, b], |ns| (ns[0] / ns[1]).ln());
    let Some(found) = ratios.estimate(alpha) else {
        return (Outcome::Undecided, Against::NotPaired(a.id(), b.id()));
    };
    let (low, high) = found.interval.unzip();
    let side = match (low, high) {
        (Some(low), _) if low > 0.0 => Some(Side::Above),
        (_, Some(high)) if high < 0.0 => Some(Side::Below),
        _ => None,
    };
    let floors = a.floor_ns.zip(b.floor_ns).filter(|(a, b)| a != b);
    let by_floors = floors.map(|(a, b)| if a > b { Side::Above } else { Side::Below });
    let floors_disagree = side.is_some() && by_floors.is_some() && by_floors != side;
    let outcome = match side.filter(|_| !floors_disagree) {
        Some(side) if side == claimed => Outcome::Holds,
        Some(_) => Outcome::DoesNotHold,
        None => Outcome::Undecided,
    };
    let ratio = Ratio { ratio: found.value.exp(), low: low.map(f64::exp), high: high.map(f64::exp) };
    let lacking = side.is_none().then(|| found.lacking(0.0, alpha));
    (outcome, Against::Ratio(RowRatio { other: b.id(), ratio, lacking, floors_disagree }))
}

fn by_sum(list: &PriceList, parts: &[String], whole: &str, within: f64, alpha: f64) -> Decision {
    for id in parts.iter().map(String::as_str).chain([whole]) {
        if let Err(why) = priced(list, id) {
            return (Outcome::Undecided, Evidence::NoPrice(why));
        }
    }
    let names: Vec<&str> = parts.iter().map(String::as_str).collect();
    let Some(found) = sum_check(list, &names, whole, within, alpha) else {
        return (Outcome::Undecided, Evidence::NotMeasured);
    };
    let outcome = if found.verdict == Some(Verdict::Same) {
        Outcome::Holds
    } else if found.beyond(within) {
        Outcome::DoesNotHold
    } else {
        Outcome::Undecided
    };
    (outcome, Evidence::Sum(found))
}

fn by_syscalls(list: &PriceList, row: &str, most: f64) -> Decision {
    // A refused price has its receipt all the same, and the receipt is what is asked for.
    let calls = find(list, row).and_then(|price| price.receipt.syscalls);
    let outcome = match calls {
        Some(calls) if calls <= most => Outcome::Holds,
        Some(_) => Outcome::DoesNotHold,
        None => Outcome::Undecided,
    };
    (outcome, Evidence::Syscalls(row.to_owned(), calls))
}

fn by_reference(prices: &Prices<'_>, row: &str, reference: &str, alpha: f64) -> Decision {
    let price = match priced(prices.list, row) {
        Ok(price) => price,
        Err(why) => return (Outcome::Undecided, Evidence::NoPrice(why)),
    };
    let missing = || Evidence::NotInReference(row.to_owned(), reference.to_owned());
    let Some((_, other)) = prices.references.iter().find(|(name, _)| name == reference) else {
        return (Outcome::Undecided, missing());
    };
    // One row of a list: its part of the study's error is its own.
    let rule = compare::Rule { alpha, ..compare::Rule::default() };
    let only = |list: &PriceList| {
        let mut list = list.clone();
        list.prices.retain(|one| one.name == price.name && one.variant == price.variant);
        list
    };
    let found = compare(&[only(other), only(prices.list)], &rule);
    let beside = found.rows.first().and_then(|row| row.others.first());
    let Some((beside, ratio)) = beside.and_then(|beside| Some((beside, beside.ratio?))) else {
        return (Outcome::Undecided, missing());
    };
    let outcome = match beside.verdict {
        Some(Verdict::Faster) => Outcome::Holds,
        Some(Verdict::Slower | Verdict::Same) => Outcome::DoesNotHold,
        Some(Verdict::Undecided) | None => Outcome::Undecided,
    };
    let ratio = Ratio { ratio, low: beside.low, high: beside.high };
    (outcome, Evidence::OverReference(other.name.clone(), ratio))
}
