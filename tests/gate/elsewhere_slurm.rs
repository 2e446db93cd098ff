//! `fleet` on a Slurm of some nodes: what Slurm and its nodes may do in the middle of a run. Most of the time it waits.

#![expect(clippy::unwrap_used, reason = "functions of tests, which end by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use crate::support::engines::{Engine, few_runs, hold_against_records, printed};
use crate::support::needs::needs;
use crate::support::slurm::Cluster;
use crate::support::user::{NOBODY, as_user};
use crate::support::{PROGRAM, Sandbox, eventually, kill, terminal};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

#[test]
fn a_drained_node_is_named_a_lost_job_is_asked_for_again_and_an_interrupt_or_a_kill_ends_all() {
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
    let mut cluster = needs!(Cluster::new(4, ""));
    // A copy waits until its `sleep` ends, until there is nothing to wait for any more.
    let asleep = format!("test -e {} || sleep {} || :", cluster.place.file("go"), cluster.place.marker);
    let words = ["--", "--runs=3", "--why=no", "--no-check-output", &asleep, &asleep];
    // The controller restarts in the middle.
    let running = cluster.start(&[&["fleet", "compare", "slurm:p", "--to=runs"], &words[..]].concat());
    cluster.place.wait_for_sleepers(4);
    cluster.wait_for_saved_steps();
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
    eventually("no job is left", || cluster.say(&["squeue", "-h", "-o", "%i"]).is_empty());
    // A node that dies cannot clear up: what it held lies there until somebody empties its /tmp. Nobody else leaves anything.
    let left: Vec<_> = fs::read_dir(cluster.place.path("far")).unwrap().flatten().collect();
    assert!(left.len() <= 1, "{left:?}");
    left.iter().for_each(|it| fs::remove_dir_all(it.path()).unwrap());
    cluster.assert_clean();
}

/// The name of the jobs of the conversation.
const NAME: &str = "whyfaster-0123456789abcdef";

/// A job that ends with the status that is written to its pipe.
const SCRIPT: &str = r#"p=$TMPDIR/job-$SLURM_JOB_ID; mkfifo "$p"; read -r status <"$p"; exit $status"#;

/// What the clients print in the cases that a run may meet. The words are those of the program, and those of the tests above.
struct Conversation {
    cluster: Cluster,
    answers: Vec<Value>,
}

impl Conversation {
    /// The answer to words, in one case. The record has the names that `names` gives to parts of it.
    fn ask(&mut self, when: &str, words: &[&str], names: Value) {
        let output = self.cluster.command(words[0], &words[1..]).output().unwrap();
        self.keep(when, words, names, output);
    }

    /// The first answer that has this in it.
    fn ask_until(&mut self, when: &str, words: &[&str], has: &str) {
        let mut output = None;
        eventually(&format!("{when}: {has}"), || {
            let now = self.cluster.command(words[0], &words[1..]).output().unwrap();
            let there = String::from_utf8_lossy(&now.stdout).contains(has);
            output = Some(now);
            there
        });
        self.keep(when, words, json!({}), output.unwrap());
    }

    fn keep(&mut self, when: &str, words: &[&str], names: Value, mut output: Output) {
        let errors = String::from_utf8(output.stderr).unwrap();
        // Who sees the end of a step first announces it, and that differs from run to run.
        let chance = ["Job step aborted", "Force Terminated", "CANCELLED AT"];
        let lines = errors.split_inclusive('\n').filter(|line| !chance.iter().any(|it| line.contains(it)));
        output.stderr = lines.collect::<String>().into_bytes();
        self.answers.push(printed(when, words, names, &output));
    }

    fn nodes(&mut self, when: &str, has: &str) {
        self.ask_until(when, &["sinfo", "-h", "-N", "-p", "p", "-o", "%N|%T|%c|%h|%E"], has);
    }

    fn queue(&mut self, when: &str, has: &str) {
        let words = ["squeue", "-h", "-r", "-t", "all", "-p", "p", "-n", NAME, "-o", "%i|%A|%T|%r"];
        self.ask_until(when, &words, has);
    }

