//! Progress on standard error, drawn only when the runner says something, which it does between batches.
//!
//! There is no thread and no tick: anything that woke up while a batch is being timed would be in the measurement.
//! During a long batch nothing moves, so the text says how long the batch is expected to take.

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use whyfaster_core::event::Event;
use whyfaster_core::sample::Arm;

use super::look::Look;
use super::text::{Names, for_look};
use super::units::duration;

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
    /// `names` are those of the plan's alternatives.
    pub fn new(look: &Look, names: &[String], terminal: bool, enabled: bool) -> Self {
        let sink = match (enabled && !look.quiet, terminal && look.interactive) {
            (false, _) => Sink::Silent,
            (true, false) => Sink::Plain(Box::new(io::stderr())),
            (true, true) => Sink::Bar(bar(look)),
        };
        Self::with_sink(look, names, sink)
    }

    fn with_sink(look: &Look, names: &[String], sink: Sink) -> Self {
        let names = Names::new(names.iter().map(String::as_str), 24, look);
        Self { sink, look: look.clone(), names, begun: Instant::now(), shown: None, level: String::new() }
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
                    Event::LevelSkipped { .. } => bar.println(format!("whyfaster: {text}")),
                    Event::Batch { done, .. } => {
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
            Event::Account { load, alternative } => {
                format!(
                    "load {load}: one untimed run of {} for the scheduling account",
                    self.alternative(*alternative)
                )
            }
            Event::LevelSkipped { load, why } => {
                format!("load {load} is not measured: {}", for_look(why, &self.look))
            }
            Event::LevelEnd { load, rounds } => format!("load {load} done, {rounds} rounds"),
            Event::Finished => return None,
        })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

fn bar(look: &Look) -> ProgressBar {
    let target = ProgressDrawTarget::stderr();
    let bar = ProgressBar::with_draw_target(Some(BAR_STEPS), target);
    let template =
        if look.width < 60 { "{percent:>3}% {wide_msg}" } else { "{bar:16} {percent:>3}% {wide_msg}" };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars(if look.unicode { "█▉▊▋▌▍▎▏ " } else { "#- " }));
    bar
}
