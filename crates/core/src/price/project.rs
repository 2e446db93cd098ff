//! Counts times prices: what so many operations cost on each machine. And the check whether fork and execve together cost
//! what they cost alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::inside::Unit;
use super::list::{Price, PriceList};
use super::sample::row_id;

/// Most terms of a projection, and the largest count.
const MAX_TERMS: usize = 10_000;
const MAX_COUNT: f64 = 1e15;

/// So many of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
pub fn parse(text: &str) -> Result<Vec<Term>, String> {
    let mut terms = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        // A comma within a word belongs to a variant (asleep,other_cpu); one at its end separates.
        for part in
            line.split(", ").map(|part| part.trim().trim_end_matches(',')).filter(|part| !part.is_empty())
        {
            terms.push(term(part)?);
            if terms.len() > MAX_TERMS {
                return Err(format!("there are more than {MAX_TERMS} counts"));
            }
        }
    }
    if terms.is_empty() {
        return Err(format!("there is no count; {EXPECTED}"));
    }
    Ok(terms)
}

const EXPECTED: &str = "expected a count and a name, such as '30000 fork+execve'";

fn term(text: &str) -> Result<Term, String> {
    let shown: String = text.chars().take(60).collect();
    let wrong = || format!("'{shown}' is no count of an operation; {EXPECTED}");
    let (count, id) = text.split_once(char::is_whitespace).ok_or_else(wrong)?;
    let number = match count.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok().map(|n| n as f64),
        None => count.replace('_', "").parse::<f64>().ok(),
    };
    let count = number.filter(|n| (0.0..=MAX_COUNT).contains(n)).ok_or_else(wrong)?;
    let id = id.trim();
    if id.is_empty() || id.contains(char::is_whitespace) {
        return Err(wrong());
    }
    let (name, variant) = match id.split_once('/') {
        Some((name, variant)) => (name, Some(variant.to_owned())),
        None => (id, None),
    };
    Ok(Term { count, name: name.to_owned(), variant })
}

/// Counts on several machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Projection {
    /// The counts.
    pub terms: Vec<Term>,
    /// One entry per list, in their order.
    pub machines: Vec<Projected>,
}

/// Counts on one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    pub not_measured: Vec<crate::host::NotMeasured>,
}

/// What the counts cost on each machine.
pub fn project(lists: &[PriceList], terms: &[Term]) -> Projection {
    let terms: Vec<Term> = terms.iter().map(|term| settled(lists, term)).collect();
    let machines = lists.iter().map(|list| on_machine(list, &terms)).collect();
    Projection { terms, machines }
}

/// A term whose variant is the same on every machine, if there is one that all of them price: a static program on one
/// must not be set against a dynamic one on the other.
fn settled(lists: &[PriceList], term: &Term) -> Term {
    let Some((first, rest)) = lists.split_first().filter(|_| term.variant.is_none()) else {
        return term.clone();
    };
    let priced = |list: &PriceList, variant: &str| {
        list.find(&term.name, Some(variant)).is_some_and(|price| price.typical_ns().is_some())
    };
    let everywhere = |variant: &&str| priced(first, variant) && rest.iter().all(|list| priced(list, variant));
    let usual = first.find(&term.name, None).map(|price| price.variant.as_str());
    let others =
        first.prices.iter().filter(|price| price.name == term.name).map(|price| price.variant.as_str());
    let variant = usual.into_iter().chain(others).find(everywhere);
    Term { variant: variant.map(str::to_owned), ..term.clone() }
}

fn on_machine(list: &PriceList, terms: &[Term]) -> Projected {
    let mut projected = Projected { name: list.name.clone(), ..Projected::default() };
    let (mut total, mut low, mut high) = (Some(0.0), Some(0.0), Some(0.0));
    let add = |sum: &mut Option<f64>, term: &Term, ns: Option<f64>| {
        *sum = sum.zip(ns).map(|(sum, ns)| sum + term.count * ns * 1e-9);
    };
    for term in terms {
        let price = list.find(&term.name, term.variant.as_deref());
        let ns = price.and_then(Price::typical_ns);
        if ns.is_none() {
            let none = || match list.unit {
                Unit::Nanoseconds => "not in this list".to_owned(),
                other => format!("this list is in {}, not in nanoseconds", other.name()),
            };
            let why = price.and_then(|p| p.not_measured.clone()).unwrap_or_else(none);
            projected.not_measured.push(crate::host::NotMeasured { what: term.id(), why });
        }
        projected.seconds.push(ns.map(|ns| term.count * ns * 1e-9));
        projected.rows.push(price.filter(|_| ns.is_some()).map(Price::id));
        add(&mut total, term, ns);
        add(&mut low, term, price.and_then(|p| p.low_ns));
        add(&mut high, term, price.and_then(|p| p.high_ns));
    }
    Projected { total_s: total, low_s: low, high_s: high, ..projected }
}

/// Two operations alone against both in one go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SumCheck {
    /// Name of the list.
    pub name: String,
    /// The rows of the parts.
    pub parts: Vec<String>,
    /// The row of the whole.
    pub whole: String,
    /// Sum of the parts, nanoseconds.
    pub sum_ns: f64,
    /// The whole as it was measured.
    pub whole_ns: f64,
    /// Whole minus sum.
    pub difference_ns: f64,
    /// That as a share of the whole.
    pub share: f64,
}

/// Whether fork alone and execve alone add up to fork+execve measured together: of a dynamic program, as compilers make
/// them, or else of the program that the list has. `None` where it lacks one of the three.
pub fn fork_execve(list: &PriceList) -> Option<SumCheck> {
    sum_check(list, &["fork/reaped", "execve/dynamic"], "fork+execve/reaped,dynamic")
        .or_else(|| sum_check(list, &["fork", "execve"], "fork+execve"))
}

/// Whether these parts add up to the whole. Each is `name` or `name/variant`.
pub fn sum_check(list: &PriceList, parts: &[&str], whole: &str) -> Option<SumCheck> {
    let find = |id: &str| {
        let (name, variant) = id.split_once('/').map_or((id, None), |(name, variant)| (name, Some(variant)));
        let price = list.find(name, variant)?;
        Some((price.id(), price.typical_ns()?))
    };
    let (whole, whole_ns) = find(whole)?;
    let parts = parts.iter().map(|part| find(part)).collect::<Option<Vec<_>>>()?;
    let sum_ns: f64 = parts.iter().map(|(_, ns)| ns).sum();
    let difference_ns = whole_ns - sum_ns;
    Some(SumCheck {
        name: list.name.clone(),
        parts: parts.into_iter().map(|(id, _)| id).collect(),
        whole,
        sum_ns,
        whole_ns,
        difference_ns,
        share: if whole_ns > 0.0 { difference_ns / whole_ns } else { 0.0 },
    })
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
        assert_eq!(lacking.machines[0].not_measured[0].what, "vfork");
        assert!(lacking.machines[0].seconds[1].is_some());
    }

    #[test]
    fn the_whole_against_its_parts() {
        let check = fork_execve(&machine(3e4, 7e5, 7.3e5)).unwrap();
        assert!(check.share.abs() < 0.03, "{check:?}");
        assert_eq!(check.parts, ["fork/reaped", "execve/chain"]);
        let check = fork_execve(&machine(3e4, 7e5, 1.46e6)).unwrap();
        assert!((check.share - 0.5).abs() < 0.03);
        assert_eq!(fork_execve(&list(Vec::new())), None);
    }

    proptest! {
        #[test]
        fn hostile_counts_never_panic(text in ".{0,200}") {
            let _ = parse(&text);
        }
    }
}
