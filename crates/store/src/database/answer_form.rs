//! How an answer to a comparison is written: the word of its verdict, and the bytes that a server keeps of it besides, because it gives one
//! value three times as soon as a row for each answer.

use whyfaster_core::fleet::effects::Answer;
use whyfaster_core::verdict::{Ratio, Verdict};

/// Verdicts by the byte that stands for them in a packed answer.
const VERDICTS: [Verdict; 4] = [Verdict::Undecided, Verdict::Faster, Verdict::Slower, Verdict::Same];

/// How a verdict is written.
pub(super) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    }
}

/// The verdict of a word.
pub(super) fn verdict(written: Option<&str>) -> Verdict {
    VERDICTS.into_iter().find(|it| written == Some(word(*it))).unwrap_or(Verdict::Undecided)
}

/// Bytes of a packed answer: the number of its machine, ratio with its interval, confidence and verdict.
const PACKED: usize = 5 * 8 + 1;

/// A column of `comparison` that a server makes of the others.
pub(super) fn add_packed() -> String {
    let real = |column: &str| format!("coalesce(float8send({column}), float8send('NaN'))");
    let of_verdict =
        |(byte, it): (usize, &Verdict)| format!(" WHEN '{}' THEN '\\x{byte:02x}'::bytea", word(*it));
    let verdict: String = VERDICTS.iter().enumerate().map(of_verdict).collect();
    let [ratio, low, high, confidence] = ["ratio", "low", "high", "confidence"].map(real);
    format!(
        "ALTER TABLE comparison ADD COLUMN answer BYTEA NOT NULL GENERATED ALWAYS AS (int8send(machine) || {ratio} || {low} || {high} \
         || {confidence} || CASE verdict{verdict} ELSE '\\x00'::bytea END) STORED;"
    )
}

/// An answer, unless its record has no ratio.
fn unpacked(packed: &[u8; PACKED]) -> Option<Answer> {
    let (numbers, [verdict]) = packed.as_chunks::<8>() else { return None };
    let [_, ratio, low, high, confidence] = *numbers else { return None };
    let [ratio, low, high, confidence] = [ratio, low, high, confidence]
        .map(|bytes| Some(f64::from_be_bytes(bytes)).filter(|real| !real.is_nan()));
    Some(Answer {
        ratio: Ratio { ratio: ratio?, low, high },
        confidence: confidence.unwrap_or_default(),
        verdict: VERDICTS.get(usize::from(*verdict)).copied().unwrap_or(Verdict::Undecided),
    })
}

/// Of packed answers, each machine's one behind the other in time, the latest of each machine, if it is one.
pub(super) fn latest(packed: &[u8]) -> impl Iterator<Item = Answer> {
    let (each, _) = packed.as_chunks::<PACKED>();
    each.chunk_by(|a, b| a[..8] == b[..8]).filter_map(|of| unpacked(of.last()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(machine: i64, reals: [f64; 4], verdict: u8) -> Vec<u8> {
        let reals = reals.into_iter().flat_map(f64::to_be_bytes);
        machine.to_be_bytes().into_iter().chain(reals).chain([verdict]).collect()
    }

    #[test]
    fn a_packed_answer_is_the_same_again() {
        let all =
            [packed(7, [1.5, 1.25, f64::NAN, 0.95], 2), packed(8, [f64::NAN; 4], 0), vec![0; PACKED - 1]];
        let answer = Answer {
            ratio: Ratio { ratio: 1.5, low: Some(1.25), high: None },
            confidence: 0.95,
            verdict: Verdict::Slower,
        };
        assert_eq!(latest(&all.concat()).collect::<Vec<_>>(), [answer]);
    }

    #[test]
    fn the_latest_answer_of_a_machine_counts_even_where_it_is_none() {
        let given = |machine, ratio| packed(machine, [ratio, f64::NAN, f64::NAN, 0.95], 0);
        let all = [given(1, 1.0), given(1, 1.1), given(2, 2.0), given(2, f64::NAN), given(3, 3.0)].concat();
        assert_eq!(latest(&all).map(|it| it.ratio.ratio).collect::<Vec<_>>(), [1.1, 3.0]);
    }
}
