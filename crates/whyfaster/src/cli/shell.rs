//! Which shell runs the commands: `-S`, `-N` and `--shell`, and what a command line may hold without one.

use clap::ArgMatches;
use clap::parser::ValueSource;
use whyfaster_core::plan::{Shell, defaults};
use whyfaster_core::trace::command::SHELLS;
use whyfaster_words::display::Hyperfine;
use whyfaster_words::exit::Failure;

use super::args::StartArgs;

/// The shell that the options ask for; without any, hyperfine 2 takes none.
pub(super) fn shell(start: &StartArgs, called: Option<Hyperfine>) -> Result<Shell, Failure> {
    let hint = "Give a shell such as: --shell 'bash --norc', or 'default', or 'none'.";
    match start.shell.as_deref() {
        _ if start.no_shell => Ok(Shell::None),
        Some("none") => Ok(Shell::None),
        None if called == Some(Hyperfine::Two) && !start.default_shell => Ok(Shell::None),
        None | Some("default") => Ok(Shell::Command(vec![defaults::SHELL.to_owned()])),
        Some(text) => match shell_words::split(text) {
            Ok(words) if words.first().is_some_and(|word| !word.is_empty()) => Ok(Shell::Command(words)),
            Ok(_) => Err(Failure::usage("--shell: the command is empty", hint)),
            Err(error) => Err(Failure::usage(format!("--shell: '{text}' is no command line: {error}"), hint)),
        },
    }
}

/// hyperfine 1 reads the word behind `-S` as the shell, hyperfine 2 as a command. Where that word can hardly be a command
/// to measure, and another one is there, it is the shell.
pub(super) fn named_behind_s(
    start: &mut StartArgs,
    commands: &mut Vec<String>,
    id: &str,
    words: &ArgMatches,
) {
    if words.value_source("default_shell") != Some(ValueSource::CommandLine) || commands.len() < 2 {
        return;
    }
    let flag = words.index_of("default_shell");
    let behind = words
        .indices_of(id)
        .and_then(|mut indices| indices.position(|index| flag.is_some_and(|flag| index == flag + 1)));
    if let Some(place) = behind.filter(|place| is_shell(&commands[*place])) {
        start.shell = Some(commands.remove(place));
        start.default_shell = false;
        start.named_behind_s = true;
    }
}

/// Whether this is a shell's name or path with nothing but options, or one of the two words that `--shell` knows.
fn is_shell(text: &str) -> bool {
    let words = shell_words::split(text).unwrap_or_default();
    let Some((program, options)) = words.split_first() else { return false };
    let name = program.rsplit('/').next().unwrap_or_default();
    let known = matches!(text, "none" | "default") || SHELLS.contains(&name);
    known && options.iter().all(|option| option.starts_with('-'))
}

/// What is said where `-S` named a shell.
pub(super) fn note(start: &StartArgs) -> Option<String> {
    let shell = start.shell.as_deref().filter(|_| start.named_behind_s)?;
    let shell = shell_words::quote(shell);
    Some(format!(
        "-S {shell} names the shell, as in hyperfine 1; in hyperfine 2 -S takes no value: --shell {shell} works in both"
    ))
}

/// The same, and none of the words may be meant for a shell.
pub(super) fn check_line(command: &str) -> Result<(), Failure> {
    if let Some(operator) = operator(command) {
        let way = if is_assignment(operator) {
            format!("Set it with --env '{operator}'")
        } else {
            format!("Quote '{operator}' if the program is to get it as a word")
        };
        return Err(Failure::usage(
            format!("'{command}' is started without a shell, which knows no '{operator}'"),
            format!("{way}, or leave out -N so that a shell reads it."),
        ));
    }
    check_split(command)
}

/// The same where nobody asked for no shell: hyperfine 2 then wants to be told.
pub(super) fn check_unasked(command: &str) -> Result<(), Failure> {
    let Some(operator) = operator(command) else { return Ok(()) };
    let (message, third) = if is_assignment(operator) {
        let message =
            format!("Cannot run '{command}' directly because it starts with a variable assignment.");
        (message, format!("\n  --env '{operator}'    Set the variable."))
    } else {
        (format!("Command '{command}' contains unquoted shell syntax ('{operator}')."), String::new())
    };
    let ways = format!(
        "Explicitly choose how to execute it:\n  \
         -S / --shell=default  Interpret shell syntax.\n  \
         -N / --shell=none     Run directly, passing '{operator}' as a literal argument.{third}"
    );
    Err(Failure::usage(message, ways))
}

