//! `whyfaster trace`: observes, writes what was seen, prints the report.

use std::io::{BufWriter, IsTerminal, Stderr, Write, stderr};

use whyfaster_core::plan::Because;
use whyfaster_core::status::Status;
use whyfaster_core::trace::event::Event;
use whyfaster_core::trace::plan::TracePlan;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_core::trace::report::TraceReport;
use whyfaster_render::progress::Progress;
use whyfaster_render::trace::calls::Calls;
use whyfaster_render::trace::flame::Flame;
use whyfaster_render::trace::outputs::{Clock, Made, OfStacks, Sink, TraceFile};
use whyfaster_render::trace::{Shown, screen};
use whyfaster_run::interrupts::Interrupts;
use whyfaster_run::terminal::is_of_another;
use whyfaster_run::trace::{Said, observe};
use whyfaster_store as store;
use whyfaster_store::{AtomicFile, OutputFile};
use whyfaster_words::Tell;
use whyfaster_words::display::Registered;
use whyfaster_words::exit;
use whyfaster_words::exit::{Exit, Failure, say};
use whyfaster_words::look::Look;

use super::{pages, results, rights};
use crate::cli::HostSeed;
use crate::cli::args::TraceArgs;
use crate::cli::trace::{TraceOutputs, meant_as_filter, resolve, taken_by_command};

/// Runs the verb.
pub fn run(args: &TraceArgs) -> anyhow::Result<Exit> {
    let (plan, outputs) = resolve(args, &HostSeed::here())?;
    results::check(&outputs.common)?;
    notes(args, &plan, &outputs);
    let interrupts = Interrupts::take_over()?;
    let mut sinks = Sinks::open(&plan, &outputs)?;
    // Calls are printed as they come, where the line would be.
    let terminal = stderr().is_terminal();
    let look = results::look_of(&outputs.common, terminal);
    let mut progress = Progress::new(&look, None, terminal, outputs.calls.is_none()).patient();
    let mut told = |said: Said<'_>| match said {
        Said::Note(note) => progress.aside(|| say(&format!("note: {note}"))),
        Said::Progress(event) => progress.on(&event),
    };
    let observed = observe(&plan, &interrupts, &mut told, &mut |event| sinks.push(event));
    progress.finish();
    let observed = observed.map_err(|failure| {
        match meant_as_filter(args).filter(|_| failure.exit == Exit::CommandFailed) {
            Some(hint) => Failure { hint: Some(hint), ..failure },
            None => failure,
        }
    })?;
    rights::after_observing(args.user.as_root);
    let mut record = observed.record.told();
    let paged = pages::of_trace(&record, &outputs.common.pages, &results::look(&outputs.common));
    if !args.output.keep_schedule {
        // They were kept for the page alone.
        (record.schedule, record.plan.keep_schedule) = (None, false);
    }
    let incomplete = || (plan.strict && !record.report.adds_up()).then(|| incomplete(&record.report));
    let failure = observed.failure.or_else(incomplete);
    let of_events = outputs.files.iter().find(|(output, _)| !output.of_stacks());
    if let Some((output, _)) = of_events
        && record.report.commands.iter().all(|row| row.cpus.is_empty())
    {
        say(&format!(
            "note: no switches were seen at this level, so the file of --{} has none; the full level sees them",
            output.option().name
        ));
    }
    let written = sinks.finish(&record).and(write(&record, &outputs)).and(paged);
    let written = written.map_or_else(|error| exit::report(Err(error)), |()| Exit::Ok);
    if record.status == Status::Interrupted {
        if let Some(failure) = failure {
            exit::report(Err(failure.into()));
        }
        say("interrupted: what had been seen until then is in the report");
        return Ok(interrupts.exit());
    }
    match failure {
        Some(failure) => Ok(exit::report(Err(failure.into()))),
        None => Ok(written),
    }
}

/// Prints what the reader should know before the command runs.
fn notes(args: &TraceArgs, plan: &TracePlan, outputs: &TraceOutputs) {
    for note in &outputs.common.notes {
        say(&format!("note: {note}"));
    }
    if plan.user.as_ref().is_some_and(|user| user.because == Because::Sudo && is_of_another(user.uid)) {
        say("note: the command gets no terminal, because a shell of root's reads this one later. \
             Start whyfaster with sudo from your own shell for a command that asks something");
    }
    // A user who writes "--" knows where the command begins.
    if let Some(word) = taken_by_command(&args.command)
        && !std::env::args_os().any(|word| word == "--")
    {
        say(&format!(
            "note: '{word}' stands behind the command and is the command's: options of whyfaster go before it"
        ));
    }
}

/// `--strict`: anything that was lost, and accounts that do not fit together.
fn incomplete(report: &TraceReport) -> Failure {
    let lost = &report.lost;
    let classes = [
        ("records in the ring", lost.ring),
        ("counters", lost.map),
        ("tasks", lost.storage),
        ("strings", lost.string),
        ("stacks", lost.stack),
        ("runs of a program", lost.recursion),
        ("times of late records", lost.late),
    ];
    let mut said: Vec<String> = classes
        .iter()
        .filter(|(_, lost)| *lost > 0)
        .map(|(what, lost)| format!("{lost} {what} lost"))
        .collect();
    let broken = report.checks.iter().filter(|check| !check.holds);
    said.extend(broken.map(|check| format!("{}: {} is not {}", check.what, check.left, check.right)));
    Failure::unfit(
        format!("--strict: the trace is not complete: {}", said.join("; ")),
        "allow more room with --ring-size, observe less (--count-only, no --calls), or leave --strict out",
    )
}

