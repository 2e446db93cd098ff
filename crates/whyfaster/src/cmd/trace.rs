//! `whyfaster trace`: observes, writes what was seen, prints the report.

use std::io::{BufWriter, IsTerminal, Stderr, Write, stderr};
use std::path::PathBuf;

use whyfaster_core::event::Status;
use whyfaster_core::plan::{Because, User};
use whyfaster_core::trace::event::Event;
use whyfaster_core::trace::plan::{Target, TracePlan};
use whyfaster_core::trace::record::{EndedBy, TraceRecord};

use super::results;
use crate::cli::HostSeed;
use crate::cli::args::TraceArgs;
use crate::cli::trace::{TraceOutputs, meant_as_filter, resolve, taken_by_command};
use crate::exit::{self, Exit, Failure, say};
use crate::render::look::Look;
use crate::render::trace::calls::Calls;
use crate::render::trace::flame::Flame;
use crate::render::trace::perfetto::{Clock, Perfetto};
use crate::render::trace::{Shown, screen};
use crate::run::interrupts::Interrupts;
use crate::run::trace::observe;
use crate::store::{self, AtomicFile};

/// Runs the verb.
pub fn run(args: &TraceArgs) -> anyhow::Result<Exit> {
    let (plan, outputs) = resolve(args, &HostSeed::here())?;
    let _kept = results::check(&outputs.common)?;
    for note in &outputs.common.notes {
        say(&format!("note: {note}"));
    }
    // Who writes "--" knows where the command begins.
    if let Some(word) = taken_by_command(&args.command)
        && !std::env::args_os().any(|word| word == "--")
    {
        say(&format!(
            "note: '{word}' stands behind the command and is the command's: options of whyfaster go before it"
        ));
    }
    let interrupts = Interrupts::take_over()?;
    let mut sinks = Sinks::open(&plan, &outputs)?;
    let observed = observe(&plan, &interrupts, &mut |note| say(&format!("note: {note}")), &mut |event| {
        sinks.push(event)
    })
    .map_err(|failure| match meant_as_filter(args).filter(|_| failure.exit == Exit::CommandFailed) {
        Some(hint) => Failure { hint: Some(hint), ..failure },
        None => failure,
    })?;
    let record = observed.record;
    if outputs.perfetto.is_some() && record.report.commands.iter().all(|row| row.cpus.is_empty()) {
        say("note: no switches were seen at this level, so the timeline has none; the full level sees them");
    }
    let written = sinks.finish(&record, &outputs).and(write(&record, &outputs));
    let written = written.map_or_else(|error| exit::report(Err(error)), |()| Exit::Ok);
    if record.status == Status::Interrupted {
        if let Some(failure) = observed.failure {
            exit::report(Err(failure.into()));
        }
        say("interrupted: what had been seen until then is in the report");
        return Ok(interrupts.exit());
    }
    match observed.failure {
        Some(failure) => Ok(exit::report(Err(failure.into()))),
        None => Ok(written),
    }
}

/// What takes the events as they come.
struct Sinks {
    calls: Option<(Calls, BufWriter<Stderr>)>,
    perfetto: Option<(Perfetto<AtomicFile>, PathBuf)>,
    flame: Option<Flame>,
    /// The first thing that went wrong; the trace goes on without that sink.
    failed: Option<anyhow::Error>,
}

impl Sinks {
    fn open(plan: &TracePlan, outputs: &TraceOutputs) -> Result<Self, Failure> {
        let look = results::look_of(&outputs.common, stderr().is_terminal());
        let calls = outputs.calls.clone().map(|filter| (Calls::new(filter, &look), BufWriter::new(stderr())));
        let begin =
            |path: &PathBuf| results::timeline(path, Clock::now()).map(|timeline| (timeline, path.clone()));
        let perfetto = outputs.perfetto.as_ref().map(begin).transpose()?;
        let stacks = outputs.flamegraph.is_some() || outputs.folded.is_some();
        let flame = plan.samples_per_s.filter(|_| stacks).map(Flame::new);
        Ok(Self { calls, perfetto, flame, failed: None })
    }

