//! Interrupts, a closed terminal, and violent deaths: nothing stays behind, and what was measured is kept.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::time::Duration;

use crate::support::{PROGRAM, Ran, Running, Sandbox, eventually, kill, launcher_of, terminal};
use rustix::process::Signal;

/// What the program is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum During {
    /// A batch of plain commands.
    Batch,
    /// A batch of commands that went into sessions of their own, forked twice, and ignore SIGTERM.
    Tree,
    /// A `--setup`.
    Setup,
    /// A `--prepare` of the second round.
    Prepare,
    /// The untimed run before all.
    Trial,
}

const ALL: [During; 5] = [During::Batch, During::Tree, During::Setup, During::Prepare, During::Trial];

impl During {
    /// Whether a round was over before.
    fn measured(self) -> bool {
        matches!(self, During::Batch | During::Tree | During::Prepare)
    }

    /// The arguments, and how many processes have the marker when it is time.
    fn arguments(self, place: &Sandbox) -> (Vec<String>, usize) {
        let m = &place.marker;
        let later = "case $WHYFASTER_RUN$HYPERFINE_ITERATION in trial0|timed0) exit 0;; esac";
        let (hooks, command, sleepers): (Vec<String>, String, usize) = match self {
            During::Batch => (vec![], format!("{later}; sleep {m}"), 3),
            During::Tree => {
                let deaf =
                    format!("trap '' TERM INT HUP; (sleep {m} &); (env -i setsid sleep {m} &); sleep {m}; :");
                let command = format!(
                    "{later}; (setsid sh -c \"{deaf}\" &); (trap '' TERM; sleep {m}) & sh -c 'kill -STOP $$; sleep {m}' & sleep {m}; :"
                );
                (vec![], command, 15)
            }
            During::Setup => (vec!["--setup".into(), format!("setsid sleep {m}; :")], "true".into(), 1),
            During::Prepare => (
                vec!["--prepare".into(), format!("{later}; trap '' TERM; setsid sleep {m} & sleep {m}; :")],
                "true".into(),
                2,
            ),
            During::Trial => (vec![], format!("sleep {m} & sleep {m}; :"), 2),
        };
        let mut args: Vec<String> =
            ["compare", "--load", "3", "--min-runs", "50", "--record"].map(String::from).to_vec();
        args.push(place.file("r.json"));
        args.extend(hooks);
        args.extend([command.clone(), format!("{command} # other")]);
        (args, sleepers)
    }
}

fn started(during: During) -> (Sandbox, Running) {
    let place = Sandbox::new();
    let (args, sleepers) = during.arguments(&place);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let running = place.start(&args);
    place.wait_for_sleepers(sleepers);
    (place, running)
}

/// Interrupted: status 130, all that was measured is kept and said, nothing is left.
fn assert_interrupted(during: During, place: &Sandbox, ran: &Ran) {
    ran.expect(130, &["interrupted: "]);
    place.assert_clean();
    if during.measured() {
        let record = place.record("r.json");
        assert_eq!(record["status"], "interrupted", "{during:?}");
        // The runs of a block stand in one random order: of some arm the second may come second.
        assert!(!record["batches"].as_array().unwrap().is_empty(), "{during:?}: the first run is there");
        assert!(ran.err.contains("r.json"), "{}", ran.err);
        // Of the first block only the hidden copy's runs may be there, of which no table speaks.
        assert!(ran.out.contains("interrupted after"), "no report: {}", ran.out);
    } else {
        assert!(!place.path("r.json").exists(), "{during:?}: a record of nothing");
        assert!(ran.err.contains("nothing had been measured"), "{}", ran.err);
    }
}

fn interrupt_everywhere(signal: Signal) {
    for during in ALL {
        let (place, running) = started(during);
        running.signal(signal);
        assert_interrupted(during, &place, &running.wait());
    }
}

#[test]
fn ctrl_c_ends_everything_and_keeps_what_was_measured() {
    interrupt_everywhere(Signal::INT);
}

#[test]
fn sigterm_ends_everything_and_keeps_what_was_measured() {
    interrupt_everywhere(Signal::TERM);
}

#[test]
fn sighup_ends_everything_and_keeps_what_was_measured() {
    interrupt_everywhere(Signal::HUP);
}

#[test]
fn a_second_ctrl_c_does_not_cut_the_clean_up_short() {
    for during in ALL {
        let (place, running) = started(during);
        running.signal(Signal::INT);
        std::thread::sleep(Duration::from_millis(30));
        running.signal(Signal::INT);
        assert_interrupted(during, &place, &running.wait());
    }
}

