//! Waits for a CPU: those of the timed part are told, those around it are not the sample's.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, unreachable_pub, reason = "shared by several test programs")]
mod common;
#[allow(dead_code, unused_imports, reason = "shared by several test programs")]
#[path = "../../../tests/support/skip.rs"]
mod skip;

use std::sync::atomic::{AtomicBool, Ordering};

use common::{Output, install, run};
use skip::{machine, needs};

/// What the worker measures while two threads want every CPU all the time.
fn crowded(plan: &str) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let worker = install(directory.path());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 * std::thread::available_parallelism().unwrap().get() {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let output = run(&worker, &[], plan);
        stop.store(true, Ordering::Relaxed);
        output
    })
}

/// Ten thousand short rounds in a crowd: some waits fall between a reading and the timed part, and belong to no sample.
#[test]
fn a_wait_outside_of_the_timed_part_is_not_the_samples() {
    let output = crowded(
        "probe getpid raw batches=5000 count=0\nprobe cond asleep cpu=same batches=100 count=0\n\
         probe cond burst batches=20 count=0\nprobe fork exit batches=50 count=0\nprobe switch pipe batches=50 count=0\n",
    );
    assert_eq!(output.of("verify").filter(|r| r.get("ok") == "1").count(), 5, "{output:?}");
    for sample in output.of("sample") {
        let wait = sample.number("delay").unwrap_or(0.0);
        assert!(wait <= sample.number("ns").unwrap(), "{sample:?}");
    }
}

/// Rounds of some 20 ms are longer than any slice of a scheduler: among spinning neighbours they must have waited.
#[test]
fn a_wait_inside_of_the_timed_part_is_told() {
    let kept = cfg!(target_arch = "x86_64") && std::path::Path::new("/proc/self/schedstat").exists();
    needs!(machine(kept, "account of waits and counter of cycles"));
    let output = crowded("probe burn loop cycles=50000000 ops=1 batches=10 count=0\n");
    let known = output.of("sample").filter_map(|s| Some((s.number("delay")?, s.number("ns")?)));
    let waits: Vec<(f64, f64)> = known.collect();
    assert!(waits.iter().any(|(wait, ns)| *wait > ns / 10.0), "{waits:?}");
}
