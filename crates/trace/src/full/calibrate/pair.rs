//! Two children that make calls, switches, processes and failing execs on command.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::program;
use crate::clock::own_cpu_ns;

/// Units of one batch: about 2 ms each. Failing execs are fewer, for each tells its path.
const CALLS: u64 = 15_000;
const TRIPS: u64 = 300;
const PROCESSES: u64 = 20;
const MISSES: u64 = 500;

/// One byte there and back: read and write of both.
pub(super) const CALLS_A_TRIP: f64 = 4.0;
/// Of the parent of a process: clone, wait4, and clock_gettime.
pub(super) const CALLS_A_PROCESS: f64 = 3.0;

/// Bytes of the stack on which a child of a child lives until its exec.
const STACK: usize = 16 << 10;

/// What to do many times.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(super) enum Batch {
    /// A system call that does nothing.
    Calls,
    /// A byte to the other child and back.
    Trips,
    /// A process that executes a program which ends at once.
    Processes,
    /// An exec of a program that does not exist.
    Misses,
}

impl Batch {
    pub(super) const ALL: [Self; 4] = [Self::Calls, Self::Trips, Self::Processes, Self::Misses];

    pub(super) fn count(self) -> u64 {
        match self {
            Self::Calls => CALLS,
            Self::Trips => TRIPS,
            Self::Processes => PROCESSES,
            Self::Misses => MISSES,
        }
    }
}

/// CPU time and context switches of one unit of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    pub(super) ns: f64,
    pub(super) switches: f64,
}

/// What the first child answers: CPU time of one process where it was told, switches of itself and of its ended
/// children, and how much it has done.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Answer {
    process_ns: u64,
    switches: u64,
    done: u64,
}

/// A child that is killed when this is dropped.
#[derive(Debug)]
struct Child {
    pid: i32,
}

/// Two children that talk to each other, and the way to command the first.
#[derive(Debug)]
pub(super) struct Pair {
    first: Child,
    second: Child,
    commands: OwnedFd,
    results: OwnedFd,
}

fn pipe() -> std::io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us both.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

/// Makes a child that runs `body`, which must not allocate nor take a lock: another thread of this process may hold it.
fn fork(body: impl FnOnce()) -> std::io::Result<Child> {
    // SAFETY: the child makes system calls only, and leaves by _exit.
    match unsafe { libc::fork() } {
        -1 => Err(std::io::Error::last_os_error()),
        0 => {
            // SAFETY: plain system calls. It must not outlive us, also when we are killed.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            pin();
            body();
            // SAFETY: ends the child without running what belongs to its parent.
            unsafe { libc::_exit(0) }
        }
        pid => Ok(Child { pid }),
    }
}

/// Both on the first CPU that they may use: a switch at each hand-over.
fn pin() {
    // SAFETY: reads the allowed CPUs into a mask on the stack and sets them to the first of these.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size, &raw mut allowed) != 0 {
            return;
        }
        let first = (0..1024).find(|cpu| libc::CPU_ISSET(*cpu, &allowed));
        if let Some(cpu) = first {
            let mut one: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu, &mut one);
            libc::sched_setaffinity(0, size, &raw const one);
        }
    }
}

impl Pair {
    /// The end that a child writes to or reads from is nobody else's: who is killed (for memory, say) keeps nobody waiting.
    pub(super) fn start() -> std::io::Result<Self> {
        let ((asked, ask), (answers, answer)) = (pipe()?, pipe()?);
        let second = fork(|| while transfer(asked.as_raw_fd(), answer.as_raw_fd()) {})?;
        drop((asked, answer));
        let ((commanded, commands), (results, result)) = (pipe()?, pipe()?);
        // Where there is none and programs in memory are forbidden, processes are not calibrated.
        let program = program::find().ok();
        let program = program.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let other = (ask.as_raw_fd(), answers.as_raw_fd());
        let first = fork(|| serve(commanded.as_raw_fd(), result.as_raw_fd(), other, program))?;
        Ok(Self { first, second, commands, results })
    }

    pub(super) fn pids(&self) -> [i32; 2] {
        [self.first.pid, self.second.pid]
    }

    /// What one unit cost both and their children. By CPU time, because on a busy machine all wait for others too.
    /// `None`: it could not be done.
    pub(super) fn run(&self, batch: Batch) -> std::io::Result<Option<Spent>> {
        let before = self.cpu_time()?;
        rustix::io::write(&self.commands, &[batch as u8])?;
        let mut bytes = [0u8; size_of::<Answer>()];
        if rustix::io::read(&self.results, &mut bytes)? != bytes.len() {
            return Err(std::io::Error::other("the calibrating child ended"));
        }
        let own = self.cpu_time()? - before;
        let field = |i: usize| u64::from_ne_bytes(bytes[8 * i..8 * i + 8].try_into().expect("eight bytes"));
        let answer = Answer { process_ns: field(0), switches: field(1), done: field(2) };
        let count = batch.count() as f64;
        let ns = match batch {
            Batch::Calls | Batch::Trips | Batch::Misses => own as f64 / count,
            Batch::Processes => answer.process_ns as f64,
        };
        let spent = Spent { ns, switches: answer.switches as f64 / count };
        Ok((answer.done == batch.count()).then_some(spent))
    }

    fn cpu_time(&self) -> std::io::Result<u64> {
        Ok(self.first.cpu_time()? + self.second.cpu_time()?)
    }
}

