//! What each call says about the start-up of a program: a part of it, its end, or nothing. How the programs in the kernel
//! use it stands in `bpf/startup.bpf.c`.

use libc::c_long;

use super::programs::types::startup;
use super::tables::set;

/// Of the loader and the runtime, whatever the arguments.
const PART: &[c_long] = &[libc::SYS_set_tid_address, libc::SYS_set_robust_list, libc::SYS_rseq];

/// Loaders and runtimes make these calls, and so do allocators and compilers of running programs.
const BESIDE: &[c_long] = &[libc::SYS_prlimit64, libc::SYS_mprotect];

/// The program does something: it makes or ends a process, begins another program, sleeps, waits, talks to another
/// process, writes, or changes a directory.
const OVER: &[c_long] = &[
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_pipe2,
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_vmsplice,
    libc::SYS_sendfile,
    libc::SYS_copy_file_range,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync,
    libc::SYS_syncfs,
    libc::SYS_fallocate,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_mkdirat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_fchmodat,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_mount,
];

/// On a descriptor that it opened.
const FILE: &[c_long] = &[libc::SYS_fstat, libc::SYS_getdents64];
const READ: &[c_long] =
    &[libc::SYS_read, libc::SYS_pread64, libc::SYS_readv, libc::SYS_preadv, libc::SYS_preadv2];

/// At a path.
const LOOK: &[c_long] = &[
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_statfs,
];
const OPEN: &[c_long] = &[libc::SYS_openat, libc::SYS_openat2];

#[cfg(target_arch = "x86_64")]
mod old {
    //! Calls that only older architectures still have, or that no other has.

    use libc::c_long;

    pub(super) const PART: &[c_long] = &[libc::SYS_arch_prctl];
    pub(super) const OVER: &[c_long] = &[
        libc::SYS_fork,
        libc::SYS_vfork,
        libc::SYS_pause,
        libc::SYS_poll,
        libc::SYS_select,
        libc::SYS_epoll_wait,
        libc::SYS_pipe,
        libc::SYS_creat,
        libc::SYS_unlink,
        libc::SYS_rename,
        libc::SYS_renameat,
        libc::SYS_mkdir,
        libc::SYS_rmdir,
        libc::SYS_link,
        libc::SYS_symlink,
        libc::SYS_chmod,
        libc::SYS_chown,
        libc::SYS_utimes,
    ];
    pub(super) const LOOK: &[c_long] =
        &[libc::SYS_stat, libc::SYS_lstat, libc::SYS_access, libc::SYS_readlink];
    pub(super) const OPEN: &[c_long] = &[libc::SYS_open];
}

#[cfg(not(target_arch = "x86_64"))]
mod old {
    use libc::c_long;

    pub(super) const PART: &[c_long] = &[];
    pub(super) const OVER: &[c_long] = &[];
    pub(super) const LOOK: &[c_long] = &[];
    pub(super) const OPEN: &[c_long] = &[];
}

/// What the call of each number says.
pub(crate) fn calls<const N: usize>() -> [u8; N] {
    let mut table = [0; N];
    for (calls, class) in [
        (PART, startup::STARTUP_PART),
        (old::PART, startup::STARTUP_PART),
        (BESIDE, startup::STARTUP_BESIDE),
        (OVER, startup::STARTUP_OVER),
        (old::OVER, startup::STARTUP_OVER),
        (FILE, startup::STARTUP_FILE),
        (READ, startup::STARTUP_READ),
        (&[libc::SYS_mmap], startup::STARTUP_MAP),
        (LOOK, startup::STARTUP_LOOK),
        (old::LOOK, startup::STARTUP_LOOK),
        (OPEN, startup::STARTUP_OPEN),
        (old::OPEN, startup::STARTUP_OPEN),
        (&[libc::SYS_futex], startup::STARTUP_FUTEX),
    ] {
        for call in calls {
            set(&mut table, *call, class.0.to_le_bytes()[0]);
        }
    }
    table
}
