//! One verb a file.

pub mod compare;
pub mod doctor;
pub mod results;
pub mod show;
pub mod study;