impl Child {
    fn cpu_time(&self) -> std::io::Result<u64> {
        let mut clock = 0;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: both write to what they are given.
        unsafe {
            let error = libc::clock_getcpuclockid(self.pid, &raw mut clock);
            if error != 0 {
                return Err(std::io::Error::from_raw_os_error(error));
            }
            if libc::clock_gettime(clock, &raw mut time) != 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).unwrap_or(0))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: our own child, which nobody else waits for.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

/// Passes one byte on; whether there was one.
fn transfer(from: RawFd, to: RawFd) -> bool {
    let mut byte = 0u8;
    // SAFETY: one byte of room.
    unsafe {
        libc::read(from, (&raw mut byte).cast(), 1) == 1 && libc::write(to, (&raw const byte).cast(), 1) == 1
    }
}

/// The first child: batches on command.
fn serve(commands: RawFd, results: RawFd, other: (RawFd, RawFd), program: RawFd) {
    let mut command = 0u8;
    // SAFETY: one byte of room.
    while unsafe { libc::read(commands, (&raw mut command).cast(), 1) } == 1 {
        let before = switches();
        let mut process_ns = 0;
        let done = match Batch::ALL.get(usize::from(command)) {
            Some(Batch::Calls) => {
                // SAFETY: has no arguments and cannot fail.
                (0..CALLS).for_each(|_| _ = unsafe { libc::syscall(libc::SYS_getppid) });
                CALLS
            }
            Some(Batch::Misses) => (0..MISSES).filter(|_| miss()).count() as u64,
            Some(Batch::Trips) => (0..TRIPS).filter(|_| round_trip(other)).count() as u64,
            Some(Batch::Processes) => match processes(program) {
                Some(ns) => {
                    process_ns = ns;
                    PROCESSES
                }
                None => 0,
            },
            None => 0,
        };
        let answer = Answer { process_ns, switches: switches() - before, done };
        // SAFETY: as many bytes as there are.
        unsafe { libc::write(results, (&raw const answer).cast(), size_of::<Answer>()) };
    }
}

/// A byte to the other child and its answer.
fn round_trip((to, from): (RawFd, RawFd)) -> bool {
    let mut byte = 0u8;
    // SAFETY: one byte each.
    unsafe {
        libc::write(to, (&raw const byte).cast(), 1) == 1 && libc::read(from, (&raw mut byte).cast(), 1) == 1
    }
}

/// An exec that fails: below a device there is no file, and the path is about as long as one of a search in PATH.
fn miss() -> bool {
    let path = c"/dev/null/lib/no/such/directory/program";
    let names = [path.as_ptr(), std::ptr::null()];
    // SAFETY: the path ends with a zero and both lists with a null. It does not return only where it works.
    unsafe { libc::execve(path.as_ptr(), names.as_ptr(), names.as_ptr().add(1)) == -1 }
}

/// Processes one after the other. The CPU time of one, with the time that making it and waiting for it took: the mean of
/// the cheaper half, for interrupts and other tasks make the others dear.
fn processes(program: RawFd) -> Option<u64> {
    let mut all = [0u64; PROCESSES as usize];
    let mut before = own_cpu_ns();
    for ns in &mut all {
        let child = process(program)?;
        let now = own_cpu_ns();
        *ns = now - before + child;
        before = now;
    }
    all.sort_unstable();
    let cheaper = &all[..all.len() / 2];
    Some(cheaper.iter().sum::<u64>() / cheaper.len() as u64)
}

/// Makes a process that executes the program of this descriptor, and waits for its end. Its CPU time.
fn process(program: RawFd) -> Option<u64> {
    extern "C" fn execute(program: *mut libc::c_void) -> libc::c_int {
        let names = [c"true".as_ptr(), std::ptr::null()];
        // SAFETY: an empty path stands for the descriptor itself; both lists end with a null.
        unsafe {
            let (list, none) = (names.as_ptr(), names.as_ptr().add(1));
            libc::syscall(
                libc::SYS_execveat,
                program as RawFd,
                c"".as_ptr(),
                list,
                none,
                libc::AT_EMPTY_PATH,
            );
            libc::_exit(127)
        }
    }
    let mut stack = std::mem::MaybeUninit::<[u128; STACK / 16]>::uninit();
    let mut status = 0;
    // SAFETY: an all-zero rusage is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the child shares our memory, but its stack is its own, and we do not go on before its exec or end
    // (CLONE_VFORK). It grows downwards from the end, which is aligned. The kernel fills status and usage.
    let ended = unsafe {
        let top = stack.as_mut_ptr().cast::<u8>().add(STACK).cast();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let pid = libc::clone(execute, top, flags, program as usize as *mut libc::c_void);
        pid > 0 && libc::wait4(pid, &raw mut status, 0, &raw mut usage) == pid
    };
    let ns = |t: libc::timeval| (t.tv_sec * 1_000_000_000 + t.tv_usec * 1000).cast_unsigned();
    (ended && status == 0).then(|| ns(usage.ru_utime) + ns(usage.ru_stime))
}

/// Switches of this process and of its children that have ended.
fn switches() -> u64 {
    // SAFETY: an all-zero rusage is a value, and the kernel fills it.
    let of = |who| unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        (usage.ru_nvcsw + usage.ru_nivcsw).cast_unsigned()
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_is_killed_keeps_nobody_waiting() {
        let killed = |which: usize, batch| {
            let pair = Pair::start().unwrap();
            // SAFETY: our own child, which nobody has waited for.
            assert_eq!(unsafe { libc::kill(pair.pids()[which], libc::SIGKILL) }, 0);
            pair.run(batch)
        };
        assert!(killed(0, Batch::Calls).is_err());
        assert!(killed(1, Batch::Trips).is_ok_and(|spent| spent.is_none()));
    }
}
