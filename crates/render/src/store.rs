//! What is in a store, on the screen.

use whyfaster_store::database::Listed;
use whyfaster_words::grid::{Column, Drawn, Grid, Group};
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;
use whyfaster_words::text::{for_look, shorten};

use super::section::{no_room, paragraphs};

/// Columns that a name may take, and what was measured.
const NAME: usize = 24;
const WHAT: usize = 60;

/// Records, the latest first, of all that are meant.
pub fn records(records: &[Listed], all: usize, look: &Look) -> String {
    if records.is_empty() {
        return "no records\n".to_owned();
    }
    let text = |text: &str, most: usize| shorten(&for_look(text, look), most, look.unicode);
    let what = |it: &Listed| match it.status.as_str() {
        "complete" => it.kind.clone(),
        status => format!("{}, {status}", it.kind),
    };
    let grid = Grid {
        key: Column::of("number", records, |it| it.id.to_string()),
        groups: vec![
            Group::of("measured (UTC)", records, |it| {
                it.started.get(..16).unwrap_or(&it.started).replace('T', " ")
            }),
            Group::of("machine", records, |it| text(&it.host, NAME)),
            Group::of("kind", records, what),
            Group::of("what", records, |it| text(&it.about, WHAT.min(look.width / 3))),
            Group::of("label", records, |it| text(&it.label, NAME)),
        ],
    };
    let hidden = all - records.len().min(all);
    let more = if hidden == 0 {
        Vec::new()
    } else {
        vec![format!("and {} more: --last NUM", count(hidden as u64, "record", "records"))]
    };
    let Drawn { mut lines, left_out, .. } = grid.with_values().draw(look.width, 1);
    lines.extend(no_room(&left_out, look));
    paragraphs([lines, more], look)
}
