//! The files that a trace can be written to, one a file of this directory; its report and its record are none of them.

mod clock;
mod flamegraph;
mod folded;
mod perfetto;
mod trace_file;

use whyfaster_words::display::{FileOption, Registered};

pub use clock::Clock;
pub use flamegraph::svg;
pub use folded::folded;
pub use trace_file::{Made, OfStacks, Sink, TraceFile};

/// The files, in the order of the help.
static FILES: [&TraceFile; 3] = [&perfetto::FILE, &flamegraph::FILE, &folded::FILE];

impl Registered for TraceFile {
    fn all() -> &'static [&'static Self] {
        &FILES
    }

    fn option(&self) -> &FileOption {
        &self.option
    }
}
