//! What became of an article's claims, and why.

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use whyfaster_core::claims::{
    Against, AtLoad, Change, Evidence, Judgement, Lack, NoPrice, NotCompared, Outcome, RowRatio, Silence,
    SilentTraces, Traced,
};
use whyfaster_core::price::paired::Lacking;
use whyfaster_core::price::sum::{Doubt, SumCheck};
use whyfaster_core::studied::Unfit;
use whyfaster_core::trace::tally::Quantity;
use whyfaster_core::verdict::{Ratio, Verdict};

use super::missing::{crowd, reason};
use crate::units::{Figures, bare, digits, ratio};

/// Why a claim holds, does not hold, or is undecided, and which machine would show it.
pub fn why(judgement: &Judgement) -> String {
    let lacks = judgement.lacks.iter().map(|lack| format!("; {}", wanted(lack)));
    evidence(judgement) + &lacks.collect::<String>()
}

/// The machine that shows what this one cannot.
fn wanted(lack: &Lack) -> String {
    match *lack {
        Lack::Cpus { here, needed } => {
            format!("it shows on a machine with {needed} CPUs, and this one has {}", bare(&digits(here)))
        }
        Lack::KernelReads => {
            "it shows where root can mount an encrypted or a compressed directory".to_owned()
        }
    }
}

fn evidence(judgement: &Judgement) -> String {
    match &judgement.evidence {
        Evidence::NotMeasured => "not measured".to_owned(),
        Evidence::LeftOut((command, why)) => format!("{command} was left out: {}", unfit(why)),
        Evidence::NotCompared(missing) => not_compared(missing),
        Evidence::Compared(levels) => match levels.as_slice() {
            [AtLoad { load, verdict, ratio }] => {
                format!("{} at load {load}: {}", verdict_word(*verdict), with_interval(ratio))
            }
            levels => list(levels.iter().map(|at| format!("{} at {}", ratio(at.ratio), at.load))),
        },
        Evidence::Step(step) => {
            let both = list(step.levels.iter().map(|at| format!("{} at load {}", ratio(at.ratio), at.load)));
            let moved = format!("{both}: the second over the first is {}", with_interval(&step.moved));
            match step.change {
                Change::Rises | Change::Falls | Change::Unclear => moved,
                Change::Flat(delta) => format!("{moved}: no rise above {:.0}%", delta * 100.0),
            }
        }
        Evidence::FewLevels(compared, needed) => format!("{compared} levels compared, {needed} needed"),
        Evidence::NotTraced(command) => format!("{command} was not traced"),
        Evidence::SilentTraces(silent) => silence(silent),
        Evidence::Traced(figure) => traced(figure, judgement.outcome),
        Evidence::NoPrice(missing) => no_price(missing),
        Evidence::Ordered(against) => list(against.iter().map(compared)),
        Evidence::Sum(check) => sum(check),
        Evidence::Syscalls(_, Some(calls)) => format!("{calls:.2} system calls an operation"),
        Evidence::Syscalls(row, None) => format!("the system calls of {row} were not counted here"),
        Evidence::OverReference(list, Ratio { ratio, low: Some(low), high: Some(high) }) => {
            format!("{ratio:.3} of '{list}' ({low:.3} to {high:.3})")
        }
        Evidence::OverReference(list, found) => {
            format!("{:.3} of '{list}' (too few repetitions)", found.ratio)
        }
        Evidence::NotInReference(row, list) => format!("{row} is not in '{list}'"),
    }
}

/// How many claims hold, do not, and are open; kinds without a claim are left out.
pub fn tally(claims: &[Judgement]) -> String {
    let kinds = [
        (Outcome::Holds, "holds", "hold"),
        (Outcome::DoesNotHold, "does not hold", "do not hold"),
        (Outcome::Undecided, "is undecided", "are undecided"),
        (Outcome::NotAsked, "was not asked", "were not asked"),
    ];
    let counts: Vec<String> = kinds
        .into_iter()
        .map(|(kind, one, many)| (claims.iter().filter(|claim| claim.outcome == kind).count(), one, many))
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
        .collect();
    format!("of the article's {} claims {}", claims.len(), counts.join(", "))
}

/// An outcome in a word or two.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::DoesNotHold => "does not hold",
        Outcome::Undecided => "undecided",
        Outcome::NotAsked => "not asked",
    }
}

