//! What was measured is set beside the article, and said.

use whyfaster_core::analysis::{Comparison, Level};
use whyfaster_core::claims::{Evidence, Judgement, Outcome};
use whyfaster_core::missing::NotMeasured;
use whyfaster_core::price::sample::Sample;
use whyfaster_core::price::sum::fork_execve;
use whyfaster_core::price::{PriceList, Row, Series};
use whyfaster_core::record::Record;
use whyfaster_core::studied::{Kind, Made, Placed, Studied, Unfit};
use whyfaster_core::trace::occupancy::CpuRow;
use whyfaster_core::trace::report::{SharerKind, SharerRow, TraceReport};
use whyfaster_core::trace::tally::Tally;
use whyfaster_core::verdict::{Method, Verdict};
use whyfaster_render::trace::flame::{Flames, Place, State};
use whyfaster_render::trace::hottest::hottest;
use whyfaster_store::reference;
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;

use super::findings::{Figures, Findings, kernel, placed as placed_of, traced_run};
use super::report::Measured;
use super::*;
use crate::study::{Command, Commands};

fn commands(name: &str) -> (Study, Commands) {
    let study = study::find(name).unwrap();
    match study.measures.clone() {
        Measures::Commands(commands) => (study, *commands),
        Measures::Prices(_) | Measures::Ladder(_) => panic!("{name} is not about commands"),
    }
}

fn compared(alternative: &str, baseline: &str, ratio: f64, verdict: Verdict) -> Comparison {
    Comparison {
        alternative: alternative.to_owned(),
        baseline: baseline.to_owned(),
        ratio,
        low: Some(ratio * 0.95),
        high: Some(ratio * 1.05),
        less_sure: None,
        corrected: None,
        verdict,
        rounds: 6,
        rounds_needed: None,
        method: Method::SignEProcess,
        ratio_of_totals: None,
        work: None,
        share: None,
        reason: None,
        metrics: Vec::new(),
    }
}

/// A record of the small size, with these comparisons of one copy alone.
fn record(commands: &Commands, comparisons: Vec<Comparison>) -> Record {
    let mut record = crate::records::record(Vec::new(), vec![1], Vec::new());
    record.plan =
        commands.plan(&commands.run[..commands.run.len().min(4)], commands.size(true, false), 1, None);
    record.analysis.levels = vec![Level { load: 1, results: Vec::new(), comparisons, floor: None }];
    record
}

fn dispatched() -> Vec<Comparison> {
    vec![
        compared("split", "xargs", 0.39, Verdict::Faster),
        compared("xargs, 100 a process", "xargs", 0.02, Verdict::Faster),
    ]
}

fn outcomes(claims: &[Judgement]) -> Vec<Outcome> {
    claims.iter().map(|claim| claim.outcome).collect()
}

/// The screen that one gets without options, which is bounded.
fn first(study: &Study, found: &Findings, measured: Measured<'_>) -> String {
    for width in [60, 80, 200] {
        let look = Look { detail: Detail::Screen, ..Look::plain(width, false) };
        let text = report::text(study, found, measured, &look).unwrap();
        assert!(text.lines().count() <= 40, "{} lines\n{text}", text.lines().count());
        assert!(text.lines().all(|line| line.len() <= width), "{text}");
    }
    report::text(study, found, measured, &Look { detail: Detail::Screen, ..Look::plain(80, false) }).unwrap()
}

fn told(study: &Study, found: &Findings, measured: Measured<'_>) -> String {
    let short = first(study, found, measured);
    assert!(found.claims.iter().all(|claim| short.contains(&format!("  {}. ", claim.number))), "{short}");
    let look = Look::plain(100, false);
    let text = report::text(study, found, measured, &look).unwrap();
    match measured {
        // The record's own screen is tested elsewhere.
        Measured::Record(record) => text.replace(&whyfaster_render::screen::screen(record, &look), ""),
        Measured::List(_) => text,
    }
}

