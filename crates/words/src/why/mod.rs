//! An explanation in words.

mod answer;
mod brief;
mod called;
mod causes;
mod experiments;
mod functions;
mod load;
mod measures;
mod numbers;
mod refusals;
mod wrappers;

#[cfg(test)]
mod tests;

use whyfaster_core::plan::Alternative;
use whyfaster_core::why::report::Evidence;
use whyfaster_core::why::statement::Measure;
use whyfaster_core::why::{Planned, Why};

use called::Called;

pub use brief::{Brief, Part, SEEN, brief, nothing_to_explain};
pub use causes::title;
pub use refusals::{left_out, more_time, unexplained};

/// Writes the texts of an explanation beside what they say. Texts of older versions, which have no kinds beside them, stay.
pub fn write(alternatives: &[Alternative], why: &mut Why) {
    let called = Called::new(alternatives);
    for it in &mut why.accounts {
        it.label = called.of(&it.alternative);
    }
    for it in &mut why.findings {
        if let Some(sentence) = causes::sentence(it, &called) {
            it.sentence = sentence;
        }
        let how = functions::how_to_see_more(it).map(|how| format!(" {how}"));
        it.remedy = format!("{}{}", causes::remedy(it).whole(), how.unwrap_or_default());
        evidence(&mut it.evidence, it.by_counts);
    }
    for it in &mut why.differences {
        if let Some(decides) = &it.decides {
            it.deciding = load::deciding(decides, &called);
        }
    }
    for it in &mut why.experiments {
        if it.shown.is_some() {
            it.change = experiments::change(it.edit.as_ref());
            it.prediction = experiments::prediction(it, &called);
        }
        if let Some(sentence) = experiments::sentence(it, &called) {
            it.sentence = sentence;
        }
    }
    for it in &mut why.predictions {
        if let Some(based_on) = it.based_on {
            it.from = load::based_on(based_on);
        }
    }
    for it in &mut why.growth {
        evidence(&mut it.grows, false);
        if let Some(cost) = it.cost {
            it.sentence = load::growth(it, cost, &called);
        }
        if let Some(unknown) = it.kinds_unknown {
            it.kinds_not_measured = Some(load::kinds_unknown(unknown));
        }
    }
    if !why.refusals.is_empty() {
        let all: Vec<String> = why.refusals.iter().map(|it| refusals::refusal(it, &called)).collect();
        why.refused = Some(all.join("; "));
    }
    let wrapped = wrappers::sentences(&why.wrappers, &called);
    if why.answer.is_some() || !wrapped.is_empty() {
        let answer = why.answer.as_ref().map(|answer| answer::sentences(answer, why, &called));
        why.summary = answer.into_iter().flatten().chain(wrapped).collect();
    }
}

/// Where no run was observed, `by_counts`, reads and writes are counted without regard to what they are of.
fn evidence(rows: &mut [Evidence], by_counts: bool) {
    for row in rows {
        match &row.measure {
            Some(Measure::FileCalls) if by_counts => "reads and writes".clone_into(&mut row.what),
            Some(measure) => row.what = measures::measure(measure),
            None => {}
        }
    }
}

/// What is said before an experiment runs: "experiment 1 of 3: ...".
pub fn announced(alternatives: &[Alternative], it: &Planned, (number, of): (usize, usize)) -> String {
    let name = alternatives.get(it.alternative).map_or("", |it| it.name.as_str());
    let called = Called::new(alternatives);
    format!("experiment {number} of {of}: {}", experiments::announced(it, &called.of(name)))
}
