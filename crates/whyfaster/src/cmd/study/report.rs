//! What a study found, as text: what matters in a sentence, tables beside the article's figures, the claims.

use serde::Serialize;
use whyfaster_core::claims::{Judgement, NotCompared, Outcome};
use whyfaster_core::price::PriceList;
use whyfaster_core::record::Record;
use whyfaster_core::short;
use whyfaster_core::studied::{Hot, Placed, TracedRun};
use whyfaster_core::trace::report::SharerKind;
use whyfaster_core::trace::tally::Tally;
use whyfaster_core::verdict::{Ratio, Verdict};
use whyfaster_render::first;
use whyfaster_render::machines;
use whyfaster_render::names::Names;
use whyfaster_render::notes;
use whyfaster_render::screen::screen;
use whyfaster_render::table::{ratio_interval, verdict_word};
use whyfaster_render::trace::{Shown, blocked};
use whyfaster_stats::quantile;
use whyfaster_words as words;
use whyfaster_words::display::Detail;
use whyfaster_words::grid::{ABSENT, Column, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::text::{finish, wrap};
use whyfaster_words::units::{Scale, digits, duration, percent, ratio, time};

use super::findings::{AtLoad, Figures, Findings, OfCommands, OfPrices, Row, kernel, sums};
use super::sheet::{Page, Part};
use crate::cli::Outputs;
use crate::cmd::results;
use crate::study::{self, Commands, Figure, Measures, Prices, Study, Table};
use whyfaster_stats::order::largest_first;

/// A CPU's occupants below this share of the run are not worth a row.
const WORTH: f64 = 0.01;
/// Columns beside a stack: the margin and a time.
const ROOM_FOR_TIME: usize = 14;
/// CPUs that have a column; where there are more, those where the most was done.
const MOST_CPUS: usize = 8;
/// Where the reason of a claim's outcome begins.
const REASON: usize = 20;

/// What was measured, with what the study found in it. A reader of records or price lists skips the addition.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    measured: Measured<'a>,
    study_findings: &'a Findings,
}

