//! Running the program in a directory of its own, and finding what it leaves behind.
//!
//! Every run has a private `TMPDIR` and a marker: a number that the measured commands carry as the argument of `sleep`. A
//! process that was left behind has the marker in its command line or the directory in its environment.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::processes::{PATIENCE, eventually, eventually_or, kill, launcher_of, processes, words};

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_whyfaster");

static RUNS: AtomicU32 = AtomicU32::new(0);

/// A directory that is gone when the test ends. Commands run in it.
#[derive(Debug)]
pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
    /// An argument for `sleep` that no other process has.
    pub(crate) marker: String,
    /// What the environment of every run here says besides.
    environment: Vec<(&'static str, String)>,
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
        let marker = format!("1{:08}.{run:04}7", std::process::id());
        Self { dir, marker, environment: Vec::new() }
    }

    /// The same with a variable in the environment of every run.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// One in which any user may write.
    pub(crate) fn open() -> Self {
        let place = Self::new();
        for (dir, mode) in [(".", 0o777), ("tmp", 0o1777)] {
            fs::set_permissions(place.path(dir), Permissions::from_mode(mode)).unwrap();
        }
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The same as text, for an argument.
    pub(crate) fn file(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The lines of a file; none if it was never written.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        fs::read_to_string(self.path(name)).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Makes a script that can be executed.
    pub(crate) fn script(&self, name: &str, text: &str) -> String {
        self.write(name, text);
        fs::set_permissions(self.path(name), Permissions::from_mode(0o755)).unwrap();
        self.file(name)
    }

    /// Anything, to be started here. The tester's own surroundings decide nothing.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.dir.path()).stdin(Stdio::null());
        command.env("TMPDIR", self.path("tmp")).env("LC_ALL", "C.UTF-8");
        command.env("XDG_STATE_HOME", self.path("state")).env("XDG_DATA_HOME", self.path("data"));
        for name in
            ["WHYFASTER_STORE", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "HYPERFINE_ITERATION"]
        {
            command.env_remove(name);
        }
        for name in ["HOST", "PORT", "USER", "PASSWORD", "PASSFILE", "DATABASE", "SSLMODE", "SSLROOTCERT"] {
            command.env_remove(format!("PG{name}"));
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        // A test runner in the background of a script ignores SIGINT. That is inherited, and whyfaster goes on ignoring it, as
        // `nohup` wants it to.
        // SAFETY: plain system calls between fork and exec.
        unsafe {
            command.pre_exec(|| {
                for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            })
        };
        command
    }

    /// The program with these arguments, to be started here.
    pub(crate) fn whyfaster(&self, args: &[&str]) -> Command {
        self.command(PROGRAM, args)
    }

    /// `whyfaster compare` with these arguments and all tables, unexplained: a test that counts runs does not want more of them.
    pub(crate) fn compare(&self, args: &[&str]) -> Ran {
        self.start(&[&["compare", "--why=no", "-v"], args].concat()).wait()
    }

    /// `whyfaster compare --json`, which must succeed: the record.
    pub(crate) fn compared(&self, args: &[&str]) -> Value {
        self.compare(&[&["--json"], args].concat()).json()
    }

    /// The program with these arguments, to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait()
    }

    pub(crate) fn start(&self, args: &[&str]) -> Running {
        self.begin(self.whyfaster(args))
    }

    /// The program as started by a shell line, in which it is called `$whyfaster`.
    pub(crate) fn shell(&self, line: &str) -> Ran {
        let mut command = self.command("sh", &["-c", line]);
        command.env("whyfaster", PROGRAM);
        self.finish(command)
    }

    /// Runs the program where no ordinary task can take a CPU from it: on a busy machine others are a cause of their own.
    pub(crate) fn undisturbed(&self, words: &[&str]) -> Ran {
        self.finish(undisturbed(self.whyfaster(words)))
    }

    /// Starts it and waits for its end.
    pub(crate) fn finish(&self, command: Command) -> Ran {
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
    pub(crate) fn said(&self) -> String {
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

    /// Images that loop devices still have with a file of this place.
    pub(crate) fn images(&self) -> Vec<String> {
        let tmp = self.file("tmp");
        let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
        let backing =
            devices.filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok());
        backing.filter(|file| file.starts_with(&tmp)).collect()
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

    /// A record that the program itself takes for whole, its observed runs unpacked.
    pub(crate) fn record(&self, name: &str) -> Value {
        let shown = self.run(&["show", "--json", &self.file(name)]).ok().json();
        let mut record = self.json(name);
        let fields = record.as_object_mut().unwrap();
        fields.remove("observed");
        let runs = ["traced", "traced_batches"].into_iter();
        fields.extend(runs.filter_map(|runs| Some((runs.to_owned(), shown.get(runs)?.clone()))));
        record
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
        let read = |path: &Path| fs::read(path).unwrap();
        Output { status, stdout: read(&self.out), stderr: read(&self.err) }.into()
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

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { status: output.status, out: text(&output.stdout), err: text(&output.stderr) }
    }
}

impl Ran {
    /// The exit status as a shell would give it.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// It ended with 0.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.expect(0, &[]);
        self
    }

    /// It ended with this status and said all of these things on standard error.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32, said: &[&str]) {
        assert_eq!(self.code(), code, "{}\n{}", self.err, self.out);
        for text in said {
            assert!(self.err.contains(text), "'{text}' is not in: {}", self.err);
        }
        for defect in ["panicked", "defect"] {
            assert!(!self.err.contains(defect), "{}", self.err);
        }
    }

    /// It ended with this error, and gave a hint.
    #[track_caller]
    pub(crate) fn expect_error(&self, code: i32, said: &[&str]) {
        self.expect(code, said);
        assert!(self.err.contains("error: ") && self.err.contains("hint: "), "no next step: {}", self.err);
    }

    /// It ended with 0: standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        self.expect(0, &[]);
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// The report as one line: where it breaks depends on the numbers before.
    pub(crate) fn flowing(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// A command which no ordinary task can take a CPU from. Where that is not permitted, nothing changes.
pub(crate) fn undisturbed(mut command: Command) -> Command {
    // SAFETY: a plain system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::sched_setscheduler(0, libc::SCHED_RR, &libc::sched_param { sched_priority: 1 });
            Ok(())
        })
    };
    command
}
