//! `whyfaster fleet`: the same questions, asked of many machines: of their records in files, or of the store.

mod files;
mod gate;

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Serialize;
use whyfaster_core::fleet::change::{ChangeReport, Changes, change};
use whyfaster_core::fleet::effects::{Tally, effects};
use whyfaster_core::fleet::questions::{Answered, Counted, Questions};
use whyfaster_core::fleet::{self, Fleet, PriceReport};
use whyfaster_render::fleet as render;
use whyfaster_render::fleet::files::prometheus::{self, Files};
use whyfaster_render::fleet::files::tables::{self, Format};
use whyfaster_render::report::{self as pages, Reported};
use whyfaster_store as store;
use whyfaster_store::again::reanalysed;
use whyfaster_store::database::{Address, Asked, Chosen, Database, Moment};
use whyfaster_store::{Recorded, Refused};
use whyfaster_words::exit::{Exit, Failure, say};
use whyfaster_words::look::Look;
use whyfaster_words::phrases::list;

use self::files::{Table, Written};
use super::{elsewhere, joined, results};
use crate::cli::Outputs;
use crate::cli::args::{FleetArgs, FleetDiffArgs, FleetReportArgs, FleetTask, ViewArgs};

/// What `fleet report --json` prints.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    prices: Option<PriceReport>,
    comparisons: Vec<Answered>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counted: Vec<Counted>,
    not_read: Vec<NotRead>,
}

/// What `fleet diff --json` prints.
#[derive(Debug, Serialize)]
struct Diff {
    schema: &'static str,
    #[serde(flatten)]
    change: ChangeReport,
    not_read: Vec<NotRead>,
}

/// A file without a part in the answer.
#[derive(Clone, Debug, Serialize)]
struct NotRead {
    file: String,
    why: String,
}

impl NotRead {
    fn new(file: &Path, why: String) -> Self {
        Self { file: file.display().to_string(), why }
    }
}

const REPORT: &str = "whyfaster-fleet-report/1";
const DIFF: &str = "whyfaster-fleet-diff/1";

/// Runs the verb.
pub fn run(args: &FleetArgs) -> anyhow::Result<Exit> {
    match &args.task {
        FleetTask::Compare(args) => visited(elsewhere::fleet("compare", args)?, args.view),
        FleetTask::Prices(args) => visited(elsewhere::fleet("prices", args)?, args.view),
        FleetTask::Trace(args) => visited(elsewhere::fleet("trace", args)?, args.view),
        FleetTask::Doctor(args) => visited(elsewhere::fleet("doctor", args)?, args.view),
        FleetTask::Resume(args) => visited(elsewhere::resume(args)?, args.view),
        FleetTask::Report(args) => report(args),
        FleetTask::Diff(args) => diff(args),
    }
}

/// Reports what came home.
fn visited(visited: elsewhere::Visited, view: ViewArgs) -> anyhow::Result<Exit> {
    let elsewhere::Visited { fleet: files, exit } = visited;
    if files.is_empty() {
        return Ok(exit);
    }
    let reported = report(&FleetReportArgs { files, view, ..FleetReportArgs::default() });
    Ok(results::after(reported.map(drop), exit))
}

/// From so many questions on, each is told in a line of a table, and of the store in no more.
const MANY: usize = 20;

/// What was read.
#[derive(Default)]
struct Gathered {
    fleet: Fleet,
    /// What the files of its machines call them.
    called: Vec<String>,
    questions: Questions,
    not_read: Vec<NotRead>,
}

/// What machines say to comparisons.
#[derive(Default)]
struct Comparisons {
    answered: Vec<Answered>,
    /// Those that are told in short, if there are many.
    counted: Vec<Counted>,
}

impl Gathered {
    fn of(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut gathered = Self::default();
        let mut other = Vec::new();
        let refused = store::gather(paths, &mut |name, file, recorded| {
            if let Some(why) = gathered.take(name, recorded) {
                other.push(NotRead::new(file, why));
            }
        })?;
        gathered.fleet.tell_apart(&gathered.called);
        let refused = refused.into_iter().map(|Refused { file, why }| NotRead::new(&file, why.to_string()));
        gathered.not_read = refused.chain(other).collect();
        for NotRead { file, why } in &gathered.not_read {
            say(&format!("left out '{file}': {why}"));
        }
        Ok(gathered)
    }

    /// Why it has no part in the answer, if it has none.
    fn take(&mut self, name: &str, recorded: Recorded) -> Option<String> {
        match recorded {
            Recorded::Prices(list) if self.fleet.add(&list) => {
                self.called.push(name.to_owned());
                None
            }
            Recorded::Prices(list) => {
                Some(format!("it is in {}, and a fleet is compared in time", list.unit.name()))
            }
            Recorded::Comparison(record) => {
                self.questions.add(name, &reanalysed(*record));
                None
            }
            Recorded::Trace(_) => Some("a trace of one command says nothing of a fleet".to_owned()),
        }
    }
}

