//! A study of engines: those that are there are started, bursts of tasks go through all of them in random order, and what is missing
//! says what would bring it.

use std::ffi::OsString;
use std::net::TcpListener;
use std::time::Instant;

use whyfaster_core::bounds::capacity_on;
use whyfaster_core::missing::NotMeasured;
use whyfaster_core::plan::Loads;
use whyfaster_core::price::handing::{self, Handing};
use whyfaster_core::price::{Price, PriceList};
use whyfaster_core::status::Status;
use whyfaster_host::{Root, facts};
use whyfaster_probe::Probe;

use super::findings::Findings;
use super::report::{Measured, printed};
use crate::cli::args::StudyArgs;
use crate::cli::{HostSeed, Outputs};
use crate::cmd::prices::{any_price, measured};
use crate::cmd::results::{kept, look};
use crate::study::ladder::{Found, Size, has_apt};
use crate::study::{Engine, Ladder, Study, install, words};
use whyfaster_run::cache;
use whyfaster_run::interrupts::Interrupts;
use whyfaster_run::ladder::{ClientStart, Hands, MEASURES, Pace, Start, line, probe};
use whyfaster_run::probe::select::Selection;
use whyfaster_run::probe::session::{CONFIDENCE, Request};
use whyfaster_run::probe::worker::Ended;
use whyfaster_store as store;
use whyfaster_words::exit::{Exit, Failure, nearest};

/// Runs the study. What is to be printed goes to `out`, whatever becomes of the rest.
pub(super) fn run(
    study: &Study,
    ladder: &Ladder,
    args: &StudyArgs,
    outputs: &Outputs,
    here: &HostSeed,
    out: &mut Vec<u8>,
) -> anyhow::Result<Exit> {
    let engines = chosen(study.engines()?, &args.engines, &ladder.reference)?;
    let fetched = install::Fetched::within(cache::directory());
    if args.install {
        let script = study.engine_files().find(|(name, _)| *name == install::SCRIPT);
        install::fetch(&fetched, script.map_or("", |(_, text)| text), &engines)?;
    }
    let size = size(ladder, args)?;
    let cpus = capacity_on(None, &facts(&Root::real()));
    let interrupts = Interrupts::take_over()?;
    let hands = Hands::make(study.engine_files(), workers(cpus))?;
    let mut wanted = Wanted::new(ladder, &size, cpus);
    let time = Time { began: Instant::now(), most_s: args.max_time };
    for engine in &engines {
        if wanted.start(engine, &fetched, &hands, time, &interrupts) == Ended::Interrupted {
            return Ok(Exit::Interrupted);
        }
    }
    let Wanted { selection, handing, .. } = wanted;
    let least = study.least_repetitions(CONFIDENCE);
    let left_s = time.left_s();
    let budget_s = left_s.unwrap_or(size.budget_s);
    let request = Request {
        selection,
        repetitions: size.repetitions.max(least),
        least: if args.max_time.is_some() { 1 } else { least },
        budget_s,
        limit_s: left_s.unwrap_or(2.0 * budget_s),
        spread_s: 0.0,
        seed: args.seed.unwrap_or(here.seed),
    };
    let probes: Vec<Probe> = engines.iter().map(|engine| probe(&engine.name)).collect();
    let measured = measured(&probes, &request, &hands, &interrupts, outputs);
    drop(hands);
    let mut list = PriceList { study: Some(study.name.clone()), handing: Some(handing), ..measured.list };
    list.not_measured.extend(engines.iter().filter_map(unseen));
    list.reprice();
    let uncounted: Vec<_> = engines.iter().flat_map(|engine| uncounted(&list, engine, &size.tasks)).collect();
    list.not_measured.extend(uncounted);
    if let Some(file) = &outputs.record {
        file.write(&store::price_bytes(&list)?)?;
    }
    let found = Findings::of_ladder(study, &list);
    *out = printed(study, &found, Measured::List(&list), outputs)?;
    super::page::write(study, &found, Measured::List(&list), &outputs.pages, &look(outputs))?;
    kept("study", store::price_bytes(&list), outputs)?;
    match (measured.failure, list.status) {
        (Some(failure), _) => Err(failure.into()),
        (None, Status::Interrupted) => Ok(Exit::Interrupted),
        (None, _) => any_price(&list).map(|()| Exit::Ok).map_err(|failure: Failure| failure.into()),
    }
}