/// What a study measured.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Measured<'a> {
    Record(&'a Record),
    List(&'a PriceList),
}

/// The document or the report, whichever is asked for.
pub(super) fn printed(
    study: &Study,
    found: &Findings,
    measured: Measured<'_>,
    outputs: &Outputs,
) -> anyhow::Result<Vec<u8>> {
    if outputs.json {
        let mut bytes = serde_json::to_vec_pretty(&Document { measured, study_findings: found })?;
        bytes.push(b'\n');
        return Ok(bytes);
    }
    let look = results::look(outputs);
    match look.quiet {
        true => Ok(Vec::new()),
        false => Ok(text(study, found, measured, &look)?.into_bytes()),
    }
}

/// The report, in the detail that was asked for.
pub(super) fn text(
    study: &Study,
    found: &Findings,
    measured: Measured<'_>,
    look: &Look,
) -> anyhow::Result<String> {
    match look.detail {
        Detail::Sentence | Detail::Screen => Ok(first_screen(study, found, measured, look)),
        Detail::Tables | Detail::Everything => everything(study, found, measured, look),
    }
}

/// Lines of the first screen.
const LINES: usize = 40;

/// The answer in one sentence.
pub(super) fn answer(study: &Study, found: &Findings, look: &Look) -> String {
    let claims = words::claims::tally(&found.claims);
    match (&study.measures, &found.figures) {
        (Measures::Commands(commands), Figures::Commands(figures)) => {
            format!("{}; {claims}.", sentence(study, commands, figures, look))
        }
        (_, Figures::Ladder(figures)) => {
            format!("{}; {claims}.", super::ladder_report::sentence(figures))
        }
        _ => format!("{}: {claims}.", study.title),
    }
}

/// The first screen: the answer, what casts doubt on it, the first table, and what became of each claim.
fn first_screen(study: &Study, found: &Findings, measured: Measured<'_>, look: &Look) -> String {
    let mut page = Page::new(look);
    page.title(&answer(study, found, look), 0);
    if look.detail == Detail::Sentence {
        return finish(&(page.lines.join("\n") + "\n"), look.color);
    }
    page.lines.extend(match measured {
        Measured::Record(record) => {
            first::doubts(record, &Names::of(&record.plan.alternatives, look), look, first::DOUBTS)
        }
        Measured::List(list) => {
            let names = Names::of(&[], look);
            notes::doubts(&list.warnings, &list.not_measured, &names, look, first::DOUBTS)
        }
    });
    match (&study.measures, &found.figures) {
        (Measures::Commands(commands), Figures::Commands(figures)) => {
            if let Some(table) = commands.tables.first() {
                tables(&mut page, *table, commands, figures);
            }
        }
        (Measures::Prices(prices), Figures::Prices(figures)) => {
            page.table(&format!("the typical price of {}", prices.unit), price_table(study, figures));
        }
        (Measures::Ladder(_), Figures::Ladder(figures)) => super::ladder_report::first(&mut page, figures),
        _ => {}
    }
    let mut said = vec![String::new(), "The article's claims here:".to_owned()];
    for claim in &found.claims {
        let outcome = words::claims::outcome(claim.outcome);
        let width = look.width.saturating_sub(REASON);
        let mut text = wrap(&claim.text, width, 0);
        // What is not decided is a number with its interval, or a reason; what another machine shows is said of that one.
        if matches!(claim.outcome, Outcome::Undecided | Outcome::NotAsked) || !claim.lacks.is_empty() {
            text.extend(wrap(&words::claims::why(claim), width, 0));
        }
        said.extend(text.iter().enumerate().map(|(at, line)| match at {
            0 => format!("  {}. {outcome:<13}  {line}", claim.number),
            _ => format!("{:REASON$}{line}", ""),
        }));
    }
    said.push(String::new());
    said.extend(first::more(look));
    let room = LINES.saturating_sub(said.len());
    if page.lines.len() > room {
        page.lines.truncate(room.saturating_sub(1));
        page.lines.push("  more rows: -v".to_owned());
    }
    page.lines.extend(said);
    finish(&(page.lines.join("\n") + "\n"), look.color)
}

fn everything(
    study: &Study,
    found: &Findings,
    measured: Measured<'_>,
    look: &Look,
) -> anyhow::Result<String> {
    let mut page = Page::new(look);
    page.title(&answer(study, found, look), 0);
    let below = match (&study.measures, &found.figures, measured) {
        (Measures::Commands(commands), Figures::Commands(figures), Measured::Record(record)) => {
            of_commands(&mut page, study, commands, figures);
            format!("\n{}", screen(record, look))
        }
        (Measures::Prices(prices), Figures::Prices(figures), Measured::List(list)) => {
            of_prices(&mut page, study, prices, figures, list)?;
            below_prices(study, found, figures, list, look)
        }
        (Measures::Ladder(_), Figures::Ladder(figures), Measured::List(_)) => {
            super::ladder_report::all(&mut page, figures);
            page.article(study);
            String::new()
        }
        _ => String::new(),
    };
    page.lines.extend([String::new(), "The article's claims here:".to_owned()]);
    for claim in &found.claims {
        page.lines.push(format!(
            "  {}. {:<13}  {}",
            claim.number,
            words::claims::outcome(claim.outcome),
            claim.text
        ));
        let why = wrap(&words::claims::why(claim), look.width.saturating_sub(REASON), 0);
        page.lines.extend(why.iter().map(|line| format!("{:REASON$}{line}", "")));
    }
    page.lines.push(String::new());
    Ok(finish(&page.lines.join("\n"), look.color) + &below)
}

/// What stands beside the article, for a page that draws its tables itself.
pub(super) fn parts(
    study: &Study,
    found: &Findings,
    measured: Measured<'_>,
    look: &Look,
) -> anyhow::Result<Vec<Part>> {
    let mut page = Page::new(look);
    match (&study.measures, &found.figures, measured) {
        (Measures::Commands(commands), Figures::Commands(figures), Measured::Record(_)) => {
            of_commands(&mut page, study, commands, figures);
        }
        (Measures::Prices(prices), Figures::Prices(figures), Measured::List(list)) => {
            of_prices(&mut page, study, prices, figures, list)?;
        }
        (Measures::Ladder(_), Figures::Ladder(figures), Measured::List(_)) => {
            super::ladder_report::all(&mut page, figures);
            page.article(study);
        }
        _ => {}
    }
    Ok(page.parts)
}

/// What matters: how the alternative did against the baseline.
fn sentence(study: &Study, commands: &Commands, found: &OfCommands, look: &Look) -> String {
    let mut levels: Vec<(u32, Ratio, Verdict)> =
        found.levels.iter().filter_map(|level| Some((level.load, level.ratio?, level.verdict?))).collect();
    // The lowest and the highest load tell the story; the table has the rest.
    if levels.len() > 2 {
        levels.drain(1..levels.len() - 1);
    }
    let several = commands.shows(Table::Loads);
    let parts: Vec<String> = levels
        .into_iter()
        .map(|(load, time, verdict)| {
            let copies = match load {
                _ if !several => String::new(),
                1 => " alone".to_owned(),
                load => format!(" at {load} copies"),
            };
            match verdict {
                Verdict::Faster => format!("{} times as fast{copies}", ratio(time.inverse())),
                Verdict::Slower => format!("{} times slower{copies}", ratio(time)),
                Verdict::Same => format!("as fast{copies}"),
                // Nothing is claimed of the two: what was seen is said as such.
                Verdict::Undecided => format!("undecided{copies} (time ratio {})", ratio(time)),
            }
        })
        .collect();
    if parts.is_empty() {
        return "Nothing was compared here".to_owned();
    }
    let mut text = format!("{} against {}: {}", commands.alternative, commands.baseline, parts.join(", "));
    let median_s = found.row(&commands.alternative).and_then(|row| row.median_s);
    if let (false, Some(median_s)) = (several, median_s) {
        let figure = |name: &str| Some(study.figure(name, 1)?.real_s);
        if let Some((baseline, alternative)) = figure(&commands.baseline).zip(figure(&commands.alternative)) {
            text.push_str(&format!(" (article: {} times)", digits(baseline / alternative)));
        }
        let amount = format!("{} {}", found.amount, commands.unit);
        text.push_str(&format!(", {} for {amount}", time(median_s, look.time_unit)));
    }
    text
}

fn of_commands(page: &mut Page<'_>, study: &Study, commands: &Commands, found: &OfCommands) {
    if let Some(made) = &found.file_system {
        page.say(&format!("Read from {}.", study::words::file_system(made.kind)));
        for why in &made.why_not {
            page.say(&format!("Not from something else: {why}."));
        }
    }
    if found.caches_dropped == Some(false) {
        page.say("The page cache was not dropped before each run, because that needs root.");
    }
    for table in &commands.tables {
        tables(page, *table, commands, found);
    }
    page.article(study);
    if let Some(input) = &found.input {
        page.say(&format!("Here: {} {}, input seed {}.", input.lines, commands.unit, input.seed));
    }
    for left_out in &found.left_out {
        page.say(&format!("Left out: {}, because {}.", left_out.0, words::claims::unfit(&left_out.1)));
    }
    for missing in &found.not_traced {
        page.missing(&words::missing::line(missing));
    }
}

/// One table of the report, with what belongs to it.
fn tables(page: &mut Page<'_>, table: Table, commands: &Commands, found: &OfCommands) {
    let look = page.look;
    let placed = found.placed.as_deref().unwrap_or_default();
    let pair = commands.pair();
    let both =
        || placed.iter().filter(|it| [pair.baseline, pair.alternative].contains(&it.alternative.as_str()));
    match table {
        Table::Loads => {
            let title = "time (below 1 is faster) and CPU time";
            // The first screen leaves out loads that this run was not to measure.
            let asked = |level: &&AtLoad| level.missing.as_ref().is_none_or(NotCompared::asked);
            let shown = found.levels.iter().filter(|it| look.detail != Detail::Screen || asked(it));
            let shown: Vec<AtLoad> = shown.cloned().collect();
            page.table(&format!("{} over {}: {title}", pair.alternative, pair.baseline), loads(&shown));
            page.say("Once all CPUs are busy, the time ratio follows the CPU time ratio.");
        }
        Table::Times => {
            page.table(
                &format!("time for {} {}, untraced", found.amount, commands.unit),
                times(&found.rows, look),
            );
        }
        Table::Tree => page.table("the whole tree, traced", trees(&found.rows)),
        Table::Process => {
            let title =
                "the dispatching process alone: what strace -c without -f shows, and the article's figures";
            page.table(title, alone(&found.rows));
            page.say(&unseen(pair.alternative, found));
        }
        Table::Waits => {
            let runs = placed.iter().map(|it| it.runs.len()).min().unwrap_or(0);
            let of_runs = match runs {
                0 => return,
                1 => "one traced run of each".to_owned(),
                runs => format!("medians of {runs} traced runs"),
            };
            page.table(&format!("where it waited, {of_runs}"), waited(placed, look));
        }
        Table::Cpus => {
            for placed in both() {
                let title = format!("{}: who ran on which CPU, share of its time", placed.alternative);
                page.table(&title, ran(placed));
                page.lines.extend(blocked(&placed.report, &Shown::of(placed.alternative.clone()), look));
            }
        }
        Table::Stacks => {
            for placed in both().filter(|placed| !placed.hottest.is_empty()) {
                let title = format!("{}: where the most time went, by stack", placed.alternative);
                page.table(&title, stacks(&placed.hottest, look));
            }
            let graph =
                |it: &Placed| Some(format!("{}: {}", it.alternative, it.flamegraph.as_ref()?.display()));
            let graphs: Vec<String> = placed.iter().filter_map(graph).collect();
            match graphs.is_empty() {
                true => page.say("Flame graphs of both as files: give a directory with --flamegraphs DIR."),
                false => page.say(&format!("Flame graphs: {}.", graphs.join(", "))),
            }
        }
    }
}

/// The ratios of time and CPU time at each load.
fn loads(levels: &[AtLoad]) -> Grid {
    let number = |value: f64| format!("{value:.2}");
    let here = |level: &AtLoad| match level.ratio {
        Some(time) => ratio(time),
        None => "not measured".to_owned(),
    };
    let ends = |time: Ratio| match (time.low, time.high) {
        (None, None) => "too few rounds".to_owned(),
        _ => ratio_interval(time),
    };
    Grid {
        key: Column::of("copies", levels, |level| level.load.to_string()),
        groups: vec![
            Group::new(
                "ratio",
                vec![
                    Column::of("here", levels, here),
                    Column::of("interval", levels, |level| or_absent(level.ratio, ends)),
                    Column::of("verdict", levels, |level| or_absent(level.verdict, verdict_word)),
                ],
            ),
            Group::of("article", levels, |level| or_absent(level.article_ratio, number)),
            Group::new(
                "work",
                vec![
                    Column::of("CPU here", levels, |level| or_absent(level.work, ratio)),
                    Column::of("CPU article", levels, |level| or_absent(level.article_work, number)),
                ],
            ),
        ],
    }
}

/// The column that names the commands.
fn key(rows: &[Row]) -> Column {
    Column::of("command", rows, |row| row.alternative.clone())
}

/// The untraced times beside those of the article.
fn times(rows: &[Row], look: &Look) -> Grid {
    let slowest = rows.iter().filter_map(|row| row.median_s).fold(0.0, f64::max);
    let scale = Scale::choose([slowest], look.time_unit);
    let over = |row: &Row| row.ratio.map_or_else(|| "1".to_owned(), ratio);
    let ends = |row: &Row| row.ratio.map_or_else(String::new, ratio_interval);
    let verdict = |row: &Row| row.verdict.map_or_else(|| "baseline".to_owned(), verdict_word);
    let article = |row: &Row| or_absent(row.article.as_ref(), |figure| format!("{:.2}", figure.real_s));
    let median = |row: &Row| or_absent(row.median_s, |s| scale.number(s));
    Grid {
        key: key(rows),
        groups: vec![
            Group::in_unit("time", scale.name, rows, median),
            Group::new("ratio", vec![Column::of("ratio", rows, over), Column::of("verdict", rows, verdict)]),
            Group::of("interval", rows, ends),
            Group::in_unit("article", "s", rows, article),
        ],
    }
}

/// What was counted of a command.
fn counted<T>(row: &Row, value: fn(&Tally) -> Option<T>, text: fn(T) -> String) -> String {
    or_absent(row.counted.as_ref().and_then(value), text)
}

fn whole(value: u64) -> String {
    value.to_string()
}

fn trees(rows: &[Row]) -> Grid {
    let traced = |row: &Row| match (row.traced_over_untraced, row.untraced) {
        (None, _) => ABSENT.to_owned(),
        (Some(ratio), None) => digits(ratio),
        (Some(ratio), Some(range)) => {
            let sure =
                if range.distinguishable == Some(false) { ", no farther than they are apart" } else { "" };
            format!("{} ({} to {}){sure}", digits(ratio), digits(range.low), digits(range.high))
        }
    };
    Grid {
        key: key(rows),
        groups: vec![
            Group::of("forks", rows, |row| counted(row, |t| t.forks, whole)),
            Group::of("execs", rows, |row| counted(row, |t| t.execs, whole)),
            Group::of("failed execs", rows, |row| counted(row, |t| t.failed_execs, whole)),
            Group::of("wait4", rows, |row| counted(row, |t| t.waits, whole)),
            Group::in_unit("CPU", "s", rows, |row| counted(row, |t| Some(t.work_s), digits)),
            Group::of("traced/untraced", rows, traced),
        ],
    }
}

fn alone(rows: &[Row]) -> Grid {
    fn article<T>(row: &Row, value: fn(&Figure) -> Option<T>, text: fn(T) -> String) -> String {
        or_absent(row.article.as_ref().and_then(value), text)
    }
    Grid {
        key: key(rows),
        groups: vec![
            Group::new(
                "forks",
                vec![
                    Column::of("forks", rows, |row| counted(row, |t| t.own_forks, whole)),
                    Column::of("article", rows, |row| article(row, |a| a.own_forks, whole)),
                ],
            ),
            Group::new(
                "waits",
                vec![
                    Column::of("wait4", rows, |row| counted(row, |t| t.own_waits, whole)),
                    Column::of("article", rows, |row| article(row, |a| a.own_waits, whole)),
                ],
            ),
            Group::new(
                "time",
                vec![
                    Column::of("CPU s in both", rows, |row| counted(row, |t| t.own_fork_wait_cpu_s, digits)),
                    Column::of("article", rows, |row| article(row, |a| a.own_fork_wait_cpu_s, digits)),
                ],
            ),
        ],
    }
}

/// What strace without -f could not see, in numbers of this machine.
fn unseen(alternative: &str, found: &OfCommands) -> String {
    let counted = found.row(alternative).and_then(|row| row.counted.as_ref());
    let Some((forks, own)) = counted.and_then(|tally| Some((tally.forks?, tally.own_forks?))) else {
        return format!("What the processes behind {alternative} do could not be counted at this level.");
    };
    let below = forks.saturating_sub(own);
    format!(
        "{alternative} forks {own} times itself, but the processes below it fork {below} times: strace -c without -f sees only the first."
    )
}

fn waited(placed: &[Placed], look: &Look) -> Grid {
    let scale = Scale::choose([placed.iter().map(|it| it.wall_s).fold(0.0, f64::max)], look.time_unit);
    // A number that some run lacks is a number of none.
    let values = |it: &Placed, of: fn(&TracedRun) -> Option<f64>| -> Option<Vec<f64>> {
        it.runs.iter().map(of).collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty())
    };
    let median = |it: &Placed, of: fn(&TracedRun) -> Option<f64>| {
        values(it, of).and_then(|values| quantile::median(&values))
    };
    let range = |it: &Placed| {
        or_absent(values(it, |run| run.avoidable_s), |values| {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(0.0, f64::max);
            format!("{} to {}", scale.number(low), scale.number(high))
        })
    };
    let most = |it: &Placed| {
        or_absent(kernel(&it.cpus).first(), |(name, s)| format!("{name} {}", time(*s, look.time_unit)))
    };
    let seconds =
        |it: &Placed, of: fn(&TracedRun) -> Option<f64>| or_absent(median(it, of), |s| scale.number(s));
    Grid {
        key: Column::of("command", placed, |it| it.alternative.clone()),
        groups: vec![
            Group::in_unit("traced", scale.name, placed, |it| seconds(it, |run| Some(run.wall_s))),
            Group::of("kernel threads ran", placed, |it| seconds(it, |run| run.kernel_s)),
            Group::new(
                "waits",
                vec![
                    Column::of("waited behind them", placed, |it| seconds(it, |run| run.behind_kernel_s)),
                    Column::of("avoidable", placed, |it| seconds(it, |run| run.avoidable_s)),
                ],
            ),
            Group::of("its range", placed, range),
            Group::of("CPUs others had", placed, |it| or_absent(median(it, |run| run.strangers), percent)),
            Group::of("most (first run)", placed, most),
        ],
    }
}

