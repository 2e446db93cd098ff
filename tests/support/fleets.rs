//! Simulated fleets: records as machines write them, with groups and broken machines planted.

use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use whyfaster_stats::random::Random;

use super::{Sandbox, list, number};

/// Two kinds of CPU.
pub(crate) const CPUS: [&str; 2] = ["Xeon A", "EPYC B"];

/// About normal: the sum of twelve uniform numbers.
pub(crate) fn normal(rng: &mut Random) -> f64 {
    (0..12).map(|_| rng.random_range(-0.5..0.5)).sum()
}

/// A price list as a machine writes it, without its samples: every price times the exponential of what `factor` says of its row.
pub(crate) fn price_list(
    name: &str,
    cpu: &str,
    kernel: &str,
    mut factor: impl FnMut(&str, &str) -> f64,
) -> Value {
    let rows: Vec<(&str, &str)> = [
        ("kernel", "raw"),
        ("process", "reaped"),
        ("thread", "asleep,other_cpu"),
        ("pipe", "asleep,same_cpu"),
    ]
    .into_iter()
    .cycle()
    .take(40)
    .collect();
    let price = |(at, (group, variant)): (usize, &(&str, &str))| {
        let ns = 1000.0 * factor(group, variant).exp();
        json!({
            "group": group, "name": format!("row{at}"), "variant": variant, "unit": "one", "median_ns": ns, "floor_ns": ns,
            "p99_ns": ns, "low_ns": ns, "high_ns": ns, "mean_ns": ns, "not_measured": null,
        })
    };
    json!({
        "schema": "whyfaster-prices/1", "tool_version": "0.1.0", "name": name, "started": "2026-11-23T00:00:00Z", "took_s": 1.0,
        "status": "complete", "confidence": 0.95, "clock": null, "warnings": [], "not_measured": [],
        "fingerprint": { "cpu_model": cpu, "kernel": kernel, "cpus_online": 2, "missing": [] },
        "prices": rows.iter().enumerate().map(price).collect::<Vec<_>>(),
    })
}

pub(crate) fn write(place: &Sandbox, file: &str, document: &Value) {
    let path = place.file(file);
    fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
    fs::write(path, document.to_string()).unwrap();
}

/// Twenty-four machines in a directory, in two kinds of CPU, the second of which charges a third more.
pub(crate) fn lists(
    place: &Sandbox,
    directory: &str,
    seed: u64,
    kernel: &str,
    more: impl Fn(usize, &str, &str) -> f64,
) {
    let mut rng = Random::seed_from_u64(seed);
    for at in 0..24 {
        let name = format!("node{at}");
        let list = price_list(&name, CPUS[at % 2], kernel, |group, variant| {
            0.3 * (at % 2) as f64 + more(at, group, variant) + 0.03 * normal(&mut rng)
        });
        write(place, &format!("{directory}/{name}.json"), &list);
    }
}

/// Rounds of the stored comparison, and of the plan that it was cut from.
const STORED: u64 = 3;
const PLANNED: u64 = 12;

/// A record of a real comparison whose alternative takes this many times as long as it did. Its rounds come again until they are as
/// many as were planned.
pub(crate) fn comparison(cpu: &str, factor: f64) -> Value {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/records/0.1.0-batch.json");
    let mut record: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    record["host"]["before"]["cpu_model"] = cpu.into();
    let stored = list(&record["batches"]).to_vec();
    let again =
        (0..PLANNED / STORED).flat_map(|times| stored.iter().map(move |batch| (times, batch.clone())));
    let batches = again.map(|(times, mut batch)| {
        batch["round"] = (batch["round"].as_u64().unwrap() + times * STORED).into();
        if batch["arm"].get("alternative") == Some(&json!(1)) {
            batch["makespan_s"] = (number(&batch["makespan_s"]) * factor).into();
            for wall in batch["copies"]["wall_s"].as_array_mut().unwrap() {
                *wall = (number(wall) * factor).into();
            }
        }
        batch
    });
    record["batches"] = batches.collect();
    record
}
