//! Why nothing is explained, and what of an explanation was left out.

use whyfaster_core::missing::NotMeasured;
use whyfaster_core::why::Why;
use whyfaster_core::why::statement::{BatchLeftOut, LeftOut, Missing, Refusal, RoundsLeftOut};
use whyfaster_stats::looks;

use super::called::Called;
use super::numbers::{percent, time};

/// Why nothing is explained, or not this pair.
pub(super) fn refusal(it: &Refusal, called: &Called) -> String {
    let both = |of: &[String; 2]| format!("{} and {}", called.of(&of[0]), called.of(&of[1]));
    match it {
        Refusal::NoPath => "the traces have no critical path".to_owned(),
        Refusal::NoCopyAlone => {
            "no copy ran alone, and --why needs that: load 1 in batch or closed mode (--load 1,N)".to_owned()
        }
        Refusal::NoCommonRound { of } => format!("no round in which both {} ran alone", both(of)),
        Refusal::NoTrace { of } => format!(
            "no trace of {}: none of its observed runs came to its end (the time was over, or they failed; --max-time allows \
             more)",
            called.of(of)
        ),
        Refusal::NoUsableTrace { of, runs } => format!(
            "no trace of {} that could explain it: of its {runs} observed runs none has a critical path",
            called.of(of)
        ),
        Refusal::Lossy { of, lossy, all } => {
            let traces = if *all { format!("all {lossy} traces") } else { "most traces".to_owned() };
            format!(
                "{traces} of {} lost records: its events came faster than they could be read",
                called.of(of)
            )
        }
        Refusal::Same { of } => format!("{} take the same time: there is nothing to explain", both(of)),
        Refusal::Undecided { of } => {
            format!("{} could not be told apart: there is nothing to explain yet", both(of))
        }
        Refusal::OtherOrder { of, seconds } => format!(
            "observed, {} are in the other order ({} apart): what is seen then does not explain how they run unobserved",
            both(of),
            time(*seconds)
        ),
        Refusal::DearerToObserve { of, cost_s, difference_s } => format!(
            "observing costs {} more for one of {} than the calibration explains, and the difference is only {}",
            time(*cost_s),
            both(of),
            time(*difference_s)
        ),
        Refusal::OneCommand => {
            "there is one command only, and nothing that it differs from; 'whyfaster trace' explains one"
                .to_owned()
        }
        Refusal::OpenMode => "one copy alone is what is explained: take --mode batch".to_owned(),
        Refusal::NoLevelOfOne => "one copy alone is what is explained: add 1 to --load".to_owned(),
        Refusal::NothingDiffers => {
            "no alternative was seen to be faster or slower than the baseline when it runs alone".to_owned()
        }
        Refusal::Needs { missing, asked } => needs(missing, *asked),
        Refusal::NoTime => "no time was left of --max-time".to_owned(),
        Refusal::Interrupted => INTERRUPTED.to_owned(),
        Refusal::NotObserved { why: why @ RoundsLeftOut::NoTime { .. } } => rounds(why),
        Refusal::NotObserved { why } => format!("no run could be observed: {}", rounds(why)),
        Refusal::Ended { error, hint } => {
            let hint = hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("the explanation ended early: {error}{hint}")
        }
    }
}

const INTERRUPTED: &str = "interrupted";

/// Why there is no explanation, or what would make the one that there is certain, and a command that mends it, which is to stand on a line
/// of its own.
pub fn unexplained(why: &Why) -> Option<(String, Option<&str>)> {
    let refused = why.refused.as_ref()?;
    let answered = why.answer.is_some();
    if let [Refusal::Needs { missing, .. }] = why.refusals.as_slice()
        && let [Missing { what, remedy, command, .. }] = missing.as_slice()
    {
        let how = match answered {
            true => format!("to observe it, {remedy}"),
            false => format!("not explained: needs {what}: {remedy}"),
        };
        let colon = if command.is_some() { ":" } else { "" };
        return Some((format!("{how}{colon}"), command.as_deref()));
    }
    // They were observed, and the answer is about another pair.
    let seen = |it: &Refusal| {
        matches!(it, Refusal::OtherOrder { .. } | Refusal::Same { .. } | Refusal::Undecided { .. })
    };
    let unseen = answered && !why.refusals.iter().all(seen);
    Some((format!("{}: {refused}", if unseen { "not observed" } else { "not explained" }), None))
}

