//! Targets: documents and messages that anybody may have written. See the crate `whyfaster-fuzz`.

use std::path::Path;

use whyfaster_core::price::PriceList;
use whyfaster_core::price::compare::{Rule, compare};
use whyfaster_core::price::project::{parse, project};
use whyfaster_core::price::sum::fork_execve;
use whyfaster_core::record::Record;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_fuzz::{Form, run};
use whyfaster_render::export::Exporter;
use whyfaster_render::machines::Machines;
use whyfaster_render::screen::screen;
use whyfaster_render::{machines, prices};
use whyfaster_store as store;
use whyfaster_store::Recorded;
use whyfaster_store::again::{again, reanalysed};
use whyfaster_store::database::Entry;
use whyfaster_words::display::{Hyperfine, Registered};
use whyfaster_words::look::Look;

use crate::cli::trace::TraceOutputs;
use crate::cmd::trace;

#[test]
fn fuzz_record() {
    run("record", Form::Json, 500, document);
}

#[test]
fn fuzz_prices() {
    run("prices", Form::Json, 500, document);
}

#[test]
fn fuzz_trace() {
    run("trace", Form::Json, 500, document);
}

/// What a bare worker wrote.
#[test]
fn fuzz_worker() {
    run("worker", Form::Bytes, 500, document);
}

/// A document is refused, or all that is made of it can be made, and steers no terminal.
fn document(bytes: &[u8]) -> bool {
    let Ok(recorded) = store::read::recorded(Path::new("hostile.json"), bytes) else { return false };
    for look in [Look::plain(80, true), Look::plain(40, false)] {
        // Whatever it is, it can be stored, or is refused.
        let _ = Entry::of(&again(recorded.clone()), b"", "machine", None);
        match &recorded {
            Recorded::Comparison(record) => comparison(record, &look),
            Recorded::Prices(list) => price_list(list, &look),
            Recorded::Trace(trace) => traced(trace, &look),
        }
    }
    true
}

fn comparison(record: &Record, look: &Look) {
    let record = reanalysed(record.clone());
    harmless(&screen(&record, look));
    for exporter in Exporter::all() {
        // A format may have no place for a value; that is an error and no panic.
        for hyperfine in [Hyperfine::One, Hyperfine::Two] {
            let _ = exporter.export(&record, &Look { hyperfine, ..look.clone() });
        }
    }
    store::record_bytes(&record).unwrap();
}

fn price_list(list: &PriceList, look: &Look) {
    harmless(&prices::report(list, look));
    for prices in Exporter::all().iter().filter_map(|exporter| exporter.prices) {
        prices(list).unwrap();
    }
    store::price_bytes(list).unwrap();
    let lists = [list.clone(), list.clone()];
    let rule = Rule::default();
    let beside = Machines {
        comparison: compare(&lists, &rule),
        other_units: Vec::new(),
        projection: Some(project(&lists, &parse("3 fork+execve, 7 getppid").unwrap_or_default())),
        checks: lists.iter().filter_map(fork_execve).collect(),
    };
    harmless(&machines::report(&lists, &beside, true, &rule, look));
    serde_json::to_vec(&beside).unwrap();
}

fn traced(record: &TraceRecord, look: &Look) {
    let mut record = record.clone();
    if let Some(schedule) = &record.schedule {
        match schedule.analyse() {
            Ok(report) => record.report = report,
            Err(_) => return,
        }
    }
    harmless(&trace::said(&record, &TraceOutputs::default(), look));
    store::trace_bytes(&record).unwrap();
}

/// Nothing that a terminal acts on: the reports hold foreign names.
#[track_caller]
fn harmless(text: &str) {
    let steers = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}' | '\u{2029}')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if let Some(at) = text.find(steers) {
        let line = text[..at].lines().last().unwrap_or_default();
        panic!("{:?} reaches the terminal after {line:?}", text[at..].chars().next());
    }
}
