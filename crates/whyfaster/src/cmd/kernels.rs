//! `machines --kernels`: every price over a row of kernels.

use std::path::Path;

use whyfaster_core::price::PriceList;
use whyfaster_core::price::compare::Rule;
use whyfaster_core::price::history::history;
use whyfaster_core::status::Status;
use whyfaster_render::history as render;
use whyfaster_render::machines::Machines;
use whyfaster_run::interrupts::Interrupts;
use whyfaster_store as store;
use whyfaster_store::reference;
use whyfaster_words::exit::{Exit, Failure, say};

use super::{inside, results};
use crate::cli::Outputs;
use crate::cli::args::MachinesArgs;

/// The rows that are followed if nobody says which: some of every group that one processor can measure.
const ROWS: [&str; 18] = [
    "getppid",
    "umask",
    "clock_gettime",
    "stat",
    "fstat",
    "open_close",
    "read",
    "write",
    "sched_yield",
    "fork",
    "vfork",
    "posix_spawn",
    "fork+execve",
    "newthread",
    "cond",
    "pipe_latency",
    "switch",
    "fault",
];

/// Runs the verb.
pub fn run(args: &MachinesArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_machines(args)?;
    if args.kernels.len() < 2 {
        let hint = "name two or more, such as --kernels debian:6.1,debian:6.12";
        return Err(Failure::usage("one kernel alone has no history", hint).into());
    }
    results::check(&outputs)?;
    let interrupts = Interrupts::take_over()?;
    let Followed { lists, failed, interrupted } = followed(args, &interrupts, &outputs)?;
    if lists.len() < 2 {
        if interrupted {
            say("interrupted: the kernels that were measured are not a history yet");
            return Ok(Exit::Interrupted);
        }
        if let Some(failure) = failed {
            return Err(failure.into());
        }
    }
    let delta = args.delta.unwrap_or(0.05);
    let found = history(&lists, delta).map_err(|why| {
        Failure::usage(format!("--kernels: {why}"), "name lists of one unit, or kernels only")
    })?;
    let look = results::look(&outputs);
    let bytes = if args.json {
        let mut bytes = serde_json::to_vec_pretty(&found)?;
        bytes.push(b'\n');
        bytes
    } else if look.quiet {
        Vec::new()
    } else {
        render::report(&found, &look).into_bytes()
    };
    store::to_stdout(&bytes)?;
    if outputs.pages.any() {
        let rule = Rule { delta, ..Rule::default() };
        super::pages::of_lists(&lists, &Machines::of(&lists, &rule, None), &rule, &outputs.pages, &look)?;
    }
    match failed {
        _ if interrupted => {
            say("interrupted: the history ends before the kernel that was being measured");
            Ok(Exit::Interrupted)
        }
        Some(failure) => Err(failure.into()),
        None => Ok(Exit::Ok),
    }
}

/// What became of the kernels.
#[derive(Default)]
struct Followed {
    lists: Vec<PriceList>,
    /// The first that could not be measured.
    failed: Option<Failure>,
    interrupted: bool,
}

/// The lists of the kernels, until we are interrupted.
fn followed(args: &MachinesArgs, interrupts: &Interrupts, outputs: &Outputs) -> anyhow::Result<Followed> {
    let mut followed = Followed::default();
    for (at, kernel) in args.kernels.iter().enumerate() {
        match one((kernel, (at, args.kernels.len())), args, interrupts, outputs) {
            Ok(Some(list)) => followed.lists.push(list),
            Ok(None) => {
                followed.interrupted = true;
                break;
            }
            // What has been measured took minutes: one kernel that fails does not take it away.
            Err(error) => {
                let failure = error.downcast::<Failure>()?;
                say(&format!("{kernel}: {failure}"));
                followed.failed.get_or_insert(failure);
            }
        }
    }
    Ok(followed)
}

/// The list of a kernel: recorded before, or measured now. `None` if we were interrupted.
fn one(
    (kernel, part): (&str, (usize, usize)),
    args: &MachinesArgs,
    interrupts: &Interrupts,
    outputs: &Outputs,
) -> anyhow::Result<Option<PriceList>> {
    let path = Path::new(kernel);
    if path.is_file() && store::read::looks_like_prices(path) {
        return reference::open(path).map(Some);
    }
    let words: Vec<String> =
        if args.rows.is_empty() { ROWS.map(str::to_owned).to_vec() } else { args.rows.clone() };
    let Some(measured) = inside::counted_kernel(kernel, args.fetch, &words, interrupts, outputs, part)?
    else {
        return Ok(None);
    };
    match measured.failure {
        Some(failure) => Err(failure.into()),
        None if measured.list.status == Status::Interrupted => Ok(None),
        None => Ok(Some(measured.list)),
    }
}
