//! Judges a claim by all traced runs of the commands that it is about: a median, how far it may be off, and which runs tell nothing.
//!
//! One traced run may have met a busy machine. So a claim is decided only where the runs that tell something are the most, and
//! the whole interval of the figure lies on one side of the bound.

use crate::claims::{self, Judgement, Outcome, Pair};
use crate::record::Record;
use crate::stats::{Observation, quantile, sign};
use crate::trace::claims::{Claim, Quantity, Rule, Tally, amount, word};

/// A run that takes this much longer traced than untraced tells of the tracing, or of a busy machine.
const DISTURBED: f64 = 1.5;
/// Less time than this reads "0.000 s": nothing to be compared with.
const NO_TIME_S: f64 = 0.0005;
/// Where other programs have more than this part of the CPUs, a CPU may be taken because of them and not idle because of us.
const STRANGERS: f64 = 0.1;
/// Error probability of the interval of a figure.
const ALPHA: f64 = 0.05;

/// Judges a claim. `tallies` are what the traces counted, by command; more than one of a command are its runs, in order.
pub fn judge(claim: &Claim, pair: Pair<'_>, record: &Record, tallies: &[(String, Tally)]) -> Judgement {
    let alternative = claim.alternative.as_deref().unwrap_or(pair.alternative);
    let pair = Pair { alternative, baseline: pair.baseline };
    let (asked, quantity, share, at_least) = match claim.rule {
        Rule::Time { verdict } => {
            let rule = claims::Rule::Verdict { load: 1, verdict };
            let by_time = claims::Claim { number: claim.number, text: claim.text.clone(), rule };
            let mut judged = claims::judge(&[by_time], pair, record);
            return judged.pop().unwrap_or_else(|| of(claim, Outcome::Undecided, "not compared".to_owned()));
        }
        Rule::OfTime { quantity, share } => (vec![alternative], quantity, share, true),
        Rule::AtMost { quantity, share } => (vec![alternative, pair.baseline], quantity, share, false),
    };
    let runs: Vec<Result<Run, String>> = match rounds(&asked, tallies) {
        Ok(rounds) => rounds.iter().map(|round| run(&asked, quantity, record, round)).collect(),
        Err(why) => return of(claim, Outcome::Undecided, why),
    };
    let all = runs.len();
    let (told, silent): (Vec<_>, Vec<_>) = runs.into_iter().partition(Result::is_ok);
    let mut silent = silent.into_iter().filter_map(Result::err);
    if let Some(why) = silent.next().filter(|_| told.len() * 2 <= all) {
        let of_runs = if all > 1 {
            format!(" ({} of {all} traced runs tell nothing)", all - told.len())
        } else {
            String::new()
        };
        return of(claim, Outcome::Undecided, format!("{}: {why}{of_runs}", word(quantity)));
    }
    let told: Vec<Run> = told.into_iter().filter_map(Result::ok).collect();
    let figure = Figure::of(&told);
    let outcome = match (figure.low >= share, figure.high < share) {
        (true, _) if at_least => Outcome::Holds,
        (_, true) if at_least => Outcome::DoesNotHold,
        _ if !at_least && figure.high <= share => Outcome::Holds,
        _ if !at_least && figure.low > share => Outcome::DoesNotHold,
        _ => Outcome::Undecided,
    };
    let differ = if outcome == Outcome::Undecided { "the traced runs differ: " } else { "" };
    let bound = if at_least { "at least" } else { "at most" };
    let why = format!(
        "{differ}{}{}, {bound} {} was claimed",
        figure.words(&asked, quantity),
        figure.range(told.len(), all),
        percent(share)
    );
    of(claim, outcome, why)
}

fn of(claim: &Claim, outcome: Outcome, why: String) -> Judgement {
    Judgement { number: claim.number, text: claim.text.clone(), outcome, why }
}

/// The tallies of one round, in the order of the commands that are asked for.
type Round<'a> = Vec<&'a Tally>;

/// The rounds in which all of these were traced.
fn rounds<'a>(asked: &[&str], tallies: &'a [(String, Tally)]) -> Result<Vec<Round<'a>>, String> {
    let runs = |name: &str| -> Vec<&'a Tally> {
        tallies.iter().filter(|(known, _)| known == name).map(|(_, it)| it).collect()
    };
    let by_name: Vec<Vec<&Tally>> = asked.iter().map(|name| runs(name)).collect();
    if let Some((name, _)) = asked.iter().zip(&by_name).find(|(_, runs)| runs.is_empty()) {
        return Err(format!("{name} was not traced"));
    }
    let least = by_name.iter().map(Vec::len).min().unwrap_or(0);
    Ok((0..least).map(|round| by_name.iter().filter_map(|runs| runs.get(round).copied()).collect()).collect())
}

