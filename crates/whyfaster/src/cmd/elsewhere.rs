//! Measuring on other machines: `fleet compare`, `prices`, `trace`, `doctor` and `resume`, and `--on` of the verbs that measure on one.

use std::fs;
use std::io::{self, IsTerminal, stderr};
use std::iter;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use whyfaster_core::fleet::visit::{Tally, Trouble};
use whyfaster_core::price::Unit;
use whyfaster_host::Finding;
use whyfaster_render::visits::{Visits, doctors};
use whyfaster_run::elsewhere::{
    Binary, Collection, Errand, Event, Gone, Home, Load, Machine, Met, Patience, Place, Wanted, collect,
};
use whyfaster_run::interrupts::Interrupts;
use whyfaster_store as store;
use whyfaster_store::database::Database;
use whyfaster_store::{OutputFile, Recorded};
use whyfaster_words::exit::{Exit, Failure, say};
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;
use whyfaster_words::visit;

use super::results;
use super::saver::Saver;
use crate::cli::args::{AlongArgs, FleetResumeArgs, FleetRunArgs, OnArgs, SaveArgs, ViewArgs};
use crate::cli::{self, Args, Outputs, Save, Verb};

/// Without a sign for so long, the one machine of `--on` counts as gone.
const SILENCE: Duration = Duration::from_secs(60);

/// How a run over many machines ended.
pub(super) struct Visited {
    /// The files of the records that are home, if a report of the fleet can be made of them.
    pub(super) fleet: Vec<PathBuf>,
    pub(super) exit: Exit,
}

impl Visited {
    /// An error of the report goes before how the visits ended.
    fn of(reported: anyhow::Result<Vec<PathBuf>>, exit: Exit) -> Self {
        match reported {
            Ok(fleet) => Self { fleet, exit },
            Err(error) => Self { fleet: Vec::new(), exit: results::after(Err(error), exit) },
        }
    }
}

/// Measures on the machines of the places and brings the records home.
pub(super) fn fleet(verb: &'static str, args: &FleetRunArgs) -> anyhow::Result<Visited> {
    let words: Vec<String> = [verb.to_owned()].into_iter().chain(args.args.clone()).collect();
    check_words(&words)?;
    let machines = Place::machines(&args.places)?;
    let load = Load::of(&args.along.binary, &args.along.send)?;
    let named = machines.iter().map(|it| (it.name.clone(), it.asked.clone())).collect();
    let mut wanted = Wanted::new(words, named);
    wanted.files = args.along.send.iter().map(|file| Gone::of(file)).collect::<Result<_, _>>()?;
    for binary in &args.along.binary {
        let program = Gone::of(binary.file())?;
        wanted.binaries.push(binary.clone().at(&program.file).to_string());
        wanted.programs.push(program);
    }
    wanted.at_once = args.at_once as usize;
    (wanted.silence_s, wanted.limit_s) = (args.silence, args.limit);
    if machines.is_empty() {
        return Err(Failure::usage("the places name no machine", "name a host: ssh:HOST").into());
    }
    // Before the store is opened: a client of a server has threads, and those that were there before take no part in this.
    let interrupts = Interrupts::take_over()?;
    let opened = opened(verb, &args.save)?;
    wanted.saved = opened.is_some();
    let now = jiff::Zoned::now();
    let directory =
        args.to.clone().unwrap_or_else(|| new_directory(&now.strftime("fleet-%Y%m%d-%H%M%S").to_string()));
    let collection = Collection::create(&directory, wanted.clone())?;
    visited(collection, &wanted, machines, &load, opened, args.view, &interrupts)
}

/// The store that records are added to as they come home; found out to be one before anything is measured.
fn opened(verb: &str, args: &SaveArgs) -> Result<Option<(Database, Save)>, Failure> {
    let save = Save::of(args)?;
    if verb == "doctor" && save.is_some() {
        return Err(Failure::usage("--save is for records, and 'doctor' makes none", "leave it out"));
    }
    save.map(|save| Ok((Database::open_or_make(&save.address)?, save))).transpose()
}

