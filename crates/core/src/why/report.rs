//! What an explanation says, as stored and as other tools read it: the documented paths of `--json`. Times are seconds.

use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::experiments::{Edit, Pace, Shown};
use super::statement::{
    Answer, CopyCost, Deciding, Fact, KindsUnknown, LeftOut, Measure, Pair, PredictedFrom, Refusal,
};
use crate::trace::TraceReport;
use crate::trace::counts::OwnCost;
use crate::trace::report::{PathAlternative, PathRow, SharerKind, WorkKind, WorkRow};
use crate::trace::stacks::Stacks;
use crate::trace::stored::Stored;
use crate::verdict::Ratio;
use whyfaster_stats::Estimate;

/// Why the alternatives differ. Empty lists where nothing was explained; `refused` then says why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Why {
    /// At most three sentences for somebody who has never heard of work and span, and one for each script that stands before a program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summary: Vec<String>,
    /// What the summary says, as a kind and its numbers. Absent in older records, and where nothing could be found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Why nothing was explained, or not all, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The same as kinds with their numbers. Empty in older records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Refusal>,
    /// What was left out, and why. Empty in older records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Scripts that stand before a program, put there by a version manager, say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wrappers: Vec<Wrapper>,
    /// The causes, the largest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Where the time of each alternative goes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "accounts")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<StoredAccount>"))]
    pub accounts: Vec<Account>,
    /// Each alternative's accounts less the baseline's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// What was tried to confirm the findings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub experiments: Vec<Experiment>,
    /// What span, work and one saturated level say about the other levels, beside what was measured there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub predictions: Vec<Prediction>,
    /// How cost grows with load.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub growth: Vec<Growth>,
    /// The traced runs behind it, raw.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traced: Vec<Traced>,
    /// Traced batches of the highest load, raw: what of the work grows with load.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traced_batches: Vec<TracedBatch>,
    /// One of the traced runs of each alternative event by event: the one with the middle wall time. Absent in older records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<RoundSchedule>,
    /// Where the clock found the code of each alternative, by whole stacks, over all its traced runs. Absent in older records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<SideStacks>,
    /// What a file holds in the place of `traced`, `traced_batches`, `schedules` and `stacks`: the JSON of an object with these, packed by
    /// gzip, in Base64. Whoever reads the file puts them back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
}

/// What stands under `accounts` in files of any version.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum StoredAccount {
    /// Of versions before explanations came; `sched_accounts` today.
    Former(#[expect(dead_code, reason = "the store reads it")] crate::sample::SchedAccount),
    /// Of this version.
    Account(Box<Account>),
}

/// The accounts among what a file holds under this name.
fn accounts<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Account>, D::Error> {
    let stored = Vec::<StoredAccount>::deserialize(deserializer)?;
    let account = |stored| match stored {
        StoredAccount::Account(account) => Some(*account),
        StoredAccount::Former(_) => None,
    };
    Ok(stored.into_iter().filter_map(account).collect())
}

/// One traced run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traced {
    /// Index of the alternative.
    pub alternative: usize,
    /// The traced round, from 0: every alternative runs once in each, in random order.
    pub round: u32,
    /// What was seen; without the list of single tasks.
    pub report: TraceReport,
    /// What the observing of this run took.
    #[serde(default)]
    pub own: OwnCost,
}

/// Who ran when and who waited for whom in one traced run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundSchedule {
    /// Index of the alternative.
    pub alternative: usize,
    /// The traced round.
    pub round: u32,
    /// Events behind those that are kept; above 0 the run is kept only from its beginning.
    #[serde(default)]
    pub left_out: u64,
    /// The events, without those that only the accounts need; these stand in the run's report.
    #[serde(flatten)]
    pub stream: Stored,
}

/// The samples of one alternative by stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideStacks {
    /// Index of the alternative.
    pub alternative: usize,
    /// Runs that were sampled.
    pub runs: u32,
    /// Samples a second, on every CPU.
    pub per_s: u32,
    /// The samples.
    #[serde(flatten)]
    pub stacks: Stacks,
}

