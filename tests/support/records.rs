//! Records with every column filled, for the tests of files and exports.

use whyfaster_core::analysis::Analysis;
use whyfaster_core::host::Host;
use whyfaster_core::plan::{Alternative, Loads, Plan};
use whyfaster_core::record::{Record, SCHEMA};
use whyfaster_core::sample::{Arm, Batch, Copies, Orphans};
use whyfaster_core::status::Status;

/// One batch of `load` equal copies that took this long.
pub(crate) fn batch(load: u32, arm: Arm, round: u32, seconds: f64) -> Batch {
    let n = load as usize;
    Batch {
        load,
        arm,
        round,
        position: 0,
        released_s: 0.5,
        makespan_s: seconds,
        copies: Copies {
            start_s: vec![0.0; n],
            wall_s: vec![seconds; n],
            user_s: vec![seconds / 2.0; n],
            system_s: vec![seconds / 4.0; n],
            max_rss_bytes: vec![1 << 20; n],
            voluntary_switches: vec![1; n],
            involuntary_switches: vec![0; n],
            status: vec![0; n],
            timed_out: vec![false; n],
            counters: None,
        },
        orphans: Orphans::default(),
        machine_busy_s: Some(seconds),
        steal_s: None,
        io: None,
    }
}

/// A record of these alternatives and batches, not analysed.
pub(crate) fn record(alternatives: Vec<Alternative>, loads: Vec<u32>, batches: Vec<Batch>) -> Record {
    Record {
        schema: SCHEMA.to_owned(),
        tool_version: "0.1.0".to_owned(),
        started: "2026-11-20T12:00:00Z".to_owned(),
        took_s: 3.25,
        status: Status::Complete,
        study: None,
        studied: None,
        plan: Plan { loads: Loads::Fixed(loads), ..Plan::new(alternatives, 42) },
        host: Host::default(),
        trials: Vec::new(),
        batches,
        sched_accounts: Vec::new(),
        duets: Vec::new(),
        why: whyfaster_core::why::Why::default(),
        skipped: Vec::new(),
        analysis: Analysis::default(),
    }
}

/// Two alternatives at loads 1 and 2, three rounds each, with the hidden copy.
pub(crate) fn two_alternatives() -> Record {
    let arms = [(Arm::Alternative(0), 0.2), (Arm::Alternative(1), 0.1), (Arm::HiddenCopy, 0.21)];
    let batches = [1, 2].into_iter().flat_map(|load| {
        (0..3).flat_map(move |round| {
            arms.map(|(arm, seconds)| {
                batch(load, arm, round, seconds * f64::from(load) + 0.01 * f64::from(round))
            })
        })
    });
    record(vec![Alternative::new("sleep 0.2"), Alternative::new("sleep 0.1")], vec![1, 2], batches.collect())
}
