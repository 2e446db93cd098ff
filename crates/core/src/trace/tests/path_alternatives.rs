//! Children that end together: the path goes through the last of them, and the others are told beside it.

use proptest::prelude::*;

use super::fixture::*;
use crate::trace::event::{Context, Event, FileKind, Left, What};
use crate::trace::report::TraceReport;

/// A shell on CPU 0 starts these at once on CPUs of their own, waits until all have ended, and ends 10 later. Each has a
/// name, a call in which the shell waits for it, and its end; the ends come in order.
fn waited_for(children: &[(&str, u32, u64)]) -> Script {
    let mut script = Script::began(0, 10, "sh");
    let numbered = || children.iter().zip(1_u16..).map(|(child, at)| (child, at, 10 + u32::from(at)));
    for ((name, ..), cpu, tid) in numbered() {
        script.fork(0, 0, 10, tid, 1 << cpu).switch(0, cpu, 0, tid, Left::Runnable).exec(0, cpu, tid, name);
    }
    let (mut asleep, mut at) = (false, 0);
    for ((_, call, end), cpu, tid) in numbered() {
        // Within 5 the shell has not yet gone to sleep again.
        if *end > at + 5 {
            script.sleep(at + 5, 0, 10, 0, block(*call, FileKind::None, 0));
            asleep = true;
        }
        if asleep {
            script.wake(*end, cpu, 10, tid, 0);
        }
        script.end(*end, cpu, tid, 0, *end);
        if asleep {
            script.switch(*end, 0, 0, 10, Left::Runnable);
        }
        (asleep, at) = (false, *end);
    }
    script.end(at + 10, 0, 10, 0, 10);
    script
}

/// Alternatives as (command, how much shorter, how much for itself), microseconds.
fn alternatives(report: &TraceReport) -> Vec<(&str, u64, u64)> {
    let row = |it: &'_ crate::trace::report::PathAlternative| (us(it.slack_s), us(it.seconds));
    report.critical_alternatives.iter().map(|it| (it.command.as_str(), row(it).0, row(it).1)).collect()
}

const SIGSUSPEND: u32 = 130;

#[test]
fn a_child_that_ended_a_little_earlier_is_nearly_as_long() {
    for call in [WAIT4, SIGSUSPEND] {
        let report = waited_for(&[("a", call, 980), ("b", call, 1000)]).report();
        sound(&report);
        assert!(path(&report).iter().all(|(command, ..)| *command != "a"), "{:?}", path(&report));
        // The shell slept from 985 on.
        assert_eq!(alternatives(&report), [("a", 15, 985)]);
    }
}

#[test]
fn a_child_that_ends_while_its_parent_deals_with_another_is_one_too() {
    for together in [1000, 1003] {
        let report = waited_for(&[("a", WAIT4, 1000), ("b", WAIT4, together)]).report();
        sound(&report);
        assert_eq!(path(&report)[0].0, "a");
        // It may have been waited for until its parent does something else, which is its end.
        assert_eq!(alternatives(&report), [("b", 10, together)]);
    }
}

#[test]
fn of_many_all_that_are_nearly_as_long_are_told() {
    let children = [("a", WAIT4, 500), ("b", WAIT4, 970), ("c", WAIT4, 990), ("d", WAIT4, 1000)];
    let report = waited_for(&children).report();
    sound(&report);
    assert_eq!(alternatives(&report), [("c", 5, 995), ("b", 20, 975)]);
}

#[test]
fn a_child_that_wrote_to_a_terminal_is_nearly_as_long_with_what_it_did_before() {
    let mut script = waited_for(&[("a", WAIT4, 980), ("b", WAIT4, 1000)]);
    for (at, worker) in [(900, 90), (950, 91)] {
        let behind = script.events.iter().position(|event| event.at >= at * 1000).unwrap();
        let wake = What::Wake { wakee: worker, waker: 11, context: Context::Task };
        script.events.insert(behind, Event { at: at * 1000, cpu: 1, what: wake });
    }
    let report = script.report();
    sound(&report);
    assert_eq!(alternatives(&report), [("a", 15, 985)]);
}

#[test]
fn a_child_that_ended_much_earlier_or_hardly_ran_is_none() {
    for children in [[("a", WAIT4, 900), ("b", WAIT4, 1000)], [("a", WAIT4, 20), ("b", WAIT4, 40)]] {
        let mut script = waited_for(&children);
        // The rest of the second run makes its children short beside the whole.
        if children[1].2 == 40 {
            script = waited_for(&children[..1]);
            script.events.truncate(script.events.len() - 2);
            script.end(1000, 0, 10, 0, 985);
        }
        let report = script.report();
        assert_eq!(alternatives(&report), [], "{:?}", path(&report));
    }
}

#[test]
fn a_stage_that_the_next_one_waited_for_is_no_alternative_to_it() {
    // gen ends, which eat waits for; its parent is told of that first. b ran beside both, and eat ends last.
    let mut script = Script::began(0, 10, "sh");
    for (cpu, name) in [(1, "gen"), (2, "eat"), (3, "b")] {
        let tid = 10 + u32::from(cpu);
        script.fork(0, 0, 10, tid, 1 << cpu).switch(0, cpu, 0, tid, Left::Runnable).exec(0, cpu, tid, name);
    }
    script.sleep(5, 0, 10, 0, block(WAIT4, FileKind::None, 0));
    script.sleep(10, 2, 12, 0, block(READ, FileKind::Pipe, 7));
    script.wake(960, 1, 12, 11, 2).switch(960, 2, 0, 12, Left::Runnable);
    script.wake(960, 1, 10, 11, 0).end(960, 1, 11, 0, 960).switch(960, 0, 0, 10, Left::Runnable);
    script.sleep(965, 0, 10, 0, block(WAIT4, FileKind::None, 0));
    script.wake(980, 3, 10, 13, 0).end(980, 3, 13, 0, 980).switch(980, 0, 0, 10, Left::Runnable);
    script.sleep(985, 0, 10, 0, block(WAIT4, FileKind::None, 0));
    script.wake(1000, 2, 10, 12, 0).end(1000, 2, 12, 0, 50).switch(1000, 0, 0, 10, Left::Runnable);
    script.end(1010, 0, 10, 0, 30);
    let report = script.report();
    sound(&report);
    assert_eq!(path(&report)[0], ("gen", crate::trace::report::PathKind::User, None, 960));
    assert_eq!(alternatives(&report), [("b", 15, 985)]);
}

proptest! {
    #[test]
    fn alternatives_are_near_and_no_longer_than_the_path(
        ends in prop::collection::vec((0_u64..60, prop::bool::ANY), 1..8),
    ) {
        let mut at = 1000;
        let children: Vec<(&str, u32, u64)> = ends
            .iter()
            .map(|(later, shell)| {
                at += later;
                ("child", if *shell { SIGSUSPEND } else { WAIT4 }, at)
            })
            .collect();
        let report = waited_for(&children).report();
        sound(&report);
        let wall = us(report.wall_s);
        for (_, slack, own) in alternatives(&report) {
            prop_assert!(slack * 20 <= wall && own * 20 >= wall && slack + own <= wall, "{slack} {own} of {wall}");
        }
        // All but one that ended near the end are told.
        let near = children.iter().filter(|(_, _, end)| (wall - end) * 20 <= wall).count();
        prop_assert!(alternatives(&report).len() + 1 >= near, "{near} in {:?}", report.critical_alternatives);
    }
}
