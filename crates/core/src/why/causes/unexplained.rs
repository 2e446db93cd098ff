//! None of the other causes.

use super::definition::{About, BASE, Definition};
use crate::why::categories::Category;
use crate::why::evidence::of_no_cause;
use crate::why::report::Evidence;
use crate::why::statement::Fact;

pub(super) const DEFINITION: Definition =
    Definition { categories: &[Category::Rest], on_path: |_, _| true, timed: true, fact, ..BASE };

/// The row that differs most, where that is a good part of it.
fn fact(it: &About<'_>) -> Fact {
    // What no cause has comes before what some cause may have a part of already.
    let rows = of_no_cause(it.accounts).into_iter().chain(it.evidence(0.0));
    let most = rows.into_iter().find(|row: &Evidence| row.here - row.there >= it.seconds / 4.0);
    let seconds = most.as_ref().map_or(0.0, |row| row.here - row.there);
    Fact::Unexplained { most: most.and_then(|row| row.measure), seconds }
}
