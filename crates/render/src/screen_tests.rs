//! Golden screens: each is to be read as a person would.

use whyfaster_core::crossover::{Crossover, NotPredicted, VerdictRange};
use whyfaster_core::missing::NotMeasured;
use whyfaster_core::plan::{Loads, Mode};
use whyfaster_core::record::Record;
use whyfaster_core::status::Status;
use whyfaster_core::verdict::Verdict;
use whyfaster_core::warning::Warning;
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;
use whyfaster_words::text::width;

use super::fixture::{flip, level, look, one_level, record, row};
use super::screen::screen;

fn check_width(text: &str, look: &Look) {
    for line in text.lines() {
        assert!(width(line) <= look.width, "{} columns: {line}", width(line));
        assert!(look.unicode || line.is_ascii(), "not ASCII: {line}");
        assert_eq!(line, line.trim_end(), "spaces at the end");
    }
}

fn shown(record: &Record, columns: usize, unicode: bool) -> String {
    let look = look(columns, unicode);
    let text = screen(record, &look);
    check_width(&text, &look);
    text
}

#[test]
fn flip_on_an_ascii_terminal_of_80_columns() {
    insta::assert_snapshot!(shown(&flip(), 80, false));
}

#[test]
fn flip_on_a_unicode_terminal_of_120_columns() {
    insta::assert_snapshot!(shown(&flip(), 120, true));
}

/// Bounds that do not cross, and these verdicts.
fn without_flip(ranges: Vec<VerdictRange>) -> Crossover {
    Crossover {
        alternative: "new".to_owned(),
        baseline: "old".to_owned(),
        predicted_load: None,
        predicted_low: None,
        predicted_high: None,
        not_predicted: Some(NotPredicted::BoundsDoNotCross),
        measured_from: None,
        measured_to: None,
        ranges,
    }
}

#[test]
fn no_flip() {
    let mut record = record(&[("old", "old"), ("new", "new")], Loads::Auto);
    level(&mut record, 1, &[row(0.4, 0.4, None), row(0.3, 0.3, Some((0.75, Verdict::Faster)))]);
    level(&mut record, 1000, &[row(210.0, 0.41, None), row(161.0, 0.31, Some((0.767, Verdict::Faster)))]);
    record.analysis.crossovers.push(without_flip(vec![VerdictRange {
        from: 1,
        to: 1000,
        verdict: Verdict::Faster,
    }]));
    insta::assert_snapshot!(shown(&record, 80, true));
}

#[test]
fn a_level_that_is_undecided_is_not_said_to_be_without_a_flip() {
    let mut record = record(&[("old", "old"), ("new", "new")], Loads::Fixed(vec![1, 8]));
    let new = |ratio, verdict| row(0.4 * ratio, 0.4, Some((ratio, verdict)));
    level(&mut record, 1, &[row(0.4, 0.4, None), new(0.75, Verdict::Faster)]);
    level(&mut record, 8, &[row(0.4, 0.4, None), new(1.01, Verdict::Undecided)]);
    let range = |load, verdict| VerdictRange { from: load, to: load, verdict };
    record
        .analysis
        .crossovers
        .push(without_flip(vec![range(1, Verdict::Faster), range(8, Verdict::Undecided)]));
    let text = shown(&record, 120, true);
    assert!(text.contains("measured: no flip seen; undecided at 8 copies"), "{text}");
}

#[test]
fn a_dash_in_a_name_is_no_missing_value() {
    let mut record = record(&[("cat -", "cat -"), ("cat", "cat")], Loads::Fixed(vec![1]));
    level(&mut record, 1, &[row(0.4, 0.4, None), row(0.3, 0.3, Some((0.75, Verdict::Faster)))]);
    let text = shown(&record, 80, true);
    assert!(!text.contains("- is not measured"), "{text}");
}

#[test]
fn flip_on_40_columns() {
    insta::assert_snapshot!(shown(&flip(), 40, true));
}

