//! Time by round: whether the machine drifted, and what disturbed a round.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::{Value, json};
use whyfaster_core::analysis::{Level, time};
use whyfaster_core::record::Record;
use whyfaster_core::sample::{Arm, Batch};
use whyfaster_words::look::Look;
use whyfaster_words::text::width;
use whyfaster_words::units::{self, Scale, percent, tick};

use super::super::super::names::Names;
use super::super::super::sentence::at;
use super::super::svg::{Axis, LINE, Picture, Px, WIDTH, advance, beside, colour, line, mark};
use super::distribution::{batches, quantity};

const LEFT: f64 = 70.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 230.0;
/// Height of the strip for what disturbed.
const STRIP: f64 = 34.0;
/// Marks are drawn for so many rounds; of more there is a line alone.
const MARKS: usize = 120;
/// Part of the machine from which on others disturb a round, as in the warnings of an analysis.
const STEAL: f64 = 0.01;
const FOREIGN: f64 = 0.05;

struct Series<'a> {
    at: usize,
    name: String,
    batches: Vec<&'a Batch>,
}

/// The picture and what scripts draw in its place; nothing where there are fewer than two rounds.
pub(in super::super) fn picture(
    record: &Record,
    level: &Level,
    names: &Names,
    look: &Look,
) -> Option<(Picture, Value)> {
    let all = record.plan.alternatives.iter().enumerate().map(|(at, it)| Series {
        at,
        name: names.show(&it.name),
        batches: batches(record, level.load, Arm::Alternative(at)),
    });
    let all: Vec<Series<'_>> = all.filter(|it| !it.batches.is_empty()).collect();
    let rounds = all.iter().flat_map(|it| &it.batches).map(|it| it.round).max()?;
    if rounds == 0 {
        return None;
    }
    let value = |batch: &Batch| time(batch, record.plan.mode).value;
    let values = all.iter().flat_map(|it| &it.batches).map(|batch| value(batch));
    let y = Axis::over(values, (BOTTOM, TOP))?;
    let x = Axis::from_zero([f64::from(rounds)], (LEFT + 8.0, RIGHT - 8.0));
    let disturbed = disturbed(record, level.load);
    let scale = Scale::choose(level.results.iter().map(|it| it.makespan_s.median), look.time_unit);
    let body = html! {
        (beside(&y, LEFT, RIGHT, |value, step| tick(value, step, look.time_unit)))
        (strip(&disturbed, &x))
        @for it in &all {
            g class=(colour(it.at)) {
                (line("curve", it.batches.iter().map(|b| (x.at(f64::from(b.round)), y.at(value(b))))))
                @if it.batches.len() <= MARKS {
                    @for batch in &it.batches { (mark(it.at, x.at(f64::from(batch.round)), y.at(value(batch)))) }
                }
            }
        }
        @for round in x.ticks(8).into_iter().filter(|round| round.fract() == 0.0) {
            text class="tick mid" x=(Px(x.at(round))) y=(Px(BOTTOM + STRIP + 18.0)) { (format!("{:.0}", round + 1.0)) }
        }
        text class="tick end" x=(Px(LEFT - 8.0)) y=(Px(BOTTOM + STRIP + 18.0)) { "round" }
    };
    let names = all.iter().map(|it| (it.at, it.name.as_str()));
    let (body, height) = under_legend(names, &body, BOTTOM + STRIP + 30.0);
    let text = said(rounds + 1, &disturbed);
    let in_percent = |part: f64| (part * 1000.0).round() / 10.0;
    let parts: Option<Vec<Option<f64>>> =
        any_known(&disturbed).then(|| disturbed.iter().map(|it| it.all().map(in_percent)).collect());
    let plot = json!({
        "kind": "rounds", "parts": parts, "unit": scale.name, "log": y.is_log(), "x": "round",
        "xs": (0..=rounds).map(|round| round + 1).collect::<Vec<_>>(),
        "series": all.iter().map(|it| json!({
            "name": it.name, "colour": colour(it.at), "values": by_round(it, rounds, |b| value(b) / scale.seconds),
        })).collect::<Vec<_>>(),
    });
    let title = format!("{} by round, {}", quantity(record, level.load), at(record, level.load));
    Some((Picture { title, text, height, body }, plot))
}

fn by_round(it: &Series<'_>, rounds: u32, value: impl Fn(&Batch) -> f64) -> Vec<Option<f64>> {
    let of = |round: u32| it.batches.iter().find(|batch| batch.round == round).map(|batch| value(batch));
    // One search a round: rounds come in order, so the common case is a look at one place.
    (0..=rounds)
        .map(|round| match it.batches.get(round as usize) {
            Some(batch) if batch.round == round => Some(value(batch)),
            _ => of(round),
        })
        .collect()
}

/// What others took of the machine in a round, as parts of it, where that was measured.
struct Disturbed {
    round: u32,
    steal: Option<f64>,
    foreign: Option<f64>,
}

impl Disturbed {
    fn all(&self) -> Option<f64> {
        Some(self.steal? + self.foreign?)
    }

    fn is_worth_a_word(&self) -> bool {
        self.steal.is_some_and(|part| part > STEAL) || self.foreign.is_some_and(|part| part > FOREIGN)
    }
}

fn any_known(disturbed: &[Disturbed]) -> bool {
    disturbed.iter().any(|it| it.all().is_some())
}

