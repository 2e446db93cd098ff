//! Events that are held back: a key of the terminal interrupted the tree, and whether that ends it shows only later. By then
//! the waits that its signal ended would have been explained by it.

use crate::clock::now_ns;

/// Whether a key ends the command shows within this time. One that takes longer is explained as if it had gone on.
const LONGEST_NS: u64 = 1_000_000_000;
/// So many events may wait for that: some 30 MiB.
const MOST: usize = 1 << 18;

/// What is held back, if anything is.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    /// Events from this time on: when the last key was pressed.
    from: Option<u64>,
    /// Until the clock says this.
    until: u64,
}

impl Hold {
    /// Up to when events may be handed on that could be up to `until`, while so many are waiting. `key` is when the last key
    /// was pressed whose signal the tree has got, as the kernel tells it: our own signal reaches us only when we get a CPU
    /// and look, which may be too late.
    pub(crate) fn limit(&mut self, key: Option<u64>, until: u64, waiting: usize) -> u64 {
        let now = now_ns();
        if self.from != key {
            // The tree has survived the key before, if there was one: what came up to this one is explained as any other.
            *self = Self { from: key, until: now + LONGEST_NS };
        } else if waiting >= MOST {
            self.until = 0;
        }
        self.from.filter(|_| now < self.until).map_or(until, |from| until.min(from - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_after_a_key_waits_and_not_for_ever() {
        let mut hold = Hold::default();
        assert_eq!(hold.limit(None, 9, 0), 9);
        assert_eq!((hold.limit(Some(5), 3, 0), hold.limit(Some(5), 9, MOST - 1)), (3, 4));
        // Given up: it stays so.
        assert_eq!((hold.limit(Some(5), 9, MOST), hold.limit(Some(5), 9, 0)), (9, 9));
        assert_eq!(hold.limit(Some(7), 9, 0), 6);
        hold.until = 0;
        assert_eq!(hold.limit(Some(7), 9, 0), 9);
    }

    #[test]
    fn a_further_key_lets_go_what_came_before_it_and_begins_anew() {
        let mut hold = Hold::default();
        assert_eq!(hold.limit(Some(5), 9, 0), 4);
        hold.until = 0;
        // That so many wait is because of the key before.
        assert_eq!((hold.limit(Some(7), 9, MOST), hold.limit(Some(7), 9, 0)), (6, 6));
    }
}
