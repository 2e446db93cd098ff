//! What the calibration says that observing costs, against what it is measured to cost.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Held, able, compiled};
use whyfaster_core::trace::counts::Counts;
use whyfaster_core::trace::event::Event;
use whyfaster_trace::{Full, Wanted};

/// CPU time of a command and of all that it waited for, nanoseconds.
fn cpu_ns(pid: i32) -> Option<f64> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is a value; the kernel fills it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: our own child; both are writable.
    let ended = unsafe { libc::wait4(pid, &raw mut status, libc::WNOHANG, &raw mut usage) } == pid;
    let ns = |t: libc::timeval| t.tv_sec as f64 * 1e9 + t.tv_usec as f64 * 1e3;
    ended.then(|| {
        assert_eq!(status, 0);
        ns(usage.ru_utime) + ns(usage.ru_stime)
    })
}

fn wait(pid: i32, mut meanwhile: impl FnMut()) -> f64 {
    loop {
        if let Some(ns) = cpu_ns(pid) {
            return ns;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
        meanwhile();
    }
}

fn untraced(argv: &[&str]) -> f64 {
    let held = Held::new(argv);
    let pid = held.pid;
    held.release();
    wait(pid, || {})
}

fn traced(argv: &[&str]) -> (f64, Counts) {
    let mut full = Full::open(&Wanted::default()).unwrap();
    full.calibrate().unwrap();
    let held = Held::new(argv);
    let pid = held.pid;
    full.follow(pid).unwrap();
    held.release();
    let nothing = &mut |_: Event| {};
    let ns = wait(pid, || full.poll(nothing).unwrap());
    (ns, full.finish(nothing).unwrap())
}

/// Share of the measured cost that the calibrated one explains, from the least of several runs in turns.
fn explained(argv: &[&str], predicted: impl Fn(&Counts) -> Option<f64>) -> Option<f64> {
    let mut best = [f64::INFINITY; 2];
    let mut said = Vec::new();
    for _ in 0..7 {
        best[0] = best[0].min(untraced(argv));
        let (ns, counts) = traced(argv);
        best[1] = best[1].min(ns);
        said.extend(predicted(&counts));
    }
    said.sort_by(f64::total_cmp);
    let said = said.get(said.len() / 2)?;
    let measured = best[1] - best[0];
    eprintln!(
        "{argv:?}: untraced {:.1} ms, traced {:.1} ms, calibrated {:.1} ms: {:.0}%",
        best[0] / 1e6,
        best[1] / 1e6,
        said / 1e6,
        100.0 * said / measured
    );
    Some(said / measured)
}

fn calls(counts: &Counts) -> f64 {
    counts.calls.iter().map(|c| c.entered as f64).sum()
}

#[test]
fn calibrated_calls_explain_what_a_loop_of_calls_costs() {
    if !able() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(
        r#"
        #include <sys/syscall.h>
        #include <unistd.h>
        int main(void) { for (int i = 0; i < 1000000; i++) syscall(SYS_getppid); return 0; }"#,
        directory.path(),
    );
    let share = explained(&[&program], |counts| Some(counts.own.call_ns? * calls(counts)));
    assert!(share.is_none_or(|share| (0.5..2.0).contains(&share)), "{share:?}");
}

#[test]
fn calibrated_processes_explain_what_a_storm_of_them_costs() {
    if !able() {
        return;
    }
    let cost = |counts: &Counts| {
        let own = &counts.own;
        let processes = counts.lives.forks? as f64;
        Some(
            own.call_ns? * calls(counts) + own.switch_ns? * own.switches as f64 + own.process_ns? * processes,
        )
    };
    let share = explained(&["sh", "-c", "i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i+1)); done"], cost);
    assert!(share.is_none_or(|share| (0.3..3.0).contains(&share)), "{share:?}");
}
