//! The options of hyperfine 1.x, with its names, short forms and counts. The words of the help are ours.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueHint};
use whyfaster_words::display::{Hyperfine, Sort, Style, TimeUnit};

use super::detail::DetailArgs;
use crate::cli::numbers;

/// Options that mean what they mean in hyperfine 1.x.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "As in hyperfine")]
pub struct HyperfineArgs {
    /// Run each command NUM times untimed first
    ///
    /// Fills caches. Warm-up runs are no samples and appear in no number.
    #[arg(short, long, value_name = "NUM", value_parser = numbers::count_or_none, default_value_t = 0, hide_default_value = true)]
    pub warmup: u32,

    /// Run at least NUM rounds [default: as many as an interval needs; of a single command 10]
    #[arg(short, long, value_name = "NUM", value_parser = numbers::count, hide_short_help = true)]
    pub min_runs: Option<u32>,

    /// Run at most NUM rounds [default: as many as the verdict needs]
    #[arg(short = 'M', long, value_name = "NUM", value_parser = numbers::count, hide_short_help = true)]
    pub max_runs: Option<u32>,

    /// Run each exactly NUM times, and nothing else
    ///
    /// Only the runs of --warmup come on top: there is no trial, no second run of the baseline for the noise floor, no run for the
    /// run-queue delay, and no observed run unless --why asks for it. As the number is fixed beforehand, a narrower kind of interval
    /// is valid (the sign test instead of the e-process; below 6 rounds Student's t, which assumes that the logarithms of the ratios
    /// are normally distributed). For N rounds with all that belongs to them: --min-runs N --max-runs N.
    #[arg(short, long, value_name = "NUM", value_parser = numbers::count, conflicts_with_all = ["min_runs", "max_runs"])]
    pub runs: Option<u32>,

    /// Run CMD once before the first round
    ///
    /// Once for each command. For what must be there but does not count, such as compiling. Parameters are put in. Where that makes it
    /// differ between commands, they share a state that each sets up for itself: then it runs before every block of runs of its command,
    /// followed by the warm-up runs, and --cleanup behind.
    #[arg(short, long, value_name = "CMD", value_hint = ValueHint::CommandString)]
    pub setup: Option<String>,

    /// Compare all others with CMD
    ///
    /// Without it the first command is the baseline, and exported tables relate to the fastest.
    #[arg(long, value_name = "CMD", value_hint = ValueHint::CommandString)]
    pub reference: Option<String>,

    /// Call the reference command NAME
    #[arg(long, value_name = "NAME", requires = "reference", hide_short_help = true)]
    pub reference_name: Option<String>,

    /// Run CMD before every timed run
    ///
    /// Given once it holds for all commands; otherwise it is given once for each command, in their order, the
    /// reference first. With more than one copy it runs once before all of them.
    #[arg(short, long, value_name = "CMD", action = ArgAction::Append, value_hint = ValueHint::CommandString)]
    pub prepare: Vec<String>,

    /// Run CMD after every timed run
    ///
    /// Given once for all commands or once for each, as with --prepare.
    #[arg(short = 'C', long, value_name = "CMD", action = ArgAction::Append, value_hint = ValueHint::CommandString)]
    #[arg(hide_short_help = true)]
    pub conclude: Vec<String>,

    /// Run CMD once after the last round
    ///
    /// Once for each command.
    #[arg(short, long, value_name = "CMD", value_hint = ValueHint::CommandString, hide_short_help = true)]
    pub cleanup: Option<String>,

    /// Make an alternative of each number from MIN to MAX, put in for {VAR}
    ///
    /// Example: whyfaster compare -P jobs 1 8 'make -j {jobs}'
    #[arg(short = 'P', long, num_args = 3, value_names = ["VAR", "MIN", "MAX"], action = ArgAction::Set)]
    #[arg(allow_hyphen_values = true, hide_short_help = true, help_heading = "Parameters, as in hyperfine")]
    pub parameter_scan: Option<Vec<String>>,

    /// Go from MIN to MAX of --parameter-scan in steps of DELTA
    #[arg(short = 'D', long, value_name = "DELTA", requires = "parameter_scan", allow_hyphen_values = true)]
    #[arg(hide_short_help = true, help_heading = "Parameters, as in hyperfine")]
    pub parameter_step_size: Option<String>,

    /// Put each of VALUES in for {VAR}
    ///
    /// VALUES are separated by commas, and each makes an alternative. Given more than once, every combination becomes an alternative. A comma inside a value is written '\,'.
    /// Example: whyfaster compare -L cc gcc,clang '{cc} -O2 main.c'
    #[arg(short = 'L', long, num_args = 2, value_names = ["VAR", "VALUES"], action = ArgAction::Append)]
    #[arg(allow_hyphen_values = true, conflicts_with_all = ["parameter_scan", "parameter_step_size"])]
    #[arg(help_heading = "Parameters, as in hyperfine")]
    pub parameter_list: Vec<String>,

