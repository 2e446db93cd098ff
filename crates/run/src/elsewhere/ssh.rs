//! `ssh:HOST`: a machine that the user's own ssh leads to, by its configuration and its keys.

use std::process::Command;
use std::time::Duration;

use super::machine::{Machine, PlaceKind};
use super::shell::START;

pub(super) static KIND: PlaceKind = PlaceKind {
    word: "ssh",
    form: "HOST",
    help: "a machine that your own ssh leads to, by its configuration",
    // ssh would take it for an option.
    read: |host| match host.starts_with('-') || host.contains(char::is_whitespace) {
        true => Err(format!("'{host}' is no host")),
        false => Ok(()),
    },
    machines: |host| {
        let first = format!("make 'ssh -o BatchMode=yes {host} true' work first");
        Ok(vec![Machine { first, ..Machine::new(host, format!("ssh:{host}"), command(host)) }])
    },
    all: str::to_owned,
};

/// The shell over there. ssh may ask nothing (we are not the terminal's foreground), forwards nothing, and is no master of other
/// connections, which would outlive it; it uses one that is there.
fn command(host: &str) -> impl Fn(Duration) -> Command + Send + Sync + 'static {
    let host = host.to_owned();
    move |patience| {
        let mut command = Command::new("ssh");
        command.args([
            "-T",
            "-a",
            "-x",
            "-o",
            "BatchMode=yes",
            "-o",
            "ControlMaster=no",
            "-o",
            "ClearAllForwardings=yes",
        ]);
        command
            .args(["-o", "RemoteCommand=none", "-o"])
            .arg(format!("ConnectTimeout={}", patience.as_secs().max(1)));
        command.args(["--", &host, START]);
        command
    }
}
