//! `slurm:PARTITION`: nodes of a cluster whose engine is Slurm, one exclusive job a node.
//!
//! A job is an `srun` that holds a shell on the node, and not a batch script: its standard input is the lifeline, so that nothing runs on after
//! whoever collects has gone, nothing has to lie on a disk that all nodes share, and each node is asked for by name and measured once. The
//! clients of this machine are called; there is no library.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Once};
use std::time::Duration;

use whyfaster_core::fleet::visit::Trouble;
use whyfaster_words::exit::{Failure, say};

use super::machine::{Job, Machine, PlaceKind, Standing, job_name};
use super::said::said_within;
use super::shell::SHELL;

pub(super) static KIND: PlaceKind = PlaceKind {
    word: "slurm",
    form: "PARTITION[:N|all|NODE]",
    help: "nodes of a partition, each as one exclusive job: all of them, any N that are free first, or one",
    read: |behind| match behind.split(':').any(|it| it.starts_with('-') || it.contains(char::is_whitespace)) {
        true => Err(format!("'{behind}' is no partition")),
        false => Ok(()),
    },
    machines,
    all: |behind| parts(behind).0.to_owned(),
};

/// How long a client of Slurm may take that is asked about all nodes, or about one job. Without its controller it tries for minutes, and an interrupt
/// would wait for it.
const NODES: Duration = Duration::from_secs(30);
const JOB: Duration = Duration::from_secs(5);

/// What of `SLURM_...` says which cluster is asked, and as whom (srun(1), "INPUT ENVIRONMENT VARIABLES"). The rest tells of the job in which we may run
/// ourselves, or changes what is asked for: with it srun would make a step of that job, which has other nodes.
const CLIENT: [&str; 13] = [
    "CONF",
    "CONF_SERVER",
    "CLUSTERS",
    "JWT",
    "SACK_KEY",
    "SACK_SOCKET",
    "DEBUG",
    "DEBUG_FLAGS",
    "ACCOUNT",
    "QOS",
    "RESERVATION",
    "TIMELIMIT",
    "WCKEY",
];

/// A node as `sinfo` shows it.
#[derive(Debug, PartialEq, Eq)]
struct Node {
    name: String,
    state: String,
    cpus: String,
    /// Whether jobs may share it.
    shared: String,
    reason: String,
}

impl Node {
    /// From a line of `%N|%T|%c|%h|%E`.
    fn of(line: &str) -> Option<Self> {
        let mut fields = line.splitn(5, '|').map(|field| field.trim().to_owned());
        Some(Self {
            name: fields.next()?,
            state: fields.next()?,
            cpus: fields.next()?,
            shared: fields.next()?,
            reason: fields.next()?,
        })
    }

    /// Whether it is shared also with a job that asks for all of it (slurm.conf(5), OverSubscribe).
    fn is_shared(&self) -> bool {
        self.shared.starts_with("FORCE")
    }

    /// How soon it can be had, if at all: sinfo(1), "NODE STATE CODES". A star stands behind what does not answer.
    fn rank(&self) -> Option<usize> {
        let state = self.state.trim_end_matches(['~', '#', '%', '$', '@', '^', '-', '+', '!']);
        ["idle", "planned", "mixed", "completing", "allocated"].iter().position(|it| *it == state)
    }

    fn machine(&self, partition: &str) -> Machine {
        let (part, name, cpus) = (partition.to_owned(), self.name.clone(), self.cpus.clone());
        // By its name the job is found before its shell says which it is.
        let job = Called(job_name());
        let called = job.0.clone();
        let machine = Machine::new(&self.name, format!("slurm:{partition}:{}", self.name), move |_| {
            srun(&called, &part, &name, &cpus)
        });
        let trouble = || Trouble::Down { state: self.state.clone(), reason: self.reason.clone() };
        let first = format!("make 'srun -p {partition} -w {} true' work first", self.name);
        Machine {
            out: self.rank().is_none().then(trouble),
            queues: true,
            first,
            job: Some(Arc::new(job)),
            ..machine
        }
    }
}

/// The shell on the node. All of the node is the job's, and all its CPUs are the shell's. The environment here is not the node's.
fn srun(job: &str, partition: &str, node: &str, cpus: &str) -> Command {
    let mut command = Command::new("srun");
    command.args(["-p", partition, "-w", node, "-c", cpus, "-N1", "-n1", "--exclusive", "--mem=0"]);
    command.args(["--job-name", job, "--chdir=/", "--unbuffered", "--cpu-bind=none", "--mpi=none"]);
    command.args(["--export=HOME,USER,LOGNAME,PATH,LANG", SHELL]);
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_a_job(name)) {
        command.env_remove(name);
    }
    command
}

/// Whether a variable would make it another request.
fn is_of_a_job(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix("SLURM_"));
    rest.is_some_and(|rest| !CLIENT.contains(&rest))
}

/// The job of this name.
struct Called(String);

impl Job for Called {
    fn standing(&self) -> Option<Standing> {
        let said = said("squeue", &["-h", "-n", &self.0, "-o", "%T|%r"], JOB).ok()?.stdout;
        standing_of(String::from_utf8_lossy(&said).lines().next()?)
    }

    fn cancel(&self) {
        // It has ended by itself, or nobody can reach it.
        let _ = said("scancel", &["--name", &self.0], JOB);
    }
}

/// What a client says to these words.
fn said(client: &str, words: &[&str], patience: Duration) -> io::Result<Output> {
    let mut command = Command::new(client);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    said_within(&mut command, patience)
}

