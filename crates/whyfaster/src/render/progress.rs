//! Progress on standard error, drawn only when the runner says something, which it does between batches.
//!
//! There is no thread and no tick: anything that woke up while a batch is being timed would be in the measurement.
//! During a long batch nothing moves, so the text says how long the batch is expected to take.

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use whyfaster_core::event::Event;
use whyfaster_core::plan::Alternative;
use whyfaster_core::sample::Arm;

use super::look::Look;
use super::names::Names;
use super::text::for_look;
use super::units::{duration, rounds};
use crate::display::Detail;
use crate::words;

/// Least time between two plain lines.
const PLAIN_PAUSE: Duration = Duration::from_secs(2);
/// Least time between two drawings of the bar; also what a short batch may cost in writes to the terminal.
const BAR_PAUSE: Duration = Duration::from_millis(100);
/// A batch longer than this is announced with its expected time.
const LONG_BATCH_S: f64 = 2.0;
const BAR_STEPS: u64 = 1000;

/// Tells how far the measurement is.
pub struct Progress {
    sink: Sink,
    look: Look,
    alternatives: Vec<Alternative>,
    names: Names,
    begun: Instant,
    /// When something was last shown, since `begun`.
    shown: Option<Duration>,
    level: String,
}

enum Sink {
    Silent,
    Plain(Box<dyn Write>),
    Bar(ProgressBar),
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("look", &self.look)
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

impl Progress {
    /// Progress on standard error: a bar on a terminal, plain lines elsewhere, nothing if not `enabled`.
    /// The alternatives are those of the plan.
    pub fn new(look: &Look, alternatives: &[Alternative], terminal: bool, enabled: bool) -> Self {
        let sink =
            match (enabled && !look.quiet && look.detail > Detail::Sentence, terminal && look.interactive) {
                (false, _) => Sink::Silent,
                (true, false) => Sink::Plain(Box::new(io::stderr())),
                (true, true) => Sink::Bar(bar(look, ProgressDrawTarget::stderr())),
            };
        Self::with_sink(look, alternatives, sink)
    }

    fn with_sink(look: &Look, alternatives: &[Alternative], sink: Sink) -> Self {
        Self {
            sink,
            look: look.clone(),
            alternatives: alternatives.to_vec(),
            names: Names::of(alternatives, look),
            begun: Instant::now(),
            shown: None,
            level: String::new(),
        }
    }

    /// Something happened.
    pub fn on(&mut self, event: &Event) {
        self.on_at(event, self.begun.elapsed());
    }

    /// Takes the bar away. Dropping does the same.
    pub fn finish(&mut self) {
        if let Sink::Bar(bar) = &self.sink {
            bar.finish_and_clear();
        }
        self.sink = Sink::Silent;
    }

    fn on_at(&mut self, event: &Event, now: Duration) {
        if let Event::LevelBegin { load, index, of } = event {
            self.level = format!("load {load}, level {index} of {of}");
        }
        if matches!(event, Event::Finished) {
            return self.finish();
        }
        let Some(text) = self.text(event) else { return };
        let milestone = matches!(
            event,
            Event::LevelBegin { .. }
                | Event::LevelEnd { .. }
                | Event::LevelSkipped { .. }
                | Event::Account { .. }
                | Event::Predicted { .. }
        );
        // A long batch is always announced: nothing else can be shown until it is over.
        let long = matches!(event, Event::Batch { batch_s, .. } if *batch_s >= LONG_BATCH_S);
        let rested = |pause: Duration| self.shown.is_none_or(|shown| now.saturating_sub(shown) >= pause);
        match &mut self.sink {
            Sink::Silent => {}
            Sink::Plain(out) if milestone || rested(PLAIN_PAUSE) => {
                // Progress that cannot be written must not end a measurement.
                let _ = writeln!(out, "whyfaster: {text}").and_then(|()| out.flush());
                // A level's own line does not use up the turn of the first batch's.
                if !milestone {
                    self.shown = Some(now);
                }
            }
            Sink::Bar(bar) if milestone || long || rested(BAR_PAUSE) => {
                match event {
                    Event::LevelSkipped { .. } | Event::Predicted { .. } => {
                        bar.println(format!("whyfaster: {text}"))
                    }
                    Event::Batch { done, .. } | Event::Price { done, .. } => {
                        bar.set_position((done.clamp(0.0, 1.0) * BAR_STEPS as f64) as u64);
                        bar.set_message(text);
                    }
                    _ => bar.set_message(text),
                }
                // Without force, what comes right before a long batch could fall to indicatif's own rate limit.
                bar.force_draw();
                self.shown = Some(now);
            }
            Sink::Plain(_) | Sink::Bar(_) => {}
        }
    }

