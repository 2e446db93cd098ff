//! A command that is observed: held at the gate until its observer is ready, and awaited with all that it leaves running.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::super::protocol::{Ended, Message, Purpose, Reply, receive, send};
use super::batch::Run;
use super::gate::now_ns;
use super::reap::Woken;
use super::tree;

/// How often we look whether anything that a command left behind is still there.
const ALONE_NS: u64 = 100_000_000;

/// How long an end that has happened may take to be told.
const PATIENCE_NS: u64 = 1_000_000_000;

impl Run<'_> {
    /// Says which processes stand at the gate, and waits for the word to go. Says whether it came.
    pub(super) fn hold(&mut self, socket: &UnixStream) -> bool {
        if !self.is_held() {
            return true;
        }
        let copies = self.prepared.iter().copied().collect();
        if send(socket, &Reply::Held(copies), &[]).is_err() {
            return false;
        }
        // A program that died closes the socket, so this cannot wait for ever.
        matches!(receive::<Message>(socket), Ok(Some((Message::Go(true), _))))
    }

    /// Tells that the gate is open: a duration counts from here.
    pub(super) fn tell_release(&self, socket: &UnixStream) {
        if self.is_held() {
            // A program that is gone is seen by the signal of its death.
            let _ = send(socket, &Reply::Released, &[]);
        }
    }

    fn is_held(&self) -> bool {
        matches!(self.request.purpose, Purpose::Observed | Purpose::Traced)
    }

    /// Waits for what the command left running: it belongs to the observed tree.
    pub(super) fn until_alone(&mut self, socket: &UnixStream) -> Ended {
        let mut told = false;
        loop {
            let childless = self.reap();
            if childless || self.only_helpers() {
                return Ended::Normally;
            }
            if !told {
                told = true;
                // A program that is gone is seen by the signal of its death.
                let _ = send(socket, &Reply::Alone, &[]);
            }
            // Also without a signal: who becomes our child as a zombie gives none.
            if self.signals.wait(Some(now_ns() + ALONE_NS)) == Woken::Stop {
                return Ended::Aborted;
            }
        }
    }

    /// Whether two looks in a row show nobody but our own helpers: one look can miss whose parent ends meanwhile.
    fn only_helpers(&self) -> bool {
        let alone = || tree::below_this().iter().all(|process| self.helpers.contains(process));
        !self.helpers.is_empty() && alone() && alone()
    }

    /// Takes in copies that have ended and were not told yet: who is traced is first told to the tracer.
    pub(super) fn reap_ended(&mut self) {
        let until_ns = now_ns() + PATIENCE_NS;
        self.reap();
        while self.alive() > 0 && now_ns() < until_ns {
            std::thread::sleep(Duration::from_millis(1));
            self.reap();
        }
    }
}
