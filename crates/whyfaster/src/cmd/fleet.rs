//! `whyfaster fleet`: the same questions, asked of many machines.

use std::path::{Path, PathBuf};

use serde::Serialize;
use whyfaster_core::fleet::change::{ChangeReport, change};
use whyfaster_core::fleet::questions::{Answered, Questions};
use whyfaster_core::fleet::{self, Fleet, PriceReport};

use super::{elsewhere, results, show};
use crate::cli::Outputs;
use crate::cli::args::{FleetArgs, FleetDiffArgs, FleetReportArgs, FleetTask, ViewArgs};
use crate::exit::{Exit, Failure, say};
use crate::render::fleet as render;
use crate::render::look::Look;
use crate::store::{self, Recorded, Refused};

/// What `fleet report --json` prints.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    prices: Option<PriceReport>,
    comparisons: Vec<Answered>,
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
#[derive(Debug, Serialize)]
struct NotRead {
    file: PathBuf,
    why: String,
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
    if let Some(directory) = &visited.fleet {
        reported(std::slice::from_ref(directory), false, view)?;
    }
    Ok(visited.exit)
}

/// What was read.
#[derive(Default)]
struct Gathered {
    fleet: Fleet,
    /// What the files of its machines call them.
    called: Vec<String>,
    questions: Questions,
    not_read: Vec<NotRead>,
}

impl Gathered {
    fn of(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut gathered = Self::default();
        let mut other = Vec::new();
        let refused = store::gather(paths, &mut |name, file, recorded| {
            if let Some(why) = gathered.take(name, recorded) {
                other.push(NotRead { file: file.to_owned(), why });
            }
        })?;
        gathered.fleet.tell_apart(&gathered.called);
        let refused = refused.into_iter().map(|Refused { file, why }| NotRead { file, why: why.to_string() });
        gathered.not_read = refused.chain(other).collect();
        for NotRead { file, why } in &gathered.not_read {
            say(&format!("left out '{}': {why}", file.display()));
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
                self.questions.add(name, &show::reanalysed(*record));
                None
            }
            Recorded::Trace(_) => Some("a trace of one command says nothing of a fleet".to_owned()),
        }
    }
}

fn report(args: &FleetReportArgs) -> anyhow::Result<Exit> {
    reported(&args.files, args.json, args.view)
}

/// What the records under these paths say together.
fn reported(paths: &[PathBuf], as_json: bool, view: ViewArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_fleet(as_json, view)?;
    let look = results::look(&outputs);
    let gathered = Gathered::of(paths)?;
    let machines = gathered.fleet.machines.len();
    let answered = gathered.questions.answered();
    enough(machines.max(answered.iter().map(|it| it.report.machines.len()).max().unwrap_or(0)))?;
    let prices = (machines > 1).then(|| fleet::report(&gathered.fleet));
    if as_json {
        return json(&Report { schema: REPORT, prices, comparisons: answered, not_read: gathered.not_read });
    }
    let several = answered.iter().filter(|it| it.report.machines.len() > 1);
    let parts = prices
        .iter()
        .map(|it| render::prices(it, &look))
        .chain(several.map(|it| render::comparison(it, &look)));
    print(&parts.collect::<Vec<_>>().join("\n"), &look)
}

fn diff(args: &FleetDiffArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_fleet(args.json, args.view)?;
    let look = results::look(&outputs);
    let before = prices_in(&args.before)?;
    let after = prices_in(&args.after)?;
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
    let not_read = before.not_read.into_iter().chain(after.not_read).collect();
    if args.json {
        return json(&Diff { schema: DIFF, change, not_read });
    }
    print(&render::changes(&change, &look), &look)
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

/// The first names of a fleet.
fn names(fleet: &Fleet) -> String {
    let names: Vec<&str> = fleet.machines.iter().take(3).map(|it| it.name.as_str()).collect();
    let more = if fleet.machines.len() > names.len() { ", ..." } else { "" };
    format!("{}{more}", names.join(", "))
}

fn enough(machines: usize) -> Result<(), Failure> {
    if machines > 1 {
        return Ok(());
    }
    let message = "one machine is no fleet: at least two must have answered the same question";
    Err(Failure::new(Exit::Error, message, "name the files of more machines, or a directory with them"))
}

fn json(document: &impl Serialize) -> anyhow::Result<Exit> {
    let mut bytes = serde_json::to_vec_pretty(document)?;
    bytes.push(b'\n');
    store::to_stdout(&bytes)?;
    Ok(Exit::Ok)
}

fn print(text: &str, look: &Look) -> anyhow::Result<Exit> {
    if !look.quiet {
        store::to_stdout(text.as_bytes())?;
    }
    Ok(Exit::Ok)
}
