//! What happens at the limits: a ring that is too small, two observers, being killed, few privileges, running trees.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::skip::root;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use common::{Held, able, ended, needs, sh, trace_with, whole};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use whyfaster_core::trace::counts::{Counts, CpuLost};
use whyfaster_core::trace::event::{Event, TaskKind, What};
use whyfaster_trace::{CallsBy, Full, Wanted};

/// In the environment of this test program when it is to be the observer that gets killed.
const VICTIM: &str = "WHYFASTER_TEST_VICTIM";

#[test]
fn a_ring_that_is_too_small_is_reported_as_loss() {
    needs!(able());
    let mut full = Full::open(&Wanted { ring_bytes: 4096, ..Wanted::default() }).unwrap();
    let held = Held::new(&["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done"]);
    let pid = held.pid;
    full.follow(pid).unwrap();
    held.release();
    // Nobody reads while it runs.
    while ended(pid).is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut holes = 0;
    let counts =
        full.finish(&mut |e| holes += if let What::Lost { records } = e.what { records } else { 0 }).unwrap();
    assert_eq!(holes, counts.lost.ring);
    assert!(counts.lost.ring > 0 && counts.lost.any(), "{:?}", counts.lost);
    let lost = &counts.lost;
    let by_cpu = |class: fn(&CpuLost) -> u64| lost.by_cpu.iter().map(class).sum::<u64>();
    assert_eq!(
        [by_cpu(|it| it.ring), by_cpu(|it| it.map), by_cpu(|it| it.storage), by_cpu(|it| it.string)],
        [lost.ring, lost.map, lost.storage, lost.string]
    );
    assert!(lost.by_cpu.windows(2).all(|pair| pair[0].cpu < pair[1].cpu), "{lost:?}");
    // What was counted in the kernel is complete all the same.
    let execs = counts.calls.iter().filter(|c| i64::from(c.call.number) == libc::SYS_execve);
    assert_eq!(execs.map(|c| c.entered).sum::<u64>(), 10);
    let lives = counts.lives;
    assert_eq!((lives.forks, lives.execs, lives.exits), (Some(9), Some(10), Some(10)));
    let table: u64 = counts.calls.iter().map(|c| c.entered).sum();
    assert_eq!(lives.calls_entered, Some(table));
}

#[test]
fn the_beginning_is_told_though_the_ring_is_full_by_then() {
    needs!(able());
    let mut full = Full::open(&Wanted { ring_bytes: 4096, ..Wanted::default() }).unwrap();
    for _ in 0..2 {
        let held = Held::new(&["/bin/true"]);
        let pid = held.pid;
        full.follow(pid).unwrap();
        // Each is a switch or two, and nobody reads.
        (0..500).for_each(|_| std::thread::sleep(Duration::from_micros(50)));
        held.release();
        while ended(pid).is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut events = Vec::new();
        let counts = full.finish_run(&mut |e| events.push(e)).unwrap();
        let child = u32::try_from(pid).unwrap();
        let told: Vec<&Event> =
            events.iter().filter(|e| matches!(e.what, What::Fork { .. } | What::Exec { .. })).collect();
        let [fork, exec] = told[..] else { panic!("{told:?} of {}", events.len()) };
        assert!(matches!(&fork.what, What::Fork { parent: 0, child: it, allowed, .. }
            if *it == child && allowed.iter().any(|word| *word != 0)));
        let What::Exec { task, name, .. } = &exec.what else { panic!("{told:?}") };
        assert_eq!((*task, name.as_str()), (child, "true"));
        assert!(fork.at < exec.at && counts.lives.last_end_ns.is_some_and(|at| at > exec.at));
        // Where a short record still found room behind a long one that did not, that one tells of a first hole.
        let holes: Vec<(u64, u64)> = events
            .iter()
            .filter_map(|e| if let What::Lost { records } = e.what { Some((e.at, records)) } else { None })
            .collect();
        let records: u64 = holes.iter().map(|hole| hole.1).sum();
        assert!(records == counts.lost.ring && records > 1, "{holes:?}");
        assert!(holes.last().is_some_and(|last| last.0 >= exec.at && last.1 > 1), "{holes:?} {}", exec.at);
        assert_eq!(counts.lost.late, 0);
    }
}

