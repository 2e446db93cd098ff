//! What other programs say that may hang.

use std::io::{self, Read};
use std::process::{Command, Output};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often is looked whether one is done.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a command and takes what it says into the pipes that it was given, if it ends in time.
pub(super) fn said_within(command: &mut Command, patience: Duration) -> io::Result<Output> {
    let mut child = command.spawn()?;
    // Who says much waits until it is read.
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let until = Instant::now() + patience;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= until {
            let _ = child.kill();
            child.wait()?;
            // What it had started may keep the pipes: nobody waits for their ends.
            let why = format!("no answer within {} s", patience.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        thread::sleep(LOOK);
    };
    let read = |reader: JoinHandle<Vec<u8>>| reader.join().unwrap_or_default();
    Ok(Output { status, stdout: read(stdout), stderr: read(stderr) })
}

fn reader(stream: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is what it said.
        let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
        bytes
    })
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    fn said(line: &str, patience: Duration) -> io::Result<Output> {
        let mut command = Command::new("sh");
        command.args(["-c", line]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        said_within(&mut command, patience)
    }

    #[test]
    fn all_that_it_says_is_taken() {
        // More than a pipe holds.
        let said = said("head -c 300000 /dev/zero; echo no >&2; exit 3", Duration::from_secs(30)).unwrap();
        assert_eq!(
            (said.status.code(), said.stdout.len(), said.stderr.as_slice()),
            (Some(3), 300_000, &b"no\n"[..])
        );
    }

    #[test]
    fn who_does_not_answer_is_left_with_all_that_it_started() {
        let began = Instant::now();
        let late = said("sleep 60; true", Duration::from_millis(50)).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}
