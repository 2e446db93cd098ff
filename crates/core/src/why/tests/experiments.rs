//! What is tried for a finding.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::fixture::{Scene, Trace, command};
use crate::trace::event::FileKind;
use crate::trace::report::{Direction, PathKind, SharerKind, WorkKind};
use crate::why::cause::Cause;
use crate::why::report::Why;
use crate::why::{Before, Edit, Machine, Planned, Untestable, experiments};

pub(super) fn machine() -> Machine {
    let program = |name: &str| (name.to_owned(), PathBuf::from(format!("/usr/bin/{name}")));
    Machine {
        cpus: vec![0, 1],
        no_realtime: None,
        left_to_others: 0.05,
        stage: "/w stage".to_owned(),
        pipe_max: 1 << 20,
        path: "/bin:/usr/bin".to_owned(),
        programs: ["true", "env", "awk", "heavy", "light", "stdbuf"].map(program).into(),
        dynamic: BTreeSet::from(["heavy".to_owned(), "light".to_owned()]),
        files: BTreeSet::from(["/d/data".to_owned(), "in".to_owned()]),
    }
}

pub(super) fn common() -> Trace {
    Trace::new().runs("work", WorkKind::User, 0.1, 0)
}

/// What is planned for the first finding of two traces, whose command lines are these.
pub(super) fn planned(a: (Trace, &str), b: (Trace, &str)) -> (Why, Planned) {
    let mut scene = Scene::of(&a.0.0, &b.0.0);
    scene.plan.alternatives[0].command = a.1.to_owned();
    scene.plan.alternatives[1].command = b.1.to_owned();
    let why = scene.explain();
    let mut all = experiments(&why, &scene.given(), &machine());
    assert!(!all.is_empty(), "{why:#?}");
    (why, all.remove(0))
}

pub(super) fn changed(planned: &Planned) -> (&str, &str) {
    let test = planned.test.as_ref().expect("testable");
    (&test.control.command, &test.changed.command)
}

/// A side that begins nine programs, and looks for them in vain so often.
fn searching(by: &str, misses: u64) -> Trace {
    let seconds = 1e-4 * misses as f64;
    let mut trace = common().makes(9, 9).runs(by, WorkKind::Exec, seconds, 9);
    trace.0.processes.failed_execs = Some(misses);
    if misses > 0 { trace.fails(by, "execve", misses, seconds) } else { trace }
}

#[test]
fn path_is_that_of_the_other_one_wherever_it_is_set() {
    let slow = || searching("sh (forked)", 900);
    let (_, one) = planned((searching("sh (forked)", 300), "a"), (slow(), "PATH=/x:/y:$PATH b | c"));
    assert_eq!((one.cause, one.sure), (Cause::PathSearch, true));
    assert_eq!(changed(&one), ("PATH=/x:/y:$PATH b | c", "PATH=/bin:/usr/bin b | c"));
    assert_eq!(one.test.as_ref().unwrap().changed.env["PATH"], "/bin:/usr/bin");
    // Only the difference goes.
    assert!((one.predicted_s - 0.06).abs() < 0.01, "{one:?}");
    let (_, one) =
        planned((searching("sh (forked)", 300), "PATH=/z:/usr/bin a"), (slow(), "PATH=/x:$PATH b"));
    assert_eq!(changed(&one).1, "PATH=/z:/usr/bin b");
}

#[test]
fn with_the_same_path_only_directories_with_programs_are_left() {
    let slow = || searching("xargs (forked)", 900);
    let (_, one) = planned((searching("xargs (forked)", 300), "xargs /bin/a"), (slow(), "xargs a"));
    assert_eq!((one.test.as_ref().unwrap().changed.env["PATH"].as_str(), one.sure), ("/usr/bin", true));
    // What both search goes too: 900 searches for a difference of 600.
    assert!((one.predicted_s - 0.09).abs() < 0.01, "{one:?}");
    // The other one's PATH has not what is needed.
    let (_, one) =
        planned((searching("xargs (forked)", 300), "PATH=/z a"), (slow(), "PATH=/y:$PATH xargs b"));
    assert_eq!(changed(&one).1, "PATH=/usr/bin xargs b");
}

