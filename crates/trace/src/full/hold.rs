//! Events that are held back: a key of the terminal interrupted the tree, and whether that ends it shows only later. By then
//! the waits that its signal ended would have been explained by it.

use crate::clock::now_ns;

/// Whether a key ends the command shows within this time. One that takes longer is explained as if it had gone on.
const LONGEST_NS: u64 = 1_000_000_000;
/// So many events may wait for that: some 30 MiB.
const MOST: usize = 1 << 18;

/// What is held back, if anything is.
#[derive(Debug, Default)]
pub(crate) struct Hold(Option<Held>);

#[derive(Clone, Copy, Debug)]
struct Held {
    /// Events from this time on.
    from: u64,
    /// Until the clock says this.
    until: u64,
}

impl Hold {
    /// A key was pressed then, if the tree has got its signal. What is held back already stays so.
    pub(crate) fn begin(&mut self, interrupted: Option<u64>) {
        let until = now_ns() + LONGEST_NS;
        self.0 = self.0.or(interrupted.map(|from| Held { from, until }));
    }

    /// Since when, and holds nothing back any more.
    pub(crate) fn end(&mut self) -> Option<u64> {
        self.0.take().map(|held| held.from)
    }

    /// Up to when events may be handed on that could be up to `until`, while so many are waiting.
    pub(crate) fn limit(&mut self, until: u64, waiting: usize) -> u64 {
        self.0 = self.0.filter(|held| now_ns() < held.until && waiting < MOST);
        self.0.map_or(until, |held| until.min(held.from - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_after_a_key_waits_and_not_for_ever() {
        let mut hold = Hold::default();
        hold.begin(None);
        assert_eq!((hold.limit(9, 0), hold.end()), (9, None));
        hold.begin(Some(5));
        hold.begin(Some(7));
        assert_eq!((hold.limit(3, 0), hold.limit(9, MOST - 1)), (3, 4));
        assert_eq!(hold.limit(9, MOST), 9);
        assert_eq!(hold.end(), None);
        hold.begin(Some(5));
        assert_eq!((hold.end(), hold.limit(9, 0)), (Some(5), 9));
        hold.0 = Some(Held { from: 5, until: 0 });
        assert_eq!(hold.limit(9, 0), 9);
    }
}
