//! The job array of a partition: one exclusive task a node.
//!
//! A task only holds its node, for a shell that `srun` attaches to it as a step (`hold.rs`). Slurm would give a task whichever node is free, and
//! measure one twice and another never; so an array is submitted on hold, and a task is pinned to its node and released when the node's turn
//! has come. Large runs take several arrays, one after the other.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use whyfaster_host::said::unblock_signals;
use whyfaster_words::exit::say;

use super::super::hold;
use super::super::machine::{Job, Standing, job_name};
use super::super::shell::SHELL;
use super::client::{ASKED, Fault, answer, cancel, client};

/// How long `sbatch` may take.
const SUBMITTED: Duration = Duration::from_secs(30);

/// What is known of the queue is good for so many times as long as it took to ask, but for no longer than this: all nodes of a large run wait
/// for the same answer, and the controller has more to do.
const GOOD_FOR: u32 = 20;
const GOOD_AT_MOST: Duration = Duration::from_secs(10);

/// An array has fewer tasks than this, unless the cluster allows more (slurm.conf(5), MaxArraySize).
const LARGEST: usize = 1000;

/// How long it is tried to take what waits out of the queue, once we are gone.
const GUARDED: Duration = Duration::from_secs(600);

/// The arrays of a partition.
pub(super) struct Array {
    partition: String,
    /// The name of the pipe between a task and its shell. It holds the number of the job, because sbatch gives all tasks one script.
    /// Another user could guess a number alone, and make the file before the task does.
    pipe: String,
    asked: Mutex<Asked>,
    /// Held by who submits, and by who asks for the queue. What is known can be had meanwhile.
    submits: Mutex<()>,
    looks: Mutex<()>,
}

/// What Slurm is asked for.
#[derive(Default)]
struct Asked {
    /// Nodes that this run will ask for, and how many of them at once at most.
    wanted: VecDeque<String>,
    at_most: usize,
    /// The task of each node that is asked for, or why that failed.
    tasks: HashMap<String, Result<Task, Vec<String>>>,
    parts: Vec<Part>,
    seen: Option<Seen>,
    /// How often something new was asked for: an answer from before does not know of it.
    changes: u64,
}

/// One array.
struct Part {
    /// The name of its jobs, which no other job has: by it they are found also where sbatch did not live to tell their number.
    name: String,
    /// While one of its tasks waits.
    guard: Option<Guard>,
}

/// One task of an array.
struct Task {
    /// `ARRAY_INDEX`, as all clients but srun take it.
    id: String,
    /// Its job's number, as srun takes it, once it runs.
    job: String,
    /// Which part it is of.
    part: usize,
    /// It is in the queue: on hold, or until it has its node.
    waits: bool,
}

/// The queue at some time.
struct Seen {
    at: Instant,
    good_for: Duration,
    /// How each task stands and which job it is, or why the controller does not say.
    tasks: Result<HashMap<String, (Standing, String)>, Vec<String>>,
}

