//! `whyfaster study threads` and `study syscalls`: measures the rows of an article and sets them beside it.

use serde::Serialize;
use whyfaster_core::event::Status;
use whyfaster_core::price::PriceList;
use whyfaster_core::price::project::project;

use super::machines::open;
use super::prices::{any_price, measured, worker};
use super::results;
use crate::cli::args::StudyArgs;
use crate::cli::{HostSeed, Outputs};
use crate::exit::{Exit, Failure, say};
use crate::render::machines;
use crate::run::interrupts::Interrupts;
use crate::run::probe::select::{Wanted, select};
use crate::run::probe::session::{CONFIDENCE, Request};
use crate::store;
use crate::study::{PriceFindings, PriceStudy};

/// Seconds that a study of prices aims at, without and with `--full`.
const BUDGET_S: f64 = 30.0;
const FULL_BUDGET_S: f64 = 120.0;

/// More repetitions than this narrow no interval that matters.
const MOST_REPETITIONS: u32 = 60;

/// A price list with what the study found in it. A reader of price lists skips the addition.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    list: &'a PriceList,
    study_findings: &'a PriceFindings,
}

/// Runs the study.
pub fn run(study: &PriceStudy, args: &StudyArgs, outputs: &Outputs) -> anyhow::Result<Exit> {
    if args.quick {
        let message = format!("--quick: study {} has no smaller size", study.name);
        return Err(
            Failure::new(Exit::Usage, message, "leave --quick away, or limit it with --max-time").into()
        );
    }
    if args.load.is_some() {
        return Err(Failure::new(
            Exit::Usage,
            format!("--load: study {} prices single operations, so there is no load", study.name),
            "leave --load away, or run 'whyfaster study pipes'",
        )
        .into());
    }
    // A list that cannot be read is said before anything is measured.
    let with = open(&args.with)?;
    let probes = whyfaster_probe::descriptions();
    let here = HostSeed::here();
    let wanted = Wanted {
        words: study.words.clone(),
        rows: study.measured_rows(),
        cpus: here.cpus_allowed.unwrap_or_default(),
        ..Wanted::default()
    };
    let budget_s = args.max_time.unwrap_or(if args.full { FULL_BUDGET_S } else { BUDGET_S });
    let least = study.least_repetitions(CONFIDENCE);
    let request = Request {
        selection: select(&probes, &wanted)?,
        // Whoever names a time gets as many repetitions as fit.
        repetitions: if args.full || args.max_time.is_some() { MOST_REPETITIONS } else { 2 * least },
        least: if args.max_time.is_some() { 1 } else { least },
        budget_s,
        limit_s: args.max_time.unwrap_or(2.0 * budget_s),
        // Its claims compare rows of one repetition.
        spread_s: 0.0,
        seed: args.seed.unwrap_or(here.seed),
    };
    let worker = worker()?;
    let interrupts = Interrupts::take_over()?;
    let measured = measured(&probes, &request, &worker, &interrupts, outputs);
    let list = measured.list;
    if let Some(path) = &outputs.record {
        store::write_atomic(path, &store::price_bytes(&list)?)?;
    }
    store::to_stdout(&report(study, &list, &with, outputs)?)?;
    match (measured.failure, list.status) {
        (Some(failure), _) => Err(failure.into()),
        (None, Status::Interrupted) => {
            say("interrupted: what had been measured is above");
            Ok(Exit::Interrupted)
        }
        (None, _) => any_price(&list).map(|()| Exit::Ok).map_err(Into::into),
    }
}

fn report(
    study: &PriceStudy,
    list: &PriceList,
    with: &[PriceList],
    outputs: &Outputs,
) -> anyhow::Result<Vec<u8>> {
    let found = study.findings(list, with)?;
    let look = results::look(outputs);
    if outputs.json {
        let mut bytes = serde_json::to_vec(&Document { list, study_findings: &found })?;
        bytes.push(b'\n');
        return Ok(bytes);
    }
    if look.quiet {
        return Ok(Vec::new());
    }
    let mut text = study.text(&found, list)?;
    text.push_str(&machines::checks(&found.checks, &look));
    let terms = study.terms()?;
    if !terms.is_empty() {
        let lists: Vec<PriceList> = study
            .lists()?
            .into_iter()
            .map(|(_, list)| list)
            .chain([list.clone()])
            .chain(with.iter().cloned())
            .collect();
        text.push_str(&machines::projection(&project(&lists, &terms), &look));
    }
    Ok(text.into_bytes())
}
