//! Records as they arrive, until they can be handed on in the order of time. Records of one ring are nearly sorted: a
//! CPU takes the time first and its place in the ring a little later.

use std::collections::VecDeque;

use whyfaster_core::trace::counts::{CpuLost, Lost};
use whyfaster_core::trace::event::Event;

/// Events sorted by time; those of the same time stay in the order of their arrival.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    queue: VecDeque<Event>,
    handed_on: u64,
    /// The latest time of any event so far.
    pub(crate) newest: u64,
    /// Events that came after later ones had been handed on already. They are handed on late, with a later time.
    pub(crate) late: Lost,
}

impl Inbox {
    /// Takes an event that arrived.
    pub(crate) fn push(&mut self, event: Event) {
        self.newest = self.newest.max(event.at);
        self.put(event);
    }

    /// Puts an event in its place that did not come through the ring: how far the ring has been read does not follow from it.
    pub(crate) fn put(&mut self, mut event: Event) {
        if event.at < self.handed_on {
            self.late.count(&CpuLost { cpu: event.cpu, late: 1, ..CpuLost::default() });
            event.at = self.handed_on;
        }
        let mut place = self.queue.len();
        while place > 0 && self.queue[place - 1].at > event.at {
            place -= 1;
        }
        if place == self.queue.len() {
            self.queue.push_back(event);
        } else {
            self.queue.insert(place, event);
        }
    }

    /// Hands on what happened up to `until`.
    pub(crate) fn hand_on(&mut self, until: u64, sink: &mut dyn FnMut(Event)) {
        while self.queue.front().is_some_and(|event| event.at <= until) {
            let event = self.queue.pop_front().expect("there is a first one");
            self.handed_on = event.at;
            sink(event);
        }
    }

    /// How many are waiting.
    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// The earliest time that an event may still have.
    pub(crate) fn earliest(&self) -> u64 {
        self.handed_on
    }

    /// What is waiting happened at that time at the earliest.
    pub(crate) fn not_before(&mut self, at: u64) {
        self.queue.iter_mut().for_each(|event| event.at = event.at.max(at));
    }

    /// Forgets what is waiting for a later time than the last of those that `is_end` says, but for what `keep` says: that
    /// comes together with it.
    pub(crate) fn end_with(&mut self, is_end: fn(&Event) -> bool, keep: fn(&Event) -> bool) {
        let Some(end) = self.queue.iter().rev().find(|event| is_end(event)).map(|event| event.at) else {
            return;
        };
        self.queue.retain(|event| event.at <= end || keep(event));
        self.queue.iter_mut().for_each(|event| event.at = event.at.min(end));
    }

    /// Forgets what is waiting, but for what `keep` says.
    pub(crate) fn discard(&mut self, keep: impl FnMut(&Event) -> bool) {
        self.queue.retain(keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyfaster_core::trace::event::What;

    fn event(at: u64, task: u32) -> Event {
        Event { at, cpu: 0, what: What::Queued { task, on: 0 } }
    }

    fn handed_on(inbox: &mut Inbox, until: u64) -> Vec<(u64, u32)> {
        let mut seen = Vec::new();
        inbox.hand_on(until, &mut |e| {
            let What::Queued { task, .. } = e.what else { unreachable!("only these are made here") };
            seen.push((e.at, task));
        });
        seen
    }

    #[test]
    fn events_leave_in_the_order_of_time_and_equal_ones_as_they_came() {
        let mut inbox = Inbox::default();
        for (at, task) in [(5, 1), (3, 2), (5, 3), (4, 4), (9, 5)] {
            inbox.push(event(at, task));
        }
        assert_eq!(handed_on(&mut inbox, 5), [(3, 2), (4, 4), (5, 1), (5, 3)]);
        assert_eq!(inbox.late.late, 0);
        for (at, task) in [(10, 7), (11, 8), (12, 9)] {
            inbox.push(event(at, task));
        }
        inbox.end_with(|event| event.at == 10, |event| event.at == 12);
        inbox.not_before(10);
        assert_eq!((inbox.len(), inbox.earliest()), (3, 5));
        assert_eq!(handed_on(&mut inbox, 10), [(10, 5), (10, 7), (10, 9)]);
        inbox.push(event(12, 5));
        inbox.push(event(4, 6));
        assert_eq!(handed_on(&mut inbox, u64::MAX), [(10, 6), (12, 5)]);
        assert_eq!(inbox.late.late, 1);
    }
}