/// The task of one node.
pub(super) struct OfNode {
    pub(super) array: Arc<Array>,
    pub(super) node: String,
    /// As many as the node has.
    pub(super) cpus: String,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Array {
    pub(super) fn of(partition: &str) -> Self {
        let (asked, submits, looks) = <(Mutex<Asked>, Mutex<()>, Mutex<()>)>::default();
        let pipe = format!("{}-$SLURM_JOB_ID", job_name());
        Self { partition: partition.to_owned(), pipe, asked, submits, looks }
    }

    /// The id of this node's task, or why there is none, if it has been asked for.
    fn task(&self, node: &str) -> Option<Result<String, Vec<String>>> {
        let asked = locked(&self.asked);
        asked.tasks.get(node).map(|task| task.as_ref().map(|task| task.id.clone()).map_err(Clone::clone))
    }

    /// Asks for this node and for those that come next, as many as are visited at once or as Slurm takes.
    fn request(&self, node: &str, is_stopped: &dyn Fn() -> bool) -> Result<String, Vec<String>> {
        let _one = locked(&self.submits);
        if let Some(task) = self.task(node) {
            return task;
        }
        let mut nodes = self.next(node);
        while !is_stopped() {
            match self.submit(&nodes, is_stopped) {
                Ok(id) => return Ok(id),
                // Clusters limit how large an array is, and how many tasks a user has in the queue.
                Err(Fault::Refused(_)) if nodes.len() > 1 => {
                    let rest = nodes.split_off(nodes.len().div_ceil(2));
                    let mut asked = locked(&self.asked);
                    asked.at_most = nodes.len();
                    rest.into_iter().rev().for_each(|node| asked.wanted.push_front(node));
                }
                Err(Fault::Refused(why)) => return Err(why),
                Err(Fault::Silent(why)) => {
                    let mut asked = locked(&self.asked);
                    asked.tasks.extend(nodes.into_iter().map(|node| (node, Err(vec![why.clone()]))));
                    return Err(vec![why]);
                }
            }
        }
        Err(Vec::new())
    }

    /// This node and those that come next.
    fn next(&self, node: &str) -> Vec<String> {
        let mut asked = locked(&self.asked);
        asked.wanted.retain(|it| it != node);
        let next = asked.wanted.len().min(asked.at_most.min(LARGEST).saturating_sub(1));
        [node.to_owned()].into_iter().chain(asked.wanted.drain(..next)).collect()
    }

    /// Submits an array of a task for each of these nodes; the id of the first one's.
    fn submit(&self, nodes: &[String], is_stopped: &dyn Fn() -> bool) -> Result<String, Fault> {
        let name = job_name();
        let guard = Guard::over(&name).map_err(|error| Fault::Silent(error.to_string()))?;
        let (array, job) = (format!("--array=0-{}", nodes.len() - 1), hold::job(&self.pipe));
        let words = [
            &["sbatch", "--parsable", "--hold", &array, "-p", &self.partition, "--job-name", &name][..],
            &["-N1", "-n1", "--exclusive", "--mem=0", "--no-requeue", "--chdir=/"],
            &["-o", "/dev/null", "-e", "/dev/null", "--wrap", &job],
        ];
        let said = answer(&words.concat(), SUBMITTED, is_stopped).and_then(|said| {
            // A site may have it say more, and several clusters have it say which one.
            let id = said.trim().lines().last().unwrap_or_default().split(';').next().unwrap_or_default();
            match !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) {
                true => Ok(id.to_owned()),
                false => Err(Fault::Silent(format!("sbatch tells no job: {said}"))),
            }
        });
        let id = match said {
            Ok(id) => id,
            Err(fault) => {
                // It may have come through all the same.
                guard.end(&name, cancel(&["--name", &name]));
                return Err(fault);
            }
        };
        let mut asked = locked(&self.asked);
        let part = asked.parts.len();
        asked.parts.push(Part { name, guard: Some(guard) });
        asked.changes += 1;
        let task = |at| Task { id: format!("{id}_{at}"), job: String::new(), part, waits: true };
        let tasks = nodes.iter().enumerate().map(|(at, node)| (node.clone(), Ok(task(at))));
        asked.tasks.extend(tasks);
        Ok(format!("{id}_0"))
    }

    /// How a task stands, and which job it is.
    fn look(&self, id: &str, is_stopped: &dyn Fn() -> bool) -> (Standing, String) {
        let _one = locked(&self.looks);
        let (names, changes) = {
            let asked = locked(&self.asked);
            if let Some(seen) = asked.seen.as_ref().filter(|seen| seen.at.elapsed() < seen.good_for) {
                return seen.of(id);
            }
            let waiting = asked.parts.iter().filter(|part| part.guard.is_some());
            (waiting.map(|part| part.name.as_str()).collect::<Vec<_>>().join(","), asked.changes)
        };
        let began = Instant::now();
        // Without its partition named, one that is hidden from this user has no jobs.
        let words =
            ["squeue", "-h", "-r", "-t", "all", "-p", &self.partition, "-n", &names, "-o", "%i|%A|%T|%r"];
        let tasks = answer(&words, ASKED, is_stopped).map(|said| said.lines().filter_map(task_of).collect());
        let good_for = (began.elapsed() * GOOD_FOR).min(GOOD_AT_MOST);
        let seen = Seen { at: Instant::now(), good_for, tasks: tasks.map_err(Fault::said) };
        let found = seen.of(id);
        let mut asked = locked(&self.asked);
        if asked.changes == changes {
            asked.seen = Some(seen);
        }
        found
    }

