//! The comparisons that machines answered: the same two commands at the same load are one question.

use super::Machine;
use super::effects::{EffectReport, OnMachine, effects};
use crate::price::fingerprint::Fingerprint;
use crate::record::Record;

use serde::{Deserialize, Serialize};

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
    /// Copies at once.
    pub load: u32,
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

/// The questions of many records, in the order in which they first came.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    asked: Vec<(Question, Vec<OnMachine>)>,
}

impl Questions {
    /// Adds the record of a machine.
    pub fn add(&mut self, machine: &str, record: &Record) {
        let fingerprint = Fingerprint { facts: record.host.before.clone(), ..Fingerprint::default() };
        let machine = Machine { name: machine.to_owned(), fingerprint };
        let command = |name: &str| {
            let of = record.plan.alternatives.iter().find(|it| it.name == name);
            of.map(|it| it.command.clone()).unwrap_or_default()
        };
        for level in &record.analysis.levels {
            for it in &level.comparisons {
                let question = Question {
                    alternative: it.alternative.clone(),
                    command: command(&it.alternative),
                    baseline: it.baseline.clone(),
                    baseline_command: command(&it.baseline),
                    load: level.load,
                };
                let answer = OnMachine {
                    machine: machine.clone(),
                    ratio: crate::verdict::Ratio { ratio: it.ratio, low: it.low, high: it.high },
                    confidence: record.plan.confidence,
                    verdict: it.verdict,
                };
                match self.asked.iter_mut().find(|(known, _)| *known == question) {
                    Some((_, answers)) => answers.push(answer),
                    None => self.asked.push((question, vec![answer])),
                }
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
