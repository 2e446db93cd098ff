//! A place to measure in: how it is opened, what a list says about it, and its directory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use whyfaster_core::price::Unit;

use super::super::probe::site::Site;
use crate::exit::{Exit, Failure};
use crate::store::Scratch;

/// How a place is opened, besides its kind.
#[derive(Clone, Debug)]
pub struct Options {
    /// Images that are missing may be fetched.
    pub fetch: bool,
    /// A worker that the user built.
    pub worker: Option<PathBuf>,
    /// How long nothing may come before the place counts as hung.
    pub silence: Duration,
}

/// What a list says about the place.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// What stands between the worker and this machine, in words.
    pub mechanism: String,
    /// The version of that.
    pub version: Option<String>,
    /// What the prices are.
    pub unit: Unit,
    /// CPUs of the guest, where they are known before it starts.
    pub cpus: Option<Vec<u32>>,
    /// Whether it runs on this machine, so that this machine's CPU and crowd are its own.
    pub here: bool,
    /// What a reader must know: what stood out, and what to do about it.
    pub caveats: Vec<(&'static str, &'static str)>,
}

/// A place other than an ordinary process of this machine.
pub trait Guest: Site {
    /// What it is.
    fn about(&self) -> About;
}

/// A directory of our own that is gone when the guest is.
pub(super) fn directory() -> Result<Scratch, Failure> {
    Scratch::make("inside").map_err(|error| {
        Failure::new(
            Exit::Unfit,
            format!("cannot make a directory in '{}': {error}", std::env::temp_dir().display()),
            "set TMPDIR to a directory that you may write to",
        )
    })
}

/// Writes a file of our directory.
pub(super) fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let written = std::fs::write(path, bytes)
        .and_then(|()| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)));
    written.map_err(|error| {
        Failure::new(
            Exit::Unfit,
            format!("cannot write '{}': {error}", path.display()),
            "set TMPDIR to a directory with some MiB of room",
        )
    })
}
