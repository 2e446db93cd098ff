//! `fleet` on a cluster: a Slurm of some nodes, all of them started by the test on this machine, each with a name and a boot of its own.
//!
//! The cluster has a network of its own. Some nodes share it with the controller, as daemons on one host do; two have one of their own and
//! reach the controller by a cable, as machines do.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::engines::{Daemons, few_runs};
use support::needs::{Need, mounts, needs, root, tool};
use support::{
    PROGRAM, Ran, Running, Sandbox, alone, eventually, kill, list, number, processes, seccomp, together,
};

/// The names of so many nodes.
fn nodes(count: usize) -> Vec<String> {
    (1..=count).map(|at| format!("n{at}")).collect()
}

/// The last nodes, which have a network of their own.
const APART: usize = 2;

/// The controller's address. Nodes with a network of their own have the following ones.
const CONTROLLER: &str = "10.79.0.1";

/// Where a node listens, and as which device its cable ends at the controller, if it has one.
fn address(at: usize, count: usize) -> (String, Option<String>) {
    match at + APART >= count {
        true => (format!("10.79.0.{}", at + 2), Some(format!("cable{at}"))),
        false => (CONTROLLER.to_owned(), None),
    }
}

/// The cluster; gone when dropped.
struct Cluster {
    // Before the place, whose directory they use.
    daemons: Daemons,
    /// The process that holds the cluster's network.
    network: u32,
    controller: u32,
    /// The daemon of every node.
    nodes: Vec<u32>,
    place: Sandbox,
}

