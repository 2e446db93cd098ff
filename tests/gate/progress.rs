//! What is seen while the program measures: one line that never goes back, never drawn while a batch is timed, and rare lines in a file.

use crate::support::needs::{needs, tool};
use crate::support::terminal::{self, frames, resize};
use crate::support::{PROGRAM, Sandbox};
use unicode_width::UnicodeWidthStr;

/// The percentage of a frame of the moving line.
fn percent(frame: &str) -> Option<u32> {
    let (before, _) = frame.split_once("% ")?;
    before.rsplit(' ').next()?.parse().ok()
}

/// Frames of the moving line alone: a line that is said once may stand before one, with no end of its own.
fn moving(frames: &[String]) -> impl Iterator<Item = &String> {
    frames.iter().filter(|it| it.contains(" left; ") && !it.contains("whyfaster: "))
}

fn percentages(frames: &[String]) -> Vec<u32> {
    moving(frames).filter_map(|it| percent(it)).collect()
}

#[test]
fn the_line_never_goes_back_and_says_what_the_rounds_say() {
    let place = Sandbox::new();
    let words = ["compare", "-M", "6", "--load", "1,3", "sleep 0.05", "sleep 0.1"];
    for (columns, variables) in
        [(60, &[("NO_COLOR", "1")][..]), (200, &[("LC_ALL", "C")]), (200, &[("LC_ALL", "C.UTF-8")])]
    {
        let frames = frames(&place, columns, &words, variables);
        let shown = percentages(&frames);
        assert!(shown.len() >= 5, "{frames:#?}");
        assert!(shown.is_sorted(), "it went back: {shown:?}");
        assert!(shown.last().unwrap() > shown.first().unwrap() && *shown.last().unwrap() < 100, "{shown:?}");
        assert!(frames.iter().any(|it| it.contains(" so far; ")), "{frames:#?}");
        for frame in moving(&frames) {
            assert!(frame.width() <= columns.into(), "wider than {columns}: {frame}");
            assert!(variables != [("LC_ALL", "C")] || frame.is_ascii(), "{frame}");
        }
        // Of either command: the line is drawn ten times a second, and which of the two a drawing meets is the random order's choice.
        if columns == 200 {
            assert!(moving(&frames).any(|it| it.contains("timing 3 copies of 'sleep 0.")), "{frames:#?}");
        }
    }
}

#[test]
fn several_measurements_are_one_way() {
    let place = Sandbox::new();
    let words = ["hyperfine", "-r", "8", "sleep 0.05", "sleep 0.05", "sleep 0.05"];
    let mut command = place.command(PROGRAM, &words[1..]);
    std::os::unix::process::CommandExt::arg0(&mut command, words[0]);
    command.env("TERM", "xterm");
    let (master, child) = terminal::start(command);
    resize(&master, 120);
    let (code, shown) = terminal::end(master, child);
    let plain = anstream::adapter::strip_str(&shown).to_string();
    let frames: Vec<String> = plain.split(['\r', '\n']).map(str::to_owned).collect();
    let shown = percentages(&frames);
    assert!(code == Some(0) && shown.len() >= 6 && shown.is_sorted(), "{shown:?} {plain}");
    assert!(*shown.last().unwrap() > 66, "{shown:?}");
}

/// The writes of the program itself to its terminal, and the lives of the timed commands, in the order in which they happened.
#[test]
fn nothing_is_drawn_while_a_batch_is_timed() {
    needs!(tool("strace"));
    let place = Sandbox::new();
    place.script("timed", "#!/bin/sh\nread wait < /proc/self/stat\nexec sleep 0.25\n");
    let log = place.file("log");
    let strace = ["-f", "-qq", "-e", "trace=write,execve,exit_group", "-o", &log, PROGRAM];
    let measured = ["compare", "--why=no", "-N", "-r", "4", "./timed a", "./timed b"];
    let words = [&strace[..], &measured[..]].concat();
    let mut command = place.command("strace", &words);
    command.env("TERM", "xterm");
    let (master, child) = terminal::start(command);
    resize(&master, 100);
    let (code, shown) = terminal::end(master, child);
    assert_eq!(code, Some(0), "{shown}");
    let log = place.read("log");
    let lines: Vec<(&str, &str)> = log.lines().filter_map(|line| line.split_once(' ')).collect();
    let (program, _) = lines.first().unwrap();
    let (mut alive, mut lives, mut drawn) = (Vec::new(), 0, 0);
    for (process, call) in &lines {
        let call = call.trim_start();
        if call.starts_with("execve(") && call.contains("[\"./timed\"") {
            alive.push(*process);
            lives += 1;
        } else if call.starts_with("exit_group(") {
            alive.retain(|it| it != process);
        } else if process == program && call.starts_with("write(2,") {
            drawn += 1;
            assert!(alive.is_empty(), "drawn while {alive:?} ran: {call}");
        }
    }
    assert!(lives >= 8 && drawn >= 4, "{lives} runs and {drawn} drawings: {log}");
}

#[test]
fn a_trace_says_how_far_it_is_while_its_command_has_not_the_terminal() {
    let place = Sandbox::new();
    // The traced run has the terminal for itself; the three untraced ones write nothing.
    let words = ["trace", "--level", "rusage", "sleep 0.4"];
    let frames = frames(&place, 120, &words, &[]);
    let shown = percentages(&frames);
    assert!(shown.len() >= 3 && shown.is_sorted() && *shown.last().unwrap() < 100, "{frames:#?}");
    for run in 1..=3 {
        let said = format!("untraced run {run} of 3");
        assert!(moving(&frames).any(|it| it.contains(&said)), "no '{said}': {frames:#?}");
    }
    // In a file nothing is said of what takes seconds.
    let said = place.run(&words).ok().err;
    assert!(!said.contains("% done"), "{said}");
}
