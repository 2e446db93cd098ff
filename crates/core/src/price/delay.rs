//! Samples that other work on the machine held up: a task of the operation was ready and had no CPU.
//!
//! A wait of that kind belongs to many operations. Two threads that share a CPU wait for each other, a parent may wait
//! while its child runs. Such a wait is about as long in every sample, and no longer than the whole operation, for it is
//! filled with the operation's own work. A wait that exceeds the usual one by more than that was filled by somebody else.
//! Where no two tasks of an operation want one CPU, that is so for every wait beyond what waking takes, also where a
//! machine is so busy that such waits are usual.

use super::sample::Sample;
use whyfaster_stats::quantile;

/// The usual wait and time are those of the samples that waited least: this part of them.
const UNDISTURBED: f64 = 0.1;

/// A neighbour keeps a CPU for a slice of the scheduler, which is longer than this (Linux: 0.7 ms and more by default);
/// shorter waits are those of tasks that hand over to each other, wherever the scheduler put them.
const LEAST_NS: f64 = 1e5;

/// A task that wakes up on a CPU of its own waits about a microsecond for the scheduler; on a slow machine less than this.
const WAKING_NS: f64 = 5e3;

/// Whether a sample of tasks that never want one CPU waited for somebody else's work.
pub fn is_foreign(sample: &Sample) -> bool {
    let switches = sample.voluntary.unwrap_or(0) as f64 + sample.involuntary.unwrap_or(0) as f64;
    sample.delay_ns.is_some_and(|delay| delay > LEAST_NS + WAKING_NS * switches)
}

/// What a row's samples wait for a CPU when nobody else wants it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usual {
    /// The longest ordinary wait for an operation, nanoseconds; `None` where waits are not known.
    most_ns: Option<f64>,
    /// The usual wait of an operation.
    wait_ns: f64,
}

impl Usual {
    /// From all samples of a row.
    pub fn of<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> Self {
        let waits: Vec<f64> = samples.clone().filter_map(wait).collect();
        let Some(wait_ns) = quantile::quantile(&waits, UNDISTURBED) else { return Self::default() };
        let calm = samples.filter(|sample| wait(sample).is_some_and(|ns| ns <= wait_ns));
        let times: Vec<f64> = calm.map(|sample| sample.elapsed_ns / sample.ops as f64).collect();
        Self { most_ns: quantile::median(&times), wait_ns }
    }

    /// Whether somebody else's work held this sample up.
    pub fn exceeded(&self, sample: &Sample) -> bool {
        let Some((most, wait)) = self.most_ns.zip(wait(sample)) else { return false };
        let excess = wait - self.wait_ns;
        excess > most && excess * sample.ops as f64 > LEAST_NS
    }
}

/// What an operation waited.
fn wait(sample: &Sample) -> Option<f64> {
    Some(sample.delay_ns? / sample.ops as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample(elapsed_ns: f64, delay_ns: f64) -> Sample {
        Sample { ops: 1, elapsed_ns, delay_ns: Some(delay_ns), ..Sample::default() }
    }

    fn held_up(samples: &[Sample]) -> Vec<bool> {
        let usual = Usual::of(samples.iter());
        samples.iter().map(|sample| usual.exceeded(sample)).collect()
    }

    #[test]
    fn a_neighbours_slice_is_told_from_the_wait_of_the_operation() {
        // A fork: most of its samples wait for a busy neighbour.
        let fork = [sample(1.5e5, 0.0), sample(1.6e5, 4e4), sample(3e6, 2.8e6), sample(4.2e6, 4e6)];
        assert_eq!(held_up(&fork), [false, false, true, true]);
        // Two threads on one CPU: each waits while the other runs, always.
        let same_cpu = [sample(7e3, 9.9e3), sample(7e3, 9.7e3), sample(6.6e3, 9.8e3), sample(2.9e6, 2.9e6)];
        assert_eq!(held_up(&same_cpu), [false, false, false, true]);
        // Two ways to place a pair of threads are no disturbance, however rare one of them is.
        assert_eq!(held_up(&[sample(1e3, 0.0), sample(1e3, 0.0), sample(1.2e4, 8e3)]), [false; 3]);
    }

    #[test]
    fn a_wait_beyond_waking_is_somebody_elses_however_usual() {
        let chain = |delay_ns, switches| Sample { voluntary: Some(switches), ..sample(7e6, delay_ns) };
        assert!(is_foreign(&chain(1.4e6, 4)) && is_foreign(&chain(4e6, 64)));
        assert!(!is_foreign(&chain(9e4, 0)) && !is_foreign(&chain(2.5e5, 64)));
        assert!(!is_foreign(&Sample { delay_ns: None, ..chain(0.0, 0) }));
    }

    #[test]
    fn what_is_not_known_holds_nothing_up() {
        assert_eq!(held_up(&[Sample { delay_ns: None, ..sample(1e9, 0.0) }]), [false]);
        assert_eq!(held_up(&[]), Vec::<bool>::new());
    }

    proptest! {
        /// However noisy it is, some sample is left.
        #[test]
        fn never_all(pairs in prop::collection::vec((1.0..1e7f64, 0.0..1e7f64), 1..40)) {
            let samples: Vec<Sample> = pairs.into_iter().map(|(time, wait)| sample(time, wait)).collect();
            prop_assert!(held_up(&samples).contains(&false));
        }
    }
}
