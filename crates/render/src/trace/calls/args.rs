//! The arguments that matter of the calls that matter: paths, descriptors, sizes, numbers of processes. All others are
//! printed in hexadecimal: a number without a meaning is better than a wrong one.

use whyfaster_core::trace::event::Call;

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A descriptor.
    Fd,
    /// The descriptor of a directory, or `AT_FDCWD`.
    Dir,
    /// A path: the one of the call that was read, or its address.
    Path,
    /// A size or a count.
    Size,
    /// A signed number: an offset, a process, a signal.
    Number,
    /// Anything else: an address, flags.
    Hex,
    /// Open flags.
    Open,
    /// A mode of a file, octal.
    Mode,
}

use Kind::{Dir, Fd, Hex, Mode, Number, Open, Path, Size};

/// Calls by name with their arguments, as section 2 of the manual has them.
const TABLE: &[(&str, &[Kind])] = &[
    ("read", &[Fd, Hex, Size]),
    ("write", &[Fd, Hex, Size]),
    ("pread64", &[Fd, Hex, Size, Number]),
    ("pwrite64", &[Fd, Hex, Size, Number]),
    ("readv", &[Fd, Hex, Size]),
    ("writev", &[Fd, Hex, Size]),
    ("preadv", &[Fd, Hex, Size, Number]),
    ("pwritev", &[Fd, Hex, Size, Number]),
    ("sendfile", &[Fd, Fd, Hex, Size]),
    ("splice", &[Fd, Hex, Fd, Hex, Size, Hex]),
    ("tee", &[Fd, Fd, Size, Hex]),
    ("vmsplice", &[Fd, Hex, Size, Hex]),
    ("copy_file_range", &[Fd, Hex, Fd, Hex, Size, Hex]),
    ("lseek", &[Fd, Number, Number]),
    ("close", &[Fd]),
    ("close_range", &[Fd, Fd, Hex]),
    ("dup", &[Fd]),
    ("dup2", &[Fd, Fd]),
    ("dup3", &[Fd, Fd, Hex]),
    ("fcntl", &[Fd, Number, Hex]),
    ("ioctl", &[Fd, Hex, Hex]),
    ("fsync", &[Fd]),
    ("fdatasync", &[Fd]),
    ("fallocate", &[Fd, Hex, Number, Number]),
    ("ftruncate", &[Fd, Number]),
    ("fadvise64", &[Fd, Number, Number, Number]),
    ("fstat", &[Fd, Hex]),
    ("fchmod", &[Fd, Mode]),
    ("fchown", &[Fd, Number, Number]),
    ("fchdir", &[Fd]),
    ("getdents64", &[Fd, Hex, Size]),
    ("flock", &[Fd, Number]),
    ("pipe", &[Hex]),
    ("pipe2", &[Hex, Hex]),
    ("open", &[Path, Open, Mode]),
    ("creat", &[Path, Mode]),
    ("openat", &[Dir, Path, Open, Mode]),
    ("openat2", &[Dir, Path, Hex, Size]),
    ("stat", &[Path, Hex]),
    ("lstat", &[Path, Hex]),
    ("newfstatat", &[Dir, Path, Hex, Hex]),
    ("statx", &[Dir, Path, Hex, Hex, Hex]),
    ("access", &[Path, Number]),
    ("faccessat", &[Dir, Path, Number]),
    ("faccessat2", &[Dir, Path, Number, Hex]),
    ("readlink", &[Path, Hex, Size]),
    ("readlinkat", &[Dir, Path, Hex, Size]),
    ("unlink", &[Path]),
    ("unlinkat", &[Dir, Path, Hex]),
    ("mkdir", &[Path, Mode]),
    ("mkdirat", &[Dir, Path, Mode]),
    ("rmdir", &[Path]),
    ("rename", &[Path, Hex]),
    ("renameat", &[Dir, Path, Dir, Hex]),
    ("renameat2", &[Dir, Path, Dir, Hex, Hex]),
    ("chdir", &[Path]),
    ("chmod", &[Path, Mode]),
    ("truncate", &[Path, Number]),
    ("statfs", &[Path, Hex]),
    ("execve", &[Path, Hex, Hex]),
    ("execveat", &[Dir, Path, Hex, Hex, Hex]),
    ("fork", &[]),
    ("vfork", &[]),
    ("clone", &[Hex, Hex, Hex, Hex, Hex]),
    ("clone3", &[Hex, Size]),
    ("wait4", &[Number, Hex, Hex, Hex]),
    ("waitid", &[Number, Number, Hex, Hex, Hex]),
    ("exit", &[Number]),
    ("exit_group", &[Number]),
    ("kill", &[Number, Number]),
    ("tkill", &[Number, Number]),
    ("tgkill", &[Number, Number, Number]),
    ("pidfd_open", &[Number, Hex]),
    ("pidfd_send_signal", &[Fd, Number, Hex, Hex]),
    ("getpid", &[]),
    ("getppid", &[]),
    ("gettid", &[]),
    ("getuid", &[]),
    ("geteuid", &[]),
    ("getgid", &[]),
    ("getegid", &[]),
    ("getpgrp", &[]),
    ("setsid", &[]),
    ("sched_yield", &[]),
    ("pause", &[]),
    ("sync", &[]),
    ("setpgid", &[Number, Number]),
    ("mmap", &[Hex, Size, Hex, Hex, Fd, Hex]),
    ("munmap", &[Hex, Size]),
    ("mprotect", &[Hex, Size, Hex]),
    ("mremap", &[Hex, Size, Size, Hex, Hex]),
    ("madvise", &[Hex, Size, Number]),
    ("brk", &[Hex]),
    ("poll", &[Hex, Size, Number]),
    ("select", &[Size, Hex, Hex, Hex, Hex]),
    ("epoll_wait", &[Fd, Hex, Size, Number]),
    ("epoll_pwait", &[Fd, Hex, Size, Number, Hex, Hex]),
    ("epoll_ctl", &[Fd, Number, Fd, Hex]),
    ("socket", &[Number, Hex, Number]),
    ("connect", &[Fd, Hex, Size]),
    ("bind", &[Fd, Hex, Size]),
    ("listen", &[Fd, Number]),
    ("accept", &[Fd, Hex, Hex]),
    ("accept4", &[Fd, Hex, Hex, Hex]),
    ("sendto", &[Fd, Hex, Size, Hex, Hex, Hex]),
    ("recvfrom", &[Fd, Hex, Size, Hex, Hex, Hex]),
    ("sendmsg", &[Fd, Hex, Hex]),
    ("recvmsg", &[Fd, Hex, Hex]),
    ("shutdown", &[Fd, Number]),
    ("rt_sigaction", &[Number, Hex, Hex, Size]),
    ("rt_sigprocmask", &[Number, Hex, Hex, Size]),
    ("rt_sigreturn", &[]),
    ("futex", &[Hex, Hex, Size, Hex, Hex, Hex]),
    ("sched_setaffinity", &[Number, Size, Hex]),
    ("sched_getaffinity", &[Number, Size, Hex]),
    ("getrandom", &[Hex, Size, Hex]),
    ("clock_nanosleep", &[Number, Hex, Hex, Hex]),
    ("nanosleep", &[Hex, Hex]),
];

