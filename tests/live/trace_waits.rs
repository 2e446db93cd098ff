//! Waits of a known size come out under the right name, within 5%.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use crate::support::Sandbox;
use crate::support::group::Group;
use crate::support::needs::{Need, full, machine, needs, root};
use crate::support::trace::{assert_whole, compile, rows, traced, waited, within_5_percent};
use serde_json::Value;

/// One trace at a time: the other tests would keep the second CPU busy.
fn full_trace(place: &Sandbox, args: &[&str]) -> Value {
    let trace = traced(place, &[&["--level", "full"], args].concat());
    assert_whole(&trace);
    trace
}

#[test]
fn sleeping_is_a_timer() {
    needs!(full());
    let trace = full_trace(&Sandbox::new(), &["-N", "sleep 1"]);
    within_5_percent(waited(&trace, "sleep", "timer"), 1.0, &trace);
}

#[test]
fn an_empty_pipe_names_its_writer() {
    needs!(full());
    let trace = full_trace(&Sandbox::new(), &["(sleep 2; echo x) | cat"]);
    within_5_percent(waited(&trace, "cat", "pipe_empty"), 2.0, &trace);
    within_5_percent(waited(&trace, "sleep", "timer"), 2.0, &trace);
}

#[test]
fn a_full_pipe_is_told_from_an_empty_one() {
    needs!(full());
    let trace = full_trace(&Sandbox::new(), &["head -c 1000000 /dev/zero | (sleep 3; cat >/dev/null)"]);
    within_5_percent(waited(&trace, "head", "pipe_full"), 3.0, &trace);
}

#[test]
fn waiting_for_a_child_names_it() {
    needs!(full());
    let trace = full_trace(&Sandbox::new(), &["sleep 2; :"]);
    within_5_percent(waited(&trace, "sh", "child"), 2.0, &trace);
    let peer = rows(&trace, "waits").iter().find(|row| row["cause"] == "child" && row["peer"] == "sleep");
    assert!(peer.is_some(), "{:#}", trace["waits"]);
}

/// Sleeps for 400 ms and reads its standard input, by calls of the 32-bit table. 77: this kernel has none.
#[cfg(target_arch = "x86_64")]
const COMPAT: &str = r#"
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
static long call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "r8", "r9", "r10", "r11", "memory");
    return result;
}
static void none(int signal) { _exit(77); }
int main(void) {
    signal(SIGSEGV, none);
    if (call(20, 0, 0, 0) <= 0) return 77;
    int *low = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    low[0] = 0;
    low[1] = 400000000;
    call(162, (long)low, 0, 0);
    return call(3, 0, (long)low, 16) == 2 ? 0 : 1;
}
"#;

#[cfg(target_arch = "x86_64")]
#[test]
fn waits_in_calls_of_the_32_bit_table_have_their_causes() {
    needs!(full());
    let place = Sandbox::new();
    let program = compile(&place, "compat", COMPAT);
    needs!(machine(place.finish(place.command(&program, &[])).code() != 77, "32-bit calls"));
    let trace = full_trace(&place, &[&format!("(sleep 2; echo x) | {program}")]);
    within_5_percent(waited(&trace, "compat", "timer"), 0.4, &trace);
    within_5_percent(waited(&trace, "compat", "pipe_empty"), 1.6, &trace);
    let peer = rows(&trace, "waits").iter().find(|row| row["cause"] == "pipe_empty");
    assert!(peer.unwrap()["peer"].as_str().unwrap().starts_with("sh"), "{:#}", trace["waits"]);
}

#[test]
fn a_mutex_is_a_lock() {
    needs!(full());
    let place = Sandbox::new();
    let program = compile(
        &place,
        "mutex",
        r#"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *late(void *x) { pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); return x; }
int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, late, NULL);
    sleep(1);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}
"#,
    );
    let trace = full_trace(&place, &["-N", &program]);
    within_5_percent(waited(&trace, "mutex", "lock"), 1.0, &trace);
    within_5_percent(waited(&trace, "mutex", "timer"), 1.0, &trace);
}

