//! What machines answered to the questions of comparisons: of each machine, the latest answer that is meant.
//!
//! A report of many questions reads millions of answers. A file of SQLite gives them row by row; a server takes three times as long for
//! rows as for one value that holds them all, so it keeps each answer also as the bytes that are wanted of it.

use whyfaster_core::fleet::Machine;
use whyfaster_core::fleet::effects::{Answer, OnMachine};
use whyfaster_core::fleet::questions::Question;
use whyfaster_core::verdict::{Ratio, Verdict};
use whyfaster_words::exit::Failure;

use super::choose::{Chosen, Of};
use super::entry;
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

/// Verdicts by the byte that stands for them in a packed answer.
const VERDICTS: [Verdict; 4] = [Verdict::Undecided, Verdict::Faster, Verdict::Slower, Verdict::Same];

/// Bytes of a packed answer: seven numbers and the verdict.
const PACKED: usize = 7 * 8 + 1;

/// A column of `comparison` that a server makes of the others: machine, time and record, ratio with its interval, confidence and verdict.
pub(super) fn add_packed() -> String {
    let nothing = "float8send('NaN')";
    let real = |column: &str| format!("coalesce(float8send({column}), {nothing})");
    let of_verdict =
        |(byte, it): (usize, &Verdict)| format!(" WHEN '{}' THEN '\\x{byte:02x}'::bytea", entry::word(*it));
    let verdict: String = VERDICTS.iter().enumerate().map(of_verdict).collect();
    let each = [
        "int8send(machine)".to_owned(),
        "int8send(started_us)".to_owned(),
        "int8send(record)".to_owned(),
        real("ratio"),
        real("low"),
        real("high"),
        real("confidence"),
        format!("CASE verdict{verdict} ELSE '\\x00'::bytea END"),
    ];
    let made = each.join(" || ");
    format!("ALTER TABLE comparison ADD COLUMN answer BYTEA NOT NULL GENERATED ALWAYS AS ({made}) STORED;")
}

/// An answer, and where and when it was given.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Given {
    machine: i64,
    started_us: i64,
    record: i64,
    /// None: its record has no ratio.
    answer: Option<Answer>,
}

fn unpacked(bytes: &[u8]) -> Option<Given> {
    let (numbers, [verdict]) = bytes.as_chunks::<8>() else { return None };
    let [machine, started_us, record, ratio, low, high, confidence] = *numbers else { return None };
    let real = |bytes: [u8; 8]| Some(f64::from_be_bytes(bytes)).filter(|real| !real.is_nan());
    let answer = real(ratio).map(|ratio| Answer {
        ratio: Ratio { ratio, low: real(low), high: real(high) },
        confidence: real(confidence).unwrap_or_default(),
        verdict: VERDICTS.get(usize::from(*verdict)).copied().unwrap_or(Verdict::Undecided),
    });
    let [machine, started_us, record] = [machine, started_us, record].map(i64::from_be_bytes);
    Some(Given { machine, started_us, record, answer })
}

/// Of each machine the latest answer, if it is one.
fn latest(mut given: Vec<Given>) -> Vec<Answer> {
    given.sort_unstable_by_key(|it| (it.machine, it.started_us, it.record));
    given.chunk_by(|a, b| a.machine == b.machine).filter_map(|of| of.last()?.answer).collect()
}

fn verdict(word: Option<&str>) -> Verdict {
    VERDICTS.into_iter().find(|it| word == Some(entry::word(*it))).unwrap_or(Verdict::Undecided)
}