/// What takes the events as they come. What fails is left alone from then on, so that it loses nothing else.
struct Sinks {
    calls: Option<(Calls, BufWriter<Stderr>)>,
    files: Files,
    /// The first thing that went wrong with the calls.
    failed: Option<anyhow::Error>,
}

impl Sinks {
    fn open(plan: &TracePlan, outputs: &TraceOutputs) -> Result<Self, Failure> {
        let look = results::look_of(&outputs.common, stderr().is_terminal());
        let calls = outputs.calls.clone().map(|filter| (Calls::new(filter, &look), BufWriter::new(stderr())));
        let files = Files::open(&outputs.files, Clock::now(), plan.samples_per_s)?;
        Ok(Self { calls, files, failed: None })
    }

    fn push(&mut self, event: &Event) {
        if let Some((calls, out)) = &mut self.calls
            // Whole lines at once, and not later than the next poll: they are to be read while the command runs.
            && let Err(error) = calls.push(event, out).and_then(|()| out.flush())
        {
            self.calls = None;
            self.failed = Some(error.into());
        }
        self.files.push(event);
    }

    /// Ends all of them; the first failure is returned.
    fn finish(self, record: &TraceRecord) -> anyhow::Result<()> {
        let calls = match (self.failed, self.calls) {
            (Some(error), _) => Err(error),
            (None, Some((mut calls, mut out))) => calls.finish(&mut out).map_err(Into::into),
            (None, None) => Ok(()),
        };
        calls.and(self.files.finish(record))
    }
}

/// The files of a trace while it is seen, or seen again. Each is tried, so that one that fails loses no other.
pub(super) struct Files {
    growing: Vec<(OutputFile, Box<dyn Sink>)>,
    of_stacks: Vec<(OutputFile, OfStacks)>,
    flame: Option<Flame>,
    /// The first thing that went wrong.
    failed: Option<Failure>,
}

impl Files {
    /// Begins them. Those that grow get their names when they are whole.
    pub(super) fn open(
        wanted: &[(&'static TraceFile, OutputFile)],
        clock: Clock,
        samples_per_s: Option<u32>,
    ) -> Result<Self, Failure> {
        let (mut growing, mut of_stacks) = (Vec::new(), Vec::new());
        for (output, file) in wanted {
            match output.made {
                Made::OfEvents(begin) => {
                    let begun = begin(file.begin()?, clock);
                    growing.push((file.clone(), begun.map_err(|error| store::cannot_write(file, &error))?));
                }
                Made::OfStacks(make) => of_stacks.push((file.clone(), make)),
            }
        }
        let flame = samples_per_s.filter(|_| !of_stacks.is_empty()).map(Flame::new);
        Ok(Self { growing, of_stacks, flame, failed: None })
    }

    /// Takes an event.
    pub(super) fn push(&mut self, event: &Event) {
        self.growing.retain_mut(|(file, sink)| match sink.push(event) {
            Ok(()) => true,
            Err(error) => {
                self.failed.get_or_insert_with(|| store::cannot_write(file, &error));
                false
            }
        });
        if let Some(flame) = &mut self.flame {
            flame.push(event);
        }
    }

    /// Ends them; the first failure is returned.
    pub(super) fn finish(self, record: &TraceRecord) -> anyhow::Result<()> {
        let mut first = self.failed.map_or(Ok(()), |failure| Err(failure.into()));
        let mut keep = |result: anyhow::Result<()>| {
            if first.is_ok() {
                first = result;
            }
        };
        for (file, sink) in self.growing {
            let whole = sink.finish(&record.report.lost).map_err(|error| store::cannot_write(&file, &error));
            keep(whole.and_then(AtomicFile::commit).map_err(Into::into));
        }
        if let Some(flame) = self.flame {
            let flames = flame.finish();
            if flames.0.is_empty() {
                let rate = record.plan.samples_per_s.unwrap_or_default();
                say(&format!(
                    "note: no stack was taken: the command ended too soon for {rate} samples a second"
                ));
            }
            let title = record.plan.target.words();
            for (file, make) in self.of_stacks {
                keep(make(&flames, &title).and_then(|bytes| Ok(file.write(&bytes)?)));
            }
        }
        first
    }
}

/// Writes the record, then standard output.
fn write(record: &TraceRecord, outputs: &TraceOutputs) -> anyhow::Result<()> {
    let bytes = store::trace_bytes(record)?;
    let written = match &outputs.common.record {
        Some(file) => file.write(&bytes).map_err(Into::into),
        None => Ok(()),
    };
    let printed = match outputs.common.json {
        true => store::to_stdout(&bytes),
        false => store::to_stdout(said(record, outputs, &results::look(&outputs.common)).as_bytes()),
    };
    let kept = results::kept("trace", Ok(bytes), &outputs.common);
    written.and(printed).and(kept)
}

/// The report as text; empty where nothing is to be printed.
pub(crate) fn said(record: &TraceRecord, outputs: &TraceOutputs, look: &Look) -> String {
    if look.quiet {
        return String::new();
    }
    let shown = Shown { by: outputs.by, sort: outputs.sort, top: outputs.top, ..Shown::of_record(record) };
    screen(&record.report, &shown, look)
}
