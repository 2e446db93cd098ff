//! What is told by counts and the timed runs alone.

use super::fixture::{Scene, Trace};
use crate::plan::Explain;
use crate::sample::{Arm, Io};
use crate::trace::TraceReport;
use crate::trace::report::{Level, WorkKind};
use crate::why::statement::{Because, Fact, Missing, Refusal, Then};
use crate::why::{Cause, Why, again};

/// User code, the kernel's, and waiting of one run, seconds.
type Parts = (f64, f64, f64);

/// Two alternatives with these timed runs and these reports of a lower level.
fn scene(of: [Parts; 2], reports: [Option<TraceReport>; 2]) -> Scene {
    let [a, b] = of.map(|(user, kernel, wait)| (user + kernel + wait, user + kernel));
    let empty = TraceReport::default();
    let mut scene = Scene::untraced(&empty, &empty, a, b);
    scene.plan.explain = Some(Explain::default());
    scene.traced.retain(|it| it.round == 0 && reports[it.alternative].is_some());
    for it in &mut scene.traced {
        it.report = TraceReport { level: Level::Ptrace, ..reports[it.alternative].clone().unwrap() };
    }
    for batch in &mut scene.batches {
        let (user, kernel, _) = if batch.arm == Arm::Alternative(1) { of[1] } else { of[0] };
        let kernel_s = batch.copies.user_s[0] * kernel / (user + kernel);
        batch.copies.system_s[0] = kernel_s;
        batch.copies.user_s[0] -= kernel_s;
    }
    scene.analyse();
    scene
}

/// The timed runs of 'b' made so many reads and writes of one byte, those of 'a' ten larger ones.
fn with_io(mut scene: Scene, calls: u64) -> Scene {
    for batch in &mut scene.batches {
        let (reads, bytes) = if batch.arm == Arm::Alternative(1) { (calls, calls) } else { (10, calls) };
        batch.io = Some(Io { read_bytes: bytes, reads, ..Io::default() });
    }
    scene
}

fn first(why: &Why) -> (Cause, bool) {
    let it = why.findings.first().unwrap_or_else(|| panic!("{:#?}", why.differences));
    assert_eq!(it.alternative, "b", "{it:#?}");
    (it.cause, it.by_counts)
}

#[test]
fn user_code_is_computing_and_needs_nothing_but_the_timed_runs() {
    let why = scene([(0.05, 0.01, 0.0), (0.25, 0.01, 0.0)], [None, None]).explain();
    assert_eq!(first(&why), (Cause::Compute, false));
    let found = &why.findings[0];
    assert!((found.seconds - 0.2).abs() < 0.01 && found.low.is_some_and(|low| low > 0.15), "{found:#?}");
    assert!(matches!(why.answer.unwrap().because, Because::Cause { .. }));
    assert_eq!((why.accounts.len(), why.accounts[0].own_cost_s), (2, 0.0));
}

/// Four rounds on a machine that changes its speed tell CPU times apart by their ratio, and no part of them by its seconds.
#[test]
fn most_of_a_cpu_time_that_is_surely_more_is_a_cause_after_four_rounds() {
    let mut scene = scene([(0.05, 0.01, 0.0), (0.25, 0.01, 0.0)], [None, None]);
    scene.batches.retain(|it| it.round < 4);
    for batch in &mut scene.batches {
        let slower = [0.2, 1.0, 1.9, 0.3][batch.round as usize];
        batch.makespan_s *= slower;
        batch.copies.user_s[0] *= slower;
        batch.copies.system_s[0] *= slower;
    }
    scene.analyse();
    let floor = scene.analysis.levels[0].floor.as_mut().unwrap();
    (floor.low, floor.high) = (Some(0.1), Some(10.0));
    let why = scene.explain();
    let difference = &why.differences[0];
    assert!(difference.noise_s.unwrap() > difference.span_s.median, "{difference:#?}");
    assert_eq!(first(&why), (Cause::Compute, false));
    assert!(why.findings[0].low.is_none_or(|low| low < 0.0), "{:#?}", why.findings);
}

