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

#[test]
fn gates_hold_a_fleet_to_its_limits() {
    let place = Sandbox::new();
    let dear = |at: usize, _: &str, variant: &str| {
        if at == 17 && variant.contains("other_cpu") { 0.7 } else { 0.0 }
    };
    lists(&place, "lists", 1, "6.1", dear);
    let report = |condition: &str, more: &[&str]| {
        place.run(&[&["fleet", "report", "lists", "--fail-if", condition], more].concat())
    };
    let failed = report("outlier>20%", &[]);
    assert_eq!(failed.status.code(), Some(3), "{}", failed.err);
    assert!(failed.out.contains("24 machines"), "the report is printed all the same: {}", failed.out);
    let told = failed.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("gate: a machine is more than 20% off its group: 'node17' charges 2"), "{told}");
    assert_eq!(report("outlier>200%", &[]).ok().err, "");
    // So little that nobody can tell: it passes with a word, unless that was not wanted.
    let open = report("outlier>100%", &[]).ok();
    assert!(
        open.err.contains("gate: inconclusive: it is not decided whether a machine is more than 100% off"),
        "{}",
        open.err
    );
    assert_eq!(report("outlier>100%", &["--fail-on-inconclusive"]).status.code(), Some(4));
    // What failed goes before what is undecided, also with JSON.
    let both = report("outlier>100%", &["--fail-if", "outlier>20%", "--fail-on-inconclusive", "--json"]);
    assert_eq!(both.status.code(), Some(3));
    assert_eq!(
        list(&serde_json::from_str::<serde_json::Value>(&both.out).unwrap()["prices"]["outliers"]).len(),
        1
    );
    // Nobody answered a comparison.
    assert_eq!(report("not_faster>0", &["--fail-on-inconclusive"]).status.code(), Some(4));
    report("memory>5%", &[]).expect(2, &["'memory' is nothing that a fleet is held to"]);
    place.run(&["fleet", "report", "lists", "--fail-on-inconclusive"]).expect(2, &["--fail-if"]);

    lists(&place, "after", 2, "6.12", |at, group, variant| {
        dear(at, group, variant) + if group == "process" { 0.3 } else { 0.0 }
    });
    let diff = |condition: &str| place.run(&["fleet", "diff", "lists", "after", "--fail-if", condition]);
    let rose = diff("price>10%");
    assert_eq!(rose.status.code(), Some(3), "{}", rose.err);
    assert!(
        rose.err.contains("gate: a price rose by more than 10%: row") && rose.err.contains("/reaped is 1.3"),
        "{}",
        rose.err
    );
    assert_eq!(diff("price>60%").ok().err, "");
    diff("price>").expect(2, &["no limit"]);
}

#[test]
fn gates_hold_comparisons_to_every_machine() {
    let place = Sandbox::new();
    for at in 0..6 {
        write(&place, &format!("won/node{at}/run.json"), &comparison(CPUS[at % 2], 0.05));
        write(&place, &format!("mixed/node{at}/run.json"), &comparison(CPUS[at % 2], [0.05, 5.0][at % 2]));
    }
    let status = |runs: &str, condition: &str| {
        let ran = place.run(&["fleet", "report", runs, "--fail-if", condition, "--fail-on-inconclusive"]);
        (ran.status.code(), ran.err)
    };
    for condition in ["not_faster>0", "time_wall_clock>0%", "time_wall_clock>-5%", "slower>0", "combined>0%"]
    {
        assert_eq!(status("won", condition), (Some(0), String::new()), "{condition}");
    }
    for (condition, says) in [
        ("not_faster>0", ", on 3 of 6"),
        ("slower>40%", "an alternative is slower on more than 40% of the machines"),
        ("time_wall_clock>5%", "the time on 'node1'"),
    ] {
        let (status, err) = status("mixed", condition);
        assert!(status == Some(3) && err.contains(says), "{condition}: {status:?} {err}");
    }
    assert_eq!(status("mixed", "slower>50%").0, Some(0));
}