/// From a line of `%T|%r`: squeue(1), "JOB STATE CODES" and "JOB REASON CODES".
fn standing_of(line: &str) -> Option<Standing> {
    let (state, reason) = line.split_once('|')?;
    match (state.trim(), reason.trim()) {
        ("PENDING", "None") => Some(Standing::Waits("it is queued".to_owned())),
        ("PENDING", reason) => Some(Standing::Waits(reason.to_owned())),
        // It has the node, which may have to be switched on first.
        ("CONFIGURING", _) => Some(Standing::Waits("the node starts".to_owned())),
        ("RUNNING", _) => Some(Standing::Given),
        // It is about to end, and srun will say so.
        _ => None,
    }
}

/// The partition, and which of its nodes.
fn parts(behind: &str) -> (&str, &str) {
    behind.split_once(':').unwrap_or((behind, "all"))
}

fn machines(behind: &str) -> Result<Vec<Machine>, Failure> {
    let (partition, which) = parts(behind);
    let nodes = nodes(partition)?;
    if nodes.iter().any(Node::is_shared) {
        // A run asks for its machines again and again.
        static SAID: Once = Once::new();
        let why = "lets jobs share nodes whatever they ask for (OverSubscribe=FORCE): others may run beside what is measured";
        SAID.call_once(|| say(&format!("the partition '{partition}' {why}")));
    }
    let ranked = free_first(&nodes);
    if which == "all" {
        return Ok(ranked.iter().map(|node| node.machine(partition)).collect());
    }
    if let Some(node) = nodes.iter().find(|node| node.name == which) {
        return Ok(vec![node.machine(partition)]);
    }
    let Ok(wanted) = which.parse::<usize>() else {
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let message = format!("the partition '{partition}' has no node '{which}'");
        return Err(Failure::usage(
            message,
            format!("it has {}; a number takes as many of them", names.join(", ")),
        ));
    };
    let free: Vec<&Node> = ranked.into_iter().filter(|node| node.rank().is_some()).collect();
    if wanted == 0 || free.len() < wanted {
        let message = format!(
            "the partition '{partition}' has {} nodes that can be used, and {wanted} are asked for",
            free.len()
        );
        return Err(Failure::usage(message, "'sinfo' says what the others are"));
    }
    Ok(free[..wanted].iter().map(|node| node.machine(partition)).collect())
}

/// So many are visited at once, and who waits for its node counts as one of them. Those that cannot be had come last.
fn free_first(nodes: &[Node]) -> Vec<&Node> {
    let mut ranked: Vec<&Node> = nodes.iter().collect();
    ranked.sort_by_key(|node| node.rank().unwrap_or(usize::MAX));
    ranked
}

fn nodes(partition: &str) -> Result<Vec<Node>, Failure> {
    let failed = |why: String| {
        Failure::unfit(
            format!("sinfo cannot tell the nodes of the partition '{partition}': {why}"),
            "run it where the clients of Slurm are (Debian: slurm-client) and 'sinfo' works",
        )
    };
    let words = ["-h", "-N", "-p", partition, "-o", "%N|%T|%c|%h|%E"];
    let output = said("sinfo", &words, NODES).map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let nodes: Vec<Node> = text.lines().filter_map(Node::of).collect();
    if !output.status.success() || nodes.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(failed(if said.is_empty() { "it has none".to_owned() } else { said }));
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_waits_for_a_reason_or_has_its_node() {
        let waits = |why: &str| Some(Standing::Waits(why.to_owned()));
        assert_eq!(standing_of("PENDING|Resources"), waits("Resources"));
        assert_eq!(standing_of("PENDING|None"), waits("it is queued"));
        assert_eq!(standing_of("CONFIGURING|None"), waits("the node starts"));
        assert_eq!(standing_of("RUNNING|None"), Some(Standing::Given));
        assert_eq!((standing_of("COMPLETING|None"), standing_of("")), (None, None));
    }

    #[test]
    fn the_job_in_which_we_run_is_not_the_one_that_is_asked_for() {
        for name in ["SLURM_JOB_ID", "SLURM_JOBID", "SLURM_NNODES", "SLURM_HINT", "SLURM_WORKING_CLUSTER"] {
            assert!(is_of_a_job(OsStr::new(name)), "{name}");
        }
        for name in ["SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_ACCOUNT", "PATH", "SRUN_CONTAINER"] {
            assert!(!is_of_a_job(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn who_is_down_is_out_and_who_is_free_comes_first() {
        let rank = |state: &str| Node::of(&format!("n1|{state}|8|NO|none")).unwrap().rank();
        assert!(rank("idle") < rank("mixed") && rank("mixed") < rank("allocated") && rank("idle~").is_some());
        for state in
            ["down", "down*", "drained", "draining", "idle*", "unknown*", "maint", "fail", "reserved"]
        {
            assert_eq!(rank(state), None, "{state}");
        }
        let nodes = ["n1|allocated", "n2|down*", "n3|mixed", "n4|idle"]
            .map(|it| Node::of(&format!("{it}|8|NO|none")).unwrap());
        let names: Vec<&str> = free_first(&nodes).iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["n4", "n3", "n1", "n2"]);
        let shared = |word: &str| Node::of(&format!("n1|idle|8|{word}|none")).unwrap().is_shared();
        assert!(shared("FORCE:4") && !shared("NO") && !shared("YES:4") && !shared("EXCLUSIVE"));
        let drained = Node::of("n1|drained|8|NO|disk | fan").unwrap().machine("p");
        let Some(Trouble::Down { state, reason }) = drained.out else { panic!("it is not out") };
        assert_eq!(
            (state.as_str(), reason.as_str(), drained.asked.as_str()),
            ("drained", "disk | fan", "slurm:p:n1")
        );
    }
}
