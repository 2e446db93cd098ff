//! One verb a file.

pub mod doctor;
