//! The store, a file and a server alike: records in and out, several writers, writers that are killed, full disks, records and files that are
//! not what they seem.

#![allow(clippy::unwrap_used, reason = "functions of tests, which end by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use crate::support::fleets::{CPUS, comparison, lists, price_list, write};
use crate::support::needs::mounts;
use crate::support::skip::needs;
use crate::support::stores::Store;
use crate::support::user::run_without_privileges;
use crate::support::{Sandbox, list, number};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Hands every test of the store to a macro, which gives it a store of one kind: a file here, a real server in `store_server`.
macro_rules! tests_of_the_store {
    ($each:ident) => {
        $each!(
            a_report_from_the_store_is_the_report_from_the_files,
            a_machine_that_was_not_measured_again_has_not_stayed_as_it_was,
            questions_that_nobody_answered_do_not_count,
            copies_that_come_in_another_way_are_another_question,
            many_questions_are_counted_as_each_of_them_is_answered,
            reports_choose_by_label_time_and_machine,
            what_is_measured_can_be_saved_at_once,
            a_number_is_given_once,
            clones_of_one_name_are_told_apart_by_what_their_records_say,
            collectors_at_once_lose_nothing_and_count_nothing_twice,
            a_collector_that_is_killed_leaves_whole_records_and_the_rest_can_be_added,
            what_is_no_record_or_lies_is_named_and_does_no_harm,
            what_is_no_store_of_this_version_is_left_alone,
            a_row_that_unpacks_without_end_is_refused,
        );
    };
}
pub(crate) use tests_of_the_store;

