//! Explanations end to end: planted causes far above any noise, as a user would compare them. The assertions are ratios,
//! and loose: the machine may be busy.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use crate::support::needs::{full, needs, tool};
use crate::support::{Sandbox, number, trace};
use serde_json::Value;

fn sum(rows: &Value) -> f64 {
    rows.as_array().unwrap().iter().map(|row| number(&row["seconds"])).sum()
}

/// The record of a comparison that is explained, and what was said on standard error.
fn explained(place: &Sandbox, options: &[&str], slow: &str, fast: &str) -> (Value, String) {
    let words = [&["compare", "--why", "--json", "--no-check-output"], options, &[slow, fast]].concat();
    let ran = place.undisturbed(&words);
    (ran.json(), ran.err)
}

/// The cause of this name, which must make the slower one slower and be the largest.
#[track_caller]
fn first(record: &Value, cause: &str) -> Value {
    let none = || panic!("no findings: {} {}", record["refused"], record["levels"][0]["comparisons"]);
    let findings = record["findings"].as_array().unwrap_or_else(none);
    let found = &findings[0];
    assert_eq!(found["cause"], cause, "{:#}", record["findings"]);
    assert_eq!(found["alternative"], record["plan"]["alternatives"][0]["name"], "{found:#}");
    assert!(!found["sentence"].as_str().unwrap().is_empty() && found["evidence"].is_array(), "{found:#}");
    found.clone()
}

/// Accounts that sum: the critical path to the wall time, the work to the CPU time.
#[track_caller]
fn sums_hold(record: &Value) {
    for account in record["accounts"].as_array().unwrap() {
        let (path, wall) = (sum(&account["critical_path"]), number(&account["untraced_s"]));
        assert!((path / wall - 1.0).abs() < 0.005, "the path sums to {path}, not {wall}: {account:#}");
    }
    for traced in record["traced"].as_array().unwrap() {
        let report = &traced["report"];
        let (path, wall) = (sum(&report["critical_path"]), number(&report["wall_s"]));
        assert!((path / wall - 1.0).abs() < 0.005, "the path sums to {path}, not {wall}");
        let commands = report["commands"].as_array().unwrap();
        let cpu: f64 = commands.iter().map(|row| number(&row["running_s"])).sum();
        let work = sum(&report["work"]);
        assert!((work / cpu - 1.0).abs() < 0.02, "the work sums to {work}, not {cpu}");
    }
}

#[test]
fn a_planted_sleep_is_found_predicted_and_confirmed() {
    needs!(full());
    let place = Sandbox::new();
    // Notes how many BPF programs and maps whoever started it holds, by what the run is for.
    place.script(
        "watch",
        "#!/bin/sh\np=$$; while [ \"$p\" -gt 1 ]; do readlink /proc/$p/fd/*; p=$(cut -d' ' -f4 /proc/$p/stat); done |\n\
         grep -c bpf >> \"$0.$WHYFASTER_RUN\"\ntrue\n",
    );
    let (record, said) = explained(&place, &["--why-rounds", "7"], "./watch; sleep 0.2", "./watch");
    let held = |kind: &str| -> Vec<u32> {
        place.lines(&format!("watch.{kind}")).iter().map(|it| it.parse().unwrap()).collect()
    };
    assert!(held("observed").iter().all(|it| *it > 0), "{:?}", held("observed"));
    // Every process of the machine pays while they are attached.
    assert!(
        [held("timed"), held("experiment")].concat().iter().all(|it| *it == 0),
        "{:?}",
        held("experiment")
    );
    let found = first(&record, "sleep");
    let seconds = number(&found["seconds"]);
    assert!((0.15..0.3).contains(&seconds), "{seconds} s of 0.2");
    assert!(number(&found["share"]) > 0.6, "{found:#}");
    assert_eq!(found["confirmed"], true, "{:#}", record["experiments"]);
    sums_hold(&record);
    let experiment = &record["experiments"][0];
    assert!(experiment["control_s"].as_array().unwrap().len() >= 3, "{experiment:#}");
    // Told before it was made, in the words that are stored.
    let prediction = experiment["prediction"].as_str().unwrap();
    assert!(said.contains(prediction), "'{prediction}' was not said: {said}");
    let summary = record["summary"].as_array().unwrap();
    assert!(
        (1..=3).contains(&summary.len()) && summary[0].as_str().unwrap().contains("sleeps"),
        "{summary:?}"
    );
    assert_eq!(record["traced"].as_array().unwrap().len(), 14, "seven rounds of two");
    assert!(record["traced"][0]["report"]["tasks"].as_array().unwrap().is_empty());
    place.assert_clean();
}

