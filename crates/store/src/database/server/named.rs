//! How a server is named: an address as libpq has it, and what the environment says where the address is silent.
//!
//! The address may hold a password, so nothing of its text is ever shown: what is told of it is made of its parts.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::percent_decode_str;
use postgres::Config;
use postgres::config::{Host, SslMode};

use super::passwords;

/// What an address begins with.
const PREFIXES: [&str; 2] = ["postgres://", "postgresql://"];

/// Where Debian's servers have their socket, and the port of those that say none.
const SOCKETS: &str = "/var/run/postgresql";
const PORT: u16 = 5432;

/// How long a server may take to answer at first, and a packet to arrive: a machine that is gone never answers.
const ANSWER: Duration = Duration::from_secs(15);
const ARRIVE: Duration = Duration::from_secs(60);

/// A server, and a database there.
#[derive(Clone, Debug)]
pub struct Named {
    pub(super) config: Config,
    pub(super) mode: Mode,
    pub(super) roots: Roots,
}

/// How much of TLS is asked for (`sslmode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    Disable,
    /// Where the server has it.
    Prefer,
    /// Always, with whatever certificate, unless there is a file of roots.
    Require,
    /// The certificate was issued by one that is trusted.
    VerifyCa,
    /// And it is for that host.
    VerifyFull,
}

/// The certificates that are trusted (`sslrootcert`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Roots {
    /// libpq's usual file if it is there, else the system's.
    Usual(Option<PathBuf>),
    System,
    File(PathBuf),
}

/// What the environment says.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What this program adds to what the client library reads of an address.
#[derive(Default)]
struct Own {
    mode: Option<String>,
    roots: Option<String>,
    passwords: Option<String>,
}

impl Named {
    /// Whether a text is the address of a server.
    pub(in super::super) fn is(text: &str) -> bool {
        PREFIXES.iter().any(|prefix| text.starts_with(prefix))
    }

    /// Reads an address, and the environment.
    pub(in super::super) fn of(text: &str) -> Result<Self, String> {
        Self::read(text, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn read(text: &str, environment: Environment<'_>) -> Result<Self, String> {
        let (rest, own) = own(text)?;
        let mut config: Config = rest.parse().map_err(|error| told(&error))?;
        complete(&mut config, environment)?;
        // What stands behind the first '@' is taken for the host, and every message would show it.
        if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(host) if host.contains('@'))) {
            return Err("an '@' in a user or a password is written %40".to_owned());
        }
        let home = environment("HOME").map(PathBuf::from);
        if config.get_password().is_none() {
            let file = own.passwords.or_else(|| environment("PGPASSFILE")).map(PathBuf::from);
            let file = file.or_else(|| Some(home.as_ref()?.join(".pgpass")));
            if let Some(password) = environment("PGPASSWORD").or_else(|| kept(&file?, &config)) {
                config.password(password);
            }
        }
        let roots = match own.roots.or_else(|| environment("PGSSLROOTCERT")) {
            Some(system) if system == "system" => Roots::System,
            Some(file) => Roots::File(file.into()),
            None => Roots::Usual(home.map(|home| home.join(".postgresql/root.crt"))),
        };
        let mode =
            own.mode.or_else(|| environment("PGSSLMODE")).map(|mode| Mode::named(&mode)).transpose()?;
        let mut mode = match (&roots, mode) {
            // As in libpq: anybody has a certificate that the system trusts.
            (Roots::System, None) => Mode::VerifyFull,
            (Roots::System, Some(mode)) if mode != Mode::VerifyFull => {
                return Err("sslrootcert=system goes with sslmode=verify-full only".to_owned());
            }
            (_, mode) => mode.unwrap_or(Mode::Prefer),
        };
        // A socket is a file of this machine: libpq knows no TLS there.
        if config.get_hostaddrs().is_empty()
            && config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)))
        {
            mode = Mode::Disable;
        }
        config.ssl_mode(match mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        });
        Ok(Self { config, mode, roots })
    }
}

