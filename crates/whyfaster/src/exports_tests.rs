//! Exports beside those of hyperfine 1.20: the golden files are what it wrote, and from its times and its command line we
//! must write the same bytes.

use clap::Parser;
use serde_json::Value;
use whyfaster_core::metric::Metric;
use whyfaster_core::plan::{Alternative, Mode, Plan};
use whyfaster_core::record::Record;
use whyfaster_core::sample::{Arm, Batch, Counters};
use whyfaster_render::export::Exporter;
use whyfaster_words::display::{Hyperfine, Registered, TimeUnit};
use whyfaster_words::look::{Environment, Look};

use crate::cli::{Args, HostSeed, Outputs, Verb, resolve};
use crate::records::{batch, record, two_alternatives};

/// The plan and the outputs of hyperfine's words.
fn resolved(line: &str) -> (Plan, Outputs) {
    let words = shell_words::split(line).unwrap();
    let host = HostSeed { euid: 0, cpus_allowed: None, seed: 1, caller: Default::default() };
    match Args::try_parse_from(["whyfaster", "compare"].map(String::from).into_iter().chain(words))
        .unwrap()
        .verb
    {
        Some(Verb::Compare(args)) => resolve(&args, &host).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// The batches that gave hyperfine's numbers. It does not write user and system time of single runs, so the first run gets
/// all of it: n * mean / n is exactly the mean for the n used here (1, 2 and 5).
fn batches(golden: &Value) -> Vec<Batch> {
    let numbers =
        |value: &Value| value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect::<Vec<_>>();
    let mut batches = Vec::new();
    for (index, result) in golden["results"].as_array().unwrap().iter().enumerate() {
        for (round, time) in numbers(&result["times"]).into_iter().enumerate() {
            let mut one = batch(1, Arm::Alternative(index), round as u32, time);
            let whole = if round == 0 { result["times"].as_array().unwrap().len() as f64 } else { 0.0 };
            one.copies.user_s = vec![result["user"].as_f64().unwrap() * whole];
            one.copies.system_s = vec![result["system"].as_f64().unwrap() * whole];
            one.copies.max_rss_bytes = vec![result["memory_usage_byte"][round].as_u64().unwrap()];
            let code = i32::try_from(result["exit_codes"][round].as_i64().unwrap()).unwrap();
            // hyperfine writes signals as 128 and more, a record as negative numbers.
            one.copies.status = vec![if code > 128 { 128 - code } else { code }];
            batches.push(one);
        }
    }
    batches
}

fn look(outputs: &Outputs) -> Look {
    Look {
        time_unit: outputs.time_unit,
        sort: outputs.sort,
        metrics: outputs.metrics.clone(),
        hyperfine: outputs.hyperfine,
        ..Look::detect(outputs.style, false, &Environment::default())
    }
}

/// The format that `--export-NAME` asks for.
fn exporter(name: &str) -> &'static Exporter {
    let named = |exporter: &&&Exporter| exporter.option().name == format!("export-{name}");
    Exporter::all().iter().find(named).unwrap_or_else(|| panic!("no --export-{name}"))
}

fn text(record: &Record, format: &Exporter, outputs: &Outputs) -> String {
    String::from_utf8(format.export(record, &look(outputs)).unwrap()).unwrap()
}

macro_rules! golden {
    ($name:literal, $line:literal) => {{
        let json: Value = serde_json::from_str(include_str!(concat!("golden/", $name, ".json"))).unwrap();
        let (plan, outputs) = resolved($line);
        let mut record = two_alternatives();
        (record.plan, record.batches) = (plan, batches(&json));
        // What only measures the noise must not appear.
        record.batches.push(batch(1, Arm::HiddenCopy, 0, 99.0));
        let ours = |format| text(&record, format, &outputs);
        assert_eq!(ours(exporter("json")), include_str!(concat!("golden/", $name, ".json")));
        assert_eq!(ours(exporter("csv")), include_str!(concat!("golden/", $name, ".csv")));
        assert_eq!(ours(exporter("markdown")), include_str!(concat!("golden/", $name, ".md")));
        assert_eq!(ours(exporter("asciidoc")), include_str!(concat!("golden/", $name, ".adoc")));
        assert_eq!(ours(exporter("orgmode")), include_str!(concat!("golden/", $name, ".org")));
    }};
}

/// The batches that gave hyperfine 2's numbers, which it writes for every run.
fn batches_2(golden: &Value) -> Vec<Batch> {
    let mut batches = Vec::new();
    for (index, result) in golden["results"].as_array().unwrap().iter().enumerate() {
        for (round, run) in result["measurements"].as_array().unwrap().iter().enumerate() {
            let value = |metric: &str| run[metric]["value"].as_f64().unwrap();
            let mut one = batch(1, Arm::Alternative(index), round as u32, value("time_wall_clock"));
            one.copies.user_s = vec![value("time_user")];
            one.copies.system_s = vec![value("time_system")];
            one.copies.max_rss_bytes = vec![value("memory_peak_resident") as u64];
            one.copies.status = vec![i32::try_from(run["exit_code"].as_i64().unwrap()).unwrap()];
            batches.push(one);
        }
    }
    batches
}

macro_rules! golden_2 {
    ($name:literal, $line:literal) => {{
        let mut json: Value = serde_json::from_str(include_str!(concat!("golden/", $name, ".json"))).unwrap();
        let (plan, outputs) = resolved(concat!("--export-format hyperfine2 ", $line));
        let mut record = two_alternatives();
        (record.plan, record.batches) = (plan, batches_2(&json));
        let ours = |format| text(&record, format, &outputs);
        let mut our_json: Value = serde_json::from_str(&ours(exporter("json"))).unwrap();
        let (theirs, our_metadata) = (json["metadata"].take(), our_json["metadata"].take());
        let keys = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&our_metadata), keys(&theirs));
        assert_eq!(our_metadata["hyperfine_version"], theirs["hyperfine_version"]);
        assert_eq!(our_json, json);
        assert_eq!(ours(exporter("csv")), include_str!(concat!("golden/", $name, ".csv")));
        assert_eq!(ours(exporter("markdown")), include_str!(concat!("golden/", $name, ".md")));
        assert_eq!(ours(exporter("asciidoc")), include_str!(concat!("golden/", $name, ".adoc")));
        assert_eq!(ours(exporter("orgmode")), include_str!(concat!("golden/", $name, ".org")));
    }};
}

