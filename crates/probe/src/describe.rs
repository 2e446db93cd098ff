//! The worker's `--list` as data.

use std::collections::BTreeMap;

/// The groups, in the order in which they are shown.
pub const GROUPS: [&str; 5] = ["kernel", "process", "thread", "pipe", "cpu"];

/// How many operations a round has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// As many as last 10 to 50 us.
    Auto,
    /// One.
    One,
    /// As a parameter says.
    Param,
}

/// A parameter of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its key in the plan.
    pub key: String,
    /// Values of the sweep; the first is the default.
    pub values: Vec<String>,
    /// The variant that it is for; `None` for all.
    pub only: Option<String>,
    /// What it is.
    pub about: String,
}

/// What an honest operation shows, per operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// The variant that it is about; `None` for all.
    pub variant: Option<String>,
    /// `syscalls`, `voluntary`, or `switches` (voluntary and involuntary).
    pub receipt: String,
    /// No less than this.
    pub least: Option<f64>,
    /// No more than this.
    pub most: Option<f64>,
}

/// A probe, as it describes itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Its name in the plan.
    pub name: String,
    /// `kernel`, `process`, `thread`, `pipe` or `cpu`; `selftest` for those that only tests use.
    pub group: String,
    /// What one operation is.
    pub unit: String,
    /// What of the system it takes through.
    pub exercises: String,
    /// What must be there.
    pub needs: String,
    /// Whether any Unix has it.
    pub portable: bool,
    /// Variants; the first is the default.
    pub variants: Vec<String>,
    /// What a round measures.
    pub measures: Vec<String>,
    /// How a round is sized.
    pub batch: Batch,
    /// Whether rounds alternate between N and 2N operations when the plan does not say.
    pub pairs: bool,
    /// Whether it has one price for every pair of CPUs (`cpu=A,B`).
    pub matrix: bool,
    /// Receipts that spoil a sample when they are not 0.
    pub disturbed: Vec<String>,
    /// The file that holds it; see [`crate::source`].
    pub source: String,
    /// Its parameters, in the order in which rows name them.
    pub parameters: Vec<Parameter>,
    /// What its receipts must show.
    pub expectations: Vec<Expectation>,
}

impl Probe {
    /// Group and name: no two probes share it, and no group has it.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.group, self.name)
    }
}

type Fields<'a> = BTreeMap<&'a str, &'a str>;

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn take<'a>(fields: &Fields<'a>, key: &str) -> Result<&'a str, String> {
    fields.get(key).copied().ok_or_else(|| format!("a record without {key}"))
}

fn bound(text: &str) -> Result<Option<f64>, String> {
    if text == "-" {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| format!("not a number: {text}"))
}

fn probe(fields: &Fields<'_>) -> Result<Probe, String> {
    let text = |key| take(fields, key).map(str::to_owned);
    let list = |key| take(fields, key).map(words);
    let flag = |key| take(fields, key).map(|value| value == "1");
    Ok(Probe {
        name: text("name")?,
        group: text("group")?,
        unit: text("unit")?,
        exercises: text("exercises")?,
        needs: text("needs")?,
        portable: flag("portable")?,
        variants: list("variants")?,
        measures: list("measures")?,
        batch: match take(fields, "batch")? {
            "auto" => Batch::Auto,
            "one" => Batch::One,
            "param" => Batch::Param,
            other => return Err(format!("no such batch: {other}")),
        },
        pairs: flag("pairs")?,
        matrix: fields.get("matrix") == Some(&"1"),
        disturbed: list("disturbed")?,
        source: text("source")?,
        parameters: Vec::new(),
        expectations: Vec::new(),
    })
}

/// Reads what `worker --list` wrote. Records of unknown kinds are skipped, as the protocol asks.
///
/// # Errors
///
/// Says which line is no description, and why.
pub fn parse_list(text: &str) -> Result<Vec<Probe>, String> {
    let mut probes: Vec<Probe> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let mut parts = line.split('\t');
        let kind = parts.next().unwrap_or_default();
        let fields: Fields<'_> = parts.filter_map(|part| part.split_once('=')).collect();
        let told = |why: String| format!("line {}: {why}", at + 1);
        match kind {
            "probe" => probes.push(probe(&fields).map_err(told)?),
            "param" | "expect" => attach(&mut probes, kind, &fields).map_err(told)?,
            _ => {}
        }
    }
    Ok(probes)
}

/// A `param` or `expect` record belongs to the probe that it names.
fn attach(probes: &mut [Probe], kind: &str, fields: &Fields<'_>) -> Result<(), String> {
    let name = take(fields, "name")?;
    let owner =
        probes.iter_mut().find(|p| p.name == name).ok_or_else(|| format!("no probe {name} before it"))?;
    if kind == "param" {
        owner.parameters.push(Parameter {
            key: take(fields, "key")?.to_owned(),
            values: words(take(fields, "values")?),
            only: fields.get("only").filter(|v| !v.is_empty()).map(|v| (*v).to_owned()),
            about: take(fields, "about")?.to_owned(),
        });
        return Ok(());
    }
    let variant = take(fields, "variant")?;
    owner.expectations.push(Expectation {
        variant: (variant != "*").then(|| variant.to_owned()),
        receipt: take(fields, "receipt")?.to_owned(),
        least: bound(take(fields, "least")?)?,
        most: bound(take(fields, "most")?)?,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "probe\tname=a\tgroup=kernel\tunit=one call\texercises=x\tneeds=nothing\tportable=1\tvariants=libc raw\tmeasures=time\t\
                        batch=auto\tpairs=1\tdisturbed=inv mig\tsource=c/a.c\nparam\tname=a\tkey=k\tvalues=1 2\tabout=how many\n\
                        expect\tname=a\tvariant=raw\treceipt=syscalls\tleast=1\tmost=-\nlater\tkey=value\n";

    #[test]
    fn reads_a_probe_with_what_belongs_to_it() {
        let probes = parse_list(LIST).unwrap();
        assert_eq!(probes.len(), 1);
        let probe = &probes[0];
        assert_eq!((probe.variants.len(), probe.batch, probe.pairs), (2, Batch::Auto, true));
        assert_eq!(probe.parameters[0].values, ["1", "2"]);
        assert_eq!(probe.expectations[0].variant.as_deref(), Some("raw"));
        assert_eq!((probe.expectations[0].least, probe.expectations[0].most), (Some(1.0), None));
    }

    #[test]
    fn names_the_line_that_is_wrong() {
        let missing = LIST.replace("\tgroup=kernel", "");
        assert_eq!(parse_list(&missing).unwrap_err(), "line 1: a record without group");
        let stray = LIST.replace("name=a\tkey", "name=b\tkey");
        assert_eq!(parse_list(&stray).unwrap_err(), "line 2: no probe b before it");
    }
}
