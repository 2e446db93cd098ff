//! Why one alternative is faster than another, and why no crossover is predicted.

use whyfaster_core::crossover::NotPredicted;
use whyfaster_core::reason::Reason;
use whyfaster_core::verdict::Verdict;

use crate::units::percent;

/// "faster by less work", "slower by using less of the machine".
pub fn reason(verdict: Verdict, reason: Reason) -> String {
    let faster = verdict == Verdict::Faster;
    let text = match reason {
        Reason::Work { .. } if faster => "faster by less work",
        Reason::Work { .. } => "slower by more work",
        Reason::WorkAndShare if faster => "faster by less work and by using more of the machine",
        Reason::WorkAndShare => "slower by more work and by using less of the machine",
        Reason::Share if faster => "faster by using more of the machine",
        Reason::Share => "slower by using less of the machine",
        Reason::ShareDespiteWork if faster => {
            "faster by using more of the machine, at the price of more work"
        }
        Reason::ShareDespiteWork => "slower by using less of the machine, in spite of less work",
    };
    match reason {
        Reason::Work { part: Some(part) } => format!(
            "{text}, but only to {}: the rest is waiting, and differs much from round to round",
            percent(part)
        ),
        _ => text.to_owned(),
    }
}

/// What stands in place of a predicted crossover.
pub fn not_predicted(why: NotPredicted) -> &'static str {
    match why {
        NotPredicted::BoundsDoNotCross => "none, the bounds do not cross",
        NotPredicted::WorksAlike => "none can be told, the works differ by less than their interval",
        NotPredicted::WorksUnknown => {
            "none can be told, the works have no interval (too few rounds, or no CPU time was counted)"
        }
        NotPredicted::NoneAlone => "none can be told, no copy was measured alone; give --load 1 as well",
    }
}
