//! What the full level streams: run time, blocking, wake-ups, calls one by one, stacks.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;

use common::skip::root;
use common::{able, compiled, compiled_with, needs, sh, trace, whole};
use whyfaster_core::trace::event::{Context, FileKind, Left, TaskKind, What};
use whyfaster_core::trace::report::WorkKind;
use whyfaster_trace::Wanted;

#[test]
fn run_time_of_the_stream_equals_the_kernels_account() {
    needs!(able());
    let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done & seq 100000 | sort -n | tail -1; wait";
    let t = whole(sh(&Wanted::default(), script));
    let mut since: BTreeMap<u32, u64> = BTreeMap::new();
    let mut ran: BTreeMap<u32, u64> = BTreeMap::new();
    let mut account: BTreeMap<u32, u64> = BTreeMap::new();
    let mut unseen = 0;
    for e in &t.events {
        match &e.what {
            What::Fork { parent: 0, child, .. } => {
                since.insert(*child, e.at);
            }
            // Whoever came unseen is told to have the CPU from there on.
            What::Switch { prev, next, .. } => {
                if let Some(from) = since.remove(prev).filter(|_| prev != next) {
                    *ran.entry(*prev).or_default() += e.at - from;
                }
                since.insert(*next, e.at);
            }
            What::End { task, totals, .. } => {
                account.insert(*task, totals.on_cpu_ns());
                unseen += totals.unseen_ns;
            }
            _ => {}
        }
    }
    let streamed: u64 = account.keys().map(|task| ran.get(task).copied().unwrap_or(0)).sum();
    let kernel: u64 = account.values().sum();
    assert!(
        streamed.abs_diff(kernel) < kernel / 100 + unseen,
        "streamed {streamed} ns, the kernel counted {kernel} ns; {:?}",
        t.counts.lost
    );
}

#[test]
fn a_wait_for_a_pipe_names_the_pipe_and_who_ended_it() {
    needs!(able());
    // The writer begins when the reader sleeps.
    let directory = tempfile::tempdir().unwrap();
    let pid = directory.path().join("pid").display().to_string();
    let asleep =
        format!("[ -s {pid} ] && read p < {pid} && read _ c s _ < /proc/$p/stat && [ $c$s = \"(cat)S\" ]");
    let writer = format!("sleep 0.3; until {asleep}; do sleep 0.01; done; echo x");
    let t = sh(&Wanted::default(), &format!("sh -c '{writer}' | sh -c 'echo $$ > {pid}; exec cat'"));
    let name = names(&t.events);
    let cat = *name.iter().find(|(_, n)| *n == "cat").unwrap().0;
    let blocks: Vec<_> = t
        .events
        .iter()
        .filter_map(|e| match &e.what {
            What::Switch { prev, block: Some(b), left, .. } if *prev == cat => Some((*b, *left)),
            _ => None,
        })
        .filter(|(b, _)| b.file == FileKind::Pipe)
        .collect();
    assert!(!blocks.is_empty());
    for (block, left) in blocks {
        assert_eq!(i64::from(block.call.unwrap().number), libc::SYS_read);
        assert!(block.inode != 0 && left == Left::Sleeping && !block.fault);
    }
    let pipes: Vec<_> = t
        .events
        .iter()
        .filter_map(|e| {
            if let What::Pipes { task, input, output } = e.what { Some((task, input, output)) } else { None }
        })
        .collect();
    let read = pipes.iter().find(|(task, ..)| *task == cat).unwrap().1;
    assert!(read != 0 && pipes.iter().any(|(task, _, output)| *task != cat && *output == read), "{pipes:?}");
    let sleep = t.events.iter().any(|e| matches!(&e.what, What::Wake { wakee, context: Context::Timer, .. } if name.get(wakee).is_some_and(|n| n == "sleep")));
    assert!(sleep, "the timer wakes sleep");
    let woken = t.events.iter().any(|e| matches!(&e.what, What::Wake { wakee, waker, context: Context::Task } if *wakee == cat && name.get(waker).is_some_and(|n| n == "sh")));
    assert!(woken, "the shell that writes wakes cat");
}

