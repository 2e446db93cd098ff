//! Its programs take longer to load and start up.

use super::definition::{BASE, Definition, Seen};
use crate::trace::report::{PathKind, WorkKind};
use crate::why::experiments::line::{Line, Word, edited};
use crate::why::experiments::nothing::own_starts;
use crate::why::experiments::{Change, Edit, ExperimentContext, Repeated, Untestable, starts};
use crate::why::facts::Side;
use crate::why::planned::{Test, Variation};
use crate::why::statement::Fact;

pub(super) const DEFINITION: Definition = Definition {
    on_path: |row, _| row.kind == PathKind::Startup,
    in_work: |row, _| row.kind == WorkKind::Startup,
    by_work: true,
    in_code: true,
    seen: Seen::CpuTime,
    counted: &super::processes::COUNTED,
    fact: |it| Fact::Startup { command: it.command() },
    change,
    ..BASE
};

/// The slower alternative's start-ups put into the faster one, against as many of what it starts in their place: only
/// the difference between them counts.
fn change(it: &ExperimentContext<'_>) -> Result<Change, Untestable> {
    if let Some(change) = bind_otherwise(it) {
        return Ok(change);
    }
    it.wrapper()?;
    let Some((here, n)) = dominant(it.slow, it.fast) else {
        return Err(Untestable::NoStartStandsOut);
    };
    let often = it.fast.starts.get(&here).map_or(0.0, |it| it.0);
    let more = (n - often).round();
    let there = dominant(it.fast, it.slow).map(|it| it.0);
    let (n, changed, control, sure) = match there {
        Some(there) if more >= 1.0 => {
            let known = |name: &str| {
                it.only_start(name).ok_or_else(|| Untestable::StartUnknown { program: name.to_owned() })
            };
            // The loader alone is less than the start of a runtime: that of the one against all of the other says little.
            let alike = it.is_known(&here) == it.is_known(&there);
            (more, known(&here)?, known(&there)?, alike)
        }
        _ if often >= 1.0 => {
            let (slow, fast) = own_starts(&here, it.slow_line(), it.fast_line())?;
            (n.round(), slow, fast, false)
        }
        _ => {
            return Err(Untestable::NothingInItsPlace { program: here });
        }
    };
    // The cast is of a small whole number.
    let times = n as u64;
    let at_once = starts::at_once(it.slow, times);
    let with = |words: &str| starts::repeated(&[Repeated { times, words: words.to_owned() }], at_once);
    let (before, after) = (with(&control), with(&changed));
    let edit = Edit::StartsBefore { each: Repeated { times, words: changed }, against: control, at_once };
    Ok(it.put_in(&before, &after, edit, sure))
}

/// Where one of the command lines makes the loader bind everything at once and the other does not: as the other one.
fn bind_otherwise(it: &ExperimentContext<'_>) -> Option<Change> {
    const NOW: &str = "LD_BIND_NOW";
    // An empty value is none (ld.so(8)).
    let at_once = |place: usize, line: &Line| {
        let set = |word: &&Word| word.text.strip_prefix("LD_BIND_NOW=").is_some_and(|it| !it.is_empty());
        line.commands.iter().flat_map(|it| &it.words).any(|word| set(&word))
            || it.given.plan.alternatives[place].env.get(NOW).is_some_and(|it| !it.is_empty())
    };
    let original = it.slow_line();
    let line = Line::of(original);
    let fast = at_once(it.places.1, &Line::of(it.fast_line()));
    let value = match (at_once(it.places.0, &line), fast) {
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
        edit: Edit::BindNow { set: !value.is_empty() },
        put_in: false,
        // Set, it takes away what binding one by one costs; what else is loaded stays.
        sure: value.is_empty(),
        test: Test { control: Variation::of(original), changed },
    })
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
