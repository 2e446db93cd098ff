//! Which system calls are to be printed: a list of terms, each for a call, a command, or a call of a command.

use super::names;

/// One term: `read`, `sort:`, `sort:read`, or with `!` before it what to leave out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    without: bool,
    command: Option<String>,
    call: Option<String>,
}

/// Terms. What one of them wants is printed, but for what one leaves out; if none wants anything, all that none leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallFilter {
    terms: Vec<Term>,
}

impl Term {
    fn of(word: &str) -> Self {
        let (without, word) = word.strip_prefix('!').map_or((false, word), |rest| (true, rest));
        // The name of a command may hold a colon, that of a call never does.
        let (command, call) =
            word.rsplit_once(':').map_or((None, word), |(command, call)| (Some(command), call));
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Self { without, command: command.and_then(some), call: some(call) }
    }

    fn matches(&self, call: &str, command: &str) -> bool {
        self.call.as_deref().is_none_or(|it| it == call)
            && self.command.as_deref().is_none_or(|it| it == command)
    }
}

impl CallFilter {
    /// Reads terms that commas divide.
    pub fn parse(text: &str) -> Self {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        Self { terms: words.map(Term::of).collect() }
    }

    /// Whether a call of a command is to be printed.
    pub fn passes(&self, call: &str, command: &str) -> bool {
        let (without, wanted): (Vec<&Term>, Vec<&Term>) = self.terms.iter().partition(|term| term.without);
        let matches = |terms: &[&Term]| terms.iter().any(|term| term.matches(call, command));
        !matches(&without) && (wanted.is_empty() || matches(&wanted))
    }

    /// The first name in it that no system call of this machine has.
    pub fn unknown_call(&self) -> Option<&str> {
        self.terms.iter().filter_map(|term| term.call.as_deref()).find(|name| !names::is_call(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_add_up_and_what_is_left_out_is_left_out() {
        let printed = |text: &str| {
            let filter = CallFilter::parse(text);
            let all = [("read", "sh"), ("openat", "sh"), ("read", "xargs"), ("openat", "xargs")];
            all.iter().map(|(call, command)| u8::from(filter.passes(call, command))).collect::<Vec<_>>()
        };
        assert_eq!(printed(""), [1, 1, 1, 1]);
        assert_eq!(printed("sh:read, xargs:openat"), [1, 0, 0, 1]);
        assert_eq!(printed("sh:read,xargs:"), [1, 0, 1, 1]);
        assert_eq!(printed("read,!xargs:"), [1, 0, 0, 0]);
        assert_eq!(printed("!sh:read"), [0, 1, 1, 1]);
        assert_eq!(printed("read,!read"), [0, 0, 0, 0]);
    }

    #[test]
    fn names_of_calls_are_checked_and_those_of_commands_are_not() {
        assert_eq!(CallFilter::parse("read,!openat,a:b:close,nobody:").unknown_call(), None);
        assert_eq!(CallFilter::parse("read,sh:no_call").unknown_call(), Some("no_call"));
    }
}
