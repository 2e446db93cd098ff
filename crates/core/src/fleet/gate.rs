//! `--fail-if` of a fleet: whether something in it is above a limit. As with the gates of a comparison ([`crate::gate`]), the whole interval
//! decides, and what was not measured never passes.

use super::change::ChangeReport;
use super::effects::{Effect, Tally};
use super::outliers::Pattern;
use super::questions::{Answered, Counted, Question};
use super::{PriceReport, Row};
use crate::gate::{Gate, Held, decide};
use crate::verdict::Verdict;

/// What a fleet may be at most. A fraction of 0.05 is 5%.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// So far a machine may be off its group, on either side.
    Outlier(f64),
    /// So much longer than the baseline an alternative may take on any machine; below 0, it has to take less.
    OnMachine(f64),
    /// The same of the effect over all machines.
    Combined(f64),
    /// On so many machines an alternative may be slower.
    Slower(Machines),
    /// On so many machines it may not be faster.
    NotFaster(Machines),
}

/// Some machines of a fleet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Machines {
    /// So many.
    Count(f64),
    /// This share of those that answered.
    Share(f64),
}

impl Limit {
    /// Whether it is decided on what every machine says: a count of verdicts is not enough.
    pub fn needs_machines(self) -> bool {
        matches!(self, Self::OnMachine(_))
    }
}

/// What is above a limit.
#[derive(Clone, Debug, PartialEq)]
pub enum Excess {
    /// A machine is off its group.
    Outlier {
        /// Its name.
        machine: String,
        /// In these rows.
        pattern: Pattern,
        /// So many times.
        factor: f64,
    },
    /// An alternative takes too long on a machine.
    OnMachine {
        /// What was asked.
        question: Question,
        /// The machine.
        machine: String,
        /// So many times as long.
        ratio: f64,
    },
    /// An alternative takes too long over all machines.
    Combined {
        /// What was asked.
        question: Question,
        /// So many times as long.
        ratio: f64,
    },
    /// An alternative is slower, or not faster, on too many machines.
    Machines {
        /// What was asked.
        question: Question,
        /// On so many.
        count: usize,
        /// Of so many.
        of: usize,
    },
}

/// A price that became dearer than allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Dearer {
    /// The row.
    pub row: Row,
    /// After over before.
    pub ratio: f64,
}

/// Holds what a fleet says against a limit. `counted` has every question, `answered` those whose machines are known.
pub fn limit(
    limit: Limit,
    prices: Option<&PriceReport>,
    answered: &[Answered],
    counted: &[Counted],
) -> Gate<Excess> {
    match limit {
        Limit::Outlier(allowed) => outlier(prices, allowed),
        Limit::OnMachine(allowed) => {
            decide(answered.iter().map(|it| on_machines(it, allowed)), 1.0 + allowed)
        }
        Limit::Combined(allowed) => decide(counted.iter().map(combined), 1.0 + allowed),
        Limit::Slower(most) => counts(counted, most, |tally| (tally.slower, tally.slower + tally.undecided)),
        Limit::NotFaster(most) => counts(counted, most, |tally| {
            let told = tally.slower + tally.same;
            (told, told + tally.undecided)
        }),
    }
}

/// A machine that is off more than allowed stands out: the rate of wrong names holds for wrong failures. One that does not stand out passes
/// only if it cannot be so far off.
fn outlier(prices: Option<&PriceReport>, allowed: f64) -> Gate<Excess> {
    let Some(report) = prices else { return Gate::Inconclusive };
    // 1.25x and 0.8x are equally far off.
    let far = |low: Option<f64>, high: Option<f64>| {
        let (low, high) = (low?, high?);
        let nearest = if low > 1.0 {
            low
        } else if high < 1.0 {
            high.recip()
        } else {
            1.0
        };
        Some((nearest, high.max(low.recip())))
    };
    let named = report.outliers.iter().map(|it| {
        let (low, high) = far(it.low, it.high)?;
        let (machine, pattern) = (it.machine.clone(), it.pattern.clone());
        Some((Excess::Outlier { machine, pattern, factor: it.factor }, (Some(low), Some(high))))
    });
    let all = report.machines.iter().zip(&report.distances).map(|(machine, distance)| {
        let distance = (*distance)?;
        let (_, high) = far(distance.low, distance.high)?;
        let pattern = Pattern::Everything;
        let excess = Excess::Outlier { machine: machine.clone(), pattern, factor: distance.ratio };
        Some((excess, (None, Some(high))))
    });
    decide(std::iter::once(named.chain(all).collect()), 1.0 + allowed)
}

