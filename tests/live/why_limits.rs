//! Limits of time and privileges of an explanation.

use crate::support::Sandbox;
use crate::support::needs::{full, needs};
use crate::support::user::{program_for_all, without_privileges};

#[test]
fn without_privileges_one_line_says_how_to_observe_it() {
    let place = Sandbox::open();
    for asked in [true, false] {
        let words = ["compare", "--max-runs", "12", "sleep 0.1; true", "true"];
        let why: &[&str] = if asked { &["--why"] } else { &[] };
        let ran = place
            .finish(without_privileges(&place, &program_for_all(&place), &[&words[..], why].concat()))
            .ok();
        let said = "to observe it, run it with sudo, or ";
        let lines = ran.out.lines().filter(|line| line.contains("to observe it")).collect::<Vec<_>>();
        assert_eq!(lines.len(), 1, "{}", ran.out);
        let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(said), "{}", ran.out);
    }
}

#[test]
fn a_hard_limit_of_time_holds_and_what_is_left_out_is_said() {
    needs!(full());
    let place = Sandbox::new();
    let words =
        ["compare", "--why", "--json", "--runs", "6", "--max-time", "9s", "sleep 0.4; true", "sleep 0.2"];
    let took = |words: &[&str]| {
        let clock = std::time::Instant::now();
        let ran = place.run(words);
        (ran, clock.elapsed().as_secs_f64())
    };
    let (_, one) = took(&["trace", "--level", "full", "--untraced-runs", "0", "sleep 0.4; true"]);
    let (ran, whole) = took(&words);
    // The limit is on what is begun: a run that was may go on beyond it, and is traced as this one was.
    assert!(whole < 9.0 * 1.1 + 4.0 * one, "{whole} s, a single trace {one} s");
    let record = ran.json();
    let traced = record["traced"].as_array().map_or(0, Vec::len);
    let missing = record["not_measured"].to_string();
    let all = record["refused"].is_null() && traced >= 6 && !record["experiments"].is_null();
    assert!(
        all || !record["refused"].is_null()
            || missing.contains("traced rounds")
            || missing.contains("experiments"),
        "{missing}"
    );
}
