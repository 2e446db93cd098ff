//! One record of the worker. What is written stands in crates/probe/PROTOCOL.md; keys and kinds that are not known here
//! are skipped, as it asks.

use std::collections::BTreeMap;

/// What identifies a row of the worker: the head of its records.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Head {
    /// The probe.
    pub name: String,
    /// Its variant.
    pub variant: String,
    /// Parameters as used, `k=v,k=v`.
    pub params: String,
    /// Pinning as asked for.
    pub cpu: String,
    /// warm, cold or first.
    pub temp: String,
}

/// One sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleRecord {
    /// Which of the probe's measures.
    pub measure: String,
    /// Operations.
    pub ops: u64,
    /// Nanoseconds for all of them.
    pub ns: f64,
    /// Voluntary switches.
    pub voluntary: Option<u64>,
    /// Involuntary switches.
    pub involuntary: Option<u64>,
    /// Changes of CPU.
    pub migrations: Option<u64>,
    /// Nanoseconds that a task of the operation was ready and had no CPU.
    pub delay_ns: Option<f64>,
    /// Ticks that were stolen between the two readings around it.
    pub steal_ticks: Option<u64>,
    /// Nanoseconds since the worker began.
    pub start_ns: Option<f64>,
    /// CPUs of the one that sends and the one that receives.
    pub on: Option<[u32; 2]>,
    /// Bytes that were moved.
    pub bytes: Option<u64>,
}

/// What the worker says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hello {
    /// Version of the protocol.
    pub protocol: u64,
    /// Operating system.
    pub os: String,
    /// Its release.
    pub release: String,
    /// C library that it was built with.
    pub libc: String,
    /// Clock.
    pub clock: String,
    /// Smallest step of the clock.
    pub resolution_ns: Option<f64>,
    /// One reading of the clock.
    pub clock_cost_ns: Option<f64>,
    /// Steps a second of the time stamp counter.
    pub tsc_hz: Option<f64>,
    /// Instruction set of the kernel.
    pub machine: String,
    /// CPUs that the worker may use, where it can tell.
    pub cpus: Option<Vec<u32>>,
}

/// A record.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The worker began.
    Hello(Hello),
    /// A line of the plan begins.
    Begin(Head),
    /// A sample.
    Sample(Head, SampleRecord),
    /// System calls per operation; or why they were not counted.
    Receipt(Head, Result<f64, String>),
    /// The probe found that it did what it claims, or why not.
    Verify(Head, Result<(), String>),
    /// The row cannot be measured here, and why.
    Unavailable(Head, String),
    /// The plan is wrong.
    Error(String),
    /// All lines were run.
    Done,
}

impl Record {
    /// The probe that it is about, if it is about one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Begin(head)
            | Self::Sample(head, _)
            | Self::Receipt(head, _)
            | Self::Verify(head, _)
            | Self::Unavailable(head, _) => Some(&head.name),
            Self::Hello(_) | Self::Error(_) | Self::Done => None,
        }
    }
}

/// The version of the protocol that is understood here.
pub const VERSION: u64 = 1;

/// Understands a line; `None` for a kind that is not known.
pub fn parse(line: &str) -> Result<Option<Record>, String> {
    let mut parts = line.split('\t');
    let kind = parts.next().unwrap_or_default();
    let fields = Fields(parts.filter_map(|part| part.split_once('=')).collect());
    let head = || fields.head();
    Ok(Some(match kind {
        "hello" => Record::Hello(fields.hello()?),
        "begin" => Record::Begin(head()?),
        "sample" => Record::Sample(head()?, fields.sample()?),
        "receipt" => {
            let calls = fields.number::<f64>("syscalls")?;
            Record::Receipt(head()?, calls.ok_or_else(|| fields.text("why").to_owned()))
        }
        "verify" => {
            let well = fields.need("ok")? == "1";
            Record::Verify(head()?, if well { Ok(()) } else { Err(fields.text("why").to_owned()) })
        }
        "unavailable" => Record::Unavailable(head()?, fields.unavailable()),
        "error" => Record::Error(format!("line {}: {}", fields.text("line"), fields.text("why"))),
        "done" => Record::Done,
        _ => return Ok(None),
    }))
}

struct Fields<'a>(BTreeMap<&'a str, &'a str>);

