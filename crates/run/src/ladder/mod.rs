//! Engines that hand out tasks, as a place where prices are measured: every line of the plan is a burst of tasks through one of them.
//!
//! An engine's servers and its client are started once, each below a keeper, and live until the end; so that rounds over all engines
//! can come in random order. A task writes itself when it began and ended, so that nothing depends on what the client believes.

mod client;
mod spent;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use whyfaster_probe::{Batch, Parameter, Probe};

use self::client::{Client, Stop};
use self::spent::Spent;
use super::interrupts::Interrupts;
use super::probe::select::Line;
use super::probe::site::{Site, Take};
use super::probe::worker::Ended;
use whyfaster_store::Scratch;
use whyfaster_words::exit::{Exit, Failure};

/// What of a burst is measured; the first is the time that it took.
pub const MEASURES: [&str; 4] = ["time", "latency", "client_cpu", "worker_cpu"];

/// How long servers may take to be ready.
const READY: Duration = Duration::from_secs(60);
/// How long a burst may take beyond what was foreseen, before its engine is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// Ticks of the kernel's clock that are told as CPU time: each process that reaps may be off by one.
const MANY_TICKS: u64 = 10;

/// An engine as it is started: its commands are lines of a shell.
#[derive(Clone, Debug)]
pub struct Start {
    /// Its name.
    pub name: String,
    /// Its servers and workers; they say "ready".
    pub servers: Option<String>,
    /// Its client.
    pub client: ClientStart,
    /// Whether the CPU time of both sides can be told apart.
    pub cpu: bool,
    /// What its programs find in their environment.
    pub environment: Vec<(String, OsString)>,
}

/// The client of an engine.
#[derive(Clone, Debug)]
pub enum ClientStart {
    /// A mechanism of the worker.
    Mechanism(String),
    /// A command that hands out one burst.
    Submit(String),
    /// A program that is told of every burst.
    Speaks(String),
}

/// Bytes that a task writes.
const STAMP: usize = 24;

/// What a task wrote of itself.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    start_ns: u64,
    end_ns: u64,
    cpu_ns: u64,
}

/// About what a burst of tasks takes that compute nothing, seconds.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// One task.
    pub one_s: f64,
    /// Every further one.
    pub next_s: f64,
}

/// What became of a burst.
#[derive(Clone, Debug)]
struct Burst {
    /// From the hand-over to the end of the last task, nanoseconds.
    took_ns: u64,
    /// From the hand-over to the start of each task.
    latencies_ns: Vec<u64>,
    /// CPU time of those who hand out; `None`: not measured.
    client_ns: Option<u64>,
    /// Tasks, and CPU time of those who take them, the tasks themselves included; `None`: not measured.
    worker: Option<(u32, u64)>,
}

/// An engine that runs.
#[derive(Debug)]
struct Hand {
    client: Client,
    servers: Option<Client>,
    /// The file in which every task writes when it began and ended, held open since it was made.
    stamps: File,
    cpu: bool,
    /// Tasks and CPU time of bursts that are not told yet, by their tasks and length.
    carried: BTreeMap<(u32, u32), (u32, u64)>,
}

/// The engines. Dropping it ends them, and takes away their files.
#[derive(Debug)]
pub struct Hands {
    /// Those that run; the reason of those that do not.
    hands: RefCell<BTreeMap<String, Result<Hand, String>>>,
    /// Dropped after those who work in it.
    _sweeper: Option<Client>,
    scratch: Scratch,
    workers: u32,
}

/// The description that makes rows of an engine's bursts.
pub fn probe(name: &str) -> Probe {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let parameter = |key: &str, about: &str| Parameter {
        key: key.to_owned(),
        values: words(&["0"]),
        only: None,
        about: about.to_owned(),
    };
    Probe {
        name: name.to_owned(),
        group: "dispatch".to_owned(),
        unit: "one task".to_owned(),
        exercises: "handing tasks to workers".to_owned(),
        needs: String::new(),
        portable: false,
        variants: words(&["burst"]),
        measures: words(&MEASURES),
        batch: Batch::Param,
        pairs: false,
        matrix: false,
        disturbed: Vec::new(),
        source: String::new(),
        parameters: vec![
            parameter("n", "tasks at once"),
            parameter("ms", "CPU time of a task, milliseconds"),
        ],
        expectations: Vec::new(),
    }
}

/// The line of a plan that is a burst.
pub fn line(engine: &str, tasks: u32, length_ms: u32) -> Line {
    Line {
        probe: engine.to_owned(),
        variant: "burst".to_owned(),
        params: vec![("n".to_owned(), tasks.to_string()), ("ms".to_owned(), length_ms.to_string())],
        cpu: "free".to_owned(),
        temp: "warm",
        batches: 1,
    }
}