/// Measures on the machines whose records are not home.
pub(super) fn resume(args: &FleetResumeArgs) -> anyhow::Result<Visited> {
    let (collection, wanted) = Collection::resume(&args.directory, args.trust)?;
    check_words(&wanted.words)?;
    let missing = wanted.machines.iter().filter(|(name, _)| !collection.has(name));
    let machines = Place::again(&missing.cloned().collect::<Vec<_>>());
    for file in wanted.files.iter().chain(&wanted.programs) {
        if Gone::of(&file.file)? != *file {
            let message = format!("'{}' is not what it was when the run began", file.file.display());
            return Err(
                Failure::usage(message, "begin a new run: all machines are to be given the same").into()
            );
        }
    }
    let binaries = wanted.binaries.iter().map(|it| it.parse()).collect::<Result<Vec<Binary>, String>>();
    let binaries = binaries.map_err(|why| Failure::usage(why, "begin a new run"))?;
    let files: Vec<PathBuf> = wanted.files.iter().map(|it| it.file.clone()).collect();
    let load = Load::of(&binaries, &files)?;
    let interrupts = Interrupts::take_over()?;
    let opened = opened(&wanted.words[0], &args.save)?;
    if wanted.saved && opened.is_none() {
        say("the run was begun with --save: without it, what comes home now goes into no store");
    }
    visited(collection, &wanted, machines, &load, opened, args.view, &interrupts)
}

/// Makes a directory of this name, or with a number behind it: another run may begin in the same second.
fn new_directory(name: &str) -> PathBuf {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = iter::once(name.to_owned()).chain(numbered).map(PathBuf::from);
    let taken =
        |it: &PathBuf| fs::create_dir(it).is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists);
    // Why another one cannot be made is told when the run is written there.
    names.find(|it| !taken(it)).unwrap_or_default()
}

/// Writes a record into the directory of a run, which is held.
fn put(directory: &OwnedFd, file: &Path, bytes: &[u8]) -> Result<(), String> {
    let directory = directory.try_clone().map_err(|error| error.to_string())?;
    OutputFile::within(directory, file.to_owned()).write(bytes).map_err(|failure| failure.message)
}

/// Visits the machines, tells how that goes, and reports what came home.
fn visited(
    mut collection: Collection,
    wanted: &Wanted,
    machines: Vec<Machine>,
    load: &Load,
    opened: Option<(Database, Save)>,
    view: ViewArgs,
    interrupts: &Interrupts,
) -> anyhow::Result<Visited> {
    let outputs = Outputs::of_fleet(false, view)?;
    let verb = wanted.words[0].as_str();
    let [silence, limit] = wanted.times().map_err(|why| Failure::usage(why, "begin a new run"))?;
    let patience = Patience { silence, limit: Some(limit) };
    let errand = Errand { words: &wanted.words, load, patience };
    let terminal = stderr().is_terminal();
    let visits = Visits::new(terminal, &results::look_of(&outputs, terminal));
    let directory = collection.directory().to_owned();
    let all = count(machines.len() as u64, "machine", "machines");
    say(&format!("{verb} on {all}, into '{}'", directory.display()));
    let met = collection.met();
    let files: Vec<PathBuf> = machines.iter().map(|it| collection.file(&it.name)).collect();
    let held = collection.held()?;
    let saver = opened.map(|(database, save)| (Saver::start(database, save.label.clone()), save));
    if let Some((saver, _)) = &saver {
        save_what_is_home(saver, &collection, wanted);
    }
    {
        let mut keep = |at: usize, bytes: Vec<u8>| {
            let for_store = received(verb, &files[at], &bytes)?.is_some();
            put(&held, &files[at], &bytes).map_err(|why| Trouble::NotKept { why })?;
            if let (Some((saver, _)), true) = (&saver, for_store) {
                saver.add(files[at].clone(), &machines[at].name);
            }
            Ok(())
        };
        let mut on = |event: &Event, tally: Tally| {
            match event {
                Event::Met(at, boot, _) => collection.note_met(&machines[*at].name, boot),
                Event::Ended(at, Err(trouble)) => collection.note_failed(&machines[*at].name, trouble),
                _ => {}
            }
            if let Some(line) = line(&machines, event, tally) {
                visits.tell(&line);
            }
            visits.count(tally);
        };
        collect(&machines, &errand, wanted.at_once, met, interrupts, Home { keep: &mut keep, on: &mut on })?;
    }
    visits.finish();
    let home: Vec<String> =
        wanted.machines.iter().map(|(name, _)| name.clone()).filter(|name| collection.has(name)).collect();
    say(&visit::summary(home.len(), wanted.machines.len()));
    let saved = saver.is_none_or(|(saver, save)| saved(saver, &save, &directory));
    let lacks = home.len() < wanted.machines.len();
    if lacks {
        say(&format!("the rest: whyfaster fleet resume '{}'", directory.display()));
    }
    if interrupts.interrupted() {
        if compared(verb, &collection, &home) {
            say(&format!("what is home: whyfaster fleet report '{}'", directory.display()));
        }
        return Ok(Visited { fleet: Vec::new(), exit: Exit::Interrupted });
    }
    let fleet = reported(verb, &collection, &home, &results::look(&outputs));
    Ok(Visited::of(fleet, if lacks || !saved { Exit::Error } else { Exit::Ok }))
}

