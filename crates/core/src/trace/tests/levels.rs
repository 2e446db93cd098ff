//! Levels that see less say so, and what they see is right.

use super::fixture::*;
use crate::missing::{Lack, NotMeasured, Obstacle, Quantity};
use crate::trace::event::{Event, Left, Totals, What};
use crate::trace::report::Level;
use crate::trace::{Scheduling, Setting};

fn script(level: Level) -> Script {
    let mut script = Script::new();
    script.setting = Setting { abi: script.setting.abi, ..Setting::of(level) };
    script
}

fn used(run_us: u64, delay_us: Option<u64>) -> Totals {
    Totals { run_ns: run_us * 1000, delay_ns: delay_us.map(|us| us * 1000), ..Totals::default() }
}

#[test]
fn without_scheduling_records_the_kernels_sums_make_the_ledger() {
    let mut script = script(Level::Unprivileged);
    script
        .fork(0, 0, 0, 10, 0)
        .exec_after(100, 0, 10, "sh", used(40, Some(5)))
        .fork(200, 0, 10, 11, 0)
        .exec_after(260, 0, 11, "true", used(30, Some(10)))
        .ended(400, 11, used(120, Some(30)))
        .ended(1100, 10, used(340, Some(25)));
    let report = script.report();
    sound(&report);
    assert_eq!(task(&report, 10), (300, 20, 680));
    assert_eq!(task(&report, 11), (120, 30, 50));
    let forked = command(&report, "sh (forked)");
    assert_eq!(
        (us(forked.running_s), forked.runnable_s.map(us), forked.blocked_s.map(us)),
        (30, Some(10), Some(20))
    );
    assert_eq!((us(command(&report, "true").running_s)), 90);
    let missing: Vec<Quantity> = report.not_measured.iter().filter_map(|it| it.quantity.clone()).collect();
    let fields = ["waits", "cpu_sharers", "avoidable_wait_s", "stages"];
    let fields = fields.map(|field| Quantity::Report { field: field.into() });
    for quantity in fields.iter().chain(&[Quantity::SystemCalls, Quantity::FailedExecs]) {
        assert!(missing.contains(quantity), "{quantity:?} in {missing:?}");
    }
    assert_eq!((report.avoidable_wait_s, report.processes.failed_execs), (None, None));
    assert_eq!((report.waits.len(), report.cpu_sharers.len(), report.stages.len()), (0, 0, 0));
}

#[test]
fn an_exec_at_which_nobody_asked_gives_all_to_the_last_command() {
    let mut script = script(Level::Unprivileged);
    script.fork(0, 0, 0, 10, 0).exec(100, 0, 10, "sh").exec(300, 0, 10, "true").ended(
        1100,
        10,
        used(340, Some(25)),
    );
    let report = script.report();
    assert_eq!(report.commands.len(), 1);
    assert_eq!(us(command(&report, "true").running_s), 340);
    assert_eq!(report.processes.execs, Some(2));
}

#[test]
fn bare_usage_knows_running_alone() {
    let mut script = script(Level::Rusage);
    script.fork(0, 0, 0, 10, 0).exec(100, 0, 10, "job").ended(1100, 10, used(340, None));
    let report = script.report();
    let row = &report.tasks[0];
    assert_eq!((us(row.running_s), row.runnable_s, row.blocked_s), (340, None, None));
    assert_eq!(command(&report, "job").blocked_s, None);
    let missing =
        |wanted: &Quantity| report.not_measured.iter().any(|it| it.quantity.as_ref() == Some(wanted));
    assert!(missing(&Quantity::Report { field: "runnable_s, blocked_s".into() }));
    assert!(missing(&Quantity::ProcessTree));
}

#[test]
fn switches_without_wake_ups_do_not_tell_waiting_from_being_blocked() {
    let mut script = script(Level::Unprivileged);
    script.setting.scheduling = Scheduling::SwitchesOnly;
    script
        .fork(0, 0, 0, 10, 0)
        .exec(100, 0, 10, "job")
        .switch(200, 0, 10, 0, Left::Sleeping)
        .switch(900, 1, 0, 10, Left::Runnable)
        .switch(1100, 1, 10, 0, Left::Dead)
        .ended(1100, 10, used(300, Some(50)));
    let report = script.report();
    sound(&report);
    assert_eq!(task(&report, 10), (300, 50, 650));
    let waits = NotMeasured::new(
        Quantity::Report { field: "waits".into() },
        Obstacle::Level { lacks: Lack::WakeUps, full_listed: false },
    );
    assert!(report.not_measured.contains(&waits));
    assert_eq!(report.waits, []);
    assert_eq!(report.cpu_sharers, []);
    assert_eq!(report.avoidable_wait_s, None);
}

#[test]
fn who_is_held_at_its_first_exec_comes_back_on_any_cpu() {
    let mut script = script(Level::Unprivileged);
    script.setting.scheduling = Scheduling::SwitchesOnly;
    script
        .fork(0, 0, 0, 10, 0)
        .switch(50, 1, 0, 10, Left::Runnable)
        .switch(90, 1, 10, 0, Left::Sleeping)
        .exec(100, 1, 10, "job")
        .switch(200, 0, 0, 10, Left::Runnable)
        .switch(1100, 0, 10, 0, Left::Dead)
        .ended(1100, 10, used(900, Some(50)));
    let report = script.report();
    sound(&report);
    assert_eq!(report.lost.gaps, 0);
    assert_eq!(task(&report, 10), (900, 50, 50));
}

#[test]
fn what_the_kernel_counts_beyond_the_life_is_cut_and_shown() {
    let mut script = script(Level::Unprivileged);
    script.fork(0, 0, 0, 10, 0).exec(100, 0, 10, "job").ended(200, 10, used(500, Some(50)));
    let report = script.report();
    assert_eq!(task(&report, 10), (100, 0, 0));
}

#[test]
fn a_running_tree_counts_from_where_it_was_found() {
    let mut script = Script::new();
    script.setting.running = true;
    script.add(
        500,
        0,
        What::Name {
            task: 10,
            process: 10,
            name: "server".to_owned(),
            kind: crate::trace::event::TaskKind::Tree,
        },
    );
    script.fork(500, 0, 0, 10, BOTH).wake(600, 1, 10, 55, 0).switch(610, 0, 0, 10, Left::Runnable);
    script.facts.ended = Some(1_000_000);
    let end = What::End { task: 10, process: 10, status: None, totals: totals(390) };
    script.events.push(Event { at: 1_000_000, cpu: 0, what: end });
    let report = script.report();
    assert_eq!(us(report.wall_s), 500);
    // It was asleep when it was found, nobody saw where.
    assert_eq!(task(&report, 10), (390, 10, 100));
    assert_eq!(report.tasks[0].command, "server");
    assert_eq!(report.processes.alive, Some(1));
}
