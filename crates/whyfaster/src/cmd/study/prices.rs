//! A study of prices: the rows that it shows or needs are measured, and nothing else.

use whyfaster_core::price::PriceList;
use whyfaster_core::status::Status;
use whyfaster_run::interrupts::Interrupts;
use whyfaster_run::probe::select::{Wanted, select};
use whyfaster_run::probe::session::{CONFIDENCE, Request};
use whyfaster_run::probe::worker::Worker;
use whyfaster_store as store;
use whyfaster_words::exit::{Exit, Failure};

use super::findings::Findings;
use super::report::{Measured, printed};
use crate::cli::args::StudyArgs;
use crate::cli::{HostSeed, Outputs};
use crate::cmd::prices::{any_price, measured};
use crate::cmd::results::{kept, look};
use crate::study::{Prices, Study};

/// Seconds that a study of prices aims at, with `--quick`, without and with `--full`.
const QUICK_BUDGET_S: f64 = 10.0;
const BUDGET_S: f64 = 30.0;
const FULL_BUDGET_S: f64 = 120.0;

/// More repetitions than this narrow no interval that matters.
const MOST_REPETITIONS: u32 = 60;

/// Runs the study. What is to be printed goes to `out`, whatever becomes of the rest.
pub(super) fn run(
    study: &Study,
    prices: &Prices,
    args: &StudyArgs,
    outputs: &Outputs,
    here: &HostSeed,
    out: &mut Vec<u8>,
) -> anyhow::Result<Exit> {
    let probes = whyfaster_probe::descriptions();
    let wanted = Wanted {
        words: prices.probes.clone(),
        rows: study.measured_rows()?,
        cpus: here.cpus_allowed.clone().unwrap_or_default(),
        ..Wanted::default()
    };
    let budget_s = args.max_time.unwrap_or(match (args.quick, args.full) {
        (true, _) => QUICK_BUDGET_S,
        (_, true) => FULL_BUDGET_S,
        _ => BUDGET_S,
    });
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
    let worker = Worker::carried(None)?;
    let interrupts = Interrupts::take_over()?;
    let measured = measured(&probes, &request, &worker, &interrupts, outputs);
    let list = PriceList { study: Some(study.name.clone()), ..measured.list };
    if let Some(file) = &outputs.record {
        file.write(&store::price_bytes(&list)?)?;
    }
    let found = Findings::of_prices(study, &list)?;
    *out = printed(study, &found, Measured::List(&list), outputs)?;
    super::page::write(study, &found, Measured::List(&list), &outputs.pages, &look(outputs))?;
    kept("study", store::price_bytes(&list), outputs)?;
    match (measured.failure, list.status) {
        (Some(failure), _) => Err(failure.into()),
        (None, Status::Interrupted) => Ok(Exit::Interrupted),
        (None, _) => any_price(&list).map(|()| Exit::Ok).map_err(|failure: Failure| failure.into()),
    }
}