macro_rules! on_a_file {
    ($($test:ident),* $(,)?) => {
        mod file {
            $(#[test] fn $test() { super::$test(&super::Store::file()); })*
        }
    };
}

tests_of_the_store!(on_a_file);

pub(crate) fn a_report_from_the_store_is_the_report_from_the_files(place: &Store) {
    lists(place, "lists", 1, "6.1", |at, _, _| if at == 5 { 0.7 } else { 0.0 });
    for at in 0..6 {
        let record = comparison(CPUS[at % 2], [0.2, 5.0][at % 2] + at as f64 / 100.0);
        write(place, &format!("runs/node{at}.json"), &record);
    }
    let added = place.run(&["store", "add", "lists", "runs"]).ok().out;
    assert!(added.starts_with("added 30 records to '"), "{added}");
    let files = place.run(&["fleet", "report", "lists", "runs", "--json"]).json();
    let store = place.run(&["fleet", "report", "--json"]).json();
    assert_eq!(store["comparisons"], files["comparisons"]);
    assert_eq!(store["prices"], files["prices"]);
    // Again, from another file and written in another way: the same records.
    let pretty = serde_json::to_string_pretty(&place.json("lists/node0.json")).unwrap();
    place.write("pretty.json", pretty);
    let again = place.run(&["store", "add", "lists", "runs", "pretty.json"]).ok().out;
    assert!(again.contains("added 0 records") && again.contains("31 were there already"), "{again}");
    assert_eq!(place.listed(&[]).len(), 30);
    // Whole, as it was added.
    let node0 = &place.listed(&["--host", "node0"])[0];
    let document = place.run(&["store", "get", &node0["id"].to_string()]).ok().out;
    assert_eq!(document, place.read("lists/node0.json"));
    // What is there is removed, whatever is named before it.
    place.run(&["store", "remove", "4711", &node0["id"].to_string()]).expect_error(1, &["no record 4711"]);
    assert_eq!(place.listed(&[]).len(), 29);
    let report = place.run(&["fleet", "report"]).ok().flowing();
    assert!(report.contains("23 machines"), "{report}");
    place.run(&["store", "remove", "4711"]).expect_error(1, &["no record 4711", "store list"]);
}

pub(crate) fn a_machine_that_was_not_measured_again_has_not_stayed_as_it_was(place: &Store) {
    lists(place, "before", 1, "6.1", |_, _, _| 0.0);
    lists(place, "after", 1, "6.12", |_, _, _| 0.3);
    for at in 0..24 {
        let file = format!("after/node{at}.json");
        let mut list = place.json(&file);
        list["started"] = "2026-11-24T00:00:00Z".into();
        // One was set up anew: its name is the same.
        if at == 7 {
            list["fingerprint"]["machine_id"] = "723456789abcdef0".into();
            list["fingerprint"]["host_name"] = "node7".into();
        }
        place.write(&file, list.to_string());
    }
    place.run(&["store", "add", "before"]).ok();
    for at in 0..10 {
        place.run(&["store", "add", "--label", "after", &format!("after/node{at}.json")]).ok();
    }
    let diff =
        place.run(&["fleet", "diff", "--store", &place.address, "2026-11-24", "2026-11-25", "--json"]).json();
    assert_eq!((list(&diff["machines"]).len(), list(&diff["only_before"]).len()), (10, 14), "{diff:#}");
    assert!(
        list(&diff["rows"]).iter().all(|row| row["changed"] == true && row["machines"] == 10),
        "{diff:#}"
    );
    place
        .run(&["fleet", "diff", "--store", &place.address, "2026-11-24", "2026-11-24", "--json"])
        .expect_error(1, &["not one of the first state as well", "store list"]);
}

pub(crate) fn questions_that_nobody_answered_do_not_count(place: &Store) {
    for (label, files) in [("old", 0..2), ("new", 2..4)] {
        for at in files {
            let record = comparison(CPUS[at % 2], [0.2, 5.0][at % 2] + at as f64 / 100.0);
            write(place, &format!("{label}/node{at}.json"), &record);
        }
        place.run(&["store", "add", "--label", label, "--name-by-file", label]).ok();
    }
    let asked = |more: &[&str]| {
        let report = place.run(&[&["fleet", "report", "--json"], more].concat()).json();
        list(&report["comparisons"]).iter().map(|it| list(&it["machines"]).len()).collect::<Vec<_>>()
    };
    let (all, new) = (asked(&[]), asked(&["--label", "new"]));
    assert!(!all.is_empty() && all.iter().all(|it| *it == 4), "{all:?}");
    assert_eq!(new, vec![2; all.len()]);
    for record in place.listed(&[]) {
        place.run(&["store", "remove", &record["id"].to_string()]).ok();
    }
    place.run(&["fleet", "report"]).expect_error(1, &["the store holds neither"]);
}

pub(crate) fn many_questions_are_counted_as_each_of_them_is_answered(place: &Store) {
    let asked = |at: usize, number: usize, factor: f64| {
        let mut record = comparison(CPUS[at % 2], factor);
        record["host"]["before"]["host_name"] = format!("node{at}").into();
        record["plan"]["alternatives"][1]["command"] = format!("number {number}").into();
        record
    };
    for number in 0..12 {
        for at in 0..4 {
            let factor = [0.2, 5.0][at % 2] + (12 * at + number) as f64 / 100.0;
            write(place, &format!("runs/{at}-{number}.json"), &asked(at, number, factor));
        }
        // Two machines were asked once more, and their answers are the other way round.
        for at in [0, 2] {
            let mut later = asked(at, number, 5.0 + (12 * at + number) as f64 / 100.0);
            later["started"] = "2026-11-24T00:00:00Z".into();
            write(place, &format!("later/{at}-{number}.json"), &later);
        }
    }
    place.run(&["store", "add", "--label", "later", "later"]).ok();
    // Of this label others were added in between.
    for (at, label) in ["torn", "other", "torn", "other"].into_iter().enumerate() {
        let files: Vec<String> = (0..12).map(|number| format!("runs/{at}-{number}.json")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        place.run(&[&["store", "add", "--label", label], &files[..]].concat()).ok();
    }
    for chosen in [&[][..], &["--until", "2026-11-24"], &["--label", "later"], &["--label", "torn"]] {
        let report =
            |more: &[&str]| place.run(&[&["fleet", "report", "--json"], chosen, more].concat()).json();
        let counted = list(&report(&[])["counted"]).to_vec();
        assert!(counted.len() > 20, "{counted:#?}");
        for of in 0..12 {
            let command = format!("number {of}");
            let answered = report(&["--only", &command]);
            for alone in list(&answered["comparisons"]) {
                let same = |it: &&Value| it["command"] == alone["command"] && it["load"] == alone["load"];
                let it = counted.iter().find(same).unwrap();
                let machines = list(&alone["machines"]);
                assert_eq!(it["machines"], machines.len());
                // The sum of the same numbers in another order.
                for end in ["ratio", "low", "high", "between"] {
                    let [one, other] = [it, alone].map(|it| number(&it["combined"][end]));
                    assert!((one - other).abs() <= 1e-9 * one, "{end}: {it:#} {alone:#}");
                }
                for verdict in ["faster", "slower", "same", "undecided"] {
                    let count = machines.iter().filter(|it| it["verdict"] == verdict).count();
                    assert_eq!(it[verdict], count, "{verdict}: {it:#} {alone:#}");
                }
            }
        }
    }
}

pub(crate) fn copies_that_come_in_another_way_are_another_question(place: &Store) {
    let rates = ["--rate=20", "--rate=62.5"].map(|rate| ["--mode=open", "--duration=300ms", rate]);
    let modes = [&[][..], &["--mode=closed", "--duration=300ms"], &rates[0], &rates[1]];
    for mode in modes {
        let compare =
            ["compare", "-N", "--why=no", "--no-keep", "--runs=2", "--record=run.json", "true", "/bin/true"];
        place.run(&[&compare, mode].concat()).ok();
        for (node, day) in [("a", 1), ("b", 2)] {
            let mut record = place.json("run.json");
            record["host"]["before"]["host_name"] = node.into();
            record["started"] = format!("2026-11-0{day}T00:00:00Z").into();
            write(place, &format!("{node}.json"), &record);
            place.run(&["store", "add", &format!("{node}.json")]).ok();
        }
    }
    let report = place.run(&["fleet", "report", "--json"]).json();
    let asked = list(&report["comparisons"]).iter().map(|it| it["arrivals"].clone()).collect::<Vec<_>>();
    let at = |starts: u32| json!({"kind": "open", "starts_per_1000_s": starts});
    let closed = json!({"kind": "closed"});
    assert_eq!(asked, [Value::Null, closed, at(20_000), at(62_500)], "{report:#}");
    let files = ["--export-comparisons-csv=c.csv", "--export-prometheus=."];
    let said = place.run(&[&["fleet", "report"], &files[..]].concat()).ok().flowing();
    let of_open = |line: &&String| line.ends_with(",open,20.0") || line.ends_with(",open,20");
    assert_eq!(place.lines("c.csv").iter().filter(of_open).count(), 2, "{:?}", place.lines("c.csv"));
    let metrics = place.read("whyfaster_a.prom");
    assert!(metrics.contains("mode=\"open\",starts_per_s=\"62.5\""), "{metrics}");
    assert!(said.contains("with 1 worker") && said.contains("at 62.5 starts a second"), "{said}");
}

pub(crate) fn reports_choose_by_label_time_and_machine(place: &Store) {
    lists(place, "before", 1, "6.1", |_, _, _| 0.0);
    lists(place, "after", 2, "6.12", |_, group, _| if group == "process" { 0.3 } else { 0.0 });
    for at in 0..24 {
        let file = format!("after/node{at}.json");
        let mut list = place.json(&file);
        list["started"] = "2026-11-24T00:00:00Z".into();
        place.write(&file, list.to_string());
    }
    place.run(&["store", "add", "--label", "before", "before"]).ok();
    place.run(&["store", "add", "--label", "after", "after"]).ok();
    let files = place.run(&["fleet", "diff", "before", "after", "--json"]).json();
    let mut store = Vec::new();
    for [before, after] in [["before", "after"], ["2026-11-24", "2026-11-25T12:00"]] {
        store.push(place.run(&["fleet", "diff", "--store", &place.address, before, after, "--json"]).json());
    }
    for store in store {
        assert_eq!((&store["rows"], &store["facts"]), (&files["rows"], &files["facts"]));
    }
    // Of every machine the latest counts, and once.
    let report =
        |more: &[&str]| place.run(&[&["fleet", "report", "--json"], more].concat()).json()["prices"].clone();
    let all = report(&[]);
    assert_eq!(list(&all["machines"]).len(), 24);
    assert_eq!(all["rows"], report(&["--since", "2026-11-24"])["rows"]);
    assert_eq!(report(&["--until", "2026-11-24"])["rows"], report(&["--label", "before"])["rows"]);
    assert_ne!(all["rows"], report(&["--label", "before"])["rows"]);
    let two = report(&["--host", "node3", "--host", "node4"]);
    assert_eq!(two["machines"], json!(["node3", "node4"]));
    place
        .run(&["fleet", "report", "--label", "x"])
        .expect_error(1, &["the store holds neither", "whyfaster store list"]);
    place.run(&["fleet", "diff", "monday", "after"]).expect_error(1, &["monday"]);
    place.run(&["store", "add", "--label", "2026-01-01", "before"]).expect(2, &["no date"]);
    place.run(&["fleet", "report", "before", "--label", "x"]).expect(2, &["cannot be used with"]);
    place.run(&["store", "list", "--since", "monday"]).expect(2, &["no date such as"]);
}

pub(crate) fn what_is_measured_can_be_saved_at_once(place: &Store) {
    let measured = ["compare", "--why=no", "-N", "-r", "2", "true", "echo", "--no-check-output"];
    let save = ["--save", "--label", "before", "--store", &place.address, "--no-keep"];
    place.run(&[&measured[..], &save].concat()).ok();
    let records = place.listed(&["--label", "before"]);
    assert_eq!((records.len(), &records[0]["kind"]), (1, &json!("comparison")), "{records:?}");
    assert_eq!(records[0]["host"], rustix::system::uname().nodename().to_str().unwrap());
    let record = place.run(&["store", "get", &records[0]["id"].to_string()]).ok().out;
    place.write("again.json", record);
    place.run(&["show", "again.json"]).ok();
}

pub(crate) fn a_number_is_given_once(place: &Store) {
    let numbers = || {
        let listed = place.run(&["store", "list", "--json"]).json();
        list(&listed["records"]).iter().map(|it| number(&it["id"])).collect::<Vec<_>>()
    };
    for (name, expected) in [("a", 1.0), ("b", 2.0)] {
        write(place, &format!("{name}.json"), &price_list(name, CPUS[0], "6.1", |_, _| 0.0));
        place.run(&["store", "add", &format!("{name}.json")]).ok();
        assert_eq!(numbers(), [expected]);
        place.run(&["store", "remove", &expected.to_string()]).ok();
    }
}

pub(crate) fn clones_of_one_name_are_told_apart_by_what_their_records_say(place: &Store) {
    for at in 0..4 {
        let mut list = price_list("debian", CPUS[0], "6.1", |_, _| f64::from(at) * 0.01);
        if at > 0 {
            list["fingerprint"]["machine_id"] = format!("{at}23456789abcdef0").into();
            list["fingerprint"]["host_name"] = "debian".into();
        }
        write(place, &format!("lists/node{at}.json"), &list);
    }
    place.run(&["store", "add", "lists"]).ok();
    let machines = |place: &Store| {
        let report = place.run(&["fleet", "report", "--json"]).json();
        let mut names: Vec<String> =
            list(&report["prices"]["machines"]).iter().map(Value::to_string).collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(machines(place), r#""debian (123456)" "debian (223456)" "debian (323456)" "debian""#);
    // The names that are shown are the names that choose.
    assert_eq!(place.listed(&["--host", "debian (223456)"]).len(), 1);
    assert_eq!(place.listed(&["--host", "debian"]).len(), 4);
    for record in place.listed(&[]) {
        place.run(&["store", "remove", &record["id"].to_string()]).ok();
    }
    place.run(&["store", "add", "--name-by-file", "lists"]).ok();
    assert_eq!(machines(place), r#""node0" "node1" "node2" "node3""#);
}

pub(crate) fn collectors_at_once_lose_nothing_and_count_nothing_twice(place: &Store) {
    lists(place, "one", 1, "6.1", |_, _, _| 0.0);
    lists(place, "two", 2, "6.1", |_, _, _| 0.0);
    // What both bring.
    fs::copy(place.path("one/node0.json"), place.path("two/same.json")).unwrap();
    let all: Vec<_> = ["one", "two", "two", "one"].map(|of| place.start(&["store", "add", of])).into();
    let said: Vec<String> = all.into_iter().map(|it| it.wait().ok().out).collect();
    let new = |text: &String| text.split(' ').nth(1).and_then(|n| n.parse::<usize>().ok()).unwrap();
    assert_eq!(said.iter().map(new).sum::<usize>(), 48, "{said:?}");
    assert_eq!(place.listed(&[]).len(), 48);
}

pub(crate) fn a_collector_that_is_killed_leaves_whole_records_and_the_rest_can_be_added(place: &Store) {
    for seed in 0..8 {
        lists(place, &format!("lists/{seed}"), seed, "6.1", |_, _, _| 0.0);
    }
    let store = place.path(&place.address);
    let mut seen = 0;
    // Each time later, until one comes to its end.
    for delay in [1u64, 5, 10, 20, 40, 80, 160] {
        let mut collector = place.start(&["store", "add", "lists"]);
        while place.server.is_none() && !store.exists() && collector.runs() {}
        thread::sleep(Duration::from_millis(delay));
        collector.signal(Signal::KILL);
        collector.wait();
        // Killed before the tables were made, there is no store yet.
        let ran = place.run(&["store", "list", "--json", "--last", "10000"]);
        if ran.code() != 0 {
            assert!(ran.err.contains("is no store") || ran.err.contains("no store at"), "{}", ran.err);
            continue;
        }
        let records = list(&ran.json()["records"]).to_vec();
        assert!(records.len() >= seen, "records went away: {} of {seen}", records.len());
        seen = records.len();
        for record in records.iter().step_by(17) {
            let document = place.run(&["store", "get", &record["id"].to_string()]).json();
            assert_eq!(list(&document["prices"]).len(), 40);
        }
    }
    place.run(&["store", "add", "lists"]).ok();
    assert_eq!(place.listed(&[]).len(), 8 * 24);
    place.run(&["fleet", "report"]).ok();
}

/// A store is made with its first record, and whether it could be is known before anything is measured.
#[test]
fn a_store_that_has_no_record_is_not_made() {
    let place = Sandbox::open();
    let save = |store: &'static str, command: &'static str| {
        ["compare", "--why=no", "-N", "-r", "2", command, "--no-keep", "--save", "--store", store]
    };
    place.run(&save("new/there/s.db", "false")).expect_error(5, &["'false' ended with exit code 1"]);
    assert!(!place.path("new").exists());
    place.run(&save("new/there/s.db", "true")).ok();
    assert!(place.path("new/there/s.db").exists());
    fs::create_dir(place.path("theirs")).unwrap();
    fs::set_permissions(place.path("theirs"), fs::Permissions::from_mode(0o555)).unwrap();
    let ran = run_without_privileges(&place, &save("theirs/of/s.db", "false"));
    ran.expect_error(1, &["cannot write '", "theirs/s.db'", "Permission denied"]);
    assert!(!ran.err.contains("'false'"), "{}", ran.err);
}

#[test]
fn who_may_not_write_beside_a_file_is_told_what_it_takes() {
    let place = Sandbox::open();
    fs::create_dir(place.path("theirs")).unwrap();
    write(&place, "run.json", &comparison(CPUS[0], 1.0));
    place.run(&["store", "add", "--store", "theirs/s.db", "run.json"]).ok();
    let may = |mode| fs::set_permissions(place.path("theirs"), fs::Permissions::from_mode(mode)).unwrap();
    may(0o555);
    for words in [["store", "list"], ["fleet", "report"]] {
        let ran = run_without_privileges(&place, &[&words[..], &["--store", "theirs/s.db"]].concat());
        ran.expect_error(1, &["log beside the file", "use a copy of the file"]);
    }
    may(0o755);
}

#[test]
fn a_full_disk_is_told_and_what_was_added_stays() {
    let place = Sandbox::new();
    needs!(mounts());
    for seed in 0..8 {
        lists(&place, &format!("lists/{seed}"), seed, "6.1", |_, _, _| 0.0);
    }
    let script = "mount -t tmpfs -o size=1200k none /mnt && \"$whyfaster\" store add --store /mnt/s.db lists; code=$?; \
                  \"$whyfaster\" store list --store /mnt/s.db --json --last 1000 > list.json; \
                  mount -o remount,size=64m /mnt && \"$whyfaster\" store add --store /mnt/s.db lists && exit $code";
    let ran = place.shell(&format!("exec unshare -m sh -c '{script}'"));
    ran.expect_error(1, &["/mnt/s.db", "is full", "were added", "is ever counted twice"]);
    let before = list(&place.json("list.json")["records"]).len();
    assert!((1..8 * 24).contains(&before), "{before}");
    let rest = format!("added {} records", 8 * 24 - before);
    assert!(ran.out.contains(&rest), "{before} before: {}", ran.out);
}

pub(crate) fn what_is_no_record_or_lies_is_named_and_does_no_harm(place: &Store) {
    lists(place, "lists", 1, "6.1", |_, _, _| 0.0);
    place.write("lists/broken.json", "{\"schema\": \"whyfaster-prices/1\", \"pri");
    let mut hostile = price_list("'); DROP TABLE record; --\u{1b}[31m\0", CPUS[0], "6.1", |_, _| 0.0);
    hostile["label"] = "x".into();
    write(place, "lists/hostile.json", &hostile);
    let mut negative = price_list("negative", CPUS[0], "6.1", |_, _| 0.0);
    negative["prices"][0]["median_ns"] = json!(-1.0);
    write(place, "lists/negative.json", &negative);
    // An index of a server does not take it.
    let mut long = price_list("long", CPUS[0], "6.1", |_, _| 0.0);
    long["prices"][0]["variant"] = "x".repeat(3_000).into();
    write(place, "lists/long.json", &long);
    for (file, started) in [("future", "2999-01-01T00:00:00Z"), ("never", "once upon a time")] {
        let mut list = price_list("node0", CPUS[0], "6.1", |_, _| 3.0);
        list["started"] = started.into();
        write(place, &format!("lists/{file}.json"), &list);
    }
    let ran = place.run(&["store", "add", "lists"]);
    ran.expect_error(
        1,
        &[
            "5 of 30 files",
            "left out 'lists/broken.json'",
            "'lists/negative.json'",
            "'lists/long.json'",
            "in the future",
            "once upon a time",
        ],
    );
    assert!(ran.out.contains("added 25 records"), "{}", ran.out);
    // A record that takes the name of another machine is another machine, as long as it does not take its id too.
    let mut liar = price_list("node1", CPUS[0], "6.1", |_, _| 3.0);
    liar["fingerprint"]["host_name"] = "node1".into();
    liar["fingerprint"]["machine_id"] = "0123456789abcdef".into();
    write(place, "liar.json", &liar);
    place.run(&["store", "add", "liar.json"]).ok();
    let ran = place.run(&["fleet", "report"]).ok();
    assert!(ran.flowing().contains("26 machines") && !ran.out.contains('\u{1b}'), "{}", ran.out);
    let listed = place.run(&["store", "list", "--last", "30"]).ok().out;
    assert!(listed.contains("DROP TAB") && !listed.contains('\u{1b}'), "{listed}");
}

pub(crate) fn what_is_no_store_of_this_version_is_left_alone(place: &Store) {
    lists(place, "lists", 1, "6.1", |_, _, _| 0.0);
    place.run(&["fleet", "report"]).expect_error(1, &["no store at", "store add"]);
    place.run(&["store", "add", "lists"]).ok();
    // As a later version leaves it.
    place.execute("UPDATE whyfaster_store SET version = 99");
    for verb in [&["store", "add", "lists"][..], &["store", "list", "--json"]] {
        place.run(verb).expect_error(1, &["newer whyfaster", "99", "update"]);
    }
}

/// A user who may write to a store can put a row into it whose unpacked data takes all memory.
pub(crate) fn a_row_that_unpacks_without_end_is_refused(place: &Store) {
    write(place, "run.json", &comparison(CPUS[0], 1.0));
    place.run(&["store", "add", "run.json"]).ok();
    let packed =
        place.shell("head -c 300000000 /dev/zero | gzip -1 | od -An -v -tx1 | tr -d ' \\n'").ok().out;
    match place.server {
        Some(_) => {
            place.execute("UPDATE document SET packed = ''");
            // A word of a command line holds no more.
            let parts = packed.as_bytes().chunks(100_000).map(|part| std::str::from_utf8(part).unwrap());
            parts.for_each(|part| {
                place.execute(&format!("UPDATE document SET packed = packed || '\\x{part}'::bytea"))
            });
        }
        None => place.execute(&format!("UPDATE document SET packed = x'{packed}'")),
    }
    let id = place.listed(&[])[0]["id"].to_string();
    place.run(&["store", "get", &id]).expect_error(1, &["is damaged: it is larger than 256 MiB"]);
}

/// SQLite runs the code in the schema of a file as soon as its tables are used.
#[test]
fn nothing_in_the_file_of_somebody_else_runs() {
    let place = Sandbox::new();
    write(&place, "run.json", &comparison(CPUS[0], 1.0));
    for (at, (statement, named)) in [
        ("CREATE TRIGGER spy AFTER INSERT ON record BEGIN DELETE FROM document; END", "trigger spy"),
        ("CREATE VIEW spy AS SELECT hex(zeroblob(1000)) AS x", "view spy"),
        (
            "PRAGMA writable_schema = ON; \
             INSERT INTO sqlite_schema VALUES ('table', 'spy', 'spy', 0, 'CREATE VIRTUAL TABLE spy USING fts5(x)')",
            "table spy",
        ),
        ("ALTER TABLE record ADD COLUMN spy TEXT AS (hex(zeroblob(1000)))", "computed column record.spy"),
    ]
    .into_iter()
    .enumerate()
    {
        let store = format!("{at}.db");
        place.run(&["store", "add", "--store", &store, "run.json"]).ok();
        rusqlite::Connection::open(place.path(&store)).unwrap().execute_batch(statement).unwrap();
        for verb in [&["store", "list"][..], &["store", "add", "run.json"], &["fleet", "report"]] {
            place.run(&[verb, &["--store", &store]].concat()).expect_error(1, &["what could run", named]);
        }
    }
}

/// Records hold command lines, so only its owner may read the default store, like the kept records. A named file may be shared.
#[test]
fn the_usual_store_is_its_owners_alone() {
    let place = Sandbox::new();
    write(&place, "run.json", &comparison(CPUS[0], 1.0));
    place.run(&["store", "add", "run.json"]).ok();
    place.run(&["store", "add", "run.json", "--store", "named/s.db"]).ok();
    let mode = |file: &str| fs::metadata(place.path(file)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("data/whyfaster"), mode("data/whyfaster/store.db")), (0o700, 0o600));
    assert_ne!((mode("named") & 0o044, mode("named/s.db") & 0o044), (0, 0));
}

#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let place = Sandbox::new();
    lists(&place, "lists", 1, "6.1", |_, _, _| 0.0);
    place.run(&["store", "list", "--store", "none.db"]).expect_error(1, &["no store at 'none.db'"]);
    assert!(!place.path("none.db").exists());
    place.write("text.db", "this is no database, but long enough to be taken for one: ".repeat(100));
    let before = fs::read(place.path("text.db")).unwrap();
    place.run(&["store", "add", "--store", "text.db", "lists"]).expect_error(1, &["'text.db' is no store"]);
    assert_eq!(fs::read(place.path("text.db")).unwrap(), before);
    // That it cannot be saved is told before anything runs.
    let ran = place.run(&["compare", "-N", "touch ran", "--save", "--store", "text.db"]);
    ran.expect_error(1, &["'text.db' is no store"]);
    assert!(!place.path("ran").exists());
    // One of somebody else.
    rusqlite::Connection::open(place.path("other.db")).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    place.run(&["store", "add", "--store", "other.db", "lists"]).expect_error(1, &["is no store"]);
    let ran = place.run(&["store", "add", "--store", "mysql://me:s3cr3t@x/y", "lists"]);
    ran.expect(2, &["'mysql'"]);
    assert!(!ran.err.contains("s3cr3t"), "{}", ran.err);
}
