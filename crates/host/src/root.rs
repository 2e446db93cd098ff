//! Where facts are read from: the real `/proc`, `/sys` and system calls, or a tree and answers made by a test.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::Resource;

/// The machine as the readers see it.
#[derive(Clone, Debug)]
pub struct Root {
    dir: PathBuf,
    answers: Option<Process>,
}

/// What the kernel says about this process and machine by system call, without any file.
#[derive(Clone, Debug)]
pub struct Process {
    /// `uname -n`.
    pub node: String,
    /// `uname -r`.
    pub release: String,
    /// `uname -m`.
    pub machine: String,
    /// CPUs that this process may use, or why that is unknown.
    pub cpus: Result<Vec<u32>, String>,
    /// Real user id.
    pub uid: u32,
    /// Soft `RLIMIT_NPROC`; `None` is unlimited.
    pub max_processes: Option<u64>,
    /// Hard `RLIMIT_NOFILE`; `None` is unlimited.
    pub max_files: Option<u64>,
    /// CPU seconds of this process and of what was reaped below it.
    pub cpu_s: f64,
    /// Name that the hypervisor gives itself in the CPU's identification.
    pub hypervisor: Option<String>,
}

impl Root {
    /// This machine.
    pub fn real() -> Self {
        Self { dir: PathBuf::from("/"), answers: None }
    }

    /// A machine whose `/proc` and `/sys` stand in `dir`, and whose kernel gives these answers.
    pub fn fake(dir: impl Into<PathBuf>, answers: Process) -> Self {
        Self { dir: dir.into(), answers: Some(answers) }
    }

    /// What system calls say.
    pub fn process(&self) -> Process {
        self.answers.clone().unwrap_or_else(Process::ask)
    }

    /// The file behind an absolute path of that machine.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.dir.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// A whole file. Bytes that are not UTF-8 are replaced: no fact needs them.
    pub fn text(&self, path: impl AsRef<Path>) -> Result<String, Unreadable> {
        match fs::read(self.path(&path)) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(source) => Err(Unreadable::Io { path: path.as_ref().to_owned(), source }),
        }
    }

    /// A whole file that a kernel may lack; every other error remains one.
    pub fn optional(&self, path: impl AsRef<Path>) -> Result<Option<String>, Unreadable> {
        match self.text(path) {
            Ok(text) => Ok(Some(text)),
            Err(Unreadable::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The target of a symbolic link that a kernel may lack.
    pub fn link(&self, path: impl AsRef<Path>) -> Result<Option<String>, Unreadable> {
        match fs::read_link(self.path(&path)) {
            Ok(target) => Ok(Some(target.to_string_lossy().into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Unreadable::Io { path: path.as_ref().to_owned(), source }),
        }
    }

    /// A file that holds one number.
    pub fn number(&self, path: impl AsRef<Path>) -> Result<u64, Unreadable> {
        let text = self.text(&path)?;
        text.trim().parse().map_err(|_| Unreadable::line(path, 1, &text, "a number"))
    }

    /// A file that holds one word or line.
    pub fn word(&self, path: impl AsRef<Path>) -> Result<String, Unreadable> {
        let text = self.text(&path)?;
        match text.trim() {
            "" => Err(Unreadable::line(path, 1, &text, "a word")),
            word => Ok(word.to_owned()),
        }
    }

    /// Whether there is such a directory.
    pub fn has_dir(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).is_dir()
    }
}

impl Process {
    /// Asks the kernel.
    pub fn ask() -> Self {
        let name = rustix::system::uname();
        Self {
            node: name.nodename().to_string_lossy().into_owned(),
            release: name.release().to_string_lossy().into_owned(),
            machine: name.machine().to_string_lossy().into_owned(),
            cpus: affinity(),
            uid: rustix::process::getuid().as_raw(),
            max_processes: rustix::process::getrlimit(Resource::Nproc).current,
            max_files: rustix::process::getrlimit(Resource::Nofile).maximum,
            cpu_s: used(libc::RUSAGE_SELF) + used(libc::RUSAGE_CHILDREN),
            hypervisor: hypervisor(),
        }
    }
}

fn affinity() -> Result<Vec<u32>, String> {
    let set =
        rustix::thread::sched_getaffinity(None).map_err(|error| format!("sched_getaffinity: {error}"))?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect())
}

/// CPU seconds. Only the sum of the machine's use by us: samples take their CPU times from `wait4` of each copy.
fn used(who: libc::c_int) -> f64 {
    // SAFETY: rusage holds only integers, for which all zeroes is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a rusage of ours, and `who` is one of the two constants the call knows.
    let done = unsafe { libc::getrusage(who, &mut usage) };
    debug_assert_eq!(done, 0, "getrusage fails only for a bad pointer or a bad `who`");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// The signature of CPUID leaf 0x40000000, which all known hypervisors fill
/// (kernel: Documentation/virt/kvm/x86/cpuid.rst). The bit that says there is one is bit 31 of ECX in leaf 1.
#[cfg(target_arch = "x86_64")]
fn hypervisor() -> Option<String> {
    use std::arch::x86_64::__cpuid;
    if __cpuid(1).ecx & (1 << 31) == 0 {
        return None;
    }
    let leaf = __cpuid(0x4000_0000);
    let signature: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|r| r.to_le_bytes()).collect();
    let text = String::from_utf8_lossy(&signature);
    Some(match text.trim_matches(['\0', ' ']) {
        "KVMKVMKVM" => "KVM".to_owned(),
        "Microsoft Hv" => "Hyper-V".to_owned(),
        "VMwareVMware" => "VMware".to_owned(),
        "XenVMMXenVMM" => "Xen".to_owned(),
        "TCGTCGTCGTCG" => "QEMU without acceleration".to_owned(),
        other => other.to_owned(),
    })
}

/// Other CPUs have no such register that a process may read; `/sys` may still tell.
#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> Option<String> {
    None
}

