//! `fleet` on a cluster: a Slurm of some nodes, all of them started by the test on this machine, each with a name and a boot of its own.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

mod support;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;
use support::engines::{Daemons, few_runs};
use support::needs::{Need, mounts, needs, root, tool};
use support::{Ran, Running, Sandbox, alone, eventually, kill, list, number, seccomp};

/// The names of so many nodes.
fn nodes(count: usize) -> Vec<String> {
    (1..=count).map(|at| format!("n{at}")).collect()
}

/// The cluster; gone when dropped.
struct Cluster {
    // Before the place, whose directory they use.
    daemons: Daemons,
    place: Sandbox,
}

impl Cluster {
    /// With so many nodes, on one of which every system call may cost more.
    fn new(count: usize, slow: &str) -> Need<Self> {
        root()?;
        mounts()?;
        for daemon in ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged", "srun"] {
            tool(daemon)?;
        }
        let place = Sandbox::new();
        for directory in ["far", "state", "spool"] {
            fs::create_dir(place.path(directory)).unwrap();
        }
        place.write("hosts", format!("127.0.0.1 localhost ctl {}\n", nodes(count).join(" ")));
        place.write("key", [7; 128]);
        fs::set_permissions(place.path("key"), fs::Permissions::from_mode(0o600)).unwrap();
        place.script("prolog", &format!("#!/bin/sh\necho export TMPDIR={}\n", place.file("far")));
        place.write("slurm.conf", conf(&place, count));
        let mut cluster = Self { place, daemons: Daemons::new() };
        let dir = cluster.place.file("");
        let munged = format!(
            "exec /usr/sbin/munged --foreground --force --key-file={dir}key --socket={dir}munge.sock --pid-file={dir}munge.pid \
             --log-file={dir}munge.log --seed-file={dir}munge.seed"
        );
        cluster.begin("ctl", &munged, false);
        eventually("munged", || cluster.place.path("munge.sock").exists());
        cluster.begin("ctl", "exec /usr/sbin/slurmctld -D", false);
        for node in &nodes(count) {
            fs::create_dir(cluster.place.path(&format!("spool/{node}"))).unwrap();
            cluster.begin(node, &format!("exec /usr/sbin/slurmd -D -N {node}"), node == slow);
        }
        eventually("idle nodes", || {
            cluster.say(&["sinfo", "-h", "-N", "-o", "%T"]) == "idle\n".repeat(count)
        });
        Ok(cluster)
    }

    /// Starts a daemon on a node, or on the controller's.
    fn begin(&mut self, node: &str, line: &str, slow: bool) {
        let boot = self.place.file(&format!("boot.{node}"));
        fs::write(&boot, format!("{:08x}-{node}\n", std::process::id())).unwrap();
        let line = format!(
            "mount --bind {boot} /proc/sys/kernel/random/boot_id && mount --bind {} /etc/hosts && hostname {node} && {line}",
            self.place.file("hosts")
        );
        let mut daemon =
            self.command("unshare", &["-m", "-u", "--propagation", "private", "sh", "-c", &line]);
        // What it starts is the cluster's and not the test's.
        daemon.env_remove("TMPDIR");
        if slow {
            // SAFETY: system calls between fork and exec.
            unsafe { daemon.pre_exec(seccomp::costly) };
        }
        self.daemons.start(&self.place, daemon);
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = self.place.command(program, args);
        command.env("SLURM_CONF", self.place.path("slurm.conf"));
        command
    }

    /// What a client of Slurm prints.
    fn say(&self, words: &[&str]) -> String {
        String::from_utf8(self.command(words[0], &words[1..]).output().unwrap().stdout).unwrap()
    }

    fn start(&self, args: &[&str]) -> Running {
        self.place.begin(self.command(support::PROGRAM, args))
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
    let listeners: Vec<TcpListener> =
        (0..=count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let ports: Vec<u16> = listeners.iter().map(|it| it.local_addr().unwrap().port()).collect();
    let dir = place.file("");
    let mut conf = format!(
        "ClusterName=test\nSlurmctldHost=ctl(127.0.0.1)\nSlurmctldPort={}\nSlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\n\
         AuthInfo=socket={dir}munge.sock\nCredType=cred/munge\nStateSaveLocation={dir}state\nSlurmctldPidFile={dir}ctl.pid\n\
         SlurmctldLogFile={dir}ctl.log\nSlurmdSpoolDir={dir}spool/%n\nSlurmdPidFile={dir}slurmd.%n.pid\nSlurmdLogFile={dir}slurmd.%n.log\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nTaskProlog={dir}prolog\nJobAcctGatherType=jobacct_gather/none\n\
         AccountingStorageType=accounting_storage/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nReturnToService=2\n\
         MpiDefault=none\nSwitchType=switch/none\nSlurmdParameters=config_overrides\nKillWait=2\n\
         SchedulerParameters=sched_interval=1,sched_min_interval=0\nCommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n",
        ports[0]
    );
    for (node, port) in nodes(count).iter().zip(&ports[1..]) {
        conf += &format!(
            "NodeName={node} NodeAddr=127.0.0.1 Port={port} CPUs=2 Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=500\n"
        );
    }
    conf + "PartitionName=p Nodes=ALL Default=YES State=UP\n"
}

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

#[test]
fn who_is_drained_is_named_a_lost_job_is_asked_for_again_and_an_interrupt_ends_all() {
    let cluster = needs!(Cluster::new(4, ""));
    let _alone = alone();
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
    let all = ["fleet", "compare", "slurm:p:n1", "slurm:p:n2", "slurm:p:n3", "--to=all"];
    let running = cluster.start(&[&all[..], &long].concat());
    place.wait_for_sleepers(2);
    eventually("one waits", || cluster.say(&["squeue", "-h", "-o", "%T"]).contains("PENDING"));
    kill(running.pid(), Signal::INT);
    running.wait().expect(130, &["n1: interrupted", "n3: interrupted", "0 of 3 machines gave a record"]);
    holder.kill().unwrap();
    holder.wait().unwrap();
    cluster.say(&["scancel", "-w", "n3"]);
    cluster.assert_clean();
}
