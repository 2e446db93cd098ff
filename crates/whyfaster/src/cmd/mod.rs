//! One verb a file.

use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

pub mod compare;
pub mod demo;
pub mod doctor;
pub mod elsewhere;
pub mod fleet;
mod gates;
pub mod hyperfine;
pub mod inside;
pub mod introduction;
pub mod kernels;
pub mod machines;
pub mod manual;
mod pages;
pub mod prices;
pub mod report;
pub mod results;
pub mod rights;
mod saver;
pub mod show;
pub mod store;
pub mod study;
pub mod there;
pub mod trace;

/// What a thread gave, or its panic.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