/// How many arguments the other calls have, by the place in the list (include/linux/syscalls.h, arch/x86/kernel).
#[rustfmt::skip]
const COUNTS: [&[&str]; 6] = [
    &["inotify_init", "munlockall", "restart_syscall", "vhangup"],
    &["acct", "adjtimex", "alarm", "chroot", "epoll_create", "epoll_create1", "eventfd", "getpgid",
      "getsid", "inotify_init1", "io_destroy", "iopl", "memfd_secret", "mlockall", "mq_unlink",
      "personality", "pkey_free", "sched_get_priority_max", "sched_get_priority_min", "sched_getscheduler",
      "set_tid_address", "setfsgid", "setfsuid", "setgid", "setuid", "shmdt", "swapoff", "syncfs",
      "sysinfo", "time", "timer_delete", "timer_getoverrun", "times", "umask", "uname", "unshare",
      "userfaultfd"],
    &["arch_prctl", "capget", "capset", "clock_adjtime", "clock_getres", "clock_gettime", "clock_settime",
      "eventfd2", "fanotify_init", "fremovexattr", "fsopen", "fstatfs", "getcwd", "getgroups", "getitimer",
      "getpriority", "getrlimit", "getrusage", "gettimeofday", "inotify_rm_watch", "io_setup",
      "io_uring_setup", "ioprio_get", "landlock_restrict_self", "link", "lremovexattr", "memfd_create",
      "mlock", "mq_notify", "msgget", "munlock", "pivot_root", "pkey_alloc", "process_mrelease",
      "removexattr", "rt_sigpending", "rt_sigsuspend", "sched_getparam", "sched_rr_get_interval",
      "sched_setparam", "set_robust_list", "setdomainname", "setgroups", "sethostname", "setns",
      "setregid", "setreuid", "setrlimit", "settimeofday", "sigaltstack", "swapon", "symlink",
      "timer_gettime", "timerfd_create", "timerfd_gettime", "umount2", "ustat", "utime", "utimes"],
    &["bpf", "chown", "fchmodat", "flistxattr", "fsmount", "fspick", "futimesat", "get_robust_list",
      "getcpu", "getdents", "getpeername", "getresgid", "getresuid", "getsockname", "inotify_add_watch",
      "io_cancel", "io_submit", "ioperm", "ioprio_set", "landlock_create_ruleset", "lchown", "listxattr",
      "llistxattr", "membarrier", "mincore", "mknod", "mlock2", "modify_ldt", "mq_getsetattr", "mseal",
      "msgctl", "msync", "open_by_handle_at", "open_tree", "pidfd_getfd", "readahead", "rt_sigqueueinfo",
      "sched_setattr", "sched_setscheduler", "seccomp", "semget", "semop", "set_mempolicy", "setitimer",
      "setpriority", "setresgid", "setresuid", "shmat", "shmctl", "shmget", "signalfd", "symlinkat",
      "syslog", "timer_create"],
    &["cachestat", "fchmodat2", "fgetxattr", "futex_requeue", "futex_wake", "getxattr",
      "io_uring_register", "landlock_add_rule", "lgetxattr", "listmount", "migrate_pages", "mknodat",
      "mq_open", "msgsnd", "pkey_mprotect", "prlimit64", "ptrace", "quotactl", "quotactl_fd", "reboot",
      "removexattrat", "request_key", "rseq", "rt_sigtimedwait", "rt_tgsigqueueinfo", "sched_getattr",
      "semctl", "semtimedop", "sendmmsg", "set_mempolicy_home_node", "signalfd4", "socketpair",
      "statmount", "sync_file_range", "timer_settime", "timerfd_settime", "utimensat"],
    &["add_key", "fanotify_mark", "fchownat", "fsconfig", "fsetxattr", "futex_waitv", "get_mempolicy",
      "getsockopt", "io_getevents", "kcmp", "keyctl", "linkat", "listxattrat", "lsetxattr", "mount",
      "mount_setattr", "move_mount", "mq_timedreceive", "mq_timedsend", "msgrcv", "name_to_handle_at",
      "perf_event_open", "ppoll", "prctl", "process_madvise", "recvmmsg", "remap_file_pages", "setsockopt",
      "setxattr"],
];