    /// Lets the guards go of which nothing waits any more.
    fn settle(&self) {
        let free: Vec<Guard> = {
            let mut asked = locked(&self.asked);
            let Asked { tasks, parts, .. } = &mut *asked;
            let waits = |at| tasks.values().flatten().any(|task| task.part == at && task.waits);
            let free = parts.iter_mut().enumerate().filter(|(at, _)| !waits(*at));
            free.filter_map(|(_, part)| part.guard.take()).collect()
        };
        free.into_iter().for_each(Guard::disarm);
    }
}

impl Seen {
    fn of(&self, id: &str) -> (Standing, String) {
        let gone = || (Standing::Gone("it is not in the queue".to_owned()), String::new());
        match &self.tasks {
            Ok(tasks) => tasks.get(id).cloned().unwrap_or_else(gone),
            Err(why) => (Standing::Unknown(why.join("; ")), String::new()),
        }
    }
}

impl Drop for Array {
    /// What waits leaves the queue.
    fn drop(&mut self) {
        for Part { name, guard } in std::mem::take(&mut locked(&self.asked).parts) {
            if let Some(guard) = guard {
                guard.end(&name, cancel(&["--state=PENDING", "--name", &name]));
            }
        }
    }
}

impl Job for OfNode {
    fn enlist(&self, at_once: usize) {
        let mut asked = locked(&self.array.asked);
        asked.at_most = at_once;
        asked.wanted.push_back(self.node.clone());
    }

    fn request(&self, is_stopped: &dyn Fn() -> bool) -> Result<(), Vec<String>> {
        let id = match self.array.task(&self.node) {
            Some(task) => task?,
            None => self.array.request(&self.node, is_stopped)?,
        };
        let (job, node) = (format!("JobId={id}"), format!("ReqNodeList={}", self.node));
        answer(&["scontrol", "update", &job, &node], ASKED, is_stopped).map_err(Fault::said)?;
        answer(&["scontrol", "release", &id], ASKED, is_stopped).map_err(Fault::said)?;
        // The next answer is to know of it.
        let mut asked = locked(&self.array.asked);
        (asked.seen, asked.changes) = (None, asked.changes + 1);
        Ok(())
    }

    fn standing(&self, is_stopped: &dyn Fn() -> bool) -> Standing {
        let Some(Ok(id)) = self.array.task(&self.node) else {
            return Standing::Gone("it is not asked for".to_owned());
        };
        let (standing, job) = self.array.look(&id, is_stopped);
        if matches!(standing, Standing::Given | Standing::Gone(_)) {
            if let Some(Ok(task)) = locked(&self.array.asked).tasks.get_mut(&self.node) {
                (task.job, task.waits) = (job, false);
            }
            self.array.settle();
        }
        standing
    }

    fn cancel(&self) {
        let cancelled = match self.array.task(&self.node) {
            Some(Ok(id)) => cancel(&[&id]),
            // It may be asked for again.
            Some(Err(_)) => true,
            None => false,
        };
        if cancelled {
            locked(&self.array.asked).tasks.remove(&self.node);
            self.array.settle();
        }
    }
}

