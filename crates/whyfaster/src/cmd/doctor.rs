//! `whyfaster doctor`: what this machine allows, and how noisy it is.

use std::io::{self, IsTerminal, Write};

use whyfaster_host as host;
use whyfaster_host::{Examination, Root, examine};
use whyfaster_render as render;
use whyfaster_store as store;
use whyfaster_words::exit::Exit;
use whyfaster_words::look::{Environment, Look};

use crate::cli::args::DoctorArgs;

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
    use whyfaster_host::Process;
    use whyfaster_words::display::Style;

    use super::*;

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
        let nothing = tempfile::tempdir().unwrap();
        let examination = examine(&Root::fake(nothing.path(), Process::ask()));
        let look = Look::detect(Style::Basic, false, &Environment::default());
        for json in [false, true] {
            let error = print(&mut Gone, &examination, json, &look).expect_err("nothing can be written");
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        }
    }
}
