//! Signals as a program at a terminal finds them.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has a command start with none of the signals that end programs ignored. A test runner in the background of a script has SIGINT
/// ignored, that is inherited, and whyfaster goes on ignoring it, as `nohup` wants it to.
pub(crate) fn heard(command: &mut Command) {
    // SAFETY: plain system calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        })
    };
}