    fn submit(&mut self, when: &str, tasks: &str) {
        let words = [
            &["sbatch", "--parsable", "--hold", tasks, "-p", "p", "--job-name", NAME][..],
            &["-N1", "-n1", "--exclusive", "--mem=0", "--no-requeue", "--chdir=/"],
            &["-o", "/dev/null", "-e", "/dev/null", "--wrap", SCRIPT],
        ];
        self.ask(when, &words.concat(), json!({}));
    }

    fn pin(&mut self, when: [&str; 2], task: &str, node: &str) {
        let (job, node) = (format!("JobId={task}"), format!("ReqNodeList={node}"));
        self.ask(when[0], &["scontrol", "update", &job, &node], json!({ "task": task }));
        self.ask(when[1], &["scontrol", "release", task], json!({ "task": task }));
    }

    /// A step that runs this.
    fn step<'a>(job: &'a str, line: &'a str) -> Vec<&'a str> {
        let words = [
            &["srun", "--jobid", job, "-N1", "-n1", "-c", "2", "--mem=0", "--unbuffered", "--chdir=/"][..],
            &["--cpu-bind=none", "--mpi=none", "--export=HOME,USER,LOGNAME,PATH,LANG", "/bin/sh", "-c", line],
        ];
        words.concat()
    }

