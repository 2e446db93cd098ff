//! Where along an order of price lists each row moved.
//!
//! Neighbours are compared by the rule of [`super::compare`]; a list without a price of the row is passed over, so that a move may
//! reach across it. What is the same or undecided between neighbours is no move. Two sources, which give no spread, move where they
//! differ by more than delta.

use std::collections::BTreeMap;

use super::PriceList;
use super::compare::{Beside, Rule, compare, row_ids};
use super::list::Price;
use super::pairing::Other;
use crate::verdict::Verdict;

/// A row and its moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    /// Name.
    pub name: String,
    /// Variant.
    pub variant: String,
    /// Its moves, in the order of the lists.
    pub moves: Vec<Move>,
}

/// A row costs more or less in one list than in that before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// Index of the list before, and its price.
    pub from: (usize, f64),
    /// Index of the list after, and its price.
    pub to: (usize, f64),
    /// The price after over the price before.
    pub ratio: f64,
    /// Only because the scheduler chose other CPUs, as far as one can tell.
    pub placed_otherwise: bool,
}

impl Story {
    /// The largest change: how far its ratio is from 1, as a logarithm.
    fn size(&self) -> f64 {
        self.moves.iter().map(|it| it.ratio.ln().abs()).fold(0.0, f64::max)
    }

    /// Whether the scheduler's choice is all that changed.
    pub fn placed_otherwise(&self) -> bool {
        self.moves.iter().all(|it| it.placed_otherwise)
    }
}

/// The rows of these lists that moved, the largest move first, and those last of which only the scheduler's choice changed. And how many
/// rows have a price in two lists or more. All lists have one unit.
pub fn stories(lists: &[PriceList], rule: &Rule) -> (Vec<Story>, usize) {
    let mut compared: BTreeMap<(usize, usize), Vec<Beside>> = BTreeMap::new();
    let (mut stories, mut shared) = (Vec::new(), 0);
    for (name, variant) in row_ids(lists) {
        let price = |list: &PriceList| list.find(name, Some(variant)).and_then(Price::typical);
        let known: Vec<(usize, f64)> =
            lists.iter().enumerate().filter_map(|(at, list)| Some((at, price(list)?))).collect();
        shared += usize::from(known.len() > 1);
        let mut moves = Vec::new();
        for pair in known.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let others = compared.entry((from.0, to.0)).or_insert_with(|| between(lists, from.0, to.0, rule));
            let found = others.iter().find(|row| row.name == name && row.variant == variant);
            moves.extend(found.and_then(|row| moved(row.others.first()?, from, to, rule)));
        }
        if !moves.is_empty() {
            stories.push(Story { name: name.to_owned(), variant: variant.to_owned(), moves });
        }
    }
    stories.sort_by(order);
    (stories, shared)
}

fn order(a: &Story, b: &Story) -> std::cmp::Ordering {
    a.placed_otherwise().cmp(&b.placed_otherwise()).then(b.size().total_cmp(&a.size()))
}

fn between(lists: &[PriceList], from: usize, to: usize, rule: &Rule) -> Vec<Beside> {
    compare(&[lists[from].clone(), lists[to].clone()], rule).rows
}

fn moved(other: &Other, from: (usize, f64), to: (usize, f64), rule: &Rule) -> Option<Move> {
    let ratio = other.ratio.filter(|ratio| *ratio > 0.0)?;
    let differs = match other.verdict {
        Some(Verdict::Faster | Verdict::Slower) => true,
        Some(Verdict::Same | Verdict::Undecided) => false,
        None => ratio.ln().abs() > rule.delta.ln_1p(),
    };
    differs.then_some(Move { from, to, ratio, placed_otherwise: other.placed_otherwise })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{list, row, samples};
    use super::*;

    fn lists(costs: &[[f64; 3]]) -> Vec<PriceList> {
        let one = |[fork, getppid, pipe]: &[f64; 3]| {
            list(vec![
                (row("process", "fork", "reaped"), samples(12, 6, *fork)),
                (row("kernel", "getppid", "raw"), samples(12, 6, *getppid)),
                (row("pipe", "pipe_latency", "process"), samples(12, 6, *pipe)),
            ])
        };
        costs.iter().map(one).collect()
    }

    #[test]
    fn a_story_says_between_which_lists_a_row_moved() {
        let lists = lists(&[[100_000.0, 50.0, 900.0], [100_000.0, 50.0, 1800.0], [300_000.0, 50.0, 900.0]]);
        let (found, shared) = stories(&lists, &Rule::default());
        let told: Vec<(&str, Vec<(usize, usize)>)> = found
            .iter()
            .map(|it| (it.name.as_str(), it.moves.iter().map(|m| (m.from.0, m.to.0)).collect()))
            .collect();
        assert_eq!(told, [("fork", vec![(1, 2)]), ("pipe_latency", vec![(0, 1), (1, 2)])]);
        assert!(shared == 3 && (found[0].moves[0].ratio - 3.0).abs() < 0.2, "{found:?}");
    }

    #[test]
    fn a_list_without_the_row_is_passed_over_and_one_list_has_no_story() {
        let mut three = lists(&[[100_000.0, 50.0, 900.0], [1.0, 50.0, 900.0], [300_000.0, 50.0, 900.0]]);
        three[1].rows[0].unavailable = Some("gone".into());
        three[1].reprice();
        let (found, _) = stories(&three, &Rule::default());
        assert_eq!((found.len(), found[0].moves[0].from.0, found[0].moves[0].to.0), (1, 0, 2));
        assert_eq!(stories(&three[..1], &Rule::default()), (Vec::new(), 0));
    }

    #[test]
    fn what_only_the_scheduler_moved_comes_last() {
        let one = |ratio, placed_otherwise| Story {
            name: String::new(),
            variant: String::new(),
            moves: vec![Move { from: (0, 1.0), to: (1, ratio), ratio, placed_otherwise }],
        };
        let mut all = [one(9.0, true), one(0.5, false), one(3.0, false)];
        all.sort_by(order);
        assert_eq!(all.iter().map(|it| it.moves[0].ratio).collect::<Vec<_>>(), [3.0, 0.5, 9.0]);
    }
}
