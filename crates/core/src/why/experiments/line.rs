//! A command line for a shell, cut into commands and words as far as that can be told without running it.
//!
//! Only as much of the shell's grammar is known as is needed to change a word and leave everything else as it was written:
//! quotes, escapes, operators, redirections. What is not understood is left alone.

use std::ops::Range;

/// A word: where it stands, and what it says without its quotes.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::why) struct Word {
    pub place: Range<usize>,
    pub text: String,
    /// A redirection with its target.
    pub redirects: bool,
}

/// One command, with the words before the next operator.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::why) struct Command {
    pub place: Range<usize>,
    pub words: Vec<Word>,
    /// It reads what the command before it writes.
    pub piped: bool,
    /// How often it runs, at most; `None`: the line does not say.
    pub times: Option<f64>,
}

/// A command line.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::why) struct Line {
    pub commands: Vec<Command>,
    /// One pipeline of plain commands: nothing but `|` between them, no subshell, no substitution, no keyword.
    pub pipeline: bool,
}

impl Word {
    /// The word without its directory.
    pub(in crate::why) fn file(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or(&self.text)
    }
}

impl Command {
    /// The words of the command itself: without keywords and assignments before it and without redirections.
    pub(in crate::why) fn own(&self) -> Vec<&Word> {
        let plain = self.words.iter().filter(|word| !word.redirects);
        let behind = plain.skip_while(|word| OPENING.contains(&word.text.as_str()));
        behind.skip_while(|word| is_assignment(&word.text)).collect()
    }

    /// Whether it is a program with nothing of the shell's grammar before it.
    fn is_plain(&self) -> bool {
        let first = self.words.iter().find(|word| !word.redirects && !is_assignment(&word.text));
        let name = self.name().filter(|name| !BUILTINS.contains(name));
        first.is_some_and(|word| !KEYWORDS.contains(&word.text.as_str())) && name.is_some()
    }

    /// What it is called, without its directory.
    pub(in crate::why) fn name(&self) -> Option<&str> {
        let first = self.own().into_iter().next()?;
        Some(first.file())
    }

    /// Whether nothing is redirected.
    pub(in crate::why) fn redirects_nothing(&self) -> bool {
        self.words.iter().all(|word| !word.redirects)
    }
}

/// Words that begin something else than a plain command.
const KEYWORDS: [&str; 17] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "{", "}", "!",
    "function", "time",
];

/// Of these: words behind which a command stands.
pub(in crate::why) const OPENING: [&str; 9] =
    ["if", "then", "else", "elif", "while", "until", "do", "{", "!"];

/// Commands that the shell does itself and that no wrapper can begin.
const BUILTINS: [&str; 22] = [
    "read", "cd", "exec", "eval", "set", "export", "unset", "shift", "trap", "wait", "exit", "return",
    "break", "continue", "local", "alias", "umask", "ulimit", "source", ".", ":", "mapfile",
];

impl Line {
    /// Cuts a line.
    pub(in crate::why) fn of(text: &str) -> Self {
        let mut cutter = Cutter::default();
        cutter.run(text);
        let pipeline = cutter.only_pipes && cutter.commands.iter().all(Command::is_plain);
        let mut commands: Vec<Command> =
            cutter.commands.into_iter().filter(|it| !it.words.is_empty()).collect();
        // How often a function is called is not looked for.
        if !text.contains("()") {
            count_runs(&mut commands);
        }
        Self { commands, pipeline }
    }

    /// The commands called by this name.
    pub(in crate::why) fn called<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Command> {
        self.commands.iter().filter(move |command| command.name() == Some(name))
    }
}

/// Replaces places of a text; the places do not overlap.
pub(in crate::why) fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut text = text.to_owned();
    for (place, by) in edits {
        text.replace_range(place, &by);
    }
    text
}

/// A word for a shell.
pub(in crate::why) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The state of a cut.
struct Cutter {
    commands: Vec<Command>,
    only_pipes: bool,
    word: Option<Word>,
    /// Behind the operator of a redirection, before its target.
    target: bool,
}

