//! The tables, their version, and the way from each version to the next.
//!
//! A step is never changed once it was released: another one is added behind it. `docs/src/store.md` describes the tables to those who
//! query them.

use super::sql::{Dialect, Found, Sql, Table, number};
use super::trouble::Trouble;

/// From nothing to version 1, from version 1 to version 2, and so on. `{id}`, `{key}`, `{bytes}` and `{by_key}` are those of the database.
const STEPS: [&str; 1] = [include_str!("schema/1.sql")];

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
    match version(sql)? {
        0 if !make => return Err(Trouble::Absent),
        found if found == STEPS.len() as i64 => return Ok(()),
        _ => {}
    }
    // Two may come at once: the second one finds all done.
    sql.begin_alone()?;
    let done = steps(sql);
    if done.is_err() {
        sql.roll_back();
        return done;
    }
    sql.commit()
}

fn steps(sql: &mut dyn Sql) -> Result<(), Trouble> {
    let found = version(sql)?;
    for (step, at) in STEPS.iter().zip(1..).skip(found as usize) {
        sql.script(&in_dialect(step, sql.dialect()))?;
        sql.script(&format!("UPDATE whyfaster_store SET version = {at}"))?;
    }
    Ok(())
}

/// 0 where there is nothing yet.
fn version(sql: &mut dyn Sql) -> Result<i64, Trouble> {
    match sql.found()? {
        Found::Nothing => return Ok(0),
        Found::Foreign => return Err(Trouble::Foreign),
        Found::Store => {}
    }
    let known = STEPS.len() as i64;
    match number(sql, "SELECT version FROM whyfaster_store", &[])? {
        Some(found) if (1..=known).contains(&found) => Ok(found),
        Some(found) if found > known => Err(Trouble::Newer { found, known }),
        _ => Err(Trouble::Foreign),
    }
}

fn in_dialect(step: &str, dialect: Dialect) -> String {
    let words = [
        ("{id}", dialect.id),
        ("{key}", dialect.key),
        ("{bytes}", dialect.bytes),
        ("{by_key}", dialect.by_key),
    ];
    words.into_iter().fold(step.to_owned(), |step, (place, word)| step.replace(place, word))
}
