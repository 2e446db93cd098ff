//! One verb a file.

pub mod compare;
pub mod doctor;
pub mod inside;
pub mod kernels;
pub mod machines;
pub mod prices;
pub mod results;
pub mod show;
pub mod study;
pub mod study_prices;
