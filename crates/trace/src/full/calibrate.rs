//! What observing costs here: the same loops with and without the programs attached, in turns.
//!
//! Two children make the calls, the switches, the processes and the execs that fail. They are followed like a tree; a call's cost thus
//! includes what every process of the machine pays while the programs are attached.

mod pair;
mod program;

use whyfaster_stats::quantile;

use self::pair::{Batch, Pair, Spent};
use super::TraceError;
use super::load::Loaded;

/// How often each batch is run with and without the programs, at least. Attaching takes about 10 ms.
const LEAST_TURNS: usize = 3;
/// And at most, where turns differ by more than what is looked for.
const MOST_TURNS: usize = 8;

/// Nanoseconds that a call costs without the programs, and that a call, a switch with its wake-up, and a process beside its calls and switches
/// became dearer. `None`: the machine was so busy that it came out cheaper, or there is no such program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) plain_call_ns: Option<f64>,
    pub(crate) call_ns: Option<f64>,
    pub(crate) switch_ns: Option<f64>,
    pub(crate) process_ns: Option<f64>,
    /// Of an exec that fails, beside its call.
    pub(crate) failed_exec_ns: Option<f64>,
}

/// Batches of one way: of each kind, turn by turn.
#[derive(Debug, Default)]
struct Turns([Vec<Spent>; 4]);

/// Each turn with the programs against the turns before and behind it: a CPU's speed moves within a second, mostly by more than a
/// process becomes dearer, and neighbours share it.
fn neighbours(without: &[Spent], with: &[Spent]) -> Vec<f64> {
    let before = with.iter().zip(without);
    let behind = with.iter().zip(without.iter().skip(1));
    before.chain(behind).map(|(with, without)| with.ns - without.ns).collect()
}

/// Whether more turns are of no use: whatever was measured became dearer in every turn.
fn settled([without, with]: &[Turns; 2]) -> bool {
    let all = without.0.iter().zip(&with.0).flat_map(|(without, with)| neighbours(without, with));
    all.into_iter().all(|ns| ns > 0.0)
}

/// Measures it, and leaves the programs attached.
pub(crate) fn measure(loaded: &mut Loaded) -> Result<Measured, TraceError> {
    let failed = |e: &dyn std::fmt::Display| TraceError::Calibrate(format!("{e:#}"));
    // A child has every descriptor of ours: with one of a link it would keep the programs attached.
    loaded.links.clear();
    let pair = Pair::start().map_err(|e| failed(&e))?;
    for pid in pair.pids() {
        super::follow::calibrating(loaded, pid)?;
    }
    let mut turns = [Turns::default(), Turns::default()];
    let entered = loaded.lives().calls_entered;
    for turn in 0..MOST_TURNS {
        if turn >= LEAST_TURNS && settled(&turns) {
            break;
        }
        for (with, turns) in turns.iter_mut().enumerate() {
            match with {
                0 => loaded.links.clear(),
                _ => loaded.attach().map_err(|e| failed(&e))?,
            }
            for (batch, turns) in Batch::ALL.into_iter().zip(&mut turns.0) {
                turns.extend(pair.run(batch).map_err(|e| failed(&e))?);
            }
        }
    }
    // Calls are counted at a task's end, and only the processes of the batches have ended.
    let entered = loaded.lives().calls_entered.zip(entered).map(|(after, before)| after - before);
    let processes = turns[1].0[2].len() as u64 * Batch::Processes.count();
    let calls = entered.filter(|_| processes > 0).map(|calls| calls as f64 / processes as f64);
    // Their own end is no part of a tree.
    for pid in pair.pids() {
        super::follow::tool(loaded, pid)?;
    }
    drop(pair);
    Ok(measured(&turns, calls))
}

/// From what each unit of the batches cost without and with the programs. `calls`: of one of the processes.
fn measured([without, with]: &[Turns; 2], calls: Option<f64>) -> Measured {
    let dearer = |kind: usize| quantile::median(&neighbours(&without.0[kind], &with.0[kind]));
    let [call, trip, process, miss] = [0, 1, 2, 3].map(dearer);
    let above = |ns: f64| (ns > 0.0).then_some(ns);
    // What a batch costs beside its calls, spread over its switches: the two of a round trip.
    let switch = trip.zip(call).map(|(trip, call)| (trip - pair::CALLS_A_TRIP * call) / 2.0);
    let beside = |process: f64| {
        let switches = quantile::median(&with.0[2].iter().map(|it| it.switches).collect::<Vec<_>>())?;
        above(process - (pair::CALLS_A_PROCESS + calls?) * call? - switches * switch?)
    };
    let plain = quantile::median(&without.0[0].iter().map(|it| it.ns).collect::<Vec<_>>());
    Measured {
        plain_call_ns: plain.and_then(above),
        call_ns: call.and_then(above),
        switch_ns: switch.and_then(above),
        process_ns: process.and_then(beside),
        failed_exec_ns: miss.zip(call).and_then(|(miss, call)| above(miss - call)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns with a batch of each kind: nanoseconds and switches.
    fn turns(all: &[[(f64, f64); 4]]) -> Turns {
        let spent = |(ns, switches): (f64, f64)| Spent { ns, switches };
        Turns([0, 1, 2, 3].map(|kind| all.iter().map(|turn| spent(turn[kind])).collect()))
    }

    #[test]
    fn each_unit_pays_for_what_the_smaller_ones_do_not_explain() {
        let without = || turns(&[[(100.0, 0.0), (2000.0, 2.0), (90_000.0, 3.0), (900.0, 0.0)]]);
        let with = || turns(&[[(200.0, 0.0), (3400.0, 2.0), (95_000.0, 4.0), (1300.0, 0.0)]]);
        let found = measured(&[without(), with()], Some(1.0));
        assert_eq!(found.plain_call_ns, Some(100.0));
        assert_eq!((found.call_ns, found.switch_ns), (Some(100.0), Some(500.0)));
        // 5000 ns less four calls and four switches.
        assert_eq!(found.process_ns, Some(2600.0));
        // 400 ns less the call.
        assert_eq!(found.failed_exec_ns, Some(300.0));
        let mut none = with();
        none.0[2].clear();
        assert_eq!(measured(&[without(), none], Some(1.0)).process_ns, None);
        assert_eq!(measured(&[with(), without()], Some(1.0)).call_ns, None);
    }

    #[test]
    fn a_cpu_that_becomes_slower_meanwhile_is_not_what_observing_costs() {
        // A process takes 90 us, then 180: far more than the 5 us that it becomes dearer by.
        let of = |us: [f64; 4], rest: f64| {
            turns(&us.map(|us| [(rest, 0.0), (rest, 0.0), (us * 1e3, 0.0), (rest, 0.0)]))
        };
        let slower = [of([90.0, 90.0, 180.0, 180.0], 0.0), of([95.0, 95.0, 185.0, 185.0], 0.0)];
        assert_eq!(measured(&slower, Some(0.0)).process_ns, Some(5000.0));
        let steady = |more: f64| [of([90.0; 4], 0.0), of([95.0; 4], more)];
        assert!(!settled(&slower) && !settled(&steady(0.0)) && settled(&steady(1.0)));
    }
}
