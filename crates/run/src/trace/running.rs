//! A tree that runs already: watched until it ends, the time is over, or Ctrl-C. It goes on as if nothing had been.

use std::time::{Duration, Instant};

use whyfaster_core::event::Event;
use whyfaster_core::trace::plan::{Target, TracePlan};
use whyfaster_core::trace::record::EndedBy;
use whyfaster_trace::TraceError;
use whyfaster_words::exit::{Exit, Failure};

use super::super::interrupts::Interrupts;
use super::around;
use super::level::Chosen;
use super::observer::Take;
use super::watched::{Said, Say, Watched};

/// Watches what the plan names.
pub(super) fn watch(
    plan: &TracePlan,
    chosen: Chosen,
    interrupts: &Interrupts,
    say: Say<'_>,
    take: Take<'_>,
) -> Result<Watched, Failure> {
    let mut observer = chosen.observer;
    let failed = |error: TraceError| {
        let unfit = matches!(error, TraceError::Follow { .. } | TraceError::Cgroup { .. });
        let exit = if unfit { Exit::Unfit } else { Exit::Error };
        Failure::new(
            exit,
            format!("--follow: {error}"),
            "name a process or cgroup that is there and may be observed; sudo observes those of others",
        )
    };
    observer.calibrate().map_err(failed)?;
    let around = around::Around::begin();
    let found = match &plan.target {
        Target::Process(pid) => observer.follow_running(*pid as i32),
        Target::Cgroup(directory) => observer.follow_cgroup(directory),
        Target::Command(_) => Ok(0),
    };
    if found.map_err(failed)? == 0 {
        return Err(Failure::unfit(
            format!("--follow: no process was found in {}", plan.target.words()),
            "name a process, or a cgroup with processes in it",
        ));
    }
    let began = Instant::now();
    let deadline = plan.duration_s.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
    // An end by Ctrl-C is the usual one: what was to be seen has been seen.
    while observer.alive() > 0
        && !interrupts.interrupted()
        && deadline.is_none_or(|deadline| Instant::now() < deadline)
    {
        // Nothing reports that the last task has ended, so each poll is followed by asking.
        let interval = observer.interval();
        let wait = deadline
            .map_or(interval, |deadline| deadline.saturating_duration_since(Instant::now()).min(interval));
        let fds: Vec<_> = observer.fd().into_iter().collect();
        interrupts.wait(&fds, Some(wait)).map_err(|error| {
            Failure::new(Exit::Error, format!("cannot wait: {error}"), "this is a defect: please report it")
        })?;
        observer.poll(take).map_err(failed)?;
        let passed_s = began.elapsed().as_secs_f64();
        let left_s = plan.duration_s.map(|seconds| seconds - passed_s);
        say(Said::Progress(Event::Observing { passed_s, left_s }));
    }
    let mut watched = Watched::default();
    if observer.alive() > 0 {
        watched.facts.ended = Some(around::now_ns());
        let asked = interrupts.interrupted();
        watched.ended_by = Some(if asked { EndedBy::Signal } else { EndedBy::Duration });
    }
    watched.facts.warnings = observer.without_rights();
    watched.counts = observer.finish(take).map_err(failed)?;
    around.end(&mut watched.facts);
    Ok(watched)
}