#[test]
fn loads_stand_beside_the_article() {
    let (study, commands) = commands("pipes");
    let mut record = crate::records::record(Vec::new(), vec![1], Vec::new());
    record.plan = commands.plan(&commands.run, commands.size(false, false), 1, Some(4));
    let level = |load, ratio, verdict| Level {
        load,
        results: Vec::new(),
        comparisons: vec![compared("use-pipe", "no-pipe", ratio, verdict)],
        floor: None,
    };
    record.analysis.levels = vec![
        level(1, 0.75, Verdict::Faster),
        level(10, 1.31, Verdict::Slower),
        level(100, 1.4, Verdict::Slower),
    ];
    let found = Findings::of_commands(&study, &commands, &record, &Studied::default());
    let figure = study.figure("no-pipe", 100).unwrap();
    assert!((figure.work_s() / figure.real_s - 8.0).abs() < 0.1, "the machine line says 8 CPUs");
    insta::assert_snapshot!(told(&study, &found, Measured::Record(&record)));
}

#[test]
fn counts_of_the_whole_tree_contradict_the_article() {
    let (study, commands) = commands("dispatch");
    let tally = |forks: u64, own_forks, own_waits, cpu| Tally {
        forks: Some(forks),
        execs: Some(forks + 1),
        failed_execs: Some(0),
        waits: Some(forks + own_waits),
        own_forks: Some(own_forks),
        own_waits: Some(own_waits),
        own_fork_wait_cpu_s: Some(cpu),
        traced_s: 0.4,
        work_s: 0.5,
        ..Tally::default()
    };
    let tallies = vec![
        ("xargs".to_owned(), tally(2_002, 1_000, 2_800, 0.09)),
        ("split".to_owned(), tally(1_006, 4, 4, 0.001)),
    ];
    let left_out = vec![("parallel".to_owned(), Unfit::NotInstalled("parallel".to_owned()))];
    let record = record(&commands, dispatched());
    let observed = Studied { tallies, left_out, ..Studied::default() };
    let found = Findings::of_commands(&study, &commands, &record, &observed);
    use Outcome::{DoesNotHold, Holds};
    assert_eq!(outcomes(&found.claims), [Holds, Holds, Holds, DoesNotHold, Holds]);
    insta::assert_snapshot!(told(&study, &found, Measured::Record(&record)));
}

#[test]
fn without_a_trace_counts_decide_nothing() {
    let (study, commands) = commands("dispatch");
    let why = NotMeasured::told("system calls", "this kernel has no BTF");
    let record = record(&commands, dispatched());
    let observed = Studied { missing: vec![why], ..Studied::default() };
    let found = Findings::of_commands(&study, &commands, &record, &observed);
    assert_eq!(found.claims[1].outcome, Outcome::Undecided);
    let text = told(&study, &found, Measured::Record(&record));
    assert!(
        text.contains("could not be counted") && text.contains("system calls: this kernel has no BTF"),
        "{text}"
    );
}

fn placed(alternative: &str, avoidable: f64) -> (Placed, Tally) {
    let row = |cpu, who: &str, kind, seconds| CpuRow { cpu, who: who.to_owned(), kind, seconds };
    let report = TraceReport {
        wall_s: 2.0,
        avoidable_wait_s: Some(avoidable),
        avoidable_longest_s: Some(0.01),
        cpu_sharers: vec![SharerRow {
            command: "awk".into(),
            sharer: "kworker decrypt".to_owned(),
            kind: SharerKind::Kernel,
            seconds: avoidable,
        }],
        ..TraceReport::default()
    };
    let tally = Tally::of(&report, "awk");
    let cpus = vec![
        row(0, "awk", SharerKind::Tree, 1.5),
        row(0, "kworker decrypt", SharerKind::Kernel, 0.25),
        row(1, "kworker decrypt", SharerKind::Kernel, 0.25),
        row(1, "(idle)", SharerKind::Idle, 1.75),
    ];
    let mut placed = placed_of(alternative, &report, &tally, cpus.clone());
    placed.runs.push(traced_run(&tally, &cpus));
    let frames = "main;getline;read_[k]".to_owned();
    let place = Place { state: State::Running, command: "awk".to_owned(), frames };
    placed.hottest = hottest(&Flames(vec![(place, 1_000_000)]), 5);
    (placed, tally)
}