/// The user code of a thousand programs that start is no computing, and who counts none does not know.
#[test]
fn user_code_beside_a_switch_for_every_millisecond_may_be_that_of_programs_that_start() {
    let mut scene = scene([(0.05, 0.01, 0.0), (0.25, 0.1, 0.0)], [None, None]);
    for batch in scene.batches.iter_mut().filter(|it| it.arm == Arm::Alternative(1)) {
        batch.copies.voluntary_switches[0] = 200;
    }
    let why = scene.explain();
    let causes: Vec<Cause> = why.findings.iter().map(|it| it.cause).collect();
    assert_eq!(causes, [Cause::Unexplained, Cause::Kernel], "{:#?}", why.findings);
    assert!(matches!(why.answer.unwrap().because, Because::MoreWork { .. }));
}

#[test]
fn system_time_that_no_count_explains_is_told_as_system_time() {
    let why = scene([(0.05, 0.01, 0.0), (0.13, 0.07, 0.0)], [None, None]).explain();
    let found: Vec<(Cause, bool)> = why.findings.iter().map(|it| (it.cause, it.by_counts)).collect();
    assert_eq!(found, [(Cause::Compute, false), (Cause::Kernel, false)], "{:#?}", why.findings);
    assert!((why.findings[1].seconds - 0.06).abs() < 0.005, "{:#?}", why.findings);
    assert_eq!(why.answer.unwrap().then, Some(Then::Cause { finding: 1 }));
    // Where it is the largest part, the answer has both parts of the CPU time.
    let why = scene([(0.05, 0.01, 0.0), (0.09, 0.13, 0.0)], [None, None]).explain();
    assert_eq!(why.findings[0].cause, Cause::Kernel, "{:#?}", why.findings);
    let Because::MoreWork(work) = why.answer.unwrap().because else { panic!("{:#?}", why.findings) };
    assert!((work.user_s.unwrap() - 0.04).abs() < 0.005, "{work:?}");
}

#[test]
fn counted_calls_that_do_little_are_named_for_system_time() {
    let calls = |name: &str, n: u64| Some(Trace::new().calls("x", name, n).0);
    for name in ["close", "getppid"] {
        let of = [(0.01, 0.01, 0.0), (0.05, 0.11, 0.0)];
        let why = scene(of, [calls(name, 1_000), calls(name, 1_000_000)]).explain();
        assert_eq!(first(&why), (Cause::Calls, true), "{name}: {:#?}", why.findings);
        let Some(Fact::Calls { call, .. }) = &why.findings[0].fact else { panic!("{:#?}", why.findings) };
        assert_eq!(call.as_deref(), Some(name));
    }
    // A file that was opened is closed.
    let opens = |n: u64| Some(Trace::new().calls("x", "openat", n).calls("x", "close", n).0);
    let why = scene([(0.01, 0.01, 0.0), (0.05, 0.11, 0.0)], [opens(100), opens(60_000)]).explain();
    assert_eq!(first(&why), (Cause::Files, true), "{:#?}", why.findings);
}

#[test]
fn the_kernels_own_count_of_reads_names_small_pieces() {
    let why = with_io(scene([(0.01, 0.01, 0.0), (0.03, 0.11, 0.0)], [None, None]), 300_000).explain();
    assert_eq!(first(&why), (Cause::SmallIo, true));
    // The way into these calls and out of them is user code.
    assert!((why.findings[0].seconds - 0.12).abs() < 0.01, "{:#?}", why.findings);
    assert_eq!(why.answer.unwrap().then, Some(Then::NotObserved { finding: 0 }));
    // So few cannot be what takes as long.
    let why = with_io(scene([(0.01, 0.01, 0.0), (0.03, 0.11, 0.0)], [None, None]), 300).explain();
    assert!(why.findings.iter().all(|it| it.cause != Cause::SmallIo), "{:#?}", why.findings);
    // A sixth of it is user code: no answer to what all of it is.
    assert!(why.findings.iter().any(|it| it.cause == Cause::Compute), "{:#?}", why.findings);
    assert!(matches!(why.answer.unwrap().because, Because::MoreWork { .. }));
}

