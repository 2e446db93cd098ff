//! `fleet` on simulated fleets: records as machines write them, with groups and broken machines planted. From the files on, all is real.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::support::fleets::{CPUS, comparison, lists, normal, price_list, write};
use crate::support::{Sandbox, list, number};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Row, RowAccessor};
use rand::SeedableRng;
use serde_json::json;
use whyfaster_stats::random::Random;

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
    let mut rng = Random::seed_from_u64(5);
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
    place.run(&["compare", "-N", "--runs=2", "--why=no", "--record=alone.json", "true"]).ok();
    fs::create_dir(place.path("bare")).unwrap();
    for (named, hold) in [
        (&["alone.json"][..], "'alone.json' holds"),
        (&["bare", "alone.json"], "'bare' and what else is named"),
    ] {
        let ran = place.run(&[&["fleet", "report"], named].concat());
        ran.expect_error(1, &[hold, "neither prices nor a comparison of two", "-- A B"]);
    }
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

/// A gate is for scripts, which may look at a part of the report only.
#[test]
fn a_reader_that_leaves_does_not_undo_a_gate() {
    let place = Sandbox::new();
    lists(&place, "lists", 1, "6.1", |at, _, _| if at == 17 { 0.7 } else { 0.0 });
    let gate = "\"$whyfaster\" fleet report lists --fail-if 'outlier>20%'";
    place.shell(&format!("{{ sleep 0.1; {gate}; echo $? > status; }} | true; cat status")).expect(0, &[]);
    assert_eq!(fs::read_to_string(place.path("status")).unwrap(), "3\n");
}

#[test]
fn a_machine_with_many_rows_of_its_own_hides_no_other() {
    let place = Sandbox::new();
    lists(&place, "lists", 1, "6.1", |at, _, _| if at == 17 { 0.7 } else { 0.0 });
    let mut wide: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(place.path("lists/node3.json")).unwrap()).unwrap();
    let prices = wide["prices"].as_array_mut().unwrap();
    for at in 0..60 {
        let mut price = prices[0].clone();
        price["variant"] = format!("cpus=0-{at}").into();
        prices.push(price);
    }
    write(&place, "lists/node3.json", &wide);
    let report = place.run(&["fleet", "report", "lists", "--json"]).json();
    assert_eq!(report["prices"]["outliers"][0]["machine"], "node17", "{:#}", report["prices"]["outliers"]);
    assert_eq!(report["prices"]["outliers"][0]["pattern"]["kind"], "everything");
    place.run(&["fleet", "report", "lists", "--fail-if", "outlier>20%"]).expect(3, &["'node17'"]);
}

#[test]
fn names_that_come_twice_or_are_no_text_hold_nothing_up() {
    let place = Sandbox::new();
    for (day, at) in [("mon", 1), ("mon", 2), ("tue", 1), ("tue", 2)] {
        write(&place, &format!("{day}/node{at}.json"), &comparison(CPUS[0], 0.05));
    }
    let name = std::ffi::OsStr::from_bytes(b"n\xe9.json");
    fs::write(place.path("mon").join(name), "{").unwrap();
    let report = place.run(&["fleet", "report", "mon", "tue", "--json"]).json();
    let machines: Vec<&str> = list(&report["comparisons"][0]["machines"])
        .iter()
        .map(|it| it["machine"].as_str().unwrap())
        .collect();
    assert_eq!(machines, ["node1", "node2", "node1 (2)", "node2 (2)"]);
    assert_eq!(report["not_read"][0]["file"], "mon/n\u{fffd}.json");
}

/// A metric of a text file.
#[derive(Debug)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