/// Why a command cannot run here.
pub fn unfit(why: &Unfit) -> String {
    match why {
        Unfit::NotInstalled(program) => format!("{program} is not installed"),
        Unfit::OneCpu => "there is only one CPU".to_owned(),
    }
}

/// Why there is no comparison at a load.
pub fn not_compared(missing: &NotCompared) -> String {
    match (&missing.reason, missing.measured) {
        (Some(why), _) => format!("load {} not measured: {}", missing.load, reason(why)),
        (None, true) => format!("load {}: no round of both", missing.load),
        (None, false) => format!("load {} is not one of this run's (--load, --full)", missing.load),
    }
}

/// Why it is undecided whether parts and whole cost the same.
pub fn doubt(check: &SumCheck) -> Option<String> {
    Some(match check.doubt.as_ref()? {
        Doubt::Repetitions(lacking) => repetitions(lacking),
        Doubt::PartAboveWhole { part } => {
            format!("{part} costs more than all of {}, which cannot be", check.whole)
        }
        Doubt::OneSided => "the repetitions lie far out to one side".to_owned(),
        Doubt::NotTypical => "the repetitions do not say what the typical prices say".to_owned(),
        Doubt::Crowded(who) => crowd(*who),
    })
}

/// Judgements as JSON: what is typed, and under `why` the same in words.
pub fn judgements<S: Serializer>(judgements: &[Judgement], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Told<'a> {
        #[serde(flatten)]
        judgement: &'a Judgement,
        why: String,
    }
    let mut all = serializer.serialize_seq(Some(judgements.len()))?;
    for judgement in judgements {
        all.serialize_element(&Told { judgement, why: why(judgement) })?;
    }
    all.end()
}

/// Sums as JSON: what is typed, and under `doubt` the same in words.
pub fn sums<S: Serializer>(checks: &[SumCheck], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Told<'a> {
        #[serde(flatten)]
        check: &'a SumCheck,
        doubt: Option<String>,
    }
    let mut all = serializer.serialize_seq(Some(checks.len()))?;
    for check in checks {
        all.serialize_element(&Told { check, doubt: doubt(check) })?;
    }
    all.end()
}

fn list(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "the same",
        Verdict::Undecided => "undecided",
    }
}

fn with_interval(of: &Ratio) -> String {
    let (told, end) = (ratio(*of), |end| Figures::of(*of).number(end));
    match (of.low, of.high) {
        (Some(low), Some(high)) => format!("{told} ({} to {})", end(low), end(high)),
        (Some(low), None) => format!("{told} ({} or more)", end(low)),
        (None, Some(high)) => format!("{told} ({} or less)", end(high)),
        (None, None) => format!("{told} (too few rounds for an interval)"),
    }
}

fn silence(SilentTraces { quantity, command, because, silent, runs }: &SilentTraces) -> String {
    let why = match because {
        Silence::NotMeasured => "not measured".to_owned(),
        Silence::OthersBusy(part) => format!(
            "other programs had {} of the CPUs while {command} was traced, so that its waits may be due to them",
            percent(*part)
        ),
        Silence::Disturbed(times) => format!(
            "the traced run of {command} was disturbed: it took {times:.1} times as long as untraced ones"
        ),
        Silence::TooLittle => {
            format!("{command} has too little of it here; the claim shows on a machine where it has more")
        }
    };
    let of_runs = match runs {
        1 => String::new(),
        runs => format!(" ({silent} of {runs} traced runs tell nothing)"),
    };
    format!("{}: {why}{of_runs}", quantity_name(*quantity))
}

fn quantity_name(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Forks => "forks of the whole tree",
        Quantity::Execs => "execs of the whole tree",
        Quantity::OwnForks => "forks of the dispatcher alone",
        Quantity::OwnForkWaitCpu => "CPU time of the dispatcher in forks and waits",
        Quantity::AvoidableWait => "waiting for a CPU while another one stood idle",
        Quantity::BehindKernel => "waiting for a CPU behind threads of the kernel",
    }
}