/// Of the tree: a neighbour may run a program of the same name.
fn names(events: &[whyfaster_core::trace::event::Event]) -> BTreeMap<u32, String> {
    let mut all = BTreeMap::new();
    for e in events {
        if let What::Name { task, name, kind: TaskKind::Tree, .. } = &e.what {
            all.insert(*task, name.clone());
        }
    }
    all
}

#[test]
fn blocked_and_runnable_time_within_a_call_is_told_apart() {
    needs!(able());
    let t = trace(&Wanted::default(), &["sleep", "0.3"]);
    let nap = t.counts.calls.iter().find(|c| i64::from(c.call.number) == libc::SYS_clock_nanosleep).unwrap();
    let (total, blocked) = (nap.total_ns.unwrap(), nap.blocked_ns.unwrap());
    assert!(
        total >= 300_000_000 && blocked <= total && blocked as f64 > 0.95 * total as f64 - 1e7,
        "{nap:?}"
    );
    assert_eq!(nap.histogram.iter().sum::<u64>(), 1);
    assert_eq!(nap.histogram.len() - 1, usize::try_from(total.ilog2()).unwrap());
}

#[test]
fn affinity_is_told_at_the_fork_and_when_it_changes() {
    needs!(able());
    let t = sh(&Wanted::default(), "taskset -c 0 sh -c '/bin/true; :'");
    let now_one = t.how_many(
        |w| matches!(w, What::Allowed { cpus, .. } if cpus[0] == 1 && cpus[1..].iter().all(|c| *c == 0)),
    );
    let inherited = t.how_many(|w| matches!(w, What::Fork { allowed, .. } if allowed[0] == 1));
    assert!(now_one >= 1 && inherited >= 1, "{now_one} {inherited}");
}

#[test]
fn every_call_comes_with_its_path_arguments_and_result() {
    needs!(able());
    let wanted = Wanted { each_call: true, ..Wanted::default() };
    let t = sh(&wanted, "cat /nonesuch/file; /bin/true");
    let calls: Vec<_> = t
        .events
        .iter()
        .filter_map(|e| if let What::Call(c) = &e.what { Some((e.at, c)) } else { None })
        .collect();
    let open = calls.iter().find(|(_, c)| c.path.as_deref() == Some("/nonesuch/file")).unwrap();
    assert_eq!(open.1.result, Some(-i64::from(libc::ENOENT)));
    assert!(open.0 > open.1.began);
    let execs: Vec<_> = calls
        .iter()
        .filter(|(_, c)| i64::from(c.call.number) == libc::SYS_execve && c.result == Some(0))
        .map(|(_, c)| c.path.clone().unwrap())
        .collect();
    assert_eq!(execs.len(), 3, "{execs:?}");
    assert!(execs[0].ends_with("/sh") && execs[1].ends_with("/cat") && execs[2] == "/bin/true", "{execs:?}");
    let ends = calls.iter().filter(|(_, c)| i64::from(c.call.number) == libc::SYS_exit_group);
    assert_eq!(ends.clone().count(), 3);
    assert!(ends.clone().all(|(_, c)| c.result.is_none()));
    let counted: u64 = t.counts.calls.iter().map(|c| c.entered).sum();
    assert_eq!(counted, calls.len() as u64);
}