/// Reads the text format of Prometheus as its documentation has it, and no more: lines of a metric stand together behind HELP and TYPE, no
/// line comes twice.
fn exposed(text: &str) -> Vec<Sample> {
    assert!(text.ends_with('\n'));
    let (mut samples, mut typed, mut seen) = (Vec::new(), Vec::<String>::new(), BTreeSet::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            assert!(rest.split_once(' ').is_some_and(|(_, help)| !help.is_empty()), "{line}");
            continue;
        }
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a name and a type");
            assert!(kind == "gauge" && !typed.contains(&name.to_owned()), "{line}");
            typed.push(name.to_owned());
            continue;
        }
        let (name, rest) = line.split_once('{').unwrap_or_else(|| panic!("no labels: {line}"));
        assert!(name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_'), "{line}");
        assert_eq!(typed.last().map(String::as_str), Some(name), "its lines stand together");
        let mut labels = BTreeMap::new();
        let mut left = rest;
        loop {
            let (label, value) = left.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
            assert!(label.bytes().all(|c| c.is_ascii_lowercase() || c == b'_'), "{line}");
            let (mut text, mut at) = (String::new(), value.char_indices());
            let end = loop {
                match at.next().expect("a value ends") {
                    (end, '"') => break end,
                    (_, '\\') => text.push(match at.next().expect("a value ends").1 {
                        'n' => '\n',
                        c @ ('"' | '\\') => c,
                        c => panic!("\\{c}: {line}"),
                    }),
                    (_, c) => text.push(c),
                }
            };
            assert!(labels.insert(label.to_owned(), text).is_none(), "{line}");
            match &value[end + 1..] {
                more if more.starts_with(',') => left = &more[1..],
                more => {
                    let value = more
                        .strip_prefix("} ")
                        .unwrap_or_else(|| panic!("{line}"))
                        .parse()
                        .expect("a number");
                    assert!(seen.insert((name.to_owned(), labels.clone())), "twice: {line}");
                    samples.push(Sample { name: name.to_owned(), labels, value });
                    break;
                }
            }
        }
    }
    samples
}

/// The text files of a directory by their names.
fn files_in(place: &Sandbox, directory: &str) -> BTreeMap<String, Vec<Sample>> {
    let files = fs::read_dir(place.file(directory)).expect("a directory").map(|it| it.expect("a file"));
    let read = |it: fs::DirEntry| {
        (
            it.file_name().into_string().expect("a safe name"),
            exposed(&fs::read_to_string(it.path()).expect("text")),
        )
    };
    files.map(read).collect()
}

#[test]
fn every_machine_has_its_text_file_for_prometheus() {
    let place = Sandbox::new();
    let dear = |at: usize, _: &str, variant: &str| {
        if at == 17 && variant.contains("other_cpu") { 0.7 } else { 0.0 }
    };
    lists(&place, "lists", 1, "6.1", dear);
    for (at, cpu) in CPUS.iter().enumerate() {
        write(&place, &format!("runs/node{at}/run.json"), &comparison(cpu, 0.05));
    }
    place.run(&["fleet", "report", "lists", "runs", "-q", "--export-prometheus", "metrics"]).ok();
    let files = files_in(&place, "metrics");
    assert_eq!(files.len(), 24);
    let of = |machine: &str, name: &str| -> Vec<f64> {
        let all = &files[&format!("whyfaster_{machine}.prom")];
        assert!(all.iter().all(|it| it.labels["machine"] == machine));
        all.iter().filter(|it| it.name == name).map(|it| it.value).collect()
    };
    assert_eq!(of("node17", "whyfaster_price_seconds").len(), 40);
    assert!(of("node4", "whyfaster_price_seconds").iter().all(|it| (0.7e-6..1.3e-6).contains(it)), "seconds");
    assert_eq!(
        (of("node17", "whyfaster_machine_stands_out"), of("node4", "whyfaster_machine_stands_out")),
        (vec![1.0], vec![0.0])
    );
    assert!(of("node17", "whyfaster_price_over_group_ratio").iter().any(|it| (1.8..2.3).contains(it)));
    assert!(of("node0", "whyfaster_comparison_ratio").iter().all(|it| *it < 0.5));
    assert!(
        !of("node0", "whyfaster_comparison_verdict").is_empty()
            && of("node5", "whyfaster_comparison_verdict").is_empty()
    );
    // Of a diff, what became of each machine; what is there is replaced.
    lists(&place, "after", 2, "6.12", |at, group, variant| {
        dear(at, group, variant) + if group == "process" { 0.3 } else { 0.0 }
    });
    place.run(&["fleet", "diff", "lists", "after", "-q", "--export-prometheus", "metrics"]).ok();
    let files = files_in(&place, "metrics");
    let changes = &files["whyfaster_node3.prom"];
    assert_eq!((files.len(), changes.len()), (24, 40));
    assert!(
        changes.iter().filter(|it| it.labels["group"] == "process").all(|it| (1.15..1.6).contains(&it.value))
    );
    place
        .run(&["fleet", "report", "lists", "--export-prometheus", "no/where"])
        .expect_error(1, &["cannot write 'no/where'"]);
    place
        .run(&["fleet", "report", "lists", "--export-prometheus", "lists/node0.json"])
        .expect_error(1, &["cannot write 'lists/node0.json"]);
}