/// Why a file gave no fact.
#[derive(Debug)]
pub enum Unreadable {
    /// It could not be read.
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It holds something else than expected.
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the line holds.
        found: String,
        /// What it should hold.
        expected: &'static str,
    },
    /// Some other reason, in words.
    Other(String),
}

impl Unreadable {
    /// Line `line` (from 1) of `text` does not hold what it should.
    pub(super) fn line(path: impl AsRef<Path>, line: usize, text: &str, expected: &'static str) -> Self {
        let found = text.lines().nth(line.saturating_sub(1)).unwrap_or("").to_owned();
        Self::Parse { path: path.as_ref().to_owned(), line, found, expected }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => {
                let reason = if source.kind() == io::ErrorKind::NotFound {
                    "no such file".to_owned()
                } else {
                    source.to_string()
                };
                write!(f, "{}: {reason}", path.display())
            }
            Self::Parse { path, line, found, expected } => {
                // A hostile or broken file may hold anything: quoted and cut, it stays one short line.
                let found: String = found.chars().take(40).collect();
                write!(f, "{}:{line}: expected {expected}, found {found:?}", path.display())
            }
            Self::Other(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Unreadable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_carry_path_and_line() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let root = Root::fake(dir.path(), Process::ask());
        fs::create_dir(dir.path().join("proc")).expect("create");
        fs::write(dir.path().join("proc/x"), "garb\u{1b}age\n").expect("write");
        let error = root.number("/proc/x").expect_err("not a number").to_string();
        assert_eq!(error, "/proc/x:1: expected a number, found \"garb\\u{1b}age\"");
        assert_eq!(root.word("/proc/none").expect_err("no file").to_string(), "/proc/none: no such file");
        assert!(root.optional("/proc/none").expect("absent is fine").is_none());
        assert!(root.optional("/proc").is_err(), "a directory is not absent");
    }

    #[test]
    fn this_process_has_used_cpu_time_and_may_use_a_cpu() {
        let process = Process::ask();
        assert!(process.cpu_s > 0.0 && !process.cpus.expect("affinity").is_empty());
    }
}
