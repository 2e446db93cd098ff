//! Whether parts that are measured alone cost together what the whole costs: fork and execve against fork+execve.
//!
//! The interval is that of the paired repetitions (`paired`). Three things leave the question open whatever it says:
//! a part that costs much more than the whole, which cannot be; an interval that reaches much further to one side than to
//! the other, which is the mark of disturbed repetitions; and a crowd on the machine, for the parts wait for a CPU as often
//! as they like.

use serde::Serialize;

use super::list::{Price, PriceList};
use super::paired::{Lacking, Paired};
use crate::missing::Crowd;
use crate::verdict::Verdict;

/// Up to this share of the whole, parts and whole cost the same: what the articles call so.
pub const WITHIN: f64 = 0.1;

/// An interval is lopsided if it reaches this many times as far to one side as to the other.
const LOPSIDED: f64 = 4.0;

/// Operations alone against all of them in one go.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Lower end of the interval of the share; null where a source tells no spread, or with too few repetitions.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Same: within a tenth of the whole. Slower: the whole costs more than its parts; faster: less. Null where a source tells
    /// no spread.
    pub verdict: Option<Verdict>,
    /// Why it is undecided.
    #[serde(rename = "because")]
    pub doubt: Option<Doubt>,
}

/// Why it is undecided whether parts and whole cost the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Doubt {
    /// There are too few repetitions.
    Repetitions(Lacking),
    /// A part costs more than all of the whole, which cannot be.
    PartAboveWhole {
        /// The part.
        part: String,
    },
    /// The repetitions lie far out to one side.
    OneSided,
    /// The repetitions do not say what the typical prices say.
    NotTypical,
    /// The machine was crowded, and parts wait for a CPU as often as they like.
    Crowded(Crowd),
}

/// Whether fork alone and execve alone add up to fork+execve measured together: of a dynamic program, as compilers make
/// them, or else of the program that the list has. `None` where it lacks one of the three.
pub fn fork_execve(list: &PriceList) -> Option<SumCheck> {
    let alpha = 1.0 - list.confidence;
    let check = |parts: &[&str], whole| sum_check(list, parts, whole, WITHIN, alpha);
    check(&["fork/reaped", "execve/dynamic"], "fork+execve/reaped,dynamic")
        .or_else(|| check(&["fork", "execve"], "fork+execve"))
}

/// Whether these parts add up to the whole, within a share of it, at error probability `alpha`. Each is `name` or
/// `name/variant`.
pub fn sum_check(list: &PriceList, parts: &[&str], whole: &str, within: f64, alpha: f64) -> Option<SumCheck> {
    let find = |id: &str| {
        let (name, variant) = id.split_once('/').map_or((id, None), |(name, variant)| (name, Some(variant)));
        let price = list.find(name, variant)?;
        Some((price, price.typical_ns()?))
    };
    let (whole, whole_ns) = find(whole)?;
    let parts = parts.iter().map(|part| find(part)).collect::<Option<Vec<_>>>()?;
    let sum_ns: f64 = parts.iter().map(|(_, ns)| ns).sum();
    let difference_ns = whole_ns - sum_ns;
    let mut check = SumCheck {
        name: list.name.clone(),
        parts: parts.iter().map(|(price, _)| price.id()).collect(),
        whole: whole.id(),
        sum_ns,
        whole_ns,
        difference_ns,
        share: if whole_ns > 0.0 { difference_ns / whole_ns } else { 0.0 },
        low: None,
        high: None,
        verdict: None,
        doubt: None,
    };
    let rows: Vec<&Price> = std::iter::once(whole).chain(parts.iter().map(|(price, _)| *price)).collect();
    let shares = Paired::of(list, &rows, |ns| 1.0 - ns[1..].iter().sum::<f64>() / ns[0]);
    let Some(found) = shares.estimate(alpha) else { return Some(check) };
    (check.low, check.high) = found.interval.unzip();
    let impossible = parts.iter().find(|(_, ns)| *ns > whole_ns * (1.0 + within));
    check.doubt = match found.interval {
        None => Some(Doubt::Repetitions(found.lacking(within, alpha))),
        Some(_) if impossible.is_some() => {
            impossible.map(|(part, _)| Doubt::PartAboveWhole { part: part.id() })
        }
        Some(ends) => lopsided(ends, found.value, check.share, within)
            .or_else(|| Some(Doubt::Crowded(list.fingerprint.crowd()?))),
    };
    let verdict = match found.interval.filter(|_| check.doubt.is_none()) {
        Some((low, high)) if -within <= low && high <= within => Verdict::Same,
        Some((low, _)) if low > 0.0 => Verdict::Slower,
        Some((_, high)) if high < 0.0 => Verdict::Faster,
        _ => Verdict::Undecided,
    };
    if verdict == Verdict::Undecided && check.doubt.is_none() {
        let bound = if found.value.abs() < within { within.copysign(found.value) } else { 0.0 };
        check.doubt = Some(Doubt::Repetitions(found.lacking(bound, alpha)));
    }
    check.verdict = Some(verdict);
    Some(check)
}

