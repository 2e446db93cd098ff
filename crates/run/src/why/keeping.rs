//! The events of an observed run as the record keeps them: who ran when and who waited for whom, up to a bound. All else that was seen stands in
//! the run's report.

use std::collections::{BTreeMap, BTreeSet};

use whyfaster_core::trace::counts::Counts;
use whyfaster_core::trace::event::{Event, Tid, What};
use whyfaster_core::trace::setting::{Facts, Setting};
use whyfaster_core::trace::stored::{Recorder, Stored, tells_order};

/// Bytes of one run at most, about 15 000 switches.
const MOST: usize = 128 * 1024;

/// Keeps the events of one run.
#[derive(Debug)]
pub(super) struct Keeping {
    recorder: Recorder,
    /// Tasks that have a name in the stream, or have none.
    named: BTreeSet<Tid>,
}

impl Default for Keeping {
    fn default() -> Self {
        Self { recorder: Recorder::new(MOST), named: BTreeSet::new() }
    }
}

impl Keeping {
    /// Keeps an event. The kernel told the names of tasks outside of the tree in whatever run it met them first, so each that this run meets is
    /// told again.
    pub(super) fn push(&mut self, event: &Event, names: &BTreeMap<Tid, Event>) {
        if !tells_order(event) {
            return;
        }
        let met = match event.what {
            What::Switch { prev, next, .. } => [prev, next],
            What::Wake { wakee, waker, .. } => [wakee, waker],
            What::Name { task, .. } => {
                self.named.insert(task);
                [0; 2]
            }
            _ => [0; 2],
        };
        for task in met {
            if self.named.insert(task)
                && let Some(name) = names.get(&task)
            {
                self.recorder.push(&Event { at: event.at, ..name.clone() });
            }
        }
        self.recorder.push(event);
    }

    /// What was kept, and how many events behind it were left out.
    pub(super) fn finish(self, setting: &Setting) -> (Stored, u64) {
        self.recorder.finish_with_what_fits(setting.clone(), Counts::default(), Facts::default())
    }
}

#[cfg(test)]
mod tests {
    use whyfaster_core::trace::event::{Left, TaskKind};

    use super::*;

    fn event(at: u64, what: What) -> Event {
        Event { at, cpu: 0, what }
    }

    fn name(task: Tid) -> Event {
        event(1, What::Name { task, process: task, name: format!("task {task}"), kind: TaskKind::Other })
    }

    fn switch(at: u64, prev: Tid, next: Tid) -> Event {
        event(at, What::Switch { prev, next, left: Left::Runnable, block: None })
    }

    #[test]
    fn whom_the_run_meets_has_a_name_and_no_other() {
        let names: BTreeMap<Tid, Event> = (5..8).map(|task| (task, name(task))).collect();
        let mut keeping = Keeping::default();
        let events = [
            switch(10, 0, 5),
            event(11, What::Spent { task: 5, call_run_ns: 1 }),
            switch(12, 5, 9),
            switch(13, 9, 5),
        ];
        events.iter().for_each(|event| keeping.push(event, &names));
        let (stored, left_out) = keeping.finish(&Setting::default());
        let mut kept = Vec::new();
        stored.each(&mut |event| kept.push(event.clone())).unwrap();
        let named = Event { at: 10, ..name(5) };
        assert_eq!((kept, left_out), (vec![named, switch(10, 0, 5), switch(12, 5, 9), switch(13, 9, 5)], 0));
    }

    #[test]
    fn a_long_run_is_kept_from_its_beginning() {
        let mut keeping = Keeping::default();
        (1..=100_000).for_each(|at| {
            keeping.push(&switch(at * 1000, (at % 2) as Tid, (at + 1) as Tid % 2), &BTreeMap::new())
        });
        let (stored, left_out) = keeping.finish(&Setting::default());
        assert!(
            left_out > 0 && stored.events + left_out == 100_000 && stored.stream.len() < MOST * 4 / 3 + 8
        );
        assert!(stored.critical_path().unwrap().is_empty());
    }
}
