//! The worker behind `whyfaster prices`, carried inside the program: its bytes, its C sources, and what it says about its probes.
//!
//! The worker itself is C (`c/`, contract in `include/probe.h`, `PROTOCOL.md` for what it reads and writes). This crate measures nothing.

#![forbid(unsafe_code)]

mod describe;

use std::io::Read;

use flate2::read::ZlibDecoder;

pub use describe::{Batch, Expectation, GROUPS, Parameter, Probe, parse_list};

/// The worker, an executable file of the system that this crate was built for. It is unpacked at every call.
#[must_use]
pub fn worker() -> Vec<u8> {
    // A constant would be copied into every crate that asks.
    static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/worker.zlib"));
    let mut worker = Vec::new();
    ZlibDecoder::new(PACKED).read_to_end(&mut worker).expect("build.rs packed it, and the tests unpack it");
    worker
}

/// The C sources that the worker was built from, by path (`c/getpid.c`), headers behind the programs.
#[must_use]
pub fn sources() -> &'static [(&'static str, &'static str)] {
    include!(concat!(env!("OUT_DIR"), "/sources.rs"))
}

/// The text of one source, by the path that a probe's description names.
#[must_use]
pub fn source(path: &str) -> Option<&'static str> {
    sources().iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

/// All probes, those of group `selftest` (for tests only) too; what `worker --list` and `worker --list hidden` say.
#[must_use]
pub fn descriptions() -> Vec<Probe> {
    parse_list(include_str!(concat!(env!("OUT_DIR"), "/list.txt")))
        .expect("the list was written by the worker that this crate carries, and the tests read it")
}

/// What the worker reads and writes, in words.
#[must_use]
pub fn protocol() -> &'static str {
    include_str!("../PROTOCOL.md")
}
