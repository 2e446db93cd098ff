//! Foreign text made safe for a terminal: names, messages and paths that others chose.

use unicode_width::UnicodeWidthChar;

/// Marks that one character may carry: more than any script needs would cover the lines above and below.
const MARKS: usize = 4;

/// How many marks the character before has room for.
#[derive(Default)]
struct Room(usize);

impl Room {
    /// Whether a terminal may get this character of foreign text: no control character, and nothing invisible. A mark without a width of its own
    /// (an accent, a vowel sign) may stand on the character before it.
    fn takes(&mut self, c: char) -> bool {
        match c.width().filter(|_| !invisible(c)) {
            None => return false,
            Some(0) if self.0 == 0 => return false,
            Some(0) => self.0 -= 1,
            Some(_) => self.0 = if c.is_whitespace() { 0 } else { MARKS },
        }
        true
    }
}

/// What a terminal may get of foreign text, with one kind of white space.
fn harmless(text: &str) -> String {
    let mut room = Room::default();
    let spaced = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    spaced.filter(|c| room.takes(*c)).collect()
}

/// Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt, and the marks of annotations: joiners, direction, variants, tags.
fn invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// The text with single spaces, and none at its ends.
fn single_spaced(text: &str) -> String {
    text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Foreign text made safe for one line of a terminal: no control characters, nothing invisible, single spaces.
pub fn clean(text: &str) -> String {
    single_spaced(&harmless(text))
}

/// The same for text of several lines, which keeps its lines and its spaces.
pub fn clean_lines(text: &str) -> String {
    text.split('\n').map(harmless).collect::<Vec<_>>().join("\n")
}

/// A command line for one line of a terminal, where somebody may copy it: made safe, or quoted for `eval` where that would make another command of it.
pub fn command(line: &str) -> String {
    let cleaned = clean(line);
    // Outside of quotes, several spaces are as good as one.
    let spaces = single_spaced(line) == cleaned && !line.contains(['\'', '"', '\\']);
    if cleaned == line || spaces { cleaned } else { format!("eval {}", quoted(line)) }
}

/// One word of a shell that stands for exactly this text, whatever is in it: `$'...'` of bash, ksh, zsh and POSIX.1-2024.
pub fn quoted(text: &str) -> String {
    let (mut word, mut room) = ("$'".to_owned(), Room::default());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let shown = room.takes(c) && !c.is_whitespace();
        match c {
            '\n' => word.push_str("\\n"),
            '\t' => word.push_str("\\t"),
            '\'' | '\\' => word.extend(['\\', c]),
            // Of several spaces the last one alone would stay.
            ' ' if chars.peek() != Some(&' ') => word.push(' '),
            _ if shown => word.push(c),
            _ => word.extend(c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\{byte:03o}"))),
        }
    }
    word + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        assert_eq!(clean("a\x1b[31mb\n\tc \u{206A}\u{202E}d\u{200B}"), "a[31mb c d");
        assert_eq!(clean_lines("a\x1b]0;x\x07\r\n  b\u{9b}1m\u{2066}\tc"), "a]0;x \n  b1m c");
    }

    #[test]
    fn marks_stay_on_their_character() {
        for text in ["cafe\u{301}", "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}", "\u{e01}\u{e34}\u{e48}"] {
            assert_eq!(clean(text), text);
        }
        assert_eq!(clean("\u{301}a \u{301}b"), "a b", "a mark without a character");
        assert_eq!(clean(&format!("a{}", "\u{301}".repeat(50))).chars().count(), 1 + MARKS);
    }

    #[test]
    fn a_command_that_is_copied_stays_the_same_command() {
        for same in ["awk '/7/' words.txt", "cat cafe\u{301}"] {
            assert_eq!(command(same), same);
        }
        assert_eq!(command("sleep  1 "), "sleep 1");
        assert_eq!(
            command("for i in 1 2\ndo echo 'a  b'\ndone"),
            r"eval $'for i in 1 2\ndo echo \'a\040 b\'\ndone'"
        );
        assert_eq!(command("a\u{200b}\x1b[2J"), r"eval $'a\342\200\213\033[2J'");
        for text in ["a\u{200b}b\u{301}c", "  a\t\n b  ", "\u{a0}x"] {
            assert_eq!(clean(&quoted(text)), quoted(text), "it is not altered once more");
        }
    }
}
