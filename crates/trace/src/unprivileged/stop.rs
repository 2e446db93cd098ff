//! The system calls of ptrace(2) that all tracing here is made of.

use std::{io, mem, ptr};

/// Stops at forks and clones; the new task is traced from its first instruction.
pub const EVENTS: i32 = libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_TRACEVFORK | libc::PTRACE_O_TRACECLONE;

/// The wait status of a stop at a system call, told from a signal by this bit (`PTRACE_O_TRACESYSGOOD`).
pub(super) const AT_CALL: i32 = libc::SIGTRAP | 0x80;

/// Traces a task with these options. It is not stopped by it.
pub fn seize(task: i32, options: i32) -> io::Result<()> {
    request(libc::PTRACE_SEIZE, task, 0, options as usize)
}

/// Lets a stopped task go on in one of ptrace's ways. One that was killed meanwhile is no error: its end will be told.
pub fn go_on(how: libc::c_uint, task: i32, signal: i32) {
    let _ = request(how, task, 0, signal as usize);
}

/// Lets a task go on that stopped for a reason that is none of ours: signals are delivered, and a group-stop (SIGSTOP and
/// the like) stays one. `how` is how a running task goes on.
pub fn pass_on(how: libc::c_uint, task: i32, status: i32) {
    let (event, signal) = (status >> 16, libc::WSTOPSIG(status));
    match event {
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => go_on(libc::PTRACE_LISTEN, task, 0),
        0 => go_on(how, task, signal),
        _ => go_on(how, task, 0),
    }
}

/// Lets a stopped task go on untraced. A signal that it was stopped at is delivered; a group-stop stays one by itself.
pub(super) fn detach(task: i32, status: i32) {
    let signal = match (status >> 16, libc::WSTOPSIG(status)) {
        (0, signal) if signal != AT_CALL => signal,
        _ => 0,
    };
    go_on(libc::PTRACE_DETACH, task, signal);
}

/// Asks a running task to stop.
pub(super) fn interrupt(task: i32) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, task, 0, 0)
}

/// What the kernel says of the event that a task is stopped at: the new task, the former number, ...
pub(super) fn message(task: i32) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    request(libc::PTRACE_GETEVENTMSG, task, 0, (&raw mut message) as usize)?;
    Ok(message)
}

/// What a task that is stopped at a system call is about to call, or what the call gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallStop {
    /// It calls this.
    Entry { compat: bool, number: u32, args: [u64; 6] },
    /// The call gave this: negative is minus an error number.
    Exit { result: i64 },
}

/// `struct ptrace_syscall_info` of include/uapi/linux/ptrace.h, as of Linux 5.3.
#[repr(C)]
#[derive(Clone, Copy)]
struct Info {
    op: u8,
    pad: [u8; 3],
    arch: u32,
    instruction_pointer: u64,
    stack_pointer: u64,
    /// Entry: the number and six arguments. Exit: the result, then a byte that says whether it is an error.
    data: [u64; 8],
}

const GET_SYSCALL_INFO: libc::c_uint = 0x420e;
const ENTRY: u8 = 1;
const EXIT: u8 = 2;

/// The architecture of a 32-bit program on a 64-bit kernel has this bit clear (`__AUDIT_ARCH_64BIT`, include/uapi/linux/audit.h).
const ARCH_64BIT: u32 = 0x8000_0000;

/// What the system call stop is about.
pub(super) fn call_stop(task: i32) -> io::Result<Option<CallStop>> {
    // SAFETY: plain numbers, for which zeroes are valid.
    let mut info: Info = unsafe { mem::zeroed() };
    request(GET_SYSCALL_INFO, task, size_of::<Info>(), (&raw mut info) as usize)?;
    Ok(match info.op {
        ENTRY => {
            let [number, a, b, c, d, e, f, _] = info.data;
            let compat = cfg!(target_pointer_width = "64") && info.arch & ARCH_64BIT == 0;
            Some(CallStop::Entry { compat, number: number as u32, args: [a, b, c, d, e, f] })
        }
        EXIT => Some(CallStop::Exit { result: info.data[0] as i64 }),
        _ => None,
    })
}

fn request(request: libc::c_uint, task: i32, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: the callers pass either numbers or the address of memory of their own that the request fills; it is alive.
    match unsafe { libc::ptrace(request, task, ptr::without_provenance_mut::<libc::c_void>(address), data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
