//! It reads or writes in smaller pieces.

use std::ops::Range;

use super::definition::{About, BASE, Definition, Seen, in_kernel};
use crate::trace::report::{PathKind, WorkKind};
use crate::why::experiments::line::{Command, Line, Word, edited};
use crate::why::experiments::pipes::before_each;
use crate::why::experiments::{Change, Edit, ExperimentContext, REACHED, SOME, Untestable, instead};
use crate::why::facts::{Moved, Side};
use crate::why::planned::{Test, Variation};
use crate::why::statement::{Fact, Measure, Pair};

const KINDS: [WorkKind; 2] = [WorkKind::Pipe, WorkKind::FileData];

pub(super) const DEFINITION: Definition = Definition {
    on_path: |row, _| row.kind == PathKind::User || in_kernel(row, &KINDS),
    in_work: |row, _| KINDS.contains(&row.kind),
    seen: Seen::CpuTime,
    counted: &[
        (Measure::PipeReads, |it| it.pipe.calls),
        (Measure::BytesPerPipeRead, |it| it.pipe.piece()),
        (Measure::PipeWrites, |it| it.pipe_writes.calls),
        (Measure::BytesPerPipeWrite, |it| it.pipe_writes.piece()),
        (Measure::FileCalls, |it| it.file.calls),
        (Measure::BytesPerFileCall, |it| it.file.piece()),
    ],
    fact,
    change,
    ..BASE
};

/// The calls of which the slower side makes the most more.
fn fact(it: &About<'_>) -> Fact {
    let (slow, fast) = (it.slow, it.fast);
    let all = [
        (slow.file, fast.file, Measure::FileCalls),
        (slow.pipe, fast.pipe, Measure::PipeReads),
        (slow.pipe_writes, fast.pipe_writes, Measure::PipeWrites),
    ];
    // Where several are as many, the first: a reader may take in one call what many wrote, or the other way round.
    let more = |it: &(Moved, Moved, Measure)| it.0.calls - it.1.calls;
    let most = all.iter().fold(&all[0], |a, b| if more(b) > more(a) { b } else { a });
    Fact::SmallIo {
        calls: most.2.clone(),
        number: Pair { here: most.0.calls, there: most.1.calls },
        bytes: Pair { here: most.0.piece(), there: most.1.piece() },
    }
}

/// Pieces below this are small where the other side has none to compare with.
const SMALL_PIECE: f64 = 4096.0;

/// So many times more calls for the same data are more; so is that much more data.
const MORE: f64 = 1.5;

/// The part of the slower side's calls that it would not need with the other side's pieces.
pub(in crate::why) fn part((slow, fast): (&Side, &Side), moved: impl Fn(&Side) -> Moved) -> f64 {
    let (slow, fast) = (moved(slow), moved(fast));
    if slow.calls <= 0.0 {
        return 0.0;
    }
    let piece = if fast.bytes * MORE >= slow.bytes { fast.piece() } else { fast.piece().max(SMALL_PIECE) };
    let needed = if piece > 0.0 { slow.bytes / piece } else { slow.calls };
    if slow.calls >= needed * MORE && slow.calls > fast.calls { 1.0 - needed / slow.calls } else { 0.0 }
}

/// A read or write of little data costs at most four times as much as a call that does nothing. The kernel spends the rest on the data.
const TIMES_A_CALL: f64 = 4.0;

/// The most that the slower side's additional calls on files cost, seconds. `None`: nobody measured what a call costs here.
pub(in crate::why) fn most_s((slow, fast): (&Side, &Side)) -> Option<f64> {
    let more = (slow.file.calls - fast.file.calls).max(0.0);
    slow.plain_call_s.or(fast.plain_call_s).map(|call_s| more * TIMES_A_CALL * call_s)
}

/// Blocks of dd below this are made as large, and so are buffers.
const BLOCK: u64 = 65_536;

/// Options that make programs write or read every line or byte by itself: the program, the option.
const UNBUFFERED: [(&str, &str); 7] = [
    ("grep", "--line-buffered"),
    ("sed", "-u"),
    ("sed", "--unbuffered"),
    ("python3", "-u"),
    ("python", "-u"),
    ("jq", "--unbuffered"),
    ("tcpdump", "-l"),
];

