//! The stream kept in a record, so that it can be analysed again: by a later version, or to another question.
//!
//! About 8 bytes a switch. The bytes are base64 in the JSON of the record; `format` and `encode` say what they are, `decode` reads
//! them with suspicion, for a record may come from anywhere.

mod decode;
mod encode;
mod format;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

pub use decode::Damaged;
pub use encode::Recorder;
pub use format::FORMAT;

use super::analysis::Analysis;
use super::counts::Counts;
use super::event::{Event, What};
use super::path::Step;
use super::report::TraceReport;
use super::setting::{Facts, Price, Setting};
use format::{DEAREST, FORMER, LATEST, LONGEST, MOST, MOST_CPUS};

/// A stream, with all that its analysis needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stored {
    /// How the bytes are written: [`FORMAT`].
    pub format: String,
    /// How it was observed.
    pub setting: Setting,
    /// What the program knew beside the stream.
    pub facts: Facts,
    /// What the tracer counted.
    pub counts: Counts,
    /// Events in the stream.
    pub events: u64,
    /// The events, base64.
    pub stream: String,
}

/// Whether an event tells who ran when, and who waited for whom. The others are for the accounts of a report.
pub fn tells_order(event: &Event) -> bool {
    match &event.what {
        What::Switch { .. }
        | What::Wake { .. }
        | What::Fork { .. }
        | What::Exec { .. }
        | What::LivesOn { .. }
        | What::End { .. }
        | What::Skipped(_)
        | What::Name { .. }
        | What::Work { .. }
        | What::Waits { .. }
        | What::Below { .. }
        | What::Stop
        | What::Lost { .. } => true,
        What::Queued { .. }
        | What::Migrate { .. }
        | What::Allowed { .. }
        | What::ExecFailed { .. }
        | What::Pipes { .. }
        | What::Script { .. }
        | What::Spent { .. }
        | What::Started { .. }
        | What::Call(_)
        | What::Stack(_) => false,
    }
}

/// The stream was too long to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the scheduling records took more than {limit} bytes: keep less, or trace for a shorter time")]
pub struct TooLong {
    /// How many bytes were allowed.
    pub limit: usize,
}

impl Stored {
    /// The same report again.
    pub fn analyse(&self) -> Result<TraceReport, Damaged> {
        let mut analysis = Analysis::new(self.setting.clone());
        self.each(&mut |event| analysis.push(event))?;
        Ok(analysis.finish(&self.counts, &self.facts))
    }

    /// The critical path by time, from its beginning to its end. Empty where the level does not show it.
    pub fn critical_path(&self) -> Result<Vec<Step>, Damaged> {
        let mut analysis = Analysis::with_steps(self.setting.clone());
        self.each(&mut |event| analysis.push(event))?;
        Ok(analysis.steps(&self.counts, &self.facts))
    }

    /// Hands on the events one by one.
    pub fn each(&self, sink: &mut dyn FnMut(&Event)) -> Result<(), Damaged> {
        self.check()?;
        let bytes = BASE64.decode(self.stream.as_bytes()).map_err(|_| Damaged::at(0, "it is not base64"))?;
        let mut events = 0_u64;
        let mut first = None;
        for event in decode::Decoder::new(&bytes) {
            let event = event?;
            first.get_or_insert(event.at);
            sink(&event);
            events += 1;
        }
        if self.facts.ended.is_some_and(|ended| ended > first.unwrap_or(0).saturating_add(LONGEST)) {
            return Err(Damaged::at(bytes.len(), "observing ended too long after its last event"));
        }
        if events == self.events {
            Ok(())
        } else {
            Err(Damaged::at(bytes.len(), "it has another number of events than it says"))
        }
    }

    /// Numbers that no trace has would make sums overflow.
    fn check(&self) -> Result<(), Damaged> {
        let refuse = |why| Err(Damaged::at(0, why));
        if self.format != FORMAT && !FORMER.contains(&self.format.as_str()) {
            return refuse("it is written in a way that this version does not know");
        }
        let Setting { cores, open, avoidable_from_ns, .. } = &self.setting;
        if cores.len() > MOST_CPUS || open.len() > MOST_CPUS / 64 || *avoidable_from_ns > MOST {
            return refuse("its setting is out of range");
        }
        let Facts { throttled, steal_ns, prices, .. } = &self.facts;
        let facts = [*steal_ns, throttled.map(|it| it.ns), throttled.map(|it| it.times)];
        let priced = |price: &Price| price.ns >= 0.0 && price.ns <= DEAREST;
        if facts.into_iter().flatten().any(|number| number > MOST) || !prices.iter().all(priced) {
            return refuse("its facts are out of range");
        }
        if !sane(&self.counts) {
            return refuse("its counts are out of range");
        }
        Ok(())
    }
}

fn sane(counts: &Counts) -> bool {
    let lost = &counts.lost;
    let lost = [
        lost.ring,
        lost.map,
        lost.storage,
        lost.string,
        lost.stack,
        lost.recursion,
        lost.unfinished,
        lost.gaps,
        lost.late,
    ];
    let by_cpu =
        counts.lost.by_cpu.iter().flat_map(|it| {
            [it.ring, it.map, it.storage, it.string, it.stack, it.unfinished, it.gaps, it.late]
        });
    let cells = counts.calls.iter().all(|cell| {
        let times = [cell.total_ns, cell.max_ns, cell.runnable_ns, cell.blocked_ns];
        let times = times.into_iter().chain([cell.failed_ns, cell.bytes]).flatten();
        let errors = cell.errors.iter().map(|(_, times)| *times);
        let all = [cell.entered, cell.not_returned, cell.begun_before, cell.going_on]
            .into_iter()
            .chain(times)
            .chain(errors);
        all.chain(cell.histogram.iter().copied())
            .all(|number| number <= MOST / (1 + counts.calls.len() as u64))
    });
    let lives = &counts.lives;
    let lives = [
        lives.forks,
        lives.threads,
        lives.execs,
        lives.failed_execs,
        lives.exits,
        lives.calls_entered,
        lives.calls_returned,
        lives.throttled,
    ];
    let lost = lost.into_iter().chain(by_cpu).chain(lives.into_iter().flatten());
    let ended = counts.lives.last_end_ns.is_none_or(|at| at <= LATEST);
    cells && ended && lost.chain([counts.own.switches, counts.own.tool_ns]).all(|number| number <= MOST)
}

#[cfg(test)]
mod tests;
