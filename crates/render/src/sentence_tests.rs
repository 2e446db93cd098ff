//! The sentence for every kind of answer.

use whyfaster_core::plan::{Loads, Mode};
use whyfaster_core::record::Record;
use whyfaster_core::status::Status;
use whyfaster_core::verdict::Verdict::{self, Faster, Same, Slower, Undecided};

use super::fixture::{level, look, record, row};
use super::names::Names;
use super::sentence::sentence;

fn said(record: &Record) -> String {
    let look = look(80, true);
    let names = Names::of(&record.plan.alternatives, &look);
    sentence(record, &names, &look)
}

/// Alternatives base and new, with the ratio and verdict of new at every load.
fn pair(levels: &[(u32, f64, Verdict)]) -> Record {
    let asked = levels.iter().map(|level| level.0).collect();
    let mut made = record(&[("base", "base"), ("new", "new")], Loads::Fixed(asked));
    for (load, ratio, verdict) in levels {
        level(&mut made, *load, &[row(1.0, 1.0, None), row(*ratio, 1.0, Some((*ratio, *verdict)))]);
    }
    made
}

#[test]
fn one_level() {
    assert_eq!(said(&pair(&[(1, 0.5, Faster)])), "new is 2.00x faster than base (1.96x to 2.06x).");
    assert_eq!(
        said(&pair(&[(50, 1.25, Slower)])),
        "base is 1.25x faster than new, at 50 copies (1.21x to 1.27x)."
    );
    assert_eq!(
        said(&pair(&[(1, 1.0, Same)])),
        "new and base take the same time within 3.1% (0.970x to 1.02x)."
    );
    let mut cut = pair(&[(1, 0.5, Faster)]);
    cut.plan.loads = Loads::Fixed(vec![1, 10]);
    assert_eq!(said(&cut), "new is 2.00x faster than base, alone (1.96x to 2.06x).");
    let text = said(&pair(&[(1, 0.98, Undecided)]));
    assert_eq!(
        text,
        "Undecided after 24 rounds: new took 0.9800x the time of base (0.9506x to 0.9996x); about 30 more rounds would tell \
         (59 s; raise --max-time)."
    );
}

#[test]
fn a_largest_number_of_rounds_is_raised() {
    let mut record = pair(&[(1, 0.98, Undecided)]);
    record.plan.rounds.max = record.batches.iter().map(|batch| batch.round + 1).max().unwrap();
    assert!(said(&record).ends_with("raise --max-runs)."), "{}", said(&record));
}

#[test]
fn a_fixed_number_of_rounds_is_raised_by_runs() {
    let mut record = pair(&[(1, 0.98, Undecided)]);
    record.plan.rounds.fixed = true;
    assert!(said(&record).ends_with("(raise --runs)."));
    // Nobody's limit ended it.
    record.status = Status::Interrupted;
    assert!(said(&record).contains("about 30 more rounds would tell (59 s)"), "{}", said(&record));
    record.status = Status::Complete;
    let comparison = &mut record.analysis.levels[0].comparisons[0];
    (comparison.rounds, comparison.rounds_needed) = (1, Some(1));
    let text = said(&record);
    assert!(text.contains("after 1 round:") && text.contains("about 1 more round would"), "{text}");
    record.analysis.levels[0].comparisons[0].rounds_needed = None;
    assert!(said(&record).contains("how many more rounds would tell is not known"));
}

#[test]
fn the_same_winner_at_every_load() {
    let text = said(&pair(&[(1, 0.5, Faster), (10, 0.8, Faster)]));
    assert_eq!(
        text,
        "new is faster than base at every measured load: 2.00x alone (1.96x to 2.06x), 1.25x at 10 copies (1.23x to 1.29x)."
    );
}

#[test]
fn one_winner_but_not_everywhere() {
    let text = said(&pair(&[(1, 0.5, Faster), (10, 1.0, Same), (100, 0.99, Undecided)]));
    assert_eq!(
        text,
        "new is 2.00x faster than base alone (1.96x to 2.06x); the same within 3.1% at 10 copies, undecided at 100 copies; about 30 more rounds would tell (1 min; raise --max-time)."
    );
    let text = said(&pair(&[(1, 1.0, Undecided), (10, 1.25, Slower), (100, 1.5, Slower)]));
    assert_eq!(
        text,
        "base is faster than new: 1.25x at 10 copies (1.21x to 1.27x), 1.50x at 100 copies (1.46x to 1.53x); undecided alone; about 30 more rounds would tell (1 min; raise --max-time)."
    );
}

