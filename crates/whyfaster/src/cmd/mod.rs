//! One verb a file.

pub mod doctor;
pub mod study;
pub mod results;
pub mod show;
