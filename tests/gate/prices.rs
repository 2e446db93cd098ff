//! `prices` and `machines` where nothing is measured: wrong words, sources, references, damaged lists.

use crate::support::Sandbox;
use crate::support::prices::run;
use serde_json::Value;
use std::fs;

#[test]
fn wrong_words_say_what_is_meant() {
    let cases: &[(&[&str], &str)] = &[
        (&["prices", "getpid", "--pin", "8000"], "CPU 8000 may not be used here"),
        (&["study", "threads", "--load", "10"], "there is no load"),
        (&["study", "nothing"], "dispatch, ladder, pipes, placement"),
    ];
    for (words, part) in cases {
        let output = run(words);
        output.expect(2, &[part]);
        let next = ["hint: ", "--help"].iter().any(|next| output.err.contains(next));
        assert!(next && output.out.is_empty(), "{words:?}: {}", output.err);
    }
}

#[test]
fn sources_and_pages_are_printed_without_measuring() {
    let source = run(&["prices", "--source", "pipe_cached"]).out;
    assert!(source.contains("read(") && source.contains("c/pipe_cached.c"));
    assert!(run(&["prices", "--explain", "fork"]).out.starts_with("# fork\n"));
    let list = run(&["prices", "--list"]).out;
    assert!(list.contains("fork+execve") && list.contains("uring_msg") && !list.contains("lie_zero"));
}

#[test]
fn references_stand_beside_each_other() {
    let output =
        run(&["machines", "-v", "debian-2.6.32", "macosx-10.7", "--project", "30000 fork+execve"]).ok();
    let shown = output.out;
    for part in
        ["6.27", "no spread given", "89.2 s", "14.2 s", "+75.0 s", "5.31% of the whole", "1% of the whole"]
    {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let output = run(&["machines", "--json", "debian-2.6.32", "athlon64-x2"]);
    let found: Value = output.json();
    let fork = found["rows"].as_array().unwrap().iter().find(|row| row["name"] == "fork").unwrap();
    assert_eq!(fork["others"][0]["not_measured"], "not in this list");
    assert!(run(&["machines"]).out.contains("openindiana-151a2"));
}

#[test]
fn a_hostile_list_is_refused_by_name() {
    let place = Sandbox::new();
    let name = &place.file("bad.json");
    for (content, part) in [
        ("", "it is empty"),
        ("{\"schema\":\"whyfaster-prices/2\"}", "newer whyfaster"),
        ("{\"schema\":\"whyfaster/1\"}", "its schema is 'whyfaster/1'"),
        ("{\"schema\":\"whyfaster-prices/1\"", "ends in the middle"),
        ("{\"schema\":\"whyfaster-prices/1\",\"prices\":3}", "wrong form"),
    ] {
        fs::write(name, content).unwrap();
        run(&["machines", name, "debian-2.6.32"]).expect_error(1, &[name, part]);
    }
}