    /// Go on when a command fails
    ///
    /// At any status but 0, or at the comma-separated statuses given.
    #[arg(short, long, value_name = "MODE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "all-non-zero")]
    pub ignore_failure: Option<String>,

    /// Show what the commands print; the same as --output=inherit
    #[arg(long, conflicts_with = "style", hide_short_help = true)]
    pub show_output: bool,

    /// Send what timed runs print to WHERE
    ///
    /// auto, null, pipe, inherit, or a file [default: auto]. 'auto' is null, unless an untimed run shows that a command does less work when it sees /dev/null: then
    /// pipe, where a reader throws all away. With --runs it is null. A file needs a slash in its name ('./out'). Given once for all commands or once for each.
    #[arg(long, value_name = "WHERE", action = ArgAction::Append, conflicts_with = "show_output")]
    pub output: Vec<String>,

    /// Call a command NAME
    ///
    /// Given once for each command, in their order. With parameters: given once for all alternatives or once for each. Parameters are put in.
    #[arg(short = 'n', long, value_name = "NAME", action = ArgAction::Append)]
    pub command_name: Vec<String>,

    /// How commands are started.
    #[command(flatten)]
    pub start: StartArgs,

    /// Accepted so that scripts written for hyperfine go on working; the statistics decide how long to measure
    #[arg(long, value_name = "SECONDS", hide = true)]
    pub min_benchmarking_time: Option<f64>,
}

/// How commands are started, as in hyperfine 1.x.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "As in hyperfine")]
pub struct StartArgs {
    /// Run commands with SHELL [default: sh]
    ///
    /// A name, a path, a command line, 'default' (sh) or 'none'. 'none' starts the command itself, split into words; pipes and other things of the shell are then unknown. The
    /// shell's own time is part of every run, the same for all commands, and is not subtracted.
    #[arg(long, value_name = "SHELL", overrides_with = "shell", value_hint = ValueHint::CommandString, hide_short_help = true)]
    pub shell: Option<String>,

    /// The same as --shell=default
    ///
    /// As in hyperfine 2. A shell's name behind it, as in hyperfine 1, is taken for the shell where another command follows.
    #[arg(short = 'S', conflicts_with_all = ["shell", "no_shell"], hide_short_help = true)]
    pub default_shell: bool,

    /// Whether `shell` stood behind `-S`.
    #[arg(skip)]
    pub named_behind_s: bool,

    /// The same as --shell=none
    #[arg(short = 'N', conflicts_with = "shell")]
    pub no_shell: bool,

    /// Let commands read from WHERE
    ///
    /// null, or a file [default: null]. Every copy opens the file for itself.
    #[arg(long, value_name = "WHERE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub input: Option<PathBuf>,

    /// Set environment variables
    ///
    /// NAME=VALUE, several separated by spaces and quoted as in a shell. Given once for all commands or once for each; an empty text sets nothing. Parameters are put in. (From
    /// hyperfine 2.0.)
    #[arg(long, value_name = "ASSIGNMENTS", action = ArgAction::Append, hide_short_help = true)]
    pub env: Vec<String>,
}

/// Options about the screen.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "As in hyperfine")]
pub struct DisplayArgs {
    /// Colour and movement: auto, basic, full, nocolor, color or none [default: auto]
    ///
    /// 'basic' has neither, 'full' both even without a terminal, 'nocolor' only movement, 'color' only colour, and
    /// 'none' prints nothing. 'auto' looks at the terminal and at NO_COLOR.
    #[arg(long, value_name = "TYPE", hide_possible_values = true, hide_short_help = true)]
    pub style: Option<Style>,

    /// Order of results: auto, command or mean-time
    ///
    /// 'auto' is by time on the screen and in the order of the command line in exported tables.
    #[arg(
        long,
        value_name = "METHOD",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub sort: Sort,

    /// Show times in UNIT: microsecond, millisecond, second, minute or hour
    ///
    /// Short forms (us, ms, s, min, h) work too. CSV and JSON are always in seconds.
    #[arg(short = 'u', long, value_name = "UNIT", hide_possible_values = true, hide_short_help = true)]
    pub time_unit: Option<TimeUnit>,

    /// How much is printed.
    #[command(flatten)]
    pub detail: DetailArgs,
}

/// Whose formats exports have.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Exports, as in hyperfine ('-' is standard output)")]
pub struct ExportFormatArgs {
    /// Write files as hyperfine1 or hyperfine2 does [default: hyperfine1]
    ///
    /// hyperfine 2 writes JSON of schema 2, CSV with a group of columns for each of --metrics, and tables of the first of them with
    /// its change against the first command.
    #[arg(long, value_name = "VERSION", hide_possible_values = true, hide_short_help = true)]
    pub export_format: Option<Hyperfine>,
}
