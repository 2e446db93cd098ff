//! It copies data through a pipe once more.

use super::definition::{About, BASE, Definition, Seen, in_kernel};
use crate::trace::report::WorkKind;
use crate::why::experiments::line::{Command, Line, quoted};
use crate::why::experiments::{Change, Edit, ExperimentContext, Untestable, instead};
use crate::why::statement::{Fact, Measure, Pair};

pub(super) const DEFINITION: Definition = Definition {
    on_path: |row, _| in_kernel(row, &[WorkKind::Pipe]),
    in_work: |row, _| row.kind == WorkKind::Pipe,
    seen: Seen::CpuTime,
    counted: &[
        (Measure::PipeData, |it| it.pipe.bytes),
        (Measure::PipeReads, |it| it.pipe.calls),
        (Measure::Stages, |it| it.stages),
    ],
    fact,
    change,
    ..BASE
};

/// So much more data is as much.
const AS_MUCH: f64 = 1.05;

fn fact(it: &About<'_>) -> Fact {
    let bytes = Pair { here: it.slow.pipe.bytes, there: it.fast.pipe.bytes };
    if bytes.here <= bytes.there * AS_MUCH { Fact::DearerPipes } else { Fact::MorePipeData { bytes } }
}

/// What a pipe holds unless it is told otherwise (pipe(7), "Pipe capacity").
const USUAL: f64 = 65_536.0;

/// Without stages that only copy; without such stages, larger pipes.
fn change(it: &ExperimentContext<'_>) -> Result<Change, Untestable> {
    let original = it.slow_line();
    let line = Line::of(original);
    if !line.pipeline || it.shell().is_none() {
        return Err(Untestable::NoPipeline);
    }
    let more = (it.slow.stages - it.fast.stages.max(1.0)).max(1.0);
    // The cast is of a small whole number.
    if let Some((changed, gone)) = without_copies(&line, original, more as usize) {
        let sure = gone >= more as usize && !it.scripted(&line);
        return Ok(instead(original, changed, Edit::NoCopies, sure));
    }
    larger_pipes(it)
}

/// The slower pipeline with the largest pipes, where the usual ones do not hold all of its data.
fn larger_pipes(it: &ExperimentContext<'_>) -> Result<Change, Untestable> {
    if it.machine.stage.is_empty() || it.machine.pipe_max == 0 {
        return Err(Untestable::EveryStageWorks { fits: false });
    }
    if it.slow.pipe.bytes <= USUAL {
        return Err(Untestable::EveryStageWorks { fits: true });
    }
    let size = it.machine.pipe_max;
    let edit = Edit::PipeSize { bytes: size, larger: true };
    Ok(Change { edit, put_in: false, sure: false, test: it.resized(it.slow_line(), size) })
}

/// The pipeline without at most `most` stages that only copy, and how many went. `None` if it has none.
fn without_copies(line: &Line, original: &str, most: usize) -> Option<(String, usize)> {
    let only_copies = |command: &&Command| {
        command.name() == Some("cat")
            && command.own().len() == 1
            && command.own().len() == command.words.len()
    };
    let stage = |command: &Command| original[command.place.clone()].to_owned();
    let mut left = most;
    let mut stages: Vec<String> = Vec::new();
    for (at, command) in line.commands.iter().enumerate() {
        // The first one reads the standard input of all; without it the second one does.
        let copies = only_copies(&command) && line.commands.len() - at + stages.len() > 1;
        if copies && left > 0 {
            left -= 1;
        } else {
            stages.push(stage(command));
        }
    }
    if left > 0 && line.commands.len() > 1 {
        // cat FILE | X is X < FILE.
        let first = &line.commands[0];
        let words = first.own();
        let reads_one = first.name() == Some("cat")
            && words.len() == 2
            && !words[1].text.starts_with('-')
            && first.redirects_nothing()
            && words.len() == first.words.len();
        if reads_one && stages.len() > 1 && line.commands[1].redirects_nothing() {
            stages.remove(0);
            stages[0].push_str(&format!(" < {}", quoted(&words[1].text)));
            left -= 1;
        }
    }
    (left < most && !stages.is_empty()).then(|| (stages.join(" | "), most - left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_that_only_copy_go() {
        let without = |text: &str, most| without_copies(&Line::of(text), text, most).map(|it| it.0);
        assert_eq!(without("cat a | cat | cat > b", 1).as_deref(), Some("cat a | cat > b"));
        assert_eq!(without("cat a b | cat | cat | wc -c", 2).as_deref(), Some("cat a b | wc -c"));
        assert_eq!(without("cat 'a b' | awk 1", 1).as_deref(), Some("awk 1 < 'a b'"));
        assert_eq!(without("cat a b | awk 1", 1), None);
        assert_eq!(without("cat -n a | awk 1", 1), None);
        assert_eq!(without("sort a | uniq", 1), None);
        assert_eq!(without("cat | cat", 5).as_deref(), Some("cat"));
    }
}