/// Two that are told alike are the same place, but for what is not told: the options, which name a schema, and the addresses of hosts.
impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        let untold =
            |it: &Self| (it.config.get_options().map(str::to_owned), it.config.get_hostaddrs().to_vec());
        (self.to_string(), self.mode, &self.roots, untold(self))
            == (other.to_string(), other.mode, &other.roots, untold(other))
    }
}

impl Eq for Named {}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
        write!(f, "postgres://")?;
        if let Some(user) = config.get_user() {
            write!(f, "{user}@")?;
        }
        let ports = |at: usize| config.get_ports().get(at).or(config.get_ports().first());
        let mut sockets = Vec::new();
        for (at, host) in config.get_hosts().iter().enumerate() {
            match host {
                Host::Tcp(host) => {
                    let comma = if at > 0 { "," } else { "" };
                    let colons = host.contains(':');
                    let host = if colons { format!("[{host}]") } else { host.clone() };
                    write!(f, "{comma}{host}")?;
                    if let Some(port) = ports(at).filter(|port| **port != PORT) {
                        write!(f, ":{port}")?;
                    }
                }
                Host::Unix(path) => sockets.push((path, ports(at))),
            }
        }
        write!(f, "/{}", config.get_dbname().unwrap_or_default())?;
        for (path, port) in sockets {
            write!(f, "?host={}", path.display())?;
            if let Some(port) = port.filter(|port| **port != PORT) {
                write!(f, "&port={port}")?;
            }
        }
        Ok(())
    }
}

impl Mode {
    fn named(word: &str) -> Result<Self, String> {
        Ok(match word {
            "disable" => Self::Disable,
            "prefer" | "allow" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => {
                return Err(
                    "sslmode is one of disable, allow, prefer, require, verify-ca, verify-full".to_owned()
                );
            }
        })
    }
}

/// Takes what is this program's own out of the parameters behind the `?`.
fn own(text: &str) -> Result<(String, Own), String> {
    let mut own = Own::default();
    // A password may hold one as well.
    let from = text.find('@').unwrap_or_default();
    let Some((address, parameters)) =
        text[from..].split_once('?').map(|(_, behind)| text.split_at(text.len() - behind.len()))
    else {
        return Ok((text.to_owned(), own));
    };
    let mut others = Vec::new();
    for parameter in parameters.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let place = match name {
            "sslmode" => &mut own.mode,
            "sslrootcert" => &mut own.roots,
            "passfile" => &mut own.passwords,
            _ => {
                others.push(parameter);
                continue;
            }
        };
        let value = percent_decode_str(value).decode_utf8().map_err(|_| format!("{name} is no text"))?;
        *place = Some(value.into_owned());
    }
    Ok((format!("{address}{}", others.join("&")), own))
}

/// What the address leaves open, as libpq does.
fn complete(config: &mut Config, environment: Environment<'_>) -> Result<(), String> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        let host = environment("PGHOST");
        let usual = || if Path::new(SOCKETS).is_dir() { SOCKETS } else { "localhost" };
        let host = host.unwrap_or_else(|| usual().to_owned());
        host.split(',').for_each(|host| {
            config.host(host);
        });
    }
    if config.get_ports().is_empty()
        && let Some(ports) = environment("PGPORT")
    {
        for port in ports.split(',') {
            config.port(port.parse().map_err(|_| format!("PGPORT is no port: '{port}'"))?);
        }
    }
    if config.get_user().is_none() {
        let user = environment("PGUSER").or_else(|| environment("USER")).or_else(|| environment("LOGNAME"));
        config.user(&user.ok_or("it says no user, and neither do PGUSER and USER")?);
    }
    if config.get_dbname().is_none() {
        let user = config.get_user().unwrap_or_default().to_owned();
        config.dbname(&environment("PGDATABASE").unwrap_or(user));
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(ANSWER);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(ARRIVE);
    }
    if config.get_application_name().is_none() {
        config.application_name("whyfaster");
    }
    Ok(())
}

