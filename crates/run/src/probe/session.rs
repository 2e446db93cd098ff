//! The repetitions of a price list: each is a fresh worker with all lines in a fresh random order, so that a noisy minute
//! hits all rows alike and no row always runs after the same one.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use whyfaster_core::event::Event;
use whyfaster_core::host::{Host, moved};
use whyfaster_core::missing::{NotMeasured, Quantity};
use whyfaster_core::price::fingerprint::Fingerprint;
use whyfaster_core::price::list::Clock;
use whyfaster_core::price::{PriceList, SCHEMA, Unit};
use whyfaster_core::status::Status;
use whyfaster_core::warning::Warning;
use whyfaster_host as host;
use whyfaster_host::Root;
use whyfaster_probe::Probe;
use whyfaster_stats::random::Random;
use whyfaster_store::worker::collect::Collector;
use whyfaster_store::worker::protocol::{Record, parse};
use whyfaster_words::exit::{Exit, Failure};

use super::super::interrupts::Interrupts;
use super::select::{Line, Selection};
use super::site::Site;
use super::worker::Ended;

/// Confidence of the interval of a price.
pub const CONFIDENCE: f64 = 0.95;

/// What to measure and how long.
#[derive(Clone, Debug)]
pub struct Request {
    /// The rows.
    pub selection: Selection,
    /// Repetitions at most.
    pub repetitions: u32,
    /// Repetitions at least, though it takes longer than was aimed at.
    pub least: u32,
    /// Seconds to aim at.
    pub budget_s: f64,
    /// Seconds after which no repetition begins that would end later, however few there were. The first one always runs.
    pub limit_s: f64,
    /// Seconds over which the repetitions are spread at least. A machine has its moods, and on a virtual one they last for seconds:
    /// repetitions of a few rows, one right after the other, would all lie in one of them and agree too well.
    pub spread_s: f64,
    /// Seed of the order.
    pub seed: u64,
}

/// What was measured, and why it ended early if it did.
#[derive(Debug)]
pub struct Measured {
    /// The list; partial if it ended early.
    pub list: PriceList,
    /// An error that ended it.
    pub failure: Option<Failure>,
}

/// Measures.
pub fn measure(
    probes: &[Probe],
    request: &Request,
    worker: &dyn Site,
    interrupts: &Interrupts,
    on: &mut dyn FnMut(&Event),
) -> Measured {
    let root = Root::real();
    let before = host::facts(&root);
    let started = jiff::Timestamp::now();
    let mut run = Run {
        request,
        collector: Collector::new(probes),
        rng: Random::seed_from_u64(request.seed),
        began: Instant::now(),
        done: 0,
    };
    let (status, failure) = run.repetitions(worker, interrupts, on);
    let took_s = run.began.elapsed().as_secs_f64();
    let after = host::facts(&root).since(&before);
    let mut collector = run.collector;
    finish_rows(&mut collector, request, status);
    let hello = collector.hello.clone().unwrap_or_default();
    let clock = Clock {
        name: hello.clock,
        resolution_ns: hello.resolution_ns,
        cost_ns: hello.clock_cost_ns,
        tsc_hz: hello.tsc_hz,
    };
    let steal_during = after.steal;
    let others_during = after.others_since(&before);
    let facts = Host { before, after };
    let mut list = PriceList {
        schema: SCHEMA.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        name: name(),
        source: None,
        study: None,
        handing: None,
        started: started.to_string(),
        took_s,
        status,
        unit: Unit::Nanoseconds,
        inside: None,
        confidence: CONFIDENCE,
        clock: (!clock.name.is_empty()).then_some(clock),
        fingerprint: Fingerprint {
            mitigations: host::mitigations(&root),
            seccomp: host::seccomp(&root),
            os: Some(hello.os).filter(|os| !os.is_empty()),
            libc: Some(hello.libc).filter(|libc| !libc.is_empty()),
            steal_during,
            others_during,
            facts: facts.before.clone(),
        },
        prices: Vec::new(),
        warnings: warnings(&facts),
        not_measured: collector.uncounted.take().map(uncounted).into_iter().collect(),
        rows: collector.rows,
        samples: collector.samples,
    };
    list.reprice();
    Measured { list, failure }
}

