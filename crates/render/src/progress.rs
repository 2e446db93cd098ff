//! Progress on standard error, drawn only when the runner says something, which it does between batches.
//!
//! There is no thread and no tick: anything that woke up while a batch is being timed would be in the measurement.
//! During a long batch nothing moves, so the text says how long the batch is expected to take.

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use whyfaster_core::course::Course;
use whyfaster_core::event::{Event, SoFar};
use whyfaster_core::plan::{Alternative, Plan};
use whyfaster_core::sample::Arm;
use whyfaster_core::verdict::Verdict;
use whyfaster_words as words;
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;
use whyfaster_words::text::for_look;
use whyfaster_words::units::{duration, supported};

use super::names::Names;

/// Least time between two plain lines.
const PLAIN_PAUSE: Duration = Duration::from_secs(10);
/// Least time between two drawings of the bar; also what a short batch may cost in writes to the terminal.
const BAR_PAUSE: Duration = Duration::from_millis(100);
/// A batch longer than this is announced with its expected time.
const LONG_BATCH_S: f64 = 2.0;
/// Whole percents: a share is never rounded up to one that is not reached.
const BAR_STEPS: u64 = 100;
/// From this width on there is a bar beside the words.
const WITH_BAR: usize = 80;

/// Tells how far the measurement is.
pub struct Progress {
    sink: Sink,
    look: Look,
    alternatives: Vec<Alternative>,
    baseline: usize,
    names: Names,
    begun: Instant,
    /// The time that was asked for, seconds: nothing begins that would end after it.
    most_s: Option<f64>,
    /// When something was last shown, since `begun`.
    shown: Option<Duration>,
    course: Course,
    /// Whether there are several levels.
    levels: bool,
    /// The load of the last batch, and the latest of its rounds: those of a block are mixed.
    round: (u32, u32),
    /// What the rounds say, and at which load.
    so_far: (u32, Vec<SoFar>),
    /// Whether what the rounds say can still change.
    open: bool,
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
            .field("course", &self.course)
            .finish_non_exhaustive()
    }
}

impl Progress {
    /// Progress on standard error: a bar on a terminal, plain lines elsewhere, nothing if not `enabled`. Without a plan no
    /// alternatives are measured.
    pub fn new(look: &Look, plan: Option<&Plan>, terminal: bool, enabled: bool) -> Self {
        let sink =
            match (enabled && !look.quiet && look.detail > Detail::Sentence, terminal && look.interactive) {
                (false, _) => Sink::Silent,
                (true, false) => Sink::Plain(Box::new(io::stderr())),
                (true, true) => Sink::Bar(bar(look, ProgressDrawTarget::stderr())),
            };
        Self::with_sink(look, plan, sink)
    }

    /// The same for one of several measurements that follow one another; the first has the number 0.
    #[must_use]
    pub fn part(mut self, number: usize, of: usize) -> Self {
        self.course = Course::part(number, of);
        self
    }

    /// The same for what mostly takes seconds: a file has no line before the first pause is over.
    #[must_use]
    pub fn patient(mut self) -> Self {
        if let Sink::Plain(_) = self.sink {
            self.shown = Some(Duration::ZERO);
        }
        self
    }

    /// Lets something else be said, with the line out of its way.
    pub fn aside(&self, say: impl FnOnce()) {
        match &self.sink {
            Sink::Bar(bar) => bar.suspend(say),
            _ => say(),
        }
    }