/// Has the records added that an earlier run brought home: it may not have come to that, and the store takes none twice.
fn save_what_is_home(saver: &Saver, collection: &Collection, wanted: &Wanted) {
    for (name, _) in wanted.machines.iter().filter(|(name, _)| collection.has(name)) {
        saver.add(collection.file(name), name);
    }
}

/// Waits until the records are in the store; whether all are. They are home, and that the store does not take them is another matter.
fn saved(saver: Saver, save: &Save, directory: &Path) -> bool {
    match saver.finish() {
        Ok(left_out) => {
            for (machine, why) in &left_out {
                say(&format!("{machine}: its record is not in the store: {why}"));
            }
            left_out.is_empty()
        }
        Err(Failure { message, .. }) => {
            let label = match save.label.as_str() {
                "" => String::new(),
                label => format!("--label '{label}' "),
            };
            // The address may have a password and more that is not shown.
            let directory = directory.display();
            say(&format!(
                "not all is in the store: {message}; then, with --store if it was given: whyfaster store add {label}'{directory}'"
            ));
            false
        }
    }
}

/// What is said of an event.
fn line(machines: &[Machine], event: &Event, tally: Tally) -> Option<String> {
    let (at, said) = match event {
        Event::Began(_) | Event::Met(_, _, None) => return None,
        Event::Waits(at, why) => (at, visit::waits(why)),
        Event::Met(at, _, Some(job)) => (at, visit::job(job)),
        Event::Again(at, why) => (at, visit::again(why)),
        Event::Ended(at, ended) => {
            let said = ended.as_ref().map_or_else(visit::trouble, |()| "done".to_owned());
            (at, format!("{said} ({})", visit::tally(tally)))
        }
    };
    Some(format!("{}: {said}", machines[*at].name))
}

/// What the records say together; their files, if that is for the report of a fleet.
fn reported(
    verb: &str,
    collection: &Collection,
    home: &[String],
    look: &Look,
) -> anyhow::Result<Vec<PathBuf>> {
    match (verb, home) {
        (_, []) => {}
        ("doctor", home) => {
            let found = home.iter().map(|name| Ok((name.clone(), examined(&collection.file(name))?)));
            let found = found.collect::<anyhow::Result<Vec<_>>>()?;
            store::to_stdout(doctors(&found, look).as_bytes())?;
        }
        (_, home) if compared(verb, collection, home) => {
            return Ok(home.iter().map(|name| collection.file(name)).collect());
        }
        (_, [one, ..]) => {
            say(&format!("one machine's: whyfaster show '{}'", collection.file(one).display()));
        }
    }
    Ok(Vec::new())
}

/// Whether a report of a fleet is made of what is home. All were asked the same, so one tells; what cannot be read the report names.
fn compared(verb: &str, collection: &Collection, home: &[String]) -> bool {
    let ("compare" | "prices", [one, _, ..]) = (verb, home) else { return false };
    !store::read_recorded(&collection.file(one)).is_ok_and(|recorded| match recorded {
        Recorded::Comparison(record) => record.plan.alternatives.len() < 2,
        Recorded::Prices(list) => list.unit != Unit::Nanoseconds,
        Recorded::Trace(_) => true,
    })
}

/// The part of what `doctor` says that is summed up.
#[derive(serde::Deserialize)]
struct Examined {
    findings: Vec<Finding>,
}

fn examined(file: &Path) -> anyhow::Result<Vec<Finding>> {
    let bytes = store::bounded(fs::File::open(file)?, 0)?;
    Ok(serde_json::from_slice::<Examined>(&bytes)?.findings)
}

/// The record that was asked for; `doctor` makes none.
fn received(verb: &str, file: &Path, bytes: &[u8]) -> Result<Option<Recorded>, Trouble> {
    let no_record = |why: String| Trouble::NoRecord { why };
    if verb == "doctor" {
        let examined = serde_json::from_slice::<Examined>(bytes);
        return examined.map(|_| None).map_err(|error| no_record(error.to_string()));
    }
    let recorded = store::received(file, bytes).map_err(|failure| no_record(failure.message))?;
    match (verb, &recorded) {
        ("compare", Recorded::Comparison(_))
        | ("prices", Recorded::Prices(_))
        | ("trace", Recorded::Trace(_)) => Ok(Some(recorded)),
        _ => Err(no_record(format!("it is not one of '{verb}'"))),
    }
}