impl Why {
    /// The traced run of an alternative whose wall time is the middle one.
    pub fn typical(&self, alternative: usize) -> Option<&Traced> {
        let mut runs: Vec<&Traced> =
            self.traced.iter().filter(|run| run.alternative == alternative).collect();
        runs.sort_by(|a, b| a.report.wall_s.total_cmp(&b.report.wall_s));
        runs.get(runs.len() / 2).copied()
    }

    /// Keeps the schedules of typical runs; those of others go.
    pub fn keep_typical_schedules(&mut self) {
        let mut schedules = std::mem::take(&mut self.schedules);
        schedules.retain(|it| self.typical(it.alternative).is_some_and(|run| run.round == it.round));
        self.schedules = schedules;
    }
}

/// One traced batch: all its copies were followed, each a root of the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracedBatch {
    /// Index of the alternative.
    pub alternative: usize,
    /// Copies at once.
    pub load: u32,
    /// Which one of this alternative, from 0.
    pub round: u32,
    /// What was seen of all copies together; without the list of single tasks.
    pub report: TraceReport,
    /// What the observing of this batch took.
    #[serde(default)]
    pub own: OwnCost,
}

/// A script that an alternative calls by the name of a program, and that begins another one in its own process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wrapper {
    /// The alternative.
    pub alternative: String,
    /// Path of the script.
    pub script: String,
    /// What runs it.
    pub interpreter: String,
    /// The program that takes its place.
    pub program: String,
    /// How often, a median over the traced rounds.
    pub times: f64,
    /// Seconds from its exec to that of the program, over all times, brought to the untraced time.
    pub seconds: f64,
    /// Of so many: the untraced wall time of the alternative.
    pub of_s: f64,
}

/// One cause of a difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What it is.
    pub cause: Cause,
    /// The alternative that it makes slower.
    pub alternative: String,
    /// The alternative that it is compared with.
    pub against: String,
    /// How much longer the alternative takes because of it.
    pub seconds: f64,
    /// Lower end of the interval over the traced rounds; null: too few rounds.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Part of the whole difference; below zero: it works against it.
    pub share: f64,
    /// That it is this is told by counts, and the seconds are those of the part of the time that it belongs to, in timed runs: how much of
    /// them it took was not observed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_counts: bool,
    /// Whether an experiment that removed it made the difference go: true, false, or null where none was made.
    pub confirmed: Option<bool>,
    /// What it states, as a kind and its numbers. Absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<Fact>,
    /// The functions in which the alternative was found more often than the other one, those that make most of it first; at the end,
    /// with shares below zero, those of the other one. Of causes that code takes: `compute`, `page_faults`, `startup`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<Function>,
    /// Samples behind `functions`, over all traced rounds. Null: none were taken, or no code takes such a cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Pair>,
    /// The same in words.
    pub sentence: String,
    /// What could be done.
    pub remedy: String,
    /// The page of the documentation.
    pub page: String,
    /// The numbers behind it.
    pub evidence: Vec<Evidence>,
}

/// One function behind a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Function {
    /// Its name. Null: its file has no symbol there, or nobody said what the code is that was made at run time.
    pub symbol: Option<String>,
    /// The file that has its code. Null: it was made at run time.
    pub file: Option<String>,
    /// What called it in at least half of the samples: a function, or a file without symbols. Null: not known.
    pub called_from: Option<String>,
    /// The command that was found there most often.
    pub command: String,
    /// Part of all that the alternative has more of in any function; below zero: the other one was found there more often.
    pub share: f64,
    /// The same part of the finding's seconds.
    pub seconds: f64,
    /// Samples: of the alternative, and of the other one, brought to as many rounds.
    pub samples: Pair,
}

/// One number behind a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// What was counted or timed. Absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<Measure>,
    /// The same in words.
    pub what: String,
    /// The number for the alternative, a median over the traced rounds.
    pub here: f64,
    /// The number for the one that it is compared with.
    pub there: f64,
    /// Its unit: "" for a count, "s", "B".
    pub unit: String,
}

