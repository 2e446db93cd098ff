//! The critical path and the work of real commands: they sum to the wall time and to the CPU time, and what was planted is
//! on the path. No test looks at how long anything took but against the same trace.

use crate::support::Sandbox;
use crate::support::needs::{full, needs};
use crate::support::trace::{assert_whole, compile, path_of, rows, seconds, sums_up, traced};
use serde_json::Value;

/// Seconds of the path in rows of this command and kind.
fn on_path(trace: &Value, command: &str, kinds: &[&str]) -> f64 {
    rows(trace, "critical_path")
        .iter()
        .filter(|row| row["command"] == command && kinds.iter().any(|kind| row["kind"] == *kind))
        .map(|row| seconds(row, "seconds"))
        .sum()
}

#[test]
fn a_sleep_is_on_the_path_only_where_somebody_waits_for_it() {
    needs!(full());
    let place = Sandbox::open();
    let waited_for = path_of(&place, "sleep 0.3 & sleep 0.1; wait");
    let slept = on_path(&waited_for, "sleep", &["sleep"]);
    assert!(slept >= 0.29, "{slept}: {:#}", waited_for["critical_path"]);
    let hidden = path_of(&place, "sleep 0.05 & sleep 0.3; wait");
    let slept = on_path(&hidden, "sleep", &["sleep"]);
    assert!(slept >= 0.29, "{slept}: {:#}", hidden["critical_path"]);
}

#[test]
fn a_child_that_ends_a_little_earlier_is_told_beside_the_path() {
    needs!(full());
    let place = Sandbox::open();
    // 10 ms of 1000 are 1%: room for the noise of a busy machine.
    let near = path_of(&place, "sleep 1 & sleep 1.01 & wait");
    let told = rows(&near, "critical_alternatives");
    assert!(told.iter().any(|it| it["command"] == "sleep"), "{told:#?}");
    let wall = seconds(&near, "wall_s");
    for it in told {
        let (slack, own) = (seconds(it, "slack_s"), seconds(it, "seconds"));
        assert!(slack <= 0.05 * wall && own >= 0.05 * wall, "{slack} {own} of {wall}");
    }
    let far = path_of(&place, "sleep 0.2 & sleep 0.6 & wait");
    assert_eq!(rows(&far, "critical_alternatives").len(), 0, "{:#}", far["critical_alternatives"]);
}

#[test]
fn first_touches_of_memory_are_on_the_path_and_in_the_work() {
    needs!(full());
    let place = Sandbox::open();
    let source = r"
        #include <stdlib.h>
        int main(void) {
            char *memory = malloc(100000000);
            for (long at = 0; at < 100000000; at += 4096) ((volatile char *)memory)[at] = 1;
            return 0;
        }";
    let touch = compile(&place, "touch", source);
    let trace = path_of(&place, &touch);
    let faults = |list: &str, key: &str| {
        let row =
            rows(&trace, list).iter().find(|row| row["command"] == "touch" && row[key] == "page_faults");
        seconds(row.unwrap_or_else(|| panic!("{:#}", trace[list])), "seconds")
    };
    let (path, work) = (faults("critical_path", "what"), faults("work", "kind"));
    // One process does everything, so all of it is on the path.
    assert!((path - work).abs() <= 0.05 * work, "{path} {work}");
    let user = on_path(&trace, "touch", &["user"]);
    assert!(path > user, "{path} {user}: {:#}", trace["critical_path"]);
}

#[test]
fn the_slow_stage_of_a_pipeline_is_on_the_path_and_has_no_slack() {
    needs!(full());
    let place = Sandbox::open();
    // One stage works a thousand times as much on each block as the others.
    let source = r"
        #include <unistd.h>
        int main(int n, char **words) {
            static char block[4096];
            long got;
            volatile unsigned long sum = 0;
            while ((got = read(0, block, sizeof block)) > 0) {
                for (int i = 0; i < 2000000; i++) sum += i;
                if (write(1, block, got) != got) return 1;
            }
            return 0;
        }";
    let slow = compile(&place, "slow", source);
    let trace = path_of(&place, &format!("head -c 1000000 /dev/zero | {slow} | cat > /dev/null"));
    let held = ["user", "kernel", "startup", "cpu_wait"];
    let (slow, all) = (on_path(&trace, "slow", &held), seconds(&trace, "wall_s"));
    assert!(slow > 0.7 * all, "{slow} of {all}: {:#}", trace["critical_path"]);
    let stage = |name: &str| rows(&trace, "stages").iter().find(|row| row["command"] == name).unwrap();
    assert_eq!(stage("slow")["bottleneck"], true, "{:#}", trace["stages"]);
    assert!(seconds(stage("head"), "slack_s") > seconds(stage("slow"), "slack_s"), "{:#}", trace["stages"]);
    let moved = rows(&trace, "transfers")
        .iter()
        .find(|row| row["command"] == "slow" && row["direction"] == "read" && row["file"] == "pipe");
    assert_eq!(moved.unwrap()["bytes"], 1_000_000, "{:#}", trace["transfers"]);
}