/// Who ran where: a row for each occupant, a column for each CPU.
fn ran(placed: &Placed) -> Grid {
    let share = |seconds: f64| if placed.wall_s > 0.0 { seconds / placed.wall_s } else { 0.0 };
    let who = sums(placed.cpus.iter().filter(|row| share(row.seconds) >= WORTH));
    let busy = |cpu: u16| -> f64 {
        let mine = placed.cpus.iter().filter(|row| row.cpu == cpu && row.kind != SharerKind::Idle);
        mine.map(|row| row.seconds).sum()
    };
    let mut cpus: Vec<u16> = placed.cpus.iter().map(|row| row.cpu).collect();
    cpus.dedup();
    largest_first(&mut cpus, |it| busy(*it));
    cpus.truncate(MOST_CPUS);
    cpus.sort_unstable();
    let cell = |cpu: u16, name: &str| {
        let rows = placed.cpus.iter().filter(|row| row.cpu == cpu && row.who == name);
        let seconds: f64 = rows.map(|row| row.seconds).sum();
        if seconds > 0.0 { percent(share(seconds)) } else { String::new() }
    };
    let group = |cpu: u16| {
        Group::new("CPU", vec![Column::of(format!("CPU {cpu}"), &who, |(name, _)| cell(cpu, name))])
    };
    Grid {
        key: Column::of("who", &who, |(name, _)| name.clone()),
        groups: cpus.into_iter().map(group).collect(),
    }
}

