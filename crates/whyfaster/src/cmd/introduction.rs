//! `whyfaster` alone: what it does, and three commands to try.

use whyfaster_store as store;
use whyfaster_words::exit::Exit;

/// Fits on every screen: at most 20 lines of 80 columns. The commands run as they stand here on every Linux.
const TEXT: &str = "\
whyfaster says which of two commands is faster, why, and from how many copies at
once on the other one wins.

Three commands to try:

  whyfaster demo
      Two commands that change places: one wins alone, the other in a crowd.

  whyfaster compare --load 1,8 'seq 300000 | wc -l' 'seq 300000 | grep -c .'
      Which of these is faster, alone and with 8 copies at once?

  whyfaster trace 'seq 300000 | sort | tail -n 1'
      Where did the time of this pipeline go?

'whyfaster --help' lists all verbs, 'whyfaster man' is the manual, and
'whyfaster doctor' says what this machine allows.
";

/// Prints it. Nothing was asked for, and nothing went wrong: the exit status is 0.
pub fn run() -> anyhow::Result<Exit> {
    store::to_stdout(TEXT.as_bytes())?;
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Args;
    use clap::Parser;

    #[test]
    fn it_fits_on_every_screen_and_its_commands_are_ones() {
        assert!(TEXT.lines().count() <= 20);
        assert!(TEXT.lines().all(|line| line.chars().count() <= 80), "{TEXT}");
        let commands: Vec<&str> = TEXT
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .filter(|line| !line.starts_with(' '))
            .collect();
        assert_eq!(commands.len(), 3);
        for command in commands {
            let words = shell_words::split(command).unwrap();
            assert!(Args::try_parse_from(words).is_ok_and(|args| args.verb.is_some()), "{command}");
        }
    }
}
