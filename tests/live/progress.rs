//! How soon and how often progress is shown.

use crate::support::Sandbox;
use crate::support::terminal::{self, frames};
use std::os::fd::AsRawFd;
use std::time::Duration;

#[test]
fn on_a_dumb_terminal_and_in_a_file_lines_are_rare() {
    let place = Sandbox::new();
    let words = ["compare", "--why=no", "-r", "5", "--load", "1,2,3", "sleep 0.02", "sleep 0.03"];
    let shown = frames(&place, 80, &words, &[("TERM", "dumb")]);
    let count = |lines: &[String]| lines.iter().filter(|line| line.contains("% done")).count();
    assert_eq!(count(&shown), 1, "{shown:#?}");
    let said: Vec<String> = place.run(&words).ok().err.lines().map(str::to_owned).collect();
    assert_eq!(count(&said), 1, "{said:#?}");
    assert!(place.run(&[&words[..], &["-q"]].concat()).ok().err.is_empty());
}

#[test]
fn the_first_sign_of_life_comes_before_the_first_run_ends() {
    let place = Sandbox::new();
    let mut command = place.whyfaster(&["compare", "--why=no", "-r", "2", "sleep 3", "sleep 3.1"]);
    command.env("TERM", "xterm");
    let (master, mut child) = terminal::start(command);
    let mut ready = libc::pollfd { fd: master.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let patience = Duration::from_secs(2).as_millis() as i32;
    // SAFETY: one entry that outlives the call.
    assert_eq!(unsafe { libc::poll(&mut ready, 1, patience) }, 1, "nothing was shown");
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}