/// The one machine of `--on`. It is to be found before signals are taken over, so that Ctrl-C ends an engine that does not answer.
pub(super) fn machine(verb: &str, place: &Place) -> Result<Machine, Failure> {
    let mut machines = Place::machines(std::slice::from_ref(place))?;
    let found = machines.len();
    machines.pop().filter(|_| found == 1).ok_or_else(|| {
        Failure::usage(
            format!("--on is for one machine, and '{place}' has {found}"),
            format!("whyfaster fleet {verb} {place} -- ..."),
        )
    })
}

/// The record of a verb from that machine; `None` if we were interrupted.
pub(super) fn on(
    verb: &str,
    machine: Machine,
    along: &AlongArgs,
    interrupts: &Interrupts,
) -> Result<Option<Recorded>, Failure> {
    let machines = [machine];
    let [machine] = &machines;
    let words = own_words(verb)?;
    let load = Load::of(&along.binary, &along.send)?;
    let errand = Errand { words: &words, load: &load, patience: Patience { silence: SILENCE, limit: None } };
    let file = PathBuf::from(&machine.asked);
    let (mut recorded, mut trouble) = (None, None);
    let mut keep = |_: usize, bytes: Vec<u8>| {
        recorded = received(verb, &file, &bytes)?;
        Ok(())
    };
    let mut on = |event: &Event, tally: Tally| match event {
        Event::Ended(_, Err(why)) => trouble = Some(why.clone()),
        Event::Ended(_, Ok(())) => {}
        event => line(&machines, event, tally).iter().for_each(|line| say(line)),
    };
    say(&format!("{verb} on {}", machine.asked));
    collect(&machines, &errand, 1, Met::new(), interrupts, Home { keep: &mut keep, on: &mut on })?;
    match trouble {
        None | Some(Trouble::Interrupted) => Ok(recorded),
        Some(trouble) => Err(failure(machine, &trouble)),
    }
}

/// Why the one machine gave no record, as the verb's own failure.
fn failure(machine: &Machine, trouble: &Trouble) -> Failure {
    let exit = match trouble {
        Trouble::Verb { status: 2, .. } => Exit::Usage,
        Trouble::Verb { status: 5, .. } => Exit::CommandFailed,
        Trouble::Verb { status: 1, .. } | Trouble::NoRecord { .. } | Trouble::Cut { .. } => Exit::Error,
        _ => Exit::Unfit,
    };
    let hint = match trouble {
        Trouble::Unreachable { .. } => machine.first.clone(),
        Trouble::Down { .. } => "choose another machine, or have this one made free".to_owned(),
        Trouble::NoRoom { .. } | Trouble::NotRun { .. } => {
            "make room there, or set TMPDIR for its non-interactive shells".to_owned()
        }
        _ => "'whyfaster doctor' says what a machine allows".to_owned(),
    };
    Failure::new(exit, format!("{}: {}", machine.asked, visit::trouble(trouble)), hint)
}

/// The words of this process from the verb on: over there the same are read, but for the store.
fn own_words(verb: &str) -> Result<Vec<String>, Failure> {
    let words = std::env::args_os().skip(1).map(|word| word.into_string());
    let words = words.collect::<Result<Vec<String>, _>>();
    let words = words.ok().filter(|words| words.first().is_some_and(|it| it == verb));
    words.and_then(without_store).ok_or_else(|| {
        Failure::usage(
            "--on: the words are not text, or not those of this verb",
            format!("whyfaster {verb} --on PLACE ..."),
        )
    })
}

/// The same words without `--store`: its address may hold a password, and everybody over there may read the words of a process.
fn without_store(mut words: Vec<String>) -> Option<Vec<String>> {
    let saved = match read(&words).ok()?.verb? {
        Verb::Compare(args) => args.output.keep.saved,
        Verb::Prices(args) => args.keep.saved,
        _ => return Some(words),
    };
    let Some(store) = saved.store else { return Some(words) };
    let joined = format!("--store={store}");
    let at = words.iter().position(|it| *it == joined || it == "--store")?;
    let several = if words[at] == joined { 1 } else { 2 };
    words.drain(at..at + several);
    Some(words)
}

