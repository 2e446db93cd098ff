//! `fleet prices` on a Slurm of some nodes, one of which is slow.

use crate::support::needs::needs;
use crate::support::slurm::Cluster;
use crate::support::{alone, list, number};
use serde_json::Value;

#[test]
fn every_node_is_measured_as_a_job_of_its_own_and_the_slow_one_is_named() {
    let _alone = alone();
    let cluster = needs!(Cluster::new(6, "n3"));
    let place = &cluster.place;
    let prices = ["fleet", "prices", "slurm:p", "--to=runs", "--at-once=1", "--", "--quick", "getppid"];
    let ran = cluster.run(&prices);
    ran.expect(0, &["n1: job 1_0", "n6: job 6_0", "6 of 6 machines gave a record"]);
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
