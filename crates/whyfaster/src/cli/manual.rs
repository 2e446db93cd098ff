//! Man pages and completions, made from the command line itself. The committed ones (`man/`, `completions/`) come from the
//! same functions.

use std::io;

use clap::{Command, CommandFactory};
use clap_complete::{Generator, Shell};
use clap_mangen::Man;

use super::args::Args;

const PROGRAM: &str = "whyfaster";

/// A page of the manual.
#[derive(Clone, Debug)]
pub struct Page {
    /// The verb; `None`: the page is about the program itself.
    pub verb: Option<String>,
    command: Command,
}

impl Page {
    /// What the page is called: `whyfaster`, `whyfaster-VERB` or `whyfaster-VERB-TASK`.
    pub fn name(&self) -> String {
        match &self.verb {
            Some(verb) => format!("{PROGRAM}-{verb}"),
            None => PROGRAM.to_owned(),
        }
    }

    /// The page as `man` reads it.
    pub fn roff(&self) -> io::Result<Vec<u8>> {
        let mut page = Vec::new();
        Man::new(self.command.clone().name(self.name())).render(&mut page)?;
        Ok(page)
    }

    /// The same as text: what `--help` prints.
    pub fn text(&self) -> String {
        self.command.clone().render_long_help().to_string()
    }
}

/// All pages, that of the program first.
pub fn pages() -> Vec<Page> {
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    let page = |name: String, command: &Command| Page { verb: Some(name), command: command.clone() };
    let of_verb = |verb: &Command| -> Vec<Page> {
        let name = verb.get_name();
        let tasks = verb.get_subcommands().map(|task| page(format!("{name}-{}", task.get_name()), task));
        [page(name.to_owned(), verb)].into_iter().chain(tasks).collect()
    };
    let verbs: Vec<Page> = program.get_subcommands().flat_map(of_verb).collect();
    [Page { verb: None, command: program }].into_iter().chain(verbs).collect()
}

/// The completions for a shell.
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), PROGRAM, &mut script);
    script
}

/// The file name under which a shell looks for its completions.
pub fn completions_file(shell: Shell) -> String {
    shell.file_name(PROGRAM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_verb_has_a_page_that_names_itself() {
        let pages = pages();
        let verbs: Vec<&str> = pages.iter().filter_map(|page| page.verb.as_deref()).collect();
        for verb in Args::command().get_subcommands() {
            assert!(verbs.contains(&verb.get_name()), "{verbs:?}");
        }
        assert!(verbs.contains(&"fleet-report") && !verbs.iter().any(|it| it.contains("help")), "{verbs:?}");
        for page in &pages {
            let roff = String::from_utf8(page.roff().unwrap()).unwrap();
            assert!(roff.contains(&format!(".TH {} 1", page.name())), "{roff}");
            assert!(page.text().contains("Usage: whyfaster"), "{}", page.text());
        }
    }

    #[test]
    fn every_shell_completes_every_verb() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(completions(*shell)).unwrap();
            for verb in Args::command().get_subcommands() {
                assert!(script.contains(verb.get_name()), "{shell}");
            }
        }
    }
}
