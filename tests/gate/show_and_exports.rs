//! The screen and the exports of `compare`, the same again from `show`, the verbs `study` and `doctor`, and the progress in a
//! terminal. Through the built program. The golden files are what hyperfine 1.20 wrote.

use crate::support::needs::{needs, tool};
use crate::support::{PROGRAM, Ran, Sandbox, list, texts};
use serde_json::Value;

/// A file that hyperfine wrote for `hyperfine -N -r 2 'sleep 0.05' 'sleep 0.02' 'echo a|b'`.
macro_rules! golden {
    ($kind:literal) => {
        include_str!(concat!("../../crates/whyfaster/src/golden/plain.", $kind))
    };
}

/// A text with every number made the same, so that two files are compared but for what was measured.
fn shape(text: &str) -> String {
    let mut shape = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if !character.is_ascii_digit() {
            shape.push(character);
            continue;
        }
        let mut last = character;
        while let Some(&next) = characters.peek() {
            let exponent = last == 'e' && next == '-';
            if !(next.is_ascii_digit() || next == '.' || next == 'e' || exponent) {
                break;
            }
            last = next;
            characters.next();
        }
        shape.push('#');
    }
    shape
}

#[test]
fn exports_are_those_of_hyperfine() {
    let place = Sandbox::new();
    let hyperfine_s = ["-N", "-r", "2", "sleep 0.05", "sleep 0.02", "echo a|b"];
    let files = [
        ("--export-json", "out.json", golden!("json")),
        ("--export-csv", "out.csv", golden!("csv")),
        ("--export-markdown", "out.md", golden!("md")),
        ("--export-asciidoc", "out.adoc", golden!("adoc")),
        ("--export-orgmode", "out.org", golden!("org")),
    ];
    // A given unit, or the table's would hang on how long the first command took.
    let mut words = vec!["--no-check-output", "--time-unit", "millisecond", "--style", "none"];
    words.extend(files.iter().flat_map(|(option, file, _)| [*option, *file]));
    words.extend(hyperfine_s);
    let ran = place.compare(&words).ok();
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""), "--style none prints nothing");
    for (_, file, golden) in files {
        assert_eq!(shape(&place.read(file)), shape(golden), "{file}");
    }
    let exported = place.json("out.json");
    for result in list(&exported["results"]) {
        let times = crate::support::numbers(&result["times"]);
        let mean = times.iter().sum::<f64>() / 2.0;
        assert!((crate::support::number(&result["mean"]) - mean).abs() < 1e-12, "{result}");
    }
    assert!(
        crate::support::number(&exported["results"][0]["min"]) >= 0.05,
        "sleeping 50 ms takes at least that"
    );
}

#[test]
fn an_export_to_a_dash_is_standard_output() {
    let place = Sandbox::new();
    for (option, first) in [
        ("--export-json", "{"),
        ("--export-csv", "command,mean,stddev,median,user,system,min,max"),
        ("--export-markdown", "| Command |"),
        ("--export-asciidoc", "[cols="),
        ("--export-orgmode", "| Command  |"),
    ] {
        let ran = place.compare(&["-N", "-r", "1", "--style", "none", option, "-", "true"]).ok();
        assert!(ran.out.starts_with(first), "{option}: {}", ran.out);
        assert!(ran.out.ends_with('\n') && !place.path("-").exists(), "{option}: {}", ran.out);
    }
}

/// The rows of an exported Markdown table: command and mean.
fn rows(table: &str) -> Vec<(&str, &str)> {
    table
        .lines()
        .skip(2)
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (cells[1], cells[2])
        })
        .collect()
}

