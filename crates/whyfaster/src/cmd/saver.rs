//! Records into the store while others are measured: in a thread of its own, so that a server that does not answer holds nobody.

use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use whyfaster_store as store;
use whyfaster_store::database::Database;
use whyfaster_words::exit::{Exit, Failure};

use super::results;

/// The file of a record, which is read when its turn comes, for there may be thousands; and what its machine is called where the record does not say.
type Parcel = (PathBuf, String);

/// A store that takes records in.
#[derive(Debug)]
pub(super) struct Saver {
    records: Sender<Parcel>,
    thread: JoinHandle<Result<Vec<LeftOut>, Failure>>,
}

/// A record that no store takes: its machine, and why.
pub(super) type LeftOut = (String, String);

impl Saver {
    /// Begins. One connection serves all records, so that a server that restarts meanwhile is waited for.
    pub(super) fn start(mut database: Database, label: String) -> Self {
        let (records, receive) = channel::<Parcel>();
        let thread = thread::spawn(move || {
            let mut left_out = Vec::new();
            for (file, called) in receive {
                let read = store::read_with_bytes(&file).map_err(|failure| failure.to_string());
                match read.and_then(|(recorded, bytes)| results::entry(recorded, &bytes, &called)) {
                    // After the first failure no other is tried: each would wait for the server anew.
                    Ok(entry) => database.add(vec![entry], &label).map(drop)?,
                    Err(why) => left_out.push((called, why)),
                }
            }
            Ok(left_out)
        });
        Self { records, thread }
    }

    /// Has a record added.
    pub(super) fn add(&self, file: PathBuf, called: &str) {
        // Where it has given up, `finish` says why.
        let _ = self.records.send((file, called.to_owned()));
    }

    /// Waits until all are in the store that it takes; which it does not take, or why the rest is not there.
    pub(super) fn finish(self) -> Result<Vec<LeftOut>, Failure> {
        drop(self.records);
        let panicked =
            |_| Failure::new(Exit::Error, "the thread that writes to the store panicked", "please report it");
        self.thread.join().map_err(panicked)?
    }
}

#[cfg(test)]
mod tests {
    use whyfaster_store::database::{Address, Chosen};

    use super::*;

    #[test]
    fn a_record_that_no_store_takes_holds_up_no_other() {
        let place = tempfile::tempdir().unwrap();
        let address = Address::File(place.path().join("store.db"));
        let saver = Saver::start(Database::open_or_make(&address).unwrap(), String::new());
        let record = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/records/0.1.0-batch.json");
        let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
        for (machine, started) in [("first", "2026-01-01"), ("ahead", "2999-01-01"), ("last", "2026-01-02")] {
            record["started"] = format!("{started}T00:00:00Z").into();
            let file = place.path().join(machine);
            std::fs::write(&file, record.to_string()).unwrap();
            saver.add(file, machine);
        }
        let left_out = saver.finish().unwrap();
        assert_eq!(left_out.iter().map(|(machine, _)| machine.as_str()).collect::<Vec<_>>(), ["ahead"]);
        let (_, all) = Database::open(&address).unwrap().list(&Chosen::default(), 1).unwrap();
        assert_eq!(all, 2);
    }
}
