//! What a system call is about: why a task blocks in it, what its CPU time is spent on, and which way its data goes.

use std::sync::LazyLock;

use super::event::{CallNumber, FileKind};
use super::names::Abi;
use super::report::{Direction, WorkKind};

/// What a call waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Class {
    /// Takes data from a descriptor.
    Read,
    /// Gives data to a descriptor.
    Write,
    /// Waits until data is on a disk.
    Sync,
    /// Waits for a child to end.
    Child,
    /// Makes a child; with `CLONE_VFORK` it waits until that runs a program or ends.
    Make,
    /// Waits for a lock.
    Lock,
    /// Sleeps until a time.
    Sleep,
    /// Waits for any of several descriptors.
    Many,
    /// Waits for a message.
    Message,
    /// Waits for a signal.
    Signal,
    /// Sends to or receives from a socket, connects or accepts.
    Socket,
    /// Waits for what was handed to the kernel before (io_uring, aio).
    Ring,
    /// Sets how a descriptor behaves, or locks a part of its file.
    Control,
    /// Makes, copies, closes or moves a descriptor.
    Descriptor,
    /// Reads a directory.
    Directory,
    /// Opens, looks up, or changes names and attributes.
    Name,
    /// Maps memory.
    Map,
    /// Runs a program.
    Exec,
    /// Ends a task.
    Exit,
    /// Asks or tells the scheduler something.
    Scheduler,
    /// Anything else.
    #[default]
    Else,
}

impl Class {
    /// What the CPU time of such a call is spent on, by what its descriptor is.
    pub(super) fn work(self, file: FileKind) -> WorkKind {
        match self {
            Self::Read | Self::Write => match file {
                FileKind::Pipe => WorkKind::Pipe,
                FileKind::Socket | FileKind::UnixSocket => WorkKind::Socket,
                FileKind::Other => WorkKind::Rest,
                FileKind::None
                | FileKind::File
                | FileKind::BlockDevice
                | FileKind::Terminal
                | FileKind::CharDevice => WorkKind::FileData,
            },
            Self::Sync | Self::Ring => WorkKind::FileData,
            Self::Child | Self::Make | Self::Exit => WorkKind::Process,
            Self::Lock => WorkKind::Lock,
            Self::Sleep | Self::Many | Self::Message | Self::Signal | Self::Scheduler => WorkKind::Scheduling,
            Self::Socket => WorkKind::Socket,
            Self::Directory | Self::Name => WorkKind::FileMetadata,
            Self::Control | Self::Descriptor => WorkKind::Descriptor,
            Self::Map => WorkKind::Memory,
            Self::Exec => WorkKind::Exec,
            Self::Else => WorkKind::Rest,
        }
    }
}

impl WorkKind {
    /// What the CPU time of a call of this name is spent on; data counts as that of files, for the name does not tell its descriptor.
    pub fn of_call(name: &str) -> Self {
        by_name(name).work(FileKind::None)
    }
}

/// Which way the data of a call goes, if it has any.
pub(super) fn direction(abi: Abi, call: CallNumber) -> Option<Direction> {
    match class(abi, call) {
        Class::Read => Some(Direction::Read),
        Class::Write => Some(Direction::Write),
        Class::Socket => match abi.known(call)? {
            name if name.starts_with("send") => Some(Direction::Write),
            name if name.starts_with("recv") => Some(Direction::Read),
            _ => None,
        },
        _ => None,
    }
}

/// Calls of the tables are below this number.
const NUMBERS: usize = 1024;

/// Classes by number: native and compat, of x86-64 and of 64-bit Arm.
static CLASSES: LazyLock<[Vec<Class>; 4]> = LazyLock::new(|| {
    [(Abi::X86_64, false), (Abi::X86_64, true), (Abi::Aarch64, false), (Abi::Aarch64, true)]
        .map(|(abi, compat)| table(abi, compat))
});

fn table(abi: Abi, compat: bool) -> Vec<Class> {
    let numbers = 0..u32::try_from(NUMBERS).unwrap_or(0);
    numbers.map(|number| abi.known(CallNumber { number, compat }).map_or(Class::Else, by_name)).collect()
}

/// The class of a call.
pub(super) fn class(abi: Abi, call: CallNumber) -> Class {
    let table = &CLASSES[usize::from(abi == Abi::Aarch64) * 2 + usize::from(call.compat)];
    match usize::try_from(call.number).ok().and_then(|number| table.get(number)) {
        Some(class) => *class,
        // x32 numbers have a high bit and are not in the table.
        None => abi.known(call).map_or(Class::Else, by_name),
    }
}