/// The number of tmpfs(5): statfs(2).
const TMPFS: rustix::fs::FsWord = 0x0102_1994;

#[test]
fn forcing_data_to_a_disk_is_told_as_such() {
    needs!(full());
    // The temporary directory may be one in memory, which waits for no disk; the build's seldom is.
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let kind = rustix::fs::statfs(disk.path()).unwrap().f_type;
    needs!(machine(kind != TMPFS, "disk below the directory of the build"));
    let place = Sandbox::new();
    // It tells its own waits: wall time less what it ran and waited for a CPU, as the kernel says.
    let program = compile(
        &place,
        "syncs",
        r#"
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double busy(void) {
    unsigned long long run, delay; FILE *f = fopen("/proc/self/schedstat", "r");
    if (!f || fscanf(f, "%llu %llu", &run, &delay) != 2) return 0;
    fclose(f);
    return (run + delay) / 1e9;
}
int main(int argc, char **argv) {
    static char block[1 << 16];
    int fd = open(argv[1], O_CREAT | O_WRONLY | O_TRUNC, 0600);
    double busy0 = busy(), began = now(), blocked = 0;
    // The disk may take much of what it is given without making anybody wait.
    while (blocked < 0.3 && now() - began < 60) {
        if (lseek(fd, 0, SEEK_SET)) return 1;
        for (int i = 0; i < 16; i++) if (write(fd, block, sizeof block) < 0) return 1;
        fsync(fd);
        blocked = (now() - began) - (busy() - busy0);
    }
    FILE *out = fopen(argv[2], "w");
    fprintf(out, "%f", blocked);
    return fclose(out);
}
"#,
    );
    let data = disk.path().join("data").display().to_string();
    let trace = full_trace(&place, &["-N", "--", &program, &data, "blocked"]);
    let planted: f64 = place.read("blocked").parse().unwrap();
    needs!(machine(planted >= 0.3, "disk that makes fsync(2) wait 0.3 s in a minute"));
    let found = waited(&trace, "syncs", "write_back") + waited(&trace, "syncs", "disk");
    // The kernel's account has neither what the hypervisor took nor all of the way from a wake-up to the queue of another CPU: what
    // is left of the time holds them, and they are no waits for a disk.
    let row = rows(&trace, "commands").iter().find(|row| row["command"] == "syncs").unwrap();
    let other = row["stolen_s"].as_f64().unwrap_or(0.0) + row["runnable_s"].as_f64().unwrap();
    within_5_percent(found, found.clamp((planted - other).max(0.0), planted), &trace);
}

/// Burns CPU time for so many seconds of its own, then says what the kernel counted: how long it waited for a CPU, how
/// long another process ran meanwhile, and how long the second CPU was idle meanwhile (proc_stat(5); 0 where there is none).
const BURN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double cpu(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double of(const char *pid, int field) {
    char path[64]; unsigned long long n[2] = {0, 0};
    snprintf(path, sizeof path, "/proc/%s/schedstat", pid);
    FILE *f = fopen(path, "r");
    if (f) { if (fscanf(f, "%llu %llu", &n[0], &n[1]) != 2) n[0] = n[1] = 0; fclose(f); }
    return n[field] / 1e9;
}
static double idle(void) {
    char line[512]; unsigned long long idle = 0, disk = 0;
    FILE *f = fopen("/proc/stat", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "cpu1 ", 5)) sscanf(line, "cpu1 %*u %*u %*u %llu %llu", &idle, &disk);
    if (f) fclose(f);
    return (idle + disk) / 100.0;
}
int main(int argc, char **argv) {
    double until = atof(argv[1]), rest = idle();
    double before = argc > 3 ? of(argv[3], 0) : 0;
    while (cpu() < until) ;
    if (argc > 2) {
        FILE *out = fopen(argv[2], "w");
        fprintf(out, "%f %f %f", of("self", 1), argc > 3 ? of(argv[3], 0) - before : 0, idle() - rest);
        return fclose(out);
    }
}
"#;