/// As in a comparison: what counts as the same is never too slow. Where the alternative has to take less, the interval alone says so.
fn on_machines(answered: &Answered, allowed: f64) -> Held<Excess> {
    let of = |it: &Effect| {
        let excess = Excess::OnMachine {
            question: answered.question.clone(),
            machine: it.machine.clone(),
            ratio: it.ratio.ratio,
        };
        let (low, high) = (it.ratio.low, it.ratio.high);
        let ends = match it.verdict {
            _ if allowed < 0.0 => (low, high),
            Verdict::Same => (None, high.map(|high| high.min(1.0))),
            verdict => (low.filter(|_| verdict == Verdict::Slower), high),
        };
        Some((excess, ends))
    };
    answered.report.machines.iter().map(of).collect()
}

fn combined(counted: &Counted) -> Held<Excess> {
    let of = |it: super::effects::Combined| {
        let excess = Excess::Combined { question: counted.question.clone(), ratio: it.ratio.ratio };
        (excess, (it.ratio.low, it.ratio.high))
    };
    // Who has no interval (it ran out of time, say) is in none, and what was not measured never passes.
    let missing = counted.tally.combined.is_some_and(|it| it.machines < counted.machines);
    std::iter::once(counted.tally.combined.map(of)).chain(missing.then_some(None)).collect()
}

/// Holds numbers of machines against a limit: those that are sure, and those that there may be.
fn counts(counted: &[Counted], most: Machines, of: fn(&Tally) -> (usize, usize)) -> Gate<Excess> {
    let scale = |it: &Counted| match most {
        Machines::Count(_) => 1.0,
        Machines::Share(_) => it.machines.max(1) as f64,
    };
    let limit = match most {
        Machines::Count(most) | Machines::Share(most) => most,
    };
    let each = counted.iter().map(|it| {
        let (sure, perhaps) = of(&it.tally);
        let excess = Excess::Machines { question: it.question.clone(), count: sure, of: it.machines };
        let ends = [sure, perhaps].map(|count| Some(count as f64 / scale(it)));
        vec![Some((excess, (ends[0], ends[1])))]
    });
    decide(each, limit)
}

/// Whether a price became dearer than allowed. What changed by no more than the delta of the report is not dearer.
pub fn dearer(report: &ChangeReport, allowed: f64) -> Gate<Dearer> {
    let of = |it: &super::change::RowChange| {
        let dearer = Dearer { row: it.row.clone(), ratio: it.ratio.ratio };
        Some((dearer, (it.ratio.low.filter(|_| it.changed), it.ratio.high)))
    };
    decide(std::iter::once(report.rows.iter().map(of).collect()), 1.0 + allowed.max(report.delta))
}

#[cfg(test)]
mod tests {
    use super::super::effects::{Combined, EffectReport, GroupEffect};
    use super::super::simulated::{Off, Planted, fleet};
    use super::super::split::Group;
    use super::super::{change, report};
    use super::*;
    use crate::verdict::Ratio;

