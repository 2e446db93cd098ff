//! The launcher: a small process that creates copies, releases them together, and reaps them.
//!
//! It leads a session of its own and is a child subreaper, so that nothing that a measured command starts can escape it.
//! When the program above it dies, it ends the batch and itself.

mod account;
mod batch;
mod copy;
mod counting;
mod drain;
mod gate;
pub mod keeper;
mod moved;
mod observed;
mod reap;
mod spawn;
mod tree;

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::OnceLock;

use batch::Run;
use copy::{Blueprint, Stream};
use drain::Drain;
use reap::Signals;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use whyfaster_core::plan::Output;
use whyfaster_host::{MachineCounters, Root};

use super::protocol::{
    Ended, Identity, LaunchError, Message, Outcome, Purpose, Reply, Request, Step, receive, send,
};

pub(crate) use reap::reap_others;
pub(crate) use tree::{
    below_process, below_this, end_all, end_tree, identity, parent_and_session, proc_is_foreign, who,
};

/// The first word after the program's name that makes it a launcher.
pub const VERB: &str = "__launcher";

/// The second word that leaves it in the session and the process group of the program, so that the command that it starts
/// has the terminal as if a shell had started it.
pub(crate) const ATTACHED: &str = "attached";

/// Serves requests from the socket at standard input until the other side is gone.
pub fn main() -> ExitCode {
    let attached = std::env::args_os().nth(2).is_some_and(|word| word == ATTACHED);
    match serve(attached) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The program above reports what it could not get from us; this helps when it is gone as well.
            whyfaster_words::exit::say(&format!("whyfaster launcher: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn serve(attached: bool) -> io::Result<()> {
    let signals = Signals::block(attached);
    // The one signal that also a stopped process takes and that does not end it: it is to end its copies first.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::CONT))?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    if !attached {
        // Fails only for a process group leader, which a freshly forked process is not.
        let _ = rustix::process::setsid();
    }
    let socket = UnixStream::from(take_stdin()?);
    let machine = MachineCounters::open(&Root::real()).ok();
    let mut hook = None;
    let daemons = RefCell::new(Vec::new());
    let served = answer(&socket, &mut hook, |request, streams| {
        signals.clear();
        // If who started us has died, nobody would read the answer.
        signals.program_lives().then(|| {
            let ran = run(request, streams, &signals, machine.as_ref(), (&socket, &daemons.borrow()));
            match ran {
                Ok(outcome) => {
                    daemons.borrow_mut().extend(&outcome.daemons);
                    Reply::Done(Box::new(outcome))
                }
                Err(error) => Reply::Failed(error),
            }
        })
    });
    if let Some(hook) = hook {
        // The program died in the middle of it: nobody else can end it now.
        end_tree(hook);
    }
    served
}

/// Answers every request until there is none; keeps in mind which hook the program is running.
fn answer(
    socket: &UnixStream,
    hook: &mut Option<Identity>,
    run: impl Fn(&Request, Vec<OwnedFd>) -> Option<Reply>,
) -> io::Result<()> {
    while let Some((message, streams)) = receive::<Message>(socket)? {
        match message {
            Message::Hook(running) => *hook = running,
            // Its command could not be held, or was given up: nobody waits for it any more.
            Message::Go(_) => {}
            Message::Run(request) => match run(&request, streams) {
                Some(reply) => send(socket, &reply, &[])?,
                None => break,
            },
        }
    }
    Ok(())
}

/// Takes the socket from descriptor 0 and puts `/dev/null` there: copies inherit it as their standard input.
fn take_stdin() -> io::Result<OwnedFd> {
    let socket = rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(socket)
}

fn run(
    request: &Request,
    streams: Vec<OwnedFd>,
    signals: &Signals,
    machine: Option<&MachineCounters>,
    (socket, daemons): (&UnixStream, &[Identity]),
) -> Result<Outcome, LaunchError> {
    let prepare = |step: Step| {
        move |error: io::Error| LaunchError::Prepare {
            step,
            errno: error.raw_os_error().unwrap_or(libc::EINVAL),
        }
    };
    let mut streams = streams;
    let stdin = (request.purpose == Purpose::Observed).then(|| streams.pop()).flatten();
    let files = raise_files_limit(descriptors(request)).map_err(prepare(Step::Output))?;
    let (stdout, stderr, drain) = outputs(request, streams).map_err(prepare(Step::Output))?;
    let blueprint = Blueprint::new(request, stdin, stdout, stderr, files).map_err(prepare(Step::Words))?;
    let helpers =
        drain.iter().filter_map(|drain| identity(drain.pid)).chain(daemons.iter().copied()).collect();
    let mut run = Run::new(request, &blueprint, signals, helpers).map_err(prepare(Step::Memory))?;
    let created = match run.create().map(|created| created && run.hold(socket)) {
        Ok(created) => created,
        Err(error) => {
            run.end(false);
            return Err(error);
        }
    };
    let moved_before = moved::by_reaped();
    let before = machine.and_then(MachineCounters::read);
    let ended = if created { run.time(socket) } else { Ended::Aborted };
    let after = machine.and_then(MachineCounters::read);
    let kept = if ended == Ended::Normally { run.daemons() } else { Vec::new() };
    let left = if kept.is_empty() { run.end(ended == Ended::Aborted) } else { Vec::new() };
    let ended = match (ended, signals.strange()) {
        (Ended::Aborted, Some((signal, by))) => Ended::Signalled { signal, by },
        (ended, _) => ended,
    };
    let io = moved_before.zip(moved::by_reaped()).map(|(before, after)| after.since(&before));
    let (copies, makespan_s) = run.copies();
    let between = before.zip(after);
    let outcome = Outcome {
        ended,
        released_ns: run.released_ns,
        makespan_s,
        copies,
        orphans: run.orphans,
        left,
        daemons: kept,
        machine_busy_s: between.map(|(before, after)| after.busy_s - before.busy_s),
        steal_s: between.map(|(before, after)| after.steal_s - before.steal_s),
        io,
        needs: (request.purpose == Purpose::Trial).then_some(run.needs),
        account: run.account.take(),
    };
    drop(run);
    drop(blueprint);
    if let Some(drain) = drain {
        drain.finish(!outcome.left.is_empty());
    }
    Ok(outcome)
}

type Outputs = (Stream, Stream, Option<Drain>);

/// Where the copies' standard output and standard error go. As in hyperfine, standard error is shown only with the
/// standard output (`--output inherit`).
fn outputs(request: &Request, streams: Vec<OwnedFd>) -> io::Result<Outputs> {
    let null = || -> io::Result<Stream> {
        Ok(Stream::Shared(File::options().read(true).write(true).open("/dev/null")?.into()))
    };
    if request.purpose == Purpose::Trial {
        let mut streams = streams.into_iter();
        return match (streams.next(), streams.next()) {
            (Some(stdout), Some(stderr)) => Ok((Stream::Shared(stdout), Stream::Shared(stderr), None)),
            _ => Err(io::Error::from_raw_os_error(libc::EBADF)),
        };
    }
    let (stdout, stderr, drain) = match &request.output {
        Output::Auto | Output::Null => (null()?, null()?, None),
        Output::Inherit => (Stream::Inherited, Stream::Inherited, None),
        Output::File(path) => {
            let open = || {
                File::options()
                    .write(true)
                    .create(true)
                    .truncate(true)
                    // Without a reader a named pipe would keep us here for ever; so it is an error (fifo(7)).
                    .custom_flags(libc::O_CLOEXEC | libc::O_NONBLOCK)
                    .open(path)
            };
            let file = request.user.as_ref().map_or_else(open, |user| user.opens(open))?;
            rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::empty())?;
            (Stream::Shared(file.into()), null()?, None)
        }
        Output::Pipe => {
            let (readers, mut writers) = drain::pipes(batch::slots(request.arrivals))?;
            let drain = Drain::start(readers, &mut writers)?;
            (Stream::Each(writers), null()?, Some(drain))
        }
    };
    let stderr = if request.show_errors { Stream::Inherited } else { stderr };
    Ok((stdout, stderr, drain))
}

