//! `whyfaster prices`: measures what this machine charges, prints it, keeps it.

use std::fs::File;
use std::io::{self, IsTerminal, stderr};
use std::path::Path;

use whyfaster_core::cpu_list;
use whyfaster_core::price::pace::COMPUTE;
use whyfaster_core::price::project::{Term, parse, project};
use whyfaster_core::price::{PriceList, Unit};
use whyfaster_core::status::Status;
use whyfaster_host::Root;
use whyfaster_probe::Probe;
use whyfaster_render::progress::Progress;
use whyfaster_render::{machines, prices};
use whyfaster_run::interrupts::Interrupts;
use whyfaster_run::probe::select::{Wanted, select};
use whyfaster_run::probe::session::{Measured, Request, measure};
use whyfaster_run::probe::site::Site;
use whyfaster_run::probe::worker::Worker;
use whyfaster_store as store;
use whyfaster_store::Recorded;
use whyfaster_words::Tell;
use whyfaster_words::exit::{Exit, Failure, nearest, say};
use whyfaster_words::look::Look;

use super::{elsewhere, results};
use crate::cli::args::PricesArgs;
use crate::cli::{HostSeed, Outputs, Target};
use crate::sources::source_of;

/// Runs the verb.
pub fn run(args: &PricesArgs) -> anyhow::Result<Exit> {
    let probes = whyfaster_probe::descriptions();
    if let Some(name) = &args.source {
        return print(source(&probes, name)?);
    }
    if let Some(name) = &args.explain {
        return print(explanation(&probes, name)?);
    }
    let outputs = Outputs::of_prices(args)?;
    let look = results::look(&outputs);
    if args.list {
        return print(prices::probes(&probes, &look));
    }
    let place = args.elsewhere.on.as_ref();
    if place.is_none() {
        elsewhere::check_alone(&args.elsewhere)?;
    }
    results::check(&outputs)?;
    let terms = args.project.as_deref().map(counts).transpose()?;
    let machine = place.map(|place| elsewhere::machine("prices", place)).transpose()?;
    let interrupts = Interrupts::take_over()?;
    let Measured { list, failure } = if let Some(machine) = machine {
        let Some(Recorded::Prices(list)) =
            elsewhere::on("prices", machine, &args.elsewhere.along, &interrupts)?
        else {
            say("interrupted: nothing came home");
            return Ok(Exit::Interrupted);
        };
        Measured { list: *list, failure: None }
    } else if args.inside.inside.is_some() {
        let rows = |cpus, unit| wanted(args, &probes, terms.as_deref(), cpus, unit);
        let Some(measured) = super::inside::measured(args, &probes, &rows, &interrupts, &outputs)? else {
            say("interrupted: nothing had been measured");
            return Ok(Exit::Interrupted);
        };
        measured
    } else {
        let request = request(args, &probes, terms.as_deref())?;
        measured(&probes, &request, &Worker::carried(None)?, &interrupts, &outputs)
    };
    if list.samples.is_empty() && list.status == Status::Interrupted {
        say("interrupted: nothing had been measured");
        return Ok(Exit::Interrupted);
    }
    if let (true, Some(failure)) = (list.samples.is_empty(), &failure) {
        // A report without a number would hide why there is none.
        return Err(failure.clone().into());
    }
    let written = write(&list, &screen(&list, terms.as_deref(), &look), &outputs, &look);
    let kept = results::kept("prices", store::price_bytes(&list), &outputs);
    written.and(kept)?;
    super::pages::of_list(&list, &outputs.pages, &look)?;
    match (failure, list.status) {
        (Some(failure), _) => Err(failure.into()),
        (None, Status::Interrupted) => {
            say(&format!("interrupted: {}", saved(&list, &outputs)));
            Ok(Exit::Interrupted)
        }
        (None, _) => any_price(&list).map(|()| Exit::Ok).map_err(Into::into),
    }
}

