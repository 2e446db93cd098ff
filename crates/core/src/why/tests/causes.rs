//! Every cause of the list, planted alone, is found first, with its seconds.

use super::fixture::{Scene, Trace, command, stolen};
use crate::sample::Arm;
use crate::trace::event::FileKind;
use crate::trace::report::{Cause as Wait, Direction, PathKind, SharerKind, WorkKind};
use crate::why::cause::Cause;
use crate::why::report::{Finding, Why};
use crate::why::statement::{Because, Fact, Measure, Pair};

/// What both sides do.
fn common() -> Trace {
    Trace::new().runs("sh", WorkKind::Startup, 0.001, 1).runs("work", WorkKind::User, 0.1, 0)
}

/// The first finding is this one, has these seconds, and makes 'b' slower; it is told from both sides.
fn first(a: Trace, b: Trace, cause: Cause, seconds: f64) -> Finding {
    let why = Scene::of(&a.0, &b.0).explain();
    assert_eq!(why.refusals, []);
    let finding = why.findings.first().unwrap_or_else(|| panic!("no finding: {why:#?}"));
    assert_eq!((finding.cause, finding.alternative.as_str()), (cause, "b"), "{:#?}", why.findings);
    assert!((finding.seconds / seconds - 1.0).abs() < 0.1, "{} instead of {seconds}", finding.seconds);
    assert!(finding.share > 0.0 && finding.low.is_some());
    partition(&why);
    let turned = Scene::of(&b.0, &a.0).explain();
    let other = turned.findings.first().expect("the same, turned");
    assert_eq!((other.cause, other.alternative.as_str()), (cause, "a"));
    assert!((other.seconds / finding.seconds - 1.0).abs() < 0.05);
    finding.clone()
}

/// Findings and what is unexplained are the difference.
fn partition(why: &Why) {
    for difference in &why.differences {
        let sign = |it: &Finding| if it.alternative == difference.alternative { 1.0 } else { -1.0 };
        let known = why.findings.iter().filter(|it| it.cause != Cause::Unexplained);
        let sum: f64 = known.map(|it| sign(it) * it.seconds).sum();
        assert!((sum + difference.unexplained_s.median - difference.span_s.median).abs() < 1e-12);
    }
}

#[test]
fn processes() {
    let finding = first(
        common().makes(1, 2),
        common()
            .makes(201, 202)
            .runs("sh", WorkKind::Process, 0.06, 200)
            .runs("sh (forked)", WorkKind::Process, 0.03, 0)
            .runs("sh", WorkKind::PageFaults, 0.005, 2000)
            .runs("true", WorkKind::Startup, 0.05, 200)
            .queues("sh", (SharerKind::Idle, ""), Some(Wait::Child), (0.01, 0.0, 0.0)),
        Cause::Processes,
        0.155,
    );
    assert_eq!(finding.fact, Some(Fact::MoreProcesses { processes: Pair { here: 201.0, there: 1.0 } }));
    assert_eq!(finding.evidence[0].here, 201.0);
}

#[test]
fn processes_that_cost_more_are_not_more_processes() {
    let makes =
        |forks: u64, s: f64| common().makes(forks, forks).runs("parallel", WorkKind::Process, s, forks);
    let finding = first(makes(2002, 0.1), makes(2013, 0.6), Cause::Processes, 0.5);
    let command = Some("parallel".to_owned());
    assert_eq!(finding.fact, Some(Fact::DearerProcesses { equal: false, command }));
}

#[test]
fn children_without_a_program_are_processes_when_there_are_more_of_them_and_computing_when_not() {
    let forked =
        |forks| common().makes(forks, 2).runs("sh (forked)", WorkKind::Process, 0.001 * forks as f64, 0);
    first(forked(10), forked(110), Cause::Processes, 0.1);
    let computes = |seconds| common().makes(10, 2).runs("sh (forked)", WorkKind::Process, seconds, 0);
    first(computes(0.01), computes(0.11), Cause::Compute, 0.1);
}

