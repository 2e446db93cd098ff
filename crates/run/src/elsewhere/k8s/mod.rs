//! `k8s:SELECTOR`: nodes of a Kubernetes cluster, each held by a job of its own.
//!
//! The cluster is asked by its API, and every node that is measured has a process here that holds its job: one for a thousand nodes could be
//! killed with all of them.

mod asked;
mod cluster;
mod exec;
mod facts;
mod fault;
pub mod hold;
mod job;
mod login;
mod plugin;

use std::process::Command;

use whyfaster_words::exit::Failure;

use self::asked::{Asked, FORM};
use self::cluster::Cluster;
use self::facts::Node;
use self::fault::Fault;
use super::machine::{Machine, PlaceKind};

pub(super) static KIND: PlaceKind = PlaceKind {
    word: "k8s",
    form: FORM,
    help: "nodes of a Kubernetes cluster, each held by a job of its own: all of them, one, or those with these labels",
    read: |behind| Asked::of(behind).map(drop),
    machines,
    all: |behind| Asked::of(behind).map_or_else(|_| behind.to_owned(), |asked| asked.one("all").to_string()),
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
    found(asked).map_err(|why| {
        Failure::unfit(
            format!("the Kubernetes cluster does not tell the nodes '{}': {why}", asked.which),
            "make 'kubectl get nodes' work first: its files are read here too (KUBECONFIG, or ~/.kube/config)",
        )
    })
}

fn found(asked: &Asked) -> Result<Vec<Node>, Fault> {
    let Some(cluster) = Cluster::reach(asked.namespace.as_deref(), &|| false)? else {
        return Ok(Vec::new());
    };
    if asked.which == "all" {
        return cluster.nodes(None);
    }
    if asked.may_be_a_node()
        && let Some(node) = cluster.node(&asked.which)?
    {
        return Ok(vec![node]);
    }
    cluster.nodes(Some(&asked.which))
}
