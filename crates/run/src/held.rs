//! Copies of a command that are held at the gate until the program has made ready to observe it.

use std::os::fd::{AsFd, BorrowedFd};

use super::client::{Launcher, NoOutcome};
use super::interrupts::Interrupts;
use super::protocol::{Message, Outcome, Reply, Request};

/// What the launcher said of an observed command.
#[derive(Debug)]
pub(crate) enum News {
    /// It has left the gate.
    Released,
    /// It has ended; what it started runs on.
    Alone,
    /// All of it has ended, or was ended.
    Done(Box<Outcome>),
}

impl Launcher {
    /// Has the copies created and held. Returns their process ids; `None`: we were told to stop.
    pub(crate) fn hold(
        &mut self,
        request: Request,
        stdin: Option<BorrowedFd<'_>>,
        interrupts: &Interrupts,
    ) -> Result<Option<Vec<i32>>, NoOutcome> {
        self.send(&Message::Run(Box::new(request)), stdin.as_slice())?;
        loop {
            // Opening an input can take for ever, and then only a signal ends it.
            if interrupts.interrupted() {
                self.stop_batch();
            }
            let timeout = interrupts.interrupted().then_some(super::client::AGAIN);
            if !interrupts.wait(&[self.as_fd()], timeout)?[0] {
                continue;
            }
            return match self.next_reply()? {
                Reply::Held(copies) => Ok(Some(copies)),
                Reply::Failed(error) => Err(NoOutcome::Launch(error)),
                Reply::Done(_) => Ok(None),
                Reply::Released | Reply::Alone => Err(self.lost()),
            };
        }
    }

    /// Lets what is held go, or has it ended.
    pub(crate) fn go(&mut self, go: bool) -> Result<(), NoOutcome> {
        self.send(&Message::Go(go), &[])
    }

    /// What the launcher says, once its end of the socket can be read.
    pub(crate) fn news(&mut self) -> Result<News, NoOutcome> {
        match self.next_reply()? {
            Reply::Released => Ok(News::Released),
            Reply::Alone => Ok(News::Alone),
            Reply::Done(outcome) => Ok(News::Done(outcome)),
            Reply::Failed(error) => Err(NoOutcome::Launch(error)),
            Reply::Held(_) => Err(self.lost()),
        }
    }
}

impl AsFd for Launcher {
    /// Readable when there is news.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket().as_fd()
    }
}