fn by_name(name: &str) -> Class {
    match name {
        "read" | "readv" | "pread64" | "preadv" | "preadv2" | "splice" | "tee" | "readahead" => Class::Read,
        "getdents" | "getdents64" | "readdir" => Class::Directory,
        "write" | "writev" | "pwrite64" | "pwritev" | "pwritev2" | "vmsplice" | "sendfile" | "sendfile64"
        | "copy_file_range" | "ftruncate" | "fallocate" => Class::Write,
        "fsync" | "fdatasync" | "sync" | "syncfs" | "sync_file_range" | "msync" | "umount2" | "umount" => {
            Class::Sync
        }
        "wait4" | "waitid" | "waitpid" => Class::Child,
        "vfork" | "clone" | "clone3" | "fork" => Class::Make,
        "futex" | "futex_time64" | "futex_wait" | "futex_waitv" | "futex_requeue" | "flock" | "semop"
        | "semtimedop" | "semtimedop_time64" => Class::Lock,
        // What a signal interrupted goes on as restart_syscall(2), which is for waits with a time limit only.
        "nanosleep" | "clock_nanosleep" | "clock_nanosleep_time64" | "restart_syscall" => Class::Sleep,
        "poll" | "ppoll" | "ppoll_time64" | "select" | "_newselect" | "pselect6" | "pselect6_time64"
        | "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => Class::Many,
        "pause" | "rt_sigsuspend" | "sigsuspend" | "rt_sigtimedwait" | "rt_sigtimedwait_time64" => {
            Class::Signal
        }
        "msgrcv"
        | "msgsnd"
        | "mq_timedreceive"
        | "mq_timedsend"
        | "mq_timedreceive_time64"
        | "mq_timedsend_time64" => Class::Message,
        "connect" | "accept" | "accept4" | "sendto" | "recvfrom" | "sendmsg" | "recvmsg" | "sendmmsg"
        | "recvmmsg" | "recvmmsg_time64" | "send" | "recv" | "socketcall" => Class::Socket,
        "io_uring_enter" | "io_getevents" | "io_pgetevents" | "io_pgetevents_time64" => Class::Ring,
        "fcntl" | "fcntl64" => Class::Control,
        "close" | "close_range" | "dup" | "dup2" | "dup3" | "lseek" | "_llseek" | "pipe" | "pipe2"
        | "ioctl" | "fadvise64" | "fadvise64_64" | "arm_fadvise64_64" => Class::Descriptor,
        "execve" | "execveat" => Class::Exec,
        "exit" | "exit_group" => Class::Exit,
        "mmap" | "mmap2" | "munmap" | "mremap" | "mprotect" | "madvise" | "brk" | "mlock" | "mlock2"
        | "munlock" | "mlockall" | "munlockall" | "mincore" | "shmat" | "shmdt" | "membarrier" | "mbind" => {
            Class::Map
        }
        "sched_yield" | "sched_setaffinity" | "sched_getaffinity" | "sched_setscheduler"
        | "sched_getscheduler" | "sched_setparam" | "sched_getparam" | "sched_setattr" | "sched_getattr"
        | "setpriority" | "getpriority" | "nice" => Class::Scheduler,
        name if is_name(name) => Class::Name,
        _ => Class::Else,
    }
}

/// Calls about names and attributes of files.
fn is_name(name: &str) -> bool {
    let family =
        ["open", "stat", "chmod", "chown", "rename", "xattr", "inotify_", "link", "mkdir", "mknod", "utime"];
    let one = [
        "creat",
        "access",
        "faccessat",
        "faccessat2",
        "rmdir",
        "chdir",
        "fchdir",
        "getcwd",
        "futimesat",
        "truncate",
        "truncate64",
    ];
    let of_family = family.iter().any(|family| name.contains(family)) && !name.starts_with("mq_");
    of_family || one.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_call_has_one_class_in_every_table() {
        let calls = [
            (Abi::X86_64, 61, false),
            (Abi::X86_64, 114, true),
            (Abi::Aarch64, 260, false),
            (Abi::Aarch64, 114, true),
        ];
        for (abi, number, compat) in calls {
            assert_eq!(class(abi, CallNumber { number, compat }), Class::Child, "{abi:?} {number}");
        }
    }

    #[test]
    fn numbers_out_of_the_table_have_a_class() {
        assert_eq!(class(Abi::X86_64, CallNumber { number: 0x4000_0000, compat: false }), Class::Read);
        assert_eq!(class(Abi::X86_64, CallNumber { number: u32::MAX, compat: true }), Class::Else);
    }
}
