//! Records of earlier versions: what they called otherwise is brought to today's names while reading.

use serde::Deserialize;
use serde::de::IgnoredAny;
use whyfaster_core::record::Record;
use whyfaster_core::sample::SchedAccount;

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
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheduling_accounts_under_their_former_name_are_read_as_such() {
        let mut record = crate::fixture::two_alternatives();
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
