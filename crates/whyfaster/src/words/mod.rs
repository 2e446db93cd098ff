//! What the program found out, in English. A statement arrives as a kind with its numbers and leaves as text; nothing reads,
//! cuts or compares that text again. Records hold both: the kind for programs, the text for people.

pub mod reason;
pub mod why;