    fn push(&mut self, event: &Event) {
        if let Some((calls, out)) = &mut self.calls
            // Whole lines at once, and not later than the next poll: they are to be read while the command runs.
            && let Err(error) = calls.push(event, out).and_then(|()| out.flush())
        {
            self.calls = None;
            self.failed.get_or_insert(error.into());
        }
        if let Some((perfetto, path)) = &mut self.perfetto
            && let Err(error) = perfetto.push(event)
        {
            self.failed.get_or_insert(store::cannot_write(path, &error).into());
            self.perfetto = None;
        }
        if let Some(flame) = &mut self.flame {
            flame.push(event);
        }
    }

    /// Ends all of them. Each is tried, so that one that fails loses no other; the first failure is returned.
    fn finish(mut self, record: &TraceRecord, outputs: &TraceOutputs) -> anyhow::Result<()> {
        let mut first = self.failed.take().map_or(Ok(()), Err);
        let mut keep = |result: anyhow::Result<()>| {
            if first.is_ok() {
                first = result;
            }
        };
        if let Some((mut calls, mut out)) = self.calls {
            keep(calls.finish(&mut out).and_then(|()| out.flush()).map_err(Into::into));
        }
        if let Some((perfetto, path)) = self.perfetto {
            keep(results::end_timeline(perfetto, &path, &record.report.lost).map_err(Into::into));
        }
        if let Some(flame) = self.flame {
            let (flames, title) = (flame.finish(), record.plan.target.words());
            if flames.is_empty() {
                let rate = record.plan.samples_per_s.unwrap_or_default();
                say(&format!(
                    "note: no stack was taken: the command ended too soon for {rate} samples a second"
                ));
            }
            if let Some(path) = &outputs.flamegraph {
                keep(flames.svg(&title).and_then(|bytes| Ok(store::write_atomic(path, &bytes)?)));
            }
            if let Some(path) = &outputs.folded {
                keep(store::write_atomic(path, flames.folded().as_bytes()).map_err(Into::into));
            }
        }
        first
    }
}

/// Writes the record, then standard output.
fn write(record: &TraceRecord, outputs: &TraceOutputs) -> anyhow::Result<()> {
    let bytes = store::trace_bytes(record)?;
    let written = match &outputs.common.record {
        Some(path) => store::write_atomic(path, &bytes).map_err(Into::into),
        None => Ok(()),
    };
    let printed = match outputs.common.json {
        true => bytes,
        false => report(record, outputs, &results::look(&outputs.common)).into_bytes(),
    };
    written.and(store::to_stdout(&printed))
}

/// The report as text; empty where nothing is to be printed.
pub(crate) fn report(record: &TraceRecord, outputs: &TraceOutputs, look: &Look) -> String {
    if look.quiet {
        return String::new();
    }
    let mut shown = Shown::of(record.plan.target.words());
    (shown.by, shown.sort, shown.top) = (outputs.by, outputs.sort, outputs.top);
    shown.as_whom = record.plan.user.as_ref().and_then(whom);
    shown.exit_status = record.exit_status;
    let wall_s = record.report.wall_s;
    shown.ended_by = record.ended_by.filter(|_| wall_s > 0.0).map(|by| match (by, record.plan.duration_s) {
        (EndedBy::Duration, Some(after_s)) => (by, after_s),
        _ => (by, wall_s),
    });
    shown.followed = !matches!(record.plan.target, Target::Command(_));
    screen(&record.report, &shown, look)
}

/// As whom a command ran, where that is not who called whyfaster.
fn whom(user: &User) -> Option<String> {
    let name = user.name.clone().unwrap_or_else(|| format!("uid {}", user.uid));
    match user.because {
        Because::Own => None,
        Because::Sudo => Some(format!("{name} (who called sudo)")),
        Because::AsRoot => Some(format!("{name} (--as-root)")),
    }
}
