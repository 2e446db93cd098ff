//! Tracing: from a plan to a record. One command, started here and held until its observer is ready, or a tree that runs
//! already.
//!
//! `level` chooses the observer, `command` and `running` watch.
//! Nothing here prints.

pub(crate) mod around;
mod command;
pub(crate) mod follow;
mod level;
pub(crate) mod observer;
mod running;
mod watched;

use std::time::Instant;

use watched::Say;
use whyfaster_core::host::Host;
use whyfaster_core::missing::{NotMeasured, Quantity};
use whyfaster_core::status::Status;
use whyfaster_core::trace::Analysis;
use whyfaster_core::trace::event::Event;
use whyfaster_core::trace::plan::{Target, TracePlan};
use whyfaster_core::trace::record::{SCHEMA, TraceRecord};
use whyfaster_core::trace::stored::Recorder;
use whyfaster_host as host;
use whyfaster_words::exit::Failure;

use super::faults;
use super::interrupts::Interrupts;

pub use watched::Said;

/// Bytes of scheduling records that are kept at most, with `--keep-schedule`: some ten million switches, and a record that
/// can be read again.
const MOST_KEPT: usize = 96 << 20;

/// What observing gives: a record in any case, and what ended it early if something did.
#[derive(Debug)]
pub struct Observed {
    /// What was seen.
    pub record: TraceRecord,
    /// Why it is not complete.
    pub failure: Option<Failure>,
}

/// Observes what the plan names. `sink` gets every event as it comes, in order.
pub fn observe(
    plan: &TracePlan,
    interrupts: &Interrupts,
    say: Say<'_>,
    sink: &mut dyn FnMut(&Event),
) -> Result<Observed, Failure> {
    let root = host::Root::real();
    let started = jiff::Timestamp::now().to_string();
    let clock = Instant::now();
    let before = host::facts(&root);
    let chosen = level::choose(plan)?;
    let setting = around::setting(&root, plan, chosen.level, chosen.switches);
    let mut analysis = Analysis::new(setting.clone());
    let mut recorder = plan.keep_schedule.then(|| Recorder::new(MOST_KEPT));
    let mut take = |event: Event| {
        sink(&event);
        analysis.push(&event);
        if let Some(recorder) = &mut recorder {
            recorder.push(&event);
        }
    };
    let missing = chosen.not_measured.clone();
    let mut watched = match &plan.target {
        Target::Command(line) => command::watch(plan, line, chosen, interrupts, say, &mut take)?,
        Target::Process(_) | Target::Cgroup(_) => running::watch(plan, chosen, interrupts, say, &mut take)?,
    };
    watched.facts.not_measured.extend(missing);
    // After all runs: a page fault has no end in the stream, and is told from user code by its price alone.
    if let Some(memory) = watched.memory_bytes.filter(|_| setting.whole() && !watched.interrupted) {
        watched.facts.prices.extend(faults::price(memory, before.memory_available));
    }
    let host = Host { after: host::facts(&root).since(&before), before };
    let (schedule, too_long) = match recorder {
        Some(recorder) => match recorder.finish(setting, watched.counts.clone(), watched.facts.clone()) {
            Ok(stored) => (Some(stored), None),
            Err(error) => (None, Some(error.to_string())),
        },
        None => (None, None),
    };
    if let Some(why) = too_long {
        watched.facts.not_measured.push(NotMeasured::new(Quantity::Schedule, why));
    }
    let report = analysis.finish(&watched.counts, &watched.facts);
    let failure = watched.failure;
    let status = match watched.interrupted {
        true => Status::Interrupted,
        false if failure.is_some() || plan.strict && !report.adds_up() => Status::Failed,
        false => Status::Complete,
    };
    let record = TraceRecord {
        schema: SCHEMA.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        took_s: clock.elapsed().as_secs_f64(),
        status,
        ended_by: watched.ended_by,
        plan: plan.clone(),
        host,
        exit_status: watched.exit_status,
        runs: watched.runs,
        report,
        schedule,
    };
    Ok(Observed { record, failure })
}
