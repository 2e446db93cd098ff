//! What a row of the worker is called in a price list, and what must be true of it.
//!
//! A row's variant says how the same thing is done or looked at: libc, raw or vdso for calls; parent, child or reaped for
//! processes; the column for threads and pipes (asleep or awake, same_cpu or other_cpu, n=100). What is the probe's own
//! default is left out.

use whyfaster_core::price::{Expect, Range, Row};
use whyfaster_probe::Probe;

use super::protocol::Head;

/// The row of a list to which a measure of the worker's row belongs. What the probe does not describe is no row.
pub fn row(probe: &Probe, head: &Head, measure: &str) -> Result<Row, String> {
    Ok(Row {
        group: probe.group.clone(),
        name: probe.name.clone(),
        variant: variant(probe, head, measure),
        unit: probe.unit.clone(),
        exercises: probe.exercises.clone(),
        expect: expect(probe, head)?,
        syscalls: None,
        unavailable: None,
    })
}

/// The variant in the words of a list.
pub fn variant(probe: &Probe, head: &Head, measure: &str) -> String {
    // A comma separates the parts of a variant, so a pair of CPUs is written with a hyphen.
    let pair = format!("cpus={}", head.cpu.replace(',', "-"));
    let one = format!("cpu={}", head.cpu);
    let mut parts: Vec<&str> = Vec::new();
    let main = probe.measures.first().map_or("", String::as_str);
    let process = probe.group == "process";
    if process && measure != "time" {
        parts.push(measure);
    }
    let burst = head.variant == "burst";
    let default = probe.variants.first().is_some_and(|first| *first == head.variant);
    let said = match probe.group.as_str() {
        "process" => !default || measure == "time",
        "cpu" => probe.variants.len() > 1,
        _ => !burst,
    };
    if said {
        parts.push(&head.variant);
    }
    let params: Vec<&str> = head.params.split(',').filter(|param| shown(probe, param, burst)).collect();
    parts.extend(params);
    match head.cpu.as_str() {
        "same" => parts.push("same_cpu"),
        "other" => parts.push("other_cpu"),
        cpu if cpu.contains(',') => parts.push(&pair),
        cpu if cpu.starts_with(|first: char| first.is_ascii_digit()) => parts.push(&one),
        "free" if matches!(probe.group.as_str(), "thread" | "pipe") && !burst && head.variant != "flow" => {
            parts.push("free");
        }
        _ => {}
    }
    if !process && measure != main && measure != "total" {
        parts.push(measure);
    }
    if matches!(head.temp.as_str(), "cold" | "first") {
        parts.push(&head.temp);
    }
    parts.join(",")
}

/// Whether a parameter belongs to the name of the row: it does where it is not the default; n, and the bytes of a write, always,
/// for the price of so much says nothing without them.
fn shown(probe: &Probe, param: &str, burst: bool) -> bool {
    let Some((key, value)) = param.split_once('=') else { return false };
    if key == "n" {
        return burst;
    }
    if key == "write" {
        return true;
    }
    let default = probe.parameters.iter().find(|p| p.key == key).and_then(|p| p.values.first());
    default.is_none_or(|default| default != value)
}

