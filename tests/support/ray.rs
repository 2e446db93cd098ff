//! A Ray of two nodes, each with a boot of its own; the cluster asks for a token, as Ray does unless told otherwise.
//!
//! Either a stand-in is started (`ray.py`), or the real Ray. Nodes of the real one have a network of their own each.

use std::fs;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use super::engines::{Daemons, Engine, records_of, with_small_program};
use super::needs::{Need, modules, mounts, ray, root, tool};
use super::{PROGRAM, Ran, Running, Sandbox, eventually, kill};

pub(crate) const HEAD: &str = "10.78.0.1";
pub(crate) const OTHER: &str = "10.78.0.2";
pub(crate) const CLUSTER: &str = "ray:10.78.0.1:6379";

/// The cluster; gone when dropped.
pub(crate) struct Cluster {
    // Before the place, whose directory they use.
    daemons: Daemons,
    /// The processes that hold each node's namespaces.
    nodes: Vec<u32>,
    real: bool,
    pub(crate) place: Sandbox,
}

impl Cluster {
    pub(crate) fn new() -> Need<Self> {
        root()?;
        mounts()?;
        let real = Engine::chosen().is_real();
        if real {
            tool("ip")?;
            ray()?;
        }
        tool("python3")?;
        let place = Sandbox::new();
        fs::create_dir(place.path("far")).unwrap();
        let mut cluster = Self { place, daemons: Daemons::new(), nodes: Vec::new(), real };
        if real {
            cluster.start_real()
        } else {
            cluster.start_stand_in()
        }
        Ok(cluster)
    }

    /// A module `ray`, which also is the head and the nodes.
    fn start_stand_in(&mut self) {
        fs::create_dir(self.place.path("python")).unwrap();
        self.place.write("python/ray.py", include_str!("ray.py"));
        self.place.write("python/answers.json", fs::read(records_of("ray")).unwrap());
        let module = self.place.file("python/ray.py");
        let mut head = self.command("python3", &[&module, "head"]);
        head.env_remove("TMPDIR");
        self.daemons.start(&self.place, head);
        eventually("the head", || self.place.path("python/port").exists());
        for address in [HEAD, OTHER] {
            let boot = self.boot(address);
            let line = format!(
                "mount --bind {boot} /proc/sys/kernel/random/boot_id && exec python3 {module} node {address}"
            );
            let mut node = self.command("unshare", &["-m", "--propagation", "private", "sh", "-c", &line]);
            node.env("TMPDIR", self.place.path("far"));
            self.nodes.push(self.daemons.start(&self.place, node));
            eventually("the node", || self.place.path(&format!("python/node.{address}")).exists());
        }
    }

    /// The file of the number that the kernel of a node drew at its start.
    fn boot(&self, address: &str) -> String {
        let boot = self.place.file(&format!("boot.{address}"));
        fs::write(&boot, format!("{}-{address}\n", self.place.marker)).unwrap();
        boot
    }

    fn start_real(&mut self) {
        let cluster = self;
        let temporary = cluster.place.file("r");
        cluster.start_node(HEAD, &format!("--head --port=6379 --temp-dir={temporary}"));
        cluster.start_node(OTHER, "--address=10.78.0.1:6379");
        let [head, other] = [0, 1].map(|at| cluster.nodes[at].to_string());
        // Both wait for their ends of the cable. Before a node has a network of its own, the cable would end in this one.
        eventually("the nodes' networks", || {
            [HEAD, OTHER].iter().all(|it| cluster.place.path(&format!("network.{it}")).exists())
        });
        let ends = ["cable", "netns", &head, "type", "veth", "peer", "name", "cable", "netns", &other];
        assert!(cluster.command("ip", &[&["link", "add"], &ends[..]].concat()).status().unwrap().success());
        let list = "import ray; ray.init(address='10.78.0.1:6379', log_to_driver=False); print(sum(it['Alive'] for it in ray.nodes()))";
        eventually("two nodes", || {
            let output = cluster.inside("python3", &["-c", list]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).trim() == "2"
        });
    }

    /// The machine lives on when Ray has ended there.
    fn start_node(&mut self, address: &str, words: &str) {
        let boot = self.boot(address);
        let line = format!(
            "touch {} && mount --bind {boot} /proc/sys/kernel/random/boot_id && ip link set lo up && \
             until ip link set cable up 2>/dev/null; do sleep 0.02; done; ip address add {address}/24 dev cable && \
             python3 -c 'from ray.scripts.scripts import main; main()' start {words} --node-ip-address={address} --num-cpus=1 --block; exec sleep infinity",
            self.place.file(&format!("network.{address}"))
        );
        // With its first process ends whatever runs there.
        let apart = [
            "-n",
            "-m",
            "--propagation",
            "private",
            "-p",
            "-f",
            "--kill-child",
            "--mount-proc",
            "sh",
            "-c",
            &line,
        ];
        let mut command = self.command("unshare", &apart);
        command.env("TMPDIR", self.place.path("far"));
        self.nodes.push(self.daemons.start(&self.place, command));
    }

