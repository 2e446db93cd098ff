//! Taking a cost out of rows of which the calibration tells some part.

use crate::trace::report::{PathKind, PathRow, SharerKind};

/// Calibrated in an idle loop, a call or a switch costs less than between other work, whose caches it takes. Up to so
/// many times the calibrated cost counts as explained by the calibration.
pub(super) const BETWEEN_WORK: f64 = 2.0;

/// No row loses more than this part of itself: a cost that would take more was not calibrated where it fell.
pub(super) const MOST: f64 = 0.95;

/// What a row of the path is, for the cost that no calibration places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Waiting for a CPU that somebody else had: what differs there between observed and unobserved runs is the machine's.
    Foreign,
    /// A wait whose length a timer or another machine sets: it is as long when it is observed.
    Fixed,
    /// A wait for a device: observing does not make it longer, but the device is not as quick every time.
    Device,
    /// On a CPU, where what observing costs is counted.
    Runs,
    Other,
}

impl Place {
    pub(super) fn of(row: &PathRow) -> Self {
        let foreign = matches!(row.holder, Some(SharerKind::Other | SharerKind::Steal));
        match row.kind {
            PathKind::CpuWait if foreign => Self::Foreign,
            PathKind::Sleep | PathKind::Network => Self::Fixed,
            PathKind::Disk | PathKind::WriteBack => Self::Device,
            PathKind::User | PathKind::Kernel | PathKind::Startup | PathKind::Forked => Self::Runs,
            _ => Self::Other,
        }
    }
}

/// What was taken out.
pub(super) struct Taken {
    /// By weight.
    pub by_weight: f64,
    /// What neither weights nor waits for others explain.
    pub rest: f64,
}

/// Takes `cost` out of the rows: first by weight, then out of waits for others. Where it waits for devices, what runs gives no
/// more than the CPU time that observing took (`cpu_s`), and the devices the rest. What is still left comes out of all alike but
/// for the waits of a fixed length, which give only what the others do not have. A cost below zero of the work (its CPU was slower
/// untraced) is given the same way.
pub(super) fn take(
    rows: &mut [&mut f64],
    weights: &[f64],
    places: &[Place],
    cost: f64,
    cpu_s: Option<f64>,
) -> Taken {
    let sum: f64 = rows.iter().map(|row| **row).sum();
    let mut taken = Taken { by_weight: 0.0, rest: 0.0 };
    if sum <= 0.0 {
        return taken;
    }
    let cost = cost.min(sum * MOST);
    let weight: f64 = weights.iter().sum();
    let by_weight = cost.clamp(0.0, weight * BETWEEN_WORK);
    for (row, part) in rows.iter_mut().zip(weights) {
        let part = if weight > 0.0 { (by_weight * part / weight).min(**row * MOST) } else { 0.0 };
        **row -= part;
        taken.by_weight += part;
    }
    let place = |at: usize| places.get(at).copied().unwrap_or(Place::Other);
    let mut rest = cost - taken.by_weight;
    rest -= alike(rows, rest.max(0.0), |at| place(at) == Place::Foreign);
    taken.rest = rest.max(0.0);
    if let Some(cpu_s) = cpu_s.filter(|_| rest > 0.0 && places.contains(&Place::Device)) {
        let running = rest.min((cpu_s - taken.by_weight).max(0.0));
        rest -= alike(rows, running, |at| place(at) == Place::Runs);
        rest -= alike(rows, rest, |at| place(at) == Place::Device);
    }
    rest -= alike(rows, rest, |at| !matches!(place(at), Place::Fixed | Place::Device));
    alike(rows, rest, |_| true);
    taken
}

/// Takes `cost` out of these rows in proportion to their size, as far as they have it, and says how much that was.
fn alike(rows: &mut [&mut f64], cost: f64, these: impl Fn(usize) -> bool) -> f64 {
    let there: f64 = rows.iter().enumerate().filter(|(at, _)| these(*at)).map(|(_, row)| **row).sum();
    if there <= 0.0 {
        return 0.0;
    }
    let part = (cost / there).min(MOST);
    for (_, row) in rows.iter_mut().enumerate().filter(|(at, _)| these(*at)) {
        **row -= **row * part;
    }
    there * part
}
