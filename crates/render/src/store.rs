//! What is in a store, on the screen.

use whyfaster_store::database::Listed;
use whyfaster_words::grid::{Column, Grid, Group};
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;
use whyfaster_words::text::{for_look, shorten};

use super::section::paragraphs;

/// Columns that a name may take.
const NAME: usize = 24;

/// Records, the latest first, of all that are meant.
pub fn records(records: &[Listed], all: usize, look: &Look) -> String {
    if records.is_empty() {
        return "no record is meant\n".to_owned();
    }
    let text = |text: &str| shorten(&for_look(text, look), NAME, look.unicode);
    let what = |it: &Listed| match it.status.as_str() {
        "complete" => it.kind.clone(),
        status => format!("{}, {status}", it.kind),
    };
    let grid = Grid {
        key: Column::of("number", records, |it| it.id.to_string()),
        groups: vec![
            Group::of("measured", records, |it| {
                it.started.get(..16).unwrap_or(&it.started).replace('T', " ")
            }),
            Group::of("machine", records, |it| text(&it.host)),
            Group::of("kind", records, what),
            Group::of("label", records, |it| text(&it.label)),
            Group::of("what", records, |it| text(&it.about)),
        ],
    };
    let hidden = all - records.len().min(all);
    let more = if hidden == 0 {
        Vec::new()
    } else {
        vec![format!("and {} more: --last NUM", count(hidden as u64, "record", "records"))]
    };
    paragraphs([grid.draw(look.width, 1).lines, more], look)
}
