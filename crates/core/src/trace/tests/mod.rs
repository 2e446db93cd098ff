//! Streams written by hand, with results worked out by hand.

mod accounts;
mod avoidable;
mod fixture;
mod holders;
mod holes;
mod levels;
mod mended;
mod path;
mod path_alternatives;
mod path_backwards;
mod path_left;
mod path_messages;
mod path_waits;
mod pipelines;
mod properties;
mod states;
mod tree;
mod work;

pub(super) use properties::any_event;
