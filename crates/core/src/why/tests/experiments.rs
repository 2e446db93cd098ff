//! What is tried for a finding, and what its rounds say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::fixture::{Scene, Trace, command};
use crate::trace::event::FileKind;
use crate::trace::report::{Direction, PathKind, SharerKind, StageRow, WorkKind};
use crate::why::cause::Cause;
use crate::why::report::{Outcome, Why};
use crate::why::{Before, Machine, Planned, conclude, experiments, judge};

fn machine() -> Machine {
    let program = |name: &str| (name.to_owned(), PathBuf::from(format!("/usr/bin/{name}")));
    Machine {
        cpus: vec![0, 1],
        no_realtime: None,
        stage: "/w stage".to_owned(),
        pipe_max: 1 << 20,
        programs: ["true", "env", "awk", "heavy", "light", "stdbuf"].map(program).into(),
        dynamic: BTreeSet::from(["heavy".to_owned(), "light".to_owned()]),
    }
}

fn common() -> Trace {
    Trace::new().runs("work", WorkKind::User, 0.1, 0)
}

/// What is planned for the first finding of two traces, whose command lines are these.
fn planned(a: (Trace, &str), b: (Trace, &str)) -> (Why, Planned) {
    let mut scene = Scene::of(&a.0.0, &b.0.0);
    scene.plan.alternatives[0].command = a.1.to_owned();
    scene.plan.alternatives[1].command = b.1.to_owned();
    let why = scene.explain();
    let mut all = experiments(&why, &scene.given(), &machine());
    assert!(!all.is_empty(), "{why:#?}");
    (why, all.remove(0))
}

fn changed(planned: &Planned) -> (&str, &str) {
    let test = planned.test.as_ref().expect("testable");
    (&test.control.command, &test.changed.command)
}

#[test]
fn processes_are_put_into_the_faster_one() {
    let b = common().makes(200, 201).runs("true", WorkKind::Startup, 0.1, 200);
    let (_, one) = planned((common().makes(0, 1), "do a"), (b, "do b"));
    assert_eq!((one.cause, one.alternative, one.put_in, one.sure), (Cause::Processes, 0, true, true));
    // The shell that puts them in is there in both.
    let script = |n: u64| format!("'i=0; while [ $i -lt {n} ]; do true; i=$((i+1)); done; wait'");
    let wrapped =
        |n| format!("/w stage --first 1 {} -- sh -c 'do a'", twice(&format!("sh -c {}", script(n))));
    assert_eq!(changed(&one), (wrapped(0).as_str(), wrapped(200).as_str()));
    assert!(one.prediction.starts_with("'a' then takes about "), "{}", one.prediction);
    // Children without a program are a shell's, and count besides the programs.
    let b = common().makes(300, 1).runs("sh (forked)", WorkKind::Process, 0.1, 0);
    let (_, one) = planned((common().makes(0, 1), "do a"), (b, "do b"));
    assert!(changed(&one).1.contains("-lt 300 ]; do ( : );"), "{:?}", one.test);
    let b = common().makes(300, 201).runs("true", WorkKind::Startup, 0.1, 200);
    let (_, one) = planned((common().makes(0, 1), "do a"), (b, "do b"));
    assert!(
        changed(&one).1.contains("-lt 200 ]; do true; i=$((i+1)); done; while [ $i -lt 300 ]; do ( : );")
    );
}

/// A stage of a pipeline.
fn stage(command: &str) -> StageRow {
    StageRow {
        command: command.to_owned(),
        pipeline: 0,
        processes: 1,
        reads_from: Vec::new(),
        life_s: 0.1,
        running_s: 0.05,
        runnable_s: 0.0,
        starved_s: 0.05,
        held_up_s: 0.0,
        other_s: 0.0,
        slack_s: None,
        bottleneck: false,
        near: false,
    }
}

