//! A directory of this user's whose files need not outlive the boot, one for all runs.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use whyfaster_rights::with_root;

/// The directory, made if need be; `None`: this user can have none. Nobody else can put a link or a file of theirs there.
/// Under sudo root keeps its own directory, because whyfaster trusts the files in it.
pub(crate) fn directory() -> Option<PathBuf> {
    with_root(own_directory)
}

fn own_directory() -> Option<PathBuf> {
    let uid = rustix::process::geteuid().as_raw();
    let of_boot = match uid {
        0 => Some(PathBuf::from("/run")),
        _ => std::env::var_os("XDG_RUNTIME_DIR").filter(|value| !value.is_empty()).map(PathBuf::from),
    };
    match of_boot.filter(|above| owned(above, uid)) {
        Some(above) => made(above.join("whyfaster"), uid),
        // As under cron or in a container.
        None => {
            // sudo may keep a TMPDIR of its caller.
            let above = if uid == 0 { PathBuf::from("/tmp") } else { std::env::temp_dir() };
            let safe = owned(&above, uid) || shared(&above);
            safe.then(|| made(above.join(format!("whyfaster-{uid}")), uid))?
        }
    }
}

fn made(directory: PathBuf, uid: u32) -> Option<PathBuf> {
    match DirBuilder::new().mode(0o700).create(&directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => None,
        _ => owned(&directory, uid).then_some(directory),
    }
}

/// A directory of this user's, and no link to one, into which nobody else can write.
fn owned(path: &Path, uid: u32) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_dir() && it.uid() == uid && it.mode() & 0o022 == 0)
}

/// A directory in which everybody can replace only what is theirs: root's, with the sticky bit of inode(7).
fn shared(path: &Path) -> bool {
    let is = |it: fs::Metadata| it.is_dir() && it.uid() == 0 && it.mode() & libc::S_ISVTX != 0;
    fs::symlink_metadata(path).is_ok_and(is)
}

/// Writes a file that only this user reads into that directory, in place of the one of this name. Returns its path.
pub(crate) fn write(name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let directory = directory().ok_or_else(|| io::Error::other("no directory of this user's own"))?;
    let path = directory.join(name);
    with_root(|| {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        file.write_all(bytes)
    })?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_or_a_directory_that_others_write_to_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let uid = rustix::process::geteuid().as_raw();
        assert!(owned(dir.path(), uid));
        assert!(!owned(dir.path(), uid + 1));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        assert!(!owned(&link, uid));
        fs::set_permissions(dir.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(!owned(dir.path(), uid) && !shared(dir.path()));
    }
}
