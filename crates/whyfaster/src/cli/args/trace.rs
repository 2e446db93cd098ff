//! The options of `trace`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum, ValueHint};
use whyfaster_render::trace::outputs::TraceFile;
use whyfaster_words::display::{By, CallSort, Registered, Style, TimeUnit};

use super::compare::{CpuList, UserArgs};
use super::detail::{DetailArgs, KeepArgs};
use super::files::FileArgs;
use super::hyperfine::StartArgs;
use super::report::PageArgs;
use crate::cli::numbers;

/// `whyfaster trace`.
#[derive(Clone, Debug, Default, Args)]
pub struct TraceArgs {
    /// The command: one word for a shell to read, or a program and its words, which no shell reads
    ///
    /// 'seq 9 | wc -l' goes to the shell. Several words are started as they are: whyfaster trace ls -l. Whatever stands
    /// behind the first word of the command is the command's, so options of whyfaster go before it.
    #[arg(value_name = "COMMAND", required_unless_present = "follow", value_hint = ValueHint::CommandString)]
    #[arg(trailing_var_arg = true)]
    pub command: Vec<String>,

    /// What is observed, and how.
    #[command(flatten)]
    pub observe: ObserveArgs,
    /// How the command is started.
    #[command(flatten)]
    pub start: StartArgs,
    /// Where the command's streams go.
    #[command(flatten)]
    pub streams: StreamArgs,
    /// As whom the command runs.
    #[command(flatten)]
    pub user: UserArgs,
    /// What is shown.
    #[command(flatten)]
    pub show: TraceShowArgs,
    /// What is written.
    #[command(flatten)]
    pub output: TraceOutputArgs,
}

/// Which level of observing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LevelWord {
    /// The best that is to be had here.
    #[default]
    Auto,
    /// Everything, by BPF programs in the kernel.
    Full,
    /// Every system call, by ptrace.
    Ptrace,
    /// Forks, execs and ends by ptrace, without a stop at system calls.
    Unprivileged,
    /// Only what the kernel adds up for a parent.
    Rusage,
}

/// What is observed, and how.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Observing")]
pub struct ObserveArgs {
    /// Observe a tree that runs already: a process id, or the directory of a cgroup
    ///
    /// Ctrl-C or --duration ends it; the processes run on.
    #[arg(long, value_name = "PID|CGROUP", conflicts_with_all = ["command", "input", "output", "shell", "no_shell", "untraced_runs", "env", "pin", "as_root"])]
    pub follow: Option<String>,

    /// End after this time, such as 10s; a command is ended with all that it started
    #[arg(long, value_name = "TIME", value_parser = numbers::duration)]
    pub duration: Option<f64>,

    /// Observe with: auto, full, ptrace, unprivileged or rusage [default: auto]
    ///
    /// 'full' needs root, or CAP_BPF and CAP_PERFMON; 'whyfaster doctor' says what this machine allows, and how. 'ptrace' sees every
    /// system call without privileges. It stops the command twice at every call, as strace does: programs that call much take
    /// many times as long, and all times hold that cost.
    #[arg(long, value_name = "LEVEL", hide_possible_values = true)]
    pub level: Option<LevelWord>,

    /// Count system calls without timing them: about half the cost for each call (full level only)
    #[arg(long, conflicts_with = "calls", hide_short_help = true)]
    pub count_only: bool,

    /// Fail (exit status 6) if anything of the trace was lost or does not fit together
    #[arg(long, hide_short_help = true)]
    pub strict: bool,

    /// Run the command NUM times more, untraced, to see what tracing cost; 0 for never [default: 3, within 10 s]
    ///
    /// Only the traced run, the first, is explained. Use 0 for a command that must not run twice. What they print to
    /// whyfaster's own output is thrown away.
    #[arg(long, value_name = "NUM", value_parser = numbers::count_or_none, hide_short_help = true)]
    pub untraced_runs: Option<u32>,

    /// Size of the buffer between kernel and whyfaster, a power of two such as 16M [default: 16M]
    #[arg(long, value_name = "BYTES", value_parser = numbers::ring_size, hide_short_help = true)]
    pub ring_size: Option<u32>,

    /// Take the stack of what runs NUM times a second on every CPU [default with --flamegraph or --folded: 499]
    #[arg(long, value_name = "NUM", value_parser = numbers::sample_rate, requires = "stacks")]
    pub sample_rate: Option<u32>,
}

/// Where the command's streams go.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Starting")]
pub struct StreamArgs {
    /// Send what the command prints to WHERE: inherit, null, or a file [default: inherit]
    ///
    /// A file needs a slash in its name ('./out'). With --json the default throws standard output away, which the JSON
    /// needs for itself, and leaves standard error where it is; null throws both away.
    #[arg(long, value_name = "WHERE")]
    pub output: Option<String>,

    /// Run the command on these CPUs only, such as 0-3,5
    #[arg(long, value_name = "CPUS", value_parser = |s: &str| numbers::cpu_list(s).map(CpuList))]
    pub pin: Option<CpuList>,
}

/// What is shown.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Showing")]
pub struct TraceShowArgs {
    /// The rows.
    #[command(flatten)]
    pub rows: TraceRowsArgs,

    /// Order of the table of system calls: time, calls, errors or name [default: time]
    #[arg(long, value_name = "ORDER", hide_possible_values = true)]
    pub sort: Option<CallSort>,

    /// Print system calls as they happen, on standard error: all, or those named, such as 'openat,read'
    ///
    /// 'sort:' stands for a command, 'sort:read' for a call of it; '!' before one of these leaves it out. What one of the names
    /// wants is printed, but for what one leaves out.
    #[arg(long, value_name = "FILTER", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub calls: Option<String>,

    /// Colour: auto, basic, full, nocolor, color or none [default: auto]
    #[arg(long, value_name = "TYPE", hide_possible_values = true)]
    pub style: Option<Style>,

    /// Show times in UNIT: microsecond, millisecond, second, minute or hour
    #[arg(short = 'u', long, value_name = "UNIT", hide_possible_values = true)]
    pub time_unit: Option<TimeUnit>,

    /// How much is printed.
    #[command(flatten)]
    pub detail: DetailArgs,
}

/// Which rows the tables of a trace have; also when it is shown again.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Report of a trace")]
pub struct TraceRowsArgs {
    /// Take system calls together by: command, process or none [default: command]
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    pub by: Option<By>,

    /// Show NUM rows of every table of a trace; 0 for all [default: 20]
    #[arg(long, value_name = "NUM", value_parser = numbers::rows)]
    pub top: Option<usize>,
}

/// What is written.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output", group = stacks())]
pub struct TraceOutputArgs {
    /// Write the record to FILE ('-' is standard output)
    ///
    /// 'whyfaster show FILE' prints it again.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub record: Option<PathBuf>,

    /// Keep the scheduling records in the record, so that it can be analysed again
    #[arg(long)]
    pub keep_schedule: bool,

    /// Whether it is kept.
    #[command(flatten)]
    pub keep: KeepArgs,

    /// Print the record as JSON on standard output instead of the report
    #[arg(long)]
    pub json: bool,

    /// The page.
    #[command(flatten)]
    pub page: PageArgs,

    /// Timelines and stacks.
    #[command(flatten, next_help_heading = "Output")]
    pub files: FileArgs<TraceFile>,
}

/// The files that need stacks.
fn stacks() -> ArgGroup {
    let files = TraceFile::all().iter().filter(|file| file.of_stacks());
    ArgGroup::new("stacks").args(files.map(|file| file.option().name)).multiple(true)
}
