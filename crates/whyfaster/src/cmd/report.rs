//! `whyfaster report`: a page of what was recorded.

use std::path::{Path, PathBuf};

use whyfaster_core::price::compare::Rule;
use whyfaster_core::record::Record;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_render::machines::Machines;
use whyfaster_store as store;
use whyfaster_store::Recorded;
use whyfaster_store::again::reanalysed;
use whyfaster_store::reference;
use whyfaster_words::exit::{Exit, Failure, say};

use super::pages::{of_comparison, of_list, of_lists, of_trace};
use super::study::kept::Kept;
use super::{machines, results, show};
use crate::cli::Outputs;
use crate::cli::args::ReportArgs;

/// What was named.
#[derive(Default)]
struct Given {
    comparisons: Vec<Record>,
    traces: Vec<TraceRecord>,
    lists: Vec<PathBuf>,
}

/// Reads what was named and writes the page, the picture, or both.
pub fn run(args: &ReportArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_report(args)?;
    results::check(&outputs)?;
    let look = results::look(&outputs);
    let mut given = Given::default();
    if args.records.is_empty() {
        given.take(&show::wanted(None)?)?;
    }
    args.records.iter().try_for_each(|path| given.take(path))?;
    let Given { mut comparisons, mut traces, lists } = given;
    match (comparisons.len(), traces.len(), lists.len()) {
        (1, _, 0) => {
            let record = reanalysed(comparisons.remove(0));
            match Kept::of_record(&record)? {
                Some(study) if traces.is_empty() => study.pages(&outputs.pages, &look)?,
                _ => of_comparison(&record, &traces, &outputs.pages, &look)?,
            }
        }
        (0, 1, 0) => of_trace(&traces.remove(0), &outputs.pages, &look)?,
        (0, 0, 1) => {
            let list = reference::open(&lists[0])?;
            match Kept::of_list(&list)? {
                Some(study) => study.pages(&outputs.pages, &look)?,
                None => of_list(&list, &outputs.pages, &look)?,
            }
        }
        (0, 0, _) => {
            let lists = machines::open(&lists)?;
            let rule = Rule::default();
            of_lists(&lists, &Machines::of(&lists, &rule, None), &rule, &outputs.pages, &look)?;
        }
        (0, _, 0) => {
            return Err(refused(
                "several traces and no comparison of their commands",
                "name the record of the comparison first, or one trace",
            ));
        }
        (_, _, 0) => {
            return Err(refused(
                "several comparisons",
                "make a page of each: whyfaster report RECORD -o FILE",
            ));
        }
        _ => return Err(refused("price lists beside other records", "name price lists only, or none")),
    }
    let pages = &outputs.pages;
    for file in
        [&pages.html, &pages.svg, &pages.png].into_iter().flatten().filter(|file| ***file != *Path::new("-"))
    {
        say(&format!("wrote '{}'", file.display()));
    }
    Ok(Exit::Ok)
}

fn refused(what: &str, next: &str) -> anyhow::Error {
    Failure::usage(format!("one page cannot hold {what}"), next).into()
}

impl Given {
    fn take(&mut self, path: &Path) -> anyhow::Result<()> {
        let built_in = !path.exists() && reference::find(&path.to_string_lossy())?.is_some();
        if built_in {
            self.lists.push(path.to_owned());
            return Ok(());
        }
        let path = &show::wanted(Some(path))?;
        match store::read_recorded(path)? {
            Recorded::Comparison(record) => self.comparisons.push(*record),
            Recorded::Trace(record) => self.traces.push(show::retraced(*record, path)?),
            Recorded::Prices(_) if path == Path::new("-") => {
                return Err(refused("a price list from standard input", "write it to a file first"));
            }
            Recorded::Prices(_) => self.lists.push(path.clone()),
        }
        Ok(())
    }
}
