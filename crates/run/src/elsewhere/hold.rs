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
///
/// An engine may end only this shell, and at any moment. So:
/// - No process waits in open(2) for the other end, which may be gone. The pipe is opened for both directions first, which Linux does without
///   waiting (fifo(7)).
/// - The shell waits with `wait`. A shell that has a trap to run and then calls `read` runs it after that.
/// - What it has started gets SIGKILL. A shell that has just forked may lose other signals, before it takes its traps back.
const JOB: &str = r#"
p=${TMPDIR:-/tmp}/@PIPE@
trap 'kill -KILL $sleeper ${reader-$!} 2>/dev/null; test ! -O "$p" || rm -f "$p"' EXIT
trap 'exit 0' HUP INT TERM
mkfifo -m 600 "$p" || exit 1
exec 5<>"$p" 3<"$p" 4>"$p" 5>&-
sleep @COMES@ 3<&- &
sleeper=$!
exec 4>&-
(read -r there) <&3 &
wait $!
kill -KILL $sleeper 2>/dev/null
sleeper= reader=
rm -f "$p"
(read -r there) <&3 &
reader=$!
wait $reader
reader=
exit 0
"#;

/// What is measured does not inherit the pipe: a process of its own holds it. The job may begin later than the engine says. It may also end before its
/// pipe is opened here: the shell then has made a file of that name.
const ATTACHED: &str = r#"
p=${TMPDIR:-/tmp}/@PIPE@ tries=0
until test -p "$p" && test -O "$p"; do
    tries=$((tries + 1))
    test $tries -le @BEGINS@ || { echo "the job has not begun: there is no $p" >&2; exit 1; }
    sleep 1
done
exec 9>"$p"
test -p /proc/self/fd/9 || { rm -f "$p"; echo "the job has ended: its pipe has gone" >&2; exit 1; }
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
    use std::os::unix::process::ExitStatusExt;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    use rustix::fs::Mode;
    use rustix::process::{Pid, Signal, kill_process};

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

    #[test]
    fn a_job_of_which_only_the_shell_is_ended_leaves_nothing_whenever_that_is() {
        let words = [SHELL.to_owned(), "-c".to_owned(), job("whyfaster-$JOB")];
        for step in 0..200 {
            let place = tempfile::tempdir().unwrap();
            let job = start(place.path(), &words);
            std::thread::sleep(Duration::from_micros(25 * step));
            kill_process(Pid::from_child(&job), Signal::TERM).unwrap();
            // The output ends when nobody has it open any more.
            let ended = job.wait_with_output().unwrap();
            assert!(ended.status.success() || ended.status.signal() == Some(15), "{step}: {ended:?}");
            assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "{step}");
        }
    }

    #[test]
    fn a_shell_whose_job_ends_before_it_opens_the_pipe_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let [shell, option, script] = attached("whyfaster-$JOB", "7_1");
        let gone = script.replace("exec 9>", "rm \"$p\"\nexec 9>");
        assert_ne!(gone, script);
        rustix::fs::mkfifoat(rustix::fs::CWD, place.path().join("whyfaster-7"), Mode::RWXU).unwrap();
        let ended = start(place.path(), &[shell, option, gone]).wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(1));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
