//! What the CPU counts for each copy of a batch.

use std::collections::BTreeMap;
use std::io;

use whyfaster_core::metric::Metric;
use whyfaster_core::sample::Counters;
use whyfaster_trace::counters::{Counter, Event};

/// The counters of one copy, by metric, or why there is none.
pub(super) type Opened = BTreeMap<Metric, io::Result<Counter>>;

/// What one copy counted; a missing count has the error number of the reason.
pub(super) type Counted = BTreeMap<Metric, Result<u64, i32>>;

/// Opens the counters of a copy that stands before its exec.
pub(super) fn open(metrics: &[Metric], pid: i32) -> Opened {
    let events = metrics.iter().filter_map(|&metric| Some((metric, Event::of(metric)?)));
    events.map(|(metric, event)| (metric, Counter::open(event, pid))).collect()
}

/// Reads the counters of a copy that has ended.
pub(super) fn read(opened: Opened) -> Counted {
    let count = |counter: io::Result<Counter>| {
        // No turn on the CPU's counters is as good as a counter that another use holds.
        let count = counter.and_then(|mut counter| counter.read())?;
        count.ok_or_else(|| io::Error::from_raw_os_error(libc::EBUSY))
    };
    let errno = |error: io::Error| error.raw_os_error().unwrap_or(libc::EIO);
    opened.into_iter().map(|(metric, counter)| (metric, count(counter).map_err(errno))).collect()
}

/// The columns of a batch. What one copy lacks, the batch lacks.
pub(super) fn columns(copies: &[&Counted], user_only: bool) -> Option<Counters> {
    let mut counters = Counters { user_only, ..Counters::default() };
    for &metric in copies.first()?.keys() {
        let column = copies.iter().map(|copy| copy.get(&metric).copied().unwrap_or(Err(libc::EIO)));
        match column.collect::<Result<Vec<u64>, i32>>() {
            Ok(column) => drop(counters.columns.insert(metric, column)),
            Err(errno) => drop(counters.refused.insert(metric, errno)),
        }
    }
    Some(counters).filter(|it| !(it.columns.is_empty() && it.refused.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_copy_lacks_the_batch_lacks() {
        let copy =
            |cycles, misses| Counted::from([(Metric::CpuCycles, Ok(cycles)), (Metric::CacheMisses, misses)]);
        let (one, two) = (copy(1, Ok(3)), copy(2, Err(libc::EBUSY)));
        let counters = columns(&[&one, &two], true).unwrap();
        assert_eq!(counters.columns, BTreeMap::from([(Metric::CpuCycles, vec![1, 2])]));
        assert_eq!(counters.refused, BTreeMap::from([(Metric::CacheMisses, libc::EBUSY)]));
        assert!(counters.user_only);
        assert_eq!(columns(&[&Counted::new()], false), None, "nothing was asked for");
        assert_eq!(columns(&[], false), None);
    }
}
