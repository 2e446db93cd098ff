//! `k8s:SELECTOR`: nodes of a Kubernetes cluster, each held by a job of its own.
//!
//! The engine's own client, `kubectl`, is called, as ssh and srun are. It has the user's contexts and whatever plugin logs in there; a library
//! for the API would bring several megabytes and would need those plugins all the same.

mod asked;
mod facts;
pub mod hold;
mod job;
mod kubectl;

use std::process::Command;

use whyfaster_words::exit::Failure;

use self::asked::{Asked, FORM};
use self::facts::{List, Node};
use self::kubectl::{Fault, ask};
use super::machine::{Machine, PlaceKind};

pub(super) static KIND: PlaceKind = PlaceKind {
    word: "k8s",
    form: FORM,
    help: "nodes of a Kubernetes cluster, each held by a job of its own: all of them, one, or those with these labels",
    read: |behind| Asked::of(behind).map(drop),
    machines,
};

fn machines(behind: &str) -> Result<Vec<Machine>, Failure> {
    let asked = Asked::of(behind).map_err(|why| Failure::usage(why, format!("a place is k8s:{FORM}")))?;
    let nodes = nodes(&asked)?;
    if nodes.is_empty() {
        let message = format!("no node of the cluster is called '{0}' or has the labels '{0}'", asked.which);
        return Err(Failure::usage(
            message,
            "'kubectl get nodes --show-labels' lists them; k8s:all takes all",
        ));
    }
    Ok(nodes.iter().map(|node| machine(&asked, node)).collect())
}

fn machine(asked: &Asked, node: &Node) -> Machine {
    let one = asked.one(&node.metadata.name);
    let words = serde_json::to_string(&one).unwrap_or_default();
    let machine = Machine::new(&one.which, format!("k8s:{one}"), move |_| {
        let mut command = Command::new("/proc/self/exe");
        command.args([hold::VERB, &words]);
        command
    });
    let first = "make 'kubectl get nodes' and 'kubectl exec' work first".to_owned();
    Machine { out: node.out(asked.tainted), queues: true, first, ..machine }
}

fn nodes(asked: &Asked) -> Result<Vec<Node>, Failure> {
    let failed = |why: Fault| {
        Failure::unfit(
            format!("kubectl cannot tell the nodes '{}': {why}", asked.which),
            "run it where kubectl is (https://kubernetes.io/docs/tasks/tools/) and 'kubectl get nodes' works",
        )
    };
    if asked.may_be_a_node() && asked.which != "all" {
        let node = ask::<Node>(None, &["get", "node", &asked.which, "--ignore-not-found"]).map_err(failed)?;
        if let Some(node) = node {
            return Ok(vec![node]);
        }
    }
    let selector = format!("--selector={}", asked.which);
    let mut words = vec!["get", "nodes"];
    if asked.which != "all" {
        words.push(&selector);
    }
    let nodes: Option<List<Node>> = ask(None, &words).map_err(failed)?;
    Ok(nodes.map_or_else(Vec::new, |it| it.items))
}
