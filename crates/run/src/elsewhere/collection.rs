//! The directory at home: a record a machine, and `fleet.run`, which says what was asked of whom and what became of it.
//!
//! `fleet.run` is JSON, one value a line: first what was asked, then what happened as it happened. A line that a crash cut short is
//! the last and counts for nothing; the records themselves are written whole or not at all, and one that stands there is done.
//!
//! A resumed run reaches machines and sends files with all rights of its user. So the user has to confirm a `fleet.run` that
//! somebody else may have written. No name in it leads out of the directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use whyfaster_core::fleet::visit::Trouble;
use whyfaster_rights as rights;
use whyfaster_store as store;
use whyfaster_store::Held;
use whyfaster_words::exit::{Exit, Failure, say};

use super::collect::Met;
use super::machine::file_name;

/// What is in the first line.
const SCHEMA: &str = "whyfaster-fleet-run/1";
const FILE: &str = "fleet.run";

/// Rights of what a run makes: an umask may let the group write, and others could then change what is run.
const DIRECTORY_RIGHTS: u32 = 0o755;
const FILE_RIGHTS: u32 = 0o644;

/// A clock that counts from the machine's start cannot represent times much later than this.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Mode bits that let the group or all users write.
const OTHERS_WRITE: u32 = 0o022;

/// What was asked of whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    schema: String,
    /// The verb and its words.
    pub words: Vec<String>,
    /// The machines: name of the file, words that lead there.
    pub machines: Vec<(String, String)>,
    /// Files that go along, as they were.
    pub files: Vec<Gone>,
    /// Programs for other instruction sets: `ARCH=FILE`.
    pub binaries: Vec<String>,
    /// These programs, as they were.
    #[serde(default)]
    pub programs: Vec<Gone>,
    /// So many machines at once.
    pub at_once: usize,
    /// How long nothing may come from a machine, in seconds.
    pub silence_s: f64,
    /// How long one machine may take, in seconds.
    pub limit_s: f64,
    /// Whether the records go into a store as well. Which one is not kept: its address may hold a password.
    #[serde(default)]
    pub saved: bool,
}

/// A file that went along: all machines are to be given the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gone {
    /// Where it is.
    pub file: PathBuf,
    bytes: u64,
    modified_ns: u128,
}

impl Gone {
    /// The file as it is now, by the name under which it goes: that of a link, not of what it leads to.
    pub fn of(file: &Path) -> Result<Self, Failure> {
        let seen = std::path::absolute(file).and_then(|path| Ok((fs::metadata(&path)?, path)));
        let (about, path) = seen.map_err(|error| {
            Failure::usage(
                format!("cannot read '{}': {error}", file.display()),
                "name files that you may read",
            )
        })?;
        let modified_ns = since_epoch(about.modified()).unwrap_or_default();
        Ok(Self { file: path, bytes: about.len(), modified_ns })
    }
}

fn since_epoch(time: io::Result<SystemTime>) -> Option<u128> {
    Some(time.ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos())
}

/// Identifies the file that the run began with: a copy has another inode and another time of birth.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Birth {
    inode: u64,
    /// Not every file system knows it.
    born_ns: Option<u128>,
}

impl Birth {
    fn of(about: &Metadata) -> Self {
        Self { inode: about.ino(), born_ns: since_epoch(about.created()) }
    }
}

/// Something that happened.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    /// The run began, in this file.
    Begun(Birth),
    /// A machine said which it is.
    Met { machine: String, boot: String },
    /// It gave no record.
    Failed { machine: String, trouble: Trouble },
}

/// The directory. One run holds it.
#[derive(Debug)]
pub struct Collection {
    directory: PathBuf,
    /// The records go here, wherever the path leads by now.
    held: OwnedFd,
    journal: File,
    met: BTreeMap<String, String>,
}

