//! The first screen of a comparison, complete in itself: the answer, whether it can be trusted, a small table, why and what to
//! do, from what load on the answer flips, and where the rest is. Words such as work, share and bound are left to the tables.

use whyfaster_core::analysis::{Change, Comparison, DuetComparison, Level, LevelResult};
use whyfaster_core::bounds::capacity;
use whyfaster_core::crossover::Crossover;
use whyfaster_core::missing::{NotMeasured, Obstacle, Quantity};
use whyfaster_core::plan::{Alternative, Loads, Mode};
use whyfaster_core::record::Record;
use whyfaster_core::verdict::{Ratio, Verdict};
use whyfaster_words::grid::{ABSENT, Column, Drawn, Grid, Group};
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, for_look, tone, wrap, wrap_indented};
use whyfaster_words::units::{Scale, digits, range, supported, times};
use whyfaster_words::why::{Brief, Part, SEEN, brief, more_time};

use super::chart::mark;
use super::lead::Lead;
use super::names::{Names, legend};
use super::notes;
use super::section::no_room;
use super::sentence::headline;
use super::strip::{self, DRAWN, over_band, strip};
use super::table::{interval, loads, ordered, typical, verdict_word};
use super::why;

/// Lines of the screen of a list of prices or of a study.
pub(super) const LONG: usize = 40;
/// Lines for why and what to do.
const WHY: usize = 3;
/// Lines for what is to be doubted.
pub const DOUBTS: usize = 5;
/// Rows of the table where there are more.
const ROWS: usize = 5;

/// What is left of the screen.
struct Room(usize);

impl Room {
    fn take(&mut self, lines: Vec<String>) -> Vec<String> {
        self.0 = self.0.saturating_sub(lines.len());
        lines
    }

    /// All of them if there is room, else nothing.
    fn take_whole(&mut self, lines: Vec<String>) -> Vec<String> {
        if lines.len() <= self.0 { self.take(lines) } else { Vec::new() }
    }
}

/// The parts of the screen, each set off from the next by an empty line. What matters most takes its lines first.
pub(super) fn parts(record: &Record, names: &Names, look: &Look) -> Vec<Vec<String>> {
    let mut more = more(look);
    let brief = brief(&record.plan.alternatives, &record.why);
    // Where nothing is explained there is nothing to be surer of.
    if let Some(text) = brief.as_ref().and_then(|_| more_time(&record.why)) {
        more.extend(wrap(&text, look.width, 2).iter().map(|line| tone(Tone::Quiet, line)));
    }
    let mut room = Room(look.lines.saturating_sub(more.len()));
    let mut answer = room.take(headline(record, names, look));
    // Empty lines before the table, the reasons, and what is said last.
    room.0 = room.0.saturating_sub(3);
    let (table, of) = table(record, names, look);
    let mut table = room.take(table);
    let mut reasons = room.take(reasons(record, brief.as_ref(), look));
    let because = reasons.len();
    if brief.is_some() {
        reasons.extend(room.take_whole(why::refused(record, look)));
    }
    let doubts = doubts(record, names, look, DOUBTS.min(room.0.max(1)));
    answer.extend(room.take(doubts));
    let whole = legend(&of, names, look, 2);
    let fits = whole.len() <= room.0;
    table.extend(room.take(if fits { whole } else { legend(&of, names, look, 1) }));
    let flip = flip(record, brief.as_ref(), names, look);
    reasons.extend(room.take_whole(flip));
    // It stands behind the sentence whose numbers it draws, and gives way to all others.
    let drawn = brief.as_ref().map(|it| made_of(&it.parts, look)).unwrap_or_default();
    reasons.splice(because..because, room.take_whole(drawn));
    vec![answer, table, reasons, super::metrics::overview(record, names, look), more]
}

/// What makes the answer doubtful: warnings, and what of the table was not measured.
pub fn doubts(record: &Record, names: &Names, look: &Look, most: usize) -> Vec<String> {
    let analysis = &record.analysis;
    let nothing = analysis.levels.iter().all(|level| level.results.is_empty());
    let in_table = |it: &&NotMeasured| {
        matches!(it.quantity, Some(Quantity::Level { .. } | Quantity::Alternative { .. }))
    };
    let missing = analysis.not_measured.iter().filter(|it| nothing || in_table(it));
    let mut lines = notes::doubts(&analysis.warnings, missing, names, look, most);
    lines.extend(notes::corrected(record, names, look, |it| it.verdict == Verdict::Undecided));
    lines
}

