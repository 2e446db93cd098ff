//! Which calls have a descriptor as their first argument, and which argument is a path: what the programs must know to
//! look them up, and who sees calls by ptrace.

use libc::c_long;
use whyfaster_core::trace::event::CallNumber;
use whyfaster_core::trace::names::Abi;

use super::programs::types::{compat_call, transfer};

/// Calls whose first argument is the descriptor on which they may block, beside those that transfer data.
const ON_DESCRIPTOR: &[c_long] = &[
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_syncfs,
    libc::SYS_fallocate,
    libc::SYS_ftruncate,
    libc::SYS_getdents64,
    libc::SYS_flock,
    libc::SYS_fcntl,
    libc::SYS_ioctl,
    libc::SYS_close,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_connect,
    libc::SYS_epoll_pwait,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_readahead,
];

/// Calls that return how many bytes of the file at their first argument they moved.
const MOVING_BYTES: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_vmsplice,
    libc::SYS_sendfile,
    libc::SYS_copy_file_range,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
];

/// The same, but they return a number of messages.
const MOVING_MESSAGES: &[c_long] = &[libc::SYS_recvmmsg, libc::SYS_sendmmsg];

/// Calls after which another file may be behind a descriptor. A new descriptor is never one that is in use.
const RENUMBERING: &[c_long] = &[
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup3,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_dup2,
];

/// Calls with a path, and the number of that argument.
const WITH_PATH: &[(c_long, u8)] = &[
    (libc::SYS_execve, 0),
    (libc::SYS_execveat, 1),
    (libc::SYS_openat, 1),
    (libc::SYS_openat2, 1),
    (libc::SYS_newfstatat, 1),
    (libc::SYS_statx, 1),
    (libc::SYS_faccessat, 1),
    (libc::SYS_faccessat2, 1),
    (libc::SYS_readlinkat, 1),
    (libc::SYS_unlinkat, 1),
    (libc::SYS_mkdirat, 1),
    (libc::SYS_mknodat, 1),
    (libc::SYS_linkat, 1),
    (libc::SYS_symlinkat, 2),
    (libc::SYS_renameat, 1),
    (libc::SYS_renameat2, 1),
    (libc::SYS_fchmodat, 1),
    (libc::SYS_fchownat, 1),
    (libc::SYS_utimensat, 1),
    (libc::SYS_chdir, 0),
    (libc::SYS_chroot, 0),
    (libc::SYS_truncate, 0),
    (libc::SYS_statfs, 0),
    (libc::SYS_getxattr, 0),
    (libc::SYS_lgetxattr, 0),
    (libc::SYS_listxattr, 0),
    (libc::SYS_name_to_handle_at, 1),
    (libc::SYS_umount2, 0),
    (libc::SYS_acct, 0),
];

/// Calls that only older architectures still have.
#[cfg(target_arch = "x86_64")]
const OLD_ON_DESCRIPTOR: &[c_long] = &[libc::SYS_epoll_wait, libc::SYS_getdents];
#[cfg(not(target_arch = "x86_64"))]
const OLD_ON_DESCRIPTOR: &[c_long] = &[];

/// All calls whose first argument is the descriptor on which they may block.
const ALL_ON_DESCRIPTOR: [&[c_long]; 4] = [ON_DESCRIPTOR, MOVING_BYTES, MOVING_MESSAGES, OLD_ON_DESCRIPTOR];

