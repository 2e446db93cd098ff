//! How a trace is shown: what is said beside the report, and how its tables are cut.

use whyfaster_core::plan::{Because, User};
use whyfaster_core::trace::plan::Target;
use whyfaster_core::trace::record::{EndedBy, TraceRecord};
use whyfaster_words::display::{By, CallSort, TOP};
use whyfaster_words::units::Scale;

/// What is shown beside the report, and how the table of calls is cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The command line, or what was followed.
    pub command: String,
    /// As whom it ran, where that is not obvious.
    pub as_whom: Option<String>,
    /// How it ended: its exit status, or minus the signal; `None`: it goes on, or was not started here.
    pub exit_status: Option<i32>,
    /// What of ours ended it, and after how many seconds.
    pub ended_by: Option<(EndedBy, f64)>,
    /// It ran already when observing began, so that the wall time is that of the observation.
    pub followed: bool,
    /// Whose calls make one row.
    pub by: By,
    /// Order of the rows.
    pub sort: CallSort,
    /// Rows of every table at most; 0 is all of them.
    pub top: usize,
}

impl Shown {
    /// The usual view of this command.
    pub fn of(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            as_whom: None,
            exit_status: None,
            ended_by: None,
            followed: false,
            by: By::default(),
            sort: CallSort::default(),
            top: TOP,
        }
    }

    /// The usual view of a record.
    pub fn of_record(record: &TraceRecord) -> Self {
        let wall_s = record.report.wall_s;
        let after = |by| match (by, record.plan.duration_s) {
            (EndedBy::Duration, Some(after_s)) => (by, after_s),
            _ => (by, wall_s),
        };
        Self {
            as_whom: record.plan.user.as_ref().and_then(whom),
            exit_status: record.exit_status,
            ended_by: record.ended_by.filter(|_| wall_s > 0.0).map(after),
            followed: !matches!(record.plan.target, Target::Command(_)),
            ..Self::of(record.plan.target.words())
        }
    }

    pub(super) fn rows(&self) -> usize {
        if self.top == 0 { usize::MAX } else { self.top }
    }
}

/// As whom a command ran, where that is not who called whyfaster.
fn whom(user: &User) -> Option<String> {
    let name = user.name.clone().unwrap_or_else(|| format!("uid {}", user.uid));
    match user.because {
        Because::Own => None,
        Because::Sudo => Some(format!("{name} (who called sudo)")),
        Because::AsRoot => Some(format!("{name} (--as-root)")),
    }
}

/// A time of a column whose unit its largest value decides: small ones end at six decimals, as in strace.
pub(super) fn number(scale: Scale, seconds: f64) -> String {
    let text = scale.number(seconds);
    let shown = seconds / scale.seconds;
    match shown.abs() {
        _ if text.len() <= 7 => text,
        below if below < 1e-6 => "<0.000001".to_owned(),
        _ => format!("{shown:.6}"),
    }
}