/// The engines of these names, and the one that they are measured against; all of them where none is named.
fn chosen(engines: Vec<Engine>, names: &[String], reference: &str) -> Result<Vec<Engine>, Failure> {
    let known: Vec<&str> = engines.iter().map(|engine| engine.name.as_str()).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        let near = nearest(unknown, known.iter().copied());
        let hint = near.map_or(String::new(), |near| format!("did you mean '{near}'? "));
        return Err(Failure::usage(
            format!("--engines: there is no engine '{unknown}'"),
            format!("{hint}the engines are: {}", known.join(", ")),
        ));
    }
    let wanted =
        |engine: &Engine| names.is_empty() || names.contains(&engine.name) || engine.name == reference;
    Ok(engines.into_iter().filter(wanted).collect())
}

/// The size that the options ask for.
fn size(ladder: &Ladder, args: &StudyArgs) -> Result<Size, Failure> {
    let size = ladder.size(args.quick, args.full).clone();
    match &args.load {
        None => Ok(size),
        Some(Loads::Fixed(tasks)) => Ok(Size { tasks: tasks.clone(), ..size }),
        Some(_) => Err(Failure::usage(
            "--load: a study of engines has no levels to search",
            "give how many tasks there are at once, such as --load 1,10,100",
        )),
    }
}

/// The time that the study may take, if there is a limit.
#[derive(Clone, Copy)]
struct Time {
    began: Instant,
    most_s: Option<f64>,
}

impl Time {
    /// Seconds that are left.
    fn left_s(self) -> Option<f64> {
        self.most_s.map(|most_s| (most_s - self.began.elapsed().as_secs_f64()).max(0.0))
    }
}

/// Workers of an engine: as many as keep busy what there is of CPUs. One more would wait for the quota.
fn workers(cpus: f64) -> u32 {
    (cpus as u32).max(1)
}

/// What an engine lacks.
struct Lack {
    packages: Vec<String>,
    why: String,
}

/// An engine as it is started here, or what it lacks.
fn ready(engine: &Engine, fetched: &install::Fetched) -> Result<Start, Lack> {
    let (path, environment) = (fetched.search_path(), fetched.environment());
    let Found { python, missing } = engine.look(&path, &environment);
    if !missing.is_empty() {
        let apt = has_apt(&path);
        let packages: Vec<String> = missing.iter().map(|need| need.package(apt)).collect();
        let why = words::lacks(&missing, apt);
        return Err(Lack { packages, why });
    }
    let client = match (&engine.mechanism, &engine.submit, &engine.client) {
        (Some(name), _, _) => ClientStart::Mechanism(name.clone()),
        (_, Some(line), _) => ClientStart::Submit(line.clone()),
        (_, _, client) => ClientStart::Speaks(client.clone().unwrap_or_default()),
    };
    // What others measure with the same tools is not ours: a jobserver of make, an agent of ssh.
    let mut set: Vec<(String, OsString)> =
        vec![("MAKEFLAGS".into(), "".into()), ("SSH_AUTH_SOCK".into(), "".into())];
    set.push(("PATH".into(), path));
    set.extend(environment);
    set.extend(python.map(|python| ("LADDER_PYTHON".to_owned(), python.into_os_string())));
    let named = ["LADDER_PORT", "LADDER_SECOND_PORT"].into_iter().zip(free_ports());
    set.extend(named.map(|(name, port)| (name.to_owned(), port.to_string().into())));
    Ok(Start {
        name: engine.name.clone(),
        servers: engine.start.clone(),
        client,
        cpu: engine.cpu_unseen.is_none(),
        environment: set,
    })
}

/// Two ports of the loopback interface that nobody listens on.
fn free_ports() -> Vec<u16> {
    // Both are held until both are known, or they might be the same.
    let held: Vec<TcpListener> = (0..2).flat_map(|_| TcpListener::bind(("127.0.0.1", 0))).collect();
    held.iter().flat_map(TcpListener::local_addr).map(|at| at.port()).collect()
}

/// That the CPU time of an engine is not told.
fn unseen(engine: &Engine) -> Option<NotMeasured> {
    let why = engine.cpu_unseen.as_ref()?;
    Some(NotMeasured::told(format!("CPU time of {}", engine.name), why))
}

/// That the CPU time of an engine's workers is less than can be told, with these numbers of tasks at once.
fn uncounted(list: &PriceList, engine: &Engine, tasks: &[u32]) -> Vec<NotMeasured> {
    let priced = |tasks: u32, measure: &str| {
        let price: Option<&Price> = list.find(&engine.name, Some(&handing::variant(tasks, 0, measure)));
        price.is_some_and(Price::is_measured)
    };
    let all = tasks.iter().filter(|_| engine.start.is_some() && engine.cpu_unseen.is_none());
    all.filter(|tasks| priced(**tasks, "") && !priced(**tasks, MEASURES[3]))
        .map(|tasks| {
            let what = format!("CPU time of the workers of {} with {tasks} at once", engine.name);
            NotMeasured::told(what, words::FEW_TICKS)
        })
        .collect()
}