/// Places where time went.
fn stacks(hottest: &[Hot], look: &Look) -> Grid {
    let room = look.width.saturating_sub(ROOM_FOR_TIME);
    let stack = |it: &Hot| match it.frames.is_empty() {
        true => format!("{} {}", it.command, it.state),
        false => format!("{} {}: {}", it.command, it.state, it.frames.join(" > ")),
    };
    Grid {
        key: Column::of("innermost calls", hottest, |it| short::shorten(&stack(it), room, "...")),
        groups: vec![Group::of("time", hottest, |it| time(it.seconds, look.time_unit))],
    }
}

fn of_prices(
    page: &mut Page<'_>,
    study: &Study,
    prices: &Prices,
    found: &OfPrices,
    list: &PriceList,
) -> anyhow::Result<()> {
    page.table(&format!("the typical price of {}", prices.unit), price_table(study, found));
    for row in &found.rows {
        if let (None, Some(why)) = (row.here_ns, &row.not_measured) {
            page.missing(&format!("{}: {why}", row.row));
        }
    }
    page.article(study);
    for (name, reference) in study.lists()? {
        page.say(&format!("{name}: {}.", reference.name));
    }
    let facts = &list.fingerprint.facts;
    let cpu = facts.cpu_model.as_deref().unwrap_or("unknown CPU");
    let kernel = facts.kernel.as_deref().unwrap_or("unknown kernel");
    page.say(&format!("here: {cpu}, {kernel}."));
    Ok(())
}

