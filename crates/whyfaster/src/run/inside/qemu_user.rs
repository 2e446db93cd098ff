//! `qemu-user:ARCH`: the worker for another instruction set, translated, on the kernel of this machine.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::guest::{About, Guest, Options, directory, write};
use super::process::{self, Start};
use super::{tools, workers};
use crate::exit::{Exit, Failure};
use crate::run::interrupts::Interrupts;
use crate::run::probe::site::{Site, Take};
use crate::run::probe::worker::Ended;
use crate::store::Scratch;

/// qemu's emulator of one process.
#[derive(Debug)]
pub struct QemuUser {
    arch: String,
    program: PathBuf,
    worker: PathBuf,
    silence: Duration,
    _directory: Scratch,
}

impl QemuUser {
    /// Finds the emulator and a worker for it.
    pub fn open(arch: &str, options: &Options) -> Result<Self, Failure> {
        if arch == workers::OWN {
            // The kernel runs what the emulated worker starts by itself, without the emulator.
            return Err(Failure::new(
                Exit::Usage,
                format!(
                    "qemu-user:{arch} is this machine's own instruction set: what the worker starts would not be emulated"
                ),
                "name another one, such as aarch64 or riscv64",
            ));
        }
        let names = [format!("qemu-{arch}"), format!("qemu-{arch}-static")];
        let program = tools::find(&[&names[0], &names[1]], "apt install qemu-user")?;
        let directory = directory()?;
        let worker = directory.path().join("worker");
        write(&worker, &workers::of(arch, options)?, 0o755)?;
        Ok(Self { arch: arch.to_owned(), program, worker, silence: options.silence, _directory: directory })
    }
}

impl Site for QemuUser {
    fn run(&self, plan: &str, interrupts: &Interrupts, take: &mut Take<'_>) -> Result<Ended, Failure> {
        let mut command = Command::new(&self.program);
        command.arg(&self.worker);
        let what = format!("qemu-{}", self.arch);
        let input = plan.as_bytes().to_vec();
        let start = Start { command, what, input, hold: false, silence: self.silence, console: None };
        process::run(start, interrupts, take)
    }
}

impl Guest for QemuUser {
    fn about(&self) -> About {
        About {
            mechanism: format!("{} code translated by qemu-user, on this machine's kernel", self.arch),
            version: tools::version(&self.program, "--version"),
            here: true,
            caveats: vec![(
                "the kernel is this machine's own: these prices show what the translator adds, not another kernel",
                "use qemu:KERNEL for another kernel",
            )],
            ..About::default()
        }
    }
}