/// `AT_FDCWD` (include/uapi/linux/fcntl.h).
const AT_FDCWD: i32 = -100;
/// The access mode of open flags, and those flags that have the same value on x86-64 and on arm64.
const ACCESS: [&str; 3] = ["O_RDONLY", "O_WRONLY", "O_RDWR"];
const OPEN: [(u64, &str); 7] = [
    (0o100, "O_CREAT"),
    (0o200, "O_EXCL"),
    (0o400, "O_NOCTTY"),
    (0o1000, "O_TRUNC"),
    (0o2000, "O_APPEND"),
    (0o4000, "O_NONBLOCK"),
    (0o2_000_000, "O_CLOEXEC"),
];
const O_CREAT: u64 = 0o100;

/// Calls that take an empty path for their descriptor itself where this flag says so (`AT_EMPTY_PATH`), and where it is: the path
/// that is read is empty then, and cannot be told from one that could not be read.
const EMPTY: [(&str, usize); 4] = [("newfstatat", 3), ("statx", 2), ("faccessat2", 3), ("execveat", 4)];
const AT_EMPTY_PATH: u64 = 0x1000;

/// The arguments as text.
pub(super) fn arguments(name: &str, call: &Call) -> Vec<String> {
    // 32-bit programs lay some arguments out differently (64-bit offsets take two of them).
    let kinds = TABLE.iter().find(|(known, _)| *known == name).filter(|_| !call.call.compat);
    let Some((_, kinds)) = kinds else {
        let counted = COUNTS.iter().position(|names| names.contains(&name)).filter(|_| !call.call.compat);
        if let Some(count) = counted {
            return call.args[..count].iter().map(|argument| show(Hex, *argument, call)).collect();
        }
        // How many it has is not known here: all six registers, without those behind the last that is not 0.
        let last = call.args.iter().rposition(|argument| *argument != 0).map_or(0, |last| last + 1);
        return call.args[..last].iter().map(|argument| format!("{argument:#x}")).collect();
    };
    let mut shown: Vec<String> =
        kinds.iter().zip(call.args).map(|(kind, argument)| show(*kind, argument, call)).collect();
    let empty = EMPTY.iter().any(|(of, flags)| *of == name && call.args[*flags] & AT_EMPTY_PATH != 0);
    if let Some(path) = kinds.iter().position(|kind| *kind == Path).filter(|_| empty && call.path.is_none()) {
        shown[path] = "\"\"".to_owned();
    }
    // A mode is an argument only where a file is made.
    if kinds.last() == Some(&Mode)
        && let Some(open) = kinds.iter().position(|kind| *kind == Open)
        && call.args[open] & O_CREAT == 0
    {
        shown.pop();
    }
    shown
}

