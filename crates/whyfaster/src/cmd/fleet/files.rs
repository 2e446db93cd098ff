//! The files of `fleet report` and `fleet diff`: tables, text files for Prometheus, pages. They are written before anything is printed, so
//! that a reader of standard output who goes away loses none.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use whyfaster_render::fleet::files::prometheus::Files;
use whyfaster_render::fleet::files::tables::Format;
use whyfaster_render::report::Page;
use whyfaster_store as store;
use whyfaster_words::exit::Failure;

use super::super::pages;
use crate::cli::Outputs;

/// Where a table goes, as what, and who makes it.
pub(super) type Table<'a> = (&'a Option<PathBuf>, Format, &'a dyn Fn(Format) -> anyhow::Result<Vec<u8>>);

/// What is to be written where, made when it is asked for.
pub(super) struct Written<'a> {
    pub(super) tables: Vec<Table<'a>>,
    pub(super) prometheus: (&'a Option<PathBuf>, &'a dyn Fn() -> Files),
    pub(super) page: &'a dyn Fn() -> anyhow::Result<Page>,
}

/// Writes the files, and gives what goes to standard output behind the report.
pub(super) fn write(outputs: &Outputs, written: &Written<'_>) -> anyhow::Result<Vec<u8>> {
    let mut behind = Vec::new();
    for (path, format, table) in &written.tables {
        match path {
            Some(path) if path == Path::new("-") => behind.extend(table(*format)?),
            Some(path) => store::write_atomic(path, &table(*format)?)?,
            None => {}
        }
    }
    if let (Some(directory), files) = written.prometheus {
        into(directory, files())?;
    }
    pages::write(&outputs.pages, written.page, || None)?;
    Ok(behind)
}

/// Each file is there as a whole or as it was: the collector reads when it likes.
fn into(directory: &Path, files: Files) -> Result<(), Failure> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(store::cannot_write(directory, &error));
        }
        _ => {}
    }
    files.into_iter().try_for_each(|(name, text)| store::write_atomic(&directory.join(name), text.as_bytes()))
}
