//! The stored document. Measuring ends by making one; showing, comparing and exporting need nothing else.
//!
//! A record may come from anywhere, so its numbers are checked before it is analysed again: every index points at something,
//! columns are equally long, times are finite and not negative.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::analysis::Analysis;
use crate::host::Host;
use crate::metric::Most;
use crate::missing::NotMeasured;
use crate::plan::{Loads, MAX_LOAD, Mode, Plan, Rounds};
use crate::sample::{Arm, Batch, Copies, Duet, SchedAccount, Trial};
use crate::status::Status;
use crate::studied::Studied;
use crate::validate::{Invalid, MAX_COUNT, amount, ensure, moment};
use crate::why::Why;

/// Version of the document. Changes are additive; a reader refuses another major number.
pub const SCHEMA: &str = "whyfaster/1";

/// One measurement, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of whyfaster that wrote it.
    pub tool_version: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// Seconds that the measurement took.
    pub took_s: f64,
    /// How it ended.
    pub status: Status,
    /// The study it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<String>,
    /// What the study knows beside the timed runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub studied: Option<Studied>,
    /// What was to be run.
    pub plan: Plan,
    /// The machine.
    pub host: Host,
    /// The untimed runs before.
    pub trials: Vec<Trial>,
    /// Every timed batch, in the order in which they ran.
    pub batches: Vec<Batch>,
    /// Scheduling accounts of untimed traced batches.
    #[serde(default)]
    pub sched_accounts: Vec<SchedAccount>,
    /// Alternatives at once with the baseline on one CPU.
    #[serde(default, rename = "duet_runs", skip_serializing_if = "Vec::is_empty")]
    pub duets: Vec<Duet>,
    /// What the runner could not measure, and why; `not_measured` holds these and what the analysis misses.
    #[serde(default)]
    pub skipped: Vec<NotMeasured>,
    /// What follows from the samples; can be made again from them.
    #[serde(flatten)]
    pub analysis: Analysis,
    /// Why the alternatives differ.
    #[serde(flatten)]
    pub why: Why,
}

impl Record {
    /// Checks everything that the analysis and the renderers rely on.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.schema != SCHEMA {
            return Err(Invalid::schema(&self.schema, SCHEMA));
        }
        amount(self.took_s, || "took_s".to_owned())?;
        plan(&self.plan)?;
        let alternatives = self.plan.alternatives.len();
        self.why.validate(alternatives)?;
        self.studied.as_ref().map_or(Ok(()), Studied::validate)?;
        for (i, one) in self.trials.iter().enumerate() {
            trial(one, alternatives, || format!("trials[{i}]"))?;
        }
        let mut seen = BTreeSet::new();
        for (i, one) in self.batches.iter().enumerate() {
            let place = || format!("batches[{i}]");
            batch(one, alternatives, place)?;
            let new = seen.insert((one.load, one.arm, one.round));
            ensure(new, place, "the same arm ran twice in one round")?;
            // Rounds count from 0 without a gap, so there is at least one batch for each.
            ensure(
                (one.round as usize) < self.batches.len(),
                place,
                format_args!("there is no round {}", one.round),
            )?;
        }
        for (i, one) in self.sched_accounts.iter().enumerate() {
            account(one, alternatives, || format!("sched_accounts[{i}]"))?;
        }
        for (i, one) in self.duets.iter().enumerate() {
            duet(one, alternatives, || format!("duet_runs[{i}]"))?;
        }
        Ok(())
    }
}

