//! A small launcher: a child that is held at a pipe, followed, and released; and what came of it.

#![allow(dead_code, unused_imports, unused_macros, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "helpers of tests, which clippy does not take for tests")]

#[path = "../../../../tests/support/skip.rs"]
pub(crate) mod skip;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use skip::provided;
pub(crate) use skip::{Need, needs};
use whyfaster_core::trace::counts::Counts;
use whyfaster_core::trace::event::{Event, What};
use whyfaster_trace::{Full, Wanted, support};

/// The full level.
pub(crate) fn able() -> Need {
    let missing = support().missing;
    provided(missing.is_empty(), &format!("the full level: {missing:?}"))
}

/// What a trace gave.
#[derive(Debug)]
pub(crate) struct Traced {
    pub(crate) events: Vec<Event>,
    pub(crate) counts: Counts,
    /// What `wait` said.
    pub(crate) status: i32,
}

/// A child before its exec.
pub(crate) struct Held {
    pub(crate) pid: i32,
    gate: OwnedFd,
}

pub(crate) fn pipe() -> (OwnedFd, OwnedFd) {
    let mut fds = [0; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    // SAFETY: just made.
    unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) }
}

fn which(program: &str) -> CString {
    let found = std::env::var("PATH")
        .unwrap()
        .split(':')
        .map(|d| PathBuf::from(d).join(program))
        .find(|p| program.contains('/') || p.exists())
        .unwrap();
    let path = if program.contains('/') { PathBuf::from(program) } else { found };
    CString::new(path.to_str().unwrap()).unwrap()
}

impl Held {
    /// Makes one. All memory is made before the fork: the child of a program with threads may not.
    pub(crate) fn new(argv: &[&str]) -> Self {
        let path = which(argv[0]);
        let argv: Vec<CString> = argv.iter().map(|a| CString::new(*a).unwrap()).collect();
        let mut pointers: Vec<_> = argv.iter().map(|a| a.as_ptr()).collect();
        pointers.push(std::ptr::null());
        let environment: Vec<CString> =
            ["PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"].map(|e| CString::new(e).unwrap()).into();
        let mut variables: Vec<_> = environment.iter().map(|e| e.as_ptr()).collect();
        variables.push(std::ptr::null());
        let (wait, gate) = pipe();
        let null = CString::new("/dev/null").unwrap();
        // SAFETY: the child makes system calls only.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let mut byte = 0u8;
            // SAFETY: as above; everything they point to was made before the fork.
            unsafe {
                libc::signal(libc::SIGPIPE, libc::SIG_DFL);
                let out = libc::open(null.as_ptr(), libc::O_RDWR);
                libc::dup2(out, 0);
                libc::dup2(out, 1);
                libc::dup2(out, 2);
                if out > 2 {
                    libc::close(out);
                }
                libc::read(wait.as_raw_fd(), (&raw mut byte).cast(), 1);
                libc::execve(path.as_ptr(), pointers.as_ptr(), variables.as_ptr());
                libc::_exit(127);
            }
        }
        assert!(pid > 0);
        Self { pid, gate }
    }

    pub(crate) fn release(self) {
        // SAFETY: one byte.
        assert_eq!(unsafe { libc::write(self.gate.as_raw_fd(), b"x".as_ptr().cast(), 1) }, 1);
    }
}

/// Whether it has ended, and how.
pub(crate) fn ended(pid: i32) -> Option<i32> {
    let mut status = 0;
    // SAFETY: our own child.
    (unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } == pid).then_some(status)
}

/// Traces a command from its exec until all of its tree has ended.
pub(crate) fn trace(wanted: &Wanted, argv: &[&str]) -> Traced {
    trace_with(Full::open(wanted).unwrap(), argv)
}

pub(crate) fn trace_with(mut full: Full, argv: &[&str]) -> Traced {
    let held = Held::new(argv);
    let pid = held.pid;
    full.follow(pid).unwrap();
    held.release();
    let mut events = Vec::new();
    let mut status = None;
    while status.is_none() || full.alive() > 0 {
        std::thread::sleep(Duration::from_millis(10));
        full.poll(&mut |e| events.push(e)).unwrap();
        status = status.or_else(|| ended(pid));
    }
    let counts = full.finish(&mut |e| events.push(e)).unwrap();
    let traced = Traced { events, counts, status: status.unwrap() };
    if !traced.counts.lost.any() {
        traced.lives_agree();
    }
    traced
}

/// A trace that lost nothing.
pub(crate) fn whole(traced: Traced) -> Traced {
    assert!(!traced.counts.lost.any(), "{:?}", traced.counts.lost);
    traced
}

pub(crate) fn sh(wanted: &Wanted, script: &str) -> Traced {
    trace(wanted, &["sh", "-c", script])
}

/// Builds a C program.
pub(crate) fn compiled(source: &str, directory: &std::path::Path) -> String {
    compiled_with(&["-pthread"], source, directory)
}

