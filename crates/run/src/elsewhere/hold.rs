//! What a job of an engine runs: it holds its machine for the shell of a visit, and ends with that shell.
//!
//! An engine gives a machine to a job, but a job has no standard input, and would run on after whoever collects has gone. So the job itself does
//! nothing but wait at a named pipe, and the shell, which the engine starts beside it with an input of its own, holds the other end open. When that
//! closes, however the shell ended, or when no shell comes, the job ends, and with it all that runs there. The script sleeps meanwhile.

use super::shell::SHELL;

/// How long the job waits for the shell, and the shell for the job, in seconds. The shell says why before anybody gives it up as silent.
const COMES: u32 = 120;
const BEGINS: u32 = 30;

/// A shell holds the pipe open from its first line on. Until then a process that sleeps does. A signal that comes before the traps leaves nothing, and one
/// that comes while the pipe is made is taken after that. What belongs to others is not removed.
const JOB: &str = r#"
p=${TMPDIR:-/tmp}/@PIPE@
trap 'test ! -O "$p" || rm -f "$p"' EXIT
trap 'exit 0' HUP INT TERM
mkfifo -m 600 "$p" || exit 1
sleep @COMES@ >"$p" &
exec 3<"$p"
read -r there <&3
kill $! 2>/dev/null
rm -f "$p"
test -z "$there" || read -r there <&3
exit 0
"#;

/// What is measured does not inherit the pipe: a process of its own holds it. The job may begin later than the engine says.
const ATTACHED: &str = r#"
p=${TMPDIR:-/tmp}/@PIPE@ tries=0
until test -p "$p" && test -O "$p"; do
    tries=$((tries + 1))
    test $tries -le @BEGINS@ || { echo "the job has not begun: there is no $p" >&2; exit 1; }
    sleep 1
done
exec 9>"$p"
echo there >&9
WHYFASTER_JOB=@JOB@ @SHELL@ 9>&-
exit $?
"#;

/// The job's script. Its pipe has a name that no other job's has there; it may be made of variables that both scripts see.
pub(super) fn job(pipe: &str) -> String {
    with(JOB, &[("@PIPE@", pipe)])
}

/// The words of the shell that is attached to the job, which goes by this name.
pub(super) fn attached(pipe: &str, job: &str) -> [String; 3] {
    let script = with(ATTACHED, &[("@PIPE@", pipe), ("@JOB@", job), ("@SHELL@", SHELL)]);
    [SHELL.to_owned(), "-c".to_owned(), script]
}

fn with(script: &str, values: &[(&str, &str)]) -> String {
    let script =
        script.trim_start().replace("@COMES@", &COMES.to_string()).replace("@BEGINS@", &BEGINS.to_string());
    values.iter().fold(script, |script, (word, value)| script.replace(word, value))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn start(place: &Path, words: &[String]) -> Child {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("TMPDIR", place).env("JOB", "7");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn a_job_ends_with_its_shell_and_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let shell = start(place.path(), &attached("whyfaster-$JOB", "7_1"));
        let mut job = start(place.path(), &[SHELL.to_owned(), "-c".to_owned(), job("whyfaster-$JOB")]);
        // What is measured has no pipe, and knows its job.
        let mut input = shell.stdin.as_ref().unwrap();
        input.write_all(b"echo $WHYFASTER_JOB; test ! -e /proc/self/fd/9 && echo none; exit 3\n").unwrap();
        let ended = shell.wait_with_output().unwrap();
        assert_eq!((ended.status.code(), ended.stdout.as_slice()), (Some(3), &b"7_1\nnone\n"[..]));
        assert!(job.wait().unwrap().success());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_job_that_is_ended_while_it_makes_its_pipe_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let programs = tempfile::tempdir().unwrap();
        let mkfifo = programs.path().join("mkfifo");
        let line = "#!/bin/sh\nPATH=/usr/bin:/bin mkfifo \"$@\"\nkill -TERM $PPID\n";
        std::fs::write(&mkfifo, line).unwrap();
        std::fs::set_permissions(&mkfifo, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", programs.path().display());
        let words = [SHELL.to_owned(), "-c".to_owned(), job("whyfaster-$JOB")];
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("TMPDIR", place.path()).env("JOB", "7").env("PATH", path);
        assert_eq!(command.status().unwrap().code(), Some(0));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
