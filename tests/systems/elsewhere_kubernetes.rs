//! `fleet` on a real Kubernetes, as scripts/setup-kubernetes builds it: API server, controllers, scheduler and `kubectl`. The nodes are this machine,
//! each with a boot and a /tmp of its own; their pods are processes, and kwok serves `kubectl exec`.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::engines::{Daemons, few_runs};
use crate::support::needs::{Missing, Need, mounts, needs, root, tool};
use crate::support::{PROGRAM, Ran, Running, Sandbox, eventually, kill};
use rustix::process::Signal;

/// Where the programs are, if somebody has built them.
fn built() -> Need<PathBuf> {
    let tools = std::env::var_os("TOOLS").map(PathBuf::from);
    let tools =
        tools.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/whyfaster/tools")));
    let versions = include_str!("../../scripts/versions");
    let version = versions.lines().find_map(|line| line.strip_prefix("KUBERNETES_VERSION=")).unwrap();
    let directory = tools.unwrap_or_default().join(format!("kubernetes-{version}"));
    match directory.join("complete").exists() {
        true => Ok(directory.join("bin")),
        false => Err(Missing::Machine(format!("Kubernetes {version} (make setup-kubernetes builds it)"))),
    }
}

/// The cluster; gone when dropped.
struct Cluster {
    // Before the place, whose directory they use.
    daemons: Daemons,
    place: Sandbox,
    programs: PathBuf,
    ports: Vec<u16>,
}