#[test]
fn files_are_as_in_hyperfine_2() {
    golden_2!("plain-2", "-N -r 2 'sleep 0.05' 'sleep 0.02' 'echo a|b'");
    golden_2!(
        "metrics-2",
        "--metrics memory_peak_resident:KiB,time_wall_clock:us,time_system -r 2 -L n 1,2 --env 'A={n}' -n 'sleeps {n}' 'sleep 0.01'"
    );
    golden_2!("one-run-2", "-r 1 -i 'false' 'sleep 0.01'");
    golden_2!("shell-2", "-S -r 2 -n pipe 'seq 30000 | wc -l' 'exit 0'");
}

#[test]
fn counters_have_no_unit_and_what_was_not_counted_is_absent() {
    let mut record = simple(|record| record.plan.metrics = vec![Metric::Instructions, Metric::CacheMisses]);
    for batch in &mut record.batches {
        let columns = [(Metric::Instructions, vec![1000])].into();
        batch.copies.counters = Some(Counters { columns, ..Counters::default() });
    }
    let outputs = Outputs { hyperfine: Hyperfine::Two, ..Outputs::default() };
    let json: Value = serde_json::from_str(&text(&record, exporter("json"), &outputs)).unwrap();
    assert_eq!(json["primary_metric"], "instructions");
    let run = &json["results"][0]["measurements"][0];
    assert_eq!(run["instructions"], serde_json::json!({"value": 1000}));
    assert!(run.get("cache_misses").is_none() && run["time_cpu"]["unit"] == "second");
    assert!(json["results"][0]["summary"]["instructions"].get("unit").is_none());
    let csv = text(&record, exporter("csv"), &outputs);
    assert!(csv.starts_with("command,instructions_unit,") && !csv.contains("cache_misses"), "{csv}");
    assert!(csv.contains(",count,1000,0,1000,1000,1000"), "{csv}");
    assert!(
        text(&record, exporter("markdown"), &outputs).contains("Mean Instructions [k] | Change | Factor")
    );
}

