//! A tree of very many tasks: counted exactly, in bounded memory.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::process::Command;

use crate::support::Sandbox;
use crate::support::needs::{full, needs};
use crate::support::trace::{compile, rows};

/// Makes and ends processes as fast as it can.
const MANY: &str = r"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    for (int left = atoi(argv[1]); left > 0; left--) {
        pid_t child = vfork();
        if (child < 0)
            return 1;
        if (child == 0)
            _exit(0);
        waitpid(child, 0, 0);
    }
    return 0;
}
";

/// Peak memory of a run, in bytes, as the kernel tells who waits for it.
fn peak_of(mut command: Command) -> u64 {
    let pid = command.spawn().unwrap().id() as i32;
    let (mut status, mut used) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both point to memory of ours; rusage is plain data.
    let (waited, used) =
        unsafe { (libc::wait4(pid, &raw mut status, 0, used.as_mut_ptr()), used.assume_init()) };
    assert_eq!((waited, status), (pid, 0));
    used.ru_maxrss as u64 * 1024
}

/// What the documentation states under "Limits": more processes than there are numbers for, at the highest rate there is.
#[test]
fn a_hundred_thousand_tasks_are_counted_exactly_in_bounded_memory() {
    const TASKS: u64 = 100_000;
    const MOST_BYTES: u64 = 256 << 20;
    needs!(full());
    let place = Sandbox::open();
    let line = format!("{} {TASKS}", compile(&place, "many", MANY));
    let words = ["trace", "--level", "full", "--untraced-runs", "0", "--style", "none", "--record", "r.json"];
    let peak = peak_of(place.whyfaster(&[&words[..], &["-N", &line]].concat()));
    assert!(peak < MOST_BYTES, "{peak} bytes");
    let trace = place.record("r.json");
    let counted = ["forks", "execs", "exits", "alive"].map(|what| trace["processes"][what].as_u64().unwrap());
    assert_eq!(counted, [TASKS, 1, TASKS + 1, 0]);
    // The stream holds all of them, or the report says that it does not.
    let lost = trace["lost"]["ring"].as_u64().unwrap();
    assert_eq!(trace["complete"].as_bool(), Some(lost == 0), "{} {}", trace["lost"], trace["checks"]);
    let told = trace["tasks_total"].as_u64().unwrap();
    assert!(if lost == 0 { told == TASKS + 1 } else { told <= TASKS + 1 }, "{told}, {lost} records lost");
    // The rows of the report do not grow with the tasks, and neither do the sums of them go wrong.
    assert!(rows(&trace, "tasks").len() <= 10_000);
    let calls = rows(&trace, "syscalls").iter().filter(|row| row["name"] == "vfork");
    assert_eq!(calls.map(|row| row["calls"].as_u64().unwrap()).sum::<u64>(), TASKS);
}
