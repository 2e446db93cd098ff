//! Conditions of `fleet report --fail-if` and `fleet diff --fail-if`: `NAME>LIMIT`, as the conditions of `compare` are written.

use whyfaster_core::fleet::gate::{Limit, Machines};
use whyfaster_words::metric::{condition, number};

/// What a condition of a report may be.
const REPORT: &str = "write outlier>20%, time_wall_clock>5%, combined>5%, slower>10% or not_faster>0 (a percentage or a number of machines)";
const DIFF: &str = "write price>10%";

/// `NAME>LIMIT` of a report.
pub fn report_limit(text: &str) -> Result<Limit, String> {
    let (name, most) = condition(text).ok_or(REPORT)?;
    match name {
        "outlier" => above_zero(most).map(Limit::Outlier),
        "time_wall_clock" => percentage(most).map(Limit::OnMachine),
        "combined" => percentage(most).map(Limit::Combined),
        "slower" => machines(most).map(Limit::Slower),
        "not_faster" => machines(most).map(Limit::NotFaster),
        _ => Err(format!("'{name}' is nothing that a fleet is held to: {REPORT}")),
    }
}

/// `price>LIMIT` of a diff.
pub fn diff_limit(text: &str) -> Result<f64, String> {
    let (name, most) = condition(text).ok_or(DIFF)?;
    match name {
        "price" => above_zero(most),
        _ => Err(format!("'{name}' is nothing that a change is held to: {DIFF}")),
    }
}

fn percentage(most: &str) -> Result<f64, String> {
    let told = number(most).filter(|(number, unit)| *unit == "%" && *number > -100.0);
    told.map(|(number, _)| number / 100.0).ok_or_else(|| format!("'{most}' is no limit: write 5%"))
}

fn above_zero(most: &str) -> Result<f64, String> {
    let accepted = || format!("'{most}' is no limit: write a percentage from 0 on, such as 20%");
    percentage(most).ok().filter(|it| *it >= 0.0).ok_or_else(accepted)
}

fn machines(most: &str) -> Result<Machines, String> {
    match number(most) {
        Some((share, "%")) if (0.0..=100.0).contains(&share) => Ok(Machines::Share(share / 100.0)),
        Some((count, "")) if count >= 0.0 && count.fract() == 0.0 => Ok(Machines::Count(count)),
        _ => Err(format!(
            "'{most}' is no limit: write a number of machines, such as 0, or a share, such as 10%"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_names_and_limits() {
        for (text, limit) in [
            ("outlier>20%", Limit::Outlier(0.2)),
            ("time_wall_clock > 5 %", Limit::OnMachine(0.05)),
            ("time_wall_clock>-5%", Limit::OnMachine(-0.05)),
            ("combined>2.5%", Limit::Combined(0.025)),
            ("slower>10%", Limit::Slower(Machines::Share(0.1))),
            ("not_faster>0", Limit::NotFaster(Machines::Count(0.0))),
        ] {
            assert_eq!(report_limit(text), Ok(limit), "{text}");
        }
        assert_eq!(diff_limit("price>10%"), Ok(0.1));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (text, says) in [
            ("outlier", "write outlier>20%"),
            ("memory_peak_resident>5%", "'memory_peak_resident' is nothing"),
            ("outlier>-5%", "from 0 on"),
            ("outlier>5", "'5' is no limit"),
            ("outlier>", "'' is no limit"),
            ("outlier>NaN%", "no limit"),
            ("time_wall_clock>2s", "'2s' is no limit"),
            ("time_wall_clock>-100%", "no limit"),
            ("slower>1.5", "'1.5' is no limit"),
            ("slower>101%", "no limit"),
            ("slower>-1", "no limit"),
        ] {
            let error = report_limit(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(diff_limit("outlier>5%").unwrap_err().contains("write price>10%"));
        assert!(diff_limit("price>-5%").unwrap_err().contains("from 0 on"));
    }
}
