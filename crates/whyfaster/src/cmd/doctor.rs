//! `whyfaster doctor`: what this machine allows, and how noisy it is.

use std::io::Write;

use serde::Serialize;
use whyfaster_core::host::HostFacts;

use crate::exit::Exit;
use crate::host::{self, Finding, Mark, Noise, Root};
use crate::render;

/// All that `doctor` found; with `--json` this is what it prints.
#[derive(Clone, Debug, Serialize)]
pub struct Examination {
    /// The facts before the self-test.
    pub facts: HostFacts,
    /// What they mean, one entry per line.
    pub findings: Vec<Finding>,
    /// What the self-test measured.
    pub noise: Noise,
}

/// Examines this machine and prints the findings. Takes about a second.
pub fn run(json: bool) -> anyhow::Result<Exit> {
    let examination = examine(&Root::real());
    let mut out = anstream::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, &examination)?;
        writeln!(out)?;
    } else {
        render::doctor::write(&mut out, &examination, render::doctor::columns())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}

/// Reads the facts, runs the self-test, reads them again and judges.
pub fn examine(root: &Root) -> Examination {
    let before = host::facts(root);
    let noise = host::measure();
    let after = host::facts(root);
    let mut findings = host::judge(&before, &after, &noise);
    if !root.has_dir("/proc/self") {
        let value = "there is no /proc here, so that most facts cannot be read";
        findings.insert(0, Finding::with(Mark::Problem, "/proc", value, "as root: mount -t proc proc /proc"));
    }
    Examination { facts: before, findings, noise }
}
