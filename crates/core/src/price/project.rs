//! Counts times prices: what so many operations cost on each machine.

use serde::{Deserialize, Serialize};

use super::inside::Unit;
use super::list::{Price, PriceList};
use super::sample::row_id;
use crate::missing::{NotMeasured, Obstacle, Quantity, Variants};

/// Most terms of a projection, and the largest count.
const MAX_TERMS: usize = 10_000;
const MAX_COUNT: f64 = 1e15;

/// So many of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Term {
    /// How many.
    pub count: f64,
    /// Name of the probe.
    pub name: String,
    /// Variant, if one was named.
    pub variant: Option<String>,
}

impl Term {
    /// The operation as it was written.
    pub fn id(&self) -> String {
        row_id(&self.name, self.variant.as_deref().unwrap_or_default())
    }
}

/// Reads counts: `30000 fork+execve`, several of them on lines of their own or separated by commas. What follows `#` is
/// a comment. A count may be hexadecimal (0x10000).
pub fn parse(text: &str) -> Result<Vec<Term>, NoCounts> {
    let mut terms = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        // A comma within a word belongs to a variant (asleep,other_cpu); one at its end separates.
        for part in
            line.split(", ").map(|part| part.trim().trim_end_matches(',')).filter(|part| !part.is_empty())
        {
            terms.push(term(part).ok_or_else(|| NoCounts::Term(part.chars().take(60).collect()))?);
            if terms.len() > MAX_TERMS {
                return Err(NoCounts::TooMany);
            }
        }
    }
    if terms.is_empty() { Err(NoCounts::None) } else { Ok(terms) }
}

/// Why a text holds no counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCounts {
    /// More than anybody writes.
    #[error("there are more than {} counts", MAX_TERMS)]
    TooMany,
    /// Nothing at all.
    #[error("there is no count; expected a count and a name, such as '30000 fork+execve'")]
    None,
    /// Something else, of which this is the beginning.
    #[error("'{0}' is no count of an operation; expected a count and a name, such as '30000 fork+execve'")]
    Term(String),
}

fn term(text: &str) -> Option<Term> {
    let (count, id) = text.split_once(char::is_whitespace)?;
    let number = match count.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok().map(|n| n as f64),
        None => count.replace('_', "").parse::<f64>().ok(),
    };
    let count = number.filter(|n| (0.0..=MAX_COUNT).contains(n))?;
    let id = id.trim();
    if id.is_empty() || id.contains(char::is_whitespace) {
        return None;
    }
    let (name, variant) = match id.split_once('/') {
        Some((name, variant)) => (name, Some(variant.to_owned())),
        None => (id, None),
    };
    Some(Term { count, name: name.to_owned(), variant })
}

/// Counts on several machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Projection {
    /// The counts.
    pub terms: Vec<Term>,
    /// One entry per list, in their order.
    pub machines: Vec<Projected>,
}

/// Counts on one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Projected {
    /// Name of the list.
    pub name: String,
    /// Seconds of each term; null where the list has no price.
    pub seconds: Vec<Option<f64>>,
    /// The row that each term was priced by.
    pub rows: Vec<Option<String>>,
    /// Sum; null if any term has no price.
    pub total_s: Option<f64>,
    /// Lower end: all prices at the lower end of their intervals.
    pub low_s: Option<f64>,
    /// Upper end.
    pub high_s: Option<f64>,
    /// The terms without a price, and why.
    pub not_measured: Vec<NotMeasured>,
}

/// What the counts cost on each machine.
pub fn project(lists: &[PriceList], terms: &[Term]) -> Projection {
    let settled: Vec<Settled> = terms.iter().map(|term| settled(lists, term)).collect();
    let machines = lists.iter().map(|list| on_machine(list, &settled)).collect();
    Projection { terms: settled.into_iter().map(|one| one.term).collect(), machines }
}

/// A term whose variant is the same on every machine.
struct Settled {
    term: Term,
    /// Why no machine can price it; null if that is for each machine to say.
    why: Option<Obstacle>,
}

/// Settles the variant of a term on one that every list prices which has a price of that name at all: a static program on
/// one machine must not be set against a dynamic one on the other. Where there is none, nobody's price counts.
fn settled(lists: &[PriceList], term: &Term) -> Settled {
    let priced: Vec<(&PriceList, Vec<&str>)> = lists
        .iter()
        .map(|list| (list, variants(list, &term.name)))
        .filter(|(_, variants)| !variants.is_empty())
        .collect();
    let Some((first, offered)) = priced.first().filter(|_| term.variant.is_none()) else {
        return Settled { term: term.clone(), why: None };
    };
    let everywhere = |variant: &&str| priced.iter().all(|(_, variants)| variants.contains(variant));
    let usual = first.find(&term.name, None).map(|price| price.variant.as_str());
    let variant = usual.into_iter().chain(offered.iter().copied()).find(everywhere);
    let why = variant.is_none().then(|| {
        let each = |(list, variants): &(&PriceList, Vec<&str>)| Variants {
            list: list.name.clone(),
            variants: variants.iter().map(|variant| (*variant).to_owned()).collect(),
        };
        Obstacle::NoCommonVariant { lists: priced.iter().map(each).collect() }
    });
    Settled { term: Term { variant: variant.map(str::to_owned), ..term.clone() }, why }
}

/// The variants of a name that a list prices.
fn variants<'a>(list: &'a PriceList, name: &str) -> Vec<&'a str> {
    let named = list.prices.iter().filter(|price| price.name == name && price.typical_ns().is_some());
    named.map(|price| price.variant.as_str()).collect()
}