/// Where the time of one alternative goes, medians over its traced rounds, less what the observing cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Account {
    /// Its name.
    #[serde(default)]
    pub alternative: String,
    /// How sentences call it: its name in quotes, or a letter by its place ("B") where names are too long for a sentence. Empty in older records.
    #[serde(default)]
    pub label: String,
    /// Traced rounds.
    #[serde(default)]
    pub rounds: u32,
    /// Median wall time of the traced runs, as it was.
    #[serde(default)]
    pub traced_s: f64,
    /// Median wall time of the untraced runs, which the parts below are brought to.
    #[serde(default)]
    pub untraced_s: f64,
    /// The critical path. The rows sum to `untraced_s` and `own_cost_s` is what was taken out.
    #[serde(default)]
    pub critical_path: Vec<PathRow>,
    /// Paths that were nearly as long in at least half of the traced runs, one for each command: medians.
    #[serde(default)]
    pub critical_alternatives: Vec<PathAlternative>,
    /// CPU time by what it was spent on.
    #[serde(default)]
    pub work: Vec<WorkRow>,
    /// Seconds of wall time taken out as the cost of observing.
    #[serde(default)]
    pub own_cost_s: f64,
    /// Samples of the code of one run, a median. 0 in older records.
    #[serde(default)]
    pub samples: f64,
    /// CPU time that taking them took, seconds.
    #[serde(default)]
    pub sampling_s: f64,
    /// CPU time per wall time.
    #[serde(default)]
    pub parallelism: Option<f64>,
}

/// One alternative's accounts less those of the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The alternative.
    pub alternative: String,
    /// What it is compared with.
    pub baseline: String,
    /// The alternative's time over the baseline's, as the verdict has it: the median over the untraced rounds.
    #[serde(default)]
    pub ratio: Option<f64>,
    /// Lower end of its interval. Absent in older records, and where there are too few rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_high: Option<f64>,
    /// Difference of the untraced wall times.
    pub span_s: Estimate,
    /// By part of the critical path.
    pub path: Vec<PathDelta>,
    /// Difference of the CPU times.
    pub work_s: Estimate,
    /// Its part in user mode. `None`: the kernel's clock does not tell it apart in runs this short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_s: Option<Estimate>,
    /// The one of the two that needs more CPU time; null: the rounds do not tell, or both need the same.
    #[serde(default)]
    pub dearer: Option<String>,
    /// By what it was spent on.
    pub work: Vec<WorkDelta>,
    /// By where it ran and who shared the CPU.
    pub share: Vec<ShareDelta>,
    /// What of the difference of the wall times no part holds.
    pub unexplained_s: Estimate,
    /// Parts of the difference below this are not told from noise, and are no findings. `None`: it was not explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_s: Option<f64>,
    /// The part of the machine's CPUs that others kept busy during the untraced runs of both. `None`: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<f64>,
    /// What observing cost the one more than the other, seconds, where that is more than the difference: its causes are known by counts
    /// and CPU time, and their seconds are only about right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dearer_to_observe_s: Option<f64>,
    /// The rounds do not tell which of the two is faster: what is known is which needs more CPU time, and for what.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undecided: bool,
    /// It is explained by counts and the timed runs' CPU time, because no observed run that saw waits could be used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_counts: bool,
    /// Which account decides at which load, and why it changes, in words.
    pub deciding: String,
    /// The same as a kind and its numbers. Absent in older records, and where span or work is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decides: Option<Deciding>,
}

/// One part of the critical path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathDelta {
    /// What.
    pub kind: crate::trace::report::PathKind,
    /// Beside the kind, as in a row of the path.
    pub what: Option<String>,
    /// No task had the CPU that was waited for: it was waking up.
    #[serde(default)]
    pub waking_up: bool,
    /// How much more.
    pub seconds: Estimate,
}

/// One kind of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkDelta {
    /// What.
    pub kind: WorkKind,
    /// How much more.
    pub seconds: Estimate,
}

/// Waiting for a CPU on the critical path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShareDelta {
    /// Who held the CPU.
    pub holder: SharerKind,
    /// While another allowed CPU stood idle.
    pub avoidable: bool,
    /// How much more.
    pub seconds: Estimate,
}

