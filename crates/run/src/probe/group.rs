//! A child that leads a process group of its own, and how that ends: the worker, and what runs it elsewhere.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::launcher::keeper::{self, Left, Orphaned};

/// The child. Dropping it ends the group.
#[derive(Debug)]
pub struct Group {
    /// The child itself.
    pub child: Child,
    /// How long it gets to end by itself, and its children, before all are killed.
    grace: Duration,
    /// It has been waited for; its number may belong to somebody else.
    reaped: bool,
}

impl Group {
    /// Starts it. An interrupt reaches a group of its own through us, once, and ends all of it.
    pub fn start(command: &mut Command, grace: Duration) -> io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        Ok(Self { child, grace, reaped: false })
    }

    /// Starts it so that it goes when we do, with all that it starts. `streams` says where its streams go.
    pub(crate) fn kept(
        command: &Command,
        orphaned: Orphaned,
        left: Left,
        grace: Duration,
        streams: impl FnOnce(&mut Command),
    ) -> io::Result<Self> {
        let (mut keeper, began) = keeper::kept(command, orphaned, left)?;
        streams(&mut keeper);
        let group = Self::start(&mut keeper, grace)?;
        drop(keeper);
        began.wait().map(|()| group)
    }

    /// Lets it end, tells it to, then ends what is left of its group and takes its status. Once is enough; the status is kept.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if self.reaped {
            return self.child.wait();
        }
        if !self.ended() {
            self.signal(Signal::TERM);
            self.ended();
        }
        self.signal(Signal::KILL);
        let status = self.child.wait();
        self.reaped = true;
        status
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.pid() {
            // It may have ended by itself meanwhile.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Waits for its end without reaping it: until then its number, and that of its group, is its own. Whether it came.
    fn ended(&self) -> bool {
        let deadline = Instant::now() + self.grace;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let Some(pid) = self.pid() else { return true };
        while matches!(waitid(WaitId::Pid(pid), options), Ok(None)) {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal(Signal::TERM);
            let _ = self.end();
        }
    }
}