#[test]
fn waits_decide_and_the_report_says_who_ran_where() {
    let (study, commands) = commands("placement");
    let record = record(&commands, vec![compared("cat", "file", 0.8, Verdict::Faster)]);
    let (file, of_file) = placed("file", 0.4);
    let (cat, of_cat) = placed("cat", 0.01);
    let tallies = vec![("file".to_owned(), of_file), ("cat".to_owned(), of_cat)];
    let judged = |tallies: Vec<(String, Tally)>| {
        let observed = Studied { tallies, ..Studied::default() };
        outcomes(&Findings::of_commands(&study, &commands, &record, &observed).claims[1..4])
    };
    let again = |file_s, cat_s| {
        let more = [("file", file_s), ("cat", cat_s)].map(|(name, s)| (name.to_owned(), placed(name, s).1));
        judged(tallies.iter().cloned().chain(more).collect())
    };
    use Outcome::{Holds, Undecided};
    assert_eq!(judged(tallies.clone()), [Holds; 3]);
    assert_eq!(again(0.4, 0.01), [Holds; 3]);
    // What one run says and another one denies is open; next to nothing is no measure.
    assert_eq!(again(0.4, 0.4), [Holds, Holds, Undecided]);
    let little = [("file", 0.0004), ("cat", 0.008)].map(|(name, s)| (name.to_owned(), placed(name, s).1));
    assert_eq!(judged(little.to_vec())[2], Undecided);
    assert_eq!(kernel(&file.cpus), [("kworker decrypt".to_owned(), 0.5)]);

    let made = Made { kind: Kind::Plain, why_not: vec!["only root can mount one".to_owned()] };
    let observed =
        Studied { tallies, placed: vec![file, cat], file_system: Some(made), ..Studied::default() };
    let found = Findings::of_commands(&study, &commands, &record, &observed);
    insta::assert_snapshot!(told(&study, &found, Measured::Record(&record)));
}

/// Two words for one number contradict each other: this interval lies below 1, and reaches into the band of the same.
#[test]
fn a_claim_has_the_word_of_its_row() {
    let words = [Verdict::Faster, Verdict::Slower, Verdict::Same, Verdict::Undecided];
    for (name, claims) in [("pipes", &[1][..]), ("placement", &[1, 5, 6, 7, 8]), ("dispatch", &[1, 5])] {
        let (study, commands) = commands(name);
        for verdict in words {
            let record = record_of(&commands, verdict);
            let found = Findings::of_commands(&study, &commands, &record, &Studied::default());
            for claim in claims.iter().map(|number| &found.claims[number - 1]) {
                let decided = matches!(claim.outcome, Outcome::Holds | Outcome::DoesNotHold);
                assert_eq!(decided, verdict != Verdict::Undecided, "{name} {verdict:?}: {claim:?}");
            }
        }
    }
}

/// What only a larger machine shows, or one that decrypts, says so.
#[test]
fn a_claim_that_cannot_show_here_names_the_machine() {
    let (study, commands) = commands("pipes");
    let mut record = record_of(&commands, Verdict::Undecided);
    record.host.before.cpus_allowed = Some(vec![0, 1]);
    let found = Findings::of_commands(&study, &commands, &record, &Studied::default());
    let screen = first(&study, &found, Measured::Record(&record));
    let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("it shows on a machine with 8 CPUs, and this one has 2"), "{screen}");
    record.host.before.cpus_allowed = Some((0..8).collect());
    let found = Findings::of_commands(&study, &commands, &record, &Studied::default());
    assert!(found.claims.iter().all(|claim| claim.lacks.is_empty()));

    let (study, commands) = self::commands("placement");
    let record = record_of(&commands, Verdict::Same);
    let made = |kind| Studied { file_system: Some(Made { kind, why_not: Vec::new() }), ..Studied::default() };
    let lacks = |kind| {
        let found = Findings::of_commands(&study, &commands, &record, &made(kind));
        let without: Vec<u32> =
            found.claims.iter().filter(|claim| !claim.lacks.is_empty()).map(|claim| claim.number).collect();
        without
    };
    assert_eq!(lacks(Kind::Plain), [1, 2, 3, 4, 5]);
    assert!(lacks(Kind::Encrypted).is_empty() && lacks(Kind::Compressed).is_empty());
}

/// A record of the small size in which every command has this verdict.
fn record_of(commands: &Commands, verdict: Verdict) -> Record {
    let of = |command: &Command| Comparison {
        low: Some(0.759),
        high: Some(0.992),
        ..compared(&command.name, commands.pair().baseline, 0.912, verdict)
    };
    let mut record = record(commands, commands.run.iter().map(of).collect());
    record.plan = commands.plan(&commands.run, commands.size(true, false), 1, None);
    record
}

