//! `fleet` on a cluster of Kubernetes: its client against a server that gives the answers of a real one. `elsewhere_kubernetes` has the real one.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs;
use std::io::Write;
use std::process::Command;

use crate::support::engines::{Daemons, certificate, few_runs, with_small_program};
use crate::support::needs::{Need, mounts, needs, root, tool};
use crate::support::{PROGRAM, Ran, Running, Sandbox, eventually, kill, terminal};
use rustix::process::Signal;
use serde_json::json;

/// What a plugin that logs in prints, of a token.
const LOGIN: &str = r#"{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io\/v1", "status": {"token": "&"}}"#;

/// What stands in for a cluster: an API server, and a directory of its nodes and jobs.
struct Cluster {
    // Before the place, whose directory they use.
    _daemons: Daemons,
    place: Sandbox,
}

impl Cluster {
    /// With these nodes, each with a boot of its own.
    fn new(nodes: &[&str]) -> Need<Self> {
        root()?;
        mounts()?;
        tool("python3")?;
        tool("openssl")?;
        let place = Sandbox::new();
        fs::create_dir(place.path("cluster")).unwrap();
        let items: Vec<_> = nodes
            .iter()
            .map(|name| {
                place.write(&format!("cluster/boot.{name}"), format!("{}-{name}\n", place.marker));
                json!({
                    "metadata": { "name": name, "labels": { "kubernetes.io/os": "linux", "pool": &name[..1] } },
                    "spec": {},
                    "status": {
                        "allocatable": { "cpu": "2", "memory": "4Gi" },
                        "conditions": [{ "type": "Ready", "status": "True" }],
                    },
                })
            })
            .collect();
        place.write("cluster/nodes.json", json!({ "items": items }).to_string());
        let script = format!("set -e; cd {}; {}", place.file("cluster"), certificate("IP:127.0.0.1"));
        assert!(place.command("sh", &["-c", &script]).output().unwrap().status.success());
        place.write("cluster/server.py", include_str!("../support/apiserver.py"));
        let mut daemons = Daemons::new();
        let words = [place.file("cluster/server.py"), place.file("cluster")];
        let mut server = place.command("python3", &words.each_ref().map(String::as_str));
        // It is no process that a measurement leaves.
        server.env_remove("TMPDIR");
        daemons.start(&place, server);
        eventually("the API server", || place.path("cluster/port").exists());
        let port = fs::read_to_string(place.path("cluster/port")).unwrap();
        // A plugin logs in. Where nobody is at its input, it is to find nothing there; else it asks.
        place.write("cluster/token", "first");
        let [token, logins] = ["cluster/token", "cluster/logins"].map(|name| place.file(name));
        let asks = format!(r#"{{ echo 'who are you?' >&2 && read -r name && echo "$name" >>{logins}; }}"#);
        let asked = format!(r#"{{ test -z "$(cat)" && echo nobody >>{logins}; }}"#);
        let line = format!("if test -t 0; then {asks}; else {asked}; fi && sed 's/.*/{LOGIN}/' {token}");
        place.script("login", &format!("#!/bin/sh\n{line}\n"));
        let cluster = Self { _daemons: daemons, place };
        cluster.configure("kubeconfig", &format!("https://127.0.0.1:{port}"), "IfAvailable");
        Ok(cluster)
    }

    /// Writes what `kubectl` would read, for a server at that address.
    fn configure(&self, name: &str, server: &str, mode: &str) {
        let file = |name: &str| self.place.file(name);
        let cluster = json!({ "server": server, "certificate-authority": file("cluster/ca.pem") });
        let plugin = json!({
            "apiVersion": "client.authentication.k8s.io/v1", "command": file("login"), "interactiveMode": mode,
        });
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{ "name": "c", "cluster": cluster }],
            "users": [{ "name": "u", "user": { "exec": plugin } }],
            "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "u" } }],
        });
        self.place.write(name, config.to_string());
    }

    /// Changes a node.
    fn set(&self, name: &str, at: &str, value: serde_json::Value) {
        let mut nodes = self.place.json("cluster/nodes.json");
        let node =
            nodes["items"].as_array_mut().unwrap().iter_mut().find(|it| it["metadata"]["name"] == name);
        *node.unwrap().pointer_mut(at).unwrap() = value;
        self.place.write("cluster/nodes.json", nodes.to_string());
    }

    fn start(&self, args: &[&str]) -> Running {
        self.place.begin(self.command("kubeconfig", args))
    }

    fn command(&self, config: &str, args: &[&str]) -> Command {
        let words = with_small_program(&self.place, args);
        let mut command = self.place.command(PROGRAM, &words.iter().map(String::as_str).collect::<Vec<_>>());
        command.env("KUBECONFIG", self.place.path(config));
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait()
    }

    fn compare(&self, places: &[&str], more: &[&str]) -> Ran {
        self.run(&[&["fleet", "compare"], places, more].concat())
    }

    /// Names of the files of the cluster that begin so.
    fn files(&self, begin: &str) -> Vec<String> {
        let all = fs::read_dir(self.place.path("cluster")).unwrap().flatten();
        all.map(|it| it.file_name().into_string().unwrap()).filter(|it| it.starts_with(begin)).collect()
    }

    /// No job, no process and no file is left.
    fn assert_clean(&self) {
        eventually("no job is left", || self.files("job.").is_empty());
        eventually("no process is left", || self.place.sleepers().is_empty());
        let left = || {
            let boxes = self.files("tmp.").into_iter();
            boxes.flat_map(|it| fs::read_dir(self.place.path(&format!("cluster/{it}"))).unwrap()).count()
        };
        eventually("no file is left", || left() == 0);
        self.place.assert_clean();
    }
}

