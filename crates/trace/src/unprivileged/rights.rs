//! Programs that have rights of their own, and lose them under ptrace.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::{env, fs, io};

use rustix::fs::StatVfsMountFlags;

use super::proc::{self, Status};
use crate::remedy::on_path;

/// The program of a task that we trace and that has just begun it, if that gives who runs it the rights of its owner or group, or
/// capabilities, and this task has not got them. Who traces without `CAP_SYS_PTRACE` makes the kernel keep them back
/// (ptrace(2); `cap_bprm_creds_from_file` in security/commoncap.c), and most such programs then do something else.
pub fn without_rights(task: i32) -> Option<PathBuf> {
    let link = PathBuf::from(format!("/proc/{task}/exe"));
    let program = match fs::metadata(&link) {
        // It may be executed but not read, as sudo of Fedora: then nobody may look into the process either (would_dump() in the
        // kernel's fs/exec.c).
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => called(task)?,
        _ => link.clone(),
    };
    let file = fs::metadata(&program).ok()?;
    let has = |bits: u32| file.mode() & bits == bits;
    // Without the right to execute for the group that bit meant locking: inode(7).
    let (of_owner, of_group) = (has(libc::S_ISUID), has(libc::S_ISGID | libc::S_IXGRP));
    let capable = rustix::fs::getxattr(&program, c"security.capability", &mut [0u8; 64][..]).is_ok();
    if !(of_owner || of_group || capable) {
        return None;
    }
    let status = Status::of(task);
    let field = |name: &str, at: usize| status.field(name)?.split_whitespace().nth(at);
    // The effective one is the second of four: proc_pid_status(5).
    let is = |name: &str, id: u32| field(name, 1).is_some_and(|effective| effective == id.to_string());
    let lost = of_owner && !is("Uid:", file.uid())
        || of_group && !is("Gid:", file.gid())
        || capable && field("CapPrm:", 0).is_some_and(|set| set.bytes().all(|digit| digit == b'0'));
    // There it would not have got them untraced either.
    let never = || {
        field("NoNewPrivs:", 0) == Some("1")
            || rustix::fs::statvfs(&program).is_ok_and(|on| on.f_flag.contains(StatVfsMountFlags::NOSUID))
    };
    (lost && !never()).then(|| fs::read_link(&link).unwrap_or(program))
}

/// The program that a task was begun by, by the name that it was called by; the kernel's name for the task must be the same.
fn called(task: i32) -> Option<PathBuf> {
    let line = fs::read(format!("/proc/{task}/cmdline")).ok()?;
    let word = OsStr::from_bytes(line.split(|byte| *byte == 0).next()?);
    let path = match word.as_bytes().contains(&b'/') {
        true => PathBuf::from(word),
        false => on_path(&env::var_os("PATH")?, word)?,
    };
    let name = path.file_name()?.to_string_lossy().into_owned();
    let known = proc::name(task);
    (path.is_absolute() && !known.is_empty() && name.starts_with(&known)).then_some(path)
}
