//! Records into the store while others are measured: in a thread of its own, so that a server that does not answer holds nobody.

use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use whyfaster_store::Recorded;
use whyfaster_store::database::Database;
use whyfaster_words::exit::{Exit, Failure};

use super::results;

/// A record, its bytes, and what its machine is called where the record does not say.
type Parcel = (Recorded, Vec<u8>, String);

/// A store that takes records in.
#[derive(Debug)]
pub(super) struct Saver {
    records: Sender<Parcel>,
    thread: JoinHandle<Result<(), Failure>>,
}

impl Saver {
    /// Begins. One connection serves all records, so that a server that restarts meanwhile is waited for.
    pub(super) fn start(mut database: Database, label: String) -> Self {
        let (records, receive) = channel::<Parcel>();
        let thread = thread::spawn(move || {
            for (recorded, bytes, called) in receive {
                // After the first failure no other is tried: each would wait for the server anew.
                results::add_to(&mut database, &label, recorded, &bytes, &called)?;
            }
            Ok(())
        });
        Self { records, thread }
    }

    /// Has a record added.
    pub(super) fn add(&self, recorded: Recorded, bytes: Vec<u8>, called: &str) {
        // Where it has given up, `finish` says why.
        let _ = self.records.send((recorded, bytes, called.to_owned()));
    }

    /// Waits until all are in the store; why they are not.
    pub(super) fn finish(self) -> Result<(), Failure> {
        drop(self.records);
        let panicked =
            |_| Failure::new(Exit::Error, "the thread that writes to the store panicked", "please report it");
        self.thread.join().map_err(panicked)?
    }
}
