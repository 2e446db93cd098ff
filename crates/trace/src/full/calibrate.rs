//! What observing costs here: the same loops with and without the programs attached, in turns.
//!
//! Two children make the calls, the switches and the processes. They are followed like a tree; a call's cost thus
//! includes what every process of the machine pays while the programs are attached.

mod pair;
mod program;

use self::pair::{Batch, Pair, Spent};
use super::TraceError;
use super::load::Loaded;

/// How often each batch is run with and without the programs. The least of them counts: whatever disturbs adds.
const TURNS: usize = 4;

/// Nanoseconds that a call, a switch with its wake-up, and a process beside its calls and switches became dearer. `None`:
/// the machine was so busy that it came out cheaper, or there is no such program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) call_ns: Option<f64>,
    pub(crate) switch_ns: Option<f64>,
    pub(crate) process_ns: Option<f64>,
}

/// The least of each kind of batch.
#[derive(Clone, Copy, Debug, Default)]
struct Least([Option<Spent>; 3]);

/// Measures it, and leaves the programs attached.
pub(crate) fn measure(loaded: &mut Loaded) -> Result<Measured, TraceError> {
    let failed = |e: &dyn std::fmt::Display| TraceError::Calibrate(e.to_string());
    // A child has every descriptor of ours: with one of a link it would keep the programs attached.
    loaded.links.clear();
    let pair = Pair::start().map_err(|e| failed(&e))?;
    for pid in pair.pids() {
        super::follow::calibrating(loaded, pid)?;
    }
    let mut least = [Least::default(); 2];
    for turn in 0..2 * TURNS {
        let with = turn % 2 == 1;
        match with {
            true => loaded.attach().map_err(|e| failed(&e))?,
            false => loaded.links.clear(),
        }
        for (batch, least) in Batch::ALL.into_iter().zip(&mut least[usize::from(with)].0) {
            let spent = pair.run(batch).map_err(|e| failed(&e))?;
            if let Some(spent) = spent.filter(|it| least.is_none_or(|least| it.ns < least.ns)) {
                *least = Some(spent);
            }
        }
    }
    // Their end is no part of a tree.
    loaded.links.clear();
    drop(pair);
    loaded.attach().map_err(|e| failed(&e))?;
    Ok(dearer(&least[0], &least[1]))
}

/// From what each unit of the batches cost without and with the programs.
fn dearer(without: &Least, with: &Least) -> Measured {
    let [call, trip, process] =
        [0, 1, 2].map(|i| without.0[i].zip(with.0[i]).map(|(without, with)| with.ns - without.ns));
    let above = |ns: f64| (ns > 0.0).then_some(ns);
    // What a batch costs beside its calls, spread over its switches: the two of a round trip.
    let switch = trip.zip(call).map(|(trip, call)| (trip - pair::CALLS_A_TRIP * call) / 2.0);
    let beside = |process: f64| {
        let switches = with.0[2]?.switches;
        above(process - pair::CALLS_A_PROCESS * call? - switches * switch?)
    };
    Measured {
        call_ns: call.and_then(above),
        switch_ns: switch.and_then(above),
        process_ns: process.and_then(beside),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_pays_for_what_the_smaller_ones_do_not_explain() {
        let of = |all: [(f64, f64); 3]| Least(all.map(|(ns, switches)| Some(Spent { ns, switches })));
        let without = of([(100.0, 0.0), (2000.0, 2.0), (90_000.0, 3.0)]);
        let with = of([(200.0, 0.0), (3400.0, 2.0), (95_000.0, 4.0)]);
        let measured = dearer(&without, &with);
        assert_eq!((measured.call_ns, measured.switch_ns), (Some(100.0), Some(500.0)));
        // 5000 ns less four calls and four switches.
        assert_eq!(measured.process_ns, Some(2600.0));
        let mut none = with;
        none.0[2] = None;
        assert_eq!(dearer(&without, &none).process_ns, None);
        assert_eq!(dearer(&with, &without).call_ns, None);
    }
}
