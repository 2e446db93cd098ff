//! `prices --inside KIND`: the same rows, measured elsewhere.

use std::io::{IsTerminal, stderr};
use std::time::Duration;

use whyfaster_core::price::Unit;
use whyfaster_probe::Probe;
use whyfaster_render::progress::Progress;
use whyfaster_run::inside::session::{cpus, measure};
use whyfaster_run::inside::{Asked, Guest, Options};
use whyfaster_run::interrupts::Interrupts;
use whyfaster_run::probe::select::{Selection, Wanted, select};
use whyfaster_run::probe::session::{Measured, Request};
use whyfaster_words::Tell;
use whyfaster_words::exit::Failure;

use super::results;
use crate::cli::args::{InsideArgs, PricesArgs};
use crate::cli::{HostSeed, Outputs};

/// How long nothing may come, if nobody says otherwise. A slow kernel boots for half a minute under instruction counting.
pub(super) const SILENCE: Duration = Duration::from_secs(180);

/// Guest milliseconds that a line of a plan may take under instruction counting: twenty million instructions.
const COUNTED_LINE_S: f64 = 0.024;

/// Measures as the options ask the rows that are `wanted` on CPUs and in a unit; `None` if we were interrupted before anything was.
pub(super) fn measured(
    args: &PricesArgs,
    probes: &[Probe],
    wanted: &dyn Fn(Vec<u32>, Unit) -> Wanted,
    interrupts: &Interrupts,
    outputs: &Outputs,
) -> Result<Option<Measured>, Failure> {
    let Some(asked) = &args.inside.inside else { return Ok(None) };
    // A word that is none is said before a kernel boots for it.
    let seed = args.seed.unwrap_or_else(|| HostSeed::here().seed);
    select(probes, &wanted(vec![0], Unit::Nanoseconds))?;
    let guest = asked.open(&options(&args.inside))?;
    let Some(cpus) = cpus(&guest, interrupts)? else { return Ok(None) };
    let selection = select(probes, &wanted(cpus, guest.unit))?;
    let request = request(&guest, selection, args.quick, seed);
    on_screen(probes, &request, &guest, interrupts, outputs, (0, 1)).map(Some)
}

fn options(args: &InsideArgs) -> Options {
    Options {
        fetch: args.fetch,
        worker: args.worker.clone(),
        silence: args.silence.map_or(SILENCE, Duration::from_secs_f64),
    }
}

/// How often and how long.
pub(super) fn request(guest: &Guest, selection: Selection, quick: bool, seed: u64) -> Request {
    let counted = guest.unit == Unit::GuestInstructions;
    // Instructions hardly vary, and each costs this machine a hundred of its own.
    let repetitions = if counted || quick { 6 } else { 10 };
    let runs = selection.lines.len() as f64 * f64::from(repetitions);
    let budget_s = if counted { runs * COUNTED_LINE_S } else { runs * if quick { 0.02 } else { 0.06 } };
    // The least that has an interval is taken, however slow the place is: whoever names one wants its prices.
    Request { selection, repetitions, least: 6, budget_s, limit_s: f64::INFINITY, spread_s: 0.0, seed }
}

/// Measures, showing on standard error how far it is; it may be one part of as many.
pub(super) fn on_screen(
    probes: &[Probe],
    request: &Request,
    guest: &Guest,
    interrupts: &Interrupts,
    outputs: &Outputs,
    (part, of): (usize, usize),
) -> Result<Measured, Failure> {
    let look = results::look_of(outputs, stderr().is_terminal());
    let mut progress = Progress::new(&look, None, stderr().is_terminal(), !look.quiet).part(part, of);
    let measured = measure(probes, request, guest, interrupts, &mut |event| progress.on(event));
    progress.finish();
    measured.map(|measured| Measured { list: measured.list.told(), ..measured })
}

/// Opens one more kernel for a history and measures these rows in it; `None` if we were interrupted.
pub(super) fn counted_kernel(
    kernel: &str,
    fetch: bool,
    words: &[String],
    interrupts: &Interrupts,
    outputs: &Outputs,
    part: (usize, usize),
) -> Result<Option<Measured>, Failure> {
    let probes = whyfaster_probe::descriptions();
    let asked: Asked = format!("qemu:{kernel}")
        .parse()
        .map_err(|why: String| Failure::usage(why, "name an image file or debian:VERSION"))?;
    let guest = asked.open(&Options { fetch, worker: None, silence: SILENCE })?;
    let wanted = Wanted { words: words.to_vec(), cpus: vec![0], quick: true, ..Wanted::default() };
    let request = request(&guest, select(&probes, &wanted)?, true, HostSeed::here().seed);
    let measured = on_screen(&probes, &request, &guest, interrupts, outputs, part)?;
    let interrupted = measured.list.samples.is_empty() && measured.failure.is_none();
    Ok(if interrupted { None } else { Some(measured) })
}
