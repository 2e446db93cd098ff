//! What is put into the faster alternative: processes, and start-ups.

use super::experiments::{changed, common, planned};
use crate::trace::report::{StageRow, WorkKind};
use crate::why::cause::Cause;
use crate::why::{Edit, InPlace, Repeated, Untestable};

#[test]
fn processes_are_put_into_the_faster_one() {
    let b = common().makes(200, 201).runs("true", WorkKind::Startup, 0.1, 200);
    let (_, one) = planned((common().makes(0, 1), "do a"), (b, "do b"));
    assert_eq!((one.cause, one.alternative, one.put_in, one.sure), (Cause::Processes, 0, true, true));
    // The shell that puts them in is there in both.
    let script = |n: u64| format!("'i=0; while [ $i -lt {n} ]; do /usr/bin/true; i=$((i+1)); done; wait'");
    let wrapped =
        |n| format!("/w stage --first 1 {} -- sh -c 'do a'", twice(&format!("sh -c {}", script(n))));
    assert_eq!(changed(&one), (wrapped(0).as_str(), wrapped(200).as_str()));
    let each = vec![Repeated { times: 200, words: "/usr/bin/true".to_owned() }];
    assert_eq!(one.edit, Some(Edit::ProcessesBefore { each, in_place: None, at_once: 1 }));
    // Children without a program are a shell's, and count besides the programs.
    let b = common().makes(300, 1).runs("sh (forked)", WorkKind::Process, 0.1, 0);
    let (_, one) = planned((common().makes(0, 1), "do a"), (b, "do b"));
    assert!(changed(&one).1.contains("-lt 300 ]; do ( : );"), "{:?}", one.test);
    let b = common().makes(300, 201).runs("true", WorkKind::Startup, 0.1, 200);
    let (_, one) = planned((common().makes(0, 1), "do a"), (b, "do b"));
    assert!(
        changed(&one)
            .1
            .contains("-lt 200 ]; do /usr/bin/true; i=$((i+1)); done; while [ $i -lt 300 ]; do ( : );")
    );
}

#[test]
fn programs_that_take_the_place_of_others_are_put_in_without_a_process() {
    let b = common().makes(60, 121).runs("env", WorkKind::Startup, 0.1, 60);
    let (_, one) = planned((common().makes(60, 61), "do a"), (b, "do b"));
    assert_eq!((one.cause, one.put_in, one.sure), (Cause::Processes, true, false));
    let script = |words: &str| format!("-lt 60 ]; do {words}; i=$((i+1)); done;");
    let (alone, before) = changed(&one);
    assert!(alone.contains(&script("/usr/bin/true")), "{alone}");
    assert!(before.contains(&script("/usr/bin/env /usr/bin/true")), "{before}");
    let each = Repeated { times: 60, words: "/usr/bin/env /usr/bin/true".to_owned() };
    let in_place = Some(InPlace { each, against: "/usr/bin/true".to_owned() });
    assert_eq!(one.edit, Some(Edit::ProcessesBefore { each: Vec::new(), in_place, at_once: 1 }));
    // Half of them make a process.
    let b = common().makes(30, 61).runs("true", WorkKind::Startup, 0.1, 60);
    let (_, one) = planned((common().makes(0, 1), "do a"), (b, "do b"));
    let (none, half) = changed(&one);
    let loops = |first: u64, second: u64, words: &str| {
        let one = |n: u64, words: &str| format!("while [ $i -lt {n} ]; do {words}; i=$((i+1)); done;");
        format!("i=0; {} {} wait", one(first, "/usr/bin/true"), one(second, words))
    };
    assert!(none.contains(&loops(0, 30, "/usr/bin/true")), "{none}");
    assert!(half.contains(&loops(30, 60, "/usr/bin/env /usr/bin/true")), "{half}");
}

/// A stage of a pipeline.
fn stage(command: &str) -> StageRow {
    StageRow {
        command: command.into(),
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
    assert!(
        changed(&one)
            .1
            .contains("-lt 2 ]; do (exec cat /dev/null) & i=$((i+1)); [ $((i%2)) -ne 0 ] || wait;")
    );
    let each = vec![Repeated { times: 2, words: "cat /dev/null".to_owned() }];
    assert_eq!(one.edit, Some(Edit::ProcessesBefore { each, in_place: None, at_once: 2 }));
    let both =
        common().makes(40, 41).runs("true", WorkKind::Startup, 0.1, 40).beside("x", WorkKind::User, 0.2, 0);
    let (_, one) = planned((common().makes(0, 1), "a"), (both, "seq 40 | xargs -P2 -n1 true"));
    assert!(
        changed(&one).1.contains("-lt 40 ]; do /usr/bin/true & i=$((i+1)); [ $((i%2)) -ne 0 ] || wait;"),
        "{:?}",
        one.test
    );
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
    assert!(matches!(one.test, Err(Untestable::StartUnknown { program }) if program == "own"));
    let (_, one) = planned((loads("python3", 0.005), "python3 -S a"), (loads("python3", 0.1), "python3 b"));
    assert!(!one.sure && changed(&one).0.contains("-lt 5 ]; do (exec python3 -S -c "), "{:?}", one.test);
    assert!(changed(&one).1.contains("-lt 5 ]; do (exec python3 -c "), "{:?}", one.test);
    let (_, one) = planned((loads("python3", 0.005), "python3 a"), (loads("python3", 0.1), "python3 b"));
    assert!(matches!(one.test, Err(Untestable::SameStart { .. })));
    let (_, one) = planned((loads("heavy", 0.005), "LD_BIND_NOW=1 heavy"), (loads("heavy", 0.1), "heavy"));
    let set = one.test.unwrap().changed;
    assert_eq!((one.put_in, one.sure, set.env["LD_BIND_NOW"].as_str()), (false, false, "1"));
    let (_, one) = planned((loads("light", 0.005), "a"), (loads("python3.11", 0.1), "b"));
    assert!(!one.sure && changed(&one).1.contains("python3.11 -c"), "{:?}", one.test);
    let (_, one) = planned((loads("python3", 0.005), "a"), (loads("node", 0.1), "b"));
    assert!(one.sure && changed(&one).1.contains("node -e 0"), "{:?}", one.test);
    let (_, one) = planned((loads("light", 0.005), "a"), (loads("own", 0.1), "b"));
    assert!(matches!(one.test, Err(Untestable::StartUnknown { program }) if program == "own"));
    let (_, one) = planned((loads("light", 0.005), "a"), (loads("own", 0.1), "LD_BIND_NOW=1 own"));
    assert_eq!(changed(&one).1, "LD_BIND_NOW= own");
    assert!(!one.put_in);
}