#[test]
fn files_that_are_mapped_wake_the_reader_before_their_records_are_lost() {
    needs!(able());
    let mut full = Full::open(&Wanted { samples_per_s: Some(1), ..Wanted::default() }).unwrap();
    full.poll(&mut |_| {}).unwrap();
    // All into the ring of one CPU: 1,500 records of 150 bytes or more fill 256 KiB by more than half.
    let mut one = CpuSet::new();
    one.set(sched_getcpu());
    sched_setaffinity(None, &one).unwrap();
    let file = File::open("/proc/self/exe").unwrap();
    for _ in 0..1500 {
        // SAFETY: a mapping of its own, which nobody uses.
        unsafe {
            let (prot, flags) = (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE);
            let mapped = libc::mmap(std::ptr::null_mut(), 4096, prot, flags, file.as_raw_fd(), 0);
            libc::munmap(mapped, 4096);
        }
    }
    let mut fds = [PollFd::new(&full, PollFlags::IN)];
    let most = Timespec { tv_sec: 20, tv_nsec: 0 };
    assert_eq!(rustix::event::poll(&mut fds, Some(&most)).unwrap(), 1);
}

#[test]
fn what_comes_behind_a_hole_keeps_its_own_time() {
    needs!(able());
    let wanted = Wanted { ring_bytes: 1 << 16, each_call: true, ..Wanted::default() };
    let mut full = Full::open(&wanted).unwrap();
    let held = Held::new(&["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=60000", "status=none"]);
    let pid = held.pid;
    full.follow(pid).unwrap();
    held.release();
    let mut events = Vec::new();
    // Read so seldom that the ring is full again and again.
    let mut left = 2000;
    while ended(pid).is_none() && left > 0 {
        std::thread::sleep(Duration::from_millis(5));
        full.poll(&mut |e| events.push(e)).unwrap();
        left -= 1;
    }
    let counts = full.finish(&mut |e| events.push(e)).unwrap();
    assert!(counts.lost.ring > 0, "{:?}", counts.lost);
    assert_eq!((counts.lost.late, counts.lives.exits), (0, Some(1)));
    assert!(events.windows(2).all(|pair| pair[0].at <= pair[1].at));
    let holes = events.iter().filter_map(|e| match e.what {
        What::Lost { records } => Some(records),
        _ => None,
    });
    assert_eq!(holes.sum::<u64>(), counts.lost.ring);
    // A call of no bytes to speak of does not last until the next look at the ring, and each ends at its own moment.
    let mut ends: Vec<u64> = Vec::new();
    let mut long = 0;
    for event in &events {
        if let What::Call(call) = &event.what
            && i64::from(call.call.number) == libc::SYS_read
        {
            ends.push(event.at);
            let passed = event.at - call.began;
            long += usize::from(passed > 1_000_000 + call.runnable_ns);
        }
    }
    let shown = ends.len();
    ends.dedup();
    assert!(shown > 100 && ends.len() == shown, "{} of {shown} ends", ends.len());
    assert!(long * 20 < shown, "{long} of {shown} calls last for more than 1 ms");
    // The last end that the kernel counted lies behind all that was shown of the tree, not before.
    let last = events.iter().rev().find(|e| matches!(e.what, What::Call(_))).unwrap().at;
    assert!(counts.lives.last_end_ns.is_some_and(|at| at >= last));
}

