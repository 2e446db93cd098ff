//! What observing costs here: the same loops with and without the programs attached, in turns.
//!
//! Two children make the calls and the switches. They are followed like a tree; a call's cost thus includes what every
//! process of the machine pays while the programs are attached.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::TraceError;
use super::load::Loaded;

/// Calls and round trips of one batch: about 3 ms each.
const CALLS: u64 = 15_000;
const TRIPS: u64 = 400;
const TURNS: usize = 4;

/// Nanoseconds that a call, and a switch with its wake-up, became dearer. `None`: the machine was so busy that it came out
/// cheaper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) call_ns: Option<f64>,
    pub(crate) switch_ns: Option<f64>,
}

/// Measures it, and leaves the programs attached.
pub(crate) fn measure(loaded: &mut Loaded) -> Result<Measured, TraceError> {
    let failed = |e: &dyn std::fmt::Display| TraceError::Calibrate(e.to_string());
    let pair = Pair::start().map_err(|e| failed(&e))?;
    for pid in [pair.first.pid, pair.second.pid] {
        super::follow::calibrating(loaded, pid)?;
    }
    let mut best = [[f64::INFINITY; 2]; 2];
    for turn in 0..2 * TURNS {
        let with = turn % 2 == 1;
        match with {
            true => loaded.attach().map_err(|e| failed(&e))?,
            false => loaded.links.clear(),
        }
        for (kind, best) in [Batch::Calls, Batch::Trips].into_iter().zip(&mut best) {
            let ns = pair.run(kind).map_err(|e| failed(&e))?;
            best[usize::from(with)] = best[usize::from(with)].min(ns);
        }
    }
    // Their end is no part of a tree.
    loaded.links.clear();
    drop(pair);
    loaded.attach().map_err(|e| failed(&e))?;
    let [call, trip] = best.map(|[without, with]| with - without);
    // A round trip is two switches, two wake-ups and four calls.
    let dearer = |ns: f64| (ns > 0.0).then_some(ns);
    Ok(Measured { call_ns: dearer(call), switch_ns: dearer((trip - 4.0 * call) / 2.0) })
}

#[derive(Clone, Copy)]
enum Batch {
    Calls,
    Trips,
}

/// A child that is killed when this is dropped.
struct Child {
    pid: i32,
}

/// Two children that talk to each other, and the way to command the first.
struct Pair {
    first: Child,
    second: Child,
    commands: OwnedFd,
    results: OwnedFd,
}

/// The ends of four pipes: commands, results, there, back.
struct Ends([(OwnedFd, OwnedFd); 4]);

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

/// Both on the CPU where they are: a switch at each hand-over.
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
    fn start() -> std::io::Result<Self> {
        let ends = Ends([pipe()?, pipe()?, pipe()?, pipe()?]);
        let raw: [(RawFd, RawFd); 4] =
            std::array::from_fn(|i| (ends.0[i].0.as_raw_fd(), ends.0[i].1.as_raw_fd()));
        let [commands, results, there, back] = raw;
        let second = fork(|| while transfer(there.0, back.1) {})?;
        let first = fork(|| serve(commands.0, results.1, there.1, back.0))?;
        let Ends([(_, commands), (results, _), ..]) = ends;
        Ok(Self { first, second, commands, results })
    }

    /// CPU time of both for one call or one round trip, nanoseconds. By CPU time, because on a busy machine both wait for
    /// others too.
    fn run(&self, batch: Batch) -> std::io::Result<f64> {
        let before = self.cpu_time()?;
        rustix::io::write(&self.commands, &[batch as u8])?;
        if rustix::io::read(&self.results, &mut [0u8])? != 1 {
            return Err(std::io::Error::other("the calibrating child ended"));
        }
        let count = match batch {
            Batch::Calls => CALLS,
            Batch::Trips => TRIPS,
        };
        Ok((self.cpu_time()? - before) as f64 / count as f64)
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
fn serve(commands: RawFd, results: RawFd, there: RawFd, back: RawFd) {
    let mut command = 0u8;
    // SAFETY: one byte of room.
    while unsafe { libc::read(commands, (&raw mut command).cast(), 1) } == 1 {
        if command == Batch::Calls as u8 {
            for _ in 0..CALLS {
                // SAFETY: has no arguments and cannot fail.
                unsafe { libc::syscall(libc::SYS_getppid) };
            }
        } else {
            let byte = 0u8;
            for _ in 0..TRIPS {
                let mut answer = 0u8;
                // SAFETY: one byte each.
                unsafe {
                    libc::write(there, (&raw const byte).cast(), 1);
                    libc::read(back, (&raw mut answer).cast(), 1);
                }
            }
        }
        // SAFETY: one byte.
        unsafe { libc::write(results, (&raw const command).cast(), 1) };
    }
}