#[test]
fn a_cpu_taken_by_a_pinned_task_names_it() {
    needs!(full());
    let place = Sandbox::new();
    let burn = compile(&place, "burn", BURN);
    let hog = compile(&place, "hog", BURN);
    let mut other = std::process::Command::new("taskset").args(["-c", "0", &hog, "100"]).spawn().unwrap();
    let (out, pid) = (place.file("delay"), other.id().to_string());
    let trace = full_trace(&place, &["-N", "--pin", "0", "--", &burn, "1", &out, &pid]);
    other.kill().unwrap();
    other.wait().unwrap();
    let [waited, of_hog, _] = kernels_account(&out);
    assert!(of_hog > 0.2, "the hog took nothing: {of_hog}");
    let row = rows(&trace, "commands").iter().find(|row| row["command"] == "burn").unwrap();
    within_5_percent(row["runnable_s"].as_f64().unwrap(), waited, &trace);
    within_5_percent(row["running_s"].as_f64().unwrap(), 1.0, &trace);
    // Both are always runnable and on the same CPU: whatever the hog ran, the other waited for.
    let sharers = rows(&trace, "cpu_sharers").iter().filter(|row| row["command"] == "burn");
    let hog = sharers.clone().find(|row| row["sharer"] == "hog" && row["kind"] == "other").unwrap();
    within_5_percent(hog["seconds"].as_f64().unwrap(), of_hog, &trace);
    let all: f64 = sharers.map(|row| row["seconds"].as_f64().unwrap()).sum();
    within_5_percent(all, row["runnable_s"].as_f64().unwrap(), &trace);
}

/// What [`BURN`] wrote.
fn kernels_account(file: &str) -> [f64; 3] {
    let text = std::fs::read_to_string(file).unwrap();
    let numbers: Vec<f64> = text.split(' ').map(|word| word.parse().unwrap()).collect();
    [numbers[0], numbers[1], numbers[2]]
}

#[test]
fn pinned_together_tasks_wait_for_each_other() {
    needs!(full().and_then(|()| second_cpu()));
    let place = Sandbox::new();
    let burn = compile(&place, "burn", BURN);
    let (a, b) = (place.file("a"), place.file("b"));
    let trace = full_trace(&place, &["--pin", "0", &format!("{burn} 1 {a} & {burn} 1 {b}; wait")]);
    let [[waited_a, _, idle_a], [waited_b, _, idle_b]] = [kernels_account(&a), kernels_account(&b)];
    let (planted, idle, most) = (waited_a + waited_b, idle_a.min(idle_b), idle_a.max(idle_b));
    assert!(planted > 0.8, "{planted}");
    let row = rows(&trace, "commands").iter().find(|row| row["command"] == "burn").unwrap();
    within_5_percent(row["runnable_s"].as_f64().unwrap(), planted, &trace);
    let by_tree: f64 = rows(&trace, "cpu_sharers")
        .iter()
        .filter(|row| row["command"] == "burn" && row["kind"] == "tree")
        .map(waited_s)
        .sum();
    assert!(by_tree > 0.7, "{:#}", trace["cpu_sharers"]);
    // One of the two waits all the time, and both while a third program has the CPU. So whenever the second CPU is idle, one
    // or two waits are avoidable: by undoing the pin.
    let avoidable = trace["avoidable_wait_s"].as_f64().unwrap();
    let by_pinning = trace["avoidable"]["by_pinning_s"].as_f64().unwrap();
    // The first part of each wait is left out, and the kernel's own threads may cut these two's waits into many.
    let of_each = trace["avoidable"]["threshold_s"].as_f64().unwrap();
    let left_out = of_each * trace["avoidable"]["waits"].as_f64().unwrap();
    let off = 0.05 * planted;
    assert!(
        idle - left_out - off < avoidable && avoidable < 2.0 * most + off,
        "{avoidable} of {planted}, left out {left_out}, idle {idle}"
    );
    assert!((avoidable - by_pinning).abs() < 0.01 * planted, "{:#}", trace["avoidable"]);
    assert_eq!(trace["avoidable"]["but_for_affinity_s"].as_f64(), Some(0.0));
    if idle > 0.97 * planted {
        within_5_percent(avoidable, planted - left_out, &trace);
    }
}

