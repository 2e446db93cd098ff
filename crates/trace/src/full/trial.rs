//! Whether the kernel takes the programs: they are loaded and attached, once a boot. Rules for what the verifier accepts change from
//! one kernel to the next, so nothing but the attempt tells.

use std::fmt::Write;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::{fs, io};

use sha2::{Digest, Sha256};
use whyfaster_rights::with_root;

use super::Full;
use crate::boot;
use crate::obstacles::Unsupported;
use crate::wanted::Wanted;

/// Loads and attaches them as an ordinary trace does, unless that worked before: in this process, or in another one since the machine was
/// booted. Only a success is remembered, so that whoever has mended what was refused sees it at once.
pub(crate) fn trial() -> Result<(), Unsupported> {
    static FOUND: OnceLock<Result<(), Unsupported>> = OnceLock::new();
    FOUND.get_or_init(attempt).clone()
}

fn attempt() -> Result<(), Unsupported> {
    let name = key().ok().map(|key| format!("programs-{key}"));
    let kept = |name: &String| -> Option<PathBuf> { Some(boot::directory()?.join(name)) };
    if name.as_ref().and_then(kept).is_some_and(|path| with_root(|| path.exists())) {
        return Ok(());
    }
    Full::open(&Wanted::default())?;
    // It is tried again where this cannot be kept.
    if let Some(name) = name.filter(|_| boot::directory().is_some()) {
        let _ = boot::write(&name, b"");
    }
    Ok(())
}

/// Everything that decides over the outcome: the boot, the file of this program, and the rights of this process. Nothing can change the file and leave
/// its `st_ctime` as it was.
fn key() -> io::Result<String> {
    let mut digest = Sha256::new();
    let program = fs::metadata("/proc/self/exe")?;
    for number in [
        program.dev() as i64,
        program.ino() as i64,
        program.size() as i64,
        program.ctime(),
        program.ctime_nsec(),
    ] {
        digest.update(number.to_le_bytes());
    }
    digest.update(fs::read("/proc/sys/kernel/random/boot_id")?);
    digest.update(fs::read_link("/proc/self/ns/user")?.into_os_string().into_encoded_bytes());
    let status = fs::read_to_string("/proc/self/status")?;
    for line in status.lines().filter(|line| line.starts_with("CapEff:") || line.starts_with("Seccomp")) {
        digest.update(line);
    }
    if let Ok(lockdown) = fs::read("/sys/kernel/security/lockdown") {
        digest.update(lockdown);
    }
    let mut key = String::new();
    for byte in &digest.finalize()[..8] {
        write!(key, "{byte:02x}").map_err(io::Error::other)?;
    }
    Ok(key)
}
