//! What a study met beside its claims: commands left out, places, what was not compared or traced.

use serde::{Serialize, Serializer};
use whyfaster_core::claims::NotCompared;
use whyfaster_core::missing::NotMeasured;
use whyfaster_core::studied::{Kind, LeftOut};
use whyfaster_words::units::duration;
use whyfaster_words::{claims, missing};

use super::ladder::Wants;

/// What a file system does when it is read.
pub fn file_system(kind: Kind) -> &'static str {
    match kind {
        Kind::Encrypted => "an encrypted directory (fscrypt on ext4): kernel workers decrypt what is read",
        Kind::Compressed => "btrfs with compression: kernel workers decompress what is read",
        Kind::Plain => {
            "the file system that was there: no thread of the kernel works for its reads as in the article"
        }
    }
}

/// Commands left out as JSON: pairs of a name and why.
pub fn left_out<S: Serializer>(left_out: &[LeftOut], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(left_out.iter().map(|(name, why)| (name, claims::unfit(why))))
}

/// What traces could not see as JSON: a text each.
pub fn not_traced<S: Serializer>(not_traced: &[NotMeasured], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(not_traced.iter().map(missing::line))
}

/// Why there is no comparison as JSON: a text, or null.
pub fn not_compared<S: Serializer>(missing: &Option<NotCompared>, serializer: S) -> Result<S::Ok, S::Error> {
    missing.as_ref().map(claims::not_compared).serialize(serializer)
}

/// What an engine needs and this machine lacks, and what brings it.
pub fn lacks(missing: &[&Wants], apt: bool) -> String {
    let one = |need: &&Wants| {
        let lacks = if need.module.is_some() { "cannot be imported" } else { "is not installed" };
        format!("{} {lacks} ({})", need.name(), need.package(apt))
    };
    let all = missing.iter().map(one).collect::<Vec<_>>().join(", ");
    let fetched = missing.iter().all(|need| need.fetched_as(apt).is_some());
    if fetched { format!("{all}; --install fetches it") } else { all }
}

/// Why CPU time is not told.
pub const FEW_TICKS: &str = "all of them together are too few ticks of the kernel's clock, in which it keeps the time of processes that have ended";

/// Why an engine is not started.
pub const NO_TIME_LEFT: &str = "not started: starting the others took all of --max-time";

/// Why a burst is left out.
pub fn too_long(takes_s: f64, most_s: f64) -> String {
    format!(
        "one burst would take {}, and at most {} is meant for it; --full waits longer",
        duration(takes_s),
        duration(most_s)
    )
}
