//! Input of a study: made, not shipped, the same bytes for the same seed on every machine.

use std::fmt::Write as _;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use whyfaster_stats::random::{Random, Rng, SeedableRng};

/// The generators that a study's file may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Generator {
    /// A log of `ifconfig`: blocks of a few lines, some of them with addresses.
    IfconfigLog,
    /// A table of six fields, the fifth a number that ends in 00 in one line of a hundred.
    Table,
}

impl Generator {
    /// Makes the input.
    pub fn generate(self, seed: u64, lines: u32) -> Generated {
        match self {
            Self::IfconfigLog => ifconfig_log(seed, lines),
            Self::Table => table(seed, lines),
        }
    }
}

/// A generated input and what the alternatives must make of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The bytes of the input file.
    pub text: String,
    /// SHA-256, in hexadecimal, of the output that every alternative has to give.
    pub expected_sha256: String,
}

/// A log of `ifconfig` blocks with exactly `lines` lines, and the digest of its addresses, one a line.
fn ifconfig_log(seed: u64, lines: u32) -> Generated {
    let mut log = Log {
        random: Draws(Random::seed_from_u64(seed)),
        // A line of such a log has 55 bytes on average.
        text: String::with_capacity(lines as usize * 60),
        addresses: Sha256::new(),
        left: lines,
    };
    let mut index = 0;
    while log.left > 0 {
        log.block(index);
        index += 1;
    }
    Generated { text: log.text, expected_sha256: hexadecimal(&log.addresses.finalize()) }
}

/// A table with exactly `lines` lines of six fields, and the digest of the lines whose fifth field ends in 00.
fn table(seed: u64, lines: u32) -> Generated {
    let mut random = Draws(Random::seed_from_u64(seed));
    let (mut text, mut chosen) = (String::with_capacity(lines as usize * 56), Sha256::new());
    for number in 0..lines {
        let host = random.below(64);
        let verb = random.pick(&["GET", "PUT", "HEAD", "POST"]);
        let (bytes, micros) = (random.below(1_000_000), random.below(5_000_000));
        let line = format!("{number:09} host{host:02} {verb} /item/{micros} {bytes} {micros}us\n");
        if bytes % 100 == 0 && bytes > 0 {
            chosen.update(&line);
        }
        text.push_str(&line);
    }
    Generated { text, expected_sha256: hexadecimal(&chosen.finalize()) }
}

/// Bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Numbers that only ChaCha's definition decides. `rand`'s own ranges may give other values in another release.
struct Draws(Random);

impl Draws {
    /// A number below `limit`, near enough to uniform for a log.
    fn below(&mut self, limit: u32) -> u32 {
        let scaled = u64::from(self.0.next_u32()) * u64::from(limit);
        u32::try_from(scaled >> 32).unwrap_or(0)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u32) as usize]
    }
}

struct Log {
    random: Draws,
    text: String,
    addresses: Sha256,
    left: u32,
}

impl Log {
    fn line(&mut self, line: &str) {
        if self.left > 0 {
            self.text.push_str(line);
            self.text.push('\n');
            self.left -= 1;
        }
    }

    /// An address line; what the alternatives cut out of it goes into the digest.
    fn address(&mut self, family: &str, address: &str, rest: &str) {
        if self.left > 0 {
            self.addresses.update(address);
            self.addresses.update("\n");
        }
        self.line(&format!("        {family} {address}  {rest}"));
    }

    /// One interface: what `ifconfig` of net-tools 2 prints for it, and an empty line.
    fn block(&mut self, index: u32) {
        match self.random.below(8) {
            0 => self.loopback(),
            // A bridge without an address, as docker0 before the first container: no address line at all.
            1 => {
                let id = self.random.0.next_u32();
                self.head(&format!("br-{id:08x}"), "4099<UP,BROADCAST,MULTICAST>");
                self.ether();
            }
            kind => {
                let name = self.random.pick(&["eth", "ens", "enp0s", "wlan", "veth"]);
                self.head(&format!("{name}{}", index % 100), "4163<UP,BROADCAST,RUNNING,MULTICAST>");
                self.inet();
                for _ in 0..kind % 3 {
                    self.inet6();
                }
                self.ether();
            }
        }
        self.counters("RX", "  frame 0");
        self.counters("TX", "  carrier 0  collisions 0");
        self.line("");
    }

