//! `fleet` and `--on` on machines that ssh leads to: records come home, each machine's failure has its reason, and nothing stays there.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::engines::few_runs;
use crate::support::needs::needs;
use crate::support::sshd::Network;
use crate::support::user::USER;
use crate::support::{PROGRAM, Sandbox, eventually, kill, list};
use rustix::process::Signal;

/// A comparison that is done in a moment.
const QUICK: [&str; 7] =
    ["--", "wc -l lines", "cat lines", "--runs=3", "--why=no", "--no-check-output", "-N"];

#[test]
fn records_come_home_from_an_ordinary_user_and_nothing_stays() {
    let mut network = needs!(Network::new());
    for (name, shell) in [("alpha", "/bin/sh"), ("beta", "/bin/bash"), ("gamma", "/bin/sh")] {
        network.machine(name, shell, "");
    }
    let place = &network.place;
    place.write("lines", "1\n2\n3\n");
    place.write("hosts.txt", "# all\nalpha\nssh:beta\ngamma\n");
    // What lies there from another run is none of this one's.
    fs::create_dir_all(place.path("runs/older")).unwrap();
    place.write("runs/older/alpha.json", "{}");
    let ran = network.run(
        &[&["fleet", "compare", "hosts.txt", "--to=runs", "--at-once=1", "--send=lines"], &QUICK[..]]
            .concat(),
    );
    ran.expect(0, &["alpha: done (1 done, 0 running, 0 failed, 2 waiting)", "3 of 3 machines gave a record"]);
    assert!(ran.out.contains("on 3 machines") && !ran.err.contains("left out"), "{} {}", ran.out, ran.err);
    for name in ["alpha", "beta", "gamma"] {
        let record = place.record(&format!("runs/{name}.json"));
        assert_eq!(record["plan"]["user"]["uid"].to_string(), USER, "{name}");
        assert_eq!(list(&record["batches"]).len(), 6);
    }
    network.assert_clean();
    // One command is compared with nothing, and its records are shown.
    let one = ["fleet", "compare", "ssh:alpha", "ssh:beta", "--to=one", "--", "--runs=3", "--why=no", "true"];
    network.run(&one).expect(0, &["2 of 2 machines", "one machine's: whyfaster show 'one/alpha.json'"]);
    // Who is done is not measured again.
    let ran = network.run(&["fleet", "resume", "runs"]);
    ran.expect(0, &["compare on 0 machines", "3 of 3 machines gave a record"]);
    network
        .run(&[&["fleet", "compare", "alpha", "--to=runs"], &QUICK[..]].concat())
        .expect_error(2, &["'alpha' is no place"]);
    network
        .run(&[&["fleet", "compare", "ssh:alpha", "--to=runs"], &QUICK[..]].concat())
        .expect_error(2, &["holds a run already", "fleet resume runs"]);
    network.run(&["fleet", "compare", "ssh:alpha", "--", "true", "--json"]).expect_error(2, &["--json"]);
    network.run(&["fleet", "prices", "ssh:alpha", "--", "--nonsense"]).expect_error(2, &["--nonsense"]);
    network
        .run(&["fleet", "prices", "ssh:alpha", "--", "--save"])
        .expect_error(2, &["--save, which belongs before '--'"]);
    network.run(&["fleet", "doctor", "ssh:alpha", "--save"]).expect_error(2, &["'doctor' makes none"]);
}

