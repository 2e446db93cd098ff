//! Pages of records of every kind: whole, without a request, and harmless whatever the commands are called.

use std::path::Path;

use serde_json::Value;
use whyfaster_core::analysis::ratios;
use whyfaster_core::price::compare::Rule;
use whyfaster_core::sample::Arm;
use whyfaster_core::trace::report::{Code, WorkKind};
use whyfaster_core::trace::stacks::{Gathering, Stacks};
use whyfaster_core::why::report::{RoundSchedule, SideStacks};
use whyfaster_store::again::reanalysed;
use whyfaster_store::read::recorded;
use whyfaster_store::{Recorded, price_bytes, record_bytes, trace_bytes};

use super::super::fixture::look;
use super::super::machines::Machines;
use super::super::trace::Shown;
use super::*;

/// What a command may be called to do harm in markup, attributes, scripts, styles and spreadsheets.
const HOSTILE: &str = "=1</script></title></style><img src=x onerror=alert(1)>\"'`&lt;]]>--><!--\u{2028}\u{202e}${x}<svg/onload=alert(2)>";

fn stored(kind: &str) -> Value {
    let path = format!("{}/../../tests/records/0.1.0-{kind}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The same with these words replaced, wherever they stand.
fn renamed(value: &Value, words: &[String]) -> Value {
    match value {
        Value::String(text) if words.contains(text) => Value::String(HOSTILE.to_owned()),
        Value::Array(all) => all.iter().map(|it| renamed(it, words)).collect(),
        Value::Object(fields) => {
            let kept = |key: &str| key == "kind" || key == "cause";
            let field = |(key, it): (&String, &Value)| {
                (key.clone(), if kept(key) { it.clone() } else { renamed(it, words) })
            };
            // With them, the report would be made anew of the names in the stream.
            fields.iter().filter(|(key, _)| *key != "schedule").map(field).collect()
        }
        other => other.clone(),
    }
}

fn page_of(value: &Value) -> (Page, Option<Drawn>) {
    let bytes = serde_json::to_vec(value).unwrap();
    let look = look(80, false);
    match recorded(Path::new("record.json"), &bytes).unwrap() {
        Recorded::Comparison(record) => {
            let record = reanalysed(*record);
            let raw = record_bytes(&record).unwrap();
            (comparison(&record, &[], &raw, &look).unwrap(), picture_of_record(&record, &look))
        }
        Recorded::Trace(record) => {
            let shown = Shown::of(record.plan.target.words());
            let raw = trace_bytes(&record).unwrap();
            (trace(&record, &shown, &raw, &look).unwrap(), picture_of_trace(&record, &shown, &look))
        }
        Recorded::Prices(list) => {
            (prices(&list, &price_bytes(&list).unwrap(), &look), picture_of_list(&list, &look))
        }
    }
}

fn text_of_page(page: Page) -> String {
    String::from_utf8(page.finish().unwrap()).unwrap()
}

const KINDS: [&str; 5] = ["batch", "closed", "why", "trace", "prices"];

#[test]
fn a_page_is_whole_and_asks_nobody() {
    for kind in KINDS {
        let (page, drawn) = page_of(&stored(kind));
        assert!(drawn.is_some(), "{kind} has no picture");
        let carried: usize = page.blocks.iter().map(|block| block.0.len()).sum();
        let titles: Vec<String> = page.sections.iter().map(|it| it.id.to_owned()).collect();
        let downloads: usize = page.downloads.iter().map(|it| it.block("x").0.len()).sum();
        let html = text_of_page(page);
        for id in titles {
            assert!(html.contains(&format!("<section id=\"{id}\"")), "{kind}: {id}");
            assert!(html.contains(&format!("href=\"#{id}\"")), "{kind}: {id} is not in the contents");
        }
        assert!(html.contains("default-src 'none'") && !html.contains("unsafe"), "{kind}: its policy");
        // Every picture has a text; every reference stays within the page.
        assert_eq!(html.matches("<svg role=\"img\"").count(), html.matches("<desc>").count(), "{kind}");
        for request in [" src=", "url(", "@import", "<link", "<iframe", "<object", "http://", " style="] {
            let uplot = if request == " src=" { 0 } else { super::page::carried(request) };
            assert_eq!(html.matches(request).count(), uplot, "{kind} has {request}");
        }
        let own = html.len() - carried - downloads;
        assert!(own < 400_000, "{kind}: {own} bytes beside its data");
    }
}

/// A comparison that keeps one observed run of each alternative; `left_out`: only the beginning of it.
fn with_schedules(left_out: u64) -> String {
    let read = |kind: &str| recorded(Path::new("x"), &serde_json::to_vec(&stored(kind)).unwrap()).unwrap();
    let (Recorded::Comparison(mut record), Recorded::Trace(trace)) = (read("why"), read("trace")) else {
        panic!("other kinds")
    };
    let stream = trace.schedule.unwrap();
    let kept = |alternative| {
        let round = record.why.typical(alternative).unwrap().round;
        RoundSchedule { alternative, round, left_out, stream: stream.clone() }
    };
    record.why.schedules = vec![kept(0), kept(1)];
    let record = reanalysed(*record);
    assert_eq!(record.why.schedules.len(), 2, "explained again, they are gone");
    let raw = record_bytes(&record).unwrap();
    let Recorded::Comparison(again) = recorded(Path::new("x"), &raw).unwrap() else { panic!("another kind") };
    assert_eq!(again.why.schedules, record.why.schedules);
    text_of_page(comparison(&record, &[], &raw, &look(80, true)).unwrap())
}

/// The samples of one alternative over two runs: `main` calls `fast`, and `slow` so many times.
fn sampled(alternative: usize, slow: u64) -> SideStacks {
    let code = |symbol: &str| Code { symbol: Some(symbol.to_owned()), ..Code::default() };
    let mut all = Gathering::default();
    for (frames, samples) in [(["main", "fast"], 100), (["main", "slow<T>"], slow)] {
        all.take("prog".into(), Some(WorkKind::User), frames.map(code), samples);
    }
    all.take("prog".into(), None, [code("main")], 40);
    let stacks = Stacks { left_out: 3, left_out_samples: 20, ..all.finish(usize::MAX) };
    SideStacks { alternative, runs: 2, per_s: 997, stacks }
}

#[test]
fn flame_graphs_are_of_whole_stacks_also_without_scripts() {
    let bytes = serde_json::to_vec(&stored("why")).unwrap();
    let Recorded::Comparison(mut record) = recorded(Path::new("x"), &bytes).unwrap() else {
        panic!("another kind")
    };
    record.why.stacks = vec![sampled(0, 400), sampled(1, 40)];
    let record = reanalysed(*record);
    let raw = record_bytes(&record).unwrap();
    let Recorded::Comparison(again) = recorded(Path::new("x"), &raw).unwrap() else { panic!("another kind") };
    assert_eq!(again.why.stacks, record.why.stacks, "explained and packed, they stay");
    let page = text_of_page(comparison(&record, &[], &raw, &look(80, true)).unwrap());
    let graphs =
        &page[page.find("<section id=\"flame\"").unwrap()..page.find("<section id=\"calls\"").unwrap()];
    assert_eq!(graphs.matches("<svg role=\"img\"").count(), 3, "one of each, and of the difference");
    for told in [
        "in a system call: 20 samples, 7.14%",
        "slow&lt;T&gt;: 200 samples, 71.4%; 20 samples, 20%",
        "(stacks of few samples): 10 samples, 3.57%; 10 samples, 10%",
        ">+slow&lt;T&gt;<",
    ] {
        assert!(graphs.contains(told), "{told}: {graphs}");
    }
    assert!(!graphs.contains("not whole stacks"));
    assert!(text_of_page(page_of(&stored("why")).0).contains("no samples of the code were taken"));
}

#[test]
fn a_comparison_shows_when_things_happened() {
    let page = with_schedules(0);
    assert_eq!(page.matches("class=\"timeline\"").count(), 2);
    assert!(page.contains("The critical paths as they came, side by side"));
    assert!(page.contains("the one with the middle wall time: 238 scheduling records"));
    assert!(!page.contains("not in this record: the"));
    // Of a part of a run the timeline is shown, and the path is not: its end is not there.
    let page = with_schedules(7);
    assert_eq!(page.matches("class=\"timeline\"").count(), 2);
    assert!(page.contains("7 events behind that are left out") && !page.contains("as they came"));
    assert_eq!(page.matches("not in this record: the critical path by time").count(), 2);
    // Older records have none, and it is said what would show it.
    let page = text_of_page(page_of(&stored("why")).0);
    assert_eq!(page.matches("not in this record: the timeline").count(), 2);
    assert!(page.contains("whyfaster trace --keep-schedule --record trace.json"));
}

#[test]
fn no_name_does_harm() {
    for kind in KINDS {
        let record = stored(kind);
        let list = |value: &Value, key: &str| -> Vec<String> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|it| it[key].as_str().map(str::to_owned))
                .collect()
        };
        let mut words = match kind {
            "trace" => list(&record["commands"], "command"),
            "prices" => list(&record["prices"], "variant").into_iter().take(1).collect(),
            _ => list(&record["plan"]["alternatives"], "name"),
        };
        words.retain(|word| !word.is_empty());
        let mut hostile = renamed(&record, &words);
        if let Some(all) = hostile["plan"]["alternatives"].as_array_mut() {
            // Names of alternatives differ.
            for (at, it) in all.iter_mut().enumerate() {
                it["name"] = format!("{at}{HOSTILE}").into();
                it["given_name"] = it["name"].clone();
            }
        }
        let (page, drawn) = page_of(&hostile);
        let html = text_of_page(page);
        for harm in ["<img", "<svg/", "<!--"] {
            assert!(!html.contains(harm), "{kind}: {harm}");
        }
        for element in ["script", "style", "title"] {
            let (begin, end) = (format!("<{element}"), format!("</{element}"));
            assert_eq!(html.matches(&begin).count(), html.matches(&end).count(), "{kind}: {element}");
        }
        assert_eq!(html.matches("<style").count(), 1, "{kind}");
        assert!(!html.contains('\u{202e}'), "{kind}: text that turns its direction");
        let svg = drawn.unwrap().svg();
        let text = String::from_utf8(svg.clone()).unwrap();
        assert!(!text.contains("<img") && !text.contains("<svg/"), "{kind}: {text}");
        resvg::usvg::Tree::from_data(&svg, &resvg::usvg::Options::default())
            .unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
}

#[test]
fn lists_side_by_side_have_a_history() {
    let Recorded::Prices(list) =
        recorded(Path::new("x"), &serde_json::to_vec(&stored("prices")).unwrap()).unwrap()
    else {
        panic!("no price list")
    };
    let other = whyfaster_core::price::PriceList { name: HOSTILE.to_owned(), ..(*list).clone() };
    let lists = [*list, other];
    let rule = Rule::default();
    let machines = Machines::of(&lists, &rule, None);
    let html = text_of_page(super::lists(&lists, &machines, &rule, &look(80, true)).unwrap());
    assert!(
        html.contains("<section id=\"history\"")
            && html.contains("data-plot=\"plot-0\"")
            && !html.contains("<img")
    );
}

#[test]
fn a_point_of_closed_mode_is_named_for_what_it_is_and_lies_in_its_range() {
    let html = text_of_page(page_of(&stored("closed")).0);
    assert!(html.contains("Run time per ended copy of each run") && !html.contains("Time per copy"));
    assert!(html.contains("median 26.6 ms, 3 runs from 26.5 to 26.6 ms"));
}

#[test]
fn the_axis_of_loads_has_those_that_were_measured() {
    let (_, drawn) = page_of(&stored("flip"));
    let svg = String::from_utf8(drawn.unwrap().svg()).unwrap();
    let at = |load: &str| svg.contains(&format!(">{load}</text>"));
    assert!(at("1") && at("4") && !at("2") && !at("3"), "{svg}");
}

#[test]
fn ratios_are_those_of_the_rounds() {
    let record = crate::records::two_alternatives();
    let all = ratios(&record.batches, record.plan.mode, 1, (Arm::Alternative(1), Arm::Alternative(0)));
    assert!(!all.is_empty());
    for (round, ratio) in all {
        let of = |arm: Arm| {
            record
                .batches
                .iter()
                .find(|it| it.load == 1 && it.round == round && it.arm == arm)
                .unwrap()
                .makespan_s
        };
        assert_eq!(ratio, of(Arm::Alternative(1)) / of(Arm::Alternative(0)));
    }
}
