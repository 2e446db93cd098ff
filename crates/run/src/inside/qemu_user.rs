//! `qemu-user:ARCH`: the worker for another instruction set, translated, on the kernel of this machine.

use std::process::Command;

use whyfaster_core::warning::Caution;
use whyfaster_words::exit::Failure;

use super::guest::{Asked, Guest, Kind, Options, directory, write};
use super::process::Start;
use super::{tools, workers};

pub(super) static KIND: Kind = Kind {
    word: "qemu-user",
    form: ":ARCH",
    help: "for another instruction set, translated, on this machine's kernel",
    needs: "an instruction set, such as aarch64",
    // It becomes part of a program's name.
    read: |arch| match arch.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        true => Ok(arch.to_owned()),
        false => Err(format!("'{arch}' is no instruction set")),
    },
    open,
};

fn open(asked: &Asked, options: &Options) -> Result<Guest, Failure> {
    let arch = asked.behind.as_str();
    if arch == workers::OWN {
        // The kernel runs what the emulated worker starts by itself, without the emulator.
        return Err(Failure::usage(
            format!(
                "qemu-user:{arch} is this machine's own instruction set: what the worker starts would not be emulated"
            ),
            "name another one, such as aarch64 or riscv64",
        ));
    }
    let name = format!("qemu-{arch}");
    let program = tools::find(&[&name, &format!("{name}-static")], "apt install qemu-user")?;
    let version = tools::version(&program, "--version");
    let directory = directory()?;
    let worker = directory.path().join("worker");
    write(&worker, &workers::of(arch, options)?, 0o755)?;
    let guest = Guest::new(asked, options, move |plan, _| {
        let _worker = &directory;
        let mut command = Command::new(&program);
        command.arg(&worker);
        Ok(Some(Start::new(command, name.clone(), plan)))
    });
    let caveats = vec![Caution::OnlyTheTranslator];
    let mechanism = format!("{arch} code translated by qemu-user, on this machine's kernel");
    Ok(Guest { mechanism, version, own_kernel: true, caveats, ..guest })
}
