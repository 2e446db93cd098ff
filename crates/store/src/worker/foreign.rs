//! A price list from what a bare worker wrote: `worker --all > list` on any machine, also one on which this program does not
//! run. Several runs in one file, one behind the other, are its repetitions.

use whyfaster_core::missing::{NotMeasured, Obstacle, Quantity};
use whyfaster_core::price::fingerprint::Fingerprint;
use whyfaster_core::price::list::Clock;
use whyfaster_core::price::{PriceList, SCHEMA, Unit};
use whyfaster_core::status::Status;
use whyfaster_core::warning::{Caution, Warning};
use whyfaster_probe::Probe;

use super::collect::Collector;
use super::protocol::{Record, parse};

/// How such a file begins.
pub const MARK: &[u8] = b"hello\t";

/// Whether these bytes are a worker's own list.
pub fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(MARK)
}

/// The list. `name` is what to call the machine if the worker does not tell, `started` when it was measured.
pub fn list(bytes: &[u8], probes: &[Probe], name: &str, started: &str) -> Result<PriceList, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is no text ({error})"))?;
    let mut collector = Collector::new(probes);
    let (mut runs, mut ended) = (0, 0);
    let mut unknown: Vec<String> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let record = parse(line).map_err(|why| format!("line {}: {why}", number + 1))?;
        match record {
            Some(Record::Hello(_)) => {
                collector.begin(runs, f64::from(runs));
                runs += 1;
            }
            Some(Record::Done) => ended += 1,
            _ => {}
        }
        let Some(record) = record else { continue };
        if let Some(name) = record.name().filter(|name| !probes.iter().any(|probe| probe.name == *name)) {
            if !unknown.iter().any(|known| known == name) {
                unknown.push(name.to_owned());
            }
            continue;
        }
        collector.take(record).map_err(|why| format!("line {}: {why}", number + 1))?;
    }
    if collector.rows.is_empty() {
        return Err("it holds no price".to_owned());
    }
    Ok(made(collector, name, started, (runs, ended), unknown))
}

fn made(
    mut collector: Collector<'_>,
    name: &str,
    started: &str,
    (runs, ended): (u32, u32),
    unknown: Vec<String>,
) -> PriceList {
    let hello = collector.hello.clone().unwrap_or_default();
    let mut fingerprint = Fingerprint {
        os: Some(hello.os).filter(|os| !os.is_empty()),
        libc: Some(hello.libc.trim().to_owned()).filter(|libc| !libc.is_empty()),
        ..Fingerprint::default()
    };
    fingerprint.facts.kernel = Some(hello.release).filter(|release| !release.is_empty());
    fingerprint.facts.machine = Some(hello.machine).filter(|machine| !machine.is_empty());
    fingerprint.facts.cpus_allowed = hello.cpus;
    let clock = Clock {
        name: hello.clock,
        resolution_ns: hello.resolution_ns,
        cost_ns: hello.clock_cost_ns,
        tsc_hz: hello.tsc_hz,
    };
    let took = collector.samples.iter().map(|series| series.elapsed_ns.iter().sum::<f64>()).sum::<f64>();
    let mut not_measured = vec![NotMeasured::new(Quantity::Machine, Obstacle::WorkerAlone)];
    let uncounted = collector.uncounted.take();
    not_measured.extend(uncounted.map(|why| NotMeasured::new(Quantity::CallsPerOperation, why)));
    let probes = unknown.into_iter().map(|name| Quantity::Probe { name });
    not_measured.extend(probes.map(|probe| NotMeasured::new(probe, Obstacle::UnknownProbe)));
    let partial = (ended < runs).then(|| Warning::from(Caution::PartialList));
    let warnings = Vec::from_iter(partial);
    let mut list = PriceList {
        schema: SCHEMA.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        name: name.to_owned(),
        source: None,
        study: None,
        handing: None,
        started: started.to_owned(),
        took_s: took * 1e-9,
        status: if ended < runs { Status::Failed } else { Status::Complete },
        unit: Unit::Nanoseconds,
        inside: None,
        confidence: 0.95,
        clock: (!clock.name.is_empty()).then_some(clock),
        fingerprint,
        prices: Vec::new(),
        warnings,
        not_measured,
        rows: collector.rows,
        samples: collector.samples,
    };
    list.reprice();
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(done: bool) -> String {
        let head = "name=getpid\tvariant=raw\tparams=\tcpu=free\ttemp=warm\ttag=";
        let mut text = String::from(
            "hello\tprotocol=1\tos=FreeBSD\trelease=14.1\tmachine=amd64\tlibc=system \tclock=CLOCK_MONOTONIC\t\
             resolution_ns=1\tclock_cost_ns=20\ttsc_hz=-\tcpus=0,1\n",
        );
        for batch in 0..6 {
            let ops = 100 + 100 * (batch % 2);
            text += &format!(
                "sample\t{head}\tmeasure=time\tbatch={batch}\tops={ops}\tns={}\tvol=0\tinv=0\tmig=0\n",
                ops * 90 + 40
            );
        }
        text += &format!("sample\t{}\tmeasure=time\tops=1\tns=9\n", head.replace("getpid", "kqueue"));
        if done { text + "done\tlines=1\n" } else { text }
    }

    #[test]
    fn runs_behind_each_other_are_repetitions() {
        let probes = whyfaster_probe::descriptions();
        let text = run(true).repeat(7);
        assert!(is_one(text.as_bytes()) && !is_one(b"{\"schema\":1}"));
        let list = list(text.as_bytes(), &probes, "a box", "2026-01-01T00:00:00Z").unwrap();
        list.validate().unwrap();
        let price = list.find("getpid", Some("raw")).unwrap();
        assert_eq!((price.repetitions, price.median_ns.map(f64::round)), (7, Some(90.0)));
        assert_eq!(list.fingerprint.os.as_deref(), Some("FreeBSD"));
        assert_eq!(list.status, Status::Complete);
        assert!(
            list.not_measured
                .iter()
                .any(|it| it.quantity == Some(Quantity::Probe { name: "kqueue".to_owned() }))
        );
    }

    #[test]
    fn what_was_cut_short_is_partial_and_what_is_none_is_an_error() {
        let probes = whyfaster_probe::descriptions();
        let cut = list(run(false).as_bytes(), &probes, "a box", "").unwrap();
        assert_eq!(cut.status, Status::Failed);
        assert_eq!(cut.warnings, [Warning::from(Caution::PartialList)]);
        assert!(list(b"hello\tprotocol=1\n", &probes, "", "").unwrap_err().contains("no price"));
        assert!(list(b"hello\tprotocol=2\n", &probes, "", "").unwrap_err().contains("line 1"));
        assert!(
            list(b"hello\tprotocol=1\nsample\tname=getpid\n", &probes, "", "")
                .unwrap_err()
                .contains("line 2")
        );
        assert!(list(b"hello\t\xff", &probes, "", "").unwrap_err().contains("no text"));
    }
}
