//! `uml`: the worker as the first process of a user-mode Linux kernel.

use std::path::PathBuf;
use std::process::Command;

use whyfaster_words::exit::{Exit, Failure};

use super::guest::{Asked, Guest, Kind, Options, directory, write};
use super::process::{Lost, Start};
use super::{tools, workers};

pub(super) static KIND: Kind = Kind {
    word: "uml",
    form: "[:FILE]",
    help: "first process of user-mode Linux, a kernel that is a program",
    needs: "a kernel that is a program",
    read: |file| Ok(file.to_owned()),
    open,
};

/// Lays out its root, a directory of this machine.
fn open(asked: &Asked, options: &Options) -> Result<Guest, Failure> {
    let kernel = match asked.behind.as_str() {
        "" => tools::find(&["linux.uml", "linux"], "apt install user-mode-linux")?,
        file => PathBuf::from(file),
    };
    let version = tools::version(&kernel, "--version");
    let directory = directory()?;
    for name in ["root", "root/proc", "root/dev", "root/tmp", "run"] {
        std::fs::create_dir(directory.path().join(name))
            .map_err(|e| Failure::unfit(format!("'{name}': {e}"), "set TMPDIR to another directory"))?;
    }
    write(&directory.path().join("root/worker"), &workers::own_or_given(options)?, 0o755)?;
    let guest = Guest::new(asked, options, move |plan, _| {
        let (root, run) = (directory.path().join("root"), directory.path().join("run"));
        write(&root.join("plan"), plan.as_bytes(), 0o644)?;
        let mut command = Command::new(&kernel);
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
        command.arg(format!("rootflags={}", root.display()));
        Ok(Some(Start::new(command, "user-mode Linux", "").held()))
    });
    Ok(Guest {
        short: KIND.word.to_owned(),
        mechanism: "user-mode Linux, a kernel that runs as a program".to_owned(),
        version,
        cpus: Some(vec![0]),
        at_once: true,
        remedy: Box::new(remedy),
        ..guest
    })
}

/// Old kernels (6.1 among them) keep a task's registers in a space of fixed size, which those of newer CPUs exceed.
fn remedy(lost: &Lost) -> Option<(Exit, String)> {
    let hint = "this user-mode Linux is older than this CPU and cannot hold its registers: install a newer user-mode-linux \
                (Debian trixie or later), or name one with uml:FILE";
    lost.said("set fp regs failed").then(|| (Exit::Unfit, hint.to_owned()))
}