#[test]
fn plain_commands_are_as_in_hyperfine() {
    golden!("plain", "-N -r 2 'sleep 0.05' 'sleep 0.02' 'echo a|b'");
}

#[test]
fn names_are_as_in_hyperfine() {
    golden!("named", "-r 2 -n first -n 'second one' 'sleep 0.02 | cat' 'sleep 0.01; exit 0'");
}

#[test]
fn parameters_are_as_in_hyperfine() {
    golden!("parameters", "-N -r 2 -L delay 0.01,0.02 -L unused x,y 'sleep {delay}'");
}

#[test]
fn a_single_run_is_as_in_hyperfine() {
    golden!("one-run", "-N -r 1 true");
}

#[test]
fn unit_and_order_are_as_in_hyperfine() {
    golden!("sorted", "-N -r 2 -u second --sort mean-time 'sleep 0.05' 'sleep 0.02'");
}

#[test]
fn failures_and_signals_are_as_in_hyperfine() {
    golden!("failing", "-i -r 2 'exit 3' 'kill -9 $$'");
}

#[test]
fn more_runs_are_as_in_hyperfine() {
    golden!("many", "-N -r 5 'sleep 0.011' 'sleep 0.013'");
}

/// Three rounds of two alternatives, the first slower.
fn simple(change: impl FnOnce(&mut Record)) -> Record {
    let mut record = two_alternatives();
    record.batches.retain(|batch| batch.load == 1);
    change(&mut record);
    record
}

fn markdown(record: &Record) -> String {
    text(record, exporter("markdown"), &Outputs::default())
}

#[test]
fn a_named_reference_is_what_tables_relate_to() {
    let table = markdown(&simple(|record| record.plan.baseline_named = true));
    let relations: Vec<&str> =
        table.lines().skip(2).map(|line| line.rsplit('|').nth(1).unwrap().trim()).collect();
    assert_eq!(relations, ["1.00 (reference)", "1.91 ± 0.20 (faster)"]);
    let table = markdown(&simple(|record| (record.plan.baseline_named, record.plan.baseline) = (true, 1)));
    assert!(table.contains("1.91 ± 0.20 (slower)") && table.contains("1.00 (reference)"), "{table}");
}

