//! `whyfaster store`: records into the store, and out of it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::{fs, iter, thread};

use serde::Serialize;
use whyfaster_render::store as render;
use whyfaster_store as store;
use whyfaster_store::again::again;
use whyfaster_store::database::{Added, Address, Database, Entry, Listed};
use whyfaster_store::{Below, Refused};
use whyfaster_words::exit::{self, Exit, Failure, say};
use whyfaster_words::phrases::count;

use super::{joined, results};
use crate::cli::Outputs;
use crate::cli::args::{StoreAddArgs, StoreArgs, StoreGetArgs, StoreListArgs, StoreRemoveArgs, StoreTask};

/// Runs the verb.
pub fn run(args: &StoreArgs) -> anyhow::Result<Exit> {
    match &args.task {
        StoreTask::Add(args) => add(args),
        StoreTask::List(args) => list(args),
        StoreTask::Get(args) => get(args),
        StoreTask::Remove(args) => remove(args),
    }
}

/// Bytes of the files that are read ahead of the writers, which take several times as much memory. Some hundred price lists: a server writes
/// as many at once.
const AHEAD: u64 = 8 << 20;

/// Most records that a writer takes at a time, so that the others have some.
const TOGETHER: usize = 256;

/// What was read of a file, and the room that it takes until it is written.
type Read<'a> = (Result<Entry, Refused>, Share<'a>);

fn add(args: &StoreAddArgs) -> anyhow::Result<Exit> {
    let address = Address::or_usual(args.store.store.as_deref())?;
    let Below { files, refused: unreadable } = store::files_below(&args.files)?;
    let Written { added, refused, failed } = added(&address, &files, args)?;
    let refused = [unreadable, refused].concat();
    for Refused { file, why } in &refused {
        say(&format!("left out '{}': {why}", file.display()));
    }
    if let Some(failure) = failed {
        let message =
            format!("{}; {} added", failure.message, count(added.new as u64, "record was", "records were"));
        return Err(Failure { message, ..failure }.into());
    }
    let mut there = match added.there {
        0 => String::new(),
        some => format!("; {some} were there already"),
    };
    if added.labelled > 0 {
        there += &format!("; {} of them have the label '{}' now", added.labelled, args.label);
    }
    if added.otherwise > 0 {
        there += &format!("; {} of them keep another label", added.otherwise);
    }
    let new = count(added.new as u64, "record", "records");
    let told = store::to_stdout(format!("added {new} to {address}{there}\n").as_bytes());
    if args.name_by_file && added.there > 0 {
        say(
            "what was there already keeps the names of its machines: to name them by their files, remove it first (whyfaster store remove)",
        );
    }
    let exit = match refused.len() {
        0 => Exit::Ok,
        some => exit::report(Err(not_added(some, added.new + added.there).into())),
    };
    Ok(results::after(told, exit))
}

/// So many could not be added, beside so many that are in the store.
fn not_added(refused: usize, others: usize) -> Failure {
    let message =
        format!("{refused} of {} could not be added", count((refused + others) as u64, "file", "files"));
    let others = if others > 0 { "the others are in the store; " } else { "" };
    Failure::new(Exit::Error, message, format!("{others}standard error says what is wrong with each"))
}

/// Reads the files on all CPUs, and writes what comes of them.
fn added(address: &Address, files: &[(PathBuf, String)], args: &StoreAddArgs) -> Result<Written, Failure> {
    let first = Database::open_or_make(address)?;
    let (next, room) = (AtomicUsize::new(0), Room::default());
    let (send, receive) = channel();
    // Gone with the last writer: who reads finds out by that.
    let receive = Arc::new(Mutex::new(receive));
    let readers = thread::available_parallelism().map_or(1, usize::from).min(files.len().max(1));
    let further = first.writers().min(readers) - 1;
    let done = thread::scope(|scope| {
        for _ in 0..readers {
            let (send, next, room) = (send.clone(), &next, &room);
            scope.spawn(move || read(files, next, room, args.name_by_file, &send));
        }
        drop(send);
        let label = args.label.as_str();
        let further: Vec<_> = (0..further)
            .map(|_| {
                let receive = Arc::clone(&receive);
                scope.spawn(move || Database::open(address).map(|it| written(it, label, &receive)))
            })
            .collect();
        let mut done = vec![written(first, label, &receive)];
        drop(receive);
        // A server that has no further connection for us has the first one.
        done.extend(further.into_iter().filter_map(|it| joined(it).ok()));
        done
    });
    let mut all = Written::default();
    for Written { added, refused, failed } in done {
        all.added += added;
        all.refused.extend(refused);
        all.failed = all.failed.or(failed);
    }
    Ok(all)
}