#[test]
fn flip_on_200_columns_leaves_nothing_out() {
    let text = shown(&flip(), 200, true);
    assert!(!text.contains("no room"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn every_width_holds() {
    for columns in 30..200 {
        shown(&one_level(0.8, Verdict::Faster), columns, columns % 2 == 0);
        shown(&flip(), columns, columns % 2 == 1);
    }
}

/// The screen that one gets without options, which is bounded.
fn first(record: &Record, columns: usize, unicode: bool) -> String {
    let look = Look { detail: Detail::Screen, ..look(columns, unicode) };
    let text = screen(record, &look);
    check_width(&text, &look);
    assert!(text.lines().count() <= 20, "{} lines\n{text}", text.lines().count());
    text
}

fn doubtful() -> Record {
    let mut record = flip();
    for _ in 0..3 {
        record.analysis.warnings.push(Warning {
            caution: None,
            what: "other programs used 59% of the machine's CPU time while batches ran".to_owned(),
            remedy:
                "Stop what else runs; intervals are wider for it, and at full load no time is to be trusted."
                    .to_owned(),
        });
    }
    record
}

#[test]
fn the_first_screen_of_a_flip() {
    insta::assert_snapshot!(first(&doubtful(), 80, true));
}

#[test]
fn of_several_the_first_screen_says_whose_flip_it_is() {
    let mut record = record(&[("a", "a"), ("b", "b"), ("c", "c")], Loads::Fixed(vec![1, 10]));
    let b = |ratio: f64| row(0.4 * ratio, 0.5, Some((ratio, Verdict::Faster)));
    let c = |ratio: f64, verdict| row(0.4 * ratio, 0.6, Some((ratio, verdict)));
    level(&mut record, 1, &[row(0.4, 0.4, None), b(0.75), c(0.5, Verdict::Faster)]);
    level(&mut record, 10, &[row(2.0, 0.4, None), b(0.9), c(1.3, Verdict::Slower)]);
    let crossover = |name: &str, predicted_load, ranges: &[(u32, u32, Verdict)]| Crossover {
        alternative: name.to_owned(),
        baseline: "a".to_owned(),
        predicted_load: Some(predicted_load),
        predicted_low: None,
        predicted_high: None,
        not_predicted: None,
        measured_from: (ranges.len() > 1).then_some(1),
        measured_to: (ranges.len() > 1).then_some(10),
        ranges: ranges.iter().map(|&(from, to, verdict)| VerdictRange { from, to, verdict }).collect(),
    };
    // What was predicted of 'b' did not come true.
    record.analysis.crossovers.push(crossover("b", 4.0, &[(1, 10, Verdict::Faster)]));
    let text = first(&record, 100, true);
    assert!(!text.contains("should win"), "{text}");
    let flips = [(1, 1, Verdict::Faster), (10, 10, Verdict::Slower)];
    record.analysis.crossovers.push(crossover("c", 4.0, &flips));
    let text = first(&record, 100, true);
    assert!(text.contains("flip of a and c: between 1 and 10 copies at once, 4"), "{text}");
}

/// Each of these has a name of its own; the first is the baseline.
fn many(names: &[&str]) -> Record {
    let all: Vec<(&str, &str)> = names.iter().map(|name| (*name, "some long command of its own")).collect();
    let mut record = record(&all, Loads::Fixed(vec![1, 8]));
    let other = |at: usize| row(0.4 + at as f64 / 10.0, 0.4, Some((1.0 + at as f64 / 4.0, Verdict::Slower)));
    let rows = || (0..names.len()).map(|at| if at == 0 { row(0.4, 0.4, None) } else { other(at) });
    for load in [1, 8] {
        level(&mut record, load, &rows().collect::<Vec<_>>());
    }
    record
}

#[test]
fn of_many_the_first_screen_shows_each_with_its_verdict_and_counts_the_others() {
    let names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
    let text = first(&many(&names), 80, true);
    let header = text.lines().find(|line| line.contains("copies  ")).unwrap();
    let shown = names.iter().filter(|name| header.contains(&format!(" {name} ms"))).count();
    assert_eq!(header.matches("against alpha").count(), shown - 1, "{text}");
    assert!(shown >= 3 && text.contains(&format!("and {} more: -v", 8 - shown)), "{text}");
    assert!(!text.contains("no room"), "{text}");
    let long = ["a name of twenty-five col", "and one more of that kind"];
    let text = first(&many(&long), 80, true);
    assert!(text.contains("(no room for: verdicts"), "{text}");
}

#[test]
fn the_first_screen_has_no_words_of_the_trade() {
    for record in [doubtful(), one_level(0.8, Verdict::Faster), one_level(0.991, Verdict::Undecided)] {
        let text = first(&record, 80, true);
        for word in ["makespan", "share", "bound", "receipt", " work ", "crossover"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
}

/// Columns end where they end in every line, whatever the letters of a name are.
#[test]
fn names_of_any_script_move_no_column() {
    let mut of_any = one_level(0.8, Verdict::Faster);
    for (it, name) in of_any.plan.alternatives.iter_mut().zip(["日本語", "שלום א"]) {
        (it.given_name, it.command) = (Some(name.to_owned()), format!("echo {name}"));
        for level in &mut of_any.analysis.levels {
            let names = level.results.iter_mut().map(|result| &mut result.alternative);
            let compared = level.comparisons.iter_mut().flat_map(|c| [&mut c.alternative, &mut c.baseline]);
            names.chain(compared).filter(|known| **known == it.name).for_each(|known| name.clone_into(known));
        }
        name.clone_into(&mut it.name);
    }
    let text = first(&of_any, 80, true);
    let table: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("  command")).take(3).collect();
    let begin =
        |line: &str| whyfaster_words::text::width(line.split_once(char::is_numeric).unwrap_or((line, "")).0);
    let begins: Vec<usize> = table.iter().map(|line| begin(line)).collect();
    assert!(table.len() == 3 && text.contains("日本語"), "{text}");
    assert!(begins[1].abs_diff(begins[2]) <= 1, "{begins:?} {text}");
    assert!(text.contains("\u{2068}שלום א\u{2069}"), "it turns what stands beside it: {text}");
    assert!(!first(&of_any, 80, false).contains('\u{2068}'));
}

#[test]
fn the_first_screen_fits_every_width() {
    for columns in [60, 70, 80, 132, 200] {
        for record in [doubtful(), one_level(0.8, Verdict::Faster)] {
            first(&record, columns, columns % 4 == 0);
        }
    }
    let mut many = record(&[("awk 1 a", "awk 1 a"); 12], Loads::Fixed(vec![1]));
    let rows: Vec<_> = (0..12).map(|at| row(1.0, 1.0, (at > 0).then_some((0.9, Verdict::Faster)))).collect();
    for (at, it) in many.plan.alternatives.iter_mut().enumerate() {
        it.name = format!("日本語のコマンド 日本語のコマンド {at}");
        it.command.clone_from(&it.name);
    }
    level(&mut many, 1, &rows);
    for columns in [60, 80, 200] {
        first(&many, columns, true);
    }
}

#[test]
fn quiet_is_the_sentence() {
    let quiet = Look { detail: Detail::Sentence, ..look(200, true) };
    let text = screen(&one_level(0.8, Verdict::Faster), &quiet);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(first(&one_level(0.8, Verdict::Faster), 200, true).starts_with(&text), "{text}");
}

#[test]
fn one_level_is_short() {
    let mut record = one_level(0.626, Verdict::Faster);
    record.analysis.warnings.push(Warning {
        caution: None,
        what: "4.2 processes were runnable before the start".to_owned(),
        remedy: "Stop what else runs, or raise --max-time.".to_owned(),
    });
    let text = shown(&record, 80, true);
    assert!(text.lines().count() <= 21, "{} lines\n{text}", text.lines().count());
    insta::assert_snapshot!(text);
}

#[test]
fn one_command() {
    let mut record = record(&[("true", "true")], Loads::Fixed(vec![1]));
    level(&mut record, 1, &[row(0.000_62, 0.000_5, None)]);
    insta::assert_snapshot!(shown(&record, 80, true));
}

#[test]
fn undecided() {
    insta::assert_snapshot!(shown(&one_level(0.991, Verdict::Undecided), 80, true));
}

#[test]
fn a_level_that_was_not_measured() {
    let mut record = flip();
    record.plan.loads = Loads::Fixed(vec![1, 10, 100, 1000]);
    record.analysis.levels.iter_mut().flat_map(|l| &mut l.results).for_each(|r| r.run_delay_s = None);
    record.analysis.not_measured.push(NotMeasured::told(
        "load 1000",
        "needs 3100 processes, pids.max allows 512 more. Raise the limit, or use --load 1,10,100.",
    ));
    record.analysis.not_measured.push(NotMeasured::told(
        "run-queue delay",
        "/proc/PID/schedstat is not there (the kernel has no CONFIG_SCHED_INFO).",
    ));
    insta::assert_snapshot!(shown(&record, 80, true));
}

#[test]
fn everything_timed_out() {
    let mut record = one_level(1.0, Verdict::Undecided);
    record.plan.timeout_s = Some(10.0);
    for result in &mut record.analysis.levels[0].results {
        result.makespan_s.median = 10.0;
        (result.makespan_s.low, result.makespan_s.high) = (None, None);
        result.timed_out = 24;
    }
    record.analysis.levels[0].comparisons.clear();
    record.batches.iter_mut().for_each(|batch| batch.copies.timed_out.fill(true));
    insta::assert_snapshot!(shown(&record, 80, true));
}

#[test]
fn one_side_timed_out() {
    let mut record = one_level(4.2, Verdict::Slower);
    record.plan.timeout_s = Some(2.0);
    let level = &mut record.analysis.levels[0];
    level.comparisons[0].high = None;
    level.results[1].timed_out = 24;
    level.results[1].makespan_s.high = None;
    insta::assert_snapshot!(shown(&record, 80, true));
}

#[test]
fn interrupted() {
    let mut record = flip();
    record.status = Status::Interrupted;
    record.took_s = 12.2;
    record.analysis.levels.truncate(1);
    record.analysis.crossovers[0].ranges.truncate(1);
    record.analysis.crossovers[0].measured_to = None;
    record.analysis.not_measured.push(NotMeasured::told(
        "load 10, load 100",
        "interrupted. Run it again, or with fewer levels (--load 1,10).",
    ));
    insta::assert_snapshot!(shown(&record, 80, true));
}

#[test]
fn nothing_measured() {
    let mut record = record(&[("a", "a"), ("b", "b")], Loads::Fixed(vec![1]));
    record.status = Status::Interrupted;
    record.took_s = 0.3;
    insta::assert_snapshot!(shown(&record, 80, true));
}

#[test]
fn five_alternatives_at_one_level() {
    let names: Vec<String> =
        (1..=5).map(|i| format!("xargs -P {i} -n 100 gzip --best --keep < list")).collect();
    let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let mut record = record(&pairs, Loads::Fixed(vec![1]));
    level(
        &mut record,
        1,
        &[
            row(4.0, 4.0, None),
            row(2.2, 4.1, Some((0.55, Verdict::Faster))),
            row(2.1, 4.2, Some((0.525, Verdict::Faster))),
            row(4.0, 4.2, Some((1.001, Verdict::Same))),
            row(4.6, 4.2, Some((1.15, Verdict::Slower))),
        ],
    );
    insta::assert_snapshot!(shown(&record, 80, true));
}

#[test]
fn workers_in_a_closed_loop() {
    let mut record = flip();
    record.plan.mode = Mode::Closed { duration_s: 10.0 };
    insta::assert_snapshot!(shown(&record, 80, true));
}

#[test]
fn colour_only_adds() {
    let plain = screen(&flip(), &look(100, true));
    let colored = screen(&flip(), &Look { color: true, ..look(100, true) });
    assert!(colored.contains("\x1b[32mfaster\x1b[0m"));
    assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain);
    assert!(!plain.contains('\x1b'));
}

#[test]
fn style_none_prints_nothing() {
    assert_eq!(screen(&flip(), &Look { quiet: true, ..look(80, true) }), "");
}

#[test]
fn a_hostile_record_cannot_steer_the_terminal_or_panic() {
    let mut record =
        record(&[("\x1b]0;title\x07\n", "\x1b[2J"), ("", "\u{202E}x")], Loads::Fixed(vec![1, 0]));
    level(&mut record, 1, &[row(f64::NAN, -1.0, None), row(1e300, 1e-300, Some((0.0, Verdict::Faster)))]);
    level(&mut record, 7, &[row(1e-300, 1e300, None), row(1e300, 1e300, Some((1e-300, Verdict::Slower)))]);
    level(&mut record, 0, &[row(0.0, 0.0, None), row(f64::INFINITY, 0.0, Some((f64::NAN, Verdict::Slower)))]);
    record.plan.baseline = 99;
    record.took_s = f64::NAN;
    record.analysis.warnings.push(Warning {
        caution: None,
        what: "a\x1b[31m\r".to_owned(),
        remedy: String::new(),
    });
    for columns in [30, 80, 300] {
        let text = screen(&record, &look(columns, true));
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    }
}