#[test]
fn searches_by_what_the_line_only_calls_refute_nothing() {
    let sure = |by: &str, line: &str| planned((common().makes(9, 9), "a"), (searching(by, 900), line)).1.sure;
    assert!(sure("xargs (forked)", "seq 9 | xargs true"));
    assert!(!sure("xargs (forked)", "seq 9 | sh searchy.sh"));
    assert!(!sure("xargs (forked)", "seq 9 | sh searchy.sh | xargs true"));
    assert!(!sure("xargs (forked)", "seq 9 | own"));
    assert!(!sure("xargs (forked)", ". ./searchy; xargs true"));
    let mut script = searching("own", 900);
    script.0.commands = vec![command("own", vec![0])];
    assert!(!planned((common().makes(9, 9), "a"), (script, "./own")).1.sure);
}

#[test]
fn pieces_and_copies_are_changed_in_the_command_line() {
    let reads = |n: u64, s: f64| {
        common().runs("dd", WorkKind::FileData, s, n).moves(FileKind::File, Direction::Read, n, 1 << 20)
    };
    let by = |name: &str| {
        let mut trace = reads(1 << 20, 0.1);
        trace.0.transfers[0].command = name.into();
        trace
    };
    let (_, one) = planned((reads(16, 0.001), "a"), (by("dd"), "dd bs=1 if=f"));
    assert_eq!((changed(&one).1, one.sure), ("dd bs=65536 if=f", true));
    let (_, one) = planned((reads(16, 0.001), "a"), (by("dd"), "sh s.sh; dd bs=1 if=f"));
    assert!(!one.sure);
    // Another one makes the small pieces; behind a pipe, it only gets them.
    let (_, one) = planned((reads(16, 0.001), "a"), (by("python3"), "python3 x; dd bs=1 if=f"));
    assert!(matches!(one.test, Err(Untestable::PiecesElsewhere)));
    let (_, one) = planned((reads(16, 0.001), "a"), (by("cut"), "grep --line-buffered x f | cut -f1"));
    assert_eq!((changed(&one).1, one.sure), ("grep  x f | cut -f1", true));
    // Bytes are no pieces of the C library, whose buffers are all that stdbuf changes.
    let (_, one) = planned((reads(16, 0.001), "a"), (by("heavy"), "heavy f | y"));
    assert!(matches!(one.test, Err(Untestable::OwnPieces)));
    let filled = |name: &str| {
        let mut trace = reads(256, 0.1);
        trace.0.transfers[0].command = name.into();
        trace
    };
    let (_, one) = planned((reads(16, 0.001), "a"), (filled("static"), "static f | y"));
    assert!(matches!(one.test, Err(Untestable::OwnPieces)));
    let (_, one) = planned((reads(16, 0.001), "a"), (filled("heavy"), "heavy f | y"));
    assert_eq!(
        (changed(&one).1, one.sure),
        ("stdbuf -i65536 -o65536 heavy f | stdbuf -i65536 -o65536 y", false)
    );
    let copies = |bytes: u64, s: f64| {
        common().runs("cat", WorkKind::Pipe, s, bytes >> 16).moves(
            FileKind::Pipe,
            Direction::Read,
            bytes >> 16,
            bytes,
        )
    };
    let (_, one) = planned((common(), "awk 1 f"), (copies(1 << 27, 0.1), "cat f | awk 1"));
    assert_eq!((changed(&one).1, one.sure), ("awk 1 < f", true));
    let (_, one) = planned((common(), "awk 1 f"), (copies(1 << 27, 0.1), "cat f | sh s.sh"));
    assert_eq!((changed(&one).1, one.sure), ("sh s.sh < f", false));
    let (_, one) = planned((common(), "a"), (copies(1 << 16, 0.1), "x | y"));
    assert!(matches!(one.test, Err(Untestable::EveryStageWorks { fits: true })));
    let (_, one) = planned((common(), "a"), (copies(1 << 27, 0.1), "LC_ALL=C x | y"));
    assert_eq!(
        changed(&one),
        (
            "LC_ALL=C /w stage  -- x | /w stage  -- y",
            "LC_ALL=C /w stage --pipe-size 1048576 -- x | /w stage --pipe-size 1048576 -- y"
        )
    );
}

