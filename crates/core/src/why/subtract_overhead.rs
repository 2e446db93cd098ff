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
            kind if kind.runs() => Self::Runs,
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

/// Takes `cost` out of the rows. First goes what the calibration places, by weight, but no more of what runs than the CPU time that observing took (`cpu_s`): a
/// wall time that became longer by more than that met others. Then waits behind other programs give what they
/// have, for these differ with the machine; the rest comes out of all rows, see `unplaced`. A cost below zero of the work (its CPU was
/// slower untraced) makes the rows longer in the same way.
pub(super) fn take(
    rows: &mut [&mut f64],
    weights: &[f64],
    places: &[Place],
    cost: f64,
    cpu_s: Option<f64>,
) -> Taken {
    let sum: f64 = rows.iter().map(|row| **row).sum();
    if sum <= 0.0 {
        return Taken { by_weight: 0.0, rest: 0.0 };
    }
    let cost = cost.min(sum * MOST);
    let by_weight = calibrated(rows, (weights, places), cost, cpu_s);
    let mut rest = cost - by_weight;
    rest -= alike(rows, places, rest.max(0.0), |place| place == Place::Foreign);
    unplaced(rows, places, rest, cpu_s.map(|cpu_s| (cpu_s - by_weight).max(0.0)));
    Taken { by_weight, rest: rest.max(0.0) }
}

/// Takes out what the calibration explains, and says how much that was.
fn calibrated(
    rows: &mut [&mut f64],
    (weights, places): (&[f64], &[Place]),
    cost: f64,
    cpu_s: Option<f64>,
) -> f64 {
    let weight: f64 = weights.iter().sum();
    if weight <= 0.0 {
        return 0.0;
    }
    let explained = cost.clamp(0.0, weight * BETWEEN_WORK) / weight;
    let placed = || places.iter().copied().chain(std::iter::repeat(Place::Other));
    let running: f64 = weights.iter().zip(placed()).filter(|it| it.1 == Place::Runs).map(|it| it.0).sum();
    let of_running = match cpu_s {
        Some(cpu_s) if running > 0.0 && explained > 0.0 => (cpu_s.max(0.0) / running).min(explained),
        _ => explained,
    };
    let mut taken = 0.0;
    for ((row, weight), place) in rows.iter_mut().zip(weights).zip(placed()) {
        let each = if place == Place::Runs { of_running } else { explained };
        let part = (weight * each).min(**row * MOST);
        **row -= part;
        taken += part;
    }
    taken
}

/// Takes out what no calibration places. Where the path waits for devices, what runs gives no more than the CPU time that observing
/// took beyond the calibration (`cpu_s`), and the devices the rest. What is left comes out of all rows but waits of a fixed length,
/// which give only what the others do not have.
fn unplaced(rows: &mut [&mut f64], places: &[Place], mut rest: f64, cpu_s: Option<f64>) {
    if let Some(cpu_s) = cpu_s.filter(|_| rest > 0.0 && places.contains(&Place::Device)) {
        rest -= alike(rows, places, rest.min(cpu_s), |place| place == Place::Runs);
        rest -= alike(rows, places, rest, |place| place == Place::Device);
    }
    rest -= alike(rows, places, rest, |place| !matches!(place, Place::Fixed | Place::Device));
    alike(rows, places, rest, |_| true);
}

/// Takes `cost` out of the rows at these places in proportion to their size, as far as they have it, and says how much that was.
fn alike(rows: &mut [&mut f64], places: &[Place], cost: f64, these: impl Fn(Place) -> bool) -> f64 {
    let places = places.iter().copied().chain(std::iter::repeat(Place::Other));
    let mut rows: Vec<&mut f64> =
        rows.iter_mut().zip(places).filter(|(_, place)| these(*place)).map(|(row, _)| &mut **row).collect();
    let there: f64 = rows.iter().map(|row| **row).sum();
    if there <= 0.0 {
        return 0.0;
    }
    let part = (cost / there).min(MOST);
    rows.iter_mut().for_each(|row| **row -= **row * part);
    there * part
}
