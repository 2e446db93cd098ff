//! Start-ups of runtimes that people use: they end where the program's own work begins. docs/src/method/work.md has the table.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::process::Command;

use crate::support::Sandbox;
use crate::support::needs::{full, needs, tool};
use crate::support::trace::{rows, traced};
use serde_json::Value;

/// Looks at one file of the system, which a program makes itself. They take longer than most start-ups.
const LOOKS: u32 = 20_000;

/// Own work may look like start-up up to this part of it.
const WRONG: f64 = 0.05;

/// The start-up itself takes longer or shorter from run to run, by this part of it and by so many seconds.
const VARIES: f64 = 0.4;
const VARIES_S: f64 = 0.002;

/// CPU time of a trace, and of that the start-up, seconds.
fn cpu(place: &Sandbox, words: &[&str]) -> (f64, f64) {
    let trace = traced(place, &[&["--level", "full", "-N", "--"], words].concat());
    let work = rows(&trace, "work");
    let sum = |wanted: &dyn Fn(&Value) -> bool| -> f64 {
        work.iter().filter(|row| wanted(row)).map(|row| row["seconds"].as_f64().unwrap()).sum()
    };
    (sum(&|_| true), sum(&|row| row["kind"] == "startup"))
}

/// The start-up of a command that does nothing is most of it, and a command that works as well has no longer one.
#[track_caller]
fn ends(place: &Sandbox, name: &str, nothing: &[&str], works: &[&str]) {
    let (of_nothing_s, startup_s) = cpu(place, nothing);
    let (all_s, with_work_s) = cpu(place, works);
    println!(
        "{name}: nothing {:.2} ms, of that start-up {:.2} ms; with work {:.2} ms, of that start-up {:.2} ms",
        of_nothing_s * 1e3,
        startup_s * 1e3,
        all_s * 1e3,
        with_work_s * 1e3
    );
    let own_s = (all_s - of_nothing_s).max(0.0);
    let most_s = startup_s * (1.0 + VARIES) + VARIES_S + WRONG * own_s;
    assert!(own_s > 0.0 && with_work_s <= most_s, "{name}: {with_work_s} s with work, {startup_s} s without");
    assert!(startup_s > 0.0, "{name} has no start-up");
}

/// A program of C that works if it has an argument.
fn compiled(place: &Sandbox, name: &str, options: &[&str]) -> String {
    let source = format!(
        r#"#include <sys/stat.h>
int main(int n, char **v) {{ struct stat s; for (int i = 0; n > 1 && i < {LOOKS}; i++) stat("/etc/passwd", &s); return 0; }}"#
    );
    let (file, program) = (format!("{name}.c"), place.file(name));
    place.write(&file, source);
    place.finish(place.command("gcc", &[&["-O1", "-o", &program, &file], options].concat())).ok();
    program
}

#[test]
fn of_programs_of_c() {
    needs!(full().and(tool("gcc")));
    let place = Sandbox::open();
    for (name, options) in [("dynamic", &[][..]), ("static", &["-static"][..])] {
        let program = compiled(&place, name, options);
        ends(&place, name, &[&program], &[&program, "work"]);
    }
}

#[test]
fn of_shells() {
    needs!(full());
    let place = Sandbox::open();
    let work = format!("i=0; while [ $i -lt {LOOKS} ]; do [ -e /etc/passwd ]; i=$((i+1)); done");
    place.write("nothing", ":\n");
    place.write("work", format!("{work}\n"));
    for shell in ["/bin/sh", "/bin/bash"] {
        ends(&place, &format!("{shell} FILE"), &[shell, "nothing"], &[shell, "work"]);
        ends(&place, &format!("{shell} -c"), &[shell, "-c", ":"], &[shell, "-c", &work]);
    }
}

/// A runtime with a script. `path`: prints where the program itself is; what is found on PATH may be a script that begins it.
#[track_caller]
fn of_runtime(runtime: &str, path: &[&str], nothing: &str, work: &str) {
    let place = Sandbox::open();
    let program = match path {
        [] => runtime.to_owned(),
        words => {
            let output = Command::new(runtime).args(words).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        }
    };
    place.write("nothing", nothing);
    place.write("work", work);
    ends(&place, runtime, &[&program, "nothing"], &[&program, "work"]);
}

#[test]
fn of_python() {
    needs!(full().and(tool("python3")));
    let work = format!("import os, json\nfor i in range({LOOKS}): os.stat('/etc/passwd')\n");
    of_runtime("python3", &["-c", "import sys; print(sys.executable)"], "import os, json\n", &work);
}

#[test]
fn of_perl() {
    needs!(full().and(tool("perl")));
    let begins = "use POSIX; use File::Find;\n";
    let work = format!("{begins}for (my $i = 0; $i < {LOOKS}; $i++) {{ -e '/etc/passwd' }}\n");
    of_runtime("perl", &[], begins, &work);
}

#[test]
fn of_ruby() {
    needs!(full().and(tool("ruby")));
    let work = format!("require 'json'\n{LOOKS}.times {{ File.exist?('/etc/passwd') }}\n");
    of_runtime("ruby", &[], "require 'json'\n", &work);
}

#[test]
fn of_node() {
    needs!(full().and(tool("node")));
    let begins = "const fs = require('fs');\n";
    let work = format!("{begins}for (let i = 0; i < {LOOKS}; i++) fs.existsSync('/etc/passwd');\n");
    of_runtime("node", &["-p", "process.execPath"], begins, &work);
}

#[test]
fn of_java() {
    needs!(full().and(tool("java")).and(tool("javac")));
    let place = Sandbox::open();
    let source = format!(
        "public class Work {{ public static void main(String[] a) {{ \
         for (int i = 0; a.length > 0 && i < {LOOKS}; i++) new java.io.File(\"/etc/passwd\").exists(); }} }}"
    );
    place.write("Work.java", source);
    place.finish(place.command("javac", &["Work.java"])).ok();
    let home = Command::new("java").args(["-XshowSettings:properties", "-version"]).output().unwrap();
    let home = String::from_utf8(home.stderr).unwrap();
    let home = home.lines().find_map(|line| line.trim().strip_prefix("java.home = ")).unwrap().to_owned();
    let java = format!("{home}/bin/java");
    ends(&place, "java", &[&java, "Work"], &[&java, "Work", "work"]);
}

#[test]
fn of_go() {
    needs!(full().and(tool("go")));
    let place = Sandbox::open();
    let source = format!(
        "package main\nimport \"os\"\nfunc main() {{ for i := 0; len(os.Args) > 1 && i < {LOOKS}; i++ {{ os.Stat(\"/etc/passwd\") }} }}\n"
    );
    place.write("work.go", source);
    let program = place.file("work");
    let cache = place.file("cache");
    let mut build = place.command("go", &["build", "-o", &program, "work.go"]);
    build.env("GOCACHE", &cache).env("HOME", place.file("home"));
    place.finish(build).ok();
    ends(&place, "go", &[&program], &[&program, "work"]);
}