fn plan(plan: &Plan) -> Result<(), Invalid> {
    let place = |what: &'static str| move || format!("plan.{what}");
    ensure(!plan.alternatives.is_empty(), place("alternatives"), "there is none")?;
    let names: BTreeSet<&str> = plan.alternatives.iter().map(|a| a.name.as_str()).collect();
    ensure(names.len() == plan.alternatives.len(), place("alternatives"), "two have the same name")?;
    ensure(plan.baseline < plan.alternatives.len(), place("baseline"), "there is no such alternative")?;
    ensure(
        (0.0..1.0).contains(&plan.delta),
        place("delta"),
        format_args!("{} is not from 0 to 1", plan.delta),
    )?;
    let confident = plan.confidence > 0.0 && plan.confidence < 1.0;
    ensure(confident, place("confidence"), format_args!("{} is not between 0 and 1", plan.confidence))?;
    if let Some(timeout) = plan.timeout_s {
        amount(timeout, place("timeout_s"))?;
    }
    if let Some(fraction) = plan.fail_if_slower {
        amount(fraction, place("fail_if_slower"))?;
    }
    for limit in &plan.limits {
        let (Most::OverBaseline(most) | Most::Amount(most)) = limit.most;
        amount(most, place("limits"))?;
    }
    if let Some(cpus) = &plan.cpus {
        ensure(!cpus.is_empty(), place("cpus"), "the list is empty")?;
    }
    if let Loads::Fixed(loads) = &plan.loads {
        ensure(!loads.is_empty(), place("loads"), "the list is empty")?;
        let possible = loads.iter().all(|load| (1..=MAX_LOAD).contains(load));
        ensure(possible, place("loads"), format_args!("a load is not from 1 to {MAX_LOAD}"))?;
    }
    mode(plan.mode)?;
    rounds(&plan.rounds)
}

fn mode(mode: Mode) -> Result<(), Invalid> {
    let place = || "plan.mode".to_owned();
    match mode {
        Mode::Batch => Ok(()),
        Mode::Closed { duration_s } => amount(duration_s, place),
        Mode::Open { rate_per_s, duration_s } => {
            amount(duration_s, place)?;
            amount(rate_per_s, place)?;
            ensure(rate_per_s > 0.0, place, "the rate is 0")
        }
    }
}

fn rounds(rounds: &Rounds) -> Result<(), Invalid> {
    let place = || "plan.rounds".to_owned();
    ensure(rounds.min <= rounds.max, place, "the least number is above the largest")?;
    amount(rounds.max_time_s, place)
}

fn trial(trial: &Trial, alternatives: usize, place: impl Fn() -> String) -> Result<(), Invalid> {
    ensure(trial.alternative < alternatives, &place, "there is no such alternative")?;
    ensure(
        trial.stdout_bytes <= MAX_COUNT
            && trial.peak_memory_bytes <= MAX_COUNT
            && trial.max_rss_bytes.is_none_or(|bytes| bytes <= MAX_COUNT),
        &place,
        "a size is absurd",
    )?;
    amount(trial.wall_s, place)
}

fn account(account: &SchedAccount, alternatives: usize, place: impl Fn() -> String) -> Result<(), Invalid> {
    ensure(account.alternative < alternatives, &place, "there is no such alternative")?;
    ensure(account.load <= MAX_LOAD, &place, format_args!("load {} is above {MAX_LOAD}", account.load))?;
    ensure(account.tasks <= MAX_COUNT, &place, "the number of tasks is absurd")?;
    amount(account.run_s, &place)?;
    amount(account.delay_s, place)
}

fn duet(duet: &Duet, alternatives: usize, place: impl Fn() -> String) -> Result<(), Invalid> {
    ensure(duet.alternative < alternatives, &place, "there is no such alternative")?;
    amount(duet.cpu_s, &place)?;
    amount(duet.baseline_cpu_s, &place)?;
    amount(duet.took_s, place)
}

fn batch(batch: &Batch, alternatives: usize, place: impl Fn() -> String) -> Result<(), Invalid> {
    if let Arm::Alternative(index) = batch.arm {
        ensure(index < alternatives, &place, "there is no such alternative")?;
    }
    ensure(batch.load <= MAX_LOAD, &place, format_args!("load {} is above {MAX_LOAD}", batch.load))?;
    for value in [batch.released_s, batch.makespan_s, batch.orphans.user_s, batch.orphans.system_s] {
        amount(value, &place)?;
    }
    for value in batch.machine_busy_s.into_iter().chain(batch.steal_s) {
        moment(value, &place)?;
    }
    copies(&batch.copies, place)
}