impl Hands {
    /// A directory with the program that is a task, and these files of the engines.
    pub fn make(
        files: impl Iterator<Item = (&'static str, &'static str)>,
        workers: u32,
    ) -> Result<Self, Failure> {
        let unwritable = |error: std::io::Error| {
            Failure::new(
                Exit::Error,
                format!("cannot write {}: {error}", std::env::temp_dir().display()),
                "free some space there, or set TMPDIR to another directory",
            )
        };
        let scratch = Scratch::make("ladder").map_err(unwritable)?;
        let write = |name: &str, content: &[u8]| -> io::Result<()> {
            let mut file = made(&scratch.path().join(name), 0o755)?;
            file.write_all(content)
        };
        write("task", &whyfaster_probe::worker()).map_err(unwritable)?;
        for (name, content) in files {
            write(name, content.as_bytes()).map_err(unwritable)?;
        }
        let sweeper = sweeper(scratch.path());
        Ok(Self { hands: RefCell::default(), _sweeper: sweeper, scratch, workers })
    }

    /// Starts an engine and sends a few tasks through it: about what a burst takes. `None`: we are to end.
    pub fn start(&self, start: &Start, interrupts: &Interrupts) -> Option<Result<Pace, String>> {
        let begun = self.begin(start, interrupts).and_then(|mut hand| {
            // The first task of all meets what is not warm yet.
            hand.burst(1, 0, interrupts)?;
            let one_s = hand.burst(1, 0, interrupts)?.took_ns as f64 * 1e-9;
            let tasks = 4 * self.workers;
            let all_s = hand.burst(tasks, 0, interrupts)?.took_ns as f64 * 1e-9;
            hand.carried.clear();
            let next_s = ((all_s - one_s) / f64::from(tasks - 1)).max(0.0);
            Ok((hand, Pace { one_s, next_s }))
        });
        let (kept, told) = match begun {
            Ok((hand, pace)) => (Ok(hand), Ok(pace)),
            Err(Stop::Interrupted) => return None,
            Err(Stop::Failed(why)) => (Err(why.clone()), Err(why)),
        };
        self.hands.borrow_mut().insert(start.name.clone(), kept);
        Some(told)
    }

    fn begin(&self, start: &Start, interrupts: &Interrupts) -> Result<Hand, Stop> {
        let own = self.scratch.path().join(format!("{}.d", start.name));
        let path_of_stamps = own.join("stamps");
        // Its sockets admit whoever reaches them, and the way to one of another user's is open.
        let begun = DirBuilder::new().mode(0o700).create(&own).and_then(|()| {
            // A server that refuses root runs as somebody else, and so do its tasks.
            made(&path_of_stamps, 0o666)
        });
        let stamps = begun.map_err(|error| Stop::Failed(format!("its directory cannot be made: {error}")))?;
        let task = self.scratch.path().join("task");
        let dressed = |mut command: Command| {
            command.current_dir(&own).envs(start.environment.iter().map(|(name, value)| (name, value)));
            command.env("LADDER_DIR", &own).env("LADDER_FILES", self.scratch.path());
            command.env("LADDER_TASK", &task).env("LADDER_STAMPS", &path_of_stamps);
            command.env("LADDER_WORKERS", self.workers.to_string());
            if start.servers.is_some() {
                command.env("LADDER_APART", "1");
            }
            command
        };
        let shell = |line: &str| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", line]);
            dressed(command)
        };
        let kept = |command: &Command, kind: &str| {
            let log = made(&self.scratch.path().join(format!("{}.{kind}.log", start.name)), 0o600);
            let log = log.map_err(|error| Stop::Failed(format!("its log cannot be made: {error}")))?;
            let mut client = Client::start(command, log).map_err(Stop::Failed)?;
            client.ready(interrupts, READY)?;
            Ok(client)
        };
        let servers = start.servers.as_deref().map(|line| kept(&shell(line), "servers")).transpose()?;
        let hand = |words: &[&str]| {
            let mut command = Command::new(&task);
            command.arg("--hand").args(words);
            dressed(command)
        };
        let client = match &start.client {
            ClientStart::Mechanism(name) => kept(&hand(&[name]), "client")?,
            ClientStart::Submit(line) => kept(&hand(&["run", line]), "client")?,
            ClientStart::Speaks(line) => kept(&shell(line), "client")?,
        };
        Ok(Hand { client, servers, stamps, cpu: start.cpu, carried: BTreeMap::new() })
    }
}

