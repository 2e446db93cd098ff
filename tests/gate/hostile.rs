//! The attacks of SECURITY.md: a program of the user who called sudo works against a whyfaster that root runs, or a user against the
//! capabilities of its file.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::needs::{capabilities, needs, root, tool};
use crate::support::user::{NOBODY, USER, as_user, program_for_all, under_sudo};
use crate::support::{Ran, Sandbox, eventually, terminal};

/// A sandbox of the caller's, and beside it a directory of root's that the caller may not enter.
struct Scene {
    place: Sandbox,
    vault: tempfile::TempDir,
}

/// One in a home directory is closed to the caller.
const PYTHON: &str = "/usr/bin/python3";

/// Owner, rights and content.
type Fact = (u32, u32, u32, Vec<u8>);

impl Scene {
    fn new() -> Self {
        let place = Sandbox::open();
        for dir in ["results", "state"] {
            fs::create_dir(place.path(dir)).unwrap();
        }
        for dir in [".", "results", "state"] {
            chown(place.path(dir), Some(65_534), Some(65_534)).unwrap();
        }
        // It belongs to root and is open, so that only the rights of whyfaster decide what appears in it.
        let vault = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
        fs::write(vault.path().join("existing"), "of root").unwrap();
        fs::set_permissions(vault.path().join("existing"), Permissions::from_mode(0o600)).unwrap();
        fs::create_dir(vault.path().join("directory")).unwrap();
        Self { place, vault }
    }

    /// Everything of root's, by name.
    fn facts(&self) -> BTreeMap<PathBuf, Fact> {
        fn walk(directory: &Path, all: &mut BTreeMap<PathBuf, Fact>) {
            for entry in fs::read_dir(directory).unwrap().flatten() {
                let about = entry.metadata().unwrap();
                let text = if about.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
                all.insert(entry.path(), (about.uid(), about.gid(), about.mode(), text));
                if about.is_dir() {
                    walk(&entry.path(), all);
                }
            }
        }
        let mut all = BTreeMap::new();
        walk(self.vault.path(), &mut all);
        all
    }

    fn vault(&self, name: &str) -> String {
        self.vault.path().join(name).to_str().unwrap().to_owned()
    }

    /// A program of the caller's that runs beside whyfaster until it is dropped.
    fn beside(&self, script: &str, args: &[&str]) -> Beside {
        self.place.write("hostile.py", script);
        let script = self.place.file("hostile.py");
        let mut command = as_user(&self.place, NOBODY, PYTHON, &[&[script.as_str()], args].concat());
        Beside(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

struct Beside(Child);

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Every output of the verbs that run commands, below `results`.
const OUTPUTS: [(&str, &str); 8] = [
    ("--record", "r.json"),
    ("--export-json", "e.json"),
    ("--export-csv", "e.csv"),
    ("--export-markdown", "e.md"),
    ("--export-asciidoc", "e.adoc"),
    ("--html", "p.html"),
    ("--svg", "p.svg"),
    ("--png", "p.png"),
];

fn outputs(of: &[(&str, &str)]) -> Vec<String> {
    of.iter().flat_map(|(option, file)| [(*option).to_owned(), format!("results/{file}")]).collect()
}

/// The words of a verb: its name, its outputs, and what it measures.
fn words<'a>(verb: &[&'a str], outputs: &'a [String], rest: &[&'a str]) -> Vec<&'a str> {
    verb.iter().copied().chain(outputs.iter().map(String::as_str)).chain(rest.iter().copied()).collect()
}