fn copies(copies: &Copies, place: impl Fn() -> String) -> Result<(), Invalid> {
    ensure(copies.even(), &place, "the columns of the copies are not equally long")?;
    for value in &copies.start_s {
        moment(*value, &place)?;
    }
    for value in copies.wall_s.iter().chain(&copies.user_s).chain(&copies.system_s) {
        amount(*value, &place)?;
    }
    let counted = copies.counters.iter().flat_map(|counters| counters.columns.values().flatten());
    let switches = copies.voluntary_switches.iter().chain(&copies.involuntary_switches);
    let mut counts = copies.max_rss_bytes.iter().chain(switches).chain(counted);
    ensure(counts.all(|count| *count <= MAX_COUNT), place, "a count is absurd")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Alternative;
    use crate::sample::Orphans;

    fn trial(alternative: usize) -> Trial {
        Trial {
            alternative,
            stdout_sha256: None,
            stdout_bytes: 0,
            status: 0,
            peak_processes: 1,
            peak_memory_bytes: 1024,
            peak_private_bytes: 512,
            max_rss_bytes: Some(512),
            wall_s: 1.0,
            cpu_s: 1.0,
            io: None,
            differs: None,
            varies: false,
            destinations: None,
        }
    }

    fn sound() -> Record {
        let copies = Copies {
            start_s: vec![0.0, 0.1],
            wall_s: vec![1.0, 1.1],
            user_s: vec![0.5, 0.5],
            system_s: vec![0.1, 0.1],
            max_rss_bytes: vec![1024, 2048],
            voluntary_switches: vec![1, 2],
            involuntary_switches: vec![0, 0],
            status: vec![0, -9],
            timed_out: vec![false, true],
            counters: None,
        };
        let batch = |arm, round| Batch {
            load: 2,
            arm,
            round,
            position: 0,
            released_s: 1.0,
            makespan_s: 1.2,
            copies: copies.clone(),
            orphans: Orphans::default(),
            machine_busy_s: Some(2.0),
            steal_s: None,
            io: None,
        };
        Record {
            schema: SCHEMA.to_owned(),
            tool_version: "0.0.0".to_owned(),
            started: "2026-01-01T00:00:00Z".to_owned(),
            took_s: 3.0,
            status: Status::Complete,
            study: None,
            studied: None,
            plan: Plan::new(vec![Alternative::new("a"), Alternative::new("b")], 1),
            host: Host::default(),
            trials: vec![trial(0), trial(1)],
            batches: vec![
                batch(Arm::Alternative(0), 0),
                batch(Arm::Alternative(1), 0),
                batch(Arm::HiddenCopy, 0),
                batch(Arm::Alternative(0), 1),
            ],
            why: crate::why::Why::default(),
            duets: Vec::new(),
            sched_accounts: vec![SchedAccount {
                load: 2,
                alternative: 1,
                tasks: 2,
                run_s: 1.0,
                delay_s: 0.1,
            }],
            skipped: Vec::new(),
            analysis: Analysis::default(),
        }
    }

    #[test]
    fn a_sound_record_is_accepted() {
        assert_eq!(sound().validate(), Ok(()));
        // Clocks of the kernel may step back by a tick; that is no reason to refuse a measurement.
        let mut record = sound();
        record.batches[0].steal_s = Some(-0.01);
        record.batches[0].copies.start_s[0] = -1e-9;
        assert_eq!(record.validate(), Ok(()));
    }

    #[test]
    fn another_schema_is_refused_and_a_newer_one_recognised() {
        let with = |schema: &str| {
            let mut record = sound();
            record.schema = schema.to_owned();
            record.validate().unwrap_err()
        };
        assert!(with("whyfaster/2").is_newer() && with("whyfaster/10").is_newer());
        assert!(!with("whyfaster/0").is_newer() && !with("bench/2").is_newer() && !with("").is_newer());
        assert!(
            with(&"x".repeat(10_000)).to_string().len() < 300,
            "a message must not repeat a hostile text"
        );
    }

    #[test]
    fn every_broken_value_is_named_by_its_place() {
        type Break = fn(&mut Record);
        let cases: &[(&str, Break)] = &[
            ("took_s", |r| r.took_s = f64::NAN),
            ("plan.alternatives", |r| r.plan.alternatives.clear()),
            ("plan.alternatives", |r| r.plan.alternatives[1].name = "a".into()),
            ("plan.baseline", |r| r.plan.baseline = 2),
            ("plan.delta", |r| r.plan.delta = -0.1),
            ("plan.delta", |r| r.plan.delta = f64::INFINITY),
            ("plan.confidence", |r| r.plan.confidence = 1.0),
            ("plan.timeout_s", |r| r.plan.timeout_s = Some(-1.0)),
            ("plan.fail_if_slower", |r| r.plan.fail_if_slower = Some(f64::NAN)),
            ("plan.cpus", |r| r.plan.cpus = Some(vec![])),
            ("plan.loads", |r| r.plan.loads = Loads::Fixed(vec![])),
            ("plan.loads", |r| r.plan.loads = Loads::Fixed(vec![0])),
            ("plan.loads", |r| r.plan.loads = Loads::Fixed(vec![MAX_LOAD + 1])),
            ("plan.mode", |r| r.plan.mode = Mode::Open { rate_per_s: 0.0, duration_s: 1.0 }),
            ("plan.mode", |r| r.plan.mode = Mode::Closed { duration_s: f64::NAN }),
            ("plan.rounds", |r| (r.plan.rounds.min, r.plan.rounds.max) = (2, 1)),
            ("plan.rounds", |r| r.plan.rounds.max_time_s = -1.0),
            ("trials[1]", |r| r.trials[1].alternative = 2),
            ("trials[0]", |r| r.trials[0].wall_s = 1e300),
            ("trials[0]", |r| r.trials[0].stdout_bytes = u64::MAX),
            ("sched_accounts[0]", |r| r.sched_accounts[0].alternative = 9),
            ("sched_accounts[0]", |r| r.sched_accounts[0].load = u32::MAX),
            ("sched_accounts[0]", |r| r.sched_accounts[0].delay_s = -1.0),
            ("batches[1]", |r| r.batches[1].arm = Arm::Alternative(usize::MAX)),
            ("batches[3]", |r| r.batches[3].round = 0),
            ("batches[3]", |r| r.batches[3].round = u32::MAX),
            ("batches[0]", |r| r.batches[0].load = u32::MAX),
            ("batches[0]", |r| r.batches[0].makespan_s = -1.0),
            ("batches[0]", |r| r.batches[0].machine_busy_s = Some(f64::NAN)),
            ("batches[0]", |r| r.batches[0].orphans.user_s = f64::INFINITY),
            ("batches[0]", |r| r.batches[0].copies.status.truncate(1)),
            ("batches[0]", |r| r.batches[0].copies.wall_s.truncate(1)),
            ("batches[0]", |r| r.batches[0].copies.start_s.push(0.0)),
            ("batches[0]", |r| r.batches[0].copies.user_s[1] = f64::NAN),
            ("batches[0]", |r| r.batches[0].copies.max_rss_bytes[0] = u64::MAX),
        ];
        for (place, breaks) in cases {
            let mut record = sound();
            breaks(&mut record);
            let message = record.validate().expect_err(place).to_string();
            assert!(message.starts_with(place), "{place}: {message}");
        }
    }
}