/// Takes the directory away when its keeper tells it to end: so that nothing stays where we are killed. Where it cannot be started, a
/// later run sweeps.
fn sweeper(directory: &Path) -> Option<Client> {
    // The others end at the same time, and some write until then.
    const LINE: &str =
        "trap 'rm -rf \"$0\"; sleep 0.5; rm -rf \"$0\"; exit' TERM; while :; do sleep 1000 & wait $!; done";
    let mut command = Command::new("/bin/sh");
    command.args(["-c", LINE]).arg(directory);
    Client::start(&command, made(&directory.join("sweeper.log"), 0o600).ok()?).ok()
}

/// Makes a file with these rights, whatever the umask. It fails if the name exists, also as a link. Others write to the
/// directories of an engine, so the caller keeps the file open instead of following its path again.
fn made(path: &Path, rights: u32) -> io::Result<File> {
    let mut make = OpenOptions::new();
    make.read(true).write(true).create_new(true).mode(rights).custom_flags(libc::O_NOFOLLOW);
    let file = make.open(path)?;
    file.set_permissions(Permissions::from_mode(rights))?;
    Ok(file)
}

impl Hand {
    /// Hands out so many tasks of so many milliseconds each.
    fn burst(&mut self, tasks: u32, length_ms: u32, interrupts: &Interrupts) -> Result<Burst, Stop> {
        let failed = |what: &str, error: io::Error| Stop::Failed(format!("{what}: {error}"));
        self.stamps.set_len(0).map_err(|error| failed("the file of its tasks cannot be emptied", error))?;
        let before = self.servers.as_ref().map(|servers| spent::below(servers.keeper()));
        self.client.tell(&format!("{tasks} {}\n", u64::from(length_ms) * 1_000_000))?;
        let patience = PATIENCE + Duration::from_millis(u64::from(tasks) * u64::from(length_ms));
        let answer = self.client.answer(interrupts, patience)?;
        let (began_ns, client_ns) = done(&answer).map_err(Stop::Failed)?;
        let client_ns = client_ns.filter(|_| self.cpu);
        let stamps = whole(&self.stamps, u64::from(tasks))
            .map_err(|error| failed("the file of its tasks cannot be read", error))
            .and_then(|bytes| stamps(&bytes, tasks).map_err(Stop::Failed))?;
        let after = self.servers.as_ref().map(|servers| spent::below(servers.keeper()));
        let of_tasks: u64 = stamps.iter().map(|stamp| stamp.cpu_ns).sum();
        let worker = match before.zip(after) {
            Some((before, after)) => self.told((tasks, length_ms), before, after),
            None => Some((tasks, of_tasks)),
        };
        let worker = worker.filter(|_| self.cpu);
        let last_ns = stamps.iter().map(|stamp| stamp.end_ns).max().unwrap_or(began_ns);
        let early = || Stop::Failed("a task began before it was handed over".to_owned());
        let latency = |stamp: &Stamp| stamp.start_ns.checked_sub(began_ns).ok_or_else(early);
        let latencies_ns = stamps.iter().map(latency).collect::<Result<_, _>>()?;
        Ok(Burst { took_ns: last_ns - began_ns, latencies_ns, client_ns, worker })
    }

    /// What servers spent for so many tasks. Where processes were reaped it is known in ticks: bursts are then put together until it is
    /// many.
    fn told(&mut self, (tasks, length_ms): (u32, u32), before: Spent, after: Spent) -> Option<(u32, u64)> {
        let spent_ns = after.cpu_ns.saturating_sub(before.cpu_ns);
        if after.reaped_faults == before.reaped_faults {
            return Some((tasks, spent_ns));
        }
        let sum = self.carried.entry((tasks, length_ms)).or_default();
        *sum = (sum.0 + tasks, sum.1 + spent_ns);
        (sum.1 >= MANY_TICKS * spent::tick_ns()).then(|| std::mem::take(sum))
    }
}

/// When the client began to hand over, and what it spent; or what went wrong.
fn done(answer: &str) -> Result<(u64, Option<u64>), String> {
    let words: Vec<&str> = answer.split(' ').collect();
    let unknown = || format!("its client answered '{answer}'");
    match words.as_slice() {
        ["failed", why @ ..] => Err(why.join(" ")),
        ["done", began, "-"] => Ok((began.parse().map_err(|_| unknown())?, None)),
        ["done", began, spent] => {
            let number = |text: &str| text.parse::<u64>().map_err(|_| unknown());
            Ok((number(began)?, Some(number(spent)?)))
        }
        _ => Err(unknown()),
    }
}