fn said(rounds: u32, disturbed: &[Disturbed]) -> String {
    let unknown = disturbed.iter().filter(|it| it.all().is_none() && !it.is_worth_a_word()).count();
    let rounds = units::rounds(rounds);
    let told = match disturbed.iter().filter(|it| it.is_worth_a_word()).count() {
        0 if unknown == disturbed.len() => {
            return format!("{rounds}; what others took of the machine meanwhile was not measured.");
        }
        0 => "in none of them did others take a part of the machine worth a word".to_owned(),
        n => format!("in {n} of them others took a part of the machine that is worth a word"),
    };
    let unknown = if unknown > 0 { format!("; of {unknown} it was not measured") } else { String::new() };
    format!("{rounds}; {told}{unknown}.")
}

fn disturbed(record: &Record, load: u32) -> Vec<Disturbed> {
    let cpus = record.host.before.cpus_online.filter(|cpus| *cpus > 0);
    let mut rounds: BTreeMap<u32, Vec<&Batch>> = BTreeMap::new();
    for batch in record.batches.iter().filter(|batch| batch.load == load) {
        rounds.entry(batch.round).or_default().push(batch);
    }
    let part = |batches: &[&Batch], of: fn(&Batch) -> Option<f64>| {
        let known = batches.iter().filter_map(|batch| Some((of(batch)?.max(0.0), batch.makespan_s)));
        let (taken, lasted) = known.fold((0.0, 0.0), |(sum, all), (x, seconds)| (sum + x, all + seconds));
        cpus.filter(|_| lasted > 0.0).map(|cpus| (taken / (f64::from(cpus) * lasted)).min(1.0))
    };
    let one = |(round, batches): (u32, Vec<&Batch>)| Disturbed {
        round,
        steal: part(&batches, |batch| batch.steal_s),
        foreign: part(&batches, |batch| Some(batch.machine_busy_s? - batch.work_s())),
    };
    rounds.into_iter().map(one).collect()
}

/// Bars for what disturbed, below the curve: others' CPU time up, what the hypervisor took in another colour.
fn strip(disturbed: &[Disturbed], x: &Axis) -> Markup {
    let base = BOTTOM + STRIP;
    let wide = ((RIGHT - LEFT) / disturbed.len().max(1) as f64 * 0.6).clamp(1.0, 10.0);
    let part = |part: Option<f64>| part.map_or_else(|| "not measured".to_owned(), percent);
    let height = |part: Option<f64>| part.unwrap_or(0.0) * (STRIP - 8.0);
    let bar = |class: &str, it: &Disturbed, height: f64, from: f64| {
        html! {
            @if height > 0.2 {
                rect class=(class) x=(Px(x.at(f64::from(it.round)) - wide / 2.0)) width=(Px(wide))
                    y=(Px(base - from - height)) height=(Px(height)) {
                    title { "round " (it.round + 1) ": others " (part(it.foreign)) ", hypervisor " (part(it.steal)) " of the machine" }
                }
            }
        }
    };
    html! {
        line class="axis" x1=(Px(LEFT)) x2=(Px(RIGHT)) y1=(Px(base)) y2=(Px(base)) {}
        text class="tick end" x=(Px(LEFT - 8.0)) y=(Px(base - 8.0)) { "others" }
        @if !any_known(disturbed) {
            text class="tick" x=(Px(LEFT + 8.0)) y=(Px(base - 8.0)) { "not measured" }
        }
        @for it in disturbed.iter().take(2000) {
            (bar("others", it, height(it.foreign), 0.0))
            (bar("steal", it, height(it.steal), height(it.foreign)))
        }
    }
}

/// A picture of this height below the names with their marks, in as many lines as those take; and its height then.
pub(in super::super) fn under_legend<'a>(
    names: impl Iterator<Item = (usize, &'a str)>,
    body: &Markup,
    height: f64,
) -> (Markup, f64) {
    const START: f64 = LEFT + 6.0;
    let (mut x, mut y) = (START, 0.0);
    let mut place = |name: &str| {
        let wide = 30.0 + 7.4 * width(name) as f64;
        if x > START && x + wide > WIDTH {
            (x, y) = (START, y + LINE);
        }
        (advance(&mut x, wide), y)
    };
    let names: Vec<(usize, &str, (f64, f64))> = names.map(|(at, name)| (at, name, place(name))).collect();
    let below = html! {
        @for (at, name, (x, y)) in names {
            (mark(at, x, y + 12.0))
            text class={ "label " (colour(at)) } x=(Px(x + 10.0)) y=(Px(y + 16.0)) { (name) }
        }
        g transform=(format!("translate(0 {y:.0})")) { (body) }
    };
    (below, height + y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_is_not_none() {
        let round = |steal, foreign| Disturbed { round: 0, steal, foreign };
        let (quiet, loud, unknown) = (round(Some(0.0), Some(0.0)), round(Some(0.5), None), round(None, None));
        assert_eq!(
            said(1, &[unknown]),
            "1 round; what others took of the machine meanwhile was not measured."
        );
        let text = said(3, &[quiet, loud, round(None, None)]);
        assert!(
            text.contains("in 1 of them others took") && text.contains("of 1 it was not measured"),
            "{text}"
        );
    }

    #[test]
    fn a_long_legend_takes_more_lines() {
        let at = |many: usize| {
            let names = (0..many).map(|at| (at, "a name of some length, like gzip -9"));
            let (body, height) = under_legend(names, &html! {}, 100.0);
            let places = body.0.split(" x=\"").skip(1);
            let most =
                places.map(|it| it.split('"').next().unwrap().parse::<f64>().unwrap()).fold(0.0, f64::max);
            assert!(most < WIDTH - 200.0, "{most}\n{}", body.0);
            height
        };
        assert_eq!((at(2), at(8)), (100.0, 100.0 + 2.0 * LINE));
    }
}