    fn head(&mut self, name: &str, flags: &str) {
        let mtu = self.random.pick(&["1500", "1450", "9000"]);
        self.line(&format!("{name}: flags={flags}  mtu {mtu}"));
    }

    fn loopback(&mut self) {
        self.line("lo: flags=73<UP,LOOPBACK,RUNNING>  mtu 65536");
        self.address("inet", "127.0.0.1", "netmask 255.0.0.0");
        self.address("inet6", "::1", "prefixlen 128  scopeid 0x10<host>");
        self.line("        loop  txqueuelen 1000  (Local Loopback)");
    }

    fn inet(&mut self) {
        let [a, b, c] = [(); 3].map(|()| self.random.below(256));
        let d = 1 + self.random.below(254);
        let rest = format!("netmask 255.255.255.0  broadcast {a}.{b}.{c}.255");
        self.address("inet", &format!("{a}.{b}.{c}.{d}"), &rest);
    }

    fn inet6(&mut self) {
        let [a, b, c] = [(); 3].map(|()| self.random.below(0x1_0000));
        let rest = "prefixlen 64  scopeid 0x20<link>";
        self.address("inet6", &format!("fe80::{a:x}:{b:x}ff:fe00:{c:x}"), rest);
    }

    fn ether(&mut self) {
        let bytes = [(); 5].map(|()| format!("{:02x}", self.random.below(256))).join(":");
        self.line(&format!("        ether 02:{bytes}  txqueuelen 1000  (Ethernet)"));
    }

    fn counters(&mut self, way: &str, errors: &str) {
        let packets = self.random.below(90_000_000);
        let bytes = u64::from(packets) * u64::from(60 + self.random.below(1400));
        let mib = bytes / (1024 * 1024);
        self.line(&format!("        {way} packets {packets}  bytes {bytes} ({mib}.0 MiB)"));
        let dropped = self.random.below(10);
        self.line(&format!("        {way} errors 0  dropped {dropped}  overruns 0{errors}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha256(text: &str) -> String {
        hexadecimal(&Sha256::digest(text))
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_on_every_machine() {
        let log = ifconfig_log(4, 10_000);
        assert_eq!(sha256(&log.text), "67456e5a368d1b4799b24866a5c6c4716e46b1d8fc45324e211f92798f8dbc94");
        assert_eq!(log.expected_sha256, "1c3f9292aac92d0fd4f9aa830aeca321c9379295d98867b27e188a615a60d331");
    }

    #[test]
    fn the_lines_of_a_table_are_chosen_by_their_fifth_field() {
        let made = table(2, 5_000);
        let chosen: String = made
            .text
            .lines()
            .filter(|line| line.split(' ').nth(4).unwrap().ends_with("00"))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(made.expected_sha256, sha256(&chosen));
        assert!((20..120).contains(&chosen.lines().count()), "{}", chosen.lines().count());
        assert_eq!((made.text.lines().count(), table(2, 5_000)), (5_000, made));
    }

    #[test]
    fn another_seed_gives_other_bytes() {
        let (one, other) = (ifconfig_log(1, 500), ifconfig_log(2, 500));
        assert_ne!(one.text, other.text);
        assert_ne!(one.expected_sha256, other.expected_sha256);
    }

    #[test]
    fn it_has_exactly_the_lines_asked_for() {
        for lines in [0, 1, 2, 3, 7, 100, 1001] {
            assert_eq!(ifconfig_log(9, lines).text.lines().count(), lines as usize, "{lines}");
        }
    }

    #[test]
    fn the_expected_output_is_the_second_word_of_every_address_line() {
        for lines in 0..60 {
            let log = ifconfig_log(4, lines);
            let addresses: String = log
                .text
                .lines()
                .filter(|line| line.starts_with("        inet"))
                .map(|line| format!("{}\n", line.split_whitespace().nth(1).unwrap()))
                .collect();
            assert_eq!(log.expected_sha256, sha256(&addresses), "{lines} lines");
        }
    }

    #[test]
    fn it_looks_like_a_log_of_ifconfig() {
        let log = ifconfig_log(4, 9_000).text;
        let count = |start: &str| log.lines().filter(|line| line.starts_with(start)).count();
        let address_lines = count("        inet ") + count("        inet6 ");
        assert!((1_000..3_500).contains(&address_lines), "{address_lines} address lines");
        for start in
            ["lo: flags=73", "eth", "br-", "        ether 02:", "        RX packets", "        TX errors"]
        {
            assert!(count(start) > 10, "{start}");
        }
    }
}
