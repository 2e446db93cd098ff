//! All machines, so many at once: each is visited by a thread of its own, so that one that hangs holds no other.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Rlimit;
use whyfaster_core::fleet::visit::{Tally, Trouble};
use whyfaster_words::exit::{Exit, Failure};

use super::machine::Machine;
use super::place;
use super::shell::Hello;
use super::visit::{Errand, is_stopped, visit};
use crate::interrupts::Interrupts;
use crate::launcher::raise_files_limit;

/// How many times a machine is asked for in all, where its engine takes it away again (it was preempted, or its node broke).
const TRIES: u32 = 3;

/// How often to look whether the run was stopped, while an engine is asked.
const LOOK: Duration = Duration::from_millis(200);

/// What happened to a machine, by its place in the list.
#[derive(Debug)]
pub enum Event {
    /// Its turn has come.
    Began(usize),
    /// Its engine does not give it yet, and why.
    Waits(usize, String),
    /// It answered: the number that its kernel drew at its start, and as which job it runs there, if as one.
    Met(usize, String, Option<String>),
    /// It was lost and is tried once more.
    Again(usize, Trouble),
    /// Its record is home, or why it is not.
    Ended(usize, Result<(), Trouble>),
}

/// What a thread says.
enum News {
    Began(usize),
    Waits(usize, String),
    Met(usize, String, Option<String>),
    Again(usize, Trouble),
    Ended(usize, Result<Vec<u8>, Trouble>),
}

/// The names of machines that are measured, by the number that a kernel draws at its start: two measurements on one machine, under
/// whatever names, would disturb each other and count twice.
pub type Met = HashMap<String, String>;

/// Who hears of it, in the thread that calls [`collect`].
pub struct Home<'a> {
    /// Keeps a record; why it cannot.
    pub keep: &'a mut dyn FnMut(usize, Vec<u8>) -> Result<(), Trouble>,
    /// Hears everything.
    pub on: &'a mut dyn FnMut(&Event, Tally),
}

/// Visits them all, or until an interrupt. What has begun then is ended over there before this returns.
pub fn collect(
    machines: &[Machine],
    errand: &Errand<'_>,
    at_once: usize,
    met: Met,
    interrupts: &Interrupts,
    mut home: Home<'_>,
) -> Result<Tally, Failure> {
    let threads = at_once.clamp(1, machines.len().max(1));
    // Closed, the first stops all visits; at its end, the second says that all threads have ended. Each visit has some more of its own.
    let pipes = || -> io::Result<_> {
        let files = raise_files_limit(u64::MAX)?;
        let stop = pipe_with(PipeFlags::CLOEXEC)?;
        let (wake, waker) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let wakers = (0..threads).map(|_| waker.try_clone()).collect::<io::Result<Vec<OwnedFd>>>()?;
        Ok((stop, wake, wakers, files))
    };
    let ((stop, stopper), wake, wakers, files) = pipes().map_err(|error| {
        Failure::new(
            Exit::Error,
            format!("cannot make a pipe: {error}"),
            "raise the limit of open files (ulimit -n)",
        )
    })?;
    for job in machines.iter().filter(|it| it.out.is_none()).filter_map(|it| it.job.as_ref()) {
        job.enlist(threads);
    }
    let turns = Mutex::new((0..machines.len()).collect::<VecDeque<usize>>());
    let met = Mutex::new(met);
    let (send, receive) = channel();
    let mut tally = Tally { waiting: machines.len(), ..Tally::default() };
    thread::scope(|scope| {
        for waker in wakers {
            let (send, stop, turns, met) = (send.clone(), stop.as_fd(), &turns, &met);
            scope.spawn(move || {
                while let Some(at) = next(turns, stop) {
                    one(machines, at, errand, met, (stop, files), &|news| tell(&send, &waker, news));
                }
            });
        }
        let mut stopper = Some(stopper);
        let mut open = true;
        while open {
            if interrupts.interrupted() {
                stopper = None;
            }
            // An error only costs one more look.
            let _ = interrupts.wait(&[wake.as_fd()], None);
            open = !matches!(rustix::io::read(&wake, &mut [0; 256]), Ok(0));
            take(&receive, &mut tally, &mut home);
        }
        drop(stopper);
    });
    Ok(tally)
}

