//! One run of each alternative under ptrace, for its counts, where the full level is not to be had: processes, programs and system calls
//! need no privileges to be counted. The times of such a run say nothing, for every call stops twice.

use whyfaster_core::event::Event;
use whyfaster_core::sample::{Arm, Batch};
use whyfaster_core::trace::Analysis;
use whyfaster_core::trace::report::{Level, TraceReport};
use whyfaster_core::trace::setting::Facts;
use whyfaster_core::why::Why;
use whyfaster_core::why::report::Traced;
use whyfaster_stats::quantile::median;
use whyfaster_trace::unprivileged::possible;
use whyfaster_words::exit::Failure;

use super::super::rig::{Ran, Rig};
use super::super::trace::observer::observing;
use super::confirm;
use super::so_far::{SoFar, alone_s};

/// What the two stops of a call take, about, on a busy machine.
const PER_CALL_S: f64 = 50e-6;

/// Of one alternative's calls, this may take as many times its untraced time and so many seconds.
const TIMES: f64 = 3.0;
const MORE_S: f64 = 3.0;

/// What became of a run.
enum Counted {
    /// It was counted.
    Done(Box<TraceReport>),
    /// It took too long, or could not be run.
    Not,
    /// We were told to stop.
    Stopped,
}

/// Runs them; what was counted is in `explained.traced`. Where ptrace is forbidden there is nothing to run.
pub(super) fn run(
    rig: &mut Rig<'_>,
    so_far: &SoFar<'_>,
    alternatives: &[usize],
    explained: &mut Why,
    on: &mut dyn FnMut(Event),
) -> Result<(), Failure> {
    if possible().is_err() {
        return Ok(());
    }
    let most = |alternative: &usize| {
        let alone_s = alone_s(so_far.batches, *alternative);
        (alone_s, TIMES * alone_s + MORE_S)
    };
    // Both sides are counted alike, so that their counts are of the same kinds.
    let all_calls = alternatives.iter().all(|it| moves(so_far.batches, *it) * PER_CALL_S < most(it).1);
    let calls = all_calls.then_some(Level::Ptrace);
    for level in calls.into_iter().chain([Level::Unprivileged]) {
        explained.traced.clear();
        for &alternative in alternatives {
            let (alone_s, most_s) = most(&alternative);
            if so_far.now_s() + alone_s > so_far.ends().last_s {
                return Ok(());
            }
            let experiments_s = confirm::expected_s([alone_s].into_iter());
            on(Event::Traced { round: 1, rounds: 1, alternative, left_s: alone_s + experiments_s });
            match once(rig, so_far, alternative, level, most_s)? {
                Counted::Done(report) => explained.traced.push(Traced {
                    alternative,
                    round: 0,
                    report: *report,
                    own: Default::default(),
                }),
                Counted::Not => break,
                Counted::Stopped => return Ok(()),
            }
        }
        if explained.traced.len() == alternatives.len() {
            return Ok(());
        }
    }
    explained.traced.clear();
    Ok(())
}

/// Reads and writes of one copy alone, by the kernel's count.
fn moves(batches: &[Batch], alternative: usize) -> f64 {
    let alone = |it: &&Batch| it.load == 1 && it.arm == Arm::Alternative(alternative);
    let counts: Vec<f64> = (batches.iter().filter(alone).filter_map(|it| it.io))
        .map(|io| (io.reads + io.writes) as f64)
        .collect();
    median(&counts).unwrap_or(0.0)
}

fn once(
    rig: &mut Rig<'_>,
    so_far: &SoFar<'_>,
    alternative: usize,
    level: Level,
    most_s: f64,
) -> Result<Counted, Failure> {
    let machine = so_far.machine;
    let mut observer = machine.observer(level)?;
    let mut analysis = Analysis::new(machine.setting(level));
    let until_s = so_far.now_s() + most_s;
    let mut take = |event| analysis.push(&event);
    let ran = rig.traced((alternative, 1), 0, &mut |launch, request| {
        machine.observe(launch, request, &mut observer, Some(until_s), &mut take)
    });
    let counts = observer.finish(&mut take).map_err(observing)?;
    match ran? {
        Ran::Done(_) if so_far.now_s() <= until_s => {
            let mut report = analysis.finish(&counts, &Facts::default());
            report.tasks.clear();
            Ok(Counted::Done(Box::new(report)))
        }
        Ran::Stopped if machine.interrupted() => Ok(Counted::Stopped),
        Ran::Done(_) | Ran::Stopped | Ran::CannotRun(_) => Ok(Counted::Not),
    }
}
