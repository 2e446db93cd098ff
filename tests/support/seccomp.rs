//! A filter of system calls, as a container may have one.

use std::io;

/// Refuses these system calls to this process and all that it starts, with `EPERM`.
pub(crate) fn refuse(calls: &[libc::c_long]) -> io::Result<()> {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    // The number of the call comes first in what a filter sees: struct seccomp_data, seccomp(2).
    let mut filter = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0)];
    for &call in calls {
        let other = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        filter.push(libc::sock_filter { jf: 1, ..statement(other, call as u32) });
        filter.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
    }
    filter.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    install(&mut filter)
}

/// Makes every system call of this process and of all that it starts cost some microseconds more.
pub(crate) fn costly() -> io::Result<()> {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    // It looks at an argument, so that the kernel cannot know its answer beforehand (seccomp_cache_prepare in kernel/seccomp.c).
    let mut filter = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 16); 3000];
    filter.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    (0..8).try_for_each(|_| install(&mut filter))
}

fn install(filter: &mut [libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program points to a filter that outlives the call; without new privileges anybody may have one.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}