impl fmt::Debug for Home<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Home").finish_non_exhaustive()
    }
}

/// One machine.
fn one(
    machines: &[Machine],
    at: usize,
    errand: &Errand<'_>,
    met: &Mutex<Met>,
    (stop, files): (BorrowedFd<'_>, Option<Rlimit>),
    tell: &(dyn Fn(News) + Sync),
) {
    tell(News::Began(at));
    let name = &machines[at].name;
    let claim = |hello: &Hello| {
        let boot = hello.boot.as_str();
        // Where the number cannot be read nothing is known.
        if !boot.is_empty() {
            let mut met = met.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(other) = met.get(boot).filter(|other| *other != name) {
                return Err(other.clone());
            }
            met.insert(boot.to_owned(), name.clone());
        }
        tell(News::Met(at, boot.to_owned(), Some(hello.job.clone()).filter(|job| !job.is_empty())));
        Ok(())
    };
    let mut machine = machines[at].clone();
    let mut tries = if machine.queues { TRIES } else { 1 };
    loop {
        if is_stopped(stop, Duration::ZERO) {
            return tell(News::Ended(at, Err(Trouble::Interrupted)));
        }
        tries -= 1;
        match visit(&machine, errand, &claim, &|reason| tell(News::Waits(at, reason)), (stop, files)) {
            Err(trouble @ (Trouble::Cut { .. } | Trouble::Unreachable { .. })) if tries > 0 => {
                tell(News::Again(at, trouble));
                machine = as_it_is_now(machine, stop);
            }
            ended => return tell(News::Ended(at, ended)),
        }
    }
}

/// The machine as its engine describes it now; as it was, if the run is stopped meanwhile.
fn as_it_is_now(machine: Machine, stop: BorrowedFd<'_>) -> Machine {
    let (send, receive) = channel();
    let asked = machine.clone();
    // Nothing interrupts it.
    thread::spawn(move || {
        // Nobody may wait any more.
        let _ = send.send(place::as_it_is_now(asked));
    });
    while !is_stopped(stop, Duration::ZERO) {
        match receive.recv_timeout(LOOK) {
            Ok(now) => return now,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    machine
}

/// The next machine, unless all is to stop.
fn next(turns: &Mutex<VecDeque<usize>>, stop: BorrowedFd<'_>) -> Option<usize> {
    if is_stopped(stop, Duration::ZERO) {
        None
    } else {
        turns.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

fn tell(send: &Sender<News>, waker: &OwnedFd, news: News) {
    // Who would hear it outlives all threads; a full pipe wakes as well.
    let _ = send.send(news);
    let _ = rustix::io::write(waker, b"x");
}

/// Takes in what was said.
fn take(receive: &Receiver<News>, tally: &mut Tally, home: &mut Home<'_>) {
    while let Ok(news) = receive.try_recv() {
        let event = match news {
            News::Began(at) => {
                tally.waiting -= 1;
                tally.running += 1;
                Event::Began(at)
            }
            News::Waits(at, why) => Event::Waits(at, why),
            News::Met(at, boot, job) => Event::Met(at, boot, job),
            News::Again(at, why) => Event::Again(at, why),
            News::Ended(at, ended) => {
                let ended = ended.and_then(|bytes| (home.keep)(at, bytes));
                tally.running -= 1;
                *if ended.is_ok() { &mut tally.done } else { &mut tally.failed } += 1;
                Event::Ended(at, ended)
            }
        };
        (home.on)(&event, *tally);
    }
}