/// Columns leave in the order of their worth: this machine is the answer.
#[test]
fn this_machine_is_in_the_table_on_every_screen() {
    let study = study::find("syscalls").unwrap();
    let list = reference::find("debian-2.6.32").unwrap().unwrap();
    let found = Findings::of_prices(&study, &list).unwrap();
    for width in [60, 80, 100, 200] {
        let look = Look { detail: Detail::Screen, ..Look::plain(width, false) };
        let text = report::text(&study, &found, Measured::List(&list), &look).unwrap();
        let head = text.lines().find(|line| line.starts_with("  operation")).unwrap();
        assert!(head.contains("  here"), "{width}: {head}");
        assert_eq!(head.contains("macosx-10.7"), width >= 80, "{width}: {head}");
        assert_eq!(head.contains("openindiana"), width == 200, "{width}: {head}");
    }
}

/// A list in which fork, execve and both together were measured so often that their sum has an interval.
fn repeated() -> PriceList {
    let rows =
        [("fork", "reaped", 3e4), ("execve", "dynamic", 7e5), ("fork+execve", "reaped,dynamic", 7.35e5)];
    let mut list = reference::find("debian-2.6.32").unwrap().unwrap();
    (list.prices, list.rows, list.samples) = (Vec::new(), Vec::new(), Vec::new());
    for (index, (name, variant, ns)) in rows.into_iter().enumerate() {
        list.rows.push(Row { name: name.to_owned(), variant: variant.to_owned(), ..Row::default() });
        list.samples.extend((0..16).map(|repetition: u32| {
            let mut series = Series::new(index, repetition, f64::from(repetition));
            for at in 0..6 {
                let noise =
                    1.0 + f64::from(repetition * (index as u32 + 3) % 11) / 50.0 + f64::from(at) / 1000.0;
                series.push(Sample { ops: 200, elapsed_ns: 200.0 * ns * noise, ..Sample::default() });
            }
            series
        }));
    }
    list.reprice();
    list
}

/// The sum below the claims and the claim about it are one number, with the interval that the claims of the study leave to it.
#[test]
fn a_claimed_sum_has_one_interval() {
    let study = study::find("syscalls").unwrap();
    let list = repeated();
    let found = Findings::of_prices(&study, &list).unwrap();
    let Figures::Prices(figures) = &found.figures else { panic!("{found:?}") };
    let Evidence::Sum(claimed) = &found.claims[1].evidence else { panic!("{found:?}") };
    assert_eq!(figures.checks.last(), Some(claimed));
    let alone = fork_execve(&list).unwrap();
    assert!(alone.low.is_some() && claimed.low <= alone.low, "{claimed:?} {alone:?}");
    assert_ne!((claimed.low, claimed.high), (alone.low, alone.high));
}

/// A reference list in the place of this machine: its claims are undecided for want of a spread, its rows are there.
#[test]
fn findings_about_prices_need_only_a_list() {
    let study = study::find("syscalls").unwrap();
    let debian = reference::find("debian-2.6.32").unwrap().unwrap();
    let found = Findings::of_prices(&study, &debian).unwrap();
    let Figures::Prices(figures) = &found.figures else { panic!("{found:?}") };
    assert_eq!(figures.rows[0].here_ns, figures.rows[0].article_ns[1]);
    assert_eq!(figures.checks.len(), 4);
    insta::assert_snapshot!(told(&study, &found, Measured::List(&debian)));
}

#[test]
fn options_that_a_study_has_no_use_for_are_refused() {
    use clap::Parser;
    let refused = |words: &[&str]| {
        let line = ["whyfaster", "study"].iter().chain(words);
        let args = crate::cli::args::Args::try_parse_from(line).unwrap();
        let Some(crate::cli::args::Verb::Study(args)) = args.verb else { panic!("{words:?}") };
        bears_on(&study::find(args.name.as_deref().unwrap()).unwrap(), &args)
            .err()
            .map(|failure| failure.message)
    };
    let said = |words: &[&str], part: &str| {
        let said = refused(words).unwrap_or_default();
        assert!(said.contains(part), "{words:?}: {said}");
    };
    said(&["threads", "--load", "10"], "so there is no load");
    said(&["placement", "--load", "10"], "one copy at a time");
    said(&["threads", "--flamegraphs", "x"], "runs no commands");
    assert_eq!(refused(&["pipes", "--load", "1,10", "--full"]), None);
    assert_eq!(refused(&["placement", "--quick", "--flamegraphs", "x"]), None);
    assert_eq!(refused(&["pipes", "--quick", "--flamegraphs", "x"]), None);
    assert_eq!(refused(&["syscalls", "--quick"]), None);
}
