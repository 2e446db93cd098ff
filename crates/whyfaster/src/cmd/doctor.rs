//! `whyfaster doctor`: what this machine allows, and how noisy it is.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use whyfaster_core::host::HostFacts;

use crate::cli::args::DoctorArgs;
use crate::exit::Exit;
use crate::host::{self, Finding, Mark, Noise, Root};
use crate::render::{
    self,
    look::{Environment, Look},
};
use crate::store;

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
pub fn run(args: &DoctorArgs) -> anyhow::Result<Exit> {
    let look =
        Look::detect(args.style.unwrap_or_default(), io::stdout().is_terminal(), &Environment::of_process());
    let mut out = Vec::new();
    let mut examination = examine(&Root::real());
    examination.findings.extend(host::levels());
    print(&mut out, &examination, args.json, &look)?;
    store::to_stdout(&out)?;
    Ok(Exit::Ok)
}

/// Writes what was found.
fn print(out: &mut dyn Write, examination: &Examination, json: bool, look: &Look) -> io::Result<()> {
    if json {
        serde_json::to_writer_pretty(&mut *out, examination)?;
        writeln!(out)?;
    } else {
        out.write_all(render::doctor::doctor(examination, look).as_bytes())?;
    }
    out.flush()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fixture::Machine;
    use crate::render::look::Style;

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

    /// A reader that went away.
    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_an_error_and_no_panic() {
        let examination = examine(&Machine::hybrid().root());
        let look = Look::detect(Style::Basic, false, &Environment::default());
        for json in [false, true] {
            let error = print(&mut Gone, &examination, json, &look).expect_err("nothing can be written");
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        }
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