fn traced(figure: &Traced, outcome: Outcome) -> String {
    let amount = |value: f64| match figure.quantity.is_time() {
        true => format!("{value:.3} s"),
        false => format!("{value:.0}"),
    };
    let (name, alternative) = (quantity_name(figure.quantity), &figure.alternative);
    let (value, whole, part) = (amount(figure.value), amount(figure.whole), percent(figure.part.ratio));
    let differ = if outcome == Outcome::Undecided { "the traced runs differ: " } else { "" };
    let seen = match &figure.baseline {
        Some(baseline) => format!("{name}: {alternative} {value}, {baseline} {whole}: {part}"),
        None => format!("{name} of {alternative}: {value} of {whole}: {part}"),
    };
    let runs = match (figure.part.low.zip(figure.part.high), figure.runs) {
        (None, _) | (_, 1) => String::new(),
        (Some((low, high)), runs) => {
            let of = if figure.told == runs { String::new() } else { format!("{} of ", figure.told) };
            format!(" ({} to {} in {of}{runs} traced runs)", percent(low), percent(high))
        }
    };
    let bound = if figure.baseline.is_some() { "at most" } else { "at least" };
    format!("{differ}{seen}{runs}, {bound} {} was claimed", percent(figure.claimed))
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        small if small > 0.0 && small < 9.95 => format!("{small:.1}%"),
        value => format!("{value:.0}%"),
    }
}

fn no_price(missing: &NoPrice) -> String {
    match &missing.reason {
        Some(why) => format!("{} not measured: {}", missing.row, reason(why)),
        None => format!("{} not measured here", missing.row),
    }
}

fn compared(against: &Against) -> String {
    let RowRatio { other, ratio: Ratio { ratio, low, high }, lacking, floors_disagree } = match against {
        Against::NoPrice(missing) => return no_price(missing),
        Against::NotPaired(row, other) => return format!("{row} and {other} have no repetition in common"),
        Against::Ratio(paired) => paired,
    };
    let text = format!("{ratio:.2} of {other}");
    let lacking = lacking.as_ref().map(repetitions);
    match (low.zip(*high), lacking) {
        (None, lacking) => format!("{text} ({})", lacking.unwrap_or_default()),
        (Some((low, high)), Some(lacking)) => format!("{text} ({low:.2} to {high:.2}); {lacking}"),
        (Some((low, high)), None) => {
            let floors = if *floors_disagree { "; the floors say the opposite" } else { "" };
            format!("{text} ({low:.2} to {high:.2}){floors}")
        }
    }
}

fn repetitions(lacking: &Lacking) -> String {
    match lacking.more() {
        Some(needed) => format!("{} repetitions, {needed} are needed", lacking.repetitions),
        None => format!("{} repetitions, and more would hardly help", lacking.repetitions),
    }
}

