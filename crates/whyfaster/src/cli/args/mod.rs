//! What was typed, one field an option. The help texts of the program are the comments here.

mod compare;
mod demo;
mod detail;
mod elsewhere;
mod examples;
mod files;
mod fleet;
mod hyperfine;
mod manual;
mod others;
mod prices;
mod report;
mod store;
mod trace;
mod why;

pub use compare::{
    Allowance, CheckWord, CompareArgs, CpuList, LoadArgs, MetricArgs, MetricList, ModeWord, OutputArgs,
    PaceWord, PlacementArgs, PlacementWord, StatisticsArgs, UserArgs,
};
pub use demo::DemoArgs;
pub use detail::{DetailArgs, KeepArgs, SaveArgs};
pub use elsewhere::{AlongArgs, OnArgs};
pub use files::FileArgs;
pub use fleet::{
    FleetArgs, FleetDiffArgs, FleetFileArgs, FleetReportArgs, FleetResumeArgs, FleetRunArgs, FleetTask,
};
pub use hyperfine::{DisplayArgs, ExportFormatArgs, HyperfineArgs, StartArgs};
pub use manual::{CompletionsArgs, ManArgs};
pub use others::{DoctorArgs, ShowArgs, StudyArgs};
pub use prices::{InsideArgs, MachinesArgs, PricesArgs, ViewArgs};
pub use report::{PageArgs, PictureArgs, ReportArgs};
pub use store::{
    ChosenArgs, StoreAddArgs, StoreArgs, StoreGetArgs, StoreListArgs, StoreRemoveArgs, StoreTask,
    WhichStoreArgs,
};
pub use trace::{
    LevelWord, ObserveArgs, StreamArgs, TraceArgs, TraceOutputArgs, TraceRowsArgs, TraceShowArgs,
};
pub use why::{WhyArgs, WhyWord};

use clap::{ArgAction, Parser, Subcommand};

/// Which command is faster, why, and from what load on does the answer flip?
///
/// whyfaster runs commands that do the same work side by side, in fair order, alone and many copies at once, and says
/// which is faster, by how much, how sure that is, and from what load on another one wins.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "whyfaster",
    version,
    propagate_version = true,
    max_term_width = 100,
    disable_help_flag = true
)]
#[command(
    after_help = "'whyfaster compare --help-all' explains every option. Exit statuses: 0 done, 1 error, 2 usage, \
                        3 slower, 4 inconclusive, 5 a command failed, 6 machine unfit, 130 interrupted."
)]
pub struct Args {
    /// What to do; nothing: say what could be done.
    #[command(subcommand)]
    pub verb: Option<Verb>,

    /// Print the options that are used most
    #[arg(short, long, global = true, action = ArgAction::HelpShort)]
    pub help: Option<bool>,

