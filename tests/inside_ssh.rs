//! `prices --inside ssh:HOST` through an sshd that the test starts itself, on the loopback device, with keys of its own.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

mod support;

use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use support::needs::{Need, mounts, needs, root, tool};
use support::prices::{list_of, price};
use support::{Ran, Running, Sandbox, alone, eventually};

/// An sshd, and a place whose `ssh` knows it as `lo`.
struct Far {
    place: Sandbox,
    daemon: Child,
}

impl Drop for Far {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

impl Far {
    fn new() -> Need<Self> {
        let sshd = "/usr/sbin/sshd";
        tool(sshd)?;
        // Another user's sshd may not look into /run/sshd.
        root()?;
        fs::create_dir_all("/run/sshd").unwrap();
        let place = Sandbox::new();
        fs::create_dir(place.path("far")).unwrap();
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &place.file(key)])
                .output();
            assert!(made.unwrap().status.success());
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        fs::write(
            place.path("sshd.conf"),
            format!(
                "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
                 StrictModes no\nPermitRootLogin yes\nSetEnv TMPDIR={}\n",
                place.file("host"),
                place.file("user.pub"),
                place.file("far")
            ),
        )
        .unwrap();
        let public = place.read("host.pub");
        place.write("known", format!("[127.0.0.1]:{port} {public}"));
        let host = |name: &str, known: &str| {
            format!(
                "Host {name}\n HostName 127.0.0.1\n Port {port}\n IdentityFile {}\n IdentitiesOnly yes\n UserKnownHostsFile {known}\n",
                place.file("user")
            )
        };
        fs::write(place.path("ssh.conf"), host("lo", &place.file("known")) + &host("stranger", "/dev/null"))
            .unwrap();
        fs::create_dir(place.path("bin")).unwrap();
        let wrapper = format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", place.file("ssh.conf"));
        place.script("bin/ssh", &wrapper);
        let mut daemon = Command::new(sshd);
        daemon.args(["-D", "-e", "-f", &place.file("sshd.conf")]).stdin(Stdio::null()).stdout(Stdio::null());
        let daemon = daemon.stderr(fs::File::create(place.path("sshd.log")).unwrap()).spawn().unwrap();
        let far = Self { place, daemon };
        eventually("sshd", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Ok(far)
    }

    fn start(&self, args: &[&str]) -> Running {
        let mut command = self.place.whyfaster(&[&["prices", "--quick", "--inside"], args].concat());
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.place.file("bin")));
        self.place.begin(command)
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait()
    }

    /// Nothing runs over there, and no file is left.
    fn assert_clean(&self) {
        let far = format!("TMPDIR={}", self.place.file("far"));
        let left = || {
            let all = fs::read_dir("/proc").unwrap().flatten();
            all.filter(|entry| {
                fs::read(entry.path().join("environ"))
                    .is_ok_and(|text| text.split(|b| *b == 0).any(|one| one.starts_with(far.as_bytes())))
            })
            .count()
        };
        eventually("the far side is empty", || {
            left() == 0 && fs::read_dir(self.place.path("far")).unwrap().next().is_none()
        });
        self.place.assert_clean();
    }
}

#[test]
fn the_worker_goes_there_measures_and_is_taken_away() {
    let far = needs!(Far::new());
    let _alone = alone();
    let list = list_of(&far.run(&["ssh:lo", "getppid", "fork", "--json"]));
    assert!(price(&list, "fork", "reaped")["median_ns"].as_f64().unwrap() > 1000.0);
    assert_eq!(list["inside"]["mechanism"], "on lo, over ssh");
    // What this machine knows of itself is not said of another one.
    assert!(list["fingerprint"]["cpu_model"].is_null() && list["fingerprint"]["steal_during"].is_null());
    far.assert_clean();
}

#[test]
fn an_unknown_host_key_and_a_missing_host_say_what_to_do() {
    let far = needs!(Far::new());
    far.run(&["ssh:stranger", "getppid"]).expect_error(6, &["Host key verification failed", "check the key"]);
    far.run(&["ssh:no.such.host.invalid", "getppid"]).expect_error(6, &["no.such.host.invalid"]);
    fs::write(far.place.path("user.pub"), "").unwrap();
    far.run(&["ssh:lo", "getppid"]).expect_error(6, &["Permission denied"]);
    far.assert_clean();
}

#[test]
fn a_far_side_without_room_is_left_as_it_was() {
    let far = needs!(Far::new());
    needs!(mounts());
    // A file system that is too small.
    let small = far.place.file("small");
    fs::create_dir(&small).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "none", &small]).status();
    assert!(mounted.unwrap().success());
    let wrapper = format!(
        "#!/bin/sh\nfor last; do :; done\nexec /usr/bin/ssh -F {} -T -o BatchMode=yes lo \"TMPDIR={small}; export TMPDIR; $last\"\n",
        far.place.file("ssh.conf")
    );
    far.place.script("bin/ssh", &wrapper);
    let ran = far.run(&["ssh:lo", "getppid"]);
    let left = fs::read_dir(&small).unwrap().count();
    let unmounted = Command::new("umount").arg(&small).status().unwrap();
    assert!(unmounted.success() && left == 0);
    ran.expect_error(6, &["no room for the worker", "make room on lo"]);
    far.assert_clean();
}

#[test]
fn an_interrupt_reaches_the_far_side() {
    let far = needs!(Far::new());
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let running = far.start(&["ssh:lo", "kernel", "process", "thread"]);
        eventually("the worker is there", || {
            fs::read_dir(far.place.path("far"))
                .unwrap()
                .flatten()
                .any(|dir| dir.path().join("worker").exists())
        });
        std::thread::sleep(Duration::from_millis(300));
        running.signal(signal);
        let ran = running.wait();
        if signal != Signal::KILL {
            ran.expect(130, &["interrupted: "]);
            far.assert_clean();
        }
        eventually("the far side is empty", || fs::read_dir(far.place.path("far")).unwrap().next().is_none());
    }
}
