//! Runs of an experiment: an alternative with one thing changed, timed as any other.

use whyfaster_core::plan::{Alternative, Placement};
use whyfaster_core::run::{Run, RunKind};
use whyfaster_core::sample::Arm;
use whyfaster_core::why::{Before, Variation};
use whyfaster_words::exit::Failure;

use super::super::client::NoOutcome;
use super::super::protocol::{Arrivals, Outcome, Request};
use super::super::rig::{Ran, Rig};

impl Rig<'_> {
    /// Runs one copy of an alternative in another way.
    pub(super) fn varied(
        &mut self,
        index: usize,
        variation: &Variation,
        number: u32,
    ) -> Result<Ran<Outcome>, Failure> {
        let alternative =
            Alternative { command: variation.command.clone(), ..self.plan.alternatives[index].clone() };
        let (machine, command) = (self.machine, self.machine.resolve(&alternative)?);
        let arrivals = Arrivals::Together { copies: 1 };
        let run = Run { kind: RunKind::Experiment, number };
        self.launch_with((Arm::Alternative(index), 1), arrivals, run, &mut |launch, request| {
            let request = Request {
                program: command.program.clone(),
                argv: command.argv.clone(),
                ..changed(request, variation)
            };
            let cold = match &variation.before {
                Before::WarmCaches => {
                    machine.launch(launch, request.clone(), None)?;
                    Ok(())
                }
                Before::DropCaches => machine.drop_caches(),
                Before::DropFiles(files) => files.iter().try_for_each(|file| machine.drop_file(file)),
                Before::Nothing => Ok(()),
            };
            cold.map_err(NoOutcome::from)?;
            if machine.interrupted() {
                return Ok(None);
            }
            machine.launch(launch, request, None).map(Some)
        })
    }
}

fn changed(mut request: Request, variation: &Variation) -> Request {
    request.env.retain(|(name, _)| !variation.env.contains_key(name));
    request.env.extend(variation.env.clone());
    if let Some(cpus) = &variation.cpus {
        request.cpus = Some(cpus.clone());
    }
    if let Some(placement) = variation.placement {
        request.own_session = placement == Placement::Session;
    }
    request.realtime = variation.realtime;
    request
}
