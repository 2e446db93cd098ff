//! An explanation in words.

mod answer;
mod called;
mod causes;
mod experiments;
mod load;
mod measures;
mod numbers;
mod refusals;

#[cfg(test)]
mod tests;

use whyfaster_core::plan::Plan;
use whyfaster_core::why::report::Evidence;
use whyfaster_core::why::{Planned, Why};

use called::Called;

pub use called::number;
pub use causes::title;
pub use refusals::left_out;

/// Writes the texts of an explanation beside what they say. Texts of older versions, which have no kinds beside them, stay.
pub fn write(plan: &Plan, why: &mut Why) {
    let called = Called::new(plan);
    for it in &mut why.accounts {
        it.label = called.of(&it.alternative);
    }
    for it in &mut why.findings {
        if let Some(sentence) = causes::sentence(it, &called) {
            it.sentence = sentence;
        }
        causes::remedy(it.cause).clone_into(&mut it.remedy);
        evidence(&mut it.evidence);
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
        if let Some(sentence) = experiments::sentence(it) {
            it.sentence = sentence;
        }
    }
    for it in &mut why.predictions {
        if let Some(based_on) = it.based_on {
            it.from = load::based_on(based_on);
        }
    }
    for it in &mut why.growth {
        evidence(&mut it.grows);
        if let Some(cost) = it.cost {
            it.sentence = load::growth(it, cost);
        }
        if let Some(unknown) = it.kinds_unknown {
            it.kinds_not_measured = Some(load::kinds_unknown(unknown));
        }
    }
    if !why.refusals.is_empty() {
        let all: Vec<String> = why.refusals.iter().map(|it| refusals::refusal(it, &called)).collect();
        why.refused = Some(all.join("; "));
    }
    if let Some(answer) = &why.answer {
        why.summary = answer::sentences(answer, why, &called);
    }
}

fn evidence(rows: &mut [Evidence]) {
    for row in rows {
        if let Some(measure) = &row.measure {
            row.what = measures::measure(measure);
        }
    }
}

/// What is said before an experiment runs: "experiment 1 of 3: ...".
pub fn announced(plan: &Plan, it: &Planned, (number, of): (usize, usize)) -> String {
    let name = plan.alternatives.get(it.alternative).map_or("", |it| it.name.as_str());
    format!("experiment {number} of {of}: {}", experiments::announced(it, &Called::new(plan).of(name)))
}