#[test]
fn no_output_follows_a_link_that_a_measured_command_planted() {
    needs!(root());
    for target in ["planted", "existing"] {
        let scene = Scene::new();
        let before = scene.facts();
        let plant = |files: &[(&str, &str)]| {
            let link = |(_, file): &(&str, &str)| format!("ln -sfn {} results/{file}", scene.vault(target));
            files.iter().map(link).collect::<Vec<_>>().join("; ")
        };
        let (files, line) = (outputs(&OUTPUTS), plant(&OUTPUTS));
        let compare =
            words(&["compare", "--runs=2", "--why=no", "--no-check-output"], &files, &[&line, "true"]);
        scene.place.finish(under_sudo(&scene.place, &compare)).ok();
        assert_eq!(scene.facts(), before, "compare");
        // The file is there all the same, and is the caller's.
        let record = fs::symlink_metadata(scene.place.path("results/r.json")).unwrap();
        assert!(record.is_file() && record.uid() == 65_534);
        let of_trace = [("--record", "t.json"), ("--html", "t.html")];
        let (files, line) = (outputs(&of_trace), plant(&of_trace));
        let trace = words(&["trace", "--untraced-runs=0"], &files, &["--", "sh", "-c", &line]);
        scene.place.finish(under_sudo(&scene.place, &trace)).ok();
        assert_eq!(scene.facts(), before, "trace");
    }
}

#[test]
fn an_output_that_the_caller_cannot_write_is_refused_before_anything_runs() {
    needs!(root());
    let scene = Scene::new();
    let record = scene.vault("directory/r.json");
    let ran = scene.place.finish(under_sudo(&scene.place, &["compare", "--record", &record, "touch ran"]));
    ran.expect_error(1, &[&record, "Permission denied", "called sudo (uid 65534)", "--as-root"]);
    assert!(!scene.place.path("ran").exists());
    scene
        .place
        .finish(under_sudo(&scene.place, &["compare", "--as-root", "--runs=1", "--record", &record, "true"]))
        .ok();
    assert_eq!(fs::metadata(record).unwrap().uid(), 0);
}

#[test]
fn no_output_follows_a_directory_that_a_measured_command_exchanged() {
    needs!(root());
    let scene = Scene::new();
    let before = scene.facts();
    let files = outputs(&OUTPUTS);
    let exchange =
        format!("test -L results || {{ mv results aside && ln -s {} results; }}", scene.vault("directory"));
    let compare =
        words(&["compare", "--runs=2", "--why=no", "--no-check-output"], &files, &[&exchange, "true"]);
    scene.place.finish(under_sudo(&scene.place, &compare)).ok();
    assert_eq!(scene.facts(), before);
    assert!(scene.place.path("aside/r.json").is_file(), "the record went to the directory that was found");
}

/// Links, exchanged directories and pipes at every name that whyfaster uses, as fast as a program can. What was told to wait begins when
/// a measured command runs, which then waits for the first thousand deeds.
const HOSTILE: &str = r#"
import os, random, sys, time
seed, how, target, names = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
chance = random.Random(seed)
while how != "before" and not os.path.exists("started"):
    time.sleep(0.001)
def victim():
    return chance.choice([target, target + "/existing", target + "/directory", target + "/directory/new", target + "/new"])
def below(name):
    try:
        return [name] + [os.path.join(name, it) for it in os.listdir(name)]
    except OSError:
        return [name]
tried = done = 0
while how != "ended" or tried < 1000:
    name = chance.choice(below(chance.choice(names)))
    # A directory at the name of a file ends a run with an error.
    deed = chance.randrange(5 if how == "ended" else 6)
    try:
        if deed == 0:
            spare = name + ".spare"
            if not os.path.lexists(spare):
                os.symlink(victim(), spare)
            os.rename(spare, name)
        elif deed == 1:
            os.rename(name, name + ".aside%d" % chance.randrange(3))
            os.symlink(victim(), name)
        elif deed == 2:
            os.unlink(name)
            os.mkfifo(name)
        elif deed == 3:
            os.unlink(name)
        elif deed == 4:
            os.link(victim(), name)
        else:
            os.mkdir(name, 0o777)
        done += 1
    except OSError:
        pass
    tried += 1
    if tried == 1000:
        with open("loose.spare", "w") as out:
            out.write(str(done))
        os.rename("loose.spare", "loose")
"#;