#[test]
fn a_killed_program_leaves_nothing() {
    for during in ALL {
        let (place, running) = started(during);
        place.write("r.json", "what stood there before");
        running.signal(Signal::KILL);
        assert_eq!(running.wait().code(), 128 + 9);
        place.assert_clean();
        assert_eq!(place.read("r.json"), "what stood there before");
    }
}

#[test]
fn a_killed_launcher_leaves_nothing_and_what_was_measured_is_kept() {
    for during in [During::Batch, During::Tree, During::Trial] {
        let (place, running) = started(during);
        kill(running.launcher(), Signal::KILL);
        let ran = running.wait();
        ran.expect_error(1, &["launcher", "signal: 9", "dmesg"]);
        place.assert_clean();
        if during.measured() {
            assert_eq!(place.record("r.json")["status"], "failed");
            assert!(!ran.out.is_empty(), "no report");
        } else {
            assert!(!place.path("r.json").exists());
        }
    }
}

/// Signals at any moment between and in short batches.
#[test]
fn an_interrupt_at_any_moment_is_clean() {
    for (turn, signal) in
        [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL].into_iter().cycle().take(16).enumerate()
    {
        let place = Sandbox::new();
        let record = place.file("r.json");
        let running = place.start(&[
            "compare", "-N", "--load", "1,4", "--runs", "100000", "--record", &record, "true", "true x",
        ]);
        let _ = running.launcher();
        std::thread::sleep(Duration::from_millis(37 * turn as u64));
        running.signal(signal);
        let ran = running.wait();
        assert_eq!(ran.code(), if signal == Signal::KILL { 137 } else { 130 }, "{}", ran.err);
        place.assert_clean();
        if place.path("r.json").exists() {
            assert_eq!(place.record("r.json")["status"], "interrupted");
        }
    }
}

/// A hang-up is ignored by who was started to ignore it: `nohup` must work.
#[test]
fn nohup_is_respected() {
    let place = Sandbox::new();
    let record = place.file("r.json");
    let line =
        format!("trap '' HUP INT; exec \"$whyfaster\" compare -N --runs 3 --record {record} 'sleep 0.3'");
    let mut command = place.command("sh", &["-c", &line]);
    command.env("whyfaster", PROGRAM);
    let running = place.begin(command);
    let _ = launcher_of(running.pid());
    running.signal(Signal::HUP);
    running.signal(Signal::INT);
    running.wait().ok();
    assert_eq!(place.record("r.json")["status"], "complete");
    place.assert_clean();
}

/// Who ignores SIGCHLD passes that on to us, and the kernel would then reap our children itself.
#[test]
fn an_inherited_ignored_sigchld_does_no_harm() {
    use std::os::unix::process::CommandExt;
    let place = Sandbox::new();
    let args = ["compare", "--runs", "2", "--prepare", "true", "--record", &place.file("r.json"), "exit 0"];
    let mut command = place.whyfaster(&args);
    // SAFETY: a plain system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGCHLD, libc::SIG_IGN);
            Ok(())
        })
    };
    place.finish(command).ok();
    assert_eq!(place.record("r.json")["batches"].as_array().unwrap().len(), 2);
    place.assert_clean();
}

#[test]
fn an_interrupted_study_leaves_no_directory() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let place = Sandbox::new();
        let record = place.file("r.json");
        let running = place.start(&["study", "pipes", "--record", &record]);
        let _ = running.launcher();
        running.signal(signal);
        running.wait().expect(130, &[]);
        place.assert_clean();
    }
}

#[test]
fn a_closed_terminal_ends_everything() {
    for during in ALL {
        let place = Sandbox::new();
        let (args, sleepers) = during.arguments(&place);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (master, mut child) = terminal::start(place.whyfaster(&args));
        place.wait_for_sleepers(sleepers);
        drop(master);
        let mut status = None;
        eventually("its end", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(status.unwrap().code(), Some(130), "{during:?}");
        place.assert_clean();
        assert_eq!(place.path("r.json").exists(), during.measured());
        if during.measured() {
            assert_eq!(place.record("r.json")["status"], "interrupted");
        }
    }
}

#[test]
fn ctrl_c_typed_at_the_terminal_ends_everything() {
    for during in [During::Batch, During::Tree, During::Prepare] {
        let place = Sandbox::new();
        let (args, sleepers) = during.arguments(&place);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (master, child) = terminal::start(place.whyfaster(&args));
        place.wait_for_sleepers(sleepers);
        let (code, shown) = terminal::press_ctrl_c(master, child);
        assert_eq!(code, Some(130), "{shown}");
        assert!(shown.contains("interrupted: ") && shown.contains("r.json"), "{shown}");
        place.assert_clean();
        assert_eq!(place.record("r.json")["status"], "interrupted");
    }
}