/// One reader of several, which take the files in turn.
fn read<'a>(
    files: &[(PathBuf, String)],
    next: &AtomicUsize,
    room: &'a Room,
    by_file: bool,
    send: &Sender<Read<'a>>,
) {
    while let Some((file, name)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        let share = room.wait_for(fs::metadata(file).map_or(0, |it| it.len()));
        let entry = store::read_with_bytes(file).and_then(|(recorded, bytes)| {
            let refuse = |why| Failure::new(Exit::Error, why, "a store goes by the time of its records");
            Entry::of(&again(recorded), &bytes, name, by_file.then_some(name.as_str())).map_err(refuse)
        });
        // The writer has given up.
        if send.send((entry.map_err(|why| Refused { file: file.clone(), why }), share)).is_err() {
            return;
        }
    }
}

/// What one writer did.
#[derive(Default)]
struct Written {
    added: Added,
    refused: Vec<Refused>,
    /// Why it gave up.
    failed: Option<Failure>,
}

/// One writer of several, which take in turn what was read.
fn written(mut database: Database, label: &str, receive: &Mutex<Receiver<Read<'_>>>) -> Written {
    let mut written = Written::default();
    loop {
        let (mut entries, mut shares) = (Vec::new(), Vec::new());
        for (entry, share) in together(receive) {
            shares.push(share);
            match entry {
                Ok(entry) => entries.push(entry),
                Err(it) => written.refused.push(it),
            }
        }
        if shares.is_empty() {
            return written;
        }
        match database.add(entries, label) {
            Ok(now) => written.added += now,
            Err(failure) => {
                written.failed = Some(failure);
                return written;
            }
        }
    }
}

/// What there is, once there is something; nothing at the end.
fn together<'a>(receive: &Mutex<Receiver<Read<'a>>>) -> Vec<Read<'a>> {
    let receive = receive.lock().unwrap_or_else(PoisonError::into_inner);
    let first = receive.recv().ok();
    first.map_or_else(Vec::new, |first| iter::once(first).chain(receive.try_iter()).take(TOGETHER).collect())
}

/// How many bytes are read and not written yet. A record may be large, and there may be thousands.
#[derive(Debug, Default)]
struct Room {
    taken: Mutex<u64>,
    freed: Condvar,
}

impl Room {
    /// Waits until there is room for so many bytes. One that is larger than all of it gets it alone.
    fn wait_for(&self, bytes: u64) -> Share<'_> {
        let full = |taken: &mut u64| *taken > 0 && *taken + bytes > AHEAD;
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        *self.freed.wait_while(taken, full).unwrap_or_else(PoisonError::into_inner) += bytes;
        Share { room: self, bytes }
    }
}

/// A part of the room, until it is dropped.
#[derive(Debug)]
struct Share<'a> {
    room: &'a Room,
    bytes: u64,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.room.taken.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.room.freed.notify_all();
    }
}

/// What `store list --json` prints.
#[derive(Debug, Serialize)]
struct List {
    schema: &'static str,
    records: Vec<Listed>,
    all: usize,
}

const LIST: &str = "whyfaster-store-list/1";

fn list(args: &StoreListArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_fleet(args.json, args.view)?;
    let address = Address::or_usual(args.store.store.as_deref())?;
    let (records, all) = Database::open(&address)?.list(&args.chosen.chosen(), args.last)?;
    if args.json {
        return results::json(&List { schema: LIST, records, all });
    }
    let look = results::look(&outputs);
    if !look.quiet {
        store::to_stdout(render::records(&records, all, &look).as_bytes())?;
    }
    Ok(Exit::Ok)
}

fn get(args: &StoreGetArgs) -> anyhow::Result<Exit> {
    let address = Address::or_usual(args.store.store.as_deref())?;
    let document = Database::open(&address)?.document(args.record)?;
    store::to_stdout(&document.ok_or_else(|| absent(args.record, &address))?)?;
    Ok(Exit::Ok)
}

fn remove(args: &StoreRemoveArgs) -> anyhow::Result<Exit> {
    let address = Address::or_usual(args.store.store.as_deref())?;
    let mut database = Database::open(&address)?;
    let (mut removed, mut failed) = (String::new(), None);
    for record in &args.records {
        match database.remove(*record) {
            Ok(true) => removed.push_str(&format!("removed record {record}\n")),
            Ok(false) => failed = failed.or_else(|| Some(absent(*record, &address))),
            Err(failure) => {
                failed = Some(failure);
                break;
            }
        }
    }
    let exit = failed.map_or(Exit::Ok, |failure| exit::report(Err(failure.into())));
    Ok(results::after(store::to_stdout(removed.as_bytes()), exit))
}

fn absent(record: i64, address: &Address) -> Failure {
    let message = format!("there is no record {record} in the store {address}");
    Failure::new(Exit::Error, message, "'whyfaster store list' shows their numbers")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_reader_waits_for_room_and_a_large_file_has_it_alone() {
        let room = Room::default();
        let small = room.wait_for(1);
        thread::scope(|scope| {
            let (send, receive) = channel();
            let room = &room;
            scope.spawn(move || send.send(room.wait_for(2 * AHEAD)));
            assert!(receive.recv_timeout(Duration::from_millis(50)).is_err(), "there is no room for it");
            drop(small);
            let large = receive.recv().expect("there is room once nothing else waits");
            drop(large);
        });
        assert_eq!(*room.taken.lock().unwrap(), 0);
    }
}
