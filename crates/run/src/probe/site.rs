//! Where the worker runs: as a child of this program, or inside something else.

use whyfaster_words::exit::Failure;

use super::super::interrupts::Interrupts;
use super::worker::{Ended, Worker};

/// What takes the worker's lines.
pub type Take<'a> = dyn FnMut(&str) -> Result<(), Failure> + 'a;

/// A place that runs a plan.
pub trait Site {
    /// Runs a plan in a fresh worker; every line that it writes goes to `take`.
    fn run(&self, plan: &str, interrupts: &Interrupts, take: &mut Take<'_>) -> Result<Ended, Failure>;

    /// Whether all repetitions go into one run, because a start there costs too much. Every line of a plan is a fresh
    /// process all the same.
    fn at_once(&self) -> bool {
        false
    }
}

impl Site for Worker {
    fn run(&self, plan: &str, interrupts: &Interrupts, take: &mut Take<'_>) -> Result<Ended, Failure> {
        Self::run(self, plan, interrupts, take)
    }
}
