//! `fleet` on a Ray of two nodes.

use std::fs;

use crate::support::engines::{Engine, few_runs, hold_against_records};
use crate::support::needs::{needs, tool};
use crate::support::ray::{CLUSTER, Cluster, OTHER};
use crate::support::{PROGRAM, Sandbox, eventually, kill};
use rustix::process::Signal;

#[test]
fn nodes_are_held_by_jobs_and_nothing_stays() {
    let mut cluster = needs!(Cluster::new());
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
    cluster.make_late();
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

#[test]
fn what_ray_answers_is_what_is_recorded() {
    let mut cluster = needs!(Cluster::new());
    let mut answers = cluster.talk("living");
    cluster.stop_last_node();
    answers.extend(cluster.talk("dead"));
    let version = match Engine::chosen().is_real() {
        true => {
            cluster.inside("python3", &["-c", "import ray; print(ray.__version__)"]).output().unwrap().stdout
        }
        false => Vec::new(),
    };
    hold_against_records("ray", String::from_utf8(version).unwrap().trim(), &answers);
}
