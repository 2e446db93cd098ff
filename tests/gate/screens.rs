//! The screens that one gets without asking for more, from stored records: their size, and that colour adds nothing.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::path::{Path, PathBuf};

use crate::support::Sandbox;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/records");

fn records() -> Vec<PathBuf> {
    let files = std::fs::read_dir(RECORDS).unwrap().map(|entry| entry.unwrap().path());
    let records: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|it| it == "json")).collect();
    assert!(records.len() >= 5, "{records:?}");
    records
}

/// `show` with these options and variables.
fn shown(file: &Path, options: &[&str], variables: &[(&str, &str)]) -> String {
    let place = Sandbox::new();
    let mut command = place.whyfaster(&[&["show", file.to_str().unwrap()], options].concat());
    command.envs(variables.iter().copied());
    place.finish(command).ok().out
}

/// Lines that a screen may have: those of prices are lists.
fn most(file: &Path) -> usize {
    if file.to_str().unwrap().contains("prices") { 40 } else { 20 }
}

#[test]
fn every_default_fits_a_screen() {
    for file in records() {
        for columns in ["60", "80", "200"] {
            for locale in ["C", "C.UTF-8"] {
                let screen = shown(&file, &[], &[("COLUMNS", columns), ("LC_ALL", locale)]);
                let lines = screen.lines().count();
                assert!(lines <= most(&file), "{file:?} has {lines} lines at {columns} columns:\n{screen}");
                for line in screen.lines() {
                    assert!(line.width() <= columns.parse().unwrap(), "{file:?} at {columns}: {line}");
                    assert!(locale != "C" || line.is_ascii(), "{file:?}: {line}");
                }
            }
        }
    }
}

#[test]
fn more_is_asked_for_by_option() {
    for file in records() {
        let [quiet, screen, tables, everything] =
            [&["-q"][..], &[], &["-v"], &["-vv"]].map(|options| shown(&file, options, &[]));
        let count = |text: &str| text.lines().count();
        assert!((1..=3).contains(&count(&quiet)), "{file:?}: {quiet}");
        assert!(screen.contains(quiet.trim_end()), "{file:?}: {quiet}\n{screen}");
        assert!(count(&screen) < count(&tables) && count(&tables) <= count(&everything), "{file:?}");
        assert!(screen.contains("-v: "), "{file:?}: where is the rest? {screen}");
    }
}

#[test]
fn colour_says_nothing_that_the_words_do_not() {
    for file in records() {
        let coloured = shown(&file, &["--style", "color"], &[]);
        assert!(coloured.contains('\u{1b}'), "{file:?}: {coloured}");
        let plain = shown(&file, &[], &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]);
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain, "{file:?}");
    }
}

/// What a verb prints that measures, or that needs no record, with these variables.
fn printed(words: &[&str], variables: &[(&str, &str)]) -> String {
    let place = Sandbox::new();
    let mut command = place.whyfaster(words);
    command.envs(variables.iter().copied());
    place.finish(command).ok().out
}

#[test]
fn what_other_verbs_print_fits_a_screen_too() {
    for (words, most) in
        [(&["doctor"][..], 20), (&["machines"], 20), (&["study"], 20), (&["show", "--list"], 20), (&[], 20)]
    {
        for columns in ["60", "80", "200"] {
            let screen = printed(words, &[("COLUMNS", columns), ("LC_ALL", "C")]);
            let lines = screen.lines().count();
            // What is a list of words needs more lines on a narrow screen.
            assert!(
                lines <= most || columns == "60",
                "{words:?} has {lines} lines at {columns} columns:\n{screen}"
            );
            // The introduction and the list of studies are for every screen of 80 columns.
            let widest = screen.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
            assert!(widest <= columns.parse::<usize>().unwrap().max(80), "{words:?}: {screen}");
            assert!(screen.is_ascii(), "{words:?}: {screen}");
        }
    }
}

#[test]
fn the_demo_fits_a_screen_with_what_it_says_of_the_flip() {
    for columns in ["80", "200"] {
        let screen = printed(&["demo", "--max-time", "3s"], &[("COLUMNS", columns)]);
        assert!(screen.lines().count() <= 20 && screen.contains("The order "), "{screen}");
    }
}

#[test]
fn doctor_tells_the_worst_first_and_the_rest_when_asked() {
    let [quiet, screen, all] =
        [&["doctor", "-q"][..], &["doctor"], &["doctor", "-v"]].map(|it| printed(it, &[]));
    assert_eq!(quiet.lines().count(), 1, "{quiet}");
    let count =
        |text: &str, mark: &str| text.lines().filter(|line| line.starts_with(&format!("  {mark}"))).count();
    assert!(count(&all, "ok") > count(&screen, "ok"), "{screen}\n{all}");
    assert!(all.lines().count() > 20 && screen.contains("more with -v: "), "{screen}\n{all}");
    let place = |text: &str, mark: &str| text.lines().position(|line| line.starts_with(&format!("  {mark}")));
    let (problem, ok) = (place(&screen, "PROBLEM"), place(&screen, "ok"));
    assert!(problem.is_none() || ok.is_none() || problem < ok, "{screen}");
}

