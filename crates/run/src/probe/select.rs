//! Which rows are measured: from the words of the command line to lines of the worker's plan. Pure.

use std::fmt::Write;

use whyfaster_core::fit::{Need, bytes, fits};
use whyfaster_core::host::HostFacts;
use whyfaster_core::price::pace::COMPUTE;
use whyfaster_core::price::sample::row_id;
use whyfaster_probe::{Batch, GROUPS, Probe};
use whyfaster_store::worker::protocol::Head;
use whyfaster_store::worker::rows::variant;
use whyfaster_words::exit::{Failure, nearest};

/// Probes that only tests use.
const HIDDEN: &str = "selftest";

/// The article's five thread programs: they are measured at every n by default.
const ARTICLE: [&str; 5] = ["cond", "pipe_cond", "pipe", "pipe_cached", "newthread"];

/// What the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Groups, names, or names with their group (`thread/pipe`); empty for all. A word that is both means the group.
    pub words: Vec<String>,
    /// Only lines that give one of these rows, `name/variant`; empty for all of them.
    pub rows: Vec<String>,
    /// Also cold and first calls, every other value of every parameter, and every column.
    pub all: bool,
    /// Fewer samples.
    pub quick: bool,
    /// CPUs that may be used.
    pub cpus: Vec<u32>,
    /// Bytes of memory that are left where the worker runs; unknown, it leaves no row out.
    pub memory: Option<u64>,
}

/// A line of the worker's plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The probe.
    pub probe: String,
    /// Its variant.
    pub variant: String,
    /// Parameters, all of them, in the probe's order.
    pub params: Vec<(String, String)>,
    /// free, same, other, or a pair `A,B`.
    pub cpu: String,
    /// warm, cold or first.
    pub temp: &'static str,
    /// Rounds.
    pub batches: u32,
}

/// What is measured, and what is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The lines, in the order in which rows are shown.
    pub lines: Vec<Line>,
    /// Rows that cannot be measured on these CPUs, and why.
    pub missing: Vec<(Head, String)>,
}

impl Line {
    /// What the worker will call it.
    pub fn head(&self) -> Head {
        let params: Vec<String> = self.params.iter().map(|(key, value)| format!("{key}={value}")).collect();
        Head {
            name: self.probe.clone(),
            variant: self.variant.clone(),
            params: params.join(","),
            cpu: self.cpu.clone(),
            temp: self.temp.to_owned(),
        }
    }

    /// Its text in a plan. System calls are counted once, in the first repetition: that takes a tracer.
    pub fn text(&self, count: bool, budget_ms: u64) -> String {
        let mut text = format!("probe {} {} batches={}", self.probe, self.variant, self.batches);
        for (key, value) in &self.params {
            let _ = write!(text, " {key}={value}");
        }
        let count = u8::from(count);
        let _ = writeln!(text, " cpu={} temp={} count={count} budget_ms={budget_ms}", self.cpu, self.temp);
        text
    }
}

/// Chooses the lines.
pub fn select(probes: &[Probe], wanted: &Wanted) -> Result<Selection, Failure> {
    for word in &wanted.words {
        known(probes, word)?;
    }
    let asked = |probe: &&Probe| {
        let by_group = wanted.words.contains(&probe.group);
        by_group || is_named(probe, &wanted.words) || (probe.group != HIDDEN && wanted.words.is_empty())
    };
    let place =
        |probe: &&Probe| GROUPS.iter().position(|group| *group == probe.group).unwrap_or(GROUPS.len());
    let mut chosen: Vec<&Probe> = probes.iter().filter(asked).collect();
    chosen.sort_by_key(place);
    let mut selection = Selection::default();
    for probe in chosen {
        let named = is_named(probe, &wanted.words);
        for variant in probe.variants.iter().filter(|v| named || !wanted.quick || !slow(&probe.group, v)) {
            for line in
                lines(probe, variant, wanted).into_iter().filter(|line| gives(probe, line, &wanted.rows))
            {
                match hindrance(&line, wanted) {
                    Some(why) => selection.missing.push((line.head(), why)),
                    None if !selection.lines.contains(&line) => selection.lines.push(line),
                    None => {}
                }
            }
        }
    }
    Ok(selection)
}

/// Whether a probe itself is among these words.
fn is_named(probe: &Probe, words: &[String]) -> bool {
    let alone = |word: &String| *word == probe.name && !GROUPS.contains(&word.as_str());
    words.iter().any(|word| alone(word) || *word == probe.full_name())
}

/// Whether a line gives one of these rows.
fn gives(probe: &Probe, line: &Line, rows: &[String]) -> bool {
    let id = |measure: &String| row_id(&probe.name, &variant(probe, &line.head(), measure));
    rows.is_empty() || probe.measures.iter().any(|measure| rows.contains(&id(measure)))
}

