//! `uml`: the worker as the first process of a user-mode Linux kernel.

use std::path::{Path, PathBuf};
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

/// Old kernels (6.1 among them) keep a task's registers in a space of fixed size, which those of newer CPUs exceed.
fn explained(failure: Failure) -> Failure {
    if !failure.message.contains("set fp regs failed") {
        return failure;
    }
    let hint = "this user-mode Linux is older than this CPU and cannot hold its registers: install a newer user-mode-linux \
                (Debian trixie or later), or name one with uml:FILE";
    Failure { exit: Exit::Unfit, hint: Some(hint.to_owned()), ..failure }
}

/// A kernel that is a program.
#[derive(Debug)]
pub struct Uml {
    kernel: PathBuf,
    directory: Scratch,
    silence: Duration,
}

impl Uml {
    /// Finds the kernel and lays out its root, a directory of this machine.
    pub fn open(kernel: Option<&Path>, options: &Options) -> Result<Self, Failure> {
        let kernel = match kernel {
            Some(kernel) => kernel.to_owned(),
            None => tools::find(&["linux.uml", "linux"], "apt install user-mode-linux")?,
        };
        let directory = directory()?;
        for name in ["root", "root/proc", "root/dev", "root/tmp", "run"] {
            std::fs::create_dir(directory.path().join(name)).map_err(|e| {
                Failure::new(Exit::Unfit, format!("'{name}': {e}"), "set TMPDIR to another directory")
            })?;
        }
        write(&directory.path().join("root/worker"), &workers::own_or_given(options)?, 0o755)?;
        Ok(Self { kernel, directory, silence: options.silence })
    }
}

impl Site for Uml {
    fn run(&self, plan: &str, interrupts: &Interrupts, take: &mut Take<'_>) -> Result<Ended, Failure> {
        let root = self.directory.path();
        write(&root.join("root/plan"), plan.as_bytes(), 0o644)?;
        let run = root.join("run");
        let mut command = Command::new(&self.kernel);
        // Its memory is a file in TMPDIR, its control socket lies in HOME.
        command.env("TMPDIR", &run).env("HOME", &run);
        command.args([
            "mem=512M",
            "rootfstype=hostfs",
            "rw",
            "init=/worker",
            "quiet",
            "con=null",
            "con0=fd:0,fd:1",
        ]);
        command.arg(format!("rootflags={}", root.join("root").display()));
        let what = "user-mode Linux".to_owned();
        let start =
            Start { command, what, input: Vec::new(), hold: true, silence: self.silence, console: None };
        process::run(start, interrupts, take).map_err(explained)
    }

    fn at_once(&self) -> bool {
        true
    }
}

impl Guest for Uml {
    fn about(&self) -> About {
        About {
            mechanism: "user-mode Linux, a kernel that runs as a program".to_owned(),
            version: tools::version(&self.kernel, "--version"),
            cpus: Some(vec![0]),
            here: true,
            ..About::default()
        }
    }
}
