//! A PostgreSQL server of a test: in a directory of its own, on a loopback port and a socket there, with TLS. It runs as an ordinary user,
//! because no server runs as root, and is gone with its value.

use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, geteuid, kill_process};

use super::Sandbox;
use super::engines::certificate;
use super::needs::{Need, provided, tool};
use super::processes::eventually;

/// The user of the server if the tests run as root. The server looks for a name, so the user has one.
const OWNER: u32 = 65534;

/// The password of its only user, `team`, from other machines; by the socket none is asked for.
pub(crate) const PASSWORD: &str = "s3cr3t/pass";

/// A server that runs.
pub(crate) struct Postgres {
    place: Sandbox,
    programs: String,
    pub(crate) port: u16,
    daemon: Option<Child>,
}

impl Postgres {
    pub(crate) fn start() -> Need<Self> {
        // Debian keeps them apart by version and off the path.
        let found =
            Command::new("sh").args(["-c", "ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1"]).output();
        let programs = String::from_utf8(found.unwrap().stdout).unwrap().trim().to_owned();
        provided(!programs.is_empty(), "postgresql")?;
        tool("openssl")?;
        let place = Sandbox::open();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { place, programs, port, daemon: None };
        fs::create_dir(server.place.path("server")).unwrap();
        if geteuid().is_root() {
            chown(server.place.path("server"), Some(OWNER), Some(OWNER)).unwrap();
        }
        Ok(server.made())
    }

    fn made(mut self) -> Self {
        self.place.write("password", PASSWORD);
        fs::set_permissions(self.place.path("password"), fs::Permissions::from_mode(0o644)).unwrap();
        let base = self.place.file("server");
        let script = format!(
            "set -e; umask 077; cd {base}; \
             {programs}/initdb -D data -U team -E UTF8 --locale C.UTF-8 --no-sync --auth-local trust --auth-host scram-sha-256 --pwfile {password}; \
             {certificate} mv server.key server.crt data; \
             chmod 755 . && chmod 644 ca.pem; \
             printf \"port = {port}\\nlisten_addresses = '127.0.0.1'\\nunix_socket_directories = '{base}'\\nssl = on\\nfsync = off\\nmax_connections = 40\\n\" >> data/postgresql.conf",
            programs = self.programs,
            certificate = certificate("DNS:localhost"),
            password = self.place.file("password"),
            port = self.port,
        );
        let made = self.as_owner("sh", &["-c", &script]).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        self.up();
        self
    }

    /// Starts it, and waits until it answers.
    pub(crate) fn up(&mut self) {
        self.run(self.as_owner(&self.program(), &self.data()));
    }

    /// Starts it again with a disk of this size, which only it sees; new tables of the database go there.
    pub(crate) fn up_with_small_disk(&mut self, database: &str, size: &str) {
        self.down();
        let small = self.place.file("server/small");
        fs::create_dir(&small).unwrap();
        let mount = format!(
            "mount -t tmpfs -o mode=700,uid={OWNER},gid={OWNER},size={size} none {small} && exec \"$@\""
        );
        let server = self.as_owner(&self.program(), &self.data());
        let mut apart = self.place.command("unshare", &["-m", "sh", "-c", &mount, "sh"]);
        apart.arg(server.get_program()).args(server.get_args());
        self.run(apart);
        self.sql("postgres", &format!("CREATE TABLESPACE small LOCATION '{small}'"));
        self.sql("postgres", &format!("ALTER DATABASE {database} SET default_tablespace = small"));
    }

    /// Makes that disk as large.
    pub(crate) fn enlarge_disk(&self, size: &str) {
        let daemon = self.daemon.as_ref().unwrap().id();
        let words = [&format!("--target={daemon}"), "-m", "mount", "-o", &format!("remount,size={size}")];
        let mut command = self.place.command("nsenter", &words);
        assert!(command.arg(self.place.file("server/small")).status().unwrap().success());
    }

    fn run(&mut self, mut daemon: Command) {
        let log = fs::File::options().create(true).append(true).open(self.place.path("log")).unwrap();
        self.daemon = Some(daemon.stdout(Stdio::null()).stderr(log).spawn().unwrap());
        eventually("the server answers", || self.answers("SELECT 1"));
    }

    fn program(&self) -> String {
        format!("{}/postgres", self.programs)
    }

    fn data(&self) -> [String; 2] {
        ["-D".to_owned(), self.place.file("server/data")]
    }

    /// Ends it as an administrator does who does not wait: every connection is cut.
    pub(crate) fn down(&mut self) {
        let Some(mut daemon) = self.daemon.take() else { return };
        let _ = kill_process(Pid::from_child(&daemon), Signal::INT);
        let _ = daemon.wait();
    }

    /// A new database, and its address by TCP without the password.
    pub(crate) fn database(&self, name: &str) -> String {
        assert!(self.answers(&format!("CREATE DATABASE {name}")));
        self.address("localhost", name)
    }

    pub(crate) fn address(&self, host: &str, database: &str) -> String {
        format!("postgres://team@{host}:{}/{database}", self.port)
    }

    /// The file with the certificate that the server's is signed with.
    pub(crate) fn authority(&self) -> String {
        self.place.file("server/ca.pem")
    }

    /// The directory of the socket.
    pub(crate) fn socket(&self) -> String {
        self.place.file("server")
    }

    /// Runs a statement in a database: what it answers.
    pub(crate) fn sql(&self, database: &str, statement: &str) -> String {
        let ran = self.psql(database, statement).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    }

    fn answers(&self, statement: &str) -> bool {
        self.psql("postgres", statement).output().unwrap().status.success()
    }

    fn psql(&self, database: &str, statement: &str) -> Command {
        let port = self.port.to_string();
        let socket = self.socket();
        let mut command = Command::new(format!("{}/psql", self.programs));
        command.args(["-qAtX", "-h", &socket, "-p", &port, "-U", "team", "-d", database, "-c", statement]);
        command
    }

    fn as_owner(&self, program: &str, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = if geteuid().is_root() {
            let owner = OWNER.to_string();
            let words = ["--reuid", &owner, "--regid", &owner, "--clear-groups", "--", program];
            self.place.command("setpriv", &words)
        } else {
            self.place.command(program, &[])
        };
        command.args(args);
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.down();
    }
}
