//! What `/proc` says of a task. All of it can also be read of one that has ended and was not yet reaped.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use whyfaster_core::trace::event::{FileKind, Pid, Totals};

/// Nanoseconds on the CPU and waiting for one.
pub fn schedstat(task: i32) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{task}/schedstat")).ok()?;
    let mut fields = text.split_whitespace().map(str::parse);
    Some((fields.next()?.ok()?, fields.next()?.ok()?))
}

/// CPU time of a process: of all its threads, those that have ended as well.
pub(super) fn process_ns(process: i32) -> Option<u64> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both pointers are to memory of ours.
    let read = unsafe {
        libc::clock_getcpuclockid(process, &raw mut clock) == 0
            && libc::clock_gettime(clock, &raw mut time) == 0
    };
    read.then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// What the kernel counted for a task so far. Page faults come without those of the end itself.
pub(super) fn totals(process: i32, task: i32) -> Option<Totals> {
    let (run_ns, delay_ns) = schedstat(task)?;
    let (voluntary, involuntary) = switches(task).unzip();
    Some(Totals {
        run_ns,
        delay_ns: Some(delay_ns),
        faults: faults(process, task),
        voluntary,
        involuntary,
        ..Totals::default()
    })
}

/// What was counted since `base`.
pub(super) fn since(now: Totals, base: &Totals) -> Totals {
    let less = |now: Option<u64>, base: Option<u64>| Some(now?.saturating_sub(base.unwrap_or(0)));
    Totals {
        run_ns: now.run_ns.saturating_sub(base.run_ns),
        delay_ns: less(now.delay_ns, base.delay_ns),
        faults: less(now.faults, base.faults),
        voluntary: less(now.voluntary, base.voluntary),
        involuntary: less(now.involuntary, base.involuntary),
        ..now
    }
}

fn switches(task: i32) -> Option<(u64, u64)> {
    let status = Status::of(task);
    let field = |word: &str| status.field(word)?.parse().ok();
    Some((field("voluntary_ctxt_switches:")?, field("nonvoluntary_ctxt_switches:")?))
}

/// Minor and major faults of the task itself: fields 10 and 12 of proc_pid_stat(5).
fn faults(process: i32, task: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{task}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, parentheses too.
    let fields: Vec<&str> = text.get(text.rfind(')')? + 2..)?.split(' ').collect();
    Some(fields.get(7)?.parse::<u64>().ok()? + fields.get(9)?.parse::<u64>().ok()?)
}

/// The CPU that it was last on: field 39 of proc_pid_stat(5).
pub(super) fn cpu(task: i32) -> Option<u16> {
    let text = fs::read_to_string(format!("/proc/{task}/stat")).ok()?;
    text.get(text.rfind(')')? + 2..)?.split(' ').nth(36)?.parse().ok()
}

/// What a descriptor of a task is. Of a socket its family is not told.
pub(super) fn file_kind(task: i32, descriptor: u64) -> FileKind {
    /// Consoles, terminals and pseudo-terminals: Documentation/admin-guide/devices.txt.
    const TERMINALS: [u32; 10] = [4, 5, 136, 137, 138, 139, 140, 141, 142, 143];
    let Ok(file) = fs::metadata(format!("/proc/{task}/fd/{descriptor}")) else { return FileKind::None };
    match file.file_type() {
        kind if kind.is_file() || kind.is_dir() => FileKind::File,
        kind if kind.is_fifo() => FileKind::Pipe,
        kind if kind.is_socket() => FileKind::Socket,
        kind if kind.is_block_device() => FileKind::BlockDevice,
        kind if !kind.is_char_device() => FileKind::Other,
        _ if TERMINALS.contains(&rustix::fs::major(file.rdev())) => FileKind::Terminal,
        _ => FileKind::CharDevice,
    }
}

/// The kernel's name of it.
pub(super) fn name(task: i32) -> String {
    let text = fs::read(format!("/proc/{task}/comm")).unwrap_or_default();
    String::from_utf8_lossy(text.trim_ascii_end()).into_owned()
}

/// The program that it executes.
pub(super) fn program(task: i32) -> Option<String> {
    Some(fs::read_link(format!("/proc/{task}/exe")).ok()?.to_string_lossy().into_owned())
}

/// What the kernel says of a task line by line: proc_pid_status(5).
pub(super) struct Status(String);

impl Status {
    /// Of this task; empty: there is none.
    pub(super) fn of(task: i32) -> Self {
        Self(fs::read_to_string(format!("/proc/{task}/status")).unwrap_or_default())
    }

    /// What stands under a word with a colon.
    pub(super) fn field(&self, word: &str) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix(word)).map(str::trim)
    }

    /// Its process: the number of its thread group.
    pub(super) fn process(&self) -> Option<Pid> {
        self.field("Tgid:")?.parse().ok()
    }

    /// Who made its process, or has taken it over.
    pub(super) fn parent(&self) -> Option<Pid> {
        self.field("PPid:")?.parse().ok()
    }

    /// Whether it has ended, though that was not taken yet.
    pub(super) fn has_ended(&self) -> bool {
        self.field("State:").is_none_or(|state| state.starts_with(['Z', 'X']))
    }
}

/// CPUs that a task may use, one bit each, lowest word first.
pub(super) fn allowed(task: i32) -> Vec<u64> {
    let Some(pid) = rustix::process::Pid::from_raw(task) else { return Vec::new() };
    let Ok(set) = rustix::thread::sched_getaffinity(Some(pid)) else { return Vec::new() };
    let mut words = Vec::new();
    for cpu in (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)) {
        if words.len() <= cpu / 64 {
            words.resize(cpu / 64 + 1, 0);
        }
        words[cpu / 64] |= 1 << (cpu % 64);
    }
    words
}
