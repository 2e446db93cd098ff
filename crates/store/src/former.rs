//! Records of earlier versions: what they called otherwise is brought to today's names while reading.

use serde::Deserialize;
use serde::de::IgnoredAny;
use whyfaster_core::missing::{NotMeasured, Quantity};
use whyfaster_core::record::Record;
use whyfaster_core::sample::SchedAccount;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_core::warning::Place;

/// What `accounts` held until explanations came: scheduling accounts, which are `sched_accounts` now.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    accounts: Vec<Either>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Either {
    Former(SchedAccount),
    Now(IgnoredAny),
}

/// A record of any version of this schema.
pub(super) fn record(bytes: &[u8]) -> serde_json::Result<Record> {
    let mut record: Record = serde_json::from_slice(bytes)?;
    if record.sched_accounts.is_empty() {
        let former = |it| match it {
            Either::Former(account) => Some(account),
            Either::Now(_) => None,
        };
        let head: Head = serde_json::from_slice(bytes)?;
        record.sched_accounts = head.accounts.into_iter().filter_map(former).collect();
    }
    name(&mut record.skipped);
    Ok(record)
}

/// A trace of any version of its schema.
pub(super) fn trace(bytes: &[u8]) -> serde_json::Result<TraceRecord> {
    let mut trace: TraceRecord = serde_json::from_slice(bytes)?;
    if let Some(schedule) = &mut trace.schedule {
        name(&mut schedule.facts.not_measured);
    }
    Ok(trace)
}

fn name(not_measured: &mut [NotMeasured]) {
    for missing in not_measured {
        missing.quantity = missing.quantity.take().or_else(|| quantity(&missing.what));
    }
}

/// What a runner said was missing, while that was a text, where the analysis adds what nobody said.
fn quantity(what: &str) -> Option<Quantity> {
    if let Some(part) = what.strip_prefix("the full level: ") {
        return Some(Quantity::FullLevel { part: part.to_owned(), refused: true });
    }
    match what.split_once(" at load ") {
        Some(("run-queue delay", load)) => {
            Some(Quantity::RunQueueDelay { at: Place::Loads(vec![load.parse().ok()?]) })
        }
        _ if what == "overhead.traced_over_untraced" => Some(Quantity::MeasuredOverhead),
        _ => Some(Quantity::Level { load: what.strip_prefix("load ")?.parse().ok()? }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_runner_could_not_measure_is_known_by_its_former_name() {
        let mut record = crate::records::two_alternatives();
        for what in ["load 10", "run-queue delay at load 3", "warm-up"] {
            record.skipped.push(NotMeasured::told(what, "no time"));
        }
        let read = super::record(&serde_json::to_vec(&record).unwrap()).unwrap();
        let quantities: Vec<_> = read.skipped.iter().map(|it| it.quantity.clone()).collect();
        let delay = Quantity::RunQueueDelay { at: Place::Loads(vec![3]) };
        assert_eq!(quantities, [Some(Quantity::Level { load: 10 }), Some(delay), None]);
        assert_eq!(quantity("overhead.traced_over_untraced"), Some(Quantity::MeasuredOverhead));
        let part = "CAP_BPF".to_owned();
        assert_eq!(quantity("the full level: CAP_BPF"), Some(Quantity::FullLevel { part, refused: true }));
    }

    #[test]
    fn scheduling_accounts_under_their_former_name_are_read_as_such() {
        let mut record = crate::records::two_alternatives();
        record.sched_accounts =
            vec![SchedAccount { load: 2, alternative: 1, tasks: 3, run_s: 0.5, delay_s: 0.25 }];
        let today = serde_json::to_value(&record).unwrap();
        let mut former = today.clone();
        let fields = former.as_object_mut().unwrap();
        let accounts = fields.remove("sched_accounts").unwrap();
        fields.insert("accounts".to_owned(), accounts);
        for value in [former, today] {
            assert_eq!(super::record(&serde_json::to_vec(&value).unwrap()).unwrap(), record);
        }
    }
}
