//! Machines that ssh leads to: an sshd each, started by the test with keys of its own, on the loopback device. Each has a mount and a name
//! space of its own, so that it has another name, other accounts, and a kernel that seems to have started by itself.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use super::needs::{Need, mounts, root, tool};
use super::processes::{eventually, processes, words};
use super::user::USER;
use super::{Ran, Running, Sandbox};

/// The machines, and a place whose `ssh` knows them.
pub(crate) struct Network {
    pub(crate) place: Sandbox,
    daemons: Vec<(Child, u16)>,
}

impl Drop for Network {
    fn drop(&mut self) {
        for (daemon, _) in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

impl Network {
    /// Without a machine.
    pub(crate) fn new() -> Need<Self> {
        tool("/usr/sbin/sshd")?;
        // Another user's sshd may not look into /run/sshd.
        root()?;
        mounts()?;
        fs::create_dir_all("/run/sshd").unwrap();
        let place = Sandbox::open();
        for directory in ["far", "home", "bin"] {
            fs::create_dir(place.path(directory)).unwrap();
        }
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &place.file(key)])
                .output();
            assert!(made.unwrap().status.success());
        }
        place.write("ssh.conf", "");
        place.write("known", "");
        place.script(
            "bin/ssh",
            &format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", place.file("ssh.conf")),
        );
        Ok(Self { place, daemons: Vec::new() })
    }

    /// Starts a machine. Who logs in is the ordinary user `measurer`, whose login shell this is; or root, whose shell is sh. `mounting` is done in
    /// its name space first; `$far` is its directory for temporary files.
    pub(crate) fn machine(&mut self, name: &str, shell: &str, mounting: &str) {
        let place = &self.place;
        fs::create_dir(place.path(&format!("far/{name}"))).unwrap();
        fs::set_permissions(place.path(&format!("far/{name}")), fs::Permissions::from_mode(0o777)).unwrap();
        let home = place.file("home");
        let accounts = format!(
            "root:*:0:0::{home}:/bin/sh\nmeasurer:*:{USER}:{USER}::{home}:{shell}\nsshd:*:65500:65534::/run/sshd:/bin/false\nnobody:*:65534:65534::/:/bin/false\n"
        );
        place.write(&format!("passwd.{name}"), accounts);
        // Of no kernel that runs: drawn by chance, once for each machine.
        place.write(
            &format!("boot.{name}"),
            format!("{:08x}-{}-4000-8000-{}\n", std::process::id(), self.daemons.len() + 1000, place.marker),
        );
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let conf = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             PermitRootLogin yes\nMaxStartups 100\nSetEnv TMPDIR={}\n",
            place.file("host"),
            place.file("user.pub"),
            place.file(&format!("far/{name}"))
        );
        place.write(&format!("sshd.{name}"), conf);
        let line = format!(
            "mount --bind {boot} /proc/sys/kernel/random/boot_id && mount --bind {passwd} /etc/passwd && hostname {name} && {mounting} exec /usr/sbin/sshd -D -e -f {conf}",
            boot = place.file(&format!("boot.{name}")),
            passwd = place.file(&format!("passwd.{name}")),
            conf = place.file(&format!("sshd.{name}")),
        );
        let mut daemon = Command::new("unshare");
        daemon.env("far", place.path(&format!("far/{name}")));
        daemon
            .args(["-m", "-u", "--propagation", "private", "sh", "-c", &line])
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let log = fs::File::create(place.path(&format!("sshd.{name}.log"))).unwrap();
        self.daemons.push((daemon.stderr(log).spawn().unwrap(), port));
        eventually("sshd", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        let known = format!("{}[127.0.0.1]:{port} {}", self.place.read("known"), self.place.read("host.pub"));
        self.place.write("known", known);
        self.alias(name, self.daemons.len() - 1, "measurer", "known");
    }

    /// Another name for a machine, and who logs in by it; `known` is the file with its key.
    pub(crate) fn alias(&self, name: &str, machine: usize, user: &str, known: &str) {
        let host = format!(
            "Host {name}\n HostName 127.0.0.1\n Port {}\n User {user}\n IdentityFile {}\n IdentitiesOnly yes\n UserKnownHostsFile {}\n",
            self.daemons[machine].1,
            self.place.file("user"),
            self.place.file(known)
        );
        self.place.write("ssh.conf", self.place.read("ssh.conf") + &host);
    }

    /// Starts the program where `ssh` knows the machines.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let mut command = self.place.whyfaster(args);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.place.file("bin")));
        self.place.begin(command)
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait()
    }

    /// The processes on the machines.
    pub(crate) fn far(&self) -> Vec<i32> {
        let far = format!("TMPDIR={}", self.place.file("far"));
        let ours = |pid: &i32| {
            fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|text| text.split(|b| *b == 0).any(|one| one.starts_with(far.as_bytes())))
        };
        processes().filter(ours).collect()
    }

    /// The process on a machine, or its sshd's, or ssh's here, whose command line begins with these words.
    pub(crate) fn find(&self, begins: impl Fn(&[String]) -> bool) -> Option<i32> {
        processes().find(|pid| begins(&words(*pid)))
    }

    /// Nothing runs over there, and no file is left.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        // As the machine sees it, with what is mounted there.
        let files = || {
            let seen =
                |(daemon, _): &(Child, u16)| format!("/proc/{}/root{}", daemon.id(), self.place.file("far"));
            let machines = self.daemons.iter().flat_map(|it| fs::read_dir(seen(it)).unwrap().flatten());
            machines
                .flat_map(|it| fs::read_dir(it.path()).unwrap().flatten())
                .map(|it| it.path())
                .collect::<Vec<_>>()
        };
        eventually("the far side is empty", || self.far().is_empty() && files().is_empty());
        self.place.assert_clean();
    }
}
