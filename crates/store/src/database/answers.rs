//! What machines answered to the questions of comparisons: of each machine, the latest answer that is meant.
//!
//! A report of many questions reads millions of answers. A file of SQLite gives them row by row; a server takes three times as long for
//! that as for one value that holds them all.

use whyfaster_core::fleet::Machine;
use whyfaster_core::fleet::effects::{Answer, OnMachine};
use whyfaster_core::fleet::questions::{Arrivals, Question};
use whyfaster_core::verdict::Ratio;
use whyfaster_words::exit::Failure;

use super::answer_form::{latest, verdict};
use super::choose::Chosen;
use super::hosts::called;
use super::open::Database;
use super::sql::Value;
use super::trouble::Trouble;

/// A question that records of the store answer, and its number there.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub(super) id: i64,
    /// The question.
    pub question: Question,
}

impl Database {
    /// Every question that records which are meant answer, and whose commands, or their names, hold this text; in the order in which they came.
    pub fn questions(&mut self, only: Option<&str>, chosen: &Chosen) -> Result<Vec<Asked>, Failure> {
        self.reading(|it| it.asked(only, chosen))
    }

    fn asked(&mut self, only: Option<&str>, chosen: &Chosen) -> Result<Vec<Asked>, Trouble> {
        let (of, mut found, mut with) = (self.comparisons(chosen)?, Vec::new(), Vec::new());
        let conditions = chosen.conditions(of, &mut with);
        let select = format!(
            "SELECT id, alternative, command, baseline, baseline_command, load, arrivals, starts_per_1000_s FROM question q WHERE EXISTS \
             (SELECT 1 FROM comparison c WHERE c.question = q.id{conditions}) ORDER BY id"
        );
        self.sql.each(&select, &with, &mut |row| {
            let text = |at: usize| row[at].text().unwrap_or_default().to_owned();
            let question = Question {
                alternative: text(1),
                command: text(2),
                baseline: text(3),
                baseline_command: text(4),
                load: row[5].int().and_then(|load| load.try_into().ok()).unwrap_or_default(),
                arrivals: row[6]
                    .text()
                    .and_then(|mode| Arrivals::named(mode, row[7].int().map(i64::unsigned_abs))),
            };
            if only.is_none_or(|only| question.holds(only)) {
                found.push(Asked { id: row[0].int().unwrap_or_default(), question });
            }
        })?;
        Ok(found)
    }

    /// Gives the answers to questions without their machines to `take`, with the number that came with the question: of each machine the latest
    /// that is meant.
    pub fn answers<'a>(
        &mut self,
        mut asked: impl Iterator<Item = (usize, &'a Asked)>,
        chosen: &Chosen,
        mut take: impl FnMut(usize, Vec<Answer>),
    ) -> Result<(), Failure> {
        self.reading(|it| {
            asked.try_for_each(|(number, asked)| {
                take(number, it.answers_to(asked, chosen)?);
                Ok(())
            })
        })
    }

    fn answers_to(&mut self, asked: &Asked, chosen: &Chosen) -> Result<Vec<Answer>, Trouble> {
        if self.sql.dialect().one_value {
            return self.packed_answers(asked, chosen);
        }
        let mut found: Vec<Answer> = Vec::new();
        self.each_answer(asked, chosen, "", &mut |_, _, answer| found.push(answer))?;
        Ok(found)
    }

    fn packed_answers(&mut self, asked: &Asked, chosen: &Chosen) -> Result<Vec<Answer>, Trouble> {
        let (of, mut with) = (self.comparisons(chosen)?, vec![Value::Int(asked.id)]);
        let conditions = chosen.conditions(of, &mut with);
        // In the order of the key, which the server then reads by.
        let select = format!(
            "SELECT string_agg(answer, '') FROM (SELECT c.answer FROM comparison c WHERE c.question = $1{conditions} \
             ORDER BY c.machine, c.started_us, c.record) AS of_question"
        );
        let mut found = Vec::new();
        self.sql.each(&select, &with, &mut |row| {
            if let [Value::Bytes(packed)] = row {
                found.extend(latest(packed));
            }
        })?;
        Ok(found)
    }

    /// The same with their machines.
    pub fn on_machines(&mut self, asked: &Asked, chosen: &Chosen) -> Result<Vec<OnMachine>, Failure> {
        self.reading(|it| it.answered(asked, chosen))
    }

    fn answered(&mut self, asked: &Asked, chosen: &Chosen) -> Result<Vec<OnMachine>, Trouble> {
        let mut each = Vec::new();
        let of_record = ", (SELECT facts FROM record WHERE id = c.record)";
        self.each_answer(asked, chosen, of_record, &mut |machine, of, answer| {
            each.push((machine, of, answer))
        })?;
        let (facts, hosts) = (self.facts()?, self.hosts()?);
        let names = called(&hosts, &[each.iter().map(|(machine, ..)| *machine).collect()]);
        let on_machine = |(machine, of, answer): (i64, Option<i64>, Answer)| {
            let facts = of.and_then(|of| facts.get(&of)).cloned().unwrap_or_default();
            let name = names.get(&machine).cloned().unwrap_or_default();
            OnMachine { machine: Machine { name, facts }, answer }
        };
        let mut found: Vec<OnMachine> = each.into_iter().map(on_machine).collect();
        found.sort_by(|a, b| a.machine.name.cmp(&b.machine.name));
        Ok(found)
    }

    /// Gives machine, facts and answer of the latest answer of each machine to `take`, if it is one: a record without a ratio has none. The facts
    /// are what the last column is, if there is one: there may be ten million rows.
    fn each_answer(
        &mut self,
        asked: &Asked,
        chosen: &Chosen,
        facts: &str,
        take: &mut dyn FnMut(i64, Option<i64>, Answer),
    ) -> Result<(), Trouble> {
        let (of, mut with) = (self.comparisons(chosen)?, vec![Value::Int(asked.id)]);
        let conditions = chosen.conditions(of, &mut with);
        // The order of the key, so that nothing is sorted.
        let select = format!(
            "SELECT c.machine, c.ratio, c.low, c.high, c.confidence, c.verdict{facts} FROM comparison c \
             WHERE c.question = $1{conditions} ORDER BY c.machine, c.started_us, c.record"
        );
        let mut last: Option<(i64, Option<i64>, Option<Answer>)> = None;
        self.sql.each(&select, &with, &mut |row| {
            let [Value::Int(machine), ratio, low, high, confidence, word, facts @ ..] = row else {
                return;
            };
            let answer = ratio.real().map(|ratio| Answer {
                ratio: Ratio { ratio, low: low.real(), high: high.real() },
                confidence: confidence.real().unwrap_or_default(),
                verdict: verdict(word.text()),
            });
            if let Some((before, facts, Some(answer))) = last.take()
                && before != *machine
            {
                take(before, facts, answer);
            }
            last = Some((*machine, facts.first().and_then(Value::int), answer));
        })?;
        if let Some((machine, facts, Some(answer))) = last {
            take(machine, facts, answer);
        }
        Ok(())
    }
}
