//! Tables of a fleet, one thing a line: a machine's price, a machine's ratio, the change of a row.

use ::csv::Writer;
use whyfaster_core::fleet::change::ChangeReport;
use whyfaster_core::fleet::placed::Placing;
use whyfaster_core::fleet::questions::Answered;
use whyfaster_core::fleet::{Fleet, PriceReport};
use whyfaster_core::verdict::Verdict;

use whyfaster_words::fleet as words;

/// Every price of every machine.
pub fn prices(fleet: &Fleet, report: &PriceReport) -> anyhow::Result<Vec<u8>> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record([
        "machine",
        "machines_like_it",
        "group",
        "name",
        "variant",
        "price_ns",
        "over_group",
        "stands_out",
    ])?;
    let alike: Vec<String> = report.groups.iter().map(|it| words::group(&it.group)).collect();
    let placing = Placing::of(fleet, report);
    for (at, machine) in fleet.machines.iter().enumerate() {
        let alike = alike.get(placing.group_of[at]).map_or("", String::as_str);
        for it in placing.machine(at) {
            writer.write_record([
                machine.name.as_str(),
                alike,
                &it.row.group,
                &it.row.name,
                &it.row.variant,
                &it.ns.to_string(),
                &number(it.over_group),
                &it.stands_out.to_string(),
            ])?;
        }
    }
    Ok(writer.into_inner()?)
}

/// What every machine says to every comparison.
pub fn comparisons(answered: &[Answered]) -> anyhow::Result<Vec<u8>> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record([
        "alternative",
        "command",
        "baseline",
        "baseline_command",
        "load",
        "machine",
        "machines_like_it",
        "ratio",
        "low",
        "high",
        "verdict",
    ])?;
    for Answered { question, report } in answered {
        let mut alike = vec![String::new(); report.machines.len()];
        for group in &report.groups {
            group.group.machines.iter().for_each(|at| alike[*at] = words::group(&group.group));
        }
        for (it, alike) in report.machines.iter().zip(&alike) {
            writer.write_record([
                question.alternative.as_str(),
                &question.command,
                &question.baseline,
                &question.baseline_command,
                &question.load.to_string(),
                &it.machine,
                alike,
                &it.ratio.ratio.to_string(),
                &number(it.ratio.low),
                &number(it.ratio.high),
                verdict(it.verdict),
            ])?;
        }
    }
    Ok(writer.into_inner()?)
}

/// What changed: every row over all machines, then in each group of them.
pub fn changes(report: &ChangeReport) -> anyhow::Result<Vec<u8>> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record([
        "group",
        "name",
        "variant",
        "machines_like_it",
        "ratio",
        "low",
        "high",
        "machines",
        "p_value",
        "changed",
    ])?;
    for it in &report.rows {
        let row = [it.row.group.as_str(), &it.row.name, &it.row.variant];
        let all: [&str; 7] = [
            "",
            &it.ratio.ratio.to_string(),
            &number(it.ratio.low),
            &number(it.ratio.high),
            &it.machines.to_string(),
            &it.p_value.to_string(),
            &it.changed.to_string(),
        ];
        writer.write_record(row.into_iter().chain(all))?;
        let several = report.groups.iter().zip(&it.by_group).filter(|_| report.groups.len() > 1);
        for (group, ratio) in several {
            let of_group: [&str; 7] = [&words::group(group), &number(*ratio), "", "", "", "", ""];
            writer.write_record(row.into_iter().chain(of_group))?;
        }
    }
    Ok(writer.into_inner()?)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |it| it.to_string())
}

/// The word that records and the store have for it.
pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    }
}