/// What one round says: of how much, and the part that it is.
#[derive(Clone, Copy, Debug)]
struct Run {
    mine: f64,
    other: f64,
}

/// What a round says of a claim, or why it says nothing.
fn run(asked: &[&str], quantity: Quantity, record: &Record, round: &[&Tally]) -> Result<Run, String> {
    let mut values = Vec::new();
    for (name, tally) in asked.iter().zip(round) {
        values.push(tally.get(quantity).ok_or("not measured")?);
        disturbed(name, quantity, record, tally)?;
    }
    let (mine, other) = match values.as_slice() {
        [mine, other] => (*mine, *other),
        [mine] => (*mine, round.first().map_or(0.0, |it| it.traced_s)),
        _ => return Err("not measured".to_owned()),
    };
    let too_little = other <= 0.0 || (quantity.is_time() && other < NO_TIME_S);
    if let (true, Some(base)) = (too_little, asked.get(1)) {
        return Err(match other <= 0.0 {
            true => format!("{base} has none"),
            false => format!("{base} has too little of it to compare with"),
        });
    }
    Ok(Run { mine, other })
}

/// Fails where the machine was too busy for what is asked. Counts are the same on a busy machine.
fn disturbed(name: &str, quantity: Quantity, record: &Record, tally: &Tally) -> Result<(), String> {
    if !quantity.is_time() {
        return Ok(());
    }
    if let (Some(part), true) = (tally.strangers.filter(|part| *part > STRANGERS), quantity.is_wait()) {
        return Err(format!(
            "other programs had {} of the CPUs while {name} was traced, so that its waits may be due to them",
            percent(part)
        ));
    }
    let level = record.analysis.levels.iter().find(|level| level.load == 1);
    let untraced = level.and_then(|level| level.results.iter().find(|it| it.alternative == name));
    let slower = untraced.map_or(1.0, |it| tally.traced_s / it.makespan_s.median);
    if slower > DISTURBED {
        return Err(format!(
            "the traced run of {name} was disturbed: it took {slower:.1} times as long as untraced ones"
        ));
    }
    Ok(())
}

/// The figure of a claim over all rounds that tell something.
struct Figure {
    mine: f64,
    other: f64,
    median: f64,
    low: f64,
    high: f64,
}