fn report(args: &FleetReportArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_fleet_report(args)?;
    results::check(&outputs)?;
    let look = results::look(&outputs);
    let ((fleet, prices), comparisons, not_read) = match args.files.as_slice() {
        [] => {
            let address = Address::or_usual(args.store.store.as_deref())?;
            let chosen = args.chosen.chosen();
            // At once, as there may be millions of either.
            let (priced, comparisons) = thread::scope(|scope| {
                let prices = scope.spawn(|| Database::open(&address)?.prices(&chosen).map(priced));
                let comparisons = stored(&address, args.only.as_deref(), &chosen);
                Ok::<_, Failure>((joined(prices)?, comparisons?))
            })?;
            (priced, comparisons, Vec::new())
        }
        files => {
            let gathered = Gathered::of(files)?;
            let mut answered = gathered.questions.answered();
            answered.retain(|it| args.only.as_deref().is_none_or(|only| it.question.holds(only)));
            let many = if answered.len() > MANY { answered.as_slice() } else { &[] };
            let counted = many.iter().map(Counted::of).collect();
            (priced(gathered.fleet), Comparisons { answered, counted }, gathered.not_read)
        }
    };
    let Comparisons { answered, counted } = comparisons;
    let asked = answered.iter().map(|it| it.report.machines.len());
    let machines = fleet.machines.len();
    enough(asked.chain(counted.iter().map(|it| it.machines)).fold(machines, usize::max), args)?;
    let report = Report { schema: REPORT, prices, comparisons: answered, counted, not_read };
    let exit = gate::report(args, report.prices.as_ref(), &report.comparisons, &report.counted)?;
    let behind = report_files(args, &fleet, &report, &outputs, &look)?;
    let text = if args.json { json(&report)? } else { screen(&report, &look).into_bytes() };
    Ok(results::after(store::to_stdout(&[text, behind].concat()), exit))
}

/// The prices of machines with what is to be said of them, where there are two to compare.
fn priced(fleet: Fleet) -> (Fleet, Option<PriceReport>) {
    let report = (fleet.machines.len() > 1).then(|| fleet::report(&fleet));
    (fleet, report)
}

/// The report as a terminal shows it.
fn screen(report: &Report, look: &Look) -> String {
    if look.quiet {
        return String::new();
    }
    let mut parts: Vec<String> = report.prices.iter().map(|it| render::prices(it, look)).collect();
    if report.counted.is_empty() {
        let several = report.comparisons.iter().filter(|it| it.report.machines.len() > 1);
        parts.extend(several.map(|it| render::comparison(it, look)));
    } else {
        parts.push(render::counted(&report.counted, look));
    }
    parts.join("\n")
}

/// Writes the files of a report; gives what goes to standard output.
fn report_files(
    args: &FleetReportArgs,
    fleet: &Fleet,
    report: &Report,
    outputs: &Outputs,
    look: &Look,
) -> anyhow::Result<Vec<u8>> {
    let prices = report.prices.as_ref().map(|it| (fleet, it));
    let all = |format| {
        let option = ["--export-csv", "--export-parquet"];
        let (fleet, report) = prices.ok_or_else(|| nothing(option, format, "prices of two machines"))?;
        tables::prices(fleet, report, format)
    };
    let comparisons = |format| match report.comparisons.as_slice() {
        [] => {
            let option = ["--export-comparisons-csv", "--export-comparisons-parquet"];
            Err(nothing(option, format, "comparisons, machine by machine").into())
        }
        answered => tables::comparisons(answered, format),
    };
    let page = || {
        let json = serde_json::to_vec(report)?;
        let (answered, counted) = (&report.comparisons, &report.counted);
        Ok(pages::fleet(&Reported { prices, answered, counted, json: &json }, look))
    };
    if args.outputs.export_prometheus.is_some() && report.comparisons.is_empty() && !report.counted.is_empty()
    {
        say(
            "--export-prometheus has no comparisons: of more than 20 in the store take fewer with --only TEXT",
        );
    }
    let files = || prometheus::report(prices, &report.comparisons);
    let tables: Vec<Table<'_>> = vec![
        (&args.outputs.export_csv, Format::Csv, &all),
        (&args.export_comparisons_csv, Format::Csv, &comparisons),
        (&args.outputs.export_parquet, Format::Parquet, &all),
        (&args.export_comparisons_parquet, Format::Parquet, &comparisons),
    ];
    let prometheus: (&Option<PathBuf>, &dyn Fn() -> Files) = (&args.outputs.export_prometheus, &files);
    files::write(outputs, &Written { tables, prometheus, page: &page })
}