/// A program that the verbs run, planted in the search path: it leaves a marker, and goes on when the hostile program is at work.
fn held(place: &Sandbox) -> String {
    let here = place.path(".");
    format!(
        "#!/bin/sh\n: >>{0}/started\nwhile ! test -e {0}/loose; do /bin/sleep 0.01; done\nexec /usr/bin/${{0##*/}} \"$@\"\n",
        here.display()
    )
}

/// The files of these names below a directory, wherever they were moved to.
fn found(directory: &Path, name: &str) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            all.extend(found(&entry.path(), name));
        } else if kind.is_file() && entry.file_name().to_string_lossy().starts_with(name) {
            all.push(fs::read(entry.path()).unwrap());
        }
    }
    all
}

/// A way in which the hostile program works against a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Attack {
    /// The outputs lead into root's directory from the beginning.
    Linked,
    /// From before the start of whyfaster.
    Before,
    /// From the first measured command on, when all places are held.
    During,
    /// The same, but over before whyfaster writes.
    Ended,
}

const RECORD: &str = "--record=results/r.json";
const PAGE: &str = "--html=results/p.html";
const SAVE: &str = "--save";
const STORE: &str = "--store=results/store.db";

const VERBS: [&[&str]; 5] = [
    &["compare", "--runs=3", "--no-check-output", RECORD, PAGE, SAVE, STORE, "env true", "sleep 0.01"],
    &["trace", "--untraced-runs=0", RECORD, PAGE, SAVE, STORE, "--", "sh", "-c", "env true | true"],
    &["prices", "getpid", "--quick", RECORD, PAGE, SAVE, STORE, "--inside=command:env --"],
    &["study", "pipes", "--quick", "--max-time=1s", RECORD, PAGE, "--flamegraphs=results/graphs"],
    &["demo", "--max-time=1s", RECORD],
];

impl Attack {
    /// The names that it works on.
    fn names(self, verb: &str) -> &'static [&'static str] {
        let all = &["results", "results/r.json", "results/p.html", "results/store.db", "state", "tmp"];
        match (self, verb) {
            // The outputs must be there in the end.
            (Self::Ended, _) => &all[..3],
            // The worker of prices is in `tmp`: without it nothing would be left to write.
            (Self::During, "prices") => &all[..5],
            _ => all,
        }
    }

    /// Runs the verb under it.
    fn on(self, verb: &[&str], seed: usize) {
        let scene = Scene::new();
        let (place, before) = (&scene.place, scene.facts());
        fs::create_dir(place.path("planted")).unwrap();
        for name in ["env", "mawk", "sed"] {
            place.script(&format!("planted/{name}"), &held(place));
        }
        let beside = self.begin(&scene, verb[0], seed);
        let mut command = under_sudo(place, verb);
        command.env("PATH", format!("{}:{}", place.file("planted"), std::env::var("PATH").unwrap()));
        let ran = place.finish(command);
        drop(beside);
        let said = format!("{self:?} {seed} {verb:?}: {}\n{}", ran.err, ran.out);
        assert!(!ran.err.contains("panicked"), "{said}");
        assert_eq!(scene.facts(), before, "{said}");
        self.judge(place, verb, &ran, &said);
    }

    fn begin(self, scene: &Scene, verb: &str, seed: usize) -> Option<Beside> {
        let place = &scene.place;
        let how = match self {
            Self::Linked => {
                place.write("loose", "");
                fs::remove_dir(place.path("results")).unwrap();
                symlink(scene.vault("directory"), place.path("results")).unwrap();
                return None;
            }
            Self::Before => "before",
            Self::During => "during",
            Self::Ended => "ended",
        };
        let (seed, vault) = (seed.to_string(), scene.vault.path().to_str().unwrap());
        let beside = scene.beside(HOSTILE, &[&[seed.as_str(), how, vault], self.names(verb)].concat());
        if self == Self::Before {
            eventually("the hostile program is at work", || place.path("loose").exists());
        }
        Some(beside)
    }

    fn judge(self, place: &Sandbox, verb: &[&str], ran: &Ran, said: &str) {
        if [Self::During, Self::Ended].contains(&self) {
            // The places were held by then, and a thousand deeds were tried before anything was written.
            assert!(place.path("started").exists(), "{said}");
            assert!(place.read("loose").parse::<u32>().unwrap() >= 10, "{said}");
        }
        if self == Self::Ended {
            assert_eq!(ran.code(), 0, "{said}");
            let record = |bytes: &Vec<u8>| serde_json::from_slice::<Value>(bytes).is_ok();
            assert!(found(&place.path("."), "r.json").iter().any(record), "{said}");
            let page = |bytes: &Vec<u8>| bytes.starts_with(b"<!DOCTYPE html>");
            let pages = found(&place.path("."), "p.html");
            assert!(!verb.contains(&PAGE) || pages.iter().any(page), "{said}");
        } else {
            // An error about such a place is what the caller did to itself.
            let names = ["results", "state", "tmp"].iter().any(|it| ran.err.contains(it));
            let refused = ran.err.contains("error: ") && names;
            assert!(refused || ran.code() == 0 && self != Self::Linked, "{said}");
        }
    }
}