    fn with_sink(look: &Look, plan: Option<&Plan>, sink: Sink) -> Self {
        let alternatives = plan.map(|plan| plan.alternatives.clone()).unwrap_or_default();
        Self {
            sink,
            look: look.clone(),
            names: Names::of(&alternatives, look),
            alternatives,
            baseline: plan.map_or(0, |plan| plan.baseline),
            begun: Instant::now(),
            most_s: plan.map(|plan| &plan.rounds).filter(|it| it.max_time_hard).map(|it| it.max_time_s),
            shown: None,
            course: Course::default(),
            levels: plan.is_some_and(|plan| !plan.loads.is_one_copy()),
            round: (0, 0),
            so_far: (1, Vec::new()),
            open: false,
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
        match event {
            Event::LevelBegin { of, .. } => self.levels = *of > 1,
            Event::Batch { load, round, .. } => {
                let latest = if self.round.0 == *load { self.round.1 } else { 0 };
                self.round = (*load, latest.max(*round));
            }
            // It is drawn with what comes next.
            Event::SoFar { load, standings } => {
                (self.so_far, self.open) = ((*load, standings.clone()), true);
                return;
            }
            Event::LevelEnd { .. } => self.open = false,
            Event::Finished => return self.finish(),
            _ => {}
        }
        let most_s = self.most_s.map_or(f64::INFINITY, |most_s| (most_s - now.as_secs_f64()).max(0.0));
        let left_s = left_s(event).map(|left_s| left_s.min(most_s));
        let share = match left_s {
            Some(left_s) => self.course.advance(now.as_secs_f64(), left_s),
            None => self.course.share(),
        };
        // What is said once and not drawn over: it is no part of the line that moves.
        if let Some(text) = self.said(event) {
            match &mut self.sink {
                Sink::Silent => {}
                // Progress that cannot be written must not end a measurement.
                Sink::Plain(out) => {
                    let _ = writeln!(out, "whyfaster: {text}").and_then(|()| out.flush());
                }
                Sink::Bar(bar) => bar.println(format!("whyfaster: {text}")),
            }
            return;
        }
        // A long batch is always announced: nothing else can be shown until it is over.
        let long = matches!(event, Event::Batch { batch_s, .. } if *batch_s >= LONG_BATCH_S);
        let rested = |pause: Duration| self.shown.is_none_or(|shown| now.saturating_sub(shown) >= pause);
        let due = match &self.sink {
            Sink::Silent => false,
            Sink::Plain(_) => rested(PLAIN_PAUSE),
            Sink::Bar(_) => long || rested(BAR_PAUSE),
        };
        if !due {
            return;
        }
        let Some(text) = self.line(event, left_s) else { return };
        self.shown = Some(now);
        match &mut self.sink {
            Sink::Silent => {}
            Sink::Plain(out) => {
                let percent = (share * 100.0).floor();
                let _ = writeln!(out, "whyfaster: {percent:.0}% done, {text}").and_then(|()| out.flush());
            }
            Sink::Bar(bar) => {
                bar.set_position((share * BAR_STEPS as f64) as u64);
                bar.set_message(text);
                // Without force, what comes right before a long batch could fall to indicatif's own rate limit.
                bar.force_draw();
            }
        }
    }

    /// What the line says behind the part that is done: what matters most comes first, for a narrow terminal cuts the end.
    fn line(&self, event: &Event, left_s: Option<f64>) -> Option<String> {
        let doing = self.doing(event)?;
        let left = left_s.map(|left_s| format!("{} left", duration(left_s)));
        let words = [left, self.answer(), Some(doing)];
        Some(words.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }

    /// What the rounds say: "B 1.2x faster so far".
    fn answer(&self) -> Option<String> {
        let (load, standings) = &self.so_far;
        if standings.is_empty() {
            return None;
        }
        let baseline = self.alternative(self.baseline);
        let factor = |ratio: f64| format!("{}x", supported(ratio.max(ratio.recip()), None, None));
        let told = |it: &SoFar| match (it.verdict, it.ratio) {
            (Verdict::Faster, Some(ratio)) => {
                Some(format!("{} {} faster", self.alternative(it.alternative), factor(ratio)))
            }
            (Verdict::Slower, Some(ratio)) => Some(format!("{baseline} {} faster", factor(ratio))),
            (Verdict::Same, _) => {
                Some(format!("{baseline} and {} the same", self.alternative(it.alternative)))
            }
            _ => None,
        };
        let what = match standings.as_slice() {
            [only] => told(only),
            many => {
                let known = many.iter().filter(|it| it.verdict == Verdict::Faster);
                let first = known.min_by(|a, b| a.ratio.unwrap_or(1.0).total_cmp(&b.ratio.unwrap_or(1.0)));
                let beaten = many.iter().all(|it| it.verdict == Verdict::Slower);
                let best = beaten.then(|| format!("{baseline} fastest"));
                first.and_then(told).map(|text| format!("{text} than {baseline}")).or(best)
            }
        };
        let what = what.unwrap_or_else(|| "undecided".to_owned());
        let so_far = if self.open { " so far" } else { "" };
        Some(match (load, self.levels) {
            (0, _) | (_, false) => format!("{what}{so_far}"),
            (1, true) => format!("alone {what}{so_far}"),
            (load, true) => format!("{load} at once: {what}{so_far}"),
        })
    }

    fn name(&self, arm: Arm) -> String {
        match arm {
            Arm::Alternative(index) => self.alternative(index),
            Arm::HiddenCopy => format!("{} again, for the noise", self.alternative(self.baseline)),
        }
    }

    fn alternative(&self, index: usize) -> String {
        match self.names.at(index) {
            // A command line is no word.
            Some(name) if name.contains(char::is_whitespace) => format!("'{name}'"),
            Some(name) => name,
            None => format!("alternative {}", index + 1),
        }
    }

    /// What stands for itself.
    fn said(&self, event: &Event) -> Option<String> {
        match event {
            Event::Predicted { number, of, planned } => {
                let text = words::why::announced(&self.alternatives, planned, (*number, *of));
                Some(for_look(&text, &self.look))
            }
            Event::TooLittleTime { needed_s, left_s, enough_s } => Some(format!(
                "a verdict takes about {} of rounds, and --max-time leaves {}: there will be a less sure estimate, if any; --max-time {enough_s} would do{}",
                duration(*needed_s),
                duration(*left_s),
                if self.levels { " at the lowest load" } else { "" }
            )),
            Event::LevelSkipped { load, why } => {
                let why = for_look(&words::missing::reason(why), &self.look);
                Some(format!("load {load} is not measured: {why}"))
            }
            _ => None,
        }
    }

    /// What is being done.
    fn doing(&self, event: &Event) -> Option<String> {
        let copies = |load: u32| match load {
            0 | 1 => String::new(),
            load => format!("{load} copies of "),
        };
        Some(match event {
            Event::Trial(index) => format!("trying {} once, untimed", self.alternative(*index)),
            Event::Hook(hook, index) => format!("{hook} of {}", self.alternative(*index)),
            Event::Warmup(index) => format!("warming up {}", self.alternative(*index)),
            Event::LevelBegin { load: 0, .. } => "timing".to_owned(),
            Event::LevelBegin { load: 1, .. } => "timing one copy".to_owned(),
            Event::LevelBegin { load, .. } => format!("timing {load} copies at once"),
            Event::Batch { load, rounds, arm, batch_s, .. } => {
                let round = self.round.1;
                let long = if *batch_s >= LONG_BATCH_S {
                    format!(" (takes about {})", duration(*batch_s))
                } else {
                    String::new()
                };
                let of = (*rounds).max(round);
                format!("round {round} of {of}: timing {}{}{long}", copies(*load), self.name(*arm))
            }
            Event::Price { row, repetition, of, .. } => {
                format!("repetition {repetition} of at most {of}: {}", for_look(row, &self.look))
            }
            Event::Duet { alternative, round, rounds } => format!(
                "CPU time of {} and {} at once: {round} of {rounds}",
                self.alternative(*alternative),
                self.alternative(self.baseline)
            ),
            Event::Account { load, alternative } => {
                format!(
                    "how long the tasks of {}{} wait for a CPU",
                    copies(*load),
                    self.alternative(*alternative)
                )
            }
            Event::Traced { round, rounds, alternative, .. } => {
                format!("why: observing {}, {round} of {rounds}", self.alternative(*alternative))
            }
            Event::TracedBatch { load, alternative, .. } => {
                format!("why: observing {}{}", copies(*load), self.alternative(*alternative))
            }
            Event::Experiment { number, of, round, rounds, .. } => {
                format!("why: experiment {number} of {of}, round {round} of {rounds}")
            }
            Event::Observing { passed_s, .. } => format!("observing for {}", duration(*passed_s)),
            Event::Untraced { run, runs, .. } => {
                format!("untraced run {run} of {runs}, to see what tracing cost")
            }
            Event::LevelEnd { .. }
            | Event::LevelSkipped { .. }
            | Event::TooLittleTime { .. }
            | Event::Predicted { .. }
            | Event::SoFar { .. }
            | Event::Finished => return None,
        })
    }
}

/// Seconds until the end of all, where that is known.
fn left_s(event: &Event) -> Option<f64> {
    match event {
        Event::Batch { left_s, .. }
        | Event::Traced { left_s, .. }
        | Event::TracedBatch { left_s, .. }
        | Event::Experiment { left_s, .. }
        | Event::Untraced { left_s, .. }
        | Event::Price { left_s, .. } => Some(*left_s),
        Event::Observing { left_s, .. } => *left_s,
        _ => None,
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
        if look.width < WITH_BAR { "{percent:>3}% {wide_msg}" } else { "{bar:16} {percent:>3}% {wide_msg}" };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars(if look.unicode { "█▉▊▋▌▍▎▏ " } else { "#- " }));
    bar
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;
    use crate::fixture::look;

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

    fn of(names: &[&str], sink: Sink) -> Progress {
        let plan = Plan::new(names.iter().map(|name| Alternative::new(*name)).collect(), 1);
        Progress::with_sink(&look(100, false), Some(&plan), sink)
    }

    fn plain() -> (Progress, Written) {
        let written = Written::default();
        (of(&["no-pipe", "use-pipe"], Sink::Plain(Box::new(written.clone()))), written)
    }

    fn batch(round: u32, arm: Arm, batch_s: f64) -> Event {
        Event::Batch { load: 10, round, rounds: 30, arm, batch_s, left_s: 80.0 }
    }

    fn so_far(ratio: f64, verdict: Verdict) -> Event {
        let standings = vec![SoFar { alternative: 1, ratio: Some(ratio), verdict }];
        Event::SoFar { load: 10, standings }
    }

    #[test]
    fn plain_lines_are_rare_and_complete() {
        let (mut progress, written) = plain();
        let seconds = Duration::from_secs_f64;
        progress.on_at(&Event::LevelBegin { load: 10, index: 2, of: 3 }, seconds(0.0));
        for round in 1..=40 {
            progress.on_at(&batch(round, Arm::Alternative(1), 0.1), seconds(f64::from(round) * 0.5));
            progress.on_at(&so_far(0.83, Verdict::Faster), seconds(f64::from(round) * 0.5));
        }
        progress.on_at(&Event::LevelEnd { load: 10, rounds: 40 }, seconds(20.0));
        progress.on_at(&Event::Finished, seconds(20.1));
        let answer = "10 at once: use-pipe 1.2x faster so far";
        let doing = "timing 10 copies of use-pipe";
        assert_eq!(
            written.text(),
            format!(
                "whyfaster: 0% done, timing 10 copies at once\n\
                 whyfaster: 11% done, 1 min 20 s left; {answer}; round 20 of 30: {doing}\n\
                 whyfaster: 22% done, 1 min 20 s left; {answer}; round 40 of 40: {doing}\n"
            )
        );
    }

    #[test]
    fn no_more_is_left_than_was_asked_for() {
        let (mut progress, written) = plain();
        progress.most_s = Some(30.0);
        for seconds in [10, 29, 45] {
            progress.on_at(&batch(seconds, Arm::Alternative(1), 0.1), Duration::from_secs(seconds.into()));
        }
        let text = written.text();
        let left: Vec<&str> = text.lines().map(|line| line.split([',', ';']).nth(1).unwrap()).collect();
        assert_eq!(left, [" 20 s left", " 1.0 s left", " 0 s left"], "{text}");
    }

    #[test]
    fn a_long_batch_says_how_long() {
        let (mut progress, written) = plain();
        progress.on_at(&batch(1, Arm::HiddenCopy, 75.0), Duration::ZERO);
        let text = written.text();
        assert!(text.ends_with("no-pipe again, for the noise (takes about 1 min 15 s)\n"), "{text}");
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
    fn too_little_time_is_told_before_it_is_spent() {
        let (mut progress, written) = plain();
        progress.on(&Event::TooLittleTime { needed_s: 9.0, left_s: 2.5, enough_s: 12.0 });
        let text = written.text();
        assert!(
            text.contains("a verdict takes about 9.0 s of rounds, and --max-time leaves 2.5 s"),
            "{text}"
        );
        assert!(text.trim_end().ends_with("--max-time 12 would do"), "{text}");
    }

    #[test]
    fn nothing_is_said_when_not_enabled_or_after_the_end() {
        let mut progress = Progress::new(&look(80, true), None, true, false);
        assert!(matches!(progress.sink, Sink::Silent));
        progress.on(&Event::Trial(7));
        let (mut progress, written) = plain();
        progress.finish();
        progress.on(&Event::Trial(0));
        assert_eq!(written.text(), "");
    }

    #[test]
    fn the_provisional_answer_says_only_what_the_rounds_say() {
        let (mut progress, _) = plain();
        assert_eq!(progress.answer(), None);
        let mut answer = |event| {
            progress.on_at(&event, Duration::ZERO);
            progress.answer().unwrap()
        };
        let first = Event::LevelBegin { load: 10, index: 1, of: 2 };
        assert_eq!(answer(so_far(0.83, Verdict::Undecided)), "undecided so far");
        assert_eq!(answer(so_far(1.0, Verdict::Same)), "no-pipe and use-pipe the same so far");
        assert_eq!(answer(so_far(2.0, Verdict::Slower)), "no-pipe 2.0x faster so far");
        assert_eq!(answer(Event::LevelEnd { load: 10, rounds: 7 }), "no-pipe 2.0x faster");
        assert_eq!(answer(first), "10 at once: no-pipe 2.0x faster");
        let mut progress = of(&["a", "b", "c"], Sink::Silent);
        let mut answer = |b, c| {
            let one = |(alternative, (ratio, verdict))| SoFar { alternative, ratio: Some(ratio), verdict };
            let standings = vec![one((1, b)), one((2, c))];
            progress.on_at(&Event::SoFar { load: 1, standings }, Duration::ZERO);
            progress.answer().unwrap()
        };
        let (slower, faster) = ((1.5, Verdict::Slower), (0.5, Verdict::Faster));
        assert_eq!(answer(slower, faster), "c 2.0x faster than a so far");
        assert_eq!(answer(slower, slower), "a fastest so far");
        assert_eq!(answer(slower, (1.0, Verdict::Undecided)), "undecided so far");
    }

    #[test]
    fn the_bar_is_drawn_for_events_only_and_cleared_at_the_end() {
        let terminal = indicatif::InMemoryTerm::new(4, 120);
        let bar = bar(&look(120, false), ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        let mut progress = of(&["a"], Sink::Bar(bar)).part(1, 2);
        assert_eq!(terminal.contents(), "");
        progress.on_at(&batch(3, Arm::Alternative(0), 12.0), Duration::from_secs(20));
        let shown = terminal.contents();
        assert!(shown.starts_with("#########"), "{shown}");
        assert!(shown.contains(" 60% 1 min 20 s left; round 3 of 30"), "{shown}");
        assert!(shown.ends_with("timing 10 copies of a (takes about 12 s)"), "{shown}");
        progress.on_at(&batch(4, Arm::Alternative(0), 0.01), Duration::from_millis(20_005));
        assert_eq!(terminal.contents(), shown, "too soon to draw again");
        drop(progress);
        assert_eq!(terminal.contents(), "");
    }
}
