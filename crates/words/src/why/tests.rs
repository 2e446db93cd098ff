//! What is said of explanations: every statement once, to be read as a person would.

use whyfaster_core::plan::{Alternative, Plan};
use whyfaster_core::trace::report::{Direction, PathKind, WorkKind};
use whyfaster_core::why::report::{Account, Experiment, Finding, Function, Growth, Outcome, Wrapper};
use whyfaster_core::why::statement::*;
use whyfaster_core::why::{Cause, Edit, InPlace, Pace, Repeated, Shown, Untestable};
use whyfaster_stats::Estimate;

use super::*;

fn plan() -> Plan {
    let long = "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done";
    let named = |name: &str| Alternative { given_name: Some(name.to_owned()), ..Alternative::new(name) };
    Plan::new(vec![named("a"), named("b"), Alternative::new(long)], 1)
}

fn pair(here: f64, there: f64) -> Pair {
    Pair { here, there }
}

fn name(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn file(direction: Direction, path: &str) -> OneFile {
    OneFile { direction, path: path.to_owned(), share: 0.97 }
}

/// 'b' takes 15.5 ms longer than 'a'.
fn finding(cause: Cause, fact: Fact) -> Finding {
    Finding {
        by_counts: false,
        cause,
        alternative: "b".to_owned(),
        against: "a".to_owned(),
        seconds: 0.0155,
        low: None,
        high: None,
        share: 0.5,
        confirmed: None,
        fact: Some(fact),
        functions: Vec::new(),
        samples: None,
        sentence: String::new(),
        remedy: String::new(),
        page: cause.page(),
        evidence: Vec::new(),
    }
}

#[test]
fn what_goes_by_counts_says_so_until_an_experiment_confirms_it() {
    let of = |cause, fact, confirmed| {
        let finding = Finding { by_counts: true, confirmed, ..finding(cause, fact) };
        let mut why = Why { findings: vec![finding], ..Why::default() };
        write(&plan().alternatives, &mut why);
        why.findings.remove(0).sentence
    };
    let more = || Fact::MoreProcesses { processes: pair(201.0, 1.0) };
    let said = of(Cause::Processes, more(), None);
    let confirmed = of(Cause::Processes, more(), Some(true));
    let sleeps = of(Cause::Sleep, Fact::Sleep { waits_s: None, command: None }, None);
    insta::assert_snapshot!([said, confirmed, sleeps].join("\n"));
}

#[expect(clippy::too_many_lines, reason = "a line a fact")]
fn facts() -> Vec<(Cause, Fact)> {
    let small = |calls| Fact::SmallIo { calls, number: pair(131_072.0, 128.0), bytes: pair(64.0, 65_536.0) };
    let waits = |holder, forbidden| Fact::Misplacement { holder, forbidden };
    let row = Measure::Path { command: "x".to_owned(), part: PathKind::Unknown, what: None };
    vec![
        (Cause::Processes, Fact::MoreProcesses { processes: pair(201.0, 1.0) }),
        (Cause::Processes, Fact::MorePrograms { programs: pair(3.0, 0.0) }),
        (Cause::Processes, Fact::DearerProcesses { equal: false, command: name("parallel") }),
        (Cause::PathSearch, Fact::PathSearch { misses: pair(100_000.0, 0.0) }),
        (Cause::PathSearch, Fact::PathSearch { misses: pair(900.0, 1.0) }),
        (Cause::Startup, Fact::Startup { command: name("prog") }),
        (Cause::SmallIo, small(Measure::FileCalls)),
        (Cause::PipeCopy, Fact::MorePipeData { bytes: pair(f64::from(1 << 27), 0.0) }),
        (Cause::PipeCopy, Fact::DearerPipes),
        (Cause::Overlap, Fact::Overlap { cpus: pair(0.96, 1.44), bottleneck: name("awk") }),
        (Cause::Overlap, Fact::Overlap { cpus: pair(1.5, 1.44), bottleneck: None }),
        (Cause::Overlap, Fact::WaitsInTurn { command: name("sleep") }),
        (Cause::Overlap, Fact::WaitsInTurn { command: None }),
        (Cause::Compute, Fact::Compute { command: name("awk"), starts: None }),
        (Cause::Compute, Fact::Compute { command: name("jq"), starts: Some(pair(300.0, 1.0)) }),
        (Cause::PageFaults, Fact::PageFaults { pages: pair(90_000.0, 1.0) }),
        (Cause::PageFaults, Fact::PageFaults { pages: pair(12.0, 12.0) }),
        (Cause::Disk, Fact::Disk { waits_s: None, command: None }),
        (Cause::Disk, Fact::Disk { waits_s: Some(0.0101), command: name("dd") }),
        (Cause::Lock, Fact::Lock { waits_s: None, holder: name("locks") }),
        (Cause::Lock, Fact::Lock { waits_s: Some(0.0101), holder: name("locks") }),
        (Cause::Sleep, Fact::Sleep { waits_s: None, command: name("sleep") }),
        (Cause::Sleep, Fact::Sleep { waits_s: Some(0.0), command: name("spin") }),
        (
            Cause::CpuContention,
            Fact::CpuContention { holders: vec!["hog".to_owned(), "cc".to_owned()], both: false },
        ),
        (Cause::CpuContention, Fact::Stolen),
        (Cause::Misplacement, Fact::Confined { cpus: pair(1.0, 2.0) }),
        (Cause::Misplacement, waits(name("kworker"), false)),
        (Cause::Misplacement, waits(None, true)),
        (Cause::Share, Fact::Throttled),
        (Cause::Share, Fact::LowPriority),
        (Cause::Files, Fact::Files { names: Some(pair(4_013.0, 12.0)), command: name("ls"), file: None }),
        (Cause::Files, Fact::Files { names: Some(pair(12.0, 12.0)), command: name("ls"), file: None }),
        (Cause::Files, Fact::Files { names: None, command: name("diff"), file: None }),
        (
            Cause::Files,
            Fact::Files {
                names: None,
                command: name("cat"),
                file: Some(file(Direction::Read, "/proc/kallsyms")),
            },
        ),
        (
            Cause::Files,
            Fact::Files { names: None, command: name("cp"), file: Some(file(Direction::Write, "/mnt/copy")) },
        ),
        (
            Cause::Calls,
            Fact::Calls { call: name("close"), error: name("EBADF"), number: pair(1_000_000.0, 1_024.0) },
        ),
        (Cause::Calls, Fact::Calls { call: name("getppid"), error: None, number: pair(500_000.0, 0.0) }),
        (Cause::Calls, Fact::Calls { call: None, error: None, number: pair(0.0, 0.0) }),
        (Cause::Kernel, Fact::Kernel),
        (Cause::Network, Fact::Network { waits_s: None, local: false, command: name("net") }),
        (Cause::Network, Fact::Network { waits_s: Some(0.0101), local: true, command: name("rsync") }),
        (Cause::Unexplained, Fact::Unexplained { most: Some(row), seconds: 0.0123 }),
        (Cause::Unexplained, Fact::Refuted { cause: Cause::Sleep }),
    ]
}

#[test]
fn findings() {
    let mut why = Why {
        findings: facts().into_iter().map(|(cause, fact)| finding(cause, fact)).collect(),
        ..Why::default()
    };
    write(&plan().alternatives, &mut why);
    let lines: Vec<String> = why
        .findings
        .iter()
        .map(|it| format!("{}: {}\n  {}", title(it.cause), it.sentence, it.remedy))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    for cause in Cause::ALL {
        assert!(why.findings.iter().any(|it| it.cause == *cause), "no sentence of {cause:?}");
    }
}

/// Answers about these findings, of which the first has this share.
fn answers(why: &mut Why, because: Because, then: Option<Then>) -> String {
    why.answer = Some(Answer {
        slower: "b".to_owned(),
        ratio: None,
        ratio_low: None,
        ratio_high: None,
        faster: "a".to_owned(),
        seconds: pair(0.08, 0.04),
        about: false,
        because,
        then,
        load_decides: false,
    });
    write(&plan().alternatives, why);
    why.summary.join(" ")
}

#[test]
fn scripts_before_programs_are_said_with_their_part_of_the_time() {
    let of = |alternative: &str, times, seconds| Wrapper {
        alternative: alternative.to_owned(),
        script: "/opt/shims/python3".to_owned(),
        interpreter: "bash".to_owned(),
        program: "python3.11".to_owned(),
        times,
        seconds,
        of_s: 0.06,
    };
    let said = |wrappers| {
        let mut why = Why { wrappers, ..Why::default() };
        write(&plan().alternatives, &mut why);
        why.summary.join("\n")
    };
    assert_eq!(said(vec![of("a", 1.0, 0.002)]), "", "a small part of the time is not spoken of");
    let begins = "'python3' is a bash script here (/opt/shims/python3) that begins python3.11: it takes";
    assert_eq!(said(vec![of("a", 1.0, 0.041)]), format!("{begins} 41.0 ms of the 60.0 ms of 'a'."));
    let two = said(vec![of("a", 1.0, 0.041), of("b", 100.0, 4.1)]);
    assert_eq!(two, format!("{begins} 41.0 ms of the 60.0 ms of 'a' and 41.0 ms in 'b', 100 times."));
}

#[test]
fn functions_are_said_with_their_file_their_caller_and_how_many_samples() {
    let function = |symbol, file, called_from, share| Function {
        symbol: name(symbol).filter(|it| !it.is_empty()),
        file: name(file).filter(|it| !it.is_empty()),
        called_from,
        command: "node".to_owned(),
        share,
        seconds: share * 0.0155,
        samples: pair(1000.0 * share, 0.0),
    };
    let of = |functions: Vec<Function>, samples| {
        let mut it = finding(Cause::Compute, Fact::Compute { command: None, starts: None });
        (it.functions, it.samples) = (functions, samples);
        let mut why = Why { findings: vec![it], ..Why::default() };
        write(&plan().alternatives, &mut why);
        let it = why.findings.remove(0);
        format!("{}\n  {}", it.sentence, it.remedy)
    };
    let some = Some(pair(1000.0, 0.0));
    let libc = "/usr/lib/x86_64-linux-gnu/libc.so.6";
    let all = [
        of(Vec::new(), None),
        of(Vec::new(), Some(pair(9.0, 0.0))),
        of(vec![function("f", "/bin/x", None, 0.05)], some),
        of(
            vec![
                function("__strcoll_l", libc, name("compare"), 0.7),
                function("", "/usr/bin/sort", name(libc), 0.2),
                function("g", "", None, 0.1),
            ],
            some,
        ),
        of(vec![function("", "", None, 0.99)], some),
        of(vec![function("_PyEval_EvalFrameDefault", "/usr/lib/libpython3.11.so.1.0", None, 0.996)], some),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn answers_say_every_number_once() {
    let cause = || Because::Cause { finding: 0, whole_s: 0.05, agrees: true };
    let mut all = Vec::new();
    for (share, fact) in [
        (0.39, Fact::Sleep { waits_s: None, command: None }),
        (0.39, Fact::PageFaults { pages: pair(9.0, 1.0) }),
        (0.999, Fact::PageFaults { pages: pair(9.0, 1.0) }),
        (0.39, Fact::Overlap { cpus: pair(1.0, 2.0), bottleneck: name("awk") }),
    ] {
        let mut why = Why { findings: vec![finding(Cause::Sleep, fact)], ..Why::default() };
        why.findings[0].share = share;
        all.push(answers(&mut why, cause(), None));
        all.push(answers(&mut why, Because::MoreThanAll { finding: 0, against: None }, None));
    }
    let (more, less) =
        (Fact::MoreProcesses { processes: pair(61.0, 1.0) }, Fact::Compute { command: None, starts: None });
    let mut why = Why {
        findings: vec![finding(Cause::Processes, more), finding(Cause::Compute, less)],
        ..Why::default()
    };
    (why.findings[1].alternative, why.findings[1].against) = ("a".to_owned(), "b".to_owned());
    (why.findings[1].share, why.findings[1].confirmed) = (-0.2, Some(true));
    all.push(answers(&mut why, cause(), Some(Then::Cause { finding: 1 })));
    all.push(answers(&mut why, Because::MoreThanAll { finding: 0, against: Some(1) }, None));
    why.findings[1].share = 0.2;
    why.findings[0].confirmed = Some(true);
    all.push(answers(&mut why, cause(), Some(Then::Cause { finding: 1 })));
    let unlike = Because::Cause { finding: 0, whole_s: 0.05, agrees: false };
    all.push(answers(&mut why, unlike, Some(Then::Unexplained { seconds: 0.016 })));
    why.experiments = vec![experiment(Some(Edit::NoSleep), Shown::Confirmed)];
    all.push(answers(&mut why, cause(), Some(Then::Experiment { experiment: 0 })));
    all.push(answers(&mut why, Because::Noise { seconds: 0.02, others: None }, None));
    all.push(answers(&mut why, Because::Noise { seconds: 0.02, others: Some(0.58) }, None));
    let more = |on| MoreCpuTime { seconds: 0.03, on: Some(on), user_s: Some(0.01) };
    let cpu_time = |others| Because::CpuTime { work: more(WorkKind::User), others };
    all.push(answers(&mut why, cpu_time(Some(0.58)), None));
    all.push(answers(&mut why, cpu_time(Some(0.01)), None));
    all.push(answers(&mut why, Because::Unknown, Some(Then::MoreWork(more(WorkKind::Pipe)))));
    for user_s in [Some(0.04), Some(0.02), Some(0.001), None] {
        let work = MoreCpuTime { seconds: 0.03, on: None, user_s };
        all.push(answers(&mut why, Because::MoreWork(work), None));
    }
    all.push(answers(&mut why, Because::Overlap { cpus: pair(1.0, 2.0) }, None));
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn the_first_screen_says_what_to_do_where_no_cause_is_known() {
    let observed = |name: &str| Account {
        alternative: name.to_owned(),
        label: String::new(),
        rounds: 3,
        traced_s: 0.1,
        untraced_s: 0.08,
        critical_path: Vec::new(),
        critical_alternatives: Vec::new(),
        work: Vec::new(),
        own_cost_s: 0.02,
        samples: 0.0,
        sampling_s: 0.0,
        parallelism: None,
    };
    let first = |because, seen: bool| {
        let accounts = ["a", "b"].into_iter().filter(|_| seen).map(observed).collect();
        let mut why = Why { accounts, ..Why::default() };
        answers(&mut why, because, None);
        let Brief { because, remedy, .. } = brief(&plan().alternatives, &why).unwrap();
        format!("{because}. {}", remedy.map_or("", |it| it.short))
    };
    let all = [
        first(Because::Noise { seconds: 0.02, others: Some(0.58) }, true),
        first(Because::Noise { seconds: 0.02, others: Some(0.01) }, true),
        first(Because::Noise { seconds: 0.02, others: None }, true),
        first(Because::Unknown, true),
        // There are no tables to look at.
        first(Because::Unknown, false),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn the_ratio_of_an_answer_is_the_verdicts() {
    let mut why = Why {
        findings: vec![finding(Cause::Sleep, Fact::Sleep { waits_s: None, command: None })],
        ..Why::default()
    };
    answers(&mut why, Because::Unknown, None);
    let mut said = |ratio, about| {
        why.answer = why.answer.take().map(|it| Answer { ratio: Some(ratio), about, ..it });
        write(&plan().alternatives, &mut why);
        why.summary.join(" ")
    };
    assert!(said(1.99, false).starts_with("'b' takes 80.0 ms, 1.99 times as long as 'a' (40.0 ms)"));
    let about = "'b' takes 1.91 times as long as 'a' in a typical round (median times: 80.0 ms and 40.0 ms)";
    assert!(said(1.91, true).starts_with(about), "{}", said(1.91, true));
}

fn decides(work: WorkTold, from: Option<FlipLoad>) -> Deciding {
    Deciding {
        quicker: "b".to_owned(),
        slower: "a".to_owned(),
        spans_s: (0.12, 0.2),
        works_s: (0.3, 0.2),
        cpus: 2.0,
        work,
        from,
        kinds: vec![WorkKind::User, WorkKind::Pipe],
    }
}

#[test]
fn load_decides() {
    let called = Called::new(&plan().alternatives);
    let (measured, predicted) = (
        FlipLoad::Measured { from: 1, to: 10 },
        FlipLoad::Predicted { load: 3.4, low: Some(2.9), high: Some(4.1) },
    );
    let mut all: Vec<String> = [
        decides(WorkTold::Flips, Some(measured)),
        Deciding { cpus: 1.0, kinds: Vec::new(), ..decides(WorkTold::Flips, Some(predicted)) },
        decides(WorkTold::Same, None),
        decides(WorkTold::Undecided, None),
        Deciding { works_s: (0.1, 0.2), ..decides(WorkTold::StaysAhead, None) },
    ]
    .iter()
    .map(|it| load::deciding(it, &called))
    .collect();
    all.push(load::when_full(&decides(WorkTold::Flips, Some(measured)), &called));
    let kernel = |also| Some(GrowsIn::Kernel { on: Some(WorkKind::Pipe), also });
    for (trend, most, waits_s) in [
        (Trend::Grows, kernel(None), Some((0.01, 70.0))),
        (Trend::Grows, kernel(Some(WorkKind::PageFaults)), None),
        (Trend::Grows, Some(GrowsIn::User), None),
        (Trend::Falls, None, None),
        (Trend::Stays, None, None),
    ] {
        let seconds = if trend == Trend::Falls { (1.0, 0.93) } else { (1.0, 1.5) };
        let of = Growth {
            alternative: "a".to_owned(),
            contention: None,
            coherency: None,
            lowest: 1,
            highest: 100,
            grows: Vec::new(),
            kinds_not_measured: None,
            kinds_unknown: None,
            cost: None,
            sentence: String::new(),
        };
        all.push(load::growth(&of, CopyCost { seconds, trend, most, waits_s }, &called));
    }
    let unknown = [
        KindsUnknown::Lossy,
        KindsUnknown::NotAlone,
        KindsUnknown::NoCpuTime,
        KindsUnknown::Uncertain { unsure_s: 0.02, differ_s: 0.01 },
    ];
    all.extend(unknown.map(load::kinds_unknown));
    all.extend(
        [Some(10), None].map(|level| load::based_on(PredictedFrom { level, few_rounds: level.is_none() })),
    );
    insta::assert_snapshot!(all.join("\n"));
}

/// An experiment with 'b' that was to win 16 ms.
fn experiment(edit: Option<Edit>, shown: Shown) -> Experiment {
    let seconds = |median| Estimate { median, low: None, high: None };
    Experiment {
        cause: Cause::Sleep,
        slower: name("b"),
        faster: name("a"),
        alternative: "b".to_owned(),
        edit,
        change: String::new(),
        command: None,
        put_in: false,
        sure: true,
        prediction: String::new(),
        predicted_s: 0.016,
        won_s: Some(seconds(if shown == Shown::Refuted { -0.001 } else { 0.0155 })),
        rounds: 11,
        outcome: Outcome::Undecided,
        control_s: vec![0.03, 0.0301],
        changed_s: vec![if shown == Shown::Refuted { 0.031 } else { 0.0145 }],
        pace: None,
        shown: Some(shown),
        sentence: String::new(),
    }
}

fn written(experiment: Experiment) -> Experiment {
    let mut why = Why { experiments: vec![experiment], ..Why::default() };
    write(&plan().alternatives, &mut why);
    why.experiments.remove(0)
}

#[test]
fn experiments_say_what_is_changed_and_what_came_out() {
    let each = |words: &str| Repeated { times: 1_200, words: words.to_owned() };
    let in_place = Some(InPlace { each: each("env true"), against: "true".to_owned() });
    let edits = [
        Edit::NoSleep,
        Edit::ShorterSleep { from: "0.08".to_owned(), to: "0.05".to_owned() },
        Edit::SleepsAsOther,
        Edit::RealTime,
        Edit::NoNice,
        Edit::SharedSession,
        Edit::OwnSession,
        Edit::WarmCache,
        Edit::ColdFiles { files: vec!["in".to_owned(), "/d/data".to_owned()] },
        Edit::PathOfOther,
        Edit::ShortPath,
        Edit::LargePieces,
        Edit::LargeBuffers { bytes: 65_536 },
        Edit::LineBuffers,
        Edit::NoCopies,
        Edit::PipeSize { bytes: 4096, larger: false },
        Edit::PipeSize { bytes: 1 << 20, larger: true },
        Edit::OneCpu { cpu: 0, all: true },
        Edit::OneCpu { cpu: 1, all: false },
        Edit::MoreCpus { cpus: vec![0, 1] },
        Edit::StagesApart { cpus: vec![0, 1, 0] },
        Edit::ProcessesBefore { each: vec![each("true")], in_place: None, at_once: 1 },
        Edit::ProcessesBefore { each: vec![each("cat")], in_place, at_once: 2 },
        Edit::StartsBefore {
            each: each("python3 -c ''"),
            against: "python3 -S -c ''".to_owned(),
            at_once: 1,
        },
        Edit::BindNow { set: true },
        Edit::BindNow { set: false },
    ];
    let mut all: Vec<String> =
        edits.into_iter().map(|edit| written(experiment(Some(edit), Shown::Confirmed)).prediction).collect();
    let put_in = Experiment { put_in: true, ..experiment(Some(Edit::NoSleep), Shown::TooMuch) };
    let unsure = Experiment { sure: false, ..experiment(Some(Edit::NoSleep), Shown::TooMuch) };
    all.extend([&put_in, &unsure].map(|it| written(it.clone()).prediction));
    all.extend([put_in, unsure].map(|it| written(it).sentence));
    let shown = [
        Shown::NotRun,
        Shown::Interrupted,
        Shown::Confirmed,
        Shown::Refuted,
        Shown::FewRounds,
        Shown::MayStay,
        Shown::Unclear,
    ];
    all.extend(shown.map(|shown| written(experiment(Some(Edit::NoSleep), shown)).sentence));
    let pace = Some(Pace { now_s: 0.3, before_s: 0.2 });
    all.push(written(Experiment { pace, ..experiment(Some(Edit::NoSleep), Shown::Confirmed) }).sentence);
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn what_cannot_be_tested_is_said_with_the_reason() {
    let program = || "own".to_owned();
    let why = [
        Untestable::Computes,
        Untestable::UsesMemory,
        Untestable::Locks,
        Untestable::Files,
        Untestable::Network,
        Untestable::NoCause,
        Untestable::SleepsItself,
        Untestable::SleepsElsewhere { seconds: 0.01 },
        Untestable::OtherSleepUnknown,
        Untestable::SleepNotLonger,
        Untestable::NoRealTime { why: "needs real-time priority".to_owned() },
        Untestable::BothWaitForCpus,
        Untestable::LeftToOthers,
        Untestable::Stolen,
        Untestable::Quota,
        Untestable::ShareElsewhere,
        Untestable::WriteBack,
        Untestable::BothWaitForDisk,
        Untestable::ProgramsUnknown,
        Untestable::OwnPieces,
        Untestable::PiecesElsewhere,
        Untestable::NoPipeline,
        Untestable::EveryStageWorks { fits: false },
        Untestable::EveryStageWorks { fits: true },
        Untestable::OneCpu,
        Untestable::WaitsInTurn,
        Untestable::NoOtherCpu,
        Untestable::AsManyProcesses,
        Untestable::ProgramMissing { program: program() },
        Untestable::NoWrapper,
        Untestable::NoStartStandsOut,
        Untestable::StartUnknown { program: program() },
        Untestable::NothingInItsPlace { program: program() },
        Untestable::StartsElsewhere { program: program() },
        Untestable::SameStart { program: program() },
        Untestable::NoTime { rounds: 6, seconds: 3.2 },
        Untestable::CannotRun { why: "no such file".to_owned() },
    ];
    let all = why.map(|why| written(experiment(None, Shown::NotTestable { why })).sentence);
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn what_an_older_version_said_of_its_experiments_stays() {
    let mut old = experiment(None, Shown::NotRun);
    (old.shown, old.change, old.sentence) = (None, "a change".to_owned(), "It won. And more.".to_owned());
    let said = written(old.clone());
    assert_eq!((said.change, said.sentence), (old.change, old.sentence));
}

#[test]
fn refusals_say_what_to_do() {
    let of = || "b".to_owned();
    let both = || ["b".to_owned(), plan().alternatives[2].name.clone()];
    let missing = |what: &str| Missing {
        what: what.to_owned(),
        why: "it is not there".to_owned(),
        remedy: "run it with sudo".to_owned(),
        command: None,
    };
    let no_time = |made, asked, hard| RoundsLeftOut::NoTime { made, asked, hard };
    let unsettled = |reach, hard| RoundsLeftOut::Unsettled { made: 5, reach, rounds: 11, seconds: 7.2, hard };
    let refusals = vec![
        Refusal::NoPath,
        Refusal::NoCopyAlone,
        Refusal::NoCommonRound { of: both() },
        Refusal::NoTrace { of: of() },
        Refusal::NoUsableTrace { of: of(), runs: 7 },
        Refusal::Lossy { of: of(), lossy: 7, all: true },
        Refusal::Lossy { of: of(), lossy: 5, all: false },
        Refusal::Same { of: both() },
        Refusal::Undecided { of: both() },
        Refusal::OtherOrder { of: both(), seconds: -0.02 },
        Refusal::DearerToObserve { of: both(), cost_s: 0.09, difference_s: 0.01 },
        Refusal::OneCommand,
        Refusal::OpenMode,
        Refusal::NoLevelOfOne,
        Refusal::NothingDiffers,
        Refusal::Needs { missing: vec![missing("CAP_BPF")], asked: false },
        Refusal::Needs { missing: vec![missing("CAP_BPF"), missing("BTF")], asked: false },
        Refusal::Needs { missing: vec![missing("CAP_BPF"), missing("BTF")], asked: true },
        Refusal::NoTime,
        Refusal::Interrupted,
        Refusal::NotObserved { why: no_time(0, None, true) },
        Refusal::NotObserved { why: no_time(0, None, false) },
        Refusal::NotObserved { why: no_time(2, None, false) },
        Refusal::NotObserved { why: no_time(3, Some(7), false) },
        Refusal::NotObserved { why: RoundsLeftOut::CannotRun { why: "no such file".to_owned() } },
        Refusal::Ended { error: "the ring broke".to_owned(), hint: name("mend it") },
    ];
    let batch = |why| LeftOut::Batch { of: of(), load: 10, why };
    let why = Why {
        left_out: vec![
            LeftOut::Rounds { why: unsettled(Some(0.31), false) },
            LeftOut::Rounds { why: unsettled(None, true) },
            LeftOut::BatchMode { load: 10 },
            batch(BatchLeftOut::Processes { processes: 101_000.0, most: 100_000.0 }),
            batch(BatchLeftOut::NoTime { takes_s: 4.8, left_s: 2.0 }),
            LeftOut::Experiments { made: 1, of: 3 },
            LeftOut::Prices { why: "no worker".to_owned() },
            LeftOut::Rest,
        ],
        ..Why::default()
    };
    let called = Called::new(&plan().alternatives);
    let mut all: Vec<String> = refusals.iter().map(|it| refusals::refusal(it, &called)).collect();
    all.extend(left_out(&why).into_iter().map(|it| format!("{}: {}", it.what, it.why)));
    insta::assert_snapshot!(all.join("\n"));
}