    /// The answer of a step that has begun, once something was done.
    fn broken_step(&mut self, when: &str, job: &str, names: Value, breaks: impl FnOnce(&mut Self)) {
        let begun = self.cluster.place.path("far/begun");
        let words = Self::step(job, "touch \"$TMPDIR/begun\"; exec sleep 1000");
        let mut command: Command = self.cluster.command(words[0], &words[1..]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        eventually("the step begins", || begun.exists());
        fs::remove_file(begun).unwrap();
        breaks(self);
        self.keep(when, &words, names, child.wait_with_output().unwrap());
    }

    /// The script of a job ends.
    fn end(&self, job: &str, status: &str) {
        let pipe = format!("far/job-{job}");
        eventually("the job begins", || self.cluster.place.path(&pipe).exists());
        self.cluster.place.write(&pipe, status);
    }
}

#[test]
fn what_slurm_prints_is_what_is_recorded() {
    let cluster = needs!(Cluster::new(2, ""));
    let mut slurm = Conversation { cluster, answers: Vec::new() };
    waiting_and_running(&mut slurm);
    ended(&mut slurm);
    nodes_that_go(&mut slurm);
    words_of_the_tests(&mut slurm);
    let version = match Engine::chosen().is_real() {
        true => slurm.cluster.say(&["sinfo", "--version"]).trim().to_owned(),
        false => String::new(),
    };
    hold_against_records("slurm", &version, &slurm.answers);
}

fn waiting_and_running(slurm: &mut Conversation) {
    slurm.nodes("all nodes are idle", "n2|idle");
    let elsewhere = ["sinfo", "-h", "-N", "-p", "q", "-o", "%N|%T|%c|%h|%E"];
    slurm.ask("a partition is asked for that is not there", &elsewhere, json!({}));
    slurm.submit("an array is too large", "--array=0-3");
    slurm.submit("an array is submitted", "--array=0-1");
    slurm.queue("its tasks are on hold", "1_0");
    slurm.pin(["a task is pinned", "a task is released"], "1_0", "n1");
    slurm.queue("a task runs", "1_0|2|RUNNING");
    slurm.nodes("a node is allocated", "n1|allocated");
    slurm.pin(["the last task is pinned", "the last task is released"], "1_1", "n1");
    slurm.queue("a task waits for its node", "Resources");
    let line = r#"echo "$SLURM_JOB_ID on $(hostname)"; test -p "$TMPDIR/job-$SLURM_JOB_ID""#;
    // The script of the job may begin later than the queue shows.
    eventually("the job begins", || slurm.cluster.place.path("far/job-2").exists());
    slurm.ask("a step ends well", &Conversation::step("2", line), json!({}));
    let names = json!({ "node": "n1", "status": "3" });
    slurm.ask("a step fails", &Conversation::step("2", "exit 3"), names);
}

fn ended(slurm: &mut Conversation) {
    let names = json!({ "node": "n1" });
    slurm.broken_step("the job of a step is cancelled", "2", names, |slurm| {
        slurm.ask("a task is cancelled that runs", &["scancel", "--quiet", "1_0"], json!({}));
    });
    slurm.queue("a task was cancelled, and the other has its node", "1_1|1|RUNNING");
    slurm.pin(["a task is pinned that has ended", "a task is released that has ended"], "1_0", "n1");
    let late = Conversation::step("2", "exit 3");
    slurm.ask("a step is begun in a job that has ended", &late, json!({ "job": "2" }));
    slurm.end("1", "0\n");
    slurm.queue("a task ends well", "COMPLETED");
    slurm.submit("a task is submitted that fails", "--array=0-0");
    slurm.pin(["an only task is pinned", "an only task is released"], "3_0", "n1");
    slurm.end("3", "7\n");
    slurm.queue("a task fails", "FAILED");
    let cancel = ["scancel", "--quiet", "--name", NAME];
    slurm.ask("nothing is there that could be cancelled", &cancel, json!({}));
}

fn nodes_that_go(slurm: &mut Conversation) {
    let drain = ["scontrol", "update", "nodename=n2", "state=drain", "reason=disk"];
    slurm.ask("a node is drained", &drain, json!({}));
    slurm.nodes("a node was drained", "n2|drained");
    slurm.submit("a task is submitted for a drained node", "--array=0-0");
    slurm.pin(["it is pinned to a drained node", "it is released for a drained node"], "4_0", "n2");
    slurm.queue("a task waits for a drained node", "ReqNodeNotAvail");
    let cancel = ["scancel", "--quiet", "--state=PENDING", "--name", NAME];
    slurm.ask("a task is cancelled that waits", &cancel, json!({}));
    slurm.queue("a task was cancelled that waited", "4|CANCELLED");
    slurm.ask("a node is resumed", &["scontrol", "update", "nodename=n2", "state=resume"], json!({}));
    slurm.nodes("a node was resumed", "n2|idle|");
    slurm.submit("a task is submitted for a node that breaks down", "--array=0-0");
    slurm.pin(["it is pinned to that node", "it is released for that node"], "5_0", "n2");
    slurm.queue("it has that node", "5_0|5|RUNNING");
    let names = json!({ "node": "n2" });
    slurm.broken_step("the node of a step breaks down", "5", names, |slurm| slurm.cluster.crash_node(1));
    slurm.nodes("a node has broken down", "n2|down*");
    slurm.queue("the node of a task has broken down", "5_0|5|NODE_FAIL");
}

/// What the tests themselves ask, and the program does not.
fn words_of_the_tests(slurm: &mut Conversation) {
    slurm.cluster.start_node(1, 2, "");
    slurm.ask_until("a node is back", &["sinfo", "-h", "-N", "-n", "n2", "-o", "%T"], "idle");
    let hold = ["srun", "-N2", "-w", "n1,n2", "--exclusive", "sleep", "1000"];
    let mut command = slurm.cluster.command(hold[0], &hold[1..]);
    let mut holder = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    slurm.ask_until("nodes are held", &["squeue", "-h", "-o", "%T"], "RUNNING");
    slurm.ask("who holds nodes", &["squeue", "-h", "-o", "%i"], json!({}));
    slurm.ask("how that stands", &["squeue", "-h", "-r", "-o", "%T"], json!({}));
    slurm.ask("why that is", &["squeue", "-h", "-r", "-o", "%i %r"], json!({}));
    holder.kill().unwrap();
    let held = holder.wait_with_output().unwrap();
    slurm.keep("nodes are held by a step that is killed", &hold, json!({}), held);
    slurm.ask("all of two nodes is cancelled", &["scancel", "-w", "n1,n2"], json!({}));
    slurm.ask_until("nodes are free again", &["sinfo", "-h", "-N", "-o", "%T"], "idle\nidle\n");
    slurm.ask("a job is cancelled by its task", &["scancel", "3_0"], json!({}));
}