fn name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "this machine".to_owned() } else { name }
}

fn uncounted(why: String) -> NotMeasured {
    NotMeasured::new(Quantity::CallsPerOperation, why)
}

fn warnings(host: &Host) -> Vec<Warning> {
    moved(&host.before, &host.after).into_iter().map(Warning::from).collect()
}

/// Rows that never began get their reason, and all stand in the order of the selection.
fn finish_rows(collector: &mut Collector<'_>, request: &Request, status: Status) {
    let unknown = |why: String| Failure::new(Exit::Error, why, "this is a defect: please report it");
    for (head, why) in &request.selection.missing {
        // The heads come from the same descriptions as the rows.
        let _ = collector.missing(head, why).map_err(unknown);
    }
    if status != Status::Complete {
        for line in &request.selection.lines {
            if !collector.has(&line.head()) {
                let _ = collector.missing(&line.head(), "not measured before the end came").map_err(unknown);
            }
        }
    }
    let order: Vec<_> = request.selection.lines.iter().map(Line::head).collect();
    collector.sort(&order);
}

struct Run<'a> {
    request: &'a Request,
    collector: Collector<'a>,
    rng: Random,
    began: Instant,
    /// Lines that have begun.
    done: usize,
}

impl Run<'_> {
    fn repetitions(
        &mut self,
        worker: &dyn Site,
        interrupts: &Interrupts,
        on: &mut dyn FnMut(&Event),
    ) -> (Status, Option<Failure>) {
        if self.request.selection.lines.is_empty() {
            return (Status::Complete, None);
        }
        if worker.at_once() {
            return match self.all_at_once(worker, interrupts, on) {
                Ok(Ended::Whole) => (Status::Complete, None),
                Ok(Ended::Interrupted) => (Status::Interrupted, None),
                Err(failure) => (Status::Failed, Some(failure)),
            };
        }
        for repetition in 0..self.request.repetitions {
            let aim =
                if repetition < self.request.least { self.request.limit_s } else { self.request.budget_s };
            if repetition > 0 && self.late(repetition, aim) {
                break;
            }
            self.rest(repetition, interrupts);
            match self.repetition(repetition, worker, interrupts, on) {
                Ok(Ended::Whole) => {}
                Ok(Ended::Interrupted) => return (Status::Interrupted, None),
                Err(failure) => return (Status::Failed, Some(failure)),
            }
        }
        (Status::Complete, None)
    }

    /// Waits until this repetition's part of the spread has come, or a signal.
    fn rest(&self, repetition: u32, interrupts: &Interrupts) {
        let last = self.request.repetitions.saturating_sub(1).max(1);
        let due_s = self.request.spread_s * f64::from(repetition) / f64::from(last);
        let rest =
            Duration::try_from_secs_f64(due_s - self.began.elapsed().as_secs_f64()).unwrap_or_default();
        if !rest.is_zero() {
            // Where it cannot wait, the repetitions lie closer together, and nothing else is wrong.
            let _ = interrupts.wait(&[], Some(rest));
        }
    }

    /// Whether one more repetition would end after this time.
    fn late(&self, repetitions: u32, time_s: f64) -> bool {
        let spent = self.began.elapsed().as_secs_f64();
        spent + spent / f64::from(repetitions.max(1)) > time_s
    }

    /// Milliseconds that a line of a repetition may take, so that all of them fit the time.
    fn line_budget_ms(&self) -> u64 {
        let runs = self.request.selection.lines.len() * self.request.repetitions as usize;
        // A line also costs its process: a few milliseconds that are no samples.
        let each = self.request.budget_s * 1000.0 / runs.max(1) as f64 - LINE_COST_MS;
        each.clamp(2.0, 1000.0) as u64
    }

    fn repetition(
        &mut self,
        repetition: u32,
        worker: &dyn Site,
        interrupts: &Interrupts,
        on: &mut dyn FnMut(&Event),
    ) -> Result<Ended, Failure> {
        let mut lines: Vec<&Line> = self.request.selection.lines.iter().collect();
        lines.shuffle(&mut self.rng);
        let budget_ms = self.line_budget_ms();
        let mut plan: String = lines.iter().map(|line| line.text(repetition == 0, budget_ms)).collect();
        plan.push_str("end\n");
        self.collector.begin(repetition, self.began.elapsed().as_secs_f64());
        worker.run(&plan, interrupts, &mut |line| self.take(line, repetition, on))
    }

    /// All repetitions in one plan, told apart by their tags.
    fn all_at_once(
        &mut self,
        worker: &dyn Site,
        interrupts: &Interrupts,
        on: &mut dyn FnMut(&Event),
    ) -> Result<Ended, Failure> {
        let budget_ms = self.line_budget_ms();
        let mut plan = String::new();
        for repetition in 0..self.request.repetitions {
            let mut lines: Vec<&Line> = self.request.selection.lines.iter().collect();
            lines.shuffle(&mut self.rng);
            for line in lines {
                let text = line.text(repetition == 0, budget_ms);
                let _ = writeln!(plan, "{} tag=r{repetition}", text.trim_end());
            }
        }
        plan.push_str("end\n");
        let mut repetition = 0;
        self.collector.begin(repetition, self.began.elapsed().as_secs_f64());
        worker.run(&plan, interrupts, &mut |line| {
            if let Some(next) = repetition_of(line).filter(|next| *next != repetition) {
                repetition = next;
                self.collector.begin(repetition, self.began.elapsed().as_secs_f64());
            }
            self.take(line, repetition, on)
        })
    }

    fn take(&mut self, line: &str, repetition: u32, on: &mut dyn FnMut(&Event)) -> Result<(), Failure> {
        let defect = |why: String| {
            let shown: String = line.chars().take(160).collect();
            let message = format!("the worker wrote what cannot be used: {why}: '{shown}'");
            Failure::new(Exit::Error, message, "this is a defect: please report it")
        };
        let Some(record) = parse(line).map_err(defect)? else { return Ok(()) };
        if let Record::Begin(head) = &record {
            self.done += 1;
            on(&self.step(format!("{} {}", head.name, head.variant), repetition));
        }
        self.collector.take(record).map_err(defect)
    }

    fn step(&self, row: String, repetition: u32) -> Event {
        let request = self.request;
        let spent = self.began.elapsed().as_secs_f64();
        let lines = request.selection.lines.len().max(1);
        let each_s = spent * lines as f64 / self.done.max(1) as f64;
        let end_s = expected_end_s(request, each_s);
        Event::Price {
            row,
            repetition: repetition + 1,
            of: request.repetitions,
            left_s: (end_s - spent).max(0.0),
        }
    }
}