/// What is to be measured, as it grows.
struct Wanted<'a> {
    size: &'a Size,
    /// Tasks that compute at once.
    at_once: f64,
    selection: Selection,
    handing: Handing,
}

impl<'a> Wanted<'a> {
    fn new(ladder: &Ladder, size: &'a Size, cpus: f64) -> Self {
        let workers = workers(cpus);
        let handing = Handing {
            workers,
            reference: ladder.reference.clone(),
            tasks: size.tasks_a_worker * workers,
            lengths_ms: size.lengths_ms.clone(),
            share: ladder.share,
            ..Handing::default()
        };
        Self { size, at_once: cpus.min(f64::from(workers)), selection: Selection::default(), handing }
    }

    fn engine(&mut self, engine: &Engine, versions: Vec<String>, packages: Vec<String>) {
        self.handing.engines.push(handing::Engine {
            name: engine.name.clone(),
            title: engine.title.clone(),
            versions,
            packages,
        });
    }

    /// Starts an engine and takes in what became of it.
    fn start(
        &mut self,
        engine: &Engine,
        fetched: &install::Fetched,
        hands: &Hands,
        time: Time,
        interrupts: &Interrupts,
    ) -> Ended {
        if time.left_s() == Some(0.0) {
            self.lacks(engine, Vec::new(), words::NO_TIME_LEFT.to_owned());
            return Ended::Whole;
        }
        match ready(engine, fetched).map(|start| (hands.start(&start, interrupts), start.environment)) {
            Ok((None, _)) => return Ended::Interrupted,
            Ok((Some(Ok(pace)), environment)) => {
                self.take(engine, engine.versions(&environment), pace);
            }
            Ok((Some(Err(why)), _)) => self.lacks(engine, Vec::new(), why),
            Err(Lack { packages, why }) => self.lacks(engine, packages, why),
        }
        Ended::Whole
    }

    /// An engine that cannot run.
    fn lacks(&mut self, engine: &Engine, packages: Vec<String>, why: String) {
        self.engine(engine, Vec::new(), packages);
        let first = self.size.tasks.first().copied().unwrap_or(1);
        self.selection.missing.push((line(&engine.name, first, 0).head(), why));
    }

    /// An engine that runs, and about what a burst takes there.
    fn take(&mut self, engine: &Engine, versions: Vec<String>, pace: Pace) {
        self.engine(engine, versions, Vec::new());
        let bursts = self.size.tasks.iter().map(|tasks| (*tasks, 0));
        let of_lengths = self.size.lengths_ms.iter().map(|length| (self.handing.tasks, *length));
        for (tasks, length_ms) in bursts.chain(of_lengths) {
            let computing_s = (f64::from(tasks) / self.at_once).ceil() * f64::from(length_ms) * 1e-3;
            let takes_s = pace.one_s + f64::from(tasks - 1) * pace.next_s + computing_s;
            let line = line(&engine.name, tasks, length_ms);
            // The fewest tasks are always measured, so that every engine that runs has a price.
            let least = length_ms == 0 && self.size.tasks.first() == Some(&tasks);
            match takes_s > self.size.burst_s && !least {
                true => {
                    self.selection.missing.push((line.head(), words::too_long(takes_s, self.size.burst_s)))
                }
                false => self.selection.lines.push(line),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_has_fewer_workers_and_longer_bursts() {
        assert_eq!([64.0, 2.0, 2.5, 0.4].map(workers), [64, 2, 2, 1]);
        let study = crate::study::find("ladder").unwrap();
        let crate::study::Measures::Ladder(ladder) = &study.measures else { panic!("no ladder") };
        let engines = study.engines().unwrap();
        let size = Size {
            tasks: vec![1],
            lengths_ms: vec![10],
            tasks_a_worker: 20,
            burst_s: 0.3,
            ..ladder.size(true, false).clone()
        };
        let bursts = |cpus: f64| {
            let mut wanted = Wanted::new(ladder, &size, cpus);
            wanted.take(&engines[0], Vec::new(), Pace { one_s: 0.0, next_s: 0.0 });
            (wanted.selection.lines.len(), wanted.selection.missing.len())
        };
        assert_eq!((bursts(2.0), bursts(0.5)), ((2, 0), (1, 1)), "20 tasks of 10 ms for each worker");
    }
}