#[test]
fn path_search() {
    first(
        common().makes(100, 100).runs("xargs (forked)", WorkKind::Process, 0.02, 0),
        common()
            .makes(100, 100)
            .runs("xargs (forked)", WorkKind::Process, 0.02, 0)
            .runs("xargs (forked)", WorkKind::Exec, 0.08, 100_000)
            .fails("xargs (forked)", "execve", 100_000, 0.08),
        Cause::PathSearch,
        0.08,
    );
    // A shell looks before it leaps.
    let looks = |n: u64, s: f64| {
        common().makes(100, 100).runs("sh", WorkKind::FileMetadata, 0.001 + s, n).fails(
            "sh",
            "newfstatat",
            n,
            s,
        )
    };
    let finding = first(looks(100, 0.001), looks(50_000, 0.05), Cause::PathSearch, 0.049);
    assert_eq!(finding.fact, Some(Fact::PathSearch { misses: Pair { here: 50_000.0, there: 100.0 } }));
}

#[test]
fn a_parent_behind_its_own_child_waits_for_what_the_child_does() {
    // Out of the vfork, the shell waits for its CPU while 'env' searches.
    let runs = |searched: f64, execs: u64| {
        let wait = (0.002 + searched, 0.0, 0.0);
        common()
            .makes(60, 120)
            .queues("sh", (SharerKind::Tree, "true"), Some(Wait::Child), wait)
            .queues("sh", (SharerKind::Idle, ""), Some(Wait::Child), (0.001, 0.0, 0.0))
            .beside("env", WorkKind::Startup, 0.002, 60)
            .beside("env", WorkKind::Exec, searched, 60)
            .fails("env", "execve", execs, searched)
    };
    first(runs(0.0, 0), runs(0.05, 120_000), Cause::PathSearch, 0.05);
    let why = Scene::of(&runs(0.0, 0).0, &runs(0.05, 120_000).0).explain();
    assert_eq!(why.findings.len(), 1, "{:#?}", why.findings);
}

#[test]
fn startup() {
    let runs = |load: f64, end: f64| {
        common().makes(5, 6).runs("prog", WorkKind::Startup, load, 5).runs("prog", WorkKind::Process, end, 0)
    };
    let finding = first(runs(0.005, 0.001), runs(0.08, 0.011), Cause::Startup, 0.085);
    assert_eq!(finding.fact, Some(Fact::Startup { command: Some("prog".to_owned()) }));
}

#[test]
fn of_more_programs_the_cheap_ones_are_the_additional_ones() {
    let a = common().makes(1, 1).runs("awk", WorkKind::Startup, 0.001, 1);
    let b = common()
        .makes(2, 2)
        .runs("sh", WorkKind::Startup, 0.0005, 1)
        .runs("python3", WorkKind::Startup, 0.06, 1)
        .runs("sh", WorkKind::Process, 0.001, 1);
    first(a, b, Cause::Startup, 0.059);
}

#[test]
fn small_io() {
    let reads = |n: u64, kernel: f64, user: f64| {
        common().runs("dd", WorkKind::FileData, kernel, n).runs("dd", WorkKind::User, user, 0).moves(
            FileKind::File,
            Direction::Read,
            n,
            8_388_608,
        )
    };
    let finding = first(reads(128, 0.001, 0.001), reads(131_072, 0.06, 0.02), Cause::SmallIo, 0.078);
    let number = Pair { here: 131_072.0, there: 128.0 };
    let bytes = Pair { here: 64.0, there: 65_536.0 };
    assert_eq!(finding.fact, Some(Fact::SmallIo { calls: Measure::FileCalls, number, bytes }));
}

