//! How often the commands of a line run, as far as the line says.

use super::line::{Command, OPENING, Word};

/// How often the commands run, by the loops that they are in.
pub(super) fn count(commands: &mut [Command]) {
    let mut loops: Vec<Option<f64>> = Vec::new();
    for command in commands {
        for (at, word) in command.words.iter().enumerate() {
            match word.text.as_str() {
                "for" => loops.push(items(&command.words[at + 1..])),
                "while" | "until" => loops.push(None),
                "done" => drop(loops.pop()),
                word if OPENING.contains(&word) => {}
                _ => break,
            }
        }
        command.times = loops.iter().copied().product();
    }
}

/// How many words `for NAME in ...` goes through, if it names them.
fn items(words: &[Word]) -> Option<f64> {
    let items = words.get(2..).filter(|_| words[1].text == "in")?;
    let named = items.iter().all(|word| !word.text.contains(['$', '`', '*', '?', '[', '{']));
    // The cast is of a small whole number.
    named.then_some(items.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::line::Line;

    #[test]
    fn loops_are_counted_where_they_say_how_often() {
        let times = |text: &str| Line::of(text).called("x").map(|it| it.times).collect::<Vec<_>>();
        assert_eq!(
            times("x; for i in 1 2 3; do x; for j in a b; do x; done; done; x"),
            [1, 3, 6, 1].map(|n| Some(f64::from(n)))
        );
        assert_eq!(times("while y; do x; done; x"), [None, Some(1.0)]);
        assert_eq!(
            times("while x; do y; done; if x; then x; else ! x; fi"),
            [None, Some(1.0), Some(1.0), Some(1.0)]
        );
        for unknown in [
            "for i in $(seq 5); do x; done",
            "for i in *; do x; done",
            "for i; do x; done",
            "f() { x; }; f; f",
        ] {
            assert_eq!(times(unknown), [None], "{unknown}");
        }
    }
}