/// A list without a single price is a report of reasons, which a script must not take for prices.
pub(super) fn any_price(list: &PriceList) -> Result<(), Failure> {
    if list.prices.iter().any(|price| price.is_measured()) {
        return Ok(());
    }
    Err(Failure::unfit(
        "no row has a price",
        "the list says why at each row; 'whyfaster doctor' says what this machine allows and how busy it is",
    ))
}

/// Measures, showing on standard error how far it is.
pub(super) fn measured(
    probes: &[Probe],
    request: &Request,
    worker: &dyn Site,
    interrupts: &Interrupts,
    outputs: &Outputs,
) -> Measured {
    let look = results::look_of(outputs, stderr().is_terminal());
    let mut progress = Progress::new(&look, None, stderr().is_terminal(), !look.quiet);
    let measured = measure(probes, request, worker, interrupts, &mut |event| progress.on(event));
    progress.finish();
    Measured { list: measured.list.told(), ..measured }
}

/// What to measure, from the words and options.
fn request(args: &PricesArgs, probes: &[Probe], terms: Option<&[Term]>) -> Result<Request, Failure> {
    let here = HostSeed::here();
    let cpus = match &args.pin {
        Some(pin) => pin_to(&pin.0, here.cpus_allowed.as_deref())?,
        None => here.cpus_allowed.unwrap_or_default(),
    };
    let memory = whyfaster_host::facts(&Root::real()).memory_available;
    let wanted = Wanted { memory, ..wanted(args, probes, terms, cpus, Unit::Nanoseconds) };
    let selection = select(probes, &wanted)?;
    // Six repetitions are the least that has an interval; a busy machine gets through them in a minute.
    let (repetitions, budget_s, limit_s, spread_s) = match args.quick {
        true => (8, 7.5, 10.0, 3.0),
        false if args.all => (15, 600.0, 900.0, 8.0),
        false => (15, 48.0, 58.0, 8.0),
    };
    let seed = args.seed.unwrap_or(here.seed);
    Ok(Request { selection, repetitions, least: 6, budget_s, limit_s, spread_s, seed })
}

/// The word that selects the probe of this name, and no group.
fn word(probes: &[Probe], name: &str) -> String {
    probes.iter().find(|probe| probe.name == name).map_or_else(|| name.to_owned(), Probe::full_name)
}

/// The rows that the words and options mean.
fn wanted(args: &PricesArgs, probes: &[Probe], terms: Option<&[Term]>, cpus: Vec<u32>, unit: Unit) -> Wanted {
    let mut words = args.words.clone();
    // Whoever asks for a projection and for nothing else needs only the prices in it.
    if words.is_empty() {
        words = terms.into_iter().flatten().map(|term| word(probes, &term.name)).collect();
    }
    // Every list of times says how quick the CPU itself was.
    if !words.is_empty() && unit == Unit::Nanoseconds {
        words.push(word(probes, COMPUTE));
    }
    Wanted { words, rows: Vec::new(), all: args.all, quick: args.quick, cpus, memory: None }
}

/// Keeps this process, and so the worker, on these CPUs.
fn pin_to(cpus: &[u32], allowed: Option<&[u32]>) -> Result<Vec<u32>, Failure> {
    let mut set = rustix::thread::CpuSet::new();
    for cpu in cpus {
        if allowed.is_some_and(|allowed| !allowed.contains(cpu)) {
            let allowed = cpu_list::show(allowed.unwrap_or_default());
            let message = format!("--pin: CPU {cpu} may not be used here");
            return Err(Failure::usage(message, format!("choose from {allowed}")));
        }
        set.set(*cpu as usize);
    }
    rustix::thread::sched_setaffinity(None, &set).map_err(|error| {
        let list = cpu_list::show(cpus);
        Failure::unfit(format!("--pin {list}: {error}"), "choose CPUs that are online")
    })?;
    Ok(cpus.to_vec())
}

