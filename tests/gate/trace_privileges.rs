//! What a user sees with a program that has the capabilities of the full level (`make install-caps`): all of their own processes, and
//! of others names and times.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::support::needs::{Need, capabilities, machine, mounts, needs, root};
use crate::support::trace::{compile, rows};
use crate::support::user::{program_for_all, without_privileges};
use crate::support::{Ran, Sandbox, eventually};
use serde_json::Value;

/// The program as `make install-caps` leaves it, and another user.
struct Capable {
    place: Sandbox,
    program: String,
}

impl Capable {
    fn new() -> Need<Self> {
        root()?;
        let place = Sandbox::open();
        let program = program_for_all(&place);
        capabilities("cap_bpf,cap_perfmon+ep", &program)?;
        Ok(Self { place, program })
    }

    /// `whyfaster trace` as that user.
    fn trace(&self, args: &[&str]) -> Ran {
        let args = [&["trace", "--untraced-runs", "0"], args].concat();
        self.place.finish(without_privileges(&self.place, &self.program, &args))
    }

    /// `whyfaster trace --follow` as that user.
    fn follow(&self, pid: i32, args: &[&str]) -> Ran {
        let pid = pid.to_string();
        let args = [&["trace", "--follow", &pid, "--duration", "1"], args].concat();
        self.place.finish(without_privileges(&self.place, &self.program, &args))
    }

    /// A program that belongs to root and whose user becomes root.
    fn setuid_root(&self) -> Need<String> {
        let program = compile(&self.place, "becomes-root", BECOMES_ROOT);
        fs::set_permissions(&program, Permissions::from_mode(0o4755)).unwrap();
        let mut tried = without_privileges(&self.place, &program, &[]);
        machine(tried.status().unwrap().success(), "file system that heeds a setuid bit")?;
        Ok(program)
    }
}

/// Does what nobody is to see, and ends with 0 if it is root. With an argument it goes on doing so.
const BECOMES_ROOT: &str = r#"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    do {
        close(open("/secret/path", O_RDONLY));
        munmap(mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
        if (!fork()) { execl("/bin/ls", "secret-ls", "/secret/other", NULL); _exit(1); }
        wait(NULL);
    } while (argc > 1 && getppid() != 1);
    return geteuid() != 0;
}
"#;

/// The same by a program that lets nobody look into its memory from some point on.
const CLOSES_ITSELF: &str = r#"
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void) {
    close(open("/shown/path", O_RDONLY));
    prctl(PR_SET_DUMPABLE, 0);
    for (int i = 0; i < 5; i++) close(open("/secret/path", O_RDONLY));
    return 0;
}
"#;

/// A `true` that somebody else's debugger has changed: it leaves a child, which becomes root after the calibration.
const CHANGED_TRUE: &str = r#"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
static int size(const char *file) {
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0666);
    write(fd, "x", 1);
    int bytes = lseek(fd, 0, SEEK_END);
    close(fd);
    return bytes;
}
int main(void) {
    /* Only those of the first turn without the programs and of the first one with them. */
    if (size("made") > 40) return 0;
    if (fork()) return 0;
    for (int i = 0; i < 3; i++) close(i);
    while (access("begun", F_OK)) usleep(1000);
    if (!fork()) { execl("./becomes-root", "becomes-root", NULL); _exit(1); }
    wait(NULL);
    size("done");
    return 0;
}
"#;

/// One row of `skipped[]`.
fn row(command: &str, why: &str) -> Value {
    serde_json::json!([{ "command": command, "why": why, "processes": 1 }])
}

/// Nothing in these files and streams tells what was hidden.
#[track_caller]
fn tells_nothing(place: &Sandbox, ran: &Ran, files: &[&str]) {
    let seen = |text: &str| {
        text.lines()
            .find(|line| line.contains("secret") && !line.contains("cannot access"))
            .map(str::to_owned)
    };
    assert_eq!(seen(&ran.out).or(seen(&ran.err)), None);
    for file in files {
        let bytes = fs::read(place.path(file)).unwrap();
        assert_eq!(seen(&String::from_utf8_lossy(&bytes)), None, "{file}");
    }
}