#[test]
fn what_the_kernel_spends_on_the_data_is_no_cost_of_its_pieces() {
    // 12 MB in pieces of 4 kB from a file that the kernel makes while it is read, against larger pieces of a copy.
    let reads = |path: &str, n: u64, seconds: f64| {
        let trace = common().runs("x", WorkKind::FileData, seconds, n);
        let trace = trace.moves(FileKind::File, Direction::Read, n, 12_000_000);
        trace.takes(Some(path), 0.99 * seconds).takes(None, 0.01 * seconds).0
    };
    let mut scene = Scene::of(&reads("/home/k", 100, 0.002), &reads("/proc/kallsyms", 3_000, 0.2));
    scene.traced.iter_mut().for_each(|it| it.own.plain_call_ns = Some(200.0));
    let why = scene.explain();
    let found = &why.findings[0];
    let (path, share) = match &found.fact {
        Some(Fact::Files { names: None, file: Some(it), .. }) => (it.path.as_str(), it.share),
        other => panic!("{other:?}"),
    };
    assert_eq!((found.cause, path), (Cause::Files, "/proc/kallsyms"));
    assert!((0.98..=1.0).contains(&share), "{share}");
    assert!(found.share > 0.95, "{:#?}", why.findings);
    let small = why.findings.iter().find(|it| it.cause == Cause::SmallIo).map_or(0.0, |it| it.seconds);
    // Four times 200 ns for each call, and what surrounds it in user code.
    assert!(small <= 0.0031, "{small}");
}

#[test]
fn a_file_is_named_where_it_takes_most_of_the_additional_time() {
    let fact = |share: f64, observed: bool| {
        let writes = |seconds: f64| {
            let trace = common().runs("cp", WorkKind::FileData, seconds, 30);
            trace
                .takes(Some("/a"), share * seconds)
                .takes(Some("/b"), 0.3 * seconds)
                .takes(None, (0.7 - share) * seconds)
                .0
        };
        let mut scene = Scene::of(&writes(0.001), &writes(0.03));
        if !observed {
            scene.traced.iter_mut().for_each(|it| it.report.critical_path.clear());
        }
        let why = scene.explain();
        let found = why.findings.iter().find(|it| it.cause == Cause::Files).and_then(|it| it.fact.clone());
        match found {
            Some(Fact::Files { file, .. }) => file.map(|it| it.path),
            _ => None,
        }
    };
    assert_eq!(fact(0.6, true).as_deref(), Some("/a"));
    assert_eq!(fact(0.4, true), None);
    assert_eq!(fact(0.6, false), None);
}

#[test]
fn small_pieces_through_a_pipe() {
    let reads = |n: u64, kernel: f64| {
        common()
            .runs("dd", WorkKind::Pipe, kernel, n)
            .moves(FileKind::Pipe, Direction::Read, n, 4_194_304)
            .moves(FileKind::Pipe, Direction::Write, 64, 4_194_304)
    };
    first(reads(64, 0.002), reads(65_536, 0.05), Cause::SmallIo, 0.048);
}

#[test]
fn pipe_copy() {
    let copies = |bytes: u64, kernel: f64, wait: f64| {
        common()
            .runs("cat", WorkKind::Pipe, kernel, bytes / 65_536)
            .moves(FileKind::Pipe, Direction::Read, bytes / 65_536, bytes)
            .queues("cat", (SharerKind::Idle, ""), Some(Wait::PipeEmpty), (wait, 0.0, 0.0))
    };
    let finding = first(copies(1 << 25, 0.01, 0.001), copies(1 << 27, 0.05, 0.011), Cause::PipeCopy, 0.05);
    let bytes = Pair { here: f64::from(1 << 27), there: f64::from(1 << 25) };
    assert_eq!(finding.fact, Some(Fact::MorePipeData { bytes }));
    first(common(), copies(1 << 27, 0.05, 0.01), Cause::PipeCopy, 0.06);
}

#[test]
fn overlap() {
    let a = common().runs("sink", WorkKind::User, 0.06, 0).beside("source", WorkKind::User, 0.06, 0);
    let b = common().runs("sink", WorkKind::User, 0.06, 0).runs("source", WorkKind::User, 0.06, 0);
    let finding = first(a, b, Cause::Overlap, 0.06);
    let Some(Fact::Overlap { cpus, bottleneck: None }) = finding.fact else { panic!("{finding:?}") };
    assert!((1.35..1.45).contains(&cpus.there) && (0.95..1.05).contains(&cpus.here), "{cpus:?}");
}