    fn said<T>(gate: Gate<T>) -> &'static str {
        match gate {
            Gate::Passed => "passed",
            Gate::Failed(_) => "failed",
            Gate::Inconclusive => "undecided",
        }
    }

    #[test]
    fn a_machine_off_its_group_fails_and_says_in_which_rows() {
        let planted = Planted { machines: 12, off: 1, by: 0.7, only: Off::OtherCpu, ..Planted::default() };
        let broken = report(&fleet(&planted));
        let Gate::Failed(Excess::Outlier { machine, pattern, .. }) =
            limit(Limit::Outlier(0.2), Some(&broken), &[], &[])
        else {
            panic!("it has to fail")
        };
        assert!(planted.is_off(&machine) && pattern == Pattern::OtherCpu);
        let of = |report: &PriceReport, allowed| said(limit(Limit::Outlier(allowed), Some(report), &[], &[]));
        // It is 2.01x: within its interval lies 2x, and 3x is far above.
        assert_eq!((of(&broken, 1.0), of(&broken, 2.0)), ("undecided", "passed"));
        let sound = report(&fleet(&Planted { machines: 12, ..Planted::default() }));
        assert_eq!(of(&sound, 0.2), "passed");
        // So little that noise alone may be more.
        assert_eq!(of(&sound, 0.001), "undecided");
        let cheap = report(&fleet(&Planted { machines: 12, off: 1, by: -0.7, ..Planted::default() }));
        assert_eq!(of(&cheap, 0.2), "failed", "on either side");
    }

    #[test]
    fn who_cannot_be_judged_does_not_pass() {
        let pair = report(&fleet(&Planted { machines: 2, ..Planted::default() }));
        assert_eq!(said(limit(Limit::Outlier(0.2), Some(&pair), &[], &[])), "undecided");
        assert_eq!(said(limit(Limit::Outlier(0.2), None, &[], &[])), "undecided");
    }

    #[test]
    fn sound_fleets_seldom_fail() {
        let failed = (0..40u64).filter(|seed| {
            let planted = Planted { machines: 40, seed: 500 + seed, shared: 0.02, ..Planted::default() };
            said(limit(Limit::Outlier(0.05), Some(&report(&fleet(&planted))), &[], &[])) == "failed"
        });
        assert!(failed.count() < 7);
    }

    fn question() -> Question {
        Question {
            alternative: "b".into(),
            command: "b".into(),
            baseline: "a".into(),
            baseline_command: "a".into(),
            load: 1,
            arrivals: None,
        }
    }

    /// Machines with these intervals.
    fn answered(machines: &[(f64, f64, Verdict)]) -> Answered {
        let effect = |(low, high, verdict): &(f64, f64, Verdict)| Effect {
            machine: "m".into(),
            ratio: Ratio { ratio: f64::sqrt(low * high), low: Some(*low), high: Some(*high) },
            verdict: *verdict,
        };
        let count = |verdict| machines.iter().filter(|it| it.2 == verdict).count();
        let ratio = Ratio { ratio: 1.0, low: Some(0.9), high: Some(1.1) };
        let combined = Some(Combined {
            ratio,
            next: None,
            between: 0.0,
            heterogeneity: 0.0,
            p_value: 1.0,
            machines: machines.len(),
        });
        let tally = Tally {
            combined,
            faster: count(Verdict::Faster),
            slower: count(Verdict::Slower),
            same: count(Verdict::Same),
            undecided: count(Verdict::Undecided),
        };
        let group = Group { values: Vec::new(), machines: (0..machines.len()).collect() };
        let report = EffectReport {
            machines: machines.iter().map(effect).collect(),
            combined,
            splits: Vec::new(),
            groups: vec![GroupEffect { group, tally }],
        };
        Answered { question: question(), report }
    }

    fn of(machines: &[(f64, f64, Verdict)], asked: Limit) -> &'static str {
        let answered = [answered(machines)];
        said(limit(asked, None, &answered, &answered.each_ref().map(Counted::of)))
    }

    #[test]
    fn every_machine_is_held_against_the_limit() {
        let won = (0.7, 0.9, Verdict::Faster);
        let (same, lost) = ((0.99, 1.01, Verdict::Same), (1.1, 1.3, Verdict::Slower));
        let open = (0.9, 1.2, Verdict::Undecided);
        assert_eq!(of(&[won, won], Limit::OnMachine(0.0)), "passed");
        assert_eq!(of(&[won, same], Limit::OnMachine(0.0)), "passed", "the same is never too slow");
        assert_eq!(of(&[won, lost], Limit::OnMachine(0.05)), "failed");
        assert_eq!(of(&[won, lost], Limit::OnMachine(0.5)), "passed");
        assert_eq!(of(&[won, open], Limit::OnMachine(0.05)), "undecided");
        assert_eq!(of(&[open, lost], Limit::OnMachine(0.05)), "failed", "a failure goes before what is open");
        assert_eq!(of(&[won, won], Limit::OnMachine(-0.05)), "passed");
        assert_eq!(of(&[won, same], Limit::OnMachine(-0.05)), "failed", "it has to take less");
        assert_eq!(of(&[won, won], Limit::OnMachine(-0.2)), "undecided");
        assert_eq!(said(limit(Limit::OnMachine(0.0), None, &[], &[])), "undecided", "nobody answered");
    }

    #[test]
    fn machines_are_counted_by_their_verdicts() {
        let won = (0.7, 0.9, Verdict::Faster);
        let (same, lost) = ((0.99, 1.01, Verdict::Same), (1.1, 1.3, Verdict::Slower));
        let open = (0.9, 1.2, Verdict::Undecided);
        let none = Machines::Count(0.0);
        assert_eq!(of(&[won, won], Limit::NotFaster(none)), "passed");
        assert_eq!(of(&[won, same], Limit::NotFaster(none)), "failed");
        assert_eq!(of(&[won, same], Limit::Slower(none)), "passed");
        assert_eq!(of(&[won, open], Limit::NotFaster(none)), "undecided");
        assert_eq!(of(&[won, open], Limit::NotFaster(Machines::Count(1.0))), "passed");
        assert_eq!(of(&[won, won, won, lost], Limit::Slower(Machines::Share(0.25))), "passed");
        assert_eq!(of(&[won, won, won, lost], Limit::Slower(Machines::Share(0.2))), "failed");
    }

    #[test]
    fn the_combined_effect_is_held_by_its_interval() {
        let of = |allowed| of(&[(0.9, 1.1, Verdict::Undecided)], Limit::Combined(allowed));
        assert_eq!((of(0.2), of(0.0), of(-0.2)), ("passed", "undecided", "failed"));
        // One machine hung.
        let lacking = |allowed| {
            let mut counted = Counted::of(&answered(&[(0.9, 1.1, Verdict::Undecided)]));
            counted.machines += 1;
            said(limit(Limit::Combined(allowed), None, &[], &[counted]))
        };
        assert_eq!((lacking(0.2), lacking(-0.2)), ("undecided", "failed"));
    }

    #[test]
    fn a_dearer_price_fails_by_its_interval() {
        let of = |by: f64, machines: usize, allowed: f64| {
            let seeded = |seed| fleet(&Planted { machines, seed, ..Planted::default() });
            let (before, mut after) = (seeded(1), seeded(2));
            after.costs[3].iter_mut().for_each(|it| *it = it.map(|ln| ln + by));
            let gate = dearer(&change::change(&before, &after, 0.05), allowed);
            if let Gate::Failed(found) = &gate {
                assert_eq!(found.row, before.rows[3]);
            }
            said(gate)
        };
        assert_eq!((of(0.3, 60, 0.1), of(0.3, 60, 0.5), of(0.0, 60, 0.1)), ("failed", "passed", "passed"));
        assert_eq!(of(-0.3, 60, 0.1), "passed", "cheaper is not dearer");
        assert_eq!(of(0.3, 4, 0.1), "undecided", "four machines give no interval");
    }
}