/// With these options.
pub(crate) fn compiled_with(options: &[&str], source: &str, directory: &std::path::Path) -> String {
    let file = directory.join("program.c");
    let program = directory.join("program");
    std::fs::write(&file, source).unwrap();
    let built =
        Command::new("gcc").arg("-O1").args(options).arg("-o").arg(&program).arg(&file).status().unwrap();
    assert!(built.success());
    program.to_str().unwrap().to_owned()
}

impl Traced {
    /// What the kernel counted is what the stream tells.
    fn lives_agree(&self) {
        let whole = |task: u32, process: u32| task == process;
        let forks = self.how_many(|w| matches!(w, What::Fork { parent, child, process, .. } if *parent != 0 && whole(*child, *process)));
        let threads = self.how_many(|w| matches!(w, What::Fork { parent, child, process, .. } if *parent != 0 && !whole(*child, *process)));
        let failed = self.how_many(|w| matches!(w, What::ExecFailed { .. }));
        let ends = self.events.iter().filter_map(|e| match &e.what {
            What::End { status: Some(_), process, .. } => Some(*process),
            _ => None,
        });
        let ended: std::collections::BTreeSet<u32> = ends.collect();
        let lives = &self.counts.lives;
        let kernel = [lives.forks, lives.threads, lives.execs, lives.failed_execs, lives.exits];
        let stream = [forks, threads, self.execs().len(), failed, ended.len()];
        assert_eq!(kernel, stream.map(|n| Some(n as u64)), "kernel and stream");
        let left: u64 = self.counts.calls.iter().map(|c| c.not_returned).sum();
        let entered: u64 = self.counts.calls.iter().map(|c| c.entered).sum();
        assert_eq!(lives.calls_entered, Some(entered));
        assert_eq!(lives.calls_returned, Some(entered - left));
    }

    /// Calls that returned, and of these the failed ones, by number.
    pub(crate) fn calls(&self) -> BTreeMap<u32, (u64, u64)> {
        let mut all = BTreeMap::new();
        for c in &self.counts.calls {
            assert!(!c.call.compat);
            let entry: &mut (u64, u64) = all.entry(c.call.number).or_default();
            entry.0 += c.entered - c.not_returned;
            entry.1 += c.errors.iter().map(|(_, n)| n).sum::<u64>();
        }
        all.retain(|_, (calls, _)| *calls > 0);
        all
    }

    pub(crate) fn entered(&self, number: libc::c_long) -> u64 {
        let of = |n: u32| libc::c_long::from(n) == number;
        self.counts.calls.iter().filter(|c| of(c.call.number)).map(|c| c.entered).sum()
    }

    pub(crate) fn how_many(&self, which: impl Fn(&What) -> bool) -> usize {
        self.events.iter().filter(|e| which(&e.what)).count()
    }

    pub(crate) fn forks(&self) -> usize {
        self.how_many(|w| matches!(w, What::Fork { .. }))
    }

    pub(crate) fn ends(&self) -> usize {
        self.how_many(|w| matches!(w, What::End { status: Some(_), .. }))
    }

    /// Names of the programs begun, in order.
    pub(crate) fn execs(&self) -> Vec<String> {
        let name = |e: &Event| match &e.what {
            What::Exec { name, .. } => Some(name.clone()),
            _ => None,
        };
        self.events.iter().filter_map(name).collect()
    }
}

/// Calls and errors as `strace -f -c` counts them, by the kernel's number.
pub(crate) fn strace(argv: &[&str]) -> BTreeMap<u32, (u64, u64)> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let status = Command::new("strace")
        .args(["-f", "-c", "-U", "calls,errors,name", "-o"])
        .arg(file.path())
        .args(argv)
        .env_clear()
        .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LC_ALL", "C")])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    status.expect("strace is installed (scripts/setup.sh test)");
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    let mut all = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (Some(calls), Some(name)) = (words.first().and_then(|w| w.parse().ok()), words.last()) else {
            continue;
        };
        if *name == "total" || words.len() < 2 {
            continue;
        }
        let errors = if words.len() == 3 { words[1].parse().unwrap() } else { 0 };
        all.insert(number(name), (calls, errors));
    }
    assert!(!all.is_empty(), "strace said: {text}");
    all
}

/// The kernel's number of a call, from the system's headers.
pub(crate) fn number(name: &str) -> u32 {
    use std::sync::OnceLock;
    static ALL: OnceLock<BTreeMap<String, u32>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let output = Command::new("gcc")
            .args(["-dM", "-E", "-include", "sys/syscall.h", "-x", "c", "/dev/null"])
            .output()
            .unwrap();
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .filter_map(|l| {
                let (name, number) = l.strip_prefix("#define __NR_")?.split_once(' ')?;
                Some((name.to_owned(), number.parse().ok()?))
            })
            .collect()
    });
    // As strace calls it.
    *all.get(name).unwrap_or_else(|| panic!("no number of {name}"))
}