impl Cluster {
    /// With so many nodes, on one of which every system call may cost more.
    fn new(count: usize, slow: &str) -> Need<Self> {
        root()?;
        mounts()?;
        for daemon in ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged", "srun", "ip"] {
            tool(daemon)?;
        }
        let place = Sandbox::new();
        for directory in ["far", "state", "spool"] {
            fs::create_dir(place.path(directory)).unwrap();
        }
        let mut hosts = format!("127.0.0.1 localhost\n{CONTROLLER} ctl\n");
        for (at, node) in nodes(count).iter().enumerate() {
            hosts += &format!("{} {node}\n", address(at, count).0);
            fs::create_dir(place.path(&format!("spool/{node}"))).unwrap();
        }
        place.write("hosts", hosts);
        place.write("key", [7; 128]);
        fs::set_permissions(place.path("key"), fs::Permissions::from_mode(0o600)).unwrap();
        place.script("prolog", &format!("#!/bin/sh\necho export TMPDIR={}\n", place.file("far")));
        place.write("slurm.conf", conf(&place, count));
        let mut daemons = Daemons::new();
        let line = format!(
            "ip link set lo up && ip link add lan type bridge && ip address add {CONTROLLER}/24 dev lan && ip link set lan up && \
             touch {} && exec sleep infinity",
            place.file("network")
        );
        let mut network = place.command("unshare", &["-n", "sh", "-c", &line]);
        // It is the cluster's and not the test's, as all daemons are.
        network.env_remove("TMPDIR");
        let network = daemons.start(&place, network);
        eventually("the network", || place.path("network").exists());
        let mut cluster = Self { place, daemons, network, controller: 0, nodes: Vec::new() };
        let dir = cluster.place.file("");
        let munged = format!(
            "exec /usr/sbin/munged --foreground --force --key-file={dir}key --socket={dir}munge.sock --pid-file={dir}munge.pid \
             --log-file={dir}munge.log --seed-file={dir}munge.seed"
        );
        cluster.begin("ctl", &munged, &[], false);
        eventually("munged", || cluster.place.path("munge.sock").exists());
        cluster.start_controller();
        for at in 0..count {
            cluster.start_node(at, count, slow);
        }
        eventually("idle nodes", || {
            cluster.say(&["sinfo", "-h", "-N", "-o", "%T"]) == "idle\n".repeat(count)
        });
        Ok(cluster)
    }

    fn start_controller(&mut self) {
        self.controller = self.begin("ctl", "exec /usr/sbin/slurmctld -D", &[], false);
    }

    fn start_node(&mut self, at: usize, count: usize, slow: &str) {
        let name = format!("n{}", at + 1);
        let (address, cable) = address(at, count);
        let network = match &cable {
            Some(_) => format!(
                "touch {} && ip link set lo up && until ip link set cable up 2>/dev/null; do sleep 0.02; done && \
                 ip address add {address}/24 dev cable && ",
                self.place.file(&format!("network.{name}"))
            ),
            None => String::new(),
        };
        let apart: &[&str] = if cable.is_some() { &["-n"] } else { &[] };
        let line = format!("{network}exec /usr/sbin/slurmd -D -N {name}");
        let node = self.begin(&name, &line, apart, name == slow);
        self.nodes.push(node);
        let Some(cable) = cable else { return };
        // Before its own network is there, the cable would end in this one.
        let there = self.place.path(&format!("network.{name}"));
        eventually("the node's network", || there.exists());
        fs::remove_file(there).unwrap();
        let node = node.to_string();
        let link = ["link", "add", &cable, "type", "veth", "peer", "name", "cable", "netns", &node];
        assert!(self.command("ip", &link).status().unwrap().success());
        assert!(
            self.command("ip", &["link", "set", &cable, "master", "lan", "up"]).status().unwrap().success()
        );
    }

    /// The node breaks down, with all that runs there: a node has a view of files of its own.
    fn crash_node(&mut self, at: usize) {
        let view = |pid: i32| fs::read_link(format!("/proc/{pid}/ns/mnt")).ok();
        let of_node = view(self.nodes[at] as i32).unwrap();
        assert_ne!(view(std::process::id() as i32), Some(of_node.clone()), "it would be this machine");
        let there: Vec<i32> = processes().filter(|pid| view(*pid).as_ref() == Some(&of_node)).collect();
        self.daemons.crash(self.nodes[at]);
        for pid in there.into_iter().filter_map(Pid::from_raw) {
            // The daemon is gone already, and with it may be what it had started.
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Starts a daemon on a node, or on the controller's, and gives its number.
    fn begin(&mut self, node: &str, line: &str, apart: &[&str], slow: bool) -> u32 {
        let boot = self.place.file(&format!("boot.{node}"));
        fs::write(&boot, format!("{:08x}-{node}\n", std::process::id())).unwrap();
        let line = format!(
            "mount --bind {boot} /proc/sys/kernel/random/boot_id && mount --bind {} /etc/hosts && hostname {node} && {line}",
            self.place.file("hosts")
        );
        let words = [&["-m", "-u", "--propagation", "private"], apart, &["sh", "-c", &line]].concat();
        let mut daemon = self.command("unshare", &words);
        // What it starts is the cluster's and not the test's.
        daemon.env_remove("TMPDIR");
        if slow {
            // SAFETY: system calls between fork and exec.
            unsafe { daemon.pre_exec(seccomp::costly) };
        }
        self.daemons.start(&self.place, daemon)
    }

    /// In the network of the cluster.
    fn command(&self, program: &str, args: &[&str]) -> Command {
        let network = format!("--net=/proc/{}/ns/net", self.network);
        let mut command = self.place.command("nsenter", &[&[network.as_str(), program], args].concat());
        command.env("SLURM_CONF", self.place.path("slurm.conf"));
        command
    }

    /// What a client of Slurm prints.
    fn say(&self, words: &[&str]) -> String {
        String::from_utf8(self.command(words[0], &words[1..]).output().unwrap().stdout).unwrap()
    }

    fn start(&self, args: &[&str]) -> Running {
        self.place.begin(self.command(PROGRAM, args))
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait()
    }

    /// No job, no process and no file is left.
    fn assert_clean(&self) {
        eventually("no job is left", || self.say(&["squeue", "-h"]).is_empty());
        eventually("no process is left", || self.place.sleepers().is_empty());
        eventually("no file is left", || fs::read_dir(self.place.path("far")).unwrap().next().is_none());
        self.place.assert_clean();
    }
}

fn conf(place: &Sandbox, count: usize) -> String {
    let dir = place.file("");
    let mut conf = format!(
        "ClusterName=test\nSlurmctldHost=ctl({CONTROLLER})\nSlurmctldPort=6817\nSlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\n\
         AuthInfo=socket={dir}munge.sock\nCredType=cred/munge\nStateSaveLocation={dir}state\nSlurmctldPidFile={dir}ctl.pid\n\
         SlurmctldLogFile={dir}ctl.log\nSlurmdSpoolDir={dir}spool/%n\nSlurmdPidFile={dir}slurmd.%n.pid\nSlurmdLogFile={dir}slurmd.%n.log\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nTaskProlog={dir}prolog\nJobAcctGatherType=jobacct_gather/none\n\
         AccountingStorageType=accounting_storage/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nReturnToService=2\n\
         MpiDefault=none\nSwitchType=switch/none\nSlurmdParameters=config_overrides\nKillWait=2\nSlurmdTimeout=10\n\
         SchedulerParameters=sched_interval=1,sched_min_interval=0\n"
    );
    for (at, node) in nodes(count).iter().enumerate() {
        let (address, port) = (address(at, count).0, 6818 + at);
        conf += &format!(
            "NodeName={node} NodeAddr={address} Port={port} CPUs=2 Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=500\n"
        );
    }
    conf + "PartitionName=p Nodes=ALL Default=YES State=UP\n"
}

#[test]
fn a_drained_node_is_named_a_lost_job_is_asked_for_again_and_an_interrupt_or_a_kill_ends_all() {
    let cluster = needs!(Cluster::new(4, ""));
    let _together = together();
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
    let job = cluster.say(&["squeue", "-h", "-o", "%A"]);
    cluster.say(&["scancel", job.trim()]);
    let ran = running.wait();
    ran.expect(
        0,
        &[&format!("n1: job {}", job.trim()), "n1: once more, because", "1 of 1 machine gave a record"],
    );
    cluster.assert_clean();
    // Two measure and one waits for a node.
    fs::remove_file(place.path("go")).unwrap();
    let holder =
        cluster.command("srun", &["-w", "n3", "--exclusive", "sleep", "1000"]).stderr(Stdio::null()).spawn();
    let mut holder = holder.unwrap();
    eventually("a node is taken", || cluster.say(&["squeue", "-h", "-o", "%T"]) == "RUNNING\n");
    for (signal, to) in [(Signal::INT, "--to=all"), (Signal::KILL, "--to=killed")] {
        let all = ["fleet", "compare", "slurm:p:n1", "slurm:p:n2", "slurm:p:n3", to];
        let running = cluster.start(&[&all[..], &long].concat());
        place.wait_for_sleepers(2);
        eventually("one waits", || cluster.say(&["squeue", "-h", "-o", "%T"]).contains("PENDING"));
        eventually("it says why", || place.said().contains("n3: waits: "));
        kill(running.pid(), signal);
        let ran = running.wait();
        if signal == Signal::INT {
            ran.expect(130, &["n1: interrupted", "n3: interrupted", "0 of 3 machines gave a record"]);
        }
        eventually("only the holder's job is left", || {
            cluster.say(&["squeue", "-h", "-o", "%T"]) == "RUNNING\n" && place.sleepers().is_empty()
        });
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
    cluster.say(&["scancel", "-w", "n3"]);
    cluster.assert_clean();
}

/// A node that Slurm has given, and whose daemon then does nothing.
#[test]
fn a_node_that_hangs_before_its_shell_is_there_holds_nobody() {
    let cluster = needs!(Cluster::new(2, ""));
    let _together = together();
    let hung = Pid::from_raw(cluster.nodes[0] as i32).unwrap();
    kill_process(hung, Signal::STOP).unwrap();
    let words = ["fleet", "compare", "slurm:p:n1", "slurm:p:n2", "--to=runs", "--at-once=1", "--silence=8s"];
    let ran = cluster.run(&[&words[..], &few_runs("true")].concat());
    kill_process(hung, Signal::CONT).unwrap();
    ran.expect(1, &["n1: nothing came from it for 8 s before it began", "n2: done", "1 of 2 machines"]);
    cluster.assert_clean();
}

#[test]
fn a_controller_that_restarts_costs_nothing_and_a_node_that_dies_its_own_record() {
    let mut cluster = needs!(Cluster::new(4, ""));
    let _together = together();
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

/// It measures, so nobody may run beside it: of the tests in this file, which begin in the order of their names, it is the last.
#[test]
fn every_node_is_measured_as_a_job_of_its_own_and_the_slow_one_is_named() {
    let cluster = needs!(Cluster::new(6, "n3"));
    let _alone = alone();
    let place = &cluster.place;
    let prices = ["fleet", "prices", "slurm:p", "--to=runs", "--at-once=1", "--", "--quick", "getppid"];
    let ran = cluster.run(&prices);
    ran.expect(0, &["n1: job 1", "n6: job 6", "6 of 6 machines gave a record"]);
    let report = place.run(&["fleet", "report", "runs", "--json"]).json();
    let outliers = list(&report["prices"]["outliers"]);
    // Whom chance and other work here make stand out a little comes behind.
    let broken = outliers.first().unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!(broken["machine"], "n3", "{outliers:#?}");
    // Both calls of the seccomp filter's kernel, or the one of them for which this machine left enough repetitions; and nothing else.
    let (kernel, others): (Vec<&Value>, Vec<&Value>) =
        list(&broken["rows"]).iter().partition(|row| row["group"] == "kernel");
    assert!(!kernel.is_empty() && kernel.iter().all(|row| number(&row["factor"]) > 3.0), "{broken:#}");
    assert!(others.iter().all(|row| number(&row["factor"]) < 1.5), "{broken:#}");
    cluster.assert_clean();
}
