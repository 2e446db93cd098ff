//! Changes of how data moves: in larger pieces, through fewer pipes, through larger pipes.

use std::ops::Range;

use super::change::SOME;
use super::line::{Command, Line, Word, edited, quoted};
use super::pipes::before_each;
use super::reach::REACHED;
use super::{Change, ExperimentContext, instead};
use crate::why::planned::{Test, Variation};

/// Blocks of dd below this are made larger.
const SMALL_BLOCK: u64 = 4096;
/// To this.
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

impl ExperimentContext<'_> {
    /// Larger pieces, where the command line says how large they are; else full buffers, where the C library has them.
    pub(super) fn small_io(&self) -> Result<Change, String> {
        let original = self.slow_line();
        let line = Line::of(original);
        let mut edits: Vec<(Range<usize>, String)> = line.called("dd").flat_map(larger_blocks).collect();
        edits.extend(buffered(&line));
        let changes = |command: &Command| {
            edits
                .iter()
                .any(|(place, _)| command.place.start <= place.start && place.end <= command.place.end)
        };
        let reached = self.moves(&line, changes);
        if !edits.is_empty() && reached >= SOME {
            let sure = reached >= REACHED && !self.scripted(&line);
            let words = "its options ask for large pieces".to_owned();
            return Ok(instead(original, edited(original, edits), words, sure));
        }
        if !line.pipeline || !self.machine.programs.contains_key("stdbuf") {
            let (itself, other) = (
                "the program chooses the size of its pieces itself",
                "the cause is not in its command line: other programs move the small pieces than those whose pieces it sets",
            );
            return Err(if edits.is_empty() { itself } else { other }.to_owned());
        }
        let changed = before_each(original, &format!("stdbuf -i{BLOCK} -o{BLOCK} "));
        // The same program around it, which changes nothing.
        let control = before_each(original, "stdbuf -e0 ");
        Ok(Change {
            words: format!("stdbuf gives its programs buffers of {BLOCK} bytes, if they are the C library's"),
            put_in: false,
            sure: false,
            test: Test { control: Variation::of(control), changed: Variation::of(changed) },
        })
    }

    /// Without stages that only copy; without such stages, larger pipes.
    pub(super) fn pipe_copy(&self) -> Result<Change, String> {
        let original = self.slow_line();
        let line = Line::of(original);
        if !line.pipeline || self.shell().is_none() {
            return Err(
                "its command line is no plain pipeline, of which a stage could be left out".to_owned()
            );
        }
        let more = (self.slow.stages - self.fast.stages.max(1.0)).max(1.0);
        // The cast is of a small whole number.
        if let Some((changed, gone)) = without_copies(&line, original, more as usize) {
            let words = "the stages that only copy are left out".to_owned();
            let sure = gone >= more as usize && !self.scripted(&line);
            return Ok(instead(original, changed, words, sure));
        }
        self.larger_pipes()
    }
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
    if size == 0 || size >= SMALL_BLOCK || fixed {
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