#[test]
fn nodes_are_held_by_jobs_and_who_cannot_be_had_is_named() {
    let cluster = needs!(Cluster::new(&["a1", "a2", "a3", "b1", "b2"]));
    cluster.set("a2", "/spec", json!({ "unschedulable": true }));
    cluster.set(
        "b1",
        "/spec",
        json!({ "taints": [{ "key": "use", "value": "gpu", "effect": "NoSchedule" }] }),
    );
    let lost =
        json!([{ "type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status." }]);
    cluster.set("b2", "/status/conditions", lost);
    let ran = cluster.compare(&["k8s:all", "--to=runs"], &few_runs("true"));
    ran.expect(
        1,
        &[
            "a1: job whyfaster-",
            "a1: done",
            "a2: it is cordoned",
            "a3: done",
            "b1: it is tainted: use=gpu:NoSchedule",
            "b2: it is NotReady: Kubelet stopped posting node status.",
            "2 of 5 machines gave a record",
        ],
    );
    cluster.assert_clean();
    cluster.set("a2", "/spec", json!({}));
    let ran = cluster.run(&["fleet", "resume", "runs"]);
    ran.expect(1, &["a2: done", "3 of 5 machines gave a record"]);
    cluster.place.write("cluster/forgets", "");
    cluster
        .compare(&["k8s:pool=a", "k8s:b1+tainted", "--to=some"], &few_runs("true"))
        .expect(0, &["4 of 4 machines"]);
    cluster.run(&["prices", "--on=k8s:a1@debian:13+root", "--quick", "getppid"]).expect(0, &[]);
    cluster.assert_clean();
}