#[test]
fn records_go_into_the_store_as_they_come_home() {
    let mut network = needs!(Network::new());
    network.machine("alpha", "/bin/sh", "");
    network.machine("beta", "/bin/sh", "");
    let places = ["ssh:alpha", "ssh:beta", "--to=runs", "--store=store.db"];
    let save = ["--save", "--label=before", "--", "--quick", "getppid"];
    network.run(&[&["fleet", "prices"], &places[..], &save].concat()).expect(0, &["2 of 2 machines"]);
    let listed = network.run(&["store", "list", "--store=store.db", "--label=before", "--json"]).json();
    let hosts: Vec<&str> = list(&listed["records"]).iter().filter_map(|it| it["host"].as_str()).collect();
    assert_eq!(hosts.len(), 2, "{listed:#}");
    assert!(["alpha", "beta"].iter().all(|it| hosts.contains(it)), "{hosts:?}");
    let ran = network.run(&["store", "add", "--store=store.db", "--label=after", "runs"]);
    assert!(ran.out.contains("2 were there already; 2 of them keep another label"), "{}", ran.out);
    // What an earlier run brought home and did not get into the store goes there when the run is taken up again.
    network.run(&["fleet", "resume", "runs"]).expect(0, &["begun with --save", "2 of 2 machines"]);
    network
        .run(&["fleet", "resume", "runs", "--save", "--store=other.db"])
        .expect(0, &["prices on 0 machines"]);
    let listed = network.run(&["store", "list", "--store=other.db", "--json"]).json();
    assert_eq!(list(&listed["records"]).len(), 2, "{listed:#}");
    // A store that breaks down meanwhile is told, with what adds the rest to it.
    network.alias("ruler", 0, "root", "known");
    let breaks =
        format!("for file in {}*; do yes | head -c 65536 > $file; done", network.place.file("broken.db"));
    let broken = ["fleet", "compare", "ssh:ruler", "--to=broken", "--save", "--store=broken.db", "--"];
    let said = "with --store if it was given: whyfaster store add 'broken'";
    let quick = ["--runs=3", "--why=no", "--no-check-output", &breaks];
    network.run(&[&broken[..], &quick].concat()).expect(1, &["not all is in the store", said]);
    // What is traced comes home too.
    let traced = ["fleet", "trace", "ssh:alpha", "--to=traced", "--", "--untraced-runs=0", "true"];
    network.run(&traced).expect(0, &["1 of 1 machine gave a record", "whyfaster show 'traced/alpha.json'"]);
    network.run(&["show", "traced/alpha.json"]).expect(0, &[]);
    network.assert_clean();
}

/// A line that hangs, as after a cut cable: no end comes, and nothing else either.
#[test]
fn a_machine_that_falls_silent_is_given_up_and_ends_what_it_runs() {
    let mut network = needs!(Network::new());
    network.machine("alpha", "/bin/sh", "");
    network.alias("ruler", 0, "root", "known");
    let conf = network.place.file("ssh.conf");
    let ssh =
        |words: &[String]| words.first().is_some_and(|it| it == "/usr/bin/ssh") && words.contains(&conf);
    let long = format!("sleep {}", network.place.marker);
    let words = ["fleet", "compare", "ssh:ruler", "--to=runs", "--silence=8s"];
    let running = network.start(&[&words[..], &few_runs(&long)].concat());
    network.place.wait_for_sleepers(1);
    // Meanwhile nobody else measures there, whatever calls it.
    let second = ["fleet", "compare", "ssh:alpha", "--to=second", "--send=lines"];
    network.place.write("lines", "1\n2\n3\n");
    network.run(&[&second[..], &QUICK].concat()).expect(
        1,
        &["alpha: another run measures on it (of the user with uid 0)", "0 of 1 machine gave a record"],
    );
    kill(network.find(ssh).unwrap(), Signal::STOP);
    running.wait().expect(1, &["ruler: it began to measure, and then nothing came from it for 8 s"]);
    eventually("no process is left", || network.place.sleepers().is_empty());
    network.run(&[&["fleet", "resume", "second"][..]].concat()).expect(0, &["alpha: done"]);
    let limited = ["fleet", "compare", "ssh:ruler", "--to=limited", "--limit=3s"];
    network.run(&[&limited[..], &few_runs(&long)].concat()).expect(1, &["ruler: it was not done within 3 s"]);
    eventually("no process is left", || network.place.sleepers().is_empty());
    network.assert_clean();
}

