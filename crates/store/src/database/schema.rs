//! The tables, their version, and the way from each version to the next.
//!
//! A step is never changed once it was released: another one is added behind it. `docs/src/store.md` describes the tables to those who
//! query them.

use super::answer_form;
use super::sql::{Dialect, Found, Sql, Table, number};
use super::trouble::Trouble;

/// From nothing to version 1, from version 1 to version 2, and so on. `{id}`, `{key}`, `{bytes}`, `{packed}`, `{answer}` and `{by_key}` are those of the database.
const STEPS: [&str; 3] =
    [include_str!("schema/1.sql"), include_str!("schema/2.sql"), include_str!("schema/3.sql")];

pub(super) const DOCUMENT: Table = Table { name: "document", columns: &["record", "packed"] };
pub(super) const PRICE: Table = Table {
    name: "price",
    columns: &[
        "record",
        "row",
        "floor",
        "low",
        "median",
        "high",
        "p99",
        "mean",
        "samples",
        "repetitions",
        "not_measured",
    ],
};
pub(super) const ALTERNATIVE: Table =
    Table { name: "alternative", columns: &["record", "number", "name", "command"] };
pub(super) const LEVEL: Table = Table {
    name: "level",
    columns: &[
        "record",
        "load",
        "alternative",
        "rounds",
        "makespan_s",
        "makespan_low_s",
        "makespan_high_s",
        "work_s",
        "user_s",
        "system_s",
        "throughput_per_s",
        "share",
        "latency_min_s",
        "latency_p50_s",
        "latency_p95_s",
        "latency_p99_s",
        "latency_max_s",
        "run_delay_s",
        "max_rss_bytes",
        "voluntary_switches",
        "involuntary_switches",
        "timed_out",
    ],
};
pub(super) const ROUND: Table = Table {
    name: "round",
    columns: &[
        "record",
        "load",
        "round",
        "position",
        "alternative",
        "released_s",
        "makespan_s",
        "copies",
        "user_s",
        "system_s",
        "failed",
        "timed_out",
    ],
};
pub(super) const COMPARISON: Table = Table {
    name: "comparison",
    columns: &[
        "question",
        "machine",
        "started_us",
        "record",
        "ratio",
        "low",
        "high",
        "confidence",
        "verdict",
        "rounds",
    ],
};

/// Every table that holds rows of records, by the column that names the record.
pub(super) const OF_RECORDS: [&Table; 6] = [&DOCUMENT, &PRICE, &ALTERNATIVE, &LEVEL, &ROUND, &COMPARISON];

/// Brings the tables to the version of this program; makes them where there is none and some are to be made.
pub(super) fn bring_up(sql: &mut dyn Sql, make: bool) -> Result<(), Trouble> {
    bring_up_by(&STEPS, sql, make)
}

fn bring_up_by(steps: &[&str], sql: &mut dyn Sql, make: bool) -> Result<(), Trouble> {
    let found = match version(sql, steps)? {
        0 if !make => return Err(Trouble::Absent),
        found if found == steps.len() as i64 => return Ok(()),
        found => found,
    };
    // Two may come at once: the second one finds all done.
    let done = sql.begin_alone().and_then(|()| take(steps, sql));
    if done.is_err() {
        sql.roll_back();
        return done.map_err(|trouble| match trouble {
            Trouble::Forbidden(why) if found > 0 => Trouble::Forbidden(format!(
                "it is a store of version {found}, which its owner is to open first, with this version of whyfaster ({why})"
            )),
            other => other,
        });
    }
    sql.commit()
}

fn take(steps: &[&str], sql: &mut dyn Sql) -> Result<(), Trouble> {
    let found = version(sql, steps)?;
    for (step, at) in steps.iter().zip(1..).skip(found as usize) {
        sql.script(&in_dialect(step, sql.dialect()))?;
        sql.script(&format!("UPDATE whyfaster_store SET version = {at}"))?;
    }
    Ok(())
}

/// 0 where there is nothing yet.
fn version(sql: &mut dyn Sql, steps: &[&str]) -> Result<i64, Trouble> {
    match sql.found()? {
        Found::Nothing => return Ok(0),
        Found::Foreign => return Err(Trouble::Foreign),
        Found::Store => {}
    }
    let known = steps.len() as i64;
    match number(sql, "SELECT version FROM whyfaster_store", &[])? {
        Some(found) if (1..=known).contains(&found) => Ok(found),
        Some(found) if found > known => Err(Trouble::Newer { found, known }),
        _ => Err(Trouble::Foreign),
    }
}

fn in_dialect(step: &str, dialect: Dialect) -> String {
    let answer = if dialect.one_value { answer_form::add_packed() } else { String::new() };
    let words = [
        ("{answer}", answer.as_str()),
        ("{id}", dialect.id),
        ("{key}", dialect.key),
        ("{bytes}", dialect.bytes),
        ("{packed}", dialect.packed),
        ("{by_key}", dialect.by_key),
    ];
    words.into_iter().fold(step.to_owned(), |step, (place, word)| step.replace(place, word))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::thread;

    use super::super::sqlite;
    use super::*;

    const NEXT: &str = "ALTER TABLE record ADD COLUMN kernel TEXT";
    const BROKEN: &str = "ALTER TABLE record ADD COLUMN kernel TEXT; INSERT INTO nowhere VALUES (1)";

    fn stands(file: &Path, steps: &[&str]) -> (i64, bool) {
        let mut sql = sqlite::open(file).unwrap();
        let kernel = "SELECT count(*) FROM pragma_table_info('record') WHERE name = 'kernel'";
        let kernel = number(sql.as_mut(), kernel, &[]).unwrap();
        (version(sql.as_mut(), steps).unwrap(), kernel == Some(1))
    }

    fn bring(file: &Path, steps: &[&str]) -> Result<(), Trouble> {
        bring_up_by(steps, sqlite::Absent::hold(file).unwrap().make().unwrap().as_mut(), true)
    }

    #[test]
    fn a_store_of_an_older_version_is_brought_up_or_left_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("store.db");
        let (before, after) = ([STEPS[0]], [STEPS[0], NEXT]);
        bring(&file, &before).unwrap();
        assert_eq!(stands(&file, &before), (1, false));
        assert!(bring(&file, &[STEPS[0], BROKEN]).is_err());
        assert_eq!(stands(&file, &before), (1, false));
        // Several come at once, and each finds it done or does it.
        thread::scope(|scope| {
            let coming: Vec<_> = (0..4).map(|_| scope.spawn(|| bring(&file, &after))).collect();
            coming.into_iter().for_each(|it| it.join().unwrap().unwrap());
        });
        assert_eq!(stands(&file, &after), (2, true));
        // The version before refuses it.
        assert!(matches!(bring(&file, &before), Err(Trouble::Newer { found: 2, known: 1 })));
    }
}