/// What an option would write is not there: of the options the one of this format.
fn nothing([csv, parquet]: [&str; 2], format: Format, what: &str) -> Failure {
    let option = match format {
        Format::Csv => csv,
        Format::Parquet => parquet,
    };
    let hint =
        "name the files that have it; of more than 20 comparisons of the store take fewer with --only TEXT";
    Failure::new(Exit::Error, format!("there are no {what} for {option}"), hint)
}

fn json(document: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(document)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// What the store says to comparisons.
fn stored(address: &Address, only: Option<&str>, chosen: &Chosen) -> Result<Comparisons, Failure> {
    let mut database = Database::open(address)?;
    let asked = database.questions(only, chosen)?;
    if asked.len() > MANY {
        return Ok(Comparisons { counted: counted(address, &asked, chosen)?, ..Comparisons::default() });
    }
    let mut answered = Vec::new();
    for asked in asked {
        let all = database.on_machines(&asked, chosen)?;
        if !all.is_empty() {
            answered.push(Answered { question: asked.question, report: effects(&all) });
        }
    }
    Ok(Comparisons { answered, ..Comparisons::default() })
}

/// Connections that read at once: a server has some dozens for all who ask.
const READERS: usize = 8;

/// Many questions in short, on several CPUs.
fn counted(address: &Address, asked: &[Asked], chosen: &Chosen) -> Result<Vec<Counted>, Failure> {
    let readers = thread::available_parallelism().map_or(1, usize::from).min(READERS);
    let next = AtomicUsize::new(0);
    let some = || {
        let mut counted = Vec::new();
        let those = iter::from_fn(|| {
            let at = next.fetch_add(1, Ordering::Relaxed);
            asked.get(at).map(|asked| (at, asked))
        });
        Database::open(address)?.answers(those, chosen, |at, answers| {
            let (question, tally) = (asked[at].question.clone(), Tally::of(answers.iter()));
            counted.push((at, Counted { question, machines: answers.len(), tally }));
        })?;
        Ok(counted)
    };
    thread::scope(|scope| {
        let running: Vec<_> = (0..readers).map(|_| scope.spawn(some)).collect();
        let ended = running.into_iter().map(joined).collect::<Result<Vec<_>, Failure>>()?;
        let mut all = ended.concat();
        all.sort_by_key(|(at, _)| *at);
        Ok(all.into_iter().map(|(_, it)| it).filter(|it| it.machines > 0).collect())
    })
}

fn diff(args: &FleetDiffArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_fleet_diff(args)?;
    results::check(&outputs)?;
    let look = results::look(&outputs);
    let in_store = in_store(args)?;
    let [before, after] = if in_store {
        prices_at(&Address::or_usual(args.store.store.as_deref())?, [&args.before, &args.after])?
    } else {
        [prices_in(&args.before)?, prices_in(&args.after)?]
    };
    let change = change(&before.fleet, &after.fleet, args.delta);
    if change.machines.is_empty() {
        let message = format!(
            "no machine is both in '{}' ({}) and in '{}' ({})",
            args.before.display(),
            names(&before.fleet),
            args.after.display(),
            names(&after.fleet)
        );
        return Err(Failure::new(
            Exit::Error,
            message,
            "machines are paired by the name in their lists, which is the host's own",
        )
        .into());
    }
    let not_read = before.not_read.iter().chain(&after.not_read).cloned().collect();
    let exit = gate::diff(args, &change);
    let diff = Diff { schema: DIFF, change, not_read };
    let files = || prometheus::changes(&Changes::of(&before.fleet, &after.fleet));
    let changes = |format| tables::changes(&diff.change, format);
    let page = || Ok(pages::changes(&diff.change, &serde_json::to_vec(&diff)?, &look));
    let tables: Vec<Table<'_>> = vec![
        (&args.outputs.export_csv, Format::Csv, &changes),
        (&args.outputs.export_parquet, Format::Parquet, &changes),
    ];
    let prometheus: (&Option<PathBuf>, &dyn Fn() -> Files) = (&args.outputs.export_prometheus, &files);
    let behind = files::write(&outputs, &Written { tables, prometheus, page: &page })?;
    let text = match (args.json, look.quiet) {
        (true, _) => json(&diff)?,
        (false, true) => Vec::new(),
        (false, false) => render::changes(&diff.change, &look).into_bytes(),
    };
    Ok(results::after(store::to_stdout(&[text, behind].concat()), exit))
}

