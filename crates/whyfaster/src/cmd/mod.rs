//! One verb a file.

pub mod results;
pub mod show;
