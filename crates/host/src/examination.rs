//! The whole look at a machine: its facts, how noisy it is, and what that means for a measurement.

use serde::Serialize;
use whyfaster_core::host::HostFacts;

use super::facts::facts;
use super::judge::{Finding, Mark, judge};
use super::noise::{Noise, measure};
use super::root::Root;

/// All that `doctor` found; with `--json` this is what it prints.
#[derive(Clone, Debug, Serialize)]
pub struct Examination {
    /// What the machine is: the facts before the self-test.
    pub facts: HostFacts,
    /// What they mean, one entry per line.
    pub findings: Vec<Finding>,
    /// What the self-test measured.
    pub noise: Noise,
}

/// Reads the facts, runs the self-test, reads them again and judges.
pub fn examine(root: &Root) -> Examination {
    let before = facts(root);
    let noise = measure();
    let after = facts(root);
    let mut findings = judge(&before, &after, &noise);
    if !root.has_dir("/proc/self") {
        let value = "there is no /proc here, so that most facts cannot be read";
        findings.insert(0, Finding::with(Mark::Problem, "/proc", value, "as root: mount -t proc proc /proc"));
    }
    Examination { facts: before, findings, noise }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Machine;

    #[test]
    fn a_machine_without_proc_is_examined_and_says_so() {
        let examination = examine(&Machine::bare().root());
        assert_eq!(
            (examination.findings[0].name.as_str(), examination.findings[0].mark),
            ("/proc", Mark::Problem)
        );
        let unknown = examination.findings.iter().filter(|finding| finding.value.starts_with("not measured"));
        assert!(unknown.count() > 10);
    }

    #[test]
    fn json_has_facts_findings_and_noise() {
        let machine = Machine::unified();
        let examination = examine(&machine.root());
        assert_eq!(examination.findings.len(), 19);
        let json = serde_json::to_value(&examination).expect("an examination is JSON");
        assert_eq!(json["facts"]["governor"], "powersave");
        assert!(json["noise"]["compute"]["ratio"].as_f64().is_some_and(|ratio| ratio >= 1.0));
        let findings = json["findings"].as_array().expect("a list");
        let governor = findings.iter().find(|f| f["name"] == "governor").expect("always there");
        assert_eq!(governor["mark"], "note");
        assert!(governor["remedy"].as_str().is_some_and(|remedy| remedy.contains("cpupower")));
        assert!(findings.iter().all(|f| (f["mark"] == "ok") == f.get("remedy").is_none()));
    }
}