#[test]
fn places_are_changed() {
    let a = common().beside("source", WorkKind::User, 0.06, 0);
    let b = common().runs("source", WorkKind::User, 0.06, 0);
    let (_, one) = planned((a, "x | y"), (b, "x > f; y < f"));
    let test = one.test.as_ref().unwrap();
    assert_eq!((one.alternative, one.put_in, test.changed.cpus.clone()), (0, true, Some(vec![0])));
    let waits = || common().queues("x", (SharerKind::Other, "kworker"), None, (0.05, 0.05, 0.0));
    let (_, one) = planned((common(), "a"), (waits(), "taskset -c 0 x; y"));
    assert_eq!((changed(&one).1, one.sure), ("taskset -c 0,1 x; y", true));
    let (_, one) = planned((common(), "a"), (waits(), "x | y z"));
    assert_eq!(
        changed(&one),
        (
            "/w stage --cpu 0,1 -- x | /w stage --cpu 0,1 -- y z",
            "/w stage --cpu 0 -- x | /w stage --cpu 1 -- y z"
        )
    );
    let (_, one) = planned((common(), "a"), (waits(), "x; y"));
    assert_eq!(one.test.unwrap().changed.cpus, Some(vec![1]));
}

/// Two pipelines. Beside its path the faster one runs what the slower one has on it, and what both do at the same time.
fn two_pipelines(both_beside_s: f64, calls: u64) -> Planned {
    let moves = |trace: Trace, calls| trace.moves(FileKind::Pipe, Direction::Read, calls, 1 << 20);
    let both = || common().beside("sink", WorkKind::User, both_beside_s, 0);
    let a = both().beside("source", WorkKind::User, 0.06, 0);
    let b = both().runs("source", WorkKind::User, 0.06, 0);
    planned((moves(a, calls), "x | y"), (moves(b, 16), "x 1 | y 1")).1
}

#[test]
fn overlap_of_a_pipeline_is_tested_on_one_cpu_where_the_other_one_has_none() {
    for (beside, predicted) in [(0.0, 0.06), (0.03, 0.09)] {
        let one = two_pipelines(beside, 1 << 15);
        let test = one.test.as_ref().unwrap();
        assert_eq!((one.alternative, one.put_in, test.changed.cpus.clone()), (0, true, Some(vec![0])));
        assert!((one.predicted_s - predicted).abs() < 2e-3, "{one:?}");
    }
}

#[test]
fn of_pipelines_that_both_overlap_pipes_and_buffers_are_changed() {
    let one = two_pipelines(0.09, 16);
    assert_eq!((one.alternative, one.put_in, one.sure), (0, true, false));
    assert_eq!(
        changed(&one),
        (
            "/w stage  -- x | /w stage  -- y",
            "/w stage --pipe-size 4096 -- x | /w stage --pipe-size 4096 -- y"
        )
    );
    let one = two_pipelines(0.09, 1 << 15);
    assert_eq!((one.alternative, one.put_in, one.sure), (1, false, false));
    assert_eq!(changed(&one), ("stdbuf -e0 x 1 | stdbuf -e0 y 1", "stdbuf -oL x 1 | stdbuf -oL y 1"));
}

