//! `gvisor`: the worker inside gVisor's kernel, which is a program of this machine.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::guest::{About, Guest, Options, directory, write};
use super::process::{self, Start};
use super::{tools, workers};
use crate::exit::Failure;
use crate::run::interrupts::Interrupts;
use crate::run::probe::site::{Site, Take};
use crate::run::probe::worker::Ended;
use crate::store::Scratch;
use whyfaster_core::price::kind::Platform;

const GET: &str = "gVisor has no Debian package: 'go install gvisor.dev/gvisor/runsc@latest' builds it, or see gvisor.dev/docs";

/// A sandbox for every repetition.
#[derive(Debug)]
pub struct Gvisor {
    platform: Platform,
    runsc: PathBuf,
    directory: Scratch,
    silence: Duration,
}

impl Gvisor {
    /// Finds `runsc`.
    pub fn open(platform: Platform, options: &Options) -> Result<Self, Failure> {
        let runsc = tools::find(&["runsc"], GET)?;
        let directory = directory()?;
        write(&directory.path().join("worker"), &workers::own_or_given(options)?, 0o755)?;
        Ok(Self { platform, runsc, directory, silence: options.silence })
    }
}

impl Site for Gvisor {
    fn run(&self, plan: &str, interrupts: &Interrupts, take: &mut Take<'_>) -> Result<Ended, Failure> {
        let root = self.directory.path();
        let file = root.join("plan");
        write(&file, plan.as_bytes(), 0o644)?;
        let mut command = Command::new(&self.runsc);
        // Its state goes into our directory, so that nothing stays in /run.
        command.arg("--root").arg(root.join("state")).arg(format!("--platform={}", self.platform.word()));
        if !rustix::process::geteuid().is_root() {
            command.arg("--rootless");
        }
        // Cgroups and the network would be set up on this machine, and no probe needs them.
        command.args(["--network=none", "--ignore-cgroups", "do"]);
        command.arg(root.join("worker")).arg("--plan").arg(&file);
        let what = format!("runsc --platform={}", self.platform.word());
        let start =
            Start { command, what, input: Vec::new(), hold: false, silence: self.silence, console: None };
        process::run(start, interrupts, take)
    }
}

impl Guest for Gvisor {
    fn about(&self) -> About {
        About {
            mechanism: format!("gVisor, platform {}", self.platform.word()),
            version: tools::version(&self.runsc, "--version"),
            here: true,
            caveats: vec![(
                "gVisor takes a wish for a CPU and does not keep it: rows of the same and of another CPU do not differ in placement",
                "compare rows that need one CPU only",
            )],
            ..About::default()
        }
    }
}