/// Where the rest is.
pub fn more(look: &Look) -> Vec<String> {
    let again = if look.kept { "whyfaster show " } else { "" };
    let text = format!("{again}-v: all tables and how it was measured; -vv: every row");
    wrap(&text, look.width, 2).iter().map(|line| tone(Tone::Quiet, line)).collect()
}

/// The table, and the alternatives in it.
fn table<'a>(record: &'a Record, names: &Names, look: &Look) -> (Vec<String>, Vec<&'a Alternative>) {
    let levels: Vec<&Level> = record.analysis.levels.iter().filter(|l| !l.results.is_empty()).collect();
    let all = &record.plan.alternatives;
    let (drawn, of, more) = match levels.as_slice() {
        [] => return (Vec::new(), all.iter().take(ROWS).collect()),
        [only] if loads(record).len() == 1 => {
            let mut rows = ordered(record, only, look);
            let most = if rows.len() > ROWS + 1 { ROWS } else { ROWS + 1 };
            let more = rows.len().saturating_sub(most);
            rows.truncate(most);
            let of = all.iter().filter(|it| rows.iter().any(|row| row.alternative == it.name)).collect();
            (of_level(record, only, &rows, names, look).draw(look.width, 1), of, more)
        }
        _ => {
            let (drawn, of) = with_room(record, names, look);
            let more = all.len() - of.len();
            (drawn, of, more)
        }
    };
    let mut lines = drawn.lines;
    let left_out: Vec<&str> = drawn.left_out.into_iter().filter(|it| !DRAWN.contains(it)).collect();
    lines.extend(no_room(&left_out, look));
    lines.extend((more > 0).then(|| format!("  and {more} more: -v")));
    (lines, of)
}

/// Several levels: of the baseline and the first of the others as many as there is room for, each with its verdicts; two at least.
fn with_room<'a>(record: &'a Record, names: &Names, look: &Look) -> (Drawn, Vec<&'a Alternative>) {
    let (all, baseline) = (&record.plan.alternatives, record.plan.baseline);
    let table = |most: usize| {
        let others = (0..all.len()).filter(|at| *at != baseline).take(most - 1);
        let mut few: Vec<usize> = others.chain([baseline]).collect();
        few.sort_unstable();
        let of: Vec<&Alternative> = few.into_iter().filter_map(|at| all.get(at)).collect();
        (of_loads(record, &of, names, look).draw(look.width, 1), of)
    };
    let whole = |(drawn, _): &(Drawn, _)| drawn.left_out.iter().all(|it| DRAWN.contains(it));
    (2..=ROWS).rev().map(table).find(whole).unwrap_or_else(|| table(2))
}

