//! What a trace of a running tree shows after a known time.

use std::fs;
use std::time::Duration;

use crate::support::Sandbox;
use crate::support::needs::{full, needs};
use crate::support::trace::{levels, rows, traced};
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn a_running_tree_is_followed_and_left_alone() {
    let place = Sandbox::open();
    for level in levels().into_iter().filter(|level| *level != "rusage") {
        let line = format!("while :; do /bin/true; done & sleep {}; kill $!", place.marker);
        let mut other = place.begin(place.command("sh", &["-c", &line]));
        place.wait_for_sleepers(1);
        let pid = other.pid().to_string();
        let trace =
            place.run(&["trace", "--json", "--level", level, "--duration", "500ms", "--follow", &pid]).json();
        assert!(trace["processes"]["forks"].as_u64().unwrap() > 1, "{level}: {}", trace["processes"]);
        assert!(trace["processes"]["alive"].as_u64().unwrap() >= 3, "{level}: {}", trace["processes"]);
        // Who was there at the start stands below who made it.
        let tree = rows(&trace, "tree");
        let of_sleep = tree.iter().find(|row| row["command"] == "sleep").unwrap();
        let above = of_sleep["parent"].as_u64().map(|row| &tree[row as usize]["command"]);
        assert_eq!(above.and_then(|it| it.as_str()), Some("sh"), "{level}: {tree:?}");
        // A call that was in progress all the time lasted as long as the observation.
        let all_the_time = |row: &&Value| row["name"] == "clock_nanosleep" && row["going_on"] == 1;
        if let Some(sleeps) = rows(&trace, "syscalls").iter().find(all_the_time) {
            let (call, wall) = (sleeps["total_s"].as_f64().unwrap(), trace["wall_s"].as_f64().unwrap());
            assert!(call > wall * 0.95 && call < wall * 1.01, "{level}: {call} of {wall}");
        }
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        assert!(status.contains("TracerPid:\t0"), "{level}: {status}");
        assert!(other.runs(), "{level}: it was ended");
        // Ctrl-C is the usual end of following.
        let running = place.start(&["trace", "--level", level, "--follow", &pid]);
        std::thread::sleep(Duration::from_millis(700));
        running.signal(Signal::INT);
        running.wait().ok();
        assert!(other.runs(), "{level}: it was ended");
        place.end_sleepers();
        other.wait();
    }
}

/// A ring that is too small loses records of the end as well. The kernel's counts say when the last task ended.
#[test]
fn a_ring_that_is_too_small_does_not_change_the_time() {
    needs!(full());
    let place = Sandbox::open();
    let line = "dd if=/dev/zero of=/dev/null bs=1 count=1000000";
    let trace = traced(&place, &["--level", "full", "--ring-size", "4K", "--calls=mount", line]);
    assert!(trace["lost"]["ring"].as_u64().unwrap() > 0, "{}", trace["lost"]);
    let (wall, took) = (trace["wall_s"].as_f64().unwrap(), trace["runs"]["traced_s"].as_f64().unwrap());
    // Who waits for the command may be told of its end before that has left its CPU for the last time, and on a busy machine
    // either end waits for a CPU; what is cut off, or runs on to the end of the observation, is far longer.
    assert!(wall > took / 2.0 && wall < took * 1.2, "{wall} of {took}");
}