#[test]
fn the_clock_does_not_tell_user_code_apart_in_a_few_milliseconds() {
    let why = scene([(0.001, 0.0, 0.0), (0.009, 0.0, 0.0)], [None, None]).explain();
    assert!(why.findings.is_empty(), "{:#?}", why.findings);
    assert!(matches!(why.answer.unwrap().because, Because::MoreWork { .. }));
}

#[test]
fn more_processes_are_what_the_kernel_and_the_waiting_are_for() {
    let none = Trace::new().makes(0, 1).0;
    let many = Trace::new().makes(100, 101).0;
    let of = [(0.002, 0.002, 0.0), (0.03, 0.05, 0.02)];
    let why = scene(of, [Some(none), Some(many)]).explain();
    assert_eq!(first(&why), (Cause::Processes, true));
    assert!(why.findings[0].share > 0.95, "{:#?}", why.findings);
    // As many computing processes are told from their making.
    let few = Trace::new().makes(10, 10).0;
    let of = [(0.002, 0.002, 0.0), (0.3, 0.01, 0.0)];
    let why = scene(of, [Some(Trace::new().makes(0, 1).0), Some(few)]).explain();
    assert_eq!(first(&why), (Cause::Compute, false));
}

#[test]
fn who_makes_more_processes_does_not_wait_for_them_any_longer_than_that_takes() {
    let [none, many] = [(0, 1), (30, 31)].map(|(forks, execs)| Some(Trace::new().makes(forks, execs).0));
    let for_processes = |why: &Why| -> f64 {
        why.findings.iter().filter(|it| it.cause == Cause::Processes).map(|it| it.seconds.abs()).sum()
    };
    // 'b' asks a server thirty times, each time by another program.
    let why = scene([(0.002, 0.002, 0.0), (0.01, 0.02, 0.5)], [none.clone(), many.clone()]).explain();
    assert!(for_processes(&why) < 0.05, "{:#?}", why.findings);
    // 'a' does so at once, and 'b' one after the other by one program.
    let why = scene([(0.01, 0.02, 0.25), (0.002, 0.002, 0.5)], [many, none]).explain();
    assert!(for_processes(&why) < 0.05, "{:#?}", why.findings);
}

/// By the scheduler's account 'b' waits 95 ms for CPUs, and others keep so many of them busy.
fn queued(others: f64) -> Why {
    let mut scene = scene([(0.05, 0.01, 0.0), (0.05, 0.01, 0.1)], [None, None]);
    for batch in &mut scene.batches {
        let more = batch.makespan_s * others;
        batch.machine_busy_s = batch.machine_busy_s.map(|busy| busy + more);
    }
    scene.analyse();
    for (it, delay_s) in scene.analysis.levels[0].results.iter_mut().zip([0.0, 0.095]) {
        it.run_delay_s = Some(delay_s);
    }
    scene.explain()
}

#[test]
fn a_wait_for_a_cpu_is_for_others_only_where_there_are_some() {
    assert_eq!(first(&queued(1.0)), (Cause::CpuContention, true));
    // It is the command's own processes that keep each other waiting.
    let why = queued(0.0);
    assert!(why.findings.iter().all(|it| it.cause != Cause::CpuContention), "{:#?}", why.findings);
}

/// 'a' waits 0.8 s, and 'b' has both CPUs and more.
#[test]
fn nobody_waits_longer_than_the_whole_of_its_time() {
    let mut scene = scene([(0.1, 0.1, 0.8), (0.45, 0.45, 0.0)], [None, None]);
    for batch in scene.batches.iter_mut().filter(|it| it.arm == Arm::Alternative(1)) {
        batch.makespan_s /= 1.8;
        batch.copies.wall_s[0] /= 1.8;
    }
    scene.analyse();
    let Because::Waits { seconds } = scene.explain().answer.unwrap().because else {
        panic!("another answer")
    };
    assert!((seconds - 0.8).abs() < 0.02, "{seconds}");
}

