//! `fleet` on a real Ray of two nodes, each in a network of its own and with a boot of its own; the cluster asks for a token, as Ray does unless told
//! otherwise.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs;
use std::process::Command;

use crate::support::engines::{Daemons, few_runs};
use crate::support::needs::{Need, modules, mounts, needs, ray, root, tool};
use crate::support::{PROGRAM, Ran, Running, Sandbox, alone, eventually, kill, together};
use rustix::process::Signal;

const HEAD: &str = "10.78.0.1";
const OTHER: &str = "10.78.0.2";
const CLUSTER: &str = "ray:10.78.0.1:6379";

/// The cluster; gone when dropped.
struct Cluster {
    // Before the place, whose directory they use.
    daemons: Daemons,
    /// The processes that hold each node's namespaces.
    nodes: Vec<u32>,
    place: Sandbox,
}

impl Cluster {
    fn new() -> Need<Self> {
        root()?;
        mounts()?;
        tool("ip")?;
        ray()?;
        let place = Sandbox::new();
        fs::create_dir(place.path("far")).unwrap();
        let mut cluster = Self { place, daemons: Daemons::new(), nodes: Vec::new() };
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
        Ok(cluster)
    }

    /// The machine lives on when Ray has ended there.
    fn start_node(&mut self, address: &str, words: &str) {
        let boot = self.place.file(&format!("boot.{address}"));
        fs::write(&boot, format!("{}-{address}\n", self.place.marker)).unwrap();
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
    fn stop_last_node(&mut self) {
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
        command.env("RAY_USAGE_STATS_ENABLED", "0").envs(modules().map(|it| ("PYTHONPATH", it)));
        // After it a job that waits has failed, and is asked for again: of itself a quarter of an hour.
        command.env("RAY_JOB_START_TIMEOUT_SECONDS", "15");
        command.env("RAY_AUTH_MODE", "token").env("RAY_AUTH_TOKEN", "0".repeat(64));
        command
    }

    /// In the network of the first node.
    fn inside(&self, program: &str, words: &[&str]) -> Command {
        let head = format!("--net=/proc/{}/ns/net", self.nodes[0]);
        self.command("nsenter", &[&[head.as_str(), program], words].concat())
    }

    fn start(&self, args: &[&str]) -> Running {
        self.place.begin(self.inside(PROGRAM, args))
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait()
    }

    /// What Ray's API for jobs says to this request, by a Python that does not have to load Ray.
    fn of_jobs(&self, method: &str, path: &str, shown: &str) -> String {
        let ask = format!(
            "import json, os, urllib.request as u; \
             headers = {{'Authorization': 'Bearer ' + os.environ['RAY_AUTH_TOKEN']}}; \
             answer = json.load(u.urlopen(u.Request('http://127.0.0.1:8265/api/jobs/{path}', method='{method}', headers=headers))); print({shown})"
        );
        String::from_utf8(self.inside("python3", &["-c", &ask]).output().unwrap().stdout).unwrap()
    }

    /// The jobs that Ray lists, and how each stands.
    fn jobs(&self) -> String {
        let shown = "*[(it['submission_id'], it['status']) for it in answer if it['submission_id']]";
        self.of_jobs("GET", "", shown)
    }

    /// No process and no file of a measurement is left.
    fn assert_clean(&self) {
        eventually("no process is left", || self.place.sleepers().is_empty());
        let far = || fs::read_dir(self.place.path("far")).unwrap().flatten();
        let ours = |it: &fs::DirEntry| it.file_name().to_string_lossy().starts_with("whyfaster");
        eventually("no file is left", || !far().any(|it| ours(&it)));
    }
}

#[test]
fn nodes_are_held_by_jobs_and_nothing_stays() {
    // Ray begins with a dozen programs, which give up where the CPUs have too much else to do. After that it waits most of the time.
    let alone = alone();
    let mut cluster = needs!(Cluster::new());
    drop(alone);
    let _together = together();
    let ran = cluster.run(&[&["fleet", "compare", CLUSTER, "--to=runs"], &few_runs("true")[..]].concat());
    ran.expect(0, &["10.78.0.1: job ", "10.78.0.2: done", "2 of 2 machines gave a record"]);
    cluster.assert_clean();
    let one = format!("{CLUSTER}/{OTHER}");
    cluster
        .run(&[&["fleet", "compare", &format!("{CLUSTER}/n9")], &few_runs("true")[..]].concat())
        .expect_error(2, &["no node 'n9'"]);
    let mut stranger = cluster.inside(PROGRAM, &["fleet", "prices", CLUSTER]);
    stranger.env_remove("RAY_AUTH_MODE").env_remove("RAY_AUTH_TOKEN");
    // Ray tries for 20 s.
    let stranger = cluster.place.begin(stranger);
    let long = format!("sleep {}", cluster.place.marker);
    let asleep = ["--", "--runs=3", "--why=no", "--no-check-output", "-N", &long];
    // Somebody ends the job; a later one is interrupted.
    let interrupted = cluster.start(&[&["fleet", "compare", &one, "--to=interrupted"], &asleep[..]].concat());
    cluster.place.wait_for_sleepers(1);
    let jobs = cluster.jobs();
    let running = jobs.split(") (").find(|it| it.contains("RUNNING")).unwrap();
    let first = running.split('\'').nth(1).unwrap();
    assert_eq!(cluster.of_jobs("POST", &format!("{first}/stop"), "answer['stopped']"), "True\n");
    let again = || {
        let jobs = cluster.jobs();
        jobs.contains("'STOPPED'") && jobs.contains("'RUNNING'")
    };
    eventually("it is asked for again", again);
    cluster.place.wait_for_sleepers(1);
    let jobs = cluster.jobs();
    kill(interrupted.pid(), Signal::INT);
    interrupted.wait().expect(130, &["10.78.0.2: interrupted"]);
    eventually("the job ends with its shell", || cluster.jobs() == jobs.replace("RUNNING", "SUCCEEDED"));
    cluster.assert_clean();
    // Whoever comes second waits for the CPUs; a kill gives them back.
    let first = cluster.start(&[&["fleet", "compare", &one, "--to=first"], &asleep[..]].concat());
    cluster.place.wait_for_sleepers(1);
    let second = cluster.start(&[&["fleet", "compare", &one, "--to=second"], &few_runs("true")[..]].concat());
    eventually("the other waits", || {
        cluster.place.said().contains("10.78.0.2: waits: not all of its 1 CPUs are free")
    });
    let third = cluster.start(&[&["fleet", "compare", &one, "--to=third"], &few_runs("true")[..]].concat());
    eventually("its job waits", || cluster.jobs().matches("PENDING").count() == 2);
    kill(third.pid(), Signal::INT);
    third.wait().expect(130, &["10.78.0.2: interrupted"]);
    eventually("its job waits no more", || cluster.jobs().matches("PENDING").count() == 1);
    eventually("it is asked for again", || cluster.jobs().contains("-2'"));
    kill(first.pid(), Signal::KILL);
    first.wait();
    second.wait().expect(0, &["10.78.0.2: done"]);
    cluster.assert_clean();
    stranger.wait().expect_error(6, &["its token is missing or not the right one", "RAY_AUTH_MODE=token"]);
    // The node goes in the middle.
    let running = cluster.start(&[&["fleet", "compare", &one, "--to=gone"], &asleep[..]].concat());
    cluster.place.wait_for_sleepers(1);
    cluster.stop_last_node();
    running
        .wait()
        .expect(1, &["10.78.0.2: once more, because the connection ended", "10.78.0.2: it is dead"]);
    cluster.assert_clean();
}

#[test]
fn what_is_not_there_is_named() {
    let place = Sandbox::new();
    needs!(tool("python3"));
    // A Python in which nothing is installed. What has the names of its modules where we run is something else.
    place.script(
        "python3",
        "#!/bin/sh\nexec /usr/bin/env -u PYTHONPATH PATH=\"$PATH_BEFORE\" python3 -S \"$@\"\n",
    );
    fs::create_dir(place.path("ray")).unwrap();
    for module in ["json.py", "ray/__init__.py"] {
        place.write(module, "raise SystemExit('another one')\n");
    }
    let before = std::env::var("PATH").unwrap();
    let with = |path: String| {
        let mut command = place.whyfaster(&["fleet", "prices", "ray:127.0.0.1:6379"]);
        command.env("PATH", path).env("PATH_BEFORE", &before);
        place.finish(command)
    };
    with(format!("{}:{before}", place.file(""))).expect_error(6, &["python3 has no Ray", "pip install ray"]);
    with("/nonexistent".to_owned()).expect_error(6, &["python3 does not run", "pip install ray"]);
    place.run(&["fleet", "prices", "ray:-x"]).expect(2, &["'-x' is no address"]);
    place.assert_clean();
}
