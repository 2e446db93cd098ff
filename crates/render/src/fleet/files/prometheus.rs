//! A text file a machine for the textfile collector of Prometheus' node exporter.
//!
//! The format is that of <https://prometheus.io/docs/instrumenting/exposition_formats/>: lines of one metric stand together behind their HELP and
//! TYPE; in the value of a label a backslash, a quote and a line end are escaped. Units are base units: seconds and ratios. There are no
//! times, which the collector refuses.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use whyfaster_core::fleet::change::Changes;
use whyfaster_core::fleet::placed::Placing;
use whyfaster_core::fleet::questions::{Answered, Arrivals};
use whyfaster_core::fleet::{Fleet, PriceReport, Row};

use super::tables::verdict;

/// The files: their names, which are safe, and their text.
pub type Files = Vec<(String, String)>;

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Metric {
    Price,
    PriceOverGroup,
    MachineOverGroup,
    StandsOut,
    Ratio,
    RatioLow,
    RatioHigh,
    Verdict,
    Change,
}

impl Metric {
    fn name(self) -> &'static str {
        match self {
            Self::Price => "whyfaster_price_seconds",
            Self::PriceOverGroup => "whyfaster_price_over_group_ratio",
            Self::MachineOverGroup => "whyfaster_machine_over_group_ratio",
            Self::StandsOut => "whyfaster_machine_stands_out",
            Self::Ratio => "whyfaster_comparison_ratio",
            Self::RatioLow => "whyfaster_comparison_low_ratio",
            Self::RatioHigh => "whyfaster_comparison_high_ratio",
            Self::Verdict => "whyfaster_comparison_verdict",
            Self::Change => "whyfaster_price_change_ratio",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Price => "Typical price of one operation.",
            Self::PriceOverGroup => "Price over the median of the machines that are alike.",
            Self::MachineOverGroup => "All prices of the machine over those of the machines that are alike.",
            Self::StandsOut => "1 if the machine stands out of the machines that are alike.",
            Self::Ratio => "Time of the alternative over that of the baseline.",
            Self::RatioLow => "Lower end of the interval of the ratio.",
            Self::RatioHigh => "Upper end of the interval of the ratio.",
            Self::Verdict => "1 for the verdict of the comparison.",
            Self::Change => "Price after over price before.",
        }
    }
}

/// The lines of a machine, by their metric.
#[derive(Debug, Default)]
struct Lines(BTreeMap<Metric, String>);

impl Lines {
    fn add(&mut self, metric: Metric, labels: &[(&str, &str)], value: f64) {
        let text = self.0.entry(metric).or_default();
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}{{{}}} {value}", metric.name(), labels.join(","));
    }

    fn text(&self) -> String {
        let one = |(metric, lines): (&Metric, &String)| {
            let name = metric.name();
            format!("# HELP {name} {}\n# TYPE {name} gauge\n{lines}", metric.help())
        };
        self.0.iter().map(one).collect()
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A name of a file that no name of a machine can lead elsewhere with. Where it is not the machine's own, it is told apart by a digest.
fn file(machine: &str) -> String {
    const MOST: usize = 100;
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = machine.chars().map(|c| if safe(c) { c } else { '_' }).take(MOST).collect();
    if name == machine && !name.is_empty() {
        return format!("whyfaster_{name}.prom");
    }
    let digest = HEXLOWER.encode(&Sha256::digest(machine.as_bytes())[..6]);
    format!("whyfaster_{name}_{digest}.prom")
}

fn files(machines: BTreeMap<&str, Lines>) -> Files {
    machines.into_iter().map(|(machine, lines)| (file(machine), lines.text())).collect()
}

fn of_row<'a>(machine: &'a str, row: &'a Row) -> [(&'static str, &'a str); 4] {
    [("machine", machine), ("group", &row.group), ("name", &row.name), ("variant", &row.variant)]
}