#[test]
fn threads_that_are_joined_and_a_lock_that_is_held() {
    needs!(full());
    let place = Sandbox::open();
    let source = r"
        #include <pthread.h>
        #include <unistd.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static void *holds(void *none) {
            pthread_mutex_lock(&lock);
            usleep(300000);
            pthread_mutex_unlock(&lock);
            return none;
        }
        int main(int n, char **words) {
            pthread_t other;
            pthread_create(&other, 0, holds, 0);
            if (n > 1) {
                usleep(100000);
                pthread_mutex_lock(&lock);
                pthread_mutex_unlock(&lock);
                usleep(50000);
            }
            pthread_join(other, 0);
            return 0;
        }";
    let program = compile(&place, "threads", source);
    // Joined: the other thread's sleep is the path. Locked: the wait for the lock is a part of its own; the other thread has ended
    // before it is joined.
    let joined = path_of(&place, &program);
    let slept = on_path(&joined, "threads", &["sleep"]);
    // The two may meet at the lock of their address space for a moment: that is none of the program.
    let locked = on_path(&joined, "threads", &["lock"]);
    assert!(slept >= 0.29 && locked < slept / 10.0, "{:#}", joined["critical_path"]);
    let locked = path_of(&place, &format!("{program} x"));
    let waited = on_path(&locked, "threads", &["lock"]);
    assert!(waited > 0.15, "{waited}: {:#}", locked["critical_path"]);
}

#[test]
fn a_pipeline_that_hangs_is_explained_by_whoever_it_waits_for() {
    needs!(full());
    let place = Sandbox::open();
    let line = format!("sleep {} | cat; :", place.marker);
    let other = place.begin(place.command("sh", &["-c", &line]));
    place.wait_for_sleepers(1);
    // The reader blocks a moment later than the sleeper begins.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = other.pid().to_string();
    let trace = place.run(&["trace", "--json", "--duration", "500ms", "--follow", &pid]).json();
    let wall = seconds(&trace, "wall_s");
    let slept = on_path(&trace, "sleep", &["sleep"]);
    assert!((slept - wall).abs() <= 0.01 * wall, "{slept} of {wall}: {:#}", trace["critical_path"]);
    let row = |list: &str, command: &str| {
        let row = rows(&trace, list).iter().find(|row| row["command"] == command);
        row.unwrap_or_else(|| panic!("no {command}: {:#}", trace[list])).clone()
    };
    assert_eq!(
        (row("waits", "cat")["peer"].as_str(), row("waits", "sh")["peer"].as_str()),
        (Some("sleep"), Some("cat"))
    );
    for (command, call) in [("cat", "read"), ("sleep", "clock_nanosleep"), ("sh", "wait4")] {
        let row = row("syscalls", command);
        let counts = ["calls", "not_returned", "begun_before", "going_on"].map(|key| row[key].as_u64());
        assert_eq!((row["name"].as_str(), counts), (Some(call), [Some(1); 4]));
        // From when it was taken up, which on a busy machine comes somewhat later for one than for another.
        let total = seconds(&row, "total_s");
        assert!(total <= wall * 1.01 && total > wall / 2.0, "{total} of {wall}: {row:#}");
    }
    assert_whole(&trace);
    place.end_sleepers();
    other.wait();
}

#[test]
fn what_duration_ends_is_explained_as_it_was_until_then() {
    needs!(full());
    let place = Sandbox::open();
    for command in ["sleep 9.317 | cat", "timeout 9 sleep 8.317"] {
        let trace = traced(&place, &["--level", "full", "--duration", "500ms", command]);
        sums_up(&trace);
        assert_eq!(trace["ended_by"], "duration");
        let (wall, slept) = (seconds(&trace, "wall_s"), on_path(&trace, "sleep", &["sleep"]));
        assert!(slept >= 0.7 * wall, "{slept} of {wall}: {:#}", trace["critical_path"]);
        let waits = rows(&trace, "waits");
        assert!(waits.iter().all(|wait| wait["peer"] != "whyfaster"), "{waits:#?}");
        assert!(waits.iter().any(|wait| wait["unfinished"] != 0), "{waits:#?}");
    }
}

/// A child sleeps for half a second and then tells its parent something, through a connection to this machine itself or
/// through a terminal. Who ends last is the parent.
const TELLS: &str = r#"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int ends[2];
    if (!strcmp(argv[1], "pty")) {
        ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
        if (ends[0] < 0 || grantpt(ends[0]) || unlockpt(ends[0])) return 1;
        ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
    } else {
        struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof here;
        int door = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(door, (void *)&here, size) || listen(door, 1) || getsockname(door, (void *)&here, &size)) return 1;
        ends[1] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(ends[1], (void *)&here, size)) return 1;
        ends[0] = accept(door, 0, 0);
    }
    pid_t child = fork();
    if (!child) {
        usleep(500000);
        if (write(ends[1], "x\n", 2) != 2) return 1;
        for (;;) pause();
    }
    char text[8];
    int got = read(ends[0], text, sizeof text);
    while (clock() < CLOCKS_PER_SEC / 20) ;
    kill(child, SIGKILL);
    return waitpid(child, 0, 0) == child && got > 0 ? 0 : 1;
}
"#;

#[test]
fn who_waits_for_a_connection_or_a_terminal_goes_on_with_who_wrote() {
    needs!(full());
    let place = Sandbox::new();
    let program = compile(&place, "tells", TELLS);
    for (how, cause) in [("tcp", "network"), ("pty", "terminal")] {
        let run = || traced(&place, &["--level", "full", "-N", "--", &program, how]);
        let told = |trace: &Value| {
            let told = |row: &&Value| row["cause"] == cause && row["peer"] == "tells (forked)";
            rows(trace, "waits").iter().find(told).is_some_and(|row| seconds(row, "seconds") > 0.4)
        };
        // A worker of the kernel that is busy already is woken by nobody, so that the writer is not known.
        let trace = std::iter::repeat_with(run).take(4).find(told).unwrap_or_else(run);
        sums_up(&trace);
        assert!(told(&trace), "{how}: {:#}", trace["waits"]);
        assert!(on_path(&trace, "tells (forked)", &["sleep"]) > 0.4, "{how}: {:#}", trace["critical_path"]);
        assert!(on_path(&trace, "tells", &[cause]) < 0.1, "{how}: {:#}", trace["critical_path"]);
    }
}