#[test]
fn stacks_name_the_functions_of_the_program_and_of_the_kernel() {
    needs!(able());
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(
        r#"
        #include <time.h>
        #include <unistd.h>
        __attribute__((noinline, optimize("no-omit-frame-pointer"))) long spin_for_the_test(long n) {
            volatile long sum = 0;
            for (long i = 0; i < n; i++) sum += i;
            return sum;
        }
        __attribute__((optimize("no-omit-frame-pointer"))) int main(void) {
            struct timespec t = {0, 1000000};
            for (int i = 0; i < 20; i++) nanosleep(&t, 0);
            return spin_for_the_test(200000000) == 1;
        }"#,
        directory.path(),
    );
    let wanted = Wanted { samples_per_s: Some(997), blocking_stacks: true, ..Wanted::default() };
    let t = trace(&wanted, &[&program]);
    let stacks = || t.events.iter().filter_map(|e| if let What::Stack(s) = &e.what { Some(s) } else { None });
    let spinning = stacks()
        .filter(|s| !s.blocking && s.user.first().is_some_and(|f| f.starts_with("spin_for_the_test")));
    assert!(spinning.count() > 20, "{:?}", stacks().take(20).collect::<Vec<_>>());
    let naps = stacks().filter(|s| s.blocking && !s.kernel.is_empty());
    assert!(naps.clone().count() >= 20);
    if std::fs::read_to_string("/proc/kallsyms").unwrap().lines().any(|l| !l.starts_with("0000000000000000"))
    {
        assert!(
            naps.clone().any(|s| s.kernel.iter().any(|f| f.contains("nanosleep"))),
            "{:?}",
            naps.clone().next_back()
        );
    }
    assert_eq!(t.counts.lost.stack, 0);
}

/// In a container, say.
#[test]
fn functions_of_a_program_with_a_root_directory_of_its_own_are_named_from_there() {
    needs!(able().and(root()));
    let directory = tempfile::tempdir().unwrap();
    let source = r#"
        __attribute__((noinline)) long spin_below_another_root(long n) {
            volatile long sum = 0;
            for (long i = 0; i < n; i++) sum += i;
            return sum;
        }
        int main(void) { return spin_below_another_root(300000000) == 1; }"#;
    compiled_with(&["-static"], source, directory.path());
    let wanted = Wanted { samples_per_s: Some(997), count_samples: true, ..Wanted::default() };
    let t = trace(&wanted, &["chroot", directory.path().to_str().unwrap(), "/program"]);
    let sampled = t.counts.sampled.expect("samples were counted");
    let first = &sampled.functions[0].code;
    assert_eq!(first.symbol.as_deref(), Some("spin_below_another_root"), "{:?}", sampled.functions);
    assert_eq!(first.file.as_deref(), Some("/program"));
}

#[test]
fn samples_are_counted_by_function_and_no_stack_is_streamed() {
    needs!(able());
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(
        r#"
        #include <stdlib.h>
        #include <string.h>
        __attribute__((noinline)) long spin_for_the_test(long n) {
            volatile long sum = 0;
            for (long i = 0; i < n; i++) sum += i;
            return sum;
        }
        __attribute__((optimize("no-omit-frame-pointer"))) int main(void) {
            for (int i = 0; i < 100; i++) {
                char *fresh = malloc(1 << 20);
                memset(fresh, 1, 1 << 20);
                spin_for_the_test(12000000);
            }
            return 0;
        }"#,
        directory.path(),
    );
    let wanted = Wanted { samples_per_s: Some(997), count_samples: true, ..Wanted::default() };
    let t = trace(&wanted, &[&program]);
    assert!(!t.events.iter().any(|event| matches!(event.what, What::Stack(_))));
    let sampled = t.counts.sampled.expect("samples were counted");
    let all: u64 = sampled.functions.iter().map(|row| row.samples).sum();
    // Those within calls are taken and not counted.
    assert!(all > 50 && all <= t.counts.own.samples, "{all} {:?}", t.counts.own);
    assert!(t.counts.own.sampling_ns > 0 && sampled.per_s == 997);
    let first = &sampled.functions[0];
    assert_eq!((first.command.as_str(), first.kind), ("program", WorkKind::User), "{:?}", sampled.functions);
    assert_eq!(first.code.symbol.as_deref(), Some("spin_for_the_test"));
    assert_eq!(first.code.file.as_deref(), Some(program.as_str()));
    assert!(first.samples * 2 > all, "{:?}", sampled.functions);
    let kinds: Vec<WorkKind> = sampled.functions.iter().map(|row| row.kind).collect();
    assert!(kinds.contains(&WorkKind::PageFaults), "{:?}", sampled.functions);
    // The same samples by stack, from the outermost function on, and those within calls beside them.
    let stacks = &t.counts.stacks;
    let inner = |names: &[&str]| names.ends_with(&["main", "spin_for_the_test"]);
    let of = |row| stacks.frames(row).filter_map(|code| code.symbol.as_deref()).collect::<Vec<_>>();
    let spins: u64 = stacks.stacks.iter().filter(|row| inner(&of(row))).map(|row| row.samples).sum();
    assert!(spins * 2 > all, "{spins} of {all}: {stacks:#?}");
    let stacked: u64 = stacks.stacks.iter().map(|row| row.samples).sum();
    assert!(all <= stacked && stacked <= t.counts.own.samples && stacks.left_out == 0, "{stacked} of {all}");
}

