//! What one observation gives beside the stream.

use whyfaster_core::event::Event;
use whyfaster_core::trace::counts::Counts;
use whyfaster_core::trace::record::{EndedBy, Runs};
use whyfaster_core::trace::setting::Facts;
use whyfaster_words::exit::Failure;

/// What one observation gave beside the stream.
#[derive(Debug, Default)]
pub(super) struct Watched {
    pub(super) counts: Counts,
    pub(super) facts: Facts,
    /// How the command ended.
    pub(super) exit_status: Option<i32>,
    pub(super) runs: Runs,
    /// The most memory that it had.
    pub(super) memory_bytes: Option<u64>,
    pub(super) interrupted: bool,
    pub(super) ended_by: Option<EndedBy>,
    pub(super) failure: Option<Failure>,
}

/// What is told while it goes on.
#[derive(Debug)]
pub enum Said<'a> {
    /// What stands for itself.
    Note(&'a str),
    /// How far it is.
    Progress(Event),
}

/// Takes what is told.
pub(super) type Say<'a> = &'a mut dyn FnMut(Said<'_>);
