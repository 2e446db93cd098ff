//! What an experiment is made from, and the change that it makes.

use super::statement::Edit;
use crate::plan::Shell;
use crate::trace::report::PathRow;
use crate::why::facts::Side;
use crate::why::input::ExplainInput;
use crate::why::medians::median;
use crate::why::planned::{Machine, Test, Variation};
use crate::why::report::{Account, Finding, Traced, Why};

/// A change that can win less of a finding than this does not test it.
pub(in crate::why) const SOME: f64 = 0.5;

/// What an experiment is made from.
pub(in crate::why) struct ExperimentContext<'a> {
    pub finding: &'a Finding,
    pub given: &'a ExplainInput<'a>,
    pub machine: &'a Machine,
    pub slow: &'a Side,
    pub fast: &'a Side,
    /// Where the time of the faster one goes.
    pub fast_account: Option<&'a Account>,
    /// Indices of the slower and the faster one in the plan.
    pub places: (usize, usize),
}

/// A change that removes a cause from the slower alternative, or puts it into the faster one.
pub(in crate::why) struct Change {
    pub edit: Edit,
    pub put_in: bool,
    /// If not, a difference that stays refutes nothing.
    pub sure: bool,
    pub test: Test,
}

impl<'a> ExperimentContext<'a> {
    pub(super) fn of(
        finding: &'a Finding,
        (why, given): (&'a Why, &'a ExplainInput<'a>),
        machine: &'a Machine,
        sides: &'a [Side],
    ) -> Option<Self> {
        let place = |name: &str| sides.iter().position(|side| side.name == name);
        let places = (place(&finding.alternative)?, place(&finding.against)?);
        let fast_account = why.accounts.iter().find(|it| it.alternative == finding.against);
        let (slow, fast) = (&sides[places.0], &sides[places.1]);
        Some(Self { finding, given, machine, slow, fast, fast_account, places })
    }

    pub(in crate::why) fn slow_line(&self) -> &'a str {
        &self.given.plan.alternatives[self.places.0].command
    }

    pub(in crate::why) fn fast_line(&self) -> &'a str {
        &self.given.plan.alternatives[self.places.1].command
    }

    /// The shell that command lines go to, if they do.
    pub(in crate::why) fn shell(&self) -> Option<&'a [String]> {
        match &self.given.plan.shell {
            Shell::Command(words) => Some(words),
            Shell::None => None,
        }
    }

    /// Seconds on the slower side's path.
    pub(in crate::why) fn path_s(&self, wanted: impl Fn(&PathRow) -> bool) -> f64 {
        let mine = self.given.traced.iter().filter(|it| it.alternative == self.places.0);
        let of = |it: &Traced| -> f64 {
            it.report.critical_path.iter().filter(|row| wanted(row)).map(|row| row.seconds).sum()
        };
        median(&mine.map(of).collect::<Vec<_>>())
    }
}

/// A change of the slower alternative's command line alone.
pub(in crate::why) fn instead(original: &str, changed: String, edit: Edit, sure: bool) -> Change {
    let test = Test { control: Variation::of(original), changed: Variation::of(changed) };
    Change { edit, put_in: false, sure, test }
}