fn read(words: &[String]) -> Result<Args, clap::Error> {
    cli::parse(["whyfaster".to_owned()].into_iter().chain(words.iter().cloned()))
}

/// `--send` and `--binary` are for another machine.
pub(super) fn check_alone(args: &OnArgs) -> Result<(), Failure> {
    if args.along.send.is_empty() && args.along.binary.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(
        "--send and --binary are for another machine",
        "name it with --on, such as: --on ssh:HOST",
    ))
}

/// Whether they are words of a verb that can be asked of many machines.
fn check_words(words: &[String]) -> Result<(), Failure> {
    let verb = words.first().map_or("", String::as_str);
    let read = read(words).map_err(|answer| {
        let message = format!("behind '--' stands what 'whyfaster {verb}' does not read: {}", said(&answer));
        Failure::usage(
            message,
            format!("whyfaster fleet {verb} PLACE... -- ARGS; see: whyfaster {verb} --help"),
        )
    })?;
    let refused = match &read.verb {
        Some(Verb::Compare(args)) => {
            let (output, page) = (&args.output, &args.output.page);
            [
                ("--on", args.elsewhere.on.is_some()),
                ("--record", output.record.is_some()),
                ("--save, which belongs before '--'", output.keep.saved.save),
                ("--json", output.json),
                ("an export", !args.export.0.is_empty()),
                ("a page", page.html.is_some() || page.pictures.svg.is_some() || page.pictures.png.is_some()),
                ("--dry-run", args.statistics.dry_run),
            ]
            .into_iter()
            .find(|(_, given)| *given)
        }
        Some(Verb::Prices(args)) => {
            let page = &args.page;
            [
                ("--on", args.elsewhere.on.is_some()),
                ("--record", args.record.is_some()),
                ("--save, which belongs before '--'", args.keep.saved.save),
                ("--json", args.json),
                ("an export", args.export_csv.is_some()),
                ("a page", page.html.is_some() || page.pictures.svg.is_some() || page.pictures.png.is_some()),
                ("--list", args.list || args.source.is_some() || args.explain.is_some()),
            ]
            .into_iter()
            .find(|(_, given)| *given)
        }
        Some(Verb::Trace(args)) => {
            let output = &args.output;
            [
                ("--record", output.record.is_some()),
                ("--save, which belongs before '--'", output.keep.saved.save),
                ("--json", output.json),
                ("a file of a trace", !output.files.0.is_empty()),
            ]
            .into_iter()
            .find(|(_, given)| *given)
        }
        Some(Verb::Doctor(_)) => None,
        _ => Some(("another verb", true)),
    };
    refused.map_or(Ok(()), |(what, _)| {
        let message = format!("behind '--' stands {what}, and every machine's record comes home as it is");
        Err(Failure::usage(message, "leave it out; 'whyfaster show' and 'report' make anything of a record"))
    })
}

/// What the command line was not, without colours and examples.
pub(super) fn said(answer: &clap::Error) -> String {
    let text = answer.render().to_string();
    let first = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim);
    first.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_is_named_to_nobody_else() {
        let of = |words: &[&str]| without_store(words.iter().map(|it| (*it).to_owned()).collect()).unwrap();
        let rest = ["compare", "--save", "--runs=3", "a", "b"];
        let (store, value) = ("--store=postgres://u:s3cr3t@h/d", "postgres://u:s3cr3t@h/d");
        assert_eq!(of(&["compare", "--save", store, "--runs=3", "a", "b"]), rest);
        assert_eq!(of(&["compare", "--save", "--runs=3", "a", "b", "--store", value]), rest);
        assert_eq!(of(&["prices", "--store", value, "--save", "--quick"]), ["prices", "--save", "--quick"]);
        // What stands behind '--' is a command.
        let commands = ["compare", "--save", "--", "a", store];
        assert_eq!(of(&commands), commands);
        assert_eq!(of(&[&["compare", store], &commands[1..]].concat()), commands);
    }

    #[test]
    fn two_runs_that_begin_in_one_second_have_two_directories() {
        let place = tempfile::tempdir().unwrap();
        let name = place.path().join("fleet-1").to_str().unwrap().to_owned();
        let made = [(); 3].map(|()| new_directory(&name));
        assert_eq!(made, ["", "-2", "-3"].map(|it| PathBuf::from(format!("{name}{it}"))));
        assert!(made.iter().all(|it| it.is_dir()));
    }
}
