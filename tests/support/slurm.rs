//! A Slurm of some nodes, all of them started on this machine, each with a name and a boot of its own.
//!
//! Either a stand-in of Python is started (`slurm.py`), or the real Slurm. The real one has a network of its own. Some nodes share it with the
//! controller, as daemons on one host do; two have one of their own and reach the controller by a cable, as machines do.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::engines::{Daemons, Engine, records_of, with_small_program};
use super::needs::{Need, mounts, root, tool};
use super::{PROGRAM, Ran, Running, Sandbox, eventually, processes, seccomp};

/// The names of so many nodes.
fn nodes(count: usize) -> Vec<String> {
    (1..=count).map(|at| format!("n{at}")).collect()
}

/// The last nodes, which have a network of their own.
const APART: usize = 2;

/// The controller's address. Nodes with a network of their own have the following ones.
const CONTROLLER: &str = "10.79.0.1";

/// The address of a node, and the device at which its cable ends at the controller, if it has one.
fn address(at: usize, count: usize) -> (String, Option<String>) {
    match at + APART >= count {
        true => (format!("10.79.0.{}", at + 2), Some(format!("cable{at}"))),
        false => (CONTROLLER.to_owned(), None),
    }
}

/// The programs that a real Slurm needs.
const REAL: [&str; 5] = ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged", "srun", "ip"];

/// The programs of a Slurm that have a stand-in.
const PROGRAMS: [&str; 8] =
    ["sbatch", "scancel", "scontrol", "sinfo", "slurmctld", "slurmd", "squeue", "srun"];

/// The cluster; gone when dropped.
pub(crate) struct Cluster {
    // Before the place, whose directory they use.
    pub(crate) daemons: Daemons,
    /// The process that holds the network of a real cluster.
    network: Option<u32>,
    pub(crate) controller: u32,
    /// The daemon of every node.
    pub(crate) nodes: Vec<u32>,
    pub(crate) place: Sandbox,
}

impl Cluster {
    /// With so many nodes, on one of which every system call may cost more.
    pub(crate) fn new(count: usize, slow: &str) -> Need<Self> {
        root()?;
        mounts()?;
        let real = Engine::chosen().is_real();
        for needed in if real { &REAL[..] } else { &["python3"] } {
            tool(needed)?;
        }
        let place = Sandbox::new();
        for directory in ["far", "state", "spool", "programs"] {
            fs::create_dir(place.path(directory)).unwrap();
        }
        let mut hosts = format!("127.0.0.1 localhost\n{CONTROLLER} ctl\n");
        for (at, node) in nodes(count).iter().enumerate() {
            hosts += &format!("{} {node}\n", address(at, count).0);
            fs::create_dir(place.path(&format!("spool/{node}"))).unwrap();
        }
        place.write("hosts", hosts);
        place.script("prolog", &format!("#!/bin/sh\necho export TMPDIR={}\n", place.file("far")));
        place.write("slurm.conf", conf(&place, count));
        let mut cluster =
            Self { place, daemons: Daemons::new(), network: None, controller: 0, nodes: Vec::new() };
        if real {
            cluster.start_network()
        } else {
            cluster.write_stand_in()
        }
        cluster.start_controller();
        for at in 0..count {
            cluster.start_node(at, count, slow);
        }
        eventually("idle nodes", || {
            cluster.say(&["sinfo", "-h", "-N", "-o", "%T"]) == "idle\n".repeat(count)
        });
        Ok(cluster)
    }

    /// The stand-in: one script under all names. Python begins soonest without what is installed for it, and where nothing looks for it first.
    fn write_stand_in(&self) {
        let python = self.place.command("python3", &["-c", "import sys; print(sys.executable)"]).output();
        let python = String::from_utf8(python.unwrap().stdout).unwrap();
        let script = format!("#!{} -IS\n{}", python.trim(), include_str!("slurm.py"));
        self.place.script("slurm.py", &script);
        self.place.write("answers.json", fs::read(records_of("slurm")).unwrap());
        for program in PROGRAMS {
            symlink("../slurm.py", self.place.path(&format!("programs/{program}"))).unwrap();
        }
    }