/// Counts from the option itself, or from the file that it names.
pub(super) fn counts(text: &str) -> Result<Vec<Term>, Failure> {
    let path = Path::new(text);
    let content = if path.is_file() {
        read(path).map_err(|error| {
            let message = format!("--project: cannot read '{text}': {error}");
            Failure::usage(message, "name a text file with one count a line")
        })?
    } else {
        text.to_owned()
    };
    parse(&content).map_err(|why| {
        if !path.exists() && looks_like_a_path(text) {
            let message = format!("--project: cannot read '{text}': No such file or directory");
            return Failure::usage(
                message,
                "name a text file with one count a line, or write the counts themselves",
            );
        }
        Failure::usage(format!("--project: {why}"), "'whyfaster prices --list' shows the names")
    })
}

/// Reads no more of a file than a record may have.
fn read(path: &Path) -> io::Result<String> {
    let bytes = store::bounded(File::open(path)?, 0)?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// A count begins with a number, and a name stands behind it.
fn looks_like_a_path(text: &str) -> bool {
    !text.contains(char::is_whitespace) && (text.contains('/') || text.contains('.'))
}

/// Writes the list, then the exports, then standard output: what is dearest first.
pub(super) fn write(list: &PriceList, screen: &str, outputs: &Outputs, look: &Look) -> anyhow::Result<()> {
    if let Some(file) = &outputs.record {
        file.write(&store::price_bytes(list)?)?;
    }
    let mut printed = match outputs.json {
        true => store::price_bytes(list)?,
        false if look.quiet => Vec::new(),
        false => screen.as_bytes().to_vec(),
    };
    for (exporter, target) in &outputs.exports {
        let Some(prices) = exporter.prices else { continue };
        match target {
            Target::File(file) => file.write(&prices(list)?)?,
            Target::Stdout => printed.extend(prices(list)?),
        }
    }
    store::to_stdout(&printed)
}

/// The list as text, in the detail that was asked for; empty for `--style none`.
pub(super) fn screen(list: &PriceList, terms: Option<&[Term]>, look: &Look) -> String {
    if look.quiet {
        return String::new();
    }
    let mut text = prices::report(list, look);
    if let Some(terms) = terms {
        let lists = std::slice::from_ref(list);
        text.push_str(&machines::projection(&project(lists, terms).told(), look));
    }
    text
}

/// What an interrupt left.
fn saved(list: &PriceList, outputs: &Outputs) -> String {
    let rows = list.prices.iter().filter(|price| price.is_measured()).count();
    match &outputs.record {
        Some(path) => format!("{rows} rows have a price; the partial list is in '{}'", path.display()),
        None => format!("{rows} rows have a price; {}", results::where_kept(outputs)),
    }
}

fn print(text: String) -> anyhow::Result<Exit> {
    store::to_stdout(text.as_bytes())?;
    Ok(Exit::Ok)
}

/// The C source of a probe and of what it is made of, as it was compiled.
fn source(probes: &[Probe], name: &str) -> Result<String, Failure> {
    let probe = find(probes, name)?;
    source_of(&probe.source).ok_or_else(|| {
        let message = format!("the source '{}' of '{name}' is not in this program", probe.source);
        Failure::new(Exit::Error, message, "this is a defect: please report it")
    })
}

fn explanation(probes: &[Probe], name: &str) -> Result<String, Failure> {
    let probe = find(probes, name)?;
    let page = crate::pages::page(&probe.name);
    page.map(str::to_owned).ok_or_else(|| {
        let message = format!("there is no page about '{name}'");
        Failure::new(
            Exit::Error,
            message,
            format!("'whyfaster prices --source {name}' prints what is measured"),
        )
    })
}

fn find<'a>(probes: &'a [Probe], name: &str) -> Result<&'a Probe, Failure> {
    probes.iter().find(|probe| probe.name == name || probe.full_name() == name).ok_or_else(|| {
        let hint = match nearest(name, probes.iter().map(|probe| probe.name.as_str())) {
            Some(like) => format!("did you mean '{like}'? 'whyfaster prices --list' shows all of them"),
            None => "'whyfaster prices --list' shows all of them".to_owned(),
        };
        let shown: String = name.chars().take(80).collect();
        Failure::usage(format!("there is no probe '{shown}'"), hint)
    })
}