/// One level: an alternative a row.
fn of_level(record: &Record, level: &Level, rows: &[&LevelResult], names: &Names, look: &Look) -> Grid {
    let batch = matches!(record.plan.mode, Mode::Batch);
    let scale = Scale::choose(rows.iter().map(|row| typical(record, row)), look.time_unit);
    let ends = |row: &LevelResult| match batch {
        true => (row.makespan_s.low, row.makespan_s.high),
        false => (None, None),
    };
    let time = |row: &&LevelResult| {
        let (low, high) = ends(row);
        let number = match low.zip(high) {
            Some(_) => supported_in(scale, typical(record, row), (low, high)),
            None => scale.number(typical(record, row)),
        };
        if row.timed_out > 0 { format!(">= {number}") } else { number }
    };
    let what = if batch { "time" } else { "latency" };
    let mut times = vec![Column::of(format!("{what} {}", scale.name), rows, time)];
    if rows.iter().any(|row| ends(row).0.is_some()) {
        times.push(Column::of("interval", rows, |row| {
            let (low, high) = ends(row);
            interval(low, high, |value| scale.number(value))
        }));
    }
    let mut groups = vec![Group::new("time", times)];
    // Of two, the sentence has said it.
    if let Some(first) = level.comparisons.first().filter(|_| level.comparisons.len() > 1) {
        let of = |row: &LevelResult| level.comparisons.iter().find(|c| c.alternative == row.alternative);
        let cell = |row: &&LevelResult| match of(row) {
            Some(c) => told(c),
            None if row.alternative == first.baseline => String::new(),
            None => ABSENT.to_owned(),
        };
        let against = format!("against {}", names.show(&first.baseline));
        groups.push(Group::new("verdict", vec![Column::of(against, rows, cell)]));
    }
    let work = Scale::choose(rows.iter().map(|row| row.work_per_copy_s), look.time_unit);
    let cpu = Column::of(format!("CPU time {}", work.name), rows, |row| work.number(row.work_per_copy_s));
    let cpus = capacity(&record.plan, &record.host);
    let busy = Column::of("CPUs busy", rows, |row| digits(row.share * cpus));
    groups.push(Group::new("CPU time", vec![cpu, busy]));
    let values = |row: &LevelResult| {
        let (low, high) = ends(row);
        [low, high, Some(typical(record, row))].into_iter().flatten().collect::<Vec<_>>()
    };
    let noise = noise(record, level, rows).filter(|_| batch);
    let picture = strip::Scale::over(rows.iter().flat_map(|row| values(row)));
    if let Some(picture) = picture.filter(|_| rows.len() > 1) {
        let mark = |row: &LevelResult| (mark(0, look.unicode), typical(record, row));
        let drawn = |row: &&LevelResult| over_band(picture, noise, values(row), &[mark(row)], look);
        let header = match noise {
            Some(_) => format!("{what}, noise {}", strip::shade(look)),
            None => format!("{what}, drawn"),
        };
        groups.push(Group::new(DRAWN[0], vec![Column::of(header, rows, drawn)]));
    }
    Grid { key: Column::of("command", rows, |row| names.show(&row.alternative)), groups }
}

/// Between which times the baseline lies by noise alone, as its hidden copy showed.
fn noise(record: &Record, level: &Level, rows: &[&LevelResult]) -> Option<(f64, f64)> {
    let floor = record.analysis.floor.as_ref()?;
    let baseline = &level.comparisons.first()?.baseline;
    let time = typical(record, rows.iter().find(|row| row.alternative == *baseline)?);
    Some((floor.low? * time, floor.high? * time))
}

/// Several levels: a load a row, of each of these alternatives the time and its verdict.
fn of_loads(record: &Record, of: &[&Alternative], names: &Names, look: &Look) -> Grid {
    let rows = telling(record);
    let level = |load: u32| record.analysis.levels.iter().find(|level| level.load == load);
    let all = || {
        let results = record.analysis.levels.iter().flat_map(|level| &level.results);
        results.filter(|result| of.iter().any(|it| it.name == result.alternative))
    };
    let scale = Scale::choose(all().map(|result| typical(record, result)), look.time_unit);
    let result = |name: &str, load: u32| level(load)?.results.iter().find(|it| it.alternative == name);
    let compared = |name: &str, load: u32| level(load)?.comparisons.iter().find(|c| c.alternative == name);
    let batch = matches!(record.plan.mode, Mode::Batch);
    // The signs are those of all alternatives, as in the chart.
    let sign = |it: &Alternative| {
        let at = record.plan.alternatives.iter().position(|other| other.name == it.name);
        mark(at.unwrap_or_default(), look.unicode)
    };
    let mut groups = Vec::new();
    for it in of {
        let time = |load: &u32| match result(&it.name, *load) {
            Some(result) if result.timed_out > 0 => format!(">= {}", scale.number(typical(record, result))),
            Some(result) => {
                let ends = (result.makespan_s.low, result.makespan_s.high);
                match ends.0.zip(ends.1).filter(|_| batch) {
                    Some(_) => supported_in(scale, typical(record, result), ends),
                    None => scale.number(typical(record, result)),
                }
            }
            None => "not measured".to_owned(),
        };
        let header = format!("{} {} {}", sign(it), names.show(&it.name), scale.name);
        groups.push(Group::new("times", vec![Column::of(header, &rows, time)]));
        let Some(first) = rows.iter().find_map(|load| compared(&it.name, *load)) else { continue };
        let verdict = |load: &u32| compared(&it.name, *load).map_or_else(|| ABSENT.to_owned(), told);
        let header = format!("against {}", names.show(&first.baseline));
        groups.push(Group::new("verdicts", vec![Column::of(header, &rows, verdict)]));
    }
    if let Some(picture) = strip::Scale::over(all().map(|result| typical(record, result))) {
        let cell = |load: &u32| {
            let place = |it: &&Alternative| Some((sign(it), typical(record, result(&it.name, *load)?)));
            let marks: Vec<(char, f64)> = of.iter().filter_map(place).collect();
            strip(picture, [], &marks, look)
        };
        groups.push(Group::of(DRAWN[1], &rows, cell));
    }
    let key = match record.plan.mode {
        Mode::Closed { .. } => "workers",
        Mode::Batch | Mode::Open { .. } => "copies",
    };
    Grid { key: Column::of(key, &rows, u32::to_string), groups }
}