impl OfNode {
    /// The shell on the node, as a step that has all its CPUs. The environment here is not the node's.
    pub(super) fn shell(&self) -> Command {
        let (job, id) = match locked(&self.array.asked).tasks.get(&self.node) {
            Some(Ok(task)) => (task.job.clone(), task.id.clone()),
            _ => Default::default(),
        };
        let mut command = client("srun");
        command.args([
            "--jobid",
            &job,
            "-N1",
            "-n1",
            "-c",
            &self.cpus,
            "--mem=0",
            "--unbuffered",
            "--chdir=/",
        ]);
        command.args(["--cpu-bind=none", "--mpi=none"]).arg("--export=HOME,USER,LOGNAME,PATH,LANG");
        command.args(hold::attached(&self.array.pipe, &id));
        command
    }
}

/// Takes what waits out of the queue when we are killed; what runs ends with its lifeline.
struct Guard {
    child: Child,
    line: ChildStdin,
}

impl Guard {
    /// Over the jobs of this name.
    fn over(name: &str) -> io::Result<Self> {
        let mut command = client(SHELL);
        let line = r#"read -r over && exit; end=$(($(date +%s) + $1))
            until scancel --quiet --state=PENDING --name "$0"; do test "$(date +%s)" -lt $end || exit; sleep 10; done"#;
        command.args(["-c", line, name, &GUARDED.as_secs().to_string()]);
        // Neither an interrupt nor whoever ends our group is meant for it.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // SAFETY: system calls between fork and exec.
        unsafe { command.pre_exec(unblock_signals) };
        let mut child = command.spawn()?;
        let line = child.stdin.take().ok_or_else(|| io::Error::other("it has no input"))?;
        Ok(Self { child, line })
    }

    /// Nothing waits any more.
    fn disarm(mut self) {
        // It may have been killed.
        let _ = self.line.write_all(b"\n");
        let _ = self.child.wait();
    }

    /// What waits was taken out of the queue, or the guard is to try it again.
    fn end(self, name: &str, cancelled: bool) {
        if cancelled {
            return self.disarm();
        }
        let minutes = GUARDED.as_secs() / 60;
        say(&format!(
            "'scancel --name {name}' fails, and is tried again for {minutes} minutes: until then jobs stay in the queue"
        ));
    }
}

/// From a line of `%i|%A|%T|%r`: squeue(1), "JOB STATE CODES" and "JOB REASON CODES".
fn task_of(line: &str) -> Option<(String, (Standing, String))> {
    let mut fields = line.splitn(4, '|').map(str::trim);
    let (id, job, state, reason) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let standing = match (state, reason) {
        ("PENDING", "None") => Standing::Waits("it is queued".to_owned()),
        ("PENDING", reason) => Standing::Waits(reason.to_owned()),
        // It has the node, which may have to be switched on first.
        ("CONFIGURING", _) => Standing::Waits("the node starts".to_owned()),
        ("RUNNING", _) => Standing::Given,
        (state, "None") => Standing::Gone(state.to_owned()),
        (state, reason) => Standing::Gone(format!("{state} ({reason})")),
    };
    Some((id.to_owned(), (standing, job.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_guesses_the_pipe_of_a_task() {
        let [one, other] = [(); 2].map(|()| Array::of("p"));
        assert!(
            one.pipe != other.pipe && one.pipe.ends_with("-$SLURM_JOB_ID"),
            "{} {}",
            one.pipe,
            other.pipe
        );
    }

    #[test]
    fn a_task_waits_for_a_reason_or_has_its_node_or_is_gone() {
        let waits = |why: &str| Standing::Waits(why.to_owned());
        let gone = |why: &str| Standing::Gone(why.to_owned());
        for (rest, expected) in [
            ("PENDING|Resources", waits("Resources")),
            ("PENDING|None", waits("it is queued")),
            ("CONFIGURING|None", waits("the node starts")),
            ("RUNNING|None", Standing::Given),
            ("COMPLETING|None", gone("COMPLETING")),
            ("FAILED|NonZeroExitCode", gone("FAILED (NonZeroExitCode)")),
        ] {
            let task = task_of(&format!("7_3|10|{rest}"));
            assert_eq!(task, Some(("7_3".to_owned(), (expected, "10".to_owned()))));
        }
        assert_eq!(task_of(""), None);
    }
}
