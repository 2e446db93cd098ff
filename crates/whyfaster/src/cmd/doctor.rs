//! `whyfaster doctor`: what this machine allows, and how noisy it is.

use std::io::{self, IsTerminal, Write};

use crate::cli::args::DoctorArgs;
use crate::exit::Exit;
use crate::host::{self, Examination, Root, examine};
use crate::render::{
    self,
    look::{Environment, Look},
};
use crate::store;

/// Examines this machine and prints the findings. Takes about a second.
pub fn run(args: &DoctorArgs) -> anyhow::Result<Exit> {
    let detected =
        Look::detect(args.style.unwrap_or_default(), io::stdout().is_terminal(), &Environment::of_process());
    let look = Look { detail: args.detail.detail(), ..detected };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::Style;
    use crate::host::fixture::Machine;

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
}