    fn name(&self, arm: Arm) -> String {
        match arm {
            Arm::Alternative(index) => self.alternative(index),
            Arm::HiddenCopy => "the baseline again, for the noise floor".to_owned(),
        }
    }

    fn alternative(&self, index: usize) -> String {
        self.names.at(index).unwrap_or_else(|| format!("alternative {}", index + 1))
    }

    fn text(&self, event: &Event) -> Option<String> {
        let level = &self.level;
        let bar = matches!(self.sink, Sink::Bar(_));
        Some(match event {
            Event::Trial(index) => format!("trying {} once, untimed", self.alternative(*index)),
            Event::Hook(hook, index) => format!("{hook} of {}", self.alternative(*index)),
            Event::Warmup(index) => format!("warming up {}", self.alternative(*index)),
            Event::LevelBegin { .. } => level.clone(),
            Event::Batch { round, rounds, arm, batch_s, left_s, done, .. } => {
                let long = if *batch_s >= LONG_BATCH_S {
                    format!(" (takes about {})", duration(*batch_s))
                } else {
                    String::new()
                };
                let percent =
                    if bar { String::new() } else { format!("{:.0}% done, ", done.clamp(0.0, 1.0) * 100.0) };
                let left = duration(*left_s);
                let of = (*rounds).max(*round);
                format!("{percent}{left} left: {level}, round {round} of {of}, {}{long}", self.name(*arm))
            }
            Event::Price { row, repetition, of, left_s, done } => {
                let percent =
                    if bar { String::new() } else { format!("{:.0}% done, ", done.clamp(0.0, 1.0) * 100.0) };
                let left = duration(*left_s);
                format!(
                    "{percent}{left} left: repetition {repetition} of at most {of}, {}",
                    for_look(row, &self.look)
                )
            }
            Event::Duet { alternative, round, rounds } => format!(
                "CPU time of {} and the baseline, both at once on one CPU: {round} of {rounds}",
                self.alternative(*alternative)
            ),
            Event::Account { load, alternative } => format!(
                "load {load}: one untimed run of {} for the scheduling account",
                self.alternative(*alternative)
            ),
            Event::Traced { round, rounds, alternative, left_s } => format!(
                "{} left: why they differ: round {round} of {rounds}, {} observed",
                duration(*left_s),
                self.alternative(*alternative)
            ),
            Event::TracedBatch { load, alternative, left_s } => format!(
                "{} left: what grows with load: {load} copies of {} observed",
                duration(*left_s),
                self.alternative(*alternative)
            ),
            Event::Predicted { number, of, planned } => {
                for_look(&words::why::announced(&self.alternatives, planned, (*number, *of)), &self.look)
            }
            Event::Experiment { number, of, round, rounds } => {
                format!("experiment {number} of {of}, round {round} of {rounds}")
            }
            Event::LevelSkipped { load, why } => {
                let why = for_look(&words::missing::reason(why), &self.look);
                format!("load {load} is not measured: {why}")
            }
            Event::LevelEnd { load, rounds: ran } => format!("load {load} done, {}", rounds(*ran)),
            Event::Finished => return None,
        })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

fn bar(look: &Look, target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(BAR_STEPS), target);
    let template =
        if look.width < 60 { "{percent:>3}% {wide_msg}" } else { "{bar:16} {percent:>3}% {wide_msg}" };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars(if look.unicode { "█▉▊▋▌▍▎▏ " } else { "#- " }));
    bar
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;
    use crate::render::fixture::look;