impl Collection {
    /// Makes a new one.
    pub fn create(directory: &Path, mut wanted: Wanted) -> Result<Self, Failure> {
        wanted.schema = SCHEMA.to_owned();
        let path = directory.join(FILE);
        let cannot = |error: io::Error| store::cannot_write(&path, &error);
        DirBuilder::new().recursive(true).mode(DIRECTORY_RIGHTS).create(directory).map_err(cannot)?;
        let held = held(directory).map_err(cannot)?;
        // A file that is there before the first run would count as a record. A dangling link would lead a record out of the directory.
        let mut files = wanted.machines.iter().map(|(name, _)| file_of(directory, name));
        if let Some(file) = files.find(|file| file.symlink_metadata().is_ok() && !path.exists()) {
            return Err(Failure::usage(
                format!("'{}' stands there already", file.display()),
                "name another directory with --to, or move the file away",
            ));
        }
        let mut options = OpenOptions::new();
        let opened = options.append(true).read(true).create_new(true).mode(FILE_RIGHTS).open(&path);
        let journal = opened.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::usage(
                format!("'{}' holds a run already", directory.display()),
                format!(
                    "whyfaster fleet resume {} measures what it lacks; or name another directory with --to",
                    directory.display()
                ),
            ),
            _ => cannot(error),
        })?;
        let begun = hold(&journal, directory).and_then(|()| {
            let directory = directory.to_owned();
            let mut collection = Self { directory, held, journal, met: BTreeMap::new() };
            let birth = collection.journal.metadata().map(|about| Birth::of(&about)).map_err(cannot)?;
            collection
                .write(&wanted)
                .and_then(|()| collection.write(&Entry::Begun(birth)))
                .map_err(cannot)?;
            Ok(collection)
        });
        begun.inspect_err(|_| {
            // An empty file or half a line would be a run that neither begins nor is taken up.
            let _ = fs::remove_file(&path);
        })
    }

    /// Opens a run again. If it is not `trusted`, it fails for a run that somebody else may have written.
    pub fn resume(directory: &Path, trusted: bool) -> Result<(Self, Wanted), Failure> {
        let path = directory.join(FILE);
        let no_run = |error: io::Error| {
            let hint = match error.kind() {
                io::ErrorKind::PermissionDenied => "copy the directory, and resume the copy",
                _ => {
                    "name the directory that 'fleet compare', 'prices', 'trace' or 'doctor' said, or gave with --to"
                }
            };
            let shown = directory.display();
            Failure::usage(
                format!("'{shown}' holds no run of a fleet: cannot open '{}': {error}", path.display()),
                hint,
            )
        };
        // A link may lead to another run, and a pipe or a device is opened without waiting.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        let journal =
            OpenOptions::new().append(true).read(true).custom_flags(flags).open(&path).map_err(no_run)?;
        let about = journal.metadata().map_err(no_run)?;
        if !about.is_file() {
            return Err(no_run(io::Error::other("it is no plain file")));
        }
        hold(&journal, directory)?;
        let damaged = |why: String| {
            let hint = "begin a new run in another directory";
            Failure::new(Exit::Error, format!("'{}' cannot be used: {why}", path.display()), hint)
        };
        let broken = |error: io::Error| damaged(error.to_string());
        let bytes = store::bounded(&journal, about.len()).map_err(broken)?;
        let Written { wanted, met, begun } = Written::of(&bytes).map_err(damaged)?;
        wanted.check_names(directory)?;
        let held = held(directory).map_err(broken)?;
        let its = fs::metadata(format!("/proc/self/fd/{}", held.as_raw_fd())).map_err(broken)?;
        if let Some(why) = doubt(&about, &its, begun.as_ref()) {
            let shown = directory.display();
            let asks = wanted.asks();
            if !trusted {
                return Err(Failure::usage(
                    format!("'{shown}' may hold the run of somebody else: {why}\n{asks}"),
                    format!(
                        "if you want all of this done as yourself: whyfaster fleet resume --trust '{shown}'"
                    ),
                ));
            }
            say(&asks);
        }
        let mut collection = Self { directory: directory.to_owned(), held, journal, met };
        collection.end_line().map_err(broken)?;
        Ok((collection, wanted))
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file of a machine's record.
    pub fn file(&self, machine: &str) -> PathBuf {
        file_of(&self.directory, machine)
    }

    /// The directory itself, for [`OutputFile::within`](store::OutputFile::within).
    ///
    /// # Errors
    /// This process has as many files open as it may.
    pub fn held(&self) -> io::Result<OwnedFd> {
        self.held.try_clone()
    }

    /// Whether a machine's record is home.
    pub fn has(&self, machine: &str) -> bool {
        self.file(machine).is_file()
    }

    /// The machines whose records are home, by the number that their kernels drew at their start.
    pub fn met(&self) -> Met {
        let home = self.met.iter().filter(|(machine, _)| self.has(machine));
        home.map(|(machine, boot)| (boot.clone(), machine.clone())).collect()
    }

    /// Notes which machine it is.
    pub fn note_met(&mut self, machine: &str, boot: &str) {
        self.note(&Entry::Met { machine: machine.to_owned(), boot: boot.to_owned() });
    }

    /// Notes why there is no record.
    pub fn note_failed(&mut self, machine: &str, trouble: &Trouble) {
        self.note(&Entry::Failed { machine: machine.to_owned(), trouble: trouble.clone() });
    }

    /// Ends a line that a crash cut short, so that what is written next begins one of its own.
    fn end_line(&mut self) -> io::Result<()> {
        let bytes = self.journal.metadata()?.len();
        let mut last = [b'\n'];
        if let Some(at) = bytes.checked_sub(1) {
            self.journal.read_exact_at(&mut last, at)?;
        }
        if last == [b'\n'] { Ok(()) } else { self.journal.write_all(b"\n") }
    }

    /// The next run finds out again what cannot be noted, except which machine a record at home came from: a second name of that machine is then
    /// measured too.
    fn note(&mut self, entry: &Entry) {
        let _ = self.write(entry);
    }

    fn write(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        let written = self.journal.write_all(&line);
        if written.is_err() {
            // A full disk may have taken a part of it.
            let _ = self.end_line();
        }
        written
    }
}

