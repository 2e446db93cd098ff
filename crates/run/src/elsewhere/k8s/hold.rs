//! The process that holds one node: it makes the job, waits for its pod, gives its own streams to a shell in there, and takes the job away.
//!
//! It ends when whoever collects or the shell does, or by a signal. If it is killed, the pod ends by itself.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::dup2_stdin;

use whyfaster_core::fleet::visit::Trouble;

use super::asked::Asked;
use super::cluster::Cluster;
use super::facts::{Event, Node, Pod, Stand, Why};
use super::fault::Fault;
use super::job::manifest;
use crate::elsewhere::engine::Told;
use crate::elsewhere::hold::attached;
use crate::elsewhere::machine::job_name;
use crate::interrupts::Interrupts;

/// The first word after the program's name that makes it this process; what is asked for follows.
pub const VERB: &str = "__k8s";

/// How often the pod is asked for while it waits, at first and in the long run.
const SOON: Duration = Duration::from_millis(200);
const LATER: Duration = Duration::from_secs(5);

/// How often in a row it may fail to answer meanwhile.
const FAILURES: u32 = 10;

/// Why there is nothing more to do.
enum Ended {
    /// The shell ended so.
    Status(i32),
    /// Who collects has gone, or a signal came.
    Left,
    /// The node cannot be had.
    Out(Trouble),
    /// The pod was taken away, and that was said.
    Lost,
    /// A call failed: it may be tried again.
    Failed(String),
}

impl From<Fault> for Ended {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Answered { ref state, ref reason, .. } if fault.stays() => {
                Self::Out(Trouble::Down { state: state.clone(), reason: reason.clone() })
            }
            fault => Self::Failed(fault.to_string()),
        }
    }
}

/// Holds one node.
pub fn main() -> ExitCode {
    let Some(asked) = std::env::args().nth(2).and_then(|text| serde_json::from_str::<Asked>(&text).ok())
    else {
        return ExitCode::FAILURE;
    };
    let (Ok(interrupts), Ok(line)) = (Interrupts::take_over(), lifeline()) else { return ExitCode::FAILURE };
    match hold(&asked, &Near { line, interrupts }) {
        Ended::Status(status) => ExitCode::from(status as u8),
        Ended::Left | Ended::Lost => ExitCode::FAILURE,
        Ended::Out(trouble) => {
            say(&Told::Out(trouble));
            ExitCode::FAILURE
        }
        Ended::Failed(why) => {
            let _ = writeln!(io::stderr(), "{why}");
            ExitCode::FAILURE
        }
    }
}

fn say(told: &Told) {
    let mut out = io::stdout().lock();
    // Who collects may have gone, which is found out otherwise.
    let _ = out.write_all(told.line().as_bytes()).and_then(|()| out.flush());
}

/// Our side: whoever collects holds the line open, and a signal ends it too.
struct Near {
    line: OwnedFd,
    interrupts: Interrupts,
}

/// The standard input, which nobody else is to have: what a child took from it would be missing over there.
fn lifeline() -> io::Result<OwnedFd> {
    let line = io::stdin().as_fd().try_clone_to_owned()?;
    dup2_stdin(File::open("/dev/null")?)?;
    Ok(line)
}

/// The job; taken away when dropped.
struct Job<'a> {
    cluster: &'a Cluster,
    name: String,
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        // If the cluster cannot be reached, the pod finds out by itself that nobody needs it.
        let _ = self.cluster.delete_job(&self.name);
    }
}

fn hold(asked: &Asked, near: &Near) -> Ended {
    match held(asked, near) {
        Ok(ended) | Err(ended) => ended,
    }
}

fn held(asked: &Asked, near: &Near) -> Result<Ended, Ended> {
    let is_left = || near.is_left(Duration::ZERO);
    let Some(cluster) = &Cluster::reach(asked.namespace.as_deref(), &is_left)? else {
        return Err(Ended::Left);
    };
    let node = there(cluster, asked)?;
    let part = node.left(&cluster.pods_on(&asked.which)?).map_err(Ended::Out)?;
    if is_left() {
        return Err(Ended::Left);
    }
    let job = Job { cluster, name: job_name() };
    cluster.make_job(&manifest(&job.name, asked, part))?;
    let pod = running(asked, &job, near)?;
    say(&Told::Given);
    let status = match run(&job, &pod, near) {
        Err(Ended::Failed(why)) => {
            let _ = writeln!(io::stderr(), "{why}");
            1
        }
        ended => ended?,
    };
    if status != 0
        && let Ok(Some(found)) = cluster.pod(&pod)
    {
        let why = match found.stand() {
            Stand::Over(why) => why.to_string(),
            _ => found.disrupted(),
        };
        if !why.is_empty() {
            let _ = writeln!(io::stderr(), "the pod: {why}");
        }
    }
    Ok(Ended::Status(status))
}

