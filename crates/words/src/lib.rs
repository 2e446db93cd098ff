//! What the program found out, in English. A statement arrives as a kind with its numbers and leaves as text; nothing reads,
//! cuts or compares that text again. Records hold both: the kind for programs, the text for people.

pub mod called;
pub mod check;
pub mod claims;
pub mod clean;
pub mod display;
pub mod exit;
pub mod fleet;
pub mod grid;
pub mod handing;
pub mod look;
pub mod metric;
pub mod missing;
pub mod phrases;
pub mod plan;
pub mod reason;
pub mod text;
pub mod units;
pub mod visit;
pub mod warning;
pub mod why;

use whyfaster_core::analysis::Analysis;
use whyfaster_core::missing::{NotMeasured, Obstacle};
use whyfaster_core::price::PriceList;
use whyfaster_core::price::compare::Comparison;
use whyfaster_core::price::project::Projection;
use whyfaster_core::record::Record;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_core::trace::report::TraceReport;
use whyfaster_core::warning::Warning;

use self::phrases::whole;

/// Something that holds statements, each of which gets its text.
pub trait Tell: Sized {
    /// Writes the text of every statement of which the kind is known; what an earlier version wrote keeps its own.
    fn tell(&mut self);

    /// The same, for what has just been made.
    #[must_use]
    fn told(mut self) -> Self {
        self.tell();
        self
    }
}

impl Tell for Warning {
    fn tell(&mut self) {
        (self.what, self.remedy) = warning::of(self, &whole);
    }
}

impl Tell for NotMeasured {
    fn tell(&mut self) {
        (self.what, self.why) = missing::of(self, &whole);
    }
}

impl<T: Tell> Tell for Vec<T> {
    fn tell(&mut self) {
        self.iter_mut().for_each(Tell::tell);
    }
}

impl Tell for Analysis {
    fn tell(&mut self) {
        self.warnings.tell();
        self.not_measured.tell();
    }
}

impl Tell for Record {
    /// What of the explanation was left out joins what else was not measured, once after each analysis.
    fn tell(&mut self) {
        self.skipped.tell();
        self.analysis.tell();
        why::write(&self.plan.alternatives, &mut self.why);
        self.why.traced.iter_mut().for_each(|run| run.report.tell());
        self.why.traced_batches.iter_mut().for_each(|batch| batch.report.tell());
        self.analysis.not_measured.extend(why::left_out(&self.why));
    }
}

impl Tell for TraceRecord {
    fn tell(&mut self) {
        self.report.tell();
        if let Some(schedule) = &mut self.schedule {
            schedule.facts.warnings.tell();
            schedule.facts.not_measured.tell();
        }
    }
}

impl Tell for PriceList {
    fn tell(&mut self) {
        self.warnings.tell();
        self.not_measured.tell();
        for price in &mut self.prices {
            tell_reason(&price.reason, &mut price.not_measured);
        }
    }
}

impl Tell for Comparison {
    fn tell(&mut self) {
        for row in &mut self.rows {
            tell_reason(&row.reason, &mut row.not_measured);
            for other in &mut row.others {
                tell_reason(&other.reason, &mut other.not_measured);
            }
        }
    }
}

impl Tell for Projection {
    fn tell(&mut self) {
        self.machines.iter_mut().for_each(|machine| machine.not_measured.tell());
    }
}

fn tell_reason(reason: &Option<Obstacle>, text: &mut Option<String>) {
    if let Some(reason) = reason {
        *text = Some(missing::reason(reason));
    }
}

impl Tell for TraceReport {
    fn tell(&mut self) {
        self.warnings.tell();
        self.not_measured.tell();
        for check in &mut self.checks {
            if let Some(kind) = check.kind {
                check.what = check::text(kind);
            }
        }
    }
}
