//! Time by round: whether the machine drifted, and what disturbed a round.

use maud::{Markup, html};
use serde_json::{Value, json};
use whyfaster_core::analysis::{Level, time};
use whyfaster_core::record::Record;
use whyfaster_core::sample::{Arm, Batch};
use whyfaster_words::look::Look;
use whyfaster_words::units::{Scale, percent, tick};

use super::super::super::names::Names;
use super::super::super::sentence::at;
use super::super::svg::{Axis, Picture, Px, WIDTH, advance, beside, colour, line, mark};
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
        (beside(&y, LEFT, RIGHT, |value| tick(value, look.time_unit)))
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
        (legend(all.iter().map(|it| (it.at, it.name.as_str()))))
    };
    let text = match disturbed.iter().filter(|it| it.steal > STEAL || it.foreign > FOREIGN).count() {
        0 => format!(
            "{} rounds; in none of them did others take a part of the machine worth a word.",
            rounds + 1
        ),
        n => format!(
            "{} rounds; in {n} of them others took a part of the machine that is worth a word.",
            rounds + 1
        ),
    };
    let parts: Vec<f64> =
        disturbed.iter().map(|it| ((it.steal + it.foreign) * 1000.0).round() / 10.0).collect();
    let plot = json!({
        "kind": "rounds", "parts": parts, "unit": scale.name, "log": y.is_log(), "x": "round",
        "xs": (0..=rounds).map(|round| round + 1).collect::<Vec<_>>(),
        "series": all.iter().map(|it| json!({
            "name": it.name, "colour": colour(it.at), "values": by_round(it, rounds, |b| value(b) / scale.seconds),
        })).collect::<Vec<_>>(),
    });
    let title = format!("{} by round, {}", quantity(record, level.load), at(record, level.load));
    Some((Picture { title, text, height: BOTTOM + STRIP + 30.0, body }, plot))
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

/// What others took of the machine in a round, as parts of it.
struct Disturbed {
    round: u32,
    steal: f64,
    foreign: f64,
}

fn disturbed(record: &Record, load: u32) -> Vec<Disturbed> {
    let cpus = f64::from(record.host.before.cpus_online.unwrap_or(0));
    if cpus < 1.0 {
        return Vec::new();
    }
    let mut rounds: std::collections::BTreeMap<u32, (f64, f64, f64)> = std::collections::BTreeMap::new();
    for batch in record.batches.iter().filter(|batch| batch.load == load) {
        let (all, steal, foreign) = rounds.entry(batch.round).or_default();
        *all += cpus * batch.makespan_s;
        *steal += batch.steal_s.unwrap_or(0.0).max(0.0);
        *foreign += batch.machine_busy_s.map_or(0.0, |busy| (busy - batch.work_s()).max(0.0));
    }
    let part = |of: f64, all: f64| if all > 0.0 { (of / all).min(1.0) } else { 0.0 };
    let one = |(round, (all, steal, foreign)): (u32, (f64, f64, f64))| Disturbed {
        round,
        steal: part(steal, all),
        foreign: part(foreign, all),
    };
    rounds.into_iter().map(one).collect()
}

/// Bars for what disturbed, below the curve: others' CPU time up, what the hypervisor took in another colour.
fn strip(disturbed: &[Disturbed], x: &Axis) -> Markup {
    let base = BOTTOM + STRIP;
    let wide = ((RIGHT - LEFT) / disturbed.len().max(1) as f64 * 0.6).clamp(1.0, 10.0);
    let bar = |class: &str, it: &Disturbed, part: f64, from: f64| {
        let height = part * (STRIP - 8.0);
        html! {
            @if height > 0.2 {
                rect class=(class) x=(Px(x.at(f64::from(it.round)) - wide / 2.0)) width=(Px(wide))
                    y=(Px(base - from - height)) height=(Px(height)) {
                    title { "round " (it.round + 1) ": others " (percent(it.foreign)) ", hypervisor " (percent(it.steal)) " of the machine" }
                }
            }
        }
    };
    html! {
        line class="axis" x1=(Px(LEFT)) x2=(Px(RIGHT)) y1=(Px(base)) y2=(Px(base)) {}
        text class="tick end" x=(Px(LEFT - 8.0)) y=(Px(base - 8.0)) { "others" }
        @for it in disturbed.iter().take(2000) {
            (bar("others", it, it.foreign, 0.0))
            (bar("steal", it, it.steal, it.foreign * (STRIP - 8.0)))
        }
    }
}

/// Names with their marks, in one line above a picture.
pub(in super::super) fn legend<'a>(names: impl Iterator<Item = (usize, &'a str)>) -> Markup {
    let mut x = LEFT + 6.0;
    html! {
        @for (at, name) in names {
            @let here = advance(&mut x, 30.0 + 7.4 * name.chars().count() as f64);
            (mark(at, here, 12.0))
            text class={ "label " (colour(at)) } x=(Px(here + 10.0)) y="16" { (name) }
        }
    }
}