impl Fields<'_> {
    /// A text; empty where it is missing.
    fn text(&self, key: &str) -> &str {
        self.0.get(key).copied().unwrap_or_default()
    }

    fn need(&self, key: &str) -> Result<&str, String> {
        self.0.get(key).copied().ok_or_else(|| format!("no '{key}'"))
    }

    /// A number; `None` where it was not measured.
    fn number<T: std::str::FromStr>(&self, key: &str) -> Result<Option<T>, String> {
        match self.text(key) {
            "" | "-" => Ok(None),
            text => text.parse().map(Some).map_err(|_| format!("'{key}' is '{text}'")),
        }
    }

    fn head(&self) -> Result<Head, String> {
        let text = |key: &str| self.text(key).to_owned();
        Ok(Head {
            name: self.need("name")?.to_owned(),
            variant: self.need("variant")?.to_owned(),
            params: text("params"),
            cpu: text("cpu"),
            temp: text("temp"),
        })
    }

    fn hello(&self) -> Result<Hello, String> {
        let text = |key: &str| self.text(key).to_owned();
        Ok(Hello {
            protocol: self.number("protocol")?.ok_or("no 'protocol'")?,
            os: text("os"),
            release: text("release"),
            libc: text("libc"),
            clock: text("clock"),
            resolution_ns: self.number("resolution_ns")?,
            clock_cost_ns: self.number("clock_cost_ns")?,
            tsc_hz: self.number("tsc_hz")?,
            machine: text("machine"),
            cpus: self.text("cpus").split(',').map(|cpu| cpu.parse().ok()).collect(),
        })
    }

    fn sample(&self) -> Result<SampleRecord, String> {
        let ns: f64 = self.number("ns")?.ok_or("no 'ns'")?;
        let ops: u64 = self.number("ops")?.ok_or("no 'ops'")?;
        if !(0.0..1e18).contains(&ns) || ops == 0 {
            return Err(format!("{ops} operations in {ns} ns"));
        }
        Ok(SampleRecord {
            measure: self.need("measure")?.to_owned(),
            ops,
            ns,
            voluntary: self.number("vol")?,
            involuntary: self.number("inv")?,
            migrations: self.number("mig")?,
            delay_ns: self.number("delay")?.filter(|ns| (0.0..1e18).contains(ns)),
            steal_ticks: self.number("steal")?,
            start_ns: self.number("start_ns")?,
            on: self.pair("on"),
            bytes: self.number("bytes")?,
        })
    }

    /// Two CPUs, `0,1`; `None` where the system could not tell one of them.
    fn pair(&self, key: &str) -> Option<[u32; 2]> {
        let (one, other) = self.text(key).split_once(',')?;
        Some([one.parse().ok()?, other.parse().ok()?])
    }

    fn unavailable(&self) -> String {
        match self.text("errno") {
            "" | "-" => format!("not available: {}", self.text("why")),
            errno => format!("not available: {}: {errno}", self.text("why")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str = "name=getpid\tvariant=raw\tparams=\tcpu=free\ttemp=warm\ttag=";

    #[test]
    fn every_kind_of_record_is_understood() {
        let head = Head {
            name: "getpid".into(),
            variant: "raw".into(),
            cpu: "free".into(),
            temp: "warm".into(),
            ..Head::default()
        };
        let read = |line: String| parse(&line).unwrap().unwrap();
        let sample = read(format!(
            "sample\t{HEAD}\tmeasure=time\tbatch=0\tops=124\tns=18597\tvol=0\tinv=1\tmig=-\tat=1\tsteal=2\tstart_ns=21\tnew=9"
        ));
        let Record::Sample(found, sample) = sample else { panic!("{sample:?}") };
        assert_eq!(found, head);
        assert_eq!(
            (sample.ops, sample.ns, sample.involuntary, sample.migrations),
            (124, 18597.0, Some(1), None)
        );
        assert_eq!(
            read(format!("receipt\t{HEAD}\tsyscalls=1.0000\twhy=")),
            Record::Receipt(head.clone(), Ok(1.0))
        );
        let placed = |columns: &str| {
            let line = format!("sample\t{HEAD}\tmeasure=latency\tops=1\tns=5{columns}");
            let Record::Sample(_, sample) = read(line) else { panic!("{columns}") };
            (sample.on, sample.bytes)
        };
        assert_eq!(placed("\ton=0,13\tsettle_ns=5000"), (Some([0, 13]), None));
        assert_eq!(placed("\tbytes=65536"), (None, Some(65536)));
        assert_eq!((placed("\ton=-1,0"), placed("\ton=-")), ((None, None), (None, None)));
        let why = "ptrace: EPERM".to_owned();
        assert_eq!(
            read(format!("receipt\t{HEAD}\tsyscalls=-\twhy={why}")),
            Record::Receipt(head.clone(), Err(why))
        );
        assert_eq!(read(format!("verify\t{HEAD}\tok=1\twhy=")), Record::Verify(head.clone(), Ok(())));
        assert_eq!(
            read(format!("unavailable\t{HEAD}\terrno=ENOSYS\twhy=io_uring_setup")),
            Record::Unavailable(head, "not available: io_uring_setup: ENOSYS".into())
        );
        let hello = read("hello\tprotocol=1\tos=Linux\tlibc=glibc 2.36\tclock=CLOCK_MONOTONIC\tresolution_ns=1\tclock_cost_ns=-".into());
        assert!(matches!(hello, Record::Hello(Hello { protocol: 1, clock_cost_ns: None, .. })));
        assert_eq!(parse("later\tkey=value"), Ok(None));
        assert_eq!(read("done\tlines=4".into()), Record::Done);
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        for bad in [
            "sample\tname=a".to_owned(),
            format!("sample\t{HEAD}\tmeasure=time\tops=0\tns=5"),
            format!("sample\t{HEAD}\tmeasure=time\tops=1\tns=-5"),
            format!("sample\t{HEAD}\tmeasure=time\tops=1\tns=nan"),
            format!("sample\t{HEAD}\tmeasure=time\tops=1\tns=5\tvol=x"),
            "hello\tos=Linux".to_owned(),
            "begin\tvariant=raw".to_owned(),
        ] {
            assert!(parse(&bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn hostile_lines_never_panic(line in "(hello|sample|receipt|verify)?(\t[a-z_]{0,8}=[0-9a-zA-Z.-]{0,20}){0,12}|.{0,80}") {
            let _ = parse(&line);
        }
    }
}
