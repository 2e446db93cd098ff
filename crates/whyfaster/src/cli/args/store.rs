//! Options of `store`, of what reads from a store, and of what saves into one.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use whyfaster_store::database::{Chosen, Moment, label};

use super::super::numbers;
use super::ViewArgs;

/// `whyfaster store`.
#[derive(Clone, Debug, Args)]
pub struct StoreArgs {
    /// What to do.
    #[command(subcommand)]
    pub task: StoreTask,
}

/// What to do with a store.
#[derive(Clone, Debug, Subcommand)]
pub enum StoreTask {
    /// Add records to the store: comparisons, price lists, traces
    Add(StoreAddArgs),
    /// List the records in the store, the latest first
    List(StoreListArgs),
    /// Print a record of the store as it was added, such as for: whyfaster show -
    Get(StoreGetArgs),
    /// Remove records from the store
    Remove(StoreRemoveArgs),
}

/// Where the store is.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Store")]
pub struct WhichStoreArgs {
    /// The store: a file, or postgres://USER@HOST/DATABASE [default: $WHYFASTER_STORE, else whyfaster/store.db in the XDG data directory]
    #[arg(long, value_name = "STORE", value_hint = ValueHint::FilePath)]
    pub store: Option<String>,
}

/// Which records of a store are meant.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Records")]
pub struct ChosenArgs {
    /// Records that were measured on this day or later, such as 2026-10-01 or 2026-10-01T12:30 (UTC)
    #[arg(long, value_name = "DATE")]
    pub since: Option<Moment>,

    /// Records that were measured before this day or time
    #[arg(long, value_name = "DATE")]
    pub until: Option<Moment>,

    /// Records that were added under this label
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,

    /// Records of this machine; may be given several times
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,
}

impl ChosenArgs {
    /// As the store understands it.
    pub fn chosen(&self) -> Chosen {
        let Self { since, until, label, hosts } = self.clone();
        Chosen { since, until, label, hosts }
    }
}

/// `whyfaster store add`.
#[derive(Clone, Debug, Args)]
pub struct StoreAddArgs {
    /// Records: files that --record wrote, or directories with such files
    #[arg(value_name = "RECORD", value_hint = ValueHint::AnyPath, required = true)]
    pub files: Vec<PathBuf>,

    /// Add them under this label, such as before or after, by which reports choose
    #[arg(long, value_name = "LABEL", value_parser = label, default_value = "", hide_default_value = true, help_heading = "Records")]
    pub label: String,

    /// Call the machine by the file of its record, not by the name of the host: for clones that share one name
    ///
    /// In a directory that holds one record a machine in a directory each, by that directory.
    #[arg(long, help_heading = "Records")]
    pub name_by_file: bool,

    /// Where.
    #[command(flatten)]
    pub store: WhichStoreArgs,
}

/// `whyfaster store list`.
#[derive(Clone, Debug, Args)]
pub struct StoreListArgs {
    /// List at most so many records
    #[arg(long, value_name = "NUM", value_parser = numbers::rows, default_value = "20", help_heading = "Records")]
    pub last: usize,

    /// Which.
    #[command(flatten)]
    pub chosen: ChosenArgs,

    /// Where.
    #[command(flatten)]
    pub store: WhichStoreArgs,

    /// Print them as JSON on standard output
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// How they are shown.
    #[command(flatten)]
    pub view: ViewArgs,
}

/// `whyfaster store get`.
#[derive(Clone, Debug, Args)]
pub struct StoreGetArgs {
    /// Its number, which 'whyfaster store list' shows
    #[arg(value_name = "NUMBER", value_parser = numbers::entry)]
    pub record: i64,

    /// Where.
    #[command(flatten)]
    pub store: WhichStoreArgs,
}

/// `whyfaster store remove`.
#[derive(Clone, Debug, Args)]
pub struct StoreRemoveArgs {
    /// Their numbers, which 'whyfaster store list' shows
    #[arg(value_name = "NUMBER", value_parser = numbers::entry, required = true)]
    pub records: Vec<i64>,

    /// Where.
    #[command(flatten)]
    pub store: WhichStoreArgs,
}
