//! The job array of a partition: one exclusive task a node.
//!
//! A task only holds its node, for a shell that `srun` attaches to it as a step (`hold.rs`). Slurm would give a task whichever node is free, and
//! measure one twice and another never; so the array is submitted on hold, and a task is pinned to its node and released when the node's turn has come.

use std::collections::{HashMap, VecDeque};
use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::hold;
use super::super::machine::{Job, Standing, job_name};
use super::super::shell::SHELL;
use whyfaster_host::said::{last_line, said_within};

/// How long a client of Slurm may take that asks for nodes, or for one job. Without its controller it tries for minutes, and an interrupt would wait
/// for it.
const SUBMITTED: Duration = Duration::from_secs(30);
const ASKED: Duration = Duration::from_secs(5);

/// What is known of the queue is good for so many times as long as it took to ask: all nodes of a large run wait for the same answer, and the
/// controller has more to do.
const GOOD_FOR: u32 = 20;

/// An array has fewer tasks than this, unless the cluster allows more (slurm.conf(5), MaxArraySize).
const LARGEST: usize = 1000;

/// What of `SLURM_...` and `SBATCH_...` says which cluster is asked (srun(1) and sbatch(1), "INPUT ENVIRONMENT VARIABLES"), and as whom. The rest tells of
/// the job in which we may run ourselves, or changes what is asked for: with it srun would make a step of that job, which has other nodes.
const CLUSTER: [&str; 8] =
    ["CONF", "CONF_SERVER", "CLUSTERS", "JWT", "SACK_KEY", "SACK_SOCKET", "DEBUG", "DEBUG_FLAGS"];
const REQUEST: [&str; 5] = ["ACCOUNT", "QOS", "RESERVATION", "TIMELIMIT", "WCKEY"];

/// The pipe between a task and its shell. Both know the job by its number, and sbatch gives all tasks one script.
const PIPE: &str = "whyfaster-$SLURM_JOB_ID";

/// The array of a partition, in as many parts as it takes.
pub(super) struct Array {
    partition: String,
    /// The name of its jobs, which no other job has: by it they are found also where sbatch did not live to tell their number.
    name: String,
    asked: Mutex<Asked>,
}

/// What Slurm is asked for.
#[derive(Default)]
struct Asked {
    /// Nodes that this run will ask for, and how many of them at once.
    wanted: VecDeque<String>,
    at_once: usize,
    /// The task of each node that is asked for.
    tasks: HashMap<String, Task>,
    guard: Option<Guard>,
    seen: Option<Seen>,
}

/// One task of an array.
struct Task {
    /// `ARRAY_INDEX`, as all clients but srun take it.
    id: String,
    /// It waits for its node's turn.
    held: bool,
}

/// The queue at some time.
struct Seen {
    at: Instant,
    good_for: Duration,
    /// How each task stands, and as which job it runs.
    tasks: HashMap<String, (Standing, String)>,
}

/// The task of one node.
pub(super) struct OfNode {
    pub(super) array: Arc<Array>,
    pub(super) node: String,
    /// As many as the node has.
    pub(super) cpus: String,
}

impl Array {
    pub(super) fn of(partition: &str) -> Self {
        Self { partition: partition.to_owned(), name: job_name(), asked: Mutex::default() }
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for this node and for those that come next, as many as are visited at once: some clusters limit how many tasks a user has in the queue.
    fn submit(&self, asked: &mut Asked, node: &str) -> Result<(), Vec<String>> {
        asked.wanted.retain(|it| it != node);
        let next = asked.wanted.len().min(asked.at_once.min(LARGEST).saturating_sub(1));
        let nodes: Vec<String> = [node.to_owned()].into_iter().chain(asked.wanted.drain(..next)).collect();
        if asked.guard.is_none() {
            asked.guard = Some(Guard::over(&self.name).map_err(|error| vec![error.to_string()])?);
        }
        let array = format!("--array=0-{}", nodes.len() - 1);
        let job = hold::job(PIPE);
        let words = [
            &["sbatch", "--parsable", "--hold", &array, "-p", &self.partition, "--job-name", &self.name][..],
            &["-N1", "-n1", "--exclusive", "--mem=0", "--no-requeue", "--chdir=/", "-o", "/dev/null"],
            &["-e", "/dev/null", "--export=HOME,USER,LOGNAME,PATH,LANG", "--wrap", &job],
        ];
        let submitted = answer(&words.concat(), SUBMITTED);
        // It may have come through all the same.
        let said = submitted.inspect_err(|_| cancel(&["--name", &self.name]))?;
        // Of several clusters it says behind it which it is.
        let id = said.split(';').next().unwrap_or_default().trim();
        let tasks = nodes.into_iter().enumerate();
        asked.tasks.extend(tasks.map(|(at, node)| (node, Task { id: format!("{id}_{at}"), held: true })));
        Ok(())
    }

    /// How the tasks stand; not at all if the controller does not answer.
    fn look<'a>(&self, asked: &'a mut Asked) -> Option<&'a Seen> {
        if asked.seen.as_ref().is_none_or(|seen| seen.at.elapsed() > seen.good_for) {
            let began = Instant::now();
            let said = answer(&["squeue", "-h", "-r", "-n", &self.name, "-o", "%i|%A|%T|%r"], ASKED).ok()?;
            let tasks = said.lines().filter_map(task_of).collect();
            asked.seen = Some(Seen { at: Instant::now(), good_for: began.elapsed() * GOOD_FOR, tasks });
        }
        asked.seen.as_ref()
    }
}

impl Drop for Array {
    /// What has not got its turn leaves the queue.
    fn drop(&mut self) {
        let asked = self.asked();
        if asked.tasks.values().any(|task| task.held) {
            cancel(&["--state=PENDING", "--name", &self.name]);
        }
    }
}