/// The loads that tell the story: the ends, those between which a verdict changes, then what there is room for.
fn telling(record: &Record) -> Vec<u32> {
    let all = loads(record);
    let verdicts = |load: u32| {
        let level = record.analysis.levels.iter().find(|level| level.load == load);
        level.map(|level| level.comparisons.iter().map(|c| c.verdict).collect::<Vec<_>>())
    };
    let changes = |at: usize| at > 0 && verdicts(all[at]) != verdicts(all[at - 1]);
    let ends = [Some(0), all.len().checked_sub(1)].into_iter().flatten();
    let turns = (0..all.len()).filter(|at| changes(*at)).flat_map(|at| [at - 1, at]);
    let mut chosen: Vec<usize> = Vec::new();
    for at in ends.chain(turns).chain(0..all.len()) {
        if chosen.len() < ROWS && !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().filter_map(|at| all.get(at).copied()).collect()
}

/// "1.31x faster", "same".
fn told(c: &Comparison) -> String {
    let word = verdict_word(c.verdict);
    Lead::of(c).map_or(word.clone(), |lead| format!("{} {word}", lead.factor()))
}

fn supported_in(scale: Scale, value: f64, (low, high): (Option<f64>, Option<f64>)) -> String {
    supported(value / scale.seconds, low.map(|it| it / scale.seconds), high.map(|it| it / scale.seconds))
}

/// Why, with what could be done as far as there is room for it.
pub(super) fn reasons(record: &Record, brief: Option<&Brief>, look: &Look) -> Vec<String> {
    let Some(brief) = brief else { return why::not_told(record, look) };
    let said = |text: &str, more: String| {
        wrap(for_look(&format!("why: {text}. {more}"), look).trim_end(), look.width, 2)
    };
    let remedies = brief.remedy.map(|it| [it.whole(), format!("{}.", it.short)]);
    let all = remedies.into_iter().flatten().chain([String::new()]);
    // What to do is worth more than a detail.
    let in_detail = all.clone().map(|more| said(&brief.in_detail, more));
    let tried = in_detail.take(2).chain(all.map(|more| said(&brief.because, more)));
    let fits = tried.clone().find(|lines| lines.len() <= WHY);
    fits.or_else(|| tried.last()).unwrap_or_default()
}

/// Cells of a bar that is the whole difference, and of the longest.
const WHOLE: f64 = 10.0;
const LONGEST: f64 = 15.0;

/// Lines that what a difference is made of may take.
const MADE_OF: usize = 2;

/// What a difference is made of, on a line, each part with a bar that draws its number; small parts, and what there is no room for, are the
/// rest. Below zero, it works against the difference, and its bar has another shade.
fn made_of(parts: &[Part], look: &Look) -> Vec<String> {
    let one = |part: &Part| {
        let cells = (part.share.abs() * WHOLE).round().clamp(1.0, LONGEST) as usize;
        let cell = match (part.share < 0.0, look.unicode) {
            (false, true) => "█",
            (false, false) => "#",
            (true, true) => "░",
            (true, false) => "-",
        };
        format!("{} {:.0}% {}", part.noun, 100.0 * part.share, cell.repeat(cells))
    };
    let line = |most: usize| {
        let told: Vec<String> = parts[..most].iter().map(one).collect();
        let rest = 1.0 - parts[..most].iter().map(|part| part.share).sum::<f64>();
        let rest = (rest.abs() >= SEEN).then(|| format!(", {:.0}% the rest", 100.0 * rest));
        format!("made of: {}{}", told.join(", "), rest.unwrap_or_default())
    };
    let lines = (2..=parts.len()).rev().map(|most| wrap_indented(&line(most), look.width, 2));
    lines.into_iter().find(|lines| lines.len() <= MADE_OF).unwrap_or_default()
}

/// From what load on the answer is another one.
pub(super) fn flip(record: &Record, brief: Option<&Brief>, names: &Names, look: &Look) -> Vec<String> {
    let mut crossovers = record.analysis.crossovers.iter();
    let by_work = record.analysis.duets.iter().find_map(|it| by_work(record, it, names));
    let mut said: Vec<String> = by_work.into_iter().collect();
    said.extend(crossovers.find_map(|it| flips(record, it, names)));
    if said.is_empty() {
        said.extend(brief.and_then(|it| it.when_full.clone()));
    }
    said.iter().flat_map(|text| wrap(&for_look(text, look), look.width, 2)).collect()
}

/// What the CPU times predict of the first load that there was no time for, as long as a copy among others costs what it costs alone: by how much
/// it does not is not known before it is measured. A load that does not fit on the machine has no answer.
fn by_work(record: &Record, it: &DuetComparison, names: &Names) -> Option<String> {
    let from = it.decides_from?;
    let no_time = |missing: &NotMeasured| match (&missing.quantity, &missing.reason) {
        (Some(Quantity::Level { load }), Some(Obstacle::NoTime(_))) => Some(*load),
        _ => None,
    };
    let loads = record.analysis.not_measured.iter().filter_map(no_time);
    let load = loads.filter(|&load| load >= from).min()?;
    let faster = |winner: &str, loser: &str, work: Ratio| {
        let (winner, loser) = (names.show(winner), names.show(loser));
        format!("{winner} is {} faster than {loser}{}", times(work), range(work))
    };
    let told = match it.change {
        Change::Less => faster(&it.alternative, &it.baseline, it.work.inverse()),
        Change::More => faster(&it.baseline, &it.alternative, it.work),
        Change::Same => "the two are the same".to_owned(),
        Change::Undecided => return None,
    };
    let gain = notes::gain(it);
    Some(format!("at {load} copies, if each needs as much CPU time as one alone: {told}{gain}."))
}

fn flips(record: &Record, it: &Crossover, names: &Names) -> Option<String> {
    let unit = if matches!(record.plan.mode, Mode::Closed { .. }) { "workers" } else { "copies at once" };
    let predicted = notes::predicted(it);
    let auto = record.plan.loads == Loads::Auto;
    let whose = match record.analysis.crossovers.len() {
        0 | 1 => String::new(),
        _ => format!(" of {} and {}", names.show(&it.baseline), names.show(&it.alternative)),
    };
    match (it.measured_from, it.measured_to, predicted) {
        (Some(from), Some(to), predicted) if from < to => {
            let predicted = predicted.map(|load| format!(", {load} predicted")).unwrap_or_default();
            let hint = if to - from > 1 && !auto { "; --load auto narrows it" } else { "" };
            Some(format!("flip{whose}: between {from} and {to} {unit}{predicted}{hint}."))
        }
        (None, None, Some(load)) if it.ranges.len() == 1 && !it.is_refuted() => {
            let winner = match it.ranges.first()?.verdict {
                Verdict::Faster => &it.baseline,
                Verdict::Slower => &it.alternative,
                Verdict::Same | Verdict::Undecided => return None,
            };
            let measured =
                if record.analysis.levels.len() > 1 { "not seen so far" } else { "--load auto measures it" };
            let winner = names.show(winner);
            Some(format!("flip{whose}: {winner} should win from about {load} {unit} on; {measured}."))
        }
        _ => None,
    }
}