fn held(directory: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(directory, flags, Mode::empty())?)
}

impl Drop for Collection {
    fn drop(&mut self) {
        store::release(&self.journal);
    }
}

impl Wanted {
    /// What is asked of these machines.
    pub fn new(words: Vec<String>, machines: Vec<(String, String)>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            words,
            machines,
            files: Vec::new(),
            binaries: Vec::new(),
            programs: Vec::new(),
            at_once: 1,
            silence_s: 0.0,
            limit_s: 0.0,
            saved: false,
        }
    }

    /// Returns the longest silence of a machine, and the time limit of one.
    pub fn times(&self) -> Result<[Duration; 2], String> {
        let time = |seconds: f64| {
            let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| *time <= LONGEST);
            time.ok_or_else(|| format!("{seconds} s is no time to wait for a machine"))
        };
        Ok([time(self.silence_s)?, time(self.limit_s)?])
    }

    /// Checks the rules that the parser does not know.
    fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!("it is '{}', and this program reads '{SCHEMA}'", self.schema));
        }
        self.times().map(drop)
    }

    /// Refuses names, and links under these names, that lead out of the directory: each record has its own file in it.
    fn check_names(&self, directory: &Path) -> Result<(), Failure> {
        let mut taken = BTreeSet::new();
        let plain = |name: &String| !name.is_empty() && file_name(name) == *name;
        let strange = self.machines.iter().find(|(name, _)| !plain(name) || !taken.insert(name));
        if let Some((name, _)) = strange {
            let message =
                format!("'{}' calls a machine '{name}', and no run does so", directory.join(FILE).display());
            return Err(Failure::usage(message, "it was changed: begin a new run in another directory"));
        }
        let files = self.machines.iter().map(|(name, _)| file_of(directory, name));
        let other = |file: &PathBuf| file.symlink_metadata().is_ok_and(|about| !about.is_file());
        files.into_iter().find(other).map_or(Ok(()), |file| {
            let message = format!(
                "'{}' is not a plain file, and whyfaster writes a record under this name",
                file.display()
            );
            Err(Failure::usage(message, "move it away, or begin a new run in another directory"))
        })
    }

    /// The work that the run does with the rights of its user, one line each.
    fn asks(&self) -> String {
        let mut text = format!("it asks for: whyfaster {}", shell_words::join(&self.words));
        for (name, asked) in &self.machines {
            let _ = write!(text, "\non {name}: {asked}");
        }
        for sent in self.files.iter().chain(&self.programs) {
            let _ = write!(text, "\nwith the file: {}", sent.file.display());
        }
        text
    }
}

/// Returns the reason why a run may be somebody else's. Root is trusted as this user is.
fn doubt(journal: &Metadata, directory: &Metadata, begun: Option<&Birth>) -> Option<String> {
    let own = rights::file_user();
    for (what, about) in [(FILE, journal), ("the directory", directory)] {
        if ![0, own].contains(&about.uid()) {
            return Some(format!("{what} belongs to another user (uid {})", about.uid()));
        }
        if about.mode() & OTHERS_WRITE != 0 {
            return Some(format!("others may write to {what} (mode {:o})", about.mode() & 0o7777));
        }
    }
    let here = begun.is_some_and(|birth| *birth == Birth::of(journal));
    (!here).then(|| format!("{FILE} is not the file that the run began with, but a copy"))
}

/// The content of a `fleet.run`.
struct Written {
    wanted: Wanted,
    met: BTreeMap<String, String>,
    begun: Option<Birth>,
}

impl Written {
    fn of(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() as u64 > store::MAX_BYTES {
            return Err(format!("it is larger than {} MiB", store::MAX_BYTES >> 20));
        }
        // A line may be cut short within a character.
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let wanted: Wanted =
            serde_json::from_slice(lines.next().unwrap_or_default()).map_err(|error| error.to_string())?;
        wanted.check()?;
        let (mut met, mut begun) = (BTreeMap::new(), None);
        for line in lines {
            match serde_json::from_slice(line) {
                Ok(Entry::Met { machine, boot }) => drop(met.insert(machine, boot)),
                Ok(Entry::Begun(birth)) => begun = Some(birth),
                _ => {}
            }
        }
        Ok(Self { wanted, met, begun })
    }
}

