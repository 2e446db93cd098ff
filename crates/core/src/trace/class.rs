//! What a system call is about, as far as it says why a task blocked in it.

use std::sync::LazyLock;

use super::event::CallNumber;
use super::names::Abi;

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
    /// Waits for a signal or a message.
    Message,
    /// Sends to or receives from a socket, connects or accepts.
    Socket,
    /// Waits for what was handed to the kernel before (io_uring, aio).
    Ring,
    /// Anything else: opens, looks up, maps, runs a program, ends.
    #[default]
    Else,
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
        "read" | "readv" | "pread64" | "preadv" | "preadv2" | "splice" | "tee" | "getdents"
        | "getdents64" | "readahead" => Class::Read,
        "write" | "writev" | "pwrite64" | "pwritev" | "pwritev2" | "vmsplice" | "sendfile" | "sendfile64"
        | "copy_file_range" | "ftruncate" | "fallocate" => Class::Write,
        "fsync" | "fdatasync" | "sync" | "syncfs" | "sync_file_range" | "msync" | "umount2" | "umount" => {
            Class::Sync
        }
        "wait4" | "waitid" | "waitpid" => Class::Child,
        "vfork" | "clone" | "clone3" | "fork" => Class::Make,
        "futex" | "futex_time64" | "futex_wait" | "futex_waitv" | "futex_requeue" | "flock" | "fcntl"
        | "fcntl64" | "semop" | "semtimedop" | "semtimedop_time64" => Class::Lock,
        "nanosleep" | "clock_nanosleep" | "clock_nanosleep_time64" => Class::Sleep,
        "poll" | "ppoll" | "ppoll_time64" | "select" | "_newselect" | "pselect6" | "pselect6_time64"
        | "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => Class::Many,
        "pause"
        | "rt_sigsuspend"
        | "sigsuspend"
        | "rt_sigtimedwait"
        | "rt_sigtimedwait_time64"
        | "msgrcv"
        | "msgsnd"
        | "mq_timedreceive"
        | "mq_timedsend"
        | "mq_timedreceive_time64"
        | "mq_timedsend_time64" => Class::Message,
        "connect" | "accept" | "accept4" | "sendto" | "recvfrom" | "sendmsg" | "recvmsg" | "sendmmsg"
        | "recvmmsg" | "recvmmsg_time64" | "send" | "recv" | "socketcall" => Class::Socket,
        "io_uring_enter" | "io_getevents" | "io_pgetevents" | "io_pgetevents_time64" => Class::Ring,
        _ => Class::Else,
    }
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