#[test]
fn the_one_machine_of_on_answers_as_this_one_would() {
    let mut network = needs!(Network::new());
    network.machine("alpha", "/bin/sh", "");
    let quick = ["--runs=6", "--why=no", "-N", "--no-check-output", "--fail-if-slower"];
    let on = ["compare", "--on=ssh:alpha", "--export-json=out.json", "true", "sleep 0.05"];
    let ran = network.run(&[&on[..], &quick].concat());
    ran.expect(3, &["'sleep 0.05' is slower than 'true'"]);
    assert!(
        ran.out.contains("sleep 0.05") && network.place.json("out.json")["results"].is_array(),
        "{}",
        ran.out
    );
    // Nobody over there reads the address of the store: it may hold a password.
    let reads = "! grep -l __the[r]e /proc/[0-9]*/cmdline | xargs grep -l s3cr3[t]";
    let save = ["compare", "--on=ssh:alpha", "--save", "--store", "s3cr3t.db", "--runs=3", "--why=no"];
    network.run(&[&save[..], &["--no-check-output", reads]].concat()).expect(0, &[]);
    assert!(network.place.path("s3cr3t.db").exists());
    let list = network.run(&["prices", "--on=ssh:alpha", "--quick", "--json", "getppid"]).json();
    assert_eq!(list["name"], "alpha", "the list is of that machine");
    network
        .run(&["compare", "--on=ssh:alpha", "exit 7"])
        .expect_error(5, &["ssh:alpha: it ended with exit status 5"]);
    network
        .run(&["compare", "--on=ssh:nowhere", "true"])
        .expect_error(6, &["ssh:nowhere: it could not be reached"]);
    let ran = network.run(&["fleet", "doctor", "ssh:alpha", "--to=doctors"]);
    assert!(ran.ok().out.contains("1 machine examined"));
    network.assert_clean();
}

/// What `--setup` starts, and what a command leaves that may leave something.
#[test]
fn what_a_verb_leaves_over_there_is_ended_and_its_record_comes_home() {
    let mut network = needs!(Network::new());
    network.machine("alpha", "/bin/sh", "");
    let server = format!("setsid sleep {} > log 2>&1 &", network.place.marker);
    let few = ["--runs=3", "--why=no", "--no-check-output"];
    let on = ["compare", "--on=ssh:alpha", "--setup", &server, "--record=on.json", "-N", "true", "true"];
    network.run(&[&on[..], &few].concat()).expect(0, &[]);
    network.place.record("on.json");
    network.assert_clean();
    let fleet = ["fleet", "compare", "ssh:alpha", "--to=runs", "--limit=60s", "--", "--keep-daemons"];
    network.run(&[&fleet[..], &few, &[&server, "true"]].concat()).expect(0, &["alpha: done"]);
    network.assert_clean();
}

#[test]
fn whatever_ends_a_run_leaves_nothing_over_there() {
    let mut network = needs!(Network::new());
    network.machine("alpha", "/bin/sh", "");
    network.alias("ruler", 0, "root", "known");
    let long = format!("sleep {}", network.place.marker);
    // Other tests have such processes too.
    let conf = network.place.file("ssh.conf");
    let ssh =
        |words: &[String]| words.first().is_some_and(|it| it == "/usr/bin/ssh") && words.contains(&conf);
    let session = |words: &[String]| words.first().is_some_and(|it| it.starts_with("sshd: root@notty"));
    for (at, ends) in ["ssh", "session", "far", "near", "interrupt"].into_iter().enumerate() {
        let to = format!("--to=runs{at}");
        let running = network.start(&[
            "fleet",
            "compare",
            "ssh:ruler",
            &to,
            "--",
            "--why=no",
            "--no-check-output",
            "-N",
            &long,
        ]);
        network.place.wait_for_sleepers(1);
        let victim = match ends {
            "ssh" => network.find(ssh),
            "session" => network.far().into_iter().find_map(|pid| session_above(pid, &session)),
            "far" => far_side(&network),
            _ => Some(running.pid()),
        };
        let signal = if ends == "interrupt" { Signal::INT } else { Signal::KILL };
        kill(victim.unwrap_or_else(|| panic!("no process: {ends}")), signal);
        let ran = running.wait();
        match ends {
            "near" => {}
            "interrupt" => ran.expect(130, &["ruler: interrupted", "fleet resume 'runs4'"]),
            _ => ran.expect(
                1,
                &["ruler: the connection ended while it measured", "0 of 1 machine gave a record"],
            ),
        }
        eventually(&format!("{ends}: no process is left"), || network.place.sleepers().is_empty());
        network.assert_clean();
    }
}

