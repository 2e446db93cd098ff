//! `ray:ADDRESS`: nodes of a Ray cluster, each held by a job that takes all its CPUs.
//!
//! The user's own Python with its Ray is called, which has to be of the cluster's version. A job of Ray (`ray job submit`) has no standard input, so it only
//! holds its node (`hold.rs`). The shell beside it is run by an actor, which ends with the driver that made it. `bridge.py` is that driver: it passes bytes
//! between its own streams and those of the shell.

use std::io::ErrorKind;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use whyfaster_core::fleet::visit::Trouble;
use whyfaster_words::exit::Failure;

use super::hold;
use super::machine::{Machine, PlaceKind, job_name};
use whyfaster_host::said::{last_line, said_within};

const BRIDGE: &str = include_str!("bridge.py");

/// How long it may take to tell the nodes. It gives an address up sooner, and says so (PATIENCE_S).
const NODES: Duration = Duration::from_secs(120);

/// Exit status of the bridge: Python has no Ray.
const NO_RAY: i32 = 3;
/// And: the cluster asks for a token.
const NO_TOKEN: i32 = 5;

pub(super) static KIND: PlaceKind = PlaceKind {
    word: "ray",
    form: "ADDRESS[/NODE]",
    help: "nodes of a Ray cluster, each held by a job that takes all its CPUs: all of them, or one",
    read: |behind| match behind.starts_with('-') || behind.contains(char::is_whitespace) {
        true => Err(format!("'{behind}' is no address")),
        false => Ok(()),
    },
    machines,
    all: |behind| parts(behind).0.to_owned(),
};

/// A node as the bridge tells it.
#[derive(Debug, Deserialize)]
struct Node {
    name: String,
    alive: bool,
    reason: String,
    cpus: f64,
}

impl Node {
    fn machine(&self, address: &str) -> Machine {
        let (cluster, node) = (address.to_owned(), self.name.clone());
        let machine = Machine::new(&self.name, format!("ray:{address}/{}", self.name), move |_| {
            let job = job_name();
            bridge("hold", &[&cluster, &node, &job, &hold::job(&job)])
        });
        let down =
            |state: &str, reason: &str| Trouble::Down { state: state.to_owned(), reason: reason.to_owned() };
        // A head that is kept free of tasks often gives none. A job that takes none would hold nothing.
        let out = match (self.alive, self.cpus > 0.0) {
            (false, _) => Some(down("dead", &self.reason)),
            (true, false) => Some(down("without CPUs", "it was started with --num-cpus=0")),
            (true, true) => None,
        };
        let first = format!("make 'ray status --address={address}' work first");
        Machine { out, queues: true, first, ..machine }
    }
}

fn bridge(what: &str, words: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", BRIDGE, what]).args(words);
    command
}

/// The address and the node, if one is named. An address may begin with `ray://`.
fn parts(behind: &str) -> (&str, Option<&str>) {
    let after = behind.find("://").map_or(0, |at| at + 3);
    match behind[after..].split_once('/') {
        Some((address, node)) => (&behind[..after + address.len()], Some(node).filter(|it| !it.is_empty())),
        None => (behind, None),
    }
}

fn machines(behind: &str) -> Result<Vec<Machine>, Failure> {
    let (address, wanted) = parts(behind);
    let nodes = nodes(address)?;
    let Some(wanted) = wanted else {
        return Ok(nodes.iter().map(|node| node.machine(address)).collect());
    };
    let Some(node) = nodes.iter().find(|node| node.name == wanted) else {
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let message = format!("the Ray cluster at '{address}' has no node '{wanted}'");
        return Err(Failure::usage(message, format!("it has {}", names.join(", "))));
    };
    Ok(vec![node.machine(address)])
}

fn nodes(address: &str) -> Result<Vec<Node>, Failure> {
    let mut command = bridge("nodes", &[address]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = said_within(&mut command, NODES).map_err(|error| match error.kind() {
        ErrorKind::TimedOut => Failure::unfit(
            format!("the Ray cluster at '{address}' does not tell its nodes: {error}"),
            "make 'ray status' work first",
        ),
        _ => Failure::unfit(
            format!("ray: python3 does not run: {error}"),
            "install Python 3 and 'pip install ray'",
        ),
    })?;
    let last = last_line(&output);
    let (message, help) = match output.status.code() {
        Some(0) => match serde_json::from_slice(&output.stdout) {
            Ok(nodes) => return Ok(nodes),
            Err(error) => (
                format!("what Ray tells of its nodes is not understood: {error}"),
                "report it, with Ray's version",
            ),
        },
        Some(NO_RAY) => (
            format!("ray: python3 has no Ray: {last}"),
            "'pip install ray', of the version that the cluster runs",
        ),
        Some(NO_TOKEN) => (
            format!("the Ray cluster at '{address}' refuses: its token is missing or not the right one"),
            "set RAY_AUTH_MODE=token, and the cluster's token in RAY_AUTH_TOKEN or ~/.ray/auth_token",
        ),
        _ => (
            format!("the Ray cluster at '{address}' cannot be reached: {last}"),
            "run it on a node of the cluster, or name the server for clients: ray:ray://HOST:10001",
        ),
    };
    Err(Failure::unfit(message, help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_have_a_node_behind_it() {
        for (text, expected) in [
            ("10.0.0.1:6379", ("10.0.0.1:6379", None)),
            ("10.0.0.1:6379/", ("10.0.0.1:6379", None)),
            ("10.0.0.1:6379/10.0.0.2", ("10.0.0.1:6379", Some("10.0.0.2"))),
            ("ray://head:10001", ("ray://head:10001", None)),
            ("ray://head:10001/n 2", ("ray://head:10001", Some("n 2"))),
            ("auto/a/b", ("auto", Some("a/b"))),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }

    #[test]
    fn a_dead_node_and_one_without_cpus_are_out_with_the_reason() {
        let nodes: Vec<Node> = serde_json::from_str(
            r#"[{"name": "n1", "alive": true, "reason": "", "id": "1", "cpus": 2.0}, {"name": "n2", "alive": false, "reason": "lost", "id": "2", "cpus": 0},
                {"name": "n3", "alive": true, "reason": "", "id": "3", "cpus": 0}]"#,
        )
        .unwrap();
        let machines: Vec<Machine> = nodes.iter().map(|node| node.machine("h:1")).collect();
        assert_eq!((machines[0].asked.as_str(), &machines[0].out), ("ray:h:1/n1", &None));
        let lost = Trouble::Down { state: "dead".to_owned(), reason: "lost".to_owned() };
        assert_eq!(machines[1].out, Some(lost));
        assert!(matches!(&machines[2].out, Some(Trouble::Down { state, .. }) if state == "without CPUs"));
    }
}
