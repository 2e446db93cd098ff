//! The options of `prices` and `machines`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use whyfaster_run::inside::{Asked, KINDS};
use whyfaster_words::display::{Style, TimeUnit};

use super::compare::{CpuList, UserArgs};
use super::detail::{DetailArgs, KeepArgs};
use super::elsewhere::OnArgs;
use super::report::PageArgs;
use crate::cli::numbers;

/// The options of `prices` that are about what is measured, and so not about the probes that there are.
const OF_A_MEASUREMENT: [&str; 19] = [
    "words",
    "quick",
    "all",
    "pin",
    "as_root",
    "inside",
    "on",
    "send",
    "binary",
    "seed",
    "project",
    "record",
    "save",
    "export_csv",
    "json",
    "html",
    "svg",
    "png",
    "open",
];

/// `whyfaster prices`.
#[derive(Clone, Debug, Default, Args)]
pub struct PricesArgs {
    /// Groups (kernel, process, thread, pipe, cpu) or probes, such as getpid, fork or thread/pipe [default: all groups]
    #[arg(value_name = "GROUP|NAME")]
    pub words: Vec<String>,

    /// Take at most about ten seconds: fewer samples and rows, wider intervals; many rows get fewer repetitions
    #[arg(long, help_heading = "Rows")]
    pub quick: bool,

    /// Price every row that there is; of all groups that takes ten to fifteen minutes
    ///
    /// Also calls with cold caches and the first call of a process, every other value of every parameter (memory of the
    /// parent, idle gaps, sizes, clocks), and every pair of up to 16 CPUs.
    #[arg(long, help_heading = "Rows")]
    pub all: bool,

    /// List the probes: their variants, what one operation is, what they need
    #[arg(long, help_heading = "Rows", conflicts_with_all = OF_A_MEASUREMENT)]
    pub list: bool,

    /// Run on these CPUs only, such as 0-3,5
    #[arg(long, value_name = "CPUS", value_parser = |s: &str| numbers::cpu_list(s).map(CpuList), help_heading = "Placement")]
    pub pin: Option<CpuList>,

    /// Where the worker runs.
    #[command(flatten)]
    pub inside: InsideArgs,

    /// As whom the worker runs.
    #[command(flatten)]
    pub user: UserArgs,

    /// On which machine.
    #[command(flatten)]
    pub elsewhere: OnArgs,

    /// Seed of the random order [default: a fresh one]
    #[arg(long, value_name = "NUM", value_parser = numbers::seed, help_heading = "Statistics")]
    pub seed: Option<u64>,

    /// Price counts of operations: '30000 fork+execve', several with ', ' between them, or a file with one a line
    #[arg(long, value_name = "COUNTS", help_heading = "Output")]
    pub project: Option<String>,

    /// Print the C source of a probe, as it is measured, and measure nothing
    #[arg(long, value_name = "NAME", help_heading = "Output", exclusive = true)]
    pub source: Option<String>,

    /// Print the page of a probe: what it measures, how, and what to make of it
    #[arg(long, value_name = "NAME", help_heading = "Output", exclusive = true)]
    pub explain: Option<String>,

    /// Write the price list, with every raw sample, to FILE ('-' is standard output)
    ///
    /// 'whyfaster machines FILE FILE' sets lists side by side.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub record: Option<PathBuf>,

    /// Whether it is kept.
    #[command(flatten)]
    pub keep: KeepArgs,

    /// Write the prices as comma-separated values to FILE ('-' is standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub export_csv: Option<PathBuf>,

    /// Print the price list as JSON on standard output instead of the report
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// The page.
    #[command(flatten)]
    pub page: PageArgs,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}

/// Where the worker runs, if not here.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Inside")]
pub struct InsideArgs {
    /// Measure inside another kernel, behind an emulator, or on another machine
    #[arg(long, value_name = "KIND", conflicts_with = "pin", long_help = places())]
    pub inside: Option<Asked>,

    /// Download a kernel that is not in the cache, with apt and a state of our own
    #[arg(long, requires = "inside")]
    pub fetch: bool,

    /// Use this worker instead of the one in this program, for another system or instruction set
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "inside", hide_short_help = true)]
    pub worker: Option<PathBuf>,

    /// Give up when nothing came from there for this long [default: 3m]
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, requires = "inside", hide_short_help = true)]
    pub silence: Option<f64>,
}

/// `whyfaster machines`.
#[derive(Clone, Debug, Default, Args)]
pub struct MachinesArgs {
    /// Price lists: files, or names of built-in lists; the first is the baseline. Without any, the built-in ones are listed
    #[arg(value_name = "LIST", value_hint = ValueHint::FilePath)]
    pub lists: Vec<PathBuf>,

    /// Follow every price over these kernels: image files, DISTRIBUTION:VERSION, versions in the cache, or recorded lists
    ///
    /// Each is started in QEMU under instruction counting, so that load of this machine does not matter; lists are taken as they
    /// are. Oldest first.
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["lists", "project", "all"], help_heading = "Rows")]
    pub kernels: Vec<String>,

    /// Groups or probes to follow over the kernels [default: getppid, fork, pipe and others of every group]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        requires = "kernels",
        help_heading = "Rows",
        hide_short_help = true
    )]
    pub rows: Vec<String>,

    /// Download kernels that are not in the cache, with apt and a state of our own
    #[arg(long, requires = "kernels", help_heading = "Rows")]
    pub fetch: bool,

    /// Show every row, also those that only one list has
    #[arg(long, help_heading = "Rows")]
    pub all: bool,

    /// Call two prices the same when they differ by less than this [default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = numbers::delta, help_heading = "Statistics")]
    pub delta: Option<f64>,

    /// Price counts of operations on every machine: '30000 fork+execve', or a file with one count a line
    #[arg(long, value_name = "COUNTS", help_heading = "Output")]
    pub project: Option<String>,

    /// Print the comparison as JSON on standard output instead of the report
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// The page.
    #[command(flatten)]
    pub page: PageArgs,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}

/// How a report about prices is shown.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct ViewArgs {
    /// Colour: auto, basic, full, nocolor, color or none [default: auto]
    #[arg(long, value_name = "TYPE", hide_possible_values = true)]
    pub style: Option<Style>,

    /// Unit of times: microsecond, millisecond, second, minute or hour [default: one that fits]
    #[arg(long, value_name = "UNIT", hide_possible_values = true)]
    pub time_unit: Option<TimeUnit>,

    /// How much is printed.
    #[command(flatten)]
    pub detail: DetailArgs,
}

/// Every kind of place, as the long help says it.
fn places() -> String {
    let kinds = KINDS.map(|kind| format!("{}{}: {}.", kind.word, kind.form, kind.help));
    let first = "Measure inside another kernel, behind an emulator, or on another machine";
    let last = "KERNEL is an image file, debian:VERSION or ubuntu:VERSION.";
    format!("{first}\n\n{}\n{last}", kinds.join("\n"))
}
