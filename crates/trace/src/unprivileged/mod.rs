//! The levels that need no privileges: forks, execs and ends by ptrace without a stop at system calls, every call by
//! ptrace on request, and nothing but what the kernel adds up for a parent.
//!
//! Who is traced by ptrace is stopped at each event until we let it go on; `/proc/TID/schedstat` then says what the
//! scheduler did to it (Documentation/scheduler/sched-stats.rst).

mod bare;
mod calls;
mod memory;
mod probe;
mod proc;
mod rights;
mod seized;
mod stop;
mod switches;
mod waiting;

pub use bare::{Bare, bare};
pub use probe::possible;
pub use proc::schedstat;
pub use rights::without_rights;
pub use seized::{Seized, Tracing};
pub use stop::{EVENTS, go_on, pass_on, seize};
