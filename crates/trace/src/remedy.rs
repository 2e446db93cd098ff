//! What would give this program the capabilities that the full level needs: for a user who has only the binary.
//!
//! Root has them. So has a program whose file carries them (`setcap`), unless something keeps the kernel from honouring
//! that: see capabilities(7), "Effect of user ID changes" and "File capabilities".

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use rustix::fs::{Access, StatVfsMountFlags, access, getxattr, statvfs};
use rustix::io::Errno;

use crate::caller::{BPF, PERFMON, SYS_ADMIN, status};

/// The name under which a user starts the program.
const NAME: &str = "whyfaster";

/// What helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Root, or the capabilities on the program's file.
    File(OnFile),
    /// Root, because the file cannot carry capabilities where it is.
    Root(Barren),
    /// Neither: no program that is started from here can gain what it has not.
    NoNewPrivileges,
    /// Neither: the capabilities are not in the bounding set, as in a container that was not given them.
    Bounded,
    /// Neither: whoever is root in a user namespace of its own is not root for the kernel.
    Namespace,
}

/// How the capabilities are put on the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OnFile {
    /// The program as a word of a shell.
    pub(crate) program: String,
    /// Whether there is a `setcap` here.
    pub(crate) setcap: bool,
}

/// Why a file cannot carry capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Barren {
    /// It lies on a mount with the option `nosuid`, where the kernel ignores them.
    Nosuid,
    /// Its file system keeps no extended attributes, in which they are stored.
    NoAttributes,
    /// The kernel has only `CAP_SYS_ADMIN` for this, which lets whoever runs the program do nearly anything. Nobody is told to
    /// hand that out, least of all where the kernel is too old for the full level anyway.
    OldKernel,
}

/// What decides it.
#[derive(Clone, Debug)]
struct Facts {
    first_namespace: bool,
    no_new_privileges: bool,
    /// Capabilities that can be gained at all, one bit each.
    bounding: u64,
    /// The number of the kernel's last capability.
    last_capability: u32,
    barren: Option<Barren>,
    program: String,
    setcap: bool,
}

/// What helps here.
pub(crate) fn remedy(first_namespace: bool) -> Remedy {
    let search = env::var_os("PATH").unwrap_or_default();
    let program = env::current_exe().unwrap_or_else(|_| PathBuf::from(NAME));
    decide(Facts {
        first_namespace,
        no_new_privileges: status("NoNewPrivs:").is_some_and(|word| word == "1"),
        bounding: status("CapBnd:").and_then(|word| u64::from_str_radix(&word, 16).ok()).unwrap_or(u64::MAX),
        last_capability: fs::read_to_string("/proc/sys/kernel/cap_last_cap")
            .ok()
            .and_then(|number| number.trim().parse().ok())
            .unwrap_or(BPF),
        barren: barren(&program),
        program: word(&program, &search),
        // An ordinary user's search path often lacks the directories of the administrator, which that of sudo has.
        setcap: on_path(&search, "setcap")
            .or_else(|| on_path(OsStr::new("/usr/local/sbin:/usr/sbin:/sbin"), "setcap"))
            .is_some(),
    })
}

fn decide(facts: Facts) -> Remedy {
    // Linux 5.8 took CAP_PERFMON and CAP_BPF out of CAP_SYS_ADMIN (include/uapi/linux/capability.h).
    let old = facts.last_capability < BPF;
    let needed: u64 = 1 << PERFMON | 1 << BPF;
    let gainable = facts.bounding & needed == needed || facts.bounding & 1 << SYS_ADMIN != 0;
    match facts.barren.or(old.then_some(Barren::OldKernel)) {
        _ if !facts.first_namespace => Remedy::Namespace,
        _ if !gainable => Remedy::Bounded,
        _ if facts.no_new_privileges => Remedy::NoNewPrivileges,
        Some(barren) => Remedy::Root(barren),
        None => Remedy::File(OnFile { program: facts.program, setcap: facts.setcap }),
    }
}

/// Why this file cannot carry capabilities; `None` also where that cannot be told.
fn barren(program: &Path) -> Option<Barren> {
    // mount(2): "MS_NOSUID: Do not honor set-user-ID and set-group-ID bits or file capabilities".
    if statvfs(program).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::NOSUID)) {
        return Some(Barren::Nosuid);
    }
    let mut nothing: [u8; 0] = [];
    let asked = getxattr(program, "security.capability", &mut nothing);
    (asked == Err(Errno::NOTSUP)).then_some(Barren::NoAttributes)
}

/// The program as a word of a shell: by its name where that finds this very file. A link is no file to set anything on.
fn word(program: &Path, search: &OsStr) -> String {
    let found = on_path(search, NAME).filter(|it| !it.is_symlink());
    match found.and_then(|it| it.canonicalize().ok()) {
        Some(found) if found == program => format!("\"$(command -v {NAME})\""),
        _ => shell_words::quote(&String::from_utf8_lossy(program.as_os_str().as_bytes())).into_owned(),
    }
}