fn file_of(directory: &Path, machine: &str) -> PathBuf {
    directory.join(format!("{machine}.json"))
}

/// Two runs that collect into one directory would count twice.
fn hold(journal: &File, directory: &Path) -> Result<(), Failure> {
    let shown = directory.display();
    let (message, hint) = match store::hold(journal) {
        Ok(Held::Ours) => return Ok(()),
        Ok(Held::NoLocks) => {
            say(&format!("'{shown}': its file system has no locks: see that no other run collects into it"));
            return Ok(());
        }
        Ok(Held::Others) => (
            format!("another run collects into '{shown}'"),
            "wait for its end, or name another directory with --to",
        ),
        Err(error) => (format!("'{shown}' cannot be locked: {error}"), "name another directory with --to"),
    };
    Err(Failure::new(Exit::Error, message, hint))
}

#[cfg(test)]
mod tests {
    use whyfaster_fuzz::{Form, run};

    use super::*;

    fn wanted() -> Wanted {
        let machines =
            [("a", "ssh:a"), ("b", "ssh:b")].map(|(name, asked)| (name.to_owned(), asked.to_owned()));
        Wanted::new(vec!["prices".to_owned()], machines.to_vec())
    }

    /// No record of a run that is taken up goes anywhere else than into its directory.
    #[test]
    fn fuzz_fleet_run() {
        let place = tempfile::tempdir().unwrap();
        run("fleet_run", Form::Json, 10_000, |bytes| {
            let Ok(Written { wanted, .. }) = Written::of(bytes) else { return false };
            let held = wanted.check_names(place.path()).is_ok();
            let within = |(name, _): &(String, String)| {
                file_of(place.path(), name).parent() == Some(place.path()) && !name.contains('/')
            };
            assert!(!held || wanted.machines.iter().all(within), "{wanted:?}");
            held && !wanted.asks().is_empty()
        });
    }

    #[test]
    fn what_was_kept_is_known_again_and_a_line_cut_short_counts_for_nothing() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("runs");
        let mut run = Collection::create(&directory, wanted()).unwrap();
        run.note_met("a", "1");
        run.note_met("b", "2");
        store::write_atomic(&run.file("a"), b"{}").unwrap();
        run.note_failed("b", &Trouble::Damaged);
        run.journal
            .write_all(
                "{\"failed\":{\"machine\":\"b\",\"trouble\":\"‘".as_bytes().strip_suffix(b"\x98").unwrap(),
            )
            .unwrap();
        assert!(Collection::resume(&directory, false).unwrap_err().message.contains("another run collects"));
        drop(run);
        let (run, again) = Collection::resume(&directory, false).unwrap();
        assert_eq!(again, wanted());
        assert!(run.has("a") && !run.has("b"));
        assert_eq!(run.met(), Met::from([("1".to_owned(), "a".to_owned())]));
        drop(run);
        // What is noted behind the line that was cut short is not lost in it.
        let (mut run, _) = Collection::resume(&directory, false).unwrap();
        run.note_met("b", "3");
        store::write_atomic(&run.file("b"), b"{}").unwrap();
        drop(run);
        let (run, _) = Collection::resume(&directory, false).unwrap();
        assert_eq!(run.met().get("3").map(String::as_str), Some("b"));
        drop(run);
        assert!(
            Collection::create(&directory, wanted()).unwrap_err().message.contains("holds a run already")
        );
    }

    #[test]
    fn a_link_keeps_its_name() {
        let place = tempfile::tempdir().unwrap();
        let link = place.path().join("in.txt");
        fs::write(place.path().join("v2.txt"), "12").unwrap();
        std::os::unix::fs::symlink("v2.txt", &link).unwrap();
        let gone = Gone::of(&link).unwrap();
        assert_eq!((&gone.file, gone.bytes), (&link, 2));
        assert!(Gone::of(&place.path().join("none")).unwrap_err().message.contains("cannot read"));
    }

    #[test]
    fn what_is_no_run_says_so() {
        let place = tempfile::tempdir().unwrap();
        assert!(Collection::resume(place.path(), false).unwrap_err().message.contains("holds no run"));
        for text in ["", "{}", "{\"schema\": \"whyfaster-fleet-run/9\"}"] {
            fs::write(place.path().join(FILE), text).unwrap();
            assert!(
                Collection::resume(place.path(), false).unwrap_err().message.contains("cannot be used"),
                "{text}"
            );
        }
    }

    #[test]
    fn what_stands_there_already_is_no_record_of_this_run() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("b.json");
        fs::write(&file, "mine").unwrap();
        let said = Collection::create(place.path(), wanted()).unwrap_err().message;
        assert!(said.contains("b.json' stands there already"), "{said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        fs::remove_file(&file).unwrap();
        Collection::create(place.path(), wanted()).unwrap();
    }
}
