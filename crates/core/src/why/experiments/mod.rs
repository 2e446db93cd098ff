//! Experiments: for the largest findings, a change that removes the cause (or puts it into the other alternative), with
//! everything else the same. What is expected is said before.

mod cache;
mod change;
mod judge;
mod line;
mod nothing;
mod path;
mod pieces;
mod pipes;
mod placing;
mod reach;
mod starts;

use super::account::Alternative;
use super::cause::Cause;
use super::facts::Side;
use super::input::{self, ExplainInput};
use super::planned::{Machine, Planned, Test, Variation};
use super::report::{Account, Finding, Why};
use super::words::{time, upper};
use crate::plan::Shell;

pub use judge::{conclude, judge};

/// So many findings are tested, the largest.
const MOST: usize = 3;

/// A smaller part of the difference is not worth a test, which takes as long as that of a large one.
const LEAST_SHARE: f64 = 0.03;

/// What to try for the findings of an explanation, in their order: those that make much of the difference. Findings that work
/// against it and what is not explained have no cause to remove.
pub fn experiments(why: &Why, given: &ExplainInput<'_>, machine: &Machine) -> Vec<Planned> {
    let untraced = input::untraced(given.plan, given.batches);
    let sides: Vec<Side> = (0..given.plan.alternatives.len())
        .map(|index| Side::of(&Alternative::of(given, &untraced, index)))
        .collect();
    let testable = |it: &(usize, &Finding)| it.1.share >= LEAST_SHARE && it.1.cause != Cause::Unexplained;
    let findings = why.findings.iter().enumerate().filter(testable).take(MOST);
    findings
        .filter_map(|(at, finding)| {
            ExperimentContext::of(finding, (why, given), machine, &sides)?.planned(at)
        })
        .collect()
}

/// What an experiment is made of.
struct ExperimentContext<'a> {
    finding: &'a Finding,
    given: &'a ExplainInput<'a>,
    machine: &'a Machine,
    slow: &'a Side,
    fast: &'a Side,
    /// Where the time of the faster one goes.
    fast_account: Option<&'a Account>,
    /// Indices of the two in the plan.
    places: (usize, usize),
}

/// A change that was found.
struct Change {
    words: String,
    /// What is expected, behind "if ..., then".
    put_in: bool,
    sure: bool,
    test: Test,
}

impl<'a> ExperimentContext<'a> {
    fn of(
        finding: &'a Finding,
        (why, given): (&'a Why, &'a ExplainInput<'a>),
        machine: &'a Machine,
        sides: &'a [Side],
    ) -> Option<Self> {
        let place = |name: &str| sides.iter().position(|side| side.name == name);
        let places = (place(&finding.alternative)?, place(&finding.against)?);
        let fast_account = why.accounts.iter().find(|it| it.alternative == finding.against);
        let (slow, fast) = (&sides[places.0], &sides[places.1]);
        Some(Self { finding, given, machine, slow, fast, fast_account, places })
    }

    fn slow_line(&self) -> &'a str {
        &self.given.plan.alternatives[self.places.0].command
    }

    fn fast_line(&self) -> &'a str {
        &self.given.plan.alternatives[self.places.1].command
    }

    /// Whether command lines go to a shell.
    fn shell(&self) -> Option<&'a [String]> {
        match &self.given.plan.shell {
            Shell::Command(words) => Some(words),
            Shell::None => None,
        }
    }

    fn planned(&self, finding: usize) -> Option<Planned> {
        let change = self.change();
        let seconds = if change.is_ok() { self.winnable() } else { self.finding.seconds };
        let put_in = change.as_ref().is_ok_and(|it| it.put_in);
        let sure = change.as_ref().is_ok_and(|it| it.sure);
        let (alternative, changed) =
            if put_in { (self.places.1, &self.fast.label) } else { (self.places.0, &self.slow.label) };
        let words = change.as_ref().map_or_else(|_| "nothing".to_owned(), |it| it.words.clone());
        let prediction = match (&change, put_in, sure) {
            (Err(_), ..) => String::new(),
            (Ok(_), true, _) => {
                format!("{} then takes about {} longer: {words}.", upper(changed), time(seconds))
            }
            (Ok(_), false, true) => format!("{} can win about {}: {words}.", upper(changed), time(seconds)),
            (Ok(_), false, false) => {
                format!("At most {} can be won for {}: {words}.", time(seconds), changed)
            }
        };
        Some(Planned {
            finding,
            cause: self.finding.cause,
            alternative,
            change: words,
            prediction,
            predicted_s: seconds,
            put_in,
            sure,
            test: change.map(|it| it.test),
        })
    }

    /// What removes the cause; the error says why nothing does.
    fn change(&self) -> Result<Change, String> {
        match self.finding.cause {
            Cause::Processes => self.processes(),
            Cause::PathSearch => self.path_search(),
            Cause::Startup => self.startup(),
            Cause::SmallIo => self.small_io(),
            Cause::PipeCopy => self.pipe_copy(),
            Cause::Overlap => self.overlap(),
            Cause::Disk => self.disk(),
            Cause::Sleep => self.sleep(),
            Cause::CpuContention => self.cpu_contention(),
            Cause::Misplacement => self.misplacement(),
            Cause::Share => self.share(),
            Cause::Compute => Err("computing cannot be taken out of a program from outside".to_owned()),
            Cause::PageFaults => {
                Err("the memory that a program uses cannot be taken from it from outside".to_owned())
            }
            Cause::Lock => {
                Err("a lock cannot be left out from outside without changing what is computed".to_owned())
            }
            Cause::Network => Err("the other end of the network is not under control".to_owned()),
            Cause::Unexplained => Err("there is no cause to remove".to_owned()),
        }
    }
}

/// A change of the slower alternative's command line alone.
fn instead(original: &str, changed: String, words: String, sure: bool) -> Change {
    let test = Test { control: Variation::of(original), changed: Variation::of(changed) };
    Change { words, put_in: false, sure, test }
}
