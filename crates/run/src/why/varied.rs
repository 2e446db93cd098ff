//! Runs of an experiment: an alternative with one thing changed, timed as any other.

use std::io;
use std::path::Path;

use rustix::fs::{Advice, fadvise};
use whyfaster_core::plan::{Alternative, Placement};
use whyfaster_core::run::{Run, RunKind};
use whyfaster_core::sample::Arm;
use whyfaster_core::why::{Before, Variation};
use whyfaster_trace::foreign;
use whyfaster_words::exit::{Exit, Failure};

use super::super::client::NoOutcome;
use super::super::protocol::{Arrivals, Outcome, Request};
use super::super::resolve;
use super::super::rig::{Ran, Rig, drop_caches};

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
        let command = resolve::command(&alternative, &self.plan.shell, resolve::WITHOUT_N)?;
        let arrivals = Arrivals::Together { copies: 1 };
        let interrupts = self.interrupts;
        let run = Run { kind: RunKind::Experiment, number };
        self.launch_with((Arm::Alternative(index), 1), arrivals, run, &mut |launcher, request| {
            let request = Request {
                program: command.program.clone(),
                argv: command.argv.clone(),
                ..changed(request, variation)
            };
            let cold = match &variation.before {
                Before::WarmCaches => {
                    launcher.run(request.clone(), interrupts)?;
                    Ok(())
                }
                Before::DropCaches => drop_caches(),
                Before::DropFiles(files) => files.iter().try_for_each(|file| dropped(file)),
                Before::Nothing => Ok(()),
            };
            cold.map_err(NoOutcome::from)?;
            if interrupts.interrupted() {
                return Ok(None);
            }
            launcher.run(request, interrupts).map(Some)
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

/// Writes a file out and drops it from the page cache: only clean pages go (posix_fadvise(2), POSIX_FADV_DONTNEED).
fn dropped(path: &Path) -> Result<(), Failure> {
    let drop = || -> io::Result<()> {
        let file = foreign::open(path)?;
        file.sync_data()?;
        Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
    };
    drop().map_err(|error| {
        let message = format!("cannot drop '{}' from the page cache: {error}", path.display());
        Failure::new(Exit::Error, message, "may it be read?")
    })
}
