//! What a machine is, as far as it bears on prices; and what differs between two machines that may explain a row.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::host::{CPU_QUOTA, HYPERVISOR, HostFacts};
use crate::missing::Crowd;

/// The machine on which a list was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fingerprint {
    /// CPU, microcode, kernel, hypervisor, clock source, huge pages, governor, quota, allowed CPUs: before the first run.
    #[serde(flatten)]
    pub facts: HostFacts,
    /// Operating system, where it is not told by the kernel's release.
    #[serde(default)]
    pub os: Option<String>,
    /// Mitigations of CPU faults by name of the fault; null where they could not be read.
    #[serde(default)]
    pub mitigations: Option<BTreeMap<String, String>>,
    /// Seccomp mode of the measured processes: none, strict or filter.
    #[serde(default)]
    pub seccomp: Option<String>,
    /// C library of the measured program.
    #[serde(default)]
    pub libc: Option<String>,
    /// Share of CPU time that the hypervisor gave to others during the run.
    #[serde(default)]
    pub steal_during: Option<f64>,
    /// Share of CPU time that other processes of the machine used during the run.
    #[serde(default)]
    pub others_during: Option<f64>,
}

/// Shares of the machine from which on it counts as crowded: from there on whyfaster warns as well.
const CROWDED_BY_OTHERS: f64 = 0.05;
const CROWDED_BY_STEAL: f64 = 0.01;

/// A fact of a machine that bears on prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// CPU model.
    Cpu,
    /// Microcode revision.
    Microcode,
    /// Operating system.
    Os,
    /// Kernel release.
    Kernel,
    /// Hypervisor.
    Hypervisor,
    /// Clock source of the kernel.
    Clocksource,
    /// Mitigations of CPU faults.
    Mitigations,
    /// Seccomp mode.
    Seccomp,
    /// Huge pages.
    HugePages,
    /// Frequency governor.
    Governor,
    /// CPU quota of the cgroup.
    Quota,
    /// CPUs that may be used.
    AllowedCpus,
    /// C library.
    Libc,
}

impl Fact {
    /// All of them: what a machine is, then how it is set.
    pub const ALL: [Self; 13] = [
        Self::Cpu,
        Self::Microcode,
        Self::Os,
        Self::Kernel,
        Self::Hypervisor,
        Self::Clocksource,
        Self::Mitigations,
        Self::Seccomp,
        Self::HugePages,
        Self::Governor,
        Self::Quota,
        Self::AllowedCpus,
        Self::Libc,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Microcode => "microcode",
            Self::Os => "operating system",
            Self::Kernel => "kernel",
            Self::Hypervisor => "hypervisor",
            Self::Clocksource => "clock source",
            Self::Mitigations => "mitigations",
            Self::Seccomp => "seccomp",
            Self::HugePages => "huge pages",
            Self::Governor => "governor",
            Self::Quota => "CPU quota",
            Self::AllowedCpus => "allowed CPUs",
            Self::Libc => "C library",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fact| fact.name() == name)
    }

    /// Whether it bears on every row, so that it is said once and not beside each.
    pub fn is_general(self) -> bool {
        matches!(self, Self::Cpu | Self::Microcode | Self::Os | Self::Kernel | Self::Governor)
    }
}

/// The facts of a machine that are known, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Facts(BTreeMap<Fact, String>);

impl Facts {
    /// Those that a fingerprint tells.
    pub fn of(fingerprint: &Fingerprint) -> Self {
        Fact::ALL.into_iter().filter_map(|fact| Some((fact, fingerprint.fact(fact)?))).collect()
    }

    /// One of them.
    pub fn get(&self, fact: Fact) -> Option<&str> {
        self.0.get(&fact).map(String::as_str)
    }

    /// All of them, what a machine is before how it is set.
    pub fn iter(&self) -> impl Iterator<Item = (Fact, &str)> {
        self.0.iter().map(|(fact, value)| (*fact, value.as_str()))
    }
}

impl FromIterator<(Fact, String)> for Facts {
    fn from_iter<T: IntoIterator<Item = (Fact, String)>>(facts: T) -> Self {
        Self(facts.into_iter().collect())
    }
}

/// A fact in which two machines differ. A fact that one of them does not tell is no difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The fact.
    pub fact: Fact,
    /// On the first machine.
    pub first: String,
    /// On the second.
    pub second: String,
}

impl Fingerprint {
    /// A fact as text; `None` where it is not known.
    pub fn fact(&self, fact: Fact) -> Option<String> {
        let facts = &self.facts;
        // No hypervisor and no quota are facts of a machine that was looked at, not gaps.
        let none =
            || (facts.cpus_online.is_some() && self.why_missing(fact).is_none()).then(|| "none".to_owned());
        match fact {
            Fact::Cpu => facts.cpu_model.clone(),
            Fact::Microcode => facts.microcode.clone(),
            Fact::Os => self.os.clone(),
            Fact::Kernel => facts.kernel.clone(),
            Fact::Hypervisor => facts.hypervisor.clone().or_else(none),
            Fact::Clocksource => facts.clocksource.clone(),
            Fact::Mitigations => self.mitigations.as_ref().map(active),
            Fact::Seccomp => self.seccomp.clone(),
            Fact::HugePages => facts.huge_pages.clone(),
            Fact::Governor => facts.governor.clone(),
            Fact::Quota => facts.cgroup_cpus.map(|cpus| format!("{cpus} CPUs")).or_else(none),
            Fact::AllowedCpus => facts.cpus_allowed.as_ref().map(|cpus| cpus.len().to_string()),
            Fact::Libc => self.libc.clone(),
        }
    }

