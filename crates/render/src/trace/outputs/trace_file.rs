//! What a file of a trace is: the option that asks for it, and what it is made of.

use std::io;

use whyfaster_core::trace::counts::Lost;
use whyfaster_core::trace::event::Event;
use whyfaster_store::AtomicFile;
use whyfaster_words::display::FileOption;

use super::super::flame::Flames;
use super::clock::Clock;

/// A file that a trace can be written to.
#[derive(Debug)]
pub struct TraceFile {
    /// The option that asks for it.
    pub(super) option: FileOption,
    /// What it is made of.
    pub made: Made,
}

/// What a file is made of, and by whom.
#[derive(Clone, Copy, Debug)]
pub enum Made {
    /// Of the events as they come, or of those that a record kept.
    OfEvents(fn(AtomicFile, Clock) -> io::Result<Box<dyn Sink>>),
    /// Of the stacks, which no record keeps, and a title.
    OfStacks(OfStacks),
}

/// Makes a file of stacks and a title.
pub type OfStacks = fn(&Flames, &str) -> anyhow::Result<Vec<u8>>;

/// What takes the events as they come and writes them.
pub trait Sink {
    /// Takes one event.
    fn push(&mut self, event: &Event) -> io::Result<()>;

    /// Writes what it held back and what was lost, and gives the file back.
    fn finish(self: Box<Self>, lost: &Lost) -> io::Result<AtomicFile>;
}

impl TraceFile {
    /// Whether it needs stacks to be taken.
    pub fn of_stacks(&self) -> bool {
        matches!(self.made, Made::OfStacks(_))
    }
}

impl PartialEq for TraceFile {
    fn eq(&self, other: &Self) -> bool {
        self.option == other.option
    }
}
