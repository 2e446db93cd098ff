//! Why a task was blocked: the rules, from where it blocked and in which context it was woken.
//!
//! They need neither stacks nor symbols nor kprobes, so they hold on locked-down kernels and for stripped programs. The
//! order matters: a stop and a page fault say it all; then the call; then what its descriptor is; then who woke it.

use super::class::{Class, class};
use super::event::{Block, Context, FileKind, Left, Softirq};
use super::names::Abi;
use super::report::Cause;

/// Why a task of this machine was blocked. `wake` is `None` when its end was not seen.
pub fn cause(left: Left, block: Option<&Block>, wake: Option<&Context>) -> Cause {
    cause_of(Abi::HOST, left, block, wake)
}

/// Why a task was blocked, with the calls of a given table.
pub fn cause_of(abi: Abi, left: Left, block: Option<&Block>, wake: Option<&Context>) -> Cause {
    if left == Left::Stopped {
        return Cause::Stopped;
    }
    let Some(block) = block else { return Cause::Other };
    if block.fault {
        return Cause::PageFault;
    }
    let class = block.call.map_or(Class::Else, |call| class(abi, call));
    let seen = Seen { left, io: block.io, file: block.file, wake };
    by_class(class, &seen).unwrap_or_else(|| by_file(class, &seen))
}

/// Whether a task waits for a signal, as those who expect the end of a child do.
pub(super) fn waits_for_signal(abi: Abi, block: Option<&Block>) -> bool {
    let call = block.filter(|block| !block.fault).and_then(|block| block.call);
    call.is_some_and(|call| class(abi, call) == Class::Signal)
}

/// What is known beside the call.
struct Seen<'a> {
    left: Left,
    io: bool,
    file: FileKind,
    wake: Option<&'a Context>,
}

impl Seen<'_> {
    /// A time ran out. Calls with a time limit sleep on a high-resolution timer, or on one of jiffies.
    fn timer(&self) -> bool {
        matches!(self.wake, Some(Context::Timer | Context::Softirq(Softirq::Timer)))
    }

    /// A device was done, or a kernel worker that finishes such requests.
    fn device(&self) -> bool {
        matches!(self.wake, Some(Context::Softirq(Softirq::Block) | Context::Work(_)))
    }

    fn network(&self) -> bool {
        matches!(self.wake, Some(Context::Sent | Context::Softirq(Softirq::Net)))
    }

    fn task(&self) -> bool {
        matches!(self.wake, Some(Context::Task))
    }

    fn uninterruptible(&self) -> bool {
        self.left == Left::Uninterruptible
    }
}

/// Where the call alone, or the call and the waker, say why.
fn by_class(class: Class, seen: &Seen<'_>) -> Option<Cause> {
    // Anything but data: the task waits for a block of a file, of a directory or of a program, whatever the call.
    let storage = seen.io || matches!(seen.wake, Some(Context::Softirq(Softirq::Block)));
    match class {
        Class::Child => Some(Cause::Child),
        Class::Sync => Some(Cause::WriteBack),
        Class::Sleep => Some(Cause::Timer),
        // vfork and posix_spawn wait for the child's exec in state D, and the child wakes them.
        Class::Make if storage => Some(Cause::Disk),
        Class::Make => Some(if seen.uninterruptible() { Cause::Child } else { Cause::Other }),
        Class::Lock | Class::Control | Class::Message | Class::Signal | Class::Many | Class::Ring
            if seen.timer() =>
        {
            Some(Cause::Timer)
        }
        Class::Lock | Class::Control if storage => Some(Cause::Disk),
        Class::Lock | Class::Control => Some(Cause::Lock),
        Class::Message | Class::Signal => Some(Cause::OtherProcess),
        // Whoever waits for a ring is marked as waiting for a device, whatever it handed over: io_cqring_wait() sets
        // in_iowait. So that says nothing here.
        Class::Ring if seen.device() => Some(Cause::Disk),
        Class::Many | Class::Ring if seen.network() => Some(Cause::Network),
        Class::Many => Some(many(seen)),
        Class::Ring if seen.task() => Some(Cause::OtherProcess),
        Class::Ring => Some(Cause::Other),
        Class::Read
        | Class::Write
        | Class::Socket
        | Class::Descriptor
        | Class::Directory
        | Class::Name
        | Class::Map
        | Class::Exec
        | Class::Exit
        | Class::Scheduler
        | Class::Else => None,
    }
}

/// A poll for any of several descriptors; a tracer may name the descriptor if there is but one.
fn many(seen: &Seen<'_>) -> Cause {
    match seen.file {
        FileKind::Pipe => Cause::PipeEmpty,
        FileKind::Terminal => Cause::Terminal,
        FileKind::Socket => Cause::Network,
        _ if seen.task() => Cause::OtherProcess,
        _ => Cause::Other,
    }
}

/// Where it takes what the descriptor is.
fn by_file(class: Class, seen: &Seen<'_>) -> Cause {
    match (seen.file, class) {
        (FileKind::Pipe, Class::Write) => Cause::PipeFull,
        (FileKind::Pipe, Class::Read) => Cause::PipeEmpty,
        // An open of a FIFO waits for the other end, an ioctl for neither.
        (FileKind::Pipe | FileKind::UnixSocket, _) => Cause::OtherProcess,
        (FileKind::Terminal, _) => Cause::Terminal,
        (FileKind::Socket, _) => Cause::Network,
        (FileKind::File | FileKind::BlockDevice, Class::Write) => written(seen),
        (FileKind::Other | FileKind::CharDevice, _) if seen.timer() => Cause::Timer,
        (FileKind::Other | FileKind::CharDevice, _) if seen.task() && !seen.uninterruptible() => {
            Cause::OtherProcess
        }
        (FileKind::None, Class::Socket) if seen.network() => Cause::Network,
        (FileKind::None, Class::Socket) if seen.task() => Cause::OtherProcess,
        _ => storage(seen),
    }
}

/// A write to a file: it waits for the disk (direct or synchronous), or is held back until enough dirty pages are
/// written (`balance_dirty_pages`, which sleeps in slices of time), or for another writer of the same file.
fn written(seen: &Seen<'_>) -> Cause {
    match () {
        () if seen.io || seen.device() || seen.timer() => Cause::WriteBack,
        () if seen.task() && seen.uninterruptible() => Cause::Lock,
        () => Cause::Other,
    }
}

/// Anything else that may come down to a disk or to a lock within the kernel.
fn storage(seen: &Seen<'_>) -> Cause {
    match () {
        () if seen.io || matches!(seen.wake, Some(Context::Softirq(Softirq::Block))) => Cause::Disk,
        () if seen.uninterruptible() && seen.device() => Cause::Disk,
        // Inode, directory, memory-map and other locks of the kernel: asleep in state D until their holder lets go.
        () if seen.uninterruptible() && seen.task() => Cause::Lock,
        () if seen.network() => Cause::Network,
        () if seen.timer() => Cause::Timer,
        () if seen.task() && matches!(seen.file, FileKind::File) => Cause::OtherProcess,
        () => Cause::Other,
    }
}

#[cfg(test)]
mod tests;