/// Calls that only older architectures still have, with a path.
#[cfg(target_arch = "x86_64")]
const OLD_WITH_PATH: &[(c_long, u8)] = &[
    (libc::SYS_open, 0),
    (libc::SYS_creat, 0),
    (libc::SYS_stat, 0),
    (libc::SYS_lstat, 0),
    (libc::SYS_access, 0),
    (libc::SYS_readlink, 0),
    (libc::SYS_unlink, 0),
    (libc::SYS_mkdir, 0),
    (libc::SYS_rmdir, 0),
    (libc::SYS_rename, 0),
    (libc::SYS_link, 0),
    (libc::SYS_symlink, 1),
    (libc::SYS_chmod, 0),
    (libc::SYS_chown, 0),
    (libc::SYS_lchown, 0),
    (libc::SYS_utime, 0),
    (libc::SYS_utimes, 0),
    (libc::SYS_mknod, 0),
    (libc::SYS_futimesat, 1),
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_WITH_PATH: &[(c_long, u8)] = &[];

/// 1 at the number of each call whose first argument is a descriptor.
pub(crate) fn descriptors<const N: usize>() -> [u8; N] {
    let mut table = [0; N];
    for call in ALL_ON_DESCRIPTOR.into_iter().flatten() {
        set(&mut table, *call, 1);
    }
    table
}

/// Names that calls on a descriptor have in 32-bit tables only.
const COMPAT_ON_DESCRIPTOR: &[&str] =
    &["fcntl64", "fstat64", "_llseek", "ftruncate64", "sendfile64", "send", "recv", "recvmmsg_time64"];

/// What the programs must know of the calls of 32-bit programs, by the numbers of their own table.
pub(crate) fn compat<const N: usize>() -> [u8; N] {
    let native = |call: &c_long| {
        let number = u32::try_from(*call).ok()?;
        Abi::HOST.known(CallNumber { number, compat: false })
    };
    let named: Vec<&str> = ALL_ON_DESCRIPTOR.into_iter().flatten().filter_map(native).collect();
    let what = |number| match Abi::HOST.known(CallNumber { number, compat: true }) {
        Some("futex" | "futex_time64") => compat_call::COMPAT_FUTEX,
        Some("execve") => compat_call::COMPAT_EXECVE,
        Some("execveat") => compat_call::COMPAT_EXECVEAT,
        Some(name) if named.contains(&name) || COMPAT_ON_DESCRIPTOR.contains(&name) => {
            compat_call::COMPAT_DESCRIPTOR
        }
        _ => compat_call::COMPAT_ELSE,
    };
    std::array::from_fn(|at| u32::try_from(at).map_or(0, |number| what(number).0.to_le_bytes()[0]))
}

/// Whether the first argument of this call is the descriptor on which it may block.
pub(crate) fn on_descriptor(call: c_long) -> bool {
    ALL_ON_DESCRIPTOR.iter().any(|calls| calls.contains(&call))
}

/// The number of the path among the arguments, plus one, at the number of each call that has one.
pub(crate) fn paths<const N: usize>() -> [u8; N] {
    let mut table = [0; N];
    for (call, argument) in WITH_PATH.iter().chain(OLD_WITH_PATH) {
        set(&mut table, *call, argument + 1);
    }
    table
}

/// The number of the path among the arguments of a call that has one.
pub(crate) fn path_argument(call: CallNumber) -> Option<usize> {
    let is = |known: &c_long| !call.compat && *known == c_long::from(call.number);
    let mut all = WITH_PATH.iter().chain(OLD_WITH_PATH);
    all.find(|(known, _)| is(known)).map(|(_, argument)| usize::from(*argument))
}

/// What each call transfers.
pub(crate) fn transfers<const N: usize>() -> [u8; N] {
    let mut table = [0; N];
    for (calls, what) in
        [(MOVING_BYTES, transfer::TRANSFERS_BYTES), (MOVING_MESSAGES, transfer::TRANSFERS_MESSAGES)]
    {
        for call in calls {
            set(&mut table, *call, what.0.to_le_bytes()[0]);
        }
    }
    table
}

/// Whether what a call returns are bytes that it moved.
pub(crate) fn moves_bytes(call: CallNumber) -> bool {
    !call.compat && MOVING_BYTES.contains(&c_long::from(call.number))
}

/// 1 at the number of each call after which another file may be behind a descriptor.
pub(crate) fn renumbering<const N: usize>() -> [u8; N] {
    let mut table = [0; N];
    for call in RENUMBERING {
        set(&mut table, *call, 1);
    }
    table
}

pub(super) fn set(table: &mut [u8], call: c_long, value: u8) {
    if let Some(slot) = usize::try_from(call).ok().and_then(|i| table.get_mut(i)) {
        *slot = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// arch/x86/entry/syscalls/syscall_32.tbl
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn calls_of_32_bit_programs_are_known_by_their_own_numbers() {
        let table = compat::<512>();
        let at = |number: usize| compat_call(u32::from(table[number]));
        for (number, name) in [(3, "read"), (4, "write"), (143, "flock"), (221, "fcntl64"), (371, "recvfrom")]
        {
            assert_eq!(at(number), compat_call::COMPAT_DESCRIPTOR, "{name}");
        }
        assert_eq!((at(240), at(422)), (compat_call::COMPAT_FUTEX, compat_call::COMPAT_FUTEX));
        assert_eq!((at(11), at(358)), (compat_call::COMPAT_EXECVE, compat_call::COMPAT_EXECVEAT));
        for (number, name) in
            [(0, "restart_syscall"), (20, "getpid"), (102, "socketcall"), (162, "nanosleep")]
        {
            assert_eq!(at(number), compat_call::COMPAT_ELSE, "{name}");
        }
    }

    #[test]
    fn every_number_fits_into_the_table_of_the_programs() {
        let descriptors = descriptors::<512>();
        let paths = paths::<512>();
        let named: usize = ALL_ON_DESCRIPTOR.iter().map(|calls| calls.len()).sum();
        assert_eq!(descriptors.iter().filter(|d| **d == 1).count(), named, "each stands in one list");
        assert_eq!(paths.iter().filter(|p| **p > 0).count(), WITH_PATH.len() + OLD_WITH_PATH.len());
        assert_eq!(paths[usize::try_from(libc::SYS_openat).unwrap()], 2);
    }

    #[test]
    fn one_call_is_looked_up_as_all_of_them() {
        let call = |number: c_long| CallNumber { number: u32::try_from(number).unwrap(), compat: false };
        let (paths, transfers) = (paths::<512>(), transfers::<512>());
        for number in 0..512 {
            let at = usize::try_from(number).unwrap();
            assert_eq!(
                path_argument(call(number)).map_or(0, |argument| argument + 1),
                usize::from(paths[at])
            );
            assert_eq!(moves_bytes(call(number)), u32::from(transfers[at]) == transfer::TRANSFERS_BYTES.0);
        }
        assert_eq!(path_argument(call(libc::SYS_symlinkat)), Some(2));
        assert!(moves_bytes(call(libc::SYS_copy_file_range)));
        assert_eq!(path_argument(CallNumber { compat: true, ..call(libc::SYS_symlinkat) }), None);
    }
}
