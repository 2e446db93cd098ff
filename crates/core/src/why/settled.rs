//! Whether more observed rounds would say anything else: what a runner asks after a round.

use super::answer::is_of;
use super::cause::Cause;
use super::finding::LARGE;
use super::report::{Difference, Finding, Why};

/// A cause is known well enough when its interval reaches so far to either side, as a part of the difference that it explains: then 70% of
/// a difference is surely most of it.
pub const REACH_ENOUGH: f64 = 0.25;

/// A look that leaves more than this part of what was uncertain two looks before has gained nothing.
const GAINED: f64 = 0.9;

/// Looks after which it is asked whether they gain anything.
const BEFORE: usize = 4;

/// What the looks at an explanation showed so far.
#[derive(Clone, Debug, Default)]
pub struct Settling {
    /// How far the intervals of its causes reach, at each look; infinite where one has none.
    reaches: Vec<f64>,
    /// All of them surely are causes.
    sure: bool,
}

impl Settling {
    /// Another look, at the explanation after more rounds.
    pub fn look(&mut self, why: &Why) {
        let leading: Vec<Option<Leading>> = why.differences.iter().map(|it| leading(why, it)).collect();
        let reach = leading.iter().map(|it| it.map_or(f64::INFINITY, |it| it.reach)).fold(0.0, f64::max);
        self.sure = leading.iter().flatten().all(|it| it.sure);
        self.reaches.push(if leading.is_empty() { f64::INFINITY } else { reach });
    }

    /// The causes that are named are known well enough.
    pub fn settled(&self) -> bool {
        self.sure && self.reaches.last().is_some_and(|reach| *reach <= REACH_ENOUGH)
    }

    /// The last two looks have shown nothing that those before them had not.
    pub fn stuck(&self) -> bool {
        let (now, before) = match self.reaches[..] {
            [.., before, _, now] if self.reaches.len() >= BEFORE => (now, before),
            _ => return false,
        };
        now >= before * GAINED
    }

    /// How far the intervals reach by now, as a part of the difference; `None`: not known.
    pub fn reach(&self) -> Option<f64> {
        self.reaches.last().copied().filter(|reach| reach.is_finite())
    }
}

/// What is known of the causes that a difference is explained by.
#[derive(Clone, Copy, Debug)]
struct Leading {
    reach: f64,
    sure: bool,
}

/// Of the causes of this difference that are large enough to be named; `None` where there is none, or one has no interval.
fn leading(why: &Why, difference: &Difference) -> Option<Leading> {
    if difference.undecided {
        // What is said is for what the CPU time is needed, and every round says so.
        return Some(Leading { reach: 0.0, sure: true });
    }
    let named =
        |it: &&Finding| is_of(it, difference) && it.cause != Cause::Unexplained && it.share.abs() >= LARGE;
    let whole_s = difference.span_s.median.abs();
    let ends: Option<Vec<(f64, f64)>> =
        why.findings.iter().filter(named).map(|it| it.low.zip(it.high)).collect();
    let ends = ends.filter(|ends| !ends.is_empty() && whole_s > 0.0)?;
    let reach = ends.iter().map(|(low, high)| (high - low) / 2.0 / whole_s).fold(0.0, f64::max);
    // A small cause is sure before a large one is: where most is not explained yet, that is what is not known.
    let reach = reach.max(mostly_unexplained(why, difference).unwrap_or(0.0));
    Some(Leading { reach, sure: ends.iter().all(|(low, high)| low * high > 0.0) })
}

/// The part of a difference that no cause explains, where that is more than all causes do.
fn mostly_unexplained(why: &Why, difference: &Difference) -> Option<f64> {
    let of = |unexplained: bool| {
        let these = why.findings.iter().filter(|it| is_of(it, difference));
        these.filter(|it| (it.cause == Cause::Unexplained) == unexplained).map(|it| it.share).sum::<f64>()
    };
    Some(of(true)).filter(|share| *share > of(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::report::{PathKind, WorkKind};
    use crate::why::tests::fixture::{Scene, Trace};

    fn explained() -> Why {
        let a = Trace::new().runs("x", WorkKind::User, 0.04, 0);
        let b = Trace::new().runs("x", WorkKind::User, 0.05, 0).waits("x", PathKind::Sleep, None, 0.07);
        Scene::of(&a.0, &b.0).explain()
    }

    fn looked(why: &mut Why, halves: &[f64]) -> Settling {
        let mut settling = Settling::default();
        for half in halves {
            for finding in &mut why.findings {
                let by = half * why.differences[0].span_s.median.abs();
                (finding.low, finding.high) = (Some(finding.seconds - by), Some(finding.seconds + by));
            }
            settling.look(why);
        }
        settling
    }

    #[test]
    fn steady_rounds_settle_it_at_the_first_look() {
        let mut why = explained();
        let settling = looked(&mut why, &[0.05]);
        assert!(settling.settled() && (settling.reach().unwrap() - 0.05).abs() < 1e-9, "{settling:?}");
        assert!(!looked(&mut why, &[0.3]).settled());
        // Narrow enough, and one of them may be none.
        assert!(!looked(&mut why, &[0.2]).settled());
    }

    #[test]
    fn a_small_cause_that_is_sure_does_not_settle_what_is_mostly_unexplained() {
        let mut why = explained();
        assert_eq!(why.findings.len(), 2, "{:?}", why.findings);
        let (small, rest) = why.findings.split_at_mut(1);
        (small[0].share, rest[0].share, rest[0].cause) = (0.15, 0.85, Cause::Unexplained);
        let settling = looked(&mut why, &[0.05]);
        assert!(!settling.settled() && settling.reach() == Some(0.85), "{settling:?}");
    }

    #[test]
    fn what_has_no_interval_is_not_settled() {
        let mut why = explained();
        why.findings[0].low = None;
        let mut settling = Settling::default();
        settling.look(&why);
        assert!(!settling.settled() && settling.reach().is_none());
        let mut none = Settling::default();
        none.look(&Why::default());
        assert!(!none.settled() && none.reach().is_none());
        why.findings.clear();
        none.look(&why);
        assert!(!none.settled());
    }

    #[test]
    fn it_goes_on_while_it_narrows() {
        let mut why = explained();
        assert!(!looked(&mut why, &[0.9, 0.9, 0.9]).stuck(), "too early to say");
        assert!(!looked(&mut why, &[0.9, 0.8, 0.6, 0.5]).stuck());
        assert!(looked(&mut why, &[0.9, 0.6, 0.6, 0.58]).stuck());
        let mut nothing = Settling::default();
        (0..4).for_each(|_| nothing.look(&Why::default()));
        assert!(nothing.stuck());
    }
}
