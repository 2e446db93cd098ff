//! Rules about what traced runs counted: a median, how far it may be off, and which runs tell nothing.
//!
//! One traced run may have met a busy machine. So a claim is decided only where the runs that tell something are the most, and
//! the whole interval of the figure lies on one side of the bound.

use super::evidence::{Decision, Evidence, Outcome, Silence, SilentTraces, Traced};
use super::rule::{Rule, Runs, Share};
use crate::trace::tally::{Quantity, Tally};
use crate::verdict::Ratio;
use whyfaster_stats::{Observation, quantile, sign};

/// A traced run that takes this many times as long as an untraced one shows the tracing, or a busy machine.
const DISTURBED: f64 = 1.5;
/// Less time than this reads "0.000 s": nothing to be compared with.
const NO_TIME_S: f64 = 0.0005;
/// If other programs use more than this part of the CPUs, they may be the reason why a task waits.
const STRANGERS: f64 = 0.1;
/// Error probability of the interval of a figure.
const ALPHA: f64 = 0.05;

/// Decides a rule about traces; `None` for others.
pub(super) fn decide(rule: &Rule, runs: &Runs<'_>) -> Option<Decision> {
    let (quantity, baseline, claimed) = match *rule {
        Rule::OfTime(Share { quantity, share }) => (quantity, None, share),
        Rule::AtMost(Share { quantity, share }) => (quantity, Some(runs.pair.baseline), share),
        _ => return None,
    };
    let asked: Vec<&str> = std::iter::once(runs.pair.alternative).chain(baseline).collect();
    let rounds = match rounds(&asked, runs.tallies) {
        Ok(rounds) => rounds,
        Err(command) => return Some((Outcome::Undecided, Evidence::NotTraced(command))),
    };
    let all = rounds.len();
    let mut told = Vec::new();
    let mut silence = None;
    for round in &rounds {
        match run(&asked, quantity, runs, round) {
            Ok(run) => told.push(run),
            Err(why) => silence = silence.or(Some(why)),
        }
    }
    if let Some((command, because)) = silence.filter(|_| told.len() * 2 <= all) {
        let command = command.to_owned();
        let silent = SilentTraces { quantity, command, because, silent: all - told.len(), runs: all };
        return Some((Outcome::Undecided, Evidence::SilentTraces(silent)));
    }
    let median =
        |of: &dyn Fn(&Run) -> f64| quantile::median(&told.iter().map(of).collect::<Vec<_>>()).unwrap_or(0.0);
    let (low, high) = ends(&told);
    // Where there is no baseline, the least is claimed, else the most.
    let outcome = match baseline {
        None if low >= claimed => Outcome::Holds,
        None if high < claimed => Outcome::DoesNotHold,
        Some(_) if high <= claimed => Outcome::Holds,
        Some(_) if low > claimed => Outcome::DoesNotHold,
        _ => Outcome::Undecided,
    };
    let figure = Traced {
        quantity,
        alternative: runs.pair.alternative.to_owned(),
        baseline: baseline.map(str::to_owned),
        value: median(&|run| run.value),
        whole: median(&|run| run.whole),
        part: Ratio { ratio: median(&Run::part), low: Some(low), high: Some(high) },
        told: told.len(),
        runs: all,
        claimed,
    };
    Some((outcome, Evidence::Traced(figure)))
}

/// The tallies of one round, in the order of the commands that are asked for.
type Round<'a> = Vec<&'a Tally>;

/// The rounds in which all of these were traced, or the first that never was.
fn rounds<'a>(asked: &[&str], tallies: &'a [(String, Tally)]) -> Result<Vec<Round<'a>>, String> {
    let runs = |name: &str| -> Vec<&'a Tally> {
        tallies.iter().filter(|(known, _)| known == name).map(|(_, it)| it).collect()
    };
    let by_name: Vec<Vec<&Tally>> = asked.iter().map(|name| runs(name)).collect();
    if let Some((name, _)) = asked.iter().zip(&by_name).find(|(_, runs)| runs.is_empty()) {
        return Err((*name).to_owned());
    }
    let least = by_name.iter().map(Vec::len).min().unwrap_or(0);
    Ok((0..least).map(|round| by_name.iter().filter_map(|runs| runs.get(round).copied()).collect()).collect())
}

/// The result of one round: the whole amount, and the part of it.
#[derive(Clone, Copy, Debug)]
struct Run {
    value: f64,
    whole: f64,
}

impl Run {
    fn part(&self) -> f64 {
        if self.whole > 0.0 { self.value / self.whole } else { 0.0 }
    }
}

/// The result of a round for a claim; or the reason why there is none, with the command of the silent run.
fn run<'a>(
    asked: &[&'a str],
    quantity: Quantity,
    runs: &Runs<'_>,
    round: &[&Tally],
) -> Result<Run, (&'a str, Silence)> {
    let mut values = Vec::new();
    for (name, tally) in asked.iter().zip(round) {
        values.push(tally.get(quantity).ok_or((*name, Silence::NotMeasured))?);
        disturbed(name, quantity, runs, tally).map_or(Ok(()), |why| Err((*name, why)))?;
    }
    // Without a baseline it is a part of the run's own time.
    let own_time = round.first().map_or(0.0, |tally| tally.traced_s);
    let (value, whole) = (values.first().copied().unwrap_or(0.0), values.get(1).copied().unwrap_or(own_time));
    match asked.get(1) {
        Some(name) if whole <= 0.0 || (quantity.is_time() && whole < NO_TIME_S) => {
            Err((name, Silence::TooLittle))
        }
        _ => Ok(Run { value, whole }),
    }
}

/// The reason why the machine was too busy for this quantity, if it was. Counts are the same on a busy machine.
fn disturbed(name: &str, quantity: Quantity, runs: &Runs<'_>, tally: &Tally) -> Option<Silence> {
    if !quantity.is_time() {
        return None;
    }
    if let (Some(part), true) = (tally.strangers.filter(|part| *part > STRANGERS), quantity.is_wait()) {
        return Some(Silence::OthersBusy(part));
    }
    let level = runs.analysis.levels.iter().find(|level| level.load == 1);
    let untraced = level.and_then(|level| level.results.iter().find(|it| it.alternative == name));
    let times = untraced.map_or(1.0, |it| tally.traced_s / it.makespan_s.median);
    (times > DISTURBED).then_some(Silence::Disturbed(times))
}

/// The ends of the part over all runs: of the sign test, or the range where there are too few for an interval.
fn ends(runs: &[Run]) -> (f64, f64) {
    let parts: Vec<Observation> = runs.iter().map(|run| run.part().into()).collect();
    let range = parts
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |it, part| (it.0.min(part.value), it.1.max(part.value)));
    sign::median_interval(&parts, ALPHA).unwrap_or(range)
}
