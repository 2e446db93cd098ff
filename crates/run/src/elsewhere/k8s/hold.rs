//! The process that holds one node: it makes the job, waits for its pod, gives its own streams to a shell in there, and takes the job away.
//!
//! It stands between whoever collects and `kubectl exec`, and ends when either does, or by a signal. If it is killed, the pod ends by itself.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitCode};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use whyfaster_core::fleet::visit::Trouble;

use super::asked::Asked;
use super::facts::{Event, List, Node, Pod, Stand, Why};
use super::job::{CONTAINER, manifest, shell};
use super::kubectl::{Fault, ask, kubectl, tell};
use crate::elsewhere::engine::Told;
use crate::hooks::unblock_signals;
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
            Fault::Refused { state, reason } => Self::Out(Trouble::Down { state, reason }),
            Fault::Failed(why) => Self::Failed(why),
        }
    }
}

/// Holds one node.
pub fn main() -> ExitCode {
    let Some(asked) = std::env::args().nth(2).and_then(|text| serde_json::from_str::<Asked>(&text).ok())
    else {
        return ExitCode::FAILURE;
    };
    let Ok(interrupts) = Interrupts::take_over() else { return ExitCode::FAILURE };
    match hold(&asked, &interrupts) {
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

/// The job; taken away when dropped.
struct Job<'a> {
    name: String,
    namespace: Option<&'a str>,
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        let words =
            ["delete", "job", &self.name, "--ignore-not-found", "--wait=false", "--cascade=background"];
        // If the cluster cannot be reached, the pod finds out by itself that nobody needs it.
        let _ = tell(self.namespace, &words, &[]);
    }
}

fn hold(asked: &Asked, interrupts: &Interrupts) -> Ended {
    match held(asked, interrupts) {
        Ok(ended) | Err(ended) => ended,
    }
}

fn held(asked: &Asked, interrupts: &Interrupts) -> Result<Ended, Ended> {
    let namespace = asked.namespace.as_deref();
    let node = there(asked)?;
    let on_it = format!("--field-selector=spec.nodeName={}", asked.which);
    let pods = ask::<List<Pod>>(None, &["get", "pods", "--all-namespaces", &on_it])?;
    let pods = pods.map_or_else(Vec::new, |it| it.items);
    let part = node.left(&pods).map_err(Ended::Out)?;
    if left(interrupts, Duration::ZERO) {
        return Err(Ended::Left);
    }
    // The standard library draws the keys of a hash by chance.
    let job =
        Job { name: format!("whyfaster-{:016x}", RandomState::new().hash_one(&asked.which)), namespace };
    let text = manifest(&job.name, asked, part).to_string();
    tell(namespace, &["create", "--filename=-"], text.as_bytes())?;
    let pod = running(asked, &job, interrupts)?;
    say(&Told::Given);
    let status = run(&job, &pod, interrupts)?;
    if status != 0
        && let Ok(Some(found)) = ask::<Pod>(namespace, &["get", "pod", &pod, "--ignore-not-found"])
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
fn there(asked: &Asked) -> Result<Node, Ended> {
    let node = ask::<Node>(None, &["get", "node", &asked.which, "--ignore-not-found"])?;
    let Some(node) = node else {
        return Err(Ended::Out(Trouble::Down { state: "gone".to_owned(), reason: String::new() }));
    };
    match node.out(asked.tainted) {
        Some(trouble) => Err(Ended::Out(trouble)),
        None => Ok(node),
    }
}

/// Waits until the pod runs; its name. A cluster that does not answer is asked again: it may be hours until the pod's turn comes.
fn running(asked: &Asked, job: &Job<'_>, interrupts: &Interrupts) -> Result<String, Ended> {
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
        if left(interrupts, every) {
            return Err(Ended::Left);
        }
        every = (every * 2).min(LATER);
    }
}

/// The pod's name if it runs, or why it does not yet, if there is something to say.
fn look(asked: &Asked, job: &Job<'_>, long: bool, told: &Why) -> Result<Result<String, Why>, Ended> {
    let of_job = format!("--selector=job-name={}", job.name);
    let pods = ask::<List<Pod>>(job.namespace, &["get", "pods", &of_job])?;
    let pod = pods.and_then(|it| it.items.into_iter().next());
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
            there(asked)?;
            Ok(Err(if why.is_vague() { warning(job, pod.as_ref())? } else { why }))
        }
        (Stand::Waits(why), _) if !why.is_vague() => Ok(Err(why)),
        _ => Ok(Err(Why::default())),
    }
}

/// What Kubernetes complains of while nothing comes of the job, or of its pod.
fn warning(job: &Job<'_>, pod: Option<&Pod>) -> Result<Why, Ended> {
    let name = pod.map_or(job.name.as_str(), |pod| &pod.metadata.name);
    let of_it = format!("--field-selector=involvedObject.name={name}");
    let events = ask::<List<Event>>(job.namespace, &["get", "events", &of_it])?;
    let Some(Why { reason, message }) = events.and_then(|it| Event::warning(it.items)) else {
        return Ok(Why::default());
    };
    // A quota may have room again; what is not allowed will not be.
    if pod.is_none() && reason == "FailedCreate" && !message.contains("exceeded quota") {
        return Err(Ended::Out(Trouble::Down { state: reason, reason: message }));
    }
    Ok(Why { reason, message })
}

/// Gives our streams to a shell in the pod; how that ended.
fn run(job: &Job<'_>, pod: &str, interrupts: &Interrupts) -> Result<i32, Ended> {
    let mut command = kubectl(job.namespace, &["exec", "--stdin", pod, "--container", CONTAINER, "--"]);
    command.args(shell(&job.name));
    // SAFETY: system calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            unblock_signals()?;
            // If we are killed, nobody else would end it.
            Ok(rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?)
        });
    }
    let failed = |error: io::Error| Ended::Failed(error.to_string());
    let mut child = command.spawn().map_err(failed)?;
    let ends = ends_of(&child).map_err(failed)?;
    loop {
        let ended = interrupts.wait(&[ends.as_fd()], None).map_err(failed)?;
        if ended[0] {
            let status = child.wait().map_err(failed)?;
            return Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
        }
        if interrupts.interrupted() {
            if let Some(pid) = Pid::from_raw(child.id() as i32) {
                // It may have got the signal too.
                let _ = kill_process(pid, Signal::TERM);
            }
            let _ = child.wait();
            return Err(Ended::Left);
        }
    }
}

/// What can be read once it has ended.
fn ends_of(child: &Child) -> io::Result<OwnedFd> {
    let pid = Pid::from_raw(child.id() as i32).ok_or(io::ErrorKind::NotFound)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Waits so long; whether who collects has gone meanwhile. What came from there is the shell's, and is not read.
fn left(interrupts: &Interrupts, wait: Duration) -> bool {
    // A look now and then: a stream that has something to read wakes whoever waits for it.
    let (mut waited, step) = (Duration::ZERO, SOON);
    loop {
        let stdin = io::stdin();
        let mut line = [PollFd::new(&stdin, PollFlags::empty())];
        let closed = poll(&mut line, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0);
        if closed || interrupts.interrupted() {
            return true;
        }
        if waited >= wait {
            return false;
        }
        // A signal ends it at once.
        let _ = interrupts.wait(&[], Some(step));
        waited += step;
    }
}
