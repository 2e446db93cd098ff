//! `prices --inside ssh:HOST` through an sshd that the test starts itself, on the loopback device, with keys of its own.

use std::fs;
use std::time::Duration;

use crate::support::needs::{Need, needs};
use crate::support::prices::{assert_measurable, list_of};
use crate::support::sshd::Network;
use crate::support::{Ran, Running, eventually};
use rustix::process::Signal;

/// A machine whose names are `lo`, for root, and `stranger`, whose key is not known.
struct Far(Network);

impl Far {
    fn new() -> Need<Self> {
        let mut network = Network::new()?;
        network.machine("far", "/bin/sh", "");
        network.alias("lo", 0, "root", "known");
        network.alias("stranger", 0, "root", "unknown");
        Ok(Self(network))
    }

    fn start(&self, args: &[&str]) -> Running {
        self.0.start(&[&["prices", "--quick", "--inside"], args].concat())
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait()
    }
}

#[test]
fn the_worker_goes_there_measures_and_is_taken_away() {
    let far = needs!(Far::new());
    let list = list_of(&far.run(&["ssh:lo", "getppid", "fork", "--json"]));
    assert_measurable(&list, &[("fork", "reaped"), ("getppid", "raw")]);
    assert_eq!(list["inside"]["mechanism"], "on lo, over ssh");
    // What this machine knows of itself is not said of another one.
    assert!(list["fingerprint"]["cpu_model"].is_null() && list["fingerprint"]["steal_during"].is_null());
    far.0.assert_clean();
}

#[test]
fn an_unknown_host_key_and_a_missing_host_say_what_to_do() {
    let far = needs!(Far::new());
    far.run(&["ssh:stranger", "getppid"]).expect_error(6, &["Host key verification failed", "check the key"]);
    far.run(&["ssh:no.such.host.invalid", "getppid"]).expect_error(6, &["no.such.host.invalid"]);
    fs::write(far.0.place.path("user.pub"), "").unwrap();
    far.run(&["ssh:lo", "getppid"]).expect_error(6, &["Permission denied"]);
    far.0.assert_clean();
}

#[test]
fn a_far_side_without_room_is_left_as_it_was() {
    let mut far = needs!(Far::new());
    far.0.machine("small", "/bin/sh", "mount -t tmpfs -o size=64k,mode=777 none \"$far\" &&");
    let ran = far.run(&["ssh:small", "getppid"]);
    ran.expect_error(6, &["no room for the worker", "make room on small"]);
    far.0.assert_clean();
}

#[test]
fn an_interrupt_reaches_the_far_side() {
    let far = needs!(Far::new());
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let running = far.start(&["ssh:lo", "kernel", "process", "thread"]);
        eventually("the worker is there", || {
            fs::read_dir(far.0.place.path("far/far"))
                .unwrap()
                .flatten()
                .any(|dir| dir.path().join("worker").exists())
        });
        std::thread::sleep(Duration::from_millis(300));
        running.signal(signal);
        let ran = running.wait();
        if signal != Signal::KILL {
            ran.expect(130, &["interrupted: "]);
            far.0.assert_clean();
        }
        eventually("the far side is empty", || {
            fs::read_dir(far.0.place.path("far/far")).unwrap().next().is_none()
        });
    }
}