fn on_machine(list: &PriceList, terms: &[Settled]) -> Projected {
    let mut projected = Projected { name: list.name.clone(), ..Projected::default() };
    let (mut total, mut low, mut high) = (Some(0.0), Some(0.0), Some(0.0));
    for Settled { term, why } in terms {
        let add = |sum: &mut Option<f64>, ns: Option<f64>| {
            *sum = sum.zip(ns).map(|(sum, ns)| sum + term.count * ns * 1e-9);
        };
        let found = list.find(&term.name, term.variant.as_deref());
        let price = found.filter(|_| why.is_none());
        let ns = price.and_then(Price::typical_ns);
        if ns.is_none() {
            let none = || match list.unit {
                Unit::Nanoseconds => Obstacle::NotInList,
                other => Obstacle::OtherUnit { unit: other.name().to_owned() },
            };
            let own = || found.and_then(Price::why_none);
            let why = why.clone().or_else(own).unwrap_or_else(none);
            projected.not_measured.push(NotMeasured::new(Quantity::Operation { operation: term.id() }, why));
        }
        projected.seconds.push(ns.map(|ns| term.count * ns * 1e-9));
        projected.rows.push(price.filter(|_| ns.is_some()).map(Price::id));
        add(&mut total, ns);
        add(&mut low, price.and_then(|p| p.low_ns));
        add(&mut high, price.and_then(|p| p.high_ns));
    }
    Projected { total_s: total, low_s: low, high_s: high, ..projected }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixture::{list, row, samples};
    use super::*;

    fn machine(fork: f64, execve: f64, both: f64) -> PriceList {
        list(vec![
            (row("process", "fork", "reaped"), samples(6, 4, fork)),
            (row("process", "execve", "chain"), samples(6, 4, execve)),
            (row("process", "fork+execve", "parent"), samples(6, 4, fork)),
            (row("process", "fork+execve", "reaped"), samples(6, 4, both)),
        ])
    }

    #[test]
    fn counts_are_read_as_people_write_them() {
        let terms =
            parse("30000 fork+execve, 0x10000 execve/chain # the article\n\n1_000 futex/asleep,other_cpu\n")
                .unwrap();
        let shown: Vec<(f64, String)> = terms.iter().map(|term| (term.count, term.id())).collect();
        assert_eq!(
            shown,
            [
                (30000.0, "fork+execve".to_owned()),
                (65536.0, "execve/chain".to_owned()),
                (1000.0, "futex/asleep,other_cpu".to_owned())
            ]
        );
        for bad in ["", "fork", "x fork", "-1 fork", "1e99 fork", "0xg fork", "3 fork execve", "nan fork"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_projection_is_count_times_price() {
        let lists = [machine(3e4, 7e5, 7.4e5), machine(1e5, 2e6, 2.2e6)];
        let found = project(&lists, &parse("30000 fork+execve, 10 fork/reaped").unwrap());
        let total = found.machines[0].total_s.unwrap();
        assert!((total / (30000.0 * 7.4e-4) - 1.0).abs() < 0.05, "{total}");
        assert!(found.machines[0].low_s.unwrap() <= total && total <= found.machines[0].high_s.unwrap());
        assert_eq!(found.machines[1].rows[0].as_deref(), Some("fork+execve/reaped"));
        let mut dynamic = machine(1e5, 2e6, 2.2e6);
        dynamic.prices.retain(|price| price.variant != "reaped");
        let settled = project(&[lists[0].clone(), dynamic], &parse("1 fork+execve").unwrap());
        assert_eq!(settled.machines[0].rows, settled.machines[1].rows);
        let lacking = project(&lists, &parse("1 vfork, 2 fork").unwrap());
        assert_eq!(lacking.machines[0].total_s, None);
        let vfork = NotMeasured::new(Quantity::Operation { operation: "vfork".into() }, Obstacle::NotInList);
        assert_eq!(lacking.machines[0].not_measured, [vfork]);
        assert!(lacking.machines[0].seconds[1].is_some());
    }

    #[test]
    fn a_static_program_is_not_set_against_a_dynamic_one() {
        let of = |name: &str, variant: &str| PriceList {
            name: name.into(),
            ..list(vec![(row("process", "fork+execve", variant), samples(6, 4, 3e5))])
        };
        let terms = parse("30000 fork+execve").unwrap();
        let lists = [of("quick", "reaped"), of("debian", "reaped,dynamic")];
        let found = project(&lists, &terms);
        for machine in &found.machines {
            assert_eq!((machine.total_s, &machine.seconds[..]), (None, &[None][..]), "{machine:?}");
            let has =
                |list: &str, variant: &str| Variants { list: list.into(), variants: vec![variant.into()] };
            let lists = vec![has("quick", "reaped"), has("debian", "reaped,dynamic")];
            assert_eq!(machine.not_measured[0].reason, Some(Obstacle::NoCommonVariant { lists }));
        }
        // A third list that does not know the operation takes nothing from two that agree.
        let third = [of("one", "reaped"), list(Vec::new()), of("two", "reaped")];
        let found = project(&third, &terms);
        let totals: Vec<bool> = found.machines.iter().map(|machine| machine.total_s.is_some()).collect();
        assert_eq!(totals, [true, false, true]);
        let operation = "fork+execve/reaped".to_owned();
        assert_eq!(found.machines[1].not_measured[0].quantity, Some(Quantity::Operation { operation }));
        // What was asked for by its variant is shown where it is.
        let named = project(&lists, &parse("1 fork+execve/reaped").unwrap());
        assert!(named.machines[0].total_s.is_some() && named.machines[1].total_s.is_none());
    }

    proptest! {
        #[test]
        fn hostile_counts_never_panic(text in ".{0,200}") {
            let _ = parse(&text);
        }
    }
}