/// Larger pieces, where the command line says how large they are; else full buffers, where the C library has them.
fn change(it: &ExperimentContext<'_>) -> Result<Change, Untestable> {
    let original = it.slow_line();
    let line = Line::of(original);
    let mut edits: Vec<(Range<usize>, String)> = line.called("dd").flat_map(larger_blocks).collect();
    edits.extend(buffered(&line));
    let changes = |command: &Command| {
        edits.iter().any(|(place, _)| command.place.start <= place.start && place.end <= command.place.end)
    };
    let reached = it.moves(&line, changes);
    if !edits.is_empty() && reached >= SOME {
        let sure = reached >= REACHED && !it.scripted(&line);
        return Ok(instead(original, edited(original, edits), Edit::LargePieces, sure));
    }
    if !line.pipeline || !it.machine.programs.contains_key("stdbuf") || !it.has_c_buffers(&line) {
        return Err(if edits.is_empty() { Untestable::OwnPieces } else { Untestable::PiecesElsewhere });
    }
    let changed = before_each(original, &format!("stdbuf -i{BLOCK} -o{BLOCK} "));
    // The same program around it, which changes nothing.
    let control = before_each(original, "stdbuf -e0 ");
    Ok(Change {
        edit: Edit::LargeBuffers { bytes: BLOCK },
        put_in: false,
        sure: false,
        test: Test { control: Variation::of(control), changed: Variation::of(changed) },
    })
}

/// `bs=1 count=N` as large blocks of the same data.
fn larger_blocks(command: &Command) -> Vec<(Range<usize>, String)> {
    let words = command.own();
    let value = |name: &str| -> Option<(&Word, &str)> {
        words.iter().find_map(|word| Some((*word, word.text.strip_prefix(name)?)))
    };
    let Some((block, size)) = value("bs=").and_then(|(word, size)| Some((word, number(size)?))) else {
        return Vec::new();
    };
    let fixed = ["skip=", "seek=", "iflag=", "ibs=", "obs=", "cbs=", "conv="]
        .iter()
        .any(|name| value(name).is_some());
    if size == 0 || size >= BLOCK || fixed {
        return Vec::new();
    }
    let mut edits = vec![(block.place.clone(), format!("bs={BLOCK}"))];
    if let Some((word, count)) = value("count=") {
        let Some(count) = number(count) else { return Vec::new() };
        edits.push((word.place.clone(), format!("count={} iflag=count_bytes", count.saturating_mul(size))));
    }
    edits
}

/// A number of dd: with a suffix.
fn number(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "c" => 1,
        "w" => 2,
        "b" => 512,
        "K" | "k" | "KiB" => 1024,
        "kB" => 1000,
        "M" | "MiB" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Without the options that switch buffers off, and without stdbuf that does.
fn buffered(line: &Line) -> Vec<(Range<usize>, String)> {
    let mut edits = Vec::new();
    for command in &line.commands {
        let (name, words) = (command.name().unwrap_or(""), command.own());
        let off = words.iter().filter(|word| UNBUFFERED.contains(&(name, word.text.as_str())));
        edits.extend(off.map(|word| (word.place.clone(), String::new())));
        if name == "stdbuf" {
            edits.extend(words.iter().skip(1).take_while(|word| word.text.starts_with('-')).filter_map(
                |word| {
                    let small = ["-oL", "-o0", "-iL", "-i0"].contains(&word.text.as_str());
                    small.then(|| (word.place.clone(), format!("{}{BLOCK}", &word.text[..2])))
                },
            ));
        }
        if name == "mawk" && words.get(1).is_some_and(|word| word.text == "-W") {
            edits.extend(words.iter().skip(1).take(2).map(|word| (word.place.clone(), String::new())));
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_dd_grow_and_the_data_stays() {
        let larger = |text: &str| edited(text, Line::of(text).called("dd").flat_map(larger_blocks).collect());
        assert_eq!(larger("dd if=f bs=1 count=300; x"), "dd if=f bs=65536 count=300 iflag=count_bytes; x");
        assert_eq!(larger("dd if=f bs=2k count=3k"), "dd if=f bs=65536 count=6291456 iflag=count_bytes");
        assert_eq!(larger("dd bs=64"), "dd bs=65536");
        for same in ["dd bs=1M", "dd bs=1 skip=5", "dd if=f", "dd bs=x", "cat bs=1"] {
            assert_eq!(larger(same), same);
        }
    }

    #[test]
    fn options_that_switch_buffers_off_go() {
        let with = |text: &str| edited(text, buffered(&Line::of(text)));
        assert_eq!(with("grep --line-buffered x f | sed -u p"), "grep  x f | sed  p");
        assert_eq!(with("stdbuf -oL -e0 cut -f1"), "stdbuf -o65536 -e0 cut -f1");
        assert_eq!(with("mawk -W interactive 1"), "mawk   1");
    }
}
