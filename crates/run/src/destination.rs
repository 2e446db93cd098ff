//! Where timed copies write: to `/dev/null`, unless a command does less there than when somebody reads what it writes. GNU `grep`
//! stops at its first match then, and `tar` reads no file.

use whyfaster_core::event::Event;
use whyfaster_core::plan::Output;
use whyfaster_core::run::{Run, RunKind};
use whyfaster_core::sample::{Arm, Destinations, Io, Trial};
use whyfaster_words::exit::Failure;

use super::protocol::{Arrivals, Request};
use super::rig::{Ran, Rig};

impl Rig<'_> {
    /// Where timed copies of an alternative write. If one of them does less unread, all are read.
    pub(super) fn output(&self, index: usize) -> Output {
        match &self.plan.alternatives[index].output {
            Output::Auto if self.trials.iter().any(|trial| trial.does_less_unread().is_some()) => {
                Output::Pipe
            }
            Output::Auto => Output::Null,
            output => output.clone(),
        }
    }

    /// Runs an alternative that was tried once more, its output going to `/dev/null`; and where that moved far less data, again with
    /// a reader.
    pub(super) fn try_destinations(
        &mut self,
        index: usize,
        on: &mut dyn FnMut(Event),
    ) -> Result<(), Failure> {
        on(Event::Trial(index));
        let null = self.moved(index, Output::Null, 1)?;
        let tried = |trial: &&mut Trial| trial.alternative == index;
        let before = self.trials.iter_mut().find(tried).and_then(|trial| trial.io);
        let Some((null, before)) = null.zip(before) else { return Ok(()) };
        let pipe = if null.leaves_out_of(&before) { self.moved(index, Output::Pipe, 2)? } else { None };
        if let Some(trial) = self.trials.iter_mut().find(tried) {
            trial.destinations = Some(Destinations { null, pipe });
        }
        Ok(())
    }

    /// What one untimed run moves when its output goes there. What keeps it from running keeps the timed runs too, which say so.
    fn moved(&mut self, index: usize, output: Output, number: u32) -> Result<Option<Io>, Failure> {
        let (arrivals, machine) = (Arrivals::Together { copies: 1 }, self.machine);
        let run = Run { kind: RunKind::Trial, number };
        let ran = self.launch_with((Arm::Alternative(index), 1), arrivals, run, &mut |launch, request| {
            machine.launch(launch, Request { output: output.clone(), ..request }, None).map(Some)
        })?;
        Ok(match ran {
            Ran::Done(outcome) => outcome.io.filter(|_| outcome.whole()),
            Ran::Stopped | Ran::CannotRun(_) => None,
        })
    }
}
