//! `qemu:KERNEL`: a bare kernel in an emulated machine, the worker as its first process.
//!
//! Under instruction counting (`-icount shift=0,sleep=off`) the machine's clocks advance by a nanosecond for every
//! instruction of the guest and not otherwise (QEMU, "TCG Instruction Counting"). So the time stamp counter, which the worker
//! then reads, counts instructions; whatever else this machine does has no part in it. Two processors would be run in
//! turns, so there is one.
//!
//! Before it measures, the worker sleeps `SETTLE_S` seconds of the guest: kernels from 6.12 on put work off at boot, and
//! without this pause their prices came out two to five times too high. A pause costs nothing: a guest that only waits is moved on.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use whyfaster_core::price::Unit;

use super::cpio::{DIRECTORY, Entry, FILE, PROGRAM, archive};
use super::guest::{About, Guest, Options, directory, write};
use super::process::{self, Start};
use super::{kernels, tools, workers};
use crate::exit::{Exit, Failure};
use crate::run::interrupts::Interrupts;
use crate::run::probe::site::{Site, Take};
use crate::run::probe::worker::Ended;
use crate::store::Scratch;
use whyfaster_core::price::kind::How;

const PROGRAM_NAME: &str = "qemu-system-x86_64";

/// Seconds of the guest before it measures.
const SETTLE_S: u32 = 20;

/// A guest under KVM that runs at all says something within this time.
const KVM_SILENCE: Duration = Duration::from_secs(60);

/// An emulated machine.
#[derive(Debug)]
pub struct Qemu {
    program: PathBuf,
    image: PathBuf,
    worker: Vec<u8>,
    how: How,
    silence: Duration,
    directory: Scratch,
}

impl Qemu {
    /// Finds the emulator and the kernel.
    pub fn open(kernel: &str, how: How, options: &Options) -> Result<Self, Failure> {
        let program =
            tools::find(&[PROGRAM_NAME], "apt install --no-install-recommends qemu-system-x86 seabios")?;
        let worker = workers::of("x86_64", options)?;
        let mut silence = options.silence;
        if how == How::Kvm {
            kvm()?;
            silence = silence.min(KVM_SILENCE);
        }
        let image = kernels::image(kernel, options.fetch)?;
        Ok(Self { program, image, worker, how, silence, directory: directory()? })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        let root = self.directory.path();
        let (accel, cpu): (&[&str], _) = match self.how {
            How::Counted => (&COUNTED, "max,-rdrand,-rdseed"),
            How::Timed => (&["-accel", "tcg,thread=single"], "max"),
            How::Kvm => (&["-accel", "kvm"], "host"),
        };
        command.args(["-M", "q35", "-cpu", cpu, "-smp", "1", "-m", "2048"]).args(accel);
        command.args([
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
            "-monitor",
            "none",
        ]);
        // The kernel's console goes to a file, the records through a port of their own: no message cuts a record in two.
        command.arg("-chardev").arg(format!("file,id=console,path={}", self.console().display()));
        command.args(["-serial", "chardev:console", "-chardev", "stdio,id=records,signal=off"]);
        command.args(["-serial", "chardev:records"]);
        command.arg("-kernel").arg(&self.image).arg("-initrd").arg(root.join("initrd"));
        let settle = if self.how == How::Counted { SETTLE_S } else { 2 };
        let clock = if self.how == How::Counted { " WORKER_CLOCK=tsc nokaslr norandmaps" } else { "" };
        command
            .arg("-append")
            .arg(format!("console=ttyS0 panic=-1 WORKER_OUT=/dev/ttyS1 WORKER_SETTLE={settle}{clock}"));
        command
    }

    fn console(&self) -> PathBuf {
        self.directory.path().join("console")
    }
}

/// An emulated processor whose time is its count of instructions, and nothing that differs from boot to boot: the date is
/// fixed, and neither the host's random numbers (`-cpu max,-rdrand,-rdseed`) nor random addresses (`nokaslr norandmaps`:
/// Documentation/admin-guide/kernel-parameters.txt) change how many page tables a process has, which alone moves fork by 3%.
const COUNTED: [&str; 6] =
    ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01,clock=vm"];

/// Whether KVM may work here at all.
fn kvm() -> Result<(), Failure> {
    let opened = std::fs::OpenOptions::new().read(true).write(true).open("/dev/kvm");
    opened.map(drop).map_err(|error| {
        Failure::new(
            Exit::Unfit,
            format!("KVM cannot be used here: /dev/kvm: {error}"),
            "it needs a CPU with virtualization, not switched off, and the right to open the device (group kvm); \
             qemu: and qemu-timed: work without it",
        )
    })
}

impl Site for Qemu {
    fn run(&self, plan: &str, interrupts: &Interrupts, take: &mut Take<'_>) -> Result<Ended, Failure> {
        let files = [
            Entry { name: "dev", mode: DIRECTORY, bytes: &[] },
            Entry { name: "proc", mode: DIRECTORY, bytes: &[] },
            Entry { name: "tmp", mode: DIRECTORY, bytes: &[] },
            Entry { name: "init", mode: PROGRAM, bytes: &self.worker },
            Entry { name: "plan", mode: FILE, bytes: plan.as_bytes() },
        ];
        write(&self.directory.path().join("initrd"), &archive(&files), 0o600)?;
        let path = self.console();
        let console = || String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
        let start = Start {
            command: self.command(),
            what: format!("the kernel '{}' in QEMU", self.image.display()),
            input: Vec::new(),
            hold: true,
            silence: self.silence,
            console: Some(&console),
        };
        let ended = process::run(start, interrupts, take);
        ended.map_err(|failure| match self.how {
            How::Kvm => Failure {
                hint: Some(
                    "KVM opens but does not carry this guest: a machine that is virtual itself often lacks what an ordinary \
                     kernel needs; use qemu: or qemu-timed:"
                        .to_owned(),
                ),
                ..failure
            },
            _ => failure,
        })
    }

    fn at_once(&self) -> bool {
        true
    }
}

impl Guest for Qemu {
    fn about(&self) -> About {
        let (mechanism, unit) = match self.how {
            How::Counted => ("a bare kernel, QEMU counting instructions", Unit::GuestInstructions),
            How::Timed => ("a bare kernel, emulated by QEMU: times of the emulator", Unit::Nanoseconds),
            How::Kvm => ("a bare kernel under KVM", Unit::Nanoseconds),
        };
        let counted = (
            "instructions say nothing about what one costs: caches, page tables and mitigations that only slow down are not in them",
            "compare them with instructions of other kernels only",
        );
        let emulated = (
            "these are times of an emulator: its translation is in every one of them",
            "compare ratios within this list",
        );
        About {
            mechanism: mechanism.to_owned(),
            version: tools::version(&self.program, "--version"),
            unit,
            cpus: Some(vec![0]),
            here: self.how != How::Counted,
            caveats: match self.how {
                How::Counted => vec![counted],
                How::Timed => vec![emulated],
                How::Kvm => Vec::new(),
            },
        }
    }
}
