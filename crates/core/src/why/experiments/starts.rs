//! Changes that put work into the faster alternative: as many processes, or start-ups of the same programs.

use super::line::{Line, quoted};
use super::{Bench, Change};
use crate::why::facts::Side;
use crate::why::planned::{Test, Variation};
use crate::why::words::count;

/// Words with which a program only starts and ends.
const NOTHING: [(&str, &str); 21] = [
    ("true", "true"),
    ("false", "false"),
    ("sh", "sh -c :"),
    ("dash", "dash -c :"),
    ("bash", "bash -c :"),
    ("zsh", "zsh -f -c :"),
    ("ksh", "ksh -c :"),
    ("awk", "awk 'BEGIN { }'"),
    ("gawk", "gawk 'BEGIN { }'"),
    ("mawk", "mawk 'BEGIN { }'"),
    ("cat", "cat /dev/null"),
    ("sed", "sed -n '' /dev/null"),
    ("grep", "grep -q x /dev/null"),
    ("sort", "sort /dev/null"),
    ("wc", "wc -c /dev/null"),
    ("head", "head -n0 /dev/null"),
    ("echo", "echo"),
    ("expr", "expr 1"),
    ("perl", "perl -e 0"),
    ("python3", "python3 -c ''"),
    ("ruby", "ruby -e 0"),
];

impl Bench<'_> {
    /// As many processes that do nothing, put into the faster alternative.
    pub(super) fn processes(&self) -> Result<Change, String> {
        self.wrapper()?;
        let programs = (self.slow.execs - self.fast.execs).round();
        let forks = (self.slow.forks - self.fast.forks).round();
        if programs >= 1.0 {
            let words = self.extra_program();
            let change = format!("{} times '{words}' run before it, one after the other", count(programs));
            return Ok(self.put_in((0, &words), (programs as u64, &words), change));
        }
        if forks < 1.0 {
            return Err("both make as many processes, so there is none to put in".to_owned());
        }
        // Children that run no program are a shell's: so they are put in by a shell.
        let loops = |n: f64| format!("sh -c 'i=0; while [ $i -lt {n} ]; do ( : ); i=$((i+1)); done'");
        let change = format!("a shell makes {} children that do nothing before it", count(forks));
        Ok(self.put_in((1, &loops(0.0)), (1, &loops(forks)), change))
    }

    /// The slower alternative's start-ups put into the faster one, in place of its own.
    pub(super) fn startup(&self) -> Result<Change, String> {
        if let Some(change) = self.bind_later() {
            return Ok(change);
        }
        self.wrapper()?;
        let Some((here, n)) = dominant(self.slow, self.fast) else {
            return Err("no program stands out by its start-up".to_owned());
        };
        let there = dominant(self.fast, self.slow).map(|it| it.0);
        let changed =
            self.only_start(&here).ok_or(format!("'{here}' is not known to start without doing its work"))?;
        let control = there.and_then(|it| self.only_start(&it));
        let change = format!("{} times '{changed}' run before it, one after the other", count(n));
        let control = control.map_or((0, changed.clone()), |words| (n as u64, words));
        Ok(self.put_in((control.0, &control.1), (n as u64, &changed), change))
    }

    /// Where the command line makes the loader bind everything at once: without that.
    fn bind_later(&self) -> Option<Change> {
        const NOW: &str = "LD_BIND_NOW";
        let plan = self.given.plan;
        let mine = &plan.alternatives[self.places.0];
        let original = self.slow_line();
        let line = Line::of(original);
        let words = line.commands.iter().flat_map(|command| &command.words);
        let assigned: Vec<_> = words.filter(|word| word.text.starts_with("LD_BIND_NOW=")).collect();
        if assigned.is_empty() && mine.env.get(NOW).is_none_or(String::is_empty) {
            return None;
        }
        let edits = assigned.into_iter().map(|word| (word.place.clone(), format!("{NOW}="))).collect();
        let mut changed = Variation::of(super::line::edited(original, edits));
        // An empty value is none (ld.so(8)).
        changed.env.insert(NOW.to_owned(), String::new());
        let words = format!("{NOW} is not set");
        Some(Change {
            words,
            put_in: false,
            sure: true,
            test: Test { control: Variation::of(original), changed },
        })
    }

    fn wrapper(&self) -> Result<(), String> {
        if self.machine.stage.is_empty() {
            Err("there is no program to put processes in with".to_owned())
        } else {
            Ok(())
        }
    }

    /// The faster alternative behind so many runs of some words.
    fn put_in(&self, control: (u64, &str), changed: (u64, &str), words: String) -> Change {
        let with =
            |(n, words): (u64, &str)| Variation::of(self.behind(&format!("--first {n} {}", quoted(words))));
        Change {
            words,
            put_in: true,
            sure: true,
            test: Test { control: with(control), changed: with(changed) },
        }
    }

    /// The faster alternative behind the wrapper with these options.
    fn behind(&self, options: &str) -> String {
        let line = self.fast_line();
        let stage = &self.machine.stage;
        match self.shell() {
            None => format!("{stage} {options} -- {line}"),
            Some(shell) => {
                let shell: Vec<String> = shell.iter().map(|word| quoted(word)).collect();
                format!("{stage} {options} -- {} -c {}", shell.join(" "), quoted(line))
            }
        }
    }

    /// What to put in for the programs that only the slower side begins: the one that it begins most often, doing nothing.
    fn extra_program(&self) -> String {
        let more = |(command, (n, _)): (&String, &(f64, f64))| {
            (n - self.fast.starts.get(command).map_or(0.0, |it| it.0), command.clone())
        };
        let most = self.slow.starts.iter().map(more).max_by(|a, b| a.0.total_cmp(&b.0));
        most.and_then(|(_, command)| self.only_start(&command)).unwrap_or_else(|| "true".to_owned())
    }

    /// Words with which the program starts and ends at once. The dynamic loader can be told to load a program and not to
    /// begin it (ld.so(8), LD_TRACE_LOADED_OBJECTS; LD_WARN makes it relocate as well).
    fn only_start(&self, command: &str) -> Option<String> {
        if let Some((_, words)) = NOTHING.iter().find(|(name, _)| *name == versionless(command)) {
            return Some(words.replacen(versionless(command), command, 1));
        }
        let program =
            self.machine.programs.get(command).filter(|_| self.machine.dynamic.contains(command))?;
        Some(format!("env LD_TRACE_LOADED_OBJECTS=1 LD_WARN=yes {}", quoted(program.to_str()?)))
    }
}

