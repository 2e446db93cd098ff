//! `gvisor`: the worker inside gVisor's kernel, which is a program of this machine.

use std::process::Command;

use whyfaster_core::warning::Caution;
use whyfaster_words::exit::Failure;

use super::guest::{Asked, Guest, Kind, Options, directory, write};
use super::process::Start;
use super::{tools, workers};

pub(super) static KIND: Kind = Kind {
    word: "gvisor",
    form: "[:systrap|:ptrace]",
    help: "in gVisor's kernel, a sandbox for every repetition",
    needs: "a platform, systrap or ptrace",
    read: |platform| match platform {
        "" => Ok("systrap".to_owned()),
        "systrap" | "ptrace" => Ok(platform.to_owned()),
        other => Err(format!(
            "gVisor's platform is systrap or ptrace, not '{other}' (its kvm needs a CPU with virtualization of its own, \
             which most virtual machines lack)"
        )),
    },
    open,
};

const GET: &str = "gVisor has no Debian package: 'go install gvisor.dev/gvisor/runsc@latest' builds it, or see gvisor.dev/docs";

fn open(asked: &Asked, options: &Options) -> Result<Guest, Failure> {
    let runsc = tools::find(&["runsc"], GET)?;
    let version = tools::version(&runsc, "--version");
    let directory = directory()?;
    write(&directory.path().join("worker"), &workers::own_or_given(options)?, 0o755)?;
    let platform = asked.behind.clone();
    let mechanism = format!("gVisor, platform {platform}");
    let guest = Guest::new(asked, options, move |plan, _| {
        let root = directory.path();
        let file = root.join("plan");
        write(&file, plan.as_bytes(), 0o644)?;
        let mut command = Command::new(&runsc);
        // Its state goes into our directory, so that nothing stays in /run.
        command.arg("--root").arg(root.join("state")).arg(format!("--platform={platform}"));
        if !rustix::process::geteuid().is_root() {
            command.arg("--rootless");
        }
        // Cgroups and the network would be set up on this machine, and no probe needs them.
        command.args(["--network=none", "--ignore-cgroups", "do"]);
        command.arg(root.join("worker")).arg("--plan").arg(&file);
        Ok(Some(Start::new(command, format!("runsc --platform={platform}"), "")))
    });
    let caveats = vec![Caution::PinNotKept];
    Ok(Guest { mechanism, version, caveats, ..guest })
}
