//! One verb a file.

pub mod compare;
pub mod demo;
pub mod doctor;
pub mod inside;
pub mod introduction;
pub mod kernels;
pub mod machines;
pub mod manual;
pub mod prices;
pub mod results;
pub mod show;
pub mod study;
mod study_dispatch;
mod study_placement;
pub mod study_prices;
mod study_traced;
pub mod trace;
