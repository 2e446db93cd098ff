//! The child's side: from its creation, past the gate, to the exec.

use std::ffi::{CStr, CString, OsString};
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::{io, ptr};

use rustix::process::{Resource, Rlimit, setrlimit};
use whyfaster_core::plan::Input;
use whyfaster_host::user::STORE;

use super::super::protocol::{Arrivals, Purpose, Request, RunAs, Step};
use super::super::realtime::become_realtime;
use super::super::run_as::close_all_else;
use super::gate::{Gate, Used, now_ns};
use super::reap::microseconds;

/// All that a copy needs, made before the first fork so that the child has nothing left to compute.
pub(super) struct Blueprint {
    /// The command; in a duet there are two.
    commands: Vec<Command>,
    input: Option<CString>,
    /// A standard input that came with the request.
    stdin: Option<OwnedFd>,
    stdout: Stream,
    stderr: Stream,
    own_session: bool,
    cpus: Option<rustix::thread::CpuSet>,
    realtime: bool,
    user: Option<RunAs>,
    /// Whether somebody looks into the copies.
    observed: bool,
    /// Whether a copy has the launcher's memory until its exec.
    memory_in_common: bool,
    together: bool,
    /// The limit on open files that copies get back, where the launcher raised its own.
    files: Option<Rlimit>,
}

struct Command {
    program: CString,
    argv: Vec<CString>,
    env: Vec<CString>,
}

impl Command {
    fn new(
        (program, argv): (&str, &[String]),
        env: &[(String, String)],
        user: Option<&RunAs>,
    ) -> io::Result<Self> {
        Ok(Self {
            program: CString::new(program)?,
            argv: argv.iter().map(|word| CString::new(word.as_str())).collect::<Result<_, _>>()?,
            env: environment(env, user)?,
        })
    }
}

/// What `execve` takes: the program, the words and the environment of one copy.
pub(super) struct Words<'a> {
    program: &'a CStr,
    argv: Vec<*const libc::c_char>,
    env: Vec<*const libc::c_char>,
    /// The string of the environment that is not the blueprint's.
    _copy: CString,
    _of: PhantomData<&'a Blueprint>,
}

/// Where one of the two output streams goes.
pub(super) enum Stream {
    /// `/dev/null`, or a file or pipe shared by all copies.
    Shared(OwnedFd),
    /// Where the launcher's own goes.
    Inherited,
    /// A pipe for each copy: the write ends, by copy.
    Each(Vec<OwnedFd>),
}

impl Blueprint {
    /// From a request. Words with a NUL byte cannot be passed to a program and are an error.
    pub(super) fn new(
        request: &Request,
        stdin: Option<OwnedFd>,
        stdout: Stream,
        stderr: Stream,
        files: Option<Rlimit>,
    ) -> io::Result<Self> {
        let user = request.user.as_ref();
        let command = Command::new((&request.program, &request.argv), &request.env, user)?;
        let beside = request.beside.as_ref();
        let beside = beside.map(|it| Command::new((&it.program, &it.argv), &it.env, user)).transpose()?;
        Ok(Self {
            commands: std::iter::once(command).chain(beside).collect(),
            input: match &request.input {
                Input::Null | Input::Inherit => None,
                Input::File(path) => Some(c_path(path)?),
            },
            stdin,
            stdout,
            stderr,
            own_session: request.own_session,
            cpus: request.cpus.as_deref().map(cpu_set),
            realtime: request.realtime,
            user: request.user.clone(),
            observed: matches!(request.purpose, Purpose::Account | Purpose::Traced | Purpose::Observed),
            memory_in_common: request.purpose == Purpose::Time && !request.peak_memory,
            together: matches!(request.arrivals, Arrivals::Together { .. }),
            files,
        })
    }

    /// What a copy has in common with the launcher until its exec: the memory. Not where that counts (the kernel takes what a process
    /// had then into its peak), nor where somebody looks into the copy, who would see all that is the launcher's.
    pub(super) fn in_common(&self) -> libc::c_int {
        if self.memory_in_common { libc::CLONE_VM } else { 0 }
    }