#[test]
fn waits_are_taken_away_where_they_can_be() {
    let waits = |kind| common().waits("x", kind, None, 0.1);
    let (_, one) = planned((common(), "a"), (waits(PathKind::Disk), "b"));
    assert_eq!(one.test.as_ref().unwrap().changed.before, Before::WarmCaches);
    let (_, one) = planned((common(), "a"), (waits(PathKind::WriteBack), "b"));
    assert!(matches!(one.test, Err(Untestable::WriteBack)));
    let (_, one) = planned((common(), "a"), (waits(PathKind::Sleep), "sleep 0.1 && b"));
    assert_eq!((changed(&one).1, one.sure), ("sleep 0 && b", true));
    for (kind, cause) in
        [(PathKind::Sleep, Cause::Sleep), (PathKind::Lock, Cause::Lock), (PathKind::Network, Cause::Network)]
    {
        let (_, one) = planned((common(), "a"), (waits(kind), "b"));
        assert_eq!((one.cause, one.test.is_err(), one.edit), (cause, true, None));
    }
    let niced =
        common().calls("nice", "setpriority", 1).queues("x", (SharerKind::Other, "y"), None, (0.1, 0.0, 0.0));
    let (_, one) = planned((common(), "a"), (niced, "nice -n 5 x"));
    assert_eq!((one.cause, changed(&one).1, one.sure), (Cause::Share, "nice -n 0 x", true));
    let reniced = common().calls("renice", "setpriority", 1).calls("nice", "setpriority", 1);
    let reniced = reniced.queues("x", (SharerKind::Other, "y"), None, (0.1, 0.0, 0.0));
    let (_, one) = planned((common(), "a"), (reniced, "nice -n 5 true; x"));
    assert_eq!((one.cause, one.sure), (Cause::Share, false));
    let mut crowd = common().queues("x", (SharerKind::Other, "y"), None, (0.1, 0.0, 0.0));
    crowd.0.commands = vec![command("x", vec![0])];
    let (_, one) = planned((common(), "a"), (crowd, "x"));
    let test = one.test.unwrap();
    assert_eq!(one.cause, Cause::CpuContention);
    assert_eq!((test.control.realtime, test.changed.realtime), (false, true));
    let crowded = |s| {
        let mut crowd = common().queues("x", (SharerKind::Other, "y"), None, (s, 0.0, 0.0));
        crowd.0.commands = vec![command("x", vec![0])];
        crowd
    };
    let (_, common_to_both) = planned((crowded(0.3), "a"), (crowded(0.4), "x"));
    assert!(matches!(common_to_both.test, Err(Untestable::BothWaitForCpus)));
    let (_, all) = planned((crowded(0.1), "a"), (crowded(0.4), "x"));
    assert!((0.39..0.41).contains(&all.predicted_s), "the wait that both have goes too: {all:?}");
    assert_eq!(one.edit, Some(Edit::RealTime));
    // Of a run of seconds, others get a part all the same.
    let long = |s| {
        let mut trace = crowded(s).runs("work", WorkKind::User, 1.8, 0);
        trace.0.commands = vec![command("x", vec![0])];
        trace
    };
    let runs = || common().runs("work", WorkKind::User, 1.8, 0);
    let (_, some) = planned((runs(), "a"), (long(0.4), "x"));
    assert!((0.29..0.31).contains(&some.predicted_s), "0.4 s less a twentieth of 2 s: {some:?}");
    let (_, none) = planned((runs(), "a"), (long(0.12), "x"));
    assert!(matches!(none.test, Err(Untestable::LeftToOthers)));
}