/// A command line that is started without a shell must be words.
pub(super) fn check_split(command: &str) -> Result<(), Failure> {
    let why = match shell_words::split(command) {
        Ok(words) if words.first().is_some_and(|word| !word.is_empty()) => return Ok(()),
        Ok(_) => "it names no program".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(Failure::usage(
        format!("'{command}' cannot be started without a shell: {why}"),
        "Correct the quotes, or leave out -N so that a shell runs it.",
    ))
}

/// The first word that only a shell understands: an operator that stands alone, a redirection, an assignment before the
/// program. What is attached to a word, such as `a>b` and `*.rs`, may be meant as it is, and is left to the program.
fn operator(command: &str) -> Option<&str> {
    let mut words = Words { rest: command };
    let first = words.next()?;
    if is_assignment(first) {
        return Some(first);
    }
    std::iter::once(first).chain(words).find(|word| {
        matches!(*word, "|" | "|&" | "||" | "&" | "&&" | ";" | "&>" | "&>>") || is_redirection(word)
    })
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

/// `>`, `>>`, `<`, `2>`, `2>&1`, `2>/dev/null`; a bare `>file` as well.
fn is_redirection(word: &str) -> bool {
    let behind = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let operators = behind.len() - behind.trim_start_matches(['<', '>']).len();
    (1..=2).contains(&operators)
}

/// The words of a command line with their quotes and escapes, divided where a shell divides them.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.skip_blanks();
        let mut quote = None;
        let mut chars = self.rest.char_indices();
        let end = loop {
            let Some((at, c)) = chars.next() else { break self.rest.len() };
            match (quote, c) {
                (Some(open), _) if c == open => quote = None,
                (None, '\'' | '"') => quote = Some(c),
                (None | Some('"'), '\\') => drop(chars.next()),
                (None, ' ' | '\t' | '\n') => break at,
                _ => {}
            }
        };
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }
}

impl Words<'_> {
    /// Blanks, comments, and lines that go on.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest.trim_start_matches([' ', '\t', '\n']);
            self.rest = if rest.starts_with('#') {
                rest.find('\n').map_or("", |end| &rest[end..])
            } else if let Some(next) = rest.strip_prefix("\\\n") {
                next
            } else {
                self.rest = rest;
                return;
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_a_command_line() {
        let of = |word: Option<&str>, no_shell| {
            shell(&StartArgs { shell: word.map(Into::into), no_shell, ..StartArgs::default() }, None)
        };
        assert_eq!(of(None, false).unwrap(), Shell::Command(vec!["sh".into()]));
        assert_eq!(of(Some("default"), false).unwrap(), Shell::Command(vec!["sh".into()]));
        assert_eq!(of(Some("none"), false).unwrap(), Shell::None);
        assert_eq!(of(None, true).unwrap(), Shell::None);
        let words = ["bash", "-x", "a b"].map(String::from).to_vec();
        assert_eq!(of(Some("bash -x 'a b'"), false).unwrap(), Shell::Command(words));
        for text in ["", "''", "bash 'x"] {
            assert!(of(Some(text), false).is_err(), "{text} was accepted");
        }
    }

    #[test]
    fn a_shell_behind_s_has_only_options() {
        for text in ["bash", "/usr/bin/zsh", "bash --norc -e", "none", "default"] {
            assert!(is_shell(text), "{text}");
        }
        for text in ["", "echo a | cat", "bash run.sh", "sh -c 'true'", "bashful", "none -x y", "'bash"] {
            assert!(!is_shell(text), "{text}");
        }
    }

    #[test]
    fn what_only_a_shell_understands_is_found() {
        for (line, found) in [
            ("a | b", "|"),
            ("a && b > c", "&&"),
            ("a ; b", ";"),
            ("a &", "&"),
            ("a b >> c", ">>"),
            ("a < b", "<"),
            ("a 2> b", "2>"),
            ("a 2>&1 b", "2>&1"),
            ("a >b", ">b"),
            ("A=1 b", "A=1"),
            (" # c\n_A= b", "_A="),
            ("a # | b\n c || d", "||"),
            ("a \\\n&& b", "&&"),
            ("a 'x' \"y\" | b", "|"),
        ] {
            assert_eq!(operator(line), Some(found), "{line}");
        }
        for line in [
            "",
            "a",
            "a '|' \"&&\" \\; '>'",
            "a b;c d>e *.rs ~/x $HOME",
            "sh -c 'a | b > c'",
            "env A=1 b",
            "a -DA=1 1 22",
            "'A=1' b",
            "a \"b \\\" | c\"",
            "a >>> b",
            "a 'b | c",
            "a # | b",
        ] {
            assert_eq!(operator(line), None, "{line}");
        }
    }
}
