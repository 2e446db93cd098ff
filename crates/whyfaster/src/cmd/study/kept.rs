//! A study that was run and kept: its report and its page once more, from what was measured then and the article of this version.

use whyfaster_core::price::PriceList;
use whyfaster_core::record::Record;
use whyfaster_words::look::Look;

use super::findings::Findings;
use super::report::{Measured, text};
use crate::cli::outputs::Pages;
use crate::study::{self, Measures, Study};

/// A study beside what was measured for it.
#[derive(Debug)]
pub struct Kept<'a> {
    study: Study,
    found: Findings,
    measured: Measured<'a>,
}

impl<'a> Kept<'a> {
    /// The study of a record. `None`: it is of none, or this version has no such study.
    pub fn of_record(record: &'a Record) -> anyhow::Result<Option<Self>> {
        let Some(study) = named(record.study.as_deref())? else { return Ok(None) };
        let Measures::Commands(commands) = &study.measures else { return Ok(None) };
        let observed = record.studied.clone().unwrap_or_default();
        let found = Findings::of_commands(&study, commands, record, &observed);
        Ok(Some(Self { study, found, measured: Measured::Record(record) }))
    }

    /// The study of a price list.
    pub fn of_list(list: &'a PriceList) -> anyhow::Result<Option<Self>> {
        let Some(study) = named(list.study.as_deref())? else { return Ok(None) };
        let found = match &study.measures {
            Measures::Prices(_) => Findings::of_prices(&study, list)?,
            Measures::Ladder(_) => Findings::of_ladder(&study, list),
            Measures::Commands(_) => return Ok(None),
        };
        Ok(Some(Self { study, found, measured: Measured::List(list) }))
    }

    /// The report, in the detail that was asked for.
    pub fn text(&self, look: &Look) -> anyhow::Result<String> {
        text(&self.study, &self.found, self.measured, look)
    }

    /// Writes the page and the picture.
    pub fn pages(&self, pages: &Pages, look: &Look) -> anyhow::Result<()> {
        super::page::write(&self.study, &self.found, self.measured, pages, look)
    }
}

/// The study of a name that stands in a file, which may be of another version.
fn named(name: Option<&str>) -> anyhow::Result<Option<Study>> {
    name.filter(|name| study::names().any(|known| known == *name)).map(study::find).transpose()
}