/// The node, if it can be had.
fn there(cluster: &Cluster, asked: &Asked) -> Result<Node, Ended> {
    let Some(node) = cluster.node(&asked.which)? else {
        return Err(Ended::Out(Trouble::Down { state: "gone".to_owned(), reason: String::new() }));
    };
    match node.out(asked.tainted) {
        Some(trouble) => Err(Ended::Out(trouble)),
        None => Ok(node),
    }
}

/// Waits until the pod runs; its name. A cluster that does not answer is asked again: it may be hours until the pod's turn comes.
fn running(asked: &Asked, job: &Job<'_>, near: &Near) -> Result<String, Ended> {
    let (mut every, mut failures) = (SOON, 0);
    let mut told = Why::default();
    loop {
        match look(asked, job, every >= LATER, &told) {
            Ok(Ok(pod)) => return Ok(pod),
            Ok(Err(why)) => {
                failures = 0;
                if why != Why::default() && why != told {
                    say(&Told::Waits(why.to_string()));
                    told = why;
                }
            }
            Err(Ended::Failed(_)) if failures < FAILURES => failures += 1,
            Err(ended) => return Err(ended),
        }
        if near.is_left(every) {
            return Err(Ended::Left);
        }
        every = (every * 2).min(LATER);
    }
}

/// The pod's name if it runs, or why it does not yet, if there is something to say.
fn look(asked: &Asked, job: &Job<'_>, long: bool, told: &Why) -> Result<Result<String, Why>, Ended> {
    let pod = job.cluster.pods_of(&job.name)?.into_iter().next();
    let stand = pod.as_ref().map_or(Stand::Waits(Why::default()), Pod::stand);
    match (stand, pod) {
        (Stand::Runs, Some(pod)) => Ok(Ok(pod.metadata.name)),
        // What was taken away may be had again.
        (Stand::Over(why), _) => {
            let _ = writeln!(io::stderr(), "the pod was taken away: {why}");
            Err(Ended::Lost)
        }
        (Stand::Refused(why), _) => {
            // The first failure says more than that it is tried again later.
            let reason = if told.reason == "ErrImagePull" { told.to_string() } else { why.message };
            Err(Ended::Out(Trouble::Down { state: why.reason, reason }))
        }
        (Stand::Waits(why), pod) if long => {
            there(job.cluster, asked)?;
            Ok(Err(if why.is_vague() { warning(job, pod.as_ref())? } else { why }))
        }
        (Stand::Waits(why), _) if !why.is_vague() => Ok(Err(why)),
        _ => Ok(Err(Why::default())),
    }
}

/// What Kubernetes complains of while nothing comes of the job, or of its pod.
fn warning(job: &Job<'_>, pod: Option<&Pod>) -> Result<Why, Ended> {
    let name = pod.map_or(job.name.as_str(), |pod| &pod.metadata.name);
    let Some(Why { reason, message }) = Event::warning(job.cluster.events(name)?) else {
        return Ok(Why::default());
    };
    // A quota may have room again; what is not allowed will not be.
    if pod.is_none() && reason == "FailedCreate" && !message.contains("exceeded quota") {
        return Err(Ended::Out(Trouble::Down { state: reason, reason: message }));
    }
    Ok(Why { reason, message })
}

/// Gives our streams to a shell in the pod; how that ended.
fn run(job: &Job<'_>, pod: &str, near: &Near) -> Result<i32, Ended> {
    let failed = |error: io::Error| Ended::Failed(error.to_string());
    let line = near.line.try_clone().map_err(failed)?;
    let exec = job.cluster.exec(pod, &attached(&job.name, &job.name), line)?;
    loop {
        if near.interrupts.wait(&[exec.as_fd()], None).map_err(failed)?[0] {
            return Ok(job.cluster.end_of(exec)?);
        }
        if near.interrupts.interrupted() {
            return Err(Ended::Left);
        }
    }
}

impl Near {
    /// Waits so long; whether who collects has gone meanwhile. What came from there is the shell's, and is not read.
    fn is_left(&self, wait: Duration) -> bool {
        // A look now and then: a stream that has something to read wakes whoever waits for it.
        let (mut waited, step) = (Duration::ZERO, SOON);
        loop {
            let mut line = [PollFd::new(&self.line, PollFlags::empty())];
            let closed =
                poll(&mut line, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0);
            if closed || self.interrupts.interrupted() {
                return true;
            }
            if waited >= wait {
                return false;
            }
            // A signal ends it at once.
            let _ = self.interrupts.wait(&[], Some(step));
            waited += step;
        }
    }
}