#[test]
fn levels_are_results_of_their_own_and_related_within_a_level() {
    let record = two_alternatives();
    let json: Value = serde_json::from_str(&text(&record, exporter("json"), &Outputs::default())).unwrap();
    let loads: Vec<&str> = json["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["parameters"]["load"].as_str().unwrap())
        .collect();
    assert_eq!(loads, ["1", "1", "2", "2"]);
    let table = markdown(&record);
    assert_eq!(table.matches("| 1.00 |").count(), 2, "one reference a level: {table}");
    assert!(table.contains("`sleep 0.1 (load = 2)`"), "{table}");
    let csv = text(&record, exporter("csv"), &Outputs::default());
    assert!(csv.starts_with("command,mean,stddev,median,user,system,min,max,parameter_load\n"), "{csv}");
}

#[test]
fn a_parameter_called_load_keeps_its_value() {
    let mut record = two_alternatives();
    for alternative in &mut record.plan.alternatives {
        alternative.parameters.insert("load".to_owned(), "high".to_owned());
    }
    let json: Value = serde_json::from_str(&text(&record, exporter("json"), &Outputs::default())).unwrap();
    assert_eq!(json["results"][0]["parameters"]["load"], "high");
    assert_eq!(json["results"][0]["parameters"]["load_"], "1");
}

#[test]
fn a_run_of_many_copies_is_one_time_and_the_cost_of_one_copy() {
    let mut batches = vec![batch(4, Arm::Alternative(0), 0, 8.0)];
    batches[0].copies.max_rss_bytes = vec![1, 2, 9, 3];
    batches[0].copies.status = vec![-15, 0, 0, 0];
    batches[0].orphans.user_s = 2.0;
    let record = record(vec![Alternative::new("a")], vec![4], batches);
    let json: Value = serde_json::from_str(&text(&record, exporter("json"), &Outputs::default())).unwrap();
    let result = &json["results"][0];
    assert_eq!(result["times"], serde_json::json!([8.0]));
    assert_eq!(result["user"], 4.5, "half of 8 s a copy, and a quarter of the orphans' 2 s");
    assert_eq!(result["memory_usage_byte"], serde_json::json!([9]));
    assert_eq!(result["exit_codes"], serde_json::json!([143]));
    assert_eq!(result["stddev"], Value::Null);
}

#[test]
fn in_the_closed_mode_a_run_is_a_copy() {
    let mut record =
        record(vec![Alternative::new("a")], vec![2], vec![batch(2, Arm::Alternative(0), 0, 5.0)]);
    record.plan.mode = Mode::Closed { duration_s: 5.0 };
    record.batches[0].copies.wall_s = vec![1.0, 2.0];
    let json: Value = serde_json::from_str(&text(&record, exporter("json"), &Outputs::default())).unwrap();
    assert_eq!(json["results"][0]["times"], serde_json::json!([1.0, 2.0]));
}

#[test]
fn units_have_hyperfine_s_digits() {
    let of = |unit| {
        let outputs = Outputs { time_unit: Some(unit), ..Outputs::default() };
        text(&simple(|_| ()), exporter("markdown"), &outputs).lines().nth(2).unwrap().to_owned()
    };
    assert!(of(TimeUnit::Microsecond).contains("| 210000.0 ± 10000.0 | 200000.0 | 220000.0 |"));
    assert!(of(TimeUnit::Millisecond).contains("| 210.0 ± 10.0 |"));
    assert!(of(TimeUnit::Second).contains("| 0.210 ± 0.010 |"));
    assert!(of(TimeUnit::Minute).contains("| 0.0 ± 0.0 |"));
}

#[test]
fn nothing_measured_is_an_empty_list_and_not_an_error() {
    let record = record(vec![Alternative::new("a")], vec![1], Vec::new());
    assert_eq!(text(&record, exporter("json"), &Outputs::default()), "{\n  \"results\": []\n}\n");
    assert_eq!(markdown(&record).lines().count(), 2);
    assert_eq!(text(&record, exporter("csv"), &Outputs::default()).lines().count(), 1);
}

#[test]
fn backticks_in_a_command_stay_readable() {
    let table = markdown(&simple(|record| record.plan.alternatives[0].name = "echo `id`".to_owned()));
    assert!(table.contains("| `` echo `id` `` |"), "{table}");
}

#[test]
fn a_line_end_in_a_name_ends_no_row() {
    let record = simple(|record| record.plan.alternatives[0].name = "one\r\n| two |  three".to_owned());
    let row = |language: &Exporter| {
        let (_, outputs) = resolved("true");
        let table = text(&record, language, &outputs);
        table.lines().find(|line| line.contains("one")).unwrap_or_default().to_owned()
    };
    for language in ["markdown", "asciidoc", "orgmode"].map(exporter) {
        assert!(row(language).contains("one  \\| two \\|  three"), "{}", row(language));
    }
}

#[test]
fn a_mean_of_zero_has_no_deviation() {
    let table = markdown(&simple(|record| {
        for batch in &mut record.batches {
            if batch.arm == Arm::Alternative(1) {
                batch.makespan_s = 0.0;
            }
        }
    }));
    assert!(table.contains("| inf |") && !table.contains("NaN"), "{table}");
}