/// The property: whatever the caller's program does to the caller's directories, nothing of root's changes, and nothing appears there.
#[test]
fn nothing_of_roots_changes_whatever_the_caller_does_to_its_own_directories() {
    needs!(root());
    needs!(tool(PYTHON));
    let attacks = [Attack::Linked, Attack::Before, Attack::During, Attack::Ended];
    for (turn, attack) in attacks.into_iter().enumerate() {
        for (number, verb) in VERBS.into_iter().enumerate() {
            // A store that was moved away is an error, so two attacks are without.
            let stored = [Attack::Linked, Attack::During].contains(&attack);
            let verb: Vec<_> =
                verb.iter().copied().filter(|it| stored || ![SAVE, STORE].contains(it)).collect();
            attack.on(&verb, turn * VERBS.len() + number);
        }
    }
}

/// Root mounts a file system for this study.
#[test]
fn a_study_mounts_nothing_in_a_directory_of_the_callers() {
    needs!(root());
    needs!(tool(PYTHON));
    let scene = Scene::new();
    let before = scene.facts();
    let vault = scene.vault.path().to_str().unwrap();
    let beside = scene.beside(HOSTILE, &["0", "before", vault, "results", "state", "tmp"]);
    eventually("the hostile program is at work", || scene.place.path("loose").exists());
    let study = ["study", "placement", "--quick", "--max-time=1s", "--flamegraphs=results/graphs"];
    let ran = scene.place.finish(under_sudo(&scene.place, &study));
    drop(beside);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    assert_eq!(scene.facts(), before, "{}", ran.err);
}

/// Links at the names of the logs and of the stamps, before `study ladder` makes them.
const LADDER: &str = r#"
import glob, os, sys
tmp, canary = sys.argv[1:]
while True:
    for at in glob.glob(tmp + "/whyfaster-ladder-*.tmp"):
        for name in ("fork.client.log", "xargs.client.log", "xargs.d/stamps", "fork.d/stamps", "sweeper.log"):
            try:
                os.symlink(canary, at + "/" + name)
            except OSError:
                pass
        for name in ("xargs.d", "fork.d"):
            try:
                os.unlink(at + "/" + name + "/stamps")
                os.symlink(canary, at + "/" + name + "/stamps")
            except OSError:
                pass
"#;

#[test]
fn the_ladder_writes_to_no_file_of_roots() {
    needs!(root());
    needs!(tool(PYTHON));
    let scene = Scene::new();
    let before = scene.facts();
    let beside = scene.beside(LADDER, &[&scene.place.file("tmp"), &scene.vault("existing")]);
    let ladder = ["study", "ladder", "--quick", "--engines=fork,xargs", "--load=1", "--max-time=5s"];
    let ran = scene.place.finish(under_sudo(&scene.place, &ladder));
    drop(beside);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    assert_eq!(scene.facts(), before, "{}", ran.err);
}

