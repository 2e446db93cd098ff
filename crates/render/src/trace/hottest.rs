//! Where the most time went, as lines: what a flame graph shows, for who has only a terminal.

use std::collections::BTreeMap;

use whyfaster_core::studied::Hot;

use super::flame::Flames;
use whyfaster_stats::order::largest_first;

/// Innermost frames that tell stacks apart: more of them would split what is one place for a reader.
const FRAMES: usize = 3;

/// Frames in which a task that blocks gives its CPU away.
const SCHEDULER: [&str; 4] = ["__schedule_[k]", "schedule_[k]", "io_schedule_[k]", "schedule_timeout_[k]"];

/// The places with the most time, the longest first.
pub fn hottest(flames: &Flames, most: usize) -> Vec<Hot> {
    let mut sums: BTreeMap<(&str, &str, Vec<&str>), u64> = BTreeMap::new();
    for (place, ns) in &flames.0 {
        let mut frames: Vec<&str> = place.frames.split(';').filter(|frame| !frame.is_empty()).collect();
        // All that blocks ends in the scheduler: what called it says more.
        let calls = frames.iter().rposition(|frame| !SCHEDULER.contains(frame)).map_or(0, |at| at + 1);
        frames.truncate(calls);
        let inner = frames[frames.len().saturating_sub(FRAMES)..].to_vec();
        let state = place.state.waits().unwrap_or("running");
        *sums.entry((state, &place.command, inner)).or_default() += ns;
    }
    let mut hot: Vec<Hot> = sums
        .into_iter()
        .map(|((state, command, frames), ns)| Hot {
            state: state.to_owned(),
            command: command.to_owned(),
            frames: frames.into_iter().map(str::to_owned).collect(),
            // Nanoseconds of a run are far below 2^53.
            seconds: ns as f64 / 1e9,
        })
        .collect();
    largest_first(&mut hot, |it| it.seconds);
    hot.truncate(most);
    hot
}

#[cfg(test)]
mod tests {
    use super::super::flame::{Place, State};
    use super::*;
    use whyfaster_core::trace::report::Cause;

    #[test]
    fn places_are_summed_and_the_longest_come_first() {
        let disk = State::Blocked(Cause::Disk);
        let at = |state, frames: &str, us: u64| {
            (Place { state, command: "awk".to_owned(), frames: frames.to_owned() }, us * 1000)
        };
        let flames = Flames(vec![
            at(disk, "main;a;b;c_[k];schedule_[k];__schedule_[k]", 300),
            at(State::Runnable, "", 50),
            at(State::Running, "main;a;b;c", 200),
            at(State::Running, "other;a;b;c", 250),
        ]);
        let hot = hottest(&flames, 2);
        assert_eq!((hot[0].state.as_str(), hot[0].seconds), ("running", 450e-6));
        assert_eq!(hot[0].frames, ["a", "b", "c"]);
        assert_eq!((hot[1].state.as_str(), hot[1].command.as_str()), ("waiting for a disk", "awk"));
        assert_eq!(hot[1].frames, ["a", "b", "c_[k]"], "the scheduler's own frames say nothing");
        let all = hottest(&flames, 9);
        assert_eq!((all.len(), all[2].frames.len(), all[2].command.as_str()), (3, 0, "awk"));
        assert!(hottest(&Flames::default(), 5).is_empty());
    }
}