/// python3 of python3.11.
fn versionless(command: &str) -> &str {
    let name = command.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if name == "python" { &command[..command.len().min(7)] } else { command }
}

/// The command whose start-ups make most of the difference, and how often it starts.
fn dominant(here: &Side, there: &Side) -> Option<(String, f64)> {
    let more = |(command, (n, seconds)): (&String, &(f64, f64))| {
        let other = there.starts.get(command).copied().unwrap_or_default();
        (seconds - other.1, command.clone(), *n - if other.1 < *seconds { 0.0 } else { other.0 })
    };
    let most = here.starts.iter().map(more).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (most.0 > 0.0 && most.2 >= 1.0).then(|| (most.1, most.2.round()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_python_are_python() {
        assert_eq!(versionless("python3.11"), "python3");
        assert_eq!(versionless("python3"), "python3");
        assert_eq!(versionless("sha256sum"), "sha256sum");
    }

    #[test]
    fn the_program_that_loads_most_is_found() {
        let side = |rows: &[(&str, f64, f64)]| Side {
            starts: rows.iter().map(|(name, n, s)| ((*name).to_owned(), (*n, *s))).collect(),
            ..Side::default()
        };
        let (heavy, light) = (
            side(&[("heavy", 5.0, 0.1), ("sh", 1.0, 0.001)]),
            side(&[("light", 5.0, 0.01), ("sh", 1.0, 0.001)]),
        );
        assert_eq!(dominant(&heavy, &light), Some(("heavy".to_owned(), 5.0)));
        assert_eq!(dominant(&light, &heavy), Some(("light".to_owned(), 5.0)));
        assert_eq!(dominant(&light, &light), None);
    }
}
