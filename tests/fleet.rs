//! `fleet` on simulated fleets: records as machines write them, with groups and broken machines planted. From the files on, all is real.

mod support;

use std::fs;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use support::fleets::{CPUS, comparison, lists, normal, price_list, write};
use support::{Sandbox, list, number};

#[test]
fn a_fleet_is_cut_by_its_cpus_and_the_broken_machine_is_named() {
    let place = Sandbox::new();
    lists(
        &place,
        "lists",
        1,
        "6.1",
        |at, _, variant| if at == 17 && variant.contains("other_cpu") { 0.7 } else { 0.0 },
    );
    let report = place.run(&["fleet", "report", "lists", "--json"]).json();
    let prices = &report["prices"];
    assert_eq!(prices["splits"][0]["fact"], "cpu", "{:#}", prices["splits"]);
    assert_eq!(list(&prices["groups"]).len(), 2);
    let named: Vec<&str> =
        list(&prices["outliers"]).iter().map(|it| it["machine"].as_str().unwrap()).collect();
    assert_eq!(named, ["node17"], "{:#}", prices["outliers"]);
    let broken = &prices["outliers"][0];
    assert_eq!(broken["pattern"]["kind"], "other_cpu", "{broken:#}");
    assert!((number(&broken["factor"]).ln() - 0.7).abs() < 0.1, "{broken:#}");
    let screen = place.run(&["fleet", "report", "lists"]).ok();
    assert!(
        screen.out.lines().count() <= 40 && screen.out.lines().all(|line| line.chars().count() <= 80),
        "{}",
        screen.out
    );
    let flowing = screen.flowing();
    for part in ["24 machines", "CPU (", "node17 stands out", "everything that reaches another CPU"] {
        assert!(flowing.contains(part), "no '{part}': {flowing}");
    }
}

#[test]
fn a_comparison_that_flips_by_cpu_names_the_cpu() {
    let place = Sandbox::new();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for at in 0..12 {
        let factor = [0.05, 5.0][at % 2] * (0.03 * normal(&mut rng)).exp();
        write(&place, &format!("runs/node{at}/run.json"), &comparison(CPUS[at % 2], factor));
    }
    let report = place.run(&["fleet", "report", "runs", "--json"]).json();
    let alone = &report["comparisons"][0];
    assert_eq!((&alone["load"], list(&alone["machines"]).len()), (&1.into(), 12), "{alone:#}");
    assert_eq!(alone["machines"][0]["machine"], "node0");
    assert_eq!(alone["splits"][0]["fact"], "cpu", "{:#}", alone["splits"]);
    let groups = list(&alone["groups"]);
    let sides = |side: &str| groups.iter().map(|it| number(&it[side])).collect::<Vec<_>>();
    assert_eq!((sides("faster"), sides("slower")), (vec![6.0, 0.0], vec![0.0, 6.0]), "{groups:#?}");
    assert!(number(&alone["combined"]["heterogeneity"]) > 0.9);
    let flowing = place.run(&["fleet", "report", "runs"]).ok().flowing();
    assert!(
        flowing.contains("on 12 machines: faster on 6, slower on 6; what separates them is CPU ("),
        "{flowing}"
    );
}

#[test]
fn what_an_update_changed_is_told_and_nothing_else() {
    let place = Sandbox::new();
    lists(&place, "before", 1, "6.1", |_, _, _| 0.0);
    lists(&place, "after", 2, "6.12", |_, group, _| if group == "process" { 0.3 } else { 0.0 });
    fs::remove_file(place.file("before/node3.json")).unwrap();
    let diff = place.run(&["fleet", "diff", "before", "after", "--json"]).json();
    assert_eq!((list(&diff["machines"]).len(), &diff["only_after"]), (23, &json!(["node3"])));
    assert_eq!((&diff["facts"][0]["first"], &diff["facts"][0]["second"]), (&"6.1".into(), &"6.12".into()));
    let changed: Vec<&str> = list(&diff["rows"])
        .iter()
        .filter(|it| it["changed"] == true)
        .map(|it| it["group"].as_str().unwrap())
        .collect();
    assert_eq!(changed, ["process"; 10], "{:#}", diff["rows"]);
    let flowing = place.run(&["fleet", "diff", "before", "after"]).ok().flowing();
    assert!(
        flowing.contains("kernel 6.1 to 6.12 on 23") && flowing.contains("10 of 40 prices changed"),
        "{flowing}"
    );
    // Machines that were cloned have one name, and are told apart by their files.
    for (directory, kernel) in [("cloned", "6.1"), ("updated", "6.12")] {
        for at in 0..3 {
            let list = price_list("debian", CPUS[0], kernel, |_, _| 0.0);
            write(&place, &format!("{directory}/node{at}.json"), &list);
        }
    }
    let cloned = place.run(&["fleet", "diff", "cloned", "updated", "--json"]).json();
    assert_eq!(cloned["machines"], json!(["node0", "node1", "node2"]));
    // The same state twice: nothing changed.
    let same = place.run(&["fleet", "diff", "before", "before"]).ok().flowing();
    assert!(same.contains("0 of 40 prices changed"), "{same}");
}

#[test]
fn what_cannot_be_used_is_named_and_holds_nothing_up() {
    let place = Sandbox::new();
    lists(&place, "lists", 1, "6.1", |_, _, _| 0.0);
    place.write("lists/broken.json", "{\"schema\": \"whyfaster-prices/1\", \"pri");
    place.write("lists/notes.txt", "none of ours");
    let ran = place.run(&["fleet", "report", "lists"]).ok();
    assert!(
        ran.err.contains("left out 'lists/broken.json'") && ran.out.contains("24 machines"),
        "{}{}",
        ran.err,
        ran.out
    );
    assert!(!ran.err.contains("notes.txt"), "{}", ran.err);
    write(&place, "one/node0.json", &price_list("node0", CPUS[0], "6.1", |_, _| 0.0));
    place.run(&["fleet", "report", "one"]).expect_error(1, &["one machine is no fleet"]);
    place.run(&["fleet", "report", "nowhere"]).expect_error(1, &["'nowhere'"]);
    write(&place, "other/x.json", &price_list("x", CPUS[0], "6.1", |_, _| 0.0));
    place.run(&["fleet", "diff", "one", "other"]).expect_error(1, &["no machine is both in 'one' (node0)"]);
    place.run(&["fleet", "diff", "one", "empty"]).expect_error(1, &["'empty'"]);
}