/// Observes one command of several.
fn one_of_several(full: &mut Full, argv: &[&str]) -> Counts {
    let nothing = &mut |_: Event| {};
    let held = Held::new(argv);
    let pid = held.pid;
    full.follow(pid).unwrap();
    held.release();
    let mut gone = false;
    while !gone || full.alive() > 0 {
        std::thread::sleep(Duration::from_millis(5));
        full.poll(nothing).unwrap();
        gone = gone || ended(pid).is_some();
    }
    full.finish_run(nothing).unwrap()
}

#[test]
fn calls_for_which_no_counter_is_left_are_lost_and_the_counters_come_back() {
    needs!(able());
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path().display();
    // Each name is a command of its own, with some twenty different calls.
    let many = format!("for i in $(seq 300); do ln -s /bin/true {at}/$i; {at}/$i; done");
    let mut full = Full::open(&Wanted::default()).unwrap();
    let full_house = one_of_several(&mut full, &["sh", "-c", &many]);
    let table = |counts: &Counts| counts.calls.iter().map(|c| c.entered).sum::<u64>();
    assert!(full_house.lost.map > 0, "{:?}", full_house.lost);
    assert_eq!(full_house.lives.calls_entered, Some(table(&full_house) + full_house.lost.map));
    let [one, other] = [(); 2].map(|()| one_of_several(&mut full, &["sh", "-c", "/bin/true; /bin/true"]));
    for counts in [&one, &other] {
        assert!(!counts.lost.any(), "{:?}", counts.lost);
        assert_eq!(counts.lives.calls_entered, Some(table(counts)));
    }
    assert_eq!(table(&one), table(&other));
}