/// The kernel tells its own numbers of processes, and /proc those of the namespace.
#[test]
fn in_a_namespace_with_numbers_of_its_own_code_has_its_names_and_waits_are_found() {
    needs!(able().and(root()));
    let output = std::process::Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc"])
        .arg(std::env::current_exe().unwrap())
        .args(["samples_are_counted_by_function_and_no_stack_is_streamed", "--exact", "--nocapture"])
        .arg("where_a_task_waits_that_is_taken_up_is_told")
        .env("WHYFASTER_REQUIRE", "full")
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat();
    assert!(output.status.success() && said.contains("2 passed"), "{said}");
}

/// What a test leaves running, gone with this.
struct Waiting(std::process::Child);

impl Drop for Waiting {
    fn drop(&mut self) {
        // SAFETY: the group of our own child, which we have not waited for yet.
        unsafe { libc::kill(-i32::try_from(self.0.id()).unwrap(), libc::SIGKILL) };
        let _ = self.0.wait();
    }
}

#[test]
fn where_a_task_waits_that_is_taken_up_is_told() {
    use std::os::unix::process::CommandExt;
    use whyfaster_trace::Full;
    needs!(able());
    // A child that sleeps, a reader of a pipe, one that was stopped, and the shell that waits for them.
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", "sleep 100 | cat & sleep 200 & sleep 0.1; kill -STOP $!; sleep 300; :"])
        .process_group(0);
    let group = Waiting(command.stdout(std::process::Stdio::null()).spawn().unwrap());
    std::thread::sleep(std::time::Duration::from_millis(300));
    let mut full = Full::open(&Wanted::default()).unwrap();
    full.follow_running(i32::try_from(group.0.id()).unwrap()).unwrap();
    let mut events = Vec::new();
    full.finish(&mut |e| events.push(e)).unwrap();
    let name = names(&events);
    let mut waits: Vec<_> = events
        .iter()
        .filter_map(|e| match &e.what {
            What::Waits { task, left, block } => {
                let call = block.call.map_or(-1, |c| i64::from(c.number));
                Some((name[task].as_str(), *left, call, block.file))
            }
            _ => None,
        })
        .collect();
    waits.sort_by_key(|(name, left, ..)| ((*name).to_owned(), *left != Left::Sleeping));
    assert_eq!(waits.len(), 5, "{waits:?}");
    assert_eq!(waits[0], ("cat", Left::Sleeping, libc::SYS_read, FileKind::Pipe));
    assert_eq!(waits[1], ("sh", Left::Sleeping, libc::SYS_wait4, FileKind::None));
    assert_eq!(waits[2], ("sleep", Left::Sleeping, libc::SYS_clock_nanosleep, FileKind::None));
    assert_eq!((waits[4].0, waits[4].1), ("sleep", Left::Stopped));
}