impl Job for OfNode {
    fn enlist(&self, at_once: usize) {
        let mut asked = self.array.asked();
        asked.at_once = at_once;
        asked.wanted.push_back(self.node.clone());
    }

    fn request(&self) -> Result<(), Vec<String>> {
        let mut asked = self.array.asked();
        if !asked.tasks.contains_key(&self.node) {
            self.array.submit(&mut asked, &self.node)?;
        }
        let Some(task) = asked.tasks.get_mut(&self.node) else { return Ok(()) };
        task.held = false;
        let id = task.id.clone();
        // The next answer is to know of it.
        asked.seen = None;
        drop(asked);
        let (job, node) = (format!("JobId={id}"), format!("ReqNodeList={}", self.node));
        answer(&["scontrol", "update", &job, &node], ASKED)?;
        answer(&["scontrol", "release", &id], ASKED).map(drop)
    }

    fn standing(&self) -> Option<Standing> {
        let mut asked = self.array.asked();
        let id = asked.tasks.get(&self.node)?.id.clone();
        let seen = self.array.look(&mut asked)?;
        // What it does not list has ended, or somebody has taken it away.
        Some(seen.tasks.get(&id).map_or(Standing::Gone, |(standing, _)| standing.clone()))
    }

    fn cancel(&self) {
        if let Some(task) = self.array.asked().tasks.get(&self.node) {
            cancel(&[&task.id]);
        }
    }
}

impl OfNode {
    /// The shell on the node, as a step that has all its CPUs. The environment here is not the node's.
    pub(super) fn shell(&self) -> Command {
        let asked = self.array.asked();
        let id = asked.tasks.get(&self.node).map_or("", |task| &task.id);
        let job = asked.seen.as_ref().and_then(|seen| seen.tasks.get(id)).map_or("", |(_, job)| job);
        let mut command = client("srun");
        command.args([
            "--jobid",
            job,
            "-N1",
            "-n1",
            "-c",
            &self.cpus,
            "--mem=0",
            "--unbuffered",
            "--chdir=/",
        ]);
        command.args(["--cpu-bind=none", "--mpi=none", "--export=HOME,USER,LOGNAME,PATH,LANG"]);
        command.args(hold::attached(PIPE, id));
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
        command.args(["-c", r#"read -r over || exec scancel --quiet --state=PENDING --name "$0""#, name]);
        // Neither an interrupt nor whoever ends our group is meant for it.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let line = child.stdin.take().ok_or_else(|| io::Error::other("it has no input"))?;
        Ok(Self { child, line })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have been killed.
        let _ = self.line.write_all(b"\n");
        let _ = self.child.wait();
    }
}

/// A client, in an environment that tells of no other request. Who asks is told to sbatch as it is to srun.
fn client(name: &str) -> Command {
    let mut command = Command::new(name);
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_a_request(name)) {
        command.env_remove(name);
    }
    for name in REQUEST {
        let (of_batch, of_job) = (format!("SBATCH_{name}"), env::var_os(format!("SLURM_{name}")));
        if let Some(value) = of_job.filter(|_| env::var_os(&of_batch).is_none()) {
            command.env(of_batch, value);
        }
    }
    command
}

/// Whether a variable would make it another request.
fn is_of_a_request(name: &OsStr) -> bool {
    let name = name.to_str().unwrap_or_default();
    let rest = name.strip_prefix("SLURM_").or_else(|| name.strip_prefix("SBATCH_"));
    rest.is_some_and(|rest| !CLUSTER.contains(&rest) && !REQUEST.contains(&rest))
}

/// What a client says to these words.
pub(super) fn said(words: &[&str], patience: Duration) -> io::Result<Output> {
    let mut command = client(words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    said_within(&mut command, patience)
}

/// What a client answers, or why it does not.
fn answer(words: &[&str], patience: Duration) -> Result<String, Vec<String>> {
    let output = said(words, patience).map_err(|error| vec![format!("{}: {error}", words[0])])?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        // It begins with the client's name.
        false => Err(vec![last_line(&output)]),
    }
}

/// Ends jobs. One that has ended by itself, or that nobody can reach, is none of ours. A second Ctrl-C is not for it.
fn cancel(words: &[&str]) {
    let mut command = client("scancel");
    command.arg("--quiet").args(words).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = said_within(&mut command, ASKED);
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
        _ => Standing::Gone,
    };
    Some((id.to_owned(), (standing, job.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_waits_for_a_reason_or_has_its_node_or_is_gone() {
        let waits = |why: &str| Standing::Waits(why.to_owned());
        for (rest, expected) in [
            ("PENDING|Resources", waits("Resources")),
            ("PENDING|None", waits("it is queued")),
            ("CONFIGURING|None", waits("the node starts")),
            ("RUNNING|None", Standing::Given),
            ("COMPLETING|None", Standing::Gone),
        ] {
            let task = task_of(&format!("7_3|10|{rest}"));
            assert_eq!(task, Some(("7_3".to_owned(), (expected, "10".to_owned()))));
        }
        assert_eq!(task_of(""), None);
    }

    #[test]
    fn the_job_in_which_we_run_is_not_the_one_that_is_asked_for() {
        for name in [
            "SLURM_JOB_ID",
            "SLURM_JOBID",
            "SLURM_NNODES",
            "SLURM_HINT",
            "SBATCH_WAIT",
            "SLURM_WORKING_CLUSTER",
        ] {
            assert!(is_of_a_request(OsStr::new(name)), "{name}");
        }
        for name in ["SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT", "SBATCH_ACCOUNT", "PATH", "SRUN_CONTAINER"]
        {
            assert!(!is_of_a_request(OsStr::new(name)), "{name}");
        }
    }
}
