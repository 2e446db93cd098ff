//! The machine's own tools, which know what only its C library may look up.

use std::env;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use super::root::Root;
use super::said::said_within;

/// Where they are. `PATH` is not asked: this may run as root.
const TOOLS: [&str; 5] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin"];

/// The search path of programs that run as root. It ignores `PATH`, which the caller controls.
pub fn search_path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| TOOLS.join(":"));
    &PATH
}

/// How long one may take: who is asked for a user may ask a server that is not there.
const ANSWERS: Duration = Duration::from_secs(10);

/// What one of them says; `None` if it fails, or is not there.
pub(crate) fn asked(root: &Root, tool: &str, args: &[&str]) -> Option<String> {
    let path = env::join_paths(TOOLS.map(|dir| root.path(dir))).ok()?;
    let mut command = Command::new(tool);
    command.args(args).env("PATH", path).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let said = said_within(&mut command, ANSWERS).ok().filter(|said| said.status.success())?;
    String::from_utf8(said.stdout).ok()
}
