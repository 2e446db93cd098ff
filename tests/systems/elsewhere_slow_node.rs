//! `fleet prices` on a Slurm of some nodes, one of which is slow.

use crate::support::needs::needs;
use crate::support::slurm::Cluster;
use crate::support::{list, number};
use serde_json::Value;

#[test]
fn every_node_is_measured_as_a_job_of_its_own_and_the_slow_one_is_named() {
    let cluster = needs!(Cluster::new(6, "n3"));
    let place = &cluster.place;
    // Two of the four have a network of their own. The others of the cluster have nothing to do.
    let nodes = ["slurm:p:n3", "slurm:p:n4", "slurm:p:n5", "slurm:p:n6"];
    let words = ["--to=runs", "--at-once=1", "--", "--quick", "getppid"];
    let ran = cluster.run(&[&["fleet", "prices"], &nodes[..], &words].concat());
    ran.expect(0, &["n3: job 1_0", "n6: job 4_0", "4 of 4 machines gave a record"]);
    let report = place.run(&["fleet", "report", "runs", "--json"]).json();
    let outliers = list(&report["prices"]["outliers"]);
    // Whom chance and other work here make stand out a little comes behind.
    let broken = outliers.first().unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!(broken["machine"], "n3", "{outliers:#?}");
    // Both calls of the seccomp filter's kernel, or the one of them for which this machine left enough repetitions; and nothing else.
    let (kernel, others): (Vec<&Value>, Vec<&Value>) =
        list(&broken["rows"]).iter().partition(|row| row["group"] == "kernel");
    assert!(!kernel.is_empty() && kernel.iter().all(|row| number(&row["factor"]) > 3.0), "{broken:#}");
    assert!(others.iter().all(|row| number(&row["factor"]) < 1.5), "{broken:#}");
    cluster.assert_clean();
}
