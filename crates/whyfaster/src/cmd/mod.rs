//! One verb a file.

pub mod study;
