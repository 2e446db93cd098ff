//! How far a run over many machines is, and what `doctor` found on them.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use whyfaster_core::fleet::visit::Tally;
use whyfaster_host::{Finding, Mark};
use whyfaster_words::exit::say;
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;
use whyfaster_words::text::{for_look, wrap_indented};
use whyfaster_words::visit;

/// A line that moves on a terminal; elsewhere a line for each machine that ends.
#[derive(Debug)]
pub struct Visits {
    bar: Option<ProgressBar>,
}

impl Visits {
    /// On a terminal, or elsewhere.
    pub fn new(terminal: bool, look: &Look) -> Self {
        let bar = (terminal && !look.quiet).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{msg}  {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_secs(1));
            bar
        });
        Self { bar }
    }

    /// How many machines are where.
    pub fn count(&self, tally: Tally) {
        if let Some(bar) = &self.bar {
            bar.set_message(visit::tally(tally));
        }
    }

    /// Something to be told.
    pub fn tell(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(line)),
            None => say(line),
        }
    }

    /// The line is gone.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The findings of all machines that are worth a note, the worst first, each with the machines that have it.
pub fn doctors(found: &[(String, Vec<Finding>)], look: &Look) -> String {
    let mut by_finding: BTreeMap<(Mark, &str, &str, &str), Vec<&str>> = BTreeMap::new();
    for (machine, findings) in found {
        for it in findings.iter().filter(|it| it.mark != Mark::Ok) {
            let remedy = it.remedy.as_deref().unwrap_or_default();
            by_finding.entry((it.mark, &it.name, &it.value, remedy)).or_default().push(machine);
        }
    }
    let mut text = format!("{} examined\n", count(found.len() as u64, "machine", "machines"));
    for ((mark, name, value, remedy), machines) in by_finding.iter().rev() {
        let mark = if *mark == Mark::Problem { "problem" } else { "note" };
        let machines = machines.join(", ");
        let what = for_look(&format!("{mark}: {name}: {value} ({machines})"), look);
        let lines = wrap_indented(&what, look.width, 2).into_iter();
        let remedy = Some(for_look(remedy, look)).filter(|it| !it.is_empty());
        let remedy = remedy.map(|it| wrap_indented(&it, look.width, 4)).unwrap_or_default();
        for line in lines.chain(remedy) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}