/// The far side on a machine of this network.
fn far_side(network: &Network) -> Option<i32> {
    let directory = network.place.file("far");
    network.find(|words| {
        words.get(1).is_some_and(|it| it == "__far")
            && words.get(2).is_some_and(|it| it.starts_with(&directory))
    })
}

/// The process above this one that is a session of sshd.
fn session_above(mut pid: i32, session: &dyn Fn(&[String]) -> bool) -> Option<i32> {
    while pid > 1 {
        let words = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        if session(&[words.replace('\0', " ")]) {
            return Some(pid);
        }
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        pid = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
    }
    None
}

/// As Go's cache of modules and some archives are.
#[test]
fn directories_that_nobody_may_write_in_go_too() {
    let mut network = needs!(Network::new());
    network.machine("alpha", "/bin/sh", "");
    let closed = "mkdir -p cache/module && touch cache/module/file && chmod -R a-w cache";
    let quick = ["--setup", closed, "--runs=3", "--why=no", "--no-check-output", "-N"];
    network.run(&[&["compare", "--on=ssh:alpha", "true", "true"], &quick[..]].concat()).expect(0, &[]);
    network.assert_clean();
    // The far side is killed, and the shell above it clears up.
    let long = format!("sleep {}", network.place.marker);
    let running = network.start(&[&["compare", "--on=ssh:alpha", &long], &quick[..]].concat());
    network.place.wait_for_sleepers(1);
    kill(far_side(&network).unwrap(), Signal::KILL);
    running.wait().expect(1, &["the connection ended while it measured"]);
    network.assert_clean();
}

/// More words than a kernel takes, as nobody can write them here.
#[test]
fn a_verb_that_cannot_be_started_says_why() {
    let mut network = needs!(Network::new());
    network.machine("alpha", "/bin/sh", "");
    network
        .run(&["fleet", "compare", "ssh:alpha", "--to=runs", "--", "exit 7"])
        .expect(1, &["exit status 5"]);
    let asked = network.place.read("runs/fleet.run");
    network.place.write("runs/fleet.run", asked.replace("exit 7", &"x".repeat(200_000)));
    network.run(&["fleet", "resume", "runs"]).expect(
        1,
        &[
            "alpha: the program that was copied there does not run",
            "cannot be started: Argument list too long",
        ],
    );
    network.assert_clean();
}

/// It takes a directory away in which it runs and was asked for something, and no other.
#[test]
fn the_far_side_that_is_called_by_hand_takes_no_directory_away() {
    let place = Sandbox::new();
    fs::create_dir(place.path("kept")).unwrap();
    let request = r#"{"digest":"","words":[],"files":[],"silence_ms":1000}"#;
    for line in [
        "\"$whyfaster\" __far kept </dev/null".to_owned(),
        format!("cp \"$whyfaster\" kept/whyfaster; echo '{request}' | \"$whyfaster\" __far kept"),
        "kept/whyfaster __far kept </dev/null".to_owned(),
    ] {
        assert!(place.shell(&line).out.contains("ready"), "{line}");
        assert!(place.path("kept").exists(), "{line}");
    }
    place.shell(&format!("echo '{request}' | kept/whyfaster __far kept")).ok();
    assert!(!place.path("kept").exists());
}