fn price_table(study: &Study, found: &OfPrices) -> Grid {
    let rows = &found.rows;
    let ns = |value: Option<f64>| or_absent(value, |ns| time(ns * 1e-9, None));
    let ends = |at: usize| match (rows[at].low_ns, rows[at].high_ns) {
        (Some(low), Some(high)) => format!("{} to {}", ns(Some(low)), ns(Some(high))),
        _ if rows[at].here_ns.is_some() => "too few repetitions".to_owned(),
        _ => ABSENT.to_owned(),
    };
    let each = |header: &str, cell: &dyn Fn(usize) -> String| {
        Column::new(header, (0..rows.len()).map(cell).collect())
    };
    // Where there is no room, the last ones leave first: this machine is the answer.
    let here = ("here", vec![each("here", &|at| ns(rows[at].here_ns)), each("interval", &ends)]);
    let lists = study.article.lists.iter().enumerate();
    let article =
        lists.map(|(list, name)| ("article", vec![each(name, &|at| ns(rows[at].article_ns[list]))]));
    let groups = [here].into_iter().chain(article);
    Grid {
        key: each("operation", &|at| rows[at].row.clone()),
        groups: groups.map(|(name, columns)| Group::new(name, columns)).collect(),
    }
}

/// What stands below the claims about prices: how an undecided one gets the repetitions that it lacks, sums, projections.
fn below_prices(
    study: &Study,
    found: &Findings,
    figures: &OfPrices,
    list: &PriceList,
    look: &Look,
) -> String {
    let mut text = String::new();
    if found.claims.iter().any(Judgement::lacks_repetitions) {
        let has = list.prices.iter().map(|price| price.repetitions).max().unwrap_or(0);
        let more = format!(
            "This run had {has} repetitions in {}; a longer --max-time, or --full, gives more of them. No claim is decided by fewer than {}.",
            duration(list.took_s),
            study.least_repetitions(list.confidence)
        );
        text.push_str(&(wrap(&more, look.width, 2).join("\n") + "\n"));
    }
    text.push_str(&machines::checks(&figures.checks, look));
    if let Some(projection) = &figures.projection {
        text.push_str(&machines::projection(projection, look));
    }
    text
}