/// What more time would bring to the causes, in a few words; `None`: nothing that is known.
pub fn more_time(why: &Why) -> Option<String> {
    why.left_out.iter().find_map(|it| match it {
        LeftOut::Rounds { why: RoundsLeftOut::Unsettled { rounds, seconds, hard, .. } } => {
            let allow = if *hard { " of --max-time" } else { "" };
            Some(format!("--why-rounds {rounds}: surer causes, for about {} more{allow}", time(*seconds)))
        }
        _ => None,
    })
}

/// What is missing, in one line: long for who asked, short for who did not.
fn needs(missing: &[Missing], asked: bool) -> String {
    let advice = |it: &Missing| match &it.command {
        Some(command) => format!("{}: {command}", it.remedy),
        None => it.remedy.clone(),
    };
    match missing {
        [only] => format!("needs {}: {}", only.what, advice(only)),
        all if asked => {
            let all: Vec<String> =
                all.iter().map(|it| format!("{}: {}; {}", it.what, it.why, advice(it))).collect();
            format!("needs {}", all.join("; "))
        }
        all => {
            let what: Vec<&str> = all.iter().map(|it| it.what.as_str()).collect();
            format!("needs {}; 'whyfaster doctor' says more", what.join(" and "))
        }
    }
}

/// What of an explanation was left out, and why.
pub fn left_out(why: &Why) -> Vec<NotMeasured> {
    let one = |it: &LeftOut| {
        let (what, why) = match it {
            LeftOut::Rounds { why } => ("traced rounds".to_owned(), rounds(why)),
            LeftOut::BatchMode { load } => (
                format!("work by kind at load {load}"),
                "batches are observed in --mode batch only".to_owned(),
            ),
            LeftOut::Batch { of, load, why } => {
                (format!("work by kind of '{of}' at load {load}"), batch(why))
            }
            LeftOut::Experiments { made, of } => {
                ("experiments".to_owned(), format!("{made} of {of} were made before the end came"))
            }
            LeftOut::Prices { why } => ("prices of operations".to_owned(), why.clone()),
            LeftOut::Rest => ("the rest of the explanation".to_owned(), INTERRUPTED.to_owned()),
        };
        NotMeasured::told(what, why)
    };
    why.left_out.iter().map(one).collect()
}

/// Rounds below which there is no interval.
const LEAST: usize = looks::FIRST;

fn rounds(it: &RoundsLeftOut) -> String {
    match it {
        RoundsLeftOut::CannotRun { why } => why.clone(),
        RoundsLeftOut::NoTime { made, asked, hard } => {
            let limit = if *hard { " of --max-time" } else { "" };
            match asked {
                None if *made == 0 => {
                    let allow = if *hard {
                        format!("allow more, or take --why-rounds {LEAST}")
                    } else {
                        "--why takes the time".to_owned()
                    };
                    format!("no time was left{limit}; {allow}")
                }
                Some(asked) => format!("{made} of {asked} were made: no more time was left{limit}"),
                None => format!(
                    "{made} were made, and an interval needs {LEAST}: no more time was left{limit}; --why-rounds {LEAST} takes \
                     the time"
                ),
            }
        }
        RoundsLeftOut::Unsettled { made, reach, rounds, seconds, hard } => {
            let (limit, allow) = match hard {
                true => (" of --max-time", ", which this must allow"),
                false => ("", ""),
            };
            let known = match reach {
                Some(reach) => {
                    format!("each cause is known to {} of the difference", percent(*reach))
                }
                None => "no cause is sure".to_owned(),
            };
            format!(
                "{made} were made, by which {known}: no more time was left{limit}; --why-rounds {rounds} takes {} more{allow}",
                time(*seconds)
            )
        }
    }
}

fn batch(it: &BatchLeftOut) -> String {
    match it {
        BatchLeftOut::Processes { processes, most } => {
            format!("{processes:.0} processes would have to be followed, and {most:.0} are the most")
        }
        BatchLeftOut::NoTime { takes_s, left_s } => format!(
            "an observed batch takes about {takes_s:.1} s, and {left_s:.1} s were left; allow more with --max-time"
        ),
        BatchLeftOut::CannotRun { why } => why.clone(),
    }
}
