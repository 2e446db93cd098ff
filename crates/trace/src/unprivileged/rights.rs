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
    let (path, file) = (fs::read_link(&link).ok()?, fs::metadata(&link).ok()?);
    let status = fs::read_to_string(format!("/proc/{task}/status")).ok()?;
    let field = |name: &str, at: usize| {
        status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().nth(at).map(str::to_owned)
    };
    // The effective one is the second of four: proc_pid_status(5).
    let is = |name: &str, id: u32| field(name, 1).is_some_and(|effective| effective == id.to_string());
    let has = |bits: u32| file.mode() & bits == bits;
    let owner = has(libc::S_ISUID) && !is("Uid:", file.uid());
    // Without the right to execute for the group that bit meant locking: inode(7).
    let group = has(libc::S_ISGID | libc::S_IXGRP) && !is("Gid:", file.gid());
    let bare = field("CapPrm:", 0).is_some_and(|set| set.bytes().all(|digit| digit == b'0'));
    let capable = bare && rustix::fs::getxattr(&link, c"security.capability", &mut [0u8; 64][..]).is_ok();
    // There it would not have got them untraced either.
    let never = || {
        field("NoNewPrivs:", 0).is_some_and(|set| set == "1")
            || rustix::fs::statvfs(&link).is_ok_and(|on| on.f_flag.contains(StatVfsMountFlags::NOSUID))
    };
    ((owner || group || capable) && !never()).then_some(path)
}
