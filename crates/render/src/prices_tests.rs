//! The report of a small list.

use whyfaster_core::price::{PriceList, SCHEMA};

use super::*;
use crate::export;
use crate::fixture::look;
use crate::price_chart::BarScale;

fn list() -> PriceList {
    let price = |group: &str, name: &str, variant: &str, ns: f64| Price {
        group: group.into(),
        name: name.into(),
        variant: variant.into(),
        unit: "one call".into(),
        floor_ns: Some(ns * 0.9),
        median_ns: Some(ns),
        p99_ns: Some(ns * 3.0),
        low_ns: Some(ns * 0.97),
        high_ns: Some(ns * 1.04),
        samples: 190,
        ..Price::default()
    };
    let mut lie = price("kernel", "getpid", "libc", 1.0);
    (lie.median_ns, lie.not_measured) = (None, Some("refused: a call that never entered the kernel".into()));
    let mut prices = vec![
        price("kernel", "getpid", "raw", 85.0),
        lie,
        price("process", "fork+execve", "reaped", 7.4e5),
        price("process", "posix_spawn", "reaped", 6.6e5),
    ];
    let mut switch = price("cpu", "switch", "pipe,same_cpu", 2e3);
    switch.receipt.switches = Some(0.5);
    switch.receipt.involuntary = Some(0.5);
    (switch.receipt.syscalls, switch.receipt.migrations) = (Some(2.16), Some(0.0));
    let mut free = price("thread", "futex", "asleep,free", 6e3);
    free.receipt.apart = Some(0.4);
    let mut bandwidth = price("pipe", "pipe_bandwidth", "threads,write=64K,same_cpu", 9e3);
    bandwidth.bytes_per_s = Some(65536.0 / 9e-6);
    prices.extend([switch, free, bandwidth]);
    prices[0].receipt.syscalls = Some(1.0);
    prices[0].rejected.involuntary = 10;
    list_of(prices)
}

/// A partial list of these prices.
pub(crate) fn list_of(prices: Vec<Price>) -> PriceList {
    let empty = serde_json::json!({
        "schema": SCHEMA, "tool_version": "0", "name": "box\u{1b}[2J", "started": "2026", "took_s": 12.0,
        "status": "interrupted", "confidence": 0.95, "clock": null, "fingerprint": {"missing": []}, "prices": []
    });
    PriceList { prices, ..serde_json::from_value(empty).unwrap() }
}

#[test]
fn a_report_has_sentences_bars_receipts_and_reasons() {
    let text = report(&list(), &look(120, false));
    for part in [
        "box[2J: 6 of 7 rows have a price",
        "partial: it was interrupted",
        "Entering the kernel and coming back costs 85.0 ns.",
        "740 us with fork and execve, 660 us with posix_spawn",
        "-+-/1/-",
        "0.5+0.5/2.16/0",
        "40% apart",
        "7.28GB/s",
        "###",
        "  getpid/libc: refused: a call that never entered the kernel",
        "10 of 1340 samples were disturbed",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains('\x1b'));
}

#[test]
fn the_first_screen_has_the_rows_that_people_ask_for() {
    let first = |list: &PriceList, width| {
        let text = report(list, &Look { detail: Detail::Screen, ..look(width, true) });
        assert!(text.lines().count() <= 40, "{} lines\n{text}", text.lines().count());
        let wide: Vec<&str> =
            text.lines().filter(|line| whyfaster_words::text::width(line) > width).collect();
        assert!(wide.is_empty(), "{wide:#?}");
        text
    };
    insta::assert_snapshot!(first(&list(), 80));
    let one = |name: &str| Price { name: name.into(), ..list().prices[0].clone() };
    let mut names: Vec<String> = (0..60).map(|number| format!("other_{number}")).collect();
    names.extend(ASKED.map(str::to_owned));
    let many = list_of(names.iter().map(|name| one(name)).collect());
    for width in [60, 80, 200] {
        let text = first(&many, width);
        assert!(ASKED.iter().all(|name| text.contains(name)) && !text.contains("other_"), "{text}");
    }
    let none = list_of(vec![list().prices[1].clone()]);
    assert!(first(&none, 80).contains("a call that never entered the kernel"));
    assert!(first(&list_of(vec![one("getppid")]), 80).contains("85.0 ns"));
}

#[test]
fn a_narrow_screen_keeps_its_width() {
    for width in [40, 80] {
        let text = report(&list(), &look(width, true));
        let wide: Vec<&str> =
            text.lines().filter(|line| whyfaster_words::text::width(line) > width).collect();
        assert!(wide.is_empty(), "{width}: {wide:#?}");
    }
}

#[test]
fn commas_separate_what_spreadsheets_read() {
    let text = String::from_utf8((export::CSV.prices.unwrap())(&list()).unwrap()).unwrap();
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("group,name,variant,unit,floor_ns,median_ns"));
    assert_eq!(lines.next().unwrap(), "kernel,getpid,raw,one call,76.5,85,255,82.45,88.4,,,,1,,,,190,10,,,,");
    assert_eq!(lines.count(), 6);
    assert!(text.contains(",0.5,0.5,2.16,0,"), "{text}");
    let mut hostile = list();
    hostile.prices[0].name = "=1+1".to_owned();
    hostile.prices[0].not_measured = Some("@SUM(A1)".to_owned());
    let text = String::from_utf8((export::CSV.prices.unwrap())(&hostile).unwrap()).unwrap();
    assert!(text.contains(",'=1+1,") && text.contains(",'@SUM(A1),"), "{text}");
}

#[test]
fn bars_grow_with_the_logarithm() {
    let scale = BarScale { low: 1.0, high: 1e4 };
    let ascii = look(80, false);
    assert_eq!(scale.bar(1.0, 16, &ascii), "#");
    assert_eq!(scale.bar(100.0, 16, &ascii), "########");
    assert_eq!(scale.bar(1e9, 16, &ascii), "#".repeat(16));
    assert_eq!(BarScale::over(&[]), None);
}
