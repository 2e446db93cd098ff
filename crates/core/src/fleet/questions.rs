//! The comparisons that machines answered: the same two commands at the same load, whose copies come in the same way, are one question.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Machine;
use super::effects::{Answer, EffectReport, OnMachine, Tally, effects};
use crate::analysis::{Comparison, Level, alpha_per_interval};
use crate::host::HostFacts;
use crate::plan::Mode;
use crate::price::fingerprint::{Facts, Fingerprint};
use crate::record::Record;
use crate::verdict::Ratio;

/// What machines were asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Question {
    /// Name of the alternative.
    pub alternative: String,
    /// Its command.
    pub command: String,
    /// Name of the baseline.
    pub baseline: String,
    /// Its command.
    pub baseline_command: String,
    /// Copies at once; workers, or 0 where copies come on a clock of their own.
    pub load: u32,
    /// How copies come, where they are not all released together: another figure is compared then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
}

/// How copies come that are not all released together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Arrivals {
    /// Each worker starts the next one as soon as its last one ended.
    Closed,
    /// On a clock of their own.
    Open {
        /// Intended starts in a thousand seconds: the same rate is the same number.
        starts_per_1000_s: u64,
    },
}

impl Arrivals {
    /// By the word of the mode, and intended starts in a thousand seconds.
    pub fn named(mode: &str, starts_per_1000_s: Option<u64>) -> Option<Self> {
        let all = [Some(Self::Closed), starts_per_1000_s.map(|it| Self::Open { starts_per_1000_s: it })];
        all.into_iter().flatten().find(|it| it.mode() == mode)
    }

    /// The mode, by the word of the option.
    pub fn mode(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open { .. } => "open",
        }
    }

    /// Intended starts in a thousand seconds, where they are on a clock of their own.
    pub fn starts_per_1000_s(self) -> Option<u64> {
        match self {
            Self::Closed => None,
            Self::Open { starts_per_1000_s } => Some(starts_per_1000_s),
        }
    }

    /// The same in a second.
    pub fn starts_per_s(self) -> Option<f64> {
        self.starts_per_1000_s().map(|starts| starts as f64 / 1000.0)
    }

    /// How the copies of a mode come.
    pub fn of(mode: Mode) -> Option<Self> {
        match mode {
            Mode::Batch => None,
            Mode::Closed { .. } => Some(Self::Closed),
            Mode::Open { rate_per_s, .. } => {
                Some(Self::Open { starts_per_1000_s: (1000.0 * rate_per_s).round() as u64 })
            }
        }
    }
}

impl Question {
    /// Whether one of the commands, or its name, holds this text.
    pub fn holds(&self, text: &str) -> bool {
        let Self { alternative, command, baseline, baseline_command, .. } = self;
        [alternative, command, baseline, baseline_command].iter().any(|it| it.contains(text))
    }
}

/// A question and what the machines say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answered {
    /// What was asked.
    #[serde(flatten)]
    pub question: Question,
    /// What they say.
    #[serde(flatten)]
    pub report: EffectReport,
}

/// A question and what the machines say to it in short: for a reader who has many of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counted {
    /// What was asked.
    #[serde(flatten)]
    pub question: Question,
    /// Machines that answered.
    pub machines: usize,
    /// What they say.
    #[serde(flatten)]
    pub tally: Tally,
}

impl Counted {
    /// The same in short.
    pub fn of(answered: &Answered) -> Self {
        let EffectReport { machines, combined, groups, .. } = &answered.report;
        let sum = |count: fn(&Tally) -> usize| groups.iter().map(|group| count(&group.tally)).sum();
        let tally = Tally {
            combined: *combined,
            faster: sum(|it| it.faster),
            slower: sum(|it| it.slower),
            same: sum(|it| it.same),
            undecided: sum(|it| it.undecided),
        };
        Self { question: answered.question.clone(), machines: machines.len(), tally }
    }
}

/// Every question that a record answers.
pub fn answers(record: &Record) -> Vec<(Question, Answer, &Comparison)> {
    let command = |name: &str| {
        let of = record.plan.alternatives.iter().find(|it| it.name == name);
        of.map(|it| it.command.clone()).unwrap_or_default()
    };
    let of_level = |level: &Level, it: &Comparison| Question {
        alternative: it.alternative.clone(),
        command: command(&it.alternative),
        baseline: it.baseline.clone(),
        baseline_command: command(&it.baseline),
        load: level.load,
        arrivals: Arrivals::of(record.plan.mode),
    };
    let answer = |level: &Level, it: &Comparison| Answer {
        ratio: Ratio { ratio: it.ratio, low: it.low, high: it.high },
        confidence: 1.0 - alpha_per_interval(&record.plan, &record.host, level.load),
        verdict: it.verdict,
    };
    let levels = record.analysis.levels.iter();
    levels
        .flat_map(|level| level.comparisons.iter().map(move |it| (level, it)))
        .map(|(level, it)| (of_level(level, it), answer(level, it), it))
        .collect()
}

/// A machine as far as a record of a comparison or a trace tells.
pub fn facts(before: &HostFacts) -> Facts {
    Facts::of(&Fingerprint { facts: before.clone(), ..Fingerprint::default() })
}

/// The questions of many records, in the order in which they first came.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    asked: Vec<(Question, Vec<OnMachine>)>,
    /// How many records have come of a name.
    came: HashMap<String, usize>,
}

impl Questions {
    /// Adds the record of a machine. Records of one name are told apart by numbers.
    pub fn add(&mut self, machine: &str, record: &Record) {
        let nth = self.came.entry(machine.to_owned()).or_default();
        *nth += 1;
        let name = if *nth > 1 { format!("{machine} ({nth})") } else { machine.to_owned() };
        let machine = Machine { name, facts: Arc::new(facts(&record.host.before)) };
        for (question, answer, _) in answers(record) {
            let answer = OnMachine { machine: machine.clone(), answer };
            match self.asked.iter_mut().find(|(known, _)| *known == question) {
                Some((_, answers)) => answers.push(answer),
                None => self.asked.push((question, vec![answer])),
            }
        }
    }

    /// What the machines say to each.
    pub fn answered(&self) -> Vec<Answered> {
        let each = self.asked.iter();
        each.map(|(question, answers)| Answered { question: question.clone(), report: effects(answers) })
            .collect()
    }
}
