//! The seam between a measurement and its machine: the clock, the signals, and everything that a measurement starts. `real` starts it, `simulated`
//! computes the result.

use std::path::Path;

use whyfaster_core::host::HostFacts;
use whyfaster_core::plan::Alternative;
use whyfaster_core::run::Run;
use whyfaster_core::sample::Arm;
use whyfaster_core::trace::report::Level;
use whyfaster_core::trace::setting::{Price, Setting};
use whyfaster_trace::Support;
use whyfaster_words::exit::Failure;

use super::client::{NoOutcome, Sink};
use super::hooks::Hook;
use super::protocol::{Outcome, Request};
use super::resolve::Command;
use super::trace::around::Around;
use super::trace::observer::{Observer, Take};

/// One run of a measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    /// The command.
    pub(crate) arm: Arm,
    /// In a duet, the alternative that runs concurrently.
    pub(crate) beside: Option<usize>,
    /// Its kind and number.
    pub(crate) run: Run,
}

/// Receivers of the standard output and the standard error of a trial.
pub(crate) type Streams<'a> = (&'a mut dyn Sink, &'a mut dyn Sink);

/// The machine of one measurement. Its clock starts with the measurement.
pub(crate) trait Machine {
    /// The date of the start, as records hold it.
    fn started(&self) -> String;

    /// Seconds since the start.
    fn now_s(&self) -> f64;

    /// The machine as it is at this moment: its CPUs, its memory, its settings.
    fn facts(&self) -> HostFacts;

    /// Counts the interrupting signals so far.
    fn interrupts(&self) -> u32;

    /// True once an interrupting signal came.
    fn interrupted(&self) -> bool {
        self.interrupts() > 0
    }

    /// True if an interrupting signal came, or comes within a moment.
    fn interrupted_soon(&self) -> bool;

    /// Finds the program of an alternative.
    fn resolve(&self, alternative: &Alternative) -> Result<Command, Failure>;

    /// Runs a hook of the alternative with this index. False: an interrupt ended it.
    fn hook(&self, hook: Hook, index: usize, run: Option<Run>) -> Result<bool, Failure>;

    /// Runs a batch and waits for its end. An interrupt ends the batch, and the outcome shows it. The streams are those of a trial.
    fn launch(
        &self,
        launch: &Launch,
        request: Request,
        streams: Option<Streams<'_>>,
    ) -> Result<Outcome, NoOutcome>;

    /// Drops all that the page cache holds.
    fn drop_caches(&self) -> Result<(), Failure>;

    /// Drops one file from the page cache.
    fn drop_file(&self, path: &Path) -> Result<(), Failure>;

    /// The levels of observation that this machine allows.
    fn support(&self) -> Support;

    /// The setting by which the stream of a command at this level is read.
    fn setting(&self, level: Level) -> Setting;

    /// The counters of the machine that change during an observed run, at this moment.
    fn around(&self) -> Around;

    /// Makes ready to observe commands at this level.
    fn observer(&self, level: Level) -> Result<Observer, Failure>;

    /// Runs a batch as [`Machine::launch`] does, observed. It is ended at `until_s` on this machine's clock. `None`: an interrupt came before
    /// the batch began.
    fn observe(
        &self,
        launch: &Launch,
        request: Request,
        observer: &mut Observer,
        until_s: Option<f64>,
        take: Take<'_>,
    ) -> Result<Option<Outcome>, NoOutcome>;

    /// Measures on these CPUs what operations cost, within the seconds that are left. The error is the reason why there are no prices.
    fn prices(&self, cpus: &[u32], left_s: f64) -> Result<Vec<Price>, String>;

    /// Measures what a page fault costs in so many bytes of memory, of those that are available.
    fn fault_price(&self, bytes: u64, available: Option<u64>) -> Option<Price>;
}