/// Whether the two states are labels or dates in the store. Of one that is a file and one that is not nobody knows.
fn in_store(args: &FleetDiffArgs) -> Result<bool, Failure> {
    let (file, label) = match [&args.before, &args.after].map(|named| named.exists()) {
        _ if args.store.store.is_some() => return Ok(true),
        [true, true] => return Ok(false),
        [false, false] => return Ok(true),
        [true, false] => (&args.before, &args.after),
        [false, true] => (&args.after, &args.before),
    };
    let message =
        format!("'{}' is there as a file or a directory, and '{}' is not", file.display(), label.display());
    let hint = "name two files or directories; or two labels or dates in the store, with --store STORE";
    Err(Failure::new(Exit::Error, message, hint))
}

/// The price lists under a path.
fn prices_in(path: &Path) -> Result<Gathered, Failure> {
    let gathered = Gathered::of(&[path.to_owned()])?;
    if gathered.fleet.machines.is_empty() {
        let message = format!("there is no price list in '{}'", path.display());
        return Err(Failure::new(
            Exit::Error,
            message,
            "write one on every machine: whyfaster prices --record FILE",
        ));
    }
    Ok(gathered)
}

/// The price lists of the store, twice: each time under a label, or at a time.
fn prices_at(address: &Address, named: [&Path; 2]) -> Result<[Gathered; 2], Failure> {
    let [before, after] = named.map(|named| {
        let text = named.to_string_lossy().into_owned();
        match text.parse::<Moment>() {
            Ok(moment) => Chosen { until: Some(moment), ..Chosen::default() },
            Err(_) => Chosen { label: Some(text), ..Chosen::default() },
        }
    });
    let fleets = Database::open(address)?.prices_before_and_after(&before, &after)?;
    for ((fleet, chosen), named) in fleets.iter().zip([&before, &after]).zip(named) {
        if fleet.machines.is_empty() {
            return Err(no_prices_at(address, chosen, named, fleets[0].machines.is_empty()));
        }
    }
    Ok(fleets.map(|fleet| Gathered { fleet, ..Gathered::default() }))
}

/// Nothing is in the store under a label or at a time; or, at the later of two, nothing new.
fn no_prices_at(address: &Address, chosen: &Chosen, named: &Path, first: bool) -> Failure {
    let what = if chosen.label.is_some() { "under the label" } else { "from before" };
    let named = named.display();
    let message = match first {
        true => format!("there is no price list {what} '{named}' in the store {address}, and no such file"),
        false => format!(
            "there is no price list {what} '{named}' in the store {address} that is not one of the first state as well"
        ),
    };
    let hint =
        "'whyfaster store list' shows what there is; name two files or directories, two labels, or two dates";
    Failure::new(Exit::Error, message, hint)
}

/// The first names of a fleet.
fn names(fleet: &Fleet) -> String {
    let names: Vec<&str> = fleet.machines.iter().take(3).map(|it| it.name.as_str()).collect();
    let more = if fleet.machines.len() > names.len() { ", ..." } else { "" };
    format!("{}{more}", names.join(", "))
}

/// Which records of the store are meant, where not all are.
fn which(args: &FleetReportArgs) -> String {
    let chosen = &args.chosen;
    let named = |option: &str, value: &str| format!("{option} '{value}'");
    let dates = [chosen.since.map(|_| "--since".to_owned()), chosen.until.map(|_| "--until".to_owned())];
    let options: Vec<String> = chosen
        .label
        .iter()
        .map(|it| named("--label", it))
        .chain(args.only.iter().map(|it| named("--only", it)))
        .chain(chosen.hosts.iter().map(|it| named("--host", it)))
        .chain(dates.into_iter().flatten())
        .collect();
    if options.is_empty() { String::new() } else { format!(" for {}", list(&options)) }
}

const ONE: &str = "one machine is no fleet: at least two must have answered the same question";

/// `'runs' holds`.
fn hold(files: &[PathBuf]) -> String {
    match files {
        [one] => format!("'{}' holds", one.display()),
        _ => format!("'{}' and what else is named ({} in all) hold", files[0].display(), files.len()),
    }
}

fn enough(machines: usize, args: &FleetReportArgs) -> Result<(), Failure> {
    let (message, hint) = match (machines, args.files.is_empty()) {
        (0, true) => {
            let message =
                format!("the store holds neither prices nor a comparison of two commands{}", which(args));
            return Err(Failure::new(Exit::Error, message, "'whyfaster store list' shows what there is"));
        }
        (0, false) => {
            let message = format!("{} neither prices nor a comparison of two commands", hold(&args.files));
            let hint = "ask every machine for one: whyfaster fleet prices PLACE, or whyfaster fleet compare PLACE -- A B";
            return Err(Failure::new(Exit::Error, message, hint));
        }
        (1, true) => (ONE, "add the records of more machines: whyfaster store add; or choose more of them"),
        (1, false) => (ONE, "name the files of more machines, or a directory with them"),
        _ => return Ok(()),
    };
    Err(Failure::new(Exit::Error, message, hint))
}
