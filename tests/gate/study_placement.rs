//! `study placement` refuses what it does not have.

use crate::support::{Sandbox, eventually};
use rustix::process::Signal;
use std::fs;

#[test]
fn what_other_studies_have_is_refused() {
    let place = Sandbox::new();
    place.run(&["study", "placement", "--load", "10"]).expect(2, &["one copy at a time"]);
    place.run(&["study", "threads", "--flamegraphs", "x"]).expect(2, &["runs no commands"]);
}

#[test]
fn nothing_is_left_of_its_file_system_whatever_ends_it() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL] {
        let place = Sandbox::new();
        let running = place.start(&["study", "placement", "--why=no"]);
        let _ = running.launcher();
        running.signal(signal);
        let ran = running.wait();
        if signal == Signal::KILL {
            eventually("no process is left", || place.alive().is_empty());
        } else {
            ran.expect(130, &[]);
            place.assert_clean();
        }
        eventually("no image is left", || place.images().is_empty());
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        assert!(!mounts.contains(&place.file("tmp")), "{mounts}");
    }
}