#[test]
fn names_that_want_to_do_harm_stay_names() {
    const HOSTILE: [&str; 6] = [
        "../../up",
        "a\"} 1\nevil{x=\"",
        "<script>alert(1)</script>",
        "\u{1b}[31mred",
        "=1+1",
        "back\\slash",
    ];
    let place = Sandbox::new();
    for (at, name) in HOSTILE.iter().enumerate() {
        write(
            &place,
            &format!("lists/{at}.json"),
            &price_list(name, CPUS[0], "6.1\u{1b}]0;x\u{7}<img>", |_, _| 0.0),
        );
    }
    let all = ["--export-prometheus", "metrics", "--export-csv", "prices.csv", "--html", "page.html"];
    let ran = place.run(&[["fleet", "report", "lists", "-v"].as_slice(), &all].concat()).ok();
    assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'), "{}", ran.out);
    let files = files_in(&place, "metrics");
    let found: BTreeSet<&str> = files.values().flatten().map(|it| it.labels["machine"].as_str()).collect();
    assert_eq!(found, BTreeSet::from(HOSTILE), "the labels are the names themselves");
    assert!(files.len() == HOSTILE.len() && !Path::new(&place.file("up")).exists());
    let page = fs::read_to_string(place.file("page.html")).unwrap();
    assert!(!page.contains("<script>alert") && !page.contains("<img>") && !page.contains('\u{1b}'));
    let mut reader = csv::Reader::from_path(place.file("prices.csv")).unwrap();
    let machines: BTreeSet<String> = reader.records().map(|it| it.unwrap()[0].to_owned()).collect();
    assert_eq!(machines.len(), HOSTILE.len());
}

#[test]
fn a_list_that_bears_the_name_of_another_machine_takes_nobody_s_place() {
    let place = Sandbox::new();
    lists(&place, "lists", 1, "6.1", |_, _, _| 0.0);
    // It says that it is node3, which charges as its group does, and is far off.
    write(&place, "lists/liar.json", &price_list("node3", CPUS[1], "6.1", |_, _| 1.5));
    let report = place.run(&["fleet", "report", "lists", "--json"]).json();
    let machines: Vec<&str> =
        list(&report["prices"]["machines"]).iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(machines.len(), 25);
    assert!(machines.contains(&"liar") && machines.contains(&"node3"), "{machines:?}");
    let named: Vec<&str> =
        list(&report["prices"]["outliers"]).iter().map(|it| it["machine"].as_str().unwrap()).collect();
    assert_eq!(named, ["liar"]);
}

#[test]
fn tables_and_pages_are_written_beside_the_report() {
    let place = Sandbox::new();
    lists(
        &place,
        "lists",
        1,
        "6.1",
        |at, _, variant| if at == 17 && variant.contains("other_cpu") { 0.7 } else { 0.0 },
    );
    for at in 0..6 {
        write(&place, &format!("runs/node{at}/run.json"), &comparison(CPUS[at % 2], [0.05, 5.0][at % 2]));
    }
    let all = ["--export-csv", "prices.csv", "--export-comparisons-csv", "ratios.csv", "--html", "page.html"];
    let ran = place.run(&[["fleet", "report", "lists", "runs"].as_slice(), &all].concat()).ok();
    assert!(ran.out.contains("node17 stands out"), "{}", ran.out);
    let records = |file: &str| -> Vec<BTreeMap<String, String>> {
        csv::Reader::from_path(place.file(file)).unwrap().deserialize().map(|it| it.unwrap()).collect()
    };
    let prices = records("prices.csv");
    assert_eq!(prices.len(), 24 * 40);
    let out: Vec<_> = prices.iter().filter(|it| it["stands_out"] == "true").collect();
    assert!(
        out.len() > 5
            && out.iter().all(|it| it["machine"] == "node17" && it["variant"].contains("other_cpu"))
    );
    let ratios = records("ratios.csv");
    assert!(
        ratios.len() >= 6
            && ratios.iter().all(|it| it["machines_like_it"]
                .contains(it["machine"][4..].parse::<usize>().map(|at| CPUS[at % 2]).unwrap()))
    );
    let page = fs::read_to_string(place.file("page.html")).unwrap();
    for part in [
        "Content-Security-Policy",
        "node17 charges",
        "id=\"outliers\"",
        "class=\"stray\"",
        "class=\"together\"",
        "What separates the machines is",
    ] {
        assert!(page.contains(part), "the page lacks {part}");
    }
    // To standard output behind the report; not behind JSON.
    let both = place.run(&["fleet", "report", "lists", "--style", "none", "--export-csv", "-"]).ok();
    assert!(both.out.starts_with("machine,machines_like_it,group"), "{}", both.out);
    place.run(&["fleet", "report", "lists", "--json", "--export-csv", "-"]).expect_error(2, &["--json"]);
    place
        .run(&["fleet", "report", "lists", "--export-csv", "x", "--html", "x"])
        .expect_error(2, &["same file 'x'"]);
    place
        .run(&["fleet", "report", "lists", "--export-csv", "no/file.csv"])
        .expect_error(1, &["cannot write 'no/file.csv'"]);
    place
        .run(&["fleet", "report", "lists", "--export-comparisons-csv", "x.csv"])
        .expect_error(1, &["no comparisons"]);
    // A reader who goes away costs no file.
    place.run(&["fleet", "diff", "lists", "lists", "--export-csv", "diff.csv", "--html", "diff.html"]).ok();
    assert_eq!(records("diff.csv").iter().filter(|it| it["changed"] == "false").count(), 40);
    assert!(fs::read_to_string(place.file("diff.html")).unwrap().contains("No price changed."));
}

