//! Programs that are put before the faster alternative.

use super::context::{Change, ExperimentContext};
use super::line::quoted;
use super::nothing::doing_nothing;
use super::statement::{Edit, Repeated, Untestable};
use crate::why::facts::Side;
use crate::why::planned::{Test, Variation};

impl ExperimentContext<'_> {
    /// Whether there is a program to put others in with.
    pub(in crate::why) fn wrapper(&self) -> Result<(), Untestable> {
        if self.machine.stage.is_empty() { Err(Untestable::NoWrapper) } else { Ok(()) }
    }

    /// The faster alternative behind a shell that runs a script first.
    pub(in crate::why) fn put_in(&self, control: &str, changed: &str, edit: Edit, sure: bool) -> Change {
        let with = |script: &str| {
            let shell = format!("sh -c {}", quoted(script));
            Variation::of(self.behind(&format!("--first 1 {}", quoted(&shell))))
        };
        Change { edit, put_in: true, sure, test: Test { control: with(control), changed: with(changed) } }
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

    /// Whether it is known with which words the program starts, with all that its runtime reads, and ends at once.
    pub(in crate::why) fn is_known(&self, command: &str) -> bool {
        doing_nothing(command).is_some()
    }

    /// Words with which the program starts and ends at once. The dynamic loader can be told to load a program and not to
    /// begin it (ld.so(8), LD_TRACE_LOADED_OBJECTS; LD_WARN makes it relocate as well).
    pub(in crate::why) fn only_start(&self, command: &str) -> Option<String> {
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
pub(in crate::why) fn at_once(slow: &Side, all: u64) -> u64 {
    let stages = slow.stages.round() as u64;
    let several = if stages > 1 && all <= stages { stages } else { slow.parallelism().round() as u64 };
    several.clamp(1, all.max(1))
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
pub(in crate::why) fn repeated(all: &[Repeated], at_once: u64) -> String {
    let (behind, wait) = if at_once > 1 {
        (" &", format!(" [ $((i%{at_once})) -ne 0 ] || wait;"))
    } else {
        (";", String::new())
    };
    let mut script = "i=0;".to_owned();
    let mut until = 0;
    for each in all {
        until += each.times;
        let words = program(&each.words);
        script.push_str(&format!(" while [ $i -lt {until} ]; do {words}{behind} i=$((i+1));{wait} done;"));
    }
    script + " wait"
}