#[test]
fn unit_and_order_are_as_asked_for() {
    let place = Sandbox::new();
    let table = |options: &[&str]| {
        let words = ["-N", "-r", "2", "--style", "none", "--export-markdown", "-", "sleep 0.3", "sleep 0.01"];
        place.compare(&[options, &words[..]].concat()).ok().out
    };
    let commands = |options: &[&str]| {
        let table = table(options);
        rows(&table).iter().map(|row| row.0.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(commands(&[]), ["`sleep 0.3`", "`sleep 0.01`"]);
    assert_eq!(commands(&["--sort", "command"]), ["`sleep 0.3`", "`sleep 0.01`"]);
    assert_eq!(commands(&["--sort", "mean-time"]), ["`sleep 0.01`", "`sleep 0.3`"]);
    for (unit, symbol, scale) in
        [("microsecond", "µs", 1e6), ("ms", "ms", 1e3), ("second", "s", 1.0), ("minute", "min", 1.0 / 60.0)]
    {
        let table = table(&["-u", unit]);
        assert!(table.contains(&format!("Mean [{symbol}]")), "{unit}: {table}");
        let mean: f64 = rows(&table)[0].1.split(' ').next().unwrap().parse().unwrap();
        let rounding = 0.05;
        assert!(mean + rounding >= 0.3 * scale && mean < 30.0 * scale + rounding, "{unit}: {table}");
    }
    let screen = place.compare(&["-N", "-r", "1", "-u", "microsecond", "sleep 0.01"]).ok().out;
    assert!(screen.contains("makespan us"), "{screen}");
}

#[test]
fn the_style_decides_colour_and_movement() {
    let place = Sandbox::new();
    let look = |style: &str| place.compare(&["-N", "-r", "2", "--style", style, "true", "/bin/true"]).ok();
    let colour = |text: &str| text.contains("\u{1b}[");
    for style in ["auto", "basic", "nocolor"] {
        let ran = look(style);
        assert!(!colour(&ran.out) && !ran.out.is_empty(), "{style}: {}", ran.out);
    }
    for style in ["full", "color"] {
        assert!(colour(&look(style).out), "{style}");
    }
    let words = ["compare", "-N", "-r", "2", "--load", "1,2", "true", "/bin/true"];
    let ascii: Ran = place.whyfaster(&words).env("LC_ALL", "C").output().unwrap().into();
    assert!(ascii.out.is_ascii() && ascii.err.is_ascii(), "{ascii:?}");
    let silent = look("none");
    assert_eq!((silent.out, silent.err), (String::new(), String::new()));
}

#[test]
fn show_prints_and_exports_the_same_again() {
    let place = Sandbox::new();
    let words = ["-r", "3", "--load", "1,2", "--reference", "sleep 0.05", "-L", "n", "1,2", "sleep 0.0{n}"];
    let first = ["--export-json", "a.json", "--export-csv", "a.csv", "--export-markdown", "a.md"];
    let ran = place.compare(&[&["--record", "r.json"], &first[..], &words].concat()).ok();
    let again = ["--export-json", "b.json", "--export-csv", "b.csv", "--export-markdown", "b.md"];
    let shown = place.run(&[&["show", "-v", "r.json"], &again[..]].concat()).ok();
    assert_eq!(shown.out, ran.out);
    for kind in ["json", "csv", "md"] {
        assert_eq!(place.read(&format!("a.{kind}")), place.read(&format!("b.{kind}")), "{kind}");
    }
    assert_eq!(place.run(&["show", "--json", "r.json"]).json(), place.json("r.json"));
    let seconds = place.run(&["show", "-v", "-u", "second", "r.json"]).ok().out;
    assert!(seconds.contains("makespan s") && !seconds.contains("makespan ms"), "{seconds}");
    let fastest_last = place.run(&["show", "--sort", "command", "--export-markdown", "-", "r.json"]).ok();
    assert!(fastest_last.out.contains("| `sleep 0.05 (load = 1)` |"), "{}", fastest_last.out);
}

#[test]
fn show_does_the_analysis_again() {
    let place = Sandbox::new();
    let mut record = place.compared(&["-N", "-r", "8", "sleep 0.01", "sleep 0.1"]);
    let whole = record["levels"].clone();
    record["levels"] = Value::Array(Vec::new());
    place.write("r.json", record.to_string());
    let again = place.run(&["show", "--json", "r.json"]).json();
    assert_eq!(again["levels"], whole, "what follows from the samples is made from the samples");
}

#[test]
fn studies_are_listed_and_pipes_runs() {
    let place = Sandbox::new();
    let listed = place.run(&["study"]).ok().out;
    assert!(format!("\n{listed}").contains("\npipes  "), "{listed}");
    place.run(&["study", "no-such-study"]).expect(2, &["no-such-study", "pipes"]);
    let mut without_mawk = place.whyfaster(&["study", "pipes"]);
    without_mawk.env("PATH", place.path("tmp"));
    place.finish(without_mawk).expect_error(6, &["mawk"]);
    needs!(tool("mawk"));
    let words = [
        &["study", "pipes", "--no-keep"][..],
        &["--load", "1", "--max-time", "3s", "--seed", "5", "--record", "r.json"],
    ]
    .concat();
    let ran = place.run(&words).ok();
    // The article's ratio at one copy, and its claims with a word on each.
    assert!(ran.out.contains("0.58"), "{}", ran.out);
    let verdicts = ["holds", "does not hold", "undecided"];
    assert!(verdicts.iter().any(|verdict| ran.out.contains(verdict)), "{}", ran.out);
    let record = place.json("r.json");
    assert_eq!((&record["study"], &record["plan"]["seed"]), (&Value::from("pipes"), &Value::from(5)));
    assert_eq!(texts(list(&record["alternatives"]), "name"), ["no-pipe", "use-pipe"]);
    let digests = texts(list(&record["trials"]), "stdout_sha256");
    assert_eq!(digests[0], digests[1], "both scripts do the same work");
    // The record is that of the study: its report and its page are made of it again.
    assert_eq!(place.run(&["show", "r.json"]).ok().out, ran.out);
    place.run(&["report", "r.json", "-o", "std.html"]).ok();
    assert!(place.read("std.html").contains("<section id=\"article\""));
    // Nothing but what was asked for; the rest is the harness's own.
    let entries = std::fs::read_dir(place.path("")).unwrap();
    let left = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name != "tmp" && !name.starts_with("std")).collect();
    assert_eq!(left, ["r.json"]);
    place.assert_clean();
}

#[test]
fn doctor_examines_this_machine() {
    let place = Sandbox::new();
    let text = place.run(&["doctor", "-v"]).ok().out;
    let json = place.run(&["doctor", "--json"]).json();
    assert!(text.contains("This machine:"), "{text}");
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(json["facts"]["kernel"], kernel.trim());
    assert!(text.contains(kernel.trim()), "{text}");
    for finding in list(&json["findings"]) {
        assert!(text.contains(finding["name"].as_str().unwrap()), "{finding}");
        assert_eq!(finding["mark"] == "ok", finding.get("remedy").is_none(), "{finding}");
    }
    assert!(!text.contains('\u{1b}'), "no colour where there is no terminal");
}

/// Runs the program in a terminal of 80 columns. What it wrote to the terminal, and whether it succeeded.
fn in_terminal(place: &Sandbox, environment: &str, words: &str) -> Ran {
    let line = format!("stty cols 80; {environment} {PROGRAM} {words}");
    let mut command = place.command("script", &["--quiet", "--return", "--command", &line, "/dev/null"]);
    command.env("TERM", "xterm");
    place.finish(command)
}

#[test]
fn progress_moves_in_a_terminal_and_is_gone_at_the_end() {
    let place = Sandbox::new();
    let words = "compare -N -r 4 'sleep 0.15' 'sleep 0.1'";
    let seen = in_terminal(&place, "", words).ok().out;
    assert!(seen.contains("left; round 1 of 4: timing "), "{seen}");
    // A bar is drawn over itself, with a carriage return or with the cursor moved.
    let bar = seen.rfind("round ").unwrap();
    assert!(seen[..bar].matches('\r').count() > 3, "{seen:?}");
    assert!(!seen[bar..].contains(" left; ") && seen[bar..].contains("CPUs busy"), "{seen:?}");
    assert!(seen.contains("\u{1b}["), "a terminal gets colours: {seen:?}");
    let coloured = |text: &str| {
        text.split("\u{1b}[").skip(1).any(|rest| {
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
                && !rest.starts_with(['m', '0'])
        })
    };
    assert!(coloured(&seen), "{seen:?}");
    let plain = in_terminal(&place, "NO_COLOR=1", words).ok().out;
    assert!(!coloured(&plain) && plain.contains("round "), "{plain:?}");
    let basic = in_terminal(&place, "", &words.replace("-N", "-N --style basic")).ok().out;
    assert!(!basic.contains('\u{1b}') && basic.contains("whyfaster: "), "{basic:?}");
}
