//! The worker for the instruction set of the place where it shall run: the one that this program carries, one that the user
//! built, or one that a cross compiler makes of the sources that this program carries. Compiled ones are kept in a cache.

use std::path::Path;
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};
use whyfaster_store::OutputFile;
use whyfaster_words::exit::Failure;

use super::super::cache;
use super::guest::{Options, directory, write};
use super::tools;

/// The instruction set of this program, as `uname -m` calls it.
pub(super) const OWN: &str = std::env::consts::ARCH;

/// The worker that the user named, else the carried one.
pub(super) fn own_or_given(options: &Options) -> Result<Vec<u8>, Failure> {
    match &options.worker {
        Some(path) => given(path),
        None => Ok(whyfaster_probe::worker()),
    }
}

/// The worker for an instruction set.
pub(super) fn of(arch: &str, options: &Options) -> Result<Vec<u8>, Failure> {
    match &options.worker {
        Some(path) => given(path),
        None if arch == OWN => Ok(whyfaster_probe::worker()),
        None => compiled(arch),
    }
}

fn given(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = std::fs::read(path).map_err(|error| {
        let message = format!("--worker: cannot read '{}': {error}", path.display());
        Failure::usage(message, "name the worker that you built; the book says how")
    })?;
    if bytes.len() < 64 {
        let message = format!("--worker: '{}' is no program", path.display());
        return Err(Failure::usage(message, "name the worker that you built; the book says how"));
    }
    Ok(bytes)
}

/// Debian's name of the compiler for an instruction set, and the packages that hold it.
fn cross(arch: &str) -> Option<(&'static str, &'static str)> {
    Some(match arch {
        "aarch64" => ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
        "arm" => ("arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross"),
        "riscv64" => ("riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"),
        "s390x" => ("s390x-linux-gnu-gcc", "gcc-s390x-linux-gnu libc6-dev-s390x-cross"),
        "ppc64le" => ("powerpc64le-linux-gnu-gcc", "gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross"),
        "x86_64" => ("x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu libc6-dev-amd64-cross"),
        _ => return None,
    })
}

fn compiled(arch: &str) -> Result<Vec<u8>, Failure> {
    let Some((compiler, packages)) = cross(arch) else {
        return Err(Failure::unfit(
            format!("there is no worker for '{arch}' in this program, and no cross compiler for it is known"),
            "build one from the sources (the book says how) and name it with --worker FILE",
        ));
    };
    let cached = cache::directory().map(|dir| dir.join("workers").join(format!("{arch}-{}", digest())));
    if let Some(bytes) = cached.as_ref().and_then(|path| std::fs::read(path).ok()) {
        return Ok(bytes);
    }
    // The place is held before the compiler runs. A cache that cannot be written only costs the next run its time.
    let _ = cached.as_deref().and_then(Path::parent).map(std::fs::create_dir_all);
    let cached = cached.map(OutputFile::new).filter(|file| file.hold().is_ok());
    let hint = format!("apt install {packages}; or build a worker and name it with --worker FILE");
    let compiler = tools::find(&[compiler], &hint)?;
    let bytes = compile(&compiler, arch)?;
    if let Some(file) = cached {
        let _ = file.write(&bytes);
    }
    Ok(bytes)
}

/// What the sources are, so that an old worker is not taken for the one of these sources.
fn digest() -> String {
    let mut digest = Sha256::new();
    for (name, text) in whyfaster_probe::sources() {
        digest.update(name);
        digest.update(text);
    }
    digest.update(env!("CARGO_PKG_VERSION"));
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// One call of the compiler over all sources. The little dynamic program is left out: its rows say so.
fn compile(compiler: &Path, arch: &str) -> Result<Vec<u8>, Failure> {
    let directory = directory()?;
    let root = directory.path();
    for (name, text) in whyfaster_probe::sources() {
        write(&root.join(name), text.as_bytes(), 0o600)?;
    }
    let version = format!("-DWORKER_VERSION=\"{}\"", env!("CARGO_PKG_VERSION"));
    let sources = whyfaster_probe::sources().iter().map(|(name, _)| *name);
    let programs = sources.filter(|name| Path::new(name).extension().is_some_and(|e| e == "c"));
    let output = Command::new(compiler)
        .args(["-std=gnu11", "-O2", "-pthread", "-static", "-I./include", &version])
        .args(programs)
        .args(["-o", "worker"])
        .current_dir(root)
        .stdin(Stdio::null())
        .output();
    let failed = |why: String| {
        let what = format!("cannot compile the worker for {arch} with '{}': {why}", compiler.display());
        Failure::unfit(what, "build it yourself and name it with --worker FILE")
    };
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(failed(said.lines().take(4).collect::<Vec<_>>().join("; ")));
    }
    std::fs::read(root.join("worker")).map_err(|error| failed(error.to_string()))
}

/// Lets other users into a directory of ours, because a launcher may become one of them.
pub(super) fn open_to_all(directory: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).map_err(|error| {
        Failure::unfit(format!("'{}': {error}", directory.display()), "set TMPDIR to a directory of yours")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn an_unknown_instruction_set_says_what_to_do() {
        let options = Options { fetch: false, worker: None, silence: Duration::from_secs(1) };
        let failure = of("vax", &options).unwrap_err();
        assert!(failure.message.contains("'vax'") && failure.hint.unwrap().contains("--worker"));
        assert_eq!(of(OWN, &options).unwrap(), whyfaster_probe::worker());
        let options = Options { worker: Some("/nonexistent/worker".into()), ..options };
        assert!(of("vax", &options).unwrap_err().message.contains("'/nonexistent/worker'"));
    }
}