/// A program as a shell finds it.
pub(crate) fn on_path(search: &OsStr, program: impl AsRef<Path>) -> Option<PathBuf> {
    env::split_paths(search)
        .map(|directory| directory.join(&program))
        .find(|file| file.is_file() && access(file, Access::EXEC_OK).is_ok())
}

impl Remedy {
    /// The line of a shell that gives the file its capabilities, where that helps.
    pub(crate) fn command(&self) -> Option<String> {
        match self {
            Self::File(it) => Some(format!("sudo setcap cap_bpf,cap_perfmon+ep {}", it.program)),
            _ => None,
        }
    }
}

/// What to do; where there is a command, what stands before it.
impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(it) if it.setcap => f.write_str("run it with sudo, or once"),
            Self::File(_) => f.write_str(
                "run it with sudo, or install setcap (package libcap2-bin of Debian and Ubuntu, libcap or libcap-progs of others) \
                 and once",
            ),
            Self::Root(Barren::Nosuid) => f.write_str(
                "run it with sudo; the program lies on a file system mounted with nosuid, where capabilities of files do not count",
            ),
            Self::Root(Barren::NoAttributes) => f.write_str(
                "run it with sudo; the program lies on a file system that keeps no capabilities of files",
            ),
            Self::Root(Barren::OldKernel) => {
                f.write_str("run it with sudo; this kernel has no capability for it that a file may carry (Linux 5.8 has two)")
            }
            Self::NoNewPrivileges => f.write_str(
                "run it outside of what set no_new_privs (a sandbox, a service or a container): neither sudo nor setcap help inside",
            ),
            Self::Bounded => f.write_str(
                "run it outside of this container, or start the container with --cap-add BPF --cap-add PERFMON (docker, podman): \
                 neither sudo nor setcap help inside",
            ),
            Self::Namespace => f.write_str("run it outside of that namespace"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ordinary user of an ordinary machine.
    fn ordinary() -> Facts {
        Facts {
            first_namespace: true,
            no_new_privileges: false,
            bounding: u64::MAX,
            last_capability: 40,
            barren: None,
            program: "\"$(command -v whyfaster)\"".to_owned(),
            setcap: true,
        }
    }

    fn told(change: impl Fn(&mut Facts)) -> String {
        let mut facts = ordinary();
        change(&mut facts);
        let remedy = decide(facts);
        remedy.command().map_or_else(|| remedy.to_string(), |command| format!("{remedy}: {command}"))
    }

    #[test]
    fn an_ordinary_user_gets_a_command_that_works_without_a_clone() {
        assert_eq!(
            told(|_| {}),
            "run it with sudo, or once: sudo setcap cap_bpf,cap_perfmon+ep \"$(command -v whyfaster)\""
        );
        let without = told(|it| it.setcap = false);
        assert!(
            without.contains("libcap2-bin") && without.ends_with("\"$(command -v whyfaster)\""),
            "{without}"
        );
    }

    #[test]
    fn what_does_not_work_is_not_advised() {
        for barren in [Barren::Nosuid, Barren::NoAttributes] {
            let told = told(|it| it.barren = Some(barren));
            assert!(told.starts_with("run it with sudo;") && !told.contains("setcap"), "{told}");
        }
        // Linux 5.7: CAP_AUDIT_READ is the last one.
        let told_there = told(|it| it.last_capability = 37);
        assert!(
            told_there.starts_with("run it with sudo;") && !told_there.contains("setcap"),
            "{told_there}"
        );
        for told in [
            told(|it| it.no_new_privileges = true),
            told(|it| it.bounding = 0),
            told(|it| it.bounding = !(1 << BPF | 1 << SYS_ADMIN)),
            told(|it| it.first_namespace = false),
        ] {
            assert!(told.starts_with("run it outside of ") && !told.contains("sudo setcap"), "{told}");
        }
        // CAP_SYS_ADMIN stands for both.
        assert!(told(|it| it.bounding = 1 << SYS_ADMIN).contains("sudo"));
    }

    #[test]
    fn the_program_is_called_by_its_name_only_where_that_finds_it() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().canonicalize().unwrap();
        let (bin, other) = (real.join("bin"), real.join("my tools"));
        for dir in [&bin, &other] {
            fs::create_dir(dir).unwrap();
            let program = dir.join(NAME);
            fs::write(&program, "").unwrap();
            fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        let search = env::join_paths([&bin, &other]).unwrap();
        assert_eq!(word(&bin.join(NAME), &search), "\"$(command -v whyfaster)\"");
        assert_eq!(word(&other.join(NAME), &search), format!("'{}'", other.join(NAME).display()));
        // A link on the search path.
        fs::remove_file(bin.join(NAME)).unwrap();
        std::os::unix::fs::symlink(other.join(NAME), bin.join(NAME)).unwrap();
        assert_eq!(word(&other.join(NAME), &search), format!("'{}'", other.join(NAME).display()));
    }

    #[test]
    fn a_file_without_attributes_or_with_nosuid_carries_nothing() {
        // /proc is mounted with nosuid nearly everywhere, and keeps no attributes where it is not.
        assert!(barren(Path::new("/proc/self/status")).is_some());
        assert_eq!(barren(Path::new("/no/such/file")), None);
    }
}
