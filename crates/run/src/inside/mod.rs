//! Prices elsewhere: the worker inside another kernel, behind an emulator, on another machine, or behind any launcher.
//!
//! Each kind of place is a file: how it is asked for, and how it is opened as a [`Guest`]. `process` runs a program and ends it with
//! all that it started, `session` measures and labels the list. `workers` has the worker for other instruction sets,
//! [`kernels`] the images of other kernels.

mod command;
mod cpio;
pub mod guest;
mod gvisor;
pub mod kernels;
mod process;
mod qemu;
mod qemu_user;
pub mod session;
mod ssh;
mod tools;
mod uml;
mod workers;

use std::str::FromStr;

pub use self::guest::{Asked, Guest, Kind, Options};

/// The kinds of places, in the order of the help.
pub static KINDS: [&Kind; 8] = [
    &gvisor::KIND,
    &uml::KIND,
    &qemu_user::KIND,
    &qemu::COUNTED,
    &qemu::TIMED,
    &qemu::KVM,
    &ssh::KIND,
    &command::KIND,
];

impl FromStr for Asked {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, behind) =
            text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest.trim())));
        let Some(kind) = KINDS.iter().find(|kind| kind.word == word) else {
            let all: Vec<String> = KINDS.iter().map(|kind| format!("{}{}", kind.word, kind.form)).collect();
            return Err(format!("there is no kind '{word}'; there are {}", all.join(", ")));
        };
        let may_stand_alone = kind.form.starts_with('[');
        match behind.unwrap_or_default() {
            "" if behind.is_some() || !may_stand_alone => Err(format!("'{word}:' needs {}", kind.needs)),
            behind => Ok(Self { kind, behind: (kind.read)(behind)? }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_and_written() {
        for (text, written) in [
            ("gvisor", "gvisor:systrap"),
            ("gvisor:ptrace", "gvisor:ptrace"),
            ("uml", "uml"),
            ("uml:/opt/linux", "uml:/opt/linux"),
            ("qemu-user:aarch64", "qemu-user:aarch64"),
            ("qemu:debian:6.12", "qemu:debian:6.12"),
            ("qemu-timed:/boot/vmlinuz", "qemu-timed:/boot/vmlinuz"),
            ("qemu-kvm:/boot/vmlinuz", "qemu-kvm:/boot/vmlinuz"),
            ("ssh:user@host", "ssh:user@host"),
            ("command:taskset  -c 0", "command:taskset -c 0"),
            ("command:nsenter '-t 1' {}", "command:nsenter '-t 1' {}"),
        ] {
            let asked: Asked = text.parse().unwrap();
            assert_eq!(asked.to_string(), written);
            assert_eq!(written.parse::<Asked>().unwrap().to_string(), written);
        }
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
            let said = text.parse::<Asked>().map(drop).map_err(|e| format!("{text} {e}")).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