#[test]
fn an_overlap_may_keep_no_more_cpus_busy() {
    // The slower one has as much to do beside its path.
    let a = common().runs("sink", WorkKind::User, 0.06, 0).beside("source", WorkKind::User, 0.06, 0);
    let b = common().runs("sink", WorkKind::User, 0.06, 0).runs("source", WorkKind::User, 0.06, 0).beside(
        "daemon",
        WorkKind::Startup,
        0.2,
        0,
    );
    let finding = first(a, b, Cause::Overlap, 0.06);
    assert!(
        matches!(finding.fact, Some(Fact::Overlap { cpus, .. }) if cpus.here > cpus.there),
        "{finding:?}"
    );
}

#[test]
fn overlap_lost_to_ones_own_processes() {
    let crowd = |wait: f64| common().queues("x", (SharerKind::Tree, "y"), None, (wait, 0.0, 0.0));
    first(crowd(0.001), crowd(0.05), Cause::Overlap, 0.049);
}

/// Four sleeps one after the other, and the same with one on the path.
#[test]
fn waits_at_the_same_time_are_overlap() {
    let sleeps = |on_path: u8| {
        let seconds = 0.05 * f64::from(on_path);
        common().waits("sleep", PathKind::Sleep, None, seconds).blocks("sleep", Wait::Timer, 0.2)
    };
    let finding = first(sleeps(1), sleeps(4), Cause::Overlap, 0.15);
    assert_eq!(finding.fact, Some(Fact::WaitsInTurn { command: Some("sleep".to_owned()) }));
    // Whoever does something else meanwhile has no sleep on its path.
    let finding = first(sleeps(0), sleeps(1), Cause::Overlap, 0.05);
    assert_eq!(finding.fact, Some(Fact::WaitsInTurn { command: Some("sleep".to_owned()) }));
}

/// The sleep is on both paths, and one side computes meanwhile.
#[test]
fn running_beside_a_wait_is_overlap_that_one_cpu_does_not_take_away() {
    let asleep = || common().waits("sleep", PathKind::Sleep, None, 0.1).blocks("sleep", Wait::Timer, 0.1);
    let a = asleep().beside("sort", WorkKind::User, 0.05, 0);
    let finding = first(a, asleep().runs("sort", WorkKind::User, 0.05, 0), Cause::Overlap, 0.05);
    assert_eq!(finding.fact, Some(Fact::WaitsInTurn { command: Some("sleep".to_owned()) }));
}

#[test]
fn timers_of_others_than_the_path_waits_for_are_no_overlap() {
    let a = common().blocks("runtime", Wait::Timer, 1.0);
    let b = common().waits("sleep", PathKind::Sleep, None, 0.05).blocks("sleep", Wait::Timer, 0.05);
    first(a, b, Cause::Sleep, 0.05);
}

#[test]
fn compute() {
    let finding = first(common(), common().runs("awk", WorkKind::User, 0.05, 0), Cause::Compute, 0.05);
    assert_eq!(finding.fact, Some(Fact::Compute { command: Some("awk".to_owned()), starts: None }));
}

#[test]
fn computing_that_each_start_repeats() {
    let loops = |n: u64, starts: f64, computes: f64| {
        common().runs("jq", WorkKind::Startup, starts, n).runs("jq", WorkKind::User, computes, 0)
    };
    let fact = |finding: Finding| match finding.fact {
        Some(Fact::Compute { starts, .. }) => starts,
        other => panic!("{other:?}"),
    };
    let finding = first(loops(1, 0.0001, 0.002), loops(50, 0.005, 0.1), Cause::Compute, 0.098);
    assert_eq!(fact(finding), Some(Pair { here: 50.0, there: 1.0 }));
    // Each start has more to do than all of the other side, or there are as many starts.
    let finding = first(loops(1, 0.0001, 0.002), loops(3, 0.0003, 0.1), Cause::Compute, 0.098);
    assert_eq!(fact(finding), None);
    let finding = first(loops(50, 0.005, 0.002), loops(50, 0.005, 0.1), Cause::Compute, 0.098);
    assert_eq!(fact(finding), None);
}