/// What a quick look leaves out unless its probe is named.
fn slow(group: &str, variant: &str) -> bool {
    matches!((group, variant), ("process", "dynamic") | ("thread", "flow") | ("pipe", "processes"))
}

/// Why a line cannot be measured there.
fn hindrance(line: &Line, wanted: &Wanted) -> Option<String> {
    if line.cpu == "other" && wanted.cpus.len() < 2 {
        return Some(one_cpu(&wanted.cpus));
    }
    let touched = line.params.iter().find(|(key, _)| key == "rss").map_or(0, |(_, value)| size(value));
    let facts = HostFacts { memory_available: wanted.memory, ..HostFacts::default() };
    let short = fits(&facts, &Need { memory_bytes: touched, ..Need::default() }, 1).err()?;
    let (needed, there_is) = (bytes(short.needed), bytes(short.there_is));
    Some(format!("needs {needed} of memory, and what is available, less a tenth, is {there_is}"))
}

/// Bytes, as the worker reads them: 64M, 1G.
fn size(text: &str) -> u64 {
    let unit = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let shift = ["", "K", "M", "G"].iter().position(|known| *known == unit).unwrap_or_default() * 10;
    text.trim_end_matches(unit).parse().map_or(0, |number: u64| number << shift)
}

fn one_cpu(cpus: &[u32]) -> String {
    match cpus.first() {
        Some(cpu) => format!("needs two CPUs, and only CPU {cpu} may be used"),
        None => "needs two CPUs, and it is not known which may be used".to_owned(),
    }
}

/// The lines of one variant of a probe.
fn lines(probe: &Probe, variant: &str, wanted: &Wanted) -> Vec<Line> {
    let all = wanted.all;
    let settings = settings(probe, variant, wanted);
    let defaults = defaults(probe);
    let line = |params: &[(String, String)], cpu: String, temp, batches| Line {
        probe: probe.name.clone(),
        variant: variant.to_owned(),
        params: params.to_vec(),
        cpu,
        temp,
        batches,
    };
    let mut lines = Vec::new();
    for params in &settings {
        for cpu in columns(probe, variant, wanted) {
            lines.push(line(params, cpu, "warm", batches(probe, variant, wanted.quick)));
        }
    }
    if all && probe.group == "kernel" {
        // Each of these takes milliseconds: the caches are walked, or a process is made, before it.
        lines.push(line(&defaults, "free".to_owned(), "cold", if wanted.quick { 3 } else { 8 }));
        lines.push(line(&defaults, "free".to_owned(), "first", if wanted.quick { 3 } else { 8 }));
    }
    lines
}

type Settings = Vec<(String, String)>;

/// Every parameter at its default.
fn defaults(probe: &Probe) -> Settings {
    let first = |values: &[String]| values.first().cloned().unwrap_or_default();
    probe.parameters.iter().map(|p| (p.key.clone(), first(&p.values))).collect()
}

/// The defaults, and then every other value that is asked for, one at a time.
fn settings(probe: &Probe, variant: &str, wanted: &Wanted) -> Vec<Settings> {
    let mut settings = vec![defaults(probe)];
    let set = |settings: &mut Settings, key: &str, value: &str| {
        settings.iter_mut().filter(|(k, _)| k == key).for_each(|(_, v)| value.clone_into(v));
    };
    for parameter in probe.parameters.iter().filter(|p| bears(&p.key, variant)) {
        let standing = standing(probe, variant, &parameter.key) && (!wanted.quick || parameter.key == "n");
        if !(wanted.all || standing) {
            continue;
        }
        for value in parameter.values.iter().skip(1) {
            // Huge pages make a difference only of memory that there is.
            let sizes: Vec<&str> = match parameter.key.as_str() {
                "pages" => probe
                    .parameters
                    .iter()
                    .filter(|p| p.key == "rss")
                    .flat_map(|p| &p.values)
                    .map(String::as_str)
                    .collect(),
                _ => vec![""],
            };
            for size in sizes.into_iter().filter(|size| *size != "0") {
                let mut changed = defaults(probe);
                set(&mut changed, &parameter.key, value);
                if parameter.key == "pages" {
                    set(&mut changed, "rss", size);
                }
                // A target is missed only where it is searched for.
                if parameter.key == "misses" {
                    set(&mut changed, "path", "search");
                }
                settings.push(changed);
            }
        }
    }
    settings
}

/// Whether a parameter means anything to a variant of a hand-over.
fn bears(key: &str, variant: &str) -> bool {
    let idle = matches!(
        (key, variant),
        ("gap", "awake" | "burst" | "flow")
            | ("depth" | "n", "asleep" | "awake" | "fresh")
            | ("depth", "burst")
            | ("n", "flow")
    );
    !idle
}

