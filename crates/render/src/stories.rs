//! The first screen of several machines: one sentence a row, which says where along their order its price moved.

use whyfaster_core::price::PriceList;
use whyfaster_core::price::compare::Rule;
use whyfaster_core::price::story::{Move, Story, stories};
use whyfaster_words::called::letter;
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;
use whyfaster_words::text::{Tone, for_look, tone, width, wrap, wrap_indented};
use whyfaster_words::units::{factor, price};

/// Names of at most so many columns stand in the sentences themselves.
const SHORT: usize = 10;
/// Changes up to a factor of two read best as a percentage.
const DOUBLE: f64 = 2.0;

/// What stands above rows that moved for no other reason.
pub(super) const PLACED_OTHERWISE: &str = "only because the scheduler chose other CPUs:";

/// At most so many lines.
pub(super) fn screen(lists: &[&PriceList], rule: &Rule, most: usize, look: &Look) -> Vec<String> {
    let lists: Vec<PriceList> = lists.iter().map(|list| (*list).clone()).collect();
    let names: Vec<String> = lists.iter().map(|list| for_look(&list.name, look)).collect();
    let short = names.iter().all(|name| width(name) <= SHORT);
    let labels = if short { names.clone() } else { (0..names.len()).map(letter).collect() };
    let (found, shared) = stories(&lists, rule);
    let mut lines = vec![String::new()];
    let title = format!(
        "{} of {} moved from one list to the next:",
        found.len(),
        count(shared as u64, "row that two lists have", "rows that two lists have")
    );
    lines.extend(wrap(&tone(Tone::Strong, &title), look.width, 2));
    let legend: Vec<String> = match short {
        true => Vec::new(),
        false => labels.iter().zip(&names).map(|(label, name)| format!("  {label}  {name}")).collect(),
    };
    let room = most.saturating_sub(lines.len() + legend.len() + 1);
    let (mut told, mut placed) = (Vec::new(), false);
    let mut shown = 0;
    for story in &found {
        let mut more = Vec::new();
        if story.placed_otherwise() && !placed {
            placed = true;
            more.extend(wrap(PLACED_OTHERWISE, look.width, 2));
        }
        more.extend(wrap_indented(&sentence(story, &labels, look), look.width, 2));
        if told.len() + more.len() > room {
            break;
        }
        told.extend(more);
        shown += 1;
    }
    lines.extend(told);
    let hidden = (found.len() - shown) as u64;
    lines.extend((hidden > 0).then(|| format!("  and {}", count(hidden, "row more: -v", "rows more: -v"))));
    lines.extend(legend);
    lines
}

/// "fork reaped +27% from 6.1 to 6.12 (184 us to 234 us), 2.1x faster from 6.12 to 6.13".
fn sentence(story: &Story, labels: &[String], look: &Look) -> String {
    let one = |it: &Move| {
        let label = |at: usize| labels.get(at).map_or("", String::as_str);
        format!(
            "{} from {} to {} ({} to {})",
            change(it.ratio),
            label(it.from.0),
            label(it.to.0),
            price(it.from.1, look),
            price(it.to.1, look)
        )
    };
    let moves: Vec<String> = story.moves.iter().map(one).collect();
    for_look(&format!("{} {} {}", story.name, story.variant, moves.join(", ")), look)
}

/// "+27%", "3.1x slower".
pub(super) fn change(ratio: f64) -> String {
    match ratio {
        ratio if ratio > DOUBLE => format!("{} slower", factor(ratio)),
        ratio if ratio < DOUBLE.recip() => format!("{} faster", factor(ratio.recip())),
        ratio => format!("{:+.0}%", (ratio - 1.0) * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::look;

    #[test]
    fn a_row_is_a_sentence_with_every_move() {
        let one = |from, to, ratio| Move { from, to, ratio, placed_otherwise: false };
        let moves =
            vec![one((0, 184_000.0), (1, 234_000.0), 1.272), one((1, 234_000.0), (2, 100_000.0), 0.427)];
        let story = Story { name: "fork".into(), variant: "reaped".into(), moves };
        let labels = ["6.1", "6.12", "6.18"].map(str::to_owned);
        assert_eq!(
            sentence(&story, &labels, &look(80, false)),
            "fork reaped +27% from 6.1 to 6.12 (184 us to 234 us), 2.34x faster from 6.12 to 6.18 (234 us to 100 us)"
        );
    }
}
