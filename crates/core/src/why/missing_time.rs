//! Time that the observed runs did not have: they met a quieter machine than the untraced ones. The step after what observing cost.
//!
//! No row becomes longer than it was seen for it, but for what runs, as far as the kernel counted more CPU time untraced (a slower
//! CPU takes longer for the same). The rest is a row of its own, so that the path sums to the untraced time and nothing is invented.

use crate::trace::report::{PathKind, PathRow};

/// Puts into the path what the observed runs did not have: what runs takes longer by the part by which the kernel counted more CPU
/// time untraced, the rest is a row of its own.
pub(super) fn not_seen(path: &mut Vec<PathRow>, missing_s: f64, slower: f64) {
    let running: f64 = path.iter().filter(|row| row.kind.runs()).map(|row| row.seconds).sum();
    let longer = (running * slower).min(missing_s);
    if longer > 0.0 {
        let factor = 1.0 + longer / running;
        path.iter_mut().filter(|row| row.kind.runs()).for_each(|row| row.seconds *= factor);
    }
    let unseen = missing_s - longer;
    if unseen > 0.0 && !path.is_empty() {
        path.push(PathRow::of("(not observed)".into(), PathKind::Unobserved, unseen));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::tests::fixture::path;

    #[test]
    fn what_observed_runs_did_not_have_is_a_row_of_its_own() {
        let rows = [path("awk", PathKind::User, None, 0.06), path("sleep", PathKind::Sleep, None, 0.04)];
        let seconds = |missing_s, slower| -> Vec<f64> {
            let mut rows = rows.to_vec();
            not_seen(&mut rows, missing_s, slower);
            assert!((rows.iter().map(|row| row.seconds).sum::<f64>() - 0.1 - missing_s).abs() < 1e-12);
            rows.iter().map(|row| (row.seconds * 1e6).round() / 1e6).collect()
        };
        assert_eq!(seconds(0.0, 0.5), [0.06, 0.04]);
        // As much CPU time untraced: nobody saw where the time went.
        assert_eq!(seconds(0.03, 0.0), [0.06, 0.04, 0.03]);
        // A tenth more CPU time: what ran took a tenth longer, and a sleep takes as long as it takes.
        assert_eq!(seconds(0.03, 0.1), [0.066, 0.04, 0.024]);
        // Twice the CPU time: no more than there is.
        assert_eq!(seconds(0.03, 1.0), [0.09, 0.04]);
        let mut rows = rows.to_vec();
        not_seen(&mut rows, 0.03, 0.0);
        assert_eq!(rows[2].kind, PathKind::Unobserved);
        let mut nothing = Vec::new();
        not_seen(&mut nothing, 0.03, 0.0);
        assert!(nothing.is_empty(), "a run without a path keeps none");
    }
}
