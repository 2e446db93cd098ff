//! What may stand behind `--inside`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// gVisor's ways to catch system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Seccomp traps: its default.
    Systrap,
    /// ptrace.
    Ptrace,
}

impl Platform {
    /// As `runsc` calls it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Systrap => "systrap",
            Self::Ptrace => "ptrace",
        }
    }
}

/// How a whole machine is emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Every instruction is counted; prices are instructions.
    Counted,
    /// Plain emulation; prices are times of the emulator.
    Timed,
    /// The CPU's own virtualization.
    Kvm,
}

/// Where the worker shall run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// gVisor.
    Gvisor {
        /// How it catches system calls.
        platform: Platform,
    },
    /// User-mode Linux.
    Uml {
        /// The kernel, if not the one that the package installs.
        kernel: Option<PathBuf>,
    },
    /// An emulator of one process.
    QemuUser {
        /// As in `qemu-aarch64`.
        arch: String,
    },
    /// A bare kernel in an emulated machine.
    Qemu {
        /// An image file, or `debian:VERSION`.
        kernel: String,
        /// How.
        how: How,
    },
    /// Another machine.
    Ssh {
        /// As the user's ssh knows it.
        host: String,
    },
    /// Any program that starts another one.
    Command {
        /// Its words.
        words: Vec<String>,
    },
}

/// Every kind in one line, for errors.
pub const FORMS: &str = "gvisor[:systrap|:ptrace], uml[:FILE], qemu-user:ARCH, qemu:KERNEL, qemu-timed:KERNEL, qemu-kvm:KERNEL, \
                         ssh:HOST or command:WORDS";

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
        let rest = rest.map(str::trim);
        let need = |what: &str| match rest {
            Some(rest) if !rest.is_empty() => Ok(rest.to_owned()),
            _ => Err(format!("'{kind}:' needs {what}")),
        };
        let kernel = |how| {
            Ok(Self::Qemu { kernel: need("a kernel: an image file, debian:VERSION or ubuntu:VERSION")?, how })
        };
        match kind {
            "gvisor" => match rest {
                None | Some("systrap") => Ok(Self::Gvisor { platform: Platform::Systrap }),
                Some("ptrace") => Ok(Self::Gvisor { platform: Platform::Ptrace }),
                Some(other) => Err(format!(
                    "gVisor's platform is systrap or ptrace, not '{other}' (its kvm needs a CPU with virtualization of its own, \
                     which most virtual machines lack)"
                )),
            },
            "uml" if rest == Some("") => Err("'uml:' needs a kernel that is a program".to_owned()),
            "uml" => Ok(Self::Uml { kernel: rest.map(PathBuf::from) }),
            "qemu-user" => Ok(Self::QemuUser { arch: arch(&need("an instruction set, such as aarch64")?)? }),
            "qemu" => kernel(How::Counted),
            "qemu-timed" => kernel(How::Timed),
            "qemu-kvm" => kernel(How::Kvm),
            "ssh" => Ok(Self::Ssh { host: host(need("a host")?)? }),
            "command" => Ok(Self::Command { words: words(&need("a program that starts another one")?)? }),
            _ => Err(format!("there is no kind '{kind}'; there are {FORMS}")),
        }
    }
}

/// A word that becomes part of a program's name.
fn arch(text: &str) -> Result<String, String> {
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain { Ok(text.to_owned()) } else { Err(format!("'{text}' is no instruction set")) }
}

/// ssh would take it for an option.
fn host(text: String) -> Result<String, String> {
    if text.starts_with('-') || text.contains(char::is_whitespace) {
        return Err(format!("'{text}' is no host"));
    }
    Ok(text)
}

fn words(text: &str) -> Result<Vec<String>, String> {
    let words = shell_words::split(text).map_err(|error| format!("'{text}': {error}"))?;
    if words.is_empty() {
        Err("'command:' needs a program that starts another one".to_owned())
    } else {
        Ok(words)
    }
}

impl Kind {
    /// A short name for tables: of an image file only the file's name.
    pub fn short(&self) -> String {
        match self {
            Self::Qemu { kernel, how } => {
                let kernel = kernel.rsplit('/').next().unwrap_or_default().to_owned();
                Self::Qemu { kernel, how: *how }.to_string()
            }
            Self::Uml { .. } => "uml".to_owned(),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gvisor { platform } => write!(f, "gvisor:{}", platform.word()),
            Self::Uml { kernel: None } => write!(f, "uml"),
            Self::Uml { kernel: Some(kernel) } => write!(f, "uml:{}", kernel.display()),
            Self::QemuUser { arch } => write!(f, "qemu-user:{arch}"),
            Self::Qemu { kernel, how: How::Counted } => write!(f, "qemu:{kernel}"),
            Self::Qemu { kernel, how: How::Timed } => write!(f, "qemu-timed:{kernel}"),
            Self::Qemu { kernel, how: How::Kvm } => write!(f, "qemu-kvm:{kernel}"),
            Self::Ssh { host } => write!(f, "ssh:{host}"),
            Self::Command { words } => write!(f, "command:{}", shell_words::join(words)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_and_written() {
        for text in [
            "gvisor:systrap",
            "gvisor:ptrace",
            "uml",
            "uml:/opt/linux",
            "qemu-user:aarch64",
            "qemu:debian:6.12",
            "qemu-timed:/boot/vmlinuz",
            "qemu-kvm:/boot/vmlinuz",
            "ssh:user@host",
            "command:taskset -c 0",
        ] {
            assert_eq!(text.parse::<Kind>().unwrap().to_string(), text);
        }
        assert_eq!("gvisor".parse(), Ok(Kind::Gvisor { platform: Platform::Systrap }));
        let words = vec!["nsenter".to_owned(), "-t 1".to_owned(), "{}".to_owned()];
        assert_eq!("command:nsenter '-t 1' {}".parse(), Ok(Kind::Command { words }));
    }

    #[test]
    fn what_is_none_says_what_is() {
        for (text, why) in [
            ("docker", "there is no kind 'docker'"),
            ("gvisor:kvm", "systrap or ptrace"),
            ("uml:", "needs a kernel"),
            ("qemu-user", "needs an instruction set"),
            ("qemu-user:../x", "no instruction set"),
            ("qemu:", "needs a kernel"),
            ("ssh:-oProxyCommand=x", "no host"),
            ("ssh:a b", "no host"),
            ("command:", "needs a program"),
            ("command:'a", "command:"),
        ] {
            let said = text.parse::<Kind>().map_err(|e| format!("{text} {e}")).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