#[test]
fn the_tables_of_parquet_say_with_types_what_those_of_csv_say() {
    let place = Sandbox::new();
    lists(&place, "lists", 1, "6.1", |at, _, _| if at == 17 { 0.7 } else { 0.0 });
    for at in 0..6 {
        write(&place, &format!("runs/node{at}/run.json"), &comparison(CPUS[at % 2], 2.0));
    }
    let lines = |file: &str| -> Vec<BTreeMap<String, String>> {
        csv::Reader::from_path(place.file(file)).unwrap().deserialize().map(|it| it.unwrap()).collect()
    };
    let typed = |file: &str| -> Vec<Row> {
        let reader = SerializedFileReader::new(File::open(place.path(file)).unwrap()).unwrap();
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect()
    };
    let files = ["--export-csv=p.csv", "--export-parquet=p", "--export-comparisons-csv=c.csv"];
    let report = ["fleet", "report", "lists", "runs", "--export-comparisons-parquet=c"];
    place.run(&[&report[..], &files].concat()).ok();
    // An update that tells the two kinds of CPU apart.
    lists(&place, "after", 2, "6.2", |at, _, _| if at % 2 == 0 { 0.3 } else { 0.0 });
    place.run(&["fleet", "diff", "lists", "after", "--export-csv=d.csv", "--export-parquet=d"]).ok();
    let (rows, prices) = (typed("p"), lines("p.csv"));
    let same = |(row, line): (&Row, &BTreeMap<String, String>)| {
        row.get_string(0).unwrap() == &line["machine"]
            && row.get_double(5).unwrap() == line["price_ns"].parse::<f64>().unwrap()
            && row.get_bool(7).unwrap() == (line["stands_out"] == "true")
    };
    assert!(prices.len() == 24 * 40 && rows.len() == prices.len() && rows.iter().zip(&prices).all(same));
    assert!(prices.iter().any(|line| line["stands_out"] == "true"));
    let (rows, ratios) = (typed("c"), lines("c.csv"));
    let same = |(row, line): (&Row, &BTreeMap<String, String>)| {
        row.get_long(4).unwrap().to_string() == line["load"]
            && row.get_string(10).unwrap() == &line["verdict"]
    };
    assert!(ratios.len() >= 6 && rows.len() == ratios.len() && rows.iter().zip(&ratios).all(same));
    // What is not known: a group of machines has no interval of its own.
    let (rows, changes) = (typed("d"), lines("d.csv"));
    assert_eq!(rows.len(), changes.len());
    let unknown = rows.iter().zip(&changes).filter(|(row, _)| row.get_double(5).is_err());
    assert!(unknown.clone().count() > 0 && unknown.clone().all(|(_, line)| line["low"].is_empty()));
    place
        .run(&["fleet", "report", "lists", "--export-parquet", "-"])
        .expect(2, &["--export-parquet", "name a file"]);
}
