//! Prices elsewhere: the worker inside another kernel, behind an emulator, on another machine, or behind any launcher.
//!
//! One file a [`Kind`] opens it as a [`guest::Guest`], [`process`] runs a program and ends it with all
//! that it started, [`session`] measures and labels the list. [`workers`] has the worker for other instruction sets,
//! [`kernels`] the images of other kernels.

pub mod command;
pub mod cpio;
pub mod guest;
pub mod gvisor;
pub mod kernels;
pub mod process;
pub mod qemu;
pub mod qemu_user;
pub mod session;
pub mod ssh;
pub mod tools;
pub mod uml;
pub mod workers;

use whyfaster_core::price::kind::Kind;

pub use self::guest::{About, Guest, Options};

use crate::exit::Failure;

/// Opens a place. Nothing is started that stays, and what is made on a disk goes with the guest.
pub fn open(kind: &Kind, options: &Options) -> Result<Box<dyn Guest>, Failure> {
    Ok(match kind {
        Kind::Gvisor { platform } => Box::new(gvisor::Gvisor::open(*platform, options)?),
        Kind::Uml { kernel } => Box::new(uml::Uml::open(kernel.as_deref(), options)?),
        Kind::QemuUser { arch } => Box::new(qemu_user::QemuUser::open(arch, options)?),
        Kind::Qemu { kernel, how } => Box::new(qemu::Qemu::open(kernel, *how, options)?),
        Kind::Ssh { host } => Box::new(ssh::Ssh::open(host, options)),
        Kind::Command { words } => Box::new(command::Launcher::open(words, options)?),
    })
}