    /// The network of a real one, and the daemon by which its parts know each other.
    fn start_network(&mut self) {
        self.place.write("key", [7; 128]);
        fs::set_permissions(self.place.path("key"), fs::Permissions::from_mode(0o600)).unwrap();
        let line = format!(
            "ip link set lo up && ip link add lan type bridge && ip address add {CONTROLLER}/24 dev lan && ip link set lan up && \
             touch {} && exec sleep infinity",
            self.place.file("network")
        );
        let mut network = self.place.command("unshare", &["-n", "sh", "-c", &line]);
        // It is the cluster's and not the test's, as all daemons are.
        network.env_remove("TMPDIR");
        self.network = Some(self.daemons.start(&self.place, network));
        eventually("the network", || self.place.path("network").exists());
        let dir = self.place.file("");
        let munged = format!(
            "exec /usr/sbin/munged --foreground --force --key-file={dir}key --socket={dir}munge.sock --pid-file={dir}munge.pid \
             --log-file={dir}munge.log --seed-file={dir}munge.seed"
        );
        self.begin("ctl", &munged, &[], false);
        eventually("munged", || self.place.path("munge.sock").exists());
    }

    pub(crate) fn start_controller(&mut self) {
        let line = format!("exec {} -D", self.daemon("slurmctld"));
        self.controller = self.begin("ctl", &line, &[], false);
    }

    /// A controller that crashes kills a step that it does not know afterwards, with all that would clear up there. The real one writes its steps down
    /// within 5 s, and shows nobody that it has done so (SAVE_MAX_WAIT in its src/slurmctld/state_save.c).
    pub(crate) fn wait_for_saved_steps(&self) {
        if self.network.is_some() {
            std::thread::sleep(Duration::from_secs(6));
        }
    }

    /// The path of this daemon of Slurm.
    fn daemon(&self, name: &str) -> String {
        match self.network {
            Some(_) => format!("/usr/sbin/{name}"),
            None => self.place.file(&format!("programs/{name}")),
        }
    }

    pub(crate) fn start_node(&mut self, at: usize, count: usize, slow: &str) {
        let name = format!("n{}", at + 1);
        // The stand-in needs no network.
        let (address, cable) = address(at, count);
        let cable = cable.filter(|_| self.network.is_some());
        let network = match &cable {
            Some(_) => format!(
                "touch {} && ip link set lo up && until ip link set cable up 2>/dev/null; do sleep 0.02; done && \
                 ip address add {address}/24 dev cable && ",
                self.place.file(&format!("network.{name}"))
            ),
            None => String::new(),
        };
        let apart: &[&str] = if cable.is_some() { &["-n"] } else { &[] };
        let line = format!("{network}exec {} -D -N {name}", self.daemon("slurmd"));
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
    pub(crate) fn crash_node(&mut self, at: usize) {
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
        fs::write(&boot, format!("{}-{node}\n", self.place.marker)).unwrap();
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

    /// A client: one in the network of the real cluster, or one of the stand-in.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = match self.network {
            Some(holder) => {
                let network = format!("--net=/proc/{holder}/ns/net");
                self.place.command("nsenter", &[&[network.as_str(), program], args].concat())
            }
            None => {
                let mut command = self.place.command(program, args);
                let path = std::env::var("PATH").unwrap();
                command.env("PATH", format!("{}:{path}", self.place.file("programs")));
                command
            }
        };
        command.env("SLURM_CONF", self.place.path("slurm.conf"));
        command
    }

    /// Runs a client of Slurm, and returns its output.
    pub(crate) fn say(&self, words: &[&str]) -> String {
        String::from_utf8(self.command(words[0], &words[1..]).output().unwrap().stdout).unwrap()
    }

    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let words = with_small_program(&self.place, args);
        self.place.begin(self.command(PROGRAM, &words.iter().map(String::as_str).collect::<Vec<_>>()))
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait()
    }

    /// No job, no process and no file is left.
    pub(crate) fn assert_clean(&self) {
        eventually("no job is left", || self.say(&["squeue", "-h", "-o", "%i"]).is_empty());
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
         MaxArraySize=3\nSchedulerParameters=sched_interval=1,sched_min_interval=0\n"
    );
    for (at, node) in nodes(count).iter().enumerate() {
        let (address, port) = (address(at, count).0, 6818 + at);
        conf += &format!(
            "NodeName={node} NodeAddr={address} Port={port} CPUs=2 Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=500\n"
        );
    }
    conf + "PartitionName=p Nodes=ALL Default=YES State=UP\n"
}
