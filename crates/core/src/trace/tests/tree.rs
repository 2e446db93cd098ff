//! Processes, the tree, searches.

use super::fixture::*;
use crate::trace::TraceReport;
use crate::trace::event::{FileKind, Left, NotOurs, Skipped, What};
use crate::trace::report::{PathKind, SkippedRow};

/// sh makes three children on CPU 1: two run true, one stays sh; each takes 100.
fn family() -> Script {
    let mut script = Script::began(0, 10, "sh");
    for (index, name) in [Some("true"), Some("true"), None].into_iter().enumerate() {
        let (at, tid) = (1000 * (index as u64 + 1), 11 + index as u32);
        script.fork(at, 0, 10, tid, BOTH).switch(at, 1, 0, tid, Left::Runnable);
        if let Some(name) = name {
            script.exec(at + 40, 1, tid, name);
        }
        script.end(at + 100, 1, tid, 0, 100);
    }
    script.end(5000, 0, 10, 0, 5000);
    script
}

#[test]
fn processes_are_folded_by_chain_of_commands() {
    let report = family().report();
    sound(&report);
    let rows: Vec<(Option<usize>, &str, u64, u64)> = report
        .tree
        .iter()
        .map(|row| (row.parent, row.command.as_str(), row.processes, us(row.cpu_s)))
        .collect();
    assert_eq!(rows, [(None, "sh", 1, 5000), (Some(0), "true", 2, 200), (Some(0), "sh (forked)", 1, 100)]);
    let counted = report.processes;
    assert_eq!(
        (counted.forks, counted.execs, counted.exits, counted.alive),
        (Some(3), Some(3), Some(4), Some(0))
    );
    assert_eq!(report.tasks_total, 4);
}

#[test]
fn who_is_skipped_leaves_the_tree_and_is_no_end() {
    let mut script = Script::began(0, 10, "sh");
    script.fork(1000, 0, 10, 11, BOTH).switch(1000, 1, 0, 11, Left::Runnable);
    let skipped = |task, name: &str, totals| {
        What::Skipped(Skipped { task, process: task, name: name.to_owned(), why: NotOurs::OtherUser, totals })
    };
    script.add(1040, 1, skipped(11, "sudo", Some(totals(40))));
    script.add(1050, 0, skipped(77, "sudo", None));
    script.switch(3000, 1, 11, 0, Left::Dead);
    script.end(5000, 0, 10, 0, 5000);
    let report = script.report();
    sound(&report);
    assert_eq!(us(command(&report, "sh (forked)").running_s), 40);
    let counted = report.processes;
    assert_eq!((counted.forks, counted.exits, counted.alive), (Some(1), Some(1), Some(1)));
    let row = SkippedRow { command: "sudo".to_owned(), why: NotOurs::OtherUser, processes: 2 };
    assert_eq!(report.skipped, [row]);
}

#[test]
fn time_before_an_exec_belongs_to_the_forked_child() {
    let report = family().report();
    let forked = command(&report, "sh (forked)");
    assert_eq!((us(forked.running_s), forked.tasks), (40 + 40 + 100, 3));
    assert_eq!(us(command(&report, "true").running_s), 120);
    // Without the kernel's sums at the exec the split is not known.
    assert_eq!(forked.running_kernel_s, None);
}

#[test]
fn user_and_kernel_time_are_split_where_the_sums_are_known() {
    let split = |run: u64, kernel: u64| crate::trace::event::Totals {
        call_run_ns: Some(kernel * 1000),
        ..totals(run)
    };
    let mut script = Script::began(0, 10, "sh");
    script.fork(100, 0, 10, 11, BOTH).switch(100, 1, 0, 11, Left::Runnable);
    script.exec_after(140, 1, 11, "true", split(40, 30)).switch(200, 1, 11, 0, Left::Dead).ended(
        200,
        11,
        split(100, 50),
    );
    script.switch(300, 0, 10, 0, Left::Dead).ended(300, 10, split(300, 10));
    let report = script.report();
    sound(&report);
    let parts = |name| {
        let row = command(&report, name);
        (row.running_user_s.map(us), row.running_kernel_s.map(us))
    };
    assert_eq!(parts("sh (forked)"), (Some(10), Some(30)));
    assert_eq!(parts("true"), (Some(40), Some(20)));
    assert_eq!(parts("sh"), (Some(290), Some(10)));
    let row = report.tasks.iter().find(|row| row.tid == 11).unwrap();
    assert_eq!((row.running_user_s.map(us), row.running_kernel_s.map(us)), (Some(50), Some(50)));
}

#[test]
fn a_double_fork_stays_in_the_tree() {
    let mut script = Script::began(0, 10, "sh");
    script.fork(100, 0, 10, 11, BOTH).switch(100, 1, 0, 11, Left::Runnable).fork(110, 1, 11, 12, BOTH);
    script.end(120, 1, 11, 12, 20).exec(150, 1, 12, "daemon").end(200, 0, 10, 0, 200).end(500, 1, 12, 0, 380);
    let report = script.report();
    sound(&report);
    assert_eq!(us(report.wall_s), 500);
    let commands: Vec<&str> = report.tree.iter().map(|row| row.command.as_str()).collect();
    assert_eq!(commands, ["sh", "sh (forked)", "daemon"]);
    assert_eq!(report.tree[2].parent, Some(1));
}