impl Database {
    /// Every question that records which are meant answer, and whose commands, or their names, hold this text; in the order in which they came.
    pub fn questions(&mut self, only: Option<&str>, chosen: &Chosen) -> Result<Vec<Asked>, Failure> {
        let (mut found, mut with) = (Vec::new(), Vec::new());
        let conditions = chosen.conditions(Of::Comparisons, &mut with);
        let select = format!(
            "SELECT id, alternative, command, baseline, baseline_command, load FROM question q WHERE EXISTS \
             (SELECT 1 FROM comparison c WHERE c.question = q.id{conditions}) ORDER BY id"
        );
        let read = self.sql.each(&select, &with, &mut |row| {
            let text = |at: usize| row[at].text().unwrap_or_default().to_owned();
            let question = Question {
                alternative: text(1),
                command: text(2),
                baseline: text(3),
                baseline_command: text(4),
                load: row[5].int().and_then(|load| load.try_into().ok()).unwrap_or_default(),
            };
            if only.is_none_or(|only| question.holds(only)) {
                found.push(Asked { id: row[0].int().unwrap_or_default(), question });
            }
        });
        self.told(read).map(|()| found)
    }

    /// The answers to a question without their machines: of each machine the latest that is meant.
    pub fn answers(&mut self, asked: &Asked, chosen: &Chosen) -> Result<Vec<Answer>, Failure> {
        let read = match self.sql.dialect().packs_answers {
            true => self.packed_answers(asked, chosen),
            false => {
                let mut found: Vec<Answer> = Vec::new();
                self.each_answer(asked, chosen, "", &mut |_, _, answer| found.push(answer)).map(|()| found)
            }
        };
        self.told(read)
    }

    fn packed_answers(&mut self, asked: &Asked, chosen: &Chosen) -> Result<Vec<Answer>, Trouble> {
        let mut with = vec![Value::Int(asked.id)];
        let conditions = chosen.conditions(Of::Comparisons, &mut with);
        let select =
            format!("SELECT string_agg(c.answer, '') FROM comparison c WHERE c.question = $1{conditions}");
        let mut found = Vec::new();
        self.sql.each(&select, &with, &mut |row| {
            if let [Value::Bytes(packed)] = row {
                found.extend(packed.chunks_exact(PACKED).filter_map(unpacked));
            }
        })?;
        Ok(latest(found))
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
        let mut with = vec![Value::Int(asked.id)];
        let conditions = chosen.conditions(Of::Comparisons, &mut with);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(numbers: [i64; 3], reals: [f64; 4], verdict: u8) -> Vec<u8> {
        let numbers = numbers.into_iter().flat_map(i64::to_be_bytes);
        numbers.chain(reals.into_iter().flat_map(f64::to_be_bytes)).chain([verdict]).collect()
    }

    #[test]
    fn a_packed_answer_is_the_same_again() {
        let bytes = packed([7, -5, 9], [1.5, 1.25, f64::NAN, 0.95], 2);
        assert_eq!(bytes.len(), PACKED);
        let given = unpacked(&bytes).unwrap();
        assert_eq!((given.machine, given.started_us, given.record), (7, -5, 9));
        let ratio = Ratio { ratio: 1.5, low: Some(1.25), high: None };
        assert_eq!(given.answer, Some(Answer { ratio, confidence: 0.95, verdict: Verdict::Slower }));
        assert_eq!(unpacked(&packed([7, -5, 9], [f64::NAN; 4], 9)).unwrap().answer, None);
        assert_eq!(unpacked(&bytes[..PACKED - 1]), None);
    }

    #[test]
    fn the_latest_answer_of_a_machine_counts_even_where_it_is_none() {
        let given = |machine, started_us, record, ratio| {
            unpacked(&packed([machine, started_us, record], [ratio, f64::NAN, f64::NAN, 0.95], 0)).unwrap()
        };
        let all = [
            given(2, 1, 1, 2.0),
            given(1, 5, 2, 1.0),
            given(1, 5, 3, 1.1),
            given(1, 4, 9, 1.2),
            given(2, 3, 4, f64::NAN),
        ];
        let ratios: Vec<f64> = latest(all.to_vec()).iter().map(|it| it.ratio.ratio).collect();
        assert_eq!(ratios, [1.1]);
    }
}
