//! The machine's own tools, which know what only its C library may look up.

use std::env;
use std::process::{Command, Stdio};

use super::root::Root;

/// Where they are. `PATH` is not asked: this may run as root.
const TOOLS: [&str; 5] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin"];

/// What one of them says; `None` if it fails, or is not there.
pub(crate) fn asked(root: &Root, tool: &str, args: &[&str]) -> Option<String> {
    let path = env::join_paths(TOOLS.map(|dir| root.path(dir))).ok()?;
    let mut command = Command::new(tool);
    command.args(args).env("PATH", path).stdin(Stdio::null()).stderr(Stdio::null());
    let said = command.output().ok().filter(|said| said.status.success())?;
    String::from_utf8(said.stdout).ok()
}
