//! From the worker's records to the rows and samples of a price list.

use std::collections::BTreeMap;

use whyfaster_core::price::sample::Sample;
use whyfaster_core::price::{Row, Series};
use whyfaster_probe::Probe;

use super::protocol::{Head, Hello, Record, SampleRecord, VERSION};
use super::rows::{row, variant};

/// The kernel counts steal in clock ticks (`USER_HZ`, 100 a second in the ABI of every architecture that runs this).
const TICK_NS: f64 = 1e7;

/// Collects what the repetitions say.
#[derive(Clone, Debug)]
pub struct Collector<'a> {
    probes: &'a [Probe],
    /// The rows so far.
    pub rows: Vec<Row>,
    /// Their samples.
    pub samples: Vec<Series>,
    /// What the worker says of itself.
    pub hello: Option<Hello>,
    /// Why system calls were not counted, if they were not.
    pub uncounted: Option<String>,
    /// Row by name and variant.
    known: BTreeMap<(String, String), usize>,
    /// Series by row, of the current repetition.
    open: BTreeMap<usize, Open>,
    repetition: u32,
    began_s: f64,
}

/// A series that is being filled.
#[derive(Clone, Copy, Debug)]
struct Open {
    series: usize,
    /// Where the last stolen window began.
    stolen_at: Option<f64>,
}

impl<'a> Collector<'a> {
    /// Nothing is collected yet.
    pub fn new(probes: &'a [Probe]) -> Self {
        Self {
            probes,
            rows: Vec::new(),
            samples: Vec::new(),
            hello: None,
            uncounted: None,
            known: BTreeMap::new(),
            open: BTreeMap::new(),
            repetition: 0,
            began_s: 0.0,
        }
    }

    /// A fresh worker begins.
    pub fn begin(&mut self, repetition: u32, began_s: f64) {
        self.repetition = repetition;
        self.began_s = began_s;
        self.open.clear();
    }

    /// Takes a record in. An error is a defect of the worker or of what stands between.
    pub fn take(&mut self, record: Record) -> Result<(), String> {
        match record {
            Record::Hello(hello) if hello.protocol != VERSION => {
                return Err(format!(
                    "the worker speaks version {} of its protocol, not {VERSION}",
                    hello.protocol
                ));
            }
            Record::Hello(hello) => self.hello = Some(hello),
            Record::Sample(head, sample) => self.sample(&head, &sample)?,
            Record::Receipt(head, Ok(calls)) => {
                for index in self.rows_of(&head) {
                    self.rows[index].syscalls = Some(calls);
                }
            }
            Record::Receipt(_, Err(why)) => {
                if why != NOT_ASKED {
                    self.uncounted.get_or_insert(why);
                }
            }
            Record::Verify(head, Err(why)) => self.spoil(&head, &format!("refused: {why}"))?,
            Record::Unavailable(head, why) => self.spoil(&head, &why)?,
            Record::Error(why) => return Err(format!("the worker did not understand its plan: {why}")),
            Record::Begin(_) | Record::Verify(_, Ok(())) | Record::Done => {}
        }
        Ok(())
    }

    fn sample(&mut self, head: &Head, sample: &SampleRecord) -> Result<(), String> {
        let index = self.row(head, &sample.measure)?;
        let (repetition, began_s) = (self.repetition, self.began_s);
        let samples = &mut self.samples;
        let open = self.open.entry(index).or_insert_with(|| {
            samples.push(Series::new(index, repetition, began_s));
            Open { series: samples.len() - 1, stolen_at: None }
        });
        let series = &mut samples[open.series];
        series.push(Sample {
            ops: sample.ops,
            elapsed_ns: sample.ns,
            voluntary: sample.voluntary,
            involuntary: sample.involuntary,
            migrations: sample.migrations,
            delay_ns: sample.delay_ns,
            on: sample.on,
            bytes: sample.bytes,
        });
        if let Some(ticks) = sample.steal_ticks {
            let total = series.steal_ns.get_or_insert(0.0);
            // All samples between two readings carry the same count, and readings are a tick or more apart.
            let start = sample.start_ns.unwrap_or(0.0);
            if ticks > 0 && open.stolen_at.is_none_or(|at| start - at >= TICK_NS) {
                *total += ticks as f64 * TICK_NS;
                open.stolen_at = Some(start);
            }
        }
        Ok(())
    }

    /// The row of a measure; a new one where it was not seen yet.
    fn row(&mut self, head: &Head, measure: &str) -> Result<usize, String> {
        let probe = self.probe(head)?;
        let id = (probe.name.clone(), variant(probe, head, measure));
        if let Some(index) = self.known.get(&id) {
            return Ok(*index);
        }
        self.rows.push(row(probe, head, measure)?);
        self.known.insert(id, self.rows.len() - 1);
        Ok(self.rows.len() - 1)
    }