#[test]
fn machines_are_called_by_their_nodes_and_one_that_is_gone_holds_no_other() {
    let cluster = needs!(Cluster::new(&["a1.east", "a2.east"]));
    for to in ["--to=before", "--to=after"] {
        cluster
            .run(&["fleet", "prices", "k8s:all", to, "--", "--quick", "getppid"])
            .expect(0, &["2 of 2 machines"]);
    }
    let diff = cluster.run(&["fleet", "diff", "before", "after", "--json"]).json();
    assert_eq!(diff["machines"], json!(["a1-east", "a2-east"]));
    // The nodes are replaced before what is missing is measured.
    fs::remove_file(cluster.place.path("before/a1.east.json")).unwrap();
    fs::remove_file(cluster.place.path("before/a2.east.json")).unwrap();
    cluster.set("a2.east", "/metadata/name", json!("a3.east"));
    fs::remove_file(cluster.place.path("cluster/logins")).unwrap();
    let ran = cluster.run(&["fleet", "resume", "before"]);
    ran.expect(1, &["a1.east: done", "a2.east: it is gone: its engine no longer has it", "1 of 2 machines"]);
    // Once by who asks for both nodes, and once by who holds the one.
    assert_eq!(cluster.place.lines("cluster/logins"), ["nobody"; 2]);
    cluster.assert_clean();
}

#[test]
fn what_the_cluster_refuses_is_the_reason() {
    let cluster = needs!(Cluster::new(&["a1", "a2"]));
    cluster.compare(&["k8s:pool=z"], &few_runs("true")).expect_error(2, &["'pool=z'"]);
    cluster
        .compare(&["k8s:all+admin"], &few_runs("true"))
        .expect(2, &["'+admin' is neither '+root' nor '+tainted'"]);
    cluster
        .compare(&["k8s:closed/a1", "--to=closed"], &few_runs("true"))
        .expect(1, &["a1: it is Forbidden: jobs.batch is forbidden"]);
    let waiting = |reason: &str, message: &str| {
        let state = json!({ "waiting": { "reason": reason, "message": message } });
        json!({ "phase": "Pending", "containerStatuses": [{ "state": state }] }).to_string()
    };
    cluster.place.write("cluster/pod.a1", waiting("ImagePullBackOff", "no such image"));
    cluster
        .compare(&["k8s:a1@nowhere/none", "--to=image"], &few_runs("true"))
        .expect(1, &["a1: it is ImagePullBackOff: no such image", "0 of 1 machine"]);
    cluster.assert_clean();
    // Where there is not even a pod, what Kubernetes complains of is the reason.
    cluster.place.write("cluster/nopods", "");
    let events = json!([{ "type": "Warning", "reason": "FailedCreate", "message": "pods \"x\" is forbidden: no such service account" }]);
    cluster.place.write("cluster/events", events.to_string());
    cluster
        .compare(&["k8s:a2", "--to=events"], &few_runs("true"))
        .expect(1, &["a2: it is FailedCreate: pods \"x\" is forbidden", "0 of 1 machine"]);
    fs::remove_file(cluster.place.path("cluster/nopods")).unwrap();
    cluster.assert_clean();
    // One that waits says why, and goes on once it can.
    let condition = json!({ "type": "PodScheduled", "status": "False", "message": "0/2 nodes are available: 2 Insufficient cpu." });
    cluster
        .place
        .write("cluster/pod.a1", json!({ "phase": "Pending", "conditions": [condition] }).to_string());
    let running =
        cluster.start(&[&["fleet", "compare", "k8s:a1", "--to=waits"], &few_runs("true")[..]].concat());
    eventually("a job waits", || !cluster.files("job.").is_empty());
    eventually("it says why", || cluster.place.said().contains("a1: waits: "));
    fs::remove_file(cluster.place.path("cluster/pod.a1")).unwrap();
    running.wait().expect(0, &["a1: waits: 0/2 nodes are available: 2 Insufficient cpu.", "a1: done"]);
    cluster.assert_clean();
}