    /// Makes the calling process a copy: to the gate, past it, and to the exec.
    pub(super) fn become_copy(&self, gate: &Gate, index: usize, launcher: i32, words: &Words<'_>) -> ! {
        let slot = gate.slot(index);
        if let Err((step, error)) = self.settle(index, launcher) {
            slot.fail(step, error.raw_os_error().unwrap_or(libc::EIO));
            gate.arrive();
            exit_now();
        }
        gate.arrive();
        gate.wait(index, self.together);
        let used = used_so_far();
        slot.stamp(used, now_ns());
        // SAFETY: both arrays end with a null pointer and point to strings that live until the process image is replaced.
        unsafe { libc::execve(words.program.as_ptr(), words.argv.as_ptr(), words.env.as_ptr()) };
        slot.fail(Step::Exec, io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO));
        exit_now();
    }

    /// The words of the copy with this number, of the first command or the second.
    pub(super) fn words(&self, number: usize, command: usize) -> Words<'_> {
        let copy = CString::new(format!("WHYFASTER_COPY={number}")).unwrap_or_default();
        let command = &self.commands[command.min(self.commands.len() - 1)];
        Words {
            program: &command.program,
            argv: pointers(command.argv.iter()),
            env: pointers(command.env.iter().chain([&copy])),
            _copy: copy,
            _of: PhantomData,
        }
    }

    /// Session, signals, CPUs, streams, user: what may need privileges comes before they are given up.
    fn settle(&self, index: usize, launcher: i32) -> Result<(), (Step, io::Error)> {
        // SAFETY: plain system calls on this process. Rust ignores SIGPIPE at start-up, and an ignored signal stays
        // ignored across exec: `yes | head` would never end.
        unsafe {
            die_with(launcher);
            if self.own_session {
                libc::setsid();
            }
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
        }
        if let Some(cpus) = &self.cpus {
            rustix::thread::sched_setaffinity(None, cpus).map_err(|e| (Step::Affinity, e.into()))?;
        }
        if self.realtime {
            become_realtime().map_err(|e| (Step::Class, e))?;
        }
        if let Some(files) = &self.files {
            setrlimit(Resource::Nofile, *files).map_err(|e| (Step::Output, e.into()))?;
        }
        if let Some(path) = &self.input {
            let open = || open_read(path);
            let file = self.user.as_ref().map_or_else(open, |user| user.opens(open));
            let file = file.map_err(|e| (Step::Input, e))?;
            rustix::stdio::dup2_stdin(&file).map_err(|e| (Step::Input, e.into()))?;
        }
        if let Some(fd) = &self.stdin {
            rustix::stdio::dup2_stdin(fd).map_err(|e| (Step::Input, e.into()))?;
        }
        if let Some(fd) = self.stdout.of(index) {
            rustix::stdio::dup2_stdout(fd).map_err(|e| (Step::Output, e.into()))?;
        }
        if let Some(fd) = self.stderr.of(index) {
            rustix::stdio::dup2_stderr(fd).map_err(|e| (Step::Output, e.into()))?;
        }
        if let Some(user) = &self.user {
            // The socket to the program among them.
            close_all_else().and_then(|()| user.become_it()).map_err(|e| (Step::User, e))?;
            // Again, because the kernel forgets it when a process becomes someone else: prctl(2), PR_SET_PDEATHSIG.
            // SAFETY: a plain system call on this process.
            unsafe { die_with(launcher) };
        } else if self.observed {
            // Readable by its own user again, as any program is: a file with capabilities (setcap) makes a process
            // that only root may trace, and the levels without privileges trace: ptrace(2), prctl(2) PR_SET_DUMPABLE.
            // SAFETY: as above.
            unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1) };
        }
        Ok(())
    }
}

impl Stream {
    fn of(&self, index: usize) -> Option<BorrowedFd<'_>> {
        use std::os::fd::AsFd;
        match self {
            Stream::Shared(fd) => Some(fd.as_fd()),
            Stream::Inherited => None,
            Stream::Each(fds) => fds.get(index).map(AsFd::as_fd),
        }
    }
}

/// The launcher's environment with these variables set, and with those of the user who is to become.
fn environment(set: &[(String, String)], user: Option<&RunAs>) -> io::Result<Vec<CString>> {
    let of_user = user.map_or(&[][..], |user| &user.set);
    let all: Vec<&(String, String)> = set
        .iter()
        .chain(of_user.iter().filter(|(name, _)| !set.iter().any(|(other, _)| other == name)))
        .collect();
    let taken = |name: &OsString| {
        name == STORE || user.is_some_and(|user| user.unset.iter().any(|other| name == other.as_str()))
    };
    let inherited = std::env::vars_os()
        .filter(|(name, _)| !taken(name) && !all.iter().any(|(other, _)| name.as_os_str() == other.as_str()));
    inherited
        .chain(all.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))))
        .map(|(name, value)| {
            let mut entry = name.into_vec();
            entry.push(b'=');
            entry.extend(value.into_vec());
            CString::new(entry).map_err(io::Error::from)
        })
        .collect()
}

/// Asks to be killed when the launcher dies, and ends at once if that has happened.
///
/// # Safety
/// Only in the child, which has nothing to clean up.
unsafe fn die_with(launcher: i32) {
    // SAFETY: plain system calls on this process.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != launcher {
            exit_now();
        }
    }
}

fn pointers<'a>(strings: impl Iterator<Item = &'a CString>) -> Vec<*const libc::c_char> {
    strings.map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

pub(super) fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

fn open_read(path: &CStr) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(
        path,
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    )?)
}

fn cpu_set(cpus: &[u32]) -> rustix::thread::CpuSet {
    let mut set = rustix::thread::CpuSet::new();
    for &cpu in cpus {
        set.set(cpu as usize);
    }
    set
}

/// What this process has used so far. The kernel's two CPU times only ever grow, so a later reading minus this one is
/// never negative (kernel/sched/cputime.c, `cputime_adjust`).
fn used_so_far() -> Used {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to memory of ours; rusage is plain data, zeroed is valid.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    Used {
        user_us: microseconds(usage.ru_utime),
        system_us: microseconds(usage.ru_stime),
        voluntary: usage.ru_nvcsw as u64,
        involuntary: usage.ru_nivcsw as u64,
    }
}

/// Ends the child without running what the launcher registered for its own exit.
fn exit_now() -> ! {
    // SAFETY: ends this process; nothing after it runs.
    unsafe { libc::_exit(127) }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stream::Shared(fd) => write!(f, "Shared({})", fd.as_raw_fd()),
            Stream::Inherited => f.write_str("Inherited"),
            Stream::Each(fds) => write!(f, "Each({})", fds.len()),
        }
    }
}