    /// Why a fact of the machine is missing, where that is told.
    fn why_missing(&self, fact: Fact) -> Option<&str> {
        let what = match fact {
            Fact::Cpu => "CPU model",
            Fact::Quota => CPU_QUOTA,
            Fact::Hypervisor => HYPERVISOR,
            Fact::AllowedCpus => "CPUs allowed",
            other => other.name(),
        };
        let found = self.facts.missing.iter().find(|missing| missing.what == what);
        found.map(|missing| missing.why.as_str())
    }

    /// The share of CPU time that others had during the run, as far as it is known.
    pub fn crowded(&self) -> f64 {
        [self.others_during, self.steal_during].into_iter().flatten().sum()
    }

    /// How crowded the machine was during the run, if it was: whoever hands over to another task then waits for a CPU, and
    /// no receipt shows that.
    pub fn crowd(&self) -> Option<Crowd> {
        let above = |share: Option<f64>, least: f64| share.filter(|share| *share > least);
        let others = above(self.others_during, CROWDED_BY_OTHERS).map(|share| Crowd { share, stolen: false });
        let steal = above(self.steal_during, CROWDED_BY_STEAL);
        others.or_else(|| steal.map(|share| Crowd { share, stolen: true }))
    }

    /// Every known fact, by name.
    pub fn known(&self) -> Vec<(&'static str, String)> {
        Facts::of(self).0.into_iter().map(|(fact, value)| (fact.name(), value)).collect()
    }

    /// Every fact that is not known, with the reason where one is told.
    pub fn unknown(&self) -> Vec<(&'static str, Option<&str>)> {
        let unknown = Fact::ALL.into_iter().filter(|fact| self.fact(*fact).is_none());
        unknown.map(|fact| (fact.name(), self.why_missing(fact))).collect()
    }
}

/// The faults with a mitigation that is on; what does not apply to the CPU costs nothing.
fn active(mitigations: &BTreeMap<String, String>) -> String {
    let on: Vec<String> = mitigations
        .iter()
        .filter_map(|(fault, state)| Some(format!("{fault}: {}", state.strip_prefix("Mitigation: ")?)))
        .collect();
    if on.is_empty() { "none".to_owned() } else { on.join("; ") }
}

/// What differs between two machines, as far as both tell it.
pub fn differences(first: &Facts, second: &Facts) -> Vec<Difference> {
    let difference = |fact: Fact| {
        let (first, second) = (first.get(fact)?, second.get(fact)?);
        (first != second).then(|| Difference { fact, first: first.to_owned(), second: second.to_owned() })
    };
    Fact::ALL.into_iter().filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::missing::NotMeasured;

    fn machine(mitigation: &str, clocksource: &str) -> Fingerprint {
        Fingerprint {
            facts: HostFacts {
                kernel: Some("6.1".into()),
                clocksource: Some(clocksource.into()),
                ..HostFacts::default()
            },
            mitigations: Some([("meltdown".to_owned(), mitigation.to_owned())].into()),
            ..Fingerprint::default()
        }
    }

    #[test]
    fn facts_that_differ_are_named_with_both_sides() {
        let machine = |mitigation, clocksource| Facts::of(&machine(mitigation, clocksource));
        let found = differences(&machine("Mitigation: PTI", "tsc"), &machine("Vulnerable", "hpet"));
        let facts: Vec<Fact> = found.iter().map(|d| d.fact).collect();
        assert_eq!(facts, [Fact::Clocksource, Fact::Mitigations]);
        assert_eq!(found[1].first, "meltdown: PTI");
        assert_eq!(found[1].second, "none");
    }

    #[test]
    fn what_one_machine_does_not_tell_is_no_difference() {
        let known = Facts::of(&machine("Mitigation: PTI", "tsc"));
        assert!(differences(&known, &Facts::default()).is_empty());
        assert_eq!(Fingerprint::default().known(), []);
        let mut here = machine("Vulnerable", "tsc");
        here.facts.missing.push(NotMeasured::told("governor", "no such file"));
        assert!(here.unknown().contains(&("governor", Some("no such file"))));
        assert!(here.unknown().contains(&("seccomp", None)));
    }

    #[test]
    fn no_quota_is_a_fact_only_where_it_was_looked_for() {
        let mut here = machine("Vulnerable", "tsc");
        assert_eq!(here.fact(Fact::Quota), None);
        here.facts.cpus_online = Some(2);
        assert_eq!(here.fact(Fact::Quota).as_deref(), Some("none"));
        here.facts.missing.push(NotMeasured::told(CPU_QUOTA, "no /proc"));
        assert_eq!(here.fact(Fact::Quota), None);
        here.facts.cgroup_cpus = Some(1.5);
        assert_eq!(here.fact(Fact::Quota).as_deref(), Some("1.5 CPUs"));
    }
}
