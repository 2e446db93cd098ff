//! Changes that put work into the faster alternative: as many processes, or start-ups of the same programs.

use std::collections::BTreeMap;

use super::line::{Line, Word, edited, quoted};
use super::nothing::{doing_nothing, own_starts};
use super::{Change, ExperimentContext};
use crate::why::facts::Side;
use crate::why::planned::{Test, Variation};
use crate::why::words::count;

impl ExperimentContext<'_> {
    /// As many processes that do nothing, put into the faster alternative, as many at once as the slower one has.
    pub(super) fn processes(&self) -> Result<Change, String> {
        self.wrapper()?;
        let programs = (self.slow.execs - self.fast.execs).round().max(0.0);
        let forks = (self.slow.forks - self.fast.forks).round();
        // `env X`, `exec X`: a program in the place of another one, in the same process.
        let in_place = (programs - forks.max(0.0)).max(0.0);
        let mut extra = self.extra_programs(programs - in_place);
        // Children that run no program are a shell's subshells.
        if forks - programs >= 1.0 {
            extra.push(("( : )".to_owned(), (forks - programs) as u64));
        }
        // The same loops that end at once: what the shell around them costs is no part of it.
        let mut control: Vec<_> = extra.iter().map(|(words, _)| (words.clone(), 0)).collect();
        let mut each: Vec<String> =
            extra.iter().map(|(words, n)| format!("{} times '{words}'", count(*n as f64))).collect();
        if in_place >= 1.0 {
            let (alone, before) = self.in_place()?;
            each.push(format!("{} times '{before}', against '{alone}',", count(in_place)));
            control.push((alone, in_place as u64));
            extra.push((before, in_place as u64));
        }
        let all = extra.iter().map(|it| it.1).sum::<u64>();
        if all == 0 {
            return Err("both make as many processes, so there is none to put in".to_owned());
        }
        let at_once = at_once(self.slow, all);
        let change = format!("{} {}", each.join(" and "), before_it(at_once));
        // Another program than `env` may stand in the place.
        let sure = in_place < 1.0;
        Ok(self.put_in(&repeated(&control, at_once), &repeated(&extra, at_once), change, sure))
    }

    /// A program alone, and behind one that becomes it without a process more.
    fn in_place(&self) -> Result<(String, String), String> {
        let path = |name: &str| {
            let path = self.machine.programs.get(name).and_then(|path| path.to_str());
            path.map(quoted).ok_or(format!("'{name}' was not found, which takes the place of programs"))
        };
        let (alone, before) = (path("true")?, path("env")?);
        Ok((alone.clone(), format!("{before} {alone}")))
    }

    /// The slower alternative's start-ups put into the faster one, against as many of what it starts in their place: only
    /// the difference between them counts.
    pub(super) fn startup(&self) -> Result<Change, String> {
        if let Some(change) = self.bind_otherwise() {
            return Ok(change);
        }
        self.wrapper()?;
        let Some((here, n)) = dominant(self.slow, self.fast) else {
            return Err("no program stands out by its start-up".to_owned());
        };
        let often = self.fast.starts.get(&here).map_or(0.0, |it| it.0);
        let more = (n - often).round();
        let there = dominant(self.fast, self.slow).map(|it| it.0);
        let (n, changed, control, sure) = match there {
            Some(there) if more >= 1.0 => {
                let known = |name: &str| {
                    self.only_start(name)
                        .ok_or(format!("'{name}' is not known to start without doing its work"))
                };
                (more, known(&here)?, known(&there)?, true)
            }
            _ if often >= 1.0 => {
                let (slow, fast) = own_starts(&here, self.slow_line(), self.fast_line())?;
                (n.round(), slow, fast, false)
            }
            _ => {
                return Err(format!(
                    "the other one starts no program in place of '{here}', to which its start-up could be compared"
                ));
            }
        };
        let at_once = at_once(self.slow, n as u64);
        let change =
            format!("{} times '{changed}' {}, against as many '{control}'", count(n), before_it(at_once));
        let with = |words: String| repeated(&[(words, n as u64)], at_once);
        Ok(self.put_in(&with(control), &with(changed), change, sure))
    }

    /// Where one of the command lines makes the loader bind everything at once and the other does not: as the other one.
    fn bind_otherwise(&self) -> Option<Change> {
        const NOW: &str = "LD_BIND_NOW";
        // An empty value is none (ld.so(8)).
        let at_once = |place: usize, line: &Line| {
            let set = |word: &&Word| word.text.strip_prefix("LD_BIND_NOW=").is_some_and(|it| !it.is_empty());
            line.commands.iter().flat_map(|it| &it.words).any(|word| set(&word))
                || self.given.plan.alternatives[place].env.get(NOW).is_some_and(|it| !it.is_empty())
        };
        let original = self.slow_line();
        let line = Line::of(original);
        let fast = at_once(self.places.1, &Line::of(self.fast_line()));
        let value = match (at_once(self.places.0, &line), fast) {
            (true, false) => "",
            (false, true) => "1",
            _ => return None,
        };
        let words = line.commands.iter().flat_map(|command| &command.words);
        let assigned = words.filter(|word| word.text.starts_with("LD_BIND_NOW="));
        let edits = assigned.map(|word| (word.place.clone(), format!("{NOW}={value}"))).collect();
        let mut changed = Variation::of(edited(original, edits));
        changed.env.insert(NOW.to_owned(), value.to_owned());
        Some(Change {
            words: format!("{NOW} is {}set", if value.is_empty() { "not " } else { "" }),
            put_in: false,
            // Set, it takes away what binding one by one costs; what else is loaded stays.
            sure: value.is_empty(),
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

    /// The faster alternative behind a shell that runs a script first.
    fn put_in(&self, control: &str, changed: &str, words: String, sure: bool) -> Change {
        let with = |script: &str| {
            let shell = format!("sh -c {}", quoted(script));
            Variation::of(self.behind(&format!("--first 1 {}", quoted(&shell))))
        };
        Change { words, put_in: true, sure, test: Test { control: with(control), changed: with(changed) } }
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

    /// What to put in for so many additional programs: those that start fastest, as the finding has it, doing nothing.
    fn extra_programs(&self, programs: f64) -> Vec<(String, u64)> {
        let more = self.slow.starts.iter().filter_map(|(command, (n, seconds))| {
            let more = (n - self.fast.starts.get(command).map_or(0.0, |it| it.0)).round();
            (more >= 1.0).then(|| (seconds / n, command, more))
        });
        let mut more: Vec<(f64, &String, f64)> = more.collect();
        more.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Programs of which no start-up was seen are put in as the smallest program.
        let mut left = programs;
        let mut extra: BTreeMap<String, u64> = BTreeMap::new();
        let least = "true".to_owned();
        for (_, command, times) in more.into_iter().chain([(0.0, &least, programs)]) {
            let n = times.min(left).max(0.0);
            left -= n;
            if n >= 1.0 {
                let words = self.only_start(command).unwrap_or_else(|| least.clone());
                // The cast is of a small whole number.
                *extra.entry(words).or_default() += n as u64;
            }
        }
        extra.into_iter().collect()
    }

    /// Words with which the program starts and ends at once. The dynamic loader can be told to load a program and not to
    /// begin it (ld.so(8), LD_TRACE_LOADED_OBJECTS; LD_WARN makes it relocate as well).
    fn only_start(&self, command: &str) -> Option<String> {
        if let Some(words) = doing_nothing(command) {
            // By its path a shell starts it as it starts other programs, and takes no builtin for it.
            let path = self.machine.programs.get(command).and_then(|path| path.to_str());
            let by_path = words.strip_prefix(command).zip(path).map(|(rest, path)| quoted(path) + rest);
            return Some(by_path.unwrap_or(words));
        }
        let program =
            self.machine.programs.get(command).filter(|_| self.machine.dynamic.contains(command))?;
        Some(format!("LD_TRACE_LOADED_OBJECTS=1 LD_WARN=yes {}", quoted(program.to_str()?)))
    }
}

/// How many of the slower side's additional processes run at the same time. Additional stages of a pipeline all do; of other
/// processes, as many as it keeps CPUs busy.
fn at_once(slow: &Side, all: u64) -> u64 {
    let stages = slow.stages.round() as u64;
    let several = if stages > 1 && all <= stages { stages } else { slow.parallelism().round() as u64 };
    several.clamp(1, all.max(1))
}

fn before_it(at_once: u64) -> String {
    let order = if at_once > 1 { format!("{at_once} at once") } else { "one after the other".to_owned() };
    format!("run before it, {order}")
}

/// Words that run a program and never a builtin of the shell with its name, as `true` is one: `exec` looks for programs only. With a
/// path it is not needed, and the shell forks in a cheaper way.
fn program(words: &str) -> String {
    let parts: Vec<&str> = words.split(' ').collect();
    let (assignments, program) = parts.split_at(parts.iter().take_while(|part| part.contains('=')).count());
    let before: String = assignments.iter().map(|assignment| format!("{assignment} ")).collect();
    if words.starts_with('(') || program.first().is_some_and(|word| word.contains('/')) {
        return words.to_owned();
    }
    format!("({before}exec {})", program.join(" "))
}

/// A shell script that runs words so many times, so many at once, and ends when all have ended.
fn repeated(all: &[(String, u64)], at_once: u64) -> String {
    let (behind, wait) = if at_once > 1 {
        (" &", format!(" [ $((i%{at_once})) -ne 0 ] || wait;"))
    } else {
        (";", String::new())
    };
    let mut script = "i=0;".to_owned();
    let mut until = 0;
    for (words, n) in all {
        until += n;
        let words = program(words);
        script.push_str(&format!(" while [ $i -lt {until} ]; do {words}{behind} i=$((i+1));{wait} done;"));
    }
    script + " wait"
}

/// The command whose start-ups make most of the difference, and how often it starts.
fn dominant(here: &Side, there: &Side) -> Option<(String, f64)> {
    let more = |(command, (n, seconds)): (&String, &(f64, f64))| {
        let other = there.starts.get(command).copied().unwrap_or_default();
        (seconds - other.1, command.clone(), *n)
    };
    let most = here.starts.iter().map(more).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (most.0 > 0.0 && most.2 >= 1.0).then(|| (most.1, most.2.round()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