#[test]
fn calls_that_only_wait_say_what_for_and_without_them_nothing_does() {
    let sleeps = |seconds: f64| {
        let mut trace = Trace::new().fails("sleep", "clock_nanosleep", 1, 0.0).0;
        (trace.syscalls[0].total_s, trace.syscalls[0].errors) = (Some(seconds), 0);
        Some(trace)
    };
    let of = [(0.0005, 0.0005, 0.02), (0.0005, 0.0005, 0.05)];
    let why = scene(of, [sleeps(0.02), sleeps(0.05)]).explain();
    assert_eq!(first(&why), (Cause::Sleep, true));
    // Many short waits, each of them far longer than what a stop adds to a call.
    let synced = |calls: u64| {
        let mut trace = Trace::new().fails("db", "fdatasync", calls, 0.0).fails("db", "fcntl", calls, 0.0).0;
        for (row, each_s) in trace.syscalls.iter_mut().zip([150e-6, 12e-6]) {
            (row.total_s, row.errors) = (Some(calls as f64 * each_s), 0);
        }
        Some(trace)
    };
    let why = scene(of, [synced(1), synced(240)]).explain();
    assert_eq!(first(&why), (Cause::Disk, true));
    assert_eq!(why.findings[0].fact, Some(Fact::Disk { waits_s: None, command: None }));
    let why = scene(of, [None, None]).explain();
    let Because::Waits { seconds } = why.answer.unwrap().because else { panic!("{:#?}", why.findings) };
    assert!((seconds - 0.03).abs() < 0.002);
}

#[test]
fn what_runs_on_more_cpus_at_once_overlaps() {
    // As much CPU time, 'a' on two CPUs.
    let mut scene = scene([(0.2, 0.0, 0.0), (0.2, 0.0, 0.0)], [None, None]);
    for batch in scene.batches.iter_mut().filter(|it| it.arm != Arm::Alternative(1)) {
        batch.makespan_s /= 2.0;
        batch.copies.wall_s[0] /= 2.0;
    }
    scene.analyse();
    assert_eq!(first(&scene.explain()), (Cause::Overlap, false));
}

#[test]
fn a_refused_observation_leaves_what_counts_say_of_a_large_difference() {
    let reads =
        |n: u64| Trace::new().runs("x", WorkKind::User, 0.1, 0).runs("x", WorkKind::FileData, 0.1, n).0;
    let of = |slow_s: f64| {
        let scene = Scene::untraced(&reads(10), &reads(1_000_000), (0.05, 0.05), (slow_s, slow_s));
        let mut scene = with_io(scene, 1_000_000);
        for copies in scene.batches.iter_mut().map(|it| &mut it.copies) {
            (copies.user_s[0], copies.system_s[0]) = (copies.user_s[0] / 2.0, copies.user_s[0] / 2.0);
        }
        scene.analyse();
        scene.traced.iter_mut().for_each(|it| it.report.lost.ring = 1);
        scene.explain()
    };
    let why = of(0.3);
    assert!(matches!(why.refusals[..], [Refusal::Lossy { .. }]), "{:?}", why.refusals);
    assert_eq!(first(&why), (Cause::SmallIo, true));
    // A smaller one is left alone.
    assert!(of(0.06).findings.is_empty());
}

#[test]
fn what_would_show_it_is_said_again_of_a_stored_explanation() {
    let scene = scene([(0.05, 0.01, 0.0), (0.25, 0.01, 0.0)], [None, None]);
    let missing = Missing {
        what: "CAP_BPF".to_owned(),
        why: "it is not there".to_owned(),
        remedy: "run it with sudo".to_owned(),
        command: None,
    };
    let refusals = vec![Refusal::Needs { missing: vec![missing], asked: false }];
    let stored = Why { refusals: refusals.clone(), ..scene.explain() };
    let why = again(&scene.given(), stored.clone());
    assert_eq!((why.refusals, why.findings), (refusals, stored.findings));
}

#[test]
fn who_wants_no_explanation_gets_none() {
    let mut scene = scene([(0.05, 0.01, 0.0), (0.25, 0.01, 0.0)], [None, None]);
    scene.plan.explain = None;
    let why = scene.explain();
    assert!(why.findings.is_empty() && why.differences.is_empty() && why.accounts.is_empty());
}