impl Cluster {
    /// With nodes `n1`, `n2` and so on.
    fn new(nodes: usize) -> Need<Self> {
        root()?;
        mounts()?;
        tool("python3")?;
        tool("openssl")?;
        let programs = built()?;
        let place = Sandbox::new();
        let listeners: Vec<_> = (0..3 + nodes).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<u16> = listeners.iter().map(|it| it.local_addr().unwrap().port()).collect();
        drop(listeners);
        let mut cluster = Self { place, programs, ports, daemons: Daemons::new() };
        let dir = cluster.place.file("");
        let [etcd, peer, api] = [0, 1, 2].map(|at| cluster.ports[at]);
        cluster.place.write("tokens", "secret,admin,1,system:masters\n");
        cluster.place.write("kubelet.py", include_str!("../support/kubelet.py"));
        cluster.place.write(
            "kubeconfig",
            format!(
                r#"{{"apiVersion": "v1", "kind": "Config", "current-context": "c",
                "clusters": [{{"name": "c", "cluster": {{"server": "https://127.0.0.1:{api}", "insecure-skip-tls-verify": true}}}}],
                "users": [{{"name": "u", "user": {{"token": "secret"}}}}],
                "contexts": [{{"name": "c", "context": {{"cluster": "c", "user": "u"}}}}]}}"#
            ),
        );
        // Whatever is asked for runs here.
        cluster.place.write(
            "kwok.yaml",
            "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: ClusterExec\nmetadata: {name: all}\nspec: {execs: [{local: {}}]}\n",
        );
        let keys = cluster.command("openssl", &["genrsa", "-out", &format!("{dir}key.pem"), "2048"]).output();
        assert!(keys.unwrap().status.success());
        cluster.begin("etcd", &format!(
            "--data-dir={dir}etcd --listen-client-urls=http://127.0.0.1:{etcd} --advertise-client-urls=http://127.0.0.1:{etcd} \
             --listen-peer-urls=http://127.0.0.1:{peer} --initial-advertise-peer-urls=http://127.0.0.1:{peer} \
             --initial-cluster=default=http://127.0.0.1:{peer} --unsafe-no-fsync --log-level=error"
        ));
        cluster.begin("kube-apiserver", &format!(
            "--etcd-servers=http://127.0.0.1:{etcd} --bind-address=127.0.0.1 --advertise-address=127.0.0.1 --secure-port={api} --cert-dir={dir}certs \
             --token-auth-file={dir}tokens --authorization-mode=AlwaysAllow --endpoint-reconciler-type=none --service-cluster-ip-range=10.0.0.0/24 \
             --disable-admission-plugins=ServiceAccount --service-account-issuer=https://test --service-account-signing-key-file={dir}key.pem \
             --service-account-key-file={dir}key.pem --kubelet-preferred-address-types=InternalIP"
        ));
        eventually("the API server", || cluster.say(&["get", "--raw=/readyz"]) == "ok");
        cluster.begin("kube-controller-manager", &format!(
            "--kubeconfig={dir}kubeconfig --leader-elect=false --secure-port=0 --node-monitor-period=1s --node-monitor-grace-period=4s --controllers=\
             job-controller,ttl-after-finished-controller,garbage-collector-controller,node-lifecycle-controller,pod-garbage-collector-controller"
        ));
        cluster.begin(
            "kube-scheduler",
            &format!("--kubeconfig={dir}kubeconfig --leader-elect=false --secure-port=0"),
        );
        for at in 0..nodes {
            cluster.node(&format!("n{}", at + 1), cluster.ports[3 + at]);
        }
        eventually("nodes that are ready", || {
            cluster.say(&["get", "nodes", "--no-headers"]).lines().filter(|it| it.contains(" Ready ")).count()
                == nodes
        });
        Ok(cluster)
    }

    /// Starts a node: what runs its pods, and what serves `kubectl exec`.
    fn node(&mut self, name: &str, port: u16) {
        let dir = self.place.file("");
        fs::create_dir_all(self.place.path(&format!("far.{name}/box"))).unwrap();
        self.place.write(&format!("boot.{name}"), format!("{}-{name}\n", self.place.marker));
        let api = self.ports[2];
        let kwok = self.programs.join("kwok");
        let mounts = format!(
            "mount --bind {dir}boot.{name} /proc/sys/kernel/random/boot_id && mount --bind {dir} {dir}far.{name}/box && \
             mount --rbind {dir}far.{name} /tmp && cd /"
        );
        for daemon in [
            format!("python3 /tmp/box/kubelet.py {name} https://127.0.0.1:{api} secret {port}"),
            format!(
                "{} --kubeconfig=/tmp/box/kubeconfig --config=/tmp/box/kwok.yaml --server-address=127.0.0.1:{port} \
                 --manage-nodes-with-label-selector=no=node --tls-cert-file=/tmp/box/certs/apiserver.crt --tls-private-key-file=/tmp/box/certs/apiserver.key",
                kwok.display()
            ),
        ] {
            let line = format!("{mounts} && exec {daemon}");
            let mut command = self.command(
                "unshare",
                &[
                    "-m",
                    "-p",
                    "-f",
                    "--kill-child",
                    "--mount-proc",
                    "--propagation",
                    "private",
                    "sh",
                    "-c",
                    &line,
                ],
            );
            command.env_remove("TMPDIR").env("HOME", "/tmp");
            self.daemons.start(&self.place, command);
        }
    }

    fn begin(&mut self, program: &str, words: &str) {
        let program = self.programs.join(program);
        let words: Vec<&str> = words.split_whitespace().collect();
        let command = self.command(program.to_str().unwrap(), &words);
        self.daemons.start(&self.place, command);
    }

    fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = self.place.command(program, words);
        let path = format!("{}:{}", self.programs.display(), std::env::var("PATH").unwrap());
        command
            .env("PATH", path)
            .env("KUBECONFIG", self.place.path("kubeconfig"))
            .env("HOME", self.place.file(""));
        command
    }

    /// What kubectl prints.
    fn say(&self, words: &[&str]) -> String {
        let output = self.command("kubectl", words).stderr(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn start(&self, args: &[&str]) -> Running {
        self.place.begin(self.command(PROGRAM, args))
    }

    fn compare(&self, places: &[&str], more: &[&str]) -> Ran {
        self.start(&[&["fleet", "compare"], places, more].concat()).wait()
    }

    /// No job, no pod, no process and no file is left.
    fn assert_clean(&self) {
        eventually("no job is left", || {
            self.say(&["get", "jobs,pods", "-l", "app.kubernetes.io/managed-by=whyfaster", "-o", "name"])
                .is_empty()
        });
        eventually("no process is left", || self.place.sleepers().is_empty());
        let far =
            |node: usize| fs::read_dir(self.place.path(&format!("far.n{}", node + 1))).unwrap().flatten();
        let files =
            || (0..self.ports.len() - 3).flat_map(far).map(|it| it.file_name().into_string().unwrap());
        eventually("no file is left", || !files().any(|it| it.starts_with("whyfaster")));
    }
}

#[test]
fn nodes_are_measured_as_jobs_and_what_keeps_one_is_told() {
    let mut cluster = needs!(Cluster::new(3));
    cluster.say(&["cordon", "n2"]);
    let ran = cluster.compare(&["k8s:pool=n", "--to=runs"], &few_runs("true"));
    ran.expect(
        1,
        &[
            "n1: job whyfaster-",
            "n1: done",
            "n2: it is cordoned",
            "n3: done",
            "2 of 3 machines gave a record",
        ],
    );
    cluster.assert_clean();
    cluster
        .compare(&["k8s:n1@missing", "--to=image"], &few_runs("true"))
        .expect(1, &["n1: it is ImagePullBackOff: Back-off pulling"]);
    cluster
        .compare(&["k8s:nowhere/n1", "--to=space"], &few_runs("true"))
        .expect(1, &["n1: it is NotFound: ", "namespaces \"nowhere\" not found"]);
    cluster.assert_clean();
    // Two at once: one waits until the other has ended.
    let second = ["fleet", "compare", "k8s:n1", "--to=second"];
    let asleep = format!("test -e {} || sleep {}", cluster.place.file("go"), cluster.place.marker);
    let long = ["--", "--runs=3", "--why=no", "--no-check-output", &asleep];
    let first = cluster.start(&[&["fleet", "compare", "k8s:n1", "--to=first"], &long[..]].concat());
    cluster.place.wait_for_sleepers(1);
    let second = cluster.start(&[&second, &few_runs("true")[..]].concat());
    eventually("the other waits", || cluster.place.said().contains("n1: waits: "));
    cluster.place.write("go", "");
    cluster.place.end_sleepers();
    first.wait().expect(1, &["n1: "]);
    second.wait().expect(0, &["n1: done"]);
    cluster.assert_clean();
    // A node goes in the middle.
    fs::remove_file(cluster.place.path("go")).unwrap();
    let running = cluster.start(&[&["fleet", "compare", "k8s:n3", "--to=gone"], &long[..]].concat());
    cluster.place.wait_for_sleepers(1);
    cluster.daemons.end(2);
    running.wait().expect(
        1,
        &[
            "n3: once more, because the connection ended while it measured",
            "n3: it is NotReady: Kubelet stopped posting node status",
        ],
    );
    eventually("no process is left", || cluster.place.sleepers().is_empty());
}

#[test]
fn a_pod_ends_by_itself_when_all_else_is_killed() {
    let cluster = needs!(Cluster::new(1));
    let long = format!("sleep {}", cluster.place.marker);
    let words = [&["fleet", "compare", "k8s:all", "--to=runs"], &few_runs(&long)[..]].concat();
    for all in [false, true] {
        let running = cluster.start(&words);
        cluster.place.wait_for_sleepers(1);
        if all {
            // Nobody is left who could take the job away.
            for line in cluster
                .place
                .alive()
                .iter()
                .filter(|it| it.contains("__keeper") || it.contains(": /proc/self/exe __k8s"))
            {
                kill(line.split(':').next().unwrap().parse().unwrap(), Signal::KILL);
            }
        }
        kill(running.pid(), Signal::KILL);
        running.wait();
        cluster.assert_clean();
        fs::remove_dir_all(cluster.place.path("runs")).unwrap();
    }
    let running = cluster.start(&words);
    cluster.place.wait_for_sleepers(1);
    kill(running.pid(), Signal::INT);
    running.wait().expect(130, &["n1: interrupted"]);
    cluster.assert_clean();
}