#[test]
fn a_cluster_that_is_not_reached_is_the_reason() {
    let cluster = needs!(Cluster::new(&["a1"]));
    let words = ["fleet", "compare", "k8s:all", "--", "true", "true"];
    let ran = |config: &str| cluster.place.finish(cluster.command(config, &words));
    cluster.configure("nobody", "https://127.0.0.1:1", "Never");
    ran("nobody").expect_error(6, &["https://127.0.0.1:1/: Connection refused", "'kubectl get nodes'"]);
    let own = fs::read_to_string(cluster.place.path("kubeconfig")).unwrap();
    cluster.place.write("nameless", own.replace("127.0.0.1", "no.such.name.invalid"));
    ran("nameless").expect_error(6, &["https://no.such.name.invalid:", "nobody here knows the address of"]);
    // Its certificate is for the address and not for the name.
    cluster.place.write("other", own.replace("127.0.0.1", "localhost"));
    ran("other").expect_error(6, &["https://localhost:", "certificate not valid for name \"localhost\""]);
    ran("missing").expect_error(6, &["KUBECONFIG names no file that is there: "]);
    cluster.place.write("broken", "clusters: 7\n");
    ran("broken").expect_error(6, &["kubeconfig"]);
    cluster.place.script("login", "#!/bin/sh\necho no such user >&2; exit 1\n");
    ran("nobody").expect_error(6, &["/login', which logs in: exit status: 1: no such user"]);
    fs::remove_file(cluster.place.path("login")).unwrap();
    ran("nobody").expect_error(6, &["/login', which logs in: ", "No such file or directory"]);
    cluster.assert_clean();
}

#[test]
fn it_is_found_and_asked_as_kubectl_does() {
    let cluster = needs!(Cluster::new(&["a1"]));
    let words = [&["fleet", "compare", "k8s:a1", "--to=runs"], &few_runs("true")[..]].concat();
    // This once, the whole program is sent.
    let mut command = cluster.place.command(PROGRAM, &words);
    // A file of the list may be missing, and no proxy is asked for this machine.
    let list = format!("{}:{}", cluster.place.file("missing"), cluster.place.file("kubeconfig"));
    command.env("KUBECONFIG", list).env("HTTPS_PROXY", "http://127.0.0.1:1");
    cluster.place.finish(command).expect(0, &["a1: done"]);
    // Once by who asks for the nodes, and once by who holds the one.
    assert_eq!(cluster.place.lines("cluster/logins"), ["nobody"; 2]);
    cluster.assert_clean();
    // A proxy for all but this machine, which the proxy is as well.
    let words = [&["fleet", "compare", "k8s:a1", "--to=proxy"], &few_runs("true")[..]].concat();
    let mut command = cluster.command("kubeconfig", &words);
    command.env("HTTPS_PROXY", "http://127.0.0.1:1").env("NO_PROXY", "127.0.0.1");
    cluster.place.finish(command).expect(0, &["a1: done"]);
    let own = fs::read_to_string(cluster.place.path("kubeconfig")).unwrap();
    cluster
        .place
        .write("proxied", own.replace("\"server\":", "\"proxy-url\": \"http://127.0.0.1:1\", \"server\":"));
    let mut command = cluster.command("proxied", &words);
    command.env("NO_PROXY", "127.0.0.1");
    cluster.place.finish(command).expect_error(6, &["Connection refused"]);
    // By a name, with a certificate for another one.
    let named = own.replace("https://127.0.0.1", "https://localhost");
    let named = named.replace("\"server\":", "\"tls-server-name\": \"127.0.0.1\", \"server\":");
    cluster.place.write("named", named);
    let words = [&["fleet", "compare", "k8s:a1", "--to=by-name"], &few_runs("true")[..]].concat();
    cluster.place.finish(cluster.command("named", &words)).expect(0, &["a1: done"]);
    // Who waits for hours is somebody else by then.
    cluster.place.write("cluster/pod.a1", json!({ "phase": "Pending" }).to_string());
    let running =
        cluster.start(&[&["fleet", "compare", "k8s:a1", "--to=late"], &few_runs("true")[..]].concat());
    eventually("a job waits", || !cluster.files("job.").is_empty());
    cluster.place.write("cluster/token", "second");
    fs::remove_file(cluster.place.path("cluster/pod.a1")).unwrap();
    running.wait().expect(0, &["a1: done"]);
    cluster.assert_clean();
}

