//! `qemu:KERNEL`, `qemu-timed:KERNEL`, `qemu-kvm:KERNEL`: a bare kernel in an emulated machine, the worker as its first process.
//!
//! Under instruction counting (`-icount shift=0,sleep=off`) the machine's clocks advance by a nanosecond for every
//! instruction of the guest and not otherwise (QEMU, "TCG Instruction Counting"). So the time stamp counter, which the worker
//! then reads, counts instructions; whatever else this machine does has no part in it. Two processors would be run in
//! turns, so there is one.
//!
//! Before it measures, the worker sleeps `SETTLE_S` seconds of the guest: kernels from 6.12 on put work off at boot, and
//! without this pause their prices came out two to five times too high. A pause costs nothing: a guest that only waits is moved on.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use whyfaster_core::price::Unit;
use whyfaster_core::warning::Caution;
use whyfaster_words::exit::{Exit, Failure};

use super::cpio::{DIRECTORY, Entry, FILE, PROGRAM, archive};
use super::guest::{Asked, Guest, Kind, Options, directory, write};
use super::process::Start;
use super::{kernels, tools, workers};

pub(super) static COUNTED: Kind = Kind {
    word: "qemu",
    help: "first process of a bare kernel under instruction counting, whose prices are guest instructions",
    open: |asked, options| {
        let caveats = vec![Caution::OnlyInstructions];
        let mechanism = "a bare kernel, QEMU counting instructions".to_owned();
        let guest = open(How::Counted, asked, options)?;
        Ok(Guest { mechanism, unit: Unit::GuestInstructions, here: false, caveats, ..guest })
    },
    ..KIND
};

pub(super) static TIMED: Kind = Kind {
    word: "qemu-timed",
    help: "the same, plainly emulated, whose prices are times of the emulator",
    open: |asked, options| {
        let caveats = vec![Caution::TimesOfAnEmulator];
        let mechanism = "a bare kernel, emulated by QEMU: times of the emulator".to_owned();
        Ok(Guest { mechanism, caveats, ..open(How::Timed, asked, options)? })
    },
    ..KIND
};

pub(super) static KVM: Kind = Kind {
    word: "qemu-kvm",
    help: "the same under KVM",
    open: |asked, options| {
        let guest = open(How::Kvm, asked, options)?;
        let hint = "KVM opens but does not carry this guest: a machine that is virtual itself often lacks what an ordinary \
                    kernel needs; use qemu: or qemu-timed:";
        let remedy = Box::new(move |_: &_| Some((Exit::Error, hint.to_owned())));
        let mechanism = "a bare kernel under KVM".to_owned();
        Ok(Guest { mechanism, silence: guest.silence.min(KVM_SILENCE), remedy, ..guest })
    },
    ..KIND
};

/// What they have in common.
const KIND: Kind = Kind {
    word: "",
    form: ":KERNEL",
    help: "",
    needs: "a kernel: an image file, debian:VERSION or ubuntu:VERSION",
    read: |kernel| Ok(kernel.to_owned()),
    open: |asked, options| open(How::Timed, asked, options),
};

/// How the machine is emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Every instruction is counted.
    Counted,
    /// Plain emulation.
    Timed,
    /// The CPU's own virtualization.
    Kvm,
}

/// Seconds of the guest before it measures.
const SETTLE_S: u32 = 20;

/// A guest under KVM that runs at all says something within this time.
const KVM_SILENCE: Duration = Duration::from_secs(60);

/// Finds the emulator and the kernel.
fn open(how: How, asked: &Asked, options: &Options) -> Result<Guest, Failure> {
    kernels::check(&asked.behind)?;
    let get = "apt install --no-install-recommends qemu-system-x86 seabios";
    let program = tools::find(&["qemu-system-x86_64"], get)?;
    let version = tools::version(&program, "--version");
    let worker = workers::of("x86_64", options)?;
    if how == How::Kvm {
        kvm()?;
    }
    let image = kernels::image(&asked.behind, options.fetch)?;
    let file = asked.behind.rsplit('/').next().unwrap_or_default();
    let directory = directory()?;
    let guest = Guest::new(asked, options, move |plan, _| {
        let files = [
            Entry { name: "dev", mode: DIRECTORY, bytes: &[] },
            Entry { name: "proc", mode: DIRECTORY, bytes: &[] },
            Entry { name: "tmp", mode: DIRECTORY, bytes: &[] },
            Entry { name: "init", mode: PROGRAM, bytes: &worker },
            Entry { name: "plan", mode: FILE, bytes: plan.as_bytes() },
        ];
        let (initrd, console) = (directory.path().join("initrd"), directory.path().join("console"));
        write(&initrd, &archive(&files), 0o600)?;
        let mut command = Command::new(&program);
        command.args(machine(how)).args(["-kernel".as_ref(), image.as_os_str()]);
        command.args(["-initrd".as_ref(), initrd.as_os_str()]).args(ports(&console));
        let what = format!("the kernel '{}' in QEMU", image.display());
        Ok(Some(Start::new(command, what, "").held().with_console(console)))
    });
    let short = format!("{}:{file}", asked.kind.word);
    Ok(Guest { short, version, cpus: Some(vec![0]), at_once: true, ..guest })
}

/// The machine, and what its kernel is told.
fn machine(how: How) -> Vec<String> {
    let (accel, cpu): (&[&str], _) = match how {
        How::Counted => (&COUNTING, "max,-rdrand,-rdseed"),
        How::Timed => (&["-accel", "tcg,thread=single"], "max"),
        How::Kvm => (&["-accel", "kvm"], "host"),
    };
    let mut words = vec!["-M", "q35", "-cpu", cpu, "-smp", "1", "-m", "2048"];
    words.extend(accel);
    words.extend(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-monitor", "none"]);
    let settle = if how == How::Counted { SETTLE_S } else { 2 };
    let clock = if how == How::Counted { " WORKER_CLOCK=tsc nokaslr norandmaps" } else { "" };
    let told = format!("console=ttyS0 panic=-1 WORKER_OUT=/dev/ttyS1 WORKER_SETTLE={settle}{clock}");
    words.extend(["-append", &told]);
    words.into_iter().map(str::to_owned).collect()
}

/// The kernel's console goes to a file, the records through a port of their own: no message cuts a record in two.
fn ports(console: &Path) -> Vec<String> {
    let console = format!("file,id=console,path={}", console.display());
    let records = "stdio,id=records,signal=off";
    let words = [
        "-chardev",
        &console,
        "-serial",
        "chardev:console",
        "-chardev",
        records,
        "-serial",
        "chardev:records",
    ];
    words.map(str::to_owned).to_vec()
}

/// An emulated processor whose time is its count of instructions, and nothing that differs from boot to boot: the date is
/// fixed, and neither the host's random numbers (`-cpu max,-rdrand,-rdseed`) nor random addresses (`nokaslr norandmaps`:
/// Documentation/admin-guide/kernel-parameters.txt) change how many page tables a process has, which alone moves fork by 3%.
const COUNTING: [&str; 6] =
    ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01,clock=vm"];

/// Whether KVM may work here at all.
fn kvm() -> Result<(), Failure> {
    let opened = std::fs::OpenOptions::new().read(true).write(true).open("/dev/kvm");
    opened.map(drop).map_err(|error| {
        Failure::unfit(format!("KVM cannot be used here: /dev/kvm: {error}"),
            "it needs a CPU with virtualization, not switched off, and the right to open the device (group kvm); \
             qemu: and qemu-timed: work without it",
        )
    })
}
