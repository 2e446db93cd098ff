//! What is seen while the program measures: one line that never goes back, never drawn while a batch is timed, and rare lines in a file.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Duration;

use crate::support::needs::{needs, tool};
use crate::support::{PROGRAM, Sandbox, alone, terminal};
use unicode_width::UnicodeWidthStr;

/// What a terminal of so many columns showed, drawing by drawing: the text between two movements of the cursor.
fn frames(place: &Sandbox, columns: u16, words: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
    let mut command = place.whyfaster(words);
    command.env("TERM", "xterm").envs(variables.iter().copied());
    let (master, child) = terminal::start(command);
    resize(&master, columns);
    let (code, shown) = terminal::end(master, child);
    assert_eq!(code, Some(0), "{shown}");
    let plain = anstream::adapter::strip_str(&shown).to_string();
    let parts = plain.split(['\r', '\n']).map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

fn resize(terminal: &File, columns: u16) {
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: a plain system call on a descriptor that lives as long as the call.
    assert_eq!(unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &size) }, 0);
}

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
    let _alone = alone();
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
    let _alone = alone();
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

#[test]
fn on_a_dumb_terminal_and_in_a_file_lines_are_rare() {
    let _alone = alone();
    let place = Sandbox::new();
    let words = ["compare", "--why=no", "-r", "5", "--load", "1,2,3", "sleep 0.02", "sleep 0.03"];
    let shown = frames(&place, 80, &words, &[("TERM", "dumb")]);
    let count = |lines: &[String]| lines.iter().filter(|line| line.contains("% done")).count();
    assert_eq!(count(&shown), 1, "{shown:#?}");
    let said: Vec<String> = place.run(&words).ok().err.lines().map(str::to_owned).collect();
    assert_eq!(count(&said), 1, "{said:#?}");
    assert!(place.run(&[&words[..], &["-q"]].concat()).ok().err.is_empty());
}

/// The writes of the program itself to its terminal, and the lives of the timed commands, in the order in which they happened.
#[test]
fn nothing_is_drawn_while_a_batch_is_timed() {
    needs!(tool("strace"));
    let _alone = alone();
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
fn the_first_sign_of_life_comes_before_the_first_run_ends() {
    let place = Sandbox::new();
    let mut command = place.whyfaster(&["compare", "--why=no", "-r", "2", "sleep 3", "sleep 3.1"]);
    command.env("TERM", "xterm");
    let (master, mut child) = terminal::start(command);
    let mut ready = libc::pollfd { fd: master.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let patience = Duration::from_secs(2).as_millis() as i32;
    // SAFETY: one entry that outlives the call.
    assert_eq!(unsafe { libc::poll(&mut ready, 1, patience) }, 1, "nothing was shown");
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_trace_says_how_far_it_is_while_its_command_has_not_the_terminal() {
    let _alone = alone();
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
