//! Fleets whose truth is known: 60 rows, noise of 5%, facts and broken machines as planted.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use whyfaster_stats::random::Random;

use super::{Fleet, Machine, Row};
use crate::host::HostFacts;
use crate::price::fingerprint::{Facts, Fingerprint};

/// Which rows of a broken machine are dear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Off {
    All,
    OtherCpu,
}

/// What is planted. Factors are logarithms.
#[derive(Clone, Debug)]
pub(super) struct Planted {
    pub(super) machines: usize,
    /// So many machines are broken, spread evenly.
    pub(super) off: usize,
    pub(super) by: f64,
    pub(super) only: Off,
    /// Every other machine has another CPU, which is dearer by this.
    pub(super) cpu: f64,
    pub(super) microcode_follows: bool,
    /// Every other pair of machines has a kernel that is dearer by this.
    pub(super) kernel: f64,
    /// Noise of each row.
    pub(super) noise: f64,
    /// How much that differs between rows: the standard deviation of its logarithm.
    pub(super) uneven: f64,
    /// Noise that the rows of a machine share.
    pub(super) shared: f64,
    pub(super) long_tails: bool,
    /// Noise as times have it: more often a little below, now and then far above.
    pub(super) skewed: bool,
    pub(super) seed: u64,
}

impl Default for Planted {
    fn default() -> Self {
        Self {
            machines: 100,
            off: 0,
            by: 0.0,
            only: Off::All,
            cpu: 0.0,
            microcode_follows: false,
            kernel: 0.0,
            noise: 0.05,
            uneven: 0.0,
            shared: 0.0,
            long_tails: false,
            skewed: false,
            seed: 7,
        }
    }
}

impl Planted {
    fn broken(&self, machine: usize) -> bool {
        self.off > 0
            && machine % (self.machines / self.off) == 1 % self.machines
            && machine / (self.machines / self.off) < self.off
    }

    pub(super) fn is_off(&self, name: &str) -> bool {
        name.strip_prefix("node").and_then(|at| at.parse().ok()).is_some_and(|at| self.broken(at))
    }
}

const GROUPS: [&str; 5] = ["kernel", "process", "thread", "pipe", "cpu"];

pub(super) fn fleet(planted: &Planted) -> Fleet {
    let mut rng = Random::seed_from_u64(planted.seed);
    let rows: Vec<Row> = (0..60)
        .map(|at| Row {
            group: GROUPS[at % 5].into(),
            name: format!("row{at}"),
            // Threads and pipes, where half of the rows hand over to another CPU.
            variant: if matches!(at % 5, 2 | 3) && at % 2 == 0 { "asleep,other_cpu" } else { "usual" }.into(),
        })
        .collect();
    let machines: Vec<Machine> = (0..planted.machines).map(|at| machine(planted, at, &mut rng)).collect();
    let shared: Vec<f64> = machines.iter().map(|_| planted.shared * noise(planted, &mut rng)).collect();
    let cost = |row: &Row, of_row: f64, at: usize, rng: &mut Random| {
        let kernel = if row.group == "cpu" { 0.0 } else { planted.kernel };
        let reached = planted.only == Off::All || row.crosses_cpus();
        let broken = if planted.broken(at) && reached { planted.by } else { 0.0 };
        let facts = planted.cpu * (at % 2) as f64 + kernel * (at / 2 % 2) as f64;
        7.0 + facts + broken + shared[at] + of_row * noise(planted, rng)
    };
    let costs = rows
        .iter()
        .map(|row| {
            // None is drawn where rows are alike, so that older seeds keep their fleets.
            let ln = if planted.uneven > 0.0 { planted.uneven * normal(&mut rng) } else { 0.0 };
            let of_row = planted.noise * ln.exp();
            (0..machines.len()).map(|at| Some(cost(row, of_row, at, &mut rng))).collect()
        })
        .collect();
    Fleet { machines, rows, costs }
}

fn machine(planted: &Planted, at: usize, rng: &mut Random) -> Machine {
    let cpu = format!("CPU {}", at % 2);
    // A fact that bears on nothing.
    let governor = ["performance", "schedutil"][rng.random_range(0..2)];
    let facts = HostFacts {
        microcode: planted.microcode_follows.then(|| format!("0x{}", at % 2)),
        cpu_model: Some(cpu),
        kernel: Some(["6.1", "6.12"][at / 2 % 2].into()),
        governor: Some(governor.into()),
        cpus_online: Some(2),
        ..HostFacts::default()
    };
    let fingerprint = Fingerprint { facts, ..Fingerprint::default() };
    Machine { name: format!("node{at}"), facts: Arc::new(Facts::of(&fingerprint)) }
}

/// About normal: the sum of twelve uniform numbers.
fn normal(rng: &mut Random) -> f64 {
    (0..12).map(|_| rng.random_range(-0.5..0.5)).sum::<f64>()
}

/// The same; with long tails, one in twenty is three times as far.
fn noise(planted: &Planted, rng: &mut Random) -> f64 {
    let normal = normal(rng);
    if planted.skewed {
        // The sum of a normal and an exponential number, of variance 1.
        return 0.8 * normal + 0.6 * (-rng.random_range(f64::MIN_POSITIVE..1.0).ln() - 1.0);
    }
    if planted.long_tails && rng.random_bool(0.05) { 3.0 * normal } else { normal }
}
