//! Running the program in a place of its own, and finding what it leaves behind.
//!
//! Every run has a private `TMPDIR` and a marker: a number that the measured commands carry as the argument of `sleep`. A
//! process that was left behind has the marker in its command line or the directory in its environment.

#![allow(dead_code, reason = "every test file uses a part of it")]

#[path = "signals.rs"]
mod signals;

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_whyfaster");

/// No run in these tests takes longer, however slow the machine: whatever does hangs.
const PATIENCE: Duration = Duration::from_secs(300);

static RUNS: AtomicU32 = AtomicU32::new(0);

/// A place of its own.
#[derive(Debug)]
pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
    /// An argument for `sleep` that no other process has.
    pub(crate) marker: String,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A run under way.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("tmp")).unwrap();
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        Self { dir, marker: format!("1{:08}.{run:04}7", std::process::id()) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The same as text, for an argument.
    pub(crate) fn file(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Makes a script that can be executed.
    pub(crate) fn script(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        self.file(name)
    }

    /// Anything, in this place.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).env("TMPDIR", self.path("tmp")).env("NO_COLOR", "1").current_dir(self.dir.path());
        command.env_remove("HYPERFINE_ITERATION").stdin(Stdio::null());
        signals::heard(&mut command);
        command
    }

    /// `whyfaster compare` with these arguments, unexplained: a test that counts runs does not want more of them.
    pub(crate) fn compare(&self, args: &[&str]) -> Ran {
        self.start(&[&["compare", "--no-why"], args].concat()).wait()
    }

    /// The program with these arguments.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait()
    }

    pub(crate) fn start(&self, args: &[&str]) -> Running {
        self.begin(self.command(PROGRAM, args))
    }

    /// The program as started by a shell line, in which it is called `$whyfaster`.
    pub(crate) fn shell(&self, line: &str) -> Ran {
        let mut command = self.command("sh", &["-c", line]);
        command.env("whyfaster", PROGRAM);
        self.begin(command).wait()
    }

    pub(crate) fn begin(&self, mut command: Command) -> Running {
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let (out, err) = (self.path(&format!("stdout-{number}")), self.path(&format!("stderr-{number}")));
        // Files and no pipes: a pipe would be held open by what is left behind.
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        Running { child: command.spawn().unwrap(), out, err }
    }

    /// Ends them: what waits for one goes on.
    pub(crate) fn end_sleepers(&self) {
        for pid in self.sleepers().into_iter().filter_map(Pid::from_raw) {
            // One that is gone already needs no end.
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Processes that have the marker as a word of their own: the measured `sleep`s.
    pub(crate) fn sleepers(&self) -> Vec<i32> {
        processes().filter(|&pid| words(pid).contains(&self.marker)).collect()
    }

    /// Waits until so many measured processes are there.
    pub(crate) fn wait_for_sleepers(&self, wanted: usize) {
        let what = || format!("{wanted} sleepers; said: {}", self.said());
        eventually_or(what, || self.sleepers().len() >= wanted);
    }

    /// What the programs that were started here have said so far, errors and reports.
    fn said(&self) -> String {
        let files = fs::read_dir(self.dir.path()).unwrap().flatten().map(|entry| entry.path());
        let streams = files.filter(|path| path.to_string_lossy().contains("/std"));
        streams.map(|path| fs::read_to_string(path).unwrap_or_default()).collect::<Vec<_>>().join("\n")
    }

    /// Everything that was started here and is alive, as text.
    pub(crate) fn alive(&self) -> Vec<String> {
        let tmp = format!("TMPDIR={}", self.path("tmp").display());
        let ours = |pid: &i32| {
            words(*pid).iter().any(|word| word.contains(&self.marker))
                || fs::read(format!("/proc/{pid}/environ")).is_ok_and(|text| {
                    text.split(|&byte| byte == 0).any(|entry| entry.starts_with(tmp.as_bytes()))
                })
        };
        processes().filter(ours).map(|pid| format!("{pid}: {}", words(pid).join(" "))).collect()
    }

    /// Nothing is left: no process, no temporary file, no half-written file beside a record.
    pub(crate) fn assert_clean(&self) {
        eventually(&format!("no process is left, but: {:#?}", self.alive()), || self.alive().is_empty());
        let tmp: Vec<_> = fs::read_dir(self.path("tmp")).unwrap().flatten().map(|e| e.file_name()).collect();
        assert!(tmp.is_empty(), "temporary files are left: {tmp:?}");
        let hidden: Vec<_> = fs::read_dir(self.dir.path())
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().into_string().unwrap())
            .filter(|name| name.starts_with('.') || name.ends_with(".tmp"))
            .collect();
        assert!(hidden.is_empty(), "half-written files are left: {hidden:?}");
    }

    /// A record that the program itself takes for whole.
    pub(crate) fn record(&self, name: &str) -> Value {
        let shown = self.run(&["show", &self.file(name)]);
        assert_eq!(shown.code(), 0, "the record cannot be shown: {}", shown.err);
        serde_json::from_slice(&fs::read(self.path(name)).unwrap()).unwrap()
    }
}

