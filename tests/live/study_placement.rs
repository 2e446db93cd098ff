//! `study placement` whole, in its small size: what it reports, and that nothing of its file system stays, whatever ends it.

use std::fs;

use crate::support::{Sandbox, eventually};
use serde_json::Value;

fn root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn it_says_who_ran_where_and_judges_every_claim() {
    let place = Sandbox::new();
    let graphs = place.file("graphs");
    let words =
        ["study", "placement", "--quick", "--max-time", "3s", "--why=no", "--json", "--flamegraphs", &graphs];
    let ran = place.run(&words).ok();
    let document: Value = ran.json();
    let found = &document["study_findings"];
    assert_eq!((&document["study"], &found["name"]), (&"placement".into(), &"placement".into()));
    let rows = found["rows"].as_array().unwrap();
    assert!(rows.len() >= 6, "{rows:#?}");
    assert!(rows.iter().all(|row| row["median_s"].as_f64().unwrap() > 0.0));
    assert_eq!(found["claims"].as_array().unwrap().len(), 8);
    assert_eq!(found["caches_dropped"], root());
    let kind = found["file_system"]["kind"].as_str().unwrap();
    let why_not = found["file_system"]["why_not"].as_array().unwrap();
    assert!(kind != "plain" || !why_not.is_empty());
    let placed = found["placed"].as_array().unwrap();
    assert_eq!(placed.len(), rows.len());
    for it in placed {
        assert!(it["report"]["wall_s"].as_f64().unwrap() > 0.0);
        let cpus = it["cpus"].as_array().unwrap();
        if it["report"]["level"] == "full" {
            let wall = it["wall_s"].as_f64().unwrap();
            let first: f64 = cpus
                .iter()
                .filter(|row| row["cpu"] == cpus[0]["cpu"])
                .map(|row| row["seconds"].as_f64().unwrap())
                .sum();
            assert!(first <= wall * 1.2 + 0.05, "a CPU has more time than there was: {first} of {wall}");
            assert!(
                cpus.iter().any(|row| row["who"] == "awk" || row["who"] == "mawk" || row["who"] == "gawk"),
                "{cpus:#?}"
            );
        }
    }
    for name in ["file", "cat"] {
        let graph =
            placed.iter().find(|it| it["alternative"] == name).unwrap()["flamegraph"].as_str().unwrap();
        assert!(fs::read_to_string(graph).unwrap().contains("<svg"), "{graph}");
    }
    place.assert_clean();
    eventually("no image is left", || place.images().is_empty());
}