#[test]
fn the_page_cache_is_dropped_in_the_faster_one_where_the_slower_one_drops_it_itself() {
    let waits = |s| common().waits("cold", PathKind::Disk, None, s);
    let (_, one) = planned((common(), "dd if=in x /d/other <</d/data < /d/data >in"), (waits(0.1), "b"));
    let before = |one: &Planned| {
        let test = one.test.clone().expect("testable");
        (test.control.before, test.changed.before)
    };
    let files = ["in", "/d/data"].map(PathBuf::from).to_vec();
    assert_eq!((one.alternative, one.put_in, one.sure), (0, true, false));
    assert_eq!(before(&one), (Before::Nothing, Before::DropFiles(files)));
    // Something else drops it: then what it reads can be brought back.
    let mut scene = Scene::of(&waits(0.02).0, &waits(0.1).0);
    "cat /d/data".clone_into(&mut scene.plan.alternatives[0].command);
    scene.plan.drop_caches = true;
    let of = |scene: &Scene| experiments(&scene.explain(), &scene.given(), &machine()).remove(0);
    let one = of(&scene);
    assert_eq!((one.put_in, one.sure), (false, true));
    assert_eq!(before(&one), (Before::DropCaches, Before::WarmCaches));
    assert!((0.099..0.101).contains(&one.predicted_s), "all of its wait goes: {one:?}");
    scene.plan.drop_caches = false;
    scene.plan.alternatives[1].prepare = Some("drop".to_owned());
    assert_eq!(before(&of(&scene)), (Before::Nothing, Before::WarmCaches));
    let mut scene = Scene::of(&waits(0.3).0, &waits(0.4).0);
    scene.plan.drop_caches = true;
    assert!(matches!(of(&scene).test, Err(Untestable::BothWaitForDisk)));
}

#[test]
fn sleeps_are_cut_as_far_as_the_line_has_them() {
    let of =
        |line: &str| planned((common(), "a"), (common().waits("sleep", PathKind::Sleep, None, 0.1), line)).1;
    for (line, sure, predicted_s) in [
        ("sleep 0.1", true, 0.1),
        ("for i in 1 2 3 4 5; do sleep 0.02; done", true, 0.1),
        ("sleep 0.06; sh s.sh", false, 0.06),
        // One of them delays nothing.
        ("sleep 0.1 & sleep 0.1; wait", false, 0.1),
        // It is not said how often.
        ("while x; do sleep 0.02; done", false, 0.1),
    ] {
        let one = of(line);
        assert_eq!((one.test.is_ok(), one.sure), (true, sure), "{line}");
        assert!((one.predicted_s - predicted_s).abs() < 1e-3, "{line}: {}", one.predicted_s);
    }
    let one = of("sleep 0.01; sh s.sh");
    assert_eq!(one.test, Err(Untestable::SleepsElsewhere { seconds: 0.01 }));
}

#[test]
fn nothing_is_planned_without_findings_or_for_what_works_against_the_difference() {
    let scene = Scene::of(&common().0, &common().0);
    assert_eq!(experiments(&scene.explain(), &scene.given(), &machine()), []);
    let a = common().beside("y", WorkKind::User, 0.3, 0).runs("x", WorkKind::Pipe, 0.1, 5);
    let b = common().runs("y", WorkKind::User, 0.3, 0);
    let mut scene = Scene::of(&a.0, &b.0);
    scene.plan.alternatives[0].env = BTreeMap::new();
    let planned = experiments(&scene.explain(), &scene.given(), &machine());
    assert_eq!(planned.iter().map(|it| it.cause).collect::<Vec<_>>(), [Cause::Overlap]);
    // A cause of 2% is found, and not tested.
    let small = |s| common().waits("x", PathKind::Sleep, None, 0.1).waits("x", PathKind::Lock, None, s);
    for (seconds, causes) in [(0.002, vec![Cause::Sleep]), (0.01, vec![Cause::Sleep, Cause::Lock])] {
        let scene = Scene::of(&common().0, &small(seconds).0);
        let why = scene.explain();
        assert_eq!(why.findings.len(), 2, "{why:#?}");
        let planned = experiments(&why, &scene.given(), &machine());
        assert_eq!(planned.iter().map(|it| it.cause).collect::<Vec<_>>(), causes);
    }
}