    fn probe(&self, head: &Head) -> Result<&'a Probe, String> {
        let found = self.probes.iter().find(|probe| probe.name == head.name);
        found.ok_or_else(|| format!("the worker measured '{}', which nobody asked for", head.name))
    }

    /// The rows of all measures of this head that were seen so far.
    fn rows_of(&self, head: &Head) -> Vec<usize> {
        let Ok(probe) = self.probe(head) else { return Vec::new() };
        let id = |measure: &String| (probe.name.clone(), variant(probe, head, measure));
        probe.measures.iter().filter_map(|measure| self.known.get(&id(measure)).copied()).collect()
    }

    /// Notes that a row has no price. The first reason stays.
    fn spoil(&mut self, head: &Head, why: &str) -> Result<(), String> {
        let measures = self.probe(head)?.measures.clone();
        let seen = self.rows_of(head);
        // A row that never gave a sample stands there by its first measure only.
        let spoilt = if seen.is_empty() {
            measures.first().map(|m| self.row(head, m)).transpose()?.into_iter().collect()
        } else {
            seen
        };
        for index in spoilt {
            self.rows[index].unavailable.get_or_insert_with(|| why.to_owned());
        }
        Ok(())
    }

    /// Whether any row of this head was seen.
    pub fn has(&self, head: &Head) -> bool {
        !self.rows_of(head).is_empty()
    }

    /// Puts the rows in the order of these heads, and of a probe's measures within a head; the rest follows.
    pub fn sort(&mut self, order: &[Head]) {
        let mut places: Vec<usize> = order.iter().flat_map(|head| self.rows_of(head)).collect();
        places.extend(0..self.rows.len());
        let mut seen = std::collections::BTreeSet::new();
        places.retain(|index| seen.insert(*index));
        let mut moved = vec![0; places.len()];
        for (to, from) in places.iter().enumerate() {
            moved[*from] = to;
        }
        self.rows = places.iter().map(|from| self.rows[*from].clone()).collect();
        for series in &mut self.samples {
            series.row = moved[series.row];
        }
        for index in self.known.values_mut() {
            *index = moved[*index];
        }
    }

    /// Puts rows that were not even begun into the list, with the reason.
    pub fn missing(&mut self, head: &Head, why: &str) -> Result<(), String> {
        self.spoil(head, why)
    }
}

/// What the worker says where the plan asked for no count.
const NOT_ASKED: &str = "not asked for";

#[cfg(test)]
mod tests {
    use super::super::protocol::parse;
    use super::*;
    use whyfaster_probe::parse_list;

    const LIST: &str = "probe\tname=getpid\tgroup=kernel\tunit=one call\texercises=x\tneeds=nothing\tportable=1\tvariants=libc raw\t\
                        measures=time\tbatch=auto\tpairs=1\tdisturbed=inv mig\tsource=c/a.c\n\
                        probe\tname=fork\tgroup=process\tunit=one process\texercises=x\tneeds=nothing\tportable=1\tvariants=exit\t\
                        measures=parent child reaped\tbatch=one\tpairs=0\tdisturbed=\tsource=c/f.c\n";

    fn take(collector: &mut Collector<'_>, lines: &[&str]) -> Result<(), String> {
        lines.iter().try_for_each(|line| collector.take(parse(line)?.ok_or("unknown")?))
    }

    #[test]
    fn samples_go_to_their_rows_by_repetition() {
        let probes = parse_list(LIST).unwrap();
        let mut all = Collector::new(&probes);
        let raw = "sample\tname=getpid\tvariant=raw\tcpu=free\ttemp=warm\tmeasure=time\tops=10\tns=800\tvol=0\tinv=0\tmig=0\tsteal=0\tstart_ns=1";
        let receipt = "receipt\tname=getpid\tvariant=raw\tcpu=free\ttemp=warm\tsyscalls=1.0";
        for repetition in 0..2 {
            all.begin(repetition, f64::from(repetition));
            take(&mut all, &[raw, raw, receipt]).unwrap();
        }
        assert_eq!((all.rows.len(), all.samples.len()), (1, 2));
        assert_eq!((all.samples[1].repetition, all.samples[1].len()), (1, 2));
        assert_eq!(all.rows[0].syscalls, Some(1.0));
        assert_eq!(all.samples[0].steal_ns, Some(0.0));
    }

    #[test]
    fn steal_of_one_window_counts_once() {
        let probes = parse_list(LIST).unwrap();
        let mut all = Collector::new(&probes);
        all.begin(0, 0.0);
        for start in [0, 1000, 2000, 12_000_000] {
            let line = format!(
                "sample\tname=getpid\tvariant=raw\tmeasure=time\tops=1\tns=9\tsteal=1\tstart_ns={start}"
            );
            take(&mut all, &[&line]).unwrap();
        }
        assert_eq!(all.samples[0].steal_ns, Some(2.0 * TICK_NS));
    }

    #[test]
    fn what_is_refused_or_not_there_is_a_row_with_the_reason() {
        let probes = parse_list(LIST).unwrap();
        let mut all = Collector::new(&probes);
        all.begin(0, 0.0);
        let sample =
            |measure: &str| format!("sample\tname=fork\tvariant=exit\tmeasure={measure}\tops=1\tns=9\tvol=1");
        take(
            &mut all,
            &[&sample("parent"), &sample("reaped"), "verify\tname=fork\tvariant=exit\tok=0\twhy=no child"],
        )
        .unwrap();
        take(&mut all, &["unavailable\tname=getpid\tvariant=raw\terrno=EPERM\twhy=seccomp"]).unwrap();
        assert_eq!(all.rows.len(), 3);
        assert!(all.rows[..2].iter().all(|row| row.unavailable.as_deref() == Some("refused: no child")));
        assert_eq!(all.rows[2].unavailable.as_deref(), Some("not available: seccomp: EPERM"));
        assert!(take(&mut all, &["sample\tname=other\tvariant=x\tmeasure=time\tops=1\tns=1"]).is_err());
        assert!(take(&mut all, &["hello\tprotocol=2"]).is_err());
        assert!(take(&mut all, &["error\tline=1\twhy=bad"]).is_err());
    }
}
