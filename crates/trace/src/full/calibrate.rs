//! What observing costs here: the same loops with and without the programs attached, in turns.
//!
//! Two children make the calls, the switches, the processes and the execs that fail. They are followed like a tree; a call's cost thus
//! includes what every process of the machine pays while the programs are attached.

mod pair;
mod program;

use self::pair::{Batch, Pair, Spent};
use super::TraceError;
use super::load::Loaded;

/// How often each batch is run with and without the programs. Attaching takes about 10 ms.
const TURNS: usize = 3;

/// Nanoseconds that a call, a switch with its wake-up, and a process beside its calls and switches became dearer. `None`:
/// the machine was so busy that it came out cheaper, or there is no such program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) call_ns: Option<f64>,
    pub(crate) switch_ns: Option<f64>,
    pub(crate) process_ns: Option<f64>,
    /// Of an exec that fails, beside its call.
    pub(crate) failed_exec_ns: Option<f64>,
}

/// What a unit of each kind of batch cost.
#[derive(Clone, Copy, Debug, Default)]
struct Costs([Option<Spent>; 4]);

/// Batches of one way, turn by turn.
#[derive(Debug, Default)]
struct Turns([Vec<Spent>; 4]);

impl Turns {
    /// Calls, switches and failing execs by their cheapest turn: whatever disturbs only adds. Processes by the mean: they are few and each
    /// is dear, so that the cheapest turn of one way and of the other may differ by more than what is looked for.
    fn costs(mut self) -> Costs {
        self.0.iter_mut().for_each(|turns| turns.sort_by(|a, b| a.ns.total_cmp(&b.ns)));
        let [calls, trips, processes, misses] = &self.0;
        let mean = |of: fn(&Spent) -> f64| processes.iter().map(of).sum::<f64>() / processes.len() as f64;
        let process = Spent { ns: mean(|it| it.ns), switches: mean(|it| it.switches) };
        let process = Some(process).filter(|_| !processes.is_empty());
        Costs([calls.first().copied(), trips.first().copied(), process, misses.first().copied()])
    }
}

/// Measures it, and leaves the programs attached.
pub(crate) fn measure(loaded: &mut Loaded) -> Result<Measured, TraceError> {
    let failed = |e: &dyn std::fmt::Display| TraceError::Calibrate(e.to_string());
    // A child has every descriptor of ours: with one of a link it would keep the programs attached.
    loaded.links.clear();
    let pair = Pair::start().map_err(|e| failed(&e))?;
    for pid in pair.pids() {
        super::follow::calibrating(loaded, pid)?;
    }
    let mut turns = [Turns::default(), Turns::default()];
    let entered = loaded.lives().calls_entered;
    for turn in 0..2 * TURNS {
        let with = turn % 2 == 1;
        match with {
            true => loaded.attach().map_err(|e| failed(&e))?,
            false => loaded.links.clear(),
        }
        for (batch, turns) in Batch::ALL.into_iter().zip(&mut turns[usize::from(with)].0) {
            turns.extend(pair.run(batch).map_err(|e| failed(&e))?);
        }
    }
    // Calls are counted at a task's end, and only the processes of the batches have ended.
    let entered = loaded.lives().calls_entered.zip(entered).map(|(after, before)| after - before);
    let [without, with] = turns;
    let processes = with.0[2].len() as u64 * Batch::Processes.count();
    let calls = entered.filter(|_| processes > 0).map(|calls| calls as f64 / processes as f64);
    // Their own end is no part of a tree.
    for pid in pair.pids() {
        super::follow::tool(loaded, pid)?;
    }
    drop(pair);
    Ok(dearer(&without.costs(), &with.costs(), calls))
}

/// From what each unit of the batches cost without and with the programs. `calls`: of one of the processes.
fn dearer(without: &Costs, with: &Costs, calls: Option<f64>) -> Measured {
    let [call, trip, process, miss] =
        [0, 1, 2, 3].map(|i| without.0[i].zip(with.0[i]).map(|(without, with)| with.ns - without.ns));
    let above = |ns: f64| (ns > 0.0).then_some(ns);
    // What a batch costs beside its calls, spread over its switches: the two of a round trip.
    let switch = trip.zip(call).map(|(trip, call)| (trip - pair::CALLS_A_TRIP * call) / 2.0);
    let beside = |process: f64| {
        let switches = with.0[2]?.switches;
        above(process - (pair::CALLS_A_PROCESS + calls?) * call? - switches * switch?)
    };
    Measured {
        call_ns: call.and_then(above),
        switch_ns: switch.and_then(above),
        process_ns: process.and_then(beside),
        failed_exec_ns: miss.zip(call).and_then(|(miss, call)| above(miss - call)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_pays_for_what_the_smaller_ones_do_not_explain() {
        let of = |all: [(f64, f64); 4]| Costs(all.map(|(ns, switches)| Some(Spent { ns, switches })));
        let without = of([(100.0, 0.0), (2000.0, 2.0), (90_000.0, 3.0), (900.0, 0.0)]);
        let with = of([(200.0, 0.0), (3400.0, 2.0), (95_000.0, 4.0), (1300.0, 0.0)]);
        let measured = dearer(&without, &with, Some(1.0));
        assert_eq!((measured.call_ns, measured.switch_ns), (Some(100.0), Some(500.0)));
        // 5000 ns less four calls and four switches.
        assert_eq!(measured.process_ns, Some(2600.0));
        // 400 ns less the call.
        assert_eq!(measured.failed_exec_ns, Some(300.0));
        let mut none = with;
        none.0[2] = None;
        assert_eq!(dearer(&without, &none, Some(1.0)).process_ns, None);
        assert_eq!(dearer(&with, &without, Some(1.0)).call_ns, None);
    }
}
