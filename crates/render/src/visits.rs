//! How far a run over many machines is, and what `doctor` found on them.

use std::collections::{BTreeMap, BTreeSet};
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

/// Values and machines that are named of a finding.
const VALUES: usize = 3;
const MACHINES: usize = 6;

/// The first of these, and how many there are besides.
fn some(all: &[&str], most: usize) -> String {
    let named = all[..all.len().min(most)].join(", ");
    match all.len().saturating_sub(most) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// The findings of all machines that are worth a note, the worst first, each with what was seen and on which machines.
pub fn doctors(found: &[(String, Vec<Finding>)], look: &Look) -> String {
    let mut by_finding: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (machine, findings) in found {
        for it in findings.iter().filter(|it| it.mark != Mark::Ok) {
            let remedy = it.remedy.as_deref().unwrap_or_default();
            let seen = (machine.as_str(), it.value.as_str());
            by_finding.entry((it.mark, it.name.as_str(), remedy)).or_default().push(seen);
        }
    }
    let mut text = format!("{} examined\n", count(found.len() as u64, "machine", "machines"));
    for ((mark, name, remedy), found) in by_finding.iter().rev() {
        let mark = if *mark == Mark::Problem { "problem" } else { "note" };
        let machines: Vec<&str> = found.iter().map(|(machine, _)| *machine).collect();
        let values: BTreeSet<&str> = found.iter().map(|(_, value)| *value).collect();
        let values = some(&Vec::from_iter(values), VALUES);
        let what = for_look(&format!("{mark}: {name}: {values} ({})", some(&machines, MACHINES)), look);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::look;

    #[test]
    fn of_many_machines_few_are_named() {
        let finding = |at: usize| Finding {
            name: "load".to_owned(),
            value: format!("0.{at}"),
            mark: Mark::Note,
            remedy: Some("Stop what else runs.".to_owned()),
        };
        let found: Vec<_> = (1..=9).map(|at| (format!("m{at}"), vec![finding(at)])).collect();
        let text = doctors(&found, &look(120, false));
        let line = "  note: load: 0.1, 0.2, 0.3 and 6 more (m1, m2, m3, m4, m5, m6 and 3 more)\n";
        assert_eq!(text, format!("9 machines examined\n{line}    Stop what else runs.\n"));
    }
}
