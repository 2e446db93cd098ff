//! Text for a terminal: names made safe and short, lines wrapped, tones of colour.

use whyfaster_core::short;

use crate::clean::clean;
use crate::look::Look;

pub use whyfaster_core::short::width;

/// What a piece of text means; becomes a colour when there is colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The verdict, titles.
    Strong,
    /// Faster.
    Good,
    /// Slower.
    Bad,
    /// Undecided, warnings.
    Unsure,
    /// Headers, side notes.
    Quiet,
}

const TONES: [Tone; 5] = [Tone::Strong, Tone::Good, Tone::Bad, Tone::Unsure, Tone::Quiet];
/// A tone travels through layout as one of these: deprecated format characters of width 0, which [`clean`] removes
/// from everything foreign, so that no name can bring one along.
const FIRST_MARK: u32 = 0x206A;
const END_MARK: char = '\u{2061}';

/// Marks text with a tone. [`finish`] turns the marks into colours or takes them out.
pub fn tone(tone: Tone, text: &str) -> String {
    let index =
        TONES.iter().position(|other| *other == tone).and_then(|i| u32::try_from(i).ok()).unwrap_or(0);
    let mark = char::from_u32(FIRST_MARK + index).unwrap_or(END_MARK);
    format!("{mark}{text}{END_MARK}")
}

fn style(tone: Tone) -> anstyle::Style {
    use anstyle::AnsiColor::{Green, Red, Yellow};
    let plain = anstyle::Style::new();
    match tone {
        Tone::Strong => plain.bold(),
        Tone::Good => plain.fg_color(Some(Green.into())),
        Tone::Bad => plain.fg_color(Some(Red.into())),
        Tone::Unsure => plain.fg_color(Some(Yellow.into())),
        Tone::Quiet => plain.dimmed(),
    }
}

/// Turns marks of tone into colours, or takes them out.
pub fn finish(text: &str, color: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let index = (c as u32).wrapping_sub(FIRST_MARK) as usize;
        match (TONES.get(index), c == END_MARK) {
            (Some(tone), _) if color => out.push_str(&style(*tone).render().to_string()),
            (_, true) if color => out.push_str(&anstyle::Reset.render().to_string()),
            (Some(_), _) | (_, true) => {}
            (None, false) => out.push(c),
        }
    }
    out
}

/// The text in pieces, each with its tone.
pub fn pieces(text: &str) -> Vec<(Option<Tone>, String)> {
    let mut pieces = vec![(None, String::new())];
    for c in text.chars() {
        let index = (c as u32).wrapping_sub(FIRST_MARK) as usize;
        match (TONES.get(index), c == END_MARK) {
            (Some(tone), _) => pieces.push((Some(*tone), String::new())),
            (None, true) => pieces.push((None, String::new())),
            (None, false) => pieces.last_mut().expect("there is always one").1.push(c),
        }
    }
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

/// Text for an ASCII terminal: what it cannot show becomes `?`.
pub fn for_look(text: &str, look: &Look) -> String {
    let cleaned = clean(text);
    if look.unicode { cleaned } else { cleaned.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect() }
}

/// Text with letters that are written from right to left, set apart so that it moves nothing that stands beside it: by Unicode's "first strong
/// isolate" (UAX 9), which has no width. What is cleaned afterwards loses it again, as in running text, where nothing stands in columns.
pub fn isolated(text: String) -> String {
    const RIGHT_TO_LEFT: [std::ops::RangeInclusive<char>; 5] = [
        '\u{590}'..='\u{8FF}',
        '\u{FB1D}'..='\u{FDFF}',
        '\u{FE70}'..='\u{FEFE}',
        '\u{10800}'..='\u{10FFF}',
        '\u{1E800}'..='\u{1EFFF}',
    ];
    let turns = |c: char| RIGHT_TO_LEFT.iter().any(|range| range.contains(&c));
    if text.chars().any(turns) { format!("\u{2068}{text}\u{2069}") } else { text }
}

/// The text with a capital at its beginning.
pub fn capitalise(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// At most `max` columns, the middle left out: the ends tell commands apart best.
pub fn shorten(text: &str, max: usize, unicode: bool) -> String {
    short::shorten(text, max, gap(unicode))
}

/// The beginning, in at most `max` columns.
pub fn beginning(text: &str, max: usize, unicode: bool) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let mut room = max.saturating_sub(width(gap(unicode)));
    let fits = |c: &char| {
        let columns = width(c.encode_utf8(&mut [0; 4]));
        let fits = columns <= room;
        room = room.saturating_sub(columns);
        fits
    };
    text.chars().take_while(fits).chain(gap(unicode).chars()).collect()
}

/// What stands in place of what is left out.
pub fn gap(unicode: bool) -> &'static str {
    if unicode { "…" } else { ".." }
}

/// Wraps at spaces; lines after the first are indented. A word longer than a line stays whole.
pub fn wrap(text: &str, columns: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.trim().is_empty() && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// Wraps like [`wrap`] with every line moved to the right; lines after the first a little farther.
pub fn wrap_indented(text: &str, columns: usize, indent: usize) -> Vec<String> {
    let margin = " ".repeat(indent);
    wrap(text, columns.saturating_sub(indent), 2).iter().map(|line| format!("{margin}{line}")).collect()
}

/// A field that a spreadsheet takes for text: what would begin a formula gets an apostrophe before it. Numbers stay numbers.
pub fn no_formula(field: &str) -> String {
    let begins = field.trim_start_matches([' ', '\u{a0}']).chars().next();
    let risky = begins.is_some_and(|c| "=+-@\t\r\n|%＝＋－＠".contains(c));
    if risky && field.parse::<f64>().is_err() { format!("'{field}") } else { field.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_is_a_formula() {
        for hostile in
            ["=cmd|'/C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1", "%0A=1"]
        {
            assert!(no_formula(hostile).starts_with('\''), "{hostile}");
        }
        for number in ["-1.5", "+3", "1e-9", "", "sort -u", "0"] {
            assert_eq!(no_formula(number), number);
        }
    }

    #[test]
    fn an_ascii_terminal_gets_ascii() {
        assert_eq!(for_look("naïve 日", &Look::plain(80, false)), "na?ve ?");
    }

    #[test]
    fn a_beginning_keeps_to_its_room() {
        assert_eq!(beginning("one two three", 9, true), "one two …");
        assert_eq!(beginning("日本語日本語", 5, false), "日..");
        assert_eq!(beginning("short", 5, false), "short");
    }

    #[test]
    fn the_middle_goes_first() {
        assert_eq!(shorten("awk -f prog.awk input.log", 13, true), "awk -f…ut.log");
        assert_eq!(shorten("awk -f prog.awk input.log", 13, false), "awk -f..t.log");
        assert_eq!(shorten("short", 13, true), "short");
        assert!(width(&shorten("日本語日本語日本語", 8, true)) <= 8);
    }

    #[test]
    fn tones_take_no_room_and_leave_no_trace() {
        let marked = tone(Tone::Good, "faster");
        assert_eq!(width(&marked), 6);
        assert_eq!(finish(&marked, false), "faster");
        assert_eq!(finish(&marked, true), "\x1b[32mfaster\x1b[0m");
    }

    #[test]
    fn wrapping_keeps_the_words() {
        assert_eq!(wrap("one two three four", 9, 2), ["one two", "  three", "  four"]);
        assert_eq!(wrap("unbreakable", 4, 2), ["unbreakable"]);
    }
}
