//! Which records are meant.

use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::hosts::SHOWN;
use super::open::Database;
use super::sql::Value;
use super::trouble::Trouble;

/// Which records are meant: all of them, unless something is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Measured at this moment or later.
    pub since: Option<Moment>,
    /// Measured before this moment.
    pub until: Option<Moment>,
    /// Added under this label.
    pub label: Option<String>,
    /// Of machines of these names, as reports show them; of all where there is none.
    pub hosts: Vec<String>,
}

/// A moment, in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub(super) i64);

impl FromStr for Moment {
    type Err = String;

    /// A date, which is its beginning, a date and a time in UTC, or a time as records have it (RFC 3339).
    fn from_str(text: &str) -> Result<Self, String> {
        let in_utc = |at: DateTime| at.to_zoned(TimeZone::UTC).map(|at| at.timestamp());
        let at = text.parse::<jiff::Timestamp>().or_else(|_| text.parse::<DateTime>().and_then(in_utc));
        let at =
            at.map_err(|_| format!("'{text}' is no date such as 2026-10-01, and no 2026-10-01T12:30"))?;
        Ok(Self(at.as_microsecond()))
    }
}

/// A label that no date can be taken for: `fleet diff` takes either.
pub fn label(text: &str) -> Result<String, String> {
    match text.parse::<Moment>() {
        Ok(_) => {
            Err("a label is a word and no date: 'fleet diff' would take it for the state at that time"
                .to_owned())
        }
        Err(_) => Ok(text.to_owned()),
    }
}

/// The table whose rows are chosen.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    /// `record`, called r.
    Records,
    /// `comparison`, called c. If the records of the label lie between these two numbers and no others do, their label need not be looked up.
    Comparisons { of_label: Option<[i64; 2]> },
}

impl Chosen {
    /// The conditions, each behind an AND. Their parameters are added to `with`.
    pub(super) fn conditions(&self, of: Of, with: &mut Vec<Value>) -> String {
        let table = match of {
            Of::Records => "r",
            Of::Comparisons { .. } => "c",
        };
        let mut text = String::new();
        let mut place = |value: Value| {
            with.push(value);
            format!("${}", with.len())
        };
        for (moment, is) in [(self.since, ">="), (self.until, "<")] {
            if let Some(Moment(at)) = moment {
                text += &format!(" AND {table}.started_us {is} {}", place(at.into()));
            }
        }
        if let Some(label) = &self.label {
            text += &match of {
                Of::Records => format!(" AND r.label = {}", place(label.into())),
                Of::Comparisons { of_label: Some([first, last]) } => {
                    format!(" AND c.record BETWEEN {} AND {}", place(first.into()), place(last.into()))
                }
                Of::Comparisons { of_label: None } => format!(
                    " AND EXISTS (SELECT 1 FROM record r WHERE r.id = c.record AND r.label = {})",
                    place(label.into())
                ),
            };
        }
        if !self.hosts.is_empty() {
            let names: Vec<String> = self.hosts.iter().map(|host| place(host.into())).collect();
            let names = names.join(", ");
            // A machine that shares its name is shown with a part of what tells it apart.
            text += &format!(
                " AND {table}.machine IN (SELECT id FROM machine WHERE name IN ({names}) \
                 OR name || ' (' || substr(machine_id, 1, {SHOWN}) || ')' IN ({names}))"
            );
        }
        text
    }
}

impl Database {
    /// How comparisons are chosen. Records are numbered as they are added, so those of a label lie side by side, unless others were added under another
    /// label in between. To look up the record of each of ten million answers takes a report three times as long.
    pub(super) fn comparisons(&mut self, chosen: &Chosen) -> Result<Of, Trouble> {
        let Some(label) = &chosen.label else { return Ok(Of::Comparisons { of_label: None }) };
        if let Some((known, of_label)) = &self.label
            && known == label
        {
            return Ok(Of::Comparisons { of_label: *of_label });
        }
        let select = "SELECT first, last FROM (SELECT min(id) AS first, max(id) AS last FROM record WHERE label = $1) AS of_label \
                      WHERE NOT EXISTS (SELECT 1 FROM record WHERE id BETWEEN first AND last AND label <> $1)";
        let mut of_label = None;
        self.sql.each(select, &[label.into()], &mut |row| {
            if let [Value::Int(first), Value::Int(last)] = *row {
                of_label = Some([first, last]);
            }
        })?;
        self.label = Some((label.clone(), of_label));
        Ok(Of::Comparisons { of_label })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_date_or_a_time() {
        let day: Moment = "2026-10-01".parse().unwrap();
        assert_eq!(Ok(day), "2026-10-01T00:00:00Z".parse());
        assert_eq!(Ok(day), "2026-10-01T00:00".parse());
        assert!("2026-10-01T00:00:00.000001Z".parse::<Moment>().unwrap() > day);
        assert!(["before", "2026", "", "2026-13-01"].iter().all(|text| text.parse::<Moment>().is_err()));
    }
}