fn wait_for(what: &str, mut it: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !it() {
        assert!(Instant::now() < until, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Of the process that asks, neither the beginning nor thus its life is known: it seems to be over when its thread is.
#[test]
fn calls_of_a_process_that_seemed_to_be_over_are_counted_and_told_as_lost() {
    needs!(able());
    let directory = tempfile::tempdir().unwrap();
    let source = r#"
        #include <pthread.h>
        #include <signal.h>
        #include <sys/syscall.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static void *ends(void *none) { return none; }
        static void children(void) {
            for (int i = 0; i < 600; i++) {
                int child = fork();
                if (!child) _exit(0);
                waitpid(child, 0, 0);
            }
        }
        int main(void) {
            int begin[2], go_on[2];
            char byte;
            pipe(begin), pipe(go_on);
            children();
            if (!fork()) {
                pthread_t thread;
                read(begin[0], &byte, 1);
                pthread_create(&thread, 0, ends, 0);
                pthread_join(thread, 0);
                read(go_on[0], &byte, 1);
                for (int i = 0; i < 1000; i++) syscall(SYS_getppid);
                return 0;
            }
            raise(SIGSTOP);
            write(begin[1], "x", 1);
            children();
            write(go_on[1], "x", 1);
            wait(0);
            return 0;
        }"#;
    let held = Held::new(&[&common::compiled(source, directory.path())]);
    let pid = held.pid;
    let by_process = Wanted { calls_by: CallsBy::Process, scheduling: false, ..Wanted::default() };
    let mut full = Full::open(&Wanted { ring_bytes: 1 << 16, ..by_process }).unwrap();
    full.follow(pid).unwrap();
    held.release();
    // Nobody reads until it stops.
    let stopped = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") T ");
    wait_for("it has stopped", stopped);
    full.poll(&mut drop).unwrap();
    // SAFETY: our own child, which was not waited for.
    unsafe { libc::kill(pid, libc::SIGCONT) };
    wait_for("it has ended", || {
        full.poll(&mut drop).unwrap();
        ended(pid).is_some() && full.alive() == 0
    });
    let counts = full.finish(&mut drop).unwrap();
    let asked = counts.calls.iter().filter(|c| i64::from(c.call.number) == libc::SYS_getppid);
    let asked: Vec<_> = asked.map(|c| (c.by.process, c.entered)).collect();
    assert_eq!(asked, [(None, 1000)], "{:?}", counts.lost);
    assert!(counts.lost.ring > 0 && counts.lost.map >= 1000, "{:?}", counts.lost);
    assert_eq!(counts.lives.calls_entered, Some(counts.calls.iter().map(|c| c.entered).sum()));
}

#[test]
fn two_observers_at_once_see_each_its_own_tree() {
    needs!(able());
    let scripts = ["seq 100 | xargs -n1 /bin/true", "seq 200 | xargs -n1 /bin/true"];
    let threads = scripts.map(|s| std::thread::spawn(move || whole(sh(&Wanted::default(), s))));
    let [a, b] = threads.map(|t| t.join().unwrap());
    for (traced, n) in [(&a, 100), (&b, 200)] {
        assert_eq!(traced.execs().iter().filter(|e| *e == "true").count(), n);
        assert_eq!(traced.forks(), traced.ends());
    }
}

#[test]
fn two_observers_follow_the_same_processes_concurrently() {
    needs!(able());
    let held: Vec<_> = (0..200).map(|_| Held::new(&["true"])).collect();
    let pids: Vec<_> = held.iter().map(|it| it.pid).collect();
    let turn = Barrier::new(2);
    let follow = || {
        let mut full = Full::open(&Wanted::default()).unwrap();
        let each = pids.iter().map(|pid| {
            turn.wait();
            full.follow(*pid)
        });
        each.filter_map(Result::err).map(|e| e.to_string()).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let observers = [scope.spawn(follow), scope.spawn(follow)];
        assert_eq!(observers.map(|it| it.join().unwrap()), [[""; 0]; 2]);
    });
    held.into_iter().for_each(Held::release);
    pids.iter().for_each(|pid| wait_for("it has ended", || ended(*pid) == Some(0)));
}

#[test]
fn calibrating_measures_and_leaves_no_trace() {
    needs!(able());
    let mut full = Full::open(&Wanted::default()).unwrap();
    let began = Instant::now();
    let own = full.calibrate().unwrap();
    eprintln!("calibrated in {:?}: {own:?}", began.elapsed());
    // Where other processes disturb the calibration too much, there is no value.
    assert!(own.call_ns.is_none_or(|ns| ns > 0.0), "{own:?}");
    assert!(own.switch_ns.is_none_or(|ns| ns > 0.0), "{own:?}");
    assert_eq!(full.alive(), 0);
    assert!(full.memory_bytes() > 1 << 24);
    let t = trace_with(full, &["/bin/true"]);
    assert_eq!((t.forks(), t.ends()), (1, 1));
    assert_eq!(t.counts.calls.iter().filter(|c| i64::from(c.call.number) == libc::SYS_getppid).count(), 0);
    assert_eq!(t.counts.own.call_ns, own.call_ns);
    assert!(t.counts.own.tool_ns > 0);
}

#[test]
fn this_process_is_labelled_as_the_tool() {
    needs!(able());
    let t = sh(&Wanted::default(), "sleep 0.1");
    let own = std::process::id();
    let label = |w: &What| matches!(w, What::Name { process, kind: TaskKind::Tool, .. } if *process == own);
    assert!(t.how_many(label) > 0);
    let kernel = |w: &What| matches!(w, What::Name { kind: TaskKind::Kernel, .. });
    assert!(t.how_many(kernel) > 0);
}

/// A shell and all that it starts; gone with this, also when a test fails.
struct Group(std::process::Child);

impl Group {
    fn start(script: &str) -> Self {
        let mut command = Command::new("sh");
        Self(command.args(["-c", script]).stdout(Stdio::null()).process_group(0).spawn().unwrap())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // SAFETY: the group of our own child, which we have not waited for yet.
        unsafe { libc::kill(-i32::try_from(self.0.id()).unwrap(), libc::SIGKILL) };
        let _ = self.0.wait();
    }
}

#[test]
fn a_running_tree_is_taken_up_with_its_threads_and_children() {
    needs!(able());
    let group = Group::start("sleep 100 & while :; do /bin/true; sleep 0.02; done");
    std::thread::sleep(Duration::from_millis(100));
    let mut full = Full::open(&Wanted::default()).unwrap();
    let pid = i32::try_from(group.0.id()).unwrap();
    let tasks = full.follow_running(pid).unwrap();
    assert!(tasks >= 2, "{tasks}");
    assert!(full.alive() >= 2);
    let mut events = Vec::new();
    let enough = |events: &[Event]| {
        events.iter().filter(|e| matches!(&e.what, What::Exec { name, .. } if name == "true")).count() >= 3
    };
    for _ in 0..1000 {
        std::thread::sleep(Duration::from_millis(10));
        full.poll(&mut |e| events.push(e)).unwrap();
        if enough(&events) {
            break;
        }
    }
    let counts = full.finish(&mut |e| events.push(e)).unwrap();
    drop(group);
    let t = common::Traced { events, counts, status: 0 };
    assert!(t.execs().iter().filter(|n| *n == "true").count() >= 3, "{:?}", t.execs());
    // All that were there begin together, but who was gone before it was told, and nothing of the tree lies before that.
    let gone = |at: u64, task: u32| {
        let ends = |e: &Event| e.at == at && matches!(e.what, What::End { task: it, .. } if it == task);
        t.events.iter().any(ends)
    };
    let began: BTreeSet<u64> = t
        .events
        .iter()
        .filter(|e| matches!(e.what, What::Fork { parent: 0, child, .. } if !gone(e.at, child)))
        .map(|e| e.at)
        .collect();
    assert_eq!(began.len(), 1, "{began:?}");
    let of_tree = |e: &&Event| matches!(e.what, What::Fork { .. } | What::Exec { .. } | What::End { .. });
    assert!(t.events.iter().filter(of_tree).all(|e| began.first().is_some_and(|began| e.at >= *began)));
    let alive = t.how_many(|w| matches!(w, What::End { status: None, .. }));
    assert_eq!(t.forks(), t.ends() + alive, "{:?}", t.counts.lost);
    assert!(alive >= 2);
    let waits = t.counts.calls.iter().any(|c| i64::from(c.call.number) == libc::SYS_wait4 && c.entered > 0);
    assert!(waits);
    assert!(Full::open(&Wanted::default()).unwrap().follow_running(i32::MAX).is_err());
}

/// So many tasks that what is told of them is far more than the kernel's buffer holds.
const MANY: usize = 2001;

/// A process with so many tasks, which wait; not released yet.
fn with_many_threads(directory: &std::path::Path) -> Held {
    let source = r#"
        #include <pthread.h>
        #include <unistd.h>
        static void *waits(void *none) { pause(); return none; }
        int main(void) {
            pthread_attr_t small;
            pthread_t thread;
            pthread_attr_init(&small);
            pthread_attr_setstacksize(&small, 65536);
            for (int i = 0; i < 2000; i++)
                if (pthread_create(&thread, &small, waits, 0)) return 1;
            pause();
        }"#;
    Held::new(&[&common::compiled(source, directory)])
}

/// Of how many tasks the trace tells the beginning, and of how many that they live still. The process is killed then.
fn told_of(pid: i32, full: Full, mut events: Vec<Event>) -> (usize, usize) {
    let counts = full.finish(&mut |e| events.push(e)).unwrap();
    // SAFETY: our own child, which was not waited for.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    let t = common::Traced { events, counts, status: 0 };
    (t.forks(), t.how_many(|w| matches!(w, What::End { status: None, .. })))
}
#[test]
fn of_many_living_tasks_each_is_told_once() {
    needs!(able());
    let directory = tempfile::tempdir().unwrap();
    let held = with_many_threads(directory.path());
    let pid = held.pid;
    let mut full = Full::open(&Wanted { scheduling: false, ..Wanted::default() }).unwrap();
    full.follow(pid).unwrap();
    held.release();
    let mut events = Vec::new();
    while full.alive() < MANY as u64 && ended(pid).is_none() {
        std::thread::sleep(Duration::from_millis(10));
        full.poll(&mut |e| events.push(e)).unwrap();
    }
    assert_eq!(told_of(pid, full, events), (MANY, MANY));
}

#[test]
fn of_many_threads_that_run_already_each_is_taken_up() {
    needs!(able());
    let directory = tempfile::tempdir().unwrap();
    let held = with_many_threads(directory.path());
    let pid = held.pid;
    held.release();
    let threads = || std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().count();
    while threads() < MANY && ended(pid).is_none() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut full = Full::open(&Wanted { scheduling: false, ..Wanted::default() }).unwrap();
    assert_eq!(full.follow_running(pid).unwrap(), MANY);
    assert_eq!(told_of(pid, full, Vec::new()), (MANY, MANY));
}

/// Links to programs that a process holds, by their numbers in the kernel.
fn links_of(pid: u32) -> BTreeSet<u32> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).unwrap().flatten();
    let link = |file: std::fs::DirEntry| {
        let text = std::fs::read_to_string(file.path()).ok()?;
        text.lines().find_map(|l| l.strip_prefix("link_id:"))?.trim().parse().ok()
    };
    files.filter_map(link).collect()
}