/// Reads the file of the stamps, up to one byte more than so many tasks write.
fn whole(mut file: &File, tasks: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(tasks * STAMP as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The receipt: as many stamps as tasks were handed out.
fn stamps(bytes: &[u8], tasks: u32) -> Result<Vec<Stamp>, String> {
    let (whole, rest) = bytes.as_chunks::<STAMP>();
    if whole.len() as u64 != u64::from(tasks) || !rest.is_empty() {
        return Err(format!("{tasks} tasks were handed out, {} ran", whole.len()));
    }
    let number = |stamp: &[u8; STAMP], at: usize| {
        let mut eight = [0; 8];
        eight.copy_from_slice(&stamp[at..at + 8]);
        u64::from_ne_bytes(eight)
    };
    let one = |stamp: &[u8; STAMP]| Stamp {
        start_ns: number(stamp, 0),
        end_ns: number(stamp, 8),
        cpu_ns: number(stamp, 16),
    };
    Ok(whole.iter().map(one).collect())
}

impl Site for Hands {
    fn run(&self, plan: &str, interrupts: &Interrupts, take: &mut Take<'_>) -> Result<Ended, Failure> {
        take(HELLO)?;
        for line in plan.lines().filter_map(|line| line.strip_prefix("probe ")) {
            let Some((engine, tasks, length_ms)) = asked(line) else { continue };
            let head =
                format!("name={engine}\tvariant=burst\tparams=n={tasks},ms={length_ms}\tcpu=free\ttemp=warm");
            take(&format!("begin\t{head}"))?;
            let mut hands = self.hands.borrow_mut();
            let Some(hand) = hands.get_mut(engine) else { continue };
            let burst = match hand.as_mut().map(|hand| hand.burst(tasks, length_ms, interrupts)) {
                Ok(Ok(burst)) => burst,
                Ok(Err(Stop::Interrupted)) => return Ok(Ended::Interrupted),
                Ok(Err(Stop::Failed(why))) => {
                    take(&format!("verify\t{head}\tok=0\twhy={}", why.replace('\t', " ")))?;
                    *hand = Err(why);
                    continue;
                }
                Err(why) => {
                    take(&format!("verify\t{head}\tok=0\twhy={}", why.replace('\t', " ")))?;
                    continue;
                }
            };
            for (measure, ops, ns) in burst.samples(tasks, length_ms) {
                take(&format!("sample\t{head}\tmeasure={measure}\tops={ops}\tns={ns}"))?;
            }
        }
        take("done")?;
        Ok(Ended::Whole)
    }
}

/// What the collector wants to know of the clock.
const HELLO: &str = "hello\tprotocol=1\tclock=CLOCK_MONOTONIC\tresolution_ns=1";

/// Engine, tasks and length of a line.
fn asked(line: &str) -> Option<(&str, u32, u32)> {
    let mut words = line.split(' ');
    let engine = words.next()?;
    let number = |key: &str| line.split(' ').find_map(|word| word.strip_prefix(key))?.parse::<u32>().ok();
    Some((engine, number("n=")?, number("ms=")?))
}

impl Burst {
    /// What the list keeps of it. Latency and CPU time are those of tasks that compute nothing: all else would be told as theirs.
    fn samples(&self, tasks: u32, length_ms: u32) -> Vec<(&'static str, u32, u64)> {
        let mut samples = vec![(MEASURES[0], tasks, self.took_ns)];
        if length_ms == 0 {
            samples.extend(self.latencies_ns.iter().map(|ns| (MEASURES[1], 1, *ns)));
            samples.extend(self.client_ns.map(|ns| (MEASURES[2], tasks, ns)));
            samples.extend(self.worker.map(|(tasks, ns)| (MEASURES[3], tasks, ns)));
        }
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_stamps_as_tasks_are_the_receipt() {
        let stamp: Vec<u8> = [5u64, 9, 3].iter().flat_map(|number| number.to_ne_bytes()).collect();
        let two = [stamp.clone(), stamp.clone()].concat();
        assert_eq!(stamps(&two, 2).unwrap()[1].end_ns, 9);
        assert_eq!(stamps(&two, 3).unwrap_err(), "3 tasks were handed out, 2 ran");
        assert!(stamps(&two[..40], 2).is_err());
    }

    #[test]
    fn answers_that_are_none_are_shown() {
        assert_eq!(done("done 7 -"), Ok((7, None)));
        assert_eq!(done("done 7 12"), Ok((7, Some(12))));
        assert_eq!(done("failed no such file"), Err("no such file".to_owned()));
        assert!(done("7 12").unwrap_err().contains("answered '7 12'"));
        assert!(done("done x 12").is_err());
    }

    #[test]
    fn a_line_of_the_plan_is_a_burst() {
        let text = line("xargs", 100, 10).text(true, 5);
        assert_eq!(asked(text.trim().strip_prefix("probe ").unwrap()), Some(("xargs", 100, 10)));
    }
}
