//! One command of ours, or several copies of it, under an observer: held at the gate, followed, released, and watched until the launcher says that
//! it is over. `trace` does it once, an explanation once for every alternative in every traced round.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use whyfaster_trace::TraceError;
use whyfaster_words::exit::{Exit, Failure};

use super::super::client::{Launcher, NoOutcome};
use super::super::held::News;
use super::super::interrupts::Interrupts;
use super::super::protocol::{Outcome, Request};
use super::observer::{Observer, Take, observing};

/// Interval at which a request to stop is repeated: one that comes before the launcher listens is lost.
const STOPS_EVERY: Duration = Duration::from_millis(20);

/// What is to happen next, asked at every turn of the watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Go on watching, and ask again after this time or earlier.
    GoOn(Duration),
    /// End the command with all that it started.
    Stop,
}

/// Who starts the command, and who observes it.
#[derive(Debug)]
pub(crate) struct Follow<'a> {
    pub(crate) launcher: &'a mut Launcher,
    pub(crate) observer: &'a mut Observer,
    pub(crate) interrupts: &'a Interrupts,
}

impl Follow<'_> {
    /// Runs one command. `turn` gets the news of the launcher, each once, but for the end. `None`: we were told to stop before it began.
    pub(crate) fn run(
        &mut self,
        request: Request,
        stdin: Option<BorrowedFd<'_>>,
        turn: &mut dyn FnMut(Option<News>) -> Turn,
        take: Take<'_>,
    ) -> Result<Option<Box<Outcome>>, NoOutcome> {
        let Some(copies) = self.launcher.hold(request, stdin, self.interrupts)? else { return Ok(None) };
        let followed = copies.into_iter().try_for_each(|pid| self.observer.follow(pid));
        let go = followed.is_ok() && !self.interrupts.interrupted();
        self.launcher.go(go)?;
        let outcome = self.until_done(turn, take)?;
        followed.map_err(observing)?;
        Ok(go.then_some(outcome))
    }

    fn until_done(
        &mut self,
        turn: &mut dyn FnMut(Option<News>) -> Turn,
        take: Take<'_>,
    ) -> Result<Box<Outcome>, NoOutcome> {
        let (mut told, mut stopped) = (None, false);
        // Nobody observes any more: the command has to end before that is told.
        let mut failed: Option<TraceError> = None;
        loop {
            let next = if failed.is_some() { Turn::Stop } else { turn(told.take()) };
            let wait = match next {
                Turn::GoOn(at_most) => at_most.min(self.observer.interval()),
                Turn::Stop => {
                    if !std::mem::replace(&mut stopped, true) {
                        self.observer.note_stop();
                    }
                    self.launcher.stop_batch();
                    STOPS_EVERY
                }
            };
            let observed = self.observer.fd().filter(|_| failed.is_none());
            let fds: Vec<_> = [Some(self.launcher.as_fd()), observed].into_iter().flatten().collect();
            let news = self.interrupts.wait(&fds, Some(wait))?[0];
            if failed.is_none() {
                failed = self.observer.poll(take).err();
            }
            if !news {
                continue;
            }
            match self.launcher.news()? {
                News::Done(outcome) => {
                    let ended = |error: TraceError| {
                        Failure::new(Exit::Error, error.to_string(), "the command was ended; try again")
                    };
                    return failed.map_or(Ok(outcome), |error| Err(ended(error).into()));
                }
                news => told = Some(news),
            }
        }
    }
}

impl From<Failure> for NoOutcome {
    fn from(failure: Failure) -> Self {
        NoOutcome::Failure(failure)
    }
}
