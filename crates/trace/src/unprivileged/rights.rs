//! Programs that have rights of their own, and lose them under ptrace.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use rustix::fs::StatVfsMountFlags;

/// The program of a task that we trace and that has just begun it, if that gives who runs it the rights of its owner or group, or
/// capabilities, and this task has not got them. Who traces without `CAP_SYS_PTRACE` makes the kernel keep them back
/// (ptrace(2); `cap_bprm_creds_from_file` in security/commoncap.c), and most such programs then do something else.
pub fn without_rights(task: i32) -> Option<PathBuf> {
    let link = format!("/proc/{task}/exe");
    let file = fs::metadata(&link).ok()?;
    let has = |bits: u32| file.mode() & bits == bits;
    // Without the right to execute for the group that bit meant locking: inode(7).
    let (of_owner, of_group) = (has(libc::S_ISUID), has(libc::S_ISGID | libc::S_IXGRP));
    let capable = rustix::fs::getxattr(&link, c"security.capability", &mut [0u8; 64][..]).is_ok();
    if !(of_owner || of_group || capable) {
        return None;
    }
    let status = fs::read_to_string(format!("/proc/{task}/status")).ok()?;
    let field = |name: &str, at: usize| {
        status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().nth(at)
    };
    // The effective one is the second of four: proc_pid_status(5).
    let is = |name: &str, id: u32| field(name, 1).is_some_and(|effective| effective == id.to_string());
    let lost = of_owner && !is("Uid:", file.uid())
        || of_group && !is("Gid:", file.gid())
        || capable && field("CapPrm:", 0).is_some_and(|set| set.bytes().all(|digit| digit == b'0'));
    // There it would not have got them untraced either.
    let never = || {
        field("NoNewPrivs:", 0) == Some("1")
            || rustix::fs::statvfs(&link).is_ok_and(|on| on.f_flag.contains(StatVfsMountFlags::NOSUID))
    };
    (lost && !never()).then(|| fs::read_link(&link).unwrap_or_default())
}