/// The same sleeps and computing in turn and at the same time.
#[test]
fn waits_that_one_side_has_at_the_same_time_are_overlap() {
    needs!(full());
    let place = Sandbox::new();
    let computes = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let slow = format!("sleep 0.1; sleep 0.1; {computes}");
    let fast = format!("sleep 0.1 & sleep 0.1 & {computes}; wait");
    let options = ["--why=observe", "--why-rounds", "3", "--max-runs", "4"];
    let (record, _) = explained(&place, &options, &slow, &fast);
    let found = first(&record, "overlap");
    assert_eq!(found["fact"]["kind"], "waits_in_turn", "{found:#}");
    assert!(number(&found["share"]) > 0.6, "{found:#}");
}

#[test]
fn planted_processes_are_found() {
    needs!(full());
    let place = Sandbox::new();
    let many = "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done";
    let (record, _) = explained(&place, &["--why-rounds", "7", "--why=observe"], many, "/bin/true");
    first(&record, "processes");
    sums_hold(&record);
    assert!(record.get("experiments").is_none(), "{}", record["experiments"]);
    let forks = |run: &Value| run["report"]["processes"]["forks"].as_u64().unwrap();
    let traced = record["traced"].as_array().unwrap();
    // A shell may or may not fork for its only command.
    let right = |run: &Value| if run["alternative"] == 0 { forks(run) == 300 } else { forks(run) <= 1 };
    assert!(traced.iter().all(right));
    // Every alternative once in every round.
    for round in 0..7 {
        let of_round: Vec<u64> = (traced.iter().filter(|run| run["round"] == round))
            .map(|run| run["alternative"].as_u64().unwrap())
            .collect();
        assert!(of_round == [0, 1] || of_round == [1, 0], "round {round}: {of_round:?}");
    }
}

#[test]
fn planted_computing_is_found() {
    needs!(full());
    let place = Sandbox::new();
    let program = trace::compile(&place, "spin", trace::SPIN);
    let (long, short) = (format!("{program} 200000000"), format!("{program} 1000"));
    let (record, _) = explained(&place, &["--why-rounds", "7"], &long, &short);
    let found = first(&record, "compute");
    let whole = number(&record["accounts"][0]["untraced_s"]);
    assert!(number(&found["seconds"]) > 0.5 * whole, "{found:#} of {whole}");
    sums_hold(&record);
}

/// Every statement has its text beside its kind.
#[track_caller]
fn told(value: &Value) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let text = ["what", "why", "remedy", "sentence"].contains(&key.as_str());
        assert!(!text || value.as_str() != Some(""), "{key} is empty");
        told(value);
    }
    value.as_array().into_iter().flatten().for_each(told);
}

#[test]
fn the_paths_that_other_tools_read() {
    needs!(full());
    let place = Sandbox::new();
    let options = ["--why-rounds", "6", "--load", "1,3", "--runs", "10"];
    let (record, _) = explained(&place, &options, "sleep 0.1; seq 1000 | tail -1", "seq 1000 | tail -1");
    told(&record);
    let has = |row: &Value, keys: &[&str]| {
        let fields = row.as_object().unwrap_or_else(|| panic!("no object: {row}"));
        keys.iter().for_each(|key| assert!(fields.contains_key(*key), "no {key} in {row:#}"));
    };
    let finding = ["cause", "alternative", "seconds", "share", "confirmed", "sentence", "evidence"];
    has(&record["findings"][0], &finding);
    has(&record["accounts"][0], &["alternative", "critical_path", "work"]);
    let predicted = ["alternative", "load", "predicted_s", "low", "high", "measured_s"];
    let predictions = record["predictions"].as_array().unwrap();
    predictions.iter().for_each(|row| has(row, &predicted));
    let measured = predictions.iter().find(|row| row["load"] == 3).unwrap();
    let ratio = number(&measured["predicted_s"]) / number(&measured["measured_s"]);
    assert!((0.2..5.0).contains(&ratio), "{measured:#}");
}

#[test]
fn a_record_is_explained_again_from_its_traces() {
    needs!(full());
    let place = Sandbox::new();
    let file = place.file("r.json");
    let words = ["compare", "-v", "--why", "--why-rounds", "6", "--record", &file, "sleep 0.1; true", "true"];
    let ran = place.undisturbed(&words).ok();
    assert!(ran.out.contains("sleeps") && ran.out.contains("span: what of the critical path"), "{}", ran.out);
    let stored = place.record("r.json");
    let shown = place.run(&["show", "-v", &file]);
    let part = |text: &str| text[text.find("why sleep").unwrap()..].to_owned();
    assert_eq!(part(&shown.out), part(&ran.out));
    // Without what follows from the runs it follows again.
    let mut bare = stored.clone();
    for derived in ["summary", "findings", "accounts", "differences", "predictions"] {
        bare.as_object_mut().unwrap().remove(derived);
    }
    place.write("bare.json", bare.to_string());
    let again = place.run(&["show", "--json", &place.file("bare.json")]).json();
    for derived in ["summary", "findings", "accounts", "differences", "predictions", "experiments"] {
        assert_eq!(again[derived], stored[derived], "{derived}");
    }
    let mut broken = stored;
    broken["traced"][0]["alternative"] = 9.into();
    place.write("broken.json", broken.to_string());
    place.run(&["show", &place.file("broken.json")]).expect_error(1, &["traced[0]", "alternative"]);
}

