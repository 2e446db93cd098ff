//! The statistics on the real clock: no alarm where there is no difference, and an alarm where one was planted.

use crate::support::{Sandbox, list};
use serde_json::{Value, json};

/// A loop of so many steps.
fn awk(steps: u32) -> String {
    format!("awk 'BEGIN {{ for (i = 0; i < {steps}; i++) x += i }}'")
}

fn compared(place: &Sandbox, args: &[&str]) -> Value {
    let record = place.file("r.json");
    let options = ["compare", "-N", "--no-check-output", "--record", &record];
    place.run(&[&options[..], args].concat()).ok();
    place.record("r.json")["levels"][0]["comparisons"][0].take()
}

/// The smallest k with P(X <= k) >= `p` for X binomial(n, share).
fn binomial_quantile(n: u32, share: f64, p: f64) -> u32 {
    let mut term = (1.0 - share).powi(n as i32);
    let mut sum = term;
    let mut k = 0;
    while sum < p {
        term *= f64::from(n - k) / f64::from(k + 1) * share / (1.0 - share);
        k += 1;
        sum += term;
    }
    k
}

#[test]
fn the_bound_on_false_alarms_is_the_binomial_one() {
    // By hand: 0.95^1 = 0.95, and 0.95^2 + 2 * 0.05 * 0.95 = 0.9975.
    assert_eq!([binomial_quantile(1, 0.05, 0.95), binomial_quantile(2, 0.05, 0.997)], [0, 1]);
    // 40 comparisons at 5%: 2 are expected; more than 7 come up less than once in a thousand times.
    assert_eq!(binomial_quantile(40, 0.05, 0.999), 7);
}

/// A against A, with the number of rounds fixed and open. Each comparison may err with 5%; all 40 together no more often
/// than the 99.9% quantile of that says.
#[test]
fn a_against_a_is_called_different_no_more_often_than_stated() {
    let place = Sandbox::new();
    let command = awk(40_000);
    let stopping: [&[&str]; 2] =
        [&["--runs", "12"], &["--min-runs", "6", "--max-runs", "40", "--max-time", "1"]];
    let verdicts: Vec<Value> = (0..40)
        .map(|number| {
            let seed = format!("{}", 1000 + number);
            let options = [stopping[number % 2], &["--seed", &seed, &command, &command]].concat();
            compared(&place, &options)
        })
        .collect();
    let alarms = verdicts.iter().filter(|it| it["verdict"] == "faster" || it["verdict"] == "slower").count();
    let allowed = binomial_quantile(40, 0.05, 0.999) as usize;
    assert!(alarms <= allowed, "{alarms} of 40 comparisons of A against A found a difference: {verdicts:#?}");
    assert!(verdicts.iter().all(|it| it["rounds"].as_u64().unwrap() > 0));
}

/// 5% more of the same work is found, and its size lies near what the interval says.
#[test]
fn a_planted_five_percent_is_found() {
    let place = Sandbox::new();
    let (less, more) = (awk(300_000), awk(315_000));
    // A delta of 1% so that the answer cannot be "same"; it stops as soon as the answer is clear. A noisy machine may leave
    // it undecided for a while, and then it is asked again; a wrong answer is never forgiven.
    let found = (0..3)
        .map(|_| compared(&place, &["--delta", "1%", "--max-time", "60", &less, &more]))
        .find(|found| found["verdict"] != "undecided")
        .expect("it stayed undecided");
    assert_eq!(found["verdict"], "slower", "{found}");
    let (low, high) = (found["low"].as_f64().unwrap(), found["high"].as_f64().unwrap());
    // Starting the process takes a little of the time and has no 5% in it; noise moves the rest.
    assert!(low < 1.06 && high > 1.035, "{found}");
}

#[test]
fn of_many_only_those_run_on_whose_verdict_is_not_clear() {
    let place = Sandbox::new();
    // Nobody can tell the first and the last apart, or prove them equal to a millionth.
    let options = ["--why=no", "--delta", "0.000001", "--max-time", "4", "--record", "r.json"];
    place.compare(&[&options[..], &["sleep 0.02", "sleep 0.2", "sleep 0.020"]].concat()).ok();
    let record = place.record("r.json");
    let ran = |arm: Value| list(&record["batches"]).iter().filter(|it| it["arm"] == arm).count();
    let of = |index: usize| ran(json!({ "alternative": index }));
    assert_eq!(of(0), of(2));
    // Once a single one is open, the hidden copy runs now and then.
    assert!(
        (5..of(0)).contains(&ran(json!("hidden_copy"))),
        "{} of {} rounds",
        ran(json!("hidden_copy")),
        of(0)
    );
    assert!(of(1) < of(0) / 2, "{} of {} rounds", of(1), of(0));
    assert_eq!(record["levels"][0]["comparisons"][0]["verdict"], "slower");
    let lost = list(&record["not_measured"]).iter().find(|it| it["quantity"]["kind"] == "rounds");
    assert_eq!(lost, None);
}

#[test]
fn a_thousand_copies_run() {
    let place = Sandbox::new();
    let record = place.file("r.json");
    place.compare(&["-N", "--load", "1000", "--runs", "2", "--record", &record, "true"]).ok();
    let record = place.record("r.json");
    for batch in record["batches"].as_array().unwrap() {
        let copies = &batch["copies"];
        let status = copies["status"].as_array().unwrap();
        assert!(status.len() == 1000 && status.iter().all(|status| *status == 0), "{batch}");
        let ends = copies["start_s"].as_array().unwrap().iter().zip(copies["wall_s"].as_array().unwrap());
        let last =
            ends.map(|(start, wall)| start.as_f64().unwrap() + wall.as_f64().unwrap()).fold(0.0, f64::max);
        assert!(batch["makespan_s"].as_f64().unwrap() <= last + 1e-6, "{batch}");
    }
    assert_eq!(record["levels"][0]["load"], 1000);
    place.assert_clean();
}
