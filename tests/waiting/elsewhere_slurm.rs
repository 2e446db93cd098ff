//! `fleet` on a Slurm of some nodes: what Slurm and its nodes may do in the middle of a run. Most of the time it waits.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use crate::support::engines::few_runs;
use crate::support::needs::needs;
use crate::support::slurm::Cluster;
use crate::support::user::{NOBODY, as_user};
use crate::support::{PROGRAM, Sandbox, eventually, kill, terminal, together};
use rustix::process::{Pid, Signal, kill_process};

#[test]
fn a_drained_node_is_named_a_lost_job_is_asked_for_again_and_an_interrupt_or_a_kill_ends_all() {
    let _together = together();
    let cluster = needs!(Cluster::new(4, ""));
    let place = &cluster.place;
    cluster.say(&["scontrol", "update", "nodename=n4", "state=drain", "reason=disk"]);
    let quick = few_runs("true");
    let ran =
        cluster.run(&[&["fleet", "compare", "slurm:p:n4", "slurm:p:2", "--to=runs"], &quick[..]].concat());
    ran.expect(1, &["n4: it is drained: disk", "2 of 3 machines gave a record", "fleet resume 'runs'"]);
    cluster
        .run(&[&["fleet", "compare", "slurm:p:4"], &quick[..]].concat())
        .expect_error(2, &["has 3 nodes that can be used"]);
    cluster
        .run(&[&["fleet", "compare", "slurm:p:n5"], &quick[..]].concat())
        .expect_error(2, &["no node 'n5'"]);
    // Somebody ends the first job; a later one is measured.
    let asleep = format!("test -e {} || sleep {}", place.file("go"), place.marker);
    let long = ["--", "--runs=3", "--why=no", "--no-check-output", &asleep];
    let running = cluster.start(&[&["fleet", "compare", "slurm:p:n1", "--to=again"], &long[..]].concat());
    place.wait_for_sleepers(1);
    place.write("go", "");
    let job = cluster.say(&["squeue", "-h", "-o", "%i"]);
    cluster.say(&["scancel", job.trim()]);
    let ran = running.wait();
    ran.expect(
        0,
        &[&format!("n1: job {}", job.trim()), "n1: once more, because", "1 of 1 machine gave a record"],
    );
    cluster.assert_clean();
    // One is done, one measures, one waits for its node, and one for its turn: the last two are tasks of one array.
    fs::remove_file(place.path("go")).unwrap();
    cluster.say(&["scontrol", "update", "nodename=n4", "state=resume"]);
    let holder = cluster
        .command("srun", &["-N2", "-w", "n3,n4", "--exclusive", "sleep", "1000"])
        .stderr(Stdio::null())
        .spawn();
    let mut holder = holder.unwrap();
    eventually("nodes are taken", || cluster.say(&["squeue", "-h", "-o", "%T"]) == "RUNNING\n");
    let elsewhere = format!("test \"$(hostname)\" = n1 || sleep {}", place.marker);
    for (signal, to) in [(Signal::INT, "--to=all"), (Signal::KILL, "--to=killed")] {
        let all = ["fleet", "compare", "slurm:p", "--at-once=2", to, "--", "--runs=3", "--why=no"];
        let running = cluster.start(&[&all[..], &["--no-check-output", &elsewhere]].concat());
        eventually("one waits for its turn", || waits_for_its_turn(&cluster));
        eventually("it says why", || place.said().contains("n3: waits: Resources"));
        place.wait_for_sleepers(1);
        kill(running.pid(), signal);
        let ran = running.wait();
        if signal == Signal::INT {
            ran.expect(130, &["n2: interrupted", "n3: interrupted", "1 of 4 machines gave a record"]);
        }
        eventually("only the holder's job is left", || {
            cluster.say(&["squeue", "-h", "-r", "-o", "%T"]) == "RUNNING\n" && place.sleepers().is_empty()
        });
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
    cluster.say(&["scancel", "-w", "n3,n4"]);
    cluster.assert_clean();
}

/// Whether the first task of an array waits for its node, and the second of the same one for its turn.
fn waits_for_its_turn(cluster: &Cluster) -> bool {
    let queue = cluster.say(&["squeue", "-h", "-r", "-o", "%i %r"]);
    let array = |task: &str, why: &str| {
        let line = queue.lines().find(|line| line.ends_with(why))?;
        line.split_once(task).map(|(array, _)| array.to_owned())
    };
    let first = array("_0 ", "Resources");
    first.is_some() && first == array("_1 ", "JobHeldUser")
}

/// Another user knows the numbers of the next jobs, and is there before them.
#[test]
fn nobody_takes_the_pipe_of_a_job_before_it_begins() {
    let _together = together();
    let cluster = needs!(Cluster::new(1, ""));
    let place = &cluster.place;
    let traps: Vec<String> = (1..=9).map(|job| format!("far/whyfaster-{job}")).collect();
    let traps: Vec<&str> = traps.iter().map(String::as_str).collect();
    for (directory, mode) in [("", 0o711), ("far", 0o1777)] {
        fs::set_permissions(place.path(directory), fs::Permissions::from_mode(mode)).unwrap();
    }
    place.finish(as_user(place, NOBODY, "mkfifo", &traps)).ok();
    let words = ["fleet", "compare", "slurm:p:n1", "--to=runs"];
    cluster.run(&[&words[..], &few_runs("true")].concat()).expect(0, &["n1: done"]);
    traps.iter().for_each(|trap| fs::remove_file(place.path(trap)).unwrap());
    cluster.assert_clean();
}

/// A node that Slurm has given, and whose daemon then does nothing.
#[test]
fn a_node_that_hangs_before_its_shell_is_there_holds_nobody() {
    let _together = together();
    let cluster = needs!(Cluster::new(2, ""));
    let hung = Pid::from_raw(cluster.nodes[0] as i32).unwrap();
    kill_process(hung, Signal::STOP).unwrap();
    let words = ["fleet", "compare", "slurm:p:n1", "slurm:p:n2", "--to=runs", "--at-once=1", "--silence=8s"];
    // From inside a job, which has none of these nodes.
    let mut inside = cluster.command(PROGRAM, &[&words[..], &few_runs("true")].concat());
    inside.envs([("SLURM_JOB_ID", "1"), ("SLURM_NNODES", "3")]);
    let ran = cluster.place.finish(inside);
    kill_process(hung, Signal::CONT).unwrap();
    ran.expect(1, &["n1: nothing came from it for 8 s before it began", "n2: done", "1 of 2 machines"]);
    cluster.assert_clean();
}

#[test]
fn ctrl_c_ends_an_engine_that_is_asked() {
    let _together = together();
    let place = Sandbox::new();
    place.script("sinfo", &format!("#!/bin/sh\nexec sleep {}\n", place.marker));
    let path = format!("{}:{}", place.file(""), std::env::var("PATH").unwrap());
    for verb in ["compare", "prices"] {
        let mut command = place.whyfaster(&[verb, "--on=slurm:p:n1", "getppid"]);
        command.env("PATH", &path);
        let (terminal, child) = terminal::start(command);
        place.wait_for_sleepers(1);
        let (code, shown) = terminal::press_ctrl_c(terminal, child);
        assert_eq!(code, None, "no signal ended it: {shown}");
        place.assert_clean();
    }
    // It does not answer any more when it is asked again.
    place.script(
        "sinfo",
        &format!(
            "#!/bin/sh\ntest -e asked && exec sleep {}\ntouch asked; echo 'n1|idle|2|NO|'\n",
            place.marker
        ),
    );
    for client in ["sbatch", "scontrol", "srun", "squeue"] {
        place.script(client, "#!/bin/sh\nexit 1\n");
    }
    place.script("scancel", "#!/bin/sh\nexit 0\n");
    let mut command = place.whyfaster(&["compare", "--on=slurm:p:n1", "true"]);
    command.env("PATH", path);
    let running = place.begin(command);
    place.wait_for_sleepers(1);
    kill(running.pid(), Signal::INT);
    running.wait().expect(130, &["n1: once more, because", "nothing came home"]);
    place.end_sleepers();
    place.assert_clean();
}

#[test]
fn a_controller_that_restarts_costs_nothing_and_a_node_that_dies_its_own_record() {
    let _together = together();
    let mut cluster = needs!(Cluster::new(4, ""));
    // A copy waits until its `sleep` ends, until there is nothing to wait for any more.
    let asleep = format!("test -e {} || sleep {} || :", cluster.place.file("go"), cluster.place.marker);
    let words = ["--", "--runs=3", "--why=no", "--no-check-output", &asleep, &asleep];
    // The controller restarts in the middle.
    let running = cluster.start(&[&["fleet", "compare", "slurm:p", "--to=runs"], &words[..]].concat());
    cluster.place.wait_for_sleepers(4);
    // Within 5 s the controller writes down which steps there are (SAVE_MAX_WAIT in its src/slurmctld/state_save.c). One that it does not know
    // after a crash it kills, with all that would clear up there.
    std::thread::sleep(Duration::from_secs(6));
    cluster.daemons.crash(cluster.controller);
    cluster.start_controller();
    eventually("the controller knows its jobs", || {
        cluster.say(&["squeue", "-h", "-o", "%T"]) == "RUNNING\n".repeat(4)
    });
    cluster.place.write("go", "");
    cluster.place.end_sleepers();
    running.wait().expect(0, &["4 of 4 machines gave a record"]);
    cluster.assert_clean();
    // A node dies in the middle. The others' records come home, and it is named with what Slurm says of it.
    fs::remove_file(cluster.place.path("go")).unwrap();
    let running = cluster.start(&[&["fleet", "compare", "slurm:p", "--to=again"], &words[..]].concat());
    cluster.place.wait_for_sleepers(4);
    cluster.crash_node(3);
    cluster.place.write("go", "");
    cluster.place.end_sleepers();
    running.wait().expect(1, &["n4: once more, because", "n4: it is down", "3 of 4 machines gave a record"]);
    // What is missing is measured once the node is there again.
    cluster.start_node(3, 4, "");
    eventually("the node is back", || {
        cluster.say(&["sinfo", "-h", "-N", "-n", "n4", "-o", "%T"]) == "idle\n"
    });
    cluster.run(&["fleet", "resume", "again"]).expect(0, &["n4: job"]);
    eventually("no job is left", || cluster.say(&["squeue", "-h"]).is_empty());
    // A node that dies cannot clear up: what it held lies there until somebody empties its /tmp. Nobody else leaves anything.
    let left: Vec<_> = fs::read_dir(cluster.place.path("far")).unwrap().flatten().collect();
    assert!(left.len() <= 1, "{left:?}");
    left.iter().for_each(|it| fs::remove_dir_all(it.path()).unwrap());
    cluster.assert_clean();
}