/// Most bytes of the record of a small comparison with its explanation.
const SMALL: usize = 200_000;

#[test]
fn the_record_of_a_small_comparison_is_small_and_holds_every_observed_run() {
    needs!(full());
    needs!(tool("gunzip"));
    let place = Sandbox::new();
    let dd = |size: u32, count: u32| format!("dd if=/dev/zero of=/dev/null bs={size} count={count}");
    let file = place.file("r.json");
    // As many as there are rounds at most.
    let options = ["--why-rounds", "22", "--record", &file];
    let (record, _) = explained(&place, &options, &dd(1, 20_000), &dd(1000, 20));
    assert_eq!(record["traced"].as_array().unwrap().len(), 44, "{}", record["refused"]);
    let bytes = place.read("r.json").len();
    assert!(bytes <= SMALL, "{bytes} bytes");
    // Whoever reads the file gets them, with this program or without.
    assert_eq!(place.record("r.json")["traced"], record["traced"]);
    // Of each alternative one run event by event, the one with the middle time, and the page shows both.
    let schedules = record["schedules"].as_array().unwrap();
    assert_eq!(schedules.len(), 2, "{schedules:#?}");
    for kept in schedules {
        let mut walls: Vec<(f64, u64)> = record["traced"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|run| run["alternative"] == kept["alternative"])
            .map(|run| (number(&run["report"]["wall_s"]), run["round"].as_u64().unwrap()))
            .collect();
        walls.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(kept["round"], walls[walls.len() / 2].1, "{walls:?}");
        assert_eq!(kept["left_out"], 0);
    }
    place.run(&["report", &file, "-o", "r.html"]).ok();
    let page = place.read("r.html");
    assert!(page.contains("The critical paths as they came, side by side"));
    assert_eq!(page.matches("class=\"timeline\"").count(), 2);
    assert!(
        !page.contains("not in this record: the"),
        "{}",
        page.find("not in this record: the").unwrap_or(0)
    );
    place.write("observed", place.json("r.json")["observed"].as_str().unwrap());
    let observed = place.shell("base64 -d observed | gunzip").ok().json();
    assert_eq!(observed["traced"], record["traced"]);
}

/// Each copy moves data through a pipe, the more the higher its number: a copy alone moves none.
const PIPES_BY_COPY: &str = "head -c $((WHYFASTER_COPY * 30000000)) /dev/zero | cat > /dev/null";

#[test]
fn the_kind_of_work_that_grows_with_load_is_named() {
    needs!(full());
    let place = Sandbox::new();
    let options = ["--why-rounds", "6", "--why=observe", "--load", "1,6", "--runs", "8"];
    let slow = format!("sleep 0.1; {PIPES_BY_COPY}");
    let (record, _) = explained(&place, &options, &slow, PIPES_BY_COPY);
    sums_hold(&record);
    let forks = |run: &Value| run["report"]["processes"]["forks"].as_u64().unwrap();
    let (traced, batches) =
        (record["traced"].as_array().unwrap(), record["traced_batches"].as_array().unwrap());
    assert_eq!(traced.len(), 12, "no batch is a round");
    for index in [0, 1] {
        let of = |it: &&Value| it["alternative"] == index;
        let one = forks(traced.iter().find(of).unwrap());
        let batches: Vec<&Value> = batches.iter().filter(of).collect();
        assert!((1..=2).contains(&batches.len()), "{batches:#?}");
        // All copies were followed, each from its own root.
        assert!(batches.iter().all(|it| it["load"] == 6 && forks(it) == 6 * one && one > 0), "{batches:#?}");
        let growth = &record["growth"][index];
        let kinds = growth["grows"].as_array().unwrap().iter();
        let first = kinds.clone().find(|row| row["what"].as_str().unwrap().starts_with("kernel: "));
        let first = first.unwrap_or_else(|| panic!("no kind is named: {growth:#}"));
        assert_eq!(first["what"], "kernel: moving data through pipes", "{growth:#}");
        assert!(number(&first["there"]) > 5.0 * number(&first["here"]), "{growth:#}");
        let sentence = growth["sentence"].as_str().unwrap();
        assert!(sentence.contains("most of that in the kernel, for moving data through pipes"), "{sentence}");
    }
    // The stored batches say it again.
    let mut bare = record.clone();
    bare.as_object_mut().unwrap().remove("growth");
    place.write("bare.json", bare.to_string());
    let again = place.run(&["show", "--json", &place.file("bare.json")]).json();
    assert_eq!(again["growth"], record["growth"]);
    let shown = place.run(&["show", "-v", &place.file("bare.json")]).out;
    assert!(
        shown.contains("kernel: moving data through pipes") && shown.contains("what grows from 1 to 6"),
        "{shown}"
    );
    place.assert_clean();
}