#[test]
fn each_failure_has_its_reason_and_holds_no_other_machine() {
    let mut network = needs!(Network::new());
    // Whoever logs in to it waits until the file is there.
    let file = network.place.file("go");
    let hangs = network.place.script(
        "hangs",
        &format!("#!/bin/sh\ntest -e {file} || exec sleep {}\nexec /bin/sh \"$@\"\n", network.place.marker),
    );
    network.machine("hung", &hangs, "");
    network.machine("alpha", "/bin/sh", "");
    network.machine("small", "/bin/sh", "mount -t tmpfs -o size=64k,mode=777 none \"$far\" &&");
    // It breaks off in the middle of the record.
    let torn = network.place.script("torn", "#!/bin/sh\n/bin/sh \"$@\" | dd bs=1 count=3000 status=none\n");
    network.machine("torn", &torn, "");
    network.alias("again", 1, "measurer", "known");
    network.alias("stranger", 1, "measurer", "unknown");
    let place = &network.place;
    // By its own name it goes, also where the run is taken up again.
    place.write("lines.2", "1\n2\n3\n");
    symlink("lines.2", place.path("lines")).unwrap();
    let names = ["hung", "alpha", "again", "small", "stranger", "torn", "no.such.host.invalid"];
    place.write("hosts.txt", names.join("\n"));
    let fleet = ["fleet", "compare", "hosts.txt", "--to=runs", "--at-once=1", "--silence=6s", "--send=lines"];
    let ran = network.run(&[&fleet[..], &QUICK].concat());
    ran.expect(
        1,
        &[
            "hung: nothing came from it for 6 s before it began",
            "alpha: done",
            "again: by its boot id it is the same machine as alpha",
            "small: there is no room on it: ",
            "whyfaster-far: no room for the program in",
            "stranger: it could not be reached (exit status 255)",
            "Host key verification failed",
            "no.such.host.invalid: it could not be reached",
            "torn: the connection ended while it measured",
            "1 of 7 machines gave a record",
        ],
    );
    let before = fs::metadata(place.path("runs/alpha.json")).unwrap().modified().unwrap();
    place.write("go", "");
    let ran = network.run(&["fleet", "resume", "runs"]);
    ran.expect(
        1,
        &[
            "compare on 6 machines",
            "hung: done",
            "again: by its boot id it is the same machine as alpha",
            "2 of 7 machines gave a record",
        ],
    );
    assert_eq!(
        fs::metadata(place.path("runs/alpha.json")).unwrap().modified().unwrap(),
        before,
        "it was measured again"
    );
    place.end_sleepers();
    network.assert_clean();
}

/// More at once than the soft limit on open files allows, which is the user's for what is started.
#[test]
fn many_at_once_need_no_higher_limit_on_open_files() {
    let place = Sandbox::new();
    place.script("ssh", "#!/bin/sh\nulimit -Sn >>limits\nuntil test \"$(wc -l <limits)\" -ge 60; do sleep 0.1; done\nexit 7\n");
    place.write("hosts.txt", (0..60).map(|at| format!("h{at}\n")).collect::<String>());
    let line = format!("ulimit -Sn 64 && exec {PROGRAM} fleet doctor hosts.txt --at-once=60 --to=runs");
    let mut command = place.command("sh", &["-c", &line]);
    command.env("PATH", format!("{}:{}", place.file(""), std::env::var("PATH").unwrap()));
    let ran = place.finish(command);
    ran.expect(1, &["h0: it could not be reached (exit status 7)", "0 of 60 machines"]);
    assert_eq!(place.lines("limits"), ["64"; 60]);
    place.assert_clean();
}

#[test]
fn a_full_disk_at_home_loses_no_other_record() {
    let mut network = needs!(Network::new());
    network.machine("alpha", "/bin/sh", "");
    let place = &network.place;
    place.write("lines", "1\n2\n3\n");
    fs::create_dir(place.path("runs")).unwrap();
    // One page, which 'fleet.run' takes.
    let line = format!(
        "mount -t tmpfs -o size=4k,mode=755 none runs && cd . && {PROGRAM} fleet compare ssh:alpha --to=runs --send=lines {}; echo status $?; ls -A runs; \
         mount -o remount,size=4m none runs && {PROGRAM} fleet resume runs; echo status $?; ls -A runs; cp runs/alpha.json home.json",
        QUICK.map(|word| format!("'{word}'")).join(" ")
    );
    let mut command = place.command("unshare", &["-m", "--propagation", "private", "sh", "-c", &line]);
    command.env("PATH", format!("{}:{}", place.file("bin"), std::env::var("PATH").unwrap()));
    let ran = place.finish(command);
    ran.expect(0, &["alpha: cannot write 'runs/alpha.json': No space left", "1 of 1 machine gave a record"]);
    assert_eq!(ran.out, "status 1\nfleet.run\nstatus 0\nalpha.json\nfleet.run\n");
    place.record("home.json");
    network.assert_clean();
}