/// Why an interval says little, if it does: it is lopsided, or the typical prices say something else.
fn lopsided((low, high): (f64, f64), middle: f64, share: f64, within: f64) -> Option<Doubt> {
    let (below, above) = (middle - low, high - middle);
    let (short, long) = (below.min(above), below.max(above));
    if long > within && long > LOPSIDED * short {
        return Some(Doubt::OneSided);
    }
    let outside = share < low - WITHIN || share > high + WITHIN;
    outside.then_some(Doubt::NotTypical)
}

impl SumCheck {
    /// Whether parts and whole differ by more than this share, the whole interval on one side of it.
    pub fn beyond(&self, within: f64) -> bool {
        let off = self.low.is_some_and(|low| low > within) || self.high.is_some_and(|high| high < -within);
        off && self.doubt.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{list, row, samples};
    use super::*;

    fn machine(repetitions: u32, fork: f64, execve: f64, both: f64) -> PriceList {
        list(vec![
            (row("process", "fork", "reaped"), samples(repetitions, 4, fork)),
            (row("process", "execve", "chain"), samples(repetitions, 4, execve)),
            (row("process", "fork+execve", "parent"), samples(repetitions, 4, fork)),
            (row("process", "fork+execve", "reaped"), samples(repetitions, 4, both)),
        ])
    }

    #[test]
    fn the_whole_against_its_parts() {
        let check = |both| fork_execve(&machine(6, 3e4, 7e5, both)).unwrap();
        let same = check(7.3e5);
        assert!(same.share.abs() < 0.03, "{same:?}");
        assert_eq!(
            (same.parts.clone(), same.verdict),
            (vec!["fork/reaped".into(), "execve/chain".into()], Some(Verdict::Same))
        );
        let dearer = check(1.46e6);
        assert!(
            (dearer.share - 0.5).abs() < 0.03 && dearer.low.unwrap() < 0.51 && dearer.high.unwrap() > 0.49
        );
        assert_eq!(
            (dearer.verdict, dearer.beyond(0.1), dearer.beyond(0.6)),
            (Some(Verdict::Slower), true, false)
        );
        assert_eq!(fork_execve(&list(Vec::new())), None);
    }

    #[test]
    fn what_cannot_be_and_what_is_not_known_decides_nothing() {
        // A part that costs four times the whole, in every repetition.
        let check = fork_execve(&machine(12, 3e4, 1.62e6, 4.14e5)).unwrap();
        assert_eq!((check.verdict, check.beyond(0.1)), (Some(Verdict::Undecided), false));
        assert_eq!(check.doubt, Some(Doubt::PartAboveWhole { part: "execve/chain".into() }));
        let few = fork_execve(&machine(5, 3e4, 7e5, 7.3e5)).unwrap();
        assert_eq!((few.verdict, few.low), (Some(Verdict::Undecided), None));
        let lacking = Lacking { repetitions: 5, needed: Some(6) };
        assert_eq!(few.doubt, Some(Doubt::Repetitions(lacking)));
        let mut crowded = machine(12, 3e4, 7e5, 1.46e6);
        crowded.fingerprint.others_during = Some(0.4);
        let crowded = fork_execve(&crowded).unwrap();
        assert_eq!(crowded.verdict, Some(Verdict::Undecided));
        assert_eq!(crowded.doubt, Some(Doubt::Crowded(Crowd { share: 0.4, stolen: false })));
    }

    #[test]
    fn a_lopsided_interval_decides_nothing() {
        let mut noisy = machine(9, 3e4, 7e5, 7.3e5);
        // Some repetitions of the whole were held up: the whole seems to cost up to forty times its parts.
        for series in noisy.samples.iter_mut().filter(|s| s.row == 3 && s.repetition > 3) {
            series.elapsed_ns.iter_mut().for_each(|ns| *ns *= 40.0);
        }
        noisy.reprice();
        let check = fork_execve(&noisy).unwrap();
        assert_eq!((check.verdict, check.beyond(0.1)), (Some(Verdict::Undecided), false), "{check:?}");
    }
}