fn second_cpu() -> Need {
    machine(std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1), "second CPU")
}

/// Two burners on CPU 0, which another process keeps there and lets go in turns. Says how long the second CPU was idle.
const LET_GO: &str = r#"
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void on(pid_t *who, cpu_set_t *set) { for (int i = 0; i < 2; i++) sched_setaffinity(who[i], sizeof *set, set); }
int main(void) {
    cpu_set_t all, first; pid_t who[2];
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&first); CPU_SET(0, &first);
    // Elsewhere it would leave a CPU that turns idle at once, and such a one takes the task that waits.
    sched_setaffinity(0, sizeof first, &first);
    for (int i = 0; i < 2; i++) if (!(who[i] = fork())) for (;;) ;
    for (int i = 0; i < 200; i++) { on(who, &first); usleep(5000); on(who, &all); usleep(5000); }
    for (int i = 0; i < 2; i++) { kill(who[i], SIGKILL); waitpid(who[i], 0, 0); }
}
"#;

#[test]
fn a_wait_beside_an_idle_cpu_that_was_allowed_is_avoidable_without_any_pin() {
    needs!(full().and_then(|()| second_cpu()));
    let place = Sandbox::new();
    let program = compile(&place, "letgo", LET_GO);
    let seconds = |trace: &Value, key: &str| trace["avoidable"][key].as_f64().unwrap();
    let trace = full_trace(&place, &["-N", &program]);
    needs!(machine(seconds(&trace, "by_pinning_s") >= 0.05, "second CPU that stayed idle for 50 ms"));
    let row =
        rows(&trace, "commands").iter().find(|row| row["command"].as_str().unwrap().starts_with("letgo"));
    let runnable: f64 = rows(&trace, "commands").iter().filter_map(|row| row["runnable_s"].as_f64()).sum();
    assert!(row.is_some(), "{:#}", trace["commands"]);
    let avoidable = trace["avoidable_wait_s"].as_f64().unwrap();
    let by_pinning = seconds(&trace, "by_pinning_s");
    // The kernel moves one of them only at its next balancing: until then both wait for each other, though allowed on both.
    assert!(avoidable > by_pinning + 0.000_1, "{:#}", trace["avoidable"]);
    assert!(avoidable <= runnable, "{avoidable} of {runnable}");
    let of_commands: f64 =
        rows(&trace, "commands").iter().filter_map(|row| row["avoidable_s"].as_f64()).sum();
    assert!((of_commands - avoidable).abs() < 1e-6, "{of_commands} is not {avoidable}");
}

#[test]
fn a_quota_of_the_cgroup_that_a_command_joins_is_told() {
    needs!(root());
    // A tenth of a CPU: other tests leave the command more than that.
    let old = [("cpu.cfs_period_us", "20000"), ("cpu.cfs_quota_us", "2000")];
    let group = needs!(Group::make("cpu", &old, &[("cpu.max", "2000 20000")]));
    let busy = "awk 'BEGIN { for (i = 0; i < 1000000; i++) x += i }'";
    let command = format!("echo $$ > {}; exec {busy}", group.procs().display());
    let trace = full_trace(&Sandbox::new(), &[&command]);
    let held = rows(&trace, "cpu_sharers");
    let throttled: f64 = held.iter().filter(|row| row["kind"] == "throttled").map(waited_s).sum();
    let wall = trace["wall_s"].as_f64().unwrap();
    assert!(throttled > wall / 2.0, "{throttled} of {wall}: {held:#?}");
}

fn waited_s(row: &Value) -> f64 {
    row["seconds"].as_f64().unwrap()
}