impl Figure {
    fn of(runs: &[Run]) -> Self {
        let median = |of: &dyn Fn(&Run) -> f64| {
            quantile::median(&runs.iter().map(of).collect::<Vec<_>>()).unwrap_or(0.0)
        };
        let part = |run: &Run| if run.other > 0.0 { run.mine / run.other } else { 0.0 };
        let parts: Vec<Observation> = runs.iter().map(|run| part(run).into()).collect();
        // Too few runs for an interval: their range.
        let range = parts.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |it, part| {
            (it.0.min(part.value), it.1.max(part.value))
        });
        let (low, high) = sign::median_interval(&parts, ALPHA).unwrap_or(range);
        Self {
            mine: median(&|run| run.mine),
            other: median(&|run| run.other),
            median: median(&part),
            low,
            high,
        }
    }

    fn words(&self, asked: &[&str], quantity: Quantity) -> String {
        let (mine, other) = (amount(quantity, self.mine), amount(quantity, self.other));
        let part = percent(self.median);
        match asked {
            [alternative, baseline] => {
                format!("{}: {alternative} {mine}, {baseline} {other}: {part}", word(quantity))
            }
            _ => format!("{} of {}: {mine} of {other}: {part}", word(quantity), asked.join(", ")),
        }
    }

    fn range(&self, told: usize, all: usize) -> String {
        match (told, all) {
            (_, 1) => String::new(),
            (told, all) => {
                let runs = if told == all { format!("{all}") } else { format!("{told} of {all}") };
                format!(" ({} to {} in {runs} traced runs)", percent(self.low), percent(self.high))
            }
        }
    }
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        small if small > 0.0 && small < 9.95 => format!("{small:.1}%"),
        value => format!("{value:.0}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        serde_json::from_str(include_str!("../../../../../tests/records/0.1.0-batch.json")).unwrap()
    }

    fn judged(rule: Rule, tallies: &[(&str, Tally)]) -> Judgement {
        let claim = Claim { number: 1, text: "x".to_owned(), alternative: None, rule };
        let tallies: Vec<(String, Tally)> =
            tallies.iter().map(|(name, tally)| ((*name).to_owned(), tally.clone())).collect();
        judge(&claim, Pair { alternative: "cat", baseline: "file" }, &record(), &tallies)
    }

    fn waits(avoidable_s: Option<f64>, strangers: f64) -> Tally {
        Tally { avoidable_s, strangers: Some(strangers), traced_s: 2.0, ..Tally::default() }
    }

    const OF_TIME: Rule = Rule::OfTime { quantity: Quantity::AvoidableWait, share: 0.05 };
    const AT_MOST: Rule = Rule::AtMost { quantity: Quantity::AvoidableWait, share: 0.25 };

    #[test]
    fn counts_decide_and_what_is_missing_does_not() {
        let forks = |n| Tally { forks: Some(n), ..Tally::default() };
        let rule = Rule::AtMost { quantity: Quantity::Forks, share: 0.01 };
        let it = judged(rule, &[("cat", forks(10_004)), ("file", forks(20_000))]);
        assert_eq!((it.outcome, it.why.contains("cat 10004, file 20000")), (Outcome::DoesNotHold, true));
        assert_eq!(judged(rule, &[("cat", forks(4)), ("file", forks(20_000))]).outcome, Outcome::Holds);
        assert_eq!(judged(rule, &[("file", forks(1))]).why, "cat was not traced");
        let own = Rule::AtMost { quantity: Quantity::OwnForkWaitCpu, share: 0.5 };
        let it = judged(own, &[("cat", forks(1)), ("file", forks(1))]);
        assert_eq!((it.outcome, it.why.contains("not measured")), (Outcome::Undecided, true), "{}", it.why);
    }

    #[test]
    fn waiting_is_judged_against_the_time_of_the_run() {
        let outcome = |seconds| judged(OF_TIME, &[("cat", waits(seconds, 0.0))]).outcome;
        assert_eq!(outcome(Some(0.2)), Outcome::Holds);
        assert_eq!(outcome(Some(0.05)), Outcome::DoesNotHold);
        assert_eq!(outcome(None), Outcome::Undecided);
        let none = judged(AT_MOST, &[("cat", waits(Some(0.0), 0.0)), ("file", waits(Some(0.0), 0.0))]);
        assert_eq!(none.outcome, Outcome::Undecided);
        let little = judged(AT_MOST, &[("cat", waits(Some(0.008), 0.0)), ("file", waits(Some(0.0004), 0.0))]);
        assert!(little.outcome == Outcome::Undecided && little.why.contains("too little"), "{}", little.why);
    }

    #[test]
    fn several_rounds_have_a_median_and_a_range_and_may_disagree() {
        let rounds = |seconds: &[f64]| {
            judged(OF_TIME, &seconds.iter().map(|s| ("cat", waits(Some(*s), 0.0))).collect::<Vec<_>>())
        };
        let same = rounds(&[0.2, 0.4, 0.3]);
        assert_eq!(same.outcome, Outcome::Holds);
        assert!(same.why.contains("0.300 s of 2.000 s: 15% (10% to 20% in 3 traced runs)"), "{}", same.why);
        let differ = rounds(&[0.2, 0.05, 0.3]);
        assert_eq!(differ.outcome, Outcome::Undecided);
        assert!(differ.why.starts_with("the traced runs differ: "), "{}", differ.why);
        // With many rounds one that differs is left out by the interval of the median.
        assert_eq!(rounds(&[0.2, 0.2, 0.3, 0.3, 0.3, 0.3, 0.4, 0.4, 0.01]).outcome, Outcome::Holds);
        let pair =
            |file_s: f64, cat_s: f64| [("file", waits(Some(file_s), 0.0)), ("cat", waits(Some(cat_s), 0.0))];
        let pairs = |all: [(f64, f64); 2]| {
            let all: Vec<_> = all.into_iter().flat_map(|(file, cat)| pair(file, cat)).collect();
            judged(AT_MOST, &all).outcome
        };
        assert_eq!(pairs([(0.4, 0.01), (0.4, 0.04)]), Outcome::Holds);
        assert_eq!(pairs([(0.4, 0.3), (0.4, 0.4)]), Outcome::DoesNotHold);
        assert_eq!(pairs([(0.4, 0.01), (0.4, 0.4)]), Outcome::Undecided);
    }

    #[test]
    fn where_strangers_have_the_cpus_nothing_is_decided() {
        let busy = judged(OF_TIME, &[("cat", waits(Some(0.0), 0.68)), ("cat", waits(Some(0.2), 0.68))]);
        assert_eq!(busy.outcome, Outcome::Undecided);
        assert!(busy.why.contains("other programs had 68% of the CPUs"), "{}", busy.why);
        assert!(busy.why.contains("2 of 2 traced runs tell nothing"), "{}", busy.why);
        // Most of the runs are enough.
        let once = [0.0, 0.68, 0.0].map(|strangers| ("cat", waits(Some(0.2), strangers)));
        let once = judged(OF_TIME, &once);
        assert_eq!(once.outcome, Outcome::Holds);
        assert!(once.why.contains("in 2 of 3 traced runs"), "{}", once.why);
    }
}