    /// Ray is told to end on the last node, as by whoever stops it there.
    pub(crate) fn stop_last_node(&mut self) {
        if !self.real {
            return kill(self.nodes.pop().unwrap() as i32, Signal::TERM);
        }
        let children = |of: i32| -> Vec<i32> {
            let children = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap();
            children.split_whitespace().map(|it| it.parse().unwrap()).collect()
        };
        let is_raylet = |pid: &i32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap() == "raylet\n";
        let shell = children(self.nodes.pop().unwrap() as i32)[0];
        let raylet = children(children(shell)[0]).into_iter().find(is_raylet);
        kill(raylet.unwrap(), Signal::TERM);
    }

    fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = self.place.command(program, words);
        command.env("RAY_USAGE_STATS_ENABLED", "0");
        let modules = if self.real { modules() } else { Some(self.place.path("python")) };
        command.envs(modules.map(|it| ("PYTHONPATH", it)));
        // After it a job that waits has failed, and is asked for again: of itself a quarter of an hour.
        command.env("RAY_JOB_START_TIMEOUT_SECONDS", "15");
        command.env("RAY_AUTH_MODE", "token").env("RAY_AUTH_TOKEN", "0".repeat(64));
        command
    }

    /// The address of the head: in the network of the first node, if it has one.
    pub(crate) fn inside(&self, program: &str, words: &[&str]) -> Command {
        if !self.real {
            return self.command(program, words);
        }
        let head = format!("--net=/proc/{}/ns/net", self.nodes[0]);
        self.command("nsenter", &[&[head.as_str(), program], words].concat())
    }

    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let words = with_small_program(&self.place, args);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.place.begin(self.inside(PROGRAM, &words))
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait()
    }

    /// The address of the API for jobs.
    fn url(&self) -> String {
        let port = if self.real { "8265".to_owned() } else { self.place.read("python/port") };
        format!("http://127.0.0.1:{port}")
    }

    /// The answers to `ray_talk.py`.
    pub(crate) fn talk(&self, part: &str) -> Vec<Value> {
        self.place.write("ray_talk.py", include_str!("ray_talk.py"));
        let file = self.place.file("ray_talk.py");
        let words = [file.as_str(), &CLUSTER[4..], OTHER, &self.url(), part];
        let said = self.inside("python3", &words).output().unwrap();
        let out = String::from_utf8(said.stdout).unwrap();
        let last = out.lines().last().unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&said.stderr)));
        serde_json::from_str(last).unwrap()
    }

    /// No job that waits is given more time. The real one gives it the seconds that [`Self::command`] names.
    pub(crate) fn make_late(&self) {
        if !self.real {
            self.inside("python3", &["-c", "import ray; ray.make_late()"]).status().unwrap();
        }
    }

    /// Sends a request to Ray's API for jobs, by a Python that does not have to load Ray, and returns the answer.
    pub(crate) fn of_jobs(&self, method: &str, path: &str, shown: &str) -> String {
        let ask = format!(
            "import json, os, urllib.request as u; \
             headers = {{'Authorization': 'Bearer ' + os.environ['RAY_AUTH_TOKEN']}}; \
             answer = json.load(u.urlopen(u.Request('{url}/api/jobs/{path}', method='{method}', headers=headers))); print({shown})",
            url = self.url(),
        );
        String::from_utf8(self.inside("python3", &["-c", &ask]).output().unwrap().stdout).unwrap()
    }

    /// The jobs that Ray lists, and how each stands.
    pub(crate) fn jobs(&self) -> String {
        let shown = "*[(it['submission_id'], it['status']) for it in answer if it['submission_id']]";
        self.of_jobs("GET", "", shown)
    }

    /// No process and no file of a measurement is left.
    pub(crate) fn assert_clean(&self) {
        eventually("no process is left", || self.place.sleepers().is_empty());
        let far = || fs::read_dir(self.place.path("far")).unwrap().flatten();
        let ours = |it: &fs::DirEntry| it.file_name().to_string_lossy().starts_with("whyfaster");
        eventually("no file is left", || !far().any(|it| ours(&it)));
    }
}