/// Whether all values of this parameter are columns of the ordinary table.
fn standing(probe: &Probe, variant: &str, key: &str) -> bool {
    let article = key == "n" && variant == "burst" && ARTICLE.contains(&probe.name.as_str());
    article || (key == "wait" && variant == "asleep")
}

/// On which CPUs a row is measured.
fn columns(probe: &Probe, variant: &str, wanted: &Wanted) -> Vec<String> {
    let all = wanted.all;
    let columns: &[&str] = match (probe.group.as_str(), probe.name.as_str(), variant) {
        ("cpu", "cacheline", _) => return pairs(&wanted.cpus, all),
        ("cpu", COMPUTE, _) if !wanted.cpus.is_empty() => return each(&wanted.cpus, all),
        ("cpu", "switch", _) => &["same"],
        ("cpu", "wakeup", _) | ("cpu", _, "contended") => &["other"],
        // A new thread begins where its maker is pinned: on the same CPU, or where the scheduler puts it.
        ("thread", "newthread", _) if all || variant == "fresh" => &["same", "free"],
        // Both ends spin where the receiver is awake: on one CPU that measures the scheduler's slice.
        ("thread", _, "awake") if !all => &["other"],
        ("thread", _, "burst" | "flow") if !all => &["free"],
        ("thread" | "pipe", ..) if all => &["same", "other", "free"],
        // What the scheduler chooses when it is left free.
        ("thread", _, "asleep") if !wanted.quick => &["same", "other", "free"],
        ("thread" | "pipe", ..) => &["same", "other"],
        _ => &["free"],
    };
    columns.iter().map(|cpu| (*cpu).to_owned()).collect()
}

/// Pairs of CPUs: those of the first CPU with each, and every pair of a small machine, or of the first CPUs of a larger one
/// if all is asked for.
fn pairs(cpus: &[u32], all: bool) -> Vec<String> {
    let every = match cpus.len() {
        _ if all => MATRIX_MOST,
        count if count <= SMALL => SMALL,
        _ => 0,
    };
    let pairs = cpus.iter().enumerate().flat_map(|(at, one)| {
        let others = if at == 0 { cpus } else { &cpus[..every.min(cpus.len())] };
        others.iter().skip(at + 1).map(move |other| format!("{one},{other}"))
    });
    let pairs: Vec<String> = pairs.collect();
    // One CPU has no pair: the row then says why.
    if pairs.is_empty() { vec!["other".to_owned()] } else { pairs }
}

/// Each CPU by itself, for one may be slower than another at the time: all of a small machine, the first ones of a larger one,
/// which `same` takes as well, and `other` where a core has at most three threads.
fn each(cpus: &[u32], all: bool) -> Vec<String> {
    let most = if all { cpus.len() } else { SMALL };
    cpus.iter().take(most).map(u32::to_string).collect()
}

/// CPUs of which every pair is measured at most, as in the worker's own plan (`c/sweep.c`): 120 pairs.
const MATRIX_MOST: usize = 16;

/// CPUs up to which every one, and every pair, is measured unasked.
const SMALL: usize = 4;

/// Rounds a repetition: as many as make about a millisecond for fast calls; the dear ones are few.
fn batches(probe: &Probe, variant: &str, quick: bool) -> u32 {
    let full = match (probe.batch, variant) {
        (Batch::Auto, _) => 12,
        (_, "burst" | "flow") => 8,
        (Batch::One, _) if probe.group == "process" => 6,
        (Batch::One, _) => 24,
        (Batch::Param, _) => 6,
    };
    if quick { full / 2 } else { full }
}

/// A word must be a group or a probe; the nearest one is suggested.
fn known(probes: &[Probe], word: &str) -> Result<(), Failure> {
    let is = |probe: &Probe| probe.name == word || probe.group == word || probe.full_name() == word;
    if GROUPS.contains(&word) || probes.iter().any(is) {
        return Ok(());
    }
    let visible = || probes.iter().filter(|probe| probe.group != HIDDEN);
    let full: Vec<String> = visible().map(Probe::full_name).collect();
    let full = full.iter().map(String::as_str).filter(|_| word.contains('/'));
    let hint = match nearest(word, visible().map(|probe| probe.name.as_str()).chain(GROUPS).chain(full)) {
        Some(name) => format!("did you mean '{name}'? 'whyfaster prices --list' shows all of them"),
        None => "'whyfaster prices --list' shows all of them".to_owned(),
    };
    let shown: String = word.chars().take(80).collect();
    Err(Failure::usage(format!("there is no probe or group '{shown}'"), hint))
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