/// What a report says of every machine.
pub fn report(prices: Option<(&Fleet, &PriceReport)>, answered: &[Answered]) -> Files {
    let mut machines: BTreeMap<&str, Lines> = BTreeMap::new();
    if let Some((fleet, report)) = prices {
        let placing = Placing::of(fleet, report);
        for (at, machine) in fleet.machines.iter().enumerate() {
            let (name, lines) = (machine.name.as_str(), machines.entry(&machine.name).or_default());
            for it in placing.machine(at) {
                lines.add(Metric::Price, &of_row(name, it.row), it.ns * 1e-9);
                if let Some(ratio) = it.over_group {
                    lines.add(Metric::PriceOverGroup, &of_row(name, it.row), ratio);
                }
            }
            if let Some(distance) = report.distances.get(at).copied().flatten() {
                lines.add(Metric::MachineOverGroup, &[("machine", name)], distance.ratio);
                let off = report.outliers.iter().any(|it| it.machine == name);
                lines.add(Metric::StandsOut, &[("machine", name)], f64::from(u8::from(off)));
            }
        }
    }
    for Answered { question, report } in answered {
        let load = question.load.to_string();
        let starts = question.arrivals.and_then(Arrivals::starts_per_s).map(|starts| starts.to_string());
        for it in &report.machines {
            let mut labels: Vec<(&str, &str)> = vec![
                ("machine", it.machine.as_str()),
                ("alternative", &question.alternative),
                ("command", &question.command),
                ("baseline", &question.baseline),
                ("baseline_command", &question.baseline_command),
                ("load", &load),
            ];
            labels.extend(question.arrivals.map(|arrivals| ("mode", arrivals.mode())));
            labels.extend(starts.iter().map(|starts| ("starts_per_s", starts.as_str())));
            let lines = machines.entry(&it.machine).or_default();
            lines.add(Metric::Ratio, &labels, it.ratio.ratio);
            it.ratio.low.iter().for_each(|low| lines.add(Metric::RatioLow, &labels, *low));
            it.ratio.high.iter().for_each(|high| lines.add(Metric::RatioHigh, &labels, *high));
            let verdict = [labels.as_slice(), &[("verdict", verdict(it.verdict))]].concat();
            lines.add(Metric::Verdict, &verdict, 1.0);
        }
    }
    files(machines)
}

/// What changed on every machine.
pub fn changes(changes: &Changes) -> Files {
    let mut machines: BTreeMap<&str, Lines> = BTreeMap::new();
    for (row, of_machines) in changes.rows.iter().zip(&changes.of_machines) {
        for (machine, ln) in changes.machines.iter().zip(of_machines) {
            let lines = machines.entry(&machine.name).or_default();
            ln.iter().for_each(|ln| lines.add(Metric::Change, &of_row(&machine.name, row), ln.exp()));
        }
    }
    files(machines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_safe_and_told_apart() {
        assert_eq!(file("node17"), "whyfaster_node17.prom");
        for hostile in ["../../etc/passwd", "a/b", "", "a b", "x\0y", "\u{202e}gpj", &"n".repeat(300)] {
            let name = file(hostile);
            assert!(
                name.len() < 130 && !name.contains(['/', '\0', ' ']) && name.starts_with("whyfaster_"),
                "{name}"
            );
        }
        assert_ne!(file("a/b"), file("a b"));
        // A machine that bears the made name of another is not taken for it.
        assert_ne!(file("a/b"), file("a_b"));
    }

    #[test]
    fn labels_cannot_end_their_line() {
        let mut lines = Lines::default();
        lines.add(Metric::Price, &[("machine", "a\"} 1\nevil{x=\"\\")], 2e-7);
        assert_eq!(
            lines.text(),
            "# HELP whyfaster_price_seconds Typical price of one operation.\n# TYPE whyfaster_price_seconds gauge\n\
             whyfaster_price_seconds{machine=\"a\\\"} 1\\nevil{x=\\\"\\\\\"} 0.0000002\n"
        );
    }
}
