//! What the kernel counted of one task, as its records tell it.

use whyfaster_core::trace::event::Totals;

use super::programs::types;

/// From the numbers of a record. Time on a CPU goes by the clock within a turn, and by the scheduler's account at its end, which
/// leaves out what the hypervisor took. What that took in the same turn before the first exec is thus missing in `run` and in
/// `stolen` too much: a short program's `run` is then below zero. The sum of both is right; neither part can be less than nothing.
pub(super) fn totals(t: &types::totals) -> Totals {
    let run = t.run.cast_signed();
    Totals {
        run_ns: run.max(0).cast_unsigned(),
        stolen_ns: Some(t.stolen.cast_signed().saturating_add(run.min(0))),
        unseen_ns: t.unseen,
        delay_ns: Some(t.delay),
        call_run_ns: Some(amount(t.call_run)),
        calls_entered: Some(t.entered),
        calls_returned: Some(t.returned),
        faults: Some(t.faults),
        voluntary: Some(t.voluntary),
        involuntary: Some(t.involuntary),
        migrations: Some(t.migrations),
    }
}

/// CPU time within calls. It goes by the clock while a task runs; where a switch was not seen, what was taken for running is
/// found to have been waiting at the next look, and is taken off. A small amount can then be less than nothing.
pub(super) fn amount(ns: u64) -> u64 {
    ns.cast_signed().max(0).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stolen_before_the_first_exec_makes_no_time_below_nothing() {
        let of = |run: i64, stolen: i64| {
            let (run, stolen) = (run.cast_unsigned(), stolen.cast_unsigned());
            totals(&types::totals { run, stolen, ..Default::default() })
        };
        // 0.7 ms on a CPU, of which nothing was stolen; 5 ms were before it.
        let short = of(-4_300_000, 5_000_000);
        assert_eq!((short.run_ns, short.stolen_ns, short.on_cpu_ns()), (0, Some(700_000), 700_000));
        // Of either sign otherwise.
        let long = of(9_000_000, -1_000_000);
        assert_eq!((long.run_ns, long.stolen_ns, long.on_cpu_ns()), (9_000_000, Some(-1_000_000), 8_000_000));
    }

    #[test]
    fn a_wait_that_was_taken_for_running_makes_no_call_time_below_nothing() {
        let late = types::totals { call_run: (-3000_i64).cast_unsigned(), ..Default::default() };
        assert_eq!((totals(&late).call_run_ns, amount(7)), (Some(0), 7));
    }
}