#[test]
fn under_sudo_the_store_is_found_and_is_the_callers() {
    needs!(root());
    let scene = Scene::new();
    let run = |words: &[&str]| {
        let mut command = under_sudo(&scene.place, words);
        command.env("WHYFASTER_STORE", scene.place.file("results/store.db"));
        scene.place.finish(command).ok()
    };
    run(&["compare", "--runs=2", "--why=no", "--save", "--label=sudo", "true", "true"]);
    assert!(run(&["store", "list"]).out.contains("sudo"));
    assert_eq!(fs::metadata(scene.place.path("results/store.db")).unwrap().uid(), 65_534);
}

#[test]
fn the_store_and_the_kept_records_stay_where_they_were_found() {
    needs!(root());
    for existing in [false, true] {
        let scene = Scene::new();
        let words =
            ["compare", "--runs=2", "--why=no", "--no-check-output", "--save", "--store=results/store.db"];
        let run = |command: &str| {
            scene.place.finish(under_sudo(&scene.place, &[&words[..], &[command, "true"]].concat()))
        };
        if existing {
            run("true").ok();
        }
        let before = scene.facts();
        let vault = scene.vault("directory");
        let ran = run(&format!(
            "test -L results || {{ mv results aside && ln -s {vault} results && mv state kept && ln -s {vault} state; }}"
        ));
        if existing {
            // Nobody would find the record there again without a word.
            ran.expect_error(
                1,
                &["results/store.db", "was moved, replaced or removed", "whyfaster show --list"],
            );
        } else {
            ran.ok();
        }
        assert_eq!(scene.facts(), before);
        assert!(scene.place.path("aside/store.db").is_file());
        let kept = fs::read_dir(scene.place.path("kept/whyfaster/records")).unwrap();
        assert_eq!(kept.count(), 1 + usize::from(existing));
    }
}

#[test]
fn records_are_not_kept_where_another_user_leads_a_link() {
    needs!(root());
    let scene = Scene::new();
    let before = scene.facts();
    for link in ["whyfaster", "whyfaster/records"] {
        let at = scene.place.path("state").join(link);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(scene.vault("directory"), &at).unwrap();
        // Root itself, with the state directory of a user.
        scene.place.run(&["compare", "--runs=2", "--why=no", "true", "true"]).ok();
        assert_eq!(scene.facts(), before, "{link}");
        fs::remove_file(at).unwrap();
    }
}

/// Notes every way to a terminal that a process of the caller finds and a shell of root's reads after it.
const TERMINAL: &str = r#"
import fcntl, os, sys, termios
found = []
for name in ("/dev/tty", "/proc/self/fd/2"):
    try:
        fd = os.open(name, os.O_RDWR)
        found.append("opened " + name)
    except OSError:
        continue
    try:
        for letter in b"injected\n":
            fcntl.ioctl(fd, termios.TIOCSTI, bytes([letter]))
        found.append("injected through " + name)
    except OSError:
        pass
with open(sys.argv[1], "w") as out:
    out.write("; ".join(it for it in found if it != "opened /proc/self/fd/2"))
"#;

#[test]
fn a_process_of_the_caller_has_no_terminal_that_root_reads_later() {
    needs!(root());
    needs!(tool(PYTHON));
    let place = Sandbox::open();
    place.write("terminal.py", TERMINAL);
    let attack = |seen: &str| format!("{PYTHON} {} {}", place.file("terminal.py"), place.file(seen));
    let (hook, traced) = (attack("hook"), attack("traced"));
    let program = under_sudo(&place, &[]);
    let mut shell = place.command(
        "sh",
        &[
            "-c",
            &format!(
                "$whyfaster compare --runs=1 --why=no --show-output --prepare '{hook}' true; \
         $whyfaster trace --untraced-runs=0 -- {traced}; \
         $whyfaster prices getpid --quick; echo ended; read -r line; echo \"root read: $line\""
            ),
        ],
    );
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            shell.env(name, value)
        } else {
            shell.env_remove(name)
        };
    }
    shell.env("whyfaster", program.get_program());
    let (mut master, child) = terminal::start(shell);
    let mut shown = String::new();
    // The worker of prices, while the shell waits for it.
    let mut worker = None;
    eventually("the worker of prices", || {
        let all = crate::support::processes();
        worker = all.filter_map(tty_of_worker).next().or(worker);
        worker.is_some()
    });
    terminal::show_until(&mut master, &mut shown, 0, "ended");
    std::io::Write::write_all(&mut master, b"typed\n").unwrap();
    let (_, rest) = terminal::end(master, child);
    assert!(rest.contains("root read: typed"), "{shown}{rest}");
    for seen in ["hook", "traced"] {
        assert_eq!(place.read(seen), "", "{seen}");
    }
    assert_eq!(worker, Some(0), "the worker has a terminal");
}

