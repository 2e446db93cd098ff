//! The causes, one file each. A new one is a line in `cause.rs`, a file here, and a line below; the compiler asks for its words.

pub(super) mod calls;
mod compute;
mod cpu_contention;
mod definition;
mod disk;
pub(super) mod files;
mod kernel;
mod lock;
pub(super) mod misplacement;
mod network;
mod overlap;
mod page_faults;
mod path_search;
mod pipe_copy;
pub(super) mod processes;
mod share;
mod sleep;
pub(super) mod small_io;
mod startup;
mod unexplained;

use super::cause::Cause;

pub(super) use definition::{About, Definition, Seen};

/// What there is to know of a cause.
pub(super) fn definition(cause: Cause) -> &'static Definition {
    match cause {
        Cause::Processes => &processes::DEFINITION,
        Cause::PathSearch => &path_search::DEFINITION,
        Cause::Startup => &startup::DEFINITION,
        Cause::SmallIo => &small_io::DEFINITION,
        Cause::PipeCopy => &pipe_copy::DEFINITION,
        Cause::Overlap => &overlap::DEFINITION,
        Cause::Compute => &compute::DEFINITION,
        Cause::PageFaults => &page_faults::DEFINITION,
        Cause::Files => &files::DEFINITION,
        Cause::Calls => &calls::DEFINITION,
        Cause::Kernel => &kernel::DEFINITION,
        Cause::Disk => &disk::DEFINITION,
        Cause::Lock => &lock::DEFINITION,
        Cause::Sleep => &sleep::DEFINITION,
        Cause::CpuContention => &cpu_contention::DEFINITION,
        Cause::Misplacement => &misplacement::DEFINITION,
        Cause::Share => &share::DEFINITION,
        Cause::Network => &network::DEFINITION,
        Cause::Unexplained => &unexplained::DEFINITION,
    }
}
