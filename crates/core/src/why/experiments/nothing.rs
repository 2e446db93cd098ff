//! Words with which programs start and end without doing their work: by their names, or as a command line starts them.

use super::line::{Command, Line, quoted};
use super::statement::Untestable;

/// Words with which a program only starts and ends.
const NOTHING: [(&str, &str); 29] = [
    ("true", "true"),
    ("false", "false"),
    ("sh", "sh -c :"),
    ("dash", "dash -c :"),
    ("bash", "bash -c :"),
    ("zsh", "zsh -f -c :"),
    ("ksh", "ksh -c :"),
    ("awk", "awk 'BEGIN { }'"),
    ("gawk", "gawk 'BEGIN { }'"),
    ("mawk", "mawk 'BEGIN { }'"),
    ("cat", "cat /dev/null"),
    ("sed", "sed -n '' /dev/null"),
    ("grep", "grep -q x /dev/null"),
    ("sort", "sort /dev/null"),
    ("wc", "wc -c /dev/null"),
    ("head", "head -n0 /dev/null"),
    ("echo", "echo"),
    ("expr", "expr 1"),
    ("perl", "perl -e 0"),
    ("python3", "python3 -c ''"),
    ("ruby", "ruby -e 0"),
    ("python", "python -c ''"),
    ("node", "node -e 0"),
    ("nodejs", "nodejs -e 0"),
    ("php", "php -r ''"),
    ("lua", "lua -e ''"),
    ("java", "java -version"),
    ("Rscript", "Rscript -e 0"),
    ("jq", "jq -n 0"),
];

/// Options that say how an interpreter starts, and not what it does.
const OF_START: [(&str, &[&str]); 5] = [
    ("python3", &["-S", "-E", "-I", "-s", "-B", "-O", "-u", "-q"]),
    ("bash", &["--norc", "--noprofile", "--login", "-l", "-p"]),
    ("zsh", &["-f", "-l"]),
    ("perl", &["-w", "-T", "-t"]),
    ("ruby", &["--disable-gems", "--disable=gems", "-w"]),
];

/// Words with which the program of this name starts and ends at once.
pub(super) fn doing_nothing(command: &str) -> Option<String> {
    let name = versionless(command);
    let (_, words) = NOTHING.iter().find(|it| it.0 == name)?;
    Some(words.replacen(name, command, 1))
}

/// How the slower and the faster line start the same program, cut to words that do nothing else. An error where that does
/// not tell them apart.
pub(in crate::why) fn own_starts(
    command: &str,
    slow: &str,
    fast: &str,
) -> Result<(String, String), Untestable> {
    let cut = |text: &str| -> Option<String> {
        let name = versionless(command);
        let line = Line::of(text);
        let mut of_it = line.commands.iter().filter(|it| it.name().is_some_and(|it| versionless(it) == name));
        let first = cut(of_it.next()?)?;
        of_it.all(|it| cut(it).as_ref() == Some(&first)).then_some(first)
    };
    let (Some(slow), Some(fast)) = (cut(slow), cut(fast)) else {
        return Err(Untestable::StartsElsewhere { program: command.to_owned() });
    };
    if slow == fast {
        return Err(Untestable::SameStart { program: command.to_owned() });
    }
    Ok((slow, fast))
}

/// The words of a command, with the options of its start and nothing to do. `None` where that is not known.
fn cut(command: &Command) -> Option<String> {
    let (words, name) = (command.own(), versionless(command.name()?));
    let nothing = doing_nothing(name)?;
    let known = OF_START.iter().find(|it| it.0 == name)?.1;
    let options = words.iter().skip(1).take_while(|it| known.contains(&it.text.as_str())).count();
    let behind = words.get(1 + options).map(|it| it.text.as_str());
    // Options that are not known may belong to the start.
    if behind.is_some_and(|it| it.starts_with('-') && !["-", "-c", "-e"].contains(&it)) {
        return None;
    }
    let mut kept: Vec<String> = words[..=options].iter().map(|it| quoted(&it.text)).collect();
    let code = words.get(2 + options).filter(|_| behind == Some("-c") && name == "python3");
    match code.map(|it| imports(&it.text)).filter(|it| !it.is_empty()) {
        Some(imports) => kept.extend(["-c".to_owned(), quoted(&imports)]),
        None => kept.push(nothing.strip_prefix(name)?.trim_start().to_owned()),
    }
    Some(kept.join(" "))
}

/// The imports with which Python code begins: loading them is start-up.
fn imports(code: &str) -> String {
    let plain = |it: &&str| {
        ["import ", "from "].iter().any(|word| it.starts_with(word))
            && it.chars().all(|c| c.is_alphanumeric() || " ,._*".contains(c))
    };
    code.split([';', '\n']).map(str::trim).take_while(plain).collect::<Vec<_>>().join("; ")
}

/// python3 of python3.11.
fn versionless(command: &str) -> &str {
    let name = command.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if name == "python" { &command[..command.len().min(7)] } else { command }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_python_are_python() {
        assert_eq!(versionless("python3.11"), "python3");
        assert_eq!(versionless("python3"), "python3");
        assert_eq!(versionless("sha256sum"), "sha256sum");
    }

    #[test]
    fn a_line_s_own_starts_keep_what_belongs_to_the_start() {
        let own = |slow: &str, fast: &str| own_starts("python3.11", slow, fast);
        let pair = |slow: &str, fast: &str| Ok((slow.to_owned(), fast.to_owned()));
        assert_eq!(own("python3 x.py", "python3 -S x.py"), pair("python3 -c ''", "python3 -S -c ''"));
        assert_eq!(
            own("python3 -c 'import json,ssl; print(1)'", "a; /usr/bin/python3 -S -E -c 0"),
            pair("python3 -c 'import json,ssl'", "/usr/bin/python3 -S -E -c ''")
        );
        let program = || "python3.11".to_owned();
        assert_eq!(own("python3 a.py", "python3 b.py"), Err(Untestable::SameStart { program: program() }));
        for (slow, fast) in [
            ("python3 -c 1", "sh plain.sh"),
            ("python3 -X dev a.py", "python3 b.py"),
            ("python3 -S a; python3 b", "python3 -S c"),
            ("env X=1 python3 a", "python3 -S a"),
        ] {
            assert_eq!(
                own(slow, fast),
                Err(Untestable::StartsElsewhere { program: program() }),
                "{slow} {fast}"
            );
        }
        assert_eq!(
            own_starts("bash", "bash -l x", "bash --norc x"),
            pair("bash -l -c :", "bash --norc -c :")
        );
    }
}