/// The terminal of a process that is a worker of prices; 0 is none (proc_pid_stat(5)).
fn tty_of_worker(pid: i32) -> Option<i64> {
    let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let uid = fs::metadata(format!("/proc/{pid}")).ok()?.uid();
    (words.starts_with(b"whyfaster-worker") && uid == 65_534)
        .then(|| stat[stat.rfind(')')? + 2..].split(' ').nth(4)?.parse().ok())?
}

/// A hook may ask on the caller's own terminal, into which `sudo whyfaster` was typed.
#[test]
fn a_hook_keeps_the_terminal_of_its_own_user() {
    needs!(root());
    let place = Sandbox::open();
    let prepare = format!("echo asked >/dev/tty && touch {}", place.file("asked"));
    let program = under_sudo(&place, &["compare", "--runs=1", "--why=no", "--prepare", &prepare, "true"]);
    let (master, child) = terminal::start(program);
    let (status, shown) = terminal::end(master, child);
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("asked") && place.path("asked").exists(), "{shown}");
}

#[test]
fn a_hook_starts_with_the_standard_streams_alone() {
    needs!(root());
    let place = Sandbox::open();
    let prepare = "ls /proc/self/fd >open";
    place.finish(under_sudo(&place, &["compare", "--runs=1", "--why=no", "--prepare", prepare, "true"])).ok();
    // `ls` itself opens the directory.
    assert_eq!(place.lines("open"), ["0", "1", "2", "3"]);
}

/// A line of `/proc/PID/status`.
fn status(pid: u32, name: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.trim_start_matches(':').trim().to_owned()
}

/// The rights of a verb that only reads, while it waits for its input.
fn waiting(mut command: Command, lines: &[&str]) -> Vec<String> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pid = child.id();
    // It reads its standard input, which is a pipe: pipe_read in fs/pipe.c, and read in the call.
    eventually("the verb waits for its input", || {
        let call = fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
        call.starts_with(&format!("{} 0x0 ", libc::SYS_read))
    });
    let found = lines.iter().map(|line| status(pid, line)).collect();
    drop(child.stdin.take());
    let _ = child.wait();
    found
}

#[test]
fn a_verb_that_only_reads_is_the_caller_and_has_no_capability() {
    needs!(root());
    let place = Sandbox::open();
    let found = waiting(under_sudo(&place, &["show", "-"]), &["Uid", "Gid", "CapPrm", "CapEff"]);
    let four = [NOBODY; 4].join("\t");
    assert_eq!(found, [four.as_str(), &four, "0000000000000000", "0000000000000000"]);
    let program = program_for_all(&place);
    needs!(capabilities("cap_bpf,cap_perfmon+ep", &program));
    let found = waiting(as_user(&place, USER, &program, &["show", "-"]), &["CapPrm", "CapEff"]);
    assert_eq!(found, ["0000000000000000"; 2]);
}

#[test]
fn variables_of_libbpf_reach_nobody() {
    let place = Sandbox::new().with("LIBBPF_BPF_TOKEN_PATH", "/nowhere");
    place.compare(&["--runs=1", "--no-check-output", "env >seen"]).ok();
    assert!(!place.read("seen").contains("LIBBPF"), "{}", place.read("seen"));
}