    /// Print every option with its explanation
    #[arg(long, global = true, action = ArgAction::HelpLong)]
    pub help_all: Option<bool>,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Verb {
    /// Say which of these commands is faster, and from what load on that changes
    ///
    /// Every command is an alternative way to do the same work. In each round every alternative runs once, in a fresh
    /// random order, so that whatever drifts on the machine hits all of them alike. One command alone is measured
    /// without a comparison.
    #[command(before_help = examples::COMPARE, after_help = "All options of hyperfine 1.x are accepted; --help-all lists them too.")]
    Compare(Box<CompareArgs>),
    /// Explain one command or pipeline: where the time of its whole process tree went
    ///
    /// Processes, system calls, running, waiting for a CPU, blocked and by what: all from one run, with the cost of
    /// observing printed. The command shares the terminal, as under strace: it reads from it, and Ctrl-C goes to it
    /// (three within two seconds end it whatever it makes of them). It runs again untraced, to see what tracing cost.
    /// The exit status tells whether the trace was made; that of the command is in the report.
    #[command(before_help = examples::TRACE)]
    Trace(Box<TraceArgs>),
    /// Print a record again, with the analysis redone
    ///
    /// A record holds every raw sample, so nothing is run. The exports can be made from it as well.
    #[command(before_help = examples::SHOW)]
    Show(ShowArgs),
    /// Make a page of a record, a trace or price lists: one file with every picture and number
    ///
    /// The page is HTML that anybody can open: it loads nothing and needs no network, works without scripts and on paper, and holds
    /// every raw number. With scripts, curves and timelines can be zoomed.
    #[command(before_help = examples::REPORT)]
    Report(ReportArgs),
    /// List the studies, or run one: an article's measurement, repeated on this machine
    ///
    /// A study makes its own input, measures, and prints the article's figures beside this machine's, and for each
    /// claim of the article whether it holds here.
    #[command(before_help = examples::STUDY)]
    Study(StudyArgs),
    /// Price what this machine charges: system calls, processes, threads, pipes, page faults
    ///
    /// Small C programs do one operation again and again. Every price comes with a receipt of what really happened
    /// (switches, system calls, changes of CPU); a price that its receipt contradicts is refused.
    #[command(before_help = examples::PRICES)]
    Prices(Box<PricesArgs>),
    /// Set price lists side by side: which machine charges more, for what, and why
    ///
    /// A list is a file that 'whyfaster prices --record FILE' wrote, or a built-in one with the figures of an article.
    #[command(before_help = examples::MACHINES)]
    Machines(MachinesArgs),
    /// Ask the same of many machines: how they differ, by which facts, and which of them stand out
    ///
    /// 'compare', 'prices', 'trace' and 'doctor' measure on them: whyfaster goes there by itself, and the records come home. 'report'
    /// and 'diff' read records, also those that 'whyfaster prices --record' and 'whyfaster compare --record' wrote.
    #[command(before_help = examples::FLEET, disable_help_subcommand = true)]
    Fleet(FleetArgs),
    /// Keep records of many machines in a database, where 'fleet' asks them
    ///
    /// The store is a file of SQLite, or a database of a PostgreSQL server. Each record is kept whole, and in tables for whoever knows SQL; the same record is never counted
    /// twice.
    #[command(before_help = examples::STORE, disable_help_subcommand = true)]
    Store(StoreArgs),
    /// Say what this machine allows, how noisy it is, and what would help
    #[command(before_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// Show a pair of commands whose order flips from one copy to many, in less than 30 seconds
    ///
    /// It makes its input in a temporary directory, compares one sed with a pipeline of two, alone and with many copies at
    /// once, and says whether the order flipped here. It downloads nothing and leaves nothing behind.
    #[command(before_help = examples::DEMO)]
    Demo(DemoArgs),
    /// Show the manual: of whyfaster, or of one verb
    ///
    /// On a terminal the page opens in 'man'; where there is no 'man', the same text is printed. Into a file or a pipe goes
    /// the source of the page (roff), such as: whyfaster man compare > whyfaster-compare.1
    #[command(before_help = examples::MAN)]
    Man(ManArgs),
    /// Print the completions for a shell
    ///
    /// bash: whyfaster completions bash > ~/.local/share/bash-completion/completions/whyfaster
    #[command(before_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
    }

    /// With the most common width of a terminal, and with the widest that is used.
    #[test]
    fn the_help_of_compare_fits_a_screen() {
        for width in [80, 100] {
            let mut command = Args::command().term_width(width);
            command.build();
            let compare = command.find_subcommand_mut("compare").unwrap();
            let (short, all) = (compare.render_help().to_string(), compare.render_long_help().to_string());
            assert!(short.lines().count() <= 60, "{} lines at {width}:\n{short}", short.lines().count());
            assert!(
                all.lines().count() > 200 && all.contains("--placement") && !short.contains("--placement")
            );
        }
    }

    #[test]
    fn the_help_of_every_verb_begins_with_three_examples_that_are_command_lines() {
        let mut command = Args::command();
        command.build();
        for verb in
            command.get_subcommands_mut().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help")
        {
            for help in [verb.render_help(), verb.render_long_help()] {
                let help = help.to_string();
                let mut lines = help.lines();
                assert_eq!(lines.next(), Some("Examples:"), "{help}");
                let examples: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
                assert_eq!(examples.len(), 3, "{help}");
                for example in examples {
                    let line = example.split("  #").next().unwrap_or_default();
                    let line = line.split(" > ").next().unwrap_or_default();
                    let words = shell_words::split(line).unwrap();
                    let parsed = Args::try_parse_from(&words);
                    assert!(words[1] == verb.get_name() && parsed.is_ok(), "{example}: {parsed:?}");
                    assert!(example.chars().count() <= 82, "{example}");
                }
            }
        }
    }

    #[test]
    fn every_option_has_a_help_text_and_a_heading() {
        let command = Args::command();
        for verb in command.get_subcommands() {
            for option in verb.get_arguments().filter(|a| !a.is_hide_set() && !a.is_positional()) {
                let id = option.get_id().as_str();
                if ["help", "help_all", "version"].contains(&id) {
                    continue;
                }
                assert!(option.get_help().is_some(), "{} {id} has no help", verb.get_name());
                assert!(option.get_help_heading().is_some(), "{} {id} has no heading", verb.get_name());
            }
        }
    }
}
