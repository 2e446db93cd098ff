//! What a part of a path is, as a small number.

use rustc_hash::FxHashMap;

use super::super::holder::Holder;
use super::super::labels::{Label, REST};
use super::super::report::{Cause, PathKind, SharerKind};

/// Kinds of parts that are told apart. What is beyond counts for more commands together.
const MOST: usize = 1 << 14;

/// Time of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// A [`Key`] and, in the lowest three bits, which of its numbers.
    pub(super) kind: u32,
    pub(super) count: u32,
    pub(super) ns: u64,
}

/// What time is given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A command ran: [`Run`] says how.
    Run(Label),
    /// A command waited for a CPU: it has the time and what stands beside it.
    Wait { by: Label, holder: Holder, after: Option<Cause> },
    /// A command was blocked.
    Blocked { by: Label, kind: PathKind, what: Option<Label> },
}

/// How a command ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Run {
    User,
    Kernel,
    /// Nobody said which of the two.
    Untold,
    /// The three of a program of which it was not known yet whether it had started up.
    EarlyUser,
    EarlyKernel,
    EarlyUntold,
    Startup,
    Forked,
}

/// All ways to run, by their numbers.
pub(super) const RUNS: [Run; 8] = [
    Run::User,
    Run::Kernel,
    Run::Untold,
    Run::EarlyUser,
    Run::EarlyKernel,
    Run::EarlyUntold,
    Run::Startup,
    Run::Forked,
];

/// Numbers of a wait for a CPU: its time, and what of it was beside an idle CPU (by kind of clock).
pub(super) mod wait {
    pub(in super::super) const TIME: u32 = 0;
    pub(in super::super) const ANY: u32 = 1;
    pub(in super::super) const ALONE: u32 = 2;
    pub(in super::super) const ELSEWHERE: u32 = 3;
    pub(in super::super) const PINNED: u32 = 4;
    pub(in super::super) const PINNED_ALONE: u32 = 5;
}

const NUMBERS: u32 = 8;

/// All kinds.
#[derive(Debug)]
pub(super) struct Keys {
    keys: Vec<Key>,
    by_key: FxHashMap<Key, u32>,
}

impl Keys {
    pub(super) fn new() -> Self {
        let mut keys = Self { keys: Vec::new(), by_key: FxHashMap::default() };
        for key in [Key::Run(REST), rest_of_waits(None), rest_of_blocked(PathKind::Unknown)] {
            keys.of(key);
        }
        keys
    }

    /// The first number of a key.
    pub(super) fn of(&mut self, key: Key) -> u32 {
        if let Some(number) = self.by_key.get(&key) {
            return *number;
        }
        if self.keys.len() >= MOST {
            return match key {
                Key::Run(_) => 0,
                Key::Wait { .. } => NUMBERS,
                Key::Blocked { .. } => 2 * NUMBERS,
            };
        }
        let number = u32::try_from(self.keys.len()).unwrap_or(0) * NUMBERS;
        self.keys.push(key);
        self.by_key.insert(key, number);
        number
    }

    /// What a number stands for: the key, and which of its numbers.
    pub(super) fn what(&self, number: u32) -> (Key, u32) {
        let key = usize::try_from(number / NUMBERS).ok().and_then(|at| self.keys.get(at));
        (key.copied().unwrap_or(Key::Run(REST)), number % NUMBERS)
    }
}

fn rest_of_waits(after: Option<Cause>) -> Key {
    Key::Wait { by: REST, holder: Holder::Task(SharerKind::Other, REST), after }
}

fn rest_of_blocked(kind: PathKind) -> Key {
    Key::Blocked { by: REST, kind, what: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_bounded_and_keep_their_sort() {
        let mut keys = Keys::new();
        for label in 0..40_000 {
            keys.of(Key::Run(label));
        }
        assert_eq!(keys.keys.len(), MOST);
        let mut what = |key, number| {
            let first = keys.of(key);
            keys.what(first + number)
        };
        assert_eq!(what(Key::Run(39_999), 3), (Key::Run(REST), 3));
        let after = Some(Cause::Child);
        let wait = Key::Wait { by: 5, holder: Holder::Unknown, after };
        assert_eq!(what(wait, 0).0, rest_of_waits(None));
        assert_eq!(what(Key::Run(7), 0).0, Key::Run(7));
    }

    #[test]
    fn ways_to_run_have_their_numbers() {
        assert!(RUNS.iter().enumerate().all(|(at, run)| *run as usize == at));
    }
}
