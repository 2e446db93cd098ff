//! A flame graph as a drawing.

use anyhow::Context as _;
use inferno::flamegraph::{Options, from_lines};
use whyfaster_words::display::FileOption;

use super::super::flame::Flames;
use super::folded::folded;
use super::trace_file::{Made, TraceFile};

pub(super) static FILE: TraceFile = TraceFile {
    option: FileOption::new("flamegraph", "Write flame graphs, on and off the CPU, to FILE (SVG)").short(),
    made: Made::OfStacks(svg),
};

/// The flame graph of no stack.
const NOTHING: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"480\" height=\"40\">\
    <text x=\"10\" y=\"25\">no stack was taken: the command ended too soon</text></svg>\n";

/// A flame graph; one that says so where there is nothing to draw.
pub fn svg(flames: &Flames, title: &str) -> anyhow::Result<Vec<u8>> {
    let folded = folded(flames);
    if folded.is_empty() {
        return Ok(NOTHING.as_bytes().to_vec());
    }
    let mut options = Options::default();
    options.title = title.to_owned();
    options.subtitle = Some("time by stack: on a CPU, and off it by cause".to_owned());
    options.count_name = "us".to_owned();
    let mut svg = Vec::new();
    from_lines(&mut options, folded.lines(), &mut svg).context("cannot draw the flame graph")?;
    Ok(svg)
}