/// Whether the kernel still has a link of this number. A walk over all links would end early where another trace takes its own away.
fn has_link(number: u32) -> bool {
    // SAFETY: a plain call with a number.
    let file = unsafe { libbpf_rs::libbpf_sys::bpf_link_get_fd_by_id(number) };
    // SAFETY: the kernel has just made this descriptor for us.
    file >= 0 && unsafe { libc::close(file) } == 0
}

#[test]
fn when_it_is_killed_no_program_stays_in_the_kernel() {
    needs!(able());
    if std::env::var_os(VICTIM).is_some() {
        let _full = Full::open(&Wanted::default()).unwrap();
        println!("attached");
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["when_it_is_killed_no_program_stays_in_the_kernel", "--exact", "--nocapture"])
        .env(VICTIM, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    assert!(lines.any(|l| l.unwrap().contains("attached")));
    let held = links_of(victim.id());
    assert!(held.len() > 10, "{held:?}");
    assert!(held.iter().all(|&link| has_link(link)), "{held:?}");
    victim.kill().unwrap();
    victim.wait().unwrap();
    // The kernel gives the last reference back a little later.
    let gone = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !held.iter().any(|&link| has_link(link))
    });
    assert!(gone, "{held:?}");
}

#[test]
fn two_capabilities_are_enough_for_anybody() {
    needs!(able().and(root()));
    // The build directory may be closed to others.
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let program = directory.path().join("limits");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for test in ["two_observers_at_once_see_each_its_own_tree", "calibrating_measures_and_leaves_no_trace"] {
        let output = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=+bpf,+perfmon"])
            .args(["--ambient-caps=+bpf,+perfmon", "--bounding-set=-all,+bpf,+perfmon", "--"])
            .arg(&program)
            .args([test, "--exact", "--nocapture"])
            .env("WHYFASTER_REQUIRE", "full")
            .output()
            .unwrap();
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}

#[test]
fn without_capabilities_it_says_what_is_missing_and_what_gives_it() {
    const ASKED: &str = "WHYFASTER_TEST_UNSUPPORTED";
    if std::env::var_os(ASKED).is_some() {
        let refused = Full::open(&Wanted::default()).unwrap_err().to_string();
        assert!(refused.contains("CAP_BPF and CAP_PERFMON") && refused.contains("sudo"), "{refused}");
        println!("asked");
        return;
    }
    needs!(root());
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let program = directory.path().join("limits");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(&program)
        .args(["without_capabilities_it_says_what_is_missing_and_what_gives_it", "--exact", "--nocapture"])
        .env(ASKED, "1")
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("asked"), "{said}");
}