#[test]
fn page_faults() {
    let touches =
        |n: u64, faults: f64, end: f64| {
            common()
                .runs("touch", WorkKind::PageFaults, faults, n)
                .runs("touch", WorkKind::Process, end, 0)
                .runs("touch", WorkKind::Memory, faults / 10.0, 3)
        };
    first(touches(1, 1e-6, 1e-4), touches(90_000, 0.06, 0.02), Cause::PageFaults, 0.086);
    // Code that runs longer beside them computes, also where it takes less than they do.
    let both = touches(90_000, 0.06, 0.02).runs("touch", WorkKind::User, 0.03, 0);
    let why = Scene::of(&touches(1, 1e-6, 1e-4).0, &both.0).explain();
    let of = |cause| why.findings.iter().find(|it| it.cause == cause).map_or(0.0, |it| it.seconds);
    assert!((of(Cause::Compute) - 0.03).abs() < 0.003 && (of(Cause::PageFaults) - 0.086).abs() < 0.006);
}

#[test]
fn disk() {
    let reads = |wait: f64, kernel: f64| {
        common()
            .runs("cold", WorkKind::FileData, kernel, 100)
            .moves(FileKind::File, Direction::Read, 100, 1 << 25)
            .waits("cold", PathKind::Disk, None, wait)
            .queues("cold", (SharerKind::Idle, ""), Some(Wait::Disk), (wait / 10.0, 0.0, 0.0))
    };
    first(reads(0.0001, 0.005), reads(0.08, 0.015), Cause::Disk, 0.098);
    first(common(), common().waits("dd", PathKind::WriteBack, None, 0.1), Cause::Disk, 0.1);
}

#[test]
fn lock() {
    let finding =
        first(common(), common().waits("locks", PathKind::Lock, Some("locks"), 0.06), Cause::Lock, 0.06);
    let Some(Fact::Lock { waits_s: Some(waits_s), holder: Some(holder) }) = finding.fact else {
        panic!("{finding:#?}")
    };
    assert!((waits_s - 0.06).abs() < 0.001 && holder == "locks");
}

#[test]
fn sleep() {
    let naps = |s: f64| {
        common().waits("nap", PathKind::Sleep, None, s).runs("nap", WorkKind::Scheduling, s / 100.0, 40)
    };
    first(naps(0.001), naps(0.1), Cause::Sleep, 0.1);
    // Who yields is on the CPU all the while.
    let spins = |s: f64| common().runs("spin", WorkKind::Scheduling, s, 100_000);
    let finding = first(spins(0.001), spins(0.1), Cause::Sleep, 0.099);
    let Some(Fact::Sleep { waits_s: Some(waits_s), .. }) = finding.fact else { panic!("{finding:#?}") };
    assert!(waits_s.abs() < 0.001, "{waits_s}");
}

#[test]
fn cpu_contention() {
    let waits = |s: f64| common().queues("spin", (SharerKind::Other, "hog"), None, (s, 0.0, 0.0));
    let finding = first(waits(0.0001), waits(0.05), Cause::CpuContention, 0.05);
    assert_eq!(finding.fact, Some(Fact::CpuContention { holders: vec!["hog".to_owned()], both: true }));
}

#[test]
fn what_others_take_from_both_is_a_line_of_its_own_and_no_part_of_what_runs_longer() {
    let busy = |user: f64| {
        Trace::new().runs("x", WorkKind::User, user, 0).queues(
            "x",
            (SharerKind::Other, "rustc"),
            None,
            (user * 2.0, 0.0, 0.0),
        )
    };
    let scene = Scene::of(&busy(0.05).0, &busy(0.1).0);
    let (why, others) = (scene.explain(), vec!["rustc".to_owned()]);
    let told: Vec<_> = why.findings.iter().map(|it| (it.cause, (it.seconds * 100.0).round())).collect();
    // Twice as long as it computes, and behind it all the same.
    assert_eq!(told, [(Cause::Compute, 5.0), (Cause::CpuContention, 10.0)]);
    assert_eq!(why.findings[1].fact, Some(Fact::CpuContention { holders: others, both: true }));
    assert!(matches!(why.answer.unwrap().because, Because::Cause { finding: 0, .. }));
    // Others do more beside 'b' only.
    let mut scene = Scene::of(&busy(0.05).0, &busy(0.1).0);
    for batch in scene.batches.iter_mut().filter(|it| it.arm == Arm::Alternative(1)) {
        batch.machine_busy_s = batch.machine_busy_s.map(|busy| busy + batch.makespan_s);
    }
    let why = scene.explain();
    let slowed = &why.findings[1];
    assert!(matches!(slowed.fact, Some(Fact::CpuContention { both: false, .. })), "{slowed:#?}");
}

