//! A fleet on the screen: what its machines' prices say, what they say of a comparison, and what an update changed; [`files`] has it for
//! other programs.

pub mod files;

use std::cmp::Reverse;

use whyfaster_core::fleet::change::{ChangeReport, RowChange};
use whyfaster_core::fleet::effects::{Combined, GroupEffect};
use whyfaster_core::fleet::questions::{Answered, Counted, Question};
use whyfaster_core::fleet::split as fleet;
use whyfaster_core::fleet::{GroupPrices, PriceReport, RowSpread};
use whyfaster_core::price::sample::row_id;
use whyfaster_words::display::Detail;
use whyfaster_words::fleet as words;
use whyfaster_words::grid::{Column, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;
use whyfaster_words::text::{Tone, for_look, shorten, tone, wrap, wrap_indented};
use whyfaster_words::units::{Figures, digits, factor, percent, price, times};

use super::first;
use super::section::{paragraphs, quiet};
use super::stories::change;
use super::table::{interval, ratio_interval};
use whyfaster_stats::order::largest_first;

/// Rows, groups and machines of a first screen.
const ROWS: usize = 12;
const GROUPS: usize = 6;
const OUTLIERS: usize = 6;
/// Columns that a name may take, where there are few.
const NAME: usize = 30;

fn name_width(look: &Look) -> usize {
    NAME.max(look.width / 4)
}

/// Prices over the machines.
pub fn prices(report: &PriceReport, look: &Look) -> String {
    let machines = count(report.machines.len() as u64, "machine", "machines");
    let cut = match words::explained(&report.splits) {
        Some(facts) => format!("their prices differ by {facts}"),
        None => "no fact of them explains how their prices differ".to_owned(),
    };
    let off = match report.outliers.as_slice() {
        [] if report.alone.len() >= report.machines.len() => {
            "whether one stands out cannot be told".to_owned()
        }
        [] => "none stands out".to_owned(),
        [one] => format!("{} stands out", for_look(&one.machine, look)),
        several => format!("{} stand out", count(several.len() as u64, "machine", "machines")),
    };
    let answer = wrap(&tone(Tone::Strong, &format!("{machines}: {cut}; {off}.")), look.width, 0);
    if look.detail == Detail::Sentence {
        return paragraphs([answer], look);
    }
    let all = look.detail >= Detail::Tables;
    let groups = match report.groups.len() {
        0 | 1 => Vec::new(),
        _ => group_table(&report.groups, if all { usize::MAX } else { GROUPS }, look),
    };
    let rows = row_table(report, if all { usize::MAX } else { ROWS }, look);
    let more = if all { method(report, look) } else { first::more(look) };
    paragraphs([answer, outliers(report, all, look), groups, rows, not_judged(report, look), more], look)
}

fn outliers(report: &PriceReport, all: bool, look: &Look) -> Vec<String> {
    let most = if all { usize::MAX } else { OUTLIERS };
    let mut lines: Vec<String> = Vec::new();
    for it in report.outliers.iter().take(most) {
        let text = words::outlier(it, &for_look(&it.machine, look), &factor);
        lines.extend(wrap_indented(&for_look(&text, look), look.width, 2));
        if all {
            let row = |it: &whyfaster_core::fleet::outliers::OutlyingRow| {
                format!("{} {}", row_id(&it.row.name, &it.row.variant), factor(it.factor))
            };
            let rows = it.rows.iter().map(row).collect::<Vec<_>>().join(", ");
            lines.extend((!rows.is_empty()).then(|| quiet(&rows, look)).into_iter().flatten());
        }
    }
    lines.extend(more(report.outliers.len(), most));
    lines
}

fn more(all: usize, most: usize) -> Option<String> {
    let hidden = all.saturating_sub(most);
    (hidden > 0).then(|| format!("  and {hidden} more: -v"))
}

fn group_table(groups: &[GroupPrices], most: usize, look: &Look) -> Vec<String> {
    let mut lines = group_grid(&groups[..groups.len().min(most)], look).draw(look.width, 1).lines;
    lines.extend(more(groups.len(), most));
    lines
}

/// Groups of machines and what they charge.
pub(super) fn group_grid(shown: &[GroupPrices], look: &Look) -> Grid {
    Grid {
        key: Column::of("group", shown, |it| {
            shorten(&for_look(&words::group(&it.group), look), name_width(look), look.unicode)
        }),
        groups: vec![
            Group::of("machines", shown, |it| it.group.machines.len().to_string()),
            Group::of("prices", shown, |it| or_absent(it.factor, factor)),
        ],
    }
}

/// The rows in which the machines differ most, first.
fn row_table(report: &PriceReport, most: usize, look: &Look) -> Vec<String> {
    let mut rows: Vec<&RowSpread> = report.rows.iter().filter(|it| it.machines > 1).collect();
    largest_first(&mut rows, |it| spread(it));
    let all = rows.len();
    rows.truncate(most);
    let mut lines = row_grid(&rows, look).draw(look.width, 1).lines;
    lines.extend(more(all, most));
    lines
}

/// How far the machines are apart in a row.
pub(super) fn spread(it: &RowSpread) -> f64 {
    it.p95_ns / it.p5_ns
}

/// Rows over the machines.
pub(super) fn row_grid(rows: &[&RowSpread], look: &Look) -> Grid {
    let by = |it: &&RowSpread| {
        or_absent(it.explained_by, |(fact, share)| {
            format!("{} {}", fact.name(), percent((share * 100.0).round() / 100.0))
        })
    };
    Grid {
        key: Column::of("row", rows, |it| {
            shorten(&row_id(&it.row.name, &it.row.variant), name_width(look), look.unicode)
        }),
        groups: vec![
            Group::of("median", rows, |it| price(it.median_ns, look)),
            Group::of("5% to 95% of the machines", rows, |it| {
                format!("{} to {}", price(it.p5_ns, look), price(it.p95_ns, look))
            }),
            Group::of("spread", rows, |it| factor(spread(it))),
            Group::of("explained by", rows, by),
        ],
    }
}

/// The machines that are not judged, or not in all rows together.
fn not_judged(report: &PriceReport, look: &Look) -> Vec<String> {
    let lines = |what: &str, machines: Vec<&str>| {
        if machines.is_empty() {
            return Vec::new();
        }
        let shown: Vec<String> = machines.iter().take(GROUPS).map(|name| for_look(name, look)).collect();
        let hidden = machines.len() - shown.len();
        let rest = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
        wrap(&format!("{what}: {}{rest}.", shown.join(", ")), look.width, 0)
    };
    let small = "Whether these stand out cannot be told, for their group has fewer than three machines";
    let few =
        "These are judged row by row only, for they have fewer than half of the rows that most machines have";
    let alone = report.alone.iter().map(String::as_str).collect();
    [lines(small, alone), lines(few, report.not_told().collect())].concat()
}

fn method(report: &PriceReport, look: &Look) -> Vec<String> {
    let text = format!(
        "A machine is compared with the median of its group, in spreads of the fleet. Of the machines that are named, at most {} are expected to be so by chance.",
        percent(report.rate)
    );
    wrap(&text, look.width, 0)
}

/// What the machines say of a comparison.
pub fn comparison(answered: &Answered, look: &Look) -> String {
    let Question { alternative, baseline, .. } = &answered.question;
    let names =
        [alternative, baseline].map(|name| shorten(&for_look(name, look), name_width(look), look.unicode));
    let report = &answered.report;
    let sum = |count: fn(&GroupEffect) -> usize| report.groups.iter().map(count).sum::<usize>();
    let parts = [
        (sum(|it| it.tally.faster), "faster"),
        (sum(|it| it.tally.slower), "slower"),
        (sum(|it| it.tally.same), "the same"),
        (sum(|it| it.tally.undecided), "undecided"),
    ];
    let told: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{word} on {n}")).collect();
    let cut = words::explained(&report.splits)
        .map(|facts| format!("; what separates them is {facts}"))
        .unwrap_or_default();
    let copies = words::copies(&answered.question);
    let sentence = format!(
        "{} against {}{copies}, on {}: {}{cut}.",
        names[0],
        names[1],
        count(report.machines.len() as u64, "machine", "machines"),
        told.join(", ")
    );
    let mut answer = wrap(&tone(Tone::Strong, &sentence), look.width, 0);
    if look.detail == Detail::Sentence {
        return paragraphs([answer], look);
    }
    answer.extend(
        report.combined.iter().flat_map(|it| wrap(&combined(it, report.machines.len()), look.width, 2)),
    );
    let groups: Vec<&GroupEffect> = report.groups.iter().collect();
    let table =
        if groups.len() < 2 { Vec::new() } else { effect_grid(&groups, look).draw(look.width, 1).lines };
    let machines = if look.detail >= Detail::Tables || report.machines.len() <= GROUPS {
        machine_grid(answered, look).draw(look.width, 1).lines
    } else {
        Vec::new()
    };
    let more = if look.detail >= Detail::Tables { Vec::new() } else { first::more(look) };
    paragraphs([answer, table, machines, more], look)
}

/// What the machines come to together. Those without an interval have no part in it.
pub(super) fn combined(it: &Combined, machines: usize) -> String {
    let over = match it.machines {
        all if all == machines => "Over all".to_owned(),
        some => format!("Over the {some} of {machines} machines whose ratio has an interval"),
    };
    let next =
        it.next.map(|(low, high)| format!("; on the next machine, {} to {}", factor(low), factor(high)));
    format!(
        "{over}, {} the time ({}){}. Of the variance, {:.0}% is between machines, the rest is error.",
        times(it.ratio),
        interval(it.ratio.low, it.ratio.high, |end| Figures::of(it.ratio).factor(end)),
        next.unwrap_or_default(),
        it.heterogeneity * 100.0
    )
}

/// What groups of machines say.
pub(super) fn effect_grid(groups: &[&GroupEffect], look: &Look) -> Grid {
    let ratio = |it: &Combined| format!("{} ({})", times(it.ratio), ratio_interval(it.ratio));
    Grid {
        key: Column::of("group", groups, |it| {
            shorten(&for_look(&words::group(&it.group), look), name_width(look), look.unicode)
        }),
        groups: vec![
            Group::of("machines", groups, |it| it.group.machines.len().to_string()),
            Group::of("time", groups, |it| or_absent(it.tally.combined.as_ref(), ratio)),
            Group::of("faster", groups, |it| it.tally.faster.to_string()),
            Group::of("slower", groups, |it| it.tally.slower.to_string()),
            Group::of("same", groups, |it| it.tally.same.to_string()),
            Group::of("undecided", groups, |it| it.tally.undecided.to_string()),
        ],
    }
}

/// What every machine says.
pub(super) fn machine_grid(answered: &Answered, look: &Look) -> Grid {
    let rows = &answered.report.machines;
    Grid {
        key: Column::of("machine", rows, |it| {
            shorten(&for_look(&it.machine, look), name_width(look), look.unicode)
        }),
        groups: vec![
            Group::of("time", rows, |it| times(it.ratio)),
            Group::of("interval", rows, |it| ratio_interval(it.ratio)),
            Group::of("verdict", rows, |it| super::table::verdict_word(it.verdict)),
        ],
    }
}

/// Many comparisons, a line each: those on which machines differ most, first.
pub fn counted(all: &[Counted], look: &Look) -> String {
    let mut rows = differing(all);
    let both = rows.iter().filter(|it| fewer(it) > 0).count();
    let sentence = format!(
        "{}: {both} {} by machine who is faster.",
        count(all.len() as u64, "comparison", "comparisons"),
        if both == 1 { "differs" } else { "differ" }
    );
    let answer = wrap(&tone(Tone::Strong, &sentence), look.width, 0);
    if look.detail == Detail::Sentence {
        return paragraphs([answer], look);
    }
    let most = if look.detail >= Detail::Tables { usize::MAX } else { ROWS };
    rows.truncate(most);
    let mut table = counted_grid(&rows, look).draw(look.width, 1).lines;
    table.extend(more(all.len(), most));
    let one =
        wrap("One of them in full, with the fact that separates the machines: --only TEXT.", look.width, 0);
    paragraphs([answer, table, one], look)
}

/// On how many machines the fewer are.
fn fewer(it: &Counted) -> usize {
    it.tally.faster.min(it.tally.slower)
}

/// Comparisons, those first on which machines differ most.
pub(super) fn differing(all: &[Counted]) -> Vec<&Counted> {
    let mut rows: Vec<&Counted> = all.iter().collect();
    rows.sort_by_key(|it| (Reverse(fewer(it)), Reverse(it.tally.faster + it.tally.slower)));
    rows
}

/// Comparisons in short.
pub(super) fn counted_grid(rows: &[&Counted], look: &Look) -> Grid {
    let name = |it: &&Counted| {
        let Question { alternative, baseline, .. } = &it.question;
        let copies = words::copies(&it.question);
        format!("{} against {}{copies}", for_look(alternative, look), for_look(baseline, look))
    };
    let ratio = |it: &Combined| {
        format!("{} ({})", factor(it.ratio.ratio), interval(it.ratio.low, it.ratio.high, digits))
    };
    Grid {
        key: Column::of("comparison", rows, |it| shorten(&name(it), name_width(look), look.unicode)),
        groups: vec![
            Group::of("machines", rows, |it| it.machines.to_string()),
            Group::of("faster", rows, |it| it.tally.faster.to_string()),
            Group::of("slower", rows, |it| it.tally.slower.to_string()),
            Group::of("same", rows, |it| it.tally.same.to_string()),
            Group::of("undecided", rows, |it| it.tally.undecided.to_string()),
            Group::of("time", rows, |it| or_absent(it.tally.combined.as_ref(), ratio)),
        ],
    }
}

/// By what the changes of machines differ, and how: of all machines together a change of some may be none.
fn differently(report: &ChangeReport) -> Option<String> {
    let facts = words::explained(&report.splits)?;
    let of_group = |(group, ratio): (&fleet::Group, &Option<f64>)| {
        Some(format!("{} {}", words::group(group), factor((*ratio)?)))
    };
    let groups: Vec<String> =
        report.groups.iter().zip(&report.by_group).filter_map(of_group).take(GROUPS).collect();
    let rest = match report.groups.len() > groups.len() {
        true => ", ...",
        false => "",
    };
    Some(format!("Machines changed differently by {facts}: the median price {}{rest}.", groups.join(", ")))
}

/// What an update changed.
pub fn changes(report: &ChangeReport, look: &Look) -> String {
    let changed: Vec<&RowChange> = report.rows.iter().filter(|it| it.changed).collect();
    let facts: Vec<String> = report
        .facts
        .iter()
        .take(3)
        .map(|it| {
            format!(
                "{} {} to {} on {}",
                it.difference.fact.name(),
                it.difference.first,
                it.difference.second,
                it.machines
            )
        })
        .collect();
    let what = if facts.is_empty() { "no fact that is known changed".to_owned() } else { facts.join(", ") };
    let sentence = format!(
        "{}: {what}; {} of {} changed.",
        count(report.machines.len() as u64, "machine", "machines"),
        changed.len(),
        count(report.rows.len() as u64, "price", "prices"),
    );
    let mut answer = wrap(&tone(Tone::Strong, &for_look(&sentence, look)), look.width, 0);
    answer.extend(differently(report).iter().flat_map(|text| wrap(&for_look(text, look), look.width, 0)));
    if look.detail == Detail::Sentence {
        return paragraphs([answer], look);
    }
    let all = look.detail >= Detail::Tables;
    let shown: Vec<&RowChange> =
        if all { report.rows.iter().collect() } else { changed.iter().copied().take(ROWS).collect() };
    let table = if shown.is_empty() {
        Vec::new()
    } else {
        change_grid(report, &shown, look).draw(look.width, 2).lines
    };
    let unpaired = |names: &[String], word: &str| {
        let shown: Vec<String> = names.iter().take(GROUPS).map(|name| for_look(name, look)).collect();
        let rest =
            if names.len() > GROUPS { format!(" and {} more", names.len() - GROUPS) } else { String::new() };
        let text = format!("{word} only: {}{rest}.", shown.join(", "));
        if names.is_empty() { Vec::new() } else { wrap(&text, look.width, 0) }
    };
    let mut lines = table;
    lines.extend(more(changed.len(), if all { usize::MAX } else { ROWS }));
    let last = if all { Vec::new() } else { first::more(look) };
    paragraphs(
        [
            answer,
            lines,
            [unpaired(&report.only_before, "Before"), unpaired(&report.only_after, "After")].concat(),
            last,
        ],
        look,
    )
}

/// Rows before and after.
pub(super) fn change_grid(report: &ChangeReport, rows: &[&RowChange], look: &Look) -> Grid {
    let mut groups = vec![
        Group::of("change", rows, |it| change(it.ratio.ratio)),
        Group::of("interval", rows, |it| interval(it.ratio.low, it.ratio.high, digits)),
        Group::of("machines", rows, |it| it.machines.to_string()),
    ];
    if report.groups.len() > 1 {
        let columns = report.groups.iter().enumerate().map(|(at, group)| {
            let header = shorten(&for_look(&words::group(group), look), name_width(look) / 2, look.unicode);
            Column::of(header, rows, |it| or_absent(it.by_group.get(at).copied().flatten(), change))
        });
        groups.extend(columns.map(|column| Group::new("groups", vec![column])));
    }
    let key = Column::of("row", rows, |it| {
        shorten(&row_id(&it.row.name, &it.row.variant), name_width(look), look.unicode)
    });
    Grid { key, groups }
}

#[cfg(test)]
mod tests {
    use whyfaster_core::fleet::effects::EffectReport;

    use super::*;
    use crate::fixture::look;

    #[test]
    fn where_every_machine_is_alone_none_is_said_to_be_like_the_others() {
        let machines = vec!["a".to_owned(), "b".to_owned()];
        let report = PriceReport {
            alone: machines.clone(),
            machines,
            distances: Vec::new(),
            rows: Vec::new(),
            splits: Vec::new(),
            groups: Vec::new(),
            outliers: Vec::new(),
            rate: 0.05,
        };
        let text = prices(&report, &look(200, false));
        assert!(text.contains("; whether one stands out cannot be told."), "{text}");
        let of_many = PriceReport { alone: Vec::new(), ..report };
        assert!(prices(&of_many, &look(200, false)).contains("; none stands out."));
    }

    #[test]
    fn a_command_begins_a_sentence_as_it_is_written() {
        let question = Question {
            alternative: "awk 1".to_owned(),
            command: "awk 1".to_owned(),
            baseline: "cat".to_owned(),
            baseline_command: "cat".to_owned(),
            load: 1,
            arrivals: None,
        };
        let report =
            EffectReport { machines: Vec::new(), combined: None, splits: Vec::new(), groups: Vec::new() };
        let text = comparison(&Answered { question, report }, &look(80, false));
        assert!(text.starts_with("awk 1 against cat"), "{text}");
    }
}
