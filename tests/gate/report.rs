//! Pages and pictures as files: `report` of every kind of record, and `--html`, `--svg`, `--png` and `--open` of what measures. What is in
//! them stands in `render/report/tests.rs`, and how a browser takes them in `tests/browser`.

#![allow(clippy::unwrap_used, reason = "a test ends by panicking")]

use crate::support::Sandbox;
use crate::support::needs::full;
use crate::support::skip::needs;

fn stored(kind: &str) -> String {
    format!("{}/../../tests/records/0.1.0-{kind}.json", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn report_makes_a_page_and_a_picture_of_every_kind() {
    let place = Sandbox::new();
    for kind in ["batch", "closed", "why", "trace", "prices"] {
        let record = stored(kind);
        let ran = place.run(&["report", &record, "-o", "a.html", "--svg", "a.svg", "--png", "a.png"]).ok();
        assert!(ran.err.contains("wrote 'a.html'") && ran.out.is_empty(), "{kind}: {}", ran.err);
        let page = place.read("a.html");
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{kind}");
        assert!(place.read("a.svg").starts_with("<svg"), "{kind}");
        assert!(std::fs::read(place.path("a.png")).unwrap().starts_with(b"\x89PNG"), "{kind}");
    }
    // A picture alone is no page; '-' is standard output.
    let place = Sandbox::new();
    place.run(&["report", &stored("why"), "--svg", "only.svg"]).ok();
    assert!(!place.path("report.html").exists());
    assert!(place.run(&["report", &stored("why"), "-o", "-"]).ok().out.starts_with("<!DOCTYPE html>"));
    // Lists side by side, built-in ones among them.
    place
        .run(&[
            "report",
            &stored("prices"),
            "debian-2.6.32",
            "macosx-10.7",
            "--png",
            "lists.png",
            "-o",
            "lists.html",
        ])
        .ok();
    assert!(place.read("lists.html").contains("2.6.32"));
}

#[test]
fn what_no_page_can_hold_is_refused() {
    let place = Sandbox::new();
    let (why, trace, prices) = (stored("why"), stored("trace"), stored("prices"));
    for words in [[&why, &why], [&trace, &trace], [&prices, &why]] {
        let ran = place.run(&["report", words[0], words[1]]);
        assert!(ran.err.contains("one page cannot hold") && ran.err.contains("hint:"), "{}", ran.err);
        assert_eq!(ran.status.code(), Some(2));
    }
    let ran = place.run(&["report", "nothing.json"]);
    assert!(ran.err.contains("nothing.json"), "{}", ran.err);
    let ran = place.run(&["report", &why, "-o", "no/such/place.html"]);
    assert!(ran.err.contains("no/such/place.html") && !ran.status.success(), "{}", ran.err);
}

#[test]
fn a_comparison_writes_its_page_and_report_has_the_last_one() {
    let place = Sandbox::new();
    let files = ["--html", "now.html", "--svg", "now.svg", "--png", "now.png"];
    let ran = place
        .run(&[&["compare", "--why=no", "-N", "-r", "3"], &files[..], &["true", "sleep 0.01"]].concat())
        .ok();
    let sentence = ran.out.lines().next().unwrap().split(" (").next().unwrap().to_owned();
    let page = place.read("now.html");
    assert!(page.contains("<h1>") && page.contains(&sentence), "{sentence}");
    assert!(place.path("now.svg").exists() && place.path("now.png").exists());
    // The last that was kept, in the file that has no other name.
    place.run(&["report"]).ok();
    assert!(place.read("report.html").contains("sleep 0.01"));
    // Two outputs of one name would lose one.
    let twice = place.run(&["compare", "--why=no", "-N", "-r", "1", "--html", "x", "--svg", "x", "true"]);
    assert!(twice.err.contains("the same file"), "{}", twice.err);
}

#[test]
fn where_no_browser_can_be_opened_the_page_is_named() {
    let place = Sandbox::new();
    let mut command = place.whyfaster(&["report", &stored("why"), "--open"]);
    command.env("PATH", place.path("tmp"));
    let ran = place.finish(command);
    assert!(ran.status.success() && ran.err.contains("open 'report.html' in a browser"), "{}", ran.err);
    // Of a measurement it has no name: it lies where temporary files lie.
    let opener = place.script("tmp/xdg-open", "#!/bin/sh\necho \"$1\" > opened\n");
    let mut command = place.whyfaster(&["compare", "--why=no", "-N", "-r", "1", "--open", "/bin/true"]);
    command.env("PATH", std::path::Path::new(&opener).parent().unwrap());
    assert!(place.finish(command).status.success());
    crate::support::eventually("the page is opened", || {
        place.lines("opened").iter().any(|it| it.ends_with(".html"))
    });
    assert!(std::fs::read_to_string(place.lines("opened")[0].trim()).unwrap().contains("/bin/true"));
}

#[test]
fn prices_machines_and_a_study_have_pages() {
    let place = Sandbox::new();
    place.run(&["prices", "--quick", "getppid", "--html", "prices.html"]).ok();
    assert!(place.read("prices.html").contains("<section id=\"prices\""));
    place.run(&["machines", "debian-2.6.32", "macosx-10.7", "--html", "machines.html"]).ok();
    assert!(place.read("machines.html").contains("<section id=\"history\""));
    let study = place.run(&["study", "syscalls", "--quick", "--max-time", "3s", "--html", "study.html"]);
    assert!(study.status.success(), "{}", study.err);
    let page = place.read("study.html");
    let article = |page: &str| {
        let begins = page.find("<section id=\"article\"").unwrap();
        page[begins..page.find("<section id=\"prices\"").unwrap()].to_owned()
    };
    assert!(article(&page).contains("<section id=\"claims\""));
    // What was kept is the study still.
    place.run(&["report", "-o", "again.html"]).ok();
    assert_eq!(article(&place.read("again.html")), article(&page));
    let (screen, more) = study.out.trim_end().rsplit_once('\n').unwrap();
    assert!(more.contains("whyfaster show -v"), "{more}");
    assert!(place.run(&["show"]).ok().out.starts_with(screen), "{screen}");
    assert!(place.run(&["show", "--list"]).ok().out.contains(&study.out[..20]));
}

#[test]
fn a_trace_has_its_timeline_in_its_page() {
    needs!(full());
    let place = Sandbox::new();
    let traced =
        ["trace", "--untraced-runs", "0", "--html", "trace.html", "--record", "trace.json", "seq 3 | sort"];
    place.run(&traced).ok();
    assert!(place.read("trace.html").contains("class=\"timeline\""));
    assert!(place.json("trace.json")["schedule"].is_null(), "nobody asked for the scheduling records");
    // With a comparison of the same command it becomes a part of its page.
    place
        .run(&["trace", "--untraced-runs", "0", "--keep-schedule", "--record", "t.json", "seq 3 | sort"])
        .ok();
    place.run(&["compare", "--why=no", "-r", "3", "--record", "c.json", "seq 3 | sort", "seq 4"]);
    place.run(&["report", "c.json", "t.json"]).ok();
    assert_eq!(place.read("report.html").matches("class=\"timeline\"").count(), 1);
}