/// Descriptors that we hold besides those of the copies, at most.
pub(crate) const OWN_DESCRIPTORS: u32 = 32;

/// Descriptors that we hold of each copy, at most.
pub(crate) fn descriptors_of_copy(piped: bool, counters: usize) -> u32 {
    // Both ends of a pipe, until what reads them has its own.
    let pipe = if piped { 2 } else { 0 };
    // A counter of a CPU with two kinds of cores is one for each.
    pipe + 2 * counters as u32
}

/// Descriptors that we hold for a batch, at most. Without one left nothing is known of the copies' processes, and none could be ended.
fn descriptors(request: &Request) -> u64 {
    let of_copy = descriptors_of_copy(request.output == Output::Pipe, request.counters.len());
    batch::slots(request.arrivals) as u64 * u64::from(of_copy) + u64::from(OWN_DESCRIPTORS)
}

/// Our limit on open files before we first raised it.
static FORMER_FILES_LIMIT: OnceLock<Rlimit> = OnceLock::new();

/// Raises our own limit on open files if need be; returns the one that we had before we ever did, which what we start gets back.
pub(crate) fn raise_files_limit(wanted: u64) -> io::Result<Option<Rlimit>> {
    let now = getrlimit(Resource::Nofile);
    if now.current.is_some_and(|current| current < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum })?;
        FORMER_FILES_LIMIT.get_or_init(|| now);
    }
    Ok(FORMER_FILES_LIMIT.get().copied())
}
