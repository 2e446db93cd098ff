//! Emptying the copies' output pipes, in a process of its own so that the launcher has nothing to do while it times.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::epoll;
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, splice};

/// A process that throws away all that comes out of a number of pipes, and ends when all are closed.
pub(super) struct Drain {
    /// Its process id.
    pub(super) pid: i32,
}

/// As many pipes as asked for: read ends and write ends.
pub(super) fn pipes(count: usize) -> io::Result<(Vec<OwnedFd>, Vec<OwnedFd>)> {
    let pairs = (0..count).map(|_| pipe_with(PipeFlags::CLOEXEC)).collect::<Result<Vec<_>, _>>()?;
    Ok(pairs.into_iter().unzip())
}

impl Drain {
    /// Starts it. `writers` are closed in the new process, or it would wait for itself.
    pub(super) fn start(readers: Vec<OwnedFd>, writers: &mut Vec<OwnedFd>) -> io::Result<Self> {
        // SAFETY: this process has one thread, so the child may use everything, allocation included.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                writers.clear();
                // SAFETY: plain system calls on this process; it must not outlive the launcher.
                unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
                let code = i32::from(empty(readers).is_err());
                // SAFETY: ends this process without running what the launcher registered for its exit.
                unsafe { libc::_exit(code) }
            }
            pid => Ok(Self { pid }),
        }
    }

    /// Waits for its end, which comes when the last writer is gone. With a writer that could not be ended it is killed: that
    /// end would never come.
    pub(super) fn finish(self, writers_live: bool) {
        // SAFETY: no pointer is passed; the child is ours and is reaped nowhere else, so the id is its own.
        unsafe {
            if writers_live {
                libc::kill(self.pid, libc::SIGKILL);
            }
            libc::waitpid(self.pid, std::ptr::null_mut(), 0)
        };
    }
}

/// Moves what comes out of the pipes to `/dev/null` until all are closed. `splice(2)` copies nothing.
fn empty(readers: Vec<OwnedFd>) -> io::Result<()> {
    let sink = rustix::fs::open("/dev/null", rustix::fs::OFlags::WRONLY, rustix::fs::Mode::empty())?;
    let events = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (index, reader) in readers.iter().enumerate() {
        epoll::add(&events, reader, epoll::EventData::new_u64(index as u64), epoll::EventFlags::IN)?;
    }
    let mut readers: Vec<Option<OwnedFd>> = readers.into_iter().map(Some).collect();
    let mut open = readers.len();
    let mut ready = Vec::with_capacity(64);
    while open > 0 {
        ready.clear();
        rustix::io::retry_on_intr(|| epoll::wait(&events, rustix::buffer::spare_capacity(&mut ready), None))?;
        for event in &ready {
            let index = event.data.u64() as usize;
            let Some(reader) = &readers[index] else { continue };
            if splice(reader.as_fd(), None, sink.as_fd(), None, 1 << 20, SpliceFlags::MOVE)? == 0 {
                // Closing the last descriptor of a pipe takes it out of the epoll set: epoll(7).
                readers[index] = None;
                open -= 1;
            }
        }
    }
    Ok(())
}