/// What the worker expects of every operation of this row. An expectation that is not understood here is an error: what
/// it forbids would be printed.
fn expect(probe: &Probe, head: &Head) -> Result<Expect, String> {
    let disturbs = |receipt: &str| probe.disturbed.iter().any(|one| one == receipt);
    let mut expect = Expect {
        involuntary_disturbs: disturbs("inv"),
        migration_disturbs: disturbs("mig"),
        delay_disturbs: disturbs("delay")
            || (disturbs("delay_apart") && !matches!(head.cpu.as_str(), "free" | "same")),
        ..Expect::default()
    };
    // A later expectation, of this variant in particular, takes the place of an earlier one.
    for one in &probe.expectations {
        let range = match one.receipt.as_str() {
            "syscalls" => &mut expect.syscalls,
            "voluntary" => &mut expect.voluntary,
            "switches" => &mut expect.switches,
            other => {
                return Err(format!("'{}' expects something of '{other}', which is not known", probe.name));
            }
        };
        if one.variant.as_ref().is_none_or(|variant| *variant == head.variant) {
            *range = Range { min: one.least, max: one.most };
        }
    }
    let known = ["inv", "mig", "delay", "delay_apart"];
    match probe.disturbed.iter().find(|one| !known.contains(&one.as_str())) {
        Some(other) => Err(format!("'{}' is disturbed by '{other}', which is not known", probe.name)),
        None => Ok(expect),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyfaster_probe::parse_list;

    fn probe(group: &str, variants: &str, measures: &str) -> Probe {
        let list = format!(
            "probe\tname=p\tgroup={group}\tunit=one\texercises=x\tneeds=nothing\tportable=1\tvariants={variants}\t\
             measures={measures}\tbatch=one\tpairs=0\tdisturbed=inv\tsource=c/p.c\n\
             param\tname=p\tkey=n\tvalues=10 100\tabout=events\nparam\tname=p\tkey=gap\tvalues=0 10\tabout=idle\n\
             expect\tname=p\tvariant=*\treceipt=syscalls\tleast=1\tmost=-\n\
             expect\tname=p\tvariant=vdso\treceipt=syscalls\tleast=-\tmost=0\n"
        );
        parse_list(&list).unwrap().remove(0)
    }

    fn head(variant: &str, params: &str, cpu: &str, temp: &str) -> Head {
        Head {
            name: "p".into(),
            variant: variant.into(),
            params: params.into(),
            cpu: cpu.into(),
            temp: temp.into(),
        }
    }

    #[test]
    fn variants_are_the_words_of_the_list() {
        let kernel = probe("kernel", "libc raw vdso", "time");
        assert_eq!(variant(&kernel, &head("raw", "", "free", "warm"), "time"), "raw");
        assert_eq!(variant(&kernel, &head("raw", "gap=10", "free", "cold"), "time"), "raw,gap=10,cold");
        let process = probe("process", "static dynamic exit", "parent child reaped");
        assert_eq!(variant(&process, &head("static", "", "free", "warm"), "reaped"), "reaped");
        assert_eq!(variant(&process, &head("dynamic", "", "free", "warm"), "child"), "child,dynamic");
        assert_eq!(
            variant(&probe("process", "static dynamic", "time"), &head("static", "", "", ""), "time"),
            "static"
        );
        let thread = probe("thread", "asleep awake burst", "latency sender total");
        assert_eq!(
            variant(&thread, &head("asleep", "n=10,gap=0", "same", "warm"), "latency"),
            "asleep,same_cpu"
        );
        assert_eq!(
            variant(&thread, &head("awake", "gap=10", "other", "warm"), "sender"),
            "awake,gap=10,other_cpu,sender"
        );
        assert_eq!(variant(&thread, &head("burst", "n=10,gap=0", "free", "warm"), "total"), "n=10");
        let cpu = probe("cpu", "only", "time");
        assert_eq!(variant(&cpu, &head("only", "", "other", "warm"), "time"), "other_cpu");
        let pipe = probe("pipe", "threads", "time writer_cpu");
        assert_eq!(
            variant(&pipe, &head("threads", "write=64K", "same", "warm"), "time"),
            "threads,write=64K,same_cpu"
        );
    }

    #[test]
    fn a_pair_of_cpus_is_one_part() {
        let cpu = probe("cpu", "only", "time");
        assert_eq!(variant(&cpu, &head("only", "", "0,1", "warm"), "time"), "cpus=0-1");
        assert_eq!(variant(&cpu, &head("only", "", "12", "warm"), "time"), "cpu=12");
    }

    #[test]
    fn what_is_expected_of_a_variant_overrides_what_is_expected_of_all() {
        let kernel = probe("kernel", "libc raw vdso", "time");
        let of = |variant: &str| row(&kernel, &head(variant, "", "free", "warm"), "time").unwrap().expect;
        assert_eq!(of("raw").syscalls, Range { min: Some(1.0), max: None });
        assert_eq!(of("vdso").syscalls, Range { min: None, max: Some(0.0) });
        assert!(of("raw").involuntary_disturbs && !of("raw").migration_disturbs);
        let mut apart = kernel.clone();
        apart.disturbed = vec!["delay_apart".into()];
        for (cpu, disturbs) in [("free", false), ("same", false), ("other", true), ("0,1", true)] {
            assert_eq!(
                expect(&apart, &head("raw", "", cpu, "warm")).unwrap().delay_disturbs,
                disturbs,
                "{cpu}"
            );
        }
    }

    #[test]
    fn every_receipt_is_taken_and_an_unknown_one_is_an_error() {
        let mut cpu = probe("cpu", "pipe", "time");
        let one = head("pipe", "", "same", "warm");
        for (receipt, least) in [("voluntary", 0.5), ("switches", 0.8)] {
            cpu.expectations.push(whyfaster_probe::Expectation {
                variant: None,
                receipt: receipt.into(),
                least: Some(least),
                most: None,
            });
        }
        let expect = row(&cpu, &one, "time").unwrap().expect;
        assert_eq!((expect.voluntary.min, expect.switches.min), (Some(0.5), Some(0.8)));
        cpu.expectations[0].receipt = "cpu_changes".into();
        assert!(row(&cpu, &one, "time").unwrap_err().contains("cpu_changes"));
        let mut moved = probe("cpu", "pipe", "time");
        moved.disturbed.push("later".into());
        assert!(row(&moved, &one, "time").unwrap_err().contains("later"));
    }
}
