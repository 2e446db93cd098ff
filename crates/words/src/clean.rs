//! Foreign text made safe for a terminal: names, messages and paths that others chose.

use unicode_width::UnicodeWidthChar;

/// What a terminal may get of foreign text: no control characters, nothing invisible, one kind of white space.
fn harmless(c: char) -> Option<char> {
    let c = if c.is_whitespace() { ' ' } else { c };
    let visible = c.width().is_some_and(|width| width > 0);
    (visible && !matches!(c, '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}')).then_some(c)
}

/// Foreign text made safe for one line of a terminal: no control characters, nothing invisible, single spaces.
pub fn clean(text: &str) -> String {
    let spaced: String = text.chars().filter_map(harmless).collect();
    spaced.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The same for text of several lines, which keeps its lines and its spaces.
pub fn clean_lines(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.chars().filter_map(harmless).collect::<String>());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        assert_eq!(clean("a\x1b[31mb\n\tc \u{206A}\u{202E}d\u{200B}"), "a[31mb c d");
        assert_eq!(clean_lines("a\x1b]0;x\x07\r\n  b\u{9b}1m\u{2066}\tc"), "a]0;x \n  b1m c");
    }
}
