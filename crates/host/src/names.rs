//! Addresses of other machines.
//!
//! `getaddrinfo` is the last to be asked, for the reason that accounts.rs gives: in a static program it would load modules for names (mDNS, systemd's
//! resolver) that are made for another glibc.

use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use super::root::Root;
use super::tools::asked;

/// How long one of several addresses may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// The address of a server: of several the first that answers there, and the first of all if none does. `None` if nobody knows it.
#[must_use]
pub fn address(name: &str, port: u16) -> Option<IpAddr> {
    first(&addresses(name), port)
}

fn first(all: &[IpAddr], port: u16) -> Option<IpAddr> {
    let answers = |it: &&IpAddr| TcpStream::connect_timeout(&SocketAddr::new(**it, port), PATIENCE).is_ok();
    let one = if all.len() > 1 { all.iter().find(answers) } else { None };
    one.or(all.first()).copied()
}

/// The addresses of a machine, the best one first (RFC 6724); none if nobody knows it.
#[must_use]
pub fn addresses(name: &str) -> Vec<IpAddr> {
    let root = Root::real();
    match found(&root, name) {
        Some(found) => found,
        None if asked(&root, "getent", &["--version"]).is_some() => Vec::new(),
        None => {
            let found = (name, 0).to_socket_addrs();
            found.map(|all| all.map(|it| it.ip()).collect()).unwrap_or_default()
        }
    }
}

/// What `getent` knows; `None` if it knows nothing, or is not there. A line is an address, the kind of socket, and perhaps the name.
fn found(root: &Root, name: &str) -> Option<Vec<IpAddr>> {
    if let Ok(address) = name.parse() {
        return Some(vec![address]);
    }
    let text = asked(root, "getent", &["ahosts", "--", name])?;
    let of_line = |line: &str| {
        let mut words = line.split_whitespace();
        let address = words.next()?.parse().ok()?;
        (words.next() == Some("STREAM")).then_some(address)
    };
    Some(text.lines().filter_map(of_line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Machine;

    #[test]
    fn a_name_has_the_addresses_that_the_machine_knows() {
        let machine = Machine::bare();
        let found = |name: &str| found(&machine.root(), name);
        let of = |text: &str| text.split(' ').map(|it| it.parse().unwrap()).collect::<Vec<IpAddr>>();
        assert_eq!(found("h.example.org"), None, "nobody to ask");
        assert_eq!((found("10.0.0.7"), found("::1")), (Some(of("10.0.0.7")), Some(of("::1"))));
        machine.tool(
            "getent",
            "test \"$*\" = 'ahosts -- h.example.org' || exit 2
            printf '%s\\n' 'fd00::7 STREAM h.example.org' 'fd00::7 DGRAM  ' 'fd00::7 RAW    ' '10.0.0.7 STREAM' '10.0.0.7 DGRAM'",
        );
        assert_eq!((found("h.example.org"), found("other")), (Some(of("fd00::7 10.0.0.7")), None));
    }

    #[test]
    fn the_real_machine_knows_itself() {
        assert!(addresses("localhost").iter().all(IpAddr::is_loopback));
        assert!(!addresses("localhost").is_empty());
        assert!(addresses("no.such.name.invalid").is_empty());
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let (here, other) = ("127.0.0.1".parse().unwrap(), "127.0.0.2".parse().unwrap());
        assert_eq!(first(&[other, here], port), Some(here));
        assert_eq!((first(&[other], port), first(&[], port)), (Some(other), None));
        assert_eq!(address("no.such.name.invalid", port), None);
    }
}