/// One experiment: the cause removed (or put in), everything else the same, untraced and interleaved with the originals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Experiment {
    /// The cause that it is about.
    pub cause: Cause,
    /// The alternative that this makes slower. Absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower: Option<String>,
    /// The one that it is compared with. Absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faster: Option<String>,
    /// The alternative that was changed.
    pub alternative: String,
    /// What was changed, as a kind and its numbers. Absent in older records, and where nothing could be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<Edit>,
    /// The same in words.
    pub change: String,
    /// The changed command line; null where it was not run.
    pub command: Option<String>,
    /// The cause was put into the faster alternative, and not taken out of the slower one.
    #[serde(default)]
    pub put_in: bool,
    /// The change surely removes the cause, or puts it in. If not, a difference that stays refutes nothing.
    #[serde(default)]
    pub sure: bool,
    /// What was said before it ran.
    pub prediction: String,
    /// The seconds that removing the cause was to win.
    pub predicted_s: f64,
    /// The seconds that it won; null where it was not run.
    pub won_s: Option<Estimate>,
    /// Rounds.
    pub rounds: u32,
    /// What came out.
    pub outcome: Outcome,
    /// Seconds of every run with nothing changed, by round.
    #[serde(default)]
    pub control_s: Vec<f64>,
    /// Seconds of every run with the change, by round.
    #[serde(default)]
    pub changed_s: Vec<f64>,
    /// The machine was not as fast as before the experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// What it showed beside the outcome. Absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
    /// In words: "with the change (...), 'a' took 12.1 ms instead of 29.3 ms", or why it could not be tested.
    pub sentence: String,
}

impl Experiment {
    /// Whether it was planned for this finding, as far as is known.
    pub(super) fn is_about(&self, finding: &Finding) -> bool {
        let pair = (finding.alternative.as_str(), finding.against.as_str());
        self.cause == finding.cause
            && match self.slower.as_deref().zip(self.faster.as_deref()) {
                Some(mine) => mine == pair,
                None => [pair.0, pair.1].contains(&self.alternative.as_str()),
            }
    }
}

impl Difference {
    /// The ratio with its interval.
    pub fn time(&self) -> Option<Ratio> {
        Some(Ratio { ratio: self.ratio?, low: self.ratio_low, high: self.ratio_high })
    }
}

/// What an experiment showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The difference went with the cause.
    Confirmed,
    /// It stayed.
    Refuted,
    /// The rounds do not tell.
    Undecided,
    /// It could not be tested.
    NotTestable,
}

/// What was predicted for one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prediction {
    /// The alternative.
    pub alternative: String,
    /// Copies.
    pub load: u32,
    /// Makespan.
    pub predicted_s: f64,
    /// Lower end of its interval; null: the rounds behind it are too few for one, as `from` says.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// What was measured then; null: nothing yet.
    pub measured_s: Option<f64>,
    /// Whether `predicted_s` is a lower bound: no other level with full CPUs says what a copy takes more there.
    #[serde(default)]
    pub lower_bound: bool,
    /// From what it was predicted. Absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub based_on: Option<PredictedFrom>,
    /// The same in words: "span and work, a lower bound", "span, work and the level of 10 copies", with what is
    /// missing for an interval.
    pub from: String,
}

/// How one alternative's cost per copy grows with load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Growth {
    /// The alternative.
    pub alternative: String,
    /// Contention of the scalability law: the part that does not run side by side. Null: could not be fitted.
    pub contention: Option<f64>,
    /// Coherency: what each copy costs each other one.
    pub coherency: Option<f64>,
    /// The lowest load; 0 in older records.
    #[serde(default)]
    pub lowest: u32,
    /// The highest.
    #[serde(default)]
    pub highest: u32,
    /// What grows, times first, the most first: `here` at the lowest load, `there` at the highest, seconds or counts per copy.
    /// "user CPU time", "system CPU time", "waiting for a CPU" and switches from the untraced batches; "kernel: ..." and
    /// "start-up of programs" are parts of the CPU times, from the traced runs and batches.
    pub grows: Vec<Evidence>,
    /// Why the kernel's time is not told by kind though batches were traced. Absent where the CPU time of a copy does not grow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds_not_measured: Option<String>,
    /// The same as a kind and its numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds_unknown: Option<KindsUnknown>,
    /// How the CPU time of a copy changes. Absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CopyCost>,
    /// In words.
    pub sentence: String,
}
