//! How much a page of a fleet holds: what is left out is said where it would stand.

use super::super::data::Download;
use super::super::page::{Page, Section, missing};
use whyfaster_words::clean::clean;
use whyfaster_words::text::shorten;

/// Columns of a name in a picture.
pub(super) const NAME: usize = 34;

/// Machines that are named in a picture, or have a line of their own; what is left out is said.
pub(super) const NAMED: usize = 40;

/// Lines of a table that the page has.
pub(super) const TABLED: usize = 500;

/// A document that is larger is not carried.
pub(super) const CARRIED: usize = 8_000_000;

/// A document that the page hands out, unless it would make the page unwieldy.
pub(super) fn carry(page: &mut Page, file: &str, what: &str, bytes: &[u8]) {
    if bytes.len() <= CARRIED {
        page.downloads.push(Download::json(file, what, bytes));
    } else {
        let why = format!("{} MB of JSON would make this page too large", bytes.len() / 1_000_000);
        let body = missing("not in this page", &why, Some("whyfaster fleet report --json"));
        page.push(Section::new("left-out", "Every number", body));
    }
}

/// A name in a picture.
pub(super) fn name(text: &str) -> String {
    shorten(&clean(text), NAME, true)
}