/// The repetition that a record belongs to, by the tag of its line.
fn repetition_of(line: &str) -> Option<u32> {
    line.split('\t').find_map(|field| field.strip_prefix("tag=r"))?.parse().ok()
}

/// When it will end if every repetition takes so long: when the time is over, but not before the least number of repetitions
/// is there, unless that takes longer than the limit.
fn expected_end_s(request: &Request, each_s: f64) -> f64 {
    let all = each_s * f64::from(request.repetitions);
    let least = (each_s * f64::from(request.least)).min(request.limit_s);
    all.min(request.budget_s.max(least)).max(each_s).max(request.spread_s)
}

/// What starting a line's process costs on an ordinary machine.
const LINE_COST_MS: f64 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_foreseen_from_the_first_repetition_on() {
        let request = Request {
            selection: Selection::default(),
            repetitions: 15,
            least: 6,
            budget_s: 600.0,
            limit_s: 900.0,
            spread_s: 0.0,
            seed: 1,
        };
        // Fast rows come to all repetitions, slower ones to the time, very slow ones to the least or to the limit.
        for (each_s, end_s) in [(1.0, 15.0), (60.0, 600.0), (120.0, 720.0), (300.0, 900.0), (1000.0, 1000.0)]
        {
            assert_eq!(expected_end_s(&request, each_s), end_s);
        }
        assert_eq!(expected_end_s(&Request { spread_s: 8.0, ..request }, 0.1), 8.0);
    }
}