#[test]
fn machines_fit_a_screen_too() {
    let place = Sandbox::new();
    let lists = ["debian-2.6.32", "macosx-10.7", "athlon64-x2", "openindiana-151a2"];
    for count in [2, 4] {
        for columns in ["60", "80", "200"] {
            let shown = |options: &[&str]| {
                let mut command = place.whyfaster(&[&["machines"], &lists[..count], options].concat());
                command.env("COLUMNS", columns);
                place.finish(command).ok().out
            };
            let [quiet, screen, tables] = [&["-q"][..], &[], &["-v"]].map(shown);
            let lines = screen.lines().count();
            assert!(lines <= 40 && lines < tables.lines().count(), "{lines} lines\n{screen}");
            assert!(screen.starts_with(quiet.trim_end()) && screen.contains("-v: "), "{quiet}\n{screen}");
            assert!(screen.lines().all(|line| line.width() <= columns.parse().unwrap()), "{screen}");
        }
    }
}

/// A list of one kernel as it was stored: each row with its price, and in which part of the samples both of its tasks were apart.
fn list_of(kernel: &str, rows: &[(&str, &str, f64, Option<f64>)]) -> Value {
    let stored = std::fs::read(format!("{RECORDS}/0.1.0-prices.json")).unwrap();
    let mut list: Value = serde_json::from_slice(&stored).unwrap();
    let one = |(name, variant, ns, apart): &(&str, &str, f64, Option<f64>)| {
        json!({
            "group": "process", "name": name, "variant": variant, "floor_ns": ns, "median_ns": ns, "p99_ns": ns,
            "low_ns": ns * 0.99, "high_ns": ns * 1.01, "receipt": { "apart": apart },
        })
    };
    list["name"] = kernel.into();
    list["prices"] = rows.iter().map(one).collect();
    // Its prices are those that it has: there is nothing that they could be made of again.
    (list["rows"], list["samples"]) = (json!([]), json!([]));
    list
}

#[test]
fn the_history_of_kernels_fits_a_screen_and_what_the_scheduler_moved_comes_last() {
    let place = Sandbox::new();
    let flat: Vec<String> = (0..30).map(|at| format!("call{at}")).collect();
    let kernels = [("6.1.0", 184e3, 4e3, 0.1), ("6.12.0", 234e3, 4e3, 0.1), ("6.18.0", 234e3, 12e3, 0.9)];
    let files = kernels.map(|(kernel, fork, pipe, apart)| {
        let moved = [("fork", "reaped", fork, None), ("pipe_latency", "threads,free", pipe, Some(apart))];
        let flat = flat.iter().enumerate().map(|(at, name)| (name.as_str(), "raw", 80.0 + at as f64, None));
        let rows: Vec<_> = moved.into_iter().chain(flat).collect();
        place.write(kernel, list_of(kernel, &rows).to_string());
        place.file(kernel)
    });
    let lists = files.join(",");
    for columns in ["60", "80", "200"] {
        let shown = |options: &[&str]| {
            let mut command = place.whyfaster(&[&["machines", "--kernels", &lists], options].concat());
            command.envs([("COLUMNS", columns), ("LC_ALL", "C")]);
            place.finish(command).ok().out
        };
        let [quiet, screen, tables] = [&["-q"][..], &[], &["-v"]].map(shown);
        assert!(screen.lines().count() <= 40 && screen.lines().count() < tables.lines().count(), "{screen}");
        assert!(screen.starts_with(quiet.trim_end()) && screen.contains("-v: "), "{quiet}\n{screen}");
        assert!(
            screen.is_ascii() && screen.lines().all(|line| line.len() <= columns.parse().unwrap()),
            "{screen}"
        );
        let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        let at = |text: &str| flowing.find(text).unwrap_or_else(|| panic!("{text} is not in\n{screen}"));
        let fork = at("fork reaped +27% from 6.1.0 to 6.12.0 (184 us to 234 us)");
        let placed = at(
            "only because the scheduler chose other CPUs: pipe_latency threads,free +200% from 6.12.0 to 6.18.0",
        );
        assert!(fork < placed, "{screen}");
        // Of rows that do not fit, what did not move goes first, and what only the scheduler moved last.
        let table = &flowing[at("operation")..];
        assert!(table.contains("fork reaped +27%") && table.contains("and 14 rows more"), "{screen}");
    }
}