/// Quoted once more.
fn twice(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[test]
fn processes_are_put_in_as_many_at_once_as_there_were() {
    // Two stages of a pipeline of three; a pace of two CPUs.
    let mut piped = common().makes(2, 3).runs("cat", WorkKind::Startup, 0.1, 2);
    piped.0.stages = (0..3).map(|_| stage("cat")).collect();
    let (_, one) = planned((common().makes(0, 1), "a"), (piped, "cat f | cat | awk"));
    assert!(changed(&one).1.contains("-lt 2 ]; do cat /dev/null & i=$((i+1)); [ $((i%2)) -ne 0 ] || wait;"));
    assert!(one.change.ends_with("2 times 'cat /dev/null' run before it, 2 at once"), "{}", one.change);
    let both =
        common().makes(40, 41).runs("true", WorkKind::Startup, 0.1, 40).beside("x", WorkKind::User, 0.2, 0);
    let (_, one) = planned((common().makes(0, 1), "a"), (both, "seq 40 | xargs -P2 -n1 true"));
    assert!(
        changed(&one).1.contains("-lt 40 ]; do true & i=$((i+1)); [ $((i%2)) -ne 0 ] || wait;"),
        "{:?}",
        one.test
    );
}

#[test]
fn path_is_reduced_wherever_it_is_set() {
    let b = common().makes(9, 9).runs("sh (forked)", WorkKind::Exec, 0.1, 9).fails(
        "sh (forked)",
        "execve",
        900,
        0.1,
    );
    let (_, one) = planned((common().makes(9, 9), "a"), (b, "PATH=/x:/y:$PATH b | c"));
    assert_eq!(one.cause, Cause::PathSearch);
    assert_eq!(changed(&one), ("PATH=/x:/y:$PATH b | c", "PATH=/usr/bin b | c"));
    assert_eq!(one.test.as_ref().unwrap().changed.env["PATH"], "/usr/bin");
}

#[test]
fn start_ups_are_put_into_the_faster_one() {
    let loads = |name: &str, s: f64| common().makes(5, 6).runs(name, WorkKind::Startup, s, 5);
    let (_, one) = planned((loads("light", 0.005), "a"), (loads("heavy", 0.1), "b"));
    let words = |name: &str| format!("-lt 5 ]; do LD_TRACE_LOADED_OBJECTS=1 LD_WARN=yes /usr/bin/{name}; ");
    assert!(
        changed(&one).0.contains(&words("light")) && changed(&one).1.contains(&words("heavy")),
        "{one:?}"
    );
    // Never whole start-ups where a difference is to be shown.
    let (_, one) = planned((loads("own", 0.005), "a"), (loads("heavy", 0.1), "b"));
    assert!(one.test.unwrap_err().contains("'own' is not known to start"));
    let (_, one) = planned((loads("python3", 0.005), "python3 -S a"), (loads("python3", 0.1), "python3 b"));
    assert!(!one.sure && changed(&one).0.contains("-lt 5 ]; do python3 -S -c "), "{:?}", one.test);
    assert!(changed(&one).1.contains("-lt 5 ]; do python3 -c "), "{:?}", one.test);
    let (_, one) = planned((loads("python3", 0.005), "python3 a"), (loads("python3", 0.1), "python3 b"));
    assert!(one.test.unwrap_err().contains("with the same options"));
    let (_, one) = planned((loads("heavy", 0.005), "LD_BIND_NOW=1 heavy"), (loads("heavy", 0.1), "heavy"));
    let set = one.test.unwrap().changed;
    assert_eq!((one.put_in, one.sure, set.env["LD_BIND_NOW"].as_str()), (false, false, "1"));
    let (_, one) = planned((loads("light", 0.005), "a"), (loads("python3.11", 0.1), "b"));
    assert!(changed(&one).1.contains("python3.11 -c"), "{:?}", one.test);
    let (_, one) = planned((loads("light", 0.005), "a"), (loads("own", 0.1), "b"));
    assert!(one.test.unwrap_err().contains("'own' is not known to start"));
    let (_, one) = planned((loads("light", 0.005), "a"), (loads("own", 0.1), "LD_BIND_NOW=1 own"));
    assert_eq!(changed(&one).1, "LD_BIND_NOW= own");
    assert!(!one.put_in);
}

#[test]
fn pieces_and_copies_are_changed_in_the_command_line() {
    let reads = |n: u64, s: f64| {
        common().runs("dd", WorkKind::FileData, s, n).moves(FileKind::File, Direction::Read, n, 1 << 20)
    };
    let (_, one) = planned((reads(16, 0.001), "a"), (reads(1 << 20, 0.1), "dd bs=1 if=f"));
    assert_eq!((changed(&one).1, one.sure), ("dd bs=65536 if=f", true));
    let (_, one) = planned((reads(16, 0.001), "a"), (reads(1 << 20, 0.1), "x f | y"));
    assert_eq!((changed(&one).1, one.sure), ("stdbuf -i65536 -o65536 x f | stdbuf -i65536 -o65536 y", false));
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

#[test]
fn waits_are_taken_away_where_they_can_be() {
    let waits = |kind| common().waits("x", kind, None, 0.1);
    let (_, one) = planned((common(), "a"), (waits(PathKind::Disk), "b"));
    assert_eq!(one.test.as_ref().unwrap().changed.before, Before::WarmCaches(Vec::new()));
    let (_, one) = planned((common(), "a"), (waits(PathKind::WriteBack), "b"));
    assert!(one.test.unwrap_err().contains("until data is written"));
    let (_, one) = planned((common(), "a"), (waits(PathKind::Sleep), "sleep 0.1 && b"));
    assert_eq!(changed(&one).1, "sleep 0 && b");
    for (kind, cause) in
        [(PathKind::Sleep, Cause::Sleep), (PathKind::Lock, Cause::Lock), (PathKind::Network, Cause::Network)]
    {
        let (_, one) = planned((common(), "a"), (waits(kind), "b"));
        assert_eq!((one.cause, one.test.is_err(), one.prediction.as_str()), (cause, true, ""));
    }
    let niced =
        common().calls("nice", "setpriority", 1).queues("x", (SharerKind::Other, "y"), None, (0.1, 0.0, 0.0));
    let (_, one) = planned((common(), "a"), (niced, "nice -n 5 x"));
    assert_eq!((one.cause, changed(&one).1), (Cause::Share, "nice -n 0 x"));
    let mut crowd = common().queues("x", (SharerKind::Other, "y"), None, (0.1, 0.0, 0.0));
    crowd.0.commands = vec![command("x", vec![0])];
    let (_, one) = planned((common(), "a"), (crowd, "x"));
    let test = one.test.unwrap();
    assert_eq!(one.cause, Cause::CpuContention);
    assert_eq!((test.control.realtime, test.changed.realtime), (false, true));
    assert!(one.prediction.contains("real-time class (round robin, priority 1)"), "{}", one.prediction);
}

/// An experiment with `predicted` 100 ms whose changed runs take so much less.
fn judged(won: &[f64], sure: bool) -> (Why, crate::why::report::Experiment) {
    let waits = common().waits("x", PathKind::Sleep, None, 0.1);
    let (why, mut one) = planned((common(), "a"), (waits, "sleep 0.1 && b"));
    (one.predicted_s, one.sure) = (0.1, sure);
    let control: Vec<f64> = vec![0.2; won.len()];
    let changed: Vec<f64> = won.iter().map(|won| 0.2 - won).collect();
    let experiment = judge(&one, &why, &control, &changed);
    (why, experiment)
}

#[test]
fn rounds_decide() {
    let outcome = |won: &[f64], sure| judged(won, sure).1.outcome;
    assert_eq!(outcome(&[0.09, 0.1, 0.11, 0.1, 0.1, 0.1], true), Outcome::Confirmed);
    assert_eq!(outcome(&[0.01, 0.0, 0.02, -0.01, 0.0, 0.01], true), Outcome::Refuted);
    // A change that need not remove the cause refutes nothing.
    assert_eq!(outcome(&[0.01, 0.0, 0.02, -0.01, 0.0, 0.01], false), Outcome::Undecided);
    assert_eq!(outcome(&[0.1, 0.1, 0.1, -0.1, 0.1, 0.1], true), Outcome::Undecided);
    assert_eq!(outcome(&[0.1, 0.1], true), Outcome::Undecided);
    assert_eq!(outcome(&[], true), Outcome::Undecided);
    // More than what was predicted and than the whole difference: something else went too.
    let (_, more) = judged(&[0.15; 7], true);
    assert_eq!(more.outcome, Outcome::Undecided);
    assert!(more.sentence.contains("the change took away more than this cause"), "{}", more.sentence);
    assert_eq!(outcome(&[0.12; 7], true), Outcome::Confirmed);
    let (_, confirmed) = judged(&[0.09, 0.1, 0.11, 0.1, 0.1, 0.1], true);
    assert!(
        confirmed.sentence.contains("the difference shrank by 100 ms (100 ms were predicted)"),
        "{}",
        confirmed.sentence
    );
}

#[test]
fn conclusions_go_into_findings_and_summary() {
    let (mut why, experiment) = judged(&[0.09, 0.1, 0.11, 0.1, 0.1, 0.1], true);
    conclude(&mut why, vec![experiment]);
    assert_eq!(why.findings[0].confirmed, Some(true));
    assert!(
        why.summary.iter().any(|it| it.starts_with("An experiment confirmed it: with the change")),
        "{:?}",
        why.summary
    );
    let (mut why, experiment) = judged(&[0.0; 7], true);
    conclude(&mut why, vec![experiment]);
    // What was refuted is no cause: its seconds are unexplained.
    let [rest] = &why.findings[..] else { panic!("{:#?}", why.findings) };
    assert_eq!((rest.cause, rest.alternative.as_str()), (Cause::Unexplained, "b"));
    assert!(
        (rest.seconds - why.differences[0].span_s.median).abs() < 1e-9 && (rest.share - 1.0).abs() < 1e-9
    );
    assert!(rest.sentence.contains("a test refuted sleep"), "{}", rest.sentence);
    assert_eq!(why.experiments[0].outcome, Outcome::Refuted);
    assert!(why.summary[0].contains("none of the causes"), "{:?}", why.summary);
    assert!(why.summary.iter().all(|it| !it.contains("Tested")), "{:?}", why.summary);
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
}
