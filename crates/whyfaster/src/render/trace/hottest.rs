//! Where the most time went, as lines: what a flame graph shows, for who has only a terminal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Innermost frames that tell stacks apart: more of them would split what is one place for a reader.
const FRAMES: usize = 3;

/// Frames in which a task that blocks gives its CPU away.
const SCHEDULER: [&str; 4] = ["__schedule_[k]", "schedule_[k]", "io_schedule_[k]", "schedule_timeout_[k]"];

/// Time at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hot {
    /// "running", or what it waited for.
    pub state: String,
    /// The command.
    pub command: String,
    /// The innermost frames, the outermost of them first; those of the kernel end in `_[k]`.
    pub frames: Vec<String>,
    /// How long, over all tasks.
    pub seconds: f64,
}

/// The places with the most time of folded stacks, the longest first.
pub fn hottest(folded: &str, most: usize) -> Vec<Hot> {
    let mut sums: BTreeMap<(String, &str, Vec<&str>), u64> = BTreeMap::new();
    for (stack, us) in folded.lines().filter_map(|line| line.rsplit_once(' ')) {
        let mut frames = stack.split(';');
        let state = match frames.next() {
            Some("off-CPU") => frames.next().unwrap_or_default().to_owned(),
            _ => "running".to_owned(),
        };
        let command = frames.next().unwrap_or_default();
        let mut frames: Vec<&str> = frames.collect();
        // All that blocks ends in the scheduler: what called it says more.
        let calls = frames.iter().rposition(|frame| !SCHEDULER.contains(frame)).map_or(0, |at| at + 1);
        frames.truncate(calls);
        let inner = frames[frames.len().saturating_sub(FRAMES)..].to_vec();
        *sums.entry((state, command, inner)).or_default() += us.parse::<u64>().unwrap_or(0);
    }
    let mut hot: Vec<Hot> = sums
        .into_iter()
        .map(|((state, command, frames), us)| Hot {
            state,
            command: command.to_owned(),
            frames: frames.into_iter().map(str::to_owned).collect(),
            // Microseconds of a run are far below 2^53.
            seconds: us as f64 / 1e6,
        })
        .collect();
    hot.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    hot.truncate(most);
    hot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_summed_and_the_longest_come_first() {
        let folded = "off-CPU;waiting for a disk;awk;main;a;b;c_[k];schedule_[k];__schedule_[k] 300\n\
            off-CPU;waiting for a CPU;awk 50\n\
            on-CPU;awk;main;a;b;c 200\non-CPU;awk;other;a;b;c 250\n";
        let hot = hottest(folded, 2);
        assert_eq!((hot[0].state.as_str(), hot[0].seconds), ("running", 450e-6));
        assert_eq!(hot[0].frames, ["a", "b", "c"]);
        assert_eq!((hot[1].state.as_str(), hot[1].command.as_str()), ("waiting for a disk", "awk"));
        assert_eq!(hot[1].frames, ["a", "b", "c_[k]"], "the scheduler's own frames say nothing");
        let all = hottest(folded, 9);
        assert_eq!((all.len(), all[2].frames.len(), all[2].command.as_str()), (3, 0, "awk"));
        assert!(hottest("", 5).is_empty());
    }
}
