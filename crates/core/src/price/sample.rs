//! What the worker said, raw: rows as the probes describe themselves, and the samples of each repetition.

use serde::{Deserialize, Serialize};

/// A row of a price list: one probe in one variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// kernel, process, thread, pipe or cpu.
    pub group: String,
    /// Name of the probe.
    pub name: String,
    /// Variant: the way the same thing is done or looked at (libc, raw, vdso; parent, child, reaped; asleep, other_cpu, ...).
    pub variant: String,
    /// What one operation is.
    pub unit: String,
    /// What it exercises, in a line.
    #[serde(default)]
    pub exercises: String,
    /// What must be true of every operation for the price to be one.
    #[serde(default)]
    pub expect: Expect,
    /// System calls per operation, counted in an untimed run under a tracer; null where that was not possible.
    #[serde(default)]
    pub syscalls: Option<f64>,
    /// Why there is no price whatever the samples say: the probe is not available here, or it found that it did not do
    /// what it claims.
    #[serde(default)]
    pub unavailable: Option<String>,
}

impl Row {
    /// Name and variant as one word, `fork/reaped`.
    pub fn id(&self) -> String {
        row_id(&self.name, &self.variant)
    }
}

/// Name and variant as one word; a probe without variants is its name alone.
pub fn row_id(name: &str, variant: &str) -> String {
    if variant.is_empty() { name.to_owned() } else { format!("{name}/{variant}") }
}

/// What a probe promises of every operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expect {
    /// Voluntary context switches per operation: the task went to sleep.
    #[serde(default)]
    pub voluntary: Range,
    /// Context switches per operation, voluntary and involuntary.
    #[serde(default)]
    pub switches: Range,
    /// System calls per operation.
    #[serde(default)]
    pub syscalls: Range,
    /// Whether an involuntary switch is a disturbance. It is none where a hand-over between tasks is what is measured: the
    /// one that wakes up may push the other one off its CPU.
    #[serde(default)]
    pub involuntary_disturbs: bool,
    /// Whether a migration is a disturbance. It is none where the scheduler is left free to choose.
    #[serde(default)]
    pub migration_disturbs: bool,
    /// Whether every wait for a CPU is one for somebody else's work: no two tasks of the operation want one CPU.
    #[serde(default)]
    pub delay_disturbs: bool,
}

/// A number with bounds that may be open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Range {
    /// At least this.
    pub min: Option<f64>,
    /// At most this.
    pub max: Option<f64>,
}

/// The samples of one row in one repetition: a column per quantity, an entry per sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// Index into the list's rows.
    pub row: usize,
    /// Repetition, from 0. Every repetition is a fresh process.
    pub repetition: u32,
    /// Seconds from the start of the measurement to the start of this process.
    pub began_s: f64,
    /// CPU time that the hypervisor gave to others while this process ran, as the kernel counts it (in clock ticks).
    pub steal_ns: Option<f64>,
    /// Operations in the sample.
    pub ops: Vec<u64>,
    /// What they took together.
    pub elapsed_ns: Vec<f64>,
    /// Voluntary context switches meanwhile; null where they cannot be counted, here and below.
    pub voluntary: Vec<Option<u64>>,
    /// Involuntary context switches meanwhile.
    pub involuntary: Vec<Option<u64>>,
    /// Migrations to another CPU meanwhile.
    pub migrations: Vec<Option<u64>>,
    /// Nanoseconds meanwhile in which a task of the operation was ready and had no CPU.
    pub delay_ns: Vec<Option<f64>>,
    /// CPUs on which the one that sends and the one that receives ran; empty where the probe has no two sides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<Option<[u32; 2]>>,
    /// Bytes that were moved; empty where the probe moves none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bytes: Vec<Option<u64>>,
}

/// One sample of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Operations in it.
    pub ops: u64,
    /// What they took together.
    pub elapsed_ns: f64,
    /// Voluntary context switches meanwhile.
    pub voluntary: Option<u64>,
    /// Involuntary context switches meanwhile.
    pub involuntary: Option<u64>,
    /// Migrations meanwhile.
    pub migrations: Option<u64>,
    /// Nanoseconds meanwhile in which a task of the operation was ready and had no CPU.
    pub delay_ns: Option<f64>,
    /// CPUs of the one that sends and the one that receives.
    pub on: Option<[u32; 2]>,
    /// Bytes that were moved.
    pub bytes: Option<u64>,
}

impl Series {
    /// A series without samples.
    pub fn new(row: usize, repetition: u32, began_s: f64) -> Self {
        Self { row, repetition, began_s, ..Self::default() }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.elapsed_ns.len()
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.elapsed_ns.is_empty()
    }

    /// Adds a sample.
    pub fn push(&mut self, sample: Sample) {
        self.ops.push(sample.ops);
        self.elapsed_ns.push(sample.elapsed_ns);
        self.voluntary.push(sample.voluntary);
        self.involuntary.push(sample.involuntary);
        self.migrations.push(sample.migrations);
        self.delay_ns.push(sample.delay_ns);
        let before = self.len() - 1;
        put(&mut self.on, before, sample.on);
        put(&mut self.bytes, before, sample.bytes);
    }

    /// Whether all columns are equally long.
    pub fn even(&self) -> bool {
        let n = self.elapsed_ns.len();
        let counts = [&self.voluntary, &self.involuntary, &self.migrations];
        let sparse = [self.on.len(), self.bytes.len()];
        let whole = sparse.iter().all(|len| *len == 0 || *len == n);
        whole
            && self.ops.len() == n
            && self.delay_ns.len() == n
            && counts.iter().all(|column| column.len() == n)
    }

    /// The samples in the order in which they were taken.
    pub fn samples(&self) -> impl Iterator<Item = Sample> + '_ {
        (0..self.len()).map(|i| Sample {
            ops: self.ops[i],
            elapsed_ns: self.elapsed_ns[i],
            voluntary: self.voluntary[i],
            involuntary: self.involuntary[i],
            migrations: self.migrations[i],
            delay_ns: self.delay_ns[i],
            on: self.on.get(i).copied().flatten(),
            bytes: self.bytes.get(i).copied().flatten(),
        })
    }
}

/// Puts a value into a column that stays empty until there is one.
fn put<T: Clone>(column: &mut Vec<Option<T>>, before: usize, value: Option<T>) {
    if value.is_some() || !column.is_empty() {
        column.resize(before, None);
        column.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_few_probes_have_are_empty_or_whole() {
        let mut series = Series::default();
        series.push(Sample { ops: 1, ..Sample::default() });
        assert!(series.even() && series.on.is_empty());
        let placed = Sample { ops: 1, on: Some([0, 1]), bytes: Some(64), ..Sample::default() };
        series.push(placed);
        series.push(Sample { ops: 1, ..Sample::default() });
        assert!(series.even() && series.on == [None, Some([0, 1]), None]);
        assert_eq!(series.samples().nth(1), Some(placed));
        series.on.pop();
        assert!(!series.even());
    }
}