impl Default for Cutter {
    fn default() -> Self {
        Self { commands: vec![Command::default()], only_pipes: true, word: None, target: false }
    }
}

impl Cutter {
    fn run(&mut self, text: &str) {
        let letters: Vec<(usize, char)> = text.char_indices().collect();
        let end = |at: usize| letters.get(at).map_or(text.len(), |it| it.0);
        let mut at = 0;
        while at < letters.len() {
            let (place, letter) = letters[at];
            let next = letters.get(at + 1).map(|it| it.1);
            let mut step = 1;
            match letter {
                '\'' | '"' => step = self.quotes(&letters[at..], letter, text.len()),
                '\\' => {
                    step = 2;
                    self.add(place, end(at + 2), next);
                }
                ' ' | '\t' => self.blank(),
                '<' | '>' => step = self.redirection(&letters[at..], text.len()),
                '|' if next == Some('|') || next == Some('&') => step = self.operator(2, false),
                '|' => step = self.operator(1, true),
                '&' if next == Some('&') => step = self.operator(2, false),
                ';' | '&' | '\n' | '(' | ')' => step = self.operator(1, false),
                '`' => {
                    self.only_pipes = false;
                    self.add(place, end(at + 1), Some(letter));
                }
                '#' if self.word.is_none() => {
                    self.only_pipes = false;
                    break;
                }
                _ => self.add(place, end(at + 1), Some(letter)),
            }
            at += step;
        }
        self.close();
    }

    /// Adds to the word, or begins one.
    fn add(&mut self, from: usize, to: usize, letter: Option<char>) {
        self.target = false;
        let word = self.word.get_or_insert_with(|| Word {
            place: from..from,
            text: String::new(),
            redirects: false,
        });
        word.place.end = to;
        word.text.extend(letter);
    }

    /// What stands between quotes; returns how many letters that are.
    fn quotes(&mut self, letters: &[(usize, char)], quote: char, end: usize) -> usize {
        let start = letters[0].0;
        self.add(start, start + 1, None);
        let mut at = 1;
        while let Some(&(_, letter)) = letters.get(at) {
            if letter == quote {
                break;
            }
            if quote == '"'
                && (letter == '`' || (letter == '$' && letters.get(at + 1).is_some_and(|it| it.1 == '(')))
            {
                // A command within a command: its quotes are its own.
                self.only_pipes = false;
            }
            if quote == '"' && letter == '\\' && letters.get(at + 1).is_some_and(|it| "\"\\$`".contains(it.1))
            {
                at += 1;
            }
            self.add(start, start + 1, letters.get(at).map(|it| it.1));
            at += 1;
        }
        // A quote without an end: the line is not understood.
        self.only_pipes &= at < letters.len();
        let to = letters.get(at + 1).map_or(end, |it| it.0);
        self.add(start, to, None);
        at + 1
    }

    fn redirection(&mut self, letters: &[(usize, char)], end: usize) -> usize {
        let descriptor = self.word.as_ref().is_some_and(|word| word.text.chars().all(|c| c.is_ascii_digit()));
        if !descriptor {
            self.close();
        }
        let length = letters.iter().take_while(|(_, letter)| "<>&|".contains(*letter)).count();
        let operator: String = letters[..length].iter().map(|it| it.1).collect();
        if operator.starts_with("<<") {
            self.only_pipes = false;
        }
        let to = letters.get(length).map_or(end, |it| it.0);
        let start = letters[0].0;
        let word = self.word.get_or_insert_with(|| Word {
            place: start..start,
            text: String::new(),
            redirects: true,
        });
        word.redirects = true;
        word.text.push_str(&operator);
        word.place.end = to;
        self.target = true;
        length
    }

    fn blank(&mut self) {
        if !self.target {
            self.close();
        }
    }

    fn operator(&mut self, length: usize, pipe: bool) -> usize {
        self.close();
        self.only_pipes &= pipe;
        self.commands.push(Command { piped: pipe, ..Command::default() });
        length
    }