/// The password that is kept for the first host.
fn kept(file: &Path, config: &Config) -> Option<String> {
    // A socket goes by the name of this machine.
    let (host, other) = match config.get_hosts().first()? {
        Host::Tcp(host) => (host.clone(), None),
        Host::Unix(path) => (path.to_string_lossy().into_owned(), Some("localhost")),
    };
    let port = config.get_ports().first().unwrap_or(&PORT).to_string();
    let find = |host: &str| passwords::find(file, [host, &port, config.get_dbname()?, config.get_user()?]);
    find(&host).or_else(|| find(other?))
}

/// What is wrong with an address. The client library names keys and never values.
fn told(error: &postgres::Error) -> String {
    let why = std::error::Error::source(error).map(|why| format!(": {why}")).unwrap_or_default();
    format!("{error}{why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, set: &[(&str, &str)]) -> Result<Named, String> {
        let all = [&[("USER", "me")], set].concat();
        Named::read(text, &|name| {
            all.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn no_password_is_ever_told() {
        let addresses = [
            "postgres://u:s3cr3t@db.example:5433/fleet",
            "postgres://u:s3cr3t%3F@db.example:5433/fleet?sslmode=verify-full&sslrootcert=%2Fca.pem",
            "postgresql://db.example:5433/fleet?user=u&password=s3cr3t",
        ];
        for address in addresses {
            let named = read(address, &[]).unwrap();
            assert_eq!(named.to_string(), "postgres://u@db.example:5433/fleet");
            assert!(named.config.get_password().unwrap().starts_with(b"s3cr3t"));
            assert!(!format!("{named:?}").contains("s3cr3t"), "{named:?}");
        }
        for wrong in [
            "postgres://u:s3cr3t@db:port/x",
            "postgres://u:s3cr3t@db/x?s=1",
            "postgres://u:s3cr3t@db/x?sslmode=no",
            "postgres://u:s3cr3t/@db/x?sslmode=no",
            "postgres://u:s3@cr3t@db/x",
            "postgres://u:x@s3cr3t@db/x",
        ] {
            let why = read(wrong, &[]).unwrap_err();
            assert!(!why.contains("s3cr3t"), "{why}");
        }
    }

    #[test]
    fn the_environment_says_what_the_address_does_not() {
        let set = [
            ("PGHOST", "a"),
            ("PGPORT", "7"),
            ("PGUSER", "b"),
            ("PGPASSWORD", "d"),
            ("PGSSLMODE", "require"),
        ];
        let named = read("postgres:///", &set).unwrap();
        assert_eq!((named.to_string().as_str(), named.mode), ("postgres://b@a:7/b", Mode::Require));
        assert_eq!(named.config.get_password(), Some(&b"d"[..]));
        let named = read("postgres://x:y@z/db?sslmode=disable", &set).unwrap();
        assert_eq!((named.to_string().as_str(), named.mode), ("postgres://x@z/db", Mode::Disable));
        assert_eq!(named.config.get_password(), Some(&b"y"[..]));
        // TLS is for what leaves the machine.
        let socket = read("postgres:///db?host=/run/x&sslmode=require", &[]).unwrap();
        assert_eq!(
            (socket.to_string().as_str(), socket.mode),
            ("postgres://me@/db?host=/run/x", Mode::Disable)
        );
        assert_eq!(read("postgres://z/db", &[]).unwrap().mode, Mode::Prefer);
        let by_number = read("postgres:///db?hostaddr=10.0.0.7&sslmode=verify-full", &[]).unwrap();
        assert_eq!((by_number.config.get_hosts(), by_number.mode), (&[][..], Mode::VerifyFull));
        let schema = |name: &str| read(&format!("postgres://z/db?options=-csearch_path%3D{name}"), &[]);
        assert!(schema("a") == schema("a") && schema("a") != schema("b"), "two schemas are two stores");
        let system = read("postgres://z/db?sslrootcert=system", &[]).unwrap();
        assert_eq!((system.mode, system.roots), (Mode::VerifyFull, Roots::System));
        let weaker = read("postgres://z/db?sslmode=require", &[("PGSSLROOTCERT", "system")]).unwrap_err();
        assert!(weaker.contains("verify-full only"), "{weaker}");
    }
}