#[test]
fn a_flip_names_the_load_from_which_the_other_wins() {
    let text = said(&pair(&[(1, 0.625, Faster), (2, 1.0, Same), (4, 1.1, Slower), (1000, 1.25, Slower)]));
    assert_eq!(
        text,
        "new is 1.60x faster alone (1.57x to 1.65x); from 4 copies on base wins, 1.25x at 1000 copies (1.21x to 1.27x)."
    );
    let text = said(&pair(&[(1, 0.625, Faster), (1000, 1.25, Slower)]));
    assert_eq!(
        text,
        "new is 1.60x faster alone (1.57x to 1.65x); at 1000 copies base wins, 1.25x (1.21x to 1.27x)."
    );
    let text =
        said(&pair(&[(1, 0.625, Faster), (4, 1.1, Slower), (10, 1.0, Undecided), (100, 1.25, Slower)]));
    assert!(text.ends_with("; undecided at 10 copies."), "{text}");
}

#[test]
fn more_flips_than_one() {
    let text = said(&pair(&[(1, 0.5, Faster), (10, 1.5, Slower), (100, 0.5, Faster)]));
    assert_eq!(
        text,
        "The answer flips more than once with the load: new wins alone and at 100 copies, base wins at 10 copies."
    );
}

#[test]
fn no_winner_at_any_load() {
    let text = said(&pair(&[(1, 1.0, Same), (10, 1.0, Same)]));
    assert_eq!(text, "new and base take the same time within 3.1% at every measured load.");
    let text = said(&pair(&[(1, 1.0, Same), (10, 0.99, Undecided)]));
    assert_eq!(
        text,
        "No winner between new and base: the same within 3.1% alone, undecided at 10 copies; about 30 more rounds would tell \
         (1 min; raise --max-time)."
    );
}

/// Every load has rounds of its own.
#[test]
fn more_time_of_several_loads_is_that_of_all() {
    let mut made = pair(&[(1, 1.0, Undecided), (10, 0.99, Undecided)]);
    let text = said(&made);
    assert!(text.ends_with("about 30 more rounds would tell (2 min; raise --max-time)."), "{text}");
    made.analysis.levels[1].comparisons[0].rounds_needed = None;
    assert!(said(&made).ends_with("how many more rounds would tell is not known."), "{}", said(&made));
}

#[test]
fn one_command_over_levels() {
    let mut made = record(&[("base", "base")], Loads::Fixed(vec![1, 10]));
    level(&mut made, 1, &[row(1.0, 1.0, None)]);
    level(&mut made, 10, &[row(5.0, 1.0, None)]);
    assert_eq!(
        said(&made),
        "base takes 1.00 s (980 ms to 1.03 s) alone; 5.00 s (4.90 s to 5.15 s) at 10 copies."
    );
    made.plan.mode = Mode::Closed { duration_s: 5.0 };
    made.analysis.levels.truncate(1);
    assert_eq!(said(&made), "base takes 900 ms (median latency; 1 copies a second) with 1 worker.");
}

#[test]
fn three_alternatives_are_named_one_by_one() {
    let mut made = record(&[("base", "b"), ("slow", "s"), ("fast", "f")], Loads::Fixed(vec![1]));
    let rows = [row(1.0, 1.0, None), row(1.2, 1.0, Some((1.2, Slower))), row(0.5, 1.0, Some((0.5, Faster)))];
    level(&mut made, 1, &rows);
    assert_eq!(
        said(&made),
        "Against base: fast is 2.00x faster (1.96x to 2.06x); slow takes 1.20x as long (1.16x to 1.22x)."
    );
    let rows = [row(1.0, 1.0, None), row(1.2, 1.0, Some((1.2, Slower))), row(1.5, 1.0, Some((1.5, Slower)))];
    level(&mut made, 10, &rows);
    assert_eq!(
        said(&made),
        "Alone: fast leads, 2.00x faster than base (1.96x to 2.06x), of 2: 1 faster, 1 slower; at 10 copies: base leads, of \
         2: 2 slower; the answer flips for 1 of 2."
    );
}

#[test]
fn a_level_without_a_comparison_is_no_verdict() {
    let mut record = one_level_without_comparison();
    assert_eq!(said(&record), "Nothing can be compared yet: no round ran every alternative.");
    record.analysis.levels.clear();
    assert!(said(&record).starts_with("Nothing was measured"));
}

fn one_level_without_comparison() -> Record {
    let mut record = super::fixture::one_level(1.0, Same);
    record.analysis.levels[0].comparisons.clear();
    record
}

#[test]
fn time_outs_leave_the_factor_open() {
    let mut record = pair(&[(1, 4.0, Slower)]);
    record.analysis.levels[0].comparisons[0].high = None;
    assert_eq!(said(&record), "base is at least 3.88x faster than new.");
    let mut record = pair(&[(1, 0.25, Faster)]);
    record.analysis.levels[0].comparisons[0].low = None;
    assert_eq!(said(&record), "new is at least 3.92x faster than base.");
}