#[test]
fn the_file_gives_the_full_level_and_the_command_has_none() {
    let capable = needs!(Capable::new());
    let trace = capable.trace(&["--json", "grep -q 'CapEff:.0*$' /proc/self/status"]).json();
    assert_eq!((trace["level"].as_str(), trace["exit_status"].as_i64()), (Some("full"), Some(0)));
    assert!(!rows(&trace, "syscalls").is_empty());
    assert!(rows(&trace, "skipped").is_empty(), "{}", trace["skipped"]);
    // The other levels work with such a file as well.
    assert_eq!(capable.trace(&["--json", "--level", "unprivileged", "true"]).json()["processes"]["execs"], 1);
    assert_eq!(capable.trace(&["--json", "--level", "ptrace", "true"]).json()["level"], "ptrace");
}

#[test]
fn a_process_of_another_user_is_not_followed() {
    let capable = needs!(Capable::new());
    let line =
        format!("while :; do cat /secret/path 2>/dev/null; sleep 0.02; done # {}", capable.place.marker);
    let of_root = capable.place.begin(capable.place.command("sh", &["-c", &line]));
    let ran = capable.follow(of_root.pid(), &["--calls"]);
    ran.expect_error(6, &["another user", "sudo"]);
    tells_nothing(&capable.place, &ran, &[]);
    assert!(!ran.err.contains("0x"), "an address: {}", ran.err);
    // Whoever may look into it anyway observes it: the rule is about the caller.
    let pid = of_root.pid().to_string();
    let ran = capable.place.run(&["trace", "--follow", &pid, "--duration", "1", "--calls=openat"]);
    ran.expect(0, &["/secret/path"]);
}

#[test]
fn a_child_that_becomes_root_leaves_the_tree() {
    let capable = needs!(Capable::new());
    let program = needs!(capable.setuid_root());
    let place = &capable.place;
    let outputs =
        ["--calls", "--folded", "folded", "--perfetto", "perfetto", "--keep-schedule", "--record", "r.json"];
    let line = format!("id -u; {program}; true");
    let ran = capable.trace(&[&outputs[..], &["--json", &line]].concat()).ok();
    tells_nothing(place, &ran, &["folded", "perfetto", "r.json"]);
    let of_root = |line: &&str| line.contains(" becomes-root ") && !line.contains("execve(");
    assert_eq!(ran.err.lines().find(of_root), None);
    let trace: Value = serde_json::from_str(ran.out.trim_start_matches("65534\n")).unwrap();
    assert_eq!(trace["skipped"], row("becomes-root", "other_user"));
    assert!(rows(&trace, "checks").iter().all(|check| check["holds"] == true), "{:#}", trace["checks"]);
    // What waited for it is explained as far as its name goes.
    let waits =
        rows(&trace, "waits").iter().any(|row| row["peer"] == "becomes-root" && row["cause"] == "child");
    assert!(waits, "{:#}", trace["waits"]);
    let shown = place.run(&["show", &place.file("r.json")]);
    assert!(shown.flowing().contains("skipped: 1 process of another user: becomes-root;"), "{}", shown.out);
    // The stream that was kept says the same.
    let record: Value = place.json("r.json");
    assert!(record["schedule"]["events"].as_u64().unwrap() > 0);
    // Root sees it as any other child.
    let ran = place.run(&["trace", "--untraced-runs", "0", "--as-root", "--calls=openat", "--json", &line]);
    ran.expect(0, &["/secret/path"]);
    assert!(!ran.out.contains("other_user"), "{}", ran.out);
}

#[test]
fn of_a_running_tree_the_own_part_is_followed() {
    let capable = needs!(Capable::new());
    let program = needs!(capable.setuid_root());
    let place = &capable.place;
    let marker = &place.marker;
    let line = format!("{program} {marker} >/dev/null 2>&1 & while :; do sleep 0.02; done");
    let tree = place.begin(without_privileges(place, "sh", &["-c", &line]));
    eventually("the child of root", || {
        let listed =
            fs::read_to_string(format!("/proc/{0}/task/{0}/children", tree.pid())).unwrap_or_default();
        let is_it = |pid: &str| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "becomes-root")
        };
        listed.split_whitespace().any(is_it)
    });
    let ran = capable.follow(tree.pid(), &["--calls", "--json"]);
    place.end_sleepers();
    let trace = ran.json();
    tells_nothing(place, &ran, &[]);
    let why: Vec<&str> = rows(&trace, "skipped").iter().filter_map(|row| row["why"].as_str()).collect();
    assert!(!why.is_empty() && why.iter().all(|why| *why == "other_user"), "{}", trace["skipped"]);
    assert!(rows(&trace, "commands").iter().any(|row| row["command"] == "sleep"), "{:#}", trace["commands"]);
}