fn sum(check: &SumCheck) -> String {
    let us = |ns: f64| ns / 1000.0;
    let mut text = format!(
        "{:.1} us alone, {:.1} us together: {:+.1}% of the whole",
        us(check.sum_ns),
        us(check.whole_ns),
        check.share * 100.0
    );
    if let Some((low, high)) = check.low.zip(check.high) {
        text.push_str(&format!(" ({:+.1}% to {:+.1}%)", low * 100.0, high * 100.0));
    }
    if let Some(doubt) = doubt(check) {
        text.push_str(&format!("; {doubt}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use whyfaster_core::claims::Step;
    use whyfaster_core::missing::Obstacle;

    use super::*;

    fn judged(outcome: Outcome, evidence: Evidence, lacks: Vec<Lack>) -> Judgement {
        Judgement { number: 1, text: "a claim".to_owned(), outcome, evidence, lacks }
    }

    fn told(outcome: Outcome, evidence: Evidence) -> String {
        why(&judged(outcome, evidence, Vec::new()))
    }

    fn ratio(ratio: f64) -> Ratio {
        Ratio { ratio, low: Some(ratio - 0.05), high: Some(ratio + 0.05) }
    }

    fn of_loads() -> Vec<Evidence> {
        let at = |load, value| AtLoad { load, verdict: Verdict::Same, ratio: ratio(value) };
        let step =
            |change| Evidence::Step(Step { levels: [at(1, 1.2), at(10, 1.3)], moved: ratio(1.08), change });
        let missing = |measured, reason: Option<&str>| {
            let reason = reason.map(|why| Obstacle::from(why.to_owned()));
            Evidence::NotCompared(NotCompared { load: 7, measured, reason })
        };
        vec![
            Evidence::NotMeasured,
            Evidence::LeftOut(("pinned".to_owned(), Unfit::NotInstalled("taskset".to_owned()))),
            Evidence::LeftOut(("pinned".to_owned(), Unfit::OneCpu)),
            missing(false, None),
            missing(true, None),
            missing(false, Some("too little memory")),
            Evidence::Compared(vec![at(10, 1.0)]),
            step(Change::Rises),
            step(Change::Flat(0.02)),
            step(Change::Unclear),
            Evidence::Compared(vec![at(1, 0.6), at(10, 1.3)]),
            Evidence::FewLevels(2, 3),
        ]
    }

    fn of_traces() -> Vec<Evidence> {
        let file = || "file".to_owned();
        let quantity = Quantity::AvoidableWait;
        let silent = |because, runs| {
            Evidence::SilentTraces(SilentTraces { quantity, command: file(), because, silent: 2, runs })
        };
        let traced = |quantity, baseline: Option<&str>, told| {
            Evidence::Traced(Traced {
                quantity,
                alternative: "cat".to_owned(),
                baseline: baseline.map(str::to_owned),
                value: 3.0,
                whole: 40.0,
                part: Ratio { ratio: 0.075, low: Some(0.07), high: Some(0.2) },
                told,
                runs: 3,
                claimed: 0.1,
            })
        };
        vec![
            Evidence::NotTraced(file()),
            silent(Silence::NotMeasured, 1),
            silent(Silence::OthersBusy(0.68), 2),
            silent(Silence::Disturbed(1.6), 3),
            silent(Silence::TooLittle, 3),
            traced(Quantity::BehindKernel, None, 3),
            traced(Quantity::Forks, Some("file"), 2),
        ]
    }

    fn of_prices() -> Vec<Evidence> {
        let row = || "fork/reaped".to_owned();
        let against = |low: Option<f64>, lacking, floors_disagree| {
            let ratio = Ratio { ratio: 0.5, low, high: low.map(|low| low + 0.2) };
            Evidence::Ordered(vec![Against::Ratio(RowRatio {
                other: row(),
                ratio,
                lacking,
                floors_disagree,
            })])
        };
        let lacking = |needed| Some(Lacking { repetitions: 7, needed });
        let list = || "old".to_owned();
        let over = |low| Evidence::OverReference(list(), Ratio { ratio: 0.1, low, high: low });
        vec![
            Evidence::NoPrice(NoPrice { row: row(), reason: None }),
            Evidence::NoPrice(NoPrice { row: row(), reason: Some(Obstacle::from("refused".to_owned())) }),
            against(None, lacking(Some(9)), false),
            against(Some(0.4), lacking(None), false),
            against(Some(0.4), None, false),
            against(Some(0.4), None, true),
            Evidence::Ordered(vec![Against::NotPaired(row(), "file".to_owned())]),
            Evidence::Sum(SumCheck {
                name: "here".to_owned(),
                parts: Vec::new(),
                whole: "both".to_owned(),
                sum_ns: 1000.0,
                whole_ns: 1100.0,
                difference_ns: 100.0,
                share: 0.09,
                low: Some(0.05),
                high: Some(0.13),
                verdict: Some(Verdict::Undecided),
                doubt: Some(Doubt::PartAboveWhole { part: "fork".to_owned() }),
            }),
            Evidence::Syscalls(row(), Some(0.0)),
            Evidence::Syscalls(row(), None),
            over(Some(0.1)),
            over(None),
            Evidence::NotInReference(row(), list()),
        ]
    }

    /// Every kind of evidence in words, on one screen.
    #[test]
    fn every_kind_of_evidence_has_words() {
        let all = [of_loads(), of_traces(), of_prices()].into_iter().flatten();
        let lines: Vec<String> = all.map(|evidence| told(Outcome::Undecided, evidence)).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn what_a_machine_lacks_follows_the_evidence() {
        let lacks = vec![Lack::Cpus { here: 1.5, needed: 8 }, Lack::KernelReads];
        assert_eq!(
            why(&judged(Outcome::Undecided, Evidence::NotMeasured, lacks)),
            "not measured; it shows on a machine with 8 CPUs, and this one has 1.5; it shows where root can mount an encrypted or a \
             compressed directory"
        );
    }
}
