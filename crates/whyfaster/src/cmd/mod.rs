//! One verb a file.

pub mod doctor;
pub mod study;