#[test]
fn who_lets_nobody_look_into_its_memory_leaves_the_tree() {
    let capable = needs!(Capable::new());
    let program = compile(&capable.place, "closes", CLOSES_ITSELF);
    let ran = capable.trace(&["--calls", "--json", "-N", &program]);
    ran.expect(0, &["/shown/path"]);
    tells_nothing(&capable.place, &ran, &[]);
    assert_eq!(ran.json()["skipped"], row("closes", "not_dumpable"));
}

#[test]
fn what_a_calibrating_process_leaves_behind_is_not_shown() {
    needs!(mounts());
    let capable = needs!(Capable::new());
    needs!(capable.setuid_root());
    let place = &capable.place;
    let changed = compile(place, "changed", CHANGED_TRUE);
    let trace = [
        &capable.program,
        "trace",
        "--untraced-runs=0",
        "--calls",
        "--json",
        "--perfetto=perfetto",
        "--keep-schedule",
        "--record=r.json",
        "touch begun; while [ $(wc -c <done || echo 0) -lt 40 ]; do sleep 0.01; done 2>/dev/null",
    ];
    // A process that may trace its caller's processes could put such code into `true`; the test replaces the file.
    let line = r#"mount --bind "$0" "$(realpath /bin/true)" && exec setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@""#;
    let words = [&["-m", "sh", "-c", line, &changed], &trace[..]].concat();
    let ran = place.finish(place.command("unshare", &words)).ok();
    assert_eq!(place.read("done").len(), 40);
    tells_nothing(place, &ran, &["perfetto", "r.json"]);
    assert!(!ran.err.contains("becomes-root"), "{}", ran.err);
    let trace = ran.json();
    assert!(rows(&trace, "skipped").is_empty(), "{}", trace["skipped"]);
    assert!(rows(&trace, "checks").iter().all(|check| check["holds"] == true), "{:#}", trace["checks"]);
}

/// A `true` that tries to look into the calibrating process, which waits for it, and into the parent of that one.
const TRIES_ITS_PARENTS: &str = r#"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>
static void tried(FILE *out, const char *how, int pid, const char *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    int fd = *file ? open(path, O_RDONLY) : 0;
    long done = *file ? fd : ptrace(PTRACE_SEIZE, pid, 0, 0);
    fprintf(out, "%s %s: %s\n", how, *file ? file : "seize", done < 0 ? strerror(errno) : "done");
    if (*file) close(fd); else ptrace(PTRACE_DETACH, pid, 0, 0);
}
static int parent_of(int pid) {
    char path[64], line[256];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, "PPid:", 5)) parent = atoi(line + 5);
    if (status) fclose(status);
    return parent;
}
int main(void) {
    FILE *out = fopen("tried", "wx");
    if (!out) return 0;
    int pids[] = {getppid(), parent_of(getppid())};
    for (int i = 0; i < 2; i++) {
        const char *who = i ? "grandparent" : "parent";
        tried(out, who, pids[i], "");
        tried(out, who, pids[i], "mem");
        tried(out, who, pids[i], "fd/0");
    }
    fclose(out);
    return 0;
}
"#;

#[test]
fn nobody_looks_into_what_calibrates() {
    needs!(mounts());
    let capable = needs!(Capable::new());
    let place = &capable.place;
    let tries = compile(place, "tries", TRIES_ITS_PARENTS);
    // A user may do all of it to ordinary processes: two shells, the second a child of the first.
    place.finish(without_privileges(place, "sh", &["-c", &format!("sh -c '{tries}; :'; :")])).ok();
    let wanted = |seize: &str, file: &str| {
        let of = |who| {
            [format!("{who} seize: {seize}"), format!("{who} mem: {file}"), format!("{who} fd/0: {file}")]
        };
        ["parent", "grandparent"].map(of).concat()
    };
    let yama = "ptrace of a parent (kernel.yama.ptrace_scope=0)";
    needs!(machine(place.lines("tried") == wanted("done", "done"), yama));
    fs::remove_file(place.path("tried")).unwrap();
    let line = r#"mount --bind "$0" "$(realpath /bin/true)" && exec setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@""#;
    let trace = [&capable.program, "trace", "--untraced-runs=0", "--", "sh", "-c", "test -s tried"];
    place.finish(place.command("unshare", &[&["-m", "sh", "-c", line, &tries], &trace[..]].concat())).ok();
    assert_eq!(place.lines("tried"), wanted("Operation not permitted", "Permission denied"));
}