fn show(kind: Kind, argument: u64, call: &Call) -> String {
    // Descriptors and numbers of processes are ints: the upper half of the register is undefined.
    let int = argument as i32;
    match kind {
        Fd => int.to_string(),
        Dir if int == AT_FDCWD => "AT_FDCWD".to_owned(),
        Dir => int.to_string(),
        Path => call
            .path
            .as_deref()
            .map_or_else(|| format!("{argument:#x}"), |path| format!("\"{}\"", path.escape_debug())),
        Size => argument.to_string(),
        // Offsets have 64 bits, all other numbers 32.
        Number if argument >> 32 == 0 => int.to_string(),
        Number => (argument as i64).to_string(),
        Mode => format!("{:#05o}", argument & 0o7777).replacen("0o", "0", 1),
        Open => open_flags(argument),
        Hex if argument == 0 => "0".to_owned(),
        Hex => format!("{argument:#x}"),
    }
}

fn open_flags(flags: u64) -> String {
    let mut words =
        vec![ACCESS.get((flags & 3) as usize).map_or_else(|| "0x3".to_owned(), |word| (*word).to_owned())];
    let mut rest = flags & !3 & 0xffff_ffff;
    for (flag, word) in OPEN {
        if rest & flag != 0 {
            words.push(word.to_owned());
            rest &= !flag;
        }
    }
    if rest != 0 {
        words.push(format!("{rest:#x}"));
    }
    words.join("|")
}

/// Calls whose result is an address.
pub(super) fn returns_address(name: &str) -> bool {
    matches!(name, "mmap" | "brk" | "mremap" | "shmat")
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyfaster_core::trace::event::CallNumber;

    #[test]
    fn every_call_stands_once_and_is_known_by_its_name() {
        for (index, (name, kinds)) in TABLE.iter().enumerate() {
            assert!(TABLE[..index].iter().all(|(other, _)| other != name), "{name} twice");
            assert!(kinds.len() <= 6, "{name}");
            assert!(kinds.iter().filter(|kind| **kind == Path).count() <= 1, "{name}: one path is read");
        }
    }

    #[test]
    fn the_other_calls_have_as_many_arguments_as_the_kernel_says() {
        for (count, names) in COUNTS.iter().enumerate() {
            for name in *names {
                assert!(TABLE.iter().all(|(known, _)| known != name), "{name} is in the table");
                assert!(COUNTS[count + 1..].iter().all(|others| !others.contains(name)), "{name} twice");
            }
        }
        let number = CallNumber { number: 158, compat: false };
        let call = Call {
            task: 1,
            call: number,
            began: 0,
            args: [0x1002, 0, 3, 4, 5, 6],
            result: Some(0),
            path: None,
            run_ns: 0,
            runnable_ns: 0,
        };
        assert_eq!(arguments("arch_prctl", &call), ["0x1002", "0"]);
        let stat = Call { args: [3, 0x7f00, 0x7f10, AT_EMPTY_PATH, 5, 6], ..call.clone() };
        assert_eq!(arguments("newfstatat", &stat), ["3", "\"\"", "0x7f10", "0x1000"]);
        let compat = Call { call: CallNumber { compat: true, ..number }, ..call };
        assert_eq!(arguments("arch_prctl", &compat).len(), 6);
    }

    #[test]
    fn open_flags_are_words() {
        assert_eq!(open_flags(0), "O_RDONLY");
        assert_eq!(open_flags(0o2_001_101), "O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC");
        assert_eq!(open_flags(0o20_000_002), "O_RDWR|0x400000");
    }
}
