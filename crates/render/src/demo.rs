//! What `demo` says before and after the report of its comparison.

use whyfaster_core::claims::{Judgement, Outcome, Pair};
use whyfaster_words::claims::why;
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;
use whyfaster_words::text::{wrap, wrap_indented};
use whyfaster_words::units::duration;

/// What is told of the demo.
#[derive(Clone, Debug)]
pub struct Told {
    /// The alternatives' names.
    pub pair: Pair<'static>,
    /// The command lines, the baseline's first.
    pub commands: [String; 2],
    /// Lines of the input.
    pub numbers: u32,
    /// Name of the input's file.
    pub file: &'static str,
    /// Copies at the upper level of load.
    pub copies: u32,
    /// CPUs that they can use.
    pub cpus: f64,
    /// Seconds that it may take.
    pub max_time_s: f64,
}

/// What is about to happen.
pub fn introduction(pair: Pair<'_>, copies: u32, max_time_s: f64) -> String {
    format!(
        "The same work by one process ({}) and by a pipeline of two ({}), alone and with {copies} copies at once. Takes at most about {}.",
        pair.baseline,
        pair.alternative,
        duration(max_time_s)
    )
}

/// Whether the order flipped, and what to run next.
pub fn outcome(told: &Told, judgements: &[Judgement], look: &Look) -> String {
    let brief = look.detail <= Detail::Screen;
    // The screen above ends with where the rest is: this belongs to it.
    let mut lines = if brief { Vec::new() } else { vec![String::new()] };
    let seen = judgements.iter().all(|judgement| judgement.outcome == Outcome::Holds);
    if seen {
        lines.extend(wrap(&flipped(told, brief), look.width, 0));
    } else if brief {
        let of = |it: &Judgement| format!("{}: {}", it.text, word(it.outcome));
        let both = judgements.iter().map(of).collect::<Vec<_>>().join("; ");
        let help = what_would_help(told, judgements);
        let text = format!("The order was not seen to flip in this run ({both}). {help}");
        lines.extend(wrap(&text, look.width, 2));
    } else {
        lines.push("The order was not seen to flip in this run:".to_owned());
        for judgement in judgements {
            let line = format!("{}: {} ({})", word(judgement.outcome), judgement.text, why(judgement));
            lines.extend(wrap_indented(&line, look.width, 2));
        }
        lines.extend(wrap(&what_would_help(told, judgements), look.width, 0));
    }
    lines.extend(match (brief, seen) {
        (true, true) => wrap(&by_hand(told), look.width, 2),
        // What would help is said; a screen has room for one next step.
        (true, false) => Vec::new(),
        (false, _) => next(told),
    });
    lines.join("\n") + "\n"
}

fn flipped(told: &Told, brief: bool) -> String {
    let Pair { alternative, baseline } = told.pair;
    let copies = told.copies;
    let flipped =
        format!("The order flipped: {alternative} wins alone, {baseline} wins with {copies} copies at once.");
    if brief {
        return flipped;
    }
    format!(
        "{flipped} The lines that begin with \"alone:\" and \"at {copies} copies:\" say what each of them had more of."
    )
}

/// What to run next, in two or three lines.
fn by_hand(told: &Told) -> String {
    format!(
        "The same by hand: 'seq {} > {}', then 'whyfaster compare --load auto' with both commands; the article behind it: 'whyfaster study \
         pipes'.",
        told.numbers, told.file
    )
}

fn what_would_help(told: &Told, judgements: &[Judgement]) -> String {
    if told.cpus < 2.0 {
        return "Two stages of a pipeline can run side by side only where there are two CPUs, and whyfaster may use fewer here."
            .to_owned();
    }
    if judgements.iter().any(|judgement| judgement.outcome == Outcome::DoesNotHold) {
        return "On this machine, now, the pair behaves otherwise. The report above is what was measured."
            .to_owned();
    }
    format!(
        "More rounds narrow the intervals: whyfaster demo --max-time {:.0}s. 'whyfaster doctor' says what disturbs \
         measurements here.",
        told.max_time_s * 3.0
    )
}

/// Commands, which are not broken into lines: they are there to be copied.
fn next(told: &Told) -> Vec<String> {
    let [one, piped] = &told.commands;
    vec![
        String::new(),
        "The same by hand, with the load at which the order flips:".to_owned(),
        format!("  seq {} > {}", told.numbers, told.file),
        format!("  whyfaster compare --load auto \"{one}\" \\\n    \"{piped}\""),
        "Then try your own commands. 'whyfaster trace COMMAND' says where the time of one of".to_owned(),
        "them goes; 'whyfaster study pipes' repeats the article that such a pair comes from.".to_owned(),
    ]
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "seen",
        Outcome::DoesNotHold => "not so",
        Outcome::Undecided => "undecided",
        Outcome::NotAsked => "not asked",
    }
}
