//! Runs of an experiment: an alternative with one thing changed, timed as any other.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use whyfaster_core::plan::{Alternative, Placement};
use whyfaster_core::why::{Before, Variation};

use super::super::client::NoOutcome;
use super::super::interrupts::Interrupts;
use super::super::protocol::{Arrivals, Outcome, Purpose, Request};
use super::super::resolve;
use super::super::rig::{Ran, Rig, drop_caches};
use crate::exit::{Exit, Failure};

impl Rig<'_> {
    /// Runs one copy of an alternative in another way.
    pub(super) fn varied(
        &mut self,
        index: usize,
        variation: &Variation,
        iteration: &str,
    ) -> Result<Ran<Outcome>, Failure> {
        let alternative =
            Alternative { command: variation.command.clone(), ..self.plan.alternatives[index].clone() };
        let command = resolve::command(&alternative, &self.plan.shell, resolve::WITHOUT_N)?;
        let arrivals = Arrivals::Together { copies: 1 };
        let called = format!("an experiment ('{}')", variation.command);
        let interrupts = self.interrupts;
        self.launch_with(index, (arrivals, Purpose::Time), (iteration, &called), &mut |launcher, request| {
            let request = Request {
                program: command.program.clone(),
                argv: command.argv.clone(),
                ..changed(request, variation)
            };
            let cold = match &variation.before {
                Before::WarmCaches(files) if files.is_empty() => {
                    launcher.run(request.clone(), interrupts)?;
                    Ok(())
                }
                before => caches(before, interrupts),
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

/// The state of the page cache that an experiment wants.
fn caches(before: &Before, interrupts: &Interrupts) -> Result<(), Failure> {
    match before {
        Before::Nothing => Ok(()),
        Before::DropCaches => drop_caches(),
        Before::WarmCaches(files) => files.iter().try_for_each(|file| read(file, interrupts)),
    }
}

/// Reads a file, so that the kernel keeps it.
fn read(file: &PathBuf, interrupts: &Interrupts) -> Result<(), Failure> {
    let mut buffer = vec![0; 1 << 20];
    let mut read = || -> io::Result<()> {
        let mut file = File::open(file)?;
        while !interrupts.interrupted() && io::Read::read(&mut file, &mut buffer)? > 0 {}
        Ok(())
    };
    read().map_err(|error| {
        Failure::new(
            Exit::Error,
            format!("cannot read '{}' to warm the page cache: {error}", file.display()),
            "may it be read?",
        )
    })
}