#[test]
fn a_search_with_misses_is_one_row() {
    let mut script = Script::began(0, 10, "sh");
    for (tid, found) in [(11, true), (12, true), (13, false)] {
        let at = u64::from(tid) * 100;
        script.fork(at, 0, 10, tid, BOTH).switch(at, 1, 0, tid, Left::Runnable);
        for directory in ["/a", "/b", "/c"] {
            let path = Some(format!("{directory}/prog"));
            script.add(at, 1, What::ExecFailed { task: tid, path, errno: 2 });
        }
        if found {
            script.exec(at + 10, 1, tid, "prog");
        } else {
            script.add(at, 1, What::ExecFailed { task: tid, path: Some("/d/other".to_owned()), errno: 13 });
        }
        script.end(at + 50, 1, tid, 0, 50);
    }
    let report = script.end(2000, 0, 10, 0, 2000).report();
    sound(&report);
    let rows: Vec<(&str, &str, u64, u64, u64)> = report
        .searches
        .iter()
        .map(|row| (row.command.as_str(), row.program.as_str(), row.searches, row.misses, row.found))
        .collect();
    assert_eq!(rows, [("sh (forked)", "prog", 3, 9, 2), ("sh (forked)", "other", 1, 1, 0)]);
    assert_eq!(report.searches[0].errnos, [("ENOENT".to_owned(), 9)]);
    assert_eq!(report.searches[1].errnos, [("EACCES".to_owned(), 1)]);
    assert_eq!(report.processes.failed_execs, Some(10));
}

#[test]
fn very_many_tasks_are_counted_and_the_longest_lives_kept() {
    let mut script = Script::began(0, 1, "sh");
    let many = 10_050_u32;
    for tid in 2..many + 2 {
        let at = u64::from(tid) * 10;
        script.fork(at, 0, 1, tid, 0b10).switch(at, 1, 0, tid, Left::Runnable);
        script.end(at + 1 + u64::from(tid % 2), 1, tid, 0, 1 + u64::from(tid % 2));
    }
    let last = u64::from(many) * 10 + 100;
    let report = script.end(last, 0, 1, 0, last).report();
    sound(&report);
    assert_eq!(report.tasks_total, u64::from(many) + 1);
    assert_eq!(report.tasks.len(), 10_000);
    assert!(report.tasks.iter().any(|row| row.tid == 1));
    assert_eq!(command(&report, "sh (forked)").tasks, u64::from(many));
    assert_eq!(report.tasks.iter().filter(|row| us(row.running_s) == 2).count(), (many as usize) / 2);
}

/// Two copies that were held at a gate: each is a root, and the sums are those of both.
#[test]
fn two_roots_are_one_tree() {
    let mut script = Script::new();
    for (tid, cpu) in [(10, 0), (20, 1)] {
        script.fork(0, cpu, 0, tid, BOTH).switch(0, cpu, 0, tid, Left::Runnable);
    }
    script.exec(10, 0, 10, "sh").exec(12, 1, 20, "sh");
    script.fork(20, 0, 10, 11, BOTH).fork(20, 1, 20, 21, BOTH);
    // Each waits behind its parent, which ends first; the second copy is quicker.
    script.end(50, 1, 20, 21, 38).end(70, 1, 21, 0, 20);
    script.end(100, 0, 10, 11, 90).end(160, 0, 11, 0, 60);
    let report = script.report();
    sound(&report);
    let rows: Vec<(Option<usize>, &str, u64)> =
        report.tree.iter().map(|row| (row.parent, row.command.as_str(), row.processes)).collect();
    assert_eq!(rows, [(None, "sh", 2), (Some(0), "sh (forked)", 2)]);
    assert_eq!((report.processes.forks, report.processes.exits), (Some(2), Some(4)));
    // From the first program that begins to the last end, whichever copy has them.
    assert_eq!(us(report.wall_s), 150);
    assert_eq!(path(&report).iter().map(|row| row.3).sum::<u64>(), 150);
    let work: f64 = report.work.iter().map(|row| row.seconds).sum();
    assert_eq!(us(work), (90 + 38) + (60 + 20));
}

/// A shell waits for its child, which is told to go on without an exec after so much CPU time, and has 5.3 ms in all.
fn subshell(told_us: u64) -> Script {
    let mut script = Script::began(0, 10, "sh");
    script.fork(100, 0, 10, 11, BOTH).wake(100, 0, 11, 10, 1).switch(100, 1, 0, 11, Left::Runnable);
    script.sleep(200, 0, 10, 0, block(61, FileKind::None, 0));
    script.add(100 + told_us, 1, What::LivesOn { task: 11, so_far: totals(told_us) });
    script.wake(5400, 1, 10, 11, 0).end(5400, 1, 11, 0, 5300).switch(5400, 0, 0, 10, Left::Runnable);
    script.end(5500, 0, 10, 0, 300);
    script
}

#[test]
fn a_child_that_goes_on_without_an_exec_is_a_program_of_its_own() {
    let report = subshell(300).report();
    sound(&report);
    let ran = |report: &TraceReport, name: &str| us(command(report, name).running_s);
    assert_eq!(
        (ran(&report, "sh (forked)"), ran(&report, "sh (subshell)"), ran(&report, "sh")),
        (300, 5000, 300)
    );
    let on_path = |report: &TraceReport, name: &str, kind| {
        let rows = path(report);
        rows.iter().filter(|row| row.0 == name && row.1 == kind).map(|row| row.3).sum::<u64>()
    };
    assert_eq!(on_path(&report, "sh (forked)", PathKind::Forked), 300);
    assert_eq!(on_path(&report, "sh (subshell)", PathKind::User), 5000);
    assert_eq!(report.tree[1].command, "sh (subshell)");
    // More than the way to an exec takes: it was its own before that was known.
    let report = subshell(4000).report();
    sound(&report);
    assert_eq!(ran(&report, "sh (subshell)"), 5300);
    assert_eq!(on_path(&report, "sh (subshell)", PathKind::User), 5300);
    assert!(report.commands.iter().all(|row| !row.command.is_forked()));
}
