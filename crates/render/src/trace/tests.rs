//! Golden screens of traces: each is to be read as a person would.

use whyfaster_core::trace::event::FileKind;
use whyfaster_core::trace::report::{Direction, Level, TraceReport, TransferRow};
use whyfaster_core::warning::Caution;
use whyfaster_words::display::{By, CallSort, Detail};
use whyfaster_words::look::Look;
use whyfaster_words::text::width;

use super::fixture::{call, dispatch, moved, pipeline, unprivileged};
use super::{Shown, screen};
use crate::fixture::look;

fn shown(report: &TraceReport, shown: &Shown, columns: usize, unicode: bool) -> String {
    let text = screen(report, shown, &look(columns, unicode));
    for line in text.lines() {
        assert!(width(line) <= columns, "{} columns: {line}", width(line));
        assert!(unicode || line.is_ascii(), "not ASCII: {line}");
        assert_eq!(line, line.trim_end(), "spaces at the end");
    }
    text
}

const COMMAND: &str = r#"seq 10000 | xargs -I{} -P4 sh -c "/bin/true {}""#;

#[test]
fn everything_on_80_columns() {
    let view = Shown { as_whom: Some("alice (1000), for root".to_owned()), ..Shown::of(COMMAND) };
    insta::assert_snapshot!(shown(&dispatch(), &view, 80, false));
}

#[test]
fn everything_on_140_columns() {
    insta::assert_snapshot!(shown(&dispatch(), &Shown::of(COMMAND), 140, true));
}

#[test]
fn a_pipeline_with_losses() {
    insta::assert_snapshot!(shown(&pipeline(), &Shown::of("cat log | gzip | wc -c"), 80, false));
}

#[test]
fn files_are_named_and_no_name_steers_the_terminal() {
    let read = |path: Option<&str>, bytes| TransferRow {
        path: path.map(str::to_owned),
        ..moved("cat", Direction::Read, FileKind::File, 800, bytes)
    };
    let files = vec![read(Some("/data/a\u{1b}[2J\nlog"), 104_000_000), read(None, 857_600)];
    let report = TraceReport { files, ..pipeline() };
    for columns in [80, 140] {
        let text = shown(&report, &Shown::of("cat log | gzip | wc -c"), columns, false);
        assert!(text.contains("data of files, by CPU time") && text.contains("cat from a file"), "{text}");
        assert!(text.contains("cat from /data/a[2J log"), "{text}");
    }
}

#[test]
fn without_privileges() {
    insta::assert_snapshot!(shown(&unprivileged(), &Shown::of(COMMAND), 80, false));
}

#[test]
fn one_table_of_calls_as_strace_has_it() {
    let view = Shown { by: By::None, sort: CallSort::Calls, top: 3, ..Shown::of(COMMAND) };
    let report = TraceReport { syscalls: dispatch().syscalls, level: Level::Full, ..TraceReport::default() };
    insta::assert_snapshot!(shown(&report, &view, 80, false));
}

#[test]
fn counts_without_times_have_no_time_columns() {
    let mut row = call("dd", "read", 1_000_000, 0, [1.0, 1.0, 0.0]);
    (row.total_s, row.max_s, row.cpu_s, row.runnable_s, row.blocked_s) = (None, None, None, None, None);
    let report = TraceReport { syscalls: vec![row], ..TraceReport::default() };
    let text = shown(&report, &Shown::of("dd"), 80, false);
    assert!(text.contains("counted, not timed") && !text.contains("% time"), "{text}");
}

#[test]
fn nothing_measured_claims_nothing() {
    let text = shown(&TraceReport::default(), &Shown::of("true"), 80, false);
    for wrong in ["avoidable", "lost:", "checks", "system calls", "blocked", "pipeline"] {
        assert!(!text.contains(wrong), "{wrong}\n{text}");
    }
    assert!(text.contains("not calibrated") && text.contains("no untraced run"), "{text}");
}

#[test]
fn rows_beyond_the_limit_are_counted() {
    let view = Shown { top: 2, ..Shown::of(COMMAND) };
    let text = shown(&dispatch(), &view, 80, false);
    for part in ["(3 more rows; --top 0 shows all)", "(6 more rows; --top 0 shows all)"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let all = shown(&dispatch(), &Shown { top: 0, ..Shown::of(COMMAND) }, 80, false);
    assert!(!all.contains("more row"), "{all}");
}

#[test]
fn foreign_names_cannot_steer_the_terminal() {
    let mut report = pipeline();
    report.commands[0].command = "ev\x1b[31mil\n\u{202E}".into();
    report.waits[0].peer = Some("\x07bell".to_owned());
    let text = shown(&report, &Shown::of("a\x1b[2Jb\nc"), 80, false);
    assert!(!text.contains('\x1b') && !text.contains('\x07') && text.starts_with("a[2Jb c\n"), "{text}");
}

/// Its first doubt takes more lines than a narrow screen has left.
#[test]
fn a_long_doubt_on_a_narrow_screen_leaves_no_room_for_tables() {
    let program = "/usr/local/lib/some/where/deep/below/another/directory/sudo".to_owned();
    let report = TraceReport { warnings: vec![Caution::WithoutRights { program }.into()], ..unprivileged() };
    for columns in [30, 40] {
        let look = Look { detail: Detail::Screen, ..look(columns, true) };
        let text = screen(&report, &Shown::of(COMMAND), &look);
        assert!(text.contains("warning:") && !text.contains("on the critical path"), "{text}");
    }
}

#[test]
fn parts_of_the_path_stay_apart_on_a_narrow_screen() {
    let narrow = screen(&pipeline(), &Shown::of(COMMAND), &look(30, true));
    for seconds in ["356", "35.0", "12.0", "9.00"] {
        assert!(narrow.contains(&format!(" {seconds}\n")), "{seconds}\n{narrow}");
    }
}

#[test]
fn narrow_terminals_are_kept_to() {
    for columns in [60, 100, 200] {
        shown(&dispatch(), &Shown::of(COMMAND), columns, true);
        shown(&pipeline(), &Shown::of("cat log | gzip | wc -c"), columns, true);
    }
}
