//! What there is to know of a cause. Each file of this directory has one of these.

use super::super::categories::Category;
use super::super::experiments::{Change, ExperimentContext, Untestable};
use super::super::facts::Side;
use super::super::kinds::work_kind;
use super::super::report::Account;
use super::super::statement::{Fact, Measure};
use crate::trace::command::CommandName;
use crate::trace::report::{PathKind, PathRow, WorkKind, WorkRow};

/// A cause: what of a run may belong to it, what is stated of it, and how it is put to the test.
pub(in crate::why) struct Definition {
    /// Categories of time that are this cause, whatever the two sides did.
    pub categories: &'static [Category],
    /// Whether a row of the critical path may belong to it. The flag: both sides make as many processes, so their children compute.
    pub on_path: fn(&PathRow, bool) -> bool,
    /// The same of a row of the CPU time.
    pub in_work: fn(&WorkRow, bool) -> bool,
    /// Whether the CPU time tells the command that does most of it, and the path only where that says nothing.
    pub by_work: bool,
    /// Whether it is told by the functions in which it was found, too.
    pub in_code: bool,
    /// What shows it beside the noise of wall times.
    pub seen: Seen,
    /// The timed runs measure it themselves, with no need for counts.
    pub timed: bool,
    /// What is counted on both sides.
    pub counted: &'static [Count],
    /// What a finding states.
    pub fact: fn(&About<'_>) -> Fact,
    /// The change that removes it, or puts it into the faster alternative.
    pub change: fn(&ExperimentContext<'_>) -> Result<Change, Untestable>,
    /// The seconds that this change can win.
    pub winnable_s: fn(&ExperimentContext<'_>) -> f64,
}

/// What shows a cause where wall times are noisy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::why) enum Seen {
    /// Counts and CPU time.
    CpuTime,
    /// A wait whose reason is seen.
    Wait,
    /// Nothing.
    Nothing,
}

/// A count, and where it is.
pub(in crate::why) type Count = (Measure, fn(&Side) -> f64);

/// What cannot be tested and shows nowhere: the other causes name what differs.
pub(super) const BASE: Definition = Definition {
    categories: &[],
    on_path: |_, _| false,
    in_work: |_, _| false,
    by_work: false,
    in_code: false,
    seen: Seen::Nothing,
    timed: false,
    counted: &[],
    fact: |_| Fact::Unexplained { most: None, seconds: 0.0 },
    change: |_| Err(Untestable::NoCause),
    winnable_s: |it| it.finding.seconds,
};

impl Definition {
    /// Whether CPU time that a program spent on this belongs to it.
    pub(in crate::why) fn is_work(&self, kind: WorkKind) -> bool {
        self.has_work(&CommandName::default(), kind, false)
    }

    /// Whether CPU time that this command spent on this belongs to it. `children`: as above.
    pub(in crate::why) fn has_work(&self, command: &CommandName, kind: WorkKind, children: bool) -> bool {
        let row = WorkRow {
            command: command.clone(),
            kind,
            seconds: 0.0,
            count: None,
            price_s: None,
            priced_s: None,
            estimated: false,
        };
        (self.in_work)(&row, children)
    }
}

/// What a finding is about.
pub(in crate::why) struct About<'a> {
    pub definition: &'a Definition,
    pub seconds: f64,
    /// Its seconds are of observed runs.
    pub observed: bool,
    pub slow: &'a Side,
    pub fast: &'a Side,
    pub accounts: (&'a Account, &'a Account),
}

impl About<'_> {
    /// Rows of the slower one's path.
    pub(super) fn slow_path(&self, wanted: impl Fn(&PathRow) -> bool) -> impl Iterator<Item = &PathRow> {
        self.accounts.0.critical_path.iter().filter(move |row| wanted(row))
    }

    /// How much longer the slower one waits, where its calls of this kind wait: the rest is the kernel's own code. Counts do not tell the two apart.
    pub(super) fn waits_s(&self, kind: WorkKind) -> Option<f64> {
        let runs = |account: &Account| -> f64 {
            let rows = account.critical_path.iter().filter(|row| in_kernel(row, &[kind]));
            rows.map(|row| row.seconds).sum()
        };
        self.observed.then(|| self.seconds - (runs(self.accounts.0) - runs(self.accounts.1)))
    }
}

/// Whether a row of the path runs in the kernel for one of these kinds of work.
pub(super) fn in_kernel(row: &PathRow, kinds: &[WorkKind]) -> bool {
    row.kind == PathKind::Kernel && work_kind(row).is_some_and(|it| kinds.contains(&it))
}