#[test]
fn who_logs_in_may_be_asked_on_a_terminal() {
    let cluster = needs!(Cluster::new(&["a1"]));
    let words = [&["fleet", "compare", "k8s:a1", "--to=runs"], &few_runs("true")[..]].concat();
    let (mut terminal, child) = terminal::start(cluster.command("kubeconfig", &words));
    terminal.write_all(b"me\n").unwrap();
    let (code, shown) = terminal::end(terminal, child);
    assert!(code == Some(0) && shown.contains("who are you?"), "{code:?} {shown}");
    assert_eq!(cluster.place.lines("cluster/logins"), ["me", "nobody"]);
    cluster.assert_clean();
}

#[test]
fn what_breaks_in_the_middle_is_told_at_once() {
    let cluster = needs!(Cluster::new(&["a1"]));
    let place = &cluster.place;
    let long = format!("sleep {}", place.marker);
    let running =
        cluster.start(&[&["fleet", "compare", "k8s:all", "--to=cut"], &few_runs(&long)[..]].concat());
    place.wait_for_sleepers(1);
    place.write("cluster/cut.a1", "");
    let asked_again = || place.said().contains("once more, because the connection ended while it measured");
    eventually("again", asked_again);
    kill(running.pid(), Signal::INT);
    running.wait().expect(130, &["0 of 1 machine gave a record"]);
    cluster.assert_clean();
    // The program cannot be run there.
    place.write("cluster/noexec.a1", "");
    cluster
        .compare(&["k8s:all", "--to=noexec"], &few_runs("true"))
        .expect(1, &["a1: ", "does not allow programs"]);
    cluster.assert_clean();
}

#[test]
fn whatever_ends_a_visit_takes_the_job_away() {
    let cluster = needs!(Cluster::new(&["a1", "a2"]));
    let place = &cluster.place;
    let long = format!("sleep {}", place.marker);
    let holder = || {
        let alive = place.alive();
        let line = alive.iter().find(|it| it.contains(": /proc/self/exe __k8s")).unwrap();
        line.split(':').next().unwrap().parse().unwrap()
    };
    for (at, ends) in ["interrupt", "near", "client", "waiting"].into_iter().enumerate() {
        if ends == "waiting" {
            place.write("cluster/pod.a2", json!({ "phase": "Pending" }).to_string());
        }
        let to = format!("--to=runs{at}");
        let running = cluster.start(&[&["fleet", "compare", "k8s:all", &to], &few_runs(&long)[..]].concat());
        place.wait_for_sleepers(if ends == "waiting" { 1 } else { 2 });
        eventually("two jobs", || cluster.files("job.").len() == 2);
        let (victim, signal) = match ends {
            "interrupt" => (running.pid(), Signal::INT),
            "client" => (holder(), Signal::TERM),
            _ => (running.pid(), Signal::KILL),
        };
        if ends == "client" {
            // It waits for nobody: who collects does nothing meanwhile.
            kill(running.pid(), Signal::STOP);
            kill(victim, signal);
            let of_victim = format!("{victim}: ");
            eventually("it ends", || !place.alive().iter().any(|it| it.starts_with(&of_victim)));
            kill(running.pid(), Signal::CONT);
            // The node is asked for again, and so there are two jobs once more.
            eventually("again", || place.said().contains("once more, because the connection ended"));
            kill(running.pid(), Signal::INT);
        } else {
            kill(victim, signal);
        }
        let ran = running.wait();
        if signal != Signal::KILL {
            ran.expect(130, &["0 of 2 machines gave a record"]);
        }
        cluster.assert_clean();
    }
}
