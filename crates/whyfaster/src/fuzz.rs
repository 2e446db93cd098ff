//! Targets: documents and messages that anybody may have written. See the crate `whyfaster-fuzz`.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;

use whyfaster_core::price::PriceList;
use whyfaster_core::price::compare::{Rule, compare};
use whyfaster_core::price::project::{parse, project};
use whyfaster_core::price::sum::fork_execve;
use whyfaster_core::record::Record;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_fuzz::{Form, run};

use crate::cli::trace::TraceOutputs;
use crate::cmd::again::{again, reanalysed};
use crate::cmd::trace;
use crate::database::Entry;
use crate::display::{Hyperfine, Registered};
use crate::render::export::Exporter;
use crate::render::fixture::look;
use crate::render::look::Look;
use crate::render::machines::Machines;
use crate::render::{machines, prices, screen::screen};
use crate::run::protocol::{Message, Reply, Said, receive};
use crate::store::{self, Recorded};

#[test]
fn fuzz_record() {
    run("record", Form::Json, document);
}

#[test]
fn fuzz_prices() {
    run("prices", Form::Json, document);
}

#[test]
fn fuzz_trace() {
    run("trace", Form::Json, document);
}

/// What a bare worker wrote.
#[test]
fn fuzz_worker() {
    run("worker", Form::Bytes, document);
}

/// What stands at the other end of the launcher's socket, after a command took that.
#[test]
fn fuzz_launcher() {
    run("launcher", Form::Bytes, |bytes| message::<Message>(bytes) | message::<Reply>(bytes));
}

/// A document is refused, or all that is made of it can be made, and steers no terminal.
fn document(bytes: &[u8]) -> bool {
    let Ok(recorded) = store::read::recorded(Path::new("hostile.json"), bytes) else { return false };
    for look in [look(80, true), look(40, false)] {
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

/// Messages are received whole or refused, in bounded time; who sent them has gone afterwards. Whether one was received.
fn message<T: Said>(bytes: &[u8]) -> bool {
    let (near, mut far) = UnixStream::pair().unwrap();
    // More than fits would wait for a reader, which stands behind this line.
    far.set_nonblocking(true).unwrap();
    let _ = far.write(bytes);
    drop(far);
    let mut received = false;
    while let Ok(Some(_)) = receive::<T>(&near) {
        received = true;
    }
    received
}
