//! Made-up measurements: a plan, a machine with two CPUs, and batches whose times a closure gives.

use crate::analysis::{Analysis, Comparison, Level, Measured, analyse};
use crate::host::{Host, HostFacts};
use crate::missing::{NotMeasured, Quantity};
use crate::plan::{
    Alternative, FailurePolicy, Input, Loads, Mode, Output, Pace, Placement, Plan, Rounds, Shell,
};
use crate::sample::{Arm, Batch, Copies, Duet, Orphans, SchedAccount};
use crate::warning::Caution;

#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) plan: Plan,
    pub(crate) host: Host,
    pub(crate) batches: Vec<Batch>,
    pub(crate) accounts: Vec<SchedAccount>,
    pub(crate) duets: Vec<Duet>,
    pub(crate) not_measured: Vec<NotMeasured>,
}

pub(crate) const BASE: Arm = Arm::Alternative(0);
pub(crate) const OTHER: Arm = Arm::Alternative(1);
pub(crate) const HIDDEN: Arm = Arm::HiddenCopy;

pub(crate) fn plan(names: &[&str], loads: &[u32]) -> Plan {
    let alternative = |name: &&str| Alternative {
        name: (*name).to_owned(),
        output: Output::Null,
        ..Alternative::new(format!("run {name}"))
    };
    Plan {
        alternatives: names.iter().map(alternative).collect(),
        baseline: 0,
        baseline_named: false,
        shell: Shell::None,
        input: Input::Null,
        loads: Loads::Fixed(loads.to_vec()),
        mode: Mode::Batch,
        rounds: Rounds { min: 7, max: 100, fixed: false, max_time_s: 60.0, max_time_hard: false },
        warmup: 0,
        delta: 0.02,
        delta_at_end: None,
        confidence: 0.95,
        seed: 42,
        timeout_s: None,
        placement: Placement::Session,
        cpus: None,
        drop_caches: false,
        check_output: true,
        strict_output: false,
        failures: FailurePolicy::Raise,
        fail_if_slower: None,
        rounds_per_setup: None,
        keep_daemons: false,
        pace: Pace::Auto,
        metrics: Vec::new(),
        limits: Vec::new(),
        user: None,
        explain: None,
    }
}

/// A batch of `load` equal copies that all start at once; each does `work_s`, a quarter of it in the kernel.
pub(crate) fn batch(load: u32, arm: Arm, round: u32, makespan_s: f64, work_s: f64) -> Batch {
    let n = load as usize;
    Batch {
        load,
        arm,
        round,
        position: 0,
        released_s: f64::from(round),
        makespan_s,
        copies: Copies {
            start_s: vec![0.0; n],
            wall_s: vec![makespan_s; n],
            user_s: vec![0.75 * work_s; n],
            system_s: vec![0.25 * work_s; n],
            max_rss_bytes: vec![1 << 20; n],
            voluntary_switches: vec![3; n],
            involuntary_switches: vec![1; n],
            status: vec![0; n],
            timed_out: vec![false; n],
            counters: None,
        },
        orphans: Orphans::default(),
        machine_busy_s: Some(f64::from(load) * work_s),
        steal_s: Some(0.0),
        io: None,
    }
}

impl Fixture {
    pub(crate) fn new(names: &[&str], loads: &[u32]) -> Self {
        let facts =
            HostFacts { cpus_online: Some(2), cpus_allowed: Some(vec![0, 1]), ..HostFacts::default() };
        Self {
            plan: plan(names, loads),
            host: Host { before: facts.clone(), after: facts },
            batches: Vec::new(),
            accounts: Vec::new(),
            duets: Vec::new(),
            not_measured: Vec::new(),
        }
    }

    /// Baseline, hidden copy and one other. `of(load, arm, round)` gives makespan and work per copy.
    pub(crate) fn two(loads: &[u32], rounds: u32, mut of: impl FnMut(u32, Arm, u32) -> (f64, f64)) -> Self {
        let mut fixture = Self::new(&["base", "other"], loads);
        for &load in loads {
            for round in 0..rounds {
                for arm in [BASE, OTHER, HIDDEN] {
                    let (makespan, work) = of(load, arm, round);
                    fixture.batches.push(batch(load, arm, round, makespan, work));
                }
            }
        }
        fixture
    }

    pub(crate) fn analyse(&self) -> Analysis {
        analyse(Measured {
            plan: &self.plan,
            host: &self.host,
            trials: &[],
            batches: &self.batches,
            accounts: &self.accounts,
            duets: &self.duets,
            not_measured: &self.not_measured,
        })
    }

    pub(crate) fn each(&mut self, arm: Arm, mut change: impl FnMut(&mut Batch)) {
        self.batches.iter_mut().filter(|batch| batch.arm == arm).for_each(&mut change);
    }
}

pub(crate) fn level(analysis: &Analysis, load: u32) -> &Level {
    analysis.levels.iter().find(|level| level.load == load).unwrap()
}

pub(crate) fn comparison(analysis: &Analysis, load: u32) -> &Comparison {
    &level(analysis, load).comparisons[0]
}

pub(crate) fn warned(analysis: &Analysis, is: impl Fn(&Caution) -> bool) -> bool {
    analysis.warnings.iter().filter_map(|warning| warning.caution.as_ref()).any(is)
}

pub(crate) fn missing(analysis: &Analysis, is: impl Fn(&Quantity) -> bool) -> bool {
    analysis.not_measured.iter().filter_map(|gap| gap.quantity.as_ref()).any(is)
}

/// A little noise that is the same in every run: -1 to 1, balanced, differing by arm.
pub(crate) fn jitter(arm: Arm, round: u32) -> f64 {
    let step = match arm {
        Arm::Alternative(index) => 7 + 4 * u32::try_from(index).unwrap(),
        Arm::HiddenCopy => 5,
    };
    f64::from((round * step) % 23) / 11.0 - 1.0
}