impl Running {
    pub(crate) fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Whether it has not ended yet.
    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal);
    }

    /// The process id of its launcher.
    pub(crate) fn launcher(&self) -> i32 {
        launcher_of(self.pid())
    }

    pub(crate) fn ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end; one that does not come fails the test.
    pub(crate) fn wait(mut self) -> Ran {
        let start = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if start.elapsed() > PATIENCE => {
                    let _ = self.child.kill();
                    panic!("it hangs; it said: {}", fs::read_to_string(&self.err).unwrap_or_default());
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        Ran { status, out: text(&self.out), err: text(&self.err) }
    }
}

/// A test that fails leaves nothing running either: what it left would hold the standard output of all tests open.
impl Drop for Sandbox {
    /// Ends what a failed test left, also a shell whose line has the marker somewhere.
    fn drop(&mut self) {
        let marked = |pid: &i32| words(*pid).iter().any(|word| word.contains(&self.marker));
        for pid in processes().filter(marked).filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ran {
    /// The exit status as a shell would give it.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// It ended with this status and said all of these things on standard error.
    pub(crate) fn expect(&self, code: i32, said: &[&str]) {
        assert_eq!(self.code(), code, "{}\n{}", self.err, self.out);
        for text in said {
            assert!(self.err.contains(text), "'{text}' is not in: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
        assert!(!self.err.contains("defect"), "{}", self.err);
    }

    /// The report as one line: where it breaks depends on the numbers before.
    pub(crate) fn flowing(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// It ended with this error, and gave a hint.
    pub(crate) fn expect_error(&self, code: i32, said: &[&str]) {
        self.expect(code, said);
        assert!(self.err.contains("error: ") && self.err.contains("hint: "), "no next step: {}", self.err);
    }
}

/// The launcher below a running program.
pub(crate) fn launcher_of(program: i32) -> i32 {
    let mut found = None;
    eventually("the launcher", || {
        found = processes().find(|&pid| {
            parent(pid) == Some(program) && words(pid).get(1).is_some_and(|word| word == "__launcher")
        });
        found.is_some()
    });
    found.unwrap()
}

/// The processes that a process has started and that live.
pub(crate) fn children(of: i32) -> Vec<i32> {
    processes().filter(|&pid| parent(pid) == Some(of)).collect()
}

pub(crate) fn kill(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Waits until it holds; fails the test when it does not come true.
pub(crate) fn eventually(what: &str, holds: impl FnMut() -> bool) {
    eventually_or(|| what.to_owned(), holds);
}

/// The same, where what to say is known only then.
fn eventually_or(what: impl Fn() -> String, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE / 4, "waited in vain: {}", what());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether these tests may do what only root may. What is left out is said.
pub(crate) fn root_or_skip(what: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        skipped(&format!("{what} (needs root)"));
    }
    root
}

/// Whether these tests may mount a file system for themselves: in many containers not even root may.
pub(crate) fn mounts_or_skip(what: &str) -> bool {
    let mut command = Command::new("unshare");
    command.args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).stderr(Stdio::null());
    let may = command.status().is_ok_and(|status| status.success());
    if !may {
        skipped(&format!("{what} (needs root and the right to mount)"));
    }
    may
}

/// Says what was left out, past the test runner, which swallows what a passing test prints.
pub(crate) fn skipped(what: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}

fn processes() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The words of a process's command line; none for one that has ended.
fn words(pid: i32) -> Vec<String> {
    let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    text.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.get(text.rfind(')')? + 2..)?.split(' ').nth(1)?.parse().ok()
}