    #[derive(Clone, Default)]
    struct Written(Rc<RefCell<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Written {
        fn text(&self) -> String {
            String::from_utf8(self.0.borrow().clone()).unwrap()
        }
    }

    fn plain() -> (Progress, Written) {
        let written = Written::default();
        let names = ["no-pipe", "use-pipe"].map(Alternative::new);
        let sink = Sink::Plain(Box::new(written.clone()));
        (Progress::with_sink(&look(80, false), &names, sink), written)
    }

    fn batch(round: u32, arm: Arm, batch_s: f64) -> Event {
        Event::Batch { load: 10, round, rounds: 30, arm, batch_s, left_s: 80.0, done: 0.41 }
    }

    #[test]
    fn plain_lines_are_rare_and_complete() {
        let (mut progress, written) = plain();
        let seconds = Duration::from_secs_f64;
        progress.on_at(&Event::LevelBegin { load: 10, index: 2, of: 3 }, seconds(0.0));
        for round in 1..=40 {
            progress.on_at(&batch(round, Arm::Alternative(1), 0.1), seconds(f64::from(round) * 0.1));
        }
        progress.on_at(&Event::LevelEnd { load: 10, rounds: 40 }, seconds(4.05));
        progress.on_at(&Event::Finished, seconds(4.1));
        assert_eq!(
            written.text(),
            "whyfaster: load 10, level 2 of 3\n\
             whyfaster: 41% done, 1 min 20 s left: load 10, level 2 of 3, round 1 of 30, use-pipe\n\
             whyfaster: 41% done, 1 min 20 s left: load 10, level 2 of 3, round 21 of 30, use-pipe\n\
             whyfaster: load 10 done, 40 rounds\n"
        );
    }

    #[test]
    fn a_long_batch_says_how_long() {
        let (mut progress, written) = plain();
        progress.on_at(&batch(1, Arm::HiddenCopy, 75.0), Duration::ZERO);
        let text = written.text();
        assert!(
            text.ends_with("the baseline again, for the noise floor (takes about 1 min 15 s)\n"),
            "{text}"
        );
    }

    #[test]
    fn a_skipped_level_is_told_at_once_and_safely() {
        let (mut progress, written) = plain();
        progress.on_at(&batch(1, Arm::Alternative(0), 0.1), Duration::ZERO);
        let why = "pids.max\x1b[2J is 100".to_owned().into();
        progress.on_at(&Event::LevelSkipped { load: 1000, why }, Duration::from_millis(1));
        assert!(written.text().ends_with("whyfaster: load 1000 is not measured: pids.max[2J is 100\n"));
    }

    #[test]
    fn nothing_is_said_when_not_enabled_or_after_the_end() {
        let mut progress = Progress::new(&look(80, true), &[], true, false);
        assert!(matches!(progress.sink, Sink::Silent));
        progress.on(&Event::Trial(7));
        let (mut progress, written) = plain();
        progress.finish();
        progress.on(&Event::Trial(0));
        assert_eq!(written.text(), "");
    }

    #[test]
    fn the_bar_is_drawn_for_events_only_and_cleared_at_the_end() {
        let terminal = indicatif::InMemoryTerm::new(4, 100);
        let bar = bar(&look(100, false), ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        let mut progress = Progress::with_sink(&look(100, false), &[Alternative::new("a")], Sink::Bar(bar));
        assert_eq!(terminal.contents(), "");
        progress.on_at(&batch(3, Arm::Alternative(0), 12.0), Duration::ZERO);
        let shown = terminal.contents();
        assert!(shown.starts_with("######"), "{shown}");
        assert!(shown.contains(" 41% 1 min 20 s left"), "{shown}");
        assert!(shown.contains("round 3 of 30, a (takes about 12 s)"), "{shown}");
        progress.on_at(&batch(4, Arm::Alternative(0), 0.01), Duration::from_millis(5));
        assert_eq!(terminal.contents(), shown, "too soon to draw again");
        drop(progress);
        assert_eq!(terminal.contents(), "");
    }
}