/// In each observed run the hypervisor took this part of the CPU time of all commands.
fn with_stolen(mut scene: Scene, part: impl Fn(usize, u32) -> f64) -> Scene {
    for run in &mut scene.traced {
        run.report = stolen(&run.report, part(run.alternative, run.round));
    }
    scene
}

#[test]
fn what_the_hypervisor_took_is_no_computing() {
    let longer = common().runs("work", WorkKind::User, 0.05, 0);
    let scene = || {
        // From none of a run to three quarters of it, whoever runs: in the middle a quarter, as of the untraced ones.
        let untraced = |work_s: f64| (work_s / 0.75, work_s);
        let scene = Scene::untraced(&common().0, &longer.0, untraced(0.101), untraced(0.151));
        with_stolen(scene, |index, round| 0.25 * f64::from((round * 5 + 3 * index as u32) % 4))
    };
    let why = scene().explain();
    let finding = &why.findings[0];
    assert_eq!((finding.cause, finding.alternative.as_str()), (Cause::Compute, "b"), "{:#?}", why.findings);
    assert!((finding.seconds / 0.05 - 1.0).abs() < 0.1, "{}", finding.seconds);
    partition(&why);
    // As the events alone have it.
    let mut unknown = scene();
    unknown.traced.iter_mut().for_each(|run| run.report.avoidable = None);
    let seen = unknown.explain().findings[0].clone();
    assert!(seen.cause != Cause::Compute || (seen.seconds / 0.05 - 1.0).abs() > 0.2, "{seen:#?}");
}

#[test]
fn a_difference_that_the_hypervisor_makes_is_told_so() {
    let untraced = |wall_s| (wall_s, 0.101);
    let scene = Scene::untraced(&common().0, &common().0, untraced(0.101), untraced(0.202));
    let why = with_stolen(scene, |index, _| 0.5 * index as f64).explain();
    let finding = &why.findings[0];
    assert_eq!(
        (finding.cause, finding.alternative.as_str()),
        (Cause::CpuContention, "b"),
        "{:#?}",
        why.findings
    );
    assert!((finding.seconds / 0.101 - 1.0).abs() < 0.1, "{}", finding.seconds);
    assert_eq!(finding.fact, Some(Fact::Stolen));
    partition(&why);
}

#[test]
fn misplacement() {
    let waits = |idle: f64, forbidden: f64| {
        common().queues("spin", (SharerKind::Kernel, "kworker"), None, (0.05, idle, forbidden))
    };
    let finding = first(common(), waits(0.05, 0.0), Cause::Misplacement, 0.05);
    let of = |forbidden| Some(Fact::Misplacement { holder: Some("kworker".to_owned()), forbidden });
    assert_eq!(finding.fact, of(false));
    let finding = first(common(), waits(0.0, 0.05), Cause::Misplacement, 0.05);
    assert_eq!(finding.fact, of(true));
}

#[test]
fn stages_that_must_share_a_cpu_are_misplaced_and_what_they_cannot_overlap_as_well() {
    let a = common().runs("sink", WorkKind::User, 0.06, 0).beside("source", WorkKind::User, 0.06, 0);
    let b = common()
        .runs("sink", WorkKind::User, 0.06, 0)
        .runs("source", WorkKind::User, 0.025, 0)
        .beside("source", WorkKind::User, 0.035, 0)
        .queues("sink", (SharerKind::Tree, "source"), None, (0.035, 0.0, 0.035));
    first(a, b, Cause::Misplacement, 0.06);
}

/// Both are pinned to one CPU, so that is no difference: who waits longer there waits for what its other stage has more to do.
#[test]
fn stages_that_share_a_cpu_on_both_sides_are_not_what_differs() {
    let pinned = |beside: f64| {
        let mut it = common()
            .calls("taskset", "sched_setaffinity", 2)
            .beside("source", WorkKind::User, beside, 0)
            .queues("sink", (SharerKind::Tree, "source"), None, (beside, 0.0, beside));
        it.0.commands.push(command("source", vec![0]));
        it
    };
    first(pinned(0.02), pinned(0.08), Cause::Compute, 0.06);
}

