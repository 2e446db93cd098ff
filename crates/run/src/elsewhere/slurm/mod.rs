//! `slurm:PARTITION`: nodes of a cluster whose engine is Slurm, each held by one exclusive task of a job array.
//!
//! The clients of this machine are called; there is no library.

mod array;
mod client;

use std::env;
use std::sync::{Arc, Once};
use std::time::Duration;

use whyfaster_core::fleet::visit::Trouble;
use whyfaster_words::exit::{Failure, say};

use self::array::{Array, OfNode};
use self::client::said;
use super::machine::{Machine, PlaceKind};

pub(super) static KIND: PlaceKind = PlaceKind {
    word: "slurm",
    form: "PARTITION[:N|all|NODE]",
    help: "nodes of a partition, each as one exclusive task of a job array: all of them, any N that are free first, or one",
    read: |behind| match behind.split(':').any(|it| it.starts_with('-') || it.contains(char::is_whitespace)) {
        true => Err(format!("'{behind}' is no partition")),
        false => Ok(()),
    },
    machines,
    all: |behind| parts(behind).0.to_owned(),
};

/// How long `sinfo` may take to tell all nodes.
const NODES: Duration = Duration::from_secs(30);

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

    fn machine(&self, partition: &str, array: &Arc<Array>) -> Machine {
        let task =
            Arc::new(OfNode { array: array.clone(), node: self.name.clone(), cpus: self.cpus.clone() });
        let held = task.clone();
        let asked = format!("slurm:{partition}:{}", self.name);
        let machine = Machine::new(&self.name, asked, move |_| held.shell());
        let trouble = || Trouble::Down { state: self.state.clone(), reason: self.reason.clone() };
        let first = format!("make 'srun -p {partition} -w {} true' work first", self.name);
        Machine { out: self.rank().is_none().then(trouble), queues: true, first, job: Some(task), ..machine }
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
    let array = Arc::new(Array::of(partition));
    if which == "all" {
        return Ok(ranked.iter().map(|node| node.machine(partition, &array)).collect());
    }
    if let Some(node) = nodes.iter().find(|node| node.name == which) {
        return Ok(vec![node.machine(partition, &array)]);
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
    Ok(free[..wanted].iter().map(|node| node.machine(partition, &array)).collect())
}

/// So many are visited at once, and who waits for its node counts as one of them. Those that cannot be had come last.
fn free_first(nodes: &[Node]) -> Vec<&Node> {
    let mut ranked: Vec<&Node> = nodes.iter().collect();
    ranked.sort_by_key(|node| node.rank().unwrap_or(usize::MAX));
    ranked
}

fn nodes(partition: &str) -> Result<Vec<Node>, Failure> {
    if env::var("SLURM_CLUSTERS").is_ok_and(|names| names.contains(',')) {
        let message = "SLURM_CLUSTERS names several clusters, and scontrol knows one at a time";
        return Err(Failure::usage(message, "set it to the cluster that has the partition"));
    }
    let failed = |why: String| {
        Failure::unfit(
            format!("sinfo cannot tell the nodes of the partition '{partition}': {why}"),
            "run it where the clients of Slurm are (Debian: slurm-client) and 'sinfo' works",
        )
    };
    let words = ["sinfo", "-h", "-N", "-p", partition, "-o", "%N|%T|%c|%h|%E"];
    let output = said(&words, NODES, &|| false).map_err(|error| failed(error.to_string()))?;
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
        let drained = Node::of("n1|drained|8|NO|disk | fan").unwrap().machine("p", &Arc::new(Array::of("p")));
        let Some(Trouble::Down { state, reason }) = drained.out else { panic!("it is not out") };
        assert_eq!(
            (state.as_str(), reason.as_str(), drained.asked.as_str()),
            ("drained", "disk | fan", "slurm:p:n1")
        );
    }
}
