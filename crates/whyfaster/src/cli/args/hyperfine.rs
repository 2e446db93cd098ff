//! The options of hyperfine 1.x, with its names, short forms and counts. The words of the help are ours.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueHint};

use crate::cli::numbers;
use crate::display::{Sort, Style, TimeUnit};

/// Options that mean what they mean in hyperfine 1.x.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "As in hyperfine")]
pub struct HyperfineArgs {
    /// Run each command NUM times untimed first
    ///
    /// Fills caches. Warm-up runs are no samples and appear in no number.
    #[arg(short, long, value_name = "NUM", default_value_t = 0, hide_default_value = true)]
    pub warmup: u32,

    /// Run at least NUM rounds [default: 10]
    #[arg(short, long, value_name = "NUM", value_parser = numbers::count, hide_short_help = true)]
    pub min_runs: Option<u32>,

    /// Run at most NUM rounds [default: as many as the verdict needs]
    #[arg(short = 'M', long, value_name = "NUM", value_parser = numbers::count, hide_short_help = true)]
    pub max_runs: Option<u32>,

    /// Run exactly NUM rounds
    ///
    /// The number is then fixed beforehand, so that a narrower kind of interval is valid (the sign test for a fixed
    /// number instead of the e-process for an open one).
    #[arg(short, long, value_name = "NUM", value_parser = numbers::count, conflicts_with_all = ["min_runs", "max_runs"])]
    pub runs: Option<u32>,

    /// Run CMD once before the first round
    ///
    /// Once for each command. For what must be there but does not count, such as compiling. Parameters are put in.
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
    #[arg(short, long, value_name = "CMD", value_hint = ValueHint::CommandString)]
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
    /// null, pipe, inherit, or a file [default: null]. 'pipe' goes through a pipe and is thrown away, for programs that do less work when they see /dev/null. A file
    /// needs a slash in its name ('./out'). Given once for all commands or once for each.
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
    #[arg(short = 'S', long, value_name = "SHELL", overrides_with = "shell", value_hint = ValueHint::CommandString)]
    pub shell: Option<String>,

    /// The same as --shell=none
    #[arg(short = 'N', conflicts_with = "shell")]
    pub no_shell: bool,

    /// Let commands read from WHERE
    ///
    /// null, or a file [default: null]. Every copy opens the file for itself.
    #[arg(long, value_name = "WHERE", value_hint = ValueHint::FilePath)]
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
}

/// Exports in hyperfine's formats.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Exports, as in hyperfine ('-' is standard output)")]
pub struct ExportArgs {
    /// Write hyperfine's AsciiDoc table to FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub export_asciidoc: Option<PathBuf>,

    /// Write hyperfine's CSV to FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub export_csv: Option<PathBuf>,

    /// Write hyperfine's JSON to FILE
    ///
    /// With every single time. For loads, intervals and verdicts use --record or --json.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub export_json: Option<PathBuf>,

    /// Write hyperfine's Markdown table to FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub export_markdown: Option<PathBuf>,

    /// Write hyperfine's Org table to FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub export_orgmode: Option<PathBuf>,
}