    fn close(&mut self) {
        self.target = false;
        let Some(word) = self.word.take() else { return };
        let Some(command) = self.commands.last_mut() else { return };
        if command.words.is_empty() {
            command.place = word.place.clone();
        }
        command.place.end = word.place.end;
        command.words.push(word);
    }
}

/// How often the commands run, by the loops that they are in.
fn count_runs(commands: &mut [Command]) {
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
    use super::*;

    fn names(text: &str) -> (bool, Vec<String>) {
        let line = Line::of(text);
        (line.pipeline, line.commands.iter().filter_map(|it| it.name().map(str::to_owned)).collect())
    }

    #[test]
    fn pipelines_are_cut_at_top_level_bars() {
        let names_of = |text: &str| names(text).1.join(" ");
        assert_eq!(
            names("cat f | awk '{ a | b }' | sort"),
            (true, vec!["cat".into(), "awk".into(), "sort".into()])
        );
        assert_eq!(names_of("LC_ALL=C sort < in >out 2>&1 | /usr/bin/wc -l"), "sort wc");
        assert!(names("LC_ALL=C sort < in >out 2>&1 | wc -l").0);
        assert_eq!(names_of(r#"grep "a|b\"|" x | tr \| y"#), "grep tr");
        assert_eq!(names("x >| y | z"), (true, vec!["x".into(), "z".into()]));
    }

    #[test]
    fn what_is_no_plain_pipeline_is_said_to_be_none() {
        for text in [
            "a; b",
            "a && b",
            "a || b",
            "a & b",
            "a |& b",
            "(a | b)",
            "a | $(b)",
            "a \"$(b | c)\"",
            "`a` | b",
            "a << x",
            "while read x; do y; done",
            "a | while read x",
            "a | { b }",
            "! a | b",
            "a 'b",
            "a # b | c",
            "a | read x",
            "",
        ] {
            assert!(!names(text).0, "{text}");
        }
    }

    #[test]
    fn words_know_their_places() {
        let text = "nice -n '5' x > f;  dd bs=1 ";
        let line = Line::of(text);
        let own: Vec<&str> = line.commands[0].own().iter().map(|word| &text[word.place.clone()]).collect();
        assert_eq!(own, ["nice", "-n", "'5'", "x"]);
        assert_eq!(line.commands[0].own()[2].text, "5");
        assert_eq!(&text[line.commands[1].place.clone()], "dd bs=1");
        let redirection = line.commands[0].words.last().unwrap();
        assert!(redirection.redirects && &text[redirection.place.clone()] == "> f");
        let place = line.commands[1].own()[1].place.clone();
        assert_eq!(
            edited(text, vec![(place, "bs=9".into()), (0..4, "env".into())]),
            "env -n '5' x > f;  dd bs=9 "
        );
    }

    #[test]
    fn who_reads_from_whom_is_known() {
        let piped = |text: &str| Line::of(text).commands.iter().map(|it| it.piped).collect::<Vec<_>>();
        assert_eq!(piped("a | b; c | d || e"), [false, true, false, true, false]);
        assert_eq!(piped("a | (b; c)"), [false, false, false]);
    }

    #[test]
    fn letters_of_several_bytes() {
        let text = "echo 'ä|ö' ü\\ß | cat ñ";
        let line = Line::of(text);
        assert!(line.pipeline);
        assert_eq!(line.commands[0].own()[1].text, "ä|ö");
        assert_eq!(&text[line.commands[1].own()[1].place.clone()], "ñ");
        assert_eq!(quoted("it's ü"), "'it'\\''s ü'");
    }

    proptest::proptest! {
        /// Whatever stands there, places are within the text and in order, and nothing panics.
        #[test]
        fn any_text_is_cut(text in "[a-z |&;<>'\"\\\\$`(){}#=ü0-9\n]{0,40}") {
            let line = Line::of(&text);
            let mut last = 0;
            for word in line.commands.iter().flat_map(|command| &command.words) {
                proptest::prop_assert!(last <= word.place.start && word.place.start < word.place.end);
                proptest::prop_assert!(text.get(word.place.clone()).is_some());
                last = word.place.end;
            }
        }
    }

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