#[test]
fn a_wait_that_takes_the_place_of_running_is_counted_once() {
    // On one CPU the sink waits for the source where it ran before.
    let a = common().runs("sink", WorkKind::User, 0.06, 0).runs("source", WorkKind::User, 0.004, 0).beside(
        "source",
        WorkKind::User,
        0.056,
        0,
    );
    let b = common()
        .runs("sink", WorkKind::User, 0.02, 0)
        .beside("sink", WorkKind::User, 0.04, 0)
        .beside("source", WorkKind::User, 0.06, 0)
        .queues("sh (forked)", (SharerKind::Tree, "source"), None, (0.02, 0.0, 0.02))
        .queues("sink", (SharerKind::Tree, "source"), None, (0.08, 0.0, 0.08));
    let finding = first(a, b, Cause::Misplacement, 0.056);
    assert!((finding.share - 1.0).abs() < 0.02, "{}", finding.share);
}

#[test]
fn share() {
    let niced = |s: f64| {
        common().calls("nice", "setpriority", 1).queues(
            "spin",
            (SharerKind::Tree, "hog"),
            None,
            (s, 0.0, 0.0),
        )
    };
    first(niced(0.01), niced(0.06), Cause::Share, 0.05);
    let throttled = common().queues("spin", (SharerKind::Throttled, ""), None, (0.08, 0.0, 0.0));
    let finding = first(common(), throttled, Cause::Share, 0.08);
    assert_eq!(finding.fact, Some(Fact::Throttled));
}

#[test]
fn files() {
    let looks = |calls: u64, seconds: f64| common().runs("ls", WorkKind::FileMetadata, seconds, calls);
    let finding = first(looks(10, 0.0001), looks(4_000, 0.03), Cause::Files, 0.0299);
    let calls = Pair { here: 4_000.0, there: 10.0 };
    let command = |name: &str| Some(name.to_owned());
    assert_eq!(finding.fact, Some(Fact::Files { names: Some(calls), command: command("ls"), file: None }));
    let reads = |seconds: f64| common().runs("diff", WorkKind::FileData, seconds, 30);
    let finding = first(reads(0.001), reads(0.03), Cause::Files, 0.029);
    assert_eq!(finding.fact, Some(Fact::Files { names: None, command: command("diff"), file: None }));
}

#[test]
fn network() {
    let asks = |s: f64| {
        common().waits("net", PathKind::Network, Some("server"), s).runs("net", WorkKind::Socket, 1e-4, 2)
    };
    first(asks(0.001), asks(0.08), Cause::Network, 0.079);
    let local = |s: f64| {
        common().waits("net", PathKind::Outside, Some("server"), s).runs("net", WorkKind::Socket, 1e-4, 2)
    };
    let finding = first(local(0.001), local(0.08), Cause::Network, 0.079);
    assert!(matches!(finding.fact, Some(Fact::Network { local: false, .. })), "{finding:#?}");
    // All of a copy goes through a pair of sockets of its own.
    let copies = |s: f64, kind| {
        let runs = common().runs("rsync", WorkKind::Socket, s, 10_000);
        runs.moves(kind, Direction::Write, 10_000, 1 << 25)
    };
    let finding =
        first(copies(0.001, FileKind::UnixSocket), copies(0.1, FileKind::UnixSocket), Cause::Network, 0.099);
    let Some(Fact::Network { waits_s: Some(waits_s), local: true, .. }) = finding.fact else {
        panic!("{finding:#?}")
    };
    assert!(waits_s.abs() < 0.001, "{waits_s}");
}

#[test]
fn unexplained() {
    let finding =
        first(common(), common().waits("x", PathKind::Unknown, None, 0.05), Cause::Unexplained, 0.05);
    let path = |it: &Measure| matches!(it, Measure::Path { part: PathKind::Unknown, .. });
    assert!(
        matches!(&finding.fact, Some(Fact::Unexplained { most: Some(it), .. }) if path(it)),
        "{finding:?}"
    );
}
